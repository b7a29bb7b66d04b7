//! Search by several words of a name.

use std::collections::BTreeMap;

use merkato::{
    Context, Kind, PageRequest,
    catalog::{self, ProductChange, ProductStatus},
};
use widerow::meter;
use widerow_testing::{Target, cases};

use super::{category, on_sale};
use crate::world::World;

cases![
    all_words_are_found_in_any_order,
    what_is_renamed_or_archived_is_not_found_by_its_old_words,
    every_product_is_met_once_whatever_the_pages,
    a_page_walks_no_farther_than_it_says,
    bad_searches_are_refused,
];

async fn make(ctx: &Context, names: impl IntoIterator<Item = String>) {
    let lamps = category(ctx, "Lamps").await;
    for name in names {
        catalog::create_product(ctx, on_sale(&name, &lamps, 100)).await.expect("a product");
    }
}

/// The names on the first page, sorted; there is no other.
async fn found(ctx: &Context, q: &str) -> Vec<String> {
    let page = catalog::search_text(ctx, q, PageRequest::default()).await.expect("a page");
    assert_eq!(page.next, None, "{q}");
    let mut names: Vec<_> = page.rows.into_iter().map(|entry| entry.name).collect();
    names.sort();
    names
}

/// The names on all pages, with how often each was met, and the number of pages.
async fn walk(ctx: &Context, q: &str, limit: usize) -> (BTreeMap<String, usize>, usize) {
    let pattern = catalog::PATTERNS.iter().find(|pattern| pattern.name == "Q3 by words").expect("it is listed");
    let (mut names, mut pages, mut cursor) = (BTreeMap::new(), 0, None);
    loop {
        let (page, cost) = meter::measure(catalog::search_text(ctx, q, PageRequest { limit, cursor })).await;
        let page = page.expect("a page");
        assert!(page.rows.len() <= limit);
        assert!(pattern.cost.admits(&cost, limit as u64), "{q}: {cost}");
        page.rows.into_iter().for_each(|entry| *names.entry(entry.name).or_default() += 1);
        pages += 1;
        assert!(pages < 100, "{q} has no end");
        cursor = page.next;
        if cursor.is_none() {
            return (names, pages);
        }
    }
}

async fn all_words_are_found_in_any_order(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let names = [
        "Oak desk lamp",
        "Lamp of oak",
        "Desk",
        "Crème-brûlée «Straße» für 2",
        "Oakley lamp",
        "TV lamp 5 W",
        "茶碗 lamp",
    ];
    make(ctx, names.map(String::from)).await;
    assert_eq!(found(ctx, "lamp oak").await, ["Lamp of oak", "Oak desk lamp", "Oakley lamp"]);
    assert_eq!(found(ctx, "OAK  lamp").await, ["Lamp of oak", "Oak desk lamp"]);
    assert_eq!(found(ctx, "desk oak lamp").await, ["Oak desk lamp"]);
    // The last word may still be typed; the others are whole.
    assert_eq!(found(ctx, "oak la").await, ["Lamp of oak", "Oak desk lamp"]);
    assert_eq!(found(ctx, "la oak").await, [""; 0]);
    assert_eq!(found(ctx, "desk").await, ["Desk", "Oak desk lamp"]);
    assert_eq!(found(ctx, "2 strasse BRULEE").await, ["Crème-brûlée «Straße» für 2"]);
    assert_eq!(found(ctx, "tv 5").await, ["TV lamp 5 W"]);
    assert_eq!(found(ctx, "w lamp").await, ["TV lamp 5 W"]);
    assert_eq!(found(ctx, "lamp, 茶").await, ["茶碗 lamp"]);
    assert_eq!(found(ctx, "oak xyz").await, [""; 0]);
    let other = World::new(target);
    assert_eq!(found(&other.ctx, "oak lamp").await, [""; 0]);
}

