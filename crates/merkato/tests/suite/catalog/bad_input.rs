//! Bad input: refused with the field's name, and nothing is written.

use merkato::{
    Currency, Kind, PageRequest,
    catalog::{self, Error, Featured, NewCategory, NewProduct, ProductChange, SortOrder},
    graph,
    id::{CategoryId, ProductId},
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Timestamp, meter};
use widerow_testing::{Target, cases};

use super::{category, on_sale};
use crate::world::World;

cases![bad_products_are_refused, bad_changes_are_refused, bad_categories_are_refused, bad_questions_are_refused];

fn fields(error: &Error) -> Vec<&str> {
    match error {
        Error::Invalid(invalid) => invalid.fields.iter().map(|bad| bad.field.as_str()).collect(),
        other => panic!("{other}"),
    }
}

async fn bad_products_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let good = || on_sale("Lamp", &lamps, 100);
    let with = |change: &dyn Fn(&mut NewProduct)| {
        let mut new = good();
        change(&mut new);
        new
    };
    let bad: Vec<(&str, NewProduct)> = vec![
        ("name", with(&|p| p.name = String::new())),
        ("name", with(&|p| p.name = "   ".into())),
        ("name", with(&|p| p.name = "x".repeat(10_000))),
        ("name", with(&|p| p.name = "<script>alert(1)</script>".into())),
        ("name", with(&|p| p.name = "a\u{0}b".into())),
        ("name", with(&|p| p.name = "a\nb".into())),
        ("slug", with(&|p| p.slug = Some("Not A Slug".into()))),
        ("slug", with(&|p| p.slug = Some(String::new()))),
        ("slug", with(&|p| p.slug = Some("a".repeat(121)))),
        ("description", with(&|p| p.description = Some("x".repeat(50_001)))),
        ("description", with(&|p| p.description = Some("a <b>bold</b> one".into()))),
        ("brand", with(&|p| p.brand = Some("\u{7}".into()))),
        ("price", with(&|p| p.price = Decimal::NEGATIVE_ONE)),
        ("price", with(&|p| p.price = Decimal::from(10_000_000_000i64))),
        ("price", with(&|p| p.price = Decimal::MAX)),
        ("price", with(&|p| p.price = Decimal::new(1, 3))),
        ("compare_at_price", with(&|p| p.compare_at_price = Some(Decimal::NEGATIVE_ONE))),
        ("currency", with(&|p| p.currency = Currency::new("EURO"))),
        ("currency", with(&|p| p.currency = Currency::new("ZZZ"))),
        ("currency", with(&|p| p.currency = Currency::new(""))),
        ("sku", with(&|p| p.sku = Some("x".repeat(201)))),
        ("weight_grams", with(&|p| p.weight_grams = Some(-1))),
        ("dimensions/height", with(&|p| _ = p.dimensions.insert("height".into(), -5))),
        ("image_urls/0", with(&|p| p.image_urls = vec!["javascript:alert(1)".into()])),
        ("image_urls/0", with(&|p| p.image_urls = vec!["//other.example/x.jpg".into()])),
        ("image_urls", with(&|p| p.image_urls = vec!["/a.jpg".into(); 51])),
        ("thumbnail_url", with(&|p| p.thumbnail_url = Some("http://".into()))),
        ("attributes/color", with(&|p| _ = p.attributes.insert("color".into(), "x".repeat(2_001)))),
        ("tags/<i>", with(&|p| _ = p.tags.insert("<i>".into()))),
        ("rating_average", with(&|p| p.rating_average = Some(Decimal::from(6)))),
        ("rating_count", with(&|p| p.rating_count = -1)),
        ("created_at", with(&|p| p.created_at = Some(Timestamp::MAX))),
        ("created_at", with(&|p| p.created_at = Some(Timestamp::from_millis(-1)))),
    ];
    for (field, new) in bad {
        let (refused, cost) = meter::measure(catalog::create_product(ctx, new.clone())).await;
        let refused = refused.expect_err(field);
        assert_eq!(fields(&refused), [field], "{new:?}");
        assert_eq!(refused.kind(), Kind::Invalid);
        assert_eq!(cost, meter::Cost::default(), "{field}");
    }
    // All that is wrong is told at once.
    let wrong = with(&|p| (p.name, p.price, p.rating_count) = (String::new(), Decimal::NEGATIVE_ONE, -1));
    let refused = catalog::create_product(ctx, wrong).await.expect_err("refused");
    assert_eq!(fields(&refused), ["name", "price", "rating_count"]);
    let nowhere = with(&|p| p.category_id = CategoryId(Uuid::now_v7()));
    assert!(matches!(catalog::create_product(ctx, nowhere).await, Err(Error::CategoryNotFound { .. })));
    let page = catalog::list_products_of_category(ctx, lamps.category_id, PageRequest::default()).await;
    assert_eq!(page.expect("a page").rows, []);
    assert!(catalog::find_product_by_slug(ctx, "lamp").await.expect("read").is_none());
    // What looks odd and is no harm is taken.
    for name in ["Size < 5 & > 3", "日本のランプ", "O'Neill \"lamp\"", "🪔"] {
        catalog::create_product(ctx, with(&|p| p.name = name.into())).await.expect(name);
    }
}

