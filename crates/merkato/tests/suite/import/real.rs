//! Real public catalogs, in the folder that `MERKATO_TEST_DATA` names; without them the run says that it skipped them.
//! Nothing of any row is lost: each of its values is looked for where it should be.
//!
//! They are not of this project, and each has a licence of its own: `products-dummyjson/products.json` (Ovi/DummyJSON),
//! `products-shopify-csv/*.csv` (shopifypartners/product-csvs), `products-ikea/ikea.csv` (philipkrueck/ikea_analysis),
//! `products-amazon-toys/amazon_toys.csv` (antoine-cr/Products_SQL).

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
};

use merkato::{
    catalog::{self, Product},
    flows::import::Report,
    id::ProductId,
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow_testing::Target;

use super::{import, options};
use crate::world::World;

widerow_testing::cases![
    products_of_json_are_imported_without_loss,
    variants_and_pictures_of_shopify_are_imported_without_loss,
    furniture_in_several_categories_is_imported_without_loss,
    toys_without_a_price_are_listed_and_the_others_imported_without_loss,
];

/// A file of real data. One that should be there and is not is an error.
pub fn real(path: &str) -> Option<PathBuf> {
    let Some(folder) = widerow_testing::address("MERKATO_TEST_DATA") else {
        eprintln!("skipped: {path}, as MERKATO_TEST_DATA does not say where real data is");
        return None;
    };
    let file = Path::new(&folder).join(path);
    assert!(file.is_file(), "{} is not there", file.display());
    Some(file)
}

/// Thousands of products or orders are imported on the embedded engine only: the others do the same things, slower.
pub fn is_quick(target: &Target) -> bool {
    let quick = target.name == "embedded";
    if !quick {
        eprintln!("skipped: thousands of products or orders on {}, as the embedded engine has them", target.name);
    }
    quick
}

/// Imports a file twice: the second time changes nothing.
async fn import_twice(world: &World, file: &Path, source: &str, currency: &str) -> Report {
    let open = || File::open(file).expect("a file");
    let first = import(world, open(), options(source, currency)).await;
    let again = import(world, open(), options(source, currency)).await;
    assert_eq!((again.created, again.changed, again.categories_created), (0, 0, 0));
    assert_eq!(again.unchanged, first.created);
    assert_eq!((again.rejected, again.folded), (first.rejected.clone(), first.folded));
    first
}

type Row = HashMap<String, String>;

/// The rows of a table, by its columns.
fn rows(file: &Path, delimiter: u8) -> Vec<Row> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(file).expect("a table");
    let columns: Vec<String> =
        reader.headers().expect("a heading").iter().map(|name| name.replace('\u{feff}', "")).collect();
    let row = |row: csv::StringRecord| columns.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
    reader.records().map(|record| row(record.expect("a row"))).collect()
}

async fn imported(world: &World, source: &str, id: &str) -> Option<Product> {
    let namespace = Uuid::from_u128(0x6d65_726b_6174_4f70_8000_0000_0000_0001);
    let id = Uuid::new_v5(&namespace, format!("{source}\u{1f}{id}").as_bytes());
    catalog::find_product(&world.ctx, ProductId(id)).await.expect("a read")
}

/// Whether the text stands anywhere among what customers read.
fn shows(product: &Product, text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts = [Some(&product.name), product.description.as_ref(), product.brand.as_ref(), product.sku.as_ref()];
    let mut texts = texts.into_iter().flatten().chain(product.attributes.values()).chain(&product.tags);
    texts.any(|shown| shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&text))
        || product.category_name == text
        || product.image_urls.contains(&text.replace('\'', "%27"))
        || product.slug == text
}

fn decimal(text: &str) -> Decimal {
    text.replace(',', ".").parse().expect("a number")
}

async fn products_of_json_are_imported_without_loss(target: &Target) {
    let Some(file) = real("products-dummyjson/products.json") else { return };
    let world = World::new(target);
    let report = import_twice(&world, &file, "dummyjson", "USD").await;
    assert_eq!((report.read, report.created, report.rejected.len()), (194, 194, 0));
    assert_eq!(report.notes, []);
    let json: Vec<serde_json::Value> = serde_json::from_reader(File::open(file).expect("a file")).expect("JSON");
    for object in json {
        let product = imported(&world, "dummyjson", &object["id"].to_string()).await.expect("a product");
        assert_eq!(product.price, decimal(&object["price"].to_string()));
        assert_eq!(product.rating_average, Some(decimal(&object["rating"].to_string())));
        assert_eq!(product.created_at.to_string(), object["meta"]["createdAt"].as_str().expect("a time"));
        let thumbnail = object["thumbnail"].as_str().map(|url| url.replace('\'', "%27"));
        assert_eq!(product.thumbnail_url, thumbnail);
        assert_eq!(product.in_stock, object["stock"].as_i64().expect("a count") > 0);
        let taken = ["price", "rating", "thumbnail", "createdAt"];
        every_value(&object, &mut |name, text| {
            assert!(taken.contains(&name) || shows(&product, text), "{name}: {text} is lost in {product:?}");
        });
    }
}

fn every_value(json: &serde_json::Value, look: &mut dyn FnMut(&str, &str)) {
    fn walk(name: &str, json: &serde_json::Value, look: &mut dyn FnMut(&str, &str)) {
        match json {
            serde_json::Value::Object(object) => object.iter().for_each(|(name, value)| walk(name, value, look)),
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(name, item, look)),
            serde_json::Value::String(text) => look(name, text),
            // Whole sides are in millimetres, and `dimensions` only.
            serde_json::Value::Number(number) if !["width", "height", "depth"].contains(&name) => {
                look(name, &number.to_string());
            }
            _ => {}
        }
    }
    walk("", json, look);
}

