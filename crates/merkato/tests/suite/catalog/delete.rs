//! A category goes when nothing is in it, and a product that comes at the same moment is in one that is there.

use std::time::Duration;

use merkato::{
    Context, PageRequest,
    catalog::{self, Category, CategoryChange, Error, Product, ProductChange, ProductStatus},
    id::CategoryId,
};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{
    below, category,
    moves::{later, sound},
    on_sale,
};
use crate::{carts::finish_commits, hierarchy::stopped::dying, telemetry::process, world::World};

cases![
    a_category_goes_when_nothing_is_in_it,
    one_that_was_moved_a_moment_ago_goes_too,
    a_product_that_is_filed_while_its_category_goes_is_in_one,
    a_product_that_is_moved_while_its_category_goes_is_in_one,
    many_who_file_and_delete_at_once_agree,
    a_caller_who_goes_away_stops_no_deletion_half_way,
    a_filing_stopped_anywhere_leaves_no_product_outside,
];

async fn a_category_goes_when_nothing_is_in_it(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let renamed = CategoryChange { slug: Some("lights".into()), ..CategoryChange::default() };
    let lamps = catalog::change_category(ctx, lamps.category_id, None, renamed).await.expect("changed");
    let refused = catalog::delete_category(ctx, home.category_id, None).await;
    let Err(Error::CategoryHasSubcategories { category, subcategories: 1 }) = refused else { panic!("{refused:?}") };
    assert_eq!(category, home.category_id);
    let lamp = catalog::create_product(ctx, on_sale("Lamp", &lamps, 100)).await.expect("a product");
    catalog::archive_product(ctx, lamp.product_id, None).await.expect("archived");
    let refused = catalog::delete_category(ctx, lamps.category_id, None).await;
    let Err(Error::CategoryHasProducts { product, name, status, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((product, name.as_str(), status), (lamp.product_id, "Lamp", ProductStatus::Archived));
    assert_eq!(catalog::get_category(ctx, lamps.category_id).await.expect("found"), lamps);
    let away = ProductChange { category_id: Some(home.category_id), ..ProductChange::default() };
    catalog::change_product(ctx, lamp.product_id, None, away).await.expect("moved");
    let stale = catalog::delete_category(ctx, lamps.category_id, Some(lamps.revision - 1)).await;
    assert!(matches!(stale, Err(Error::CategoryEdited { .. })), "{stale:?}");
    catalog::delete_category(ctx, lamps.category_id, Some(lamps.revision)).await.expect("deleted");
    sound(&world).await;

    // Nothing leads to it, and what it had is free.
    for id in [lamps.category_id, CategoryId(Uuid::nil())] {
        let gone = catalog::delete_category(ctx, id, None).await;
        assert!(matches!(gone, Err(Error::CategoryNotFound { .. })), "{gone:?}");
    }
    for slug in ["lights", "lamps"] {
        assert_eq!(catalog::find_category_by_slug(ctx, slug).await.expect("read"), None, "{slug}");
    }
    let page = catalog::list_descendants(ctx, None, PageRequest::default()).await.expect("a page");
    assert_eq!(page.rows.len(), 1);
    let late = catalog::create_product(ctx, on_sale("Late", &lamps, 100)).await;
    assert!(matches!(late, Err(Error::CategoryNotFound { .. })), "{late:?}");
    let again = below(ctx, "Lamps", Some(home.category_id)).await;
    assert_eq!(again.slug, "lamps");
    let renamed = CategoryChange { slug: Some("lights".into()), ..CategoryChange::default() };
    catalog::change_category(ctx, again.category_id, None, renamed).await.expect("the address is free");
    sound(&world).await;
}

/// Its products were to follow, and there is nobody who could.
async fn one_that_was_moved_a_moment_ago_goes_too(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (home, garden) = (category(ctx, "Home").await, category(ctx, "Garden").await);
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    catalog::move_category(ctx, lamps.category_id, Some(garden.category_id), None).await.expect("moved");
    catalog::delete_category(ctx, lamps.category_id, None).await.expect("deleted");
    later(&world).await;
    assert_eq!(catalog::find_category(ctx, lamps.category_id).await.expect("read"), None);
    sound(&world).await;
}

/// What came of the two.
#[derive(Debug, Default)]
struct Seen {
    /// The product came too late.
    refused: u32,
    /// The deletion came too late.
    kept: u32,
    /// Both were told that it is done, and the category is there again.
    put_back: u32,
}

impl Seen {
    async fn judge(&mut self, ctx: &Context, of: &Category, deleted: Result<(), Error>, filed: Result<Product, Error>) {
        let there = catalog::find_category(ctx, of.category_id).await.expect("read");
        match (deleted, filed) {
            (Ok(()), Err(Error::CategoryNotFound { .. })) => {
                assert_eq!(there, None);
                self.refused += 1;
            }
            (deleted, Ok(product)) => {
                assert!(matches!(deleted, Ok(()) | Err(Error::CategoryHasProducts { .. })), "{deleted:?}");
                assert_eq!(product.category_id, of.category_id);
                assert_eq!(there.as_ref(), Some(of), "it is there, as it was");
                if deleted.is_ok() { self.put_back += 1 } else { self.kept += 1 }
            }
            (deleted, filed) => panic!("{deleted:?}, {filed:?}"),
        }
    }
}

/// Goes on with one for so many turns, then does the other, then ends the first. Whether the first had ended by itself, and both.
async fn amid<A, B>(turns: u32, first: impl Future<Output = A>, second: impl Future<Output = B>) -> (bool, A, B) {
    let mut first = Box::pin(first);
    for _ in 0..turns {
        if let std::task::Poll::Ready(first) = futures::poll!(&mut first) {
            return (true, first, second.await);
        }
        // As long as the engine may take for one request.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let second = second.await;
    (false, first.await, second)
}

async fn a_product_that_is_filed_while_its_category_goes_is_in_one(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // Whoever is stopped amid something keeps others of its own process waiting.
    let elsewhere = &process(&world, target.engine());
    let mut seen = Seen::default();
    for turns in 0.. {
        let lamps = category(ctx, &format!("Filed {turns}")).await;
        let filing = catalog::create_product(ctx, on_sale(&format!("Lamp {turns}"), &lamps, 100));
        let deleting = catalog::delete_category(elsewhere, lamps.category_id, None);
        let (over, filed, deleted) = amid(turns, filing, deleting).await;
        seen.judge(ctx, &lamps, deleted, filed).await;
        let stools = category(ctx, &format!("Deleted {turns}")).await;
        let filing = catalog::create_product(ctx, on_sale(&format!("Stool {turns}"), &stools, 100));
        let deleting = catalog::delete_category(elsewhere, stools.category_id, None);
        let (over_too, deleted, filed) = amid(turns, deleting, filing).await;
        seen.judge(ctx, &stools, deleted, filed).await;
        if over && over_too {
            break;
        }
    }
    if target.name == "embedded" {
        assert!(seen.refused > 0 && seen.kept > 0 && seen.put_back > 0, "{seen:?}");
    }
    sound(&world).await;
}

async fn a_product_that_is_moved_while_its_category_goes_is_in_one(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let elsewhere = &process(&world, target.engine());
    let home = category(ctx, "Home").await;
    let mut seen = Seen::default();
    for turns in 0.. {
        let lamp =
            catalog::create_product(ctx, on_sale(&format!("Lamp {turns}"), &home, 100)).await.expect("a product");
        let lamps = category(ctx, &format!("Lamps {turns}")).await;
        let away = ProductChange { category_id: Some(lamps.category_id), ..ProductChange::default() };
        let filing = catalog::change_product(ctx, lamp.product_id, None, away);
        let deleting = catalog::delete_category(elsewhere, lamps.category_id, None);
        let (over, filed, deleted) = amid(turns, filing, deleting).await;
        seen.judge(ctx, &lamps, deleted, filed).await;
        if over {
            break;
        }
    }
    assert!(seen.refused + seen.put_back > 0 && seen.kept > 0, "{seen:?}");
    sound(&world).await;
}

async fn many_who_file_and_delete_at_once_agree(target: &Target) {
    let world = World::new(target);
    let rounds = if target.name == "embedded" { 100 } else { 15 };
    let mut seen = Seen::default();
    for n in 0..rounds {
        let lamps = category(&world.ctx, &format!("Lamps {n}")).await;
        let (ctx, of) = (world.ctx.clone(), lamps.clone());
        let filing = tokio::spawn(async move { catalog::create_product(&ctx, on_sale("Lamp", &of, 100)).await });
        let (ctx, of) = (world.ctx.clone(), lamps.category_id);
        let deleting = tokio::spawn(async move { catalog::delete_category(&ctx, of, None).await });
        let (filed, deleted) = futures::join!(filing, deleting);
        seen.judge(&world.ctx, &lamps, deleted.expect("no panic"), filed.expect("no panic")).await;
    }
    assert_eq!(seen.refused + seen.kept + seen.put_back, rounds);
    sound(&world).await;
}

async fn a_caller_who_goes_away_stops_no_deletion_half_way(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    {
        let mut deleting = Box::pin(catalog::delete_category(ctx, lamps.category_id, None));
        assert!(futures::poll!(&mut deleting).is_pending());
    }
    let gone = async {
        while catalog::find_category(ctx, lamps.category_id).await.expect("read").is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("it goes all the same");
    sound(&world).await;
}

async fn a_filing_stopped_anywhere_leaves_no_product_outside(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for steps in (0..).step_by(if target.name == "embedded" { 1 } else { 13 }) {
        let lamps = category(ctx, &format!("Lamps {steps}")).await;
        let (doomed, faulty) = dying(target, &world, steps, target.name == "embedded" && steps % 2 == 1);
        let filed = catalog::create_product(&doomed, on_sale(&format!("Lamp {steps}"), &lamps, 100)).await;
        // Before what it had left to write is written: the product may not be found by its category yet.
        let deleted = catalog::delete_category(ctx, lamps.category_id, None).await;
        if filed.is_ok() {
            assert!(matches!(deleted, Err(Error::CategoryHasProducts { .. })), "{deleted:?}");
        }
        if !faulty.has_stopped() {
            filed.expect("a product");
            break;
        }
    }
    later(&world).await;
    finish_commits(target, &world).await;
    catalog::verify_categories(ctx, true, 10).await.expect("mended");
    sound(&world).await;
}
