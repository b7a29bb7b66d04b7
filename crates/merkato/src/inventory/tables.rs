//! The tables of the inventory. Reading this file is reading its data model.

use std::collections::BTreeMap;

use uuid::Uuid;
use widerow::{Cell, Derive, Row, Schema, Timestamp};

use super::rules::Shelf;
use crate::{
    events::Told,
    id::{HoldId, MovementId, ProductId},
};

/// Under this id stands the stock, one row a warehouse: before all holds.
pub(super) const STOCK: HoldId = HoldId(Uuid::nil());
/// Under this id stand the movements, with their own ids as the warehouse's: behind all holds.
pub(super) const MOVEMENTS: HoldId = HoldId(Uuid::max());

/// Q16 and Q17: what each warehouse has of a product, then the holds on it, then the movements that are remembered.
/// Expected 3 rows of stock and 1,000 holds; at most 50 and some 100,000. A decision reads the stock and the holds that it is
/// about, never the others: what all holds together come to stands in the stock's own rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "inventory",
    partition(product_id),
    clustering(hold_id, warehouse_id),
    guarded,
    read = Serial,
    write = Quorum
)]
pub struct Inventory {
    pub product_id: ProductId,
    /// Of a hold; the least of all ids for stock, the greatest for a movement.
    pub hold_id: HoldId,
    /// Of stock; empty for a hold, the movement's id for a movement.
    pub warehouse_id: String,
    /// Whether units are counted at all; they are where nothing is said.
    #[row(static)]
    pub tracked: Option<bool>,
    /// Whether more may be sold than is there; not where nothing is said.
    #[row(static)]
    pub backorder: Option<bool>,
    /// How far the stream of the product's movements is.
    #[row(static)]
    pub told: Option<Told>,
    /// Of stock: the units that are there, reserved or not.
    pub quantity: Option<i32>,
    /// Of stock: the sum of `ending`, as it was when the row was written.
    pub reserved: Option<i32>,
    /// Of stock; none, or zero: nobody wants to be told.
    pub low_stock_threshold: Option<i32>,
    /// Of stock: how many of the reserved units are free again from which instant on.
    pub ending: BTreeMap<Timestamp, i32>,
    pub updated_at: Timestamp,
    /// Of a hold. One value and not six: a sale writes many of them at once, and an engine's work goes by the cell.
    pub hold: Option<HoldValue>,
    /// Of a movement.
    pub movement: Option<MovementValue>,
}

/// What the row of a hold says of it.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct HoldValue {
    pub state: HoldState,
    /// The units that were asked for.
    pub quantity: i32,
    /// The units from each warehouse.
    pub allocations: BTreeMap<String, i32>,
    /// The units that no warehouse had.
    pub backordered: Option<i32>,
    pub ends_at: Timestamp,
    pub created_at: Timestamp,
}

/// What the row of a movement says of it.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct MovementValue {
    pub kind: MovementKind,
    /// What it added to each warehouse.
    pub deltas: BTreeMap<String, i32>,
}

/// What became of a hold. One that is held and whose time is over has ended.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldState {
    Held,
    Released,
    Confirmed,
    Returned,
}

#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MovementKind {
    Restock,
    Adjust,
    Transfer,
}

/// Units that are kept for someone, or were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub product_id: ProductId,
    pub hold_id: HoldId,
    pub state: HoldState,
    pub quantity: i32,
    /// The units from each warehouse; none of a product whose units are not counted.
    pub allocations: BTreeMap<String, i32>,
    /// The units that no warehouse had. Nothing is taken for them, and nothing given back.
    pub backordered: i32,
    pub ends_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// In the answer to a change: that the product has just become available or unavailable. It may be told once too often.
    pub became: Option<Availability>,
}

impl Hold {
    /// Whether it keeps its units at this instant.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.state == HoldState::Held && self.ends_at > now
    }
}

/// Whether a product can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Availability {
    InStock,
    OutOfStock,
}

impl Inventory {
    fn blank(product_id: ProductId, hold_id: HoldId, warehouse_id: String, updated_at: Timestamp) -> Self {
        Inventory {
            product_id,
            hold_id,
            warehouse_id,
            tracked: None,
            backorder: None,
            told: None,
            quantity: None,
            reserved: None,
            low_stock_threshold: None,
            ending: BTreeMap::new(),
            updated_at,
            hold: None,
            movement: None,
        }
    }

