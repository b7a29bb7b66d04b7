//! The estimate itself: what is asked of the table in a day, and what a month of it costs.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use crate::{
    check::Check,
    sales::figures::{
        error::{Error, Result},
        limits,
    },
};

const DAYS_A_YEAR: u64 = 365;
const DAYS_A_MONTH: u64 = 30;
const WRITE_UNIT_BYTES: u64 = 1024;
const READ_UNIT_BYTES: u64 = 4096;
const STORED_OVERHEAD_BYTES: u64 = 100;
const GIGABYTE_BYTES: u64 = 1_000_000_000;
/// Items of a batch in the document's example.
const BATCH: u64 = 100;

/// What is asked of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    pub sales_per_day: u64,
    /// Records whose price is corrected.
    pub price_changes_per_day: u64,
    /// Records of which something is changed that no index has.
    pub other_changes_per_day: u64,
    pub reads_per_day: u64,
    pub mix: Mix,
    /// The share of sales that have a brand, from nought to one.
    pub with_brand: Decimal,
    /// After how many years.
    pub years: u32,
}

/// Of which kinds the reads are. The shares sum up to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// One sale by its key.
    pub get: Decimal,
    /// The sales of a product, and how many a query finds.
    pub product: Decimal,
    pub product_hits: u64,
    /// Trends of a category, and how many sales a query finds over all shards.
    pub category: Decimal,
    pub category_hits: u64,
    /// Embeddings of a product, and over how many days a query asks.
    pub embeddings: Decimal,
    pub embedding_days: u32,
    /// Sales of a brand, and how many a query finds.
    pub brand: Decimal,
    pub brand_hits: u64,
}

/// What of the table's design can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    pub category_shards: u32,
    pub embedding_shards: u32,
    /// The time to live; None: for good.
    pub retention_years: Option<u32>,
}

/// Prices, without tax.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    pub currency: String,
    pub write_million: Decimal,
    pub read_million: Decimal,
    pub storage_gigabyte_month: Decimal,
}

impl Default for Load {
    /// The document's, at the end of its time to live; every sale has a brand.
    fn default() -> Self {
        Load {
            sales_per_day: 100_000,
            price_changes_per_day: 0,
            other_changes_per_day: 0,
            reads_per_day: 1_000_000,
            mix: Mix::default(),
            with_brand: Decimal::ONE,
            years: 2,
        }
    }
}

impl Default for Mix {
    /// Single sales alone, which is how the document prices a read. The other kinds, once they have a share, find what its
    /// examples do: 75 sales in each of ten shards of a category, a hundred of a brand, embeddings of a year.
    fn default() -> Self {
        Mix {
            get: Decimal::ONE,
            product: Decimal::ZERO,
            product_hits: 20,
            category: Decimal::ZERO,
            category_hits: 750,
            embeddings: Decimal::ZERO,
            embedding_days: 365,
            brand: Decimal::ZERO,
            brand_hits: 100,
        }
    }
}

impl Default for Design {
    fn default() -> Self {
        Design { category_shards: 10, embedding_shards: 5, retention_years: Some(2) }
    }
}

impl Default for Prices {
    /// The document's for eu-west-1.
    fn default() -> Self {
        Prices {
            currency: "EUR".into(),
            write_million: Decimal::new(125, 2),
            read_million: Decimal::new(25, 2),
            storage_gigabyte_month: Decimal::new(30, 2),
        }
    }
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Write,
    Read,
    Storage,
}

/// One item of the bill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub part: Part,
    pub what: &'static str,
    /// Writes or reads of a day; items or entries that are kept.
    pub count: Decimal,
    /// Request units of a day; none of storage.
    pub units_per_day: Decimal,
    /// Of storage alone.
    pub gigabytes: Decimal,
    pub monthly: Decimal,
}

/// What it comes to. It prints as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub lines: Vec<Line>,
    pub monthly: Decimal,
    pub currency: String,
    pub sales_per_year: Decimal,
    /// Records in the table after the years that were asked for.
    pub records_kept: Decimal,
    /// What a reader of the document would not expect.
    pub notes: Vec<String>,
}

