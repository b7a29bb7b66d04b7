//! A product of what was gathered about it. Pure: it reads no store and no clock.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    fields::Field,
    gather::{Column, Gathered},
    ops::Options,
    urls::urls,
};
use crate::{
    catalog::{NewProduct, ProductStatus},
    check::Check,
    flows::import::{
        amount::{self, Unit},
        categories::path,
        clean, ids,
        record::{Place, Value},
        time::{self, DateOrder},
    },
    id::CategoryId,
    limits,
    money::Currency,
};

/// A product that only lacks the id of its category.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub place: Place,
    pub source_id: String,
    pub records: usize,
    pub product: NewProduct,
    /// Names from the root.
    pub category: Vec<String>,
    /// Whether the source decides about it; otherwise it stays as the shop has it.
    pub decides_status: bool,
    pub notes: Vec<String>,
}

/// The product, or why there is none.
pub(in crate::flows::import) fn draft(
    gathered: &Gathered,
    source_id: &str,
    options: &Options,
    now: Timestamp,
) -> Result<Draft, String> {
    let mut making =
        Making { gathered, attributes: BTreeMap::new(), overflow: Vec::new(), notes: Vec::new(), cheapest: 0 };
    let name = making.line(Field::Name, limits::NAME_BYTES_MAX).ok_or("it has no name")?;
    let currency = match making.line(Field::Currency, limits::LINE_BYTES_MAX) {
        Some(code) => Currency::new(code.to_uppercase()),
        None => options.currency.clone(),
    };
    let price = making.price(&currency)?;
    let mut product = NewProduct {
        product_id: Some(ids::product(&options.source, source_id)),
        slug: making.slug(source_id),
        compare_at_price: making.compare_at_price(&currency),
        brand: making.line(Field::Brand, limits::LINE_BYTES_MAX),
        sku: making.sku(source_id),
        weight_grams: making.weight(),
        dimensions: making.dimensions(),
        image_urls: making.images(),
        thumbnail_url: making.thumbnail(),
        status: options.status,
        created_at: making.created_at(now),
        in_stock: making.in_stock(),
        ..NewProduct::named(name, CategoryId(Uuid::nil()), price, currency)
    };
    (product.rating_average, product.rating_count) = making.rating();
    let status = making.status();
    product.status = status.unwrap_or(options.status);
    let (category, further) = making.categories(options);
    product.tags = making.tags(further);
    making.options();
    for column in gathered.of(Field::Attribute) {
        making.keep_column(column);
    }
    for column in gathered.of(Field::Private) {
        making.note(format!("{} is left out: customers would see it", column.name));
    }
    let description = making.description();
    // Behind all others, as only now it is known what did not fit elsewhere.
    product.description = making.with_overflow(description);
    product.attributes = making.attributes;
    Ok(Draft {
        place: gathered.place,
        source_id: source_id.to_owned(),
        records: gathered.records,
        product,
        category,
        decides_status: status.is_some(),
        notes: making.notes,
    })
}

struct Making<'a> {
    gathered: &'a Gathered,
    attributes: BTreeMap<String, String>,
    /// What is no attribute for want of room: paragraphs of the description.
    overflow: Vec<(String, String)>,
    notes: Vec<String>,
    /// The record with the lowest price: of what differs by variant, the product shows this one's.
    cheapest: usize,
}

