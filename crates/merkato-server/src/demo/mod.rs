//! A small shop to look at, the same every time: made of a seed by `furniture`, written once by `write`.
//!
//! The generator knows no store and the writer knows no names, so that either can grow by itself. What is written has ids that
//! follow from the seed: a start that was interrupted is finished by the next one.

mod catalog;
mod furniture;
mod write;

pub use furniture::{Furniture, furnish};
pub use write::{is_furnished, write};

/// Who can log in. These stand in the demo's own folder and nowhere else.
pub const ADMIN: (&str, &str) = ("admin@demo.example", "a demo for the admin");
pub const CUSTOMER: (&str, &str) = ("ada@demo.example", "a demo for a customer");

/// The seed of the shop that everybody sees.
pub const SEED: u64 = 2026;
