//! The catalog's tables. Reading this file is reading its data model.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Cell, Derive, Row, Schema, Timestamp};

use super::{order::SortOrder, prefix};
use crate::{
    claims::{Bearer, ClaimKind},
    events::Told,
    id::{CategoryId, ProductId},
    limits,
    money::Currency,
    shards,
};

/// Only active products are shown.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductStatus {
    Draft,
    Active,
    Archived,
}

/// Where a product stands in a featured list.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub position: i32,
    pub badge: Option<String>,
}

/// Q1, `items_by_id`: everything about one product. One row a partition, about 1 KiB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "products", partition(product_id), guarded, read = LocalOne, write = Quorum)]
pub struct Product {
    pub product_id: ProductId,
    pub name: String,
    pub slug: String,
    pub description: Option<String>,
    pub category_id: CategoryId,
    pub category_name: String,
    /// The categories above its own, from the root.
    pub category_path: Vec<CategoryId>,
    pub brand: Option<String>,
    pub price: Decimal,
    pub compare_at_price: Option<Decimal>,
    pub currency: Currency,
    pub sku: Option<String>,
    pub weight_grams: Option<i32>,
    /// Height, width, depth and the like, in millimetres.
    pub dimensions: BTreeMap<String, i32>,
    pub image_urls: Vec<String>,
    pub thumbnail_url: Option<String>,
    pub attributes: BTreeMap<String, String>,
    pub tags: BTreeSet<String>,
    pub status: ProductStatus,
    pub rating_average: Option<Decimal>,
    pub rating_count: i32,
    pub in_stock: bool,
    /// What the order `popular` goes by: units sold.
    pub popularity: i64,
    /// The featured lists it stands in.
    pub featured: BTreeMap<String, Placement>,
    /// How often it was edited: what an editor's change rests upon. Ratings, stock and popularity do not count.
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// How far the stream of its prices is.
    pub told: Option<Told>,
}

impl Bearer for Product {
    const KIND: ClaimKind = ClaimKind::ProductSlug;

    fn partition(owner: Uuid) -> ProductId {
        ProductId(owner)
    }

    fn key(owner: Uuid) -> ProductId {
        ProductId(owner)
    }

    fn has_name(&self, slug: &str) -> bool {
        self.slug == slug
    }
}

/// Q2: a category in one of five orders. One partition a category, five rows a product; expected 5,000 rows, at most 500,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "products_by_category", partition(category_id), clustering(sort_key, product_id), read = LocalOne)]
pub struct CategoryEntry {
    pub category_id: CategoryId,
    pub sort_key: String,
    pub product_id: ProductId,
    pub name: String,
    pub slug: String,
    pub brand: Option<String>,
    pub thumbnail_url: Option<String>,
    pub price: Decimal,
    pub compare_at_price: Option<Decimal>,
    pub currency: Currency,
    pub rating_average: Option<Decimal>,
    pub rating_count: i32,
    pub in_stock: bool,
}

/// An active product stands five times in its category and in each above it.
impl Derive<CategoryEntry> for Product {
    fn derive(&self) -> Vec<CategoryEntry> {
        if self.status != ProductStatus::Active {
            return Vec::new();
        }
        let keys = SortOrder::ALL.map(|order| order.key(self));
        let categories = self.category_path.iter().chain([&self.category_id]);
        let entries = categories.flat_map(|category| keys.iter().map(|key| self.entry(*category, key.clone())));
        entries.collect()
    }

    fn source(entry: &CategoryEntry) -> ProductId {
        entry.product_id
    }
}

impl Product {
    fn entry(&self, category_id: CategoryId, sort_key: String) -> CategoryEntry {
        CategoryEntry {
            category_id,
            sort_key,
            product_id: self.product_id,
            name: self.name.clone(),
            slug: self.slug.clone(),
            brand: self.brand.clone(),
            thumbnail_url: self.thumbnail_url.clone(),
            price: self.price,
            compare_at_price: self.compare_at_price,
            currency: self.currency.clone(),
            rating_average: self.rating_average,
            rating_count: self.rating_count,
            in_stock: self.in_stock,
        }
    }
}

/// Q3: active products by the first characters of every word of their names. Expected 2,000 rows, at most 500,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "products_by_name_prefix", partition(name_prefix), clustering(name_lower, product_id), read = LocalOne)]
pub struct PrefixEntry {
    /// Two or three characters, folded.
    pub name_prefix: String,
    /// The folded name from the word on.
    pub name_lower: String,
    pub product_id: ProductId,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Decimal,
    pub currency: Currency,
    pub category_name: String,
}

impl Derive<PrefixEntry> for Product {
    fn derive(&self) -> Vec<PrefixEntry> {
        if self.status != ProductStatus::Active {
            return Vec::new();
        }
        let entry = |(name_prefix, name_lower)| PrefixEntry {
            name_prefix,
            name_lower,
            product_id: self.product_id,
            name: self.name.clone(),
            slug: self.slug.clone(),
            thumbnail_url: self.thumbnail_url.clone(),
            price: self.price,
            currency: self.currency.clone(),
            category_name: self.category_name.clone(),
        };
        prefix::entries(&self.name).into_iter().map(entry).collect()
    }

