//! A product made, changed, archived; found by id, slug, exact name.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Kind, PageRequest, Settings,
    catalog::{self, Error, NewProduct, Product, ProductChange, ProductStatus},
    id::ProductId,
    settings::CatalogSettings,
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{below, category, on_sale};
use crate::world::World;

cases![
    every_column_comes_back,
    a_slug_leads_to_its_product_and_an_old_one_still_does,
    a_slug_is_made_of_the_name_and_stays_unique,
    of_two_editors_the_second_is_told,
    facts_do_not_disturb_an_editor,
    a_change_of_nothing_writes_nothing,
    another_tenant_finds_nothing,
    exact_names_are_found,
    a_name_is_had_by_so_many_and_no_more,
];

async fn every_column_comes_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let new = NewProduct {
        description: Some("A lamp.\nIt shines.".into()),
        brand: Some("Lumen & Söhne".into()),
        compare_at_price: Some(Decimal::new(4999, 2)),
        sku: Some("L-1".into()),
        weight_grams: Some(1200),
        dimensions: BTreeMap::from([("height".into(), 400), ("width".into(), 200)]),
        image_urls: vec!["https://example.org/2.jpg".into(), "/1.jpg".into()],
        thumbnail_url: Some("/t.jpg".into()),
        attributes: BTreeMap::from([("color".into(), "blue".into())]),
        tags: BTreeSet::from(["desk".into(), "brass".into()]),
        rating_average: Some(Decimal::new(45, 1)),
        rating_count: 12,
        ..on_sale("Brass lamp", &lamps, 3999)
    };
    let made = catalog::create_product(ctx, new).await.expect("a product");
    let found = catalog::get_product(ctx, made.product_id).await.expect("found");
    assert_eq!(found, made);
    assert_eq!((found.category_name.as_str(), found.slug.as_str()), ("Lamps", "brass-lamp"));
    assert_eq!((found.revision, found.status), (1, ProductStatus::Active));
    let unknown = ProductId(Uuid::now_v7());
    assert!(
        matches!(catalog::get_product(ctx, unknown).await, Err(Error::ProductNotFound { product }) if product == unknown)
    );
}

async fn a_slug_leads_to_its_product_and_an_old_one_still_does(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    let change = ProductChange { slug: Some("new-lamp".into()), ..ProductChange::default() };
    catalog::change_product(ctx, lamp.product_id, None, change).await.expect("changed");
    for slug in ["lamp", "new-lamp"] {
        let found = catalog::get_product_by_slug(ctx, slug).await.expect("found");
        assert_eq!((found.product_id, found.slug.as_str()), (lamp.product_id, "new-lamp"));
    }
    // The old one is free: another may take it, and has it then.
    world.clock.advance_millis(60_000);
    let other = NewProduct { slug: Some("lamp".into()), ..on_sale("Another lamp", &lamps, 100) };
    let other = catalog::create_product(ctx, other).await.expect("a product");
    assert_eq!(catalog::get_product_by_slug(ctx, "lamp").await.expect("found").product_id, other.product_id);
    // And the first one does not get it back.
    let change = ProductChange { slug: Some("lamp".into()), ..ProductChange::default() };
    let refused = catalog::change_product(ctx, lamp.product_id, None, change).await;
    assert!(matches!(refused, Err(Error::SlugTaken { slug }) if slug == "lamp"));
    assert!(matches!(catalog::get_product_by_slug(ctx, "none").await, Err(Error::SlugNotFound { .. })));
}

async fn a_slug_is_made_of_the_name_and_stays_unique(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let first = catalog::create_product(ctx, on_sale("Crème Lampe", &lamps, 100)).await.expect("a product");
    let second = catalog::create_product(ctx, on_sale("Crème Lampe", &lamps, 100)).await.expect("a product");
    assert_eq!(first.slug, "creme-lampe");
    assert!(second.slug.starts_with("creme-lampe-"), "{}", second.slug);
    assert_eq!(catalog::get_product_by_slug(ctx, &second.slug).await.expect("found").product_id, second.product_id);
    let given = NewProduct { slug: Some("creme-lampe".into()), ..on_sale("Other", &lamps, 100) };
    assert!(matches!(catalog::create_product(ctx, given).await, Err(Error::SlugTaken { .. })));
}

async fn of_two_editors_the_second_is_told(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    let price = |cents| ProductChange { price: Some(Decimal::new(cents, 2)), ..ProductChange::default() };
    let changed = catalog::change_product(ctx, lamp.product_id, Some(1), price(200)).await.expect("changed");
    assert_eq!(changed.revision, 2);
    let second = catalog::change_product(ctx, lamp.product_id, Some(1), price(300)).await;
    assert!(matches!(second, Err(Error::Edited { expected: 1, found: 2, .. })));
    assert_eq!(catalog::get_product(ctx, lamp.product_id).await.expect("found").price, Decimal::new(2, 0));
    // At once: one wins, whichever.
    let both = [price(400), price(500)].map(|change| catalog::change_product(ctx, lamp.product_id, Some(2), change));
    let [a, b] = both;
    let (a, b) = futures::join!(a, b);
    assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
}

