//! Telemetry over HTTP: sensors, measurements, and what is made of them.

use merkato::{
    accounts::Role,
    keys::Scope,
    telemetry::{self, RollLimits},
};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow::Timestamp;
use widerow_testing::{Target, cases};

use crate::{
    admin::{Office, etag, key},
    world::{World, assert_ok, assert_problem},
};

cases![
    a_sensor_is_registered_changed_and_retired,
    a_bad_sensor_is_told_by_its_fields,
    of_many_measurements_each_has_an_answer,
    one_measurement_is_refused_as_a_problem,
    a_series_is_read_page_by_page,
    hours_and_days_follow_and_late_ones_count,
    days_are_turned_over_midnight,
    a_chart_has_gaps_and_marks,
    windows_slide,
    another_shops_sensor_is_not_there,
    a_key_measures_or_reads_as_its_scopes_say,
    what_was_taken_and_rolled_up_is_counted,
];

const HOUR: i64 = 3_600;

fn cold_store() -> Value {
    json!({
        "name": "Cold store 1", "kind": "cold_store", "location": "Berlin", "interval_seconds": 600,
        "metrics": {"temperature": {"unit": "°C", "min": -30.0, "max": 30.0}, "door_openings": {}},
    })
}

/// An office whose clock stands at half past: an hour that ended a moment ago is not rolled up yet, and what a case lets pass must
/// not end another one.
async fn open(target: &Target) -> Office {
    let world = World::new(target).await;
    let into_hour = world.ctx.now().millis().rem_euclid(HOUR * 1_000);
    world.clock.advance_millis((HOUR * 500 - into_hour).rem_euclid(HOUR * 1_000));
    let token = world.session(&world.ctx, Role::Staff).await;
    Office { world, token }
}

async fn register(office: &Office, body: &Value) -> String {
    let made = assert_ok(office.post("/v1/admin/telemetry", body).send().await.unwrap()).await;
    format!("/v1/admin/telemetry/{}", made["sensor_id"].as_str().unwrap())
}

async fn get(office: &Office, path: &str) -> Value {
    assert_ok(office.get(path).send().await.unwrap()).await
}

async fn send(office: &Office, sensor: &str, measurements: Vec<Value>) -> Value {
    let body = json!({ "measurements": measurements });
    assert_ok(office.post(&format!("{sensor}/measurements"), &body).send().await.unwrap()).await
}

/// The beginning of the hour so many hours ago.
fn hour(office: &Office, ago: i64) -> Timestamp {
    let now = office.world.ctx.now().millis();
    Timestamp::from_millis(now - now.rem_euclid(HOUR * 1_000) - ago * HOUR * 1_000)
}

fn measured(at: Timestamp, temperature: f64) -> Value {
    json!({ "measurement_time": at.to_string(), "temperature": temperature })
}

/// Six measurements of an hour.
fn whole_hour(start: Timestamp, base: f64) -> Vec<Value> {
    (0..6).map(|n| measured(start.plus_seconds(n * 600), base + n as f64 / 10.0)).collect()
}

/// So that engines which show a commit row by row have shown all of it.
async fn roll_up(office: &Office) -> telemetry::RollReport {
    office.world.clock.advance_millis(60_000);
    telemetry::roll_up(&office.world.ctx, RollLimits::default(), |_| {}).await.unwrap()
}

