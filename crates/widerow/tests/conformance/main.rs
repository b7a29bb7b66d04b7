//! The contract, each case written once, run on every engine.
//!
//! Embedded runs always; Cassandra and DynamoDB when `MERKATO_TEST_CASSANDRA` and `MERKATO_TEST_DYNAMODB` say where they are.
//! Cases of an engine that is not there are listed as ignored.

mod bad_input;
mod commits;
mod counters;
mod derived;
#[cfg(feature = "dynamodb")]
mod dynamo;
mod expiry;
mod faults;
mod model;
mod order;
mod outbox;
mod rows;
mod scans;
mod schema;
mod slices;
mod tables;
mod world;

use libtest_mimic::{Arguments, Trial};
use world::{RUNTIME, Target};

pub type Case = (&'static str, fn(&Target));

/// Names a list of async cases, each `async fn(&Target)`.
#[macro_export]
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub const CASES: &[$crate::Case] =
            &[$((concat!(module_path!(), "::", stringify!($name)), |target| $crate::world::RUNTIME.block_on($name(target)))),*];
    };
}

fn main() {
    let arguments = Arguments::from_args();
    let _ = &*RUNTIME;
    let cases = [
        rows::CASES,
        slices::CASES,
        order::CASES,
        commits::CASES,
        derived::CASES,
        expiry::CASES,
        counters::CASES,
        bad_input::CASES,
        scans::CASES,
        schema::CASES,
        outbox::CASES,
        faults::CASES,
        model::CASES,
    ];
    let mut trials = Vec::new();
    for (target, skipped) in Target::all() {
        for (name, case) in cases.iter().copied().flatten() {
            let target = target.clone();
            let name = format!("{}::{}", target.name, name.trim_start_matches("conformance::"));
            trials.push(
                Trial::test(name, move || {
                    case(&target);
                    Ok(())
                })
                .with_ignored_flag(skipped.is_some()),
            );
        }
        if let Some(reason) = skipped {
            eprintln!("skipped: every case on {}, as {reason}", target.name);
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    world::clean_up();
    conclusion.exit();
}
