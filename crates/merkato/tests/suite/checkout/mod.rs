//! From a cart to an order, and back.

pub mod behaviour;
pub mod chaos;
pub mod credit;
pub mod kept;
pub mod shop;
pub mod stopped;
