//! Names that only one may have, under any race.

use merkato::{
    catalog::{self, Error, NewProduct, Product, ProductChange},
    claims::{self, Claimed},
    id::ProductId,
};
use uuid::Uuid;
use widerow::Commit;
use widerow_testing::{Target, cases};

use super::{category, on_sale};
use crate::world::World;

cases![
    one_of_many_gets_the_slug,
    an_unused_claim_passes_on_and_its_maker_is_too_late,
    a_claim_that_is_fresh_is_left_alone,
    slugs_are_swapped_by_nobody,
];

async fn one_of_many_gets_the_slug(target: &Target) {
    let world = World::new(target);
    let lamps = category(&world.ctx, "Lamps").await;
    let made = (0..50).map(|n| {
        let (ctx, lamps) = (world.ctx.clone(), lamps.clone());
        tokio::spawn(async move {
            let new = NewProduct { slug: Some("lamp".into()), ..on_sale(&format!("Lamp {n}"), &lamps, 100) };
            catalog::create_product(&ctx, new).await
        })
    });
    let mut winners = Vec::new();
    for made in futures::future::join_all(made.collect::<Vec<_>>()).await {
        match made.expect("no panic") {
            Ok(product) => winners.push(product),
            Err(Error::SlugTaken { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(winners.len(), 1);
    let found = catalog::get_product_by_slug(&world.ctx, "lamp").await.expect("found");
    assert_eq!(found, winners[0]);
}

/// The process died, or slept, between its claim and its product.
async fn an_unused_claim_passes_on_and_its_maker_is_too_late(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let sleeper = ProductId(Uuid::now_v7());
    let (none, version) = ctx.store.get_versioned::<Product>(sleeper).await.expect("read");
    assert!(none.is_none());
    let claimed = claims::claim::<Product>(ctx, "lamp", sleeper.0).await.expect("claimed");
    assert_eq!(claimed, Claimed::Yours);
    let wanted = || NewProduct { slug: Some("lamp".into()), ..on_sale("Lamp", &lamps, 100) };
    assert!(matches!(catalog::create_product(ctx, wanted()).await, Err(Error::SlugTaken { .. })));
    world.clock.advance_millis(merkato::limits::CLAIM_GRACE_SECONDS * 1000 + 1);
    let made = catalog::create_product(ctx, wanted()).await.expect("the claim was not used");
    // The sleeper goes on: its commit rests on a version that is over.
    let late = Product { product_id: sleeper, ..made.clone() };
    let late = ctx.store.commit(Commit::new().unchanged::<Product>(sleeper, version).put(&late)).await;
    assert!(matches!(late, Err(widerow::Error::Conflict(_))), "{late:?}");
    assert_eq!(catalog::get_product_by_slug(ctx, "lamp").await.expect("found"), made);
    assert!(catalog::find_product(ctx, sleeper).await.expect("read").is_none());
    // Under an id that was fenced a product can still be made.
    let new = NewProduct { product_id: Some(sleeper), ..on_sale("Sleeper", &lamps, 100) };
    catalog::create_product(ctx, new).await.expect("a product");
}

async fn a_claim_that_is_fresh_is_left_alone(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    // Another slug was claimed for it and never committed: the first one is still its own.
    let claimed = claims::claim::<Product>(ctx, "other", lamp.product_id.0).await.expect("claimed");
    assert_eq!(claimed, Claimed::Yours);
    world.clock.advance_millis(60_000);
    for (slug, free) in [("lamp", false), ("other", true)] {
        let new = NewProduct { slug: Some(slug.into()), ..on_sale("New", &lamps, 100) };
        assert_eq!(catalog::create_product(ctx, new).await.is_ok(), free, "{slug}");
    }
    assert_eq!(catalog::get_product(ctx, lamp.product_id).await.expect("found"), lamp);
}

async fn slugs_are_swapped_by_nobody(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let mut ids = Vec::new();
    for slug in ["a", "b", "c"] {
        let new = NewProduct { slug: Some(slug.into()), ..on_sale("Lamp", &lamps, 100) };
        ids.push(catalog::create_product(ctx, new).await.expect("a product").product_id);
    }
    for round in 0..5 {
        world.clock.advance_millis(60_000);
        let changes = ids.iter().enumerate().map(|(n, id)| {
            let slug = ["a", "b", "c", "d"][(n + round + 1) % 4].to_owned();
            catalog::change_product(ctx, *id, None, ProductChange { slug: Some(slug), ..ProductChange::default() })
        });
        for changed in futures::future::join_all(changes.collect::<Vec<_>>()).await {
            assert!(matches!(changed, Ok(_) | Err(Error::SlugTaken { .. })), "{changed:?}");
        }
        let mut slugs = Vec::new();
        for id in &ids {
            let product = catalog::get_product(ctx, *id).await.expect("found");
            let found = catalog::get_product_by_slug(ctx, &product.slug).await.expect("found");
            assert_eq!(found.product_id, *id);
            slugs.push(product.slug);
        }
        slugs.sort_unstable();
        slugs.dedup();
        assert_eq!(slugs.len(), 3);
    }
}
