//! What sales say about prices: over time, as a distribution, brands side by side, and what is similar.

use merkato::{
    Context, Currency,
    sales::{
        self, Brands, Distribution, Near, Season, Subject, Trend,
        figures::{By, GroupFigures, PeriodFigures, Summary},
    },
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{SeasonView, currency, days};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Day, Listing, Money},
};

/// By what sales are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeriodKind {
    Day,
    /// Of ISO 8601, beginning on Monday.
    Week,
    Month,
    /// Of three whole months, December to February being one.
    Season,
}

impl PeriodKind {
    pub fn by(self, ctx: &Context) -> By {
        match self {
            PeriodKind::Day => By::Day,
            PeriodKind::Week => By::Week,
            PeriodKind::Month => By::Month,
            PeriodKind::Season => By::Season(ctx.settings.sales.hemisphere),
        }
    }
}

/// Several prices in a few numbers.
#[derive(Serialize, ToSchema)]
pub struct SummaryView {
    /// Sales.
    pub count: u64,
    pub minimum: Money,
    /// Quartiles are interpolated (type 7, as spreadsheets have them).
    pub lower_quartile: Money,
    pub median: Money,
    pub upper_quartile: Money,
    pub maximum: Money,
    pub mean: Money,
    pub total: Money,
    /// What was left off the list prices, as a share of their sum; below zero where more was paid.
    #[schema(example = "0.125")]
    pub discount: Option<String>,
}

impl SummaryView {
    pub fn new(summary: &Summary, currency: &Currency) -> Self {
        let money = |amount| Money::new(amount, currency);
        SummaryView {
            count: summary.count,
            minimum: money(summary.minimum),
            lower_quartile: money(summary.lower_quartile),
            median: money(summary.median),
            upper_quartile: money(summary.upper_quartile),
            maximum: money(summary.maximum),
            mean: money(summary.mean),
            total: money(summary.total),
            discount: summary.discount.map(share),
        }
    }
}

/// A share, as 0.125.
fn share(share: Decimal) -> String {
    share.normalize().to_string()
}

/// The sales of one period.
#[derive(Serialize, ToSchema)]
pub struct PeriodView {
    /// As 2025-12-29, 2026-W01, 2025-12 or winter 2025/26.
    #[schema(example = "2025-12")]
    pub period: String,
    pub from: Day,
    /// Its last day.
    pub to: Day,
    /// Null where nothing was sold.
    pub summary: Option<SummaryView>,
    /// Of the median against that of the period before, as a share of it; null where that had no sales.
    #[schema(example = "-0.08")]
    pub change: Option<String>,
}

impl PeriodView {
    fn new(figures: &PeriodFigures, currency: &Currency) -> Self {
        PeriodView {
            period: figures.period.to_string(),
            from: figures.period.from().into(),
            to: figures.period.to().into(),
            summary: figures.summary.as_ref().map(|summary| SummaryView::new(summary, currency)),
            change: figures.change.map(share),
        }
    }
}

/// Prices over time.
#[derive(Serialize, ToSchema)]
pub struct TrendView {
    pub by: PeriodKind,
    /// From the first sale to the last; a period without sales is there without a summary.
    pub periods: Vec<PeriodView>,
    /// Of all of them; null without any sale.
    pub whole: Option<SummaryView>,
    /// Sales that are not counted because another tool wrote no price that could be.
    pub left_out: u64,
}

impl TrendView {
    fn new(by: PeriodKind, trend: &Trend, currency: &Currency) -> Self {
        TrendView {
            by,
            periods: trend.periods.iter().map(|period| PeriodView::new(period, currency)).collect(),
            whole: trend.whole.as_ref().map(|whole| SummaryView::new(whole, currency)),
            left_out: trend.left_out,
        }
    }
}

/// Which periods, of which days.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FiguresQuery {
    /// `month` if it is not said.
    #[param(inline)]
    by: Option<PeriodKind>,
    /// The first day; from the first sale on if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; to the last sale if it is not said. At most a thousand periods in all.
    #[param(inline)]
    to: Option<Day>,
}

/// Which periods, of which season and days.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CategoryFiguresQuery {
    /// `month` if it is not said.
    #[param(inline)]
    by: Option<PeriodKind>,
    /// Of one season alone, as the records name it.
    #[param(inline)]
    season: Option<SeasonView>,
    /// The first day; from the first sale on if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; to the last sale if it is not said. At most a thousand periods in all.
    #[param(inline)]
    to: Option<Day>,
}

async fn trend(visit: &Visit, subject: Subject, query: FiguresQuery) -> Result<Json<TrendView>, Problem> {
    let by = query.by.unwrap_or(PeriodKind::Month);
    let trend = sales::get_trend(&visit.ctx, &subject, by.by(&visit.ctx), days(query.from, query.to)).await?;
    Ok(Json(TrendView::new(by, &trend, currency(visit))))
}

