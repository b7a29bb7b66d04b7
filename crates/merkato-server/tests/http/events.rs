//! Events over HTTP: appended, read back, folded, followed; and every way in which that is refused.

use std::time::Duration;

use merkato::{events, keys::Scope};
use reqwest::Response;
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::{
    admin::{Office, key},
    world::{World, assert_ok, assert_problem},
};

cases![
    events_are_appended_and_read_back,
    an_append_rests_on_the_version_that_is_expected,
    bad_events_are_told_by_their_field_and_limit,
    the_same_events_again_are_the_same,
    a_stream_is_folded_to_any_version,
    events_are_found_by_type_time_and_what_they_belong_to,
    the_feed_goes_on_where_one_was,
    the_feed_is_followed_as_events_come,
    those_who_follow_are_bounded_and_let_go_at_a_stop,
    a_read_model_is_made_anew,
    another_shop_has_events_of_its_own,
    a_key_reads_or_writes_events_as_its_scopes_say,
];

fn stream(id: Uuid) -> String {
    format!("/v1/admin/streams/{id}/events")
}

async fn append(office: &Office, id: Uuid, body: &Value) -> Response {
    office.post(&stream(id), body).send().await.unwrap()
}

/// A stream of its own with these types of events, each of which says its number.
async fn told(office: &Office, types: &[&str]) -> Uuid {
    let id = Uuid::new_v4();
    let event = |(n, name): (usize, &&str)| json!({"event_type": name, "data": {"n": n + 1, (*name): true}});
    let events: Vec<Value> = types.iter().enumerate().map(event).collect();
    let answer = append(office, id, &json!({"kind": "thing", "events": events})).await;
    assert_eq!(answer.status(), 201);
    id
}

async fn get(office: &Office, path: &str) -> Value {
    let request = office.get(path).header("accept", "application/json");
    assert_ok(request.send().await.unwrap()).await
}

fn of(list: &Value, name: &str) -> Vec<Value> {
    list["data"].as_array().unwrap().iter().map(|row| row[name].clone()).collect()
}

async fn events_are_appended_and_read_back(target: &Target) {
    let office = Office::open(target).await;
    let (id, event_id, cause, together) = (Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4());
    let first = json!({
        "event_id": event_id, "event_type": "Opened", "data": {"deep": [1, {"x": "Ä"}]}, "schema_version": 3,
        "metadata": {"who": "Ada"}, "causation_id": cause, "correlation_id": together, "at": "2026-01-02T03:04:05Z",
    });
    let second = json!({"event_id": Uuid::new_v4(), "event_type": "Shut", "data": {}});
    let body = json!({"kind": "door", "expected_version": "absent", "events": [first, second]});
    let answer = append(&office, id, &body).await;
    assert_eq!(answer.status(), 201);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let appended = assert_ok(answer).await;
    assert_eq!(appended, json!({"aggregate_id": id, "first_version": 1, "version": 2, "repeated": false}));
    let list = get(&office, &location).await;
    let one = &list["data"][0];
    assert_eq!((&one["aggregate_id"], &one["kind"], &one["version"]), (&json!(id), &json!("door"), &json!(1)));
    for field in ["event_id", "event_type", "data", "schema_version", "metadata", "causation_id", "correlation_id"] {
        assert_eq!(one[field], first[field], "{field}");
    }
    assert_eq!(one["at"], "2026-01-02T03:04:05.000Z");
    let other = &list["data"][1];
    assert_eq!((&other["causation_id"], &other["correlation_id"]), (&Value::Null, &other["event_id"]));
    // Pages, both ways, within versions.
    let more: Vec<Value> = (3..=60).map(|n| json!({"event_type": "Moved", "data": {"n": n}})).collect();
    assert_eq!(append(&office, id, &json!({"expected_version": 2, "events": more})).await.status(), 201);
    for (query, wanted) in [
        ("limit=100", (1..=60).collect::<Vec<i64>>()),
        ("from_version=58", vec![58, 59, 60]),
        ("from_version=10&to_version=12", vec![10, 11, 12]),
        ("from_version=10&to_version=12&direction=backward", vec![12, 11, 10]),
        ("direction=backward&limit=2", (1..=60).rev().collect()),
        ("limit=7&to_version=20", (1..=20).collect()),
        ("as_of=2026-01-02T03:04:05Z", vec![1]),
        ("as_of=2020-01-01T00:00:00Z", vec![]),
        ("from_version=61", vec![]),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = get(&office, &format!("{}?{query}{cursor}", stream(id))).await;
            seen.extend(of(&page, "version").iter().map(|version| version.as_i64().unwrap()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, wanted, "{query}");
    }
    for (query, field) in [("from_version=0", "from_version"), ("from_version=3&to_version=2", "to_version")] {
        let answer = office.get(&format!("{}?{query}", stream(id))).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], format!("/{field}"));
    }
    let nowhere = office.get(&stream(Uuid::new_v4())).send().await.unwrap();
    assert_problem(nowhere, 404, "stream_not_found").await;
}

