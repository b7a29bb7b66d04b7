use super::{HOUR, MINUTE, noise};
use crate::telemetry::figures::{
    Anomaly, AnomalyKind, Day, DaySettings, EMPTY_DAY, Expected, Hour, Maintenance, MaintenanceSettings, Summary,
    anomalies, limits, maintenance, summary_of_day,
};

/// A day that is warm at noon, with noise; `n` makes it another.
fn day(n: i64) -> Day {
    std::array::from_fn(|hour| {
        hour_of((0..60).map(|minute| usual(hour) + noise(n * 1_009 + hour as i64 * 60 + minute)))
    })
}

fn usual(hour: usize) -> f64 {
    10.0 - (hour as f64 - 12.0).abs() / 2.0
}

fn hour_of(values: impl IntoIterator<Item = f64>) -> Hour {
    Hour { summary: Summary::of(values).expect("good values"), ..Hour::default() }
}

fn history() -> Vec<Day> {
    (0..14).map(day).collect()
}

fn unusual(day: &Day, history: &[Day]) -> Vec<Anomaly> {
    anomalies(day, 24, history, &DaySettings::default()).expect("few days")
}

fn codes(found: &[Anomaly]) -> Vec<(u8, &'static str)> {
    found.iter().map(|anomaly| (anomaly.hour, anomaly.kind.code())).collect()
}

#[test]
fn a_day_like_the_others_has_nothing_unusual() {
    assert_eq!(unusual(&day(99), &history()), []);
}

#[test]
fn noon_at_midnight_is_unusual_though_it_is_a_usual_value() {
    let mut today = day(99);
    today[0] = today[12];
    let found = unusual(&today, &history());
    assert_eq!(codes(&found), [(0, "high")]);
    let AnomalyKind::High { mean, usual } = found[0].kind else { panic!("{found:?}") };
    assert!((10.0..11.0).contains(&mean) && (4.0..5.0).contains(&usual), "{found:?}");
    assert!(found[0].kind.to_string().contains("usually 4."), "{}", found[0].kind);
}

#[test]
fn a_day_unlike_the_others_in_the_history_hides_nothing() {
    let mut before = history();
    before.iter_mut().take(5).for_each(|day| day[3] = hour_of([90.0; 60]));
    let mut today = day(99);
    today[3] = hour_of((0..60).map(|minute| 80.0 + noise(minute)));
    assert_eq!(codes(&unusual(&today, &before)), [(3, "high")]);
    assert_eq!(codes(&unusual(&day(99), &before)), []);
}

#[test]
fn silence_and_unrest_are_unusual() {
    let mut today = day(99);
    today[5] = Hour::default();
    today[7] = hour_of((0..60).map(|minute| usual(7) + 0.5 + if minute % 2 == 0 { 8.0 } else { -8.0 }));
    assert_eq!(codes(&unusual(&today, &history())), [(5, "silent"), (7, "restless")]);
    let so_far = anomalies(&today, 5, &history(), &DaySettings::default()).expect("few days");
    assert_eq!(so_far, [], "what is to come is not silent");
}

#[test]
fn without_days_before_nothing_is_unusual() {
    let mut today = day(99);
    today[0] = hour_of([900.0; 60]);
    assert_eq!(unusual(&today, &[]), []);
    assert_eq!(unusual(&today, &history()[..3]), []);
    assert_eq!(codes(&unusual(&today, &history()[..4])), [(0, "high")]);
    let many = vec![EMPTY_DAY; limits::HISTORY_DAYS_MAX + 1];
    assert_eq!(anomalies(&today, 24, &many, &DaySettings::default()).expect_err("many").code(), "too_many");
    let bad = DaySettings { score_min: f64::NAN, ..DaySettings::default() };
    assert_eq!(anomalies(&today, 24, &[], &bad).expect_err("no sense").code(), "invalid");
}

#[test]
fn days_at_rest_make_a_small_step_unusual_unless_it_is_within_the_resolution() {
    let rest: Day = [hour_of([4.0; 60]); 24];
    let mut today = rest;
    today[9] = hour_of([4.1; 60]);
    assert_eq!(codes(&unusual(&today, &vec![rest; 7])), [(9, "high")]);
    let coarse = DaySettings { spread_min: 0.1, ..DaySettings::default() };
    assert_eq!(anomalies(&today, 24, &vec![rest; 7], &coarse), Ok(vec![]));
}

