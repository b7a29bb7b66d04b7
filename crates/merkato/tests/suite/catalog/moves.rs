//! Categories are moved and renamed, and what depends on their place follows.

use std::time::Duration;

use merkato::{
    Context, Kind, PageRequest,
    catalog::{self, Category, CategoryChange, Error, Misfiled, NewCategory, NewProduct, Product, SortOrder},
    hierarchy::{self, NewNode, Node},
    id::{CategoryId, ProductId},
    limits,
};
use uuid::Uuid;
use widerow::{Commit, store::VerifyOptions};
use widerow_testing::{Target, cases};

use super::{below, category, on_sale};
use crate::{carts::finish_commits, hierarchy::stopped::dying, world::World};

cases![
    a_moved_category_takes_all_below_it_along,
    a_category_goes_where_it_can_stand,
    of_categories_side_by_side_one_has_the_name,
    an_address_is_one_categorys_and_a_former_one_leads_on,
    the_tree_is_the_catalogs_and_everybody_may_read_it,
    products_follow_in_steps_that_go_on_where_they_were,
    a_product_that_was_filed_by_the_dead_follows_too,
    a_product_that_the_dead_left_out_of_all_lists_follows_too,
    a_move_is_followed_from_its_decision_on,
    what_does_not_agree_is_found_and_mended,
    many_categories_are_made_at_once,
];

/// Names of the products of a category and of all below it.
async fn listed(ctx: &Context, category: &Category) -> Vec<String> {
    let page = catalog::list_category(ctx, category.category_id, SortOrder::NameAsc, PageRequest::first(100)).await;
    page.expect("a page").rows.into_iter().map(|entry| entry.name).collect()
}

async fn subcategories(ctx: &Context, parent: Option<CategoryId>) -> Vec<String> {
    let page = catalog::list_subcategories(ctx, parent, PageRequest::first(100)).await;
    page.expect("a page").rows.into_iter().map(|row| row.name).collect()
}

async fn crumbs(ctx: &Context, id: CategoryId) -> Vec<String> {
    let category = catalog::get_category(ctx, id).await.expect("found");
    let crumbs = catalog::breadcrumbs(ctx, &category).await.expect("read");
    crumbs.into_iter().map(|category| category.name).collect()
}

async fn product(ctx: &Context, name: &str, category: &Category) -> Product {
    catalog::create_product(ctx, on_sale(name, category, 100)).await.expect("a product")
}

/// Nothing is left to do, and everything agrees.
pub async fn sound(world: &World) {
    let report = catalog::verify_categories(&world.ctx, false, 10).await.expect("a look");
    assert_eq!((report.wrong.as_slice(), report.differences), (&[][..], 0));
    let tree = hierarchy::tree_id("categories");
    let report = hierarchy::verify_tree(&world.ctx, tree).await.expect("a look");
    assert_eq!((report.wrong.as_slice(), report.relocating), (&[][..], false));
    let report = world.ctx.store.verify(VerifyOptions::default()).await.expect("a look");
    assert_eq!(report.listed, []);
}

/// Until all has followed: when nobody can write the old place any more.
pub async fn later(world: &World) {
    world.clock.advance_millis(limits::FOLLOW_AGAIN_SECONDS * 1000);
    let mut followed = catalog::follow_categories(&world.ctx, usize::MAX).await.expect("followed");
    // The last look waits for commits of the dead, also those of other cases, which a slow engine may not finish at once.
    for _ in (0..240).take_while(|_| !world.ctx.store.shows_commits_whole()) {
        if followed.open == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
        followed = catalog::follow_categories(&world.ctx, usize::MAX).await.expect("followed");
    }
    assert_eq!(followed.open, 0);
    assert_eq!(catalog::follow_categories(&world.ctx, usize::MAX).await.expect("followed"), Default::default());
}