async fn an_append_rests_on_the_version_that_is_expected(target: &Target) {
    let office = Office::open(target).await;
    let id = told(&office, &["A", "B"]).await;
    let at = |expected: Value| json!({"expected_version": expected, "events": [{"event_type": "C", "data": {}}]});
    for (expected, said) in [(json!("absent"), 0), (json!(1), 1), (json!(3), 3)] {
        let problem = assert_problem(append(&office, id, &at(expected)).await, 409, "version_conflict").await;
        assert_eq!((&problem["version"], &problem["errors"][0]["pointer"]), (&json!(2), &json!("/expected_version")));
        assert!(problem["detail"].as_str().unwrap().contains(&format!("not {said}")), "{problem}");
    }
    assert_eq!(assert_ok(append(&office, id, &at(json!(2))).await).await["version"], 3);
    assert_eq!(assert_ok(append(&office, id, &at(json!("any"))).await).await["version"], 4);
    for bad in [json!("newest"), json!(-1), json!(1.5), json!(null), json!({})] {
        let problem = assert_problem(append(&office, id, &at(bad)).await, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], "/expected_version");
    }
    // What it is was said for good.
    let other = json!({"kind": "other", "events": [{"event_type": "C", "data": {}}]});
    let problem = assert_problem(append(&office, id, &other).await, 409, "other_kind").await;
    assert_eq!(problem["errors"][0]["pointer"], "/kind");
    // Of two at once, one is told.
    let (one, two) = (at(json!(4)), at(json!(4)));
    let both = tokio::join!(append(&office, id, &one), append(&office, id, &two));
    let mut statuses = [both.0.status().as_u16(), both.1.status().as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
}

async fn bad_events_are_told_by_their_field_and_limit(target: &Target) {
    let office = Office::open(target).await;
    let id = Uuid::new_v4();
    let good = json!({"event_type": "A", "data": {}});
    for (field, value) in [
        ("event_type", json!("")),
        ("event_type", json!("x".repeat(101))),
        ("event_type", json!("two\nlines")),
        ("data", json!([1])),
        ("data", json!({"x": "y".repeat(70_000)})),
        ("schema_version", json!(0)),
        ("event_id", json!("no id")),
        ("at", json!("yesterday")),
        ("at", json!("2999-01-01T00:00:00Z")),
        ("colour", json!("red")),
    ] {
        let mut bad = good.clone();
        bad[field] = value.clone();
        let answer = append(&office, id, &json!({"events": [good, bad]})).await;
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], format!("/events/1/{field}"), "{value}: {problem}");
    }
    let none = assert_problem(append(&office, id, &json!({"events": []})).await, 400, "invalid").await;
    assert_eq!(none["errors"][0]["pointer"], "/events");
    let many = json!({"events": vec![good.clone(); 501]});
    let problem = assert_problem(append(&office, id, &many).await, 422, "too_large").await;
    assert!(problem["detail"].as_str().unwrap().contains("500"), "{problem}");
    let twice = json!({"events": [{"event_id": id, "event_type": "A", "data": {}}, {"event_id": id, "event_type": "B", "data": {}}]});
    let problem = assert_problem(append(&office, id, &twice).await, 400, "invalid").await;
    assert_eq!(problem["errors"][0]["pointer"], "/events/1/event_id");
    let nothing = office.get(&stream(id)).send().await.unwrap();
    assert_problem(nothing, 404, "stream_not_found").await;
    // The shop's own streams are closed to others.
    let own = events::fact_stream("order", id);
    let reserved = append(&office, own.0, &json!({"events": [good]})).await;
    assert_problem(reserved, 409, "stream_reserved").await;
}

