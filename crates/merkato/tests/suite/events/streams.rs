//! Appends, and the events of one stream.

use std::{borrow::Cow, collections::BTreeMap};

use merkato::{
    Context, Kind,
    events::{
        self, Change, Direction, Error, Event, Expected, Fact, NewEvent, ReadStream, Registry, Stream, fact_stream,
    },
    id::{AggregateId, EventId},
};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow::{Commit, Timestamp};
use widerow_testing::Target;

use super::{append, dying, finish_commits, lose, new_stream, noted, process, read_feed, request, tell, verify};
use crate::world::World;

widerow_testing::cases![
    an_append_rests_on_the_version_that_is_expected,
    what_a_process_remembers_of_a_stream_is_never_believed_for_long,
    several_events_come_together_or_not_at_all,
    the_same_ids_again_give_the_first_answer,
    an_id_is_of_one_event_in_one_stream,
    a_stream_is_read_in_both_directions_over_its_blocks,
    backward_from_beyond_the_end_is_from_the_end,
    backward_what_is_lost_hides_nothing_else,
    backward_an_append_is_seen_whole_wherever_it_was_stopped,
    a_stream_as_it_was_at_a_time,
    times_never_go_back_in_a_stream,
    a_kind_stays_and_some_are_the_shops_own,
    a_domain_decides_on_what_it_keeps_beside_the_version,
    a_fact_is_told_in_the_commit_in_which_it_happens,
];

fn conflict(error: Error) -> (i64, i64) {
    assert_eq!((error.kind(), error.code()), (Kind::Conflict, "version_conflict"));
    match error {
        Error::VersionConflict { expected, found, .. } => (expected, found),
        other => panic!("{other}"),
    }
}

async fn an_append_rests_on_the_version_that_is_expected(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    let at = |expected| events::append(ctx, request(stream, expected, vec![noted(1)]));
    assert_eq!(conflict(at(Expected::Exact(1)).await.unwrap_err()), (1, 0));
    let first = at(Expected::Absent).await.unwrap();
    assert_eq!((first.first_version, first.version, first.repeated), (1, 1, false));
    assert_eq!(conflict(at(Expected::Absent).await.unwrap_err()), (0, 1));
    assert_eq!(at(Expected::Exact(1)).await.unwrap().version, 2);
    assert_eq!(conflict(at(Expected::Exact(1)).await.unwrap_err()), (1, 2));
    assert_eq!(at(Expected::Any).await.unwrap().version, 3);
    let head = events::get_stream(ctx, stream).await.unwrap();
    assert_eq!((head.version, head.aggregate_kind.as_str()), (3, "note"));
    let missing = events::get_stream(ctx, new_stream(ctx)).await.unwrap_err();
    assert_eq!(missing.code(), "stream_not_found");

    // Of many who expect the same version one is right; of many who expect none all are.
    let rivals = (0..12).map(|n| events::append(ctx, request(stream, Expected::Exact(3), vec![noted(n)])));
    let won = futures::future::join_all(rivals).await.into_iter().filter(Result::is_ok).count();
    assert_eq!(won, 1);
    let all = (0..12).map(|n| events::append(ctx, request(stream, Expected::Any, vec![noted(n), noted(n)])));
    let mut versions: Vec<i64> =
        futures::future::join_all(all).await.into_iter().map(|answer| answer.unwrap().version).collect();
    versions.sort_unstable();
    assert_eq!(versions, (0..12).map(|n| 6 + 2 * n).collect::<Vec<_>>());
}

/// Each of two processes remembers how it left a stream; the other may have gone on with it, or have erased it.
async fn what_a_process_remembers_of_a_stream_is_never_believed_for_long(target: &Target) {
    let world = World::new(target);
    let (one, other) = (&world.ctx, process(&world, target.engine(), false));
    let stream = new_stream(one);
    let append = |ctx: &Context, expected| {
        let ctx = ctx.clone();
        async move { events::append(&ctx, request(stream, expected, vec![noted(1)])).await }
    };
    for version in 1..=20 {
        let ctx = if version % 3 == 0 { &other } else { one };
        assert_eq!(append(ctx, Expected::Any).await.unwrap().version, version);
    }
    assert_eq!(append(&other, Expected::Exact(20)).await.unwrap().version, 21);
    assert_eq!(conflict(append(one, Expected::Exact(20)).await.unwrap_err()), (20, 21));
    assert_eq!(append(one, Expected::Exact(21)).await.unwrap().version, 22);
    verify(one).await;
    finish_commits(target, &world).await;
    one.store.erase(|_| {}).await.unwrap();
    assert_eq!(append(&other, Expected::Absent).await.unwrap().version, 1);
    assert_eq!(conflict(append(one, Expected::Absent).await.unwrap_err()), (0, 1));
}

