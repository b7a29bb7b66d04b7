//! Lists that follow the product: categories in five orders, search, featured, related.

use merkato::{
    Context, PageRequest,
    catalog::{self, Because, CategoryChange, Featured, NewProduct, ProductChange, ProductStatus, SortOrder},
    graph,
    id::{CategoryId, ProductId},
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::store::VerifyOptions;
use widerow_testing::{Target, cases};

use super::{below, category, on_sale};
use crate::world::World;

cases![
    a_category_is_listed_in_five_orders,
    a_product_is_listed_in_its_category_and_all_above,
    a_change_moves_a_product_and_leaves_nothing_behind,
    pages_go_on_where_the_last_ended,
    a_category_has_subcategories_and_breadcrumbs,
    a_new_name_of_a_category_reaches_its_products,
    words_are_found_as_they_are_typed,
    featured_lists_are_kept_current,
    what_is_bought_together_is_related,
    editors_see_every_product_newest_first,
];

async fn names(ctx: &Context, category: CategoryId, order: SortOrder) -> Vec<String> {
    let page = catalog::list_category(ctx, category, order, PageRequest::first(100)).await.expect("a page");
    assert!(page.next.is_none());
    page.rows.into_iter().map(|entry| entry.name).collect()
}

async fn a_category_is_listed_in_five_orders(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    for (name, cents, sold) in [("bronze", 200, 5), ("Álpha", 900_000_000, 0), ("Clay", 1, 70)] {
        let id = catalog::create_product(ctx, on_sale(name, &lamps, cents)).await.expect("a product").product_id;
        catalog::set_popularity(ctx, id, sold).await.expect("noted");
        world.clock.advance_millis(1);
    }
    let draft = NewProduct { status: ProductStatus::Draft, ..on_sale("Draft", &lamps, 3) };
    catalog::create_product(ctx, draft).await.expect("a product");
    for (order, expected) in [
        (SortOrder::PriceAsc, ["Clay", "bronze", "Álpha"]),
        (SortOrder::PriceDesc, ["Álpha", "bronze", "Clay"]),
        (SortOrder::NameAsc, ["Álpha", "bronze", "Clay"]),
        (SortOrder::Newest, ["Clay", "Álpha", "bronze"]),
        (SortOrder::Popular, ["Clay", "bronze", "Álpha"]),
    ] {
        assert_eq!(names(ctx, lamps.category_id, order).await, expected, "{order:?}");
    }
}

async fn a_product_is_listed_in_its_category_and_all_above(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let desk = below(ctx, "Desk lamps", Some(lamps.category_id)).await;
    let floor = below(ctx, "Floor lamps", Some(lamps.category_id)).await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &desk, 100)).await.expect("a product");
    for (category, shown) in [(&home, true), (&lamps, true), (&desk, true), (&floor, false)] {
        assert_eq!(names(ctx, category.category_id, SortOrder::Newest).await.len(), usize::from(shown));
    }
    let change = ProductChange { category_id: Some(floor.category_id), ..ProductChange::default() };
    catalog::change_product(ctx, lamp.product_id, None, change).await.expect("moved");
    for (category, shown) in [(&home, true), (&lamps, true), (&desk, false), (&floor, true)] {
        assert_eq!(names(ctx, category.category_id, SortOrder::Newest).await.len(), usize::from(shown));
    }
}

async fn a_change_moves_a_product_and_leaves_nothing_behind(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    catalog::create_product(ctx, on_sale("Middle", &lamps, 200)).await.expect("a product");
    let change = ProductChange { price: Some(Decimal::from(3)), ..ProductChange::default() };
    catalog::change_product(ctx, lamp.product_id, None, change).await.expect("changed");
    assert_eq!(names(ctx, lamps.category_id, SortOrder::PriceAsc).await, ["Middle", "Lamp"]);
    assert_eq!(names(ctx, lamps.category_id, SortOrder::PriceDesc).await, ["Lamp", "Middle"]);
    catalog::set_rating(ctx, lamp.product_id, Some(Decimal::from(4)), 2).await.expect("rated");
    catalog::set_in_stock(ctx, lamp.product_id, false).await.expect("noted");
    for order in SortOrder::ALL {
        let page = catalog::list_category(ctx, lamps.category_id, order, PageRequest::default()).await.expect("a page");
        let entry = page.rows.iter().find(|entry| entry.product_id == lamp.product_id).expect("listed");
        assert_eq!((entry.price, entry.rating_count, entry.in_stock), (Decimal::from(3), 2, false));
    }
    catalog::archive_product(ctx, lamp.product_id, None).await.expect("archived");
    for order in SortOrder::ALL {
        assert_eq!(names(ctx, lamps.category_id, order).await, ["Middle"]);
    }
    let report = world.ctx.store.verify(VerifyOptions::default()).await.expect("verified");
    assert_eq!(report.differences, 0);
}