    pub(super) fn of_shelf(product_id: ProductId, warehouse_id: &str, shelf: &Shelf) -> Self {
        Inventory {
            quantity: Some(shelf.quantity),
            reserved: Some(shelf.reserved(Timestamp::MIN)),
            low_stock_threshold: Some(shelf.low_stock_threshold).filter(|units| *units > 0),
            ending: shelf.ending.clone(),
            ..Inventory::blank(product_id, STOCK, warehouse_id.to_owned(), shelf.updated_at)
        }
    }

    pub(super) fn of_hold(hold: &Hold) -> Self {
        let value = HoldValue {
            state: hold.state,
            quantity: hold.quantity,
            allocations: hold.allocations.clone(),
            backordered: Some(hold.backordered).filter(|units| *units > 0),
            ends_at: hold.ends_at,
            created_at: hold.created_at,
        };
        Inventory {
            hold: Some(value),
            ..Inventory::blank(hold.product_id, hold.hold_id, String::new(), hold.updated_at)
        }
    }

    pub(super) fn of_movement(
        product_id: ProductId,
        movement_id: MovementId,
        kind: MovementKind,
        deltas: &BTreeMap<String, i32>,
        now: Timestamp,
    ) -> Self {
        Inventory {
            movement: Some(MovementValue { kind, deltas: deltas.clone() }),
            ..Inventory::blank(product_id, MOVEMENTS, movement_id.to_string(), now)
        }
    }

    /// The hold that the row is, if it is one.
    pub(super) fn hold(&self) -> Option<Hold> {
        let value = self.hold.clone()?;
        Some(Hold {
            product_id: self.product_id,
            hold_id: self.hold_id,
            state: value.state,
            quantity: value.quantity,
            allocations: value.allocations,
            backordered: value.backordered.unwrap_or_default(),
            ends_at: value.ends_at,
            created_at: value.created_at,
            updated_at: self.updated_at,
            became: None,
        })
    }

    /// The stock of a warehouse that the row is, if it is one.
    pub(super) fn shelf(&self) -> Option<Shelf> {
        (self.hold_id == STOCK).then(|| Shelf {
            quantity: self.quantity.unwrap_or_default(),
            low_stock_threshold: self.low_stock_threshold.unwrap_or_default(),
            ending: self.ending.clone(),
            updated_at: self.updated_at,
        })
    }
}

/// What a warehouse is short of, the scarcest first. Only products that someone set a threshold for, and that are at it or
/// below. Units whose hold has ended count as free when the product's stock is next written, or swept.
/// Expected 100 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "low_stock", partition(warehouse_id), clustering(available, product_id), read = LocalQuorum)]
pub struct LowStock {
    pub warehouse_id: String,
    pub available: i32,
    pub product_id: ProductId,
    pub quantity: i32,
    pub reserved: i32,
    pub low_stock_threshold: i32,
}

impl Derive<LowStock> for Inventory {
    fn derive(&self) -> Vec<LowStock> {
        let (Some(quantity), Some(low_stock_threshold)) = (self.quantity, self.low_stock_threshold) else {
            return Vec::new();
        };
        let reserved = self.reserved.unwrap_or_default();
        let available = quantity.saturating_sub(reserved);
        if self.hold_id != STOCK || low_stock_threshold <= 0 || available > low_stock_threshold {
            return Vec::new();
        }
        vec![LowStock {
            warehouse_id: self.warehouse_id.clone(),
            available,
            product_id: self.product_id,
            quantity,
            reserved,
            low_stock_threshold,
        }]
    }

    fn source(row: &LowStock) -> (ProductId, HoldId, String) {
        (row.product_id, STOCK, row.warehouse_id.clone())
    }
}

/// What changed a product's stock besides sales, newest first. Expected 100 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "stock_movements",
    partition(product_id),
    clustering(moved_at desc, movement_id),
    read = LocalQuorum,
    write = Quorum
)]
pub struct StockMovement {
    pub product_id: ProductId,
    pub moved_at: Timestamp,
    pub movement_id: MovementId,
    pub kind: MovementKind,
    /// Of a transfer: where the units come from.
    pub warehouse_id: String,
    /// Of a transfer: where they go.
    pub to_warehouse_id: Option<String>,
    /// What was added to the warehouse.
    pub delta: i32,
    pub reason: Option<String>,
    pub actor: Option<String>,
}

/// The warehouses that have, or had, a product of the shop, by their ids. One partition; expected 5 rows, at most 10,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "warehouses", partition(shop), clustering(warehouse_id), read = LocalQuorum)]
pub struct Warehouse {
    /// Always the same.
    pub shop: u32,
    pub warehouse_id: String,
}

impl Warehouse {
    pub(super) const ALL: u32 = 0;
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.derived::<Inventory, LowStock>().table::<StockMovement>().table::<Warehouse>()
}
