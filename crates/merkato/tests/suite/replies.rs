//! Answers that are kept under idempotency keys, on every engine.

use std::sync::Arc;

use futures::future::join_all;
use merkato::{
    Context, Kind, Settings, limits,
    replies::{self, Begun, PATTERNS, Reply, Ticket},
};
use widerow::{
    Engine,
    faulty::{Faults, Faulty},
    meter::measure,
};
use widerow_testing::{Target, cases};

use crate::{
    inventory::other_process,
    world::{World, patiently, raw_rows},
};

cases![
    what_was_answered_is_answered_again,
    another_request_under_the_key_is_told_so,
    of_many_who_begin_at_once_one_runs,
    who_comes_after_the_lease_takes_over_and_one_alone,
    a_ticket_that_was_taken_over_changes_nothing,
    what_is_forgotten_is_begun_anew,
    an_answer_too_large_is_remembered_as_such,
    any_text_is_a_key_and_none_is_anothers,
    everything_goes_after_a_day,
    answers_of_the_engine_that_are_lost_leave_one_who_runs,
    bad_input_begins_nothing,
];

const SCOPE: &str = "user 1 POST /v1/things";

fn reply() -> Reply {
    Reply {
        status: 201,
        headers: vec![("content-type".into(), "application/json".into()), ("location".into(), "/ä".into())],
        body: b"{\"id\": 1}\0\xff".to_vec(),
    }
}

async fn begin(ctx: &Context, key: &str) -> Begun {
    replies::begin(ctx, SCOPE, key, "asked").await.expect("answered")
}

