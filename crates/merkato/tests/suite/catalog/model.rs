//! After any sequence of changes, also at the same time, every derived table is what it would be if it were made anew.

use merkato::{
    Context, PageRequest,
    catalog::{
        self, Category, CategoryChange, Error, Featured, NewProduct, Product, ProductChange, ProductStatus, SortOrder,
    },
    id::ProductId,
};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom as _};
use rust_decimal::Decimal;
use widerow::store::VerifyOptions;
use widerow_testing::{Target, cases};

use super::{below, category, on_sale};
use crate::world::{World, seed};

cases![lists_follow_any_sequence_of_changes, lists_follow_changes_at_the_same_time];

const NAMES: [&str; 6] = ["Brass lamp", "Lämp", "iPhone case", "Case", "The the", "Ünder"];
const STATUSES: [ProductStatus; 3] = [ProductStatus::Draft, ProductStatus::Active, ProductStatus::Archived];

async fn lists_follow_any_sequence_of_changes(target: &Target) {
    let world = World::alone(target);
    let mut rng = SmallRng::seed_from_u64(seed());
    let categories = tree(&world.ctx).await;
    let mut ids = Vec::new();
    let steps = if target.name == "embedded" { 300 } else { 60 };
    for _ in 0..steps {
        step(&world.ctx, &categories, &mut ids, &mut rng).await;
        world.clock.advance_millis(rng.random_range(0..20_000));
    }
    check(&world, &categories, &ids).await;
}

async fn lists_follow_changes_at_the_same_time(target: &Target) {
    let world = World::alone(target);
    let mut rng = SmallRng::seed_from_u64(seed());
    let categories = tree(&world.ctx).await;
    let mut ids = Vec::new();
    while ids.len() < 4 {
        step(&world.ctx, &categories, &mut ids, &mut rng).await;
    }
    let workers = (0..8u64).map(|n| {
        let (ctx, categories, mut ids) = (world.ctx.clone(), categories.clone(), ids.clone());
        let mut rng = SmallRng::seed_from_u64(seed() ^ (n + 1));
        tokio::spawn(async move {
            for _ in 0..8 {
                step(&ctx, &categories, &mut ids, &mut rng).await;
            }
            ids
        })
    });
    for worker in futures::future::join_all(workers.collect::<Vec<_>>()).await {
        ids.extend(worker.expect("no panic"));
    }
    ids.sort_unstable();
    ids.dedup();
    check(&world, &categories, &ids).await;
}

async fn tree(ctx: &Context) -> Vec<Category> {
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let desk = below(ctx, "Desk", Some(lamps.category_id)).await;
    let garden = category(ctx, "Garden").await;
    vec![home, lamps, desk, garden]
}

/// One change, whatever it is; a refusal is as good as a change.
async fn step(ctx: &Context, categories: &[Category], ids: &mut Vec<ProductId>, rng: &mut SmallRng) {
    let name = NAMES.choose(rng).expect("some").to_string();
    let category = categories.choose(rng).expect("some");
    let cents = rng.random_range(0..500);
    let id = ids.choose(rng).copied();
    let done = match (rng.random_range(0..10), id) {
        (0..3, _) | (_, None) => {
            let new = NewProduct { status: *STATUSES.choose(rng).expect("some"), ..on_sale(&name, category, cents) };
            catalog::create_product(ctx, new).await.map(|product| ids.push(product.product_id))
        }
        (3, Some(id)) => catalog::set_in_stock(ctx, id, cents % 2 == 0).await,
        (4, Some(id)) => catalog::set_popularity(ctx, id, cents).await,
        (5, Some(_)) => {
            let list = ids.choose_multiple(rng, 3).map(|id| Featured { product_id: *id, badge: None });
            let list: Vec<_> = list.collect();
            catalog::set_featured(ctx, "homepage", &list).await
        }
        (6, Some(_)) => {
            let change =
                CategoryChange { name: Some(format!("{} {cents}", category.name)), ..CategoryChange::default() };
            catalog::change_category(ctx, category.category_id, None, change).await.map(|_| ())
        }
        (7, Some(_)) => {
            let to = rng.random_bool(0.7).then(|| categories.choose(rng).expect("some").category_id);
            catalog::move_category(ctx, category.category_id, to, None).await.map(|_| ())
        }
        (_, Some(id)) => {
            let slug = ["first", "second", "third"].choose(rng).map(ToString::to_string);
            let change = ProductChange {
                price: rng.random_bool(0.5).then(|| Decimal::new(cents, 2)),
                name: rng.random_bool(0.3).then_some(name),
                category_id: rng.random_bool(0.3).then_some(category.category_id),
                status: rng.random_bool(0.4).then(|| *STATUSES.choose(rng).expect("some")),
                slug: slug.filter(|_| rng.random_bool(0.3)),
                ..ProductChange::default()
            };
            catalog::change_product(ctx, id, None, change).await.map(|_| ())
        }
    };
    match done {
        Ok(()) | Err(Error::SlugTaken { .. } | Error::CategoryCycle { .. }) => {}
        Err(other) => panic!("{other} (seed {})", seed()),
    }
}

async fn check(world: &World, categories: &[Category], ids: &[ProductId]) {
    let ctx = &world.ctx;
    let report = catalog::verify_categories(ctx, false, 10).await.expect("verified");
    assert_eq!((report.wrong.as_slice(), report.products), (&[][..], ids.len() as u64), "seed {}", seed());
    let report = world.ctx.store.verify(VerifyOptions::default()).await.expect("verified");
    assert_eq!(report.differences, 0, "seed {}: {report:?}", seed());
    // And by the products themselves, without the data layer's own word for it.
    let products: Vec<Product> = catalog::list_products(ctx, ids).await.expect("read").into_iter().flatten().collect();
    assert_eq!(products.len(), ids.len());
    for category in categories {
        let inside = |p: &&Product| {
            let path = p.category_path.contains(&category.category_id) || p.category_id == category.category_id;
            path && p.status == ProductStatus::Active
        };
        for order in SortOrder::ALL {
            let mut expected: Vec<_> = products.iter().filter(inside).map(|p| (order.key(p), p.product_id)).collect();
            expected.sort_unstable();
            let page = catalog::list_category(ctx, category.category_id, order, PageRequest::first(100)).await;
            let found: Vec<_> = page.expect("a page").rows.into_iter().map(|e| (e.sort_key, e.product_id)).collect();
            assert_eq!(found[..], expected[..expected.len().min(100)], "seed {}", seed());
        }
    }
    for product in &products {
        let found = catalog::get_product_by_slug(ctx, &product.slug).await.expect("found");
        assert_eq!(found.product_id, product.product_id, "seed {}", seed());
        let category = catalog::get_category(ctx, product.category_id).await.expect("found");
        assert_eq!(product.category_name, category.name, "seed {}", seed());
        assert_eq!(product.category_path, category.path, "seed {}", seed());
    }
}
