//! What reads and writes through several modules. Each step can be made again, so that a flow that was stopped is finished by
//! the same call, or, where its state is kept (`run`), by whoever looks for flows that are due.

pub mod checkout;
mod error;
pub mod fulfilment;
pub mod import;
pub mod person;
pub mod reversal;
pub mod run;
pub mod sale_records;
pub mod sales;
pub mod shopping;
pub mod stock;
pub mod transfer;

pub use error::{Error, Result};