impl Making<'_> {
    /// The text of a field that has one line; where it does not fit, or records differ, all of it is kept as an attribute.
    fn line(&mut self, field: Field, bytes_max: usize) -> Option<String> {
        let column = self.gathered.first(field)?;
        self.keep_others(field);
        let text = clean::line(&column.of(self.cheapest).text());
        if column.differs() {
            self.keep_column(column);
        }
        if text.len() > bytes_max {
            self.note(format!("{} is too long for its place and is kept as an attribute", column.name));
            self.keep_column(column);
            return None;
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// Where several columns were given for a field that has one, the further ones are attributes.
    fn keep_others(&mut self, field: Field) {
        for column in self.gathered.of(field).skip(1) {
            self.keep_column(column);
        }
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    fn keep_column(&mut self, column: &Column) {
        let text = self.gathered.joined(column);
        self.keep(&column.name, &text);
    }

    /// As an attribute, where it fits; otherwise in the description.
    fn keep(&mut self, name: &str, text: &str) {
        let (name, text) = (clean::line(name), clean::lines(text));
        if text.is_empty() || self.attributes.get(&name).is_some_and(|kept| *kept == text) {
            return;
        }
        let fits = (1..=limits::LINE_BYTES_MAX).contains(&name.len())
            && text.len() <= limits::ATTRIBUTE_BYTES_MAX
            && self.attributes.len() < limits::COLLECTION_ITEMS_MAX
            && !self.attributes.contains_key(&name);
        if fits {
            self.attributes.insert(name, text);
        } else {
            self.overflow.push((name, text));
        }
    }

    fn price(&mut self, currency: &Currency) -> Result<Decimal, String> {
        let column = self.gathered.first(Field::Price).ok_or("it has no price")?;
        self.keep_others(Field::Price);
        let mut lowest: Option<(Decimal, usize)> = None;
        let mut problem = None;
        for (record, value) in &column.values {
            match amount::price(value, currency) {
                Ok(Some(price)) if lowest.is_none_or(|(low, _)| price < low) => lowest = Some((price, *record)),
                Ok(Some(_)) => {}
                Ok(None) => problem = Some(format!("{} is no price", value.text())),
                Err(reason) => problem = Some(reason),
            }
        }
        match (lowest, problem) {
            (Some((price, record)), problem) => {
                if let Some(problem) = problem {
                    self.note(format!("one of several prices was passed over: {problem}"));
                }
                self.cheapest = record;
                if column.differs() {
                    self.keep_column(column);
                }
                Ok(price)
            }
            (None, Some(problem)) => Err(problem),
            (None, None) => Err("it has no price".into()),
        }
    }

    fn compare_at_price(&mut self, currency: &Currency) -> Option<Decimal> {
        let column = self.gathered.first(Field::CompareAtPrice)?;
        self.keep_others(Field::CompareAtPrice);
        // That of the cheapest variant or none: another's says nothing about this price.
        let value = match self.gathered.labels[self.cheapest] {
            Some(_) => column.values.iter().find(|(record, _)| *record == self.cheapest).map(|(_, value)| value),
            None => Some(column.first()),
        };
        let read = value.map_or(Ok(None), |value| amount::price(value, currency));
        if let Err(reason) = &read {
            self.note(format!("{}: {reason}; it is kept as an attribute", column.name));
        }
        if value.is_none() || read.is_err() || column.differs() {
            self.keep_column(column);
        }
        read.ok().flatten()
    }

    /// Shopify's handle, or a column of that name; only if it is one.
    fn slug(&mut self, source_id: &str) -> Option<String> {
        let id = self.gathered.first(Field::Id).filter(|column| column.name.eq_ignore_ascii_case("handle"));
        let slug = match self.gathered.first(Field::Slug) {
            Some(column) => clean::line(&column.first().text()),
            None => id.map(|_| source_id.to_owned())?,
        };
        if good(|check| check.slug("slug", &slug)) {
            return Some(slug);
        }
        self.note(format!("{slug} is no slug; one is made of the name"));
        let column = self.gathered.first(Field::Slug).or(id)?;
        self.keep_column(column);
        None
    }

    /// Without one of its own, a product has the source's id here, where people look for it.
    fn sku(&mut self, source_id: &str) -> Option<String> {
        let id = self.gathered.first(Field::Id)?;
        let is_slug = id.name.eq_ignore_ascii_case("handle");
        let sku = self.line(Field::Sku, limits::LINE_BYTES_MAX);
        if sku.is_none() && !is_slug && source_id.len() <= limits::LINE_BYTES_MAX {
            return Some(source_id.to_owned());
        }
        if !is_slug {
            self.keep(&id.name, source_id);
        }
        sku
    }

    fn weight(&mut self) -> Option<i32> {
        let column = self.gathered.first(Field::Weight)?;
        self.keep_others(Field::Weight);
        let size = amount::size(column.of(self.cheapest), column.unit, Unit::weight);
        let size = size.filter(|size| (0..=limits::WEIGHT_GRAMS_MAX).contains(&size.whole));
        // A number without a unit is nobody's weight; one that was rounded is kept as it was.
        if size.is_none_or(|size| !size.exact) || column.differs() {
            self.keep_column(column);
        }
        // Nothing weighs nothing: it is how some programs say that they do not know.
        size.map(|size| size.whole).filter(|grams| *grams > 0)
    }

    fn dimensions(&mut self) -> BTreeMap<String, i32> {
        let sides =
            [(Field::Width, "width"), (Field::Height, "height"), (Field::Depth, "depth"), (Field::Length, "length")];
        let mut dimensions = BTreeMap::new();
        for (field, name) in sides {
            let Some(column) = self.gathered.first(field) else { continue };
            self.keep_others(field);
            let unit = column.unit.unwrap_or(Unit::CENTIMETRE);
            let size = amount::size(column.of(self.cheapest), Some(unit), Unit::length);
            let size = size.filter(|size| (0..=limits::DIMENSION_MAX).contains(&size.whole));
            if size.is_none_or(|size| !size.exact) || column.differs() {
                self.keep_column(column);
            }
            if let Some(size) = size {
                dimensions.insert(name.to_owned(), size.whole);
            }
        }
        dimensions
    }

    fn images(&mut self) -> Vec<String> {
        let position = |record: usize| {
            let column = self.gathered.first(Field::ImagePosition)?;
            let (_, value) = column.values.iter().find(|(i, _)| *i == record)?;
            amount::leading(value, 0)?.to_u32()
        };
        let mut found: Vec<(u32, String, String)> = Vec::new();
        for column in self.gathered.of(Field::Images) {
            for (record, value) in &column.values {
                // A variant's picture has no place of its own.
                let at = if column.name.contains("Variant") { None } else { position(*record) };
                for url in urls(value) {
                    found.push((at.unwrap_or(u32::MAX), column.name.clone(), url));
                }
            }
        }
        found.sort_by_key(|(position, ..)| *position);
        let mut images: Vec<String> = Vec::new();
        let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (_, column, url) in found {
            if images.contains(&url) {
                continue;
            }
            if images.len() < limits::COLLECTION_ITEMS_MAX && good(|check| check.url("image", &url)) {
                images.push(url);
            } else {
                others.entry(column).or_default().push(url);
            }
        }
        for (column, urls) in others {
            self.note(format!("{column}: {} are no addresses, or too many; they are kept as text", urls.len()));
            self.keep(&column, &urls.join("\n"));
        }
        images
    }

    fn thumbnail(&mut self) -> Option<String> {
        let column = self.gathered.first(Field::Thumbnail)?;
        self.keep_others(Field::Thumbnail);
        let url = urls(column.first()).into_iter().next()?;
        let is_url = good(|check| check.url("thumbnail", &url));
        if !is_url {
            self.note(format!("{} is no address and is kept as an attribute", column.name));
        }
        if !is_url || column.differs() {
            self.keep_column(column);
        }
        Some(url).filter(|_| is_url)
    }

    fn status(&mut self) -> Option<ProductStatus> {
        let column = self.gathered.first(Field::Status)?;
        let others: Vec<&Column> = self.gathered.of(Field::Status).skip(1).collect();
        others.into_iter().for_each(|column| self.keep_column(column));
        let status = match clean::line(&column.first().text()).to_lowercase().as_str() {
            "active" | "true" | "yes" | "1" | "published" => ProductStatus::Active,
            "draft" | "false" | "no" | "0" | "unpublished" => ProductStatus::Draft,
            "archived" => ProductStatus::Archived,
            other => {
                self.note(format!("{other} is no status; it is kept as an attribute"));
                self.keep_column(column);
                return None;
            }
        };
        Some(status)
    }

    /// The count itself is kept as an attribute: the catalog only knows whether there is any.
    fn in_stock(&mut self) -> bool {
        let tracked = self.gathered.first(Field::StockTracker);
        let policy = self.gathered.first(Field::StockPolicy);
        for field in [Field::InStock, Field::StockTracker, Field::StockPolicy] {
            let columns: Vec<&Column> = self.gathered.of(field).collect();
            columns.into_iter().for_each(|column| self.keep_column(column));
        }
        let untracked = tracked.is_none() && self.gathered.empty.contains(&Field::StockTracker);
        let without_end =
            policy.is_some_and(|column| column.values.iter().any(|(_, value)| value.text() == "continue"));
        match self.gathered.first(Field::InStock) {
            _ if untracked || without_end => true,
            Some(column) => column.values.iter().any(|(_, value)| has_any(value)),
            // A column that is empty says that there is none; without a column nobody says so.
            None => !self.gathered.empty.contains(&Field::InStock),
        }
    }

    fn rating(&mut self) -> (Option<Decimal>, i32) {
        let (average, count) = (self.gathered.first(Field::RatingAverage), self.gathered.first(Field::RatingCount));
        let within = |stars: &Decimal| (Decimal::ZERO..=Decimal::from(5)).contains(stars);
        let stars = average.and_then(|column| amount::leading(column.first(), 3)).filter(within);
        let ratings = count.and_then(|column| amount::leading(column.first(), 0)).and_then(|count| count.to_i32());
        let ratings = ratings.filter(|count| *count >= 0);
        for field in [Field::RatingAverage, Field::RatingCount] {
            self.keep_others(field);
        }
        for (column, read) in [(average, stars.is_some()), (count, ratings.is_some())] {
            if let Some(column) = column.filter(|column| !read || column.differs()) {
                self.keep_column(column);
            }
        }
        (stars, ratings.unwrap_or(0))
    }

    fn created_at(&mut self, now: Timestamp) -> Option<Timestamp> {
        let column = self.gathered.first(Field::CreatedAt)?;
        self.keep_others(Field::CreatedAt);
        let text = clean::line(&column.first().text());
        let parsed = time::read(&text, DateOrder::Unknown).ok();
        let known = parsed.filter(|time| (Timestamp::from_millis(0)..=now).contains(time));
        if known.is_none() {
            self.note(format!("{} is no time in the past and is kept as an attribute", column.name));
        }
        if known.is_none() || column.differs() {
            self.keep_column(column);
        }
        known
    }

    /// The first category is the product's; the others are tags.
    fn categories(&mut self, options: &Options) -> (Vec<String>, Vec<String>) {
        let mut paths: Vec<Vec<String>> = Vec::new();
        for column in self.gathered.of(Field::Category) {
            for (_, value) in &column.values {
                let texts = match value {
                    Value::List(items) => items.clone(),
                    value => vec![value.text()],
                };
                for path in texts.iter().map(|text| path(text)) {
                    if !path.is_empty() && !paths.contains(&path) {
                        paths.push(path);
                    }
                }
            }
        }
        let mut paths = paths.into_iter();
        let own = paths.next().unwrap_or_else(|| path(&options.category));
        (own, paths.map(|path| path.join(" > ")).collect())
    }

    fn tags(&mut self, further: Vec<String>) -> BTreeSet<String> {
        let columns: Vec<&Column> = self.gathered.of(Field::Tags).collect();
        let mut tags = BTreeSet::new();
        let mut others = Vec::new();
        let values = columns.iter().flat_map(|column| &column.values).flat_map(|(_, value)| match value {
            Value::List(items) => items.clone(),
            value => value.text().split([',', ';', '|']).map(str::to_owned).collect(),
        });
        for tag in further.into_iter().chain(values) {
            let tag = clean::line(&tag);
            if tag.is_empty() || tags.contains(&tag) {
                continue;
            }
            if tag.len() <= limits::LINE_BYTES_MAX && tags.len() < limits::COLLECTION_ITEMS_MAX {
                tags.insert(tag);
            } else {
                others.push(tag);
            }
        }
        if !others.is_empty() {
            self.note(format!("{} tags are too long, or too many; they are kept as an attribute", others.len()));
            self.keep("tags", &others.join(", "));
        }
        tags
    }

    /// "Size" with "Small, Large". What Shopify writes for a product without options is left out.
    fn options(&mut self) {
        for n in 1..=3 {
            let name = self.gathered.first(Field::OptionName(n));
            let Some(values) = self.gathered.first(Field::OptionValue(n)) else {
                name.into_iter().for_each(|column| self.keep_column(column));
                continue;
            };
            let name = name.map(|column| clean::line(&column.first().text()));
            let name = name.unwrap_or_else(|| values.name.clone());
            let mut each: Vec<String> = Vec::new();
            for (_, value) in &values.values {
                let value = clean::line(&value.text());
                if !each.contains(&value) {
                    each.push(value);
                }
            }
            if name != "Title" || each != ["Default Title"] {
                self.keep(&name, &each.join(", "));
            }
        }
    }

    fn description(&mut self) -> Option<String> {
        let column = self.gathered.first(Field::Description)?;
        self.keep_others(Field::Description);
        if column.differs() {
            self.keep_column(column);
        }
        let text = clean::lines(&column.first().text());
        if text.len() > limits::DESCRIPTION_BYTES_MAX {
            let kept = crate::text::cut(&text, limits::DESCRIPTION_BYTES_MAX).to_owned();
            self.note(format!("{} is cut: {} bytes are too long", column.name, text.len()));
            return Some(kept);
        }
        Some(text)
    }

    fn with_overflow(&mut self, description: Option<String>) -> Option<String> {
        let mut description = description.unwrap_or_default();
        for (name, text) in std::mem::take(&mut self.overflow) {
            let paragraph = format!("{name}: {text}");
            if description.len() + paragraph.len() + 2 > limits::DESCRIPTION_BYTES_MAX {
                self.note(format!("{name} is left out: there is no room for {} bytes", text.len()));
                continue;
            }
            self.note(format!("{name} has no room among the attributes and stands in the description"));
            if !description.is_empty() {
                description.push_str("\n\n");
            }
            description.push_str(&paragraph);
        }
        Some(description).filter(|text| !text.is_empty())
    }
}

/// "5 new" and "In stock" are some; "0", "no" and "Out of stock" are none.
fn has_any(value: &Value) -> bool {
    if let Some(count) = amount::leading(value, 0) {
        return count > Decimal::ZERO;
    }
    matches!(
        clean::line(&value.text()).to_lowercase().as_str(),
        "true" | "yes" | "y" | "in stock" | "instock" | "available"
    )
}

fn good(look: impl FnOnce(&mut Check)) -> bool {
    let mut check = Check::new();
    look(&mut check);
    check.end().is_ok()
}
