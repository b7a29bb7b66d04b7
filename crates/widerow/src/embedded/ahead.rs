//! The engine's journal is filled with zeros ahead of it.
//!
//! The engine makes a journal as an empty file of its whole length, of which nothing is on disk. A sync of what was written into such a
//! hole has to write down where that came to lie as well: a second write beside that of the data, one behind the other. Where zeros have
//! been written before, a sync writes the data alone, and takes two thirds of the time.
//!
//! Invariants:
//! - RACE: nothing is written where the engine has written, or may be writing. Whoever has it write a batch says first how long that
//!   can be (`begin`). A piece begins behind all that was said, and a batch that reaches into a piece waits until that is written.
//! - Only holes of the newest journal are filled, and never behind its end. A journal that was read back at a start has none.
//! - Nothing rests on it: where there are no holes to be found, or a piece cannot be written, nothing is filled.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use crate::error::{Error, Result};

/// What is filled at once: a sync that comes meanwhile waits for it.
const PIECE_BYTES: u64 = 256 * 1024;
/// How far ahead zeros are to reach, beyond all that was said.
const LEAD_BYTES: u64 = 4 * 1024 * 1024;
/// Between what was said and the first piece.
const MARGIN_BYTES: u64 = 256 * 1024;
/// Where there is nothing to be filled, a new journal is looked for after so many bytes.
const LOOK_BYTES: u64 = 1024 * 1024;
/// What the engine writes of a batch, and of each entry besides its key and its value, at most.
const BATCH_BYTES: u64 = 64;
const ENTRY_BYTES: u64 = 32;

/// What a batch takes in the journal, at most.
pub(super) fn batch_bytes(entries: usize, bytes: usize) -> u64 {
    BATCH_BYTES + ENTRY_BYTES * entries as u64 + bytes as u64
}

pub(super) struct Ahead {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    folder: PathBuf,
    state: Mutex<State>,
    /// A piece is written, or there is one to be written.
    turned: Condvar,
}

#[derive(Default)]
struct State {
    /// The newest that was seen.
    journal: Option<Journal>,
    /// In it: the engine writes nothing from here on before that is said.
    reach: u64,
    /// Of the batches that are being written.
    in_flight: u64,
    /// Of the batches that may have gone into a newer one: those that were being written when there was none, and all since.
    unseen: u64,
    /// In it: what was filled ends here, and nothing is filled before.
    filled: u64,
    /// The piece from there on is being written.
    filling: Option<u64>,
    /// There is something to do as soon as batches reach so far.
    wanted_at: u64,
    ended: bool,
}

struct Journal {
    number: u64,
    file: Arc<holes::File>,
}

/// A batch that is being written.
pub(super) struct Begun<'a> {
    shared: &'a Shared,
    bytes: u64,
}

impl Ahead {
    /// Of the database in the folder. ORDER: nothing is written to it before this, or it is said.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let shared = Arc::new(Shared { folder: folder.into(), state: Mutex::default(), turned: Condvar::new() });
        if let Some(number) = newest(folder) {
            // All that is in it is on disk.
            shared.lock().open(folder, number, holes::File::end_of_data);
        }
        let own = shared.clone();
        let thread = std::thread::Builder::new()
            .name("widerow-ahead".into())
            .spawn(move || own.run())
            .map_err(|e| Error::Engine { detail: format!("no thread to fill the journal: {e}") })?;
        Ok(Ahead { shared, thread: Some(thread) })
    }

    pub(super) fn handle(&self) -> Handle {
        Handle(self.shared.clone())
    }
}

/// Of who writes.
#[derive(Clone)]
pub(super) struct Handle(Arc<Shared>);

impl Handle {
    /// A batch of at most so many bytes may be written from now on, until what is returned is dropped.
    pub(super) fn begin(&self, bytes: u64) -> Begun<'_> {
        let shared = &*self.0;
        let mut state = shared.lock();
        state.reach += bytes;
        state.in_flight += bytes;
        state.unseen += bytes;
        while state.filling.is_some_and(|from| state.reach > from) {
            state = shared.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.filling.is_none() && state.reach >= state.wanted_at {
            shared.turned.notify_all();
        }
        Begun { shared, bytes }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.shared.lock().in_flight -= self.bytes;
    }
}

impl Drop for Ahead {
    /// ORDER: nothing is filled any more once the folder can be opened again. Whoever owns the database drops this first.
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.turned.notify_all();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let zeros = vec![0; PIECE_BYTES as usize];
        let mut state = self.lock();
        loop {
            while !state.ended && state.reach < state.wanted_at {
                state = self.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.ended {
                return;
            }
            let Some((file, from)) = state.next_piece(&self.folder) else {
                state.wanted_at = state.reach + LOOK_BYTES;
                continue;
            };
            state.filling = Some(from);
            drop(state);
            let written = file.write_at(&zeros, from);
            state = self.lock();
            state.filling = None;
            self.turned.notify_all();
            match written {
                Ok(()) => {
                    state.filled = from + PIECE_BYTES;
                    state.wanted_at = state.filled.saturating_sub(LEAD_BYTES);
                }
                Err(error) => {
                    tracing::debug!(%error, "the journal is not filled ahead");
                    state.filled = u64::MAX;
                    state.wanted_at = state.reach + LOOK_BYTES;
                }
            }
        }
    }
}

