//! What every access pattern of the catalog costs: as its declaration says, and the same whatever the number of products.
//! `MERKATO_COST_PRODUCTS` says how many there are in the end: 300 by default, a hundred thousand in CI.

use merkato::{
    AccessPattern, PageRequest,
    catalog::{self, Category, Featured, Product, ProductChange, SortOrder},
    claims, graph,
    id::ProductId,
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::meter::{self, Cost};
use widerow_testing::{Target, cases};

use super::{below, category, on_sale};
use crate::world::World;

cases![every_pattern_costs_what_it_says_whatever_the_number_of_products];

const PAGE: usize = 10;

/// The products are made in two steps, and every pattern is measured after each.
async fn every_pattern_costs_what_it_says_whatever_the_number_of_products(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let mut ids = make(&world, &lamps, 0..100).await;
    let list: Vec<_> = ids.iter().take(20).map(|id| Featured { product_id: *id, badge: None }).collect();
    catalog::set_featured(ctx, "homepage", &list).await.expect("set");
    graph::record_purchase(ctx, Uuid::now_v7(), &ids[..12]).await.expect("noted");
    let few = measure(&world, &home, &lamps, ids[0]).await;
    let products = std::env::var("MERKATO_COST_PRODUCTS").map_or(300, |text| text.parse().expect("a number"));
    ids.extend(make(&world, &lamps, 100..products).await);
    let many = measure(&world, &home, &lamps, ids[0]).await;
    for ((pattern, rows, few), (_, _, many)) in few.iter().zip(&many) {
        assert!(pattern.cost.admits(few, *rows), "{}: {few}", pattern.name);
        let counts = |cost: &Cost| (cost.partitions_read, cost.rows_read, cost.round_trips);
        assert_eq!(counts(few), counts(many), "{}", pattern.name);
        assert_eq!((few.rows_written, few.conditional_writes), (0, 0), "{}", pattern.name);
    }
    let measured: Vec<_> = few.iter().map(|(pattern, ..)| pattern.name).collect();
    let declared: Vec<_> = catalog::PATTERNS.iter().chain(claims::PATTERNS).map(|pattern| pattern.name).collect();
    assert_eq!(measured, declared, "every pattern is measured");
}

async fn make(world: &World, category: &Category, numbers: std::ops::Range<i64>) -> Vec<ProductId> {
    let mut ids = Vec::new();
    for chunk in numbers.collect::<Vec<_>>().chunks(64) {
        let made = chunk.iter().map(|n| {
            let name = if *n < 100 { "Same lamp".to_owned() } else { format!("Lamp {n}") };
            catalog::create_product(&world.ctx, on_sale(&name, category, *n))
        });
        for made in futures::future::join_all(made.collect::<Vec<_>>()).await {
            ids.push(made.expect("a product").product_id);
        }
    }
    ids
}

type Measured = (&'static AccessPattern, u64, Cost);

async fn measure(world: &World, home: &Category, lamps: &Category, id: ProductId) -> Vec<Measured> {
    let ctx = &world.ctx;
    let page = || PageRequest::first(PAGE);
    let slug = catalog::get_product(ctx, id).await.expect("found").slug;
    let mut all = Vec::new();
    let mut note = |name: &str, rows: usize, cost: Cost| {
        let mut patterns = catalog::PATTERNS.iter().chain(claims::PATTERNS);
        let pattern = patterns.find(|pattern| pattern.name == name).expect(name);
        all.push((pattern, rows as u64, cost));
    };
    let (_, cost) = meter::measure(catalog::get_product(ctx, id)).await;
    note("Q1", 1, cost);
    for price in [500, 400, 450] {
        let change = ProductChange { price: Some(Decimal::new(price, 2)), ..ProductChange::default() };
        catalog::change_product(ctx, id, None, change).await.expect("changed");
    }
    let (found, cost) = meter::measure(catalog::price_history(ctx, id, None, 2)).await;
    assert_eq!(found.expect("read").steps.len(), 2);
    note("price history", 2, cost);
    let (found, cost) = meter::measure(catalog::get_product_by_slug(ctx, &slug)).await;
    found.expect("found");
    note("Q1 by slug", 1, cost);
    // Every order costs the same, in the product's own category and in one above, on the first page and on the second.
    let mut costs = Vec::new();
    for category in [home, lamps] {
        for order in SortOrder::ALL {
            let list = catalog::list_category(ctx, category.category_id, order, page());
            let (first, cost) = meter::measure(list).await;
            let first = first.expect("a page");
            assert_eq!(first.rows.len(), PAGE);
            let next = PageRequest { limit: PAGE, cursor: first.next };
            let list = catalog::list_category(ctx, category.category_id, order, next);
            let (second, deeper) = meter::measure(list).await;
            assert_eq!(second.expect("a page").rows.len(), PAGE);
            costs.extend([cost, deeper]);
        }
    }
    let counts = |cost: &Cost| (cost.partitions_read, cost.rows_read, cost.round_trips);
    assert!(costs.iter().all(|cost| counts(cost) == counts(&costs[0])), "{costs:?}");
    note("Q2", PAGE, costs[0]);
    let (found, cost) = meter::measure(catalog::suggest(ctx, "lamp", PAGE)).await;
    assert_eq!(found.expect("found").len(), PAGE);
    note("Q3", PAGE, cost);
    let (found, cost) = meter::measure(catalog::search_text(ctx, "lamp same", page())).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    note("Q3 by words", PAGE, cost);
    let (found, cost) = meter::measure(catalog::list_featured(ctx, "homepage", page())).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    note("Q4", PAGE, cost);
    let (found, cost) = meter::measure(catalog::list_related(ctx, id, PAGE)).await;
    assert_eq!(found.expect("read").len(), PAGE);
    note("Q5", PAGE, cost);
    let (found, cost) = meter::measure(catalog::list_items_by_name(ctx, "Same lamp", page())).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    note("named-carts Q3", PAGE, cost);
    let (_, cost) = meter::measure(catalog::get_category(ctx, lamps.category_id)).await;
    note("category", 1, cost);
    let (found, cost) = meter::measure(catalog::find_category_by_slug(ctx, "lamps")).await;
    assert!(found.expect("read").is_some());
    note("category by slug", 1, cost);
    let (_, cost) = meter::measure(catalog::list_subcategories(ctx, None, page())).await;
    note("subcategories", PAGE, cost);
    let (_, cost) = meter::measure(catalog::breadcrumbs(ctx, lamps)).await;
    note("breadcrumbs", 1, cost);
    let list = catalog::list_products_of_category(ctx, lamps.category_id, page());
    let (_, cost) = meter::measure(list).await;
    note("products of category", PAGE, cost);
    let (found, cost) = meter::measure(catalog::list_products_by_age(ctx, page())).await;
    assert_eq!(found.expect("a page").rows.len(), PAGE);
    note("products by age", PAGE, cost);
    let (owner, cost) = meter::measure(claims::find_owner::<Product>(ctx, &slug)).await;
    assert_eq!(owner.expect("read"), Some(id.0));
    note("claim", 1, cost);
    all
}