async fn a_sensor_is_registered_changed_and_retired(target: &Target) {
    let office = open(target).await;
    let answer = office.post("/v1/admin/telemetry", &cold_store()).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    let place = answer.headers()["location"].to_str().unwrap().to_owned();
    let made = assert_ok(answer).await;
    assert_eq!((&made["name"], &made["interval_seconds"]), (&json!("Cold store 1"), &json!(600)));
    assert_eq!(made["metrics"]["temperature"], json!({"unit": "°C", "min": -30.0, "max": 30.0}));
    let found = office.get(&place).send().await.unwrap();
    let tag = etag(&found);
    assert_eq!(assert_ok(found).await, made);
    let list = get(&office, "/v1/admin/telemetry").await;
    assert_eq!((&list["data"][0]["sensor_id"], &list["next_cursor"]), (&made["sensor_id"], &Value::Null));
    // The same again under its id is the same; another one is refused.
    let mut again = cold_store();
    again["sensor_id"] = made["sensor_id"].clone();
    let same = assert_ok(office.post("/v1/admin/telemetry", &again).send().await.unwrap()).await;
    assert_eq!(same, made);
    again["name"] = json!("Another");
    let answer = office.post("/v1/admin/telemetry", &again).send().await.unwrap();
    assert_problem(answer, 409, "sensor_exists").await;
    let mut body = cold_store();
    body["name"] = json!("A cold store");
    body.as_object_mut().unwrap().remove("location");
    let change = |tag: &str| office.put(&place, &body).header("if-match", tag).send();
    let changed = assert_ok(change(&tag).await.unwrap()).await;
    assert_eq!((&changed["name"], &changed["location"]), (&json!("A cold store"), &Value::Null));
    assert_problem(change(&tag).await.unwrap(), 412, "precondition_failed").await;
    let sensor = place.strip_suffix("/sensor").unwrap();
    for _ in 0..2 {
        let retired = assert_ok(office.post(&format!("{sensor}/retire"), &json!({})).send().await.unwrap()).await;
        assert!(retired["retired_at"].is_string(), "{retired}");
    }
    let late = measured(office.world.ctx.now(), 4.0);
    let answer = office.post(&format!("{sensor}/measurements"), &late).send().await.unwrap();
    assert_problem(answer, 409, "sensor_retired").await;
    // Lists have pages.
    for n in 0..5 {
        register(&office, &json!({"name": format!("Sensor {n}"), "kind": "test", "interval_seconds": 1})).await;
    }
    let first = get(&office, "/v1/admin/telemetry?limit=4").await;
    let next = first["next_cursor"].as_str().unwrap();
    let second = get(&office, &format!("/v1/admin/telemetry?limit=4&cursor={next}")).await;
    assert_eq!((first["data"].as_array().unwrap().len(), second["data"].as_array().unwrap().len()), (4, 2));
}

async fn a_bad_sensor_is_told_by_its_fields(target: &Target) {
    let office = open(target).await;
    for (field, value, pointer) in [
        ("name", json!(""), "/name"),
        ("kind", json!("a\nb"), "/kind"),
        ("location", json!("x".repeat(5_000)), "/location"),
        ("interval_seconds", json!(0), "/interval_seconds"),
        ("interval_seconds", json!(-1), "/interval_seconds"),
        ("metrics", json!({"Temp": {}}), "/metrics/Temp"),
        ("metrics", json!({"temperature": {"min": 5.0, "max": 1.0}}), "/metrics/temperature/max"),
        ("metrics", json!({"temperature": {"min": "NaN"}}), "/metrics/temperature/min"),
        ("tenant", json!("other"), "/tenant"),
    ] {
        let mut body = cold_store();
        body[field] = value;
        let answer = office.post("/v1/admin/telemetry", &body).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{field}: {problem}");
    }
    let mut body = cold_store();
    body["metrics"] = (0..40).map(|n| (format!("metric_{n}"), json!({}))).collect::<serde_json::Map<_, _>>().into();
    let answer = office.post("/v1/admin/telemetry", &body).send().await.unwrap();
    assert_eq!(answer.status().as_u16() / 100, 4);
    let nothing = format!("/v1/admin/telemetry/{}", Uuid::new_v4());
    for path in
        ["", "/sensor", "/chart?metric=temperature", "/windows?metric=temperature", "/quality", "/quality/hours"]
    {
        assert_problem(office.get(&format!("{nothing}{path}")).send().await.unwrap(), 404, "sensor_not_found").await;
    }
    assert_problem(office.get("/v1/admin/telemetry/abc").send().await.unwrap(), 400, "bad_path").await;
}

async fn of_many_measurements_each_has_an_answer(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let now = office.world.ctx.now();
    let mut many: Vec<Value> = (0..30).map(|n| measured(now.plus_seconds(-n * 60), n as f64)).collect();
    many[3]["temperature"] = json!("NaN");
    many[4]["measurement_time"] = json!(now.plus_seconds(3_600).to_string());
    many[5]["measurement_time"] = json!("1969-12-31T23:59:59Z");
    many[6]["metrics"] = json!({"volume": 3.0});
    many[7] = json!("nothing");
    many[8].as_object_mut().unwrap().remove("temperature");
    many[9]["temperature"] = json!(1e20);
    many[10]["measurement_time"] = json!("yesterday");
    many[11]["metrics"] = json!({"door_openings": 2});
    let told = send(&office, &sensor, many.clone()).await;
    assert_eq!((&told["accepted"], &told["refused"]), (&json!(22), &json!(8)), "{told}");
    for (index, code, pointer) in [
        (3, "invalid", "/temperature"),
        (4, "in_future", "/measurement_time"),
        (5, "before_time", "/measurement_time"),
        (6, "unknown_metric", "/metrics/volume"),
        (7, "invalid", ""),
        (8, "invalid", "/metrics"),
        (9, "invalid", "/temperature"),
        (10, "invalid", "/measurement_time"),
    ] {
        let result = &told["results"][index];
        assert_eq!((&result["code"], &result["status"]), (&json!(code), &json!(400)), "{result}");
        assert_eq!(result["errors"][0]["pointer"], format!("/measurements/{index}{pointer}"), "{result}");
    }
    assert!(told["results"][11]["measurement_id"].is_string());
    // The same again is the same measurements.
    let again = send(&office, &sensor, many).await;
    assert_eq!(again["results"][0], told["results"][0]);
    let found = get(&office, &format!("{sensor}?limit=100")).await;
    assert_eq!((found["data"].as_array().unwrap().len(), &found["resolution"]), (22, &json!("raw")));
    assert_eq!(send(&office, &sensor, Vec::new()).await["results"], json!([]));
    let too_many = json!({ "measurements": vec![Value::Null; 10_001] });
    let answer = office.post(&format!("{sensor}/measurements"), &too_many).send().await.unwrap();
    let problem = assert_problem(answer, 422, "too_large").await;
    assert!(problem["detail"].as_str().unwrap().contains("10000"), "{problem}");
}