async fn what_is_renamed_or_archived_is_not_found_by_its_old_words(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let oak = catalog::create_product(ctx, on_sale("Oak lamp", &lamps, 100)).await.expect("a product");
    let draft = merkato::catalog::NewProduct { status: ProductStatus::Draft, ..on_sale("Oak draft", &lamps, 100) };
    catalog::create_product(ctx, draft).await.expect("a product");
    assert_eq!(found(ctx, "lamp oak").await, ["Oak lamp"]);
    assert_eq!(found(ctx, "draft oak").await, [""; 0]);
    let change = ProductChange { name: Some("Elm lamp".into()), ..ProductChange::default() };
    catalog::change_product(ctx, oak.product_id, None, change).await.expect("changed");
    assert_eq!(found(ctx, "lamp oak").await, [""; 0]);
    assert_eq!(found(ctx, "lamp elm").await, ["Elm lamp"]);
    catalog::archive_product(ctx, oak.product_id, None).await.expect("archived");
    assert_eq!(found(ctx, "lamp elm").await, [""; 0]);
}

async fn every_product_is_met_once_whatever_the_pages(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // Two and three of their words begin as what is looked for.
    let names: Vec<_> = (0..12).map(|n| format!("Case {n} for cases of cash {}", n % 3)).collect();
    make(ctx, names.clone()).await;
    let once: BTreeMap<_, _> = names.into_iter().map(|name| (name, 1)).collect();
    for q in ["cas", "ca", "of cas", "for of ca", "case cases c"] {
        for limit in [1, 2, 5, 12, 100] {
            assert_eq!(walk(ctx, q, limit).await.0, once, "{q} by {limit}");
        }
    }
}

async fn a_page_walks_no_farther_than_it_says(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // Many are red, many are lamps, and the only ones that are both stand at the end of either walk.
    let red = (0..50).map(|n| format!("Red chair {n}"));
    let lamps = (0..50).map(|n| format!("Lamp blue {n}"));
    make(ctx, red.chain(lamps).chain(["Red lamp of zebras".into(), "Lamp, wild red zoo".into()])).await;
    let both = BTreeMap::from([("Lamp, wild red zoo".to_owned(), 1), ("Red lamp of zebras".to_owned(), 1)]);
    // A read of eight rows: a page ends before it has found anything, and the next goes on.
    let first = catalog::search_text(ctx, "red lamp", PageRequest::first(1)).await.expect("a page");
    assert!(first.rows.is_empty() && first.next.is_some());
    let (names, pages) = walk(ctx, "red lamp", 1).await;
    assert_eq!(names, both);
    assert!(pages > 1);
    assert_eq!(walk(ctx, "lamp red", 24).await, (both, 1));
    // A word that few have is walked, though it is not the longest.
    let (page, cost) = meter::measure(catalog::search_text(ctx, "zoo lamp", PageRequest::first(2))).await;
    let page = page.expect("a page");
    assert_eq!((page.rows.len(), page.next), (1, None));
    assert!(cost.round_trips <= 2 && cost.rows_read <= 20, "{cost}");
    // A cursor is good for its own words.
    let other = PageRequest { limit: 1, cursor: first.next };
    let refused = catalog::search_text(ctx, "red lamps", other).await.expect_err("refused");
    assert_eq!(refused.kind(), Kind::Invalid);
}

async fn bad_searches_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (long, many) = ("x".repeat(601), "ab ".repeat(33));
    for q in ["", "   ", "a", "a b c", "--- !", " \u{301} ", &long, &many] {
        let (refused, cost) = meter::measure(catalog::search_text(ctx, q, PageRequest::default())).await;
        let refused = refused.expect_err(q);
        assert!(matches!(&refused, catalog::Error::Invalid(invalid) if invalid.fields[0].field == "q"), "{refused}");
        assert_eq!(cost, meter::Cost::default(), "{q}");
    }
    for limit in [0, 101] {
        let refused = catalog::search_text(ctx, "lamp", PageRequest::first(limit)).await.expect_err("refused");
        assert_eq!(refused.kind(), Kind::Invalid);
    }
    let cursor = Some(merkato::Cursor::from("no cursor".to_owned()));
    let refused = catalog::search_text(ctx, "lamp", PageRequest { limit: 5, cursor }).await.expect_err("refused");
    assert_eq!(refused.kind(), Kind::Invalid);
}