async fn the_same_events_again_are_the_same(target: &Target) {
    let office = Office::open(target).await;
    let (id, event) = (Uuid::new_v4(), Uuid::new_v4());
    let body = json!({"expected_version": 0, "events": [{"event_id": event, "event_type": "A", "data": {"n": 1}}]});
    assert_eq!(append(&office, id, &body).await.status(), 201);
    let again = append(&office, id, &body).await;
    assert_eq!(again.status(), 200);
    let again = assert_ok(again).await;
    assert_eq!((&again["version"], &again["repeated"]), (&json!(1), &json!(true)));
    let mut other = body.clone();
    other["events"][0]["data"] = json!({"n": 2});
    assert_problem(append(&office, id, &other).await, 409, "event_differs").await;
    assert_problem(append(&office, Uuid::new_v4(), &body).await, 409, "event_elsewhere").await;
    let mut some = body.clone();
    some["events"].as_array_mut().unwrap().push(json!({"event_id": Uuid::new_v4(), "event_type": "B", "data": {}}));
    assert_problem(append(&office, id, &some).await, 409, "events_partly_known").await;
    // Without ids of their own, by the key of the request.
    let keyed = json!({"events": [{"event_type": "B", "data": {}}, {"event_type": "B", "data": {}}]});
    let send = async || {
        let request = office.post(&stream(id), &keyed).header("idempotency-key", "k1");
        assert_ok(request.send().await.unwrap()).await
    };
    assert_eq!(send().await, send().await);
    assert_eq!(of(&get(&office, &stream(id)).await, "event_type"), ["A", "B", "B"]);
}

async fn a_stream_is_folded_to_any_version(target: &Target) {
    let office = Office::open(target).await;
    let id = told(&office, &["A", "B", "C"]).await;
    let gone = json!({"events": [{"event_type": "D", "data": {"A": null, "n": 4}}]});
    assert_eq!(append(&office, id, &gone).await.status(), 201);
    let state = async |query: &str| get(&office, &format!("/v1/admin/streams/{id}/state{query}")).await;
    let now = state("").await;
    assert_eq!(now["state"], json!({"B": true, "C": true, "n": 4}));
    assert_eq!((&now["version"], &now["kind"], &now["from_snapshot"]), (&json!(4), &json!("thing"), &json!(0)));
    assert_eq!(state("?version=2").await["state"], json!({"A": true, "B": true, "n": 2}));
    let later = office.world.ctx.now().plus_seconds(60);
    assert_eq!(state(&format!("?as_of={later}")).await["version"], 4);
    // After a snapshot it is what it was.
    let more: Vec<Value> = (5..=250).map(|n| json!({"event_type": "E", "data": {"n": n}})).collect();
    assert_eq!(append(&office, id, &json!({"events": more})).await.status(), 201);
    let ctx = &office.world.ctx;
    events::sequence(ctx).await.unwrap();
    events::take_snapshots(ctx, 100).await.unwrap();
    let now = state("").await;
    assert_eq!((&now["state"]["n"], &now["from_snapshot"]), (&json!(250), &json!(200)));
    let scratch = events::state_from_scratch(ctx, merkato::id::AggregateId(id), Some(250)).await.unwrap();
    assert_eq!(now["state"], scratch.state);
    for (query, code) in [("version=251", "version_not_found"), ("as_of=2020-01-01T00:00:00Z", "version_not_found")] {
        let answer = office.get(&format!("/v1/admin/streams/{id}/state?{query}")).send().await.unwrap();
        assert_eq!(assert_problem(answer, 404, code).await["version"], 250);
    }
    let answer = office.get(&format!("/v1/admin/streams/{id}/state?version=0")).send().await.unwrap();
    assert_problem(answer, 400, "invalid").await;
    let nowhere = office.get(&format!("/v1/admin/streams/{}/state", Uuid::new_v4())).send().await.unwrap();
    assert_problem(nowhere, 404, "stream_not_found").await;
}