async fn several_events_come_together_or_not_at_all(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    let appended = append(ctx, stream, 0..120).await;
    assert_eq!((appended.first_version, appended.version), (1, 120));
    let bad = vec![noted(1), NewEvent::new("", json!({})), NewEvent::new("Noted", json!([1]))];
    let refused = events::append(ctx, request(stream, Expected::Any, bad)).await.unwrap_err();
    assert_eq!(refused.to_string(), "events/1/event_type: it is empty; events/2/data: not an object of JSON");
    assert_eq!(events::get_stream(ctx, stream).await.unwrap().version, 120);
    assert_eq!(read_feed(ctx, 0).await.len(), 120);
    verify(ctx).await;
}

async fn the_same_ids_again_give_the_first_answer(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (stream, ids) = (new_stream(ctx), [0; 3].map(|_| EventId(ctx.new_id())));
    append(ctx, stream, 0..5).await;
    let batch = || ids.iter().zip(0..).map(|(id, n)| noted(n).with_id(*id)).collect::<Vec<_>>();
    let first = events::append(ctx, request(stream, Expected::Exact(5), batch())).await.unwrap();
    assert_eq!((first.first_version, first.version), (6, 8));
    append(ctx, stream, 0..2).await;
    // Whatever is expected the second time: it was right the first time.
    for expected in [Expected::Exact(5), Expected::Any, Expected::Absent] {
        let again = events::append(ctx, request(stream, expected, batch())).await.unwrap();
        assert_eq!((again.first_version, again.version, again.repeated), (6, 8, true));
    }
    let part = events::append(ctx, request(stream, Expected::Any, batch().split_off(1))).await.unwrap();
    assert_eq!((part.first_version, part.version, part.repeated), (7, 8, true));
    let mut more = batch();
    more.push(noted(9).with_id(EventId(ctx.new_id())));
    let refused = events::append(ctx, request(stream, Expected::Any, more)).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (Kind::Exists, "events_partly_known"));
    assert_eq!(events::get_stream(ctx, stream).await.unwrap().version, 10);

    // Twenty at once with one id.
    let (other, id) = (new_stream(ctx), EventId(ctx.new_id()));
    let same = (0..20).map(|_| events::append(ctx, request(other, Expected::Any, vec![noted(7).with_id(id)])));
    let answers = futures::future::join_all(same).await;
    let made = answers.into_iter().map(|answer| answer.unwrap()).filter(|answer| !answer.repeated).count();
    assert_eq!((made, events::get_stream(ctx, other).await.unwrap().version), (1, 1));
    verify(ctx).await;
}

async fn an_id_is_of_one_event_in_one_stream(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (stream, other, id) = (new_stream(ctx), new_stream(ctx), EventId(ctx.new_id()));
    let send = |stream: AggregateId, event: NewEvent| {
        events::append(ctx, request(stream, Expected::Any, vec![event.with_id(id)]))
    };
    send(stream, noted(1)).await.unwrap();
    let changed = [
        noted(2),
        NewEvent::new("Marked", json!({ "number": 1 })),
        NewEvent { schema_version: 2, ..noted(1) },
        NewEvent { metadata: BTreeMap::from([("by".into(), "me".into())]), ..noted(1) },
        NewEvent { causation_id: Some(ctx.new_id()), ..noted(1) },
        NewEvent { at: Some(ctx.now()), ..noted(1) },
    ];
    for event in changed {
        let refused = send(stream, event).await.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (Kind::Exists, "event_differs"));
    }
    let refused = send(other, noted(1)).await.unwrap_err();
    assert!(matches!(refused, Error::OtherStream { holder, .. } if holder == stream), "{refused}");
    assert_eq!(events::find_stream(ctx, other).await.unwrap(), None);
    assert_eq!(events::get_stream(ctx, stream).await.unwrap().version, 1);
}

