//! What one shop has, as it is in another; and a shop that is gone.

use merkato::{
    Context,
    catalog::{self, Category, CategoryChange, Error, Product, ProductChange, Restored},
    events::{self, Event, ReadStream},
    flows::transfer::{TransferRequest, transfer},
    hierarchy::{self, Inserted, NewNode, Node, NodeFacts, Origin},
    id::{CategoryId, SensorId, UserId},
    orders::{self, NewOrder, OrderStatus},
    telemetry::{self, Error as SensorError, Sensor},
    wallets::{self, Entry, Error as WalletError, Operation, Told},
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
    wallets::{assert_sound, balance, cents, euro, holding},
    world::{World, raw_rows},
};

cases![
    what_was_moved_here_stays_where_it_is,
    a_product_is_in_another_shop_as_it_was,
    what_does_not_belong_together_is_refused,
    an_order_is_in_another_shop_as_it_was,
    a_sensor_is_in_another_shop_as_it_was,
    a_tree_is_in_another_shop_as_it_was,
    a_wallet_is_in_another_shop_as_it_was,
    an_entry_that_does_not_add_up_is_refused,
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

/// A wallet with an entry of every kind, and one that has sent to it.
async fn lively_wallets(ctx: &Context) -> [UserId; 2] {
    let (ada, bob) = (holding(ctx, 10_00).await, holding(ctx, 20_00).await);
    let (currency, reason) = (euro(), Some("a gift".into()));
    let (transfer_id, amount) = (ctx.new_id(), Decimal::new(4_00, 2));
    let request = TransferRequest { transfer_id, from: bob, to: ada, amount, currency, reason };
    transfer(ctx, request).await.expect("sent");
    let taken = cents(ctx, 5_00).because("order 17");
    wallets::withdraw(ctx, ada, taken.clone()).await.expect("taken");
    wallets::give_back(ctx, ada, taken.operation_id).await.expect("given back");
    wallets::fence(ctx, ada, ctx.new_id()).await.expect("fenced");
    wallets::withdraw(ctx, ada, cents(ctx, 1_00)).await.expect("taken");
    [ada, bob]
}

async fn entries(ctx: &Context, user: UserId) -> Vec<Event> {
    let page = events::list_events(ctx, wallets::stream_of(user), ReadStream::default()).await.expect("a page");
    assert!(page.next.is_none());
    page.events
}

async fn a_wallet_is_in_another_shop_as_it_was(target: &Target) {
    let world = World::new(target);
    let users = lively_wallets(&world.ctx).await;
    let there = other(&world);
    world.clock.advance_millis(60_000);
    for user in users {
        let all = entries(&world.ctx, user).await;
        // In parts, the first of them twice; and all at once, when all are there.
        let (first, rest) = all.split_at(1);
        for part in [first, first, rest, &all] {
            wallets::restore(&there, part).await.expect("restored");
        }
        assert_eq!(entries(&there, user).await, all);
        let wallet = wallets::get_wallet(&there, user).await.expect("a wallet");
        assert_eq!(wallet, wallets::get_wallet(&world.ctx, user).await.expect("a wallet"));
        // What was made there is not made here again.
        let told = Told::of(&all[0]).expect("an entry").entry;
        let again = Operation::new(told.operation_id, told.amount, euro());
        wallets::deposit(&there, user, again).await.expect("known");
        assert_eq!(wallets::get_wallet(&there, user).await.expect("a wallet"), wallet);
    }
    assert_eq!(assert_sound(&there).await.entries, 6 + 2);
    // From here on they go their own ways: what came in here stays, and what came in there does not come after it.
    let [ada, _] = users;
    wallets::deposit(&there, ada, cents(&there, 3_00)).await.expect("deposited");
    wallets::deposit(&world.ctx, ada, cents(&world.ctx, 7_00)).await.expect("deposited");
    let late = entries(&world.ctx, ada).await.split_off(6);
    let refused = wallets::restore(&there, &late).await;
    assert!(
        matches!(refused, Err(WalletError::Events(events::Error::VersionConflict { found: 7, .. }))),
        "{refused:?}"
    );
    assert_eq!(balance(&there, ada).await, Decimal::new(16_00, 2));
}

async fn an_entry_that_does_not_add_up_is_refused(target: &Target) {
    let world = World::new(target);
    let [ada, bob] = lively_wallets(&world.ctx).await;
    let all = entries(&world.ctx, ada).await;
    let there = other(&world);
    let said = |at: usize, change: fn(&mut Entry)| {
        let mut events = all.clone();
        let mut entry = Told::of(&events[at]).expect("an entry").entry;
        change(&mut entry);
        events[at].event_data = serde_json::to_string(&entry).expect("JSON");
        events
    };
    let changed = |at: usize, change: fn(&mut Event)| {
        let mut events = all.clone();
        change(&mut events[at]);
        events
    };
    let bobs = entries(&world.ctx, bob).await;
    let mixed = |at: usize| all[..at].iter().chain(&bobs[at..]).cloned().collect::<Vec<_>>();
    for (field, bad) in [
        ("balance", said(0, |entry| entry.balance = Decimal::from(11))),
        ("balance", said(5, |entry| (entry.amount, entry.balance) = (Decimal::from(15), Decimal::from(-1)))),
        ("transactions", said(1, |entry| entry.transactions = 3)),
        ("amount", said(0, |entry| entry.amount = Decimal::new(1, 3))),
        ("amount", said(4, |entry| entry.amount = Decimal::ONE)),
        ("currency", said(1, |entry| entry.currency = Some(merkato::Currency::new("USD")))),
        ("currency", said(0, |entry| entry.currency = None)),
        ("returns", said(3, |entry| entry.returns = Some(Uuid::nil()))),
        ("returns", said(3, |entry| (entry.amount, entry.balance) = (Decimal::from(6), Decimal::from(15)))),
        ("event_timestamp", changed(2, |event| event.event_timestamp = event.event_timestamp.plus_seconds(-1))),
        ("peer", said(1, |entry| entry.peer = None)),
        ("aggregate_id", said(0, |entry| entry.user_id = UserId(Uuid::nil()))),
        ("event_id", said(0, |entry| entry.operation_id = Uuid::nil())),
        ("event_data", changed(0, |event| event.event_data = "{}".into())),
        ("event_data", changed(0, |event| event.event_type = "MoneyFound".into())),
        ("aggregate_kind", changed(0, |event| event.aggregate_kind = "purse".into())),
        ("event_version", changed(0, |event| event.event_version = i64::MIN)),
        ("event_version", changed(1, |event| event.event_version = 3)),
        ("user_id", mixed(1)),
    ] {
        let refused = wallets::restore(&there, &bad).await;
        let Err(WalletError::Invalid(invalid)) = &refused else { panic!("{field}: {refused:?}") };
        assert_eq!(invalid.fields[0].field, field, "{invalid}");
    }
    // One that is to come, one without those before it, and one that another has the place of.
    let ahead = changed(5, |event| event.event_timestamp = event.event_timestamp.plus_seconds(86_400));
    assert!(wallets::restore(&there, &ahead).await.is_err());
    let gap = wallets::restore(&there, &all[1..]).await;
    assert!(matches!(gap, Err(WalletError::Events(events::Error::VersionConflict { found: 0, .. }))), "{gap:?}");
    assert!(entries(&there, ada).await.is_empty(), "nothing was written");
    wallets::restore(&there, &all).await.expect("restored");
    let other = said(5, |entry| entry.reason = Some("another".into()));
    let refused = wallets::restore(&there, &other).await;
    assert!(matches!(refused, Err(WalletError::OperationReused { .. })), "{refused:?}");
    assert_eq!(entries(&there, ada).await, all);
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