async fn ticket(ctx: &Context, key: &str) -> Ticket {
    match begin(ctx, key).await {
        Begun::New(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

async fn what_was_answered_is_answered_again(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for reply in [reply(), Reply { status: 204, ..Reply::default() }] {
        let key = reply.status.to_string();
        let ticket = ticket(ctx, &key).await;
        let until = ctx.now().plus_seconds(ctx.settings.replies.lease_seconds);
        assert_eq!(ticket.until(), until);
        assert!(matches!(begin(ctx, &key).await, Begun::Running { until: told } if told == until));
        replies::keep(ctx, ticket, &reply).await.expect("kept");
        world.clock.advance_millis(80_000_000);
        for _ in 0..2 {
            let (begun, cost) = measure(begin(ctx, &key)).await;
            assert!(matches!(begun, Begun::Done(kept) if kept == reply));
            assert!(PATTERNS[0].cost.admits(&cost, 1), "{cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{cost}");
        }
    }
}

async fn another_request_under_the_key_is_told_so(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let other = || async { replies::begin(ctx, SCOPE, "key", "asked otherwise").await.expect("answered") };
    let ticket = ticket(ctx, "key").await;
    assert!(matches!(other().await, Begun::Other));
    // Also when nobody runs it any more.
    world.clock.advance_millis(61_000);
    assert!(matches!(other().await, Begun::Other));
    replies::keep(ctx, ticket, &reply()).await.expect("kept");
    assert!(matches!(other().await, Begun::Other));
    // Another's key of the same name is another key.
    let scope = replies::begin(ctx, "user 2 POST /v1/things", "key", "asked otherwise").await.expect("answered");
    assert!(matches!(scope, Begun::New(_)));
}

/// Of those who begin, the tickets; all others are told that it runs.
fn tickets(begun: Vec<Begun>) -> Vec<Ticket> {
    let ticket = |begun| match begun {
        Begun::New(ticket) => Some(ticket),
        Begun::Running { .. } => None,
        other => panic!("{other:?}"),
    };
    begun.into_iter().filter_map(ticket).collect()
}

/// Many at once, in two processes.
async fn begin_at_once(world: &World, other: &Context, key: &str) -> Vec<Begun> {
    let tries = (0..40).map(|i| {
        let ctx = if i % 2 == 0 { world.ctx.clone() } else { other.clone() };
        let key = key.to_owned();
        tokio::spawn(async move {
            patiently(|| replies::begin(&ctx, SCOPE, &key, "asked"), replies::Error::kind).await.expect("answered")
        })
    });
    join_all(tries).await.into_iter().map(|begun| begun.expect("it ran")).collect()
}

async fn of_many_who_begin_at_once_one_runs(target: &Target) {
    let world = World::new(target);
    let other = other_process(&world, target.engine());
    let mut tickets = tickets(begin_at_once(&world, &other, "key").await);
    assert_eq!(tickets.len(), 1);
    replies::keep(&world.ctx, tickets.remove(0), &reply()).await.expect("kept");
    assert!(matches!(begin(&other, "key").await, Begun::Done(kept) if kept == reply()));
}

async fn who_comes_after_the_lease_takes_over_and_one_alone(target: &Target) {
    let world = World::new(target);
    let other = other_process(&world, target.engine());
    let lost = ticket(&world.ctx, "key").await;
    world.clock.advance_millis(59_999);
    assert!(matches!(begin(&other, "key").await, Begun::Running { .. }));
    world.clock.advance_millis(1);
    let tickets = tickets(begin_at_once(&world, &other, "key").await);
    assert_eq!(tickets.len(), 1);
    replies::keep(&world.ctx, lost, &reply()).await.expect("nothing is done");
    assert!(matches!(begin(&other, "key").await, Begun::Running { .. }));
}

async fn a_ticket_that_was_taken_over_changes_nothing(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for keeps in [true, false] {
        let key = format!("key {keeps}");
        let end = |ticket, reply: Reply| async move {
            match keeps {
                true => replies::keep(ctx, ticket, &reply).await.expect("told"),
                false => replies::forget(ctx, ticket).await.expect("told"),
            }
        };
        let (first, third) = {
            let first = ticket(ctx, &key).await;
            world.clock.advance_millis(60_000);
            let second = ticket(ctx, &key).await;
            world.clock.advance_millis(60_000);
            let third = ticket(ctx, &key).await;
            end(second, Reply { status: 500, ..Reply::default() }).await;
            (first, third)
        };
        assert!(matches!(begin(ctx, &key).await, Begun::Running { .. }));
        replies::keep(ctx, third, &reply()).await.expect("kept");
        end(first, Reply { status: 500, ..Reply::default() }).await;
        assert!(matches!(begin(ctx, &key).await, Begun::Done(kept) if kept == reply()));
    }
    // One whose lease is over and whom nobody took over is still the one.
    let late = ticket(ctx, "late").await;
    world.clock.advance_millis(600_000);
    replies::keep(ctx, late, &reply()).await.expect("kept");
    assert!(matches!(begin(ctx, "late").await, Begun::Done(_)));
}

async fn what_is_forgotten_is_begun_anew(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let first = ticket(ctx, "key").await;
    replies::forget(ctx, first).await.expect("forgotten");
    assert_eq!(raw_rows(&world, <replies::ReplyRow as widerow::Row>::table()).await.len(), 0);
    // As another request, too.
    let begun = replies::begin(ctx, SCOPE, "key", "asked otherwise").await.expect("answered");
    assert!(matches!(begun, Begun::New(_)));
}

async fn an_answer_too_large_is_remembered_as_such(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let largest = Reply { status: 200, headers: Vec::new(), body: vec![7; limits::REPLY_BYTES_MAX] };
    let first = ticket(ctx, "fits").await;
    replies::keep(ctx, first, &largest).await.expect("kept");
    assert!(matches!(begin(ctx, "fits").await, Begun::Done(kept) if kept == largest));
    let second = ticket(ctx, "does not").await;
    let larger = Reply { headers: vec![("a".into(), String::new())], ..largest };
    replies::keep(ctx, second, &larger).await.expect("kept");
    assert!(matches!(begin(ctx, "does not").await, Begun::TooLarge));
    let other = replies::begin(ctx, SCOPE, "does not", "asked otherwise").await.expect("answered");
    assert!(matches!(other, Begun::Other));
    // So many headers fit a row as well.
    let headers = vec![("x".repeat(20), "y".repeat(2_500)); limits::REPLY_HEADERS_MAX];
    let third = ticket(ctx, "headers").await;
    replies::keep(ctx, third, &Reply { status: 200, headers: headers.clone(), body: Vec::new() }).await.expect("kept");
    assert!(matches!(begin(ctx, "headers").await, Begun::Done(kept) if kept.headers == headers));
}

async fn any_text_is_a_key_and_none_is_anothers(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let long = "ü".repeat(255);
    let texts = [" ", "\0", "#", "/", "a", "A", "<script>", "TENANT#x#", long.as_str()];
    for key in texts {
        for scope in ["", "s", "sa"] {
            let begun = replies::begin(ctx, scope, key, "asked").await.expect("answered");
            assert!(matches!(begun, Begun::New(_)), "{scope:?} {key:?}");
        }
    }
    // Where the scope ends and the key begins is a part of both.
    assert!(matches!(replies::begin(ctx, "sa", "b", "asked").await.expect("answered"), Begun::New(_)));
    assert!(matches!(replies::begin(ctx, "s", "ab", "asked").await.expect("answered"), Begun::New(_)));
    let other = World::new(target);
    assert!(matches!(replies::begin(&other.ctx, "s", "ab", "asked").await.expect("answered"), Begun::New(_)));
}

async fn everything_goes_after_a_day(target: &Target) {
    let mut settings = Settings::default();
    settings.replies.memory_seconds = 1_000;
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    let kept = ticket(ctx, "kept").await;
    let lost = ticket(ctx, "lost").await;
    world.clock.advance_millis(500_000);
    replies::keep(ctx, kept, &reply()).await.expect("kept");
    world.clock.advance_millis(500_000);
    // From the answer on; and what was never answered, from the beginning.
    assert!(matches!(begin(ctx, "kept").await, Begun::Done(_)));
    let other = replies::begin(ctx, SCOPE, "lost", "asked otherwise").await.expect("answered");
    assert!(matches!(other, Begun::New(_)));
    replies::keep(ctx, lost, &reply()).await.expect("nothing is done");
    world.clock.advance_millis(500_000);
    assert!(matches!(begin(ctx, "kept").await, Begun::New(_)));
    assert_eq!(Settings::default().replies.memory_seconds, 86_400);
}

async fn answers_of_the_engine_that_are_lost_leave_one_who_runs(target: &Target) {
    let world = World::new(target);
    for seed in 0..8 {
        let faults = Faults { seed, time_out_after: 0.3, apply_late: 0.1, ..Faults::default() };
        let faulty: Arc<dyn Engine> = Arc::new(Faulty::new(target.engine(), faults));
        let ctx = other_process(&world, faulty);
        let key = format!("key {seed}");
        let mut tickets = tickets(begin_at_once(&world, &ctx, &key).await);
        // A ticket that was lost with its answer ends with its lease.
        assert!(tickets.len() <= 1, "seed {seed}: {tickets:?}");
        let ticket = match tickets.pop() {
            Some(ticket) => ticket,
            None => {
                world.clock.advance_millis(60_000);
                ticket(&world.ctx, &key).await
            }
        };
        replies::keep(&world.ctx, ticket, &reply()).await.expect("kept");
        assert!(matches!(begin(&world.ctx, &key).await, Begun::Done(_)));
    }
}

async fn bad_input_begins_nothing(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let long = "k".repeat(256);
    for key in ["", &long] {
        let refused = replies::begin(ctx, SCOPE, key, "asked").await.expect_err("bad");
        assert_eq!((refused.code(), refused.kind()), ("invalid", Kind::Invalid));
        assert!(refused.to_string().starts_with("key: "), "{refused}");
    }
    assert_eq!(raw_rows(&world, <replies::ReplyRow as widerow::Row>::table()).await.len(), 0);
}