impl Estimate {
    /// The cost of all lines of a part in a month.
    pub fn monthly_of(&self, part: Part) -> Decimal {
        self.lines.iter().filter(|line| line.part == part).map(|line| line.monthly).sum()
    }
}

/// The write units of one new sale: of the table, and of all indexes together.
pub fn write_units(sizes: &Sizes, with_brand: bool) -> (u64, u64) {
    let indexes = units_to_write(sizes.category_entry_bytes) + units_to_write(sizes.embedding_entry_bytes);
    if with_brand {
        (units_to_write(sizes.item_bytes), indexes + units_to_write(sizes.brand_entry_bytes))
    } else {
        (units_to_write(sizes.unbranded_item_bytes), indexes)
    }
}

fn units_to_write(bytes: u64) -> u64 {
    bytes.div_ceil(WRITE_UNIT_BYTES)
}

/// Half units of one query that reads so many entries of a partition.
fn halves_to_query(entries: u128, bytes: u64) -> u128 {
    (entries * u128::from(bytes)).div_ceil(READ_UNIT_BYTES.into()).max(1)
}

/// What a load costs.
pub fn estimate(load: &Load, sizes: &Sizes, design: &Design, prices: &Prices) -> Result<Estimate> {
    check(load, design, prices)?;
    sizes.check()?;
    let bill = Bill { load, sizes, design, prices };
    let mut lines = bill.writes().ok_or(Error::TooMuch { field: "writes" })?;
    lines.extend(bill.reads().ok_or(Error::TooMuch { field: "reads" })?);
    lines.extend(bill.storage().ok_or(Error::TooMuch { field: "storage" })?);
    let monthly = lines.iter().try_fold(Decimal::ZERO, |sum, line| sum.checked_add(line.monthly));
    Ok(Estimate {
        monthly: monthly.ok_or(Error::TooMuch { field: "monthly" })?,
        lines,
        currency: prices.currency.clone(),
        sales_per_year: Decimal::from(load.sales_per_day) * Decimal::from(DAYS_A_YEAR),
        records_kept: bill.kept(),
        notes: bill.notes(),
    })
}

struct Bill<'b> {
    load: &'b Load,
    sizes: &'b Sizes,
    design: &'b Design,
    prices: &'b Prices,
}

