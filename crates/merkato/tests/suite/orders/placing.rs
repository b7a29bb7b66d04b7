//! Orders come in: placed, or imported; and what is left of them when a person is forgotten.

use futures::future::join_all;
use merkato::{
    carts::CartEntry,
    id::{OrderId, UserId},
    orders::{self, Error, NewOrder, OrderDraft, OrderStatus},
};
use widerow::{Commit, Row};
use widerow_testing::{Target, cases};

use super::{cart, draft, dying, go, imported, place, write};
use crate::world::World;

cases![
    a_placed_order_is_there_with_all_that_belongs_to_it,
    an_order_of_a_thousand_lines_is_placed_whole,
    a_guests_order_is_in_no_users_list,
    an_order_whose_placing_was_cut_short_is_there_whole_or_not_at_all,
    an_import_cut_short_is_finished_by_the_next_try,
    an_imported_order_keeps_its_status_its_history_and_its_times,
    an_import_made_again_changes_nothing,
    of_many_imports_of_one_number_one_gets_it,
    who_is_erased_leaves_the_money_and_no_name,
];

/// What is read equals what was made, decimals by value.
async fn assert_whole(ctx: &merkato::Context, new: &NewOrder) {
    let id = new.order().order_id;
    assert_eq!(&orders::get_order(ctx, id).await.expect("found"), new.order());
    assert_eq!(orders::list_items(ctx, id).await.expect("read"), new.items());
    let mut history = orders::list_history(ctx, id).await.expect("read");
    history.reverse();
    assert_eq!(history, new.history());
    let by_number = orders::find_by_number(ctx, &new.order().order_number).await.expect("read");
    assert_eq!(by_number.as_ref(), Some(new.order()));
}

async fn a_placed_order_is_there_with_all_that_belongs_to_it(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = UserId(ctx.new_id());
    let new = draft(ctx, Some(user), 3).place("customer", ctx.now()).expect("an order");
    write(ctx, &new).await;
    assert_whole(ctx, &new).await;
    let listed = orders::list_orders_of_user(ctx, user, None, None, Default::default()).await.expect("a page");
    let [row] = &listed.rows[..] else { panic!("{listed:?}") };
    assert_eq!((row.order_id, row.item_count, row.first_item_name.as_str()), (new.order().order_id, 6, "Product 1"));
    assert_eq!(row.total, new.order().total);
    let found = orders::list_by_status(ctx, OrderStatus::Pending, ctx.now().date(), Default::default()).await;
    assert_eq!(found.expect("a page").rows, [new.order().clone()]);
    assert!(orders::find_by_number(ctx, "ORD-1999-000001").await.expect("read").is_none());
    let nobody = OrderId(ctx.new_id());
    assert!(matches!(orders::get_order(ctx, nobody).await, Err(Error::OrderNotFound { .. })));
    assert!(matches!(orders::get_order_versioned(ctx, nobody).await, Err(Error::OrderNotFound { .. })));
    assert_eq!(orders::list_items(ctx, nobody).await.expect("read"), []);
}

async fn an_order_of_a_thousand_lines_is_placed_whole(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let new = draft(ctx, None, 1_000).place("customer", ctx.now()).expect("an order");
    write(ctx, &new).await;
    assert_whole(ctx, &new).await;
}

async fn a_guests_order_is_in_no_users_list(target: &Target) {
    let world = World::new(target);
    let order = place(&world.ctx, None).await;
    assert_eq!(orders::get_order(&world.ctx, order.order_id).await.expect("found"), order);
    let derived: Vec<orders::UserOrder> = widerow::Derive::derive(&order);
    assert!(derived.is_empty(), "{}", orders::UserOrder::table().name);
}

