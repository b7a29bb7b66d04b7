//! Money from one wallet to another: both or neither, wherever it is stopped.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use merkato::{
    Context, Currency,
    flows::{
        Error,
        run::{self, Point, Watch},
        transfer::{Stage, Transfer, TransferRequest, transfer},
    },
    id::UserId,
    wallets::{self, EntryKind, Operation},
};
use rust_decimal::Decimal;
use widerow::{Commit, Row as _};
use widerow_testing::{Target, cases};

use super::{assert_sound, balance, cents, euro, holding, new_user};
use crate::{
    carts::dying,
    inventory::other_process,
    world::{World, raw_rows},
};

cases![
    money_goes_from_one_wallet_to_another,
    a_transfer_that_one_of_both_refuses_leaves_the_money_where_it_was,
    transfers_in_opposite_directions_both_end,
    a_transfer_that_is_stopped_anywhere_is_both_or_neither,
    a_transfer_whose_process_dies_at_any_request_is_both_or_neither,
];

fn request(ctx: &Context, from: UserId, to: UserId, cents: i64) -> TransferRequest {
    let (amount, currency, reason) = (Decimal::new(cents, 2), euro(), Some("a gift".into()));
    TransferRequest { transfer_id: ctx.new_id(), from, to, amount, currency, reason }
}

async fn money_goes_from_one_wallet_to_another(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (ada, bob) = (holding(ctx, 10_00).await, new_user(ctx));
    let wanted = request(ctx, ada, bob, 4_00);
    for _ in 0..3 {
        assert_eq!(transfer(ctx, wanted.clone()).await.unwrap().stage, Stage::Done);
        assert_eq!((balance(ctx, ada).await, balance(ctx, bob).await), (Decimal::new(600, 2), Decimal::new(400, 2)));
    }
    let lines = |user| async move { wallets::statement(ctx, user, None, 10).await.unwrap().lines };
    let (sent, received) = (&lines(ada).await[0], &lines(bob).await[0]);
    assert_eq!((sent.told.kind, sent.told.entry.peer), (EntryKind::TransferSent, Some(bob)));
    assert_eq!((received.told.kind, received.told.entry.peer), (EntryKind::TransferReceived, Some(ada)));
    let other = transfer(ctx, TransferRequest { to: new_user(ctx), ..wanted.clone() }).await;
    assert!(matches!(other, Err(Error::OtherRequest { .. })), "{other:?}");
    for (bad, field) in [
        (TransferRequest { to: ada, ..wanted.clone() }, "to"),
        (TransferRequest { amount: Decimal::ZERO, ..wanted.clone() }, "amount"),
        (TransferRequest { currency: Currency::new("€"), ..wanted }, "currency"),
    ] {
        let refused = transfer(ctx, bad).await;
        let Err(Error::Invalid(invalid)) = refused else { panic!("{refused:?}") };
        assert_eq!(invalid.fields[0].field, field);
    }
    assert_sound(ctx).await;
}

async fn a_transfer_that_one_of_both_refuses_leaves_the_money_where_it_was(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (ada, bob, jan) = (holding(ctx, 10_00).await, new_user(ctx), new_user(ctx));
    let crowns = Operation::new(ctx.new_id(), Decimal::TEN, Currency::new("CZK"));
    wallets::deposit(ctx, jan, crowns).await.unwrap();
    for wanted in [request(ctx, ada, bob, 10_01), request(ctx, ada, jan, 1_00)] {
        let first = transfer(ctx, wanted.clone()).await.unwrap_err();
        assert!(matches!(first, Error::TransferRefused { .. }), "{first:?}");
        // Also when it could be made by now.
        wallets::deposit(ctx, ada, cents(ctx, 5_00)).await.unwrap();
        assert_eq!(transfer(ctx, wanted.clone()).await.unwrap_err().to_string(), first.to_string());
        // And when nothing is left of the flow: the wallets know what became of it.
        for row in raw_rows(&world, run::FlowRow::table()).await {
            let flow = run::FlowRow::from_values(row).unwrap().flow_id;
            ctx.store.commit(Commit::new().delete::<run::FlowRow>(flow)).await.unwrap();
        }
        let again = tokio::time::timeout(Duration::from_secs(60), transfer(ctx, wanted)).await.expect("an end");
        assert!(matches!(again, Err(Error::TransferRefused { .. })), "{again:?}");
    }
    assert_eq!(balance(ctx, ada).await, Decimal::new(20_00, 2));
    assert_eq!((balance(ctx, bob).await, balance(ctx, jan).await), (Decimal::ZERO, Decimal::TEN));
    assert_sound(ctx).await;
}