async fn pages_go_on_where_the_last_ended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let made = (0..25).map(|n| catalog::create_product(ctx, on_sale(&format!("Lamp {n}"), &lamps, 100 + n % 3)));
    for made in futures::future::join_all(made).await {
        made.expect("a product");
    }
    let mut page = PageRequest::first(10);
    let mut seen: Vec<(Decimal, ProductId)> = Vec::new();
    loop {
        let next = catalog::list_category(ctx, lamps.category_id, SortOrder::PriceAsc, page).await.expect("a page");
        seen.extend(next.rows.iter().map(|entry| (entry.price, entry.product_id)));
        match next.next {
            Some(cursor) => page = PageRequest { limit: 10, cursor: Some(cursor) },
            None => break,
        }
    }
    assert_eq!(seen.len(), 25);
    assert!(seen.is_sorted() && seen.windows(2).all(|pair| pair[0] != pair[1]));
    // A cursor is good for its own query only.
    let first = catalog::list_category(ctx, lamps.category_id, SortOrder::PriceAsc, PageRequest::first(3)).await;
    let foreign = PageRequest { limit: 3, cursor: first.expect("a page").next };
    let refused = catalog::list_category(ctx, lamps.category_id, SortOrder::PriceDesc, foreign).await;
    assert_eq!(refused.expect_err("refused").kind(), merkato::Kind::Invalid);
}

async fn a_category_has_subcategories_and_breadcrumbs(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let rugs = below(ctx, "Änne's rugs", Some(home.category_id)).await;
    let desk = below(ctx, "Desk", Some(lamps.category_id)).await;
    let list = async |parent: Option<CategoryId>| -> Vec<CategoryId> {
        let page = catalog::list_subcategories(ctx, parent, PageRequest::default()).await.expect("a page");
        page.rows.iter().map(|row| row.category_id).collect()
    };
    assert_eq!(list(None).await, [home.category_id]);
    assert_eq!(list(Some(home.category_id)).await, [rugs.category_id, lamps.category_id]);
    let crumbs = catalog::breadcrumbs(ctx, &desk).await.expect("read");
    assert_eq!(crumbs.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["Home", "Lamps", "Desk"]);
    assert_eq!(catalog::find_category_by_slug(ctx, "annes-rugs").await.expect("read").map(|c| c.category_id), None);
    let found = catalog::find_category_by_slug(ctx, "anne-s-rugs").await.expect("read");
    assert_eq!(found.map(|c| c.category_id), Some(rugs.category_id));
    let mut deepest = desk;
    for n in 3..merkato::limits::CATEGORY_DEPTH_MAX {
        deepest = below(ctx, &format!("Level {n}"), Some(deepest.category_id)).await;
    }
    let new = catalog::NewCategory {
        category_id: None,
        name: "Too deep".into(),
        slug: None,
        parent_id: Some(deepest.category_id),
    };
    assert!(matches!(catalog::create_category(ctx, new).await, Err(catalog::Error::TooDeep { .. })));
}

