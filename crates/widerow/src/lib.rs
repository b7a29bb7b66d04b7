//! Wide-partition tables on three engines.

// The derive macros write `::widerow::…`, which is to hold in this crate too.
extern crate self as widerow;

pub mod cassandra;
pub mod codec;
pub mod commit;
pub mod derived;
pub mod dynamodb;
pub mod embedded;
pub mod engine;
pub mod error;
pub mod faulty;
pub mod key;
pub mod limits;
pub mod meter;
pub mod outbox;
pub mod row;
pub mod schema;
pub mod store;
pub mod time;
pub mod value;
pub use commit::{Commit, Committed, Conflict};
pub use derived::Derive;
pub use engine::{Engine, Operator, Version};
pub use error::{Error, Result};
pub use row::Row;
pub use schema::{Consistency, Schema};
pub use store::{Cursor, Database, Options, Page, Partition, Store};
pub use time::{Date, Timestamp};
pub use value::{Cell, Counter, Vector};
/// Declares a type that a column can hold.
///
/// ```
/// use widerow::{Cell, value::Value};
///
/// #[derive(Cell)]
/// struct Grams(i64);
/// #[derive(Cell)]
/// enum Size {
///     Small,
///     ExtraLarge,
/// }
/// assert_eq!(Grams(5).to_value(), Value::BigInt(5));
/// assert_eq!(Size::ExtraLarge.as_str(), "extra_large");
/// ```
///
/// An empty collection is stored as nothing, so an optional one would not come back as it was, under another name neither:
///
/// ```compile_fail,E0277
/// #[derive(widerow::Cell)]
/// struct Tags(Vec<String>);
/// #[derive(widerow::Cell)]
/// struct Article {
///     tags: Option<Tags>,
/// }
/// ```
pub use widerow_derive::Cell;
/// Declares a table.
///
/// ```
/// use widerow::{Cell, Row, time::Timestamp};
///
/// #[derive(Cell, Clone)]
/// struct SensorId(String);
///
/// /// What a sensor saw, newest first.
/// #[derive(Row, Clone)]
/// #[row(table = "readings", partition(sensor), clustering(at desc), ttl = "90d")]
/// struct Reading {
///     sensor: SensorId,
///     at: Timestamp,
///     degrees: f64,
/// }
/// assert_eq!(Reading::table().doc, "What a sensor saw, newest first.");
/// assert_eq!(Reading::DEGREES.name, "degrees");
/// ```
///
/// A key's columns must order alike on every engine, also behind another name:
///
/// ```compile_fail,E0277
/// # use widerow::{Cell, Row};
/// #[derive(Cell, Clone)]
/// struct Degrees(f64);
///
/// #[derive(Row, Clone)]
/// #[row(table = "readings", partition(sensor), clustering(degrees))]
/// struct Reading {
///     sensor: String,
///     degrees: Degrees,
/// }
/// ```
///
/// An optional column is no part of a key, because a key is never null:
///
/// ```compile_fail,E0277
/// # use widerow::Row;
/// #[derive(Row, Clone)]
/// #[row(table = "readings", partition(sensor))]
/// struct Reading {
///     sensor: Option<String>,
/// }
/// ```
pub use widerow_derive::Row;
