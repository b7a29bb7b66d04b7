//! The lists of orders: complete, in order, and never behind what an order says of itself.

use futures::future::join_all;
use merkato::{
    PageRequest,
    id::{OrderId, UserId},
    orders::{self, Error, OrderStatus, PaymentStatus, StatusOrder},
};
use widerow::Cursor;
use widerow_testing::{Target, cases};

use super::{DAY_MILLIS, change, draft, dying, go, imported, new_order, place, write};
use crate::world::World;

cases![
    the_orders_of_a_day_come_in_order_each_once_whatever_the_page,
    a_cursor_is_good_for_its_own_list_alone,
    orders_that_have_moved_on_are_left_out_and_the_page_is_filled,
    an_order_whose_change_was_cut_short_is_never_shown_as_it_was,
    the_list_by_status_reaches_thirty_days_back,
    a_users_orders_are_listed_between_two_days,
];

/// Many at the same instant, and some at each of several.
async fn make(world: &World, count: usize) -> Vec<OrderId> {
    let mut made = Vec::new();
    for _ in 0..count / 6 {
        world.clock.advance_millis(1);
        let batch: Vec<_> = (0..6).map(|_| new_order(&world.ctx, None)).collect();
        join_all(batch.iter().map(|new| write(&world.ctx, new))).await;
        made.extend(batch.iter().map(|new| new.order().order_id));
    }
    made
}

async fn the_orders_of_a_day_come_in_order_each_once_whatever_the_page(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let mut made = make(&world, 36).await;
    made.sort();
    for limit in [1, 7, 36, 100] {
        let (mut by_day, mut by_status) = (Vec::new(), Vec::new());
        let mut page = PageRequest::first(limit);
        loop {
            let found = orders::list_by_day(ctx, today, page.clone()).await.expect("a page");
            assert!(found.next.is_none() || found.rows.len() == limit);
            by_day.extend(found.rows.iter().map(|row| (row.created_at, row.order_id)));
            let Some(next) = found.next else { break };
            page.cursor = Some(next);
        }
        let mut page = PageRequest::first(limit);
        loop {
            let found = orders::list_by_status(ctx, OrderStatus::Pending, today, page.clone()).await.expect("a page");
            assert!(found.next.is_none() || found.rows.len() == limit);
            by_status.extend(found.rows.iter().map(|row| (row.created_at, row.order_id)));
            let Some(next) = found.next else { break };
            page.cursor = Some(next);
        }
        assert!(by_day.is_sorted(), "the oldest first");
        let mut newest = Vec::new();
        let mut page = PageRequest::first(limit);
        loop {
            let found = orders::list_newest_of_day(ctx, today, page.clone()).await.expect("a page");
            newest.extend(found.rows.iter().map(|row| (row.created_at, row.order_id)));
            let Some(next) = found.next else { break };
            let turned = PageRequest { cursor: Some(next.clone()), ..page };
            assert!(orders::list_by_day(ctx, today, turned).await.is_err(), "a cursor goes one way");
            page = PageRequest { limit, cursor: Some(next) };
        }
        newest.reverse();
        assert_eq!(newest, by_day, "and the other way, {limit} a page");
        let mut ids: Vec<_> = by_day.iter().map(|(_, id)| *id).collect();
        ids.sort();
        assert_eq!(ids, made, "each once, {limit} a page");
        by_status.reverse();
        assert_eq!(by_status, by_day, "the newest first, {limit} a page");
    }
    let other = orders::list_by_status(ctx, OrderStatus::Paid, today, PageRequest::first(5)).await.expect("a page");
    assert_eq!((other.rows.len(), other.next), (0, None));
}

async fn a_cursor_is_good_for_its_own_list_alone(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    make(&world, 6).await;
    let at = |cursor: &Cursor| PageRequest { limit: 2, cursor: Some(cursor.clone()) };
    let page = orders::list_by_status(ctx, OrderStatus::Pending, today, PageRequest::first(2)).await.expect("a page");
    let cursor = page.next.expect("there is more");
    assert!(orders::list_by_status(ctx, OrderStatus::Pending, today, at(&cursor)).await.is_ok());
    let text = cursor.as_str();
    let mut cut = text.to_owned();
    cut.truncate(text.len() - 2);
    let hostile = [
        String::new(),
        "x".into(),
        "zz".repeat(20),
        "é".repeat(10),
        cut,
        format!("{text}00"),
        text.replacen(&text[..1], if text.starts_with('0') { "1" } else { "0" }, 1),
        format!("{}{}", &text[..16], "ff".repeat(200)),
        format!("{}08", &text[..16]),
        "0".repeat(1_000_000),
        text.to_uppercase() + "G",
    ];
    let refused = |error: Error| {
        assert_eq!((error.code(), error.kind()), ("data", merkato::Kind::Invalid), "{error}");
        assert!(error.to_string().contains("cursor"), "{error}");
    };
    for text in hostile {
        let made_up = at(&Cursor::from(text));
        refused(orders::list_by_status(ctx, OrderStatus::Pending, today, made_up.clone()).await.expect_err("made up"));
        refused(orders::list_by_day(ctx, today, made_up).await.expect_err("made up"));
    }
    refused(orders::list_by_status(ctx, OrderStatus::Paid, today, at(&cursor)).await.expect_err("another status"));
    refused(orders::list_by_day(ctx, today, at(&cursor)).await.expect_err("another list"));
    let tomorrow = ctx.now().plus_seconds(86_400).date();
    let other = orders::list_by_status(ctx, OrderStatus::Pending, tomorrow, at(&cursor)).await;
    refused(other.expect_err("another day"));
    let elsewhere = World::new(target);
    let other = orders::list_by_status(&elsewhere.ctx, OrderStatus::Pending, today, at(&cursor)).await;
    refused(other.expect_err("another shop"));
}

