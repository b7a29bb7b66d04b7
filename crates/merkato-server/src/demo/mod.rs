//! A furnished shop to look at, the same every time: made of a seed by `furniture`, written once by `write`.
//!
//! The generator knows no store and the writer knows no names, so that either can grow by itself. What is written has ids that
//! follow from the seed: a start that was interrupted is finished by the next one.

mod brands;
mod catalog;
mod circles;
mod company;
mod furniture;
mod materials;
mod orders;
mod people;
mod prices;
mod products;
mod sensors;
mod write;

pub use company::COMPANY;
pub use furniture::{Furniture, Size, furnish};
pub use prices::{TRADERS, Trader};
pub use write::{Done, is_furnished, is_stocked, measure, stock_trader, write};

/// What the shop is called, and what it says of itself.
pub const SHOP_NAME: &str = "Alder & Finch";
pub const SHOP_LINE: &str = "Good things for the house, the garden and the road";

/// Who can log in. These stand in the demo's own folder and nowhere else.
pub const ADMIN: (&str, &str) = ("admin@demo.example", "a demo for the admin");
pub const CLERK: (&str, &str) = ("clerk@demo.example", "a demo for the clerk");
pub const CUSTOMER: (&str, &str) = ("ada@demo.example", "a demo for a customer");

/// The seed of the shop that everybody sees.
pub const SEED: u64 = 2026;

const DAY_SECONDS: i64 = 86_400;
