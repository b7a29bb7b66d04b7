//! Holds on one product, from their beginning to their end.

use std::collections::BTreeMap;

use merkato::{
    PageRequest, Settings,
    id::ProductId,
    inventory::{self, Availability, Error, HoldState, Note, Reserve, Shortage},
    settings::WarehouseRule,
};
use widerow_testing::{Target, cases};

use super::{MAIN, assert_sound, figures, new_hold, new_movement, reserve, stocked};
use crate::world::World;

cases![
    a_hold_ends_at_its_instant_without_a_sweep,
    everything_that_is_asked_twice_changes_once,
    the_release_of_an_ended_hold_gives_nothing_back,
    an_ended_hold_is_confirmed_if_its_units_are_free,
    a_hold_is_extended_up_to_a_cap,
    a_line_is_split_over_warehouses_where_none_has_enough,
    uncounted_products_and_backorders_are_never_short,
    holds_are_remembered_for_days_and_listed_without_movements,
    availability_is_told_when_it_changes,
    holds_are_counted_by_what_became_of_them,
];

async fn a_hold_ends_at_its_instant_without_a_sweep(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 1)]).await;
    let request = Reserve { product_id: product, hold_id: new_hold(ctx), quantity: 1, seconds: Some(60) };
    let hold = inventory::reserve(ctx, request).await.unwrap();
    let left = hold.ends_at.millis() - ctx.now().millis();
    assert!((60_000..70_000).contains(&left), "{left}");
    world.clock.advance_millis(left - 1);
    assert_eq!(figures(ctx, product).await, (1, 1));
    let refused = reserve(ctx, product, new_hold(ctx), 1).await;
    let Err(Error::InsufficientStock { short }) = refused else { panic!("{refused:?}") };
    assert_eq!(short, [Shortage { product, wanted: 1, available: 0 }]);
    world.clock.advance_millis(1);
    assert_eq!(figures(ctx, product).await, (1, 0));
    reserve(ctx, product, new_hold(ctx), 1).await.unwrap();
    assert_eq!(figures(ctx, product).await, (1, 1));
    assert_sound(ctx, product).await;
}

async fn everything_that_is_asked_twice_changes_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = ProductId(ctx.new_id());
    let (delivery, count, transfer) = (new_movement(ctx), new_movement(ctx), new_movement(ctx));
    let (hold, other) = (new_hold(ctx), new_hold(ctx));
    let note = || Note { actor: Some("ada".into()), reason: Some("count".into()) };
    for _ in 0..2 {
        inventory::restock(ctx, delivery, product, "a", 10, note()).await.unwrap();
        assert_eq!(figures(ctx, product).await, (10, 0));
    }
    for _ in 0..2 {
        inventory::adjust(ctx, count, product, "a", -2, note()).await.unwrap();
        assert_eq!(figures(ctx, product).await, (8, 0));
    }
    for _ in 0..2 {
        let moved = inventory::transfer(ctx, transfer, product, ("a", "b"), 3, note()).await.unwrap();
        let levels: Vec<_> = moved.stock.warehouses.iter().map(|level| level.quantity).collect();
        assert_eq!(levels, [5, 3]);
    }
    let first = reserve(ctx, product, hold, 2).await.unwrap();
    assert_eq!(reserve(ctx, product, hold, 2).await.unwrap(), first);
    assert!(matches!(reserve(ctx, product, hold, 3).await, Err(Error::HoldMismatch { held: 2, wanted: 3, .. })));
    assert_eq!(figures(ctx, product).await, (8, 2));
    for _ in 0..2 {
        assert_eq!(inventory::confirm(ctx, product, hold).await.unwrap().state, HoldState::Confirmed);
        assert_eq!(figures(ctx, product).await, (6, 0));
    }
    assert!(matches!(inventory::release(ctx, product, hold).await, Err(Error::HoldConfirmed { .. })));
    for _ in 0..2 {
        assert_eq!(inventory::give_back(ctx, product, hold).await.unwrap().state, HoldState::Returned);
        assert_eq!(figures(ctx, product).await, (8, 0));
    }
    reserve(ctx, product, other, 8).await.unwrap();
    for _ in 0..2 {
        assert_eq!(inventory::release(ctx, product, other).await.unwrap().state, HoldState::Released);
        assert_eq!(figures(ctx, product).await, (8, 0));
    }
    assert!(matches!(reserve(ctx, product, other, 8).await, Err(Error::HoldReleased { .. })));
    assert!(matches!(inventory::confirm(ctx, product, new_hold(ctx)).await, Err(Error::HoldNotFound { .. })));
    assert_sound(ctx, product).await;
}

