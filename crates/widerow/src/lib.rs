//! Wide-partition tables on three engines.
pub mod codec;
pub mod commit;
pub mod derived;
pub mod dynamodb;
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
