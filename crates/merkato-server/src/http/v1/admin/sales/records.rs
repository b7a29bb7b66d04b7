//! Sales that are recorded, read and taken back; one by one, or many with an answer for each.

use axum::response::Response;
use http::StatusCode;
use merkato::{
    Currency, limits,
    sales::{self, NewSale, SaleRecord},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    super::{amount_in, created},
    SeasonView, currency,
};
use crate::http::{
    FieldProblem, Json, Path, Problem, Visit, read_value,
    wire::{Day, Money, Time},
};

/// A sale as it is recorded.
#[derive(Serialize, ToSchema)]
pub struct SaleView {
    #[schema(example = "prod_123")]
    pub product_id: String,
    /// Unique for its product and day.
    #[schema(example = "sale_abc")]
    pub sale_id: String,
    pub sale_date: Day,
    pub sale_price: Money,
    /// The list price; null where another tool left it out.
    pub original_price: Option<Money>,
    #[schema(example = "dress")]
    pub category: String,
    #[schema(example = "Nike")]
    pub brand: Option<String>,
    /// SPRING, SUMMER, FALL, WINTER, or what another tool wrote.
    #[schema(example = "WINTER")]
    pub season: Option<String>,
    pub embedding_id: Option<String>,
    #[schema(example = "s3://bucket/products/prod_123/sales/sale_abc.json")]
    pub embedding_s3_key: Option<String>,
    /// When it is forgotten; null: never.
    pub expires_at: Option<Time>,
    pub created_at: Option<Time>,
    pub updated_at: Option<Time>,
}

impl SaleView {
    pub fn new(sale: SaleRecord, currency: &Currency) -> Self {
        SaleView {
            sale_price: Money::new(sale.sale_price, currency),
            original_price: sale.original_price.map(|price| Money::new(price, currency)),
            product_id: sale.product_id,
            sale_id: sale.sale_id,
            sale_date: sale.sale_date.into(),
            category: sale.category,
            brand: sale.brand,
            season: sale.season,
            embedding_id: sale.embedding_id,
            embedding_s3_key: sale.embedding_s3_key,
            expires_at: sale.ttl.map(Time),
            created_at: sale.created_at.map(Time),
            updated_at: sale.updated_at.map(Time),
        }
    }
}

/// A sale to be recorded.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SaleBody {
    #[schema(example = "prod_123", min_length = 1, max_length = 128, pattern = "^[^#]+$")]
    product_id: String,
    /// Unique for its product and day: a sale that is recorded again replaces itself.
    #[schema(example = "sale_abc", min_length = 1, max_length = 128, pattern = "^[^#]+$")]
    sale_id: String,
    #[schema(example = "2025-12-29", pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    sale_date: String,
    /// In the shop's currency.
    sale_price: Money,
    /// The list price; the price itself if it is not said.
    original_price: Option<Money>,
    #[schema(example = "dress", min_length = 1, max_length = 200, pattern = "^[^#]+$")]
    category: String,
    #[schema(example = "Nike", min_length = 1, max_length = 200, pattern = "^[^#]+$")]
    brand: Option<String>,
    /// By its day if it is not said.
    season: Option<SeasonView>,
    /// With its key or its vector, or not at all.
    #[schema(example = "emb_xyz", min_length = 1, max_length = 128)]
    embedding_id: Option<String>,
    #[schema(example = "s3://bucket/products/prod_123/sales/sale_abc.json", min_length = 1, max_length = 2048)]
    embedding_s3_key: Option<String>,
    /// The embedding itself, by which the nearest products are found.
    #[schema(min_items = 1, max_items = 4096)]
    vector: Option<Vec<f32>>,
}

impl SaleBody {
    fn sale(self, currency: &Currency) -> Result<NewSale, Problem> {
        let original_price = self.original_price.map(|money| amount_in(currency, "original_price", &money));
        let season = self.season.map(|season| merkato::sales::Season::from(season).as_str().to_owned());
        Ok(NewSale {
            sale_price: amount_in(currency, "sale_price", &self.sale_price)?,
            original_price: original_price.transpose()?,
            product_id: self.product_id,
            sale_id: self.sale_id,
            sale_date: self.sale_date,
            category: self.category,
            brand: self.brand,
            season,
            embedding_id: self.embedding_id,
            embedding_s3_key: self.embedding_s3_key,
            vector: self.vector,
            created_at: None,
            updated_at: None,
        })
    }
}

/// Record a sale
///
/// In place of one with the same product, day and id.
#[utoipa::path(post, path = "/v1/admin/sales", tag = "admin: sales", request_body = SaleBody,
    responses((status = 201, description = "The sale", body = SaleView,
        headers(("Location" = String, description = "Where it is")))))]
pub async fn record_sale(visit: Visit, Json(body): Json<SaleBody>) -> Result<Response, Problem> {
    let currency = currency(&visit);
    let sale = sales::put_sale(&visit.ctx, body.sale(currency)?).await?;
    let part = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let location = format!("/v1/admin/sales/{}/{}/{}", part(&sale.product_id), sale.sale_date, part(&sale.sale_id));
    Ok(created(&location, Json(SaleView::new(sale, currency))))
}