async fn one_measurement_is_refused_as_a_problem(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let now = office.world.ctx.now();
    let path = format!("{sensor}/measurements");
    let answer = office.post(&path, &measured(now, 4.5)).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    let made = assert_ok(answer).await;
    assert_eq!((&made["accepted"], &made["results"][0]["status"]), (&json!(1), &json!(201)));
    for (change, code, pointer) in [
        (json!({"measurement_time": now.plus_seconds(900).to_string()}), "in_future", "/measurement_time"),
        (json!({"measurement_time": "1960-01-01T00:00:00Z"}), "before_time", "/measurement_time"),
        (json!({"temperature": "Infinity"}), "invalid", "/temperature"),
        (json!({"temperature": -1e16}), "invalid", "/temperature"),
        (json!({"metrics": {"volume": 1.0}}), "unknown_metric", "/metrics/volume"),
        (json!({"metrics": {"temperature": 1.0}}), "invalid", "/metrics/temperature"),
        (json!({"metadata": {"note": "a\nb"}}), "invalid", "/metadata/note"),
        (json!({"sensor": "x"}), "invalid", "/sensor"),
    ] {
        let mut body = measured(now, 4.5);
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let problem = assert_problem(office.post(&path, &body).send().await.unwrap(), 400, code).await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    let raw =
        |body: &'static str| office.request("POST", &path).header("content-type", "application/json").body(body).send();
    for text in ["NaN", "-Infinity", "1e999"] {
        let body: &'static str =
            format!(r#"{{"measurement_time":"2026-01-01T00:00:00Z","temperature":{text}}}"#).leak();
        assert_problem(raw(body).await.unwrap(), 400, "bad_json").await;
    }
}

/// All pages of a series, of so many each.
async fn pages(office: &Office, path: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(office, &format!("{path}limit={limit}{cursor}")).await;
        all.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
        // A time that ends now stays the one that it was on the first page.
        office.world.clock.advance_millis(1_000);
    }
}

async fn a_series_is_read_page_by_page(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let mut sent = Vec::new();
    for ago in 1..=5 {
        sent.extend(whole_hour(hour(&office, ago), 4.0 + ago as f64));
    }
    send(&office, &sensor, sent).await;
    let all = pages(&office, &format!("{sensor}?"), 7).await;
    assert_eq!(all.len(), 30);
    let times: Vec<&str> = all.iter().map(|point| point["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    assert_eq!(all[0]["metrics"]["temperature"]["mean"], 9.0);
    roll_up(&office).await;
    let hourly = format!("{sensor}?resolution=hourly&metric=temperature&");
    let hours = pages(&office, &hourly, 2).await;
    assert_eq!(hours.len(), 5);
    assert_eq!(
        hours[0]["metrics"]["temperature"],
        json!({
            "count": 6, "mean": 9.25, "min": 9.0, "max": 9.5, "stddev": hours[0]["metrics"]["temperature"]["stddev"],
        })
    );
    let (from, to) = (hour(&office, 4), hour(&office, 2));
    let between = get(&office, &format!("{sensor}?from={from}&to={to}&resolution=hourly")).await;
    assert_eq!(between["data"].as_array().unwrap().len(), 2);
    assert_eq!(pages(&office, &format!("{sensor}/quality/hours?"), 2).await.len(), 5);
    let answer = office.get(&format!("{sensor}?metric=volume")).send().await.unwrap();
    let problem = assert_problem(answer, 400, "unknown_metric").await;
    assert_eq!(problem["errors"][0]["pointer"], "/metric");
    // A cursor of one series is no other's.
    let first = get(&office, &format!("{sensor}?limit=3")).await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let answer = office.get(&format!("{sensor}?limit=3&resolution=raw&cursor={cursor}")).send().await.unwrap();
    assert_problem(answer, 400, "bad_cursor").await;
    for (query, pointer) in [
        (format!("from={to}&to={from}"), "/to"),
        ("from=1990-01-01T00:00:00Z".to_owned(), "/to"),
        ("limit=0".to_owned(), "/limit"),
        ("limit=101".to_owned(), "/limit"),
    ] {
        let answer = office.get(&format!("{sensor}?{query}")).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    for query in ["from=yesterday", "resolution=fine", "unknown=1"] {
        assert_problem(office.get(&format!("{sensor}?{query}")).send().await.unwrap(), 400, "bad_query").await;
    }
}

async fn hours_and_days_follow_and_late_ones_count(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let start = hour(&office, 30);
    send(&office, &sensor, whole_hour(start, 4.0)).await;
    assert_eq!(roll_up(&office).await.measurements, 6);
    assert_eq!(roll_up(&office).await.measurements, 0);
    // Two days later, and one of them again.
    let late = vec![measured(start.plus_seconds(300), 40.0), measured(start, 4.0)];
    send(&office, &sensor, late).await;
    assert_eq!(roll_up(&office).await.measurements, 1);
    let hours = get(&office, &format!("{sensor}/quality/hours")).await;
    let one = &hours["data"][0];
    assert_eq!((&one["measurement_count"], &one["metrics"]["temperature"]["count"]), (&json!(7), &json!(7)));
    assert_eq!(one["outlier_count"], 1, "{one}");
    let outlier = &one["outliers"][0];
    assert_eq!(outlier["metric"], "temperature", "{outlier}");
    for part in ["completeness", "continuity", "plausibility", "liveliness"] {
        assert!(one["quality_parts"][part].as_f64().is_some_and(|part| (0.0..=1.0).contains(&part)), "{one}");
    }
    let days = get(&office, &format!("{sensor}/quality")).await;
    let day = &days["data"][0];
    assert_eq!((&day["date"], &day["measurement_count"]), (&json!(start.date().to_string()), &json!(7)), "{day}");
    assert_eq!(day["outlier_count"], 1);
    let daily =
        get(&office, &format!("{sensor}?from={}&to={}&resolution=daily", start.date().start(), hour(&office, 0))).await;
    assert_eq!(daily["data"][0]["metrics"]["temperature"]["max"], 40.0);
    // A month of it is shown by hours.
    let month = get(&office, &format!("{sensor}?from={}", start.plus_seconds(-20 * 24 * HOUR))).await;
    assert_eq!(month["resolution"], "hourly");
}

async fn days_are_turned_over_midnight(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let sent = (1..30).map(|day| measured(hour(&office, 24 * day), 4.0));
    send(&office, &sensor, sent.collect()).await;
    roll_up(&office).await;
    let days = |page: &Value| -> Vec<String> {
        page["data"].as_array().unwrap().iter().map(|day| day["date"].as_str().unwrap().to_owned()).collect()
    };
    let first = get(&office, &format!("{sensor}/quality?limit=20")).await;
    office.world.clock.advance_millis(24 * HOUR * 1_000);
    let next = first["next_cursor"].as_str().unwrap();
    let second = get(&office, &format!("{sensor}/quality?limit=20&cursor={next}")).await;
    let all = [days(&first), days(&second)].concat();
    assert_eq!((all.len(), &second["next_cursor"]), (29, &Value::Null), "{second}");
    assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "each once, the newest first: {all:?}");
}

async fn a_chart_has_gaps_and_marks(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let mut sent = whole_hour(hour(&office, 6), 4.0);
    sent.extend(whole_hour(hour(&office, 3), 4.0));
    sent[8]["temperature"] = json!(99.0);
    send(&office, &sensor, sent).await;
    let chart = get(&office, &format!("{sensor}/chart?metric=temperature")).await;
    assert_eq!((&chart["resolution"], &chart["unit"]), (&json!("raw"), &json!("°C")));
    let lines = chart["lines"].as_array().unwrap();
    assert_eq!(lines.iter().map(|line| line.as_array().unwrap().len()).collect::<Vec<_>>(), [6, 6], "{chart}");
    assert_eq!(chart["marks"][0]["value"], 99.0, "{chart}");
    assert!(chart["gaps"].as_array().unwrap().len() >= 2, "{chart}");
    assert_eq!(chart["summary"]["count"], 12);
    let few = get(&office, &format!("{sensor}/chart?metric=temperature&points=4")).await;
    assert!(few["lines"].as_array().unwrap().iter().flat_map(|line| line.as_array().unwrap()).count() <= 8, "{few}");
    let answer = office.get(&format!("{sensor}/chart?metric=volume")).send().await.unwrap();
    let problem = assert_problem(answer, 400, "unknown_metric").await;
    assert_eq!(problem["errors"][0]["pointer"], "/metric");
    for points in ["3", "5001"] {
        let path = format!("{sensor}/chart?metric=temperature&points={points}");
        let problem = assert_problem(office.get(&path).send().await.unwrap(), 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], "/points");
    }
    assert_problem(office.get(&format!("{sensor}/chart")).send().await.unwrap(), 400, "bad_query").await;
}

async fn windows_slide(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let now = office.world.ctx.now();
    let sent = (0..12).map(|n| measured(now.plus_seconds(-300 - n * 600), n as f64)).collect();
    send(&office, &sensor, sent).await;
    let windows = get(&office, &format!("{sensor}/windows?metric=temperature&size=3600&step=1800&last=3")).await;
    let counts: Vec<_> = windows["data"].as_array().unwrap().iter().map(|w| w["summary"]["count"].clone()).collect();
    assert_eq!(counts, [json!(6), json!(6), json!(6)], "{windows}");
    assert_eq!(windows["data"][2]["summary"]["max"], 5.0);
    let empty = get(&office, &format!("{sensor}/windows?metric=pressure&last=2")).await;
    assert_eq!(empty["data"][0]["summary"]["mean"], Value::Null);
    for (query, pointer) in [
        ("size=0", "/size"),
        ("step=-5", "/step"),
        ("size=9223372036854775807", "/size"),
        ("last=0", "/last"),
        ("last=1001", "/last"),
        ("size=5000&last=100", "/size"),
    ] {
        let path = format!("{sensor}/windows?metric=temperature&{query}");
        let problem = assert_problem(office.get(&path).send().await.unwrap(), 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{query}: {problem}");
    }
}

async fn another_shops_sensor_is_not_there(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let other = key(&office.world.other, &[Scope::TelemetryRead, Scope::TelemetryWrite]).await;
    let ask = |method: &str, path: &str| office.world.bare(method, path).bearer_auth(&other);
    let list = assert_ok(ask("GET", "/v1/admin/telemetry").send().await.unwrap()).await;
    assert_eq!(list["data"], json!([]));
    let one = measured(office.world.ctx.now(), 1.0);
    for body in [one.clone(), json!({ "measurements": [one] })] {
        let answer = ask("POST", &format!("{sensor}/measurements")).json(&body).send().await.unwrap();
        assert_problem(answer, 404, "sensor_not_found").await;
    }
    for path in ["", "/sensor", "/chart?metric=temperature", "/quality"] {
        assert_problem(ask("GET", &format!("{sensor}{path}")).send().await.unwrap(), 404, "sensor_not_found").await;
    }
    let found = get(&office, &sensor).await;
    assert_eq!(found["data"], json!([]));
}

async fn a_key_measures_or_reads_as_its_scopes_say(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let ctx = &office.world.ctx;
    let (reads, writes) = (key(ctx, &[Scope::TelemetryRead]).await, key(ctx, &[Scope::TelemetryWrite]).await);
    let get = |token: &str| office.world.bare("GET", &sensor).bearer_auth(token).send();
    let post = |token: &str| {
        let request = office.world.bare("POST", &format!("{sensor}/measurements")).bearer_auth(token);
        request.json(&measured(ctx.now(), 4.0)).send()
    };
    assert_ok(get(&reads).await.unwrap()).await;
    assert_ok(post(&writes).await.unwrap()).await;
    assert_problem(get(&writes).await.unwrap(), 403, "scope_missing").await;
    assert_problem(post(&reads).await.unwrap(), 403, "scope_missing").await;
}

async fn what_was_taken_and_rolled_up_is_counted(target: &Target) {
    let office = open(target).await;
    let sensor = register(&office, &cold_store()).await;
    let mut sent = whole_hour(hour(&office, 3), 4.0);
    sent[0]["measurement_time"] = json!("1950-01-01T00:00:00Z");
    send(&office, &sensor, sent).await;
    roll_up(&office).await;
    let metrics = office.world.bare("GET", "/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "merkato_measurements_total{outcome=\"stored\"} 5",
        "merkato_measurements_total{outcome=\"refused\"} 1",
        "merkato_rollup_hours_total 1",
        "merkato_rollup_measurements_total{outcome=\"counted\"} 5",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}
