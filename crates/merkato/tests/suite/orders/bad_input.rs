//! What makes no sense is refused by name, before anything is read or written.

use merkato::{
    Currency, Kind, PageRequest,
    id::{CheckoutId, OrderId, UserId},
    orders::{self, Change, Error, NewDiscount, OrderStatus, PaymentStatus, Reduction},
};
use rust_decimal::Decimal;
use widerow::{
    Date,
    meter::{Cost, measure},
};
use widerow_testing::{Target, cases};

use super::change;
use crate::world::World;

cases![bad_fields_are_named_and_nothing_is_read];

fn names<T: std::fmt::Debug>(answer: (Result<T, Error>, Cost), expected: &[&str]) {
    match answer {
        (Err(Error::Invalid(invalid)), cost) => {
            let fields: Vec<_> = invalid.fields.iter().map(|bad| bad.field.as_str()).collect();
            assert_eq!(fields, expected);
            assert_eq!(cost, Cost::default(), "{expected:?}");
        }
        other => panic!("{other:?}"),
    }
}

async fn bad_fields_are_named_and_nothing_is_read(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (order, user) = (OrderId(ctx.new_id()), UserId(ctx.new_id()));
    let today = ctx.now().date();
    let bad = Change {
        actor: " ".into(),
        notes: Some("<b>".into()),
        payment_id: Some(String::new()),
        tracking_number: Some("1\n2".into()),
        carrier: Some("x".repeat(201)),
        estimated_delivery: Some(Date::from_days(i32::MAX)),
        ..change(ctx)
    };
    let asked = measure(orders::change_status(ctx, order, OrderStatus::Paid, bad)).await;
    names(asked, &["actor", "notes", "payment_id", "tracking_number", "carrier", "estimated_delivery"]);
    names(measure(orders::note_payment(ctx, order, PaymentStatus::Captured, Some(""))).await, &["payment_id"]);
    for limit in [0, 101, usize::MAX] {
        let page = || PageRequest::first(limit);
        names(measure(orders::list_by_status(ctx, OrderStatus::Paid, today, page())).await, &["limit"]);
        names(measure(orders::list_by_day(ctx, today, page())).await, &["limit"]);
        names(measure(orders::list_orders_of_user(ctx, user, None, None, page())).await, &["limit"]);
    }
    let never = Date::from_days(i32::MIN);
    let page = PageRequest::default;
    names(measure(orders::list_by_status(ctx, OrderStatus::Paid, never, page())).await, &["date"]);
    names(measure(orders::list_by_day(ctx, never, page())).await, &["date"]);
    names(measure(orders::list_orders_of_user(ctx, user, Some(never), None, page())).await, &["from"]);
    let yesterday = Date::from_days(today.days() - 1);
    names(measure(orders::list_orders_of_user(ctx, user, Some(today), Some(yesterday), page())).await, &["to"]);
    for number in ["", " ORD-1", &"9".repeat(41), "a\0b"] {
        names(measure(orders::find_by_number(ctx, number)).await, &["order_number"]);
    }
    let checkout = CheckoutId(ctx.new_id());
    for code in ["a b", "a/b", "'; DROP", "日本"] {
        names(measure(orders::find_discount(ctx, code)).await, &["code"]);
        names(measure(orders::redeem(ctx, code, checkout)).await, &["code"]);
        names(measure(orders::unredeem(ctx, code, checkout)).await, &["code"]);
        names(measure(orders::disable_discount(ctx, code)).await, &["code"]);
    }
    let bad = NewDiscount {
        code: "spring".into(),
        reduction: Reduction::Amount(Decimal::new(1, 3)),
        currency: Some(Currency::new("EUR")),
        minimal_subtotal: Some(Decimal::from(-1)),
        valid_from: Some(ctx.now()),
        valid_until: Some(ctx.now()),
        uses_max: Some(0),
    };
    let expected = ["amount", "minimal_subtotal", "valid_until", "uses_max"];
    names(measure(orders::create_discount(ctx, bad.clone())).await, &expected);
    let bad = NewDiscount { reduction: Reduction::Percentage(Decimal::from(101)), currency: None, ..bad };
    let expected = ["percentage", "currency", "valid_until", "uses_max"];
    names(measure(orders::create_discount(ctx, bad)).await, &expected);
    let absent = orders::get_order(ctx, order).await.expect_err("absent");
    assert_eq!(absent.kind(), Kind::NotFound);
}
