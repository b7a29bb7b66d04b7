//! The stock of every product, in every warehouse, and the holds on it.
//!
//! It knows no order and no cart: a hold has an id that its maker chose, and a checkout uses one for all its products. It does
//! not tell the catalog what is in stock (`flows::stock` does), and it has no prices.
//!
//! 1. No unit is sold twice: in every warehouse, at every instant, 0 ≤ reserved ≤ quantity. Every change is one guarded commit
//!    of the product's partition, decided on what is there (`rules::Stock`).
//! 2. Reserving, releasing, confirming, extending and giving back happen once for each hold, and a restock, an adjustment and
//!    a transfer once for each movement, however often they are asked for, as long as they are remembered (a setting).
//! 3. A hold ends at its instant, on every engine and whether anyone sweeps or not: what is reserved stands in the stock by the
//!    instant at which it is free again.
//! 4. A decision costs the same with ten holds and with a hundred thousand: it reads the stock and the holds it is about.
//! 5. A hold over several products is had as a whole or not at all.
//! 6. Time does not go back for a product, also where the clocks of two processes differ (`rules::Stock::new`).
//! 7. What was released is never confirmed, whatever comes late.
//!
//! Sales leave no facts in `stock_movements`: their facts are the orders, and a sale would write to a second partition.

mod counts;
mod error;
mod ops;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

pub use counts::{HoldStats, stats};
pub use error::{Error, Result, Shortage};
pub use ops::*;
pub use rules::{STOCK_KIND, movements_of};
pub(crate) use tables::tables;
pub use tables::{
    Availability, Hold, HoldState, HoldValue, Inventory, LowStock, MovementKind, MovementValue, StockMovement,
    Warehouse,
};

use crate::pattern::{AccessPattern, Amount, ReadCost};

/// The rows of stock, and none of a hold. DynamoDB keeps static columns in an item of their own and is sent two requests side
/// by side; Cassandra is asked for them again where there is no row of stock.
const STOCK: ReadCost = ReadCost { requests: Amount::of(2), ..ReadCost::PAGE };

/// The rows of stock and one hold; then the commit. Two requests and one partition, but on DynamoDB, which reads the
/// partition's bookkeeping by itself.
const RESERVE: ReadCost =
    ReadCost { partitions: Amount::of(2), rows: Amount::of(2).and_per_row(1), requests: Amount::of(5) };

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "Q16",
        question: "What each warehouse has of a product, and how much of it is free",
        table: "inventory",
        key: "product_id = ? AND hold_id = the nil id",
        cost: STOCK,
    },
    AccessPattern {
        name: "Q17",
        question: "Reserve, release, confirm, extend, give back: one hold of a product whose stock has n rows",
        table: "inventory",
        key: "product_id = ? AND hold_id IN (the nil id, ?)",
        cost: RESERVE,
    },
    AccessPattern {
        name: "hold",
        question: "What became of a hold",
        table: "inventory",
        key: "product_id = ? AND hold_id = ? AND warehouse_id = ''",
        // On DynamoDB with the item of the static columns.
        cost: ReadCost { rows: Amount::of(2), ..ReadCost::ROW },
    },
    AccessPattern {
        name: "holds of product",
        question: "The holds on a product, by id",
        table: "inventory",
        key: "product_id = ? AND hold_id > the nil id AND hold_id < the greatest",
        cost: STOCK,
    },
    AccessPattern {
        name: "movements of product",
        question: "What changed a product's stock besides sales, newest first",
        table: "stock_movements",
        key: "product_id = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "warehouses",
        question: "The warehouses of a shop, by id",
        table: "warehouses",
        key: "shop = 0",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "low stock",
        question: "What a warehouse is short of, the scarcest first",
        table: "low_stock",
        key: "warehouse_id = ?",
        cost: ReadCost::PAGE,
    },
];
