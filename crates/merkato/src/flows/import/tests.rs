//! Reading, cleaning and mapping; nothing is written here.

use std::{
    io::{Cursor, Write as _},
    ops::ControlFlow,
};

use proptest::prelude::*;
use rust_decimal::Decimal;
use widerow::Timestamp;

use super::{
    amount, clean,
    csv::Dialect,
    error::Error,
    ids,
    mapping::{Mapping, Plan},
    products::{Field, Options, draft as products, draft::Draft, gather::Gathered},
    record::{Item, Place, Record, Value},
    source::{self, Format},
};
use crate::{Check, catalog::ProductStatus, limits, money::Currency};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a number")
}

fn items(bytes: impl Into<Vec<u8>>, format: Format) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    source::read(&mut Cursor::new(bytes.into()), format, &mut |item| {
        items.push(item);
        ControlFlow::Continue(())
    })?;
    Ok(items)
}

fn records(source: impl Into<Vec<u8>>) -> Vec<Record> {
    let items = items(source, Format::Auto).expect("it can be read").into_iter();
    let record = |item| match item {
        Item::Record(record) => Some(record),
        Item::Columns(_) => None,
        Item::Bad(place, reason) => panic!("{place:?}: {reason}"),
    };
    items.filter_map(record).collect()
}

fn options(currency: &str) -> Options {
    Options::new("test", Currency::new(currency))
}

/// The draft of a source whose records are all of one product.
fn draft_in(source: &str, options: &Options) -> Result<Draft, String> {
    let mapping = options.mapping.clone().unwrap_or_default();
    let gathered = Gathered::new(&records(source), &mapping);
    let id = gathered.first(Field::Id).expect("an id").first().text();
    products::draft(&gathered, &id, options, NOW)
}

fn draft(source: &str) -> Draft {
    draft_in(source, &options("EUR")).expect("a product")
}

// Amounts.

fn price(written: &str, currency: &str) -> Result<Option<Decimal>, String> {
    amount::price(&text(written), &Currency::new(currency))
}

#[test]
fn prices_are_read_as_people_write_them() {
    for (written, currency, expected) in [
        ("3.42", "GBP", "3.42"),
        ("£3.42", "GBP", "3.42"),
        ("265,0", "SAR", "265"),
        ("2600,5", "SAR", "2600.5"),
        ("SR 1,195", "SAR", "1195"),
        ("1,234,567.89", "USD", "1234567.89"),
        ("1.234.567,89 €", "EUR", "1234567.89"),
        ("1 234,50 zł", "PLN", "1234.5"),
        ("CHF 1'195.50", "CHF", "1195.5"),
        ("199,-", "SEK", "199"),
        ("199 kr", "SEK", "199"),
        ("$ 5", "CAD", "5"),
        ("USD 12", "USD", "12"),
        ("-3.50", "EUR", "-3.5"),
        (".99", "EUR", "0.99"),
        ("0.125", "KWD", "0.125"),
        ("1.195", "KWD", "1.195"),
        ("1,195", "JPY", "1195"),
        ("5", "EUR", "5"),
    ] {
        assert_eq!(price(written, currency), Ok(Some(decimal(expected))), "{written}");
    }
    assert_eq!(price("No old price", "SAR"), Ok(None));
    assert_eq!(price("n/a", "SAR"), Ok(None));
}

#[test]
fn a_price_that_may_be_another_is_refused() {
    for (written, currency) in [
        ("SR 50/4 pack", "SAR"),
        ("3.99 - 5.99", "EUR"),
        ("1.195", "EUR"),
        ("1,195", "KWD"),
        ("£3.42", "USD"),
        ("12 EUR", "USD"),
        ("1,23,45", "EUR"),
        ("1.2.3", "EUR"),
        ("12 34", "EUR"),
        ("5 pieces", "EUR"),
    ] {
        assert!(price(written, currency).is_err(), "{written}: {:?}", price(written, currency));
    }
    assert!(price("£3.42", "USD").expect_err("refused").contains("GBP"));
}

