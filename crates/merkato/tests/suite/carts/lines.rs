//! Lines: added, changed, removed, in parallel, up to the limits.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use futures::future::join_all;
use merkato::{
    carts::{self, Error, Which},
    limits,
};
use rust_decimal::Decimal;
use tokio::task::JoinHandle;
use widerow_testing::Target;

use super::{add, add_many, gist, item, line, new_guest, new_user, product, show, sized, sound};
use crate::world::World;

widerow_testing::cases!(
    a_line_keeps_what_the_shopper_saw,
    the_same_product_again_is_one_line_on_top_with_the_newer_price,
    two_sizes_are_two_lines,
    a_quantity_is_set_and_a_line_removed,
    the_subtotal_is_exact,
    an_emptied_cart_takes_another_currency,
    parallel_adds_of_different_lines_all_survive,
    the_same_line_added_in_parallel_sums,
    readers_never_see_a_subtotal_that_is_not_the_sum,
    a_quantity_over_the_limit_is_refused,
    a_cart_has_at_most_a_thousand_lines,
    several_lines_are_added_together_or_not_at_all,
    an_edit_rests_on_its_revision_or_is_not_made,
);

/// Of many who saw the same cart one edits it, also where the clock stands still.
async fn an_edit_rests_on_its_revision_or_is_not_made(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let mut seen = vec![add(ctx, &shopper, 1, 1).await];
    for quantity in 2..5 {
        let at = Which::Active.at(seen.last().map(carts::Cart::revision));
        seen.push(sound(carts::set_quantity(ctx, &shopper, at, line(1), quantity).await.unwrap()));
    }
    assert!(seen.is_sorted_by(|a, b| a.revision() < b.revision()));
    let last = show(ctx, &shopper, Which::Active).await;
    assert_eq!(Some(&last), seen.last());
    for stale in &seen[..3] {
        let at = Which::Active.at(Some(stale.revision()));
        let refused = carts::remove_line(ctx, &shopper, at, line(1)).await;
        assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
        let refused = carts::delete_cart(ctx, user, last.cart_id.unwrap(), Some(stale.revision())).await;
        assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    }
    assert_eq!(show(ctx, &shopper, Which::Active).await, last);
    let at = Which::Active.at(Some(last.revision()));
    let edits = join_all((2..10).map(|n| carts::add_line(ctx, &shopper, at, item(n), 1))).await;
    assert_eq!(edits.iter().filter(|edit| edit.is_ok()).count(), 1);
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines.len(), 2);
}

async fn a_line_keeps_what_the_shopper_saw(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_user(ctx);
    let before = ctx.now();
    let item = sized(7, "L");
    let cart = sound(carts::add_line(ctx, &shopper, Which::Active, item.clone(), 3).await.unwrap());
    assert_eq!(cart, show(ctx, &shopper, Which::Active).await);
    let [line] = cart.lines.as_slice() else { panic!("{cart:?}") };
    assert_eq!((line.product_id, &line.product_name), (item.product_id, &item.name));
    assert_eq!((&line.product_image, line.unit_price), (&item.image_url, item.unit_price));
    assert_eq!((line.quantity, &line.selected_options), (3, &item.options));
    assert!(line.added_at >= before);
    assert_eq!(carts::find_line(ctx, &shopper, Which::Active, line.line_id).await.unwrap().as_ref(), Some(line));
    assert_eq!(carts::find_product(ctx, &shopper, Which::Active, product(7)).await.unwrap(), cart.lines);
    assert_eq!(carts::find_product(ctx, &shopper, Which::Active, product(8)).await.unwrap(), []);
    assert_eq!(carts::find_line(ctx, &shopper, Which::Active, super::line(7)).await.unwrap(), None);
}

async fn the_same_product_again_is_one_line_on_top_with_the_newer_price(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_guest(ctx);
    add(ctx, &shopper, 1, 2).await;
    add(ctx, &shopper, 2, 1).await;
    let cheaper = merkato::carts::ItemSnapshot { unit_price: Decimal::ONE, name: "New name".into(), ..item(1) };
    let cart = sound(carts::add_line(ctx, &shopper, Which::Active, cheaper, 5).await.unwrap());
    let euro = Decimal::ONE;
    assert_eq!(gist(&cart.lines), [(line(1), 7, euro), (line(2), 1, item(2).unit_price)]);
    assert_eq!(cart.lines[0].product_name, "New name");
    assert_eq!(show(ctx, &shopper, Which::Active).await, cart);
}

