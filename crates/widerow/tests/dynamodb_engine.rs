//! The DynamoDB engine against a real DynamoDB Local, through the engine trait alone.
//!
//! `MERKATO_TEST_DYNAMODB=http://127.0.0.1:8000` gives the address; without it every case says that it was skipped.

#[path = "dynamodb_engine/batches.rs"]
mod batches;
#[path = "dynamodb_engine/fixture.rs"]
mod fixture;
#[path = "dynamodb_engine/indexes.rs"]
mod indexes;
#[path = "dynamodb_engine/outages.rs"]
mod outages;
#[path = "dynamodb_engine/reads.rs"]
mod reads;
#[path = "dynamodb_engine/schemas.rs"]
mod schemas;
#[path = "dynamodb_engine/steps.rs"]
mod steps;
