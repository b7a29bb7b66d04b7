//! Wide-partition tables on three engines.

// The derive macros write `::widerow::…`, which is to hold in this crate too.
extern crate self as widerow;

pub mod codec;
pub mod commit;
pub mod derived;
pub mod engine;
pub mod error;
pub mod key;
pub mod limits;
pub mod meter;
pub mod outbox;
pub mod row;
pub mod schema;
pub mod time;
pub mod value;
pub use error::{Error, Result};
pub use row::Row;
pub use value::Cell;
pub use widerow_derive::{Cell, Row};
