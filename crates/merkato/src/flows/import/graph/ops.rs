//! Reads a source on a thread of its own and makes its connections, many at once.

use std::{
    io::{Read, Seek},
    ops::ControlFlow,
};

use rust_decimal::Decimal;

use super::{
    fields::GraphField,
    read::{self, Reading},
};
use crate::{
    check::Check,
    context::Context,
    flows::import::{
        error::Result,
        heaps::{Heaps, Step, Steps, check_source},
        ids,
        mapping::{Fields as _, Mapping},
        record::{Item, Place},
        report::Report,
        source::Format,
        time::DateOrder,
    },
    graph::{self, ConnectionType, Edge, Made},
    id::UserId,
    limits, text,
};

/// Connections that are made together.
const TOGETHER: usize = 2_000;

/// How a source is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphLayout {
    /// Whatever it looks like: a list of edges if its first line has no name of a column, and digits in its first two fields.
    #[default]
    Auto,
    /// Records with columns of names.
    Table,
    /// A line a connection, its fields between commas, semicolons, tabs or spaces. Lines that begin with `#` or `%` are remarks.
    Edges,
}

/// How a source of connections is to be read.
#[derive(Clone, Debug)]
pub struct GraphOptions {
    /// The name of the source: ids are its own.
    pub source: String,
    pub layout: GraphLayout,
    /// Of a table.
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<GraphField>>,
    /// Of connections about which the source says nothing.
    pub connection_type: ConnectionType,
    /// The least and the most that a rating can be.
    pub ratings: (Decimal, Decimal),
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
}

impl GraphOptions {
    pub fn new(source: impl Into<String>) -> Self {
        GraphOptions {
            source: source.into(),
            layout: GraphLayout::Auto,
            format: Format::Auto,
            mapping: None,
            connection_type: ConnectionType::Friend,
            ratings: (Decimal::from(-10), Decimal::from(10)),
            dates: DateOrder::Unknown,
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.that(self.ratings.0 < self.ratings.1, "ratings", "the least is not below the most");
        Ok(check.end()?)
    }

    pub(super) fn has_edges(&self, beginning: &[u8]) -> bool {
        match self.layout {
            GraphLayout::Table => false,
            GraphLayout::Edges => true,
            GraphLayout::Auto => {
                let text = String::from_utf8_lossy(beginning);
                let line = text.lines().map(str::trim).find(|line| !read::is_remark(line)).unwrap_or_default();
                let fields = read::fields(line);
                let named = fields.iter().any(|field| {
                    let folded: String = text::fold(field).chars().filter(|c| c.is_alphanumeric()).collect();
                    folded.parse::<u64>().is_err()
                        && GraphField::NAMED.iter().any(|(_, _, known)| known.contains(&&*folded))
                });
                let digits = |field: &&&str| field.bytes().any(|b| b.is_ascii_digit());
                self.format == Format::Auto
                    && !line.starts_with(['{', '['])
                    && !named
                    && fields.iter().take(2).filter(digits).count() == 2
            }
        }
    }
}

/// Who somebody of a source is here.
pub fn person_of(source: &str, id: &str) -> UserId {
    id.parse().map_or_else(|_| ids::person(source, id), UserId)
}

/// A connection of a record, with what the source calls the two.
pub(super) struct Found {
    pub place: Place,
    pub id: String,
    pub edge: Edge,
}

/// Imports connections. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is stopped
/// half-way, the same import again finds what is there and goes on.
pub async fn import_graph<R>(
    ctx: &Context,
    input: R,
    options: GraphOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let mut heaps = Heaps::of(move |steps| read_source(input, options, steps));
    let mut report = Report::default();
    while let Some(found) = heaps.next(&mut report, &mut on_progress).await {
        write(ctx, found, &mut report).await?;
        on_progress(&report);
    }
    heaps.end().await?;
    report.sort();
    Ok(report)
}

async fn write(ctx: &Context, found: Vec<Found>, report: &mut Report) -> Result<()> {
    let edges = found.iter().map(|found| found.edge.clone()).collect();
    for (found, answer) in found.into_iter().zip(graph::connect_many(ctx, edges).await?) {
        report.count(1);
        match answer {
            Ok(Made::New) => report.created += 1,
            Ok(Made::Changed) => report.changed += 1,
            Ok(Made::Unchanged) => report.unchanged += 1,
            Err(error) if error.kind().is_failure() => return Err(error.into()),
            Err(error) => report.reject(found.place, Some(found.id), error.to_string()),
        }
    }
    Ok(())
}

/// Twice through the source: whether it can be read to its end, before anything is written; then its connections.
fn read_source(mut input: impl Read + Seek, options: GraphOptions, steps: &Steps<Vec<Found>>) -> Result<()> {
    let mapping = options.mapping.clone().unwrap_or_default();
    check_source(&mapping, |each| read::read(&mut input, &options, each))?;
    let mut reading = Reading::new(options.clone());
    let mut waiting: Vec<Found> = Vec::new();
    read::read(&mut input, &options, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return steps.send(Step::Rejected(place, None, reason)),
        };
        match reading.connection(&record) {
            Ok(found) => waiting.push(found),
            Err(reason) => return steps.send(Step::Rejected(record.place, None, reason)),
        }
        if waiting.len() < TOGETHER {
            return ControlFlow::Continue(());
        }
        steps.send(Step::Heap(std::mem::take(&mut waiting)))
    })?;
    if !waiting.is_empty() {
        let _ = steps.send(Step::Heap(waiting));
    }
    Ok(())
}
