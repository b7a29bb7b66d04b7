//! Catalogs from elsewhere: small ones written for the case, and real ones.

pub mod behaviour;
pub mod real;

use std::io::{Read, Seek};

use merkato::{
    Currency,
    flows::import::{Options, Report, import_products},
};

use crate::world::World;

fn options(source: &str, currency: &str) -> Options {
    Options::new(source, Currency::new(currency))
}

/// Imports, and sees that every record is accounted for and every rejected one has a reason.
async fn import(world: &World, input: impl Read + Seek + Send + 'static, options: Options) -> Report {
    let report = import_products(&world.ctx, input, options, |_| {}).await.expect("an import");
    let known = report.created + report.changed + report.unchanged + report.rejected_count() + report.folded;
    assert_eq!(report.read, known, "{report:?}");
    assert!(report.rejected.iter().all(|rejected| !rejected.reason.is_empty()));
    report
}
