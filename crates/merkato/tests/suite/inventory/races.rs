//! Many at once.

use futures::future::join_all;
use merkato::{
    Context,
    id::{HoldId, ProductId},
    inventory::{self, Error, HoldState, Line},
};
use widerow::meter;
use widerow_testing::{Target, cases};

use super::{MAIN, assert_sound, figures, new_hold, other_process, reserve, stocked};
use crate::world::{World, patiently};

cases![
    of_200_shoppers_at_once_100_get_the_100_units,
    of_200_shoppers_of_two_processes_100_get_the_100_units,
    requests_that_come_together_are_committed_together,
    one_hold_that_is_asked_for_many_times_at_once_is_taken_once,
    of_two_who_want_the_last_of_everything_one_gets_all_of_it,
    a_shopper_who_goes_away_stalls_nobody,
    what_is_confirmed_twice_at_once_is_had_as_a_whole_or_not_at_all,
];

/// Whether the shopper got a unit.
async fn buy(ctx: &Context, product: ProductId, hold: HoldId) -> bool {
    match patiently(|| reserve(ctx, product, hold, 1), Error::kind).await {
        Ok(_) => {}
        Err(Error::InsufficientStock { .. }) => return false,
        Err(other) => panic!("{other}"),
    }
    let sold = patiently(|| inventory::confirm(ctx, product, hold), Error::kind).await.unwrap();
    sold.state == HoldState::Confirmed
}

async fn rush(contexts: &[Context], product: ProductId) {
    let shoppers = (0..200).map(|n| {
        let ctx = contexts[n % contexts.len()].clone();
        let hold = new_hold(&ctx);
        tokio::spawn(async move { buy(&ctx, product, hold).await })
    });
    let shoppers: Vec<_> = shoppers.collect();
    let served = join_all(shoppers).await.into_iter().filter(|bought| *bought.as_ref().unwrap()).count();
    assert_eq!(served, 100);
    assert_eq!(figures(&contexts[0], product).await, (0, 0));
    assert_sound(&contexts[0], product).await;
}

async fn of_200_shoppers_at_once_100_get_the_100_units(target: &Target) {
    let world = World::new(target);
    let product = stocked(&world.ctx, &[("east", 60), ("west", 40)]).await;
    rush(&[world.ctx], product).await;
}

async fn of_200_shoppers_of_two_processes_100_get_the_100_units(target: &Target) {
    let world = World::new(target);
    let product = stocked(&world.ctx, &[(MAIN, 100)]).await;
    let other = other_process(&world, target.engine());
    rush(&[world.ctx, other], product).await;
}

async fn requests_that_come_together_are_committed_together(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 60)]).await;
    let asked = (0..64).map(|_| reserve(ctx, product, new_hold(ctx), 1));
    let (answers, cost) = meter::measure(join_all(asked)).await;
    let (held, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((held.len(), refused.len()), (60, 4));
    assert!((1..=8).contains(&cost.conditional_writes), "{cost}");
    // Each group is decided in order: the hold that is asked for, confirmed and released in one of them.
    let hold = held[0].as_ref().unwrap().hold_id;
    let (confirmed, again, released) = tokio::join!(
        inventory::confirm(ctx, product, hold),
        inventory::confirm(ctx, product, hold),
        inventory::release(ctx, product, hold)
    );
    assert_eq!(confirmed.unwrap().state, again.unwrap().state);
    assert!(matches!(released, Err(Error::HoldConfirmed { .. })), "{released:?}");
    assert_eq!(figures(ctx, product).await, (59, 59));
    assert_sound(ctx, product).await;
}

async fn one_hold_that_is_asked_for_many_times_at_once_is_taken_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 10)]).await;
    let hold = new_hold(ctx);
    let other = other_process(&world, target.engine());
    let asked = (0..16).map(|n| reserve(if n % 2 == 0 { ctx } else { &other }, product, hold, 3));
    for answer in join_all(asked).await {
        assert_eq!(answer.unwrap().quantity, 3);
    }
    assert_eq!(figures(ctx, product).await, (10, 3));
}

async fn of_two_who_want_the_last_of_everything_one_gets_all_of_it(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let other = other_process(&world, target.engine());
    let (a, b, c) = tokio::join!(stocked(ctx, &[(MAIN, 1)]), stocked(ctx, &[(MAIN, 1)]), stocked(ctx, &[(MAIN, 1)]));
    let lines = |products: [ProductId; 3]| products.map(|product_id| Line { product_id, quantity: 1 });
    let (mine, yours) = (lines([a, b, c]), lines([c, a, b]));
    let (first, second) = tokio::join!(
        inventory::reserve_lines(ctx, new_hold(ctx), &mine, None),
        inventory::reserve_lines(&other, new_hold(ctx), &yours, None)
    );
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    for product in [a, b, c] {
        assert_eq!(figures(ctx, product).await, (1, 1));
        assert_sound(ctx, product).await;
    }
}

async fn a_shopper_who_goes_away_stalls_nobody(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 50)]).await;
    for _ in 0..5 {
        let gone = reserve(ctx, product, new_hold(ctx), 1);
        let stays = reserve(ctx, product, new_hold(ctx), 1);
        let gone = tokio::time::timeout(std::time::Duration::from_micros(100), gone);
        let (_, held) = tokio::join!(gone, stays);
        held.unwrap();
    }
    assert_sound(ctx, product).await;
}

/// The second product's hold has ended, and its unit comes and goes while both confirm.
async fn what_is_confirmed_twice_at_once_is_had_as_a_whole_or_not_at_all(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for _ in 0..5 {
        let (mut first, mut second) = (stocked(ctx, &[(MAIN, 1)]).await, stocked(ctx, &[(MAIN, 1)]).await);
        if second < first {
            std::mem::swap(&mut first, &mut second);
        }
        let (hold, rival) = (new_hold(ctx), new_hold(ctx));
        let lines = [first, second].map(|product_id| Line { product_id, quantity: 1 });
        inventory::reserve_lines(ctx, hold, &lines, None).await.unwrap();
        world.clock.advance_millis(1_000_000);
        reserve(ctx, second, rival, 1).await.unwrap();
        let other = other_process(&world, target.engine());
        let products = [first, second];
        let (one, two, _) = tokio::join!(
            inventory::confirm_lines(ctx, hold, &products),
            inventory::confirm_lines(&other, hold, &products),
            inventory::release(&other, second, rival)
        );
        let states = [first, second].map(|product| inventory::find_hold(ctx, product, hold));
        let states: Vec<_> = join_all(states).await.into_iter().map(|hold| hold.unwrap().unwrap().state).collect();
        if one.is_ok() || two.is_ok() {
            assert_eq!(states, [HoldState::Confirmed; 2]);
        } else {
            assert!(!states.contains(&HoldState::Confirmed), "{states:?}, {one:?}, {two:?}");
            assert_eq!(figures(ctx, first).await, (1, 0));
        }
        assert_sound(ctx, first).await;
        assert_sound(ctx, second).await;
    }
}