async fn bad_changes_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    let none = ProductChange::default;
    for (field, change) in [
        ("name", ProductChange { name: Some("\u{1b}[31m".into()), ..none() }),
        ("price", ProductChange { price: Some(Decimal::NEGATIVE_ONE), ..none() }),
        ("currency", ProductChange { currency: Some(Currency::new("nope")), ..none() }),
        // The price has two decimals, the yen none.
        ("price", ProductChange { currency: Some(Currency::new("JPY")), price: Some(Decimal::new(150, 2)), ..none() }),
    ] {
        let refused = catalog::change_product(ctx, lamp.product_id, None, change).await.expect_err(field);
        assert_eq!(fields(&refused), [field]);
    }
    let refused = catalog::set_rating(ctx, lamp.product_id, Some(Decimal::from(9)), -2).await.expect_err("refused");
    assert_eq!(fields(&refused), ["rating_average", "rating_count"]);
    let refused = catalog::set_popularity(ctx, lamp.product_id, -1).await.expect_err("refused");
    assert_eq!(fields(&refused), ["popularity"]);
    assert_eq!(catalog::get_product(ctx, lamp.product_id).await.expect("found"), lamp);
}

async fn bad_categories_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let new = |name: &str, slug: Option<&str>| NewCategory {
        category_id: None,
        name: name.into(),
        slug: slug.map(String::from),
        parent_id: None,
    };
    for (field, new) in [
        ("name", new("", Some("x"))),
        ("name", new(&"x".repeat(601), Some("x"))),
        ("name", new("<img src=x>", Some("x"))),
        ("slug", new("x", Some("-"))),
    ] {
        let refused = catalog::create_category(ctx, new).await.expect_err(field);
        assert_eq!(fields(&refused), [field]);
    }
    let orphan = NewCategory { parent_id: Some(CategoryId(Uuid::now_v7())), ..new("Orphan", None) };
    assert!(matches!(catalog::create_category(ctx, orphan).await, Err(Error::CategoryNotFound { .. })));
    let page = catalog::list_subcategories(ctx, None, PageRequest::default()).await.expect("a page");
    assert_eq!(page.rows, []);
}

async fn bad_questions_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let id = CategoryId(Uuid::now_v7());
    for limit in [0, 101, usize::MAX] {
        let refused = catalog::list_category(ctx, id, SortOrder::Newest, PageRequest::first(limit)).await;
        assert_eq!(fields(&refused.expect_err("refused")), ["limit"]);
    }
    let cursor = Some(merkato::Cursor::from("no cursor".to_owned()));
    let refused = catalog::list_category(ctx, id, SortOrder::Newest, PageRequest { limit: 5, cursor }).await;
    assert_eq!(refused.expect_err("refused").kind(), Kind::Invalid);
    for (typed, limit, field) in
        [("i", 5, "prefix"), (" \u{301} ", 5, "prefix"), ("iph", 0, "limit"), ("iph", 21, "limit")]
    {
        assert_eq!(fields(&catalog::suggest(ctx, typed, limit).await.expect_err("refused")), [field]);
    }
    assert_eq!(fields(&catalog::find_product_by_slug(ctx, "../etc").await.expect_err("refused")), ["slug"]);
    for feature in ["", "Home Page", "../x"] {
        let refused = catalog::set_featured(ctx, feature, &[]).await.expect_err("refused");
        assert_eq!(fields(&refused), ["feature_type"]);
    }
    let twice = vec![Featured { product_id: ProductId(Uuid::nil()), badge: None }; 2];
    let refused = catalog::set_featured(ctx, "deals", &twice).await.expect_err("refused");
    assert_eq!(fields(&refused), ["products/1"]);
    let many: Vec<_> = (0..51).map(|_| ProductId(Uuid::now_v7())).collect();
    let refused = graph::record_purchase(ctx, Uuid::now_v7(), &many).await.expect_err("refused");
    assert_eq!(refused.to_string(), "products: 51 of them, the limit is 50");
    let name = "x".repeat(601);
    let refused = catalog::list_items_by_name(ctx, &name, PageRequest::default()).await.expect_err("refused");
    assert_eq!(fields(&refused), ["name"]);
}