async fn a_stream_is_read_in_both_directions_over_its_blocks(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    for from in (0..2_100).step_by(350) {
        append(ctx, stream, from..from + 350).await;
    }
    let number = |event: &Event| event.data().unwrap()["number"].as_i64().unwrap();
    for (direction, from, to) in [
        (Direction::Forward, 1, None),
        (Direction::Backward, 1, None),
        (Direction::Forward, 990, Some(2_003)),
        (Direction::Backward, 990, Some(2_003)),
        (Direction::Forward, 1_000, Some(1_001)),
        (Direction::Backward, 1_000, Some(1_001)),
    ] {
        let mut wanted: Vec<i64> = (from - 1..to.unwrap_or(2_100)).collect();
        if direction == Direction::Backward {
            wanted.reverse();
        }
        let (mut found, mut read) = (Vec::new(), Some(ReadStream { from, to, direction, limit: 100 }));
        while let Some(asked) = read {
            let page = events::list_events(ctx, stream, asked).await.unwrap();
            found.extend(page.events.iter().map(number));
            read = page.next;
        }
        assert_eq!(found, wanted, "{direction:?} {from} {to:?}");
    }
    let none = events::list_events(ctx, new_stream(ctx), ReadStream::default()).await.unwrap();
    assert_eq!((none.events.len(), none.next), (0, None));
}

async fn backward(ctx: &Context, stream: AggregateId, to: impl Into<Option<i64>>, limit: usize) -> Vec<i64> {
    let read = ReadStream { to: to.into(), direction: Direction::Backward, limit, ..ReadStream::default() };
    let page = events::list_events(ctx, stream, read).await.unwrap();
    page.events.iter().map(|event| event.event_version).collect()
}

async fn backward_from_beyond_the_end_is_from_the_end(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (stream, of) = (new_stream(ctx), ctx.new_id());
    append(ctx, stream, 0..3).await;
    tell(ctx, of, 1..=3).await;
    for to in [4, 1_000, 1_001, 5_000, i64::MAX] {
        assert_eq!(backward(ctx, stream, to, 2).await, [3, 2], "from {to}");
        assert_eq!(backward(ctx, fact_stream("order", of), to, 2).await, [3, 2], "facts from {to}");
        assert!(backward(ctx, new_stream(ctx), to, 2).await.is_empty());
    }
}

async fn backward_what_is_lost_hides_nothing_else(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    for _ in 0..3 {
        append(ctx, stream, 0..335).await;
    }
    lose(ctx, stream, [998]).await;
    assert_eq!(backward(ctx, stream, None, 8).await, [1_005, 1_004, 1_003, 1_002, 1_001, 1_000, 999, 997]);
    // All of the newest block.
    lose(ctx, stream, 1_001..=1_005).await;
    assert_eq!(backward(ctx, stream, None, 3).await, [1_000, 999, 997]);
    // Of facts nobody can say whether one is still to come: those behind it wait, as they do forward.
    let of = ctx.new_id();
    tell(ctx, of, [1, 2, 4, 5, 6]).await;
    assert_eq!(backward(ctx, fact_stream("order", of), 6, 10).await, [2, 1]);
    tell(ctx, of, [3]).await;
    assert_eq!(backward(ctx, fact_stream("order", of), 6, 10).await, [6, 5, 4, 3, 2, 1]);
}

async fn backward_an_append_is_seen_whole_wherever_it_was_stopped(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for steps in 0.. {
        let stream = new_stream(ctx);
        append(ctx, stream, [0]).await;
        let (doomed, faulty) = dying(target, &world, steps);
        let _ = events::append(&doomed, request(stream, Expected::Any, (0..3).map(noted).collect())).await;
        let version = events::get_stream(ctx, stream).await.unwrap().version;
        let wanted: Vec<i64> = (1..=version).rev().collect();
        assert_eq!(backward(ctx, stream, None, 10).await, wanted, "after {steps}");
        if !faulty.has_stopped() {
            break;
        }
    }
}

async fn a_stream_as_it_was_at_a_time(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    let begin = ctx.now();
    for n in 0..20 {
        append(ctx, stream, [n, n]).await;
        world.clock.advance_millis(1_000);
    }
    for (millis, version) in [(-1, 0), (0, 2), (999, 2), (1_000, 4), (18_999, 38), (19_000, 40), (9_999_999, 40)] {
        let time = Timestamp::from_millis(begin.millis() + millis);
        assert_eq!(events::version_at(ctx, stream, time).await.unwrap(), version, "{millis}");
    }
    assert_eq!(events::version_at(ctx, new_stream(ctx), begin).await.unwrap_err().code(), "stream_not_found");
}