async fn variants_and_pictures_of_shopify_are_imported_without_loss(target: &Target) {
    let files = [("apparel", 22, 20), ("jewelery", 41, 20), ("home-and-garden", 21, 20)];
    for (name, records, products) in files {
        let Some(file) = real(&format!("products-shopify-csv/{name}.csv")) else { return };
        let world = World::new(target);
        let report = import_twice(&world, &file, name, "USD").await;
        assert_eq!((report.read, report.created, report.folded), (records, products, records - products), "{name}");
        assert_eq!((report.rejected, report.notes), (vec![], vec![]));
        let rows = rows(&file, b',');
        for row in &rows {
            let product = imported(&world, name, &row["Handle"]).await.expect("a product");
            let prices =
                rows.iter().filter(|other| other["Handle"] == row["Handle"]).map(|other| &other["Variant Price"]);
            let lowest = prices.filter(|price| !price.is_empty()).map(|price| decimal(price)).min();
            assert_eq!(Some(product.price), lowest);
            for (column, text) in row.iter().filter(|(_, text)| !text.is_empty()) {
                let found = match column.as_str() {
                    "Variant Price" => decimal(text) == product.price || shows(&product, text),
                    "Variant Compare At Price" => {
                        Some(decimal(text)) == product.compare_at_price || shows(&product, text)
                    }
                    "Variant Grams" => {
                        product.weight_grams.is_none_or(|grams| text == "0" || grams.to_string() == *text)
                    }
                    "Tags" => text.split(", ").all(|tag| product.tags.contains(tag)),
                    "Body (HTML)" => without_tags(text).all(|part| shows(&product, part)),
                    "Option1 Name" => text == "Title" || product.attributes.contains_key(text),
                    "Option1 Value" => text == "Default Title" || shows(&product, text),
                    "Published" => (product.status == catalog::ProductStatus::Active).to_string() == *text,
                    "Image Position" => true,
                    _ => shows(&product, text),
                };
                assert!(found, "{column}: {text} is lost in {product:?}");
            }
        }
    }
}

/// The texts between tags.
fn without_tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text))
}

async fn furniture_in_several_categories_is_imported_without_loss(target: &Target) {
    let Some(file) = real("products-ikea/ikea.csv").filter(|_| is_quick(target)) else { return };
    let world = World::new(target);
    let report = import_twice(&world, &file, "ikea", "SAR").await;
    assert_eq!((report.read, report.created, report.folded, report.rejected.len()), (3694, 2962, 732, 0));
    assert_eq!(report.categories_created, 17);
    assert!(report.notes.iter().all(|note| note.text.contains("pack is not one amount")), "{:?}", report.notes);
    for row in rows(&file, b';') {
        let product = imported(&world, "ikea", &row["item_id"]).await.expect("a product");
        assert_eq!(product.price, decimal(&row["price"]));
        let old = row["old_price"].as_str();
        let compared = product.compare_at_price.map(|price| price.normalize().to_string());
        let read = compared.is_some_and(|price| old.replace("SR ", "").replace(',', "") == price);
        assert!(old == "No old price" || read || shows(&product, old), "{old} is lost in {product:?}");
        for side in ["depth", "height", "width"].into_iter().filter(|side| !row[*side].is_empty()) {
            assert_eq!(Decimal::from(product.dimensions[side]), decimal(&row[side]) * Decimal::TEN, "{product:?}");
        }
        for column in [
            "X1",
            "item_id",
            "name",
            "category",
            "sellable_online",
            "link",
            "other_colors",
            "short_description",
            "designer",
        ] {
            assert!(shows(&product, &row[column]), "{column}: {} is lost in {product:?}", row[column]);
        }
    }
}

async fn toys_without_a_price_are_listed_and_the_others_imported_without_loss(target: &Target) {
    let Some(file) = real("products-amazon-toys/amazon_toys.csv").filter(|_| is_quick(target)) else { return };
    let world = World::new(target);
    let report = import_twice(&world, &file, "amazon", "GBP").await;
    assert_eq!((report.read, report.created, report.folded, report.rejected.len()), (10_000, 8_565, 0, 1_435));
    assert!(report.rejected.iter().all(|rejected| rejected.reason == "it has no price"));
    assert_eq!(report.notes, []);
    for row in rows(&file, b';') {
        let Some(product) = imported(&world, "amazon", &row["uniq_id"]).await else {
            assert_eq!(row["price"], "");
            continue;
        };
        assert_eq!(product.price, decimal(&row["price"]));
        assert_eq!(product.rating_count.to_string(), row["number_of_reviews"]);
        assert_eq!(product.rating_average, Some(&row["average_rating"]).filter(|r| !r.is_empty()).map(|r| decimal(r)));
        let category = catalog::get_category(&world.ctx, product.category_id).await.expect("a category");
        let path = catalog::breadcrumbs(&world.ctx, &category).await.expect("a path");
        let path = path.iter().map(|category| category.name.as_str()).collect::<Vec<_>>().join(" > ");
        let given = Some(row["amazon_category_and_sub_category"].as_str()).filter(|given| !given.is_empty());
        assert_eq!(path.to_lowercase(), given.unwrap_or("Uncategorised").to_lowercase());
        // A character that lost its meaning on the way has it again.
        let name = row["product_name"].replace('\u{99}', "™");
        assert!(shows(&product, &name), "{name} is lost in {product:?}");
        for column in ["uniq_id", "manufacturer", "number_available_in_stock", "number_of_answered_questions"] {
            assert!(shows(&product, &row[column]), "{column}: {} is lost in {product:?}", row[column]);
        }
    }
}
