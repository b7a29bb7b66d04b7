//! A product as a form has it, there and back.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Currency,
    catalog::{NewProduct, Product, ProductChange, ProductStatus},
    id::{CategoryId, ProductId},
};
use rust_decimal::Decimal;

use super::forms::{self, Wrong};
use crate::{http::Problem, web::Fields};

pub const STATUSES: [ProductStatus; 3] = [ProductStatus::Draft, ProductStatus::Active, ProductStatus::Archived];

/// What an editor says of a product.
pub struct Said {
    name: String,
    slug: Option<String>,
    description: Option<String>,
    category_id: CategoryId,
    brand: Option<String>,
    price: Decimal,
    compare_at_price: Option<Decimal>,
    currency: Currency,
    sku: Option<String>,
    weight_grams: Option<i32>,
    dimensions: BTreeMap<String, i32>,
    image_urls: Vec<String>,
    thumbnail_url: Option<String>,
    attributes: BTreeMap<String, String>,
    tags: BTreeSet<String>,
    status: ProductStatus,
}

/// Lines of which each is one thing; empty ones are none.
fn each_line(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}

/// Rows of a name and a value. A row without a name is none, unless it has a value.
fn pairs(fields: &Fields, names: &str, values: &str, about: &str) -> Result<BTreeMap<String, String>, Problem> {
    let mut pairs = BTreeMap::new();
    for (name, value) in fields.all(names).zip(fields.all(values)) {
        let (name, value) = (name.trim(), forms::lines(value.trim()));
        match (name.is_empty(), value.is_empty()) {
            (true, true) => {}
            (true, false) => {
                return Err(Problem::field("invalid", format!("/{about}"), format!("{value} has no name")));
            }
            (false, true) => {
                return Err(Problem::field("invalid", format!("/{about}"), format!("{name} says nothing")));
            }
            (false, false) => {
                if pairs.insert(name.to_owned(), value).is_some() {
                    return Err(Problem::field("invalid", format!("/{about}"), format!("{name} is there twice")));
                }
            }
        }
    }
    Ok(pairs)
}

fn millimetres(fields: &Fields) -> Result<BTreeMap<String, i32>, Problem> {
    let rows = pairs(fields, "dimension_name", "dimension_mm", "dimensions")?;
    let number = |(name, value): (String, String)| match value.parse() {
        Ok(number) => Ok((name, number)),
        Err(_) => Err(Problem::field("invalid", "/dimensions", format!("{name}: {value} is no whole number"))),
    };
    rows.into_iter().map(number).collect()
}

/// Reads the form; all that cannot be read is told at once.
pub fn read(fields: &Fields) -> Result<Said, Problem> {
    let mut wrong = Wrong::default();
    let status = STATUSES.into_iter().find(|status| status.as_str() == fields.text("status"));
    let status = wrong.note(status.ok_or_else(|| Problem::field("invalid", "/status", "choose one")));
    let category_id = wrong.note(fields.parse("category_id", "one of the categories"));
    let price = wrong.note(forms::decimal(fields, "price"));
    let compare_at_price = wrong.note(forms::optional_decimal(fields, "compare_at_price"));
    let weight_grams = wrong.note(match fields.optional("weight_grams") {
        Some(_) => fields.parse("weight_grams", "a whole number of grams").map(Some),
        None => Ok(None),
    });
    let dimensions = wrong.note(millimetres(fields));
    let attributes = wrong.note(pairs(fields, "attribute_name", "attribute_value", "attributes"));
    wrong.end()?;
    let missing = || Problem::internal("a form that was read has all its fields");
    Ok(Said {
        name: fields.text("name").trim().to_owned(),
        slug: fields.optional("slug"),
        description: Some(forms::lines(fields.text("description"))).filter(|text| !text.is_empty()),
        category_id: category_id.ok_or_else(missing)?,
        brand: fields.optional("brand"),
        price: price.ok_or_else(missing)?,
        compare_at_price: compare_at_price.ok_or_else(missing)?,
        currency: Currency::new(fields.text("currency").trim().to_ascii_uppercase()),
        sku: fields.optional("sku"),
        weight_grams: weight_grams.ok_or_else(missing)?,
        dimensions: dimensions.ok_or_else(missing)?,
        image_urls: each_line(fields.text("image_urls")).collect(),
        thumbnail_url: fields.optional("thumbnail_url"),
        attributes: attributes.ok_or_else(missing)?,
        tags: each_line(fields.text("tags")).collect(),
        status: status.ok_or_else(missing)?,
    })
}

impl Said {
    pub fn new_product(self, id: ProductId) -> NewProduct {
        NewProduct {
            product_id: Some(id),
            slug: self.slug,
            description: self.description,
            brand: self.brand,
            compare_at_price: self.compare_at_price,
            sku: self.sku,
            weight_grams: self.weight_grams,
            dimensions: self.dimensions,
            image_urls: self.image_urls,
            thumbnail_url: self.thumbnail_url,
            attributes: self.attributes,
            tags: self.tags,
            status: self.status,
            ..NewProduct::named(self.name, self.category_id, self.price, self.currency)
        }
    }

