//! The engine trait on a real Cassandra or ScyllaDB, without the layer above it: what the server does with the
//! statements. Runs when `MERKATO_TEST_CASSANDRA` has an address; says so when it has none.

#[path = "cassandra_engine/fixture.rs"]
mod fixture;
#[path = "cassandra_engine/outages.rs"]
mod outages;
#[path = "cassandra_engine/reads.rs"]
mod reads;
#[path = "cassandra_engine/schemas.rs"]
mod schemas;
#[path = "cassandra_engine/steps.rs"]
mod steps;
