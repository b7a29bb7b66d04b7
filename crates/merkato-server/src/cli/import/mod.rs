//! `merkato import`: products, categories, stock, orders, sales, measurements, trees, events, wallets and graphs from files.
//!
//! What `merkato export` wrote is known by its columns and read back (`exported`); all else is another system's (`elsewhere`).

mod elsewhere;
mod exported;
mod input;
mod report;

use clap::{Args, Subcommand};

use self::{
    elsewhere::{EventFile, GraphFile, Measurements, Orders, Products, Sales, TransactionFile, TreeFile},
    input::{FromExport, open},
    report::tell,
};
use super::{Global, exit, export::What, open::Opened, progress::Progress, records::Reader};

/// Read a file into the shop. Products, orders, sales, measurements, trees and connections come from CSV, TSV, JSON, or gzipped ones of these,
/// in many layouts; and all of it from what `merkato export` wrote. A bad record goes to a rejects file with the reason and never
/// stops the rest. Running it twice changes nothing.
#[derive(Args)]
pub struct Import {
    #[command(subcommand)]
    what: Kind,
}

#[derive(Subcommand)]
enum Kind {
    /// Products, with their categories
    #[command(after_help = "Examples:
  merkato import products products.ndjson
  merkato import products katalog.csv --currency EUR --map name=Titel,price=Preis,-=Einkaufspreis
  merkato export products | merkato import products - --tenant other

A field may be given several columns; - leaves a column out, attribute keeps one as an attribute.
Fields that are not named are found by the names of the columns.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Products(Products),
    /// Orders of the past, a line a record
    #[command(after_help = "Examples:
  merkato import orders orders.ndjson
  merkato import orders online_retail.csv --currency GBP --dates month-first --cancellation-prefix C
  merkato import orders items.csv --with orders.csv:order_id --with products.csv:product_id

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Orders(Orders),
    /// Sales of the past, one a record, for the analysis of prices
    #[command(after_help = "Examples:
  merkato import sales sales.ndjson
  merkato import sales stockx.csv.gz --category sneakers --currency USD --retention-years 0
  merkato import sales sold.csv --map product=Article,date=Day,price=Paid --dates day-first

A sale that is older than sales are kept is rejected; --retention-years 0 keeps all of the file for good.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Sales(Sales),
    /// Measurements of sensors, one a record; `merkato rollup` or the server make hours and days of them
    #[command(after_help = "Examples:
  merkato import measurements measurements.ndjson
  merkato import measurements machine.csv --sensor 0199a1b2-0000-7000-8000-000000000000 --metric temperature
  merkato import measurements cpu.csv --register --sensor cpu --metric load --interval-seconds 300
  merkato import measurements hall.csv --map sensor=Device,time=When,temperature=T,metric=Vibration --register

A sensor is named by a column or by --sensor: by its id, or by a name of the source's own. Without --register a sensor that is
not there is a reason to reject. Columns of metrics that the sensor was not registered with are rejected, too.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Measurements(Measurements),
    /// A tree: a table with ids and parents, or lines with paths
    #[command(after_help = "Examples:
  merkato import tree trees.ndjson
  merkato import tree people.csv --tree company --map id=Nr,parent=Boss,name=Person
  merkato import tree categories.txt --tree taxonomy --separator ' > '

What export wrote names its trees itself. A node that has moved or has another name in the file is moved and renamed here.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Tree(TreeFile),
    /// Events, one a record, those of a case in one stream
    #[command(after_help = "Examples:
  merkato import events events.ndjson
  merkato import events receipt.csv --kind receipt
  merkato import events log.csv --map case=Ticket,type=Step,time=When --dates day-first

The names that process mining has for columns are known. An event without an id of its own is known by what it says, when and
how often, so that the same file again changes nothing. What export wrote is read back to the same versions.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Events(EventFile),
    /// Who knows whom: a table, or a list of edges without a heading
    #[command(after_help = "Examples:
  merkato import graph connections.ndjson
  merkato import graph facebook_combined.txt
  merkato import graph soc-sign-bitcoinotc.csv --type follow --map rating=3,time=4
  merkato import graph knows.csv --map from=Person,to=Other,strength=Weight --source school

Columns of a list without a heading are called 1, 2 and so on. An id of this shop is that person; any other is the source's own. A
rating, from -10 to 10 unless --ratings says otherwise, becomes the strength and is noted.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Graph(GraphFile),
    /// Transactions of a bank or of gift cards: each account becomes a wallet
    #[command(after_help = "Examples:
  merkato import transactions trans.csv.gz --currency CZK --tolerance 0.5
  merkato import transactions cards.csv --map account=Card,amount=Sum

Within a day credits come first, as at a bank. Where the file says what an account held, the ends of days are compared.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Transactions(TransactionFile),
    /// Wallets, as export wrote them: every entry at its place, each once
    #[command(after_help = "Examples:
  merkato import wallets wallets.ndjson

An entry that is there stays as it is. One that does not follow from those before it is rejected: where a wallet has had other
entries here, its money is not counted twice.

Exit codes: 0 all taken; 1 failed; 3 some records were rejected.")]
    Wallets(FromExport),
    /// Categories, as export wrote them
    Categories(FromExport),
    /// What warehouses have, as export wrote it: quantities become what the file says
    Stock(FromExport),
}