async fn events_are_found_by_type_time_and_what_they_belong_to(target: &Target) {
    let office = Office::open(target).await;
    let (together, ids) = (Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()]);
    for (day, id) in [(1, ids[0]), (2, ids[1]), (3, ids[0])] {
        let at = |hour: u32| format!("2026-02-0{day}T{hour:02}:00:00Z");
        let events = json!([
            {"event_type": "Ate", "data": {"day": day}, "at": at(8), "correlation_id": together},
            {"event_type": "Slept", "data": {"day": day}, "at": at(22)},
        ]);
        assert_eq!(append(&office, id, &json!({"events": events})).await.status(), 201);
    }
    let find = async |query: &str| get(&office, &format!("/v1/admin/events?{query}")).await;
    let days = |list: &Value| of(list, "data").iter().map(|data| data["day"].as_i64().unwrap()).collect::<Vec<_>>();
    let february = "from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z";
    assert_eq!(days(&find(&format!("type=Ate&{february}")).await), [3, 2, 1]);
    assert_eq!(days(&find(february).await), [1, 1, 2, 2, 3, 3]);
    assert_eq!(days(&find("from=2026-02-01T09:00:00Z&to=2026-02-02T22:00:00Z").await), [1, 2]);
    let belongs = find(&format!("correlation_id={together}")).await;
    assert_eq!(days(&belongs), [1, 2, 3]);
    assert!(belongs["data"].as_array().unwrap().iter().all(|row| row["position"].as_i64().unwrap() >= 1));
    // Nothing in the last days; page by page where there is something.
    assert_eq!(find("type=Ate").await["data"], json!([]));
    for (query, wanted) in [
        (format!("type=Slept&{february}&limit=1"), vec![3, 2, 1]),
        (format!("{february}&limit=4"), vec![1, 1, 2, 2, 3, 3]),
        (format!("correlation_id={together}&limit=2"), vec![1, 2, 3]),
        // A page looks at some weeks.
        ("type=Ate&from=2025-01-01T00:00:00Z&to=2026-12-31T00:00:00Z".to_owned(), vec![3, 2, 1]),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = find(&format!("{query}{cursor}")).await;
            seen.extend(days(&page));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, wanted, "{query}");
    }
    for (query, field) in [
        (format!("type=A&correlation_id={together}"), "correlation_id"),
        (format!("correlation_id={together}&{february}"), "correlation_id"),
        (format!("type={}", "x".repeat(101)), "type"),
        ("from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z".to_owned(), "to"),
    ] {
        let answer = office.get(&format!("/v1/admin/events?{query}")).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], format!("/{field}"), "{problem}");
    }
    let answer = office.get("/v1/admin/events?from=then").send().await.unwrap();
    assert_problem(answer, 400, "bad_query").await;
    events::project_all(&office.world.ctx).await.unwrap();
    let types = get(&office, "/v1/admin/events/types").await;
    assert_eq!(
        (of(&types, "event_type"), of(&types, "events_count")),
        (vec![json!("Ate"), json!("Slept")], vec![json!(3), json!(3)])
    );
}

