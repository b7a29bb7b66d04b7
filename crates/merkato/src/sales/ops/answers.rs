//! Answers to a buyer's questions: the sales of a category, a brand or a product are walked over once, and the figures of what
//! was seen are told. Eight to sixteen bytes are kept of a sale, and what takes long is computed on a thread that may block.

use std::{collections::HashSet, num::NonZeroUsize};

use rust_decimal::Decimal;
use widerow::Date;

use super::{
    read::Days,
    walk::{walk_brand, walk_category, walk_category_prices, walk_product},
};
use crate::{
    check::Check,
    context::Context,
    limits,
    sales::{
        error::{Error, Result},
        figures::{self, By, Comparison, GroupFigures, Histogram, MinorUnits, PeriodFigures, Point, Series, Summary},
        record,
        season::{Hemisphere, Season},
        shards::embedding_shard,
        stats::Asked,
        tables::{SaleRecord, SaleVector, VECTOR_SHARDS},
    },
};

/// Whose sales a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Category { name: String, season: Option<Season> },
    Brand(String),
    Product(String),
}

/// Prices over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// From the first sale to the last, gaps included.
    pub periods: Vec<PeriodFigures>,
    /// Of all of them; None without any.
    pub whole: Option<Summary>,
    /// Sales whose price is no price here, as other tools may write it.
    pub left_out: u64,
}

/// How prices are distributed.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    pub histogram: Histogram,
    pub whole: Option<Summary>,
    pub left_out: u64,
}

/// Brands side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Brands {
    /// Those with the most sales first.
    pub brands: Vec<GroupFigures>,
    pub left_out: u64,
}

/// A product whose embedding is near.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    pub product_id: String,
    pub embedding_id: String,
    pub category: String,
    pub brand: Option<String>,
    pub sale_price: Decimal,
    pub sale_date: Date,
    /// Of the angle between the two vectors: 1 is the same direction.
    pub cosine: f32,
}

/// Prices have two decimals at the most, whatever the currency: those of the sort keys.
pub(super) const UNITS: MinorUnits = MinorUnits::CENTS;

/// A record as the figures look at it.
pub fn point(sale: &SaleRecord, hemisphere: Hemisphere) -> Point<'_> {
    let season = sale.season.as_deref().and_then(|season| season.parse().ok());
    Point {
        product_id: &sale.product_id,
        sale_id: &sale.sale_id,
        date: sale.sale_date,
        price: sale.sale_price,
        original: sale.list_price(),
        season: season.unwrap_or_else(|| Season::of(sale.sale_date, hemisphere)),
        category: &sale.category,
        brand: sale.brand.as_deref(),
    }
}

impl Subject {
    /// Shows every sale between two days, in the order of their days.
    pub async fn walk(&self, ctx: &Context, days: Days, see: impl FnMut(SaleRecord)) -> Result<u64> {
        match self {
            Subject::Category { name, season } => walk_category(ctx, name, *season, days, see).await,
            Subject::Brand(name) => walk_brand(ctx, name, days, see).await,
            Subject::Product(id) => walk_product(ctx, id, days, see).await,
        }
    }
}

/// What is seen on a walk goes into figures, until one refuses: the first refusal is the answer.
struct Gathering<T> {
    into: T,
    left_out: u64,
    refused: Option<figures::Error>,
}

impl<T> Gathering<T> {
    fn new(into: T) -> Self {
        Gathering { into, left_out: 0, refused: None }
    }

    fn add(&mut self, add: impl FnOnce(&mut T) -> figures::Result<()>) {
        if self.refused.is_some() {
            return;
        }
        match add(&mut self.into) {
            Ok(()) => {}
            // One sale that another tool wrote in its own way must not hide all others.
            Err(figures::Error::Invalid(_)) => self.left_out += 1,
            Err(error) => self.refused = Some(error),
        }
    }

    fn end(self) -> Result<(T, u64)> {
        match self.refused {
            Some(error) => Err(error.into()),
            None => Ok((self.into, self.left_out)),
        }
    }
}

/// Prices over time: by day, week, month or season.
pub async fn get_trend(ctx: &Context, subject: &Subject, by: By, days: Days) -> Result<Trend> {
    if let (Some(from), Some(to)) = (days.from, days.to) {
        by.check(from, to, figures::limits::PERIODS_MAX)?;
    }
    let hemisphere = ctx.settings.sales.hemisphere;
    let mut seen = Gathering::new((Series::new(by, UNITS), Comparison::new(UNITS)));
    let see = |sale: SaleRecord| {
        let point = point(&sale, hemisphere);
        seen.add(|(series, whole)| {
            series.add(&point)?;
            whole.add_to(None, &point)
        });
    };
    let count = subject.walk(ctx, days, see).await?;
    told(ctx, subject, count);
    let ((series, whole), left_out) = seen.end()?;
    let (periods, whole) = apart(move || Ok((series.end()?, whole.end()?.pop()))).await?;
    Ok(Trend { periods, whole: whole.map(|group| group.summary), left_out })
}