async fn a_moved_category_takes_all_below_it_along(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (home, garden) = (category(ctx, "Home").await, category(ctx, "Garden").await);
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let desk = below(ctx, "Desk", Some(lamps.category_id)).await;
    let ids = [
        product(ctx, "Own", &lamps).await.product_id,
        product(ctx, "Deep", &desk).await.product_id,
        product(ctx, "Other", &home).await.product_id,
    ];
    assert_eq!(listed(ctx, &home).await, ["Deep", "Other", "Own"]);
    let moved = catalog::move_category(ctx, lamps.category_id, Some(garden.category_id), Some(1)).await.expect("moved");
    assert_eq!((moved.parent_id, moved.revision), (Some(garden.category_id), 2));
    assert_eq!((moved.path.as_slice(), moved.slug.as_str()), (&[garden.category_id][..], "lamps"));
    assert_eq!(catalog::get_category(ctx, lamps.category_id).await.expect("found"), moved);
    assert_eq!(subcategories(ctx, Some(home.category_id)).await, [""; 0]);
    assert_eq!(subcategories(ctx, Some(garden.category_id)).await, ["Lamps"]);
    assert_eq!(subcategories(ctx, None).await, ["Garden", "Home"]);
    assert_eq!(crumbs(ctx, desk.category_id).await, ["Garden", "Lamps", "Desk"]);
    assert_eq!(listed(ctx, &home).await, ["Other"]);
    assert_eq!(listed(ctx, &garden).await, ["Deep", "Own"]);
    assert_eq!(listed(ctx, &lamps).await, ["Deep", "Own"]);
    assert_eq!(listed(ctx, &desk).await, ["Deep"]);
    let deep = catalog::get_product(ctx, ids[1]).await.expect("found");
    assert_eq!(deep.category_path, [garden.category_id, lamps.category_id]);
    assert_eq!(deep.revision, 1, "no editor has changed it");
    // To the top, and to where it is.
    let top = catalog::move_category(ctx, lamps.category_id, None, None).await.expect("moved");
    assert_eq!((top.parent_id, top.path.len(), top.revision), (None, 0, 3));
    let again = catalog::move_category(ctx, lamps.category_id, None, None).await.expect("there already");
    assert_eq!(again, top);
    assert_eq!(listed(ctx, &garden).await, [""; 0]);
    assert_eq!(crumbs(ctx, desk.category_id).await, ["Lamps", "Desk"]);
    // Filed after all this, and under a new name.
    let change = CategoryChange { name: Some("Lights".into()), slug: Some("lights".into()) };
    let renamed = catalog::change_category(ctx, lamps.category_id, Some(3), change).await.expect("renamed");
    assert_eq!((renamed.revision, renamed.slug.as_str()), (4, "lights"));
    let late = product(ctx, "Late", &lamps).await;
    assert_eq!((late.category_name.as_str(), late.category_path.len()), ("Lights", 0));
    assert_eq!(catalog::get_product(ctx, ids[0]).await.expect("found").category_name, "Lights");
    sound(&world).await;
    later(&world).await;
    sound(&world).await;
}

async fn a_category_goes_where_it_can_stand(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let desk = below(ctx, "Desk", Some(lamps.category_id)).await;
    let twin = category(ctx, "Lamps").await;
    let go = async |id: CategoryId, to: CategoryId| catalog::move_category(ctx, id, Some(to), None).await;
    for inside in [home.category_id, lamps.category_id, desk.category_id] {
        let refused = go(home.category_id, inside).await.expect_err("a circle");
        assert!(
            matches!(refused, Error::CategoryCycle { category, parent }
            if category == home.category_id && parent == inside),
            "{refused:?}"
        );
        assert_eq!((refused.code(), refused.kind()), ("category_cycle", Kind::Refused));
    }
    let refused = go(twin.category_id, home.category_id).await.expect_err("a name that is taken");
    assert!(
        matches!(&refused, Error::CategoryNameTaken { name, holder }
        if name == "Lamps" && *holder == lamps.category_id),
        "{refused:?}"
    );
    let nowhere = CategoryId(Uuid::now_v7());
    assert!(
        matches!(go(desk.category_id, nowhere).await, Err(Error::CategoryNotFound { category }) if category == nowhere)
    );
    assert!(
        matches!(go(nowhere, desk.category_id).await, Err(Error::CategoryNotFound { category }) if category == nowhere)
    );
    let root = CategoryId(hierarchy::tree_id("categories").0);
    assert!(catalog::find_category(ctx, root).await.expect("read").is_none(), "the root is no category");
    assert!(matches!(go(root, desk.category_id).await, Err(Error::CategoryNotFound { .. })));
    let refused = catalog::move_category(ctx, desk.category_id, None, Some(7)).await.expect_err("edited");
    assert!(matches!(refused, Error::CategoryEdited { expected: 7, found: 1, .. }), "{refused:?}");
    // As deep as categories go, and what hangs below counts.
    let mut deepest = desk.category_id;
    for n in 3..limits::CATEGORY_DEPTH_MAX {
        deepest = below(ctx, &format!("Level {n}"), Some(deepest)).await.category_id;
    }
    let refused = go(twin.category_id, deepest).await.expect_err("too deep");
    assert!(matches!(refused, Error::TooDeep { limit } if limit == limits::CATEGORY_DEPTH_MAX), "{refused:?}");
    let hat = category(ctx, "Hat").await;
    let refused = go(home.category_id, hat.category_id).await.expect_err("too deep below");
    assert!(matches!(refused, Error::TooDeep { .. }), "{refused:?}");
    assert_eq!(crumbs(ctx, deepest).await.len(), limits::CATEGORY_DEPTH_MAX);
    let tree = hierarchy::tree_id("categories");
    assert_eq!(hierarchy::pending_relocation(ctx, tree).await.expect("read"), None);
    later(&world).await;
    sound(&world).await;
}

