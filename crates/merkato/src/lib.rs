//! The domain of merkato: what a shop knows and decides. It stands on `widerow`, knows no HTTP and no driver.
//!
//! Every module has the same shape: `tables.rs` is its data model, `rules.rs` decides without reading or writing,
//! `ops.rs` loads, decides, commits and answers, `error.rs` names its refusals. Functions take a [`Context`]; time, ids and
//! chance come from it, so that a run replays. Nobody but a table's own module writes it; what writes through two modules
//! stands in `flows`.

pub mod accounts;
pub mod analytics;
pub mod carts;
pub mod catalog;
pub mod chaos;
pub mod check;
pub mod claims;
pub mod combine;
pub mod context;
pub mod error;
pub mod events;
pub mod flows;
pub mod graph;
pub mod hierarchy;
pub mod id;
pub mod inventory;
pub mod keys;
pub mod limits;
pub mod money;
pub mod orders;
pub mod passwords;
pub mod pattern;
pub mod payments;
pub mod replies;
pub mod sales;
pub mod secrets;
pub mod settings;
pub mod shards;
pub mod telemetry;
pub mod text;
pub mod wallets;

pub use check::{BadField, Check, Invalid};
pub use context::Context;
pub use error::Kind;
pub use money::Currency;
pub use pattern::{AccessPattern, PageRequest};
pub use settings::Settings;
pub use widerow::{Cursor, Page, Version};

/// Every table of the domain.
pub fn schema() -> Result<widerow::Schema, widerow::Error> {
    let schema = widerow::Schema::new();
    let schema = claims::tables(schema);
    let schema = catalog::tables(schema);
    let schema = accounts::tables(schema);
    let schema = carts::tables(schema);
    let schema = orders::tables(schema);
    let schema = inventory::tables(schema);
    let schema = analytics::tables(schema);
    let schema = sales::tables(schema);
    let schema = telemetry::tables(schema);
    let schema = hierarchy::tables(schema);
    let schema = events::tables(schema);
    let schema = graph::tables(schema);
    let schema = wallets::tables(schema);
    let schema = flows::run::tables(schema);
    let schema = keys::tables(schema);
    let schema = replies::tables(schema);
    let schema = secrets::tables(schema);
    Ok(schema.build()?)
}

/// Every access pattern of the domain by its module, as `explain` lists them.
pub const PATTERNS: &[(&str, &[AccessPattern])] = &[
    ("catalog", catalog::PATTERNS),
    ("accounts", accounts::PATTERNS),
    ("carts", carts::PATTERNS),
    ("orders", orders::PATTERNS),
    ("inventory", inventory::PATTERNS),
    ("analytics", analytics::PATTERNS),
    ("sales", sales::PATTERNS),
    ("telemetry", telemetry::PATTERNS),
    ("hierarchy", hierarchy::PATTERNS),
    ("events", events::PATTERNS),
    ("graph", graph::PATTERNS),
    ("wallets", wallets::PATTERNS),
    ("flows", flows::run::PATTERNS),
    ("claims", claims::PATTERNS),
    ("keys", keys::PATTERNS),
    ("replies", replies::PATTERNS),
    ("secrets", secrets::PATTERNS),
];
