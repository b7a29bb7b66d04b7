//! `merkato export`: what a shop has, as `merkato import` reads it back.

use std::{collections::BTreeMap, io::BufWriter, path::PathBuf, pin::pin};

use clap::{Args, ValueEnum};
use futures::{Stream, TryStreamExt as _, stream};
use merkato::{
    Context, PageRequest,
    catalog::{self, Category, Product},
    events::{self, Event, EventStream, ReadStream},
    graph::{ConnectionType, Pair, Says, Tie},
    hierarchy::{self, Node, Tree},
    id::{CategoryId, NodeId, ProductId, SensorId, UserId},
    inventory, limits,
    orders::{self, Order},
    sales::{SaleRecord, SaleVector, VECTOR_SHARDS, shards::embedding_shard},
    telemetry::{RawMeasurement, Sensor},
    wallets,
};
use rust_decimal::Decimal;
use serde_json::{Value as Json, json};
use widerow::{Row, Timestamp, schema::Table, store::ScanRows};

use super::{
    Global,
    open::{Opened, TenantChoice},
    progress::Progress,
    records::{self, Format, Record, Writer},
};

/// Write all of one kind to standard output or a file. `merkato import` of the same kind reads it back, to the same rows: ids,
/// slugs, revisions and times included. A product brings its categories along, an order its lines and its history, a measurement its
/// sensor, retired or not; a sensor of which no measurement is kept is not written. Measurements are those that are kept one by one;
/// hours and days are made of them anew. Wallets are written entry by entry, with what each held after it; what is on its way from one
/// to another is in neither, so let nobody in meanwhile.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato export products > products.ndjson
  merkato export orders --format csv --output orders.csv
  merkato export sales --tenant acme > sales.ndjson
  merkato export tree --format csv --output trees.csv
  merkato export events | gzip > events.ndjson.gz
  merkato export wallets > wallets.ndjson
  merkato export graph > connections.ndjson
  merkato export products | ssh other merkato import products -

Export and import again make no copy: what is there already, and the same, stays as it is.")]
pub struct Export {
    #[arg(value_enum)]
    what: What,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// A file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tenant: TenantChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum What {
    Products,
    Categories,
    Stock,
    Orders,
    Sales,
    Measurements,
    Tree,
    Events,
    Wallets,
    Graph,
}

impl What {
    /// The table whose columns a record has.
    pub(super) fn table(self) -> &'static Table {
        match self {
            What::Products => Product::table(),
            What::Categories => Placing::table(),
            What::Orders => Order::table(),
            What::Stock => Level::table(),
            What::Sales => SaleRecord::table(),
            What::Measurements => RawMeasurement::table(),
            What::Tree => Placed::table(),
            What::Events | What::Wallets => Event::table(),
            What::Graph => Said::table(),
        }
    }

    /// Columns beside those of the table.
    pub(super) fn others(self) -> &'static [&'static str] {
        match self {
            What::Products => &["category_trail"],
            What::Orders => &["items", "history"],
            What::Sales => &["vector"],
            What::Measurements => &["sensor"],
            What::Categories | What::Stock | What::Tree | What::Events | What::Wallets | What::Graph => &[],
        }
    }

    /// Columns that no other layout has all of; but what wallets have are events.
    pub(super) fn marks(self) -> &'static [&'static str] {
        match self {
            What::Products => &["product_id", "category_trail", "revision"],
            What::Categories => &["category_id", "path", "revision"],
            What::Orders => &["order_id", "items", "history", "revision"],
            What::Stock => &["product_id", "warehouse_id", "quantity"],
            What::Sales => &["productId", "saleId", "saleDate", "salePrice", "categoryShard"],
            What::Measurements => &["sensor_id", "time_bucket", "measurement_time", "measurement_id", "sensor"],
            What::Graph => &["user_id", "connection_type", "connected_user_id", "connection_metadata", "created_at"],
            What::Tree => &["tree", "node_id", "parent_id", "node_name", "node_path"],
            What::Events | What::Wallets => &["aggregate_id", "event_version", "event_id", "event_type", "event_data"],
        }
    }
}

