//! Whether what is reserved is what the holds in force come to.

use std::collections::{BTreeMap, BTreeSet};

use widerow::Timestamp;

use super::decide::stock_of;
use crate::{
    context::Context,
    id::ProductId,
    inventory::{
        error::Result,
        tables::{Inventory, STOCK},
    },
};

/// Rows that are read at once.
const ROWS: usize = 1_000;
/// How often a product that is changed meanwhile is read again.
const TRIES: usize = 20;

/// What a look at the stock found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub products: u64,
    pub differences: Vec<StockDifference>,
    /// Products that were changed so often that they could not be read at rest.
    pub unsettled: Vec<ProductId>,
}

/// A warehouse whose figures do not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockDifference {
    pub product: ProductId,
    pub warehouse: String,
    pub quantity: i32,
    /// As it is written down.
    pub reserved: i32,
    /// What the instants that are written down come to, ended ones among them.
    pub ending: i32,
    /// What is reserved now, by those instants.
    pub in_force: i32,
    /// What the holds in force have from this warehouse.
    pub held: i32,
}

/// Compares the stock of a product, or of all, with the holds on it. Stock may be sold meanwhile.
pub async fn verify_stock(ctx: &Context, product: Option<ProductId>) -> Result<Verified> {
    let mut products = BTreeSet::from_iter(product);
    if product.is_none() {
        ctx.for_each_row::<Inventory>(|row| {
            products.insert(row.product_id);
        })
        .await?;
    }
    let mut report = Verified::default();
    for product in products {
        report.products += 1;
        match read_at_rest(ctx, product).await? {
            Some((rows, now)) => report.differences.extend(compare(ctx, product, &rows, now)?),
            None => report.unsettled.push(product),
        }
    }
    Ok(report)
}

/// All rows of a product, as they were at one version.
///
/// RACE: a product may have more holds than one read gives. Between two reads of one and the same version nothing was
/// committed, so that what was read in between belongs together.
async fn read_at_rest(ctx: &Context, product: ProductId) -> Result<Option<(Vec<Inventory>, Timestamp)>> {
    let key = || (product, STOCK, String::new());
    for _ in 0..TRIES {
        let (_, before) = ctx.store.get_versioned::<Inventory>(key()).await?;
        let (mut rows, mut cursor, now) = (Vec::new(), None, ctx.now());
        loop {
            let page = ctx.store.slice::<Inventory>(product).limit(ROWS).after(cursor).page().await?;
            rows.extend(page.rows);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let (_, after) = ctx.store.get_versioned::<Inventory>(key()).await?;
        if before == after {
            return Ok(Some((rows, now)));
        }
    }
    Ok(None)
}

fn compare(
    ctx: &Context,
    product: ProductId,
    rows: &[Inventory],
    now: Timestamp,
) -> Result<Vec<StockDifference>, widerow::Error> {
    let stock = stock_of(product, (true, false), rows, ctx)?;
    // Holds that ended while they were read had not when the reading began.
    let now = stock.shelves.values().map(|shelf| shelf.updated_at).fold(now, Timestamp::max);
    let mut held: BTreeMap<&str, i32> = BTreeMap::new();
    for hold in stock.holds.values().filter(|hold| hold.is_in_force(now)) {
        for (warehouse, units) in &hold.allocations {
            let sum = held.entry(warehouse).or_default();
            *sum = sum.saturating_add(*units);
        }
    }
    let mut differences = Vec::new();
    for row in rows {
        let Some(shelf) = row.shelf() else { continue };
        let difference = StockDifference {
            product,
            warehouse: row.warehouse_id.clone(),
            quantity: shelf.quantity,
            reserved: row.reserved.unwrap_or_default(),
            ending: shelf.reserved(Timestamp::MIN),
            in_force: shelf.reserved(now),
            held: held.remove(row.warehouse_id.as_str()).unwrap_or_default(),
        };
        let d = &difference;
        let sound = d.reserved == d.ending
            && d.in_force == d.held
            && (0..=d.quantity).contains(&d.reserved)
            && shelf.ending.values().all(|units| *units > 0);
        differences.extend((!sound).then_some(difference));
    }
    // Units that are held in warehouses that are not there.
    let nowhere = held.into_iter().filter(|(_, units)| *units != 0);
    differences.extend(nowhere.map(|(warehouse, held)| StockDifference {
        product,
        warehouse: warehouse.to_owned(),
        quantity: 0,
        reserved: 0,
        ending: 0,
        in_force: 0,
        held,
    }));
    Ok(differences)
}
