//! Events and wallets as `merkato export` wrote them, read back to the same versions of the same streams.

use merkato::{
    Context, Kind,
    events::{self, AppendRequest, Event, Expected, NewEvent, ReadStream},
    flows::import::Report,
    id::AggregateId,
    limits, wallets,
};

use super::reject;
use crate::cli::{
    progress::Progress,
    records::{self, Numbered, Reader},
};

/// Why nothing is taken behind one that was not.
const UNSUPPORTED: &str = "the one before it does not stand here as it does in the file";

/// Events of one stream that wait to be appended, each with the number of its record.
type Waiting = Vec<(u64, Event)>;

/// Whose events they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Streams that anybody may append to.
    Streams,
    /// Wallets, whose entries must add up.
    Wallets,
}

/// The stream and the version of the last record that stands here as the file has it.
type Stands = Option<(AggregateId, i64)>;

/// Events come by version, stream by stream. One that is there and the same is left as it is; one whose version another has is
/// rejected, and so is what comes after it or after a gap: no stream goes on with what has happened in another.
pub(super) async fn import(ctx: &Context, of: Of, reader: Reader, progress: &mut Progress) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut waiting: Waiting = Vec::new();
    let mut stands: Stands = None;
    for (number, record) in reader {
        let (number, record): Numbered = (number, record);
        report.read += 1;
        let event = match record.and_then(|record| records::row::<Event>(&record)).and_then(counted) {
            Ok(event) => event,
            Err(reason) => {
                reject(&mut report, number, reason);
                continue;
            }
        };
        let follows = |(_, last): &(u64, Event)| {
            last.aggregate_id == event.aggregate_id && last.event_version + 1 == event.event_version
        };
        if !waiting.last().is_none_or(follows) || waiting.len() >= limits::PAGE_ROWS_MAX {
            take(ctx, of, std::mem::take(&mut waiting), &mut stands, &mut report).await?;
            progress.at(report.read);
        }
        waiting.push((number, event));
    }
    take(ctx, of, waiting, &mut stands, &mut report).await?;
    progress.at(report.read);
    Ok(report)
}

/// Versions are counted from 1.
fn counted(event: Event) -> Result<Event, String> {
    let (version, most) = (event.event_version, limits::REVISION_MAX);
    if (1..=most).contains(&version) { Ok(event) } else { Err(format!("event_version: {version} is not 1 to {most}")) }
}

/// Appends what is not there: consecutive versions of one stream.
async fn take(ctx: &Context, of: Of, waiting: Waiting, stands: &mut Stands, report: &mut Report) -> anyhow::Result<()> {
    let Some((_, first)) = waiting.first() else { return Ok(()) };
    let (aggregate, from) = (first.aggregate_id, first.event_version);
    let read = ReadStream { from, limit: waiting.len(), ..ReadStream::default() };
    let there = events::list_events(ctx, aggregate, read).await?.events;
    let mut missing: Waiting = Vec::new();
    let mut there = there.into_iter().peekable();
    let mut follows = from == 1 || *stands == Some((aggregate, from - 1));
    for (number, event) in waiting {
        if !follows {
            reject(report, number, UNSUPPORTED.into());
            continue;
        }
        match there.next_if(|known| known.event_version == event.event_version) {
            Some(known) => {
                let version = known.event_version;
                if known == (Event { block: known.block, ..event }) {
                    report.unchanged += 1;
                    *stands = Some((aggregate, version));
                } else {
                    reject(report, number, format!("version {version} is another event"));
                    follows = false;
                }
            }
            None => missing.push((number, event)),
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let last = missing.last().map(|(_, event)| (aggregate, event.event_version));
    let Err(reason) = append(ctx, of, aggregate, missing.iter().map(|(_, event)| event).cloned().collect()).await?
    else {
        report.created += missing.len() as u64;
        *stands = last;
        return Ok(());
    };
    if let [(number, _)] = missing[..] {
        reject(report, number, reason);
        return Ok(());
    }
    // One of them is bad: those before it are taken, and those behind it have nothing to stand on.
    let mut follows = true;
    for (number, event) in missing {
        if !follows {
            reject(report, number, UNSUPPORTED.into());
            continue;
        }
        let version = event.event_version;
        match append(ctx, of, aggregate, vec![event]).await? {
            Ok(()) => {
                report.created += 1;
                *stands = Some((aggregate, version));
            }
            Err(reason) => {
                reject(report, number, reason);
                follows = false;
            }
        }
    }
    Ok(())
}

/// Appends events at their versions. Inside: why they cannot be.
async fn append(
    ctx: &Context,
    of: Of,
    aggregate_id: AggregateId,
    rows: Vec<Event>,
) -> anyhow::Result<Result<(), String>> {
    let (kind, problem): (_, anyhow::Error) = match of {
        Of::Wallets => match wallets::restore(ctx, &rows).await {
            Ok(()) => return Ok(Ok(())),
            Err(error) => (error.kind(), error.into()),
        },
        Of::Streams => {
            let request = match request(aggregate_id, rows) {
                Ok(request) => request,
                Err(reason) => return Ok(Err(reason)),
            };
            match events::append(ctx, request).await {
                Ok(_) => return Ok(Ok(())),
                Err(error) => (error.kind(), error.into()),
            }
        }
    };
    match kind {
        Kind::Internal | Kind::Unavailable => Err(problem),
        _ => Ok(Err(problem.to_string())),
    }
}

fn request(aggregate_id: AggregateId, rows: Vec<Event>) -> Result<AppendRequest, String> {
    let first = rows.first().map(|row| (row.aggregate_kind.clone(), row.event_version - 1));
    let (kind, before) = first.unwrap_or_default();
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let data = row.data()?;
        events.push(NewEvent {
            schema_version: row.schema_version,
            metadata: row.event_metadata,
            causation_id: row.causation_id,
            correlation_id: Some(row.correlation_id),
            at: Some(row.event_timestamp),
            ..NewEvent::new(row.event_type, data).with_id(row.event_id)
        });
    }
    let expected = if before <= 0 { Expected::Absent } else { Expected::Exact(before) };
    Ok(AppendRequest { aggregate_id, kind, expected, events })
}
