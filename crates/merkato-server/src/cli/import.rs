//! `merkato import`: products, categories, stock, orders, sales, measurements, trees, events and graphs from files.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use merkato::{
    Context, Currency,
    catalog::ProductStatus,
    flows::import::{
        self, Companion, DateOrder, EventOptions, GraphLayout, GraphOptions, Mapping, MeasurementOptions, OrderOptions,
        Registration, Report, SaleOptions, TransactionOptions, TreeOptions, import_events, import_graph,
        import_measurements, import_orders, import_products, import_sales, import_transactions, import_tree,
    },
    graph::ConnectionType,
    orders::OrderStatus,
};
use rust_decimal::Decimal;
use serde_json::json;

use super::{
    Global, exit,
    export::What,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    records::Reader,
};

mod events;
mod graph;
mod own;
mod trees;

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

#[derive(Args)]
struct Input {
    /// The file, or - for standard input
    file: PathBuf,
    /// Where records go that were rejected, with the reasons [default: FILE.rejects.ndjson]
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    #[command(flatten)]
    tenant: TenantChoice,
}

#[derive(Args)]
struct Foreign {
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: the same id of the same source is the same thing here [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// Of all amounts [default: shop.orders.currency]
    #[arg(long)]
    currency: Option<String>,
    /// Of what the source names no category for, as "Home > Garden"
    #[arg(long, default_value = "Uncategorised")]
    category: String,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Args)]
struct TreeFile {
    #[command(flatten)]
    input: Input,
    /// The tree, which is made if it is not there [default: the file's name]
    #[arg(long, value_name = "NAME")]
    tree: Option<String>,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: the same id of the same source is the same node here [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// Between the names of a path
    #[arg(long, default_value = " > ")]
    separator: String,
    /// Of nodes about which the file says nothing, as "department"
    #[arg(long, value_name = "TYPE")]
    node_type: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Args)]