impl Bill<'_> {
    fn writes(&self) -> Option<Vec<Line>> {
        let Bill { load, sizes, .. } = self;
        let [new, repriced, changed] =
            [load.sales_per_day, load.price_changes_per_day, load.other_changes_per_day].map(Decimal::from);
        let (branded, unbranded) = (load.with_brand, Decimal::ONE - load.with_brand);
        let units = |bytes| Decimal::from(units_to_write(bytes));
        let item = branded * units(sizes.item_bytes) + unbranded * units(sizes.unbranded_item_bytes);
        let of_table = new + repriced + changed;
        // A key that changes is an entry that goes and one that comes.
        let twice = Decimal::TWO * repriced;
        let of_brand = branded.checked_mul(new + twice)?;
        Some(vec![
            self.write("table", of_table, of_table.checked_mul(item)?)?,
            self.write("categories (GSI-1)", new + twice, (new + twice) * units(sizes.category_entry_bytes))?,
            self.write("embeddings (GSI-2)", new + repriced, (new + repriced) * units(sizes.embedding_entry_bytes))?,
            self.write("brands (GSI-3)", of_brand, of_brand * units(sizes.brand_entry_bytes))?,
        ])
    }

    fn write(&self, what: &'static str, count: Decimal, units_per_day: Decimal) -> Option<Line> {
        let monthly = month(units_per_day, self.prices.write_million)?;
        Some(Line { part: Part::Write, what, count, units_per_day, gigabytes: Decimal::ZERO, monthly })
    }

    fn reads(&self) -> Option<Vec<Line>> {
        let Bill { load: Load { mix, .. }, sizes, design, .. } = self;
        let item_halves = halves_to_query(1, sizes.item_bytes);
        let shards = u128::from(design.category_shards);
        let a_shard = u128::from(mix.category_hits).div_ceil(shards);
        let category_halves = shards * halves_to_query(a_shard, sizes.category_entry_bytes);
        let brand_hits = u128::from(mix.brand_hits);
        let kinds = [
            ("a sale", mix.get, item_halves),
            ("a product's sales", mix.product, halves_to_query(mix.product_hits.into(), sizes.item_bytes)),
            ("a category: its index", mix.category, category_halves),
            ("a category: the table", mix.category, u128::from(mix.category_hits) * item_halves),
            (
                "a product's embeddings",
                mix.embeddings,
                halves_to_query(self.embedding_entries(), sizes.embedding_entry_bytes),
            ),
            ("a brand: its index", mix.brand, halves_to_query(brand_hits, sizes.brand_entry_bytes)),
            ("a brand: the table", mix.brand, brand_hits * item_halves),
        ];
        let asked = kinds.into_iter().filter(|(_, share, _)| !share.is_zero());
        asked.map(|(what, share, halves)| self.read(what, share, halves)).collect()
    }

    fn read(&self, what: &'static str, share: Decimal, halves: u128) -> Option<Line> {
        let count = share.checked_mul(self.load.reads_per_day.into())?;
        let each = Decimal::try_from_i128_with_scale(i128::try_from(halves.checked_mul(5)?).ok()?, 1).ok()?;
        let units_per_day = count.checked_mul(each)?;
        let monthly = month(units_per_day, self.prices.read_million)?;
        Some(Line { part: Part::Read, what, count, units_per_day, gigabytes: Decimal::ZERO, monthly })
    }

    /// Entries that a query for a product's embeddings reads: those of its shard, of all products.
    fn embedding_entries(&self) -> u128 {
        let days = u64::from(self.load.mix.embedding_days).min(self.days_kept());
        (u128::from(self.load.sales_per_day) * u128::from(days)).div_ceil(self.design.embedding_shards.into())
    }

    fn storage(&self) -> Option<Vec<Line>> {
        let Bill { load, sizes, .. } = self;
        let (kept, unbranded) = (self.kept(), Decimal::ONE - load.with_brand);
        let item =
            load.with_brand * Decimal::from(sizes.item_bytes) + unbranded * Decimal::from(sizes.unbranded_item_bytes);
        let branded = kept.checked_mul(load.with_brand)?;
        Some(vec![
            self.stored("table", kept, item)?,
            self.stored("categories (GSI-1)", kept, sizes.category_entry_bytes.into())?,
            self.stored("embeddings (GSI-2)", kept, sizes.embedding_entry_bytes.into())?,
            self.stored("brands (GSI-3)", branded, sizes.brand_entry_bytes.into())?,
        ])
    }

    fn stored(&self, what: &'static str, count: Decimal, bytes: Decimal) -> Option<Line> {
        let bytes = count.checked_mul(bytes + Decimal::from(STORED_OVERHEAD_BYTES))?;
        let gigabytes = bytes.checked_div(GIGABYTE_BYTES.into())?;
        let monthly = gigabytes.checked_mul(self.prices.storage_gigabyte_month)?;
        Some(Line { part: Part::Storage, what, count, units_per_day: Decimal::ZERO, gigabytes, monthly })
    }

    fn days_kept(&self) -> u64 {
        let years = self.design.retention_years.map_or(self.load.years, |most| self.load.years.min(most));
        u64::from(years) * DAYS_A_YEAR
    }

    fn kept(&self) -> Decimal {
        Decimal::from(self.load.sales_per_day) * Decimal::from(self.days_kept())
    }

    fn notes(&self) -> Vec<String> {
        let Bill { load, sizes, design, .. } = self;
        let number = |n: Decimal| super::table::grouped(n, 0);
        let mut notes = vec![format!(
            "{} sales a day are {} a year; after {} there are {} records.",
            number(load.sales_per_day.into()),
            number(Decimal::from(load.sales_per_day) * Decimal::from(DAYS_A_YEAR)),
            if load.years == 1 { "one year".into() } else { format!("{} years", load.years) },
            number(self.kept()),
        )];
        let (table, indexes) = write_units(sizes, !load.with_brand.is_zero());
        notes.push(format!(
            "A batch of {BATCH} new sales takes {} write units for the table and {} for its indexes: it saves calls, not units.",
            BATCH * table,
            BATCH * indexes,
        ));
        if !load.mix.category.is_zero() || !load.mix.brand.is_zero() {
            notes.push("The indexes of categories and brands have keys alone: each sale that is found is read from the table as well.".into());
        }
        if !load.mix.embeddings.is_zero() {
            notes.push(format!(
                "A query for a product's embeddings reads the {} entries that one of {} shards has of its days, if all sales are one tenant's.",
                number(Decimal::from(self.embedding_entries())),
                design.embedding_shards,
            ));
        }
        notes
    }
}