async fn the_feed_goes_on_where_one_was(target: &Target) {
    let office = Office::open(target).await;
    let feed = async |query: &str| get(&office, &format!("/v1/admin/events/feed{query}")).await;
    assert_eq!(feed("").await, json!({"data": [], "position": 0}));
    told(&office, &["A", "B", "C"]).await;
    told(&office, &["D", "E"]).await;
    let first = feed("?limit=2").await;
    assert_eq!((of(&first, "position"), &first["position"]), (vec![json!(1), json!(2)], &json!(2)));
    let rest = feed("?after=2").await;
    assert_eq!((of(&rest, "position"), &rest["position"]), (vec![json!(3), json!(4), json!(5)], &json!(5)));
    assert_eq!(feed("?after=5").await, json!({"data": [], "position": 5}));
    let header = office.get("/v1/admin/events/feed?after=0").header("accept", "application/json");
    let header = assert_ok(header.header("last-event-id", "4").send().await.unwrap()).await;
    assert_eq!(of(&header, "position"), [5]);
    for (query, code) in
        [("?after=-1", "invalid"), ("?limit=0", "invalid"), ("?limit=101", "invalid"), ("?after=x", "bad_query")]
    {
        let request = office.get(&format!("/v1/admin/events/feed{query}")).header("accept", "application/json");
        assert_problem(request.send().await.unwrap(), 400, code).await;
    }
    let bad = office.get("/v1/admin/events/feed").header("last-event-id", "third");
    assert_problem(bad.send().await.unwrap(), 400, "bad_header").await;
}