async fn the_release_of_an_ended_hold_gives_nothing_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 1)]).await;
    let (slow, quick) = (new_hold(ctx), new_hold(ctx));
    reserve(ctx, product, slow, 1).await.unwrap();
    world.clock.advance_millis(1_000_000);
    reserve(ctx, product, quick, 1).await.unwrap();
    assert!(matches!(inventory::confirm(ctx, product, slow).await, Err(Error::HoldEnded { .. })));
    inventory::release(ctx, product, slow).await.unwrap();
    assert_eq!(figures(ctx, product).await, (1, 1));
    assert!(matches!(reserve(ctx, product, new_hold(ctx), 1).await, Err(Error::InsufficientStock { .. })));
    inventory::confirm(ctx, product, quick).await.unwrap();
    assert_eq!(figures(ctx, product).await, (0, 0));
    assert_sound(ctx, product).await;
}

async fn an_ended_hold_is_confirmed_if_its_units_are_free(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 2)]).await;
    let hold = new_hold(ctx);
    reserve(ctx, product, hold, 2).await.unwrap();
    world.clock.advance_millis(1_000_000);
    assert!(matches!(reserve(ctx, product, hold, 2).await, Err(Error::HoldEnded { .. })));
    inventory::confirm(ctx, product, hold).await.unwrap();
    assert_eq!(figures(ctx, product).await, (0, 0));
    assert_sound(ctx, product).await;
}

async fn a_hold_is_extended_up_to_a_cap(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 1)]).await;
    let hold = new_hold(ctx);
    let first = reserve(ctx, product, hold, 1).await.unwrap();
    let same = inventory::extend(ctx, product, hold, ctx.now()).await.unwrap();
    assert_eq!(same.ends_at, first.ends_at);
    let longer = inventory::extend(ctx, product, hold, ctx.now().plus_seconds(1_800)).await.unwrap();
    assert!(longer.ends_at > first.ends_at);
    let longest = inventory::extend(ctx, product, hold, ctx.now().plus_seconds(1_000_000)).await.unwrap();
    let left = longest.ends_at.millis() - ctx.now().millis();
    assert!((3_600_000..3_610_000).contains(&left), "{left}");
    world.clock.advance_millis(left - 1);
    assert_eq!(figures(ctx, product).await, (1, 1));
    world.clock.advance_millis(1);
    assert_eq!(figures(ctx, product).await, (1, 0));
    let late = inventory::extend(ctx, product, hold, ctx.now().plus_seconds(60)).await;
    assert!(matches!(late, Err(Error::HoldEnded { .. })), "{late:?}");
    // One that has ended before its longest time is taken again, if it can be.
    let (lapsed, rival) = (new_hold(ctx), new_hold(ctx));
    reserve(ctx, product, lapsed, 1).await.unwrap();
    world.clock.advance_millis(1_000_000);
    let until = ctx.now().plus_seconds(600);
    assert!(inventory::extend(ctx, product, lapsed, until).await.unwrap().is_in_force(ctx.now()));
    world.clock.advance_millis(700_000);
    reserve(ctx, product, rival, 1).await.unwrap();
    let refused = inventory::extend(ctx, product, lapsed, ctx.now().plus_seconds(600)).await;
    assert!(matches!(refused, Err(Error::HoldEnded { .. })), "{refused:?}");
    assert_sound(ctx, product).await;
}

async fn a_line_is_split_over_warehouses_where_none_has_enough(target: &Target) {
    let mut settings = Settings::default();
    settings.inventory.warehouse_rule = WarehouseRule::Priority(vec!["b".into(), "a".into()]);
    let (most, first) = (World::new(target), World::with(target, settings));
    for (world, whole, split) in [(&most, "c", "b2 c5"), (&first, "c", "a1 b2 c4")] {
        let ctx = &world.ctx;
        let product = stocked(ctx, &[("a", 1), ("b", 2), ("c", 5)]).await;
        let hold = reserve(ctx, product, new_hold(ctx), 4).await.unwrap();
        assert_eq!(hold.allocations, BTreeMap::from([(whole.to_owned(), 4)]));
        inventory::release(ctx, product, hold.hold_id).await.unwrap();
        let hold = reserve(ctx, product, new_hold(ctx), 7).await.unwrap();
        let parts: Vec<_> = hold.allocations.iter().map(|(name, units)| format!("{name}{units}")).collect();
        assert_eq!(parts.join(" "), split);
        inventory::confirm(ctx, product, hold.hold_id).await.unwrap();
        assert_eq!(figures(ctx, product).await, (1, 0));
        inventory::give_back(ctx, product, hold.hold_id).await.unwrap();
        let stock = inventory::get_stock(ctx, product).await.unwrap();
        let levels: Vec<_> = stock.warehouses.iter().map(|level| (level.quantity, level.reserved)).collect();
        assert_eq!(levels, [(1, 0), (2, 0), (5, 0)]);
        assert_sound(ctx, product).await;
    }
}