async fn an_order_whose_placing_was_cut_short_is_there_whole_or_not_at_all(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (mut whole, mut absent) = (0, 0);
    for steps in 0..20 {
        let (doomed, faulty) = dying(target, &world, steps);
        let new = draft(ctx, Some(UserId(ctx.new_id())), 2).place("customer", ctx.now()).expect("an order");
        let cart = cart(ctx);
        let placed = doomed.store.commit(orders::place(&doomed, Commit::new().put(&cart), &new)).await;
        assert!(placed.is_ok() || faulty.has_stopped(), "{placed:?}");
        // Whoever decides on the cart next finishes what was left to do.
        let settled = ctx.store.guarded::<CartEntry, (), widerow::Error>(cart.user_id, |_| Ok((Commit::new(), ())));
        settled.await.expect("settled");
        if orders::find_order(ctx, new.order().order_id).await.expect("read").is_none() {
            assert!(placed.is_err(), "it was acknowledged");
            assert_eq!(orders::list_items(ctx, new.order().order_id).await.expect("read"), []);
            assert!(orders::find_by_number(ctx, &new.order().order_number).await.expect("read").is_none());
            absent += 1;
            continue;
        }
        assert_whole(ctx, &new).await;
        let paid = go(ctx, new.order().order_id, &[OrderStatus::Paid]).await;
        assert_eq!(paid.revision, 2);
        whole += 1;
        if !faulty.has_stopped() {
            break;
        }
    }
    assert!(absent > 0 && whole > 1, "{absent}, {whole}: this case shows nothing");
}

async fn an_import_cut_short_is_finished_by_the_next_try(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for steps in 0..20 {
        let (doomed, faulty) = dying(target, &world, steps);
        let order_number = format!("ORD-2001-{:06}", 100 + steps);
        let old = OrderDraft { order_number, ..draft(ctx, None, 2) };
        let new = imported(old, ctx.now(), &[(OrderStatus::Pending, 100), (OrderStatus::Paid, 50)]);
        let stopped = orders::insert(&doomed, &new).await;
        assert!(stopped.is_ok() || faulty.has_stopped(), "{stopped:?}");
        assert_eq!(orders::insert(ctx, &new).await.expect("written"), *new.order());
        // What the first try had left to do is done by whoever writes to the order next.
        let going = go(ctx, new.order().order_id, &[OrderStatus::Processing]).await;
        assert_eq!(going.revision, 2);
        assert_eq!(orders::list_items(ctx, new.order().order_id).await.expect("read"), new.items());
        assert_eq!(orders::list_history(ctx, new.order().order_id).await.expect("read").len(), 3);
        if !faulty.has_stopped() {
            return;
        }
    }
    panic!("it never came to its end");
}

async fn an_imported_order_keeps_its_status_its_history_and_its_times(target: &Target) {
    use OrderStatus::*;
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = UserId(ctx.new_id());
    let year = 365 * 86_400;
    let steps = [(Pending, year), (Paid, year - 60), (Shipped, year - 86_400)];
    let new = imported(OrderDraft { user_email: None, ..draft(ctx, Some(user), 2) }, ctx.now(), &steps);
    assert_eq!(orders::insert(ctx, &new).await.expect("written"), *new.order());
    assert_whole(ctx, &new).await;
    let day = new.order().order_date();
    let listed = orders::list_by_day(ctx, day, Default::default()).await.expect("a page");
    assert_eq!(listed.rows.iter().map(|row| row.order_id).collect::<Vec<_>>(), [new.order().order_id]);
    // It goes on from where it stands.
    let going = go(ctx, new.order().order_id, &[Delivered]).await;
    assert_eq!((going.delivered_at, going.revision), (Some(ctx.now()), 2));
}

async fn an_import_made_again_changes_nothing(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let new = imported(draft(ctx, None, 1), ctx.now(), &[(OrderStatus::Pending, 100)]);
    let tries = (0..6).map(|_| {
        let (ctx, new) = (ctx.clone(), new.clone());
        tokio::spawn(async move { orders::insert(&ctx, &new).await })
    });
    for written in join_all(tries.collect::<Vec<_>>()).await {
        assert_eq!(written.expect("no panic").expect("written"), *new.order());
    }
    let paid = go(ctx, new.order().order_id, &[OrderStatus::Paid]).await;
    assert_eq!(orders::insert(ctx, &new).await.expect("there"), paid, "as it is by now");
    // The same id under another number is another order.
    let other = OrderDraft { order_id: new.order().order_id, ..draft(ctx, None, 1) };
    let other = imported(other, ctx.now(), &[(OrderStatus::Pending, 100)]);
    let refused = orders::insert(ctx, &other).await;
    assert!(matches!(refused, Err(Error::OrderExists { .. })), "{refused:?}");
}

