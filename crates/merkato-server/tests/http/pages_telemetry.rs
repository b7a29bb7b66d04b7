//! The office's pages about sensors: what they show, what they say where there is nothing, what they refuse.

use std::collections::BTreeMap;

use merkato::{
    accounts::Role,
    id::SensorId,
    telemetry::{self, Metric, NewMeasurement, NewSensor, RollLimits},
};
use widerow_testing::{Target, cases};

use crate::pages_desk::Clerk;

cases![
    an_office_without_sensors_says_how_to_begin,
    sensors_are_listed_with_how_they_are,
    a_sensor_is_drawn_with_its_gaps_and_what_stands_out,
    lists_have_pages,
    days_are_turned_over_midnight,
    what_is_no_time_is_told,
    only_the_staff_sees_sensors,
    names_are_never_markup,
];

const INTERVAL: i64 = 600;

async fn sensor(clerk: &Clerk, name: &str) -> SensorId {
    let metric = Metric { unit: Some("°C".into()), min: Some(-30.0), max: Some(30.0) };
    let new = NewSensor {
        sensor_id: None,
        name: name.into(),
        kind: "cold_store".into(),
        location: Some("Berlin".into()),
        metrics: BTreeMap::from([("temperature".to_owned(), metric)]),
        interval_seconds: INTERVAL as u32,
    };
    telemetry::register_sensor(&clerk.world().ctx, new).await.unwrap().sensor_id
}

/// So many hours up to now, rolled up; nothing where `value` is None.
async fn measured(clerk: &Clerk, sensor: SensorId, hours: i64, value: impl Fn(i64) -> Option<f64>) {
    let ctx = &clerk.world().ctx;
    let now = ctx.now();
    let one = |n: i64| {
        let at = now.plus_seconds(-n * INTERVAL);
        Some(NewMeasurement { temperature: Some(value(n)?), ..NewMeasurement::new(sensor, at) })
    };
    for answer in telemetry::ingest(ctx, (0..hours * 6).filter_map(one).collect()).await.unwrap() {
        answer.unwrap();
    }
    // As long as engines take that show a commit row by row.
    clerk.world().clock.advance_millis(40_000);
    telemetry::roll_up(ctx, RollLimits::default(), |_| {}).await.unwrap();
}

fn usual(n: i64) -> f64 {
    4.0 + (n % 7) as f64 / 10.0
}

async fn an_office_without_sensors_says_how_to_begin(target: &Target) {
    let clerk = Clerk::come(target).await;
    clerk
        .see("/admin/telemetry")
        .await
        .is_a_page("Sensors")
        .says("No sensors yet")
        .says("aria-current=\"page\">Sensors");
    let nothing = clerk.see(&format!("/admin/telemetry/{}", uuid::Uuid::new_v4())).await;
    assert_eq!(nothing.status, 404);
    let quiet = sensor(&clerk, "Quiet").await;
    clerk.see("/admin/telemetry").await.is_a_page("Sensors").says("No data").does_not_say("No sensors yet");
    let page = clerk.see(&format!("/admin/telemetry/{quiet}")).await;
    page.is_a_page("Quiet").says("Nothing was measured").says("No hour was judged yet").says("No day has figures yet");
}

async fn sensors_are_listed_with_how_they_are(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (good, torn, dead) =
        (sensor(&clerk, "A good").await, sensor(&clerk, "B torn").await, sensor(&clerk, "C dead").await);
    let retired = sensor(&clerk, "D retired").await;
    measured(&clerk, good, 30, |n| Some(usual(n))).await;
    measured(&clerk, torn, 30, |n| (!(60..90).contains(&n)).then(|| usual(n))).await;
    measured(&clerk, dead, 30, |n| (n > 24).then(|| usual(n))).await;
    telemetry::retire_sensor(&clerk.world().ctx, retired).await.unwrap();
    let list = clerk.see("/admin/telemetry").await;
    list.is_a_page("Sensors").says("class=\"spark\"").says("Temperature of A good in the last 24 hours");
    let row = |name: &str| {
        let at = list.html.find(name).unwrap_or_else(|| panic!("{name}: {}", list.html));
        list.html[at..].split("</tr>").next().unwrap().to_owned()
    };
    assert!(row(">A good<").contains(">Good<"), "{}", row(">A good<"));
    assert!(row(">B torn<").contains(">Gaps<") && row(">B torn<").contains("hours are missing"), "{}", row(">B torn<"));
    let dead = row(">C dead<");
    assert!(dead.contains(">Silent<") || dead.contains(">Failing<"), "{dead}");
    assert!(row(">D retired<").contains(">Retired<"), "{}", row(">D retired<"));
}