impl State {
    /// The newest journal and where its next piece begins; None where there is nothing to be filled.
    fn next_piece(&mut self, folder: &Path) -> Option<(Arc<holes::File>, u64)> {
        while let Some(next) = self.journal.as_ref().map(|journal| journal.number + 1)
            && path(folder, next).exists()
        {
            // RACE: the engine may be writing to it. What is said counts, not what the file system tells of a file that changes.
            let unseen = self.unseen;
            self.open(folder, next, |_| Ok(unseen));
        }
        self.unseen = self.in_flight;
        let file = self.journal.as_ref()?.file.clone();
        let from = (self.reach + MARGIN_BYTES).next_multiple_of(PIECE_BYTES).max(self.filled);
        // Where the engine has come so far as to be about to go on in another.
        let is_hole = file.is_hole(from, from.checked_add(PIECE_BYTES)?).unwrap_or(false);
        is_hole.then_some((file, from))
    }

    /// Takes up a journal, of which so much may be written.
    fn open(&mut self, folder: &Path, number: u64, written: impl FnOnce(&holes::File) -> io::Result<u64>) {
        let opened = holes::File::open(&path(folder, number)).and_then(|file| Ok((written(&file)?, file)));
        match opened {
            Ok((written, file)) => {
                (self.reach, self.filled, self.wanted_at) = (written, 0, 0);
                self.journal = Some(Journal { number, file: Arc::new(file) });
            }
            Err(error) => {
                tracing::debug!(%error, number, "the journal is not filled ahead");
                self.journal = None;
            }
        }
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.jnl"))
}

fn newest(folder: &Path) -> Option<u64> {
    let number = |entry: io::Result<std::fs::DirEntry>| {
        let name = entry.ok()?.file_name();
        name.to_str()?.strip_suffix(".jnl")?.parse().ok()
    };
    std::fs::read_dir(folder).ok()?.filter_map(number).max()
}

#[cfg(target_os = "linux")]
mod holes {
    use std::{fs, io, os::unix::fs::FileExt as _, path::Path};

    use rustix::{
        fs::{SeekFrom, seek},
        io::Errno,
    };

    /// A file with holes.
    pub(super) struct File(fs::File);

    impl File {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            fs::OpenOptions::new().write(true).open(path).map(File)
        }

        /// Where the hole at its end begins.
        pub(super) fn end_of_data(&self) -> io::Result<u64> {
            let mut end = 0;
            loop {
                end = match seek(&self.0, SeekFrom::Data(end)) {
                    Ok(data) => seek(&self.0, SeekFrom::Hole(data))?,
                    Err(Errno::NXIO) => return Ok(end),
                    Err(error) => return Err(error.into()),
                }
            }
        }

        /// Whether all of that is in the file and nothing of it on disk.
        pub(super) fn is_hole(&self, from: u64, to: u64) -> io::Result<bool> {
            if to > self.0.metadata()?.len() {
                return Ok(false);
            }
            match seek(&self.0, SeekFrom::Data(from)) {
                Ok(data) => Ok(data >= to),
                Err(Errno::NXIO) => Ok(true),
                Err(error) => Err(error.into()),
            }
        }

        /// On disk afterwards.
        pub(super) fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            self.0.write_all_at(bytes, at)?;
            self.0.sync_data()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod holes {
    use std::{io, path::Path};

    /// Nowhere else is it known whether it would be of use.
    pub(super) struct File(std::convert::Infallible);

    impl File {
        pub(super) fn open(_: &Path) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn end_of_data(&self) -> io::Result<u64> {
            match self.0 {}
        }

        pub(super) fn is_hole(&self, _: u64, _: u64) -> io::Result<bool> {
            match self.0 {}
        }

        pub(super) fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            match self.0 {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, io::Write as _, os::unix::fs::MetadataExt as _};

    use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};

    use super::*;

    const JOURNAL_BYTES: u64 = 16 * 1024 * 1024;

    /// As the engine makes one.
    fn create(folder: &Path, number: u64) -> fs::File {
        let file = fs::File::create_new(path(folder, number)).expect("a journal");
        file.set_len(JOURNAL_BYTES).expect("its length");
        file
    }

    fn stored_bytes(folder: &Path, number: u64) -> u64 {
        512 * fs::metadata(path(folder, number)).expect("a journal").blocks()
    }

    /// Some file systems keep zeros as a hole.
    fn keeps_zeros(folder: &Path) -> bool {
        let name = folder.join("zeros");
        let file = fs::File::create_new(&name).expect("a file");
        (&file).write_all(&vec![0; LEAD_BYTES as usize]).expect("written");
        file.sync_all().expect("on disk");
        512 * fs::metadata(name).expect("a file").blocks() >= LEAD_BYTES
    }

    /// Lets what is to be filled be filled.
    fn settle(ahead: &Ahead) {
        let busy = |state: &State| state.filling.is_some() || state.reach >= state.wanted_at;
        while busy(&ahead.shared.lock()) {
            std::thread::yield_now();
        }
    }

    /// As the engine writes: a batch that was said may begin another journal.
    struct Engine<'f> {
        folder: &'f Path,
        number: u64,
        file: fs::File,
        written: Vec<u8>,
    }

