//! What reads and writes through several modules. Each step can be made again, so that a flow that was stopped is finished by
//! the same call.

mod error;
pub mod import;
pub mod person;
pub mod shopping;
pub mod stock;

pub use error::{Error, Result};