#[test]
fn a_number_of_a_program_has_a_point() {
    let number = |number: &str| amount::price(&Value::Number(number.into()), &Currency::new("EUR"));
    assert_eq!(number("1.195"), Ok(Some(decimal("1.195"))));
    assert_eq!(number("1e3"), Ok(Some(decimal("1000"))));
    assert!(number("1e400").is_err());
}

#[test]
fn counts_and_ratings_stand_at_the_beginning() {
    let leading = |written: &str, decimals| amount::leading(&text(written), decimals);
    assert_eq!(leading("5\u{a0}new", 0), Some(decimal("5")));
    assert_eq!(leading("1,040 reviews", 0), Some(decimal("1040")));
    assert_eq!(leading("4.9 out of 5 stars", 3), Some(decimal("4.9")));
    assert_eq!(leading("in stock", 0), None);
    assert_eq!(leading("", 0), None);
}

#[test]
fn sizes_are_whole_millimetres_and_grams() {
    let length = |written: &str, unit: Option<&str>| {
        let unit = unit.and_then(amount::Unit::length);
        amount::size(&text(written), unit, amount::Unit::length).map(|size| (size.whole, size.exact))
    };
    assert_eq!(length("51", Some("cm")), Some((510, true)));
    assert_eq!(length("15,14 cm", None), Some((151, false)));
    assert_eq!(length("2 in", Some("cm")), Some((51, false)));
    assert_eq!(length("1.5 m", None), Some((1500, true)));
    assert_eq!(length("5", None), None);
    assert_eq!(length("5 apples", Some("cm")), None);
    assert_eq!(length("1000000000 m", None), None);
}

proptest! {
    #[test]
    fn whatever_is_written_is_a_price_or_not_and_never_a_panic(written in "\\PC{0,20}|[0-9.,' £€-]{0,14}") {
        let _ = price(&written, "EUR");
        let _ = amount::leading(&text(&written), 0);
        let _ = amount::size(&text(&written), None, amount::Unit::weight);
    }

    #[test]
    fn a_price_is_read_in_every_dialect(cents in 0i64..9_999_999_999) {
        let expected = Decimal::new(cents, 2);
        let plain = format!("{expected:.2}");
        let (whole, fraction) = plain.split_once('.').expect("a point");
        let grouped = |separator: char| {
            let mut out = String::new();
            for (i, digit) in whole.chars().enumerate() {
                if i > 0 && (whole.len() - i) % 3 == 0 {
                    out.push(separator);
                }
                out.push(digit);
            }
            out
        };
        for written in [
            plain.clone(),
            format!("{whole},{fraction}"),
            format!("{}.{fraction}", grouped(',')),
            format!("{},{fraction}", grouped('.')),
            format!("€ {},{fraction}", grouped('\u{a0}')),
        ] {
            prop_assert_eq!(price(&written, "EUR"), Ok(Some(expected)), "{}", written);
        }
    }

    #[test]
    fn what_is_cleaned_is_plain(written in "(\\PC|[<>&;/!a-z\n\t\r \u{80}-\u{9f}]){0,60}") {
        let mut check = Check::new();
        let line = clean::line(&written);
        if !line.is_empty() {
            check.line("line", &line, 1..=10_000);
        }
        let lines = clean::lines(&written);
        check.lines("lines", &lines, 10_000);
        prop_assert_eq!(check.end(), Ok(()));
        prop_assert_eq!(clean::line(&line), line.clone());
    }
}

// Texts.

#[test]
fn html_becomes_lines_of_plain_text() {
    let html = "<p>Classic <b>clay</b> pot,\n blown&nbsp;by&#32;hand.</p><p>For &lt;small&gt; plants &amp; herbs</p>\
                <ul><li>frost&ndash;proof<li>heavy</ul><script>alert('<p>')</script><!-- a <b> note -->No&hellip; more<br/>End";
    assert_eq!(
        clean::lines(html),
        "Classic clay pot, blown by hand.\nFor < small> plants & herbs\n- frost–proof\n- heavy\nNo… more\nEnd"
    );
}

