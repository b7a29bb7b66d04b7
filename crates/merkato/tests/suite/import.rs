//! Catalogs from elsewhere. The real ones are read where they lie beside the project; without them the run says so.

use std::{
    fs::File,
    io::Cursor,
    path::{Path, PathBuf},
};

use merkato::{
    Currency, Kind, PageRequest,
    catalog::{self, Product, ProductStatus, SortOrder},
    flows::import::{Error, Options, Report, import_products},
    id::ProductId,
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use crate::world::World;

widerow_testing::cases![a_source_imported_again_changes_nothing,];

fn options(source: &str, currency: &str) -> Options {
    Options::new(source, Currency::new(currency))
}

async fn import(world: &World, text: &str, options: Options) -> Report {
    let report = import_products(&world.ctx, Cursor::new(text.to_owned()), options, |_| {}).await;
    let report = report.expect("an import");
    balanced(&report);
    report
}

/// Every record is accounted for, every rejected one has a reason.
fn balanced(report: &Report) {
    let known = report.created + report.changed + report.unchanged + report.rejected_count() + report.folded;
    assert_eq!(report.read, known, "{report:?}");
    assert!(report.rejected.iter().all(|rejected| !rejected.reason.is_empty()));
}

async fn a_source_imported_again_changes_nothing(target: &Target) {
    if let Some(folder) = real("products-ikea") {
        if target.name == "embedded" {
            for (f, c) in [
                ("products-shopify-csv/apparel.csv", "USD"),
                ("products-shopify-csv/jewelery.csv", "USD"),
                ("products-shopify-csv/home-and-garden.csv", "USD"),
                ("products-dummyjson/products.json", "USD"),
                ("products-ikea/ikea.csv", "SAR"),
                ("products-amazon-toys/amazon_toys.csv", "GBP"),
            ] {
                let world = World::new(target);
                for _ in 0..2 {
                    let start = std::time::Instant::now();
                    let file = File::open(folder.parent().unwrap().join(f)).unwrap();
                    let report = import_products(&world.ctx, file, options(f, c), |_| {}).await.expect("report");
                    println!(
                        "{f}: read {} created {} changed {} unchanged {} folded {} rejected {} notes {} cats {} in {:?}",
                        report.read,
                        report.created,
                        report.changed,
                        report.unchanged,
                        report.folded,
                        report.rejected.len(),
                        report.notes.len(),
                        report.categories_created,
                        start.elapsed()
                    );
                    println!(
                        "{:?}\n{:?}",
                        report.rejected.iter().take(3).collect::<Vec<_>>(),
                        report.notes.iter().take(6).collect::<Vec<_>>()
                    );
                    balanced(&report);
                }
                let top = catalog::list_subcategories(&world.ctx, None, PageRequest::first(3)).await.unwrap();
                let entries = catalog::list_category(
                    &world.ctx,
                    top.rows[0].category_id,
                    SortOrder::NameAsc,
                    PageRequest::first(2),
                )
                .await
                .unwrap();
                for e in entries.rows {
                    println!("{:#?}", catalog::get_product(&world.ctx, e.product_id).await.unwrap());
                }
            }
        }
    }
}

/// A folder of real data: `shared/data` beside the project, or beside any folder above it.
fn real(name: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = here.ancestors().map(|folder| folder.join("shared/data").join(name)).find(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!("skipped: {name}, as there is no shared/data beside the project");
    }
    found
}
