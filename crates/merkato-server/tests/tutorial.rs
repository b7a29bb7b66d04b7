//! The README's purchase by curl, as it stands there: all of its blocks are run, by the binary that users have, on a port and in
//! a folder of its own.

use std::{
    net::TcpListener,
    path::Path,
    process::{Command, Output},
    sync::Arc,
};

use merkato::{
    Context, PageRequest, Settings, accounts,
    context::SystemChance,
    id::{OrderId, ProductId},
    inventory,
    orders::{self, OrderStatus},
};
use widerow::{Database, embedded::Embedded, time::SystemClock};

const SECTION: &str = "## A purchase by curl\n";

/// The server is stopped whatever becomes of the rest, and waited for.
const BEFORE: &str = "set -euo pipefail\nstop() { kill $(jobs -p) && wait; }\ntrap stop EXIT\n";
/// A reader takes longer from one block to the next than the server to start.
const STARTED: &str = "for _ in $(seq 200); do curl -fsS \"$SHOP/readyz\" >/dev/null 2>&1 && break; sleep 0.1; done\n";

/// The block that starts the server, and those after it, in their order.
fn blocks() -> Vec<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let section = readme.split_once(SECTION).expect("the section").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let block = |part: &str| part.split_once('\n').map(|(_, text)| text.to_owned());
    section.split("```").skip(1).step_by(2).filter_map(block).collect()
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
    let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let blocks = blocks();
    assert!(blocks.len() >= 7 && blocks[0].contains("merkato serve &"), "the blocks of the README");
    let (start, rest) = blocks.split_first().expect("blocks");
    let end = "printf '\\n%s %s\\n' \"$PRODUCT\" \"$ORDER\"\n";
    let script = [BEFORE, start, STARTED, &rest.join("\n"), end].concat();
    let binaries = Path::new(env!("CARGO_BIN_EXE_merkato")).parent().expect("a folder").display().to_string();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.arg("-c").arg(script).current_dir(folder.path()).env("PATH", path).env("NO_PROXY", "*");
    command.env("SHOP", format!("http://{address}")).env("MERKATO_HTTP__LISTEN", address.to_string());
    let output = tokio::task::spawn_blocking(move || command.output().expect("bash")).await.expect("run");
    check(&folder.path().join("merkato-data"), &output).await;
}

/// One order, paid, of two lamps; three are left.
async fn check(folder: &Path, output: &Output) {
    let (told, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{wrong}");
    let schema = merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder, &schema).expect("the store of the shop"), schema);
    let store = database.tenant("default").expect("a tenant");
    let ctx = &Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
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
