//! What there is: stock, holds, movements, and what is running low.

use std::ops::Bound;

use widerow::{Cursor, Page, Timestamp, codec};

use super::decide::stock_of;
use crate::{
    check::Check,
    context::Context,
    id::{HoldId, ProductId},
    inventory::{
        error::Result,
        rules::{self, Stock},
        tables::{Availability, Hold, Inventory, LowStock, MOVEMENTS, STOCK, StockMovement, Warehouse},
    },
    limits,
    pattern::PageRequest,
};

/// The stock of a product at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockLevels {
    pub product_id: ProductId,
    pub tracked: bool,
    pub backorder: bool,
    /// By their ids.
    pub warehouses: Vec<WarehouseLevel>,
}

/// What one warehouse has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarehouseLevel {
    pub warehouse_id: String,
    pub quantity: i32,
    /// By holds in force.
    pub reserved: i32,
    pub low_stock_threshold: i32,
    pub updated_at: Timestamp,
}

impl WarehouseLevel {
    pub fn available(&self) -> i32 {
        self.quantity.saturating_sub(self.reserved)
    }
}

impl StockLevels {
    pub(super) fn of(stock: &Stock) -> Self {
        let level = |(warehouse, shelf): (&String, &rules::Shelf)| WarehouseLevel {
            warehouse_id: warehouse.clone(),
            quantity: shelf.quantity,
            reserved: shelf.reserved(stock.now),
            low_stock_threshold: shelf.low_stock_threshold,
            updated_at: shelf.updated_at,
        };
        StockLevels {
            product_id: stock.product_id,
            tracked: stock.tracked,
            backorder: stock.backorder,
            warehouses: stock.shelves.iter().map(level).collect(),
        }
    }

    /// Units that are there, reserved or not, over all warehouses.
    pub fn quantity(&self) -> i64 {
        self.warehouses.iter().map(|level| i64::from(level.quantity)).sum()
    }

    /// Units that are kept for someone at this instant, over all warehouses.
    pub fn reserved(&self) -> i64 {
        self.warehouses.iter().map(|level| i64::from(level.reserved)).sum()
    }

    /// Units that can be reserved, over all warehouses.
    pub fn available(&self) -> i64 {
        self.warehouses.iter().map(|level| i64::from(level.available().max(0))).sum()
    }

    /// Where units are not counted, or may be sold beyond what is there, a product is always to be had.
    pub fn availability(&self) -> Availability {
        if !self.tracked || self.backorder || self.available() > 0 {
            Availability::InStock
        } else {
            Availability::OutOfStock
        }
    }

    /// Another where anything of it is another: what an edit rests upon that is made only if nothing has changed.
    pub fn mark(&self) -> i64 {
        let level = |level: &WarehouseLevel| {
            let WarehouseLevel { warehouse_id, quantity, reserved, low_stock_threshold, updated_at } = level;
            format!(" {warehouse_id} {quantity} {reserved} {low_stock_threshold} {}", updated_at.millis())
        };
        let levels: String = self.warehouses.iter().map(level).collect();
        codec::fingerprint(format!("{} {}{levels}", self.tracked, self.backorder).as_bytes()).cast_signed()
    }

    /// Nobody has said anything about the product's stock.
    pub fn is_unknown(&self) -> bool {
        self.tracked && !self.backorder && self.warehouses.is_empty()
    }
}

/// Q16. What each warehouse has, and how much of it is free at this instant.
pub async fn get_stock(ctx: &Context, product: ProductId) -> Result<StockLevels> {
    let slice = ctx.store.slice::<Inventory>(product).prefix(STOCK);
    let page = slice.limit(limits::WAREHOUSES_A_PRODUCT_MAX).page().await?;
    let tracked = page.statics.get(Inventory::TRACKED)?.flatten().unwrap_or(true);
    let backorder = page.statics.get(Inventory::BACKORDER)?.flatten().unwrap_or(false);
    Ok(StockLevels::of(&stock_of(product, (tracked, backorder), &page.rows, ctx)?))
}

/// A hold, in force or not, as long as it is remembered.
pub async fn find_hold(ctx: &Context, product: ProductId, hold: HoldId) -> Result<Option<Hold>> {
    let mut check = Check::new();
    rules::check_hold(&mut check, hold);
    check.end()?;
    let row = ctx.store.get::<Inventory>((product, hold, String::new())).await?;
    Ok(row.as_ref().and_then(Inventory::hold))
}

/// Some holds on a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldPage {
    pub holds: Vec<Hold>,
    /// None at the end.
    pub next: Option<Cursor>,
}

/// The holds on a product that are remembered, in force or not, by their ids.
pub async fn list_holds(ctx: &Context, product: ProductId, page: PageRequest) -> Result<HoldPage> {
    page.check()?;
    let slice = ctx.store.slice::<Inventory>(product).from(Bound::Excluded(STOCK)).to(Bound::Excluded(MOVEMENTS));
    let found = slice.limit(page.limit).after(page.cursor).page().await?;
    Ok(HoldPage { holds: found.rows.iter().filter_map(Inventory::hold).collect(), next: found.next })
}

/// What changed the product's stock besides sales, newest first.
pub async fn list_movements(ctx: &Context, product: ProductId, page: PageRequest) -> Result<Page<StockMovement>> {
    page.check()?;
    Ok(ctx.store.slice::<StockMovement>(product).limit(page.limit).after(page.cursor).page().await?)
}

/// The warehouses, by their ids: each from the first delivery of a product on.
pub async fn list_warehouses(ctx: &Context, page: PageRequest) -> Result<Page<Warehouse>> {
    page.check()?;
    let slice = ctx.store.slice::<Warehouse>(Warehouse::ALL);
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// What a warehouse is short of, the scarcest first.
pub async fn list_low_stock(ctx: &Context, warehouse: &str, page: PageRequest) -> Result<Page<LowStock>> {
    page.check()?;
    let mut check = Check::new();
    rules::check_warehouse(&mut check, "warehouse_id", warehouse);
    check.end()?;
    let slice = ctx.store.slice::<LowStock>(warehouse.to_owned());
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}