async fn transfers_in_opposite_directions_both_end(target: &Target) {
    let world = World::new(target);
    let processes = [world.ctx.clone(), other_process(&world, target.engine())];
    let (ada, bob) = (holding(&world.ctx, 5_00).await, holding(&world.ctx, 5_00).await);
    let count = if target.name == "embedded" { 40 } else { 12 };
    let work = (0..count).map(|n| {
        let ctx = processes[n / 2 % 2].clone();
        let (from, to) = if n % 2 == 0 { (ada, bob) } else { (bob, ada) };
        tokio::spawn(async move {
            let wanted = request(&ctx, from, to, 50);
            loop {
                match transfer(&ctx, wanted.clone()).await {
                    Ok(Transfer { stage: Stage::Done, .. }) => return true,
                    Err(Error::TransferRefused { .. }) => return false,
                    Err(error) if error.kind() == merkato::Kind::Unavailable => {}
                    other => panic!("{other:?}"),
                }
            }
        })
    });
    let done = join_all(work).await.into_iter().filter(|done| *done.as_ref().expect("no panic")).count();
    assert!(done > 0);
    assert_eq!(balance(&world.ctx, ada).await + balance(&world.ctx, bob).await, Decimal::TEN);
    assert_sound(&world.ctx).await;
}

/// Sees the points that a flow comes by, and may stop it at one of them.
#[derive(Default)]
struct Stop {
    seen: Mutex<Vec<Point>>,
    at: Option<usize>,
    count: AtomicUsize,
}

impl Watch for Stop {
    fn stops(&self, point: Point) -> bool {
        self.seen.lock().expect("whole").push(point);
        self.at == Some(self.count.fetch_add(1, Ordering::SeqCst))
    }
}

/// Whoever finds them due goes on with them, until none is left.
async fn go_on(world: &World) {
    for _ in 0..4 {
        world.clock.advance_millis(1_000 * (world.ctx.settings.flows.lease_seconds + 1));
        let swept = run::resume_due(&world.ctx).await.expect("resumed");
        assert_eq!(swept.failed, 0, "{swept:?}");
    }
}

/// The wallets of a transfer of four euros: as it is wished, one that the sender refuses, one that the receiver refuses.
async fn people(ctx: &Context, way: usize) -> (UserId, UserId) {
    let from = holding(ctx, if way == 1 { 1_00 } else { 10_00 }).await;
    let to = new_user(ctx);
    if way == 2 {
        let crowns = Operation::new(ctx.new_id(), Decimal::TEN, Currency::new("CZK"));
        wallets::deposit(ctx, to, crowns).await.unwrap();
    }
    (from, to)
}

/// Both, or neither; which of them is told.
async fn ended(ctx: &Context, way: usize, (from, to): (UserId, UserId), why: &str) -> bool {
    let balances = (balance(ctx, from).await, balance(ctx, to).await);
    let amounts = |from: i64, to: i64| (Decimal::new(from, 2), Decimal::new(to, 2));
    let (neither, both) = match way {
        0 => (amounts(10_00, 0), amounts(6_00, 4_00)),
        1 => (amounts(1_00, 0), amounts(1_00, 0)),
        _ => (amounts(10_00, 10_00), amounts(10_00, 10_00)),
    };
    assert!(balances == neither || balances == both, "{why}: {balances:?}");
    way == 0 && balances == both
}

async fn a_transfer_that_is_stopped_anywhere_is_both_or_neither(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for way in 0..3 {
        let watch = Arc::new(Stop::default());
        let (from, to) = people(ctx, way).await;
        let answer = transfer(&ctx.with_watch(watch.clone()), request(ctx, from, to, 4_00)).await;
        let expected = answer.map(|done| done.stage).map_err(|error| error.to_string());
        let points = watch.seen.lock().expect("whole").clone();
        assert!(points.len() >= 6, "{points:?}");
        for (number, point) in points.into_iter().enumerate() {
            let (from, to) = people(ctx, way).await;
            let wanted = request(ctx, from, to, 4_00);
            let watch = Arc::new(Stop { at: Some(number), ..Stop::default() });
            let stopped = transfer(&ctx.with_watch(watch), wanted.clone()).await;
            assert!(matches!(stopped, Err(Error::Stopped { .. })), "{point:?}: {stopped:?}");
            go_on(&world).await;
            assert_eq!(ended(ctx, way, (from, to), &format!("{point:?}")).await, way == 0, "{point:?}");
            let again = transfer(ctx, wanted).await;
            assert_eq!(again.map(|done| done.stage).map_err(|error| error.to_string()), expected, "{point:?}");
        }
    }
    assert_sound(ctx).await;
}

async fn a_transfer_whose_process_dies_at_any_request_is_both_or_neither(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stride = if target.name == "embedded" { 1 } else { 3 };
    let mut done = 0;
    for steps in (0..).step_by(stride) {
        let (from, to) = people(ctx, 0).await;
        let (doomed, faulty) = dying(target, &world, steps);
        let answer = transfer(&doomed, request(ctx, from, to, 4_00)).await;
        assert!(answer.is_err() || ended(ctx, 0, (from, to), "acknowledged").await, "an answer is true");
        go_on(&world).await;
        done += usize::from(ended(ctx, 0, (from, to), &format!("after {steps} requests")).await);
        if !faulty.has_stopped() {
            break;
        }
    }
    assert!(done > 1, "some that were stopped went on");
    assert_sound(ctx).await;
}
