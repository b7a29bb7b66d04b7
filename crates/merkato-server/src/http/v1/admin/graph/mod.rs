//! Who knows whom: connections in a file of their own, what lies between two people, and what is known of one.

pub mod between;
pub mod connections;
pub mod people;

use merkato::graph::ConnectionType;
use rust_decimal::{Decimal, prelude::ToPrimitive as _};

use crate::http::{Problem, wire::mirror};

mirror! {
    /// What one is to another. `friend` is mutual; a `block` hides the two from each other.
    ConnectionTypeView = ConnectionType { Friend, Follow, Colleague, Block }
}

/// The type that an address names.
fn named(connection_type: &str) -> Result<ConnectionType, Problem> {
    Ok(ConnectionType::parse(connection_type)?)
}

/// 0 to 1, which a float has room for.
fn number(strength: Decimal) -> f64 {
    strength.to_f64().unwrap_or_default()
}
