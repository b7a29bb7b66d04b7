//! Ids of what is imported. They follow from the source's name and its own ids, the same for ever, so that what was imported
//! once is found again.

use uuid::Uuid;

use crate::id::{AggregateId, CategoryId, EventId, MeasurementId, NodeId, OrderId, ProductId, SensorId, UserId};

const PRODUCTS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f70_8000_0000_0000_0001);
const CATEGORIES: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f63_8000_0000_0000_0001);
const SENSORS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f73_8000_0000_0000_0001);
const MEASUREMENTS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f6e_8000_0000_0000_0001);
const ORDERS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f6f_8000_0000_0000_0001);
const USERS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f75_8000_0000_0000_0001);
const TRANSACTIONS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f78_8000_0000_0000_0001);
const NODES: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f74_8000_0000_0000_0001);
const AGGREGATES: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f61_8000_0000_0000_0001);
const EVENTS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f65_8000_0000_0000_0001);
const PEOPLE: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f75_8000_0000_0000_0001);

/// Somebody of a graph.
pub(super) fn person(source: &str, id: &str) -> UserId {
    UserId(name(&PEOPLE, &[source, id]))
}

/// The same in a catalog and in the orders of one source.
pub(super) fn product(source: &str, id: &str) -> ProductId {
    ProductId(name(&PRODUCTS, &[source, id]))
}

pub(super) fn order(source: &str, id: &str) -> OrderId {
    OrderId(name(&ORDERS, &[source, id]))
}

pub(super) fn sensor(source: &str, id: &str) -> SensorId {
    SensorId(name(&SENSORS, &[source, id]))
}

pub(super) fn measurement(sensor: SensorId, id: &str) -> MeasurementId {
    MeasurementId(name(&MEASUREMENTS, &[sensor.to_string().as_str(), id]))
}

pub(super) fn aggregate(source: &str, case: &str) -> AggregateId {
    AggregateId(name(&AGGREGATES, &[source, case]))
}

pub(super) fn event(aggregate: AggregateId, id: &str) -> EventId {
    EventId(name(&EVENTS, &[aggregate.to_string().as_str(), id]))
}

/// Whoever has an account of a source.
pub fn user(source: &str, account: &str) -> UserId {
    UserId(name(&USERS, &[source, account]))
}

/// The operation of a wallet.
pub(super) fn transaction(source: &str, id: &str) -> Uuid {
    name(&TRANSACTIONS, &[source, id])
}

/// By the source's own id, or by the names from the top where it has none.
pub(super) fn node(source: &str, tree: &str, id: &[impl AsRef<str>]) -> NodeId {
    let parts: Vec<&str> = [source, tree].into_iter().chain(id.iter().map(AsRef::as_ref)).collect();
    NodeId(name(&NODES, &parts))
}

/// By its place in the tree, whichever source has it: folded names from the root.
pub(super) fn category(path: &[String]) -> CategoryId {
    CategoryId(name(&CATEGORIES, path))
}

fn name(kind: &Uuid, parts: &[impl AsRef<str>]) -> Uuid {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    Uuid::new_v5(kind, parts.join("\u{1f}").as_bytes())
}
