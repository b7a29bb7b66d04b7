//! Marks what is unusual in a series while it comes: single readings, and a level that has moved.
//!
//! Two watchers look at each series. One compares each reading with the day before it (a spike), the other compares, hour by hour,
//! the mean of the last hours with those of the week before (a shift).
//! 1. Both measure in median distances, so that what was unusual does not make the next unusual thing look usual.
//! 2. A series that often jumps is not unusual when it jumps: a score counts if it is also well above nearly all scores so far.
//!    The price: after a long unusual time only what is more unusual still is marked, until its scores are forgotten.
//! 3. Nothing is marked before there is enough to compare with. What is to come changes no mark.
//! 4. Memory is bounded by the settings, however long the series is.

use std::collections::VecDeque;

use widerow::Timestamp;

use super::{
    error::{Error, Result},
    limits,
    reading::Reading,
    robust::Middle,
    summary::Summary,
};

const HOUR_MS: i64 = 3_600_000;

/// What one of the two watchers goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// How many of the last values the next is compared with.
    pub remembered: usize,
    /// From how many on it is.
    pub learned_min: usize,
    /// From how many spreads on a score counts.
    pub score_min: f64,
    /// The share of all scores so far, and how many times as much as they a score must be.
    pub usual_share: f64,
    pub times_usual: f64,
}

/// What a detector goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectorSettings {
    /// For single readings.
    pub spike: Watch,
    /// For means of the last hours, one an hour.
    pub shift: Watch,
    /// Over how many hours a level is taken.
    pub level_hours: usize,
}

impl DetectorSettings {
    /// For a series with a reading at each interval: a day of readings, and a week of levels over six hours.
    pub fn every(interval_ms: i64) -> Result<Self> {
        if !(1..=limits::INTERVAL_MS_MAX).contains(&interval_ms) {
            let problem = format!("it must be from 1 to {} milliseconds", limits::INTERVAL_MS_MAX);
            return Err(Error::invalid("interval_ms", problem));
        }
        let day = usize::try_from(24 * HOUR_MS / interval_ms).unwrap_or(usize::MAX);
        let day = day.clamp(*limits::REMEMBERED.start(), *limits::REMEMBERED.end());
        Ok(DetectorSettings {
            spike: Watch {
                remembered: day,
                learned_min: day / 2,
                score_min: 6.0,
                usual_share: 0.998,
                times_usual: 1.7,
            },
            shift: Watch { remembered: 168, learned_min: 24, score_min: 4.0, usual_share: 0.95, times_usual: 1.7 },
            level_hours: 6,
        })
    }

    fn check(&self) -> Result<()> {
        for (field, watch) in [("spike", &self.spike), ("shift", &self.shift)] {
            if !limits::REMEMBERED.contains(&watch.remembered) {
                let (least, most) = (limits::REMEMBERED.start(), limits::REMEMBERED.end());
                return Err(Error::invalid(
                    format!("{field}/remembered"),
                    format!("it must be from {least} to {most}"),
                ));
            }
            if !(1..=watch.remembered).contains(&watch.learned_min) {
                return Err(Error::invalid(format!("{field}/learned_min"), "it must be from 1 to what is remembered"));
            }
            if !(watch.score_min.is_finite() && watch.score_min > 0.0) {
                return Err(Error::invalid(format!("{field}/score_min"), "a number above nought"));
            }
            if !(0.0..=1.0).contains(&watch.usual_share) {
                return Err(Error::invalid(format!("{field}/usual_share"), "from 0 to 1"));
            }
            if !(watch.times_usual.is_finite() && watch.times_usual >= 0.0) {
                return Err(Error::invalid(format!("{field}/times_usual"), "a number that is not negative"));
            }
        }
        if !(1..=168).contains(&self.level_hours) {
            return Err(Error::invalid("level_hours", "from one hour to a week of them"));
        }
        Ok(())
    }
}

/// Something unusual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    pub at: Timestamp,
    /// The reading, or the mean of the hours before.
    pub value: f64,
    /// The median of what it was compared with.
    pub usual: f64,
    pub kind: MarkKind,
    /// How many spreads it is from the usual.
    pub score: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A single reading.
    Spike,
    /// The level over some hours.
    Shift,
}

impl MarkKind {
    pub fn as_str(self) -> &'static str {
        match self {
            MarkKind::Spike => "spike",
            MarkKind::Shift => "shift",
        }
    }
}

/// Looks at the readings of a series one after the other.
#[derive(Clone, Debug)]
pub struct Detector {
    level_hours: usize,
    spikes: Watcher,
    shifts: Watcher,
    last: Option<Timestamp>,
    /// The hours that a level is taken over, the last one still growing; by number since 1970.
    hours: VecDeque<(i64, Summary)>,
    /// The levels that still share an hour with the current one.
    recent_levels: VecDeque<f64>,
}

impl Detector {
    pub fn new(settings: DetectorSettings) -> Result<Self> {
        settings.check()?;
        Ok(Detector {
            level_hours: settings.level_hours,
            spikes: Watcher::new(settings.spike),
            shifts: Watcher::new(settings.shift),
            last: None,
            hours: VecDeque::new(),
            recent_levels: VecDeque::new(),
        })
    }

