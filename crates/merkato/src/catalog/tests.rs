//! Orders and prefixes: texts that must sort and be found as the products do.

use proptest::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    order::SortOrder,
    prefix,
    rules::{self, NewProduct},
    tables::Product,
    words::Words,
};
use crate::{
    id::{CategoryId, ProductId},
    limits,
    money::Currency,
    text,
};

fn product(name: &str, price: Decimal) -> Product {
    let new = NewProduct::named(name, CategoryId(Uuid::nil()), price, Currency::new("EUR"));
    rules::draft(new, ProductId(Uuid::nil()), Timestamp::from_millis(1_700_000_000_000))
}

proptest! {
    #[test]
    fn prices_order_as_their_keys(a in 0i64..=9_999_999_999_999, b in 0i64..=9_999_999_999_999) {
        let [a, b] = [a, b].map(|n| product("x", Decimal::new(n, 3)));
        let ascending = SortOrder::PriceAsc.key(&a).cmp(&SortOrder::PriceAsc.key(&b));
        prop_assert_eq!(ascending, a.price.cmp(&b.price));
        let descending = SortOrder::PriceDesc.key(&a).cmp(&SortOrder::PriceDesc.key(&b));
        prop_assert_eq!(descending, b.price.cmp(&a.price));
    }

    #[test]
    fn newest_and_most_popular_come_first(a in 0i64..=253_402_300_799_999, b in 0i64..=253_402_300_799_999) {
        let mut products = [product("x", Decimal::ONE), product("x", Decimal::ONE)];
        for (product, n) in products.iter_mut().zip([a, b]) {
            (product.created_at, product.popularity) = (Timestamp::from_millis(n), n);
        }
        for order in [SortOrder::Newest, SortOrder::Popular] {
            prop_assert_eq!(order.key(&products[0]).cmp(&order.key(&products[1])), b.cmp(&a));
        }
    }

    #[test]
    fn any_name_has_keys_within_the_limits(name in "\\PC{1,300}") {
        let name = text::cut(&name, limits::NAME_BYTES_MAX);
        for order in SortOrder::ALL {
            prop_assert!(order.key(&product(name, Decimal::ONE)).len() <= 220);
        }
        for (partition, rest) in prefix::entries(name) {
            prop_assert!((2..=3).contains(&partition.chars().count()));
            prop_assert!(rest.starts_with(&partition) && rest.len() <= prefix::SORTED_BYTES_MAX);
        }
        let slug = rules::slug_of(name);
        let mut check = crate::Check::new();
        check.slug("slug", &slug);
        check.slug("longer", &rules::slug_with_id(&slug, Uuid::max()));
        prop_assert!(check.end().is_ok(), "{slug:?}");
    }

    #[test]
    fn any_name_is_found_by_its_words_once(name in "\\PC{1,40}|([a-c]{1,4}[ -]){1,8}", pick in any::<prop::sample::Index>()) {
        let folded = text::fold(&name);
        let mut words: Vec<_> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.truncate(limits::SEARCH_WORDS_MAX);
        words.reverse();
        if let Some(last) = words.len().checked_sub(1) {
            words.swap(pick.index(last + 1), last);
        }
        let Ok(wanted) = Words::parse(&words.join(" ")) else {
            prop_assert!(words.iter().all(|word| word.chars().count() < 2));
            return Ok(());
        };
        prop_assert!(wanted.admit(&name));
        let entries = prefix::entries(&name);
        for walk in wanted.walks() {
            let in_walk = entries.iter().filter(|(partition, text)| {
                partition == walk.partition && text.starts_with(walk.start.unwrap_or_default())
            });
            prop_assert_eq!(in_walk.filter(|(_, text)| walk.meets_first(&name, text)).count(), 1);
        }
    }

    #[test]
    fn folding_twice_is_folding_once(name in "\\PC{0,60}") {
        let once = text::fold(&name);
        prop_assert_eq!(text::fold(&once), once);
    }
}

