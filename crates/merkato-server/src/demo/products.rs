//! From the lines of the catalog to products: names, prices, words, pictures and stock.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Currency,
    catalog::{NewCategory, Placement, Product, ProductStatus},
    id::{CategoryId, MovementId, ProductId},
    text,
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    DAY_SECONDS, Size,
    brands::{self, Brand},
    catalog::{DEPARTMENTS, Line, Shelf},
    furniture::{Delivery, Stock},
    materials,
};
use crate::{dice::Dice, pictures::Picture};

const WAREHOUSES: [&str; 3] = ["berlin", "hamburg", "munich"];
/// Of so many products one is reduced, one is short, one is sold out, one is sold before it comes in.
const REDUCED: i64 = 7;
const SHORT: i64 = 9;
const SOLD_OUT: i64 = 31;
const BACKORDER: i64 = 43;
/// Products of each list of the front page.
const FEATURED: i32 = 12;
/// Available units from which down a warehouse is short of a product.
const LOW: i64 = 4;

pub(super) struct Shop {
    pub categories: Vec<NewCategory>,
    pub products: Vec<Product>,
    pub stock: Vec<Stock>,
    /// The department of each product, by its place in the list of them.
    pub departments: Vec<usize>,
    seed: u64,
    dice: Dice,
    now: Timestamp,
    size: Size,
}

/// The same for the same thing, so that what was written is known again.
pub(super) fn id(seed: u64, what: &str, name: &str) -> Uuid {
    Uuid::new_v5(&Uuid::from_u128(seed.into()), format!("{what} {name}").as_bytes())
}

pub(super) fn make(seed: u64, now: Timestamp, size: Size) -> Shop {
    let mut shop = Shop {
        categories: Vec::new(),
        products: Vec::new(),
        stock: Vec::new(),
        departments: Vec::new(),
        seed,
        dice: Dice::new(seed),
        now,
        size,
    };
    for (at, department) in DEPARTMENTS.iter().enumerate() {
        shop.shelf(department, &mut Vec::new(), at);
    }
    shop.feature();
    shop
}