#[test]
fn a_mean_that_moves_within_the_noise_is_usual_however_equal_the_days_were() {
    let same = vec![day(1); 7];
    let moved = |by: f64| -> Day {
        std::array::from_fn(|hour| hour_of((0..60).map(|m| usual(hour) + by + noise(1_009 + hour as i64 * 60 + m))))
    };
    assert_eq!(unusual(&moved(0.2), &same), []);
    assert_eq!(unusual(&moved(2.0), &same).len(), 24);
}

fn why(day: &Day, history: &[Day], silent_ms: i64) -> Vec<String> {
    let expected = Expected::every(MINUTE).expect("an interval");
    let why = maintenance(day, history, &expected, silent_ms, &MaintenanceSettings::default()).expect("few days");
    why.iter().map(Maintenance::to_string).collect()
}

#[test]
fn a_good_sensor_needs_nobody() {
    assert_eq!(why(&day(99), &history(), MINUTE), Vec::<String>::new());
    assert_eq!(why(&day(99), &[], 0), Vec::<String>::new());
    assert_eq!(why(&EMPTY_DAY, &[], 0), Vec::<String>::new());
}

#[test]
fn each_reason_is_told_in_words() {
    let mut stuck = day(99);
    stuck[20..23].fill(hour_of([6.25; 60]));
    assert_eq!(why(&stuck, &history(), 0), ["stuck at 6.25 for 3 hours"]);
    assert_eq!(why(&stuck, &[], 0), Vec::<String>::new(), "nobody knows that it varies");
    stuck.iter_mut().skip(20).take(2).for_each(|hour| hour.stuck = 60);
    assert_eq!(why(&stuck, &[], 0), ["stuck at 6.25 for 2 hours"], "the hours knew it");

    let mut beyond = day(99);
    (beyond[3].out_of_range, beyond[4].out_of_range) = (2, 4);
    assert_eq!(why(&beyond, &history(), 0), ["6 readings out of range in 2 hours of the day"]);
    beyond[4].out_of_range = 0;
    assert_eq!(why(&beyond, &history(), 0), Vec::<String>::new(), "twice is not repeatedly");

    assert_eq!(why(&day(99), &history(), 5 * HOUR), ["silent for 5 hours: 300 readings are missing"]);
    assert_eq!(why(&day(99), &history(), 9 * MINUTE), Vec::<String>::new());
}

#[test]
fn a_steady_drift_is_told_and_a_single_step_is_not() {
    let moved = |n: i64, by: f64| -> Day {
        std::array::from_fn(|hour| hour_of((0..60).map(|m| usual(hour) + by + noise(n * 1_009 + hour as i64 * 60 + m))))
    };
    let drifting: Vec<Day> = (0..14).map(|n| moved(n, -0.5 * n as f64)).collect();
    let told = why(&moved(14, -7.0), &drifting, 0);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("drifts down by 0.") && told[0].ends_with("in 15 days"), "{told:?}");
    let stepped: Vec<Day> = (0..14).map(|n| moved(n, if n < 7 { 0.0 } else { 9.0 })).collect();
    assert_eq!(why(&moved(14, 9.0), &stepped, 0), Vec::<String>::new());
    assert_eq!(why(&moved(14, -7.0), &drifting[9..], 0), Vec::<String>::new(), "six days are too few");
}

#[test]
fn the_day_is_its_hours() {
    let today = day(1);
    let all = summary_of_day(&today);
    assert_eq!(all.count(), 24 * 60);
    assert_eq!(summary_of_day(&EMPTY_DAY), Summary::EMPTY);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let expected = Expected::every(MINUTE).expect("an interval");
    let settings = MaintenanceSettings::default();
    for settings in [
        MaintenanceSettings { stuck_hours_min: 0, ..settings },
        MaintenanceSettings { drift_days_min: 2, ..settings },
        MaintenanceSettings { drift_min: f64::INFINITY, ..settings },
        MaintenanceSettings { drift_steadiness_min: 2.0, ..settings },
    ] {
        assert!(maintenance(&EMPTY_DAY, &[], &expected, 0, &settings).is_err(), "{settings:?}");
    }
}
