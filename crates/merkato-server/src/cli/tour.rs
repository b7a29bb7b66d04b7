//! `merkato tour`: the data layer at work on a folder of its own, with everything it claims counted afterwards.

use std::time::Instant;

use anyhow::{Context, ensure};
use clap::Args;
use widerow::{Commit, Database, Derive, Error, Row, Schema, Store, embedded::Embedded, meter, store::VerifyOptions};

/// What is left of a product.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "stock", partition(product), guarded)]
struct Stock {
    product: String,
    left: i64,
}

/// Products by what is left of them: derived, so it cannot drift.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "stock_by_left", partition(shelf), clustering(left, product))]
struct StockByLeft {
    shelf: i32,
    left: i64,
    product: String,
}

impl Derive<StockByLeft> for Stock {
    fn derive(&self) -> Vec<StockByLeft> {
        vec![StockByLeft { shelf: 0, left: self.left, product: self.product.clone() }]
    }
    fn source(derived: &StockByLeft) -> String {
        derived.product.clone()
    }
}

/// Who got a unit.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sales", partition(product), clustering(shopper))]
struct Sale {
    product: String,
    shopper: i64,
}

#[derive(Args)]
pub struct Tour {
    /// Shoppers who want one unit each, all at once
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    shoppers: i64,
    /// Units there are
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(0..=100_000))]
    units: i64,
}

impl Default for Tour {
    fn default() -> Self {
        Tour { shoppers: 1000, units: 100 }
    }
}

const PRODUCT: &str = "brass lamp";

fn schema() -> Result<Schema, Error> {
    Ok(Schema::new().derived::<Stock, StockByLeft>().table::<Sale>().build()?)
}

impl Tour {
    pub async fn run(self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir().context("no folder could be made")?;
        let database = Database::new(Embedded::open(folder.path(), &schema()?)?, schema()?);
        database.migrate().await?;
        let store = database.tenant("default")?;
        store.commit(Commit::new().put(&Stock { product: PRODUCT.into(), left: self.units })).await?;
        println!("{} shoppers want a {PRODUCT}, there are {}.", self.shoppers, self.units);

        let start = Instant::now();
        let shoppers: Vec<_> = (0..self.shoppers).map(|shopper| tokio::spawn(buy(store.clone(), shopper))).collect();
        let (mut bought, mut refused) = (0, 0);
        for shopper in shoppers {
            if shopper.await?? { bought += 1 } else { refused += 1 }
        }
        println!("{bought} bought one, {refused} were told that it is sold out, in {:.2?}.", start.elapsed());

        let left = store.get::<Stock>(PRODUCT.into()).await?.context("the stock is gone")?.left;
        let sales = store.slice::<Sale>(PRODUCT.into()).limit(1000).all(100_000).await?.len() as i64;
        let report = database.verify(VerifyOptions::default()).await?;
        println!("Counted afterwards: {left} left, {sales} sales, {} derived rows that differ.", report.differences);
        ensure!(bought == self.units.min(self.shoppers), "{bought} sold of {}", self.units);
        ensure!(left == self.units - bought && sales == bought, "units were lost or sold twice");
        ensure!(report.differences == 0, "a derived table has drifted");

        let (page, cost) = meter::measure(store.slice::<Sale>(PRODUCT.into()).limit(24).page()).await;
        println!("A page of {} sales cost: {cost}.", page?.rows.len());
        Ok(())
    }
}

/// Takes a unit, if there is one: the stock, its derived row and the sale in one commit.
async fn buy(store: Store, shopper: i64) -> Result<bool, Error> {
    store
        .guarded::<Stock, bool, Error>(PRODUCT.into(), |partition| {
            Ok(match partition.rows.first() {
                Some(stock) if stock.left > 0 => {
                    let stock = Stock { left: stock.left - 1, ..stock.clone() };
                    (Commit::new().put(&stock).put(&Sale { product: PRODUCT.into(), shopper }), true)
                }
                _ => (Commit::new(), false),
            })
        })
        .await
}