async fn a_new_name_of_a_category_reaches_its_products(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let desk = below(ctx, "Desk", Some(lamps.category_id)).await;
    let own = catalog::create_product(ctx, on_sale("Own lamp", &lamps, 100)).await.expect("a product");
    let deeper = catalog::create_product(ctx, on_sale("Deeper lamp", &desk, 100)).await.expect("a product");
    let change = CategoryChange { name: Some("Lights".into()), ..CategoryChange::default() };
    let renamed = catalog::change_category(ctx, lamps.category_id, Some(1), change.clone()).await.expect("renamed");
    assert_eq!((renamed.name.as_str(), renamed.revision, renamed.slug.as_str()), ("Lights", 2, "lamps"));
    let name = async |id| catalog::get_product(ctx, id).await.expect("found").category_name;
    assert_eq!(name(own.product_id).await, "Lights");
    assert_eq!(name(deeper.product_id).await, "Desk");
    let found = catalog::suggest(ctx, "own", 5).await.expect("found");
    assert_eq!(found[0].category_name, "Lights");
    let again = catalog::change_category(ctx, lamps.category_id, Some(1), change).await;
    assert!(matches!(again, Err(catalog::Error::CategoryEdited { expected: 1, found: 2, .. })));
    assert_eq!(world.ctx.store.verify(VerifyOptions::default()).await.expect("verified").differences, 0);
}