/// A month of so many units a day, at a price for a million.
fn month(units_per_day: Decimal, million: Decimal) -> Option<Decimal> {
    let units = units_per_day.checked_mul(DAYS_A_MONTH.into())?;
    units.checked_mul(million)?.checked_div(Decimal::from(1_000_000))
}

fn check(load: &Load, design: &Design, prices: &Prices) -> Result<()> {
    let mut check = Check::new();
    let mix = &load.mix;
    let a_day = [
        ("sales_per_day", load.sales_per_day),
        ("price_changes_per_day", load.price_changes_per_day),
        ("other_changes_per_day", load.other_changes_per_day),
        ("reads_per_day", load.reads_per_day),
    ];
    for (field, count) in a_day {
        let most = limits::REQUESTS_A_DAY_MAX;
        check.that(count <= most, field, format!("{count}, the limit is {most}"));
    }
    let hits = [
        ("mix/product_hits", mix.product_hits),
        ("mix/category_hits", mix.category_hits),
        ("mix/brand_hits", mix.brand_hits),
    ];
    for (field, count) in hits {
        check.that(count <= limits::HITS_MAX, field, format!("{count}, the limit is {}", limits::HITS_MAX));
    }
    let shares = [
        ("mix/get", mix.get),
        ("mix/product", mix.product),
        ("mix/category", mix.category),
        ("mix/embeddings", mix.embeddings),
        ("mix/brand", mix.brand),
    ];
    let mut sum = Decimal::ZERO;
    for (field, share) in shares.into_iter().chain([("with_brand", load.with_brand)]) {
        let good = (Decimal::ZERO..=Decimal::ONE).contains(&share) && share.normalize().scale() <= 6;
        check.that(good, field, format!("{share} is not 0 to 1, with six decimals at the most"));
        if good && field != "with_brand" {
            sum += share;
        }
    }
    check.that(sum == Decimal::ONE, "mix", format!("the shares sum up to {sum}, not to 1"));
    for (field, years) in [("years", load.years), ("retention_years", design.retention_years.unwrap_or(0))] {
        check.that(years <= limits::YEARS_MAX, field, format!("{years}, the limit is {}", limits::YEARS_MAX));
    }
    for (field, shards) in [("category_shards", design.category_shards), ("embedding_shards", design.embedding_shards)]
    {
        let good = (1..=limits::SHARDS_MAX).contains(&(shards as usize));
        check.that(good, field, format!("{shards} is not 1 to {}", limits::SHARDS_MAX));
    }
    let all = [
        ("write_million", prices.write_million),
        ("read_million", prices.read_million),
        ("storage_gigabyte_month", prices.storage_gigabyte_month),
    ];
    for (field, price) in all {
        let good = (Decimal::ZERO..=Decimal::from(1_000_000)).contains(&price) && price.normalize().scale() <= 6;
        check.that(good, field, format!("{price} is not 0 to 1000000, with six decimals at the most"));
    }
    Ok(check.end()?)
}