#[test]
fn plain_text_keeps_its_lines_and_loses_its_dirt() {
    assert_eq!(clean::lines("First\r\n\r\n\r\nSecond  line \u{7}\n"), "First\n\nSecond line");
    assert_eq!(clean::line("  Bar table,          140x80 cm\n"), "Bar table, 140x80 cm");
    assert_eq!(clean::line("3/4 Beetlejuice\u{99} Mask"), "3/4 Beetlejuice™ Mask");
    assert_eq!(clean::line("size < 5 & more; AT&T;"), "size < 5 & more; AT&T;");
    assert_eq!(clean::line("open <b and never closed"), "open < b and never closed");
}

#[test]
fn a_page_of_nothing_but_beginnings_is_read_in_no_time() {
    let start = std::time::Instant::now();
    for page in ["<a".repeat(200_000), "<!--".repeat(100_000), "<script></script>".repeat(20_000), "&".repeat(400_000)]
    {
        clean::lines(&page);
    }
    assert!(start.elapsed().as_secs() < 10);
}

// Tables.

#[test]
fn the_delimiter_is_the_one_that_the_heading_has_most_of() {
    let delimiter = |head: &[u8]| Dialect::of(head).delimiter;
    assert_eq!(delimiter(b"a;b,c;d\n1,2,3,4,5,6"), b';');
    assert_eq!(delimiter(b"a\tb\tc\n"), b'\t');
    assert_eq!(delimiter(b"\"a;b;c;d\",e,f\n"), b',');
    assert_eq!(delimiter(b"alone\n"), b',');
}

#[test]
fn a_table_is_read_with_its_mark_quotes_and_line_breaks() {
    let source = "\u{feff}id;name;price\r\n1;\"Lamp; \"\"large\"\"\nin brass\";\"265,0\"\r\n2;Chair;5\r\n";
    let records = records(source);
    assert_eq!(records.len(), 2);
    assert_eq!(*records[0].columns, ["id", "name", "price"]);
    assert_eq!(records[0].values[1], text("Lamp; \"large\"\nin brass"));
    assert_eq!(records[0].place, Place { record: 1, line: Some(2) });
    assert_eq!(records[1].place, Place { record: 2, line: Some(4) });
}

#[test]
fn rows_that_do_not_fit_are_told_and_the_others_read() {
    let found = items(b"id,name,price\n1,a,5\n2,b\n3,\xff,5\n4,d,5\n".to_vec(), Format::Auto).expect("a table");
    let bad = |item: &&Item| matches!(item, Item::Bad(..));
    assert_eq!(found.iter().filter(bad).count(), 2);
    assert_eq!(found[2], Item::Bad(Place { record: 2, line: Some(3) }, "it has 2 fields, the heading has 3".into()));
    assert_eq!(found[3], Item::Bad(Place { record: 3, line: Some(4) }, "it is not UTF-8".into()));
}

#[test]
fn columns_without_a_name_or_with_anothers_get_one() {
    let records = records("id,,name,name\n1,x,a,b\n");
    assert_eq!(*records[0].columns, ["id", "column 2", "name", "name 2"]);
}

#[test]
fn a_gzipped_source_is_unpacked() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"id\tname\tprice\n1\ta\t5\n").expect("packed");
    assert_eq!(records(packer.finish().expect("packed")).len(), 1);
}

#[test]
fn a_source_of_another_encoding_or_without_end_is_refused() {
    assert!(matches!(items(b"\xff\xfei\0d\0".to_vec(), Format::Auto), Err(Error::Unreadable { .. })));
    let mut endless = b"id,name,price\n1,\"".to_vec();
    endless.resize(limits::IMPORT_RECORD_BYTES_MAX * 2, b'x');
    assert!(matches!(items(endless, Format::Auto), Err(Error::Unreadable { .. })));
}

