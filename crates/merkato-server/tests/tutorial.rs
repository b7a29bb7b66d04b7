//! The README's purchase by curl, as it stands there: its blocks are run against a server on a port of its own.
//!
//! Blocks marked `bash` are run; the one marked `sh` starts the server, which this test does itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Output},
    sync::Arc,
};

use merkato::{
    Context, PageRequest, Settings, accounts,
    context::SystemChance,
    id::{OrderId, ProductId},
    inventory,
    keys::{self, NewKey, Scope},
    orders::{self, OrderStatus},
};
use merkato_server::http::{App, HttpSettings, access::RULES, mail::Folder, settings::RateSettings};
use tokio::{net::TcpListener, sync::oneshot};
use widerow::{Database, embedded::Embedded, time::SystemClock};

const SECTION: &str = "## A purchase by curl\n";

/// The blocks of the section that are run, in their order.
fn blocks() -> Vec<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let section = readme.split_once(SECTION).expect("the section").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let parts = section.split("```bash\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn curl_is_there() -> bool {
    ["curl", "bash"].iter().all(|name| Command::new(name).arg("--version").output().is_ok())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_purchase_by_curl_can_be_made() {
    if !curl_is_there() {
        eprintln!("skipped: the README's purchase by curl, as curl or bash is not there");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let letters = folder.path().join("letters");
    let schema = merkato::schema().expect("a schema");
    let engine = Arc::new(Embedded::open(folder.path().join("store"), &schema).expect("a store"));
    let database = Database::new(engine, schema);
    database.migrate().await.expect("tables");
    let rate = RateSettings { requests_a_minute: 0, logins_a_minute: 0, ..RateSettings::default() };
    let mut settings = HttpSettings { rate, ..HttpSettings::default() };
    settings.mail.folder = Some(letters.clone());
    let mailer = Arc::new(Folder::new(&settings, Arc::new(SystemClock), Arc::new(SystemChance)));
    let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
    let app = App::new(database, Settings::default(), settings, clock, chance, mailer).expect("an app");
    let ctx = app.contexts().expect("contexts").remove(0);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(merkato_server::http::serve(app, listener, async { _ = stopped.await }));

    let mut blocks = blocks();
    assert!(blocks.len() >= 6, "the blocks of the README");
    let mut environment = BTreeMap::from([
        ("SHOP", format!("http://{address}")),
        ("LETTERS", letters.display().to_string()),
        ("KEY", key(&ctx).await),
        ("NO_PROXY", "*".into()),
    ]);
    if !RULES.iter().any(|rule| rule.path == "/v1/admin/products") {
        eprintln!("skipped: the shop's own requests of the README, as this server has no routes for staff");
        blocks.retain(|block| !block.contains("/v1/admin/"));
        environment.insert("PRODUCT", product(&ctx).await.to_string());
    }
    let script = format!("set -euo pipefail\n{}\nprintf '\\n%s %s\\n' \"$PRODUCT\" \"$ORDER\"\n", blocks.join("\n"));
    let run = move || Command::new("bash").arg("-c").arg(script).envs(environment).output().expect("bash");
    let output = tokio::task::spawn_blocking(run).await.expect("run");
    check(&ctx, &output).await;
    drop(stop);
    server.await.expect("no panic").expect("served");
}

async fn key(ctx: &Context) -> String {
    let new = NewKey {
        name: "tutorial".into(),
        scopes: BTreeSet::from([Scope::CatalogWrite, Scope::InventoryWrite]),
        created_by: "a test".into(),
        expires_at: None,
    };
    keys::create(ctx, new).await.expect("a key").token.as_str().to_owned()
}

/// What the shop's own requests make.
async fn product(ctx: &Context) -> ProductId {
    use merkato::{
        Currency,
        catalog::{self, NewCategory, NewProduct, ProductStatus},
        id::MovementId,
        inventory::Note,
    };
    let new = NewCategory { category_id: None, name: "Lamps".into(), slug: None, parent_id: None };
    let category = catalog::create_category(ctx, new).await.expect("a category").category_id;
    let price = rust_decimal::Decimal::new(19_99, 2);
    let new = NewProduct::named("Walnut desk lamp", category, price, Currency::new("EUR"));
    let new = NewProduct { status: ProductStatus::Active, ..new };
    let product = catalog::create_product(ctx, new).await.expect("a product").product_id;
    let movement = MovementId(ctx.new_id());
    inventory::restock(ctx, movement, product, "vienna", 5, Note::default()).await.expect("restocked");
    product
}

/// One order, paid, of two lamps; three are left.
async fn check(ctx: &Context, output: &Output) {
    let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{wrong}");
    let last = told.trim_end().lines().last().expect("a last line");
    let (product, order) = last.split_once(' ').expect("a product and an order");
    let (product, order): (ProductId, OrderId) = (product.parse().expect("an id"), order.parse().expect("an id"));
    let order = orders::get_order(ctx, order).await.expect("an order");
    assert_eq!((order.status, order.item_count), (OrderStatus::Paid, 2));
    assert_eq!(order.total, rust_decimal::Decimal::new(44_88, 2));
    assert!(told.contains(&order.order_number), "{told}");
    let ada = order.user_id.expect("a person's order");
    assert_eq!(accounts::get_user(ctx, ada).await.expect("a user").email.as_deref(), Some("ada@example.com"));
    let all = orders::list_orders_of_user(ctx, ada, None, None, PageRequest::default()).await.expect("orders");
    assert_eq!(all.rows.len(), 1, "sent twice, bought once");
    assert_eq!(inventory::get_stock(ctx, product).await.expect("stock").available(), 3);
}