async fn of_many_imports_of_one_number_one_gets_it(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tries = (0..8).map(|_| {
        let ctx = ctx.clone();
        tokio::spawn(async move {
            let same = OrderDraft { order_number: "OLD-17".into(), ..draft(&ctx, None, 1) };
            orders::insert(&ctx, &imported(same, ctx.now(), &[(OrderStatus::Pending, 100)])).await
        })
    });
    let mut winners = Vec::new();
    for written in join_all(tries.collect::<Vec<_>>()).await {
        match written.expect("no panic") {
            Ok(order) => winners.push(order),
            Err(Error::NumberTaken { number }) => assert_eq!(number, "OLD-17"),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(winners.len(), 1);
    let found = orders::find_by_number(ctx, "OLD-17").await.expect("read");
    assert_eq!(found.as_ref(), winners.first());
    // An order that was placed has its number too, although it claimed none.
    let placed = place(ctx, None).await;
    let same = OrderDraft { order_number: placed.order_number.clone(), ..draft(ctx, None, 1) };
    let refused = orders::insert(ctx, &imported(same, ctx.now(), &[(OrderStatus::Pending, 100)])).await;
    assert!(matches!(refused, Err(Error::NumberTaken { .. })), "{refused:?}");
}

async fn who_is_erased_leaves_the_money_and_no_name(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (user, other) = (UserId(ctx.new_id()), UserId(ctx.new_id()));
    let mut mine = Vec::new();
    for n in 1..=3 {
        let old =
            imported(draft(ctx, Some(user), n), ctx.now(), &[(OrderStatus::Pending, 100), (OrderStatus::Paid, 50)]);
        mine.push(orders::insert(ctx, &old).await.expect("written"));
    }
    let anothers = place(ctx, Some(other)).await;
    for _ in 0..2 {
        orders::erase_person(ctx, user).await.expect("erased");
    }
    for before in &mine {
        let left = orders::get_order(ctx, before.order_id).await.expect("found");
        let personal = [&left.user_email, &left.customer_name, &left.customer_notes, &left.internal_notes];
        assert!(personal.iter().all(|text| text.is_none()), "{left:?}");
        assert_eq!((&left.shipping_address, &left.billing_address), (&None, &None));
        assert_eq!((left.total, left.status, left.user_id), (before.total, before.status, Some(user)));
        assert_eq!((left.tax_country.as_deref(), left.revision), (Some("DE"), 2));
        assert_eq!(
            orders::list_items(ctx, left.order_id)
                .await
                .expect("read")
                .iter()
                .map(|i| i.line_total)
                .sum::<rust_decimal::Decimal>(),
            left.subtotal
        );
        let history = orders::list_history(ctx, left.order_id).await.expect("read");
        assert_eq!(history.len(), 2);
        assert!(history.iter().all(|row| row.notes.is_none()), "{history:?}");
        assert_eq!(orders::find_by_number(ctx, &left.order_number).await.expect("read"), Some(left));
    }
    let listed = orders::list_orders_of_user(ctx, user, None, None, Default::default()).await.expect("a page");
    assert_eq!(listed.rows.len(), 3);
    let day = mine[0].order_date();
    let paid = orders::list_by_status(ctx, OrderStatus::Paid, day, Default::default()).await.expect("a page");
    assert!(paid.rows.iter().all(|order| order.user_email.is_none()));
    assert_eq!(orders::get_order(ctx, anothers.order_id).await.expect("found"), anothers);
    // Nothing to erase is nothing to do.
    orders::erase_person(ctx, UserId(ctx.new_id())).await.expect("erased");
}
