//! Every limit of the domain, in one place.

use rust_decimal::Decimal;

/// Bytes of a name: a product's, a category's, a cart's. It is a partition key in `items_by_name`.
pub const NAME_BYTES_MAX: usize = 600;
pub const SLUG_BYTES_MAX: usize = 120;
pub const URL_BYTES_MAX: usize = 2_000;
/// Bytes of a short text: a brand, a city, an option's name or value.
pub const LINE_BYTES_MAX: usize = 200;
/// Bytes of a product's description.
pub const DESCRIPTION_BYTES_MAX: usize = 50_000;
/// The document keeps collections under fifty.
pub const COLLECTION_ITEMS_MAX: usize = 50;
/// Bytes of an attribute's value.
pub const ATTRIBUTE_BYTES_MAX: usize = 2_000;
/// How far another machine's clock may be ahead.
pub const CLOCK_SKEW_SECONDS: i64 = 24 * 60 * 60;
/// The largest price. The sort keys have ten digits before the point.
pub const PRICE_MAX: Decimal = Decimal::from_parts(0x540B_E3FF, 2, 0, false, 0);
pub const QUANTITY_MAX: u32 = 100_000;
/// Millimetres of a side.
pub const DIMENSION_MAX: i32 = 100_000;
/// A hundred tonnes.
pub const WEIGHT_GRAMS_MAX: i32 = 100_000_000;
/// Categories from the root to a leaf.
pub const CATEGORY_DEPTH_MAX: usize = 10;
/// Products with one and the same name.
pub const PRODUCTS_A_NAME_MAX: usize = 10_000;
/// Rows of a page.
pub const PAGE_ROWS_MAX: usize = 100;
pub const PAGE_ROWS_DEFAULT: usize = 24;
/// Suggestions as someone types.
pub const SUGGESTIONS_MAX: usize = 20;
/// Products of one featured list.
pub const FEATURED_MAX: usize = 100;
/// Related products that are shown.
pub const RELATED_MAX: usize = 24;
/// Products of one purchase that are counted as bought together.
pub const BOUGHT_TOGETHER_MAX: usize = 50;
/// Seconds for which a claim to a name is left to the one who made it, before another may ask whether it was used.
pub const CLAIM_GRACE_SECONDS: i64 = 10;
/// Records of one import: an id and a count are kept for each.
pub const IMPORT_RECORDS_MAX: u32 = 5_000_000;
/// Records of an import that wait for others of their products.
pub const IMPORT_WAITING_MAX: u64 = 100_000;
/// Bytes of one record of an import.
pub const IMPORT_RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Rejected records, and notes, that a report lists.
pub const IMPORT_LISTED_MAX: usize = 100_000;
