//! What an import does to a shop.

use std::io::Cursor;

use merkato::{
    Currency, Kind, PageRequest,
    catalog::{self, Category, NewCategory, NewProduct, Product, ProductChange, ProductStatus, SortOrder},
    flows::import::{Error, Options, Rejected, import_products},
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{import, options};
use crate::world::World;

widerow_testing::cases![
    a_source_imported_again_changes_nothing,
    a_changed_source_changes_what_it_says_and_nothing_else,
    bad_rows_are_listed_with_reasons_and_the_others_imported,
    paths_become_a_tree_that_the_shop_shares,
    a_category_that_was_renamed_is_found_again,
    two_imports_at_once_make_each_product_once,
    a_source_that_cannot_be_read_leaves_nothing_behind,
    a_table_without_a_price_is_refused_by_its_columns,
    bad_options_are_refused,
    a_slug_that_another_has_is_made_anew_and_told,
    progress_is_told_and_never_shrinks,
];

const TOYS: &str = "id;name;category;price;colour\n\
                    1;Train;Toys > Trains;9,99;red\n\
                    2;Rail;Toys > Trains;3,50;\n\
                    3;Ball;Toys;1,00;blue\n\
                    3;Ball;Sports;1,00;blue\n";

fn toys() -> Options {
    options("toys", "EUR")
}

/// The products of a source whose names are their addresses.
async fn product(world: &World, slug: &str) -> Product {
    catalog::get_product_by_slug(&world.ctx, slug).await.expect("a product")
}

async fn category(world: &World, slug: &str) -> Category {
    catalog::find_category_by_slug(&world.ctx, slug).await.expect("a read").expect("a category")
}

async fn a_source_imported_again_changes_nothing(target: &Target) {
    let world = World::new(target);
    let first = import(&world, Cursor::new(TOYS), toys()).await;
    assert_eq!((first.read, first.created, first.folded, first.categories_created), (4, 3, 1, 2));
    let before = product(&world, "train").await;
    let again = import(&world, Cursor::new(TOYS), toys()).await;
    assert_eq!((again.read, again.unchanged, again.folded, again.categories_created), (4, 3, 1, 0));
    assert_eq!(product(&world, "train").await, before);
    let ball = product(&world, "ball").await;
    assert_eq!((ball.price, ball.tags), (Decimal::ONE, ["Sports".to_owned()].into()));
    // Under another name it is another source.
    assert_eq!(import(&world, Cursor::new(TOYS), options("others", "EUR")).await.created, 3);
}

async fn a_changed_source_changes_what_it_says_and_nothing_else(target: &Target) {
    let world = World::new(target);
    import(&world, Cursor::new(TOYS), toys()).await;
    let train = product(&world, "train").await;
    let edit = ProductChange {
        slug: Some("the-train".into()),
        status: Some(ProductStatus::Archived),
        ..ProductChange::default()
    };
    catalog::change_product(&world.ctx, train.product_id, None, edit).await.expect("edited");
    catalog::set_in_stock(&world.ctx, train.product_id, false).await.expect("noted");
    let report = import(&world, Cursor::new(TOYS.replace("9,99", "8,99")), toys()).await;
    assert_eq!((report.changed, report.unchanged), (1, 2));
    let train = catalog::get_product(&world.ctx, train.product_id).await.expect("a product");
    assert_eq!(train.price, Decimal::new(899, 2));
    assert_eq!((train.slug.as_str(), train.status, train.in_stock), ("the-train", ProductStatus::Archived, false));
    assert_eq!(import(&world, Cursor::new(TOYS.replace("9,99", "8,99")), toys()).await.unchanged, 3);
}

async fn bad_rows_are_listed_with_reasons_and_the_others_imported(target: &Target) {
    let world = World::new(target);
    let source = "id,name,price\r\n\
                  1,Good,5\r\n\
                  2,No price,\r\n\
                  ,No id,5\r\n\
                  4,Too fine,5.999\r\n\
                  5,Too few\r\n\
                  6,In pounds,£5\r\n\
                  7,-,1e999\r\n\
                  8,Also good,\"1,195\"\r\n";
    let report = import(&world, Cursor::new(source), options("rows", "EUR")).await;
    assert_eq!((report.read, report.created), (8, 2));
    let reasons: Vec<(u64, Option<u64>, Option<&str>, &str)> = report
        .rejected
        .iter()
        .map(|Rejected { record, line, id, reason }| (*record, *line, id.as_deref(), reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            (2, Some(3), Some("2"), "it has no price"),
            (3, Some(4), None, "it has no id"),
            (4, Some(5), Some("4"), "5.999 is not one amount, or may be read in two ways"),
            (5, Some(6), None, "it has 2 fields, the heading has 3"),
            (6, Some(7), Some("6"), "£5 is in GBP, not in EUR"),
            (7, Some(8), Some("7"), "1e999 is not one amount, or may be read in two ways"),
        ]
    );
    assert_eq!(product(&world, "also-good").await.price, Decimal::from(1195));
    // What the catalog itself refuses is listed in the same way.
    let json = r#"[{"id": 1, "name": "Fine", "price": 5.999}, {"id": 2, "name": "Dear", "price": 99999999999}, 7]"#;
    let report = import(&world, Cursor::new(json), options("json", "EUR")).await;
    assert_eq!((report.read, report.rejected.len()), (3, 3));
    assert_eq!(report.rejected[0].reason, "price: EUR has 2 decimals");
    assert_eq!(report.rejected[2].reason, "it is not an object");
}

async fn paths_become_a_tree_that_the_shop_shares(target: &Target) {
    let world = World::new(target);
    let own = NewCategory { category_id: None, name: "Toys".into(), slug: None, parent_id: None };
    let own = catalog::create_category(&world.ctx, own).await.expect("a category");
    let source = "id,name,price,category\n1,a,5,toys > Sets\n2,b,5,Garden > Sets > Small\n3,c,5,\n";
    let report = import(&world, Cursor::new(source), options("paths", "EUR")).await;
    assert_eq!((report.created, report.categories_created), (3, 5));
    let a = product(&world, "a").await;
    assert_eq!((a.category_name.as_str(), a.category_path.as_slice()), ("Sets", [own.category_id].as_slice()));
    let b = product(&world, "b").await;
    assert_eq!((b.category_name.as_str(), b.category_path.len()), ("Small", 2));
    assert_eq!(product(&world, "c").await.category_name, "Uncategorised");
    // Two have one name and addresses of their own; each shows its products, and those below it.
    let garden = category(&world, "garden").await;
    let page = PageRequest::first(10);
    let below = catalog::list_subcategories(&world.ctx, Some(garden.category_id), page.clone()).await.expect("a page");
    assert_eq!(below.rows.len(), 1);
    assert_eq!(below.rows[0].name, "Sets");
    assert_ne!(below.rows[0].category_id, a.category_id);
    assert_ne!(below.rows[0].slug, catalog::get_category(&world.ctx, a.category_id).await.expect("one").slug);
    let shown =
        catalog::list_category(&world.ctx, garden.category_id, SortOrder::PriceAsc, page).await.expect("a page");
    assert_eq!(shown.rows.len(), 1);
}

async fn a_category_that_was_renamed_is_found_again(target: &Target) {
    let world = World::new(target);
    import(&world, Cursor::new(TOYS), toys()).await;
    let trains = category(&world, "trains").await;
    let change = catalog::CategoryChange { name: Some("Railways".into()), slug: None };
    catalog::change_category(&world.ctx, trains.category_id, None, change).await.expect("renamed");
    let again = import(&world, Cursor::new(TOYS), toys()).await;
    assert_eq!((again.unchanged, again.categories_created), (3, 0));
    assert_eq!(product(&world, "train").await.category_name, "Railways");
}

async fn two_imports_at_once_make_each_product_once(target: &Target) {
    let world = World::new(target);
    let rows: String = (0..30).map(|i| format!("{i},Thing {i},5,Level {} > Sub {}\n", i % 3, i % 2)).collect();
    let source = format!("id,name,price,category\n{rows}");
    let (a, b) = futures::join!(
        import(&world, Cursor::new(source.clone()), options("twice", "EUR")),
        import(&world, Cursor::new(source.clone()), options("twice", "EUR")),
    );
    assert_eq!(a.created + b.created, 30, "{a:?} {b:?}");
    assert_eq!(a.unchanged + b.unchanged, 30);
    assert_eq!(a.categories_created + b.categories_created, 9);
    let again = import(&world, Cursor::new(source), options("twice", "EUR")).await;
    assert_eq!((again.unchanged, again.categories_created), (30, 0));
}

async fn a_source_that_cannot_be_read_leaves_nothing_behind(target: &Target) {
    let world = World::new(target);
    let broken = r#"[{"id": 1, "name": "Lamp", "price": 5, "category": "Home"}, {"id": 2, "#;
    let error = import_products(&world.ctx, Cursor::new(broken), toys(), |_| {}).await.expect_err("refused");
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert_eq!((error.code(), error.kind()), ("source_unreadable", Kind::Invalid));
    let top = catalog::list_subcategories(&world.ctx, None, PageRequest::default()).await.expect("a page");
    assert_eq!(top.rows, []);
}

async fn a_table_without_a_price_is_refused_by_its_columns(target: &Target) {
    let world = World::new(target);
    let source = "Nr;Titel;Preis\n1;Lampe;5\n";
    let refuse = async |options: Options| {
        let error = import_products(&world.ctx, Cursor::new(source), options, |_| {}).await.expect_err("refused");
        error.to_string()
    };
    let missing = refuse(toys()).await;
    assert!(missing.contains("the price; there are: Nr, Titel, Preis"), "{missing}");
    let mapping = |text: &str| Options { mapping: Some(text.parse().expect("a mapping")), ..toys() };
    let unknown = refuse(mapping("id=Nr,name=Titel,price=Kosten")).await;
    assert!(unknown.contains("there is no column Kosten"), "{unknown}");
    assert_eq!(import(&world, Cursor::new(source), mapping("id=Nr,name=Titel,price=Preis")).await.created, 1);
}

async fn bad_options_are_refused(target: &Target) {
    let world = World::new(target);
    for bad in [options("", "EUR"), options("toys", "XYZ"), Options { category: String::new(), ..toys() }] {
        let error = import_products(&world.ctx, Cursor::new(TOYS), bad, |_| {}).await.expect_err("refused");
        assert!(matches!(error, Error::Invalid(_)), "{error}");
    }
}

async fn a_slug_that_another_has_is_made_anew_and_told(target: &Target) {
    let world = World::new(target);
    let home = NewCategory { category_id: None, name: "Home".into(), slug: None, parent_id: None };
    let home = catalog::create_category(&world.ctx, home).await.expect("a category");
    let lamp = NewProduct::named("Lamp", home.category_id, Decimal::ONE, Currency::new("EUR"));
    catalog::create_product(&world.ctx, lamp).await.expect("a product");
    let source = "Handle,Title,Type,Variant Price\nlamp,Lamp,Home,5\nchair,Chair,Home,6\n";
    let report = import(&world, Cursor::new(source), options("shopify", "EUR")).await;
    assert_eq!(report.created, 2);
    assert_eq!(report.notes.len(), 1);
    assert_eq!(report.notes[0].record, 1);
    assert!(report.notes[0].text.contains("slug lamp"), "{:?}", report.notes);
    assert_eq!(product(&world, "chair").await.price, Decimal::from(6));
    assert_eq!(import(&world, Cursor::new(source), options("shopify", "EUR")).await.unchanged, 2);
}

async fn progress_is_told_and_never_shrinks(target: &Target) {
    let world = World::new(target);
    let mut seen = Vec::new();
    let told = |report: &merkato::flows::import::Report| seen.push(report.read);
    let report = import_products(&world.ctx, Cursor::new(TOYS), toys(), told).await.expect("an import");
    assert!(seen.is_sorted() && seen.len() == 3, "{seen:?}");
    assert_eq!(seen.last(), Some(&report.read));
}