impl Shop {
    /// `above` is the way from the root, as names and ids.
    fn shelf(&mut self, shelf: &Shelf, above: &mut Vec<(&'static str, CategoryId)>, department: usize) {
        let category_id = CategoryId(id(self.seed, "category", shelf.name));
        let parent_id = above.last().map(|(_, id)| *id);
        self.categories.push(NewCategory {
            category_id: Some(category_id),
            name: shelf.name.to_owned(),
            slug: None,
            parent_id,
        });
        above.push((shelf.name, category_id));
        shelf.below.iter().for_each(|below| self.shelf(below, above, department));
        for line in shelf.lines {
            for item in line.items.iter().take(self.size.items_a_line()) {
                self.product(line, item, above, department);
            }
        }
        above.pop();
    }

    fn product(&mut self, line: &Line, item: &(&str, i64), path: &[(&'static str, CategoryId)], department: usize) {
        let (name, cents) = *item;
        let Some((own, above)) = path.split_last() else { return };
        let product_id = ProductId(id(self.seed, "product", name));
        let dice = &mut self.dice;
        let material = materials::told_by(name, line.materials);
        let material = material.unwrap_or(line.materials[dice.index(line.materials.len())]);
        let brand = maker(line, material, dice);
        let percent = dice.one_in(REDUCED).then(|| [10, 15, 20, 25, 30][dice.index(5)]);
        let price = percent.map_or(cents, |percent| (cents * (100 - percent) / 100 + 5) / 10 * 10);
        let stars = 34 + dice.below(8) + dice.below(8);
        let ratings = dice.below(20) * dice.below(20);
        // The younger, the rarer; some came in the last days.
        let age_days = 2 + dice.below(28) * dice.below(28);
        let picture = Picture::views(line.motif, brand.map_or(0, |brand| brand.palette), dice.throw() >> 40);
        let images = picture.map(Picture::path);
        let created_at = self.now.plus_seconds(-DAY_SECONDS * age_days - dice.below(DAY_SECONDS));
        let initials: String = own.0.split(' ').filter_map(|word| word.chars().next()).collect();
        let product = Product {
            product_id,
            name: name.to_owned(),
            slug: text::slugify(name),
            description: Some(describe(line, material, brand, dice)),
            category_id: own.1,
            category_name: own.0.to_owned(),
            category_path: above.iter().map(|(_, id)| *id).collect(),
            brand: brand.map(|brand| brand.name.to_owned()),
            price: Decimal::new(price, 2),
            compare_at_price: percent.map(|_| Decimal::new(cents, 2)),
            currency: Currency::new("EUR"),
            sku: Some(format!("{}-{:04}", initials.to_uppercase(), 1_000 + self.products.len())),
            weight_grams: Some(
                line.grams.0 + i32::try_from(dice.below(i64::from(line.grams.1 - line.grams.0))).unwrap_or(0),
            ),
            dimensions: [("height", line.size.0), ("width", line.size.1), ("depth", line.size.2)]
                .map(|(side, about)| {
                    (side.to_owned(), about + i32::try_from(dice.below(i64::from(about) / 8 + 1)).unwrap_or(0))
                })
                .into(),
            thumbnail_url: images.first().cloned(),
            image_urls: images.into(),
            attributes: attributes(line, material),
            tags: path.iter().map(|(name, _)| name.to_lowercase()).collect::<BTreeSet<_>>(),
            status: ProductStatus::Active,
            rating_average: (ratings > 0).then(|| Decimal::new(stars, 1)),
            rating_count: i32::try_from(ratings).unwrap_or(0),
            in_stock: true,
            popularity: 0,
            featured: BTreeMap::new(),
            revision: 1,
            created_at,
            updated_at: created_at,
            told: None,
        };
        let stock = self.stock(product_id, name);
        let in_stock = stock.backorder || stock.deliveries.iter().any(|delivery| delivery.units > 0);
        self.products.push(Product { in_stock, ..product });
        self.stock.push(stock);
        self.departments.push(department);
    }

    fn stock(&mut self, product: ProductId, name: &str) -> Stock {
        let dice = &mut self.dice;
        let (backorder, sold_out, short) = (dice.one_in(BACKORDER), dice.one_in(SOLD_OUT), dice.one_in(SHORT));
        // What is short is left in one place only, so that "only 3 left" is true of the shop.
        let last = dice.index(WAREHOUSES.len());
        let mut deliveries = Vec::new();
        for (at, warehouse) in WAREHOUSES.into_iter().enumerate() {
            let units = match (backorder || sold_out, short) {
                (true, _) => 0,
                (_, true) => {
                    if at == last {
                        1 + dice.below(4)
                    } else {
                        0
                    }
                }
                _ => 6 + dice.below(60),
            };
            // Not every warehouse has everything, but one of them has, or had, each thing.
            let is_home = at == if short { last } else { 0 };
            if is_home || units > 0 && !dice.one_in(4) {
                let movement = MovementId(id(self.seed, "delivery", &format!("{name} {warehouse}")));
                deliveries.push(Delivery { movement, warehouse, units, low: LOW });
            }
        }
        Stock { product, backorder, deliveries }
    }

    /// The lists of the front page: what sells itself, what is reduced, what is new. No two of a kind stand side by side.
    fn feature(&mut self) {
        let mut order: Vec<usize> = (0..self.products.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.dice.index(at + 1));
        }
        let shown = |product: &Product| product.in_stock;
        let loved = |product: &Product| {
            product.rating_average >= Some(Decimal::new(43, 1)) && product.compare_at_price.is_none()
        };
        let mut by_age = order.clone();
        by_age.sort_by_key(|at| std::cmp::Reverse(self.products[*at].created_at));
        for (list, candidates) in [("new_arrivals", &by_age), ("deals", &order), ("homepage", &order)] {
            let mut position = 0;
            let mut seen = BTreeSet::new();
            for at in candidates.iter().copied() {
                let product = &self.products[at];
                let fits = match list {
                    "deals" => product.compare_at_price.is_some(),
                    "homepage" => loved(product),
                    _ => true,
                };
                if position >= FEATURED
                    || !fits
                    || !shown(product)
                    || !product.featured.is_empty()
                    || !seen.insert(product.category_id)
                {
                    continue;
                }
                position += 1;
                let badge = badge(list, product, position);
                let placement = Placement { position, badge };
                self.products[at].featured.insert(list.to_owned(), placement);
            }
        }
    }
}

/// One of the line's brands that works with the material, or any of them.
fn maker(line: &Line, material: &str, dice: &mut Dice) -> Option<&'static Brand> {
    let all: Vec<&Brand> = line.brands.iter().filter_map(|name| brands::brand_of(name)).collect();
    let able: Vec<&Brand> = all.iter().copied().filter(|brand| brand.works_with(material)).collect();
    let from = if able.is_empty() { all } else { able };
    from.get(dice.index(from.len())).copied()
}

fn badge(list: &str, product: &Product, position: i32) -> Option<String> {
    match (list, product.compare_at_price) {
        ("deals", Some(before)) if !before.is_zero() => {
            let off = (before - product.price) * Decimal::ONE_HUNDRED / before;
            Some(format!("{}% off", off.round()))
        }
        ("new_arrivals", _) => Some("New".to_owned()),
        ("homepage", _) if position % 3 == 1 => Some("Bestseller".to_owned()),
        _ => None,
    }
}

/// What may be chosen stands with commas between the values, as in an imported catalog; what is so and not otherwise has none.
fn attributes(line: &Line, material: &str) -> BTreeMap<String, String> {
    let options = line.options.iter().map(|(name, values)| ((*name).to_owned(), (*values).to_owned()));
    options.chain([("Material".to_owned(), material.to_owned())]).collect()
}

fn describe(line: &Line, material: &'static str, brand: Option<&Brand>, dice: &mut Dice) -> String {
    let (_, about, care) = materials::material(material);
    let says = line.says[dice.index(line.says.len())];
    let mut text = format!("{says} {about}");
    if let Some(brand) = brand {
        text = format!("{text}\n\n{}", brand.says);
    }
    format!("{text}\n\n{care}")
}
