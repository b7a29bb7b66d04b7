//! Many at once, in two processes.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use merkato::wallets::{self, Error};
use rust_decimal::Decimal;
use widerow::meter;
use widerow_testing::{Target, cases};

use super::{assert_sound, balance, cents, holding, under};
use crate::{
    inventory::other_process,
    world::{World, patiently},
};

cases![
    a_thousand_withdrawals_at_once_never_overdraw,
    one_operation_that_is_asked_for_many_times_at_once_is_made_once,
    wishes_that_come_together_are_committed_together,
    a_withdrawal_that_is_given_up_while_it_is_made_is_one_of_both,
];

/// A thousand want a cent each of six hundred.
async fn a_thousand_withdrawals_at_once_never_overdraw(target: &Target) {
    let world = World::new(target);
    let user = holding(&world.ctx, 600).await;
    let processes = [world.ctx.clone(), other_process(&world, target.engine())];
    let wanted = (0..1_000).map(|n| {
        let ctx = processes[n % 2].clone();
        tokio::spawn(async move {
            let one = cents(&ctx, 1);
            match patiently(|| wallets::withdraw(&ctx, user, one.clone()), Error::kind).await {
                Ok(_) => true,
                Err(Error::InsufficientFunds { .. }) => false,
                Err(other) => panic!("{other}"),
            }
        })
    });
    let served: Vec<bool> =
        stream::iter(wanted).buffer_unordered(1_000).map(|got| got.expect("no panic")).collect().await;
    assert_eq!(served.into_iter().filter(|served| *served).count(), 600);
    assert_eq!(balance(&world.ctx, user).await, Decimal::ZERO);
    assert_eq!(assert_sound(&world.ctx).await.entries, 601);
}

async fn one_operation_that_is_asked_for_many_times_at_once_is_made_once(target: &Target) {
    let world = World::new(target);
    let user = holding(&world.ctx, 10_00).await;
    let (here, there) = (&world.ctx, &other_process(&world, target.engine()));
    let id = here.new_id();
    let asked = (0..16).map(|n| {
        let ctx = if n % 2 == 0 { here } else { there };
        patiently(move || wallets::withdraw(ctx, user, under(id, 3_00)), Error::kind)
    });
    for answer in futures::future::join_all(asked).await {
        assert_eq!(answer.unwrap().entry.balance, Decimal::new(7_00, 2));
    }
    assert_eq!(balance(here, user).await, Decimal::new(7_00, 2));
    assert_eq!(assert_sound(here).await.entries, 2);
}

async fn wishes_that_come_together_are_committed_together(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = holding(ctx, 60).await;
    let asked = (0..64).map(|_| wallets::withdraw(ctx, user, cents(ctx, 1)));
    let (answers, cost) = meter::measure(futures::future::join_all(asked)).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 60);
    assert!((1..=8).contains(&cost.conditional_writes), "{cost}");
    assert_sound(ctx).await;
}

async fn a_withdrawal_that_is_given_up_while_it_is_made_is_one_of_both(target: &Target) {
    let world = World::new(target);
    let (here, there) = (&world.ctx, &other_process(&world, target.engine()));
    for round in 0..10 {
        let user = holding(here, 10_00).await;
        let id = here.new_id();
        let late = async {
            tokio::time::sleep(Duration::from_micros(200 * round)).await;
            wallets::give_back(there, user, id).await
        };
        let (made, given_up) = tokio::join!(wallets::withdraw(here, user, under(id, 4_00)), late);
        given_up.unwrap();
        assert!(made.is_ok() || matches!(made, Err(Error::OperationVoided { .. })), "{made:?}");
        assert_eq!(balance(here, user).await, Decimal::TEN);
    }
    assert_sound(here).await;
}
