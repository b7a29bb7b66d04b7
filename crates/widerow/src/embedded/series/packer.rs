//! The thread that packs, so that those who wait for the committer do not wait for it, too. It only reads: what it makes of the
//! rows is written by the committer.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    thread::JoinHandle,
};

use fjall::Keyspace;

use super::{
    pack::{Packed, pack},
    stage::Rows,
    tail::Tails,
};
use crate::error::{Error, Result};

pub(super) struct Packer {
    /// None once it shall end.
    jobs: Option<Sender<Job>>,
    done: Receiver<Result<Vec<Packed>>>,
    thread: Option<JoinHandle<()>>,
    /// What was made before is not what is there.
    astray: bool,
}

struct Job {
    rows: Arc<Rows>,
    /// Nothing that is remembered counts.
    forget: bool,
}

impl Packer {
    pub fn start(keyspace: Keyspace) -> Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let (answers, done) = channel();
        let run = move || {
            // Held until the next ones come: the committer has let go of them by then, and need not give their memory back.
            let mut last = None;
            let mut tails = Tails::default();
            for Job { rows, forget } in queue {
                drop(last.take());
                if forget {
                    tails.forget();
                }
                let packs = rows.partitions().map(|(partition, rows)| pack(&keyspace, partition, rows, &mut tails));
                let packed = packs.collect::<Result<Vec<_>>>().map(|packs| packs.into_iter().flatten().collect());
                last = Some(rows);
                if packed.is_err() {
                    tails.forget();
                }
                if answers.send(packed).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("widerow-packer".into())
            .spawn(run)
            .map_err(|e| Error::Engine { detail: format!("no thread for the packer: {e}") })?;
        Ok(Packer { jobs: Some(jobs), done, thread: Some(thread), astray: false })
    }

    /// One at a time.
    pub fn begin(&mut self, rows: Arc<Rows>) -> Result<()> {
        let job = Job { rows, forget: std::mem::take(&mut self.astray) };
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(gone)
    }

    /// What it made was not written, or another has packed.
    pub fn forget(&mut self) {
        self.astray = true;
    }

    /// What was begun, if it is done.
    pub fn poll(&self) -> Option<Result<Vec<Packed>>> {
        match self.done.try_recv() {
            Ok(packed) => Some(packed),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(gone())),
        }
    }

    /// What was begun, once it is done.
    pub fn wait(&self) -> Result<Vec<Packed>> {
        self.done.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn gone() -> Error {
    Error::unavailable("the packer has stopped; open the folder again")
}

impl Drop for Packer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