/// What a warehouse has of a product, and how its stock is counted. Not stored so: it is the shape of a record.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "stock", partition(product_id), clustering(warehouse_id))]
pub(super) struct Level {
    pub product_id: ProductId,
    pub warehouse_id: String,
    pub quantity: i32,
    pub low_stock_threshold: i32,
    pub tracked: bool,
    pub backorder: bool,
}

/// A category. Not stored so: it is the shape of a record.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "categories", partition(category_id))]
pub(super) struct Placing {
    pub category_id: CategoryId,
    pub name: String,
    pub slug: String,
    pub parent_id: Option<CategoryId>,
    /// For whoever reads the file; it follows from the parents.
    pub path: Vec<CategoryId>,
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<Category> for Placing {
    fn from(category: Category) -> Self {
        let Category { category_id, name, slug, parent_id, path, revision, created_at, updated_at } = category;
        Placing { category_id, name, slug, parent_id, path, revision, created_at, updated_at }
    }
}

impl From<Placing> for Category {
    fn from(placing: Placing) -> Self {
        let Placing { category_id, name, slug, parent_id, path, revision, created_at, updated_at } = placing;
        Category { category_id, name, slug, parent_id, path, revision, created_at, updated_at }
    }
}

/// A node of one of the trees, or the tree itself, which is its root. Not stored so: it is the shape of a record.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tree_nodes", partition(tree), clustering(node_id))]
pub(super) struct Placed {
    pub tree: String,
    pub node_id: NodeId,
    /// The tree's root, where it stands at the top; none, where it is the root.
    pub parent_id: Option<NodeId>,
    pub node_name: String,
    pub node_type: Option<String>,
    pub node_metadata: BTreeMap<String, String>,
    /// For whoever reads the file; it follows from the names.
    pub node_path: String,
    /// All three, or a new node: files of earlier versions have none.
    pub revision: Option<i64>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

impl Placed {
    fn of(tree: &Tree, node: Node) -> Self {
        let Node { node_id, parent_id, node_name, node_type, node_metadata, node_path, .. } = node;
        let Node { revision, created_at, updated_at, .. } = node;
        Placed {
            tree: tree.tree_name.clone(),
            node_id,
            parent_id,
            node_name,
            node_type,
            node_metadata,
            node_path,
            revision: Some(revision),
            created_at: Some(created_at),
            updated_at: Some(updated_at),
        }
    }
}

/// What one is to another; a friendship, which is that of both, once. Not stored so: it is the shape of a record.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "connections", partition(user_id), clustering(connection_type, connected_user_id))]
pub(super) struct Said {
    pub user_id: UserId,
    pub connection_type: ConnectionType,
    pub connected_user_id: UserId,
    pub connection_strength: Decimal,
    pub connection_metadata: BTreeMap<String, String>,
    pub created_at: Timestamp,
    /// For whoever reads the file; read back, it is when the connection was made.
    pub last_interaction: Timestamp,
}

impl Export {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let ctx = opened.context(&self.tenant)?;
        let out: Box<dyn std::io::Write> = match &self.output {
            Some(path) => Box::new(std::fs::File::create(path)?),
            None => Box::new(std::io::stdout()),
        };
        let table = self.what.table().columns.iter().map(|column| column.name.clone());
        let columns = table.chain(self.what.others().iter().map(|name| (*name).to_owned())).collect();
        let mut writing = Writing {
            writer: Writer::new(self.format, columns, BufWriter::new(out))?,
            written: 0,
            progress: Progress::new("written", None),
        };
        match self.what {
            What::Products => products(&ctx, &mut writing).await?,
            What::Categories => categories(&ctx, &mut writing).await?,
            What::Stock => stock(&ctx, &mut writing).await?,
            What::Orders => orders(&ctx, &mut writing).await?,
            What::Sales => sales(&ctx, &mut writing).await?,
            What::Measurements => measurements(&ctx, &mut writing).await?,
            What::Tree => trees(&ctx, &mut writing).await?,
            What::Events => streams(&ctx, &mut writing, is_open_to_all).await?,
            What::Wallets => streams(&ctx, &mut writing, |stream| stream.aggregate_kind == wallets::KIND).await?,
            What::Graph => connections(&ctx, &mut writing).await?,
        }
        writing.end()
    }
}

struct Writing<W: std::io::Write> {
    writer: Writer<W>,
    written: u64,
    progress: Progress,
}

impl<W: std::io::Write> Writing<W> {
    fn write(&mut self, record: &Record) -> anyhow::Result<()> {
        self.writer.write(record)?;
        self.written += 1;
        self.progress.at(self.written);
        Ok(())
    }

