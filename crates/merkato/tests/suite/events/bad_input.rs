//! Bad input: each bad field is named, with its limit, and nothing is written.

use std::collections::BTreeMap;

use merkato::{
    Kind,
    events::{self, AppendRequest, EventStream, Expected, NewEvent, ReadStream, TimePage, TimeRange},
    limits,
};
use serde_json::{Value, json};
use widerow::{Row, Timestamp};
use widerow_testing::Target;

use super::{new_stream, noted, request};
use crate::world::{World, raw_rows};

widerow_testing::cases![bad_events_are_refused_by_field, bad_questions_are_refused_by_field];

async fn bad_events_are_refused_by_field(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let long = "x".repeat(limits::EVENT_NAME_BYTES_MAX + 1);
    let id = merkato::id::EventId(ctx.new_id());
    let many: BTreeMap<String, String> =
        (0..=limits::EVENT_METADATA_MAX).map(|n| (format!("name {n}"), String::new())).collect();
    let of = |event: NewEvent| vec![event];
    let cases: Vec<(&str, Vec<NewEvent>, String)> = vec![
        ("note", vec![], "events: at least one event".into()),
        ("", of(noted(1)), "kind: it is empty".into()),
        (&long, of(noted(1)), "kind: it has 101 bytes, the limit is 100".into()),
        (
            "note",
            of(NewEvent::new(long.clone(), json!({}))),
            "events/0/event_type: it has 101 bytes, the limit is 100".into(),
        ),
        (
            "note",
            of(NewEvent::new("a\u{0}b", json!({}))),
            "events/0/event_type: it has the control character U+0000".into(),
        ),
        ("note", of(NewEvent::new("Noted", Value::Null)), "events/0/data: not an object of JSON".into()),
        ("note", of(NewEvent::new("Noted", json!("text"))), "events/0/data: not an object of JSON".into()),
        (
            "note",
            of(NewEvent::new("Noted", json!({ "x": "y".repeat(limits::EVENT_DATA_BYTES_MAX) }))),
            "events/0/data: it has 65544 bytes, the limit is 65536".into(),
        ),
        ("note", of(NewEvent { schema_version: 0, ..noted(1) }), "events/0/schema_version: 0 is not 1 or more".into()),
        ("note", of(NewEvent { metadata: many, ..noted(1) }), "events/0/metadata: 21 of them, the limit is 20".into()),
        (
            "note",
            of(NewEvent { metadata: BTreeMap::from([("by".into(), "x".repeat(1_001))]), ..noted(1) }),
            "events/0/metadata/by: it has 1001 bytes, the limit is 1000".into(),
        ),
        (
            "note",
            of(NewEvent { at: Some(ctx.now().plus_seconds(301)), ..noted(1) }),
            "events/0/at: it has not happened yet".into(),
        ),
        (
            "note",
            of(NewEvent { at: Some(Timestamp::from_millis(i64::MIN)), ..noted(1) }),
            "events/0/at: not a time of the years 0 to 9999".into(),
        ),
        ("note", vec![noted(1).with_id(id), noted(2).with_id(id)], "events/1/event_id: another event has it".into()),
        (
            "note",
            vec![noted(1).with_id(id), noted(2)],
            "events/1/event_id: either all events have an id or none".into(),
        ),
        (
            "note",
            vec![noted(1), noted(2).with_id(id)],
            "events/1/event_id: either all events have an id or none".into(),
        ),
    ];
    for (kind, events, problem) in cases {
        let asked = AppendRequest { aggregate_id: new_stream(ctx), kind: kind.into(), expected: Expected::Any, events };
        let refused = events::append(ctx, asked).await.unwrap_err();
        assert_eq!((refused.kind(), refused.to_string()), (Kind::Invalid, problem));
    }
    let many = (0..501).map(noted).collect();
    let refused = events::append(ctx, request(new_stream(ctx), Expected::Any, many)).await.unwrap_err();
    assert_eq!(refused.to_string(), "events of one append is 501, the limit is 500");
    let large = json!({ "x": "y".repeat(60_000) });
    let many = (0..40).map(|_| NewEvent::new("Noted", large.clone())).collect();
    let refused = events::append(ctx, request(new_stream(ctx), Expected::Any, many)).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (Kind::Limit, "too_large"));
    let conflict =
        events::append(ctx, request(new_stream(ctx), Expected::Exact(-3), vec![noted(1)])).await.unwrap_err();
    assert_eq!(conflict.kind(), Kind::Conflict);
    assert_eq!(raw_rows(&world, EventStream::table()).await.len(), 0, "nothing was written");
}

async fn bad_questions_are_refused_by_field(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let now = ctx.now();
    for limit in [0, limits::PAGE_ROWS_MAX + 1] {
        let problem = format!("limit: {limit} is not 1 to {}", limits::PAGE_ROWS_MAX);
        let read = ReadStream { limit, ..ReadStream::default() };
        let refused = events::list_events(ctx, new_stream(ctx), read).await.unwrap_err();
        assert_eq!(refused.to_string(), problem);
        assert_eq!(events::feed(ctx, 0, limit).await.unwrap_err().to_string(), problem);
        let range = TimeRange { from: now, to: now.plus_seconds(1) };
        let refused = events::list_events_by_time(ctx, range, TimePage::first(limit)).await.unwrap_err();
        assert_eq!(refused.to_string(), problem);
    }
    assert_eq!(events::feed(ctx, -1, 5).await.unwrap_err().to_string(), "after: -1 is not 0 or more");
    assert_eq!(events::feed(ctx, i64::MAX, 5).await.unwrap().position, i64::MAX);
    let range = TimeRange { from: now, to: now };
    let refused = events::list_events_by_type(ctx, "Noted", range, TimePage::first(5)).await.unwrap_err();
    assert_eq!(refused.to_string(), "to: it is not after from");
    let range = TimeRange { from: Timestamp::from_millis(i64::MIN), to: now };
    let refused = events::list_events_by_time(ctx, range, TimePage::first(5)).await.unwrap_err();
    assert_eq!(refused.to_string(), "from: not a time of the years 0 to 9999");
    let range = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };
    let refused = events::list_events_by_type(ctx, "", range, TimePage::first(5)).await.unwrap_err();
    assert_eq!(refused.to_string(), "event_type: it is empty");
    // Thousands of years are looked at a part at a time.
    let page = events::list_events_by_type(ctx, "Noted", range, TimePage::first(5)).await.unwrap();
    assert!(page.events.is_empty() && page.next.is_some());
    for read in
        [ReadStream { from: i64::MIN, ..Default::default() }, ReadStream { from: i64::MAX, ..Default::default() }]
    {
        assert_eq!(events::list_events(ctx, new_stream(ctx), read).await.unwrap().events.len(), 0);
    }
}