struct EventFile {
    #[command(flatten)]
    input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: its names of cases are its own [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// What its cases are, where the file does not say so
    #[arg(long, default_value = "case", value_name = "KIND")]
    kind: String,
}

#[derive(Args)]
struct GraphFile {
    #[command(flatten)]
    input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: the same id of the same source is the same person here [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// What they are to each other, where the file does not say
    #[arg(long = "type", value_name = "TYPE", default_value = "friend", value_parser = connection_type)]
    connection_type: ConnectionType,
    /// Whether the file has a heading
    #[arg(long, value_enum, default_value_t)]
    layout: Layout,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The least and the most that a rating can be, as 1..5
    #[arg(long, value_name = "LEAST..MOST", value_parser = ratings, allow_hyphen_values = true)]
    ratings: Option<(Decimal, Decimal)>,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
}

#[derive(Args)]
struct TransactionFile {
    #[command(flatten)]
    input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: its ids and its names of accounts are its own [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// Of all amounts [default: shop.orders.currency]
    #[arg(long)]
    currency: Option<String>,
    /// By how much the file's own balances may differ at the end of a day
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    tolerance: Decimal,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Layout {
    /// As it looks
    #[default]
    Auto,
    /// With names of columns
    Table,
    /// A line a connection, without a heading
    Edges,
}

fn connection_type(text: &str) -> Result<ConnectionType, String> {
    ConnectionType::parse(text).map_err(|error| error.to_string())
}

fn ratings(text: &str) -> Result<(Decimal, Decimal), String> {
    let number = |text: &str| text.parse::<Decimal>().map_err(|_| format!("{text:?} is not a number"));
    let (least, most) = text.split_once("..").ok_or("not LEAST..MOST")?;
    Ok((number(least)?, number(most)?))
}

#[derive(Args)]
struct Products {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    foreign: Foreign,
    /// Of products about which the source says nothing
    #[arg(long, value_enum, default_value_t)]
    status: Shown,
}

#[derive(Args)]
struct Orders {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    foreign: Foreign,
    /// A file whose records are joined to the lines by a column; FILE:COLUMN=OTHER where the lines call it otherwise
    #[arg(long, value_name = "FILE:COLUMN")]
    with: Vec<String>,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// Of orders in a source without a column for it
    #[arg(long, default_value = "delivered")]
    status: String,
    /// What the ids of cancellations begin with
    #[arg(long)]
    cancellation_prefix: Option<String>,
    /// Stands before the source's ids in the numbers of orders
    #[arg(long, default_value = "")]
    number_prefix: String,
}

#[derive(Args)]
struct Sales {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    foreign: Foreign,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// Years for which these sales are kept, 0: for good [default: shop.sales.retention_years]
    #[arg(long, value_name = "N")]
    retention_years: Option<u32>,
}

#[derive(Args)]
struct Measurements {
    #[command(flatten)]
    input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: its names of sensors are its own [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// The sensor of records that name none: its id, or a name
    #[arg(long, value_name = "SENSOR")]
    sensor: Option<String>,
    /// What a column of values measures
    #[arg(long, default_value = "value", value_name = "METRIC")]
    metric: String,
    /// Register sensors that are not there
    #[arg(long)]
    register: bool,
    /// Of sensors that are registered: what they are
    #[arg(long, default_value = "sensor", requires = "register")]
    kind: String,
    /// Of sensors that are registered: where they are
    #[arg(long, requires = "register", value_name = "PLACE")]
    location: Option<String>,
    /// Of sensors that are registered: seconds between two measurements
    #[arg(long, default_value_t = 60, requires = "register", value_name = "N")]
    interval_seconds: u32,
}

#[derive(Args)]
struct FromExport {
    #[command(flatten)]
    input: Input,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Auto,
    Csv,
    Tsv,
    Json,
    Ndjson,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Shown {
    #[default]
    Active,
    Draft,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Dates {
    DayFirst,
    MonthFirst,
}

impl From<Format> for import::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Auto => import::Format::Auto,
            Format::Csv => import::Format::Csv,
            Format::Tsv => import::Format::Tsv,
            Format::Json => import::Format::Json,
            Format::Ndjson => import::Format::NdJson,
        }
    }
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
            match what {
                What::Tree => trees::import(&ctx, reader, &mut progress).await?,
                What::Events => events::import(&ctx, events::Of::Streams, reader, &mut progress).await?,
                What::Wallets => events::import(&ctx, events::Of::Wallets, reader, &mut progress).await?,
                What::Graph => graph::import(&ctx, reader, &mut progress).await?,
                _ => own::import(&ctx, what, reader, &mut progress).await?,
            }
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

/// The name of a source: what was said, or the file's.
fn source(said: Option<&String>, file: &Path) -> String {
    let stem = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    said.cloned().or_else(stem).unwrap_or_else(|| "import".into())
}

fn mapping<F: std::str::FromStr<Err = merkato::Invalid>>(said: Option<&String>) -> anyhow::Result<Option<F>> {
    let parsed = said.map(|text| text.parse::<F>()).transpose();
    parsed.map_err(|invalid| exit::usage(format!("--map: {invalid}")))
}

impl Foreign {
    fn source(&self, file: &Path) -> String {
        source(self.source.as_ref(), file)
    }

    fn currency(&self, default: &Currency) -> Currency {
        self.currency.as_ref().map_or_else(|| default.clone(), Currency::new)
    }

    fn mapping<F: std::str::FromStr<Err = merkato::Invalid>>(&self) -> anyhow::Result<Option<F>> {
        mapping(self.map.as_ref())
    }
}

impl Products {
    async fn import(
        &self,
        ctx: &Context,
        file: File,
        currency: &Currency,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let foreign = &self.foreign;
        let options = import::Options {
            format: foreign.format.into(),
            mapping: foreign.mapping::<Mapping>()?,
            category: foreign.category.clone(),
            status: match self.status {
                Shown::Active => ProductStatus::Active,
                Shown::Draft => ProductStatus::Draft,
            },
            ..import::Options::new(foreign.source(&self.input.file), foreign.currency(currency))
        };
        Ok(import_products(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}

impl Orders {
    async fn import(
        &self,
        ctx: &Context,
        file: File,
        currency: &Currency,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let foreign = &self.foreign;
        let status = OrderStatus::ALL.into_iter().find(|status| status.as_str() == self.status);
        let status = status.ok_or_else(|| {
            let known = OrderStatus::ALL.map(|status| status.as_str()).join(", ");
            exit::usage(format!("--status: {} is none of {known}", self.status))
        })?;
        let options = OrderOptions {
            format: foreign.format.into(),
            mapping: foreign.mapping()?,
            dates: date_order(self.dates),
            status,
            cancellation_prefix: self.cancellation_prefix.clone(),
            number_prefix: self.number_prefix.clone(),
            category: foreign.category.clone(),
            ..OrderOptions::new(foreign.source(&self.input.file), foreign.currency(currency))
        };
        let companions = self.with.iter().map(|text| companion(text)).collect::<anyhow::Result<_>>()?;
        Ok(import_orders(ctx, file, companions, options, |report| progress.at(report.read)).await?)
    }
}

impl Sales {
    async fn import(
        &self,
        ctx: &Context,
        file: File,
        currency: &Currency,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let foreign = &self.foreign;
        let options = SaleOptions {
            format: foreign.format.into(),
            mapping: foreign.mapping()?,
            dates: date_order(self.dates),
            category: foreign.category.clone(),
            ..SaleOptions::new(foreign.source(&self.input.file), foreign.currency(currency))
        };
        Ok(import_sales(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}

impl Measurements {
    async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let registration = || Registration {
            kind: self.kind.clone(),
            location: self.location.clone(),
            interval_seconds: self.interval_seconds,
        };
        let options = MeasurementOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            dates: date_order(self.dates),
            sensor: self.sensor.clone(),
            metric: self.metric.clone(),
            register: self.register.then(registration),
            ..MeasurementOptions::new(source(self.source.as_ref(), &self.input.file))
        };
        Ok(import_measurements(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}

impl TreeFile {
    async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let stem = self.input.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.filter(|stem| stem != "-").unwrap_or_else(|| "import".into());
        let options = TreeOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            separator: self.separator.clone(),
            node_type: self.node_type.clone(),
            ..TreeOptions::new(self.source.clone().unwrap_or_else(|| stem.clone()), self.tree.clone().unwrap_or(stem))
        };
        Ok(import_tree(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}

impl TransactionFile {
    async fn import(&self, ctx: &Context, currency: &Currency) -> anyhow::Result<Report> {
        let currency = self.currency.as_ref().map_or_else(|| currency.clone(), Currency::new);
        let options = TransactionOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            dates: date_order(self.dates),
            tolerance: self.tolerance,
            ..TransactionOptions::new(source(self.source.as_ref(), &self.input.file), currency)
        };
        let mut progress = Progress::new("records", None);
        let file = open(&self.input.file)?;
        let report = import_transactions(ctx, file, options, |report| progress.at(report.read)).await?;
        drop(progress);
        if let Some(balances) = &report.balances {
            eprintln!("{} of {} ends of days are as the file says", balances.matched, balances.days);
        }
        Ok(report)
    }
}

impl EventFile {
    async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let options = EventOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            dates: date_order(self.dates),
            kind: self.kind.clone(),
            ..EventOptions::new(source(self.source.as_ref(), &self.input.file))
        };
        Ok(import_events(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}

impl GraphFile {
    async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let new = GraphOptions::new(source(self.source.as_ref(), &self.input.file));
        let options = GraphOptions {
            layout: match self.layout {
                Layout::Auto => GraphLayout::Auto,
                Layout::Table => GraphLayout::Table,
                Layout::Edges => GraphLayout::Edges,
            },
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            connection_type: self.connection_type,
            ratings: self.ratings.unwrap_or(new.ratings),
            dates: date_order(self.dates),
            ..new
        };
        Ok(import_graph(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}

fn date_order(dates: Option<Dates>) -> DateOrder {
    match dates {
        Some(Dates::DayFirst) => DateOrder::DayFirst,
        Some(Dates::MonthFirst) => DateOrder::MonthFirst,
        None => DateOrder::Unknown,
    }
}

fn companion(text: &str) -> anyhow::Result<Companion<File>> {
    let (path, column) =
        text.rsplit_once(':').ok_or_else(|| exit::usage(format!("--with: {text} is not FILE:COLUMN")))?;
    let file = open(Path::new(path))?;
    Ok(match column.split_once('=') {
        Some((column, other)) => Companion::new(path, file, column).joining(other),
        None => Companion::new(path, file, column),
    })
}

/// A file that can be read twice; standard input is kept for that.
fn open(path: &Path) -> anyhow::Result<File> {
    if path.as_os_str() != "-" {
        return File::open(path).with_context(|| path.display().to_string());
    }
    let mut kept = tempfile::tempfile()?;
    std::io::copy(&mut std::io::stdin().lock(), &mut kept)?;
    Ok(kept)
}

fn tell(global: &Global, input: &Input, report: &Report) -> anyhow::Result<()> {
    let rejected = report.rejected_count();
    let rejects = match rejected {
        0 => None,
        _ => Some(write_rejects(input, report)?),
    };
    if global.json {
        let sum = |sum: &import::Sum| json!({ "orders": sum.orders, "lines": sum.lines, "pieces": sum.pieces, "amount": sum.amount.to_string() });
        let sales = report.sales.as_ref().map(|sales| {
            json!({
                "standing": sum(&sales.standing), "open": sum(&sales.open), "cancelled": sum(&sales.cancelled),
                "rejected": sum(&sales.rejected), "orders_without_lines": sales.orders_without_lines,
            })
        });
        let notes: Vec<_> =
            report.notes.iter().map(|note| json!({ "record": note.record, "text": note.text })).collect();
        output::json(&json!({
            "read": report.read, "created": report.created, "changed": report.changed, "unchanged": report.unchanged,
            "folded": report.folded, "rejected": rejected, "categories_created": report.categories_created,
            "rejects_file": rejects, "sales": sales, "notes": notes,
        }))?;
    } else {
        let figures = [
            ("read", report.read),
            ("created", report.created),
            ("changed", report.changed),
            ("unchanged", report.unchanged),
            ("folded", report.folded),
            ("rejected", rejected),
            ("categories created", report.categories_created),
        ];
        let rows: Vec<_> = figures.map(|(name, figure)| vec![name.to_owned(), figure.to_string()]).into();
        output::table(&["records", ""], &rows)?;
        let notes = report.notes.len() as u64 + report.notes_unlisted;
        if notes > 0 {
            eprintln!("{notes} notes; --json lists them");
        }
    }
    if let Some(path) = rejects {
        eprintln!("{rejected} records were rejected; the reasons are in {}", path.display());
        return Err(exit::differences());
    }
    Ok(())
}

fn write_rejects(input: &Input, report: &Report) -> anyhow::Result<PathBuf> {
    let beside = || {
        let name = if input.file.as_os_str() == "-" { "stdin".into() } else { input.file.display().to_string() };
        PathBuf::from(format!("{name}.rejects.ndjson"))
    };
    let path = input.rejects.clone().unwrap_or_else(beside);
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    let mut out = std::io::BufWriter::new(file);
    for rejected in &report.rejected {
        let line =
            json!({ "record": rejected.record, "line": rejected.line, "id": rejected.id, "reason": rejected.reason });
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(path)
}
