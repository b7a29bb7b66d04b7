//! What columns are to products.

use crate::flows::import::{
    amount::Unit,
    mapping::{Fields, Named},
};

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

const FIELDS: &[Named<Field>] = &[
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
    (Field::Attribute, "attribute", &[]),
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

impl Fields for Field {
    const NAMED: &'static [Named<Self>] = FIELDS;
    const ID: Self = Field::Id;
    const NEEDED: &'static [Self] = &[Field::Id, Field::Name, Field::Price];
    const HOMELESS: Self = Field::Attribute;
    const LEFT_OUT: Self = Field::LeftOut;

    fn takes_many(self) -> bool {
        self == Field::Images
    }

    fn of_layout(columns: &[String]) -> Vec<Option<Self>> {
        let is_shopify = ["handle", "title", "variantprice"].iter().all(|name| columns.iter().any(|c| c == name));
        let known = |column: &String| SHOPIFY.iter().find(|(known, _)| known == column).map(|(_, field)| *field);
        columns.iter().map(|column| known(column).filter(|_| is_shopify)).collect()
    }

    /// A source's only word of categories, whatever else its name says.
    fn guess(columns: &[String], fields: &mut [Option<Self>]) {
        if fields.contains(&Some(Field::Category)) {
            return;
        }
        let mut named = (0..columns.len()).filter(|i| fields[*i].is_none() && columns[*i].contains("category"));
        if let (Some(i), None) = (named.next(), named.next()) {
            fields[i] = Some(Field::Category);
        }
    }

    fn unit(self, column: &str) -> Option<Unit> {
        let (start, units): (&str, fn(&str) -> Option<Unit>) = match self {
            Field::Weight => ("weight", Unit::weight),
            Field::Width => ("width", Unit::length),
            Field::Height => ("height", Unit::length),
            Field::Depth => ("depth", Unit::length),
            Field::Length => ("length", Unit::length),
            _ => return None,
        };
        let name = column.trim_start_matches("variant");
        units(name.strip_prefix(start).unwrap_or(name))
    }
}