async fn a_sensor_is_drawn_with_its_gaps_and_what_stands_out(target: &Target) {
    let clerk = Clerk::come(target).await;
    let sensor = sensor(&clerk, "Cold store").await;
    measured(&clerk, sensor, 30, |n| match n {
        20 => Some(29.0),
        60..90 => None,
        n => Some(usual(n)),
    })
    .await;
    let path = format!("/admin/telemetry/{sensor}");
    let page = clerk.see(&path).await;
    page.is_a_page("Cold store").says("Temperature of Cold store was between").says("class=\"band\"");
    page.says("class=\"mark\"").says("29 °C").says("What stands out").says("id=\"gaps\"").says("30 measurements");
    assert!(page.html.matches("class=\"line c1\"").count() >= 4, "a line on each side of the gap, wide and narrow");
    page.says("Quality of the last 24 hours").says("Without gaps").says("Day by day").says("Every measurement");
    for query in ["span=7d", "span=30d&resolution=daily", "span=24h&resolution=hourly", "span=1y", "metric=humidity"] {
        clerk.see(&format!("{path}?{query}")).await.is_a_page("Cold store");
    }
    clerk.see(&format!("{path}?span=7d")).await.says("Made of hours");
    clerk.see(&format!("{path}?metric=humidity")).await.says("Nothing was measured").says("no humidity of Cold store");
    let today = clerk.world().ctx.now().date();
    clerk.see(&format!("{path}?from={today}&to={today}")).await.is_a_page("Cold store").says("measurement");
}

async fn lists_have_pages(target: &Target) {
    let clerk = Clerk::come(target).await;
    for n in 0..27 {
        sensor(&clerk, &format!("Sensor {n:02}")).await;
    }
    let first = clerk.see("/admin/telemetry").await;
    let at = first.says("Sensor 00").does_not_say("Sensor 26").html.find("rel=\"next\"").expect("a next page");
    let link = first.html[..at].rsplit("href=\"").next().unwrap().split('"').next().unwrap().replace("&#38;", "&");
    clerk.see(&link).await.is_a_page("Sensors").says("Sensor 26").says("Page 2").says("rel=\"prev\"");
}

async fn days_are_turned_over_midnight(target: &Target) {
    let clerk = Clerk::come(target).await;
    let sensor = sensor(&clerk, "Cold store").await;
    measured(&clerk, sensor, 20 * 24, |n| (n % 144 == 72).then_some(4.0)).await;
    let first = clerk.see(&format!("/admin/telemetry/{sensor}")).await;
    let at = first.html.find("rel=\"next\"").expect("a next page");
    let link = first.html[..at].rsplit("href=\"").next().unwrap().split('"').next().unwrap().replace("&#38;", "&");
    clerk.world().clock.advance_millis(86_400_000);
    clerk.see(&link).await.is_a_page("Cold store").says("Page 2").says("rel=\"prev\"");
}

async fn what_is_no_time_is_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    let sensor = sensor(&clerk, "Cold store").await;
    let path = format!("/admin/telemetry/{sensor}");
    for query in [
        "span=2d",
        "metric=volume",
        "resolution=fine",
        "from=2026-02-30",
        "from=2026-03-02&to=2026-03-01",
        "from=1990-01-01",
    ] {
        clerk.see(&format!("{path}?{query}")).await.is_refused();
    }
    assert_eq!(clerk.see("/admin/telemetry/abc").await.status, 400);
}

async fn only_the_staff_sees_sensors(target: &Target) {
    let clerk = Clerk::come(target).await;
    let sensor = sensor(&clerk, "Cold store").await;
    let customer = clerk.session(Role::Customer).await;
    for path in ["/admin/telemetry".to_owned(), format!("/admin/telemetry/{sensor}")] {
        assert_eq!(clerk.see_as(&customer, &path).await.status, 403, "{path}");
        let nobody = clerk.see_as("nobody", &path).await;
        assert_eq!((nobody.status, nobody.location.starts_with("/login")), (303, true), "{path}");
    }
}

async fn names_are_never_markup(target: &Target) {
    let clerk = Clerk::come(target).await;
    let sensor = sensor(&clerk, "5 < 6 & \"cold\"").await;
    measured(&clerk, sensor, 3, |n| Some(usual(n))).await;
    clerk.see("/admin/telemetry").await.is_a_page("Sensors").does_not_say("5 < 6");
    clerk.see(&format!("/admin/telemetry/{sensor}")).await.is_a_page("5 &#60; 6").does_not_say("5 < 6");
}
