//! A price for a new item, from what comparable ones were sold at.

use std::collections::{HashMap, VecDeque};

use rust_decimal::Decimal;
use widerow::Date;

use super::{
    answers::{UNITS, apart, point},
    read::Days,
    walk::walk_category,
};
use crate::{
    check::Check,
    context::Context,
    sales::{
        error::Result,
        figures::{
            self, Advice, Basis, Comparable, Confidence, Reason, SuggestSettings, Wanted, limits::COMPARABLES_MAX,
        },
        record,
        season::{Hemisphere, Season},
        shards::embedding_shard,
        tables::{SaleRecord, SaleVector, VECTOR_SHARDS},
    },
};

/// The item that a price is wanted for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    pub category: String,
    pub brand: Option<String>,
    /// In which it is to be sold; None: seasons do not matter.
    pub season: Option<Season>,
    /// The day on which it is asked; None: today.
    pub on: Option<Date>,
    /// Its embedding: sales of what looks alike weigh more.
    pub vector: Option<Vec<f32>>,
}

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Advised {
    Price(Box<Priced>),
    TooFewSales { found: usize, needed: usize },
}

/// A price, and what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Priced {
    pub price: Decimal,
    pub low: Decimal,
    pub high: Decimal,
    pub basis: Basis,
    pub sales_count: usize,
    pub effective_count: Decimal,
    pub confidence: Confidence,
    pub reasons: Vec<Reason>,
    /// The sales with the most weight, each with its share of it and with how much it looks alike.
    pub rests_on: Vec<(SaleRecord, Decimal, Option<f32>)>,
}

/// Half-lives back from the day in question, tried one after the other until there are sales enough: the oldest weigh less
/// than a two hundredth of the newest.
const HALF_LIVES: [u32; 4] = [1, 2, 4, 8];
/// Times the least number of sales that are enough.
const ENOUGH: usize = 10;
/// Vectors that are read at once.
const VECTORS_TOGETHER: usize = 500;

/// Suggests a price for an item. Of a category with very many sales, the latest hundred thousand are looked at.
pub async fn suggest_price(ctx: &Context, item: Item) -> Result<Advised> {
    let mut check = Check::new();
    record::name(&mut check, "category", &item.category);
    if let Some(brand) = &item.brand {
        record::name(&mut check, "brand", brand);
    }
    if let Some(vector) = &item.vector {
        record::check_vector(&mut check, vector);
    }
    check.end()?;
    let settings = ctx.settings.sales.suggestion.clone();
    let on = item.on.unwrap_or_else(|| ctx.now().date());
    let sales = comparable(ctx, &item, on, &settings).await?;
    let similar = similarities(ctx, &sales, item.vector.as_deref()).await?;
    let hemisphere = ctx.settings.sales.hemisphere;
    let (tenant, category, count) = (ctx.store.tenant(), item.category.clone(), sales.len());
    tracing::debug!(%tenant, category, sales = count, "a price was suggested");
    apart(move || advise(&item, on, sales, &similar, &settings, hemisphere)).await
}

/// The sales of the category that are looked at.
async fn comparable(ctx: &Context, item: &Item, on: Date, settings: &SuggestSettings) -> Result<Vec<SaleRecord>> {
    let enough = settings.sales_min.saturating_mul(ENOUGH);
    let mut sales = VecDeque::new();
    for half_lives in HALF_LIVES {
        let back = settings.half_life_days.saturating_mul(half_lives);
        let from = on.days().saturating_sub(i32::try_from(back).unwrap_or(i32::MAX)).max(Date::MIN.days());
        sales.clear();
        let see = |sale| {
            if sales.len() == COMPARABLES_MAX {
                sales.pop_front();
            }
            sales.push_back(sale);
        };
        walk_category(ctx, &item.category, None, Days::between(Date::from_days(from), on), see).await?;
        let of_brand = |sale: &&SaleRecord| item.brand.is_none() || sale.brand == item.brand;
        if sales.iter().filter(of_brand).count() >= enough {
            break;
        }
    }
    Ok(sales.into())
}

type Embedded = (String, String);

/// How much each of these embeddings looks like the item's.
async fn similarities(ctx: &Context, sales: &[SaleRecord], query: Option<&[f32]>) -> Result<HashMap<Embedded, f32>> {
    let mut similar = HashMap::new();
    let Some(query) = query else { return Ok(similar) };
    let embedded = sales.iter().filter_map(|sale| Some((sale.product_id.clone(), sale.embedding_id.clone()?)));
    let mut embedded: Vec<Embedded> = embedded.collect();
    embedded.sort_unstable();
    embedded.dedup();
    for some in embedded.chunks(VECTORS_TOGETHER.min(widerow::limits::GET_KEYS_MAX)) {
        let key = |(product, embedding): &Embedded| {
            (embedding_shard(product, VECTOR_SHARDS), product.clone(), embedding.clone())
        };
        for row in ctx.store.get_many::<SaleVector>(some.iter().map(key)).await?.into_iter().flatten() {
            // A vector of another length is another embedding, and says nothing here.
            if let Ok(Some(cosine)) = figures::cosine(query, &row.vector()) {
                similar.insert((row.product_id, row.embedding_id), cosine);
            }
        }
    }
    Ok(similar)
}

fn advise(
    item: &Item,
    on: Date,
    sales: Vec<SaleRecord>,
    similar: &HashMap<Embedded, f32>,
    settings: &SuggestSettings,
    hemisphere: Hemisphere,
) -> figures::Result<Advised> {
    let similarity = |sale: &SaleRecord| {
        let embedding = sale.embedding_id.clone()?;
        similar.get(&(sale.product_id.clone(), embedding)).copied()
    };
    // What another tool wrote in its own way is left out.
    let good = |sale: &&SaleRecord| UNITS.has(sale.sale_price);
    let comparables: Vec<Comparable<'_>> = sales
        .iter()
        .filter(good)
        .map(|sale| Comparable { point: point(sale, hemisphere), similarity: similarity(sale) })
        .collect();
    let wanted = Wanted { category: &item.category, brand: item.brand.as_deref(), season: item.season, on };
    let suggestion = match figures::suggest(&wanted, &comparables, settings, UNITS)? {
        Advice::Price(suggestion) => suggestion,
        Advice::TooFewSales { found, needed } => return Ok(Advised::TooFewSales { found, needed }),
    };
    let by_id: HashMap<(&str, Date, &str), &SaleRecord> =
        sales.iter().map(|sale| ((sale.product_id.as_str(), sale.sale_date, sale.sale_id.as_str()), sale)).collect();
    let record = |rests: &figures::RestsOn<'_>| {
        let point = &rests.sale.point;
        let sale = by_id.get(&(point.product_id, point.date, point.sale_id))?;
        Some(((*sale).clone(), rests.weight, rests.sale.similarity))
    };
    Ok(Advised::Price(Box::new(Priced {
        price: suggestion.price,
        low: suggestion.low,
        high: suggestion.high,
        basis: suggestion.basis,
        sales_count: suggestion.sales_count,
        effective_count: suggestion.effective_count,
        confidence: suggestion.confidence,
        rests_on: suggestion.rests_on.iter().filter_map(record).collect(),
        reasons: suggestion.reasons,
    })))
}
