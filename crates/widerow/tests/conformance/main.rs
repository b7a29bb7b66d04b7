//! The contract, each case written once, run on every engine.
//!
//! Embedded runs always; Cassandra and DynamoDB when `MERKATO_TEST_CASSANDRA` and `MERKATO_TEST_DYNAMODB` say where they are.
//! Cases of an engine that is not there are listed as ignored.

mod bad_input;
mod commits;
mod counters;
mod decisions;
mod derived;
mod expiry;
mod faults;
mod founding;
mod joint;
mod memory;
mod model;
mod order;
mod outbox;
mod rows;
mod scans;
mod schema;
mod shared;
mod slices;
mod stats;
mod tables;
mod world;

use widerow_testing::cases;

fn main() {
    widerow_testing::run(
        tables::schema,
        &[
            rows::CASES,
            slices::CASES,
            order::CASES,
            commits::CASES,
            decisions::CASES,
            derived::CASES,
            expiry::CASES,
            counters::CASES,
            bad_input::CASES,
            scans::CASES,
            schema::CASES,
            shared::CASES,
            outbox::CASES,
            founding::CASES,
            joint::CASES,
            memory::CASES,
            stats::CASES,
            faults::CASES,
            model::CASES,
        ],
    );
}