    /// What the next reading shows: nothing, a spike, a shift (which the end of an hour shows, told at the first reading after
    /// it), or both.
    pub fn push(&mut self, reading: Reading) -> Result<[Option<Mark>; 2]> {
        let (at, value) = (reading.at(), reading.value());
        if self.last.is_some_and(|last| at < last) {
            return Err(Error::OutOfOrder { at });
        }
        self.last = Some(at);
        let hour = at.millis().div_euclid(HOUR_MS);
        let shift = match self.hours.back() {
            Some((last, _)) if *last == hour => None,
            _ => self.end_hour(at, hour),
        };
        let spike =
            self.spikes.judge(value).map(|(usual, score)| Mark { at, value, usual, kind: MarkKind::Spike, score });
        // A spike is told once, and not again as the level that it moves.
        if spike.is_none()
            && let Some((_, summary)) = self.hours.back_mut()
        {
            summary.merge(&Summary::of_readings([&reading]));
        }
        self.spikes.remember(value);
        Ok([spike, shift])
    }

    /// Judges the level of the hours that are over, and begins another.
    fn end_hour(&mut self, at: Timestamp, hour: i64) -> Option<Mark> {
        let level = self.hours.iter().fold(Summary::EMPTY, |all, (_, hour)| all.merged(hour)).mean();
        let mark = level.and_then(|value| {
            let (usual, score) = self.shifts.judge(value)?;
            Some(Mark { at, value, usual, kind: MarkKind::Shift, score })
        });
        // A level is compared with those that have no hour in common with it.
        self.recent_levels.extend(level);
        while self.recent_levels.len() >= self.level_hours
            && let Some(level) = self.recent_levels.pop_front()
        {
            self.shifts.remember(level);
        }
        self.hours.push_back((hour, Summary::EMPTY));
        while self.hours.front().is_some_and(|(first, _)| hour - first >= self.level_hours as i64) {
            self.hours.pop_front();
        }
        mark
    }
}

/// What is unusual in a whole series, in the order of time.
pub fn detect(readings: &[Reading], settings: DetectorSettings) -> Result<Vec<Mark>> {
    if readings.len() > limits::READINGS_MAX {
        let (found, limit) = (readings.len() as u64, limits::READINGS_MAX as u64);
        return Err(Error::TooMany { field: "readings", found, limit });
    }
    let mut detector = Detector::new(settings)?;
    let mut marks = Vec::new();
    for reading in readings {
        marks.extend(detector.push(*reading)?.into_iter().flatten());
    }
    Ok(marks)
}

/// One mark for all within a time: the first, and another if it goes on for longer. Marks come in the order of time.
pub fn alarms(marks: &[Mark], quiet_ms: i64) -> Vec<Mark> {
    let mut alarms: Vec<Mark> = Vec::new();
    for mark in marks {
        let is_quiet = alarms.last().is_some_and(|last| mark.at.millis().saturating_sub(last.at.millis()) < quiet_ms);
        if !is_quiet {
            alarms.push(*mark);
        }
    }
    alarms
}

/// Compares each value with those before it.
#[derive(Clone, Debug)]
struct Watcher {
    watch: Watch,
    values: VecDeque<f64>,
    /// The scores so far; as many as make the share that is asked for mean something.
    scores: VecDeque<f64>,
    /// Middle of the values and usual score as of a while ago: neither moves much with one value more.
    middle: Option<Middle>,
    usual_score: Option<f64>,
    middle_age: usize,
    usual_age: usize,
}

/// How often middle and usual score are taken anew: when so many have come that this share of all is new.
const RENEWED_SHARE: usize = 50;
/// Fewer scores than this say nothing about which are usual.
const SCORES_MIN: usize = 24;
/// Scores are remembered for longer than values: a rare score is rare over weeks.
const SCORES_REMEMBERED: usize = 16;

impl Watcher {
    fn new(watch: Watch) -> Self {
        Watcher {
            watch,
            values: VecDeque::new(),
            scores: VecDeque::new(),
            middle: None,
            usual_score: None,
            middle_age: 0,
            usual_age: 0,
        }
    }

    /// What is usual and how many spreads the value is from it, if that is unusual.
    fn judge(&mut self, value: f64) -> Option<(f64, f64)> {
        if self.values.len() < self.watch.learned_min {
            return None;
        }
        if self.middle.is_none() || self.middle_age * RENEWED_SHARE >= self.values.len() {
            self.middle = Middle::of(&mut self.values.iter().copied().collect::<Vec<_>>());
            self.middle_age = 0;
        }
        let middle = self.middle?;
        let score = middle.score(value, 0.0);
        if self.usual_score.is_none() || self.usual_age * RENEWED_SHARE >= self.scores.len() {
            self.usual_score = self.usual_score();
            self.usual_age = 0;
        }
        let usual_score = self.usual_score;
        self.scores.push_back(score);
        self.usual_age += 1;
        if self.scores.len() > (self.watch.remembered * SCORES_REMEMBERED).min(*limits::REMEMBERED.end()) {
            self.scores.pop_front();
        }
        let is_unusual = score >= self.watch.score_min && score >= usual_score? * self.watch.times_usual;
        is_unusual.then_some((middle.median, score))
    }

    fn remember(&mut self, value: f64) {
        self.values.push_back(value);
        self.middle_age += 1;
        if self.values.len() > self.watch.remembered {
            self.values.pop_front();
        }
    }

    /// What the asked share of all scores so far is below; None of too few.
    fn usual_score(&self) -> Option<f64> {
        let mut scores: Vec<f64> = self.scores.iter().copied().collect();
        let place = (scores.len() as f64 * self.watch.usual_share) as usize;
        let place = place.min(scores.len().checked_sub(1)?);
        (scores.len() >= SCORES_MIN).then(|| *scores.select_nth_unstable_by(place, f64::total_cmp).1)
    }
}
