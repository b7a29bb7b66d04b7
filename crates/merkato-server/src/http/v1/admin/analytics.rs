//! What was sold, what was looked at, what does best.

use merkato::{
    Currency,
    analytics::{self, DailySales, Metric, ProductViews},
    catalog,
    id::ProductId,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;
use widerow::Date;

use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Day, Listing, Money, Paging, Time},
};

/// What one category sold on a day, in one currency. An order of two categories is counted in both.
#[derive(Serialize, ToSchema)]
pub struct SalesView {
    pub date: Day,
    pub category_id: Uuid,
    pub order_count: i64,
    pub item_count: i64,
    /// The line totals, before discount, shipping and tax.
    pub revenue: Money,
}

impl From<DailySales> for SalesView {
    fn from(sales: DailySales) -> Self {
        SalesView {
            date: sales.date.into(),
            category_id: sales.category_id.0,
            order_count: sales.order_count,
            item_count: sales.item_count,
            revenue: Money::new(sales.revenue(), &sales.currency),
        }
    }
}

/// Which days: one, or from the one to the other.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SalesQuery {
    /// One day, in pages. Today if neither this nor `from` and `to` are said.
    #[param(inline)]
    date: Option<Day>,
    /// The first of several days, at most 92, all in one answer.
    #[param(inline)]
    from: Option<Day>,
    /// The last of them.
    #[param(inline)]
    to: Option<Day>,
    /// How many, 24 if it is not said. Only of one day.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// What was sold, by day, category and currency
#[utoipa::path(get, path = "/v1/admin/analytics/daily-sales", tag = "admin: analytics", params(SalesQuery),
    responses((status = 200, description = "A page of a day, or all of several days", body = Listing<SalesView>), (status = 304, description = "As the client has it")))]
pub async fn list_daily_sales(
    visit: Visit,
    Query(query): Query<SalesQuery>,
) -> Result<Json<Listing<SalesView>>, Problem> {
    let ctx = &visit.ctx;
    match (query.date, query.from, query.to) {
        (date, None, None) => {
            let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
            let date = date.map_or_else(|| ctx.now().date(), |Day(date)| date);
            Ok(Json(visit.listing(analytics::list_daily_sales(ctx, date, page).await?, SalesView::from)))
        }
        (None, Some(Day(from)), Some(Day(to))) => {
            if query.limit.is_some() || query.cursor.is_some() {
                return Err(Problem::field("invalid", "/limit", "several days have no pages"));
            }
            Ok(Json(Listing::whole(analytics::list_daily_sales_between(ctx, from, to).await?)))
        }
        (Some(_), ..) => Err(Problem::field("invalid", "/date", "a date, or `from` and `to`, not both")),
        (None, None, Some(_)) => Err(Problem::field("invalid", "/from", "it is missing")),
        (None, Some(_), None) => Err(Problem::field("invalid", "/to", "it is missing")),
    }
}

/// What products are ranked by.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    Views,
    Units,
    Revenue,
}

/// Which ranking.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TopQuery {
    /// `revenue` if it is not said.
    #[param(inline)]
    by: Option<RankedBy>,
    /// Over how many days, today among them: 1, 7 or 30; 7 if it is not said.
    #[param(minimum = 1, maximum = 30, example = 7)]
    days: Option<i32>,
    /// Of the revenue; the shop's own if it is not said.
    #[param(pattern = "^[A-Z]{3}$", example = "EUR")]
    currency: Option<String>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// A product of a ranking.
#[derive(Serialize, ToSchema)]
pub struct TopProductView {
    /// From one.
    pub rank: i32,
    pub product_id: Uuid,
    /// Null where there is no such product any more.
    pub name: Option<String>,
    pub thumbnail_url: Option<String>,
    /// Views or units; null where the ranking is by revenue.
    pub count: Option<i64>,
    /// Null where it is not.
    pub revenue: Option<Money>,
    pub ranked_at: Time,
}

/// The best products, as they were ranked last, the best first
#[utoipa::path(get, path = "/v1/admin/analytics/top-products", tag = "admin: analytics", params(TopQuery),
    responses((status = 200, description = "A page of at most 50", body = Listing<TopProductView>), (status = 304, description = "As the client has it")))]
pub async fn list_top_products(
    visit: Visit,
    Query(query): Query<TopQuery>,
) -> Result<Json<Listing<TopProductView>>, Problem> {
    let ctx = &visit.ctx;
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let currency = query.currency.map_or_else(|| ctx.settings.orders.currency.clone(), Currency::new);
    let by = query.by.unwrap_or(RankedBy::Revenue);
    let metric = match by {
        RankedBy::Views => Metric::Views,
        RankedBy::Units => Metric::Units,
        RankedBy::Revenue => Metric::Revenue(currency.clone()),
    };
    let found = analytics::list_top_products(ctx, &metric, query.days.unwrap_or(7), page).await?;
    let ids: Vec<ProductId> = found.rows.iter().map(|row| row.product_id).collect();
    let products = catalog::list_products(ctx, &ids).await?;
    let rows = found.rows.into_iter().zip(products).collect();
    Ok(Json(visit.listed(rows, found.next, |(row, product)| {
        let (name, thumbnail_url) = product.map_or((None, None), |product| (Some(product.name), product.thumbnail_url));
        let is_revenue = matches!(by, RankedBy::Revenue);
        TopProductView {
            rank: row.rank,
            product_id: row.product_id.0,
            name,
            thumbnail_url,
            count: (!is_revenue).then_some(row.value),
            revenue: is_revenue.then(|| Money::new(currency.amount(row.value), &currency)),
            ranked_at: row.ranked_at.into(),
        }
    })))
}

/// How often a product was looked at on a day, and by how many.
#[derive(Serialize, ToSchema)]
pub struct ViewsView {
    pub date: Day,
    pub view_count: i64,
    /// Exact up to 128, and beyond with an error of some percent.
    pub unique_visitor_count: i64,
}

impl From<ProductViews> for ViewsView {
    fn from(views: ProductViews) -> Self {
        ViewsView {
            date: views.date.into(),
            view_count: views.view_count,
            unique_visitor_count: views.unique_visitor_count,
        }
    }
}

/// Which days.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ViewsQuery {
    /// The first day; thirty days up to the last if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day, today if it is not said; at most 91 days in all.
    #[param(inline)]
    to: Option<Day>,
}

/// How often a product was looked at, day by day, the newest first
#[utoipa::path(get, path = "/v1/admin/analytics/products/{id}/views", tag = "admin: analytics",
    params(("id" = Uuid, Path, description = "The product"), ViewsQuery),
    responses((status = 200, description = "The days on which it was", body = Listing<ViewsView>), (status = 304, description = "As the client has it")))]
pub async fn list_product_views(
    visit: Visit,
    Path(id): Path<ProductId>,
    Query(query): Query<ViewsQuery>,
) -> Result<Json<Listing<ViewsView>>, Problem> {
    let to = query.to.map_or_else(|| visit.ctx.now().date(), |Day(date)| date);
    let from = query.from.map_or_else(|| Date::from_days(to.days().saturating_sub(29)), |Day(date)| date);
    Ok(Json(Listing::whole(analytics::list_product_views(&visit.ctx, id, from, to).await?)))
}
