//! Discount codes: each use is counted once, and none is too many.

use futures::future::join_all;
use merkato::{
    Currency, Kind, PageRequest,
    id::CheckoutId,
    orders::{self, Error, NewDiscount, Reduction},
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use super::second_process;
use crate::world::{World, patiently};

cases![
    a_code_is_redeemed_as_often_as_it_says_whoever_comes,
    a_checkout_redeems_once_and_gives_back_once,
    a_use_that_was_given_up_is_not_made_later,
    every_refusal_has_its_reason,
    of_many_who_make_one_code_one_does,
    codes_are_listed_newest_first_as_they_are,
];

fn ten_off(code: &str, uses_max: Option<i64>) -> NewDiscount {
    NewDiscount {
        code: code.into(),
        reduction: Reduction::Percentage(Decimal::TEN),
        currency: None,
        minimal_subtotal: None,
        valid_from: None,
        valid_until: None,
        uses_max,
    }
}

async fn a_code_is_redeemed_as_often_as_it_says_whoever_comes(target: &Target) {
    let world = World::new(target);
    let processes = [world.ctx.clone(), second_process(target, &world)];
    orders::create_discount(&world.ctx, ten_off("spring", Some(5))).await.expect("made");
    let checkouts: Vec<_> = (0..15).map(|_| CheckoutId(world.ctx.new_id())).collect();
    // Each asks twice.
    let asked = checkouts.iter().chain(&checkouts).enumerate().map(|(n, checkout)| {
        let (ctx, checkout) = (processes[n % 2].clone(), *checkout);
        tokio::spawn(
            async move { (checkout, patiently(|| orders::redeem(&ctx, "Spring", checkout), Error::kind).await) },
        )
    });
    let mut winners = Vec::new();
    for answer in join_all(asked.collect::<Vec<_>>()).await {
        match answer.expect("no panic") {
            (checkout, Ok(_)) => winners.push(checkout),
            (_, Err(Error::DiscountUsedUp { limit: 5, .. })) => {}
            (_, Err(other)) => panic!("{other}"),
        }
    }
    winners.sort();
    winners.dedup();
    assert_eq!(winners.len(), 5);
    assert_eq!(orders::get_discount(&world.ctx, "spring").await.expect("there").uses, 5);
    // What one gives back another gets.
    orders::unredeem(&world.ctx, "spring", winners[0]).await.expect("given back");
    let next = CheckoutId(world.ctx.new_id());
    assert_eq!(orders::redeem(&world.ctx, "spring", next).await.expect("there is one").uses, 5);
}

async fn a_checkout_redeems_once_and_gives_back_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    orders::create_discount(ctx, ten_off("SPRING-10", None)).await.expect("made");
    let (one, other) = (CheckoutId(ctx.new_id()), CheckoutId(ctx.new_id()));
    for _ in 0..3 {
        assert_eq!(orders::redeem(ctx, " spring-10 ", one).await.expect("good").uses, 1);
    }
    assert_eq!(orders::redeem(ctx, "Spring-10", other).await.expect("good").uses, 2);
    for _ in 0..3 {
        orders::unredeem(ctx, "spring-10", one).await.expect("given back");
        assert_eq!(orders::get_discount(ctx, "spring-10").await.expect("there").uses, 1);
    }
    // A code that was disabled meanwhile is still the one's who redeemed it.
    assert!(orders::disable_discount(ctx, "spring-10").await.expect("there").disabled);
    assert!(orders::redeem(ctx, "spring-10", other).await.is_ok());
    let late = orders::redeem(ctx, "spring-10", CheckoutId(ctx.new_id())).await;
    assert!(matches!(late, Err(Error::DiscountDisabled { .. })), "{late:?}");
}

