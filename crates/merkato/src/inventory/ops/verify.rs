//! Whether what is reserved is what the holds in force come to, and making it so.

use std::collections::{BTreeMap, BTreeSet};

use widerow::{Commit, Timestamp, Version};

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

/// What a repair of the stock came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// That were looked at.
    pub products: u64,
    /// As they were found; they are no more.
    pub mended: Vec<StockDifference>,
    /// As they are now: more is held than is there, or in a warehouse that is not there.
    pub left: Vec<StockDifference>,
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
            Some(rest) => report.differences.extend(compare(ctx, product, &rest.rows, rest.now)?),
            None => report.unsettled.push(product),
        }
    }
    Ok(report)
}

/// Compares the stock of a product, or of all, with the holds on it, and makes what is reserved what the holds in force come
/// to. The units that are there are never touched: what only a count of the shelf can tell is left, and listed. Stock may be
/// sold meanwhile; asked again, it changes nothing.
pub async fn repair_stock(ctx: &Context, product: Option<ProductId>) -> Result<Repaired> {
    let found = verify_stock(ctx, product).await?;
    let mut report = Repaired { products: found.products, unsettled: found.unsettled, ..Repaired::default() };
    for product in found.differences.into_iter().map(|difference| difference.product).collect::<BTreeSet<_>>() {
        match repair(ctx, product).await? {
            Some((mended, left)) => {
                report.mended.extend(mended);
                report.left.extend(left);
            }
            None => report.unsettled.push(product),
        }
    }
    Ok(report)
}

/// What is mended of a product, as it was, and what is left, as it is; None where it could not be read at rest.
///
/// RACE: someone may reserve while the holds are summed. What is written rests on the version that was read; another one is
/// read again.
async fn repair(ctx: &Context, product: ProductId) -> Result<Option<(Vec<StockDifference>, Vec<StockDifference>)>> {
    for _ in 0..TRIES {
        let Some(mut rest) = read_at_rest(ctx, product).await? else { return Ok(None) };
        let found = compare(ctx, product, &rest.rows, rest.now)?;
        let mut stock = stock_of(product, (true, false), &rest.rows, ctx)?;
        stock.restate(&found.iter().map(|difference| difference.warehouse.clone()).collect());
        let mut commit = Commit::new().unchanged::<Inventory>(product, rest.version);
        let mut changes = false;
        for row in rest.rows.iter_mut().filter(|row| row.hold_id == STOCK) {
            let Some(shelf) = stock.shelves.get(&row.warehouse_id) else { continue };
            let restated = Inventory::of_shelf(product, &row.warehouse_id, shelf);
            if (restated.reserved, &restated.ending) != (row.reserved, &row.ending) {
                commit = commit.put(&restated);
                changes = true;
                *row = restated;
            }
        }
        if !changes {
            return Ok(Some((Vec::new(), found)));
        }
        match ctx.store.commit(commit).await {
            Ok(_) => {
                let left = compare(ctx, product, &rest.rows, stock.now)?;
                let is_left = |was: &StockDifference| left.iter().any(|now| now.warehouse == was.warehouse);
                return Ok(Some((found.into_iter().filter(|was| !is_left(was)).collect(), left)));
            }
            Err(widerow::Error::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// The rows of a product at one version, and the instant before which they were read.
struct AtRest {
    rows: Vec<Inventory>,
    now: Timestamp,
    version: Option<Version>,
}

/// All rows of a product, as they were at one version.
///
/// RACE: a product may have more holds than one read gives. Between two reads of one and the same version nothing was
/// committed, so that what was read in between belongs together.
async fn read_at_rest(ctx: &Context, product: ProductId) -> Result<Option<AtRest>> {
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
            return Ok(Some(AtRest { rows, now, version: before }));
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