    fn source(entry: &PrefixEntry) -> ProductId {
        entry.product_id
    }
}

/// Q4: a list for the front page, in its order. At most 100 rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "featured_products", partition(feature_type), clustering(position, product_id), read = LocalOne)]
pub struct FeaturedProduct {
    /// `homepage`, `deals`, `new_arrivals`.
    pub feature_type: String,
    pub position: i32,
    pub product_id: ProductId,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Decimal,
    pub compare_at_price: Option<Decimal>,
    pub currency: Currency,
    pub badge: Option<String>,
}

impl Derive<FeaturedProduct> for Product {
    fn derive(&self) -> Vec<FeaturedProduct> {
        if self.status != ProductStatus::Active {
            return Vec::new();
        }
        let row = |(feature_type, placement): (&String, &Placement)| FeaturedProduct {
            feature_type: feature_type.clone(),
            position: placement.position,
            product_id: self.product_id,
            name: self.name.clone(),
            slug: self.slug.clone(),
            thumbnail_url: self.thumbnail_url.clone(),
            price: self.price,
            compare_at_price: self.compare_at_price,
            currency: self.currency.clone(),
            badge: placement.badge.clone(),
        };
        self.featured.iter().map(row).collect()
    }

    fn source(featured: &FeaturedProduct) -> ProductId {
        featured.product_id
    }
}

/// Which products a featured list has, shown or not: what a new list is compared with. At most 100 rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "placements_by_feature", partition(feature_type), clustering(product_id), read = LocalQuorum)]
pub struct FeatureMember {
    pub feature_type: String,
    pub product_id: ProductId,
}

impl Derive<FeatureMember> for Product {
    fn derive(&self) -> Vec<FeatureMember> {
        let member = |feature: &String| FeatureMember { feature_type: feature.clone(), product_id: self.product_id };
        self.featured.keys().map(member).collect()
    }

    fn source(member: &FeatureMember) -> ProductId {
        member.product_id
    }
}

/// named-carts Q3: the active products with exactly this name. At most 10,000 rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "items_by_name", partition(name), clustering(product_id), read = LocalOne)]
pub struct NamedItem {
    pub name: String,
    pub product_id: ProductId,
    pub description: Option<String>,
    pub price: Decimal,
    pub currency: Currency,
}

impl Derive<NamedItem> for Product {
    fn derive(&self) -> Vec<NamedItem> {
        if self.status != ProductStatus::Active {
            return Vec::new();
        }
        vec![NamedItem {
            name: self.name.clone(),
            product_id: self.product_id,
            description: self.description.clone(),
            price: self.price,
            currency: self.currency.clone(),
        }]
    }

    fn source(item: &NamedItem) -> ProductId {
        item.product_id
    }
}

/// The products whose own category this is, shown or not: for editors, and for a category's new name.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "products_of_category",
    partition(category_id),
    clustering(product_id),
    read = LocalQuorum,
    write = Quorum
)]
pub struct CategoryMember {
    pub category_id: CategoryId,
    pub product_id: ProductId,
    pub name: String,
    pub status: ProductStatus,
}

impl Derive<CategoryMember> for Product {
    fn derive(&self) -> Vec<CategoryMember> {
        vec![CategoryMember {
            category_id: self.category_id,
            product_id: self.product_id,
            name: self.name.clone(),
            status: self.status,
        }]
    }

    fn source(member: &CategoryMember) -> ProductId {
        member.product_id
    }
}

/// The products, newest first, shown or not: for editors. Four partitions for good; expected 2,000 rows each, at most 500,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "products_by_age", partition(shard), clustering(created_at desc, product_id desc), read = LocalQuorum)]
pub struct ProductEntry {
    pub shard: u32,
    pub created_at: Timestamp,
    pub product_id: ProductId,
    pub name: String,
    pub slug: String,
    pub sku: Option<String>,
    pub category_id: CategoryId,
    pub category_name: String,
    pub thumbnail_url: Option<String>,
    pub price: Decimal,
    pub currency: Currency,
    pub status: ProductStatus,
    pub in_stock: bool,
}

impl Derive<ProductEntry> for Product {
    fn derive(&self) -> Vec<ProductEntry> {
        vec![ProductEntry {
            shard: shards::of(self.product_id.0.as_bytes(), limits::PRODUCT_SHARDS),
            created_at: self.created_at,
            product_id: self.product_id,
            name: self.name.clone(),
            slug: self.slug.clone(),
            sku: self.sku.clone(),
            category_id: self.category_id,
            category_name: self.category_name.clone(),
            thumbnail_url: self.thumbnail_url.clone(),
            price: self.price,
            currency: self.currency.clone(),
            status: self.status,
            in_stock: self.in_stock,
        }]
    }

    fn source(entry: &ProductEntry) -> ProductId {
        entry.product_id
    }
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema
        .derived::<Product, CategoryEntry>()
        .derived::<Product, PrefixEntry>()
        .derived::<Product, FeaturedProduct>()
        .derived::<Product, FeatureMember>()
        .derived::<Product, NamedItem>()
        .derived::<Product, CategoryMember>()
        .derived::<Product, ProductEntry>()
}
