//! The ways in which sales are found.

use std::{collections::HashSet, ops::Bound};

use widerow::{Cursor, Date, Page};

use crate::{
    check::Check,
    context::Context,
    limits,
    pattern::PageRequest,
    sales::{
        error::{Error, Result},
        merge::Merge,
        record, retention,
        season::Season,
        shards::embedding_shard,
        stats::Asked,
        tables::{BrandSale, CategorySale, EmbeddingSale, PaddedPrice, SaleRecord},
    },
};

/// Hits that are looked at together where most of them are others'.
const LOOKED_AT: usize = 1_000;

/// From one day to another, both included; None: without a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Days {
    pub from: Option<Date>,
    pub to: Option<Date>,
}

impl Days {
    pub fn between(from: Date, to: Date) -> Self {
        Days { from: Some(from), to: Some(to) }
    }

    pub(super) fn check(&self, check: &mut Check) {
        for (field, date) in [("from", self.from), ("to", self.to)] {
            check.that(date.is_none_or(Date::in_range), field, "no such day");
        }
        if let (Some(from), Some(to)) = (self.from, self.to) {
            check.that(from <= to, "to", "it is before `from`");
        }
    }

    pub(super) fn bounds(&self) -> (Bound<Date>, Bound<Date>) {
        let bound = |date: Option<Date>| date.map_or(Bound::Unbounded, Bound::Included);
        (bound(self.from), bound(self.to))
    }
}

/// Some sales, and where it goes on. A page may be short, even empty, with more to come: where most of what was looked at was
/// not wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct SalePage<T> {
    pub rows: Vec<T>,
    /// None at the end.
    pub next: Option<Cursor>,
}

/// An embedding of a product, as its index shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    pub product_id: String,
    pub sale_date: Date,
    pub sale_id: String,
    pub embedding_s3_key: String,
    pub category: String,
    pub sale_price: rust_decimal::Decimal,
    pub brand: Option<String>,
}

/// S1.
pub async fn find_sale(ctx: &Context, product_id: &str, sale_date: Date, sale_id: &str) -> Result<Option<SaleRecord>> {
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    record::id(&mut check, "sale_id", sale_id);
    check.end()?;
    Ok(ctx.store.get::<SaleRecord>((product_id.to_owned(), sale_date, sale_id.to_owned())).await?)
}

pub async fn get_sale(ctx: &Context, product_id: &str, sale_date: Date, sale_id: &str) -> Result<SaleRecord> {
    let missing = || Error::SaleNotFound { product_id: product_id.to_owned(), sale_id: sale_id.to_owned() };
    find_sale(ctx, product_id, sale_date, sale_id).await?.ok_or_else(missing)
}

/// S2: the sales of a product, oldest first.
pub async fn list_product_sales(
    ctx: &Context,
    product_id: &str,
    days: Days,
    page: PageRequest,
) -> Result<Page<SaleRecord>> {
    page.check()?;
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    days.check(&mut check);
    check.end()?;
    let (from, to) = days.bounds();
    let slice = ctx.store.slice::<SaleRecord>(product_id.to_owned()).from(from).to(to);
    let found = slice.limit(page.limit).after(page.cursor).page().await?;
    ctx.sale_tally.asked(Asked::Product, found.rows.len() as u64);
    tracing::debug!(tenant = %ctx.store.tenant(), product = product_id, sales = found.rows.len(), "sales of a product");
    Ok(found)
}

/// S3: the sales of a category by day and price, all shards side by side; of one season, if one is named.
pub async fn list_category_sales(
    ctx: &Context,
    category: &str,
    season: Option<Season>,
    days: Days,
    page: PageRequest,
) -> Result<SalePage<SaleRecord>> {
    page.check()?;
    let piece = page.limit.div_ceil(ctx.settings.sales.category_shards.max(1) as usize) + 1;
    let mut hits = category_hits(ctx, category, season, days, piece, page.cursor.as_ref())?;
    let of_season = |sale: &SaleRecord| season.is_none_or(|season| sale.season.as_deref() == Some(season.as_str()));
    let found = fill(ctx, &mut hits, page.limit, of_season).await?;
    ctx.sale_tally.asked(Asked::Category, found.rows.len() as u64);
    tracing::debug!(tenant = %ctx.store.tenant(), category, sales = found.rows.len(), "sales of a category");
    Ok(found)
}

