//! Reads a source on a thread of its own, writes products from tasks side by side.

use std::io::{Read, Seek};

use tokio::{
    sync::mpsc,
    task::{JoinSet, spawn_blocking},
};

use super::{
    categories::Categories,
    error::{Error, Result},
    mapping::Mapping,
    report::Report,
    source::Format,
    stream::{self, Step},
    write::{self, Outcome, Written},
};
use crate::{catalog::ProductStatus, check::Check, context::Context, error::Kind, limits, money::Currency};

/// Products that are written at once.
const WRITES_AT_ONCE: usize = 16;
/// Drafts that wait to be written.
const DRAFTS_WAITING: usize = 64;

/// How a source is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the source: the same product of the same source is the same product here.
    pub source: String,
    /// Of all prices, unless a column says otherwise.
    pub currency: Currency,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping>,
    /// Of products about which the source says nothing.
    pub status: ProductStatus,
    /// Of products about which the source says nothing: a name, or a path as `Home > Garden`.
    pub category: String,
}

impl Options {
    pub fn new(source: impl Into<String>, currency: Currency) -> Self {
        Options {
            source: source.into(),
            currency,
            format: Format::Auto,
            mapping: None,
            status: ProductStatus::Active,
            category: "Uncategorised".into(),
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.currency("currency", &self.currency);
        check.line("category", &self.category, 1..=limits::NAME_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Imports a source. Every record ends in the report, which is shown to `on_progress` whenever it has grown.
///
/// Where it is stopped half-way, the same import again finds what is there and goes on.
pub async fn import_products<R>(
    ctx: &Context,
    input: R,
    options: Options,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let (sender, mut drafts) = mpsc::channel(DRAFTS_WAITING);
    let now = ctx.now();
    let reading = spawn_blocking(move || stream::read(input, &options, now, &sender));
    let mut report = Report::default();
    let mut categories = Categories::default();
    let mut writing: JoinSet<Written> = JoinSet::new();
    while let Some(step) = drafts.recv().await {
        let mut draft = match step {
            Step::Rejected { place, id, records, reason } => {
                count(&mut report, records);
                report.reject(place, id, reason);
                on_progress(&report);
                continue;
            }
            Step::Draft(draft) => draft,
        };
        let (place, id, records) = (draft.place, draft.source_id.clone(), draft.records);
        match categories.resolve(ctx, &draft.category, &mut report).await {
            Ok(category) => draft.product.category_id = category,
            Err(error) => {
                settle(Written { place, id, records, notes: Vec::new(), outcome: Err(error) }, &mut report)?;
                on_progress(&report);
                continue;
            }
        }
        if writing.len() >= WRITES_AT_ONCE
            && let Some(written) = writing.join_next().await
        {
            settle(written.map_err(|_| stopped())?, &mut report)?;
            on_progress(&report);
        }
        let ctx = ctx.clone();
        writing.spawn(async move { write::write(&ctx, *draft).await });
    }
    // ORDER: the channel ends when the reader does, so that it is known here whether it came to the end of the source.
    reading.await.map_err(|_| stopped())??;
    while let Some(written) = writing.join_next().await {
        settle(written.map_err(|_| stopped())?, &mut report)?;
        on_progress(&report);
    }
    report.sort();
    Ok(report)
}

fn stopped() -> Error {
    Error::unreadable("a task of the import ended before its time")
}

/// All the records of a product but one joined it.
fn count(report: &mut Report, records: usize) {
    report.read += records as u64;
    report.folded += (records - 1) as u64;
}

/// Counts it. An error that other records would meet too ends the import.
fn settle(written: Written, report: &mut Report) -> Result<()> {
    let Written { place, id, records, notes, outcome } = written;
    match outcome {
        Ok(Outcome::Created) => report.created += 1,
        Ok(Outcome::Changed) => report.changed += 1,
        Ok(Outcome::Unchanged) => report.unchanged += 1,
        Err(error) if matches!(error.kind(), Kind::Unavailable | Kind::Internal) => return Err(error.into()),
        Err(error) => report.reject(place, Some(id), error.to_string()),
    }
    count(report, records);
    notes.into_iter().for_each(|note| report.note(place, note));
    Ok(())
}
