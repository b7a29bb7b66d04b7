//! Reads a source on a thread of its own and appends its events, those of a case together.

use std::{
    collections::HashMap,
    io::{Read, Seek},
    ops::ControlFlow,
};

use futures::{StreamExt as _, stream};

use super::{
    fields::EventField,
    read::{self, Reading},
};
use crate::{
    check::Check,
    context::Context,
    events::{self, AppendRequest, Expected},
    flows::import::{
        error::Result,
        heaps::{Heaps, Step, Steps, check_source},
        mapping::Mapping,
        record::{Item, Place},
        report::Report,
        source::{self, Format},
        time::DateOrder,
    },
    id::AggregateId,
    limits,
};

/// How a source of events is to be read.
#[derive(Clone, Debug)]
pub struct EventOptions {
    /// The name of the source: its names of cases are its own.
    pub source: String,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<EventField>>,
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
    /// What its cases are, where records do not say so.
    pub kind: String,
}

impl EventOptions {
    pub fn new(source: impl Into<String>) -> Self {
        let (format, dates) = (Format::Auto, DateOrder::Unknown);
        EventOptions { source: source.into(), format, mapping: None, dates, kind: "case".into() }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.line("kind", &self.kind, 1..=limits::EVENT_NAME_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Events that are looked at together.
const TOGETHER: usize = 1_000;
/// Cases of a heap that are appended to side by side.
const AT_ONCE: usize = 16;
/// Events of one append: their data is bounded too.
const A_CASE_TOGETHER: usize = 25;

struct Found {
    place: Place,
    read: read::Read,
}

/// Imports events. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is
/// stopped half-way, the same import again finds what is there and goes on.
pub async fn import_events<R>(
    ctx: &Context,
    input: R,
    options: EventOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let mut heaps = Heaps::of(move |steps| read(input, options, steps));
    let mut report = Report::default();
    while let Some(found) = heaps.next(&mut report, &mut on_progress).await {
        write(ctx, found, &mut report).await?;
        on_progress(&report);
    }
    heaps.end().await?;
    report.sort();
    Ok(report)
}

/// Cases side by side, the events of each in their order.
async fn write(ctx: &Context, found: Vec<Found>, report: &mut Report) -> Result<()> {
    let mut cases: HashMap<AggregateId, Vec<Found>> = HashMap::new();
    found.into_iter().for_each(|found| cases.entry(found.read.aggregate_id).or_default().push(found));
    let mut written = stream::iter(cases).map(|(_, found)| write_case(ctx, found)).buffer_unordered(AT_ONCE);
    while let Some(answers) = written.next().await {
        for (place, case, answer) in answers? {
            report.count(1);
            match answer {
                Ok(true) => report.created += 1,
                Ok(false) => report.unchanged += 1,
                Err(reason) => report.reject(place, Some(case), reason),
            }
        }
    }
    Ok(())
}

/// Whether an event is new, or why it is refused.
type Answer = (Place, String, std::result::Result<bool, String>);

async fn write_case(ctx: &Context, found: Vec<Found>) -> Result<Vec<Answer>> {
    let ids: Vec<_> = found.iter().map(|found| found.read.event_id).collect();
    let known = events::find_known(ctx, &ids).await?;
    let mut answers = Vec::with_capacity(found.len());
    let mut fresh = Vec::new();
    for (found, known) in found.into_iter().zip(known) {
        match known {
            Some(known) if known.is(&found.read.new, found.read.aggregate_id) => {
                answers.push((found.place, found.read.case, Ok(false)));
            }
            _ => fresh.push(found),
        }
    }
    while !fresh.is_empty() {
        let rest = fresh.split_off(A_CASE_TOGETHER.min(fresh.len()));
        let some = std::mem::replace(&mut fresh, rest);
        match append(ctx, &some).await {
            Ok(()) => answers.extend(some.into_iter().map(|found| (found.place, found.read.case, Ok(true)))),
            // One of them is refused: each by itself, so that it takes no other along.
            Err(error) if some.len() > 1 && !error.kind().is_failure() => {
                for one in some {
                    let answer = match append(ctx, std::slice::from_ref(&one)).await {
                        Ok(()) => Ok(true),
                        Err(error) if !error.kind().is_failure() => Err(error.to_string()),
                        Err(error) => return Err(error.into()),
                    };
                    answers.push((one.place, one.read.case, answer));
                }
            }
            Err(error) if !error.kind().is_failure() => {
                answers.extend(some.into_iter().map(|found| (found.place, found.read.case, Err(error.to_string()))));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(answers)
}

async fn append(ctx: &Context, found: &[Found]) -> events::Result<()> {
    let Some(first) = found.first() else { return Ok(()) };
    let request = AppendRequest {
        aggregate_id: first.read.aggregate_id,
        kind: first.read.kind.clone(),
        expected: Expected::Any,
        events: found.iter().map(|found| found.read.new.clone()).collect(),
    };
    events::append(ctx, request).await.map(drop)
}

/// Twice through the source: whether it can be read to its end, before anything is written; then its events.
fn read(mut input: impl Read + Seek, options: EventOptions, steps: &Steps<Vec<Found>>) -> Result<()> {
    let (mapping, format) = (options.mapping.clone().unwrap_or_default(), options.format);
    check_source(&mapping, |each| source::read(&mut input, format, each))?;
    let mut reading = Reading::new(options);
    let mut waiting: Vec<Found> = Vec::new();
    source::read(&mut input, format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return steps.send(Step::Rejected(place, None, reason)),
        };
        match reading.event(&record) {
            Ok(read) => waiting.push(Found { place: record.place, read }),
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
