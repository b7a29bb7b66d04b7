//! The rules: given, when, then.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    Error, GuestToken, ItemSnapshot, MergePolicy, line_id,
    rules::{self, Access, Draft, Outcome, access},
    tables::{CartEntry, Head, Line},
};
use crate::{
    Currency,
    id::{CartId, ProductId, UserId},
    limits,
};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const USER: UserId = UserId(Uuid::from_u128(1));

fn item(n: u128, cents: i64) -> ItemSnapshot {
    ItemSnapshot {
        product_id: ProductId(Uuid::from_u128(n)),
        name: format!("Product {n}"),
        image_url: None,
        unit_price: Decimal::new(cents, 2),
        currency: Currency::new("EUR"),
        options: BTreeMap::new(),
    }
}

fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

#[test]
fn a_line_is_a_product_and_its_options() {
    let product = ProductId(Uuid::from_u128(1));
    let id = |pairs: &[(&str, &str)]| line_id(product, &options(pairs));
    assert_eq!(id(&[("size", "L"), ("colour", "blue")]), id(&[("colour", "blue"), ("size", "L")]));
    // No two lists of options run into each other.
    let different = [
        id(&[]),
        id(&[("size", "L")]),
        id(&[("size", "M")]),
        id(&[("siz", "eL")]),
        id(&[("a", "b"), ("c", "d")]),
        id(&[("a", "bcd")]),
        line_id(ProductId(Uuid::from_u128(2)), &options(&[])),
    ];
    for (i, a) in different.iter().enumerate() {
        assert!(different[..i].iter().all(|b| a != b), "{i}");
    }
}

#[test]
fn lines_added_within_a_millisecond_or_with_a_clock_that_went_back_stand_in_their_order() {
    let mut draft = Draft::default();
    for (n, at) in [(1, NOW), (2, NOW), (3, NOW.plus_seconds(-60)), (1, NOW.plus_seconds(-60))] {
        draft.add(&item(n, 100), 1, at).unwrap();
    }
    let names: Vec<_> = draft.lines.iter().map(|l| l.product_name.as_str()).collect();
    assert_eq!(names, ["Product 1", "Product 3", "Product 2"]);
    assert!(draft.lines.is_sorted_by(|a, b| a.added_at > b.added_at));
}

#[test]
fn a_price_is_kept_with_the_decimals_of_its_currency() {
    let mut draft = Draft::default();
    let price: Decimal = "1.5000000000000000000000000".parse().unwrap();
    draft.add(&ItemSnapshot { unit_price: price, ..item(1, 0) }, 3, NOW).unwrap();
    assert_eq!(draft.lines[0].unit_price.to_string(), "1.50");
    assert_eq!(draft.subtotal().to_string(), "4.50");
}

#[test]
fn the_largest_cart_has_an_exact_subtotal() {
    let most = item(0, 0);
    let most = ItemSnapshot { unit_price: limits::PRICE_MAX - Decimal::new(1, 2), ..most };
    let mut draft = Draft::default();
    for n in 0..limits::LINES_A_CART_MAX as u128 {
        let item = ItemSnapshot { product_id: ProductId(Uuid::from_u128(n)), ..most.clone() };
        draft.add(&item, limits::QUANTITY_MAX, NOW).unwrap();
    }
    assert_eq!(draft.subtotal(), most.unit_price * Decimal::from(100_000) * Decimal::from(1_000));
    assert_eq!(draft.pieces(), 100_000_000);
    assert!(matches!(draft.add(&item(5_000, 1), 1, NOW), Err(Error::TooManyLines { limit: 1_000 })));
}

#[test]
fn the_changes_of_a_draft_are_the_rows_that_differ() {
    let mut draft = Draft::default();
    for n in 1..=3 {
        draft.add(&item(n, 100), 1, NOW).unwrap();
    }
    let before = draft.lines.clone();
    draft.add(&item(1, 100), 1, NOW).unwrap();
    draft.remove(before[1].line_id).unwrap();
    let (deletes, puts) = rules::changes(&before, &draft.lines);
    assert_eq!(deletes, [(before[2].added_at, before[2].line_id), (before[1].added_at, before[1].line_id)]);
    assert_eq!(puts, [&draft.lines[0]]);
    assert_eq!(rules::changes(&before, &before), (vec![], vec![]));
}