/// Many sales to be recorded.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SaleBatch {
    /// At most 10,000, and as many as fit the largest body.
    // As they are: one that is no sale at all is refused by itself.
    #[schema(value_type = Vec<SaleBody>, max_items = 10000)]
    sales: Vec<Value>,
}

/// What became of one sale of a batch.
#[derive(Serialize, ToSchema)]
pub struct SaleResult {
    /// Its place in the batch, from nought.
    pub index: usize,
    /// 201, or the status that it would have been refused with by itself.
    #[schema(example = 201)]
    pub status: u16,
    /// The sale, where it is recorded.
    pub sale: Option<SaleView>,
    /// Why it is not, as the code of a problem. Who finds a 5xx's code here sends the sale again.
    #[schema(example = "invalid")]
    pub code: Option<String>,
    pub detail: Option<String>,
    /// Each field that is wrong.
    pub errors: Vec<FieldProblem>,
}

/// What became of a batch.
#[derive(Serialize, ToSchema)]
pub struct SaleResults {
    /// How many are recorded now.
    pub recorded: usize,
    pub refused: usize,
    /// One for each sale, in their order.
    pub results: Vec<SaleResult>,
}

/// Record many sales, with an answer for each
///
/// One that is refused takes no other along. The whole can be sent again: a sale that is recorded again is the same.
#[utoipa::path(post, path = "/v1/admin/sales/batch", tag = "admin: sales", request_body = SaleBatch,
    responses((status = 200, description = "What became of each", body = SaleResults)))]
pub async fn record_sales(visit: Visit, Json(batch): Json<SaleBatch>) -> Result<Json<SaleResults>, Problem> {
    let (size, limit) = (batch.sales.len(), limits::SALES_TOGETHER_MAX);
    if size > limit {
        return Err(sales::Error::TooLarge { what: "sales of one batch", size, limit }.into());
    }
    let currency = currency(&visit);
    let read = |(index, value): (usize, Value)| {
        let sale = read_value::<SaleBody>(value).and_then(|body| body.sale(currency));
        sale.map_err(|problem| below(index, problem))
    };
    let mut good = Vec::new();
    let mut results: Vec<Option<SaleResult>> = Vec::with_capacity(batch.sales.len());
    for (index, value) in batch.sales.into_iter().enumerate() {
        match read((index, value)) {
            Ok(sale) => {
                good.push((index, sale));
                results.push(None);
            }
            Err(problem) => results.push(Some(refused(index, problem))),
        }
    }
    let (places, good): (Vec<usize>, Vec<NewSale>) = good.into_iter().unzip();
    for (index, answer) in places.into_iter().zip(sales::put_sales(&visit.ctx, good).await?) {
        results[index] = Some(match answer {
            Ok(sale) => SaleResult {
                index,
                status: StatusCode::CREATED.as_u16(),
                sale: Some(SaleView::new(sale, currency)),
                code: None,
                detail: None,
                errors: Vec::new(),
            },
            Err(error) => refused(index, below(index, error.into())),
        });
    }
    let results: Vec<SaleResult> = results.into_iter().flatten().collect();
    let recorded = results.iter().filter(|result| result.sale.is_some()).count();
    Ok(Json(SaleResults { recorded, refused: results.len() - recorded, results }))
}

/// The same problem with the places of its fields in the batch.
fn below(index: usize, mut problem: Problem) -> Problem {
    for error in &mut problem.errors {
        error.pointer = format!("/sales/{index}{}", error.pointer);
    }
    problem
}

fn refused(index: usize, problem: Problem) -> SaleResult {
    if let Some(cause) = &problem.cause {
        tracing::warn!(index, code = problem.code, cause, "a sale of a batch was not recorded");
    }
    SaleResult {
        index,
        status: problem.status.as_u16(),
        sale: None,
        code: Some(problem.code.to_owned()),
        detail: Some(problem.detail).filter(|detail| !detail.is_empty()),
        errors: problem.errors,
    }
}

/// One sale
#[utoipa::path(get, path = "/v1/admin/sales/{product_id}/{sale_date}/{sale_id}", tag = "admin: sales",
    params(("product_id" = String, Path, description = "The product"), ("sale_date" = Day, Path, description = "Its day"),
        ("sale_id" = String, Path, description = "The sale")),
    responses((status = 200, description = "The sale", body = SaleView), (status = 304, description = "As the client has it")))]
pub async fn get_sale(
    visit: Visit,
    Path((product, Day(date), sale)): Path<(String, Day, String)>,
) -> Result<Json<SaleView>, Problem> {
    let sale = sales::get_sale(&visit.ctx, &product, date, &sale).await?;
    Ok(Json(SaleView::new(sale, currency(&visit))))
}

/// Take a sale back
///
/// One that is not there is gone already.
#[utoipa::path(delete, path = "/v1/admin/sales/{product_id}/{sale_date}/{sale_id}", tag = "admin: sales",
    params(("product_id" = String, Path, description = "The product"), ("sale_date" = Day, Path, description = "Its day"),
        ("sale_id" = String, Path, description = "The sale")),
    responses((status = 204, description = "There is no such sale any more")))]
pub async fn take_back(
    visit: Visit,
    Path((product, Day(date), sale)): Path<(String, Day, String)>,
) -> Result<StatusCode, Problem> {
    sales::delete_sale(&visit.ctx, &product, date, &sale).await?;
    Ok(StatusCode::NO_CONTENT)
}