    fn end(self) -> anyhow::Result<()> {
        let written = self.written;
        drop(self.progress);
        self.writer.end()?;
        eprintln!("{written} written");
        Ok(())
    }
}

/// The tenant's rows of a table, page by page, in the order of the engine.
pub(super) fn rows<R: Row>(ctx: &Context) -> impl Stream<Item = anyhow::Result<R>> {
    let pages = stream::try_unfold(None, move |scan: Option<ScanRows>| async move {
        let begun = match scan {
            Some(scan) => Some(scan),
            None => ctx.store.scan(R::table(), 1).await?.pop(),
        };
        let Some(mut scan) = begun else { return Ok(None) };
        let Some(rows) = scan.next().await? else { return Ok(None) };
        let typed = rows.into_iter().map(|(_, row)| {
            R::from_values(row.values).map_err(|mismatch| anyhow::anyhow!("{}: {mismatch}", R::table().name))
        });
        anyhow::Ok(Some((stream::iter(typed.collect::<Vec<_>>()), Some(scan))))
    });
    pages.try_flatten()
}

async fn products<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut known: BTreeMap<CategoryId, Json> = BTreeMap::new();
    let mut rows = pin!(rows::<Product>(ctx));
    while let Some(product) = rows.try_next().await? {
        let mut trail = Vec::new();
        for id in product.category_path.iter().chain([&product.category_id]) {
            if !known.contains_key(id) {
                let category = catalog::get_category(ctx, *id).await?;
                known.insert(*id, json!({ "category_id": id, "name": category.name, "slug": category.slug }));
            }
            trail.extend(known.get(id).cloned());
        }
        let mut record = records::record(&Product { told: None, ..product });
        record.insert("category_trail".into(), Json::Array(trail));
        out.write(&record)?;
    }
    Ok(())
}

/// Level by level, so that each finds its parent when it is read.
async fn categories<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let found = catalog::list_descendants(ctx, None, page).await?;
        let ids: Vec<CategoryId> = found.rows.iter().map(|row| row.category_id).collect();
        for category in catalog::find_categories(ctx, &ids).await?.into_iter().flatten() {
            out.write(&records::record(&Placing::from(category)))?;
        }
        let Some(next) = found.next else { return Ok(()) };
        page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) };
    }
}

async fn stock<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut rows = pin!(rows::<Product>(ctx));
    while let Some(product) = rows.try_next().await? {
        let levels = inventory::get_stock(ctx, product.product_id).await?;
        for level in levels.warehouses {
            out.write(&records::record(&Level {
                product_id: product.product_id,
                warehouse_id: level.warehouse_id,
                quantity: level.quantity,
                low_stock_threshold: level.low_stock_threshold,
                tracked: levels.tracked,
                backorder: levels.backorder,
            }))?;
        }
    }
    Ok(())
}

async fn orders<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut rows = pin!(rows::<Order>(ctx));
    while let Some(order) = rows.try_next().await? {
        let items = orders::list_items(ctx, order.order_id).await?;
        let history = orders::list_history(ctx, order.order_id).await?;
        // What was told of it is told where it happened.
        let mut record = records::record(&Order { told: None, ..order });
        record.insert("items".into(), items.iter().map(|item| Json::Object(records::record(item))).collect());
        record.insert("history".into(), history.iter().map(|row| Json::Object(records::record(row))).collect());
        out.write(&record)?;
    }
    Ok(())
}

/// Every tree, its root first, level by level: each node after the one that it stands below. That of the categories is exported as such.
async fn trees<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let found = hierarchy::list_trees(ctx, page).await?;
        for tree in found.rows.iter().filter(|tree| !hierarchy::is_kept(tree.org_id)) {
            nodes(ctx, tree, out).await?;
        }
        let Some(next) = found.next else { return Ok(()) };
        page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) };
    }
}