/// How the prices are distributed.
pub async fn get_distribution(ctx: &Context, subject: &Subject, days: Days) -> Result<Distribution> {
    let hemisphere = ctx.settings.sales.hemisphere;
    let mut seen = Gathering::new((Vec::new(), Comparison::new(UNITS)));
    let see = |sale: SaleRecord| {
        let point = point(&sale, hemisphere);
        seen.add(|(prices, whole)| {
            whole.add_to(None, &point)?;
            prices.push(point.price);
            Ok(())
        });
    };
    let count = subject.walk(ctx, days, see).await?;
    told(ctx, subject, count);
    let ((prices, whole), left_out) = seen.end()?;
    let (histogram, whole) = apart(move || Ok((figures::histogram(prices, UNITS)?, whole.end()?.pop()))).await?;
    Ok(Distribution { histogram, whole: whole.map(|group| group.summary), left_out })
}

/// All that a page shows of some sales, from one walk over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub periods: Vec<PeriodFigures>,
    pub seasons: Vec<PeriodFigures>,
    pub histogram: Histogram,
    pub whole: Option<Summary>,
    pub left_out: u64,
}

/// Prices over time, season by season, and as a distribution.
pub async fn get_picture(ctx: &Context, subject: &Subject, by: By, days: Days) -> Result<Picture> {
    if let (Some(from), Some(to)) = (days.from, days.to) {
        by.check(from, to, figures::limits::PERIODS_MAX)?;
    }
    let hemisphere = ctx.settings.sales.hemisphere;
    let all = (Series::new(by, UNITS), Series::new(By::Season(hemisphere), UNITS), Comparison::new(UNITS), Vec::new());
    let mut seen = Gathering::new(all);
    let see = |sale: SaleRecord| {
        let point = point(&sale, hemisphere);
        seen.add(|(periods, seasons, whole, prices)| {
            periods.add(&point)?;
            seasons.add(&point)?;
            prices.push(point.price);
            whole.add_to(None, &point)
        });
    };
    let count = subject.walk(ctx, days, see).await?;
    told(ctx, subject, count);
    let ((periods, seasons, whole, prices), left_out) = seen.end()?;
    let computed = apart(move || {
        let histogram = figures::histogram(prices, UNITS)?;
        Ok((periods.end()?, seasons.end()?, histogram, whole.end()?.pop()))
    });
    let (periods, seasons, histogram, whole) = computed.await?;
    Ok(Picture { periods, seasons, histogram, whole: whole.map(|group| group.summary), left_out })
}

/// The prices of a category in a few numbers, from its index alone: no record is read, so that no discount is told.
pub async fn get_category_summary(ctx: &Context, category: &str, days: Days) -> Result<Option<Summary>> {
    let mut seen = Gathering::new(Comparison::new(UNITS));
    let hemisphere = ctx.settings.sales.hemisphere;
    let see = |date: Date, price: Decimal| {
        let season = Season::of(date, hemisphere);
        let original = Decimal::ZERO;
        let point = Point { product_id: "", sale_id: "", date, price, original, season, category, brand: None };
        seen.add(|whole| whole.add(&point));
    };
    walk_category_prices(ctx, category, days, see).await?;
    let (whole, _) = seen.end()?;
    Ok(apart(move || whole.end()).await?.pop().map(|group| group.summary))
}

/// The brands of a category side by side.
pub async fn compare_brands(ctx: &Context, category: &str, season: Option<Season>, days: Days) -> Result<Brands> {
    let hemisphere = ctx.settings.sales.hemisphere;
    let mut seen = Gathering::new(Comparison::new(UNITS));
    let see = |sale: SaleRecord| seen.add(|brands| brands.add(&point(&sale, hemisphere)));
    let subject = Subject::Category { name: category.to_owned(), season };
    let count = subject.walk(ctx, days, see).await?;
    told(ctx, &subject, count);
    let (comparison, left_out) = seen.end()?;
    Ok(Brands { brands: apart(move || comparison.end()).await?, left_out })
}

fn told(ctx: &Context, subject: &Subject, sales: u64) {
    ctx.sale_tally.asked(Asked::Figures, sales);
    let tenant = ctx.store.tenant();
    match subject {
        Subject::Category { name, .. } => tracing::debug!(%tenant, category = name, sales, "figures of a category"),
        Subject::Brand(name) => tracing::debug!(%tenant, brand = name, sales, "figures of a brand"),
        Subject::Product(id) => tracing::debug!(%tenant, product = id, sales, "figures of a product"),
    }
}

