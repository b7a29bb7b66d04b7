//! What one shop has, as it is in another; and a shop that is gone.

use merkato::{
    Context,
    catalog::{self, Category, CategoryChange, Error, Product, ProductChange, Restored},
    hierarchy::{self, Inserted, NewNode, Node, NodeFacts, Origin},
    id::{CategoryId, SensorId},
    orders::{self, NewOrder, OrderStatus},
    telemetry::{self, Error as SensorError, Sensor},
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::store::VerifyOptions;
use widerow_testing::{Target, cases};

use crate::{
    catalog::{below, category, on_sale},
    hierarchy::{add, new_tree},
    orders::{draft, go, imported},
    telemetry::{DAY_MILLIS, hours_ago, reading, sensor},
    world::{World, raw_rows},
};

cases![
    what_was_moved_here_stays_where_it_is,
    a_product_is_in_another_shop_as_it_was,
    what_does_not_belong_together_is_refused,
    an_order_is_in_another_shop_as_it_was,
    a_sensor_is_in_another_shop_as_it_was,
    a_tree_is_in_another_shop_as_it_was,
    a_tenant_is_listed_and_erased,
];

fn other(world: &World) -> Context {
    world.ctx.with_store(world.database.tenant(&widerow_testing::unique()).expect("a good name"))
}

async fn edited(ctx: &Context) -> (Vec<Category>, Product) {
    let home = category(ctx, "Home").await;
    let lamps = below(ctx, "Lamps", Some(home.category_id)).await;
    let made = catalog::create_product(ctx, on_sale("Brass lamp", &lamps, 39_99)).await.expect("a product");
    let change = ProductChange { price: Some(Decimal::new(35_00, 2)), ..ProductChange::default() };
    let product = catalog::change_product(ctx, made.product_id, None, change).await.expect("changed");
    catalog::set_popularity(ctx, product.product_id, 7).await.expect("noted");
    (vec![home, lamps], catalog::get_product(ctx, product.product_id).await.expect("found"))
}

async fn a_product_is_in_another_shop_as_it_was(target: &Target) {
    let world = World::new(target);
    let (categories, product) = edited(&world.ctx).await;
    let there = other(&world);
    world.clock.advance_millis(60_000);
    for category in &categories {
        assert_eq!(catalog::restore_category(&there, category.clone()).await.expect("restored"), Restored::Created);
        assert_eq!(catalog::restore_category(&there, category.clone()).await.expect("restored"), Restored::Unchanged);
        assert_eq!(catalog::get_category(&there, category.category_id).await.expect("found"), *category);
    }
    for outcome in [Restored::Created, Restored::Unchanged] {
        assert_eq!(catalog::restore_product(&there, product.clone()).await.expect("restored"), outcome);
        // What was told of it is told where it happened.
        let here = Product { told: None, ..product.clone() };
        assert_eq!(catalog::get_product(&there, product.product_id).await.expect("found"), here);
    }
    let changed = Product { price: Decimal::ONE, slug: "other".into(), ..product.clone() };
    assert_eq!(catalog::restore_product(&there, changed.clone()).await.expect("restored"), Restored::Changed);
    let found = catalog::get_product_by_slug(&there, "other").await.expect("found");
    assert_eq!(found.told.map(|told| told.version), Some(1), "another price is told");
    assert_eq!(Product { told: changed.told, ..found }, changed);
    // Two shops, two prices.
    assert_eq!(catalog::get_product(&world.ctx, product.product_id).await.expect("found"), product);
}

async fn what_does_not_belong_together_is_refused(target: &Target) {
    let world = World::new(target);
    let (categories, product) = edited(&world.ctx).await;
    let there = other(&world);
    let missing = catalog::restore_product(&there, product.clone()).await;
    assert!(matches!(missing, Err(Error::CategoryNotFound { .. })), "{missing:?}");
    let orphan = catalog::restore_category(&there, categories[1].clone()).await;
    assert!(matches!(orphan, Err(Error::CategoryNotFound { .. })), "{orphan:?}");
    catalog::restore_category(&there, categories[0].clone()).await.expect("restored");
    let own = Category { category_id: CategoryId(Uuid::now_v7()), slug: "own".into(), ..categories[1].clone() };
    catalog::restore_category(&there, own.clone()).await.expect("restored");
    let twin = catalog::restore_category(&there, categories[1].clone()).await;
    assert!(matches!(twin, Err(Error::CategoryNameTaken { holder, .. }) if holder == own.category_id), "{twin:?}");
    catalog::change_category(&there, own.category_id, None, renamed("Other lamps")).await.expect("renamed");
    catalog::restore_category(&there, categories[1].clone()).await.expect("restored");
    catalog::create_product(&there, on_sale("Brass lamp", &categories[1], 1_00)).await.expect("a product");
    let taken = catalog::restore_product(&there, product).await;
    assert!(matches!(taken, Err(Error::SlugTaken { .. })), "{taken:?}");
}

fn renamed(name: &str) -> CategoryChange {
    CategoryChange { name: Some(name.into()), ..CategoryChange::default() }
}

/// The shop has moved a category since: what comes from elsewhere is filed where it stands here.
async fn what_was_moved_here_stays_where_it_is(target: &Target) {
    let world = World::new(target);
    let (categories, product) = edited(&world.ctx).await;
    let there = other(&world);
    for category in &categories {
        catalog::restore_category(&there, category.clone()).await.expect("restored");
    }
    let moved = catalog::move_category(&there, categories[1].category_id, None, None).await.expect("moved");
    assert_eq!(catalog::restore_category(&there, categories[1].clone()).await.expect("there"), Restored::Unchanged);
    assert_eq!(catalog::get_category(&there, moved.category_id).await.expect("found").path, []);
    assert_eq!(catalog::restore_product(&there, product.clone()).await.expect("restored"), Restored::Created);
    let placed = catalog::get_product(&there, product.product_id).await.expect("found");
    assert_eq!(placed, Product { category_path: Vec::new(), told: None, ..product.clone() });
    assert_eq!(catalog::restore_product(&there, product).await.expect("restored"), Restored::Unchanged);
}

async fn an_order_is_in_another_shop_as_it_was(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let steps = [(OrderStatus::Pending, 500), (OrderStatus::Paid, 400)];
    let new = imported(draft(ctx, None, 3), ctx.now(), &steps);
    let id = orders::insert(ctx, &new).await.expect("an order").order_id;
    let order = go(ctx, id, &[OrderStatus::Processing]).await;
    let (items, history) = (orders::list_items(ctx, id).await.expect("lines"), orders::list_history(ctx, id).await);
    let history = history.expect("a history");
    let copy = NewOrder::restore(order.clone(), items.clone(), history.clone()).expect("whole");
    let there = other(&world);
    // What was told of it is told where it happened.
    let order = orders::Order { told: None, ..order };
    for _ in 0..2 {
        assert_eq!(orders::insert(&there, &copy).await.expect("an order"), order);
        assert_eq!(orders::list_items(&there, id).await.expect("lines"), items);
        assert_eq!(orders::list_history(&there, id).await.expect("a history"), history);
    }
    assert!(NewOrder::restore(order.clone(), items[1..].to_vec(), history.clone()).is_err());
    assert!(NewOrder::restore(order.clone(), items.clone(), history[1..].to_vec()).is_err());
    let dearer = orders::Order { total: order.total + Decimal::ONE, ..order };
    assert!(NewOrder::restore(dearer, items, history).is_err());
}

async fn a_sensor_is_in_another_shop_as_it_was(target: &Target) {
    let world = World::new(target);
    let made = sensor(&world.ctx, "Cold store").await;
    let (id, at) = (made.sensor_id, hours_ago(&world.ctx, 2));
    world.clock.advance_millis(60_000);
    let retired = telemetry::retire_sensor(&world.ctx, id).await.expect("retired");
    // Later than any clock could have been ahead.
    world.clock.advance_millis(DAY_MILLIS);
    let there = other(&world);
    for is_new in [true, false] {
        let restored = telemetry::restore_sensor(&there, retired.clone()).await.expect("restored");
        assert_eq!(restored, is_new);
        assert_eq!(telemetry::get_sensor(&there, id).await.expect("found"), retired);
    }
    // What it measured before comes along; what is said of it since does not, and nobody else adds to it.
    let before = reading(id, at, 4.0);
    let since = reading(id, there.now(), 5.0);
    let restore = || telemetry::restore_measurements(&there, vec![before.clone(), since.clone()]);
    for _ in 0..2 {
        let answers = restore().await.expect("answers");
        assert!(answers[0].is_ok(), "{answers:?}");
        assert!(matches!(answers[1], Err(SensorError::SensorRetired { .. })), "{answers:?}");
    }
    let added = telemetry::ingest(&there, vec![before.clone()]).await.expect("answers");
    assert!(matches!(added[0], Err(SensorError::SensorRetired { .. })), "{added:?}");
    assert_eq!(telemetry::find_known(&there, vec![before]).await.expect("known"), [true]);
    let absurd = Sensor { sensor_id: SensorId(Uuid::now_v7()), revision: i64::MAX, ..retired };
    let refused = telemetry::restore_sensor(&there, absurd).await;
    assert!(
        matches!(&refused, Err(SensorError::Invalid(invalid)) if invalid.to_string().contains("revision")),
        "{refused:?}"
    );
}

async fn a_tree_is_in_another_shop_as_it_was(target: &Target) {
    let world = World::new(target);
    let tree = new_tree(&world.ctx).await;
    let root = hierarchy::root_of(tree);
    let sales = add(&world.ctx, tree, "Sales", None).await;
    let north = add(&world.ctx, tree, "North", sales).await;
    let facts = || NodeFacts { node_type: Some(Some("company".into())), metadata: None };
    for node in [root, north] {
        world.clock.advance_millis(60_000);
        hierarchy::describe_node(&world.ctx, tree, node, facts(), None).await.expect("described");
    }
    let there = other(&world);
    let mut all = Vec::new();
    for node in [root, sales, north] {
        all.push(hierarchy::get_node(&world.ctx, tree, node).await.expect("found"));
    }
    let new = |node: &Node| {
        let new = NewNode {
            node_id: Some(node.node_id),
            parent_id: node.parent_id,
            name: node.node_name.clone(),
            node_type: node.node_type.clone(),
            metadata: node.node_metadata.clone(),
        };
        let (revision, created_at, updated_at) = (node.revision, node.created_at, node.updated_at);
        (new, Some(Origin { revision, created_at, updated_at }))
    };
    world.clock.advance_millis(60_000);
    for is_new in [true, false] {
        let (first, origin) = new(&all[0]);
        let mut answers = vec![hierarchy::restore_tree(&there, first, origin).await];
        answers
            .extend(hierarchy::restore_nodes(&there, tree, all[1..].iter().map(new).collect()).await.expect("answers"));
        for (answer, node) in answers.into_iter().zip(&all) {
            let id = node.node_id;
            assert_eq!(answer.expect("restored"), if is_new { Inserted::New(id) } else { Inserted::Unchanged(id) });
            assert_eq!(hierarchy::get_node(&there, tree, id).await.expect("found"), *node);
        }
    }
    let listed = hierarchy::get_tree(&there, "company").await.expect("listed");
    assert_eq!(listed.created_at, all[0].created_at);
    let (first, origin) = new(&all[0]);
    let another = NewNode { node_type: None, ..first.clone() };
    let refused = hierarchy::restore_tree(&there, another, origin.clone()).await;
    assert!(matches!(refused, Err(hierarchy::Error::NodeExists { node }) if node == root), "{refused:?}");
    let absurd = origin.map(|origin| Origin { revision: 0, ..origin });
    let refused = hierarchy::restore_tree(&there, first, absurd).await;
    assert!(
        matches!(&refused, Err(hierarchy::Error::Invalid(invalid)) if invalid.to_string().contains("revision")),
        "{refused:?}"
    );
}

async fn a_tenant_is_listed_and_erased(target: &Target) {
    let world = World::alone(target);
    let there = other(&world);
    for ctx in [&world.ctx, &there] {
        let (categories, _) = edited(ctx).await;
        for n in 0..30 {
            let new = on_sale(&format!("Lamp {n}"), &categories[1], 5_00);
            catalog::create_product(ctx, new).await.expect("a product");
        }
        orders::insert(ctx, &imported(draft(ctx, None, 30), ctx.now(), &[(OrderStatus::Paid, 5)]))
            .await
            .expect("an order");
    }
    let mut names = vec![world.ctx.store.tenant().clone(), there.store.tenant().clone()];
    names.sort();
    assert_eq!(world.database.list_tenants().await.expect("listed"), names);
    let mut told = 0;
    let erased = world.ctx.store.erase(|rows| told = rows).await.expect("erased");
    assert!(erased >= 60 && told == erased, "{erased}, {told}");
    assert_eq!(world.ctx.store.erase(|_| {}).await.expect("erased"), 0);
    assert_eq!(world.database.list_tenants().await.expect("listed"), [there.store.tenant().clone()]);
    for table in world.database.schema().tables() {
        assert!(raw_rows(&world, table).await.is_empty(), "{}", table.name);
    }
    assert_eq!(world.ctx.store.verify(VerifyOptions::default()).await.expect("verified").differences, 0);
    let own = World { ctx: there, ..world };
    assert_eq!(raw_rows(&own, <Product as widerow::Row>::table()).await.len(), 31);
}