async fn of_categories_side_by_side_one_has_the_name(target: &Target) {
    let world = World::new(target);
    let many = if target.name == "embedded" { 30 } else { 6 };
    let made = (0..many).map(|_| {
        let ctx = world.ctx.clone();
        let new = NewCategory { category_id: None, name: "Lamps".into(), slug: None, parent_id: None };
        tokio::spawn(async move { catalog::create_category(&ctx, new).await })
    });
    let mut winners = Vec::new();
    for made in futures::future::join_all(made.collect::<Vec<_>>()).await {
        match made.expect("no panic") {
            Ok(category) => winners.push(category),
            Err(Error::CategoryNameTaken { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(winners.len(), 1);
    let found = catalog::find_category_by_slug(&world.ctx, "lamps").await.expect("read");
    assert_eq!(found.as_ref(), winners.first());
    // Elsewhere the name is free, and the address is made longer.
    let other = below(&world.ctx, "Lamps", Some(winners[0].category_id)).await;
    assert!(other.slug.starts_with("lamps-"), "{}", other.slug);
    let refused = catalog::change_category(
        &world.ctx,
        other.category_id,
        None,
        CategoryChange { slug: Some("lamps".into()), ..CategoryChange::default() },
    );
    assert!(matches!(refused.await, Err(Error::SlugTaken { slug }) if slug == "lamps"));
}

async fn an_address_is_one_categorys_and_a_former_one_leads_on(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let slug = |slug: &str| CategoryChange { slug: Some(slug.into()), ..CategoryChange::default() };
    let find = async |slug: &str| {
        catalog::find_category_by_slug(ctx, slug).await.expect("read").map(|category| category.category_id)
    };
    let changed = catalog::change_category(ctx, lamps.category_id, Some(1), slug("lights")).await.expect("changed");
    assert_eq!((changed.revision, changed.slug.as_str()), (2, "lights"));
    for address in ["lamps", "lights"] {
        assert_eq!(find(address).await, Some(lamps.category_id));
    }
    // What it has left, another may take; what it has, nobody.
    let new = |slug: &str, name: &str| NewCategory {
        category_id: None,
        name: name.into(),
        slug: Some(slug.into()),
        parent_id: None,
    };
    assert!(matches!(catalog::create_category(ctx, new("lights", "Other")).await, Err(Error::SlugTaken { .. })));
    let other = catalog::create_category(ctx, new("lamps", "Other")).await.expect("a category");
    assert_eq!((find("lamps").await, find("lights").await), (Some(other.category_id), Some(lamps.category_id)));
    let taken = catalog::change_category(ctx, lamps.category_id, None, slug("lamps")).await;
    assert!(matches!(taken, Err(Error::SlugTaken { .. })));
    // Both back to where they began.
    catalog::change_category(ctx, other.category_id, None, slug("other")).await.expect("changed");
    catalog::change_category(ctx, lamps.category_id, None, slug("lamps")).await.expect("changed");
    assert_eq!((find("lamps").await, find("other").await), (Some(lamps.category_id), Some(other.category_id)));
    assert_eq!(find("lights").await, Some(lamps.category_id));
    sound(&world).await;
}

async fn the_tree_is_the_catalogs_and_everybody_may_read_it(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let refused = hierarchy::create_tree(ctx, "categories").await.expect_err("the catalog's");
    assert_eq!((refused.code(), refused.kind()), ("tree_is_kept", Kind::Refused));
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let tree = hierarchy::get_tree(ctx, "categories").await.expect("a tree").org_id;
    assert!(hierarchy::is_kept(tree));
    let node = hierarchy::find_by_path(ctx, tree, "root/Home/Lamps").await.expect("read").expect("a node").node_id;
    assert_eq!(node.0, lamps.category_id.0);
    let refusals = [
        hierarchy::insert_node(ctx, tree, NewNode { name: "New".into(), ..NewNode::default() }).await.err(),
        hierarchy::move_node(ctx, tree, node, None, None).await.err(),
        hierarchy::rename_node(ctx, tree, node, "Other", None).await.err(),
        hierarchy::describe_node(ctx, tree, node, Default::default(), None).await.err(),
        hierarchy::delete_leaf(ctx, tree, node, None).await.err(),
        hierarchy::delete_subtree(ctx, tree, node, None).await.err(),
    ];
    for refused in refusals {
        assert!(matches!(refused, Some(hierarchy::Error::Kept { tree: "categories" })), "{refused:?}");
    }
    assert_eq!(catalog::get_category(ctx, lamps.category_id).await.expect("found"), lamps);
}

/// As if the mover had died right after its move.
async fn products_follow_in_steps_that_go_on_where_they_were(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (home, garden) = (category(ctx, "Home").await, category(ctx, "Garden").await);
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let mut made = Vec::new();
    for n in 0..3 {
        let inner = below(ctx, &format!("Inner {n}"), Some(lamps.category_id)).await;
        for m in 0..3 {
            made.push(product(ctx, &format!("Lamp {n} {m}"), &inner).await);
        }
    }
    catalog::move_category(ctx, lamps.category_id, Some(garden.category_id), None).await.expect("moved");
    // All of them are put back to where they were.
    for product in &made {
        ctx.store
            .guarded::<Product, (), widerow::Error>(product.product_id, |_| Ok((Commit::new().put(product), ())))
            .await
            .expect("put");
    }
    assert_eq!(listed(ctx, &home).await.len(), 9);
    // Elsewhere the last look waits for the commits of other cases, too, and may be made twice.
    if !ctx.store.shows_commits_whole() {
        later(&world).await;
        assert_eq!((listed(ctx, &garden).await.len(), listed(ctx, &home).await.len()), (9, 0));
        return sound(&world).await;
    }
    world.clock.advance_millis(limits::FOLLOW_AGAIN_SECONDS * 1000);
    let (mut steps, mut looked_at) = (0, 0);
    loop {
        let followed = catalog::follow_categories(ctx, 2).await.expect("followed");
        assert!(followed.products <= 2);
        (steps, looked_at) = (steps + 1, looked_at + followed.products);
        let there = listed(ctx, &garden).await.len();
        assert_eq!((there as u64, listed(ctx, &home).await.len()), (looked_at, 9 - there), "one by one");
        if followed.open == 0 {
            break;
        }
    }
    assert!(steps >= 6, "{steps}");
    assert_eq!(looked_at, 9, "each once");
    sound(&world).await;
}

/// One more product of the same category, at the place that this one had.
async fn filed_by_the_dead(ctx: &Context, old: &Product) {
    let dead = Product { product_id: ProductId(Uuid::now_v7()), slug: "dead".into(), ..old.clone() };
    ctx.store
        .guarded::<Product, (), widerow::Error>(dead.product_id, |_| Ok((Commit::new().put(&dead), ())))
        .await
        .expect("put");
}

/// It had read the old place, and wrote it when all had followed; then it died.
async fn a_product_that_was_filed_by_the_dead_follows_too(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (home, garden) = (category(ctx, "Home").await, category(ctx, "Garden").await);
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let old = product(ctx, "Lamp", &lamps).await;
    catalog::move_category(ctx, lamps.category_id, Some(garden.category_id), None).await.expect("moved");
    filed_by_the_dead(ctx, &old).await;
    assert_eq!(listed(ctx, &home).await.len(), 1);
    let soon = catalog::follow_categories(ctx, usize::MAX).await.expect("followed");
    assert_eq!((soon.products, soon.open), (0, 1), "it is not time yet");
    later(&world).await;
    assert_eq!((listed(ctx, &home).await.len(), listed(ctx, &garden).await.len()), (0, 2));
    sound(&world).await;
}

/// The same shop in a process whose commits are seen row by row, on every engine.
fn row_by_row(target: &Target) -> World {
    let world = World::new(target);
    let (ctx, _) = dying(target, &world, u64::MAX, true);
    World { ctx, ..world }
}

/// Those who filed them died anywhere, also when a product was there and its category did not list it.
async fn a_product_that_the_dead_left_out_of_all_lists_follows_too(target: &Target) {
    let world = row_by_row(target);
    let ctx = &world.ctx;
    let (home, garden) = (category(ctx, "Home").await, category(ctx, "Garden").await);
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let (mut there, mut unlisted) = (0, 0);
    for steps in (0..).step_by(if target.name == "embedded" { 1 } else { 5 }) {
        let (doomed, faulty) = dying(target, &world, steps, true);
        let new =
            NewProduct { product_id: Some(ProductId(ctx.new_id())), ..on_sale(&format!("Lamp {steps}"), &lamps, 100) };
        let (id, before) = (new.product_id.expect("an id"), listed(ctx, &lamps).await.len());
        drop(catalog::create_product(&doomed, new).await);
        let is_there = catalog::find_product(ctx, id).await.expect("read").is_some();
        there += usize::from(is_there);
        unlisted += u32::from(is_there && listed(ctx, &lamps).await.len() == before);
        if !faulty.has_stopped() {
            break;
        }
    }
    assert!(target.name != "embedded" || unlisted > 0, "none was left half-way");
    catalog::move_category(ctx, lamps.category_id, Some(garden.category_id), None).await.expect("moved");
    later(&world).await;
    // Nothing that is finished after this brings the old place back.
    finish_commits(target, &world).await;
    assert_eq!((listed(ctx, &home).await.len(), listed(ctx, &garden).await.len()), (0, there));
    sound(&world).await;
}

/// Whoever began it died. It is decided by another, much later, and until then everybody read the old place.
async fn a_move_is_followed_from_its_decision_on(target: &Target) {
    let world = row_by_row(target);
    let ctx = &world.ctx;
    let (home, garden) = (category(ctx, "Home").await, category(ctx, "Garden").await);
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    below(ctx, "Desk", Some(lamps.category_id)).await;
    let old = product(ctx, "Lamp", &lamps).await;
    let tree = hierarchy::tree_id("categories");
    for steps in 0.. {
        let (doomed, faulty) = dying(target, &world, steps, true);
        drop(catalog::move_category(&doomed, lamps.category_id, Some(garden.category_id), None).await);
        assert!(faulty.has_stopped(), "none was stopped half-way");
        if hierarchy::pending_relocation(ctx, tree).await.expect("read").is_some() {
            break;
        }
    }
    world.clock.advance_millis(limits::FOLLOW_AGAIN_SECONDS * 1000);
    assert_eq!(catalog::get_category(ctx, lamps.category_id).await.expect("found").path, [home.category_id]);
    let soon = catalog::follow_categories(ctx, usize::MAX).await.expect("followed");
    assert_eq!((soon.products, soon.done, soon.open), (1, 0, 1), "it is not time for the last look yet");
    assert_eq!(catalog::get_category(ctx, lamps.category_id).await.expect("found").path, [garden.category_id]);
    filed_by_the_dead(ctx, &old).await;
    later(&world).await;
    assert_eq!((listed(ctx, &home).await.len(), listed(ctx, &garden).await.len()), (0, 2));
    sound(&world).await;
}

async fn what_does_not_agree_is_found_and_mended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let lamp = product(ctx, "Lamp", &lamps).await;
    let astray = Product { category_path: Vec::new(), ..lamp.clone() };
    let lost = Product {
        product_id: ProductId(Uuid::now_v7()),
        slug: "lost".into(),
        category_id: CategoryId(Uuid::now_v7()),
        ..lamp.clone()
    };
    for product in [&astray, &lost] {
        ctx.store
            .guarded::<Product, (), widerow::Error>(product.product_id, |_| Ok((Commit::new().put(product), ())))
            .await
            .expect("put");
    }
    let tree = hierarchy::tree_id("categories");
    let bare = Node {
        node_code: None,
        ..hierarchy::get_node(ctx, tree, merkato::id::NodeId(lamps.category_id.0)).await.expect("a node")
    };
    ctx.store
        .guarded_prefixes::<Node, (), widerow::Error>(tree, [bare.node_id], |_| Ok((Commit::new().put(&bare), ())))
        .await
        .expect("put");
    let wrong = [
        Misfiled::NoSlug { category: lamps.category_id },
        Misfiled::Product { product: lamp.product_id, category: lamps.category_id },
        Misfiled::NoCategory { product: lost.product_id, category: lost.category_id },
    ];
    for (repair, mended) in [(false, 0), (true, 3)] {
        let report = catalog::verify_categories(ctx, repair, 10).await.expect("a look");
        assert_eq!((report.categories, report.products, report.differences, report.mended), (2, 2, 3, mended));
        assert!(wrong.iter().all(|wrong| report.wrong.contains(wrong)), "{report:?}");
    }
    let report = catalog::verify_categories(ctx, true, 10).await.expect("a look");
    assert_eq!(report.wrong, []);
    // A category that is not there is there again, at the top, as another has its name.
    let back = catalog::get_category(ctx, lost.category_id).await.expect("found");
    assert_eq!((back.name.as_str(), back.parent_id), (format!("Lamps {}", back.category_id).as_str(), None));
    assert_eq!(catalog::get_product(ctx, lost.product_id).await.expect("found").category_name, back.name);
    assert_eq!(catalog::get_product(ctx, lamp.product_id).await.expect("found"), lamp);
    let slug = catalog::get_category(ctx, lamps.category_id).await.expect("found").slug;
    assert!(slug.starts_with("lamps-"), "{slug}");
    assert_eq!(
        catalog::find_category_by_slug(ctx, &slug).await.expect("read").map(|c| c.category_id),
        Some(lamps.category_id)
    );
}

async fn many_categories_are_made_at_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let count = if target.name == "embedded" { 300 } else { 40 };
    let ids: Vec<CategoryId> = (0..count).map(|_| CategoryId(ctx.new_id())).collect();
    let new = |n: usize| NewCategory {
        category_id: Some(ids[n]),
        name: if n == 5 { "<b>".into() } else { format!("Category {n}") },
        slug: None,
        parent_id: (n > 0).then(|| ids[(n - 1) / 5]),
    };
    for round in 0..2 {
        let made = catalog::create_categories(ctx, (0..count).map(new).collect()).await.expect("answers");
        assert_eq!(made.len(), count);
        for (n, made) in made.iter().enumerate() {
            // What would stand below one that is refused has no place.
            let mut above = n;
            while above > 5 {
                above = (above - 1) / 5;
            }
            match (made, n, above == 5, round) {
                (Err(Error::Invalid(_)), 5, ..) | (Err(Error::CategoryNotFound { .. }), _, true, _) => {}
                (Ok(category), _, false, 0) => assert_eq!(category.slug, format!("category-{n}")),
                (Err(Error::CategoryExists { .. }), _, false, 1) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    let mut all = Vec::new();
    let mut page = PageRequest::first(100);
    loop {
        let found = catalog::list_descendants(ctx, None, page).await.expect("a page");
        all.extend(found.rows);
        match found.next {
            Some(next) => page = PageRequest { limit: 100, cursor: Some(next) },
            None => break,
        }
    }
    assert!(all.len() < count - 1 && all[0].category_id == ids[0]);
    sound(&world).await;
}
