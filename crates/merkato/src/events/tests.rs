//! Rules and folds: given, when, then.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    error::Error,
    registry::{Aggregate as _, MergedJson},
    rules::{self, Expected, NewEvent, Stream, bytes_at_most, check_events, fact_stream, is_fact_stream},
    tables::{Event, EventById, block_of},
};
use crate::{
    id::{AggregateId, EventId},
    limits,
};

const AGGREGATE: AggregateId = AggregateId(Uuid::from_u128(7));

fn id(n: u128) -> EventId {
    EventId(Uuid::from_u128(n))
}

fn event(n: i64) -> NewEvent {
    NewEvent::new("Noted", json!({ "n": n }))
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn append(head: Option<&super::EventStream>, events: Vec<NewEvent>, now: i64) -> (super::EventStream, Vec<Event>) {
    let events: Vec<_> = events.iter().zip(1..).map(|(event, n)| (id(n), event)).collect();
    rules::append(AGGREGATE, "note", head, &events, None, at(now)).expect("some events")
}

#[test]
fn versions_follow_and_times_never_go_back() {
    let (head, rows) = append(None, vec![event(1), NewEvent { at: Some(at(50)), ..event(2) }], 100);
    assert_eq!(rows.iter().map(|row| row.event_version).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(rows.iter().map(|row| row.event_timestamp.millis()).collect::<Vec<_>>(), [100, 100]);
    let (head, rows) = append(Some(&head), vec![event(3)], 90);
    assert_eq!((head.version, head.last_event_at, head.created_at), (3, at(100), at(100)));
    assert_eq!((rows[0].event_version, rows[0].correlation_id), (3, id(1).0));
    assert!(rules::append(AGGREGATE, "note", Some(&head), &[], None, at(1)).is_none());
}

#[test]
fn blocks_have_a_thousand() {
    assert_eq!([1, 1_000, 1_001, 2_000, 2_001].map(block_of), [0, 0, 1, 1, 2]);
}

fn known(versions: &[(u128, i64)]) -> Stream {
    let row = |(n, event_version): &(u128, i64)| {
        let fingerprint = event(*n as i64).fingerprint();
        (id(*n), EventById { event_id: id(*n), aggregate_id: AGGREGATE, event_version: *event_version, fingerprint })
    };
    Stream { head: None, known: versions.iter().map(row).collect::<BTreeMap<_, _>>() }
}

#[test]
fn what_was_sent_before_is_known_by_its_ids() {
    let sent = |ids: &[u128]| ids.iter().map(|n| event(*n as i64).with_id(id(*n))).collect::<Vec<_>>();
    let stream = known(&[(1, 5), (2, 6), (3, 7)]);
    assert_eq!(stream.find_repeated(&sent(&[1, 2, 3])).unwrap(), Some((5, 7)));
    assert_eq!(stream.find_repeated(&sent(&[2])).unwrap(), Some((6, 6)));
    assert_eq!(stream.find_repeated(&sent(&[8, 9])).unwrap(), None);
    assert_eq!(stream.find_repeated(&[event(1)]).unwrap(), None);
    // What stands beside it in the stream may be anybody's.
    for beside in [[event(1).with_id(id(1)), event(9)], [event(9), event(1).with_id(id(1))]] {
        assert!(matches!(stream.find_repeated(&beside), Err(Error::SomeKnown)));
    }
    for parts in [&[2, 1][..], &[1, 9], &[1, 3]] {
        assert!(matches!(stream.find_repeated(&sent(parts)), Err(Error::SomeKnown)), "{parts:?}");
    }
    let other = [event(4).with_id(id(1))];
    assert!(matches!(stream.find_repeated(&other), Err(Error::OtherEvent { event }) if event == id(1)));
}

#[test]
fn an_expected_version_is_met_or_told() {
    let stream = Stream::default();
    assert!(
        stream.must_be_at(AGGREGATE, Expected::Any).is_ok() && stream.must_be_at(AGGREGATE, Expected::Absent).is_ok()
    );
    let refused = stream.must_be_at(AGGREGATE, Expected::Exact(3)).unwrap_err();
    assert!(matches!(refused, Error::VersionConflict { expected: 3, found: 0, .. }), "{refused}");
}

#[test]
fn streams_of_facts_are_told_from_all_others() {
    assert!(is_fact_stream(fact_stream("order", Uuid::from_u128(1))));
    assert!(![Uuid::now_v7(), Uuid::new_v4(), Uuid::nil()].into_iter().any(|id| is_fact_stream(AggregateId(id))));
}

#[test]
fn json_is_merged_as_the_rfc_has_it() {
    let merged = |events: &[Value]| {
        let mut state = Value::Null;
        for (n, data) in events.iter().enumerate() {
            let (_, rows) = append(None, vec![NewEvent::new("Noted", data.clone())], n as i64);
            state = MergedJson.fold(state, &rows[0]).expect("merged");
        }
        state
    };
    assert_eq!(
        merged(&[json!({ "a": 1, "b": { "c": 2 } }), json!({ "b": { "d": 3 } })]),
        json!({ "a": 1, "b": { "c": 2, "d": 3 } })
    );
    assert_eq!(merged(&[json!({ "a": 1, "b": 2 }), json!({ "a": null })]), json!({ "b": 2 }));
    assert_eq!(merged(&[json!({ "a": [1, 2] }), json!({ "a": [3] })]), json!({ "a": [3] }));
    assert_eq!(merged(&[json!({ "a": "text" }), json!({ "a": { "b": null } })]), json!({ "a": {} }));
}

/// An event whose data is a text of so many bytes.
fn of_bytes(bytes: usize) -> NewEvent {
    let around = json!({ "x": "" }).to_string().len();
    NewEvent::new("Noted", json!({ "x": "y".repeat(bytes - around) }))
}

#[test]
fn an_event_may_have_as_many_bytes_as_the_limit_and_no_more() {
    let most = limits::EVENT_DATA_BYTES_MAX;
    assert!(check_events(&[of_bytes(most)], at(0)).is_ok());
    let refused = check_events(&[event(1), of_bytes(most + 1)], at(0)).unwrap_err();
    let Error::Invalid(invalid) = &refused else { panic!("{refused}") };
    assert_eq!(invalid.fields.iter().map(|bad| &*bad.field).collect::<Vec<_>>(), ["events/1/data"]);
    assert!(invalid.fields[0].problem.contains(&(most + 1).to_string()), "{refused}");
}

#[test]
fn all_events_of_an_append_may_have_as_many_bytes_as_the_limit_and_no_more() {
    let (each, most) = (limits::EVENT_DATA_BYTES_MAX, limits::EVENTS_DATA_BYTES_MAX);
    let mut events: Vec<NewEvent> = (0..most / each).map(|_| of_bytes(each)).collect();
    assert!(check_events(&events, at(0)).is_ok());
    events.push(NewEvent::new("Noted", json!({})));
    let refused = check_events(&events, at(0)).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { size, limit, .. } if size == most + 2 && limit == most), "{refused}");
}

/// JSON of any shape, with whatever has to be escaped.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\\x00-\\x1f\"\\\\]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_event_has_more_bytes_than_it_is_taken_to_have_at_most(data in any_json()) {
        let written = data.to_string().len();
        prop_assert!(bytes_at_most(&NewEvent::new("Noted", data)) >= written);
    }
}
