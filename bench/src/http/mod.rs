//! The server over loopback, as its users have it: the binary, a folder of ten thousand products, connections that stay open.
//!
//! Beside each figure stands what Vendure 3.7.3 on PostgreSQL 15 did in production mode with 16 clients on the same kind of
//! machine (two cores, shared by client, server and database); of two figures the faster one.

mod client;
mod server;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use merkato::{Context, Settings, context::SystemChance};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use serde_json::{Value, json};
use widerow::{Database, embedded::Embedded, time::SystemClock};

use self::{client::Client, server::Server};
use crate::{
    checkout,
    measure::{self, Verdict, Verdicts},
    postgres::sample::Sample,
};

const PRODUCTS: usize = 10_000;
const CONNECTIONS: [usize; 2] = [16, 256];
const FLOOR: f64 = 20.0;
const IDLE_MIB_MAX: f64 = 60.0;
const IDLE_AFTER: Duration = Duration::from_secs(10);
const START_SECONDS_MAX: f64 = 1.0;
/// A product by its id, a page of 24, a line for a cart, a purchase.
const VENDURE: [f64; 4] = [157.0, 253.0, 46.0, 5.0];
const NAME: &str = "http";
/// Once in each product of a page.
const SLUG: &[u8] = b"\"slug\":";

/// What a client does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Product,
    Category,
    AddToCart,
    /// A guest's cart is filled and ordered: two requests.
    Purchase,
}

impl Work {
    const ALL: [Work; 4] = [Work::Product, Work::Category, Work::AddToCart, Work::Purchase];

    fn name(self) -> &'static str {
        match self {
            Work::Product => "product",
            Work::Category => "category page of 24",
            Work::AddToCart => "add to cart",
            Work::Purchase => "purchase: cart and checkout",
        }
    }
}

pub async fn run(quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(NAME) {
        return;
    }
    let Some(binary) = binary() else {
        println!("\nskipped: the server over HTTP, as there is no `merkato` beside this program: build it as well");
        return;
    };
    let sample = Arc::new(Sample::new(PRODUCTS));
    let folder = tempfile::tempdir().expect("a folder");
    furnish(folder.path(), &sample).await;
    let server = Server::start(&binary, folder.path()).await;
    // Idle is what it is when it has done what it does after a start.
    tokio::time::sleep(IDLE_AFTER).await;
    let idle = server.memory_mib();
    println!(
        "\nthe server over loopback: {PRODUCTS} products, started in {:.0} ms, {idle} MiB",
        server.took.as_secs_f64() * 1e3
    );
    println!("{:<48} {:>10} {:>12} {:>12} {:>10}", "", "a second", "p50", "p99", "memory");
    verdicts.all.push(verdict("start on an existing store", START_SECONDS_MAX / server.took.as_secs_f64(), 1.0));
    verdicts.all.push(verdict("idle memory", IDLE_MIB_MAX / idle as f64, 1.0));
    let time = Duration::from_secs(if quick { 3 } else { 15 });
    for (work, vendure) in Work::ALL.into_iter().zip(VENDURE) {
        for connections in CONNECTIONS {
            let start = Instant::now();
            let mut times = measure::clients(connections, |client| {
                let (address, sample) = (server.address.clone(), sample.clone());
                async move { load(&address, &sample, work, client, time).await }
            })
            .await;
            let rate = times.len() as f64 / start.elapsed().as_secs_f64();
            times.sort_unstable();
            let percentile =
                |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
            let name = format!("{}, {connections} connections", work.name());
            println!(
                "{:<48} {rate:>10.0} {:>9.2} ms {:>9.2} ms {:>6} MiB",
                format!("  {name}"),
                percentile(50),
                percentile(99),
                server.memory_mib(),
            );
            verdicts.all.push(verdict(&name, rate / vendure, FLOOR));
        }
    }
    server.stop().await;
}

fn verdict(name: &str, ratio: f64, floor: f64) -> Verdict {
    Verdict { name: format!("{NAME}: {name}"), ratio, floor }
}

/// The server's binary, built beside this one.
fn binary() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name("merkato");
    beside.exists().then_some(beside)
}

/// Fills the folder, and lets go of it.
async fn furnish(folder: &std::path::Path, sample: &Arc<Sample>) {
    let schema = || merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("default").expect("a good name");
    let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
    checkout::furnish(&ctx, sample).await;
}

/// One connection's requests until the time is over: how long each took.
async fn load(address: &str, sample: &Sample, work: Work, client: usize, time: Duration) -> Vec<Duration> {
    let mut connection = Client::connect(address).await;
    let mut chance = SmallRng::seed_from_u64(client as u64);
    let mut times = Vec::new();
    let end = Instant::now() + time;
    let mut guest = None;
    while Instant::now() < end {
        let product = sample.id(chance.random_range(0..sample.len()));
        let start = Instant::now();
        match work {
            Work::Product => {
                let answer = connection.get(&format!("/v1/products/{product}")).await;
                assert!(answer.starts_with(format!("{{\"id\":\"{product}\"").as_bytes()), "{answer:?}");
            }
            Work::Category => {
                let leaves = sample.leaves();
                let category = leaves[chance.random_range(0..leaves.len())];
                let answer = connection.get(&format!("/v1/categories/{category}/products?sort=price_asc")).await;
                assert_eq!(answer.windows(SLUG.len()).filter(|part| *part == SLUG).count(), 24, "{answer:?}");
            }
            Work::AddToCart => {
                guest = add(&mut connection, guest, &product.to_string()).await;
                // A cart of a believable size.
                if chance.random_range(0..5) == 0 {
                    guest = None;
                }
            }
            Work::Purchase => {
                let guest = add(&mut connection, None, &product.to_string()).await;
                purchase(&mut connection, guest.as_deref(), &format!("{client}-{}", times.len())).await;
            }
        }
        times.push(start.elapsed());
    }
    times
}

/// The token of the guest, who is a new one where none is given.
async fn add(connection: &mut Client, guest: Option<String>, product: &str) -> Option<String> {
    let body = json!({ "product_id": product, "quantity": 1 });
    let headers: Vec<(&str, &str)> = guest.iter().map(|token| ("merkato-guest", token.as_str())).collect();
    let (answer, given) = connection.post("/v1/carts/active/items", &headers, &body).await;
    assert!(answer["id"].is_string(), "{answer}");
    guest.or(given)
}

async fn purchase(connection: &mut Client, guest: Option<&str>, key: &str) {
    let body = json!({
        "email": "ada@example.com",
        "shipping_address": { "street": "Ring 1", "city": "Vienna", "postal_code": "1010", "country": "AT" },
        "shipping_method": "standard",
        "payment": { "method": "card", "source": "ok" },
    });
    let headers = [("merkato-guest", guest.unwrap_or_default()), ("idempotency-key", key)];
    let (answer, _): (Value, _) = connection.post("/v1/checkouts", &headers, &body).await;
    assert_eq!(answer["status"], "paid", "{answer}");
}
