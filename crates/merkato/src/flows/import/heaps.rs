//! A source whose records stand for themselves: read on a thread of its own, and written heap by heap meanwhile.

use std::ops::ControlFlow;

use tokio::{
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
};

use super::{
    error::{Error, Result},
    mapping::{self, Fields, Mapping},
    record::{Item, Place},
    report::Report,
    source::Each,
};
use crate::limits;

/// Heaps that wait to be written.
const WAITING: usize = 4;

/// What comes of records.
pub(super) enum Step<H> {
    /// What is written together.
    Heap(H),
    Rejected(Place, Option<String>, String),
    Note(Place, String),
}

/// Where the reader puts what comes of records.
pub(super) struct Steps<H>(mpsc::Sender<Step<H>>);

impl<H> Steps<H> {
    /// Waits where heaps are read more quickly than they are written; `Break` where nobody waits for them any more.
    pub(super) fn send(&self, step: Step<H>) -> ControlFlow<()> {
        match self.0.blocking_send(step) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

/// The heaps of a source that is being read.
pub(super) struct Heaps<H> {
    steps: mpsc::Receiver<Step<H>>,
    reading: JoinHandle<Result<()>>,
}

impl<H: Send + 'static> Heaps<H> {
    /// Begins to read, on a thread that may block.
    pub(super) fn of(read: impl FnOnce(&Steps<H>) -> Result<()> + Send + 'static) -> Self {
        let (sender, steps) = mpsc::channel(WAITING);
        Heaps { steps, reading: spawn_blocking(move || read(&Steps(sender))) }
    }

    /// The next heap; what is told before it goes into the report. None at the end, which `end` must be asked about.
    pub(super) async fn next(&mut self, report: &mut Report, on_progress: &mut impl FnMut(&Report)) -> Option<H> {
        loop {
            match self.steps.recv().await? {
                Step::Heap(heap) => return Some(heap),
                Step::Rejected(place, id, reason) => {
                    report.count(1);
                    report.reject(place, id, reason);
                }
                Step::Note(place, text) => report.note(place, text),
            }
            on_progress(report);
        }
    }

    /// Whether the reader came to the end of the source.
    ///
    /// ORDER: after the last heap. The channel ends when the reader does, so that it is known here how.
    pub(super) async fn end(self) -> Result<()> {
        self.reading.await.map_err(|_| Error::unreadable("the reader ended before its time"))?
    }
}

/// Goes through a source before anything of it is written: whether it can be read to its end, has what is needed of every record, and
/// is not too long.
pub(super) fn check_source<F: Fields>(
    mapping: &Mapping<F>,
    through: impl FnOnce(&mut Each<'_>) -> Result<()>,
) -> Result<()> {
    let (mut refused, mut records) = (None, 0_u32);
    through(&mut |item| {
        match item {
            Item::Columns(columns) => refused = mapping::check_columns(&columns, mapping).err().map(Error::from),
            Item::Record(_) => records += 1,
            Item::Bad(..) => {}
        }
        if records > limits::IMPORT_RECORDS_MAX {
            refused = Some(Error::unreadable(format!("it has more than {} records", limits::IMPORT_RECORDS_MAX)));
        }
        if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    refused.map_or(Ok(()), Err)
}
