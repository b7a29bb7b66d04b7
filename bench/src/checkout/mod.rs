//! A checkout on the embedded engine beside PostgreSQL: the same carts, the same orders, 64 clients on both sides.
//!
//! Ours is the shop's own flow, with the test payment provider: the checkout is remembered under its key, the stock held,
//! the order placed, the stock sold, the order paid, the figures counted, each of them a step that outlives a crash. Theirs
//! is all of it as one function in one transaction, as PostgreSQL can: no payment provider is waited for in between.

mod ours;
mod theirs;

use std::sync::Arc;

use merkato::id::UserId;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use uuid::Uuid;

use self::{
    ours::Shop,
    theirs::{Rival, Totals},
};
pub use self::{ours::furnish, theirs::Server};
use crate::{
    alone::Alone,
    measure::{Verdicts, contest},
    postgres::sample::Sample,
};

const PRODUCTS: usize = 10_000;
const CLIENTS: usize = 64;
/// Checkouts of one client in a round.
const EACH: usize = 20;
/// Of every product; far more than is ever sold.
const STOCK: i32 = 1_000_000;
const FLOOR: f64 = 2.0;
const NAME: &str = "postgres: checkout, 64 clients";
/// In the country that everything is shipped to.
const TAX_PERCENT: i64 = 20;
const COUNTRY: &str = "AT";
const SHIPPING_METHOD: &str = "standard";

pub async fn run(address: &str, quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(NAME) {
        return;
    }
    let sample = Arc::new(Sample::new(PRODUCTS));
    let server = Server::connect(address, CLIENTS).await;
    println!(
        "\ncheckouts of two lines, chosen at random over {PRODUCTS} products, by {CLIENTS} clients; the carts are filled before \
         the clock starts.\nPostgreSQL {}: one function and one transaction for a checkout; fsync = {}, synchronous_commit = {}",
        server.show("server_version").await,
        server.show("fsync").await,
        server.show("synchronous_commit").await,
    );
    assert_eq!(server.show("fsync").await, "on", "an acknowledged order is durable on both sides");
    assert_eq!(server.show("synchronous_commit").await, "on", "an acknowledged order is durable on both sides");
    let folder = tempfile::tempdir().expect("a folder");
    let mut shop = Shop::load(folder.path(), sample.clone()).await;
    let mut rivals = Vec::new();
    for totals in [Totals::Kept, Totals::Appended] {
        rivals.push(Rival::load(&server, totals, &sample).await);
    }
    let rounds = if quick { 6 } else { 20 };
    let mut alone = Alone::new(shop.bill.clone(), CLIENTS, EACH);
    contest(NAME, FLOOR, rounds, &mut shop, &mut rivals, Some(&mut alone), verdicts).await;
    println!("a checkout of ours: {}", shop.bill);

    let books = shop.books().await;
    println!("both sides have {} orders for {} in their books, and as many units less", books.orders, books.money);
    assert_eq!(books.orders, (rounds as i64 + 1) * (CLIENTS * EACH) as i64);
    assert_eq!((books.units_sold, books.pieces_counted), (2 * books.orders, 2 * books.orders));
    for rival in rivals {
        assert_eq!(rival.books().await, books, "{:?}", rival.totals);
        rival.drop().await;
    }
}

/// What must be true on both sides when all is done.
#[derive(Debug, PartialEq)]
struct Books {
    orders: i64,
    /// The totals of all orders.
    money: rust_decimal::Decimal,
    /// What is missing in the stock.
    units_sold: i64,
    /// What the daily sales say.
    pieces_counted: i64,
}

/// Whoever checks out, and the two products: the same on both sides.
fn basket(round: usize, client: usize, checkout: usize) -> (UserId, [usize; 2]) {
    let user = Uuid::from_u64_pair(0x0190_0000_0000_7000, 0x8000_0000_0000_0000 | (client * EACH + checkout) as u64);
    let mut chance = SmallRng::seed_from_u64(((round * CLIENTS + client) * EACH + checkout) as u64);
    let first = chance.random_range(0..PRODUCTS);
    let second = (first + chance.random_range(1..PRODUCTS)) % PRODUCTS;
    (UserId(user), [first, second])
}
