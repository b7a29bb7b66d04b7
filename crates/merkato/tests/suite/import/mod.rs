//! Catalogs, orders and sales from elsewhere: small ones written for the case, and real ones.

pub mod behaviour;
pub mod events;
pub mod orders;
pub mod real;
pub mod real_orders;
pub mod real_sales;
pub mod transactions;
pub mod tree;

use std::io::{Read, Seek};

use merkato::{
    Currency,
    flows::import::{Companion, Options, OrderOptions, Report, import_orders, import_products},
};

use crate::world::World;

fn options(source: &str, currency: &str) -> Options {
    Options::new(source, Currency::new(currency))
}

/// Imports, and sees that every record is accounted for and every rejected one has a reason.
async fn import(world: &World, input: impl Read + Seek + Send + 'static, options: Options) -> Report {
    let report = import_products(&world.ctx, input, options, |_| {}).await.expect("an import");
    assert_eq!(report.read, known(&report), "{report:?}");
    assert!(report.rejected.iter().all(|rejected| !rejected.reason.is_empty()));
    report
}

/// Records of which the report says what became of them.
pub fn known(report: &Report) -> u64 {
    report.created + report.changed + report.unchanged + report.rejected_count() + report.folded
}

/// Imports orders, and sees that every line is accounted for, and every rejected one has a reason.
async fn orders_of<R: Read + Seek + Send + 'static>(
    world: &World,
    input: R,
    companions: Vec<Companion<R>>,
    options: OrderOptions,
) -> Report {
    let report = import_orders(&world.ctx, input, companions, options, |_| {}).await.expect("an import");
    assert_eq!(report.read, known(&report), "{report:?}");
    assert!(report.rejected.iter().all(|rejected| !rejected.reason.is_empty()));
    let sales = report.sales.as_ref().expect("sums");
    let lines = sales.standing.lines + sales.open.lines + sales.cancelled.lines + sales.rejected.lines;
    assert_eq!(report.read, lines, "{sales:?}");
    report
}
