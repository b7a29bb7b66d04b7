//! What every access pattern of orders costs: as its declaration says, with few orders and with many.

use futures::future::join_all;
use merkato::{
    PageRequest,
    id::{CheckoutId, UserId},
    orders::{self, NewDiscount, OrderStatus, PATTERNS, Reduction},
};
use rust_decimal::Decimal;
use widerow::meter::{Cost, measure};
use widerow_testing::{Target, cases};

use super::{change, draft, new_order, write};
use crate::world::World;

cases![every_pattern_costs_what_it_says_whatever_the_number_of_orders, a_change_of_status_is_one_conditional_write];

const PAGE: usize = 2;

async fn every_pattern_costs_what_it_says_whatever_the_number_of_orders(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = UserId(ctx.new_id());
    let of_three = draft(ctx, Some(user), 3).place("customer", ctx.now()).expect("an order");
    let order = write(ctx, &of_three).await;
    let code = NewDiscount {
        code: "spring".into(),
        reduction: Reduction::Percentage(Decimal::TEN),
        currency: None,
        minimal_subtotal: None,
        valid_from: None,
        valid_until: None,
        uses_max: None,
    };
    orders::create_discount(ctx, code).await.expect("made");
    let mut measured = Vec::new();
    for more in [60, 60] {
        let batch: Vec<_> = (0..more).map(|_| new_order(ctx, Some(user))).collect();
        for some in batch.chunks(20) {
            join_all(some.iter().map(|new| write(ctx, new))).await;
            orders::redeem(ctx, "spring", CheckoutId(ctx.new_id())).await.expect("redeemed");
        }
        measured.push(measure_all(&world, user, &order).await);
    }
    for ((name, rows, few), (_, _, many)) in measured[0].iter().zip(&measured[1]) {
        let pattern = PATTERNS.iter().find(|pattern| pattern.name == *name).expect(name);
        for cost in [few, many] {
            assert!(pattern.cost.admits(cost, *rows), "{name}: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
        let counts = |cost: &Cost| (cost.partitions_read, cost.round_trips);
        assert_eq!(counts(few), counts(many), "{name}");
    }
    let names: Vec<_> = measured[0].iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, PATTERNS.iter().map(|pattern| pattern.name).collect::<Vec<_>>(), "every pattern is measured");
}

async fn measure_all(world: &World, user: UserId, order: &orders::Order) -> Vec<(&'static str, u64, Cost)> {
    let ctx = &world.ctx;
    let (id, today) = (order.order_id, order.order_date());
    let page = || PageRequest::first(PAGE);
    let mut all = Vec::new();
    let (found, cost) = measure(orders::list_orders_of_user(ctx, user, Some(today), None, page())).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    all.push(("Q11", PAGE as u64, cost));
    let (found, cost) = measure(orders::get_order(ctx, id)).await;
    assert_eq!(found.expect("found"), *order);
    all.push(("Q12", 1, cost));
    let (found, cost) = measure(orders::find_by_number(ctx, &order.order_number)).await;
    assert!(found.expect("read").is_some());
    all.push(("Q12 by number", 1, cost));
    let (found, cost) = measure(orders::list_items(ctx, id)).await;
    assert_eq!(found.expect("read").len(), 3);
    all.push(("Q13", 3, cost));
    let (found, cost) = measure(orders::list_history(ctx, id)).await;
    assert_eq!(found.expect("read").len(), 1);
    all.push(("Q14", 1, cost));
    let (found, cost) = measure(orders::timeline(ctx, id)).await;
    assert_eq!(found.expect("read").len(), 1);
    all.push(("Q14 timeline", 1, cost));
    let (found, cost) = measure(orders::list_by_status(ctx, OrderStatus::Pending, today, page())).await;
    let found = found.expect("a page");
    assert_eq!(found.rows.len(), PAGE);
    // The second page costs no more than the first.
    let next = PageRequest { limit: PAGE, cursor: found.next };
    let (found, deeper) = measure(orders::list_by_status(ctx, OrderStatus::Pending, today, next)).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    assert_eq!((cost.partitions_read, cost.round_trips), (deeper.partitions_read, deeper.round_trips));
    all.push(("Q15", PAGE as u64, deeper));
    let (found, cost) = measure(orders::list_by_day(ctx, today, page())).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    all.push(("orders of a day", PAGE as u64, cost));
    let (found, cost) = measure(orders::get_discount(ctx, "spring")).await;
    found.expect("there");
    all.push(("discount", 1, cost));
    let (found, cost) = measure(orders::list_discounts(ctx, page())).await;
    assert_eq!(found.expect("a page").rows.len(), 1);
    all.push(("discounts", PAGE as u64, cost));
    all
}

async fn a_change_of_status_is_one_conditional_write(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = super::place(ctx, Some(UserId(ctx.new_id()))).await;
    let paid = change(ctx);
    let asked = || orders::change_status(ctx, order.order_id, OrderStatus::Paid, paid.clone());
    let (done, cost) = measure(asked()).await;
    done.expect("paid");
    assert_eq!(cost.conditional_writes, 1, "{cost}");
    // Asked again, it is only looked at.
    let (done, cost) = measure(asked()).await;
    done.expect("paid");
    assert_eq!((cost.conditional_writes, cost.rows_written), (0, 0), "{cost}");
    // A number comes from memory.
    orders::take_number(ctx).await.expect("a number");
    let (number, cost) = measure(orders::take_number(ctx)).await;
    number.expect("a number");
    assert_eq!(cost, Cost::default());
}
