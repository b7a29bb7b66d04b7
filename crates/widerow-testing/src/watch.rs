//! Says aloud which cases take long, and ends a run in which one hangs: by its name, not by the time of whoever waits for it.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex},
    time::{Duration, Instant},
};

/// As long as a case may take unmentioned.
const LONG: Duration = Duration::from_secs(60);

/// Many times what the longest takes on a busy machine.
const FOR_EVER: Duration = Duration::from_secs(20 * 60);

const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Those that run, each with its start and whether it was mentioned.
static RUNNING: LazyLock<Mutex<HashMap<String, (Instant, bool)>>> = LazyLock::new(Mutex::default);

/// A case that runs until this is dropped.
pub(crate) struct Watched(String);

pub(crate) fn begin(name: String) -> Watched {
    RUNNING.lock().expect("no panic").insert(name.clone(), (Instant::now(), false));
    Watched(name)
}

impl Drop for Watched {
    fn drop(&mut self) {
        RUNNING.lock().expect("no panic").remove(&self.0);
    }
}

pub(crate) fn start() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(LOOK_EVERY);
            look();
        }
    });
}

fn look() {
    let mut running = RUNNING.lock().expect("no panic");
    for (name, (start, mentioned)) in running.iter_mut() {
        let taken = start.elapsed();
        if taken >= LONG && !*mentioned {
            eprintln!("{name} has been running for over {} seconds", LONG.as_secs());
            *mentioned = true;
        }
        if taken >= FOR_EVER {
            eprintln!("{name} does not end: after {} minutes the run is given up", FOR_EVER.as_secs() / 60);
            std::process::exit(101);
        }
    }
}