#[test]
fn the_largest_price_keeps_its_place() {
    let (most, less) = (product("x", limits::PRICE_MAX), product("x", limits::PRICE_MAX - Decimal::new(1, 2)));
    assert_eq!(limits::PRICE_MAX.to_string(), "9999999999");
    assert_eq!(SortOrder::PriceAsc.key(&product("x", Decimal::new(599, 2))), "price_asc:0000000005.990");
    assert!(SortOrder::PriceAsc.key(&less) < SortOrder::PriceAsc.key(&most));
    assert!(SortOrder::PriceDesc.key(&most) < SortOrder::PriceDesc.key(&less));
}

#[test]
fn every_word_is_found_without_case_and_accents() {
    let found = |typed: &str| {
        let typed = text::fold(typed);
        let partition = prefix::first_chars(&typed, 3).or_else(|| prefix::first_chars(&typed, 2)).expect("two");
        prefix::entries("Crème-brûlée «Straße» für 2")
            .iter()
            .any(|(p, rest)| p == partition && rest.starts_with(&typed))
    };
    for typed in ["cr", "CRE", "creme", "brulee", "BRÛ", "strasse", "straße", "fu", "für 2", "brulee «str"] {
        assert!(found(typed), "{typed}");
    }
    for typed in ["re", "ulee", "2x", "rasse"] {
        assert!(!found(typed), "{typed}");
    }
}

#[test]
fn a_name_stands_once_in_a_partition_of_two_characters() {
    let short = prefix::entries("Toy tower toys").into_iter().filter(|(p, _)| p == "to").count();
    assert_eq!(short, 1);
    let long: Vec<_> = prefix::entries("Toy tower toys").into_iter().filter(|(p, _)| p == "toy").collect();
    assert_eq!(long.len(), 2);
}

#[test]
fn slugs_are_made_of_names() {
    for (name, slug) in [
        ("Crème brûlée, 2 pcs", "creme-brulee-2-pcs"),
        ("  --FREKVENS / bar--  ", "frekvens-bar"),
        ("日本", "product"),
        ("Ærø", "aero"),
    ] {
        assert_eq!(rules::slug_of(name), slug);
    }
}

#[test]
fn a_name_has_all_words_and_the_beginning_of_the_last() {
    let admit = |q: &str| Words::parse(q).expect(q).admit("Crème-brûlée «Straße» für 2");
    for q in ["creme", "brulee creme", "2 FÜR", "für stra", "strasse für 2 brûlée crème", "fur fur", "bru"] {
        assert!(admit(q), "{q}");
    }
    for q in ["bru creme", "creme rulee", "creme 3", "cremebrulee", "fürs"] {
        assert!(!admit(q), "{q}");
    }
}

#[test]
fn the_longest_words_are_walked_first() {
    let partitions = |q: &str| -> Vec<(String, Option<String>)> {
        let words = Words::parse(q).expect(q);
        words.walks().iter().map(|walk| (walk.partition.to_owned(), walk.start.map(str::to_owned))).collect()
    };
    let place = |partition: &str, start: Option<&str>| (partition.to_owned(), start.map(str::to_owned));
    assert_eq!(partitions("a tv oak lamp"), [place("lam", Some("lamp")), place("oak", None), place("tv", None)]);
    assert_eq!(partitions("oak elm"), [place("oak", None), place("elm", None)]);
    assert_eq!(partitions("lamp lamp"), [place("lam", Some("lamp"))]);
    // As many as are read at the most.
    assert_eq!(partitions("one two six ten elm oak").len(), limits::SEARCH_WALKS_MAX);
}

#[test]
fn a_name_is_met_by_the_first_of_its_texts_in_a_walk() {
    let name = "Toy tower toys";
    let words = Words::parse("toy").expect("a word");
    let walk = words.walks()[0];
    assert!(walk.meets_first(name, "toy tower toys"));
    assert!(!walk.meets_first(name, "toys") && !walk.meets_first(name, "tower toys"));
    let words = Words::parse("toys").expect("a word");
    assert!(words.walks()[0].meets_first(name, "toys"));
}