async fn words_are_found_as_they_are_typed(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    for name in ["iPhone case", "Blue iPhone", "Iphigenia", "Crème brûlée", "Case for cases"] {
        catalog::create_product(ctx, on_sale(name, &lamps, 100)).await.expect("a product");
    }
    let found = async |typed: &str| -> Vec<String> {
        let found = catalog::suggest(ctx, typed, 10).await.expect("found");
        found.into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(found("ip").await, ["Iphigenia", "Blue iPhone", "iPhone case"]);
    assert_eq!(found("IPH").await, ["Iphigenia", "Blue iPhone", "iPhone case"]);
    assert_eq!(found("iphon").await, ["Blue iPhone", "iPhone case"]);
    assert_eq!(found("iphone c").await, ["iPhone case"]);
    assert_eq!(found("BRÛL").await, ["Crème brûlée"]);
    assert_eq!(found("creme").await, ["Crème brûlée"]);
    // Two of its words begin so: it is found once.
    assert_eq!(found("cas").await, ["iPhone case", "Case for cases"]);
    assert_eq!(found("xyz").await, [""; 0]);
    let short = catalog::suggest(ctx, "i", 10).await.expect_err("too short");
    assert_eq!((short.code(), short.kind()), ("invalid", merkato::Kind::Invalid));
}

async fn featured_lists_are_kept_current(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let mut ids = Vec::new();
    for n in 0..4 {
        let new = on_sale(&format!("Lamp {n}"), &lamps, 100);
        ids.push(catalog::create_product(ctx, new).await.expect("a product").product_id);
    }
    let featured = |n: usize, badge: Option<&str>| Featured { product_id: ids[n], badge: badge.map(String::from) };
    let list = async |feature: &str| -> Vec<(i32, ProductId, Decimal, Option<String>)> {
        let page = catalog::list_featured(ctx, feature, PageRequest::default()).await.expect("a page");
        page.rows.into_iter().map(|row| (row.position, row.product_id, row.price, row.badge)).collect()
    };
    let wanted = [featured(2, Some("Sale")), featured(0, None), featured(1, None)];
    catalog::set_featured(ctx, "homepage", &wanted).await.expect("set");
    catalog::set_featured(ctx, "deals", &[featured(0, Some("New"))]).await.expect("set");
    let one = Decimal::ONE;
    assert_eq!(
        list("homepage").await,
        [(1, ids[2], one, Some("Sale".into())), (2, ids[0], one, None), (3, ids[1], one, None)]
    );
    // A new price is shown, an archived product is not; a new list takes the place of the old one.
    let change = ProductChange { price: Some(Decimal::TWO), ..ProductChange::default() };
    catalog::change_product(ctx, ids[0], None, change).await.expect("changed");
    catalog::archive_product(ctx, ids[1], None).await.expect("archived");
    let two = Decimal::TWO;
    assert_eq!(list("homepage").await, [(1, ids[2], one, Some("Sale".into())), (2, ids[0], two, None)]);
    let placed = catalog::list_placed(ctx, "homepage").await.expect("a list");
    assert_eq!(placed.iter().map(|product| product.product_id).collect::<Vec<_>>(), [ids[2], ids[0], ids[1]]);
    catalog::set_featured(ctx, "homepage", &[featured(3, None), featured(0, Some("Bestseller"))]).await.expect("set");
    assert_eq!(list("homepage").await, [(1, ids[3], one, None), (2, ids[0], two, Some("Bestseller".into()))]);
    assert_eq!(list("deals").await, [(1, ids[0], two, Some("New".into()))]);
    let unknown = Featured { product_id: ProductId(Uuid::now_v7()), badge: None };
    let refused = catalog::set_featured(ctx, "deals", &[unknown, featured(2, None)]).await;
    assert!(matches!(refused, Err(catalog::Error::ProductNotFound { .. })));
    assert_eq!(list("deals").await.len(), 1);
    assert_eq!(world.ctx.store.verify(VerifyOptions::default()).await.expect("verified").differences, 0);
}

async fn what_is_bought_together_is_related(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let mut ids = Vec::new();
    for n in 0..6 {
        let brand = (n >= 4).then(|| "Lumen".to_owned());
        let new = NewProduct { brand, ..on_sale(&format!("Lamp {n}"), &lamps, 100) };
        ids.push(catalog::create_product(ctx, new).await.expect("a product").product_id);
    }
    let purchases = [[0, 1], [0, 2], [0, 2], [2, 3]];
    for pair in purchases {
        graph::record_purchase(ctx, Uuid::now_v7(), &pair.map(|n| ids[n])).await.expect("noted");
    }
    let same = Uuid::now_v7();
    for _ in 0..5 {
        // The same purchase, told again and again, counts once.
        graph::record_purchase(ctx, same, &[ids[0], ids[1]]).await.expect("noted");
    }
    graph::record_purchase(ctx, Uuid::now_v7(), &[ids[0], ids[2], ids[2]]).await.expect("noted");
    let related = async |n: usize, limit| -> Vec<(ProductId, Because)> {
        let related = catalog::list_related(ctx, ids[n], limit).await.expect("read");
        related.into_iter().map(|r| (r.card.product_id, r.because)).collect()
    };
    assert_eq!(related(0, 2).await, [(ids[2], Because::BoughtTogether), (ids[1], Because::BoughtTogether)]);
    let all = related(4, 5).await;
    assert_eq!(all[0], (ids[5], Because::SameBrand));
    assert!(all[1..].iter().all(|(id, because)| *because == Because::SameCategory && *id != ids[4]) && all.len() == 5);
    // What is not on sale is not shown.
    catalog::archive_product(ctx, ids[2], None).await.expect("archived");
    assert_eq!(related(0, 1).await.len(), 1);
    assert!(related(0, 5).await.iter().all(|(id, _)| *id != ids[2]));
    // Parallel purchases of the same two are all counted.
    let pair = [ids[3], ids[4]];
    let many = (0..20).map(|_| graph::record_purchase(ctx, Uuid::now_v7(), &pair));
    for noted in futures::future::join_all(many.collect::<Vec<_>>()).await {
        noted.expect("noted");
    }
    let row = ctx.store.get::<graph::BoughtTogether>((ids[3], ids[4])).await.expect("read").expect("a row");
    assert_eq!(row.times, 20);
}

async fn editors_see_every_product_newest_first(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let mut expected = Vec::new();
    for n in 0..9 {
        let status = [ProductStatus::Draft, ProductStatus::Active, ProductStatus::Archived][n % 3];
        let new = NewProduct { status, ..on_sale(&format!("Lamp {n}"), &lamps, 100) };
        let product = catalog::create_product(ctx, new).await.expect("a product");
        expected.insert(0, (product.product_id, status));
        world.clock.advance_millis(1);
    }
    catalog::change_product(
        ctx,
        expected[4].0,
        None,
        ProductChange { name: Some("Other".into()), ..ProductChange::default() },
    )
    .await
    .expect("changed");
    let (mut found, mut page) = (Vec::new(), PageRequest::first(4));
    loop {
        let listed = catalog::list_products_by_age(ctx, page.clone()).await.expect("a page");
        found.extend(listed.rows);
        page.cursor = listed.next;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(found.iter().map(|entry| (entry.product_id, entry.status)).collect::<Vec<_>>(), expected);
    assert_eq!(found[4].name, "Other");
}