async fn orders_that_have_moved_on_are_left_out_and_the_page_is_filled(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let made = make(&world, 18).await;
    // While a page is read and the next is asked for, half of them go on.
    let first = orders::list_by_status(ctx, OrderStatus::Pending, today, PageRequest::first(4)).await.expect("a page");
    for id in made.iter().step_by(2) {
        go(ctx, *id, &[OrderStatus::Paid]).await;
    }
    let mut rest = Vec::new();
    let mut cursor = first.next;
    while cursor.is_some() {
        let page = PageRequest { limit: 4, cursor };
        let found = orders::list_by_status(ctx, OrderStatus::Pending, today, page).await.expect("a page");
        assert!(found.next.is_none() || found.rows.len() == 4);
        rest.extend(found.rows);
        cursor = found.next;
    }
    assert!(rest.iter().all(|order| order.status == OrderStatus::Pending));
    let shown: Vec<_> = first.rows.iter().map(|order| order.order_id).collect();
    let mut expected: Vec<_> = made.into_iter().skip(1).step_by(2).filter(|id| !shown.contains(id)).collect();
    let mut found: Vec<_> = rest.iter().map(|order| order.order_id).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

/// A process dies between the change of the order and that of its lists.
async fn an_order_whose_change_was_cut_short_is_never_shown_as_it_was(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let mut behind = 0;
    let mut paid = 0;
    let mut made = Vec::new();
    for steps in 0..8 {
        let order = place(ctx, None).await;
        made.push(order.order_id);
        let (doomed, _) = dying(target, &world, steps);
        let _ = orders::change_status(&doomed, order.order_id, OrderStatus::Paid, change(ctx)).await;
        let now = orders::get_order(ctx, order.order_id).await.expect("found").status;
        let is = |id: OrderId| move |row: &orders::Order| row.order_id == id;
        let page = PageRequest::first(100);
        let pending = orders::list_by_status(ctx, OrderStatus::Pending, today, page.clone()).await.expect("a page");
        assert_eq!(pending.rows.iter().any(is(order.order_id)), now == OrderStatus::Pending, "stopped after {steps}");
        paid += usize::from(now == OrderStatus::Paid);
        for shard in 0..merkato::limits::ORDER_SHARDS {
            let rows = ctx.store.slice::<StatusOrder>((OrderStatus::Pending, today, shard)).page().await;
            let listed = rows.expect("a page").rows.iter().any(|row| row.order_id == order.order_id);
            behind += usize::from(listed && now == OrderStatus::Paid);
        }
    }
    assert!(behind > 0, "no list was behind its order: this case shows nothing");
    // Whoever writes to an order next finishes what was left to do.
    for id in made {
        orders::note_payment(ctx, id, PaymentStatus::Authorised, None).await.expect("noted");
    }
    let found = orders::list_by_status(ctx, OrderStatus::Paid, today, PageRequest::first(100)).await.expect("a page");
    assert_eq!(found.rows.len(), paid);
}

async fn the_list_by_status_reaches_thirty_days_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, None).await;
    let day = order.order_date();
    let list = |status| orders::list_by_status(ctx, status, day, PageRequest::default());
    world.clock.advance_millis(30 * DAY_MILLIS - 1);
    assert_eq!(list(OrderStatus::Pending).await.expect("a page").rows.len(), 1);
    // Thirty days after it came to its status, an order is listed under it no more.
    world.clock.advance_millis(1);
    assert_eq!(list(OrderStatus::Pending).await.expect("a page").rows.len(), 0);
    go(ctx, order.order_id, &[OrderStatus::Cancelled]).await;
    assert_eq!(list(OrderStatus::Cancelled).await.expect("a page").rows.len(), 1);
    world.clock.advance_millis(DAY_MILLIS);
    let refused = list(OrderStatus::Cancelled).await.expect_err("too long ago");
    assert!(matches!(refused, Error::TooLongAgo { days: 30, .. }), "{refused}");
    assert!(refused.to_string().contains("30 days"), "{refused}");
    // The order itself, and the list of its day, stay.
    assert_eq!(orders::get_order(ctx, order.order_id).await.expect("found").status, OrderStatus::Cancelled);
    assert_eq!(orders::list_by_day(ctx, day, PageRequest::default()).await.expect("a page").rows.len(), 1);
}

async fn a_users_orders_are_listed_between_two_days(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = UserId(ctx.new_id());
    let mut days = Vec::new();
    for ago in [400, 40, 40, 4, 0] {
        let old = imported(draft(ctx, Some(user), 1), ctx.now(), &[(OrderStatus::Pending, ago * 86_400)]);
        days.push(orders::insert(ctx, &old).await.expect("written").order_date());
    }
    days.reverse();
    let list = async |from, to, page| orders::list_orders_of_user(ctx, user, from, to, page).await.expect("a page");
    let dates = |rows: &[orders::UserOrder]| rows.iter().map(|row| row.order_date).collect::<Vec<_>>();
    assert_eq!(dates(&list(None, None, PageRequest::default()).await.rows), days);
    assert_eq!(dates(&list(Some(days[2]), Some(days[1]), PageRequest::default()).await.rows), days[1..4]);
    assert_eq!(dates(&list(None, Some(days[4]), PageRequest::default()).await.rows), days[4..]);
    let first = list(Some(days[2]), None, PageRequest::first(3)).await;
    let second = list(Some(days[2]), None, PageRequest { limit: 3, cursor: first.next }).await;
    assert_eq!((dates(&first.rows), dates(&second.rows)), (days[..3].to_vec(), days[3..4].to_vec()));
    assert!(second.next.is_none());
}