async fn a_use_that_was_given_up_is_not_made_later(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    orders::create_discount(ctx, ten_off("spring", Some(1))).await.expect("made");
    let checkout = CheckoutId(ctx.new_id());
    orders::unredeem(ctx, "spring", checkout).await.expect("nothing to give back");
    let late = orders::redeem(ctx, "spring", checkout).await;
    assert!(matches!(late, Err(Error::DiscountGivenBack { .. })), "{late:?}");
    assert_eq!(orders::get_discount(ctx, "spring").await.expect("there").uses, 0);
    orders::unredeem(ctx, "nothing", checkout).await.expect("nothing to give back");
    assert!(orders::find_discount(ctx, "nothing").await.expect("read").is_none());
}

async fn every_refusal_has_its_reason(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let new = NewDiscount {
        reduction: Reduction::Amount(Decimal::from(5)),
        currency: Some(Currency::new("EUR")),
        minimal_subtotal: Some(Decimal::from(20)),
        valid_from: Some(ctx.now().plus_seconds(10)),
        valid_until: Some(ctx.now().plus_seconds(20)),
        ..ten_off("spring", Some(1))
    };
    let made = orders::create_discount(ctx, new.clone()).await.expect("made");
    assert_eq!(orders::get_discount(ctx, "spring").await.expect("there"), made);
    let redeem = async || orders::redeem(ctx, "spring", CheckoutId(ctx.new_id())).await.map_err(|error| error.code());
    assert_eq!(redeem().await.map(|_| ()), Err("discount_not_yet"));
    world.clock.advance_millis(10_000);
    assert_eq!(redeem().await.map(|_| ()), Ok(()));
    assert_eq!(redeem().await.map(|_| ()), Err("discount_used_up"));
    world.clock.advance_millis(10_000);
    assert_eq!(redeem().await.map(|_| ()), Err("discount_over"));
    let again = orders::create_discount(ctx, new).await.expect_err("it is there");
    assert_eq!((again.code(), again.kind()), ("discount_exists", Kind::Exists));
    let absent = orders::redeem(ctx, "autumn", CheckoutId(ctx.new_id())).await.expect_err("it is not there");
    assert_eq!((absent.code(), absent.kind()), ("discount_not_found", Kind::NotFound));
    assert_eq!(orders::disable_discount(ctx, "autumn").await.expect_err("absent").code(), "discount_not_found");
    assert_eq!(orders::get_discount(ctx, "autumn").await.expect_err("absent").code(), "discount_not_found");
}

async fn of_many_who_make_one_code_one_does(target: &Target) {
    let world = World::new(target);
    let made = (1..=6).map(|n| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move { orders::create_discount(&ctx, ten_off("spring", Some(n))).await })
    });
    let mut winners = Vec::new();
    for made in join_all(made.collect::<Vec<_>>()).await {
        match made.expect("no panic") {
            Ok(discount) => winners.push(discount),
            Err(Error::DiscountExists { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(orders::get_discount(&world.ctx, "spring").await.expect("there"), winners[0]);
}

async fn codes_are_listed_newest_first_as_they_are(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    assert!(orders::list_discounts(ctx, PageRequest::default()).await.expect("a page").rows.is_empty());
    for code in ["spring", "summer", "autumn"] {
        orders::create_discount(ctx, ten_off(code, None)).await.expect("made");
        world.clock.advance_millis(10);
    }
    orders::redeem(ctx, "summer", CheckoutId(ctx.new_id())).await.expect("redeemed");
    orders::disable_discount(ctx, "spring").await.expect("disabled");
    let first = orders::list_discounts(ctx, PageRequest::first(2)).await.expect("a page");
    let shown = |codes: &[orders::Discount]| -> Vec<_> {
        codes.iter().map(|code| (code.code.clone(), code.uses, code.disabled)).collect()
    };
    assert_eq!(shown(&first.rows), [("autumn".into(), 0, false), ("summer".into(), 1, false)]);
    let second = orders::list_discounts(ctx, PageRequest { limit: 2, cursor: first.next }).await.expect("a page");
    assert_eq!((shown(&second.rows), second.next), (vec![("spring".into(), 0, true)], None));
}
