//! The operations of the inventory, each in the file of its kind.

mod decide;
mod holds;
mod joint;
mod lines;
mod movements;
mod policy;
mod show;
mod sweep;
mod verify;

pub(crate) use decide::StockWriter;
pub use holds::{Reserve, confirm, extend, give_back, release, reserve};
pub(crate) use joint::{join_holds, joined};
pub(crate) use lines::reserve_wishes;
pub use lines::{Line, confirm_lines, extend_lines, give_back_lines, release_lines, reserve_lines};
pub use movements::{Level, Moved, Note, adjust, restock, set_level, transfer};
pub use policy::{set_low_stock_threshold, set_policy};
pub use show::{
    HoldPage, StockLevels, WarehouseLevel, find_hold, get_stock, list_holds, list_low_stock, list_movements,
    list_warehouses,
};
pub use sweep::{list_unsettled, settle, sweep};
pub use verify::{Repaired, StockDifference, Verified, repair_stock, verify_stock};