async fn times_never_go_back_in_a_stream(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    let day = |days: i64| ctx.now().plus_seconds(days * 86_400);
    for days in [-30, -20, -25, -3] {
        let event = NewEvent { at: Some(day(days)), ..noted(days) };
        events::append(ctx, request(stream, Expected::Any, vec![event])).await.unwrap();
    }
    append(ctx, stream, [0]).await;
    world.clock.advance_millis(-5_000);
    append(ctx, stream, [1]).await;
    let page = events::list_events(ctx, stream, ReadStream::default()).await.unwrap();
    let times: Vec<i64> = page.events.iter().map(|event| event.event_timestamp.millis()).collect();
    let expected = [-30, -20, -20, -3, 0, 0].map(|days| day(days).millis() + 5_000);
    assert_eq!(times, expected);
    verify(ctx).await;
}

struct Reserved;

impl events::Aggregate for Reserved {
    fn kind(&self) -> &str {
        "vault"
    }

    fn is_reserved(&self) -> bool {
        true
    }

    fn fold(&self, _: Value, event: &Event) -> Result<Value, String> {
        event.data()
    }
}

async fn a_kind_stays_and_some_are_the_shops_own(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx.with_events(Registry::default().aggregate(Reserved));
    let stream = new_stream(ctx);
    append(ctx, stream, [1]).await;
    let of = |aggregate_id, kind: &str| {
        events::append(
            ctx,
            events::AppendRequest { aggregate_id, kind: kind.into(), expected: Expected::Any, events: vec![noted(1)] },
        )
    };
    let refused = of(stream, "order").await.unwrap_err();
    assert_eq!((refused.kind(), refused.to_string()), (Kind::Refused, format!("{stream} is a note, not a order")));
    let refused = of(new_stream(ctx), "vault").await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (Kind::Refused, "stream_reserved"));
    let refused = of(fact_stream("order", Uuid::nil()), "order").await.unwrap_err();
    assert!(matches!(refused, Error::ReservedStream { .. }), "{refused}");
    assert_ne!(fact_stream("order", Uuid::nil()), fact_stream("product", Uuid::nil()));
}

/// Takes from what is there, never more, twenty at once.
async fn a_domain_decides_on_what_it_keeps_beside_the_version(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx.with_events(Registry::default().aggregate(Reserved));
    let stream = new_stream(ctx);
    let put = |stream: &Stream| {
        assert_eq!(stream.version(), 0);
        Ok::<_, Error>(Change { events: vec![noted(50)].into(), state: Some("50".into()), answer: () })
    };
    events::change(ctx, stream, "vault", &[], put).await.unwrap();
    let take = async |id: EventId| {
        let decide = |stream: &Stream| {
            let there: i64 = stream.state().unwrap().parse().unwrap();
            if stream.known.contains_key(&id) {
                return Ok::<_, Error>(Change { events: Cow::default(), state: None, answer: true });
            }
            if there < 9 {
                return Ok(Change { events: Cow::default(), state: None, answer: false });
            }
            let events = vec![NewEvent::new("Taken", json!({ "number": 9 })).with_id(id)];
            Ok(Change { events: events.into(), state: Some((there - 9).to_string()), answer: true })
        };
        events::change(ctx, stream, "vault", &[id], decide).await
    };
    let ids: Vec<EventId> = (0..20).map(|_| EventId(ctx.new_id())).collect();
    let answers = futures::future::join_all(ids.iter().map(|id| take(*id))).await;
    let served: Vec<bool> = answers.into_iter().map(|answer| answer.unwrap().answer).collect();
    assert_eq!(served.iter().filter(|served| **served).count(), 5);
    let again = take(ids[served.iter().position(|served| *served).unwrap()]).await.unwrap();
    assert_eq!((again.answer, again.appended), (true, None));
    let head = events::get_stream(ctx, stream).await.unwrap();
    assert_eq!((head.version, head.state.as_deref()), (6, Some("5")));
}

async fn a_fact_is_told_in_the_commit_in_which_it_happens(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // Any guarded row of a domain will do.
    let of = ctx.new_id();
    for version in 1..=3 {
        let fact = Fact { kind: "order", of, version, at: ctx.now(), event: noted(version) };
        let row = merkato::claims::Claim {
            kind: merkato::claims::ClaimKind::OrderNumber,
            name: of.to_string(),
            owner: of,
            claimed_at: ctx.now(),
        };
        ctx.store.commit(events::tell(ctx, Commit::new().put(&row), &fact)).await.unwrap();
        world.clock.advance_millis(10);
    }
    let stream = fact_stream("order", of);
    let back = ReadStream { direction: Direction::Backward, ..ReadStream::default() };
    let page = events::list_events(ctx, stream, back).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.event_version).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(events::state_now(ctx, stream).await.unwrap().state, json!({ "number": 3 }));
    assert_eq!(read_feed(ctx, 0).await.len(), 3);
    verify(ctx).await;
}