async fn two_sizes_are_two_lines(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_user(ctx);
    for size in ["L", "M", "L"] {
        carts::add_line(ctx, &shopper, Which::Active, sized(1, size), 1).await.unwrap();
    }
    let cart = show(ctx, &shopper, Which::Active).await;
    let found: Vec<_> = cart.lines.iter().map(|l| (l.selected_options["size"].as_str(), l.quantity)).collect();
    assert_eq!(found, [("L", 2), ("M", 1)]);
    assert_eq!(carts::find_product(ctx, &shopper, Which::Active, product(1)).await.unwrap().len(), 2);
}

async fn a_quantity_is_set_and_a_line_removed(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_user(ctx);
    add_many(ctx, &shopper, 1..=3, 1).await;
    let cart = sound(carts::set_quantity(ctx, &shopper, Which::Active, line(1), 9).await.unwrap());
    let found: Vec<_> = cart.lines.iter().map(|l| (l.line_id, l.quantity)).collect();
    assert_eq!(found, [(line(3), 1), (line(2), 1), (line(1), 9)], "each line stays where it is");
    let cart = sound(carts::remove_line(ctx, &shopper, Which::Active, line(2)).await.unwrap());
    assert_eq!(cart.lines.len(), 2);
    assert_eq!(show(ctx, &shopper, Which::Active).await, cart);
    for gone in [
        carts::remove_line(ctx, &shopper, Which::Active, line(2)).await,
        carts::set_quantity(ctx, &shopper, Which::Active, line(2), 1).await,
    ] {
        assert!(matches!(gone, Err(Error::LineNotFound { line: l }) if l == line(2)), "{gone:?}");
    }
    let cart = sound(carts::clear_cart(ctx, &shopper, Which::Active).await.unwrap());
    assert_eq!((cart.lines.len(), cart.subtotal), (0, Decimal::ZERO));
    assert_eq!(show(ctx, &shopper, Which::Active).await, cart);
}

async fn the_subtotal_is_exact(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_guest(ctx);
    for (n, price) in [(1, "0.10"), (2, "0.20"), (3, "9999999998.99"), (4, "0.0")] {
        let item = merkato::carts::ItemSnapshot { unit_price: price.parse().unwrap(), ..item(n) };
        carts::add_line(ctx, &shopper, Which::Active, item, 100_000).await.unwrap();
    }
    let cart = show(ctx, &shopper, Which::Active).await;
    assert_eq!(cart.subtotal, "999999999929000".parse().unwrap());
    assert_eq!(cart.item_count, 400_000);
}

async fn an_emptied_cart_takes_another_currency(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_guest(ctx);
    let yen = merkato::carts::ItemSnapshot {
        currency: merkato::Currency::new("JPY"),
        unit_price: Decimal::from(500),
        ..item(2)
    };
    let before = add(ctx, &shopper, 1, 1).await;
    let refused = carts::add_line(ctx, &shopper, Which::Active, yen.clone(), 1).await.unwrap_err();
    assert!(matches!(&refused, Error::OtherCurrency { cart, found } if cart.code() == "EUR" && found.code() == "JPY"));
    assert_eq!((refused.code(), refused.field()), ("other_currency", Some("currency")));
    assert_eq!(show(ctx, &shopper, Which::Active).await, before);
    carts::remove_line(ctx, &shopper, Which::Active, line(1)).await.unwrap();
    let cart = sound(carts::add_line(ctx, &shopper, Which::Active, yen, 1).await.unwrap());
    assert_eq!(cart.currency.unwrap().code(), "JPY");
}

async fn parallel_adds_of_different_lines_all_survive(target: &Target) {
    let ctx = World::new(target).ctx;
    for shopper in [new_user(&ctx).1, new_guest(&ctx).1] {
        let adds = (0..30).map(|n| {
            let (ctx, shopper) = (ctx.clone(), shopper.clone());
            tokio::spawn(async move { add(&ctx, &shopper, n, 1 + i64::from(n)).await })
        });
        for cart in join_all(adds).await {
            cart.unwrap();
        }
        let cart = show(&ctx, &shopper, Which::Active).await;
        let mut found: Vec<_> = cart.lines.iter().map(|l| (l.product_id, l.quantity)).collect();
        found.sort();
        assert_eq!(found, (0..30).map(|n| (product(n), n + 1)).collect::<Vec<_>>());
    }
}

