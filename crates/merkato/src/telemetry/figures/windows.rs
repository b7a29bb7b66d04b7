//! Sliding windows: the figures of the last ten minutes, at every minute.
//!
//! 1. A window goes from a time to before another. The last one ends where it was asked to; they come in the order of time.
//! 2. A window without readings is empty, not nought.
//! 3. Each reading is looked at a few times, however many windows it is in. Nothing is ever subtracted, which would leave rounding
//!    behind: the windows' readings stand in two stacks of merged summaries, the front one merged towards its top.

use std::collections::VecDeque;

use widerow::Timestamp;

use super::{
    error::{Error, Result},
    limits,
    reading::{Reading, check_order},
    summary::Summary,
};

/// Which windows are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Where the last one ends.
    end: Timestamp,
    size_ms: i64,
    step_ms: i64,
    count: u32,
}

/// The figures of a window; the empty summary where nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub from: Timestamp,
    /// Not part of it.
    pub to: Timestamp,
    pub summary: Summary,
}

impl Windows {
    /// The last `count` windows of `size_ms`, each `step_ms` after the one before.
    pub fn new(end: Timestamp, size_ms: i64, step_ms: i64, count: u32) -> Result<Self> {
        for (field, millis) in [("size_ms", size_ms), ("step_ms", step_ms)] {
            if !(1..=limits::INTERVAL_MS_MAX).contains(&millis) {
                let problem = format!("it must be from 1 to {} milliseconds", limits::INTERVAL_MS_MAX);
                return Err(Error::invalid(field, problem));
            }
        }
        if count > limits::WINDOWS_MAX {
            let (found, limit) = (u64::from(count), u64::from(limits::WINDOWS_MAX));
            return Err(Error::TooMany { field: "windows", found, limit });
        }
        if !end.in_range() {
            return Err(Error::invalid("end", "times lie in the years 0000 to 9999"));
        }
        Ok(Windows { end, size_ms, step_ms, count })
    }

    /// From when on readings are needed; None if no window is asked for.
    pub fn begin(&self) -> Option<Timestamp> {
        self.spans().next().map(|(from, _)| from)
    }

    /// The windows without figures, in the order of time.
    fn spans(&self) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        let before = |millis: i64| Timestamp::from_millis(self.end.millis().saturating_sub(millis));
        (0..i64::from(self.count))
            .rev()
            .map(move |n| (before(n * self.step_ms + self.size_ms), before(n * self.step_ms)))
    }
}

/// The figures of every window.
pub fn windows(readings: &[Reading], asked: &Windows) -> Result<Vec<Window>> {
    check_order(readings)?;
    Ok(slide(readings.iter().map(|reading| (reading.at(), Summary::of_readings([reading]))), asked))
}

/// As `windows`, of summaries such as hours. One belongs to the windows that its own time, where it begins, lies in.
pub fn windows_of_summaries(summaries: &[(Timestamp, Summary)], asked: &Windows) -> Result<Vec<Window>> {
    if summaries.len() > limits::READINGS_MAX {
        let (found, limit) = (summaries.len() as u64, limits::READINGS_MAX as u64);
        return Err(Error::TooMany { field: "summaries", found, limit });
    }
    if let Some(pair) = summaries.windows(2).find(|pair| pair[1].0 < pair[0].0) {
        return Err(Error::OutOfOrder { at: pair[1].0 });
    }
    Ok(slide(summaries.iter().copied(), asked))
}

fn slide(parts: impl Iterator<Item = (Timestamp, Summary)>, asked: &Windows) -> Vec<Window> {
    let mut parts = parts.peekable();
    let mut inside = Queue::default();
    let mut figures = Vec::with_capacity(asked.count as usize);
    for (from, to) in asked.spans() {
        inside.drop_before(from);
        while let Some((at, part)) = parts.next_if(|(at, _)| *at < to) {
            if at >= from {
                inside.push(at, part);
            }
        }
        figures.push(Window { from, to, summary: inside.summary() });
    }
    figures
}

/// The parts of a window, oldest first.
#[derive(Default)]
struct Queue {
    /// The older ones, the oldest last, each merged with all that are newer in here.
    front: Vec<(Timestamp, Summary)>,
    /// The newer ones, and all of them merged.
    back: VecDeque<(Timestamp, Summary)>,
    back_merged: Summary,
}

impl Queue {
    fn push(&mut self, at: Timestamp, part: Summary) {
        self.back.push_back((at, part));
        self.back_merged.merge(&part);
    }

    fn drop_before(&mut self, from: Timestamp) {
        while self.front.pop_if(|(at, _)| *at < from).is_some() {}
        if !self.front.is_empty() {
            return;
        }
        // What is dropped from the back was never merged into the front; the rest moves there, each once.
        while self.back.front().is_some_and(|(at, _)| *at < from) {
            self.back.pop_front();
        }
        let mut newer = Summary::EMPTY;
        while let Some((at, part)) = self.back.pop_back() {
            newer.merge(&part);
            self.front.push((at, newer));
        }
        self.back_merged = Summary::EMPTY;
    }

    fn summary(&self) -> Summary {
        let front = self.front.last().map_or(Summary::EMPTY, |(_, merged)| *merged);
        front.merged(&self.back_merged)
    }
}