    impl Engine<'_> {
        fn write(&mut self, batch: &[u8]) {
            if (self.written.len() + batch.len()) as u64 > JOURNAL_BYTES {
                self.check();
                self.number += 1;
                self.file = create(self.folder, self.number);
                self.written.clear();
            }
            self.file.write_all(batch).expect("written");
            self.written.extend(batch);
        }

        fn check(&self) {
            let found = fs::read(path(self.folder, self.number)).expect("a journal");
            assert_eq!(found.len() as u64, JOURNAL_BYTES);
            assert!(found.starts_with(&self.written), "journal {}", self.number);
            assert!(found[self.written.len()..].iter().all(|byte| *byte == 0), "journal {}", self.number);
        }
    }

    #[test]
    fn nothing_that_was_written_is_overwritten_in_any_journal() {
        for (seed, most) in [(1, 1_000), (2, 40_000), (3, 900_000)] {
            let (folder, mut chance) = (tempfile::tempdir().expect("a folder"), SmallRng::seed_from_u64(seed));
            let (folder, number) = (folder.path(), 7);
            let mut engine = Engine { folder, number, file: create(folder, number), written: Vec::new() };
            engine.write(b"what stood there before");
            let ahead = Ahead::start(folder).expect("started");
            let handle = ahead.handle();
            while engine.number < 10 {
                if chance.random_ratio(1, 20) {
                    settle(&ahead);
                }
                // Zeros are as good as other bytes.
                let batch = vec![chance.random_range(0..=u8::MAX); chance.random_range(1..most)];
                // As it is told of a batch: never less.
                let _begun = handle.begin((batch.len() + chance.random_range(0..100)) as u64);
                engine.write(&batch);
            }
        }
    }

    #[test]
    fn zeros_are_on_disk_before_the_engine_comes_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = create(folder.path(), 0);
        if !keeps_zeros(folder.path()) || stored_bytes(folder.path(), 0) >= PIECE_BYTES {
            println!("skipped: this file system keeps zeros as holes, or has none");
            return;
        }
        let ahead = Ahead::start(folder.path()).expect("started");
        settle(&ahead);
        assert!(stored_bytes(folder.path(), 0) >= LEAD_BYTES);
        drop(ahead.handle().begin(2 * LEAD_BYTES));
        file.write_all(&vec![1; 2 * LEAD_BYTES as usize]).expect("written");
        settle(&ahead);
        assert!(stored_bytes(folder.path(), 0) >= 3 * LEAD_BYTES);
        // The next one is found as soon as it is looked for.
        create(folder.path(), 1);
        drop(ahead.handle().begin(LEAD_BYTES));
        settle(&ahead);
        assert!(stored_bytes(folder.path(), 1) >= LEAD_BYTES);
    }

    #[test]
    fn a_batch_waits_for_the_piece_that_it_would_reach_into() {
        let folder = tempfile::tempdir().expect("a folder");
        create(folder.path(), 0);
        let ahead = Ahead::start(folder.path()).expect("started");
        settle(&ahead);
        let filling = ahead.shared.lock().filled;
        ahead.shared.lock().filling = Some(filling);
        let handle = ahead.handle();
        drop(handle.begin(1_000));
        let waiting = std::thread::spawn(move || drop(handle.begin(filling)));
        while ahead.shared.lock().reach < filling {
            std::thread::yield_now();
        }
        // Whoever does not wait is long done by then.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!waiting.is_finished());
        ahead.shared.lock().filling = None;
        ahead.shared.turned.notify_all();
        waiting.join().expect("it goes on");
    }

    #[test]
    fn a_journal_that_was_read_back_has_nothing_to_be_filled() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = fs::File::create_new(path(folder.path(), 3)).expect("a journal");
        file.write_all(&[1; 5_000]).expect("written");
        let ahead = Ahead::start(folder.path()).expect("started");
        drop(ahead.handle().begin(10 * PIECE_BYTES));
        settle(&ahead);
        assert_eq!(fs::metadata(path(folder.path(), 3)).expect("a journal").len(), 5_000);
    }

    #[test]
    fn a_folder_without_journals_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let ahead = Ahead::start(folder.path()).expect("started");
        drop(ahead.handle().begin(10 * LOOK_BYTES));
        settle(&ahead);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
