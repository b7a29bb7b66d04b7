//! Bad input is refused by the field's name, and nothing is written.

use merkato::{
    Currency, Kind,
    carts::{self, Error, GuestToken, ItemSnapshot, Shopper, Which},
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{item, line, new_guest, new_user, stored};
use crate::world::World;

widerow_testing::cases!(
    bad_items_and_quantities_write_nothing,
    bad_names_write_nothing,
    all_bad_fields_are_told_at_once,
);

fn fields(error: Error) -> Vec<String> {
    assert_eq!((error.kind(), error.code()), (Kind::Invalid, "invalid"), "{error:?}");
    match error {
        Error::Invalid(invalid) => invalid.fields.into_iter().map(|bad| bad.field).collect(),
        other => panic!("{other:?}"),
    }
}

fn with(change: impl FnOnce(&mut ItemSnapshot)) -> ItemSnapshot {
    let mut item = item(1);
    change(&mut item);
    item
}

async fn bad_items_and_quantities_write_nothing(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let (token, guest) = new_guest(ctx);
    let long = "x".repeat(700);
    let option = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    let items = [
        ("name", with(|i| i.name.clear())),
        ("name", with(|i| i.name = long.clone())),
        ("name", with(|i| i.name = "<b>Lamp</b>".into())),
        ("name", with(|i| i.name = "La\u{0}mp".into())),
        ("name", with(|i| i.name = "two\nlines".into())),
        ("image_url", with(|i| i.image_url = Some("javascript:alert(1)".into()))),
        ("image_url", with(|i| i.image_url = Some(format!("/{}", "x".repeat(3_000))))),
        ("currency", with(|i| i.currency = Currency::new("XYZ"))),
        ("currency", with(|i| i.currency = Currency::new("eur"))),
        ("unit_price", with(|i| i.unit_price = Decimal::new(-1, 2))),
        ("unit_price", with(|i| i.unit_price = Decimal::from(10_000_000_000_i64))),
        ("unit_price", with(|i| i.unit_price = Decimal::new(1, 3))),
        ("unit_price", with(|i| i.unit_price = Decimal::MAX)),
        ("options", with(|i| i.options = (0..21).map(|n| (format!("o{n}"), "v".into())).collect())),
        ("options/0/name", with(|i| i.options = option("", "v"))),
        ("options/0/name", with(|i| i.options = option(&long, "v"))),
        ("options/0/value", with(|i| i.options = option("size", ""))),
        ("options/0/value", with(|i| i.options = option("size", &long))),
        ("options/0/value", with(|i| i.options = option("size", "<script>"))),
    ];
    for shopper in [&shopper, &guest] {
        for (field, item) in &items {
            let refused = carts::add_line(ctx, shopper, Which::Active, item.clone(), 1).await.unwrap_err();
            assert_eq!(fields(refused), [*field], "{item:?}");
            let refused = carts::add_lines(ctx, shopper, Which::Active, &[(item.clone(), 1)]).await.unwrap_err();
            assert_eq!(fields(refused), [format!("lines/0/{field}")]);
        }
        for quantity in [0, -1, i64::from(i32::MAX) + 1, 1 << 31, 100_001, i64::MIN, i64::MAX] {
            let refused = carts::add_line(ctx, shopper, Which::Active, item(1), quantity).await.unwrap_err();
            assert_eq!(fields(refused), ["quantity"], "{quantity}");
            let refused = carts::set_quantity(ctx, shopper, Which::Active, line(1), quantity).await.unwrap_err();
            assert_eq!(fields(refused), ["quantity"], "{quantity}");
        }
        let many = vec![(item(1), 1); 46];
        assert_eq!(fields(carts::add_lines(ctx, shopper, Which::Active, &many).await.unwrap_err()), ["lines"]);
        assert_eq!(fields(carts::add_lines(ctx, shopper, Which::Active, &[]).await.unwrap_err()), ["lines"]);
    }
    assert_eq!(carts::list_carts(ctx, user).await.unwrap(), []);
    assert_eq!(stored(ctx, token.cart_id()).await, (0, false));
}

async fn bad_names_write_nothing(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let cart = carts::create_cart(ctx, user, "Good").await.unwrap();
    let before = carts::list_carts(ctx, user).await.unwrap();
    let long = "ü".repeat(101);
    for name in ["", "   ", " A", "A ", &long, "<i>x</i>", "a\u{7}b", "a\nb", "a\u{2028}b", "a\u{0}"] {
        for refused in [
            carts::create_cart(ctx, user, name).await,
            carts::rename_cart(ctx, user, cart.cart_id, name).await,
            carts::copy_cart(ctx, user, cart.cart_id, name).await,
        ] {
            assert_eq!(fields(refused.unwrap_err()), ["name"], "{name:?}");
        }
        assert_eq!(fields(carts::set_email(ctx, user, name).await.unwrap_err()), ["email"], "{name:?}");
    }
    assert_eq!(carts::list_carts(ctx, user).await.unwrap(), before);
    assert_eq!(super::show(ctx, &shopper, cart.cart_id).await.lines, []);
    // As long as a name may be, in a key on every engine.
    for name in ["ü".repeat(100), "#".repeat(200), "/%".repeat(100)] {
        assert_eq!(carts::rename_cart(ctx, user, cart.cart_id, &name).await.unwrap().cart_name, name);
    }
}

async fn all_bad_fields_are_told_at_once(target: &Target) {
    let ctx = &World::new(target).ctx;
    let bad = ItemSnapshot {
        name: String::new(),
        image_url: Some("ftp://x".into()),
        unit_price: Decimal::from(-5),
        currency: Currency::new("???"),
        ..item(1)
    };
    let refused = carts::add_line(ctx, &new_user(ctx).1, Which::Active, bad, 0).await.unwrap_err();
    assert_eq!(fields(refused), ["name", "image_url", "currency", "unit_price", "quantity"]);
    for token in ["", "x", &"g".repeat(64), &"A".repeat(64), &"a".repeat(65)] {
        let refused = GuestToken::parse(token).unwrap_err();
        assert_eq!(refused.fields[0].field, "guest_token");
    }
    assert_ne!(Shopper::Guest(GuestToken::new(ctx)), Shopper::Guest(GuestToken::new(ctx)));
}