async fn facts_do_not_disturb_an_editor(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let id = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product").product_id;
    catalog::set_rating(ctx, id, Some(Decimal::new(41, 1)), 7).await.expect("rated");
    catalog::set_in_stock(ctx, id, false).await.expect("noted");
    catalog::set_popularity(ctx, id, 9).await.expect("noted");
    let archived = catalog::archive_product(ctx, id, Some(1)).await.expect("archived");
    assert_eq!((archived.rating_count, archived.in_stock, archived.popularity, archived.revision), (7, false, 9, 2));
}

async fn a_change_of_nothing_writes_nothing(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    let change = ProductChange { price: Some(lamp.price), name: Some(lamp.name.clone()), ..ProductChange::default() };
    let (same, cost) = widerow::meter::measure(catalog::change_product(ctx, lamp.product_id, None, change)).await;
    assert_eq!(same.expect("unchanged"), lamp);
    assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0));
}

async fn another_tenant_finds_nothing(target: &Target) {
    let (world, other) = (World::new(target), World::new(target));
    let lamps = category(&world.ctx, "Lamps").await;
    let lamp = catalog::create_product(&world.ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    let ctx = &other.ctx;
    assert!(catalog::find_product(ctx, lamp.product_id).await.expect("read").is_none());
    assert!(catalog::find_product_by_slug(ctx, "lamp").await.expect("read").is_none());
    let refused = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await;
    assert!(matches!(refused, Err(Error::CategoryNotFound { .. })));
    let refused = catalog::archive_product(ctx, lamp.product_id, None).await;
    assert!(matches!(refused, Err(Error::ProductNotFound { .. })));
    assert!(
        catalog::list_category(ctx, lamps.category_id, catalog::SortOrder::NameAsc, PageRequest::default())
            .await
            .expect("read")
            .rows
            .is_empty()
    );
    assert_eq!(catalog::get_product(&world.ctx, lamp.product_id).await.expect("found"), lamp);
}

async fn exact_names_are_found(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let desk = below(ctx, "Desk lamps", Some(lamps.category_id)).await;
    let mut ids = Vec::new();
    for (name, category) in [("Lamp", &lamps), ("Lamp", &desk), ("lamp", &desk)] {
        ids.push(catalog::create_product(ctx, on_sale(name, category, 100)).await.expect("a product").product_id);
    }
    let named = async |name: &str| -> Vec<ProductId> {
        let page = catalog::list_items_by_name(ctx, name, PageRequest::default()).await.expect("a page");
        page.rows.iter().map(|item| item.product_id).collect()
    };
    ids[..2].sort_unstable();
    assert_eq!(named("Lamp").await, ids[..2]);
    assert_eq!(named("lamp").await, ids[2..]);
    catalog::archive_product(ctx, ids[2], None).await.expect("archived");
    assert_eq!(named("lamp").await, []);
    let product: Product = catalog::get_product(ctx, ids[2]).await.expect("still read by its id");
    assert_eq!(product.status, ProductStatus::Archived);
}

async fn a_name_is_had_by_so_many_and_no_more(target: &Target) {
    let catalog = CatalogSettings { products_a_name_max: 3 };
    let world = World::with(target, Settings { catalog, ..Settings::default() });
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product").product_id);
    }
    let refused = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect_err("refused");
    assert!(matches!(refused, Error::TooManyOfName { limit: 3 }));
    assert_eq!((refused.code(), refused.kind()), ("too_many_of_name", Kind::Limit));
    // A draft is not listed; to be shown it needs a place, or another name.
    let draft = NewProduct { status: ProductStatus::Draft, ..on_sale("Lamp", &lamps, 100) };
    let draft = catalog::create_product(ctx, draft).await.expect("a draft").product_id;
    let show = ProductChange { status: Some(ProductStatus::Active), ..ProductChange::default() };
    let refused = catalog::change_product(ctx, draft, None, show.clone()).await;
    assert!(matches!(refused, Err(Error::TooManyOfName { .. })));
    // Those who have it may still be changed.
    let price =
        ProductChange { price: Some(Decimal::TWO), status: Some(ProductStatus::Active), ..ProductChange::default() };
    catalog::change_product(ctx, ids[0], None, price).await.expect("changed");
    catalog::archive_product(ctx, ids[1], None).await.expect("archived");
    catalog::change_product(ctx, draft, None, show).await.expect("shown");
    assert_eq!(merkato::limits::PRODUCTS_A_NAME_MAX, 10_000);
}