fn category(name: String, season: Option<SeasonView>) -> Subject {
    Subject::Category { name, season: season.map(Season::from) }
}

/// The prices of a category over time
#[utoipa::path(get, path = "/v1/admin/sales/categories/{category}/figures", tag = "admin: sales",
    params(("category" = String, Path, description = "The category"), CategoryFiguresQuery),
    responses((status = 200, description = "Period by period", body = TrendView), (status = 304, description = "As the client has it")))]
pub async fn get_category_figures(
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<CategoryFiguresQuery>,
) -> Result<Json<TrendView>, Problem> {
    let CategoryFiguresQuery { by, season, from, to } = query;
    trend(&visit, category(name, season), FiguresQuery { by, from, to }).await
}

/// The prices of a brand over time
#[utoipa::path(get, path = "/v1/admin/sales/brands/{brand}/figures", tag = "admin: sales",
    params(("brand" = String, Path, description = "The brand"), FiguresQuery),
    responses((status = 200, description = "Period by period", body = TrendView), (status = 304, description = "As the client has it")))]
pub async fn get_brand_figures(
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<FiguresQuery>,
) -> Result<Json<TrendView>, Problem> {
    trend(&visit, Subject::Brand(name), query).await
}

/// The prices of a product over time
#[utoipa::path(get, path = "/v1/admin/sales/products/{product_id}/figures", tag = "admin: sales",
    params(("product_id" = String, Path, description = "The product"), FiguresQuery),
    responses((status = 200, description = "Period by period", body = TrendView), (status = 304, description = "As the client has it")))]
pub async fn get_product_figures(
    visit: Visit,
    Path(product): Path<String>,
    Query(query): Query<FiguresQuery>,
) -> Result<Json<TrendView>, Problem> {
    trend(&visit, Subject::Product(product), query).await
}

/// Prices from an edge to below the next.
#[derive(Serialize, ToSchema)]
pub struct BinView {
    pub from: Money,
    pub below: Money,
    pub count: u64,
}

/// How prices are distributed.
#[derive(Serialize, ToSchema)]
pub struct DistributionView {
    /// Of one width, side by side; none without sales.
    pub bins: Vec<BinView>,
    pub whole: Option<SummaryView>,
    /// Sales that are not counted because another tool wrote no price that could be.
    pub left_out: u64,
}

impl DistributionView {
    fn new(distribution: &Distribution, currency: &Currency) -> Self {
        let money = |amount| Money::new(amount, currency);
        let bins = distribution.histogram.bins.iter();
        DistributionView {
            bins: bins
                .map(|bin| BinView { from: money(bin.from), below: money(bin.below), count: bin.count })
                .collect(),
            whole: distribution.whole.as_ref().map(|whole| SummaryView::new(whole, currency)),
            left_out: distribution.left_out,
        }
    }
}

/// Which days.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DaysQuery {
    /// The first day; from the first sale on if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; to the last sale if it is not said.
    #[param(inline)]
    to: Option<Day>,
}

/// Which season and days.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SeasonDaysQuery {
    /// Of one season alone, as the records name it.
    #[param(inline)]
    season: Option<SeasonView>,
    /// The first day; from the first sale on if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; to the last sale if it is not said.
    #[param(inline)]
    to: Option<Day>,
}

async fn distribution(
    visit: &Visit,
    subject: Subject,
    from: Option<Day>,
    to: Option<Day>,
) -> Result<Json<DistributionView>, Problem> {
    let distribution = sales::get_distribution(&visit.ctx, &subject, days(from, to)).await?;
    Ok(Json(DistributionView::new(&distribution, currency(visit))))
}

/// How the prices of a category are distributed
#[utoipa::path(get, path = "/v1/admin/sales/categories/{category}/distribution", tag = "admin: sales",
    params(("category" = String, Path, description = "The category"), SeasonDaysQuery),
    responses((status = 200, description = "Bins of one width", body = DistributionView), (status = 304, description = "As the client has it")))]
pub async fn get_category_distribution(
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<SeasonDaysQuery>,
) -> Result<Json<DistributionView>, Problem> {
    distribution(&visit, category(name, query.season), query.from, query.to).await
}

/// How the prices of a brand are distributed
#[utoipa::path(get, path = "/v1/admin/sales/brands/{brand}/distribution", tag = "admin: sales",
    params(("brand" = String, Path, description = "The brand"), DaysQuery),
    responses((status = 200, description = "Bins of one width", body = DistributionView), (status = 304, description = "As the client has it")))]
pub async fn get_brand_distribution(
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<DaysQuery>,
) -> Result<Json<DistributionView>, Problem> {
    distribution(&visit, Subject::Brand(name), query.from, query.to).await
}

