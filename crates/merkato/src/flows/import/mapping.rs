//! Which column is what: as whoever imports says, otherwise by its name.

use std::{collections::BTreeMap, str::FromStr};

use super::amount::Unit;
use crate::check::{Check, Invalid};

/// What a column is to a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The source's own: what a product is known by when it is imported again.
    Id,
    Name,
    Slug,
    Description,
    Category,
    Brand,
    Price,
    CompareAtPrice,
    Currency,
    Sku,
    Weight,
    Width,
    Height,
    Depth,
    Length,
    Images,
    Thumbnail,
    Tags,
    Status,
    RatingAverage,
    RatingCount,
    InStock,
    CreatedAt,
    /// Shopify's: the name of the first, second, third option, and its value.
    OptionName(u8),
    OptionValue(u8),
    /// Shopify's: who counts the stock (nobody: it is always there), and whether it is sold without any.
    StockTracker,
    StockPolicy,
    /// Shopify's: where a picture stands among the others.
    ImagePosition,
    /// It has no home of its own, and is kept under its name.
    Attribute,
    /// It is not for customers.
    Private,
    /// It is not wanted.
    LeftOut,
}

/// The fields that can be named, and the names by which columns are known, the best first; folded to letters and digits.
const FIELDS: [(Field, &str, &[&str]); 23] = [
    (Field::Id, "id", &["id", "uniqid", "productid", "itemid", "handle", "asin", "articlenumber", "sku"]),
    (Field::Name, "name", &["name", "title", "productname", "producttitle", "itemname"]),
    (Field::Slug, "slug", &["slug", "handle", "urlkey"]),
    (
        Field::Description,
        "description",
        &["description", "bodyhtml", "longdescription", "productdescription", "body", "shortdescription"],
    ),
    (
        Field::Category,
        "category",
        &["category", "categories", "categorypath", "productcategory", "producttype", "type", "categoryname"],
    ),
    (Field::Brand, "brand", &["brand", "manufacturer", "vendor", "brandname", "maker"]),
    (Field::Price, "price", &["price", "variantprice", "currentprice", "unitprice", "sellingprice"]),
    (
        Field::CompareAtPrice,
        "compare_at_price",
        &["compareatprice", "variantcompareatprice", "oldprice", "listprice", "originalprice", "regularprice", "rrp"],
    ),
    (Field::Currency, "currency", &["currency", "currencycode", "pricecurrency"]),
    (Field::Sku, "sku", &["sku", "variantsku", "partnumber", "mpn"]),
    (
        Field::Weight,
        "weight",
        &["weight", "variantgrams", "weightgrams", "weightg", "weightkg", "weightlb", "weightoz"],
    ),
    (Field::Width, "width", &["width", "widthcm", "widthmm", "widthin"]),
    (Field::Height, "height", &["height", "heightcm", "heightmm", "heightin"]),
    (Field::Depth, "depth", &["depth", "depthcm", "depthmm", "depthin"]),
    (Field::Length, "length", &["length", "lengthcm", "lengthmm", "lengthin"]),
    (
        Field::Images,
        "images",
        &["images", "imageurls", "imagesrc", "image", "imageurl", "imagelink", "pictures", "variantimage"],
    ),
    (Field::Thumbnail, "thumbnail", &["thumbnail", "thumbnailurl"]),
    (Field::Tags, "tags", &["tags", "labels", "keywords"]),
    (Field::Status, "status", &["status", "published"]),
    (Field::RatingAverage, "rating_average", &["rating", "averagerating", "ratingaverage", "stars"]),
    (
        Field::RatingCount,
        "rating_count",
        &["ratingcount", "reviewcount", "numberofreviews", "reviews", "reviewscount", "numreviews"],
    ),
    (
        Field::InStock,
        "in_stock",
        &[
            "stock",
            "instock",
            "numberavailableinstock",
            "stockquantity",
            "variantinventoryqty",
            "quantity",
            "inventory",
        ],
    ),
    (Field::CreatedAt, "created_at", &["createdat", "metacreatedat", "created", "publishedat"]),
];

/// Further columns of Shopify's, which no other layout has.
const SHOPIFY: [(&str, Field); 10] = [
    ("option1name", Field::OptionName(1)),
    ("option1value", Field::OptionValue(1)),
    ("option2name", Field::OptionName(2)),
    ("option2value", Field::OptionValue(2)),
    ("option3name", Field::OptionName(3)),
    ("option3value", Field::OptionValue(3)),
    ("variantinventorytracker", Field::StockTracker),
    ("variantinventorypolicy", Field::StockPolicy),
    ("imageposition", Field::ImagePosition),
    // What the shop itself pays.
    ("costperitem", Field::Private),
];

/// Columns by name, as whoever imports has them: `name=Titel,price=Preis,-=Einkaufspreis`. A field may be given several
/// columns; `attribute` keeps one as an attribute, `-` leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    columns: BTreeMap<String, Field>,
}