/// Computes on a thread that may block.
pub(super) async fn apart<T: Send + 'static>(
    compute: impl FnOnce() -> figures::Result<T> + Send + 'static,
) -> Result<T> {
    let computed = tokio::task::spawn_blocking(compute).await;
    Ok(computed.map_err(|_| Error::Data(widerow::Error::unavailable("the figures were not finished")))??)
}

/// Vectors that are compared at once; with the longest of them 64 MiB.
const VECTORS_TOGETHER: usize = 4_096;
const VECTORS_A_PAGE: usize = 256;

/// The tenant's products whose embeddings are nearest to a vector, the nearest first, each once: all are looked at, on as many
/// threads as there are cores. Vectors of another length are other embeddings and are left out; so are those of `except`.
pub async fn find_nearest(ctx: &Context, vector: &[f32], count: usize, except: Option<&str>) -> Result<Vec<Near>> {
    let mut check = Check::new();
    record::check_vector(&mut check, vector);
    check.that((1..=limits::NEAREST_MAX).contains(&count), "count", format!("not 1 to {}", limits::NEAREST_MAX));
    check.end()?;
    let mut best: Vec<(SaleVector, f32)> = Vec::new();
    let (mut block, mut other) = (Vec::new(), None);
    for shard in 0..VECTOR_SHARDS as i32 {
        let mut cursor = None;
        loop {
            let page = ctx.store.slice::<SaleVector>(shard).limit(VECTORS_A_PAGE).after(cursor).page().await?;
            for row in page.rows.into_iter().filter(|row| Some(row.product_id.as_str()) != except) {
                if row.floats.len() == 4 * vector.len() {
                    block.push(row);
                } else {
                    other = Some(row.floats.len() / 4);
                }
            }
            if block.len() >= VECTORS_TOGETHER {
                best = nearest_of(vector, std::mem::take(&mut block), best, count).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
    }
    best = nearest_of(vector, block, best, count).await?;
    if let (true, Some(found)) = (best.is_empty(), other) {
        return Err(figures::Error::OtherDimension { row: 0, found, expected: vector.len() }.into());
    }
    let near = |(row, cosine): (SaleVector, f32)| Near {
        product_id: row.product_id,
        embedding_id: row.embedding_id,
        category: row.category,
        brand: row.brand,
        sale_price: row.sale_price,
        sale_date: row.sale_date,
        cosine,
    };
    Ok(best.into_iter().map(near).collect())
}

/// The best of a block and of those that were the best so far.
async fn nearest_of(
    vector: &[f32],
    block: Vec<SaleVector>,
    best: Vec<(SaleVector, f32)>,
    count: usize,
) -> Result<Vec<(SaleVector, f32)>> {
    let query = vector.to_vec();
    apart(move || {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let mut rows: Vec<SaleVector> = block.into_iter().chain(best.into_iter().map(|(row, _)| row)).collect();
        let mut nearest: Vec<(SaleVector, f32)> = Vec::new();
        // Several embeddings of one product take each other's places: then more are looked for among the others.
        while nearest.len() < count && !rows.is_empty() {
            // Numbers tell rows apart, and put equals in one order.
            rows.sort_by(|a, b| (&a.product_id, &a.embedding_id).cmp(&(&b.product_id, &b.embedding_id)));
            let vectors: Vec<(usize, Vec<f32>)> = rows.iter().map(SaleVector::vector).enumerate().collect();
            let found = figures::nearest(&query, vectors.as_slice(), count - nearest.len(), threads)?;
            if found.is_empty() {
                break;
            }
            let mut products = HashSet::new();
            for (at, cosine) in found {
                if products.insert(rows[at].product_id.clone()) {
                    nearest.push((rows[at].clone(), cosine));
                }
            }
            rows.retain(|row| !products.contains(&row.product_id));
        }
        Ok(nearest)
    })
    .await
}

/// The newest embedding of a product whose vector is known.
pub async fn find_vector(ctx: &Context, product_id: &str) -> Result<Option<SaleVector>> {
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    check.end()?;
    let shard = embedding_shard(product_id, VECTOR_SHARDS);
    let (mut newest, mut cursor) = (None::<SaleVector>, None);
    loop {
        let slice = ctx.store.slice::<SaleVector>(shard).prefix((product_id.to_owned(),));
        let page = slice.limit(VECTORS_A_PAGE).after(cursor).page().await?;
        for row in page.rows {
            if newest.as_ref().is_none_or(|known| known.sale_date <= row.sale_date) {
                newest = Some(row);
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(newest);
        }
    }
}
