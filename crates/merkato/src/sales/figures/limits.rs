//! Every limit of the figures, in one place.

/// Minor units of a price: the catalog's largest price in cents. Its third power fits 128 bits, by which the widths of a
/// histogram are compared.
pub const PRICE_MINOR_UNITS_MAX: i64 = 1_000_000_000_000;
/// Decimals of a price.
pub const DECIMALS_MAX: u32 = 4;
/// Sales that one answer is computed from. Eight bytes are kept of each, and up to sixteen while a list grows.
pub const SALES_MAX: usize = 5_000_000;
/// Periods of one answer, unless told otherwise: more than two years of days.
pub const PERIODS_MAX: u32 = 1_000;
/// Brands that are compared with each other.
pub const GROUPS_MAX: usize = 10_000;
/// How many bins a histogram has.
pub const BINS: std::ops::RangeInclusive<i64> = 5..=60;
/// Sales that a suggestion is made from.
pub const COMPARABLES_MAX: usize = 100_000;
/// Neighbours that are asked for.
pub const NEAREST_MAX: usize = 1_000;
/// Numbers of a vector.
pub const DIMENSIONS_MAX: usize = 16_384;
/// Threads that look for neighbours.
pub const THREADS_MAX: usize = 64;
/// Shards whose skew is measured.
pub const SHARDS_MAX: usize = 10_000;
/// Keys that are counted in shards.
pub const KEYS_COUNTED_MAX: u64 = 1_000_000_000_000;
/// Sales, changes or reads of a day that a cost is estimated for.
pub const REQUESTS_A_DAY_MAX: u64 = 1_000_000_000_000;
/// Sales that one query of an estimate finds.
pub const HITS_MAX: u64 = 1_000_000_000;
/// Years of an estimate.
pub const YEARS_MAX: u32 = 100;
/// Bytes of an item: DynamoDB's.
pub const ITEM_BYTES_MAX: u64 = 400 * 1024;