pub(super) fn category_hits(
    ctx: &Context,
    category: &str,
    season: Option<Season>,
    days: Days,
    piece: usize,
    cursor: Option<&Cursor>,
) -> Result<Merge<CategorySale>> {
    let partitions = category_partitions(ctx, category, days)?;
    let of = season.map_or("", Season::as_str);
    Merge::new(&ctx.store, partitions, days.bounds(), of, piece, cursor)
}

/// The shards of a category, if there can be one of that name and such days.
pub(super) fn category_partitions(ctx: &Context, category: &str, days: Days) -> Result<Vec<(String, i32)>> {
    let mut check = Check::new();
    record::name(&mut check, "category", category);
    days.check(&mut check);
    check.end()?;
    let shards = ctx.settings.sales.category_shards.clamp(1, limits::SALE_SHARDS_MAX) as i32;
    Ok((0..shards).map(|shard| (category.to_owned(), shard)).collect())
}

/// S5: the sales of a brand by day and price.
pub async fn list_brand_sales(
    ctx: &Context,
    brand: &str,
    days: Days,
    page: PageRequest,
) -> Result<SalePage<SaleRecord>> {
    page.check()?;
    let mut hits = brand_hits(ctx, brand, days, page.limit, page.cursor.as_ref())?;
    let found = fill(ctx, &mut hits, page.limit, |_| true).await?;
    ctx.sale_tally.asked(Asked::Brand, found.rows.len() as u64);
    tracing::debug!(tenant = %ctx.store.tenant(), brand, sales = found.rows.len(), "sales of a brand");
    Ok(found)
}

pub(super) fn brand_hits(
    ctx: &Context,
    brand: &str,
    days: Days,
    piece: usize,
    cursor: Option<&Cursor>,
) -> Result<Merge<BrandSale>> {
    let mut check = Check::new();
    record::name(&mut check, "brand", brand);
    days.check(&mut check);
    check.end()?;
    Merge::new(&ctx.store, [brand.to_owned()], days.bounds(), "", piece, cursor)
}

/// S4: the embeddings of a product, oldest first. They stand among those of all products of their shard: so many of these
/// are looked at for one page, and the next goes on behind them.
pub async fn list_embeddings(
    ctx: &Context,
    product_id: &str,
    days: Days,
    page: PageRequest,
) -> Result<SalePage<Embedding>> {
    page.check()?;
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    days.check(&mut check);
    check.end()?;
    let shard = embedding_shard(product_id, ctx.settings.sales.embedding_shards);
    let cursor = page.cursor.as_ref();
    let mut hits = Merge::<EmbeddingSale>::new(&ctx.store, [shard], days.bounds(), product_id, LOOKED_AT, cursor)?;
    let (mut rows, mut looked_at) = (Vec::new(), 0);
    while rows.len() < page.limit && looked_at < limits::SALE_HITS_A_PAGE_MAX {
        // One by one, as they are in memory already: the page ends right behind its last row.
        let Some(hit) = hits.take(1).await?.pop() else { break };
        looked_at += 1;
        if hit.product_id == product_id {
            rows.push(hit);
        }
    }
    let next = hits.cursor();
    let rows = live_embeddings(ctx, rows).await?;
    ctx.sale_tally.asked(Asked::Embeddings, rows.len() as u64);
    tracing::debug!(tenant = %ctx.store.tenant(), product = product_id, embeddings = rows.len(), "embeddings of a product");
    Ok(SalePage { rows: rows.into_iter().filter_map(embedding).collect(), next })
}

