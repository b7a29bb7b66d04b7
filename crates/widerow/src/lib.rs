//! Wide-partition tables, declared once, with one meaning on three engines: a folder, Apache Cassandra / ScyllaDB, DynamoDB.
//!
//! It is for data that is read in known ways, very often, and must be exact. A table is a struct; its key says which rows lie
//! together and in which order. A commit is atomic over any tables, guarded on one partition, and may found others. A derived
//! table is a pure function of another, kept in the same commit. What every call costs is counted.
//!
//! It is not a query language: what no table was declared for is not answered. It has no transactions with guards on several
//! partitions, and it does not hide the partition from the programmer.
//!
//! One whole session:
//!
//! ```
//! use widerow::{Commit, Database, Derive, Error, Row, Schema, embedded::Embedded, store::VerifyOptions};
//!
//! /// One article, guarded: another table is derived from it.
//! #[derive(Row, Clone, Debug, PartialEq)]
//! #[row(table = "articles", partition(id), guarded)]
//! struct Article {
//!     id: i64,
//!     shelf: String,
//!     price: i64,
//! }
//!
//! /// The articles of a shelf, cheapest first.
//! #[derive(Row, Clone, Debug, PartialEq)]
//! #[row(table = "articles_by_shelf", partition(shelf), clustering(price, id))]
//! struct ByShelf {
//!     shelf: String,
//!     price: i64,
//!     id: i64,
//! }
//!
//! impl Derive<ByShelf> for Article {
//!     fn derive(&self) -> Vec<ByShelf> {
//!         vec![ByShelf { shelf: self.shelf.clone(), price: self.price, id: self.id }]
//!     }
//!     fn source(derived: &ByShelf) -> i64 {
//!         derived.id
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> widerow::Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let folder = folder.path();
//! let schema = Schema::new().derived::<Article, ByShelf>().build()?;
//! let database = Database::new(Embedded::open(folder, &schema)?, schema);
//! database.migrate().await?;
//! let store = database.tenant("default")?;
//!
//! // Only if there is no such article; its place on the shelf in the same commit.
//! let lamp = Article { id: 1, shelf: "lamps".into(), price: 40 };
//! store.commit(Commit::new().absent::<Article>(1).put(&lamp)).await?;
//! assert!(matches!(store.commit(Commit::new().absent::<Article>(1).put(&lamp)).await, Err(Error::Conflict(_))));
//!
//! // Read, change, commit if nothing has changed meanwhile; otherwise again. The shelf follows.
//! store.update::<Article, Error>(1, None, |old| Ok(old.map(|a| Article { price: 35, ..a }))).await?;
//! let page = store.slice::<ByShelf>("lamps".into()).limit(24).page().await?;
//! assert_eq!(page.rows, [ByShelf { shelf: "lamps".into(), price: 35, id: 1 }]);
//!
//! // Nothing has drifted.
//! assert_eq!(database.verify(VerifyOptions::default()).await?.differences, 0);
//! # Ok(())
//! # }
//! ```

// The derive macros write `::widerow::…`, which is to hold in this crate too.
extern crate self as widerow;

pub mod cassandra;
pub mod codec;
pub mod commit;
pub mod derived;
#[cfg(feature = "dynamodb")]
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
pub mod stats;
pub mod store;
pub mod time;
pub mod value;
pub use commit::{Commit, Committed, Conflict};
pub use derived::Derive;
pub use engine::{Engine, Operator, Version};
pub use error::{Error, Result};
pub use row::Row;
pub use schema::{Consistency, Schema};
pub use store::{Cursor, Database, Joined, Joint, Memory, Opened, Options, Page, Partition, Remembered, Store};
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
/// Rows end after a time (`ttl`), or at the instant that one of their columns says (`ends`), in derived tables too:
///
/// ```
/// # use widerow::{Row, time::Timestamp};
/// #[derive(Row, Clone)]
/// #[row(table = "coupons", partition(code), guarded, ends = "until")]
/// struct Coupon {
///     code: String,
///     until: Option<Timestamp>,
/// }
/// let until = Some(Timestamp::from_millis(1_900_000_000_000));
/// assert_eq!(Coupon::table().end_of(&Coupon { code: "SPRING".into(), until }.to_values()), until);
/// ```
///
/// A table that other tools share has their names, and on DynamoDB their keys and nothing but their attributes. Its rows are
/// put by `Store::put_many`, each for itself:
///
/// ```
/// # use widerow::{Row, time::Timestamp};
/// #[derive(Row, Clone)]
/// #[row(table = "sales", partition(product), clustering(sale), shared, ends = "ttl")]
/// struct Sale {
///     #[row(name = "productId", label = "PRODUCT")]
///     product: String,
///     #[row(name = "saleId", label = "SALE")]
///     sale: String,
///     ttl: Option<Timestamp>,
/// }
/// assert!(Sale::table().shared);
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