/// What comes until so many events are there: their ids, and what they say.
async fn follow(response: &mut Response, count: usize) -> Vec<(i64, Value)> {
    let mut text = String::new();
    let mut seen = Vec::new();
    let all = async {
        while seen.len() < count {
            let chunk = response.chunk().await.expect("it goes on").expect("no end");
            text.push_str(std::str::from_utf8(&chunk).expect("text"));
            while let Some(end) = text.find("\n\n") {
                let message = text[..end].to_owned();
                text.drain(..end + 2);
                let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                    seen.push((id.parse().unwrap(), serde_json::from_str(&data).unwrap()));
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.expect("they come");
    seen
}

async fn the_feed_is_followed_as_events_come(target: &Target) {
    let office = Office::open(target).await;
    told(&office, &["A", "B"]).await;
    let mut one = office.get("/v1/admin/events/feed?after=1").send().await.unwrap();
    assert_eq!(one.headers()["content-type"], "text/event-stream");
    assert_eq!(one.headers()["cache-control"], "no-store");
    let seen = follow(&mut one, 1).await;
    assert_eq!((seen[0].0, &seen[0].1["event_type"], &seen[0].1["position"]), (2, &json!("B"), &json!(2)));
    // What is appended from now on, by this process and by others, comes by itself.
    told(&office, &["C", "D"]).await;
    let seen = follow(&mut one, 2).await;
    assert_eq!(
        seen.iter().map(|(id, event)| (*id, &event["event_type"])).collect::<Vec<_>>(),
        [(3, &json!("C")), (4, &json!("D"))]
    );
    drop(one);
    told(&office, &["E"]).await;
    let again = office.get("/v1/admin/events/feed").header("last-event-id", "4");
    let mut again = again.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(follow(&mut again, 1).await[0].0, 5);
    let limited = office.get("/v1/admin/events/feed?limit=5").send().await.unwrap();
    assert_eq!(assert_problem(limited, 400, "invalid").await["errors"][0]["pointer"], "/limit");
}

async fn those_who_follow_are_bounded_and_let_go_at_a_stop(target: &Target) {
    let world = World::with(target, |settings| settings.followers_max = 1).await;
    let token = world.session(&world.ctx, merkato::accounts::Role::Staff).await;
    let mut office = Office { world, token };
    told(&office, &["A"]).await;
    let mut one = office.get("/v1/admin/events/feed").send().await.unwrap();
    follow(&mut one, 1).await;
    let refused = office.get("/v1/admin/events/feed").send().await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    assert_problem(refused, 503, "too_many_followers").await;
    // A page is no place.
    assert_eq!(get(&office, "/v1/admin/events/feed").await["position"], 1);
    // One who goes away leaves the place to another.
    drop(one);
    let mut other = None;
    for _ in 0..200 {
        let answer = office.get("/v1/admin/events/feed").send().await.unwrap();
        if answer.status() == 200 {
            other = Some(answer);
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut other = other.expect("a place");
    follow(&mut other, 1).await;
    let server = office.world.stop();
    let ended = async { while other.chunk().await.expect("a good end").is_some() {} };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("it ends");
    tokio::time::timeout(Duration::from_secs(10), server).await.expect("it stops").expect("no panic");
}

async fn a_read_model_is_made_anew(target: &Target) {
    let office = Office::open(target).await;
    let ctx = &office.world.ctx;
    told(&office, &["A", "B", "C"]).await;
    events::sequence(ctx).await.unwrap();
    let status = async || {
        let all = get(&office, "/v1/admin/projections").await;
        let found = all["data"].as_array().unwrap().iter().find(|row| row["name"] == "event_types");
        found.expect("it is known").clone()
    };
    let before = status().await;
    assert_eq!((&before["position"], &before["lag"], &before["updated_at"]), (&json!(0), &json!(3), &Value::Null));
    events::project_all(ctx).await.unwrap();
    events::look_at_projections(ctx).await.unwrap();
    let after = status().await;
    assert_eq!((&after["position"], &after["lag"], &after["generation"]), (&json!(3), &json!(0), &json!(1)));
    let metrics = office.world.bare("GET", "/metrics").send().await.unwrap().text().await.unwrap();
    let tenant = office.world.tenant();
    assert!(metrics.contains(&format!("merkato_events_position{{tenant=\"{tenant}\"}} 3")), "{metrics}");
    assert!(metrics.contains(&format!("{{tenant=\"{tenant}\",projection=\"event_types\"}} 0")), "{metrics}");
    let answer = office.post("/v1/admin/projections/event_types/rebuild", &json!({})).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    assert_eq!(assert_ok(answer).await["rebuild"]["position"], 0);
    assert!(events::project(ctx, "event_types").await.unwrap().switched);
    let anew = status().await;
    assert_eq!((&anew["generation"], &anew["lag"], &anew["rebuild"]), (&json!(2), &json!(0), &Value::Null));
    assert_eq!(of(&get(&office, "/v1/admin/events/types").await, "event_type"), ["A", "B", "C"]);
    let nowhere = office.post("/v1/admin/projections/none/rebuild", &json!({})).send().await.unwrap();
    assert_problem(nowhere, 404, "projection_not_found").await;
}

async fn another_shop_has_events_of_its_own(target: &Target) {
    let office = Office::open(target).await;
    let id = told(&office, &["A"]).await;
    let other = key(&office.world.other, &[Scope::EventsRead]).await;
    let ask = async |path: &str| {
        office.world.bare("GET", path).bearer_auth(&other).header("accept", "application/json").send().await.unwrap()
    };
    assert_problem(ask(&stream(id)).await, 404, "stream_not_found").await;
    assert_eq!(assert_ok(ask("/v1/admin/events/feed").await).await["data"], json!([]));
    assert_eq!(assert_ok(ask("/v1/admin/events").await).await["data"], json!([]));
}

async fn a_key_reads_or_writes_events_as_its_scopes_say(target: &Target) {
    let office = Office::open(target).await;
    let world = &office.world;
    let (reader, writer) = (key(&world.ctx, &[Scope::EventsRead]).await, key(&world.ctx, &[Scope::EventsWrite]).await);
    let path = stream(Uuid::new_v4());
    let read = async |token: &str| world.get(&path).bearer_auth(token).send().await.unwrap();
    let body = json!({"events": [{"event_type": "A", "data": {}}]});
    let write = async |token: &str| world.post(&path, &body).bearer_auth(token).send().await.unwrap();
    assert_problem(write(&reader).await, 403, "scope_missing").await;
    assert_problem(read(&writer).await, 403, "scope_missing").await;
    assert_eq!(write(&writer).await.status(), 201);
    assert_eq!(of(&assert_ok(read(&reader).await).await, "event_type"), ["A"]);
}