impl Import {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let mut opened = Opened::ready(global).await?;
        if let Kind::Sales(Sales { retention_years: Some(years), .. }) = &self.what {
            opened.config.shop.sales.retention_years = *years;
        }
        let (input, what) = match &self.what {
            // Nothing exports them: wallets are exported as their own entries.
            Kind::Transactions(transactions) => {
                let ctx = opened.context(&transactions.input.tenant)?;
                let report = transactions.import(&ctx, &opened.config.shop.orders.currency).await?;
                return tell(global, &transactions.input, &report);
            }
            Kind::Products(products) => (&products.input, What::Products),
            Kind::Orders(orders) => (&orders.input, What::Orders),
            Kind::Sales(sales) => (&sales.input, What::Sales),
            Kind::Measurements(measurements) => (&measurements.input, What::Measurements),
            Kind::Categories(categories) => (&categories.input, What::Categories),
            Kind::Stock(stock) => (&stock.input, What::Stock),
            Kind::Wallets(wallets) => (&wallets.input, What::Wallets),
            Kind::Tree(tree) => (&tree.input, What::Tree),
            Kind::Events(events) => (&events.input, What::Events),
            Kind::Graph(graph) => (&graph.input, What::Graph),
        };
        let ctx = opened.context(&input.tenant)?;
        let file = open(&input.file)?;
        let mut progress = Progress::new("records", None);
        let report = if let Some(reader) = Reader::open(file.try_clone()?, what.table(), what.marks())? {
            exported::import(&ctx, what, reader, &mut progress).await?
        } else {
            let default = &opened.config.shop.orders.currency;
            match &self.what {
                Kind::Products(products) => products.import(&ctx, file, default, &mut progress).await?,
                Kind::Orders(orders) => orders.import(&ctx, file, default, &mut progress).await?,
                Kind::Sales(sales) => sales.import(&ctx, file, default, &mut progress).await?,
                Kind::Measurements(measurements) => measurements.import(&ctx, file, &mut progress).await?,
                Kind::Tree(tree) => tree.import(&ctx, file, &mut progress).await?,
                Kind::Events(events) => events.import(&ctx, file, &mut progress).await?,
                Kind::Graph(graph) => graph.import(&ctx, file, &mut progress).await?,
                Kind::Categories(_) | Kind::Stock(_) | Kind::Wallets(_) | Kind::Transactions(_) => {
                    let columns = what.marks().join(", ");
                    return Err(exit::usage(format!("this is not what export writes: it has no columns {columns}")));
                }
            }
        };
        drop(progress);
        tell(global, input, &report)
    }
}