/// How the prices of a product are distributed
#[utoipa::path(get, path = "/v1/admin/sales/products/{product_id}/distribution", tag = "admin: sales",
    params(("product_id" = String, Path, description = "The product"), DaysQuery),
    responses((status = 200, description = "Bins of one width", body = DistributionView), (status = 304, description = "As the client has it")))]
pub async fn get_product_distribution(
    visit: Visit,
    Path(product): Path<String>,
    Query(query): Query<DaysQuery>,
) -> Result<Json<DistributionView>, Problem> {
    distribution(&visit, Subject::Product(product), query.from, query.to).await
}

/// The sales of one brand among those of a category.
#[derive(Serialize, ToSchema)]
pub struct BrandView {
    /// Null: sales without a brand.
    pub brand: Option<String>,
    pub summary: SummaryView,
    /// Of the number of all sales.
    #[schema(example = "0.25")]
    pub share_of_count: String,
    /// Of the sum of all prices; null if that is nought.
    #[schema(example = "0.4")]
    pub share_of_total: Option<String>,
}

/// Brands side by side.
#[derive(Serialize, ToSchema)]
pub struct BrandsView {
    /// Those with the most sales first.
    pub brands: Vec<BrandView>,
    /// Sales that are not counted because another tool wrote no price that could be.
    pub left_out: u64,
}

impl BrandsView {
    fn new(brands: Brands, currency: &Currency) -> Self {
        let view = |group: GroupFigures| BrandView {
            summary: SummaryView::new(&group.summary, currency),
            brand: group.name,
            share_of_count: share(group.share_of_count),
            share_of_total: group.share_of_total.map(share),
        };
        BrandsView { brands: brands.brands.into_iter().map(view).collect(), left_out: brands.left_out }
    }
}

/// The brands of a category side by side
#[utoipa::path(get, path = "/v1/admin/sales/categories/{category}/brands", tag = "admin: sales",
    params(("category" = String, Path, description = "The category"), SeasonDaysQuery),
    responses((status = 200, description = "Each brand with its prices", body = BrandsView), (status = 304, description = "As the client has it")))]
pub async fn compare_brands(
    visit: Visit,
    Path(category): Path<String>,
    Query(query): Query<SeasonDaysQuery>,
) -> Result<Json<BrandsView>, Problem> {
    let (season, days) = (query.season.map(Season::from), days(query.from, query.to));
    let brands = sales::compare_brands(&visit.ctx, &category, season, days).await?;
    Ok(Json(BrandsView::new(brands, currency(&visit))))
}

/// What is looked for: a vector, or a product whose vector is known.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NearestBody {
    #[schema(min_items = 1, max_items = 4096)]
    vector: Option<Vec<f32>>,
    /// By its newest embedding; it is not among the answers itself.
    #[schema(example = "prod_123", min_length = 1, max_length = 128, pattern = "^[^#]+$")]
    product_id: Option<String>,
    /// How many, 10 if it is not said.
    #[schema(minimum = 1, maximum = 100)]
    count: Option<usize>,
}

/// A product whose embedding is near.
#[derive(Serialize, ToSchema)]
pub struct NearView {
    #[schema(example = "prod_123")]
    pub product_id: String,
    pub embedding_id: String,
    pub category: String,
    pub brand: Option<String>,
    pub sale_price: Money,
    pub sale_date: Day,
    /// From -1 to 1, which is the same direction.
    #[schema(example = 0.93)]
    pub cosine: f32,
}

const NEAREST_DEFAULT: usize = 10;

/// The products whose embeddings are nearest, the nearest first
///
/// Every vector of the shop is looked at: the answer is exact.
#[utoipa::path(post, path = "/v1/admin/sales/nearest", tag = "admin: sales", request_body = NearestBody,
    responses((status = 200, description = "The nearest", body = Listing<NearView>)))]
pub async fn find_nearest(visit: Visit, Json(body): Json<NearestBody>) -> Result<Json<Listing<NearView>>, Problem> {
    let ctx = &visit.ctx;
    let count = body.count.unwrap_or(NEAREST_DEFAULT);
    let found = match (body.vector, body.product_id) {
        (Some(vector), None) => sales::find_nearest(ctx, &vector, count, None).await?,
        (None, Some(product)) => {
            let missing = || Problem::new("embedding_not_found", format!("no vector of {product} is known"));
            let own = sales::find_vector(ctx, &product).await?.ok_or_else(missing)?;
            sales::find_nearest(ctx, &own.vector(), count, Some(&product)).await?
        }
        _ => return Err(Problem::field("invalid", "/vector", "a vector or a product is wanted, not both")),
    };
    let currency = currency(&visit);
    let view = |near: Near| NearView {
        sale_price: Money::new(near.sale_price, currency),
        product_id: near.product_id,
        embedding_id: near.embedding_id,
        category: near.category,
        brand: near.brand,
        sale_date: near.sale_date.into(),
        cosine: near.cosine,
    };
    Ok(Json(Listing::<NearView>::whole(found.into_iter().map(view))))
}
