//! Things that are read one by one: products, categories, stock, orders, sales, measurements.

use std::{collections::BTreeSet, sync::Arc};

use futures::{StreamExt as _, stream};
use merkato::{
    Context, Kind,
    catalog::{self, Category, Product, Restored},
    flows::{self, import::Report},
    id::{CategoryId, MovementId},
    inventory::{self, Note},
    orders::{self, HistoryRow, NewOrder, Order, OrderItem},
    sales::{self, NewSale, SaleRecord},
    telemetry::{self, NewMeasurement, RawMeasurement, Sensor, figures},
};
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::reject;
use crate::cli::{
    export::{Level, Placing, What},
    progress::Progress,
    records::{self, Numbered, Reader, Record},
};

/// Records that are written side by side, where none needs another.
const AT_ONCE: usize = 16;

/// Categories that are there: each is looked for once.
type Known = Mutex<BTreeSet<CategoryId>>;

/// Why a record was not taken.
enum Refusal {
    /// It is bad by itself; the others go on.
    Record(String),
    /// The shop cannot be written to.
    Shop(anyhow::Error),
}

pub(super) async fn import(
    ctx: &Context,
    what: What,
    reader: Reader,
    progress: &mut Progress,
) -> anyhow::Result<Report> {
    let known = Arc::new(Known::default());
    // A category needs its parent, which stands before it.
    let at_once = if what == What::Categories { 1 } else { AT_ONCE };
    let taken = stream::iter(reader).map(|(number, record): Numbered| {
        let known = known.clone();
        async move {
            match record {
                Ok(record) => (number, take(ctx, what, &record, &known).await),
                Err(reason) => (number, Err(Refusal::Record(reason))),
            }
        }
    });
    let mut taken = taken.buffered(at_once);
    let mut report = Report::default();
    while let Some((record, outcome)) = taken.next().await {
        report.read += 1;
        match outcome {
            Ok(Restored::Created) => report.created += 1,
            Ok(Restored::Changed) => report.changed += 1,
            Ok(Restored::Unchanged) => report.unchanged += 1,
            Err(Refusal::Record(reason)) => reject(&mut report, record, reason),
            Err(Refusal::Shop(error)) => return Err(error),
        }
        progress.at(report.read);
    }
    Ok(report)
}

async fn take(ctx: &Context, what: What, record: &Record, known: &Known) -> Result<Restored, Refusal> {
    match what {
        What::Products => product(ctx, record, known).await,
        What::Categories => {
            let category: Placing = records::row(record).map_err(Refusal::Record)?;
            catalog::restore_category(ctx, category.into()).await.map_err(of_catalog)
        }
        What::Stock => stock(ctx, record).await,
        What::Orders => order(ctx, record).await,
        What::Sales => sale(ctx, record).await,
        What::Measurements => measurement(ctx, record).await,
        What::Tree | What::Events | What::Wallets | What::Graph => {
            Err(Refusal::Record("they are read many at once, by `trees`, `events` and `graph`".into()))
        }
    }
}

async fn product(ctx: &Context, record: &Record, known: &Known) -> Result<Restored, Refusal> {
    let product: Product = records::row(record).map_err(Refusal::Record)?;
    let trail = record.get("category_trail").and_then(Json::as_array).cloned().unwrap_or_default();
    // Held over the making, so that nobody looks for what is being made.
    let mut known = known.lock().await;
    let mut path: Vec<CategoryId> = Vec::new();
    for place in trail {
        let text = |name: &str| place.get(name).and_then(Json::as_str).map(str::to_owned);
        let id = text("category_id").and_then(|id| id.parse::<CategoryId>().ok());
        let (Some(category_id), Some(name), Some(slug)) = (id, text("name"), text("slug")) else {
            return Err(Refusal::Record("category_trail: a category has category_id, name and slug".into()));
        };
        if known.insert(category_id) {
            let now = ctx.now();
            let category = Category {
                category_id,
                name,
                slug,
                parent_id: path.last().copied(),
                path: path.clone(),
                revision: 1,
                created_at: now,
                updated_at: now,
            };
            if let Err(error) = catalog::restore_category(ctx, category).await {
                known.remove(&category_id);
                return Err(of_catalog(error));
            }
        }
        path.push(category_id);
    }
    drop(known);
    catalog::restore_product(ctx, product).await.map_err(of_catalog)
}

/// The quantity becomes what the file says, by a movement of its own.
async fn stock(ctx: &Context, record: &Record) -> Result<Restored, Refusal> {
    let wanted: Level = records::row(record).map_err(Refusal::Record)?;
    let (product, warehouse) = (wanted.product_id, &wanted.warehouse_id);
    let known = catalog::find_product(ctx, product).await.map_err(of_catalog)?;
    known.ok_or_else(|| Refusal::Record(format!("there is no product {product}")))?;
    let refused = |error: inventory::Error| refusal(error.kind(), error);
    let found = inventory::get_stock(ctx, product).await.map_err(refused)?;
    let level = found.warehouses.iter().find(|level| level.warehouse_id == *warehouse);
    let mut changed = false;
    // A shelf that is empty is there, too: it has a threshold.
    let is_so = |level: &inventory::WarehouseLevel| {
        (level.quantity, level.low_stock_threshold) == (wanted.quantity, wanted.low_stock_threshold)
    };
    if !level.is_some_and(is_so) {
        let note = Note { actor: Some("import".into()), reason: Some("the quantity that a file says".into()) };
        let counted = inventory::Level {
            quantity: wanted.quantity.into(),
            low_stock_threshold: Some(wanted.low_stock_threshold.into()),
        };
        let movement = MovementId(ctx.new_id());
        inventory::set_level(ctx, movement, product, warehouse, counted, None, note).await.map_err(refused)?;
        changed = true;
    }
    if (found.tracked, found.backorder) != (wanted.tracked, wanted.backorder) {
        inventory::set_policy(ctx, product, wanted.tracked, wanted.backorder).await.map_err(refused)?;
        changed = true;
    }
    if changed {
        flows::stock::follow_stock(ctx, product).await.map_err(|error| refusal(error.kind(), error))?;
    }
    Ok(match (changed, level) {
        (false, _) => Restored::Unchanged,
        (true, None) => Restored::Created,
        (true, Some(_)) => Restored::Changed,
    })
}