impl Mapping {
    pub fn new() -> Self {
        Mapping::default()
    }

    pub fn with(mut self, field: Field, column: impl Into<String>) -> Self {
        self.columns.insert(column.into(), field);
        self
    }

    fn has(&self, field: Field) -> bool {
        self.columns.values().any(|mapped| *mapped == field)
    }
}

impl FromStr for Mapping {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let mut mapping = Mapping::new();
        let mut check = Check::new();
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let Some((name, column)) = pair.split_once('=') else {
                check.refuse("mapping", format!("{} is not field=column", pair.trim()));
                continue;
            };
            let (name, column) = (name.trim(), column.trim());
            match named(name) {
                Some(field) if !column.is_empty() => mapping = mapping.with(field, column),
                Some(_) => check.refuse("mapping", format!("{name} has no column")),
                None => {
                    let known = FIELDS.map(|(_, name, _)| name).join(", ");
                    check.refuse("mapping", format!("{name} is no field; there are {known}, attribute and -"));
                }
            }
        }
        check.end()?;
        Ok(mapping)
    }
}

fn named(name: &str) -> Option<Field> {
    match name {
        "attribute" => Some(Field::Attribute),
        "-" => Some(Field::LeftOut),
        name => FIELDS.iter().find(|(_, known, _)| *known == name).map(|(field, ..)| *field),
    }
}

/// What each column is, and in which unit it measures if its name says so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub columns: Vec<(Field, Option<Unit>)>,
}

impl Plan {
    pub(super) fn new(columns: &[String], mapping: &Mapping) -> Self {
        let folded: Vec<String> = columns.iter().map(|column| fold(column)).collect();
        let mut fields: Vec<Option<Field>> = columns.iter().map(|name| mapping.columns.get(name).copied()).collect();
        let is_shopify = ["handle", "title", "variantprice"].iter().all(|name| folded.iter().any(|f| f == name));
        if is_shopify {
            for (i, name) in folded.iter().enumerate() {
                let known = SHOPIFY.iter().find(|(known, _)| known == name).map(|(_, field)| *field);
                fields[i] = fields[i].or(known);
            }
        }
        for (field, _, names) in FIELDS {
            if mapping.has(field) {
                continue;
            }
            // By its whole name, or by the last part of a path: `width` in `dimensions.width`.
            let called = |i: usize, name: &str| {
                folded[i] == name || columns[i].rsplit_once('.').is_some_and(|(_, last)| fold(last) == name)
            };
            let free: Vec<usize> = (0..columns.len()).filter(|i| fields[*i].is_none()).collect();
            let mut found = names.iter().flat_map(|name| free.iter().copied().filter(|i| called(*i, name)));
            if field == Field::Images {
                found.for_each(|i| fields[i] = Some(field));
            } else if let Some(i) = found.next() {
                fields[i] = Some(field);
            }
        }
        // A source's only word of categories, whatever else its name says.
        if !fields.contains(&Some(Field::Category)) {
            let mut named = (0..columns.len()).filter(|i| fields[*i].is_none() && folded[*i].contains("category"));
            if let (Some(i), None) = (named.next(), named.next()) {
                fields[i] = Some(Field::Category);
            }
        }
        let unit = |i: usize, field: Field| {
            let (start, units): (&str, fn(&str) -> Option<Unit>) = match field {
                Field::Weight => ("weight", Unit::weight),
                Field::Width => ("width", Unit::length),
                Field::Height => ("height", Unit::length),
                Field::Depth => ("depth", Unit::length),
                Field::Length => ("length", Unit::length),
                _ => return None,
            };
            let name = folded[i].trim_start_matches("variant");
            units(name.strip_prefix(start).unwrap_or(name))
        };
        let field = |i: usize| fields[i].unwrap_or(Field::Attribute);
        Plan { columns: (0..columns.len()).map(|i| (field(i), unit(i, field(i)))).collect() }
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.columns.iter().any(|(known, _)| *known == field)
    }
}

/// Refuses a table that lacks what every product has.
pub(super) fn check_columns(columns: &[String], mapping: &Mapping, plan: &Plan) -> Result<(), Invalid> {
    let mut check = Check::new();
    let all = columns.join(", ");
    for column in mapping.columns.keys().filter(|column| !columns.contains(column)) {
        check.refuse("mapping", format!("there is no column {column}; there are: {all}"));
    }
    for (field, name) in [(Field::Id, "id"), (Field::Name, "name"), (Field::Price, "price")] {
        let found = plan.has(field);
        check.that(found, "mapping", format!("no column is known to be the {name}; there are: {all}"));
    }
    check.end()
}

/// The letters and digits of a name: "Compare At Price" and `compare_at_price` are one.
fn fold(name: &str) -> String {
    crate::text::fold(name).chars().filter(|c| c.is_alphanumeric()).collect()
}
