//! Categories are made, moved and renamed by processes that die after every step; whoever comes next finds nothing half done.

use merkato::{
    Context, PageRequest,
    catalog::{self, Category, CategoryChange, Error, NewCategory, SortOrder},
    hierarchy,
    id::CategoryId,
};
use widerow::engine::Atomicity;
use widerow_testing::{Target, cases};

use super::{
    below, category,
    moves::{later, sound},
    on_sale,
};
use crate::{carts::finish_commits, hierarchy::stopped::dying, world::World};

cases![a_creation_stopped_anywhere_is_whole_or_nothing, a_move_stopped_anywhere_is_followed_by_its_products];

/// Every step on the embedded engine; elsewhere, where each takes its time, a part of them.
fn steps(target: &Target) -> impl Iterator<Item = u64> {
    (0..).step_by(if target.name == "embedded" { 1 } else { 13 })
}

async fn a_creation_stopped_anywhere_is_whole_or_nothing(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let (mut nothing, mut whole) = (0, 0);
    for steps in steps(target) {
        let (doomed, faulty) = dying(target, &world, steps, target.name == "embedded" && steps % 2 == 1);
        let id = CategoryId(ctx.new_id());
        let name = format!("Lamps {steps}");
        let new =
            NewCategory { category_id: Some(id), name: name.clone(), slug: None, parent_id: Some(home.category_id) };
        let stopped = catalog::create_category(&doomed, new.clone()).await;
        let there = catalog::find_category(ctx, id).await.expect("read");
        (nothing, whole) = (nothing + u32::from(there.is_none()), whole + u32::from(there.is_some()));
        let found = catalog::find_category_by_slug(ctx, &format!("lamps-{steps}")).await.expect("read");
        assert_eq!(found, there, "its address leads to it, or nowhere");
        // The same again makes it, or finds it.
        match catalog::create_category(ctx, new).await {
            Ok(made) => assert!(there.is_none() && made.name == name && made.slug == format!("lamps-{steps}")),
            Err(Error::CategoryExists { category }) => assert!(there.is_some() && category == id),
            Err(other) => panic!("{other}"),
        }
        let made = catalog::get_category(ctx, id).await.expect("found");
        assert_eq!((made.parent_id, made.revision), (Some(home.category_id), 1));
        if !faulty.has_stopped() {
            stopped.expect("a category");
            break;
        }
    }
    assert!(nothing > 0 && whole > 0, "{nothing} were not there, {whole} were");
    let page = catalog::list_subcategories(ctx, Some(home.category_id), PageRequest::first(100)).await.expect("a page");
    assert_eq!(page.rows.len() as u32, nothing + whole, "each once");
    sound(&world).await;
}

struct Case {
    left: Category,
    right: Category,
    top: Category,
    inner: Category,
}

async fn case(ctx: &Context, n: u64) -> Case {
    let left = category(ctx, &format!("Left {n}")).await;
    let right = category(ctx, &format!("Right {n}")).await;
    let top = below(ctx, "Top", Some(left.category_id)).await;
    let inner = below(ctx, "Inner", Some(top.category_id)).await;
    for (name, category) in [("Own", &top), ("One", &inner), ("Two", &inner)] {
        catalog::create_product(ctx, on_sale(&format!("{name} {n}"), category, 100)).await.expect("a product");
    }
    Case { left, right, top, inner }
}

async fn listed(ctx: &Context, category: &Category) -> usize {
    let page = catalog::list_category(ctx, category.category_id, SortOrder::Newest, PageRequest::first(100)).await;
    page.expect("a page").rows.len()
}

async fn a_move_stopped_anywhere_is_followed_by_its_products(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = hierarchy::tree_id("categories");
    let (mut old, mut new, mut between) = (0, 0, 0);
    for steps in steps(target) {
        let Case { left, right, top, inner } = case(ctx, steps).await;
        let (doomed, faulty) = dying(target, &world, steps, target.name == "embedded" && steps % 2 == 1);
        let stopped = catalog::move_category(&doomed, top.category_id, Some(right.category_id), None).await;
        // The tree is in one state, wherever one looks.
        let seen = catalog::get_category(ctx, inner.category_id).await.expect("found").path;
        let here = if seen[0] == left.category_id { &left } else { &right };
        assert_eq!(seen, [here.category_id, top.category_id]);
        assert_eq!(catalog::get_category(ctx, top.category_id).await.expect("found").path, [here.category_id]);
        for place in [&left, &right] {
            let page = catalog::list_subcategories(ctx, Some(place.category_id), PageRequest::first(9)).await;
            let inside = page.expect("a page").rows.len();
            assert_eq!(inside, usize::from(place.category_id == here.category_id));
        }
        // Products are listed in one of the two places each, and always in their own: where an engine shows the rows of a commit
        // one by one, once the sweep has ended what the dead process had begun.
        if target.abilities().atomicity != Atomicity::Everything {
            world.clock.advance_millis(120_000);
            finish_commits(target, &world).await;
        }
        let (there, left_behind) = (listed(ctx, &right).await, listed(ctx, &left).await);
        assert_eq!(there + left_behind, 3);
        assert_eq!((listed(ctx, &top).await, listed(ctx, &inner).await), (3, 2));
        assert!(there == 0 || here.category_id == right.category_id, "none goes before its category");
        (old, new) = (old + u32::from(here.category_id == left.category_id), new + u32::from(there == 3));
        between += u32::from(here.category_id == right.category_id && there < 3);
        // Whoever comes by.
        match steps % 3 {
            0 => drop(catalog::follow_categories(ctx, usize::MAX).await.expect("followed")),
            1 => drop(catalog::verify_categories(ctx, true, 10).await.expect("mended")),
            _ => {
                let change = CategoryChange { name: Some("Other".into()), ..CategoryChange::default() };
                drop(catalog::change_category(ctx, top.category_id, None, change).await.expect("renamed"));
            }
        }
        assert_eq!(hierarchy::pending_relocation(ctx, tree).await.expect("read"), None);
        let now = catalog::get_category(ctx, top.category_id).await.expect("found").path[0];
        assert!(now == here.category_id || now == right.category_id, "what has begun is ended");
        let ended = if now == right.category_id { (0, 3) } else { (3, 0) };
        assert_eq!((listed(ctx, &left).await, listed(ctx, &right).await), ended, "after {steps} steps");
        catalog::move_category(ctx, top.category_id, Some(right.category_id), None).await.expect("moved");
        assert_eq!((listed(ctx, &left).await, listed(ctx, &right).await), (0, 3));
        if steps % 8 == 0 || !faulty.has_stopped() {
            later(&world).await;
            sound(&world).await;
        }
        if !faulty.has_stopped() {
            stopped.expect("moved");
            break;
        }
    }
    assert!(old > 0 && new > 0, "{old} were in the old place, {new} in the new, {between} between");
    assert!(target.name != "embedded" || between > 0, "none was stopped while products followed");
}
