//! Reads a source on a thread of its own and records its sales, many at once.

use std::{
    collections::BTreeSet,
    io::{Read, Seek},
    ops::ControlFlow,
};

use tokio::{sync::mpsc, task::spawn_blocking};

use super::{fields::SaleField, read::Reading};
use crate::{
    check::Check,
    context::Context,
    error::Kind,
    flows::import::{
        error::{Error, Result},
        mapping::{self, Fields as _, Mapping},
        record::{Item, Place},
        report::Report,
        source::{self, Format},
        time::DateOrder,
    },
    limits,
    money::Currency,
    sales::{self, NewSale, Restored},
};

/// How a source of sales is to be read.
#[derive(Clone, Debug)]
pub struct SaleOptions {
    /// The name of the source: a record without an id is the same sale in the same source only.
    pub source: String,
    /// Of all amounts. A record in another is rejected.
    pub currency: Currency,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<SaleField>>,
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
    /// Of sales about which the source says nothing.
    pub category: String,
}

impl SaleOptions {
    pub fn new(source: impl Into<String>, currency: Currency) -> Self {
        SaleOptions {
            source: source.into(),
            currency,
            format: Format::Auto,
            mapping: None,
            dates: DateOrder::Unknown,
            category: "uncategorised".into(),
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.currency("currency", &self.currency);
        check.line("category", &self.category, 1..=limits::SALE_NAME_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Sales that are recorded together, and such heaps that wait.
const TOGETHER: usize = 1_000;
const WAITING: usize = 4;

/// What comes of records.
enum Step {
    Sales(Vec<(Place, NewSale)>),
    Rejected(Place, Option<String>, String),
    Note(Place, String),
}

/// Imports sales. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is stopped
/// half-way, the same import again finds what is there and goes on.
pub async fn import_sales<R>(
    ctx: &Context,
    input: R,
    options: SaleOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let (sender, mut steps) = mpsc::channel(WAITING);
    let reading = spawn_blocking(move || read(input, options, &sender));
    let mut report = Report::default();
    while let Some(step) = steps.recv().await {
        match step {
            Step::Sales(sales) => write(ctx, sales, &mut report).await?,
            Step::Rejected(place, id, reason) => {
                report.count(1);
                report.reject(place, id, reason);
            }
            Step::Note(place, text) => report.note(place, text),
        }
        on_progress(&report);
    }
    // ORDER: the channel ends when the reader does, so that it is known here whether it came to the end of the source.
    reading.await.map_err(|_| Error::unreadable("the reader ended before its time"))??;
    report.sort();
    Ok(report)
}

async fn write(ctx: &Context, sales: Vec<(Place, NewSale)>, report: &mut Report) -> Result<()> {
    let (places, sales): (Vec<(Place, String)>, Vec<NewSale>) =
        sales.into_iter().map(|(place, sale)| ((place, sale.sale_id.clone()), sale)).unzip();
    for ((place, id), answer) in places.into_iter().zip(sales::restore_sales(ctx, sales).await?) {
        report.count(1);
        match answer {
            Ok(Restored::Created) => report.created += 1,
            Ok(Restored::Changed) => report.changed += 1,
            Ok(Restored::Unchanged) => report.unchanged += 1,
            Err(error) if matches!(error.kind(), Kind::Unavailable | Kind::Internal) => return Err(error.into()),
            Err(error) => report.reject(place, Some(id), error.to_string()),
        }
    }
    Ok(())
}

/// Twice through the source: whether it can be read to its end, before anything is written; then its sales.
fn read(mut input: impl Read + Seek, options: SaleOptions, steps: &mpsc::Sender<Step>) -> Result<()> {
    check_source(&mut input, &options)?;
    let format = options.format;
    let mut reading = Reading::new(options);
    let mut waiting: Vec<(Place, NewSale)> = Vec::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let send = |step: Step| match steps.blocking_send(step) {
        Ok(()) => ControlFlow::Continue(()),
        // Nobody waits for it any more.
        Err(_) => ControlFlow::Break(()),
    };
    source::read(&mut input, format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return send(Step::Rejected(place, None, reason)),
        };
        let plan = reading.plans.of(&record.columns);
        let cells = record.columns.iter().zip(&plan.columns).zip(&record.values);
        for ((column, (field, _)), value) in cells {
            if *field == SaleField::HOMELESS && !value.is_empty() && told.insert(column.clone()) {
                let note = format!("the column {column} is left out: sales have no place for it");
                send(Step::Note(record.place, note))?;
            }
        }
        match reading.sale(&record) {
            Ok(sale) => waiting.push((record.place, sale)),
            Err(reason) => return send(Step::Rejected(record.place, None, reason)),
        }
        if waiting.len() < TOGETHER {
            return ControlFlow::Continue(());
        }
        send(Step::Sales(std::mem::take(&mut waiting)))
    })?;
    if !waiting.is_empty() {
        let _ = send(Step::Sales(waiting));
    }
    Ok(())
}

fn check_source(input: &mut (impl Read + Seek), options: &SaleOptions) -> Result<()> {
    let mapping = options.mapping.clone().unwrap_or_default();
    let (mut refused, mut read) = (None, 0_u32);
    source::read(input, options.format, &mut |item| {
        if let Item::Columns(columns) = &item {
            refused = mapping::check_columns(columns, &mapping).err().map(Error::from);
        }
        read += u32::from(matches!(item, Item::Record(_)));
        if read > limits::IMPORT_RECORDS_MAX {
            refused = Some(Error::unreadable(format!("it has more than {} records", limits::IMPORT_RECORDS_MAX)));
        }
        if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    refused.map_or(Ok(()), Err)
}