async fn uncounted_products_and_backorders_are_never_short(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let download = ProductId(ctx.new_id());
    let unknown = inventory::get_stock(ctx, download).await.unwrap();
    assert!(unknown.is_unknown() && unknown.availability() == Availability::OutOfStock);
    assert!(matches!(reserve(ctx, download, new_hold(ctx), 1).await, Err(Error::InsufficientStock { .. })));
    for became in [Some(Availability::InStock), None] {
        assert_eq!(inventory::set_policy(ctx, download, false, false).await.unwrap().became, became);
    }
    let stock = inventory::get_stock(ctx, download).await.unwrap();
    assert!(!stock.tracked && !stock.is_unknown() && stock.availability() == Availability::InStock);
    let hold = reserve(ctx, download, new_hold(ctx), 1_000_000).await.unwrap();
    assert_eq!((hold.quantity, hold.allocations.len()), (1_000_000, 0));
    inventory::confirm(ctx, download, hold.hold_id).await.unwrap();
    inventory::give_back(ctx, download, hold.hold_id).await.unwrap();
    let chair = stocked(ctx, &[(MAIN, 3)]).await;
    inventory::set_policy(ctx, chair, true, true).await.unwrap();
    let hold = reserve(ctx, chair, new_hold(ctx), 5).await.unwrap();
    assert_eq!((hold.allocations[MAIN], hold.backordered), (3, 2));
    assert_eq!(figures(ctx, chair).await, (3, 3));
    assert_eq!(reserve(ctx, chair, new_hold(ctx), 1).await.unwrap().backordered, 1);
    inventory::confirm(ctx, chair, hold.hold_id).await.unwrap();
    assert_eq!(figures(ctx, chair).await, (0, 0));
    let became = inventory::set_policy(ctx, chair, true, false).await.unwrap().became;
    assert_eq!(became, Some(Availability::OutOfStock));
    assert_sound(ctx, chair).await;
}

async fn holds_are_remembered_for_days_and_listed_without_movements(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 10), ("b", 10)]).await;
    let mut ids: Vec<_> = (0..5).map(|_| new_hold(ctx)).collect();
    for id in &ids {
        reserve(ctx, product, *id, 1).await.unwrap();
    }
    inventory::confirm(ctx, product, ids[0]).await.unwrap();
    ids.sort();
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let page = inventory::list_holds(ctx, product, PageRequest { limit: 2, cursor }).await.unwrap();
        assert!(page.holds.len() == 2 || page.next.is_none());
        listed.extend(page.holds.into_iter().map(|hold| hold.hold_id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, ids);
    world.clock.advance_millis(8 * 86_400_000);
    let left = inventory::list_holds(ctx, product, PageRequest::default()).await.unwrap().holds;
    assert_eq!(left.iter().map(|hold| hold.state).collect::<Vec<_>>(), [HoldState::Confirmed]);
    let forgotten = ids.iter().find(|id| **id != left[0].hold_id).unwrap();
    assert_eq!(inventory::find_hold(ctx, product, *forgotten).await.unwrap(), None);
    // Its order is cancelled late.
    inventory::give_back(ctx, product, left[0].hold_id).await.unwrap();
    assert_eq!(figures(ctx, product).await, (20, 0));
    assert_sound(ctx, product).await;
}

async fn availability_is_told_when_it_changes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = ProductId(ctx.new_id());
    let moved = inventory::restock(ctx, new_movement(ctx), product, MAIN, 2, Note::default()).await.unwrap();
    assert_eq!(moved.became, Some(Availability::InStock));
    let (one, two) = (new_hold(ctx), new_hold(ctx));
    assert_eq!(reserve(ctx, product, one, 1).await.unwrap().became, None);
    assert_eq!(reserve(ctx, product, two, 1).await.unwrap().became, Some(Availability::OutOfStock));
    assert_eq!(inventory::release(ctx, product, one).await.unwrap().became, Some(Availability::InStock));
    assert_eq!(inventory::confirm(ctx, product, two).await.unwrap().became, None);
    let moved = inventory::adjust(
        ctx,
        new_movement(ctx),
        product,
        MAIN,
        -1,
        Note { actor: None, reason: Some("broken".into()) },
    );
    assert_eq!(moved.await.unwrap().became, Some(Availability::OutOfStock));
    assert_eq!(inventory::give_back(ctx, product, two).await.unwrap().became, Some(Availability::InStock));
}

async fn holds_are_counted_by_what_became_of_them(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 3)]).await;
    let (sold, free, kept) = (new_hold(ctx), new_hold(ctx), new_hold(ctx));
    for hold in [sold, free, kept] {
        reserve(ctx, product, hold, 1).await.unwrap();
    }
    reserve(ctx, product, new_hold(ctx), 1).await.unwrap_err();
    inventory::confirm(ctx, product, sold).await.unwrap();
    inventory::release(ctx, product, free).await.unwrap();
    let counts = inventory::stats(ctx);
    assert_eq!((counts.held, counts.confirmed, counts.released, counts.refused), (3, 1, 1, 1));
    inventory::sweep(ctx).await.unwrap();
    assert_eq!((inventory::stats(ctx).units_in_force, inventory::stats(ctx).units_ended), (1, 0));
    world.clock.advance_millis(86_400_000);
    inventory::sweep(ctx).await.unwrap();
    assert_eq!((inventory::stats(ctx).units_in_force, inventory::stats(ctx).units_ended), (0, 1));
}