fn embedding(row: EmbeddingSale) -> Option<Embedding> {
    Some(Embedding {
        embedding_s3_key: row.embedding_s3_key?,
        product_id: row.product_id,
        sale_date: row.sale_date,
        sale_id: row.sale_id,
        category: row.category,
        sale_price: row.sale_price,
        brand: row.brand,
    })
}

/// The document's index does not project the end of a sale. One whose day is within the retention has not ended; of the
/// others the records are asked.
async fn live_embeddings(ctx: &Context, rows: Vec<EmbeddingSale>) -> Result<Vec<EmbeddingSale>> {
    let now = ctx.now();
    let years = ctx.settings.sales.retention();
    let may_have_ended = |row: &EmbeddingSale| retention::end(row.sale_date, years).is_none_or(|end| end <= now);
    let doubtful: Vec<_> = rows.iter().filter(|row| may_have_ended(row)).map(source_of_embedding).collect();
    let live = ctx.store.get_many::<SaleRecord>(doubtful).await?;
    let live: HashSet<_> = live.into_iter().flatten().map(|sale| sale.key()).collect();
    let is_live = |row: &EmbeddingSale| !may_have_ended(row) || live.contains(&source_of_embedding(row));
    Ok(rows.into_iter().filter(is_live).collect())
}

fn source_of_embedding(row: &EmbeddingSale) -> (String, Date, String) {
    (row.product_id.clone(), row.sale_date, row.sale_id.clone())
}

/// A hit of an index that has keys alone.
pub(super) trait Hit: widerow::Row {
    fn sale(&self) -> (String, Date, String);
    /// Whether the record still says what the index says. An index follows its table a moment later.
    fn is_of(&self, sale: &SaleRecord) -> bool;
}

fn same_price(price: &PaddedPrice, sale: &SaleRecord) -> bool {
    // What another tool padded otherwise is taken at its word.
    price.minor_units().is_none() || PaddedPrice::of(sale.sale_price).as_ref() == Some(price)
}

impl Hit for CategorySale {
    fn sale(&self) -> (String, Date, String) {
        (self.product_id.clone(), self.sale_date, self.sale_id.clone())
    }
    fn is_of(&self, sale: &SaleRecord) -> bool {
        sale.category == self.category
            && sale.category_shard == Some(self.category_shard)
            && same_price(&self.price, sale)
    }
}

impl Hit for BrandSale {
    fn sale(&self) -> (String, Date, String) {
        (self.product_id.clone(), self.sale_date, self.sale_id.clone())
    }
    fn is_of(&self, sale: &SaleRecord) -> bool {
        sale.brand.as_ref() == Some(&self.brand) && same_price(&self.price, sale)
    }
}

/// The records of hits, in their order; those that have ended or say otherwise by now are left out.
pub(super) async fn complete<H: Hit>(ctx: &Context, hits: &[H]) -> Result<Vec<SaleRecord>> {
    let mut sales = Vec::with_capacity(hits.len());
    for some in hits.chunks(widerow::limits::GET_KEYS_MAX) {
        let found = ctx.store.get_many::<SaleRecord>(some.iter().map(Hit::sale)).await?;
        let live = some.iter().zip(found).filter_map(|(hit, sale)| sale.filter(|sale| hit.is_of(sale)));
        sales.extend(live);
    }
    Ok(sales)
}

/// A page of records: full, unless it is the last or too many hits were not wanted.
async fn fill<H: Hit>(
    ctx: &Context,
    hits: &mut Merge<H>,
    limit: usize,
    wanted: impl Fn(&SaleRecord) -> bool,
) -> Result<SalePage<SaleRecord>>
where
    H::Partition: Clone,
{
    let (mut rows, mut looked_at) = (Vec::new(), 0);
    while rows.len() < limit && looked_at < limits::SALE_HITS_A_PAGE_MAX {
        let some = hits.take(limit - rows.len()).await?;
        if some.is_empty() {
            break;
        }
        looked_at += some.len();
        rows.extend(complete(ctx, &some).await?.into_iter().filter(&wanted));
    }
    Ok(SalePage { rows, next: hits.cursor() })
}
