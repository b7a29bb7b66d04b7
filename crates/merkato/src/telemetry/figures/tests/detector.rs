use super::{DAY, HOUR, MINUTE, noise, reading};
use crate::telemetry::figures::{Detector, DetectorSettings, Mark, MarkKind, Reading, alarms, detect, limits};

const INTERVAL: i64 = 5 * MINUTE;

fn settings() -> DetectorSettings {
    DetectorSettings::every(INTERVAL).expect("an interval")
}

/// Two weeks of readings around 20, with what is added to them.
fn series(added: impl Fn(i64) -> f64) -> Vec<Reading> {
    (0..14 * DAY / INTERVAL).map(|n| reading(n * INTERVAL, 20.0 + noise(n) + added(n * INTERVAL))).collect()
}

fn found(readings: &[Reading]) -> Vec<Mark> {
    detect(readings, settings()).expect("in order")
}

#[test]
fn noise_is_not_unusual() {
    assert_eq!(found(&series(|_| 0.0)), []);
}

#[test]
fn one_spike_is_marked_where_it_is() {
    let spike = 9 * DAY + 5 * HOUR;
    let marks = found(&series(|at| if at == spike { 15.0 } else { 0.0 }));
    assert_eq!(marks.len(), 1, "{marks:?}");
    assert_eq!((marks[0].at.millis(), marks[0].kind), (spike, MarkKind::Spike));
    assert!(marks[0].value > 35.0 && (20.0..21.0).contains(&marks[0].usual) && marks[0].score > 10.0, "{marks:?}");
}

#[test]
fn a_level_that_moves_by_less_than_the_noise_is_a_shift() {
    // Half of the noise's width: no single reading is unusual.
    let marks = found(&series(|at| if at >= 10 * DAY { 0.5 } else { 0.0 }));
    assert!(!marks.is_empty() && marks.iter().all(|mark| mark.kind == MarkKind::Shift), "{marks:?}");
    let first = marks[0].at.millis();
    assert!((10 * DAY..10 * DAY + 7 * HOUR).contains(&first), "found after {} hours", (first - 10 * DAY) / HOUR);
    let last = marks[marks.len() - 1].at.millis();
    assert!(last < 14 * DAY - HOUR, "what stays becomes usual");
}

#[test]
fn what_a_reading_is_compared_with_moves_along() {
    // Fifteen more from the third day on; on the ninth, one reading is far below that.
    let back = 9 * DAY + 5 * HOUR;
    let marks = found(&series(|at| {
        if at == back {
            -40.0
        } else if at >= 3 * DAY {
            15.0
        } else {
            0.0
        }
    }));
    let spikes: Vec<&Mark> =
        marks.iter().filter(|mark| mark.kind == MarkKind::Spike && mark.at.millis() > 4 * DAY).collect();
    assert_eq!(spikes.iter().map(|mark| mark.at.millis()).collect::<Vec<_>>(), [back]);
    assert!((35.0..36.0).contains(&spikes[0].usual), "{spikes:?}");
}

#[test]
fn a_series_that_jumps_every_day_is_not_unusual_when_it_does() {
    let daily = |at: i64| if at % DAY < 30 * MINUTE { 10.0 } else { 0.0 };
    let marks = found(&series(daily));
    assert!(marks.iter().all(|mark| mark.at.millis() < 3 * DAY), "{marks:?}");
    let worse = found(&series(|at| daily(at) + if at == 12 * DAY + 9 * HOUR { 60.0 } else { 0.0 }));
    assert!(worse.iter().any(|mark| mark.at.millis() == 12 * DAY + 9 * HOUR), "{worse:?}");
}

#[test]
fn what_is_to_come_changes_no_mark() {
    let readings = series(|at| if at % (3 * DAY) == 2 * DAY { 9.0 } else { 0.0 });
    let whole = found(&readings);
    assert!(whole.len() > 1, "{whole:?}");
    let half = found(&readings[..readings.len() / 2]);
    assert_eq!(half, whole[..half.len()]);
    let mut one_by_one = Detector::new(settings()).expect("good settings");
    let pushed = readings.iter().flat_map(|reading| one_by_one.push(*reading).expect("in order"));
    assert_eq!(pushed.flatten().collect::<Vec<_>>(), whole);
}

#[test]
fn a_constant_series_has_no_marks_until_it_changes() {
    let constant = |at: i64| reading(at, if at == 11 * DAY { 4.5 } else { 4.0 });
    let readings: Vec<Reading> = (0..14 * DAY / INTERVAL).map(|n| constant(n * INTERVAL)).collect();
    let marks = found(&readings);
    assert!(marks.iter().any(|mark| mark.at.millis() == 11 * DAY && mark.kind == MarkKind::Spike), "{marks:?}");
    assert!(marks.iter().all(|mark| mark.at.millis() >= 11 * DAY && mark.score <= limits::SCORE_MAX), "{marks:?}");
}

#[test]
fn disorder_and_settings_that_make_no_sense_are_refused() {
    let mut detector = Detector::new(settings()).expect("good settings");
    detector.push(reading(1, 0.0)).expect("the first");
    assert_eq!(detector.push(reading(0, 0.0)).expect_err("earlier").code(), "out_of_order");
    assert!(DetectorSettings::every(0).is_err());
    assert!(DetectorSettings::every(1).is_ok_and(|s| s.spike.remembered == *limits::REMEMBERED.end()));
    let mut bad = settings();
    bad.spike.remembered = usize::MAX;
    assert_eq!(Detector::new(bad).expect_err("too much").code(), "invalid");
    bad = settings();
    bad.shift.usual_share = f64::NAN;
    assert!(Detector::new(bad).is_err());
    bad = settings();
    bad.level_hours = 0;
    assert!(Detector::new(bad).is_err());
}

#[test]
fn one_alarm_stands_for_a_day_of_marks() {
    let marks = found(&series(|at| if (9 * DAY..9 * DAY + 3 * HOUR).contains(&at) { 15.0 } else { 0.0 }));
    assert!(marks.len() > 10, "{}", marks.len());
    let alarms = alarms(&marks, DAY);
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert_eq!(alarms[0], marks[0]);
}