async fn nodes<W: std::io::Write>(ctx: &Context, tree: &Tree, out: &mut Writing<W>) -> anyhow::Result<()> {
    let root = hierarchy::get_node(ctx, tree.org_id, hierarchy::root_of(tree.org_id)).await?;
    out.write(&records::record(&Placed::of(tree, root)))?;
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let found = hierarchy::list_subtree(ctx, tree.org_id, None, None, page).await?;
        let ids: Vec<NodeId> = found.rows.iter().map(|row| row.descendant_id).collect();
        let rows = hierarchy::find_nodes(ctx, tree.org_id, &ids).await?;
        for node in rows.into_iter().flatten() {
            out.write(&records::record(&Placed::of(tree, node)))?;
        }
        let Some(next) = found.next else { return Ok(()) };
        page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) };
    }
}

/// Whether anybody may append to the stream. What the shop tells of itself, under ids of its own making, belongs to what it is
/// about, and nobody can append it elsewhere.
fn is_open_to_all(stream: &EventStream) -> bool {
    stream.aggregate_id.0.get_version() != Some(uuid::Version::Custom)
}

/// Every stream that is wanted, each by version.
async fn streams<W: std::io::Write>(
    ctx: &Context,
    out: &mut Writing<W>,
    wanted: impl Fn(&EventStream) -> bool,
) -> anyhow::Result<()> {
    let mut rows = pin!(rows::<EventStream>(ctx));
    while let Some(stream) = rows.try_next().await? {
        if !wanted(&stream) {
            continue;
        }
        let mut read = Some(ReadStream { limit: limits::PAGE_ROWS_MAX, ..ReadStream::default() });
        while let Some(next) = read {
            let page = events::list_events(ctx, stream.aggregate_id, next).await?;
            page.events.iter().try_for_each(|event| out.write(&records::record(event)))?;
            read = page.next;
        }
    }
    Ok(())
}

/// All that two people are to each other together, a block last, as it hides the rest.
async fn connections<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut rows = pin!(rows::<Pair>(ctx));
    while let Some(mut pair) = rows.try_next().await? {
        pair.ties.sort_by_key(|tie| tie.connection_type == ConnectionType::Block);
        for tie in pair.ties {
            let Tie { connection_type, says, strength, metadata, created_at, last_interaction } = tie;
            let (user_id, connected_user_id) = match says {
                Says::Low | Says::Both => (pair.low_user_id, pair.high_user_id),
                Says::High => (pair.high_user_id, pair.low_user_id),
            };
            out.write(&records::record(&Said {
                user_id,
                connection_type,
                connected_user_id,
                connection_strength: strength.normalize(),
                connection_metadata: metadata,
                created_at,
                last_interaction,
            }))?;
        }
    }
    Ok(())
}

/// With the vector, where it is known.
async fn sales<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut rows = pin!(rows::<SaleRecord>(ctx));
    while let Some(sale) = rows.try_next().await? {
        let mut record = records::record(&sale);
        if let Some(embedding) = &sale.embedding_id {
            let shard = embedding_shard(&sale.product_id, VECTOR_SHARDS);
            let key = (shard, sale.product_id.clone(), embedding.clone());
            if let Some(vector) = ctx.store.get::<SaleVector>(key).await? {
                record.insert("vector".into(), json!(vector.vector()));
            }
        }
        out.write(&record)?;
    }
    Ok(())
}

/// With the sensor, so that it can be registered where it is not.
async fn measurements<W: std::io::Write>(ctx: &Context, out: &mut Writing<W>) -> anyhow::Result<()> {
    let mut known: BTreeMap<SensorId, Json> = BTreeMap::new();
    let mut sensors = pin!(rows::<Sensor>(ctx));
    while let Some(sensor) = sensors.try_next().await? {
        known.insert(sensor.sensor_id, Json::Object(records::record(&sensor)));
    }
    let mut rows = pin!(rows::<RawMeasurement>(ctx));
    while let Some(measured) = rows.try_next().await? {
        let sensor = known.get(&measured.sensor_id).cloned().unwrap_or_default();
        let mut record = records::record(&RawMeasurement { mark: None, ..measured });
        record.insert("sensor".into(), sensor);
        out.write(&record)?;
    }
    Ok(())
}