#[test]
fn who_sees_a_cart() {
    let (guest, other) = (None, Some(UserId(Uuid::from_u128(2))));
    let written = Head { updated_at: Some(NOW), user_id: Some(USER), ..Head::default() };
    let guests = Head { user_id: None, expires_at: Some(NOW.plus_seconds(1)), ..written.clone() };
    let merged = Head { user_id: Some(USER), closed: true, ..guests.clone() };
    let copy = Head { copying: true, expires_at: Some(NOW), ..written.clone() };
    let deleted = Head { closed: true, expires_at: Some(NOW), ..written.clone() };
    let ended = |head: &Head| Head { expires_at: Some(NOW), ..head.clone() };
    for (head, owner, listed, expected) in [
        (&Head::default(), Some(USER), false, Access::IfListed),
        (&Head::default(), Some(USER), true, Access::Granted),
        (&Head::default(), guest, true, Access::Granted),
        (&written, Some(USER), false, Access::Granted),
        (&written, other, false, Access::Refused),
        (&written, guest, true, Access::Refused),
        (&ended(&written), Some(USER), false, Access::Ended),
        (&ended(&written), other, false, Access::Refused),
        (&guests, guest, true, Access::Granted),
        (&guests, Some(USER), false, Access::Refused),
        (&ended(&guests), guest, true, Access::Ended),
        (&merged, guest, true, Access::Closed),
        (&merged, Some(USER), false, Access::Closed),
        (&merged, other, false, Access::Refused),
        (&ended(&merged), guest, true, Access::Ended),
        (&copy, Some(USER), false, Access::IfListed),
        (&copy, Some(USER), true, Access::Granted),
        (&copy, other, false, Access::Refused),
        (&deleted, Some(USER), true, Access::Closed),
        (&deleted, other, false, Access::Refused),
    ] {
        assert_eq!(access(head, owner, listed, NOW), expected, "{head:?} for {owner:?}");
    }
}

#[test]
fn a_token_leads_to_its_cart_and_is_not_shown() {
    let token = GuestToken::parse(&"0123456789abcdef".repeat(4)).unwrap();
    assert_eq!(token.cart_id(), GuestToken::parse(token.as_str()).unwrap().cart_id());
    assert_ne!(token.cart_id(), GuestToken::parse(&"0".repeat(64)).unwrap().cart_id());
    // Another version of id than those of users' carts, so that they never meet.
    assert_eq!(token.cart_id().0.get_version_num(), 8);
    assert!(!format!("{token:?}").contains(token.as_str()));
}

fn entry(n: u128, name: &str, cart_is_active: bool) -> CartEntry {
    CartEntry {
        user_id: USER,
        cart_name: name.into(),
        cart_id: CartId(Uuid::from_u128(n)),
        user_email: None,
        told: None,
        cart_is_active,
        created_at: NOW,
    }
}

#[test]
fn the_last_cart_is_followed_by_a_new_one() {
    let mut entries = vec![entry(1, "A", true)];
    let new = entry(9, "My cart", false);
    let active = rules::unlist(&mut entries, CartId(Uuid::from_u128(1)), new);
    assert_eq!(entries, [entry(9, "My cart", true)]);
    assert_eq!(active, entries[0]);
}

fn lines(items: &[(u128, u32, i64)]) -> Draft {
    let mut draft = Draft::default();
    for (n, quantity, seconds) in items {
        if draft.lines.iter().all(|line| line.product_id != ProductId(Uuid::from_u128(*n))) {
            draft.add(&item(*n, 150), *quantity, NOW.plus_seconds(*seconds)).unwrap();
        }
    }
    draft
}

fn any_lines() -> impl Strategy<Value = Draft> {
    prop::collection::vec((0u128..8, 1u32..100, -1000i64..1000), 0..12).prop_map(|items| lines(&items))
}

proptest! {
    /// Whatever is done to a list of carts, one is active while there are any.
    #[test]
    fn exactly_one_cart_is_active(steps in prop::collection::vec((0u8..4, 0u128..6), 1..40)) {
        let mut entries: Vec<CartEntry> = Vec::new();
        for (step, n) in steps {
            let cart = CartId(Uuid::from_u128(n));
            let there = entries.iter().any(|entry| entry.cart_id == cart);
            match step {
                0 if !there => drop(rules::list_new(&mut entries, entry(n, "A", false)).unwrap()),
                1 => prop_assert_eq!(rules::activate(&mut entries, cart).is_ok(), there),
                2 => prop_assert_eq!(rules::rename(&mut entries, cart, "B").is_ok(), there),
                _ => drop(rules::unlist(&mut entries, cart, entry(100 + n, "My cart", false))),
            }
            let active = entries.iter().filter(|entry| entry.cart_is_active).count();
            prop_assert_eq!(active, usize::from(!entries.is_empty()));
        }
    }

    /// A merge in two halves is the merge of the whole, and every line is in the answer once.
    #[test]
    fn a_merge_in_two_halves_is_the_whole(mine in any_lines(), guests in any_lines(), cut in 0usize..12, policy in 0usize..4) {
        let policy = MergePolicy::ALL[policy];
        let merge = |draft: &mut Draft, lines: &[Line]| {
            lines.iter().map(|line| draft.take(line, guests.currency.as_ref(), policy)).collect::<Vec<_>>()
        };
        let mut whole = mine.clone();
        let outcomes = merge(&mut whole, &guests.lines);
        let mut halves = mine.clone();
        let (first, second) = guests.lines.split_at(cut.min(guests.lines.len()));
        merge(&mut halves, first);
        merge(&mut halves, second);
        prop_assert_eq!(&whole, &halves);
        let added = outcomes.iter().filter(|outcome| **outcome == Outcome::Added).count();
        prop_assert_eq!(whole.lines.len(), mine.lines.len() + added);
        let total = whole.pieces();
        let (own, theirs) = (mine.pieces(), guests.pieces());
        match policy {
            MergePolicy::Sum => prop_assert_eq!(total, own + theirs),
            _ => prop_assert!(total <= own + theirs),
        }
        prop_assert!(whole.lines.is_sorted_by_key(|line| (std::cmp::Reverse(line.added_at), line.line_id)));
    }
}
