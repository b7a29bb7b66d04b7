//! Runs an import: reads the source on a thread of its own, writes drafts from tasks side by side.

use std::io::{Read, Seek};

use tokio::{
    sync::mpsc,
    task::{JoinSet, spawn_blocking},
};

use super::{
    categories::Categories,
    error::{Error, Result},
    record::Place,
    report::{Report, Standing, Sum},
    stream::{self, Maker, Step},
};
use crate::context::Context;

/// Drafts that wait to be written.
const DRAFTS_WAITING: usize = 64;

/// Writes what a maker made.
pub(super) trait Writer {
    type Draft: Send + 'static;
    /// Drafts that are written at once.
    const AT_ONCE: usize;

    /// Finds or makes what several drafts share; one draft at a time.
    async fn prepare(
        &mut self,
        ctx: &Context,
        draft: &mut Self::Draft,
        categories: &mut Categories,
        report: &mut Report,
    ) -> Result<()>;

    /// What is known of a draft, whatever becomes of it.
    fn about(draft: &Self::Draft) -> About;

    fn write(ctx: Context, draft: Self::Draft) -> impl Future<Output = Written> + Send + 'static;
}

#[derive(Clone, Debug)]
pub(super) struct About {
    pub place: Place,
    pub id: String,
    pub records: usize,
    /// Where it is an order.
    pub counted: Option<Counted>,
}

/// What an order comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub standing: Standing,
    pub sum: Sum,
    /// As it stands in the source, should it be rejected.
    pub as_read: Sum,
}

/// What became of a draft.
pub(super) struct Written {
    pub about: About,
    pub notes: Vec<String>,
    pub outcome: Result<Outcome>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Created,
    Changed,
    Unchanged,
}

/// Every record ends in the report, which is shown to `on_progress` whenever it has grown. What opens the source runs on the
/// thread that reads it.
pub(super) async fn run<M, W, R>(
    ctx: &Context,
    open: impl FnOnce() -> Result<(M, R)> + Send + 'static,
    mut writer: W,
    mut report: Report,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    M: Maker,
    W: Writer<Draft = M::Draft>,
    R: Read + Seek,
{
    let (sender, mut steps) = mpsc::channel(DRAFTS_WAITING);
    let reading = spawn_blocking(move || {
        let (mut maker, input) = open()?;
        stream::read(input, &mut maker, &sender)
    });
    let mut categories = Categories::default();
    let mut writing: JoinSet<Written> = JoinSet::new();
    while let Some(step) = steps.recv().await {
        let mut draft = match step {
            Step::Draft(draft) => draft,
            step => {
                tell(step, &mut report);
                on_progress(&report);
                continue;
            }
        };
        if let Err(error) = writer.prepare(ctx, &mut draft, &mut categories, &mut report).await {
            let written = Written { about: W::about(&draft), notes: Vec::new(), outcome: Err(error) };
            settle(written, &mut report)?;
            on_progress(&report);
            continue;
        }
        if writing.len() >= W::AT_ONCE
            && let Some(written) = writing.join_next().await
        {
            settle(written.map_err(|_| stopped())?, &mut report)?;
            on_progress(&report);
        }
        writing.spawn(W::write(ctx.clone(), *draft));
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

/// What comes of records without anything being written.
fn tell<D>(step: Step<D>, report: &mut Report) {
    match step {
        Step::Draft(_) => {}
        Step::Rejected { place, id, records, reason, sum } => {
            report.count(records);
            report.reject(place, id, reason);
            report.add(Standing::Rejected, sum);
        }
        Step::Note(place, text) => report.note(place, text),
        Step::WithoutLines(text) => report.without_lines(text),
    }
}

/// Counts it. An error that other records would meet too ends the import.
fn settle(written: Written, report: &mut Report) -> Result<()> {
    let Written { about: About { place, id, records, counted }, notes, outcome } = written;
    let mut sum = counted.map(|counted| (counted.standing, counted.sum));
    match outcome {
        Ok(Outcome::Created) => report.created += 1,
        Ok(Outcome::Changed) => report.changed += 1,
        Ok(Outcome::Unchanged) => report.unchanged += 1,
        Err(error) if error.kind().is_failure() => return Err(error),
        Err(error) => {
            report.reject(place, Some(id), error.to_string());
            sum = counted.map(|counted| (Standing::Rejected, counted.as_read));
        }
    }
    report.count(records);
    if let Some((standing, sum)) = sum {
        report.add(standing, sum);
    }
    notes.into_iter().for_each(|note| report.note(place, note));
    Ok(())
}