    pub fn change(self) -> ProductChange {
        ProductChange {
            name: Some(self.name),
            slug: self.slug,
            description: Some(self.description),
            category_id: Some(self.category_id),
            brand: Some(self.brand),
            price: Some(self.price),
            compare_at_price: Some(self.compare_at_price),
            currency: Some(self.currency),
            sku: Some(self.sku),
            weight_grams: Some(self.weight_grams),
            dimensions: Some(self.dimensions),
            image_urls: Some(self.image_urls),
            thumbnail_url: Some(self.thumbnail_url),
            attributes: Some(self.attributes),
            tags: Some(self.tags),
            status: Some(self.status),
        }
    }
}

fn plain(amount: Decimal, currency: &Currency) -> String {
    let mut amount = amount;
    amount.rescale(currency.decimals().unwrap_or(2).max(amount.normalize().scale()));
    amount.to_string()
}

/// What stands in the form of a product as it is.
pub fn filled(product: &Product) -> Fields {
    let own = |text: &Option<String>| text.clone().unwrap_or_default();
    let currency = &product.currency;
    let one = [
        ("name", product.name.clone()),
        ("slug", product.slug.clone()),
        ("description", own(&product.description)),
        ("category_id", product.category_id.to_string()),
        ("brand", own(&product.brand)),
        ("price", plain(product.price, currency)),
        ("compare_at_price", product.compare_at_price.map_or(String::new(), |price| plain(price, currency))),
        ("currency", currency.code().to_owned()),
        ("sku", own(&product.sku)),
        ("weight_grams", product.weight_grams.map_or(String::new(), |grams| grams.to_string())),
        ("image_urls", product.image_urls.join("\n")),
        ("thumbnail_url", own(&product.thumbnail_url)),
        ("tags", product.tags.iter().map(String::as_str).collect::<Vec<_>>().join("\n")),
        ("status", product.status.as_str().to_owned()),
        ("revision", product.revision.to_string()),
    ];
    let sides = product.dimensions.iter();
    let sides = sides.flat_map(|(name, mm)| [("dimension_name", name.clone()), ("dimension_mm", mm.to_string())]);
    let facts = product.attributes.iter();
    let facts = facts.flat_map(|(name, value)| [("attribute_name", name.clone()), ("attribute_value", value.clone())]);
    Fields::of(one.into_iter().chain(sides).chain(facts))
}

/// The fields of one value, with what they are called.
const COMPARED: [(&str, &str); 14] = [
    ("name", "name"),
    ("slug", "address"),
    ("description", "description"),
    ("category_id", "category"),
    ("brand", "brand"),
    ("price", "price"),
    ("compare_at_price", "old price"),
    ("currency", "currency"),
    ("sku", "SKU"),
    ("weight_grams", "weight"),
    ("image_urls", "pictures"),
    ("thumbnail_url", "small picture"),
    ("tags", "tags"),
    ("status", "status"),
];

/// In what the product as it is now differs from what was typed.
pub fn differences(product: &Product, typed: &Fields) -> Vec<&'static str> {
    let now = filled(product);
    let text = |fields: &Fields, name| forms::lines(fields.text(name).trim());
    let one = COMPARED.iter().filter(|(name, _)| text(&now, name) != text(typed, name)).map(|(_, called)| *called);
    let rows = |fields: &Fields, name: &'static str| {
        fields.all(name).map(|text| forms::lines(text.trim())).filter(|text| !text.is_empty()).collect::<Vec<_>>()
    };
    let many = [("dimension_mm", "measurements"), ("attribute_value", "details")];
    let many = many.into_iter().filter(|(name, _)| rows(&now, name) != rows(typed, name)).map(|(_, called)| called);
    one.chain(many).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(more: &[(&str, &str)]) -> Fields {
        let id = "01960000-0000-7000-8000-000000000000";
        let least =
            [("name", " Lamp "), ("category_id", id), ("price", "12.50"), ("currency", "eur"), ("status", "draft")];
        Fields::of(more.iter().copied().chain(least))
    }

    #[test]
    fn a_form_says_what_a_product_is() {
        let said = read(&typed(&[
            ("tags", "warm\r\n\r\n small "),
            ("attribute_name", "Material"),
            ("attribute_value", "Walnut,\r\noiled"),
            ("attribute_name", ""),
            ("attribute_value", ""),
            ("dimension_name", "height"),
            ("dimension_mm", "420"),
        ]));
        let change = said.ok().unwrap().change();
        assert_eq!((change.name.as_deref(), change.currency), (Some("Lamp"), Some(Currency::new("EUR"))));
        assert_eq!(change.tags, Some(BTreeSet::from(["small".into(), "warm".into()])));
        assert_eq!(change.attributes, Some(BTreeMap::from([("Material".into(), "Walnut,\noiled".into())])));
        assert_eq!(change.dimensions, Some(BTreeMap::from([("height".into(), 420)])));
        assert_eq!(change.slug, None);
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let bad =
            [("price", "cheap"), ("weight_grams", "heavy"), ("dimension_name", "height"), ("dimension_mm", "tall")];
        let problem = read(&typed(&bad)).err().unwrap();
        let pointers: Vec<_> = problem.errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(pointers, ["/price", "/weight_grams", "/dimensions"]);
        for attribute in [("", "Walnut"), ("Material", "")] {
            let rows = [("attribute_name", attribute.0), ("attribute_value", attribute.1)];
            assert_eq!(read(&typed(&rows)).err().unwrap().errors[0].pointer, "/attributes");
        }
    }
}