async fn the_same_line_added_in_parallel_sums(target: &Target) {
    let ctx = World::new(target).ctx;
    let (user, shopper) = new_user(&ctx);
    let adds = (0..20).map(|n| {
        let (ctx, shopper) = (ctx.clone(), shopper.clone());
        tokio::spawn(async move { add(&ctx, &shopper, 1, n + 1).await })
    });
    join_all(adds).await.into_iter().for_each(|cart| drop(cart.unwrap()));
    let cart = show(&ctx, &shopper, Which::Active).await;
    assert_eq!(gist(&cart.lines), [(line(1), 210, item(1).unit_price)]);
    let list = carts::list_carts(&ctx, user).await.unwrap();
    assert_eq!(list.len(), 1, "all of them were given one and the same cart");
}

async fn readers_never_see_a_subtotal_that_is_not_the_sum(target: &Target) {
    let ctx = World::new(target).ctx;
    let (_, shopper) = new_guest(&ctx);
    add_many(&ctx, &shopper, 0..20, 1).await;
    let done = Arc::new(AtomicBool::new(false));
    let reads: Arc<[AtomicU64; 2]> = Arc::default();
    let readers = [0, 1].map(|reader| {
        let (ctx, shopper, done, reads) = (ctx.clone(), shopper.clone(), done.clone(), reads.clone());
        tokio::spawn(async move {
            while !done.load(Ordering::SeqCst) {
                show(&ctx, &shopper, Which::Active).await;
                reads[reader].fetch_add(1, Ordering::SeqCst);
            }
        })
    });
    // Until both have read meanwhile, however late they began; or one has seen what it must not.
    let both_read = || reads.iter().all(|reads| reads.load(Ordering::SeqCst) > 0);
    for n in 0.. {
        add(&ctx, &shopper, n % 20, 1).await;
        if n >= 40 && (both_read() || readers.iter().any(JoinHandle::is_finished)) {
            break;
        }
    }
    done.store(true, Ordering::SeqCst);
    join_all(readers).await.into_iter().for_each(|read| read.unwrap());
}

async fn a_quantity_over_the_limit_is_refused(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_user(ctx);
    let before = add(ctx, &shopper, 1, limits::QUANTITY_MAX.into()).await;
    let refused = carts::add_line(ctx, &shopper, Which::Active, item(1), 1).await.unwrap_err();
    assert!(matches!(refused, Error::TooManyPieces { wanted: 100_001, limit: 100_000, .. }), "{refused:?}");
    assert_eq!((refused.code(), refused.field()), ("too_many_pieces", Some("quantity")));
    assert_eq!(show(ctx, &shopper, Which::Active).await, before);
}

async fn a_cart_has_at_most_a_thousand_lines(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    add_many(ctx, &shopper, 0..1_000, 1).await;
    let refused = carts::add_line(ctx, &shopper, Which::Active, item(1_000), 1).await.unwrap_err();
    assert!(matches!(refused, Error::TooManyLines { limit: 1_000 }), "{refused:?}");
    assert_eq!((refused.code(), refused.to_string()), ("too_many_lines", "a cart has at most 1000 lines".into()));
    let full = add(ctx, &shopper, 0, 1).await;
    assert_eq!(full.lines.len(), 1_000, "another one of a line that is there");
    let cart = full.cart_id.unwrap();
    // As many are copied, cleared and deleted, in pieces.
    let copy = carts::copy_cart(ctx, user, cart, "Copy").await.unwrap();
    assert_eq!(show(ctx, &shopper, copy.cart_id).await.lines, full.lines);
    assert_eq!(sound(carts::clear_cart(ctx, &shopper, cart).await.unwrap()).lines, []);
    carts::delete_cart(ctx, user, copy.cart_id, None).await.unwrap();
    assert_eq!(super::stored(ctx, copy.cart_id).await.0, 0);
    assert!(matches!(carts::show_cart(ctx, &shopper, copy.cart_id).await, Err(Error::CartNotFound { .. })));
}

async fn several_lines_are_added_together_or_not_at_all(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, shopper) = new_user(ctx);
    let before = add(ctx, &shopper, 1, limits::QUANTITY_MAX.into()).await;
    let refused = carts::add_lines(ctx, &shopper, Which::Active, &[(item(2), 1), (item(1), 1)]).await;
    assert!(matches!(refused, Err(Error::TooManyPieces { .. })));
    assert_eq!(show(ctx, &shopper, Which::Active).await, before);
}
