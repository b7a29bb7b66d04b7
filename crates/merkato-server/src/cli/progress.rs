//! How far something is: a bar on a terminal, a line every few seconds elsewhere, nothing for what is done at once.

use std::{
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const QUIET: Duration = Duration::from_secs(2);
const LINE_EVERY: Duration = Duration::from_secs(5);

pub(super) struct Progress {
    what: &'static str,
    total: Option<u64>,
    bar: Option<ProgressBar>,
    began: Instant,
    told: Instant,
}

impl Progress {
    pub(super) fn new(what: &'static str, total: Option<u64>) -> Self {
        Progress { what, total, bar: None, began: Instant::now(), told: Instant::now() }
    }

    pub(super) fn at(&mut self, done: u64) {
        if self.began.elapsed() < QUIET {
            return;
        }
        if std::io::stderr().is_terminal() {
            let (what, total) = (self.what, self.total);
            self.bar.get_or_insert_with(|| bar(what, total)).set_position(done);
        } else if self.told.elapsed() >= LINE_EVERY {
            self.told = Instant::now();
            let of = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
            eprintln!("{done}{of} {}, {} s", self.what, self.began.elapsed().as_secs());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, style) = match total {
        Some(total) => (ProgressBar::new(total), "{bar:40} {pos} of {len} {msg}, {eta} left"),
        None => (ProgressBar::no_length(), "{spinner} {pos} {msg}, {elapsed}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.with_message(what)
}