#[test]
fn an_empty_source_has_nothing() {
    assert_eq!(items("[]", Format::Auto).expect("read"), []);
    assert_eq!(items("", Format::NdJson).expect("read"), []);
}

// JSON.

#[test]
fn json_is_found_in_an_array_in_an_object_and_by_lines() {
    let object = r#"{"id": 1, "name": "a", "price": 5}"#;
    assert_eq!(records(format!("[{object}, {object}]")).len(), 2);
    assert_eq!(records(format!(r#"{{"total": 2, "products": [{object}, {object}], "skip": {{"x": [1]}}}}"#)).len(), 2);
    assert_eq!(records(format!("{object}\n\n{object}\n")).len(), 2);
    assert_eq!(records(format!("{object}\n{object}"))[1].place, Place { record: 2, line: Some(2) });
}

#[test]
fn what_is_nested_is_named_by_its_path() {
    let source = r#"[{"id": 1, "price": 9.99, "tags": ["a", "b"], "meta": {"code": {"bar": "12"}}, "none": null,
                      "reviews": [{"rating": 3, "by": "Ann"}, {"rating": 4, "by": "Bob"}], "sold": true}]"#;
    let record = &records(source)[0];
    let cell = |name: &str| record.columns.iter().position(|column| column == name).map(|i| record.values[i].clone());
    assert_eq!(cell("price"), Some(Value::Number("9.99".into())));
    assert_eq!(cell("tags"), Some(Value::List(vec!["a".into(), "b".into()])));
    assert_eq!(cell("meta.code.bar"), Some(text("12")));
    assert_eq!(cell("reviews"), Some(Value::Number("2".into())));
    assert_eq!(cell("reviews 2"), Some(text("by: Bob, rating: 4")));
    assert_eq!(cell("sold"), Some(text("true")));
    assert_eq!(cell("none"), Some(text("")));
}

#[test]
fn a_broken_document_is_refused_and_a_broken_line_is_told() {
    assert!(matches!(items(r#"[{"id": 1}, {"id""#, Format::Auto), Err(Error::Unreadable { .. })));
    assert!(matches!(items(r#"[{"id": 1}] and more"#, Format::Auto), Err(Error::Unreadable { .. })));
    let found = items("{\"id\": 1}\n{\"id\"\n[2]\n{\"id\": 3}\n", Format::NdJson).expect("lines");
    assert!(matches!(&found[1], Item::Bad(Place { record: 2, .. }, reason) if reason.contains("not JSON")));
    assert!(matches!(&found[2], Item::Bad(Place { record: 3, .. }, reason) if reason.contains("not an object")));
    assert!(matches!(&found[3], Item::Record(_)));
}

// Mapping.

fn plan(columns: &[&str], mapping: &str) -> Vec<Field> {
    let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let plan = Plan::new(&columns, &mapping.parse::<Mapping>().expect("a mapping"));
    plan.columns.into_iter().map(|(field, _)| field).collect()
}

#[test]
fn columns_are_known_by_their_names() {
    assert_eq!(
        plan(&["uniq_id", "product_name", "amazon_category_and_sub_category", "manufacturer", "Price", "colour"], ""),
        [Field::Id, Field::Name, Field::Category, Field::Brand, Field::Price, Field::Attribute]
    );
    assert_eq!(
        plan(&["id", "dimensions.width", "meta.createdAt", "image_url", "images", "sku"], ""),
        [Field::Id, Field::Width, Field::CreatedAt, Field::Images, Field::Images, Field::Sku]
    );
    // Only Shopify's columns of these names are what they are there.
    assert_eq!(plan(&["id", "Option1 Name", "Cost per item"], ""), [Field::Id, Field::Attribute, Field::Attribute]);
    assert_eq!(
        plan(&["Handle", "Title", "Variant Price", "Option1 Name", "Cost per item"], ""),
        [Field::Id, Field::Name, Field::Price, Field::OptionName(1), Field::Private]
    );
}

#[test]
fn whoever_imports_has_the_last_word() {
    assert_eq!(
        plan(&["Nr", "Titel", "title", "Preis", "Einkauf"], "id=Nr, name=Titel,price=Preis,-=Einkauf"),
        [Field::Id, Field::Name, Field::Attribute, Field::Price, Field::LeftOut]
    );
    for bad in ["colour=Farbe", "price", "price="] {
        assert!(bad.parse::<Mapping>().is_err(), "{bad}");
    }
}

// Products.

#[test]
fn a_row_of_semicolons_and_decimal_commas_is_a_product() {
    let draft = draft(
        "X1;item_id;name;category;price;old_price;sellable_online;link;short_description;designer;depth;height;width\n\
         0;90420332;FREKVENS;Bar furniture;265,0;€ 1,195;TRUE;https://example.com/p/1;Bar table,      51x51 cm;N. H.;;99;51\n",
    );
    let product = &draft.product;
    assert_eq!((product.name.as_str(), product.price), ("FREKVENS", decimal("265")));
    assert_eq!(product.compare_at_price, Some(decimal("1195")));
    assert_eq!(product.sku.as_deref(), Some("90420332"));
    assert_eq!(product.description.as_deref(), Some("Bar table, 51x51 cm"));
    assert_eq!(product.dimensions, [("height".to_owned(), 990), ("width".to_owned(), 510)].into());
    assert_eq!(draft.category, ["Bar furniture"]);
    let attributes: Vec<_> = product.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        attributes,
        [("X1", "0"), ("designer", "N. H."), ("link", "https://example.com/p/1"), ("sellable_online", "TRUE")]
    );
    assert_eq!((product.status, product.in_stock), (ProductStatus::Active, true));
    assert_eq!(draft.notes, [""; 0]);
}

#[test]
fn an_item_of_several_categories_is_one_product_with_tags() {
    let draft = draft(
        "X1,id,name,category,price\n0,7,Stool,Bar furniture,9\n31,7,Stool,Chairs > Stools,9\n40,7,Stool,Sale,9\n",
    );
    assert_eq!(draft.category, ["Bar furniture"]);
    assert_eq!(draft.product.tags, ["Chairs > Stools".to_owned(), "Sale".to_owned()].into());
    assert_eq!(draft.product.attributes, [("X1".to_owned(), "0, 31, 40".to_owned())].into());
    assert_eq!(draft.records, 3);
}

const SHOPIFY: &str = "Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,\
Option2 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,\
Variant Price,Variant Compare At Price,Image Src,Image Position,Image Alt Text,Variant Image,Variant Weight Unit,\
Cost per item\n";

#[test]
fn rows_of_variants_and_pictures_are_one_product() {
    let draft = draft(&format!(
        "{SHOPIFY}\
         clay-pot,Clay Pot,<p>For plants</p><p>Frost-proof</p>,Company 123,Outdoor,\"Pot, Plants\",true,Size,Regular,\
         Glaze,Blue,P-1,900,shopify,0,deny,15.99,20,https://example.com/2.jpg,2,Two,https://example.com/v.jpg,kg,3.10\n\
         clay-pot,,,,,,,,Small,,Red,P-2,400,shopify,3,deny,9.99,,//example.com/1.jpg,1,One,,kg,2.10\n\
         clay-pot,,,,,,,,,,,,,,,,,,https://example.com/3.jpg,3,,,,\n"
    ));
    let product = &draft.product;
    assert_eq!(product.slug.as_deref(), Some("clay-pot"));
    assert_eq!(product.description.as_deref(), Some("For plants\nFrost-proof"));
    assert_eq!((product.price, product.compare_at_price), (decimal("9.99"), None));
    assert_eq!((product.sku.as_deref(), product.weight_grams), (Some("P-2"), Some(400)));
    assert_eq!(
        product.image_urls,
        [
            "https://example.com/1.jpg",
            "https://example.com/2.jpg",
            "https://example.com/3.jpg",
            "https://example.com/v.jpg"
        ]
    );
    assert_eq!(product.tags, ["Plants".to_owned(), "Pot".to_owned()].into());
    assert_eq!(
        (product.brand.as_deref(), draft.category.as_slice()),
        (Some("Company 123"), ["Outdoor".to_owned()].as_slice())
    );
    assert!(product.in_stock && draft.decides_status);
    let kept = |name: &str| product.attributes.get(name).map(String::as_str);
    assert_eq!(kept("Size"), Some("Regular, Small"));
    assert_eq!(kept("Glaze"), Some("Blue, Red"));
    assert_eq!(kept("Variant Price"), Some("Regular / Blue: 15.99, Small / Red: 9.99"));
    assert_eq!(kept("Variant Compare At Price"), Some("Regular / Blue: 20"), "it is not that of the lowest price");
    assert_eq!(kept("Variant SKU"), Some("Regular / Blue: P-1, Small / Red: P-2"));
    assert_eq!(kept("Variant Inventory Qty"), Some("Regular / Blue: 0, Small / Red: 3"));
    assert_eq!(kept("Variant Weight Unit"), Some("kg"));
    assert_eq!(kept("Image Alt Text"), Some("Two, One"));
    assert!(draft.notes.iter().any(|note| note.contains("Cost per item")), "{:?}", draft.notes);
}

#[test]
fn a_product_without_options_has_none_of_shopifys_words() {
    let draft = draft(&format!("{SHOPIFY}lamp,Lamp,,,,,false,Title,Default Title,,,,0,,1,deny,50,,,,,,kg,\n"));
    assert_eq!(draft.product.status, ProductStatus::Draft);
    assert_eq!(draft.product.weight_grams, None);
    assert!(draft.product.in_stock, "nobody counts it");
    assert_eq!(draft.category, ["Uncategorised"]);
    assert!(
        !draft.product.attributes.values().any(|value| value.contains("Default")),
        "{:?}",
        draft.product.attributes
    );
}

#[test]
fn an_object_of_json_is_a_product() {
    let draft = draft(
        r#"[{"id": 1, "title": "Mascara", "description": "Long-lasting", "category": "beauty", "price": 9.99,
        "rating": 2.56, "stock": 0, "tags": ["a", "b"], "brand": "Essence", "sku": "BEA-1", "weight": 4,
        "dimensions": {"width": 15.14, "height": 13.0}, "reviews": [{"rating": 3}],
        "meta": {"createdAt": "2025-04-30T09:41:02.053Z"},
        "images": ["https://example.com/1.webp"], "thumbnail": "https://example.com/t.webp"}]"#,
    );
    let product = &draft.product;
    assert_eq!((product.name.as_str(), product.price), ("Mascara", decimal("9.99")));
    assert_eq!((product.rating_average, product.rating_count), (Some(decimal("2.56")), 1));
    assert_eq!(product.dimensions, [("height".to_owned(), 130), ("width".to_owned(), 151)].into());
    assert_eq!(product.created_at.map(|time| time.to_string()).as_deref(), Some("2025-04-30T09:41:02.053Z"));
    assert_eq!(product.image_urls, ["https://example.com/1.webp"]);
    assert_eq!(product.thumbnail_url.as_deref(), Some("https://example.com/t.webp"));
    assert!(!product.in_stock);
    let attributes: Vec<_> = product.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        attributes,
        [("dimensions.width", "15.14"), ("id", "1"), ("reviews 1", "rating: 3"), ("stock", "0"), ("weight", "4")]
    );
}

#[test]
fn what_every_product_has_is_asked_for() {
    let refused = |source: &str| draft_in(source, &options("EUR")).expect_err("no product");
    assert_eq!(refused("id,name,price\n1,Lamp,\n"), "it has no price");
    assert_eq!(refused("id,name,price\n1,<p> </p>,5\n"), "it has no name");
    assert_eq!(refused("id,name,price\n1,Lamp,ask\n"), "ask is no price");
    assert!(refused("id,name,price\n1,Lamp,£5\n").contains("GBP"));
}

#[test]
fn a_deep_path_stays_whole() {
    let levels: Vec<String> = (1..=12).map(|n| format!("L{n}")).collect();
    let draft = draft(&format!("id,name,price,category\n1,Lamp,5,{}\n", levels.join(" > ")));
    assert_eq!(draft.category.len(), limits::CATEGORY_DEPTH_MAX);
    assert_eq!(draft.category.last().map(String::as_str), Some("L10 > L11 > L12"));
}

#[test]
fn what_does_not_fit_stands_in_the_description_and_is_told() {
    let names: Vec<String> = (1..=60).map(|n| format!("a{n}")).collect();
    let values: Vec<String> = (1..=60).map(|n| format!("v{n}")).collect();
    let source = format!(
        "id,name,price,sku,description,long,{}\n1,Lamp,5,S,Brass,{},{}\n",
        names.join(","),
        "x".repeat(limits::ATTRIBUTE_BYTES_MAX + 1),
        values.join(",")
    );
    let draft = draft(&source);
    assert_eq!(draft.product.attributes.len(), limits::COLLECTION_ITEMS_MAX);
    let description = draft.product.description.expect("a description");
    assert!(description.starts_with("Brass\n\nlong: xxx"));
    let all: Vec<String> = draft.product.attributes.values().cloned().collect();
    for value in values {
        assert!(all.contains(&value) || description.contains(&format!(": {value}")), "{value} is lost");
    }
    // The long one, and eleven for which fifty places do not suffice: `id` has one of them.
    assert_eq!(draft.notes.len(), 12, "{:?}", draft.notes);
}

#[test]
fn too_much_even_for_the_description_is_told() {
    let source = format!("id,name,price,novel\n1,Lamp,5,{}\n", "x".repeat(limits::DESCRIPTION_BYTES_MAX));
    let draft = draft(&source);
    assert_eq!(draft.product.description, None);
    assert_eq!(draft.notes, ["novel is left out: there is no room for 50000 bytes"]);
}

#[test]
fn addresses_are_parted_and_others_kept_as_text() {
    let draft = draft(
        "id,name,price,images\n1,Lamp,5,\"https://e.com/a,b.jpg,https://e.com/c.jpg|//e.com/d.jpg ftp://e.com/x\"\n",
    );
    assert_eq!(draft.product.image_urls, ["https://e.com/a,b.jpg", "https://e.com/c.jpg", "https://e.com/d.jpg"]);
    assert_eq!(draft.product.attributes.get("images").map(String::as_str), Some("ftp://e.com/x"));
    assert_eq!(draft.notes.len(), 1);
}

#[test]
fn an_address_is_written_as_the_catalog_takes_it() {
    let draft = draft(r#"[{"id": 1, "name": "Lamp", "price": 5, "images": ["https://e.com/it's here.jpg"]}]"#);
    assert_eq!(draft.product.image_urls, ["https://e.com/it%27s%20here.jpg"]);
}

#[test]
fn ids_follow_from_the_source_and_its_own() {
    let id = ids::product("ikea", "7");
    assert_eq!(id, ids::product("ikea", "7"));
    assert_ne!(id, ids::product("ikea", "8"));
    assert_ne!(id, ids::product("amazon", "7"));
    // For ever: what was imported once must be found again.
    assert_eq!(id.to_string(), "54d661da-6f42-5206-9ca8-a756ad09e313");
}
