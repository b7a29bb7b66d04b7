//! What every access pattern of wallets costs: as its declaration says, with few entries and with many.

use merkato::{
    events,
    wallets::{self, PATTERNS},
};
use widerow::meter::{Cost, measure};
use widerow_testing::{Target, cases};

use super::{cents, holding};
use crate::world::World;

cases![every_pattern_costs_what_it_says_whatever_the_number_of_entries, a_withdrawal_is_one_conditional_write];

const PAGE: usize = 2;

async fn every_pattern_costs_what_it_says_whatever_the_number_of_entries(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = holding(ctx, 100_000).await;
    let mut measured: Vec<Vec<(&str, u64, Cost)>> = Vec::new();
    for _ in 0..2 {
        let some = (0..60).map(|_| wallets::withdraw(ctx, user, cents(ctx, 1)));
        futures::future::try_join_all(some).await.unwrap();
        events::sequence_all(ctx, |_| {}).await.unwrap();
        events::project_all(ctx).await.unwrap();
        let (wallet, of_wallet) = measure(wallets::get_wallet(ctx, user)).await;
        assert!(wallet.unwrap().transactions > 60);
        let (page, of_page) = measure(wallets::statement(ctx, user, None, PAGE)).await;
        assert_eq!(page.unwrap().lines.len(), PAGE);
        let (row, of_row) = measure(wallets::find_balance(ctx, user)).await;
        assert!(row.unwrap().is_some());
        measured.push(vec![("E0 wallet", 1, of_wallet), ("E1 wallet", PAGE as u64, of_page), ("E10", 1, of_row)]);
    }
    for ((name, rows, few), (_, _, many)) in measured[0].iter().zip(&measured[1]) {
        let pattern = PATTERNS.iter().find(|pattern| pattern.name == *name).expect(name);
        for cost in [few, many] {
            assert!(pattern.cost.admits(cost, *rows), "{name}: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
        assert_eq!((few.partitions_read, few.round_trips), (many.partitions_read, many.round_trips), "{name}");
    }
    let names: Vec<_> = measured[0].iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, PATTERNS.iter().map(|pattern| pattern.name).collect::<Vec<_>>(), "every pattern is measured");
}

async fn a_withdrawal_is_one_conditional_write(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = holding(ctx, 10_00).await;
    let (told, cost) = measure(wallets::withdraw(ctx, user, cents(ctx, 1))).await;
    told.unwrap();
    assert_eq!(cost.conditional_writes, 1, "{cost}");
}