/// An order that is there stays as it is; one that was changed since is told.
async fn order(ctx: &Context, record: &Record) -> Result<Restored, Refusal> {
    let order: Order = records::row(record).map_err(Refusal::Record)?;
    let items = parts::<OrderItem>(record, "items")?;
    let history = parts::<HistoryRow>(record, "history")?;
    let refused = |error: orders::Error| refusal(error.kind(), error);
    let new = NewOrder::restore(order, items, history).map_err(refused)?;
    let id = new.order().order_id;
    let before = orders::find_order(ctx, id).await.map_err(refused)?;
    let after = orders::insert(ctx, &new).await.map_err(refused)?;
    if after != *new.order() {
        return Err(Refusal::Record(format!("the order {id} is there and stands otherwise by now")));
    }
    // Also where it was there: an import that was stopped between the two counts it now.
    flows::sales::count_order(ctx, id).await.map_err(|error| refusal(error.kind(), error))?;
    Ok(if before.is_some() { Restored::Unchanged } else { Restored::Created })
}

/// Its end is that of the retention here; its times are those of the file.
async fn sale(ctx: &Context, record: &Record) -> Result<Restored, Refusal> {
    let sale: SaleRecord = records::row(record).map_err(Refusal::Record)?;
    let vector = match record.get("vector").unwrap_or(&Json::Null) {
        Json::Null => None,
        json => Some(
            serde_json::from_value::<Vec<f32>>(json.clone()).map_err(|e| Refusal::Record(format!("vector: {e}")))?,
        ),
    };
    let new = NewSale {
        product_id: sale.product_id,
        sale_id: sale.sale_id,
        sale_date: sale.sale_date.to_string(),
        sale_price: sale.sale_price,
        original_price: sale.original_price,
        category: sale.category,
        brand: sale.brand,
        season: sale.season,
        embedding_id: sale.embedding_id,
        embedding_s3_key: sale.embedding_s3_key,
        vector,
        created_at: sale.created_at,
        updated_at: sale.updated_at,
    };
    let refused = |error: sales::Error| refusal(error.kind(), error);
    let restored = sales::restore_sales(ctx, vec![new]).await.map_err(refused)?.pop();
    Ok(match restored.transpose().map_err(refused)? {
        Some(sales::Restored::Created) => Restored::Created,
        Some(sales::Restored::Changed) => Restored::Changed,
        Some(sales::Restored::Unchanged) | None => Restored::Unchanged,
    })
}

/// With its sensor, which becomes what it was where it is not there, and is left as it is where it is.
async fn measurement(ctx: &Context, record: &Record) -> Result<Restored, Refusal> {
    let row: RawMeasurement = records::row(record).map_err(Refusal::Record)?;
    let refused = |error: telemetry::Error| refusal(error.kind(), error);
    let degrees = |value: Option<rust_decimal::Decimal>| value.map(figures::from_decimal);
    let new = NewMeasurement {
        sensor_id: row.sensor_id,
        measurement_time: row.measurement_time,
        measurement_id: Some(row.measurement_id),
        temperature: degrees(row.temperature),
        humidity: degrees(row.humidity),
        pressure: degrees(row.pressure),
        metrics: row.metrics.into_iter().map(|(name, value)| (name, figures::from_decimal(value))).collect(),
        metadata: row.metadata,
    };
    if telemetry::find_known(ctx, vec![new.clone()]).await.map_err(refused)? == [true] {
        return Ok(Restored::Unchanged);
    }
    match telemetry::get_sensor(ctx, row.sensor_id).await {
        Ok(_) => {}
        Err(telemetry::Error::SensorNotFound { .. }) => {
            let told = record.get("sensor").and_then(Json::as_object);
            let told = told.ok_or_else(|| Refusal::Record(format!("there is no sensor {}", row.sensor_id)))?;
            let sensor: Sensor = records::row(told).map_err(|problem| Refusal::Record(format!("sensor/{problem}")))?;
            let sensor = Sensor { sensor_id: row.sensor_id, ..sensor };
            telemetry::restore_sensor(ctx, sensor).await.map_err(refused)?;
        }
        Err(error) => return Err(refused(error)),
    }
    let answer = telemetry::restore_measurements(ctx, vec![new]).await.map_err(refused)?.pop();
    answer.transpose().map_err(refused)?;
    Ok(Restored::Created)
}

fn parts<R: widerow::Row>(record: &Record, name: &str) -> Result<Vec<R>, Refusal> {
    let all = record.get(name).and_then(Json::as_array).into_iter().flatten();
    let part = |(i, json): (usize, &Json)| {
        let record = json.as_object().ok_or_else(|| format!("{name}/{i}: no object"))?;
        records::row(record).map_err(|problem| format!("{name}/{i}/{problem}"))
    };
    all.enumerate().map(part).collect::<Result<_, String>>().map_err(Refusal::Record)
}

fn of_catalog(error: catalog::Error) -> Refusal {
    refusal(error.kind(), error)
}

fn refusal(kind: Kind, error: impl Into<anyhow::Error>) -> Refusal {
    match kind {
        Kind::Unavailable | Kind::Internal => Refusal::Shop(error.into()),
        _ => Refusal::Record(error.into().to_string()),
    }
}
