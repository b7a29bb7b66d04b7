//! A hundred thousand products of a made-up shop, the same in every run.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Currency,
    catalog::{NewProduct, Product, ProductStatus},
    id::{CategoryId, ProductId},
};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{
    Timestamp,
    time::{Clock as _, SystemClock},
};

const DEPARTMENTS: [&str; 6] = ["Home", "Garden", "Kitchen", "Office", "Toys", "Sports"];
const SHELVES: [&str; 9] =
    ["Lamps", "Chairs", "Boxes", "Textiles", "Tools", "Gifts", "Storage", "Outdoor", "Accessories"];
const LOOKS: [&str; 8] = ["Hammered", "Painted", "Folding", "Striped", "Polished", "Woven", "Compact", "Portable"];
const MATERIALS: [&str; 8] = ["Brass", "Oak", "Linen", "Steel", "Bamboo", "Glass", "Wool", "Ceramic"];
const THINGS: [&str; 10] = ["Lamp", "Chair", "Basket", "Bowl", "Shelf", "Rug", "Clock", "Bench", "Jug", "Frame"];
const STYLES: [&str; 6] = ["Classic", "Modern", "Rustic", "Nordic", "Vintage", "Minimal"];
const BRANDS: [&str; 7] = ["Halden", "Mirov", "Castell", "Onda", "Fabrik Nord", "Tres Soles", "Kestrel & Co"];
const COLOURS: [&str; 6] = ["black", "white", "natural", "dark green", "mustard", "sky blue"];
const SENTENCES: [&str; 6] = [
    "Made by hand in a small workshop, from material that lasts for many years of daily use.",
    "Wipe it with a dry cloth only, and keep it out of rain and of strong sun.",
    "It takes one bulb of forty watts at most, and comes with a cable of two metres.",
    "The surface is treated with natural oil, which brings out the grain and keeps stains away.",
    "Comes flat in a box with all that is needed to put it together in ten minutes.",
    "Every piece is a little different: small marks are a sign of the work, not a fault.",
];

/// The first millisecond at which a product was made.
const BEGINNING: u64 = 1_700_000_000_000;

pub struct Sample {
    products: usize,
    now: Timestamp,
    leaves: Vec<CategoryId>,
}

impl Sample {
    pub fn new(products: usize) -> Self {
        let names = DEPARTMENTS.iter().flat_map(|department| SHELVES.map(|shelf| category_of(department, shelf)));
        Sample { products, now: SystemClock.now(), leaves: names.collect() }
    }

    pub fn len(&self) -> usize {
        self.products
    }

    /// When all of it was made.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Ids, names and parents, the parents first.
    pub fn categories(&self) -> Vec<(CategoryId, String, Option<CategoryId>)> {
        let tops = DEPARTMENTS.iter().map(|department| (category(department), (*department).to_owned(), None));
        let below = DEPARTMENTS.iter().flat_map(|department| {
            SHELVES.map(|shelf| (category_of(department, shelf), shelf.to_owned(), Some(category(department))))
        });
        tops.chain(below).collect()
    }

    /// The categories that products are in; those above them have none of their own.
    pub fn leaves(&self) -> &[CategoryId] {
        &self.leaves
    }

    /// In the order of time, as new ids are.
    pub fn id(&self, i: usize) -> ProductId {
        let mut random = [0; 10];
        SmallRng::seed_from_u64(i as u64).fill(&mut random);
        ProductId(uuid::Builder::from_unix_timestamp_millis(BEGINNING + i as u64 * 1000, &random).into_uuid())
    }

    pub fn price(&self, i: usize) -> Decimal {
        Decimal::new(199 + (i as i64 * 7_919) % 49_800, 2)
    }

    pub fn product(&self, i: usize) -> Product {
        let mut chance = SmallRng::seed_from_u64(i as u64 ^ 0x5EED);
        let mut pick = |words: &[&str]| (*words.choose(&mut chance).expect("not empty")).to_owned();
        let (department, shelf) = (pick(&DEPARTMENTS), pick(&SHELVES));
        let (material, colour, brand) = (pick(&MATERIALS), pick(&COLOURS), pick(&BRANDS));
        let name = format!("{} {} {material} {} {i}", pick(&STYLES), pick(&LOOKS), pick(&THINGS));
        let description = (0..4).map(|_| pick(&SENTENCES)).collect::<Vec<_>>().join(" ");
        let tags = BTreeSet::from([pick(&STYLES), pick(&MATERIALS), colour.clone()].map(|tag| tag.to_lowercase()));
        let price = self.price(i);
        let text = |key: &str, value: String| (key.to_owned(), value);
        Product {
            product_id: self.id(i),
            slug: name.to_lowercase().replace(' ', "-"),
            description: Some(description),
            category_id: category_of(&department, &shelf),
            category_name: shelf,
            category_path: vec![category(&department)],
            brand: Some(brand),
            price,
            compare_at_price: i.is_multiple_of(5).then(|| price * Decimal::new(12, 1)).map(|price| price.round_dp(2)),
            currency: Currency::new("EUR"),
            sku: Some(format!("SKU-{i:08}")),
            weight_grams: Some(chance.random_range(50..20_000)),
            dimensions: ["depth", "height", "width"]
                .map(|side| (side.to_owned(), chance.random_range(20..2_000)))
                .into(),
            image_urls: (1..=3).map(|n| format!("https://images.example.com/products/{i}/large-{n}.webp")).collect(),
            thumbnail_url: Some(format!("https://images.example.com/products/{i}/thumbnail.webp")),
            attributes: BTreeMap::from([
                text("colour", colour),
                text("material", material),
                text("warranty", "2 years".into()),
                text("country of origin", "Portugal".into()),
                text("pieces", format!("{}", i % 4 + 1)),
            ]),
            tags,
            status: ProductStatus::Active,
            rating_average: Some(Decimal::new(chance.random_range(10..=50), 1)),
            rating_count: chance.random_range(0..500),
            in_stock: !i.is_multiple_of(7),
            popularity: 0,
            featured: BTreeMap::new(),
            revision: 1,
            created_at: Timestamp::from_millis((BEGINNING + i as u64 * 1000) as i64),
            updated_at: self.now,
            told: None,
            name,
        }
    }

    /// What becomes of it is `product`.
    pub fn new_product(&self, i: usize) -> NewProduct {
        let product = self.product(i);
        NewProduct {
            product_id: Some(product.product_id),
            name: product.name,
            slug: None,
            description: product.description,
            category_id: product.category_id,
            brand: product.brand,
            price: product.price,
            compare_at_price: product.compare_at_price,
            currency: product.currency,
            sku: product.sku,
            weight_grams: product.weight_grams,
            dimensions: product.dimensions,
            image_urls: product.image_urls,
            thumbnail_url: product.thumbnail_url,
            attributes: product.attributes,
            tags: product.tags,
            status: product.status,
            rating_average: product.rating_average,
            rating_count: product.rating_count,
            in_stock: product.in_stock,
            created_at: Some(product.created_at),
        }
    }
}

fn category_of(department: &str, shelf: &str) -> CategoryId {
    category(&format!("{department} {shelf}"))
}

fn category(name: &str) -> CategoryId {
    CategoryId(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
}
