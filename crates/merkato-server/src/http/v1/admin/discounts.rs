//! Discount codes.

use axum::response::Response;
use http::StatusCode;
use merkato::orders::{self, Discount, NewDiscount, Reduction};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{amount, amount_in, created};
use crate::http::{
    Json, Path, Problem, Visit,
    wire::{Money, Time},
};

/// A code as it is now.
#[derive(Serialize, ToSchema)]
pub struct DiscountView {
    /// In lower case; who redeems it may write it as they like.
    #[schema(example = "summer-10")]
    pub code: String,
    /// What it takes off; or a percentage.
    pub amount: Option<Money>,
    /// Of the subtotal, as a decimal number.
    #[schema(example = "10")]
    pub percentage: Option<String>,
    pub minimal_subtotal: Option<Money>,
    pub valid_from: Option<Time>,
    /// From here on it is over.
    pub valid_until: Option<Time>,
    pub uses_max: Option<i64>,
    pub uses: i64,
    pub disabled: bool,
    pub created_at: Time,
}

impl From<Discount> for DiscountView {
    fn from(discount: Discount) -> Self {
        let money = |amount| discount.currency.as_ref().map(|currency| Money::new(amount, currency));
        let (amount, percentage) = match discount.reduction {
            Reduction::Amount(amount) => (money(amount), None),
            Reduction::Percentage(percentage) => (None, Some(percentage.normalize().to_string())),
        };
        DiscountView {
            amount,
            percentage,
            minimal_subtotal: discount.minimal_subtotal.and_then(money),
            valid_from: discount.valid_from.map(Time),
            valid_until: discount.valid_until.map(Time),
            uses_max: discount.uses_max,
            uses: discount.uses,
            disabled: discount.disabled,
            created_at: discount.created_at.into(),
            code: discount.code,
        }
    }
}

/// A code to be made: an amount or a percentage.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscountBody {
    #[schema(example = "SUMMER-10", pattern = "^[A-Za-z0-9_-]{1,40}$")]
    code: String,
    amount: Option<Money>,
    /// Of the subtotal, more than 0 and at most 100, as a decimal number.
    #[schema(example = "10", pattern = r"^[0-9]{1,3}(\.[0-9]{1,6})?$")]
    percentage: Option<String>,
    /// In the currency of the amount, if there is one.
    minimal_subtotal: Option<Money>,
    valid_from: Option<Time>,
    /// From here on it is over.
    valid_until: Option<Time>,
    #[schema(minimum = 1, maximum = 1000000)]
    uses_max: Option<i64>,
}

impl DiscountBody {
    fn discount(self) -> Result<NewDiscount, Problem> {
        let (reduction, mut currency) = match (&self.amount, &self.percentage) {
            (Some(money), None) => {
                let (amount, currency) = amount("amount", money)?;
                (Reduction::Amount(amount), Some(currency))
            }
            (None, Some(text)) => {
                let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                let percentage = Decimal::from_str_exact(text).ok().filter(|_| plain);
                let refused = || Problem::field("invalid", "/percentage", "not a decimal number");
                (Reduction::Percentage(percentage.ok_or_else(refused)?), None)
            }
            _ => return Err(Problem::field("invalid", "/percentage", "an amount or a percentage is wanted, not both")),
        };
        let minimal_subtotal = match (&self.minimal_subtotal, &currency) {
            (None, _) => None,
            (Some(money), Some(currency)) => Some(amount_in(currency, "minimal_subtotal", money)?),
            (Some(money), None) => {
                let (least, found) = amount("minimal_subtotal", money)?;
                currency = Some(found);
                Some(least)
            }
        };
        Ok(NewDiscount {
            code: self.code,
            reduction,
            currency,
            minimal_subtotal,
            valid_from: self.valid_from.map(|Time(time)| time),
            valid_until: self.valid_until.map(|Time(time)| time),
            uses_max: self.uses_max,
        })
    }
}

/// Make a discount code
#[utoipa::path(post, path = "/v1/admin/discounts", tag = "admin: orders", request_body = DiscountBody,
    responses((status = 201, description = "The code", body = DiscountView,
        headers(("Location" = String, description = "Where it is")))))]
pub async fn create_discount(visit: Visit, Json(body): Json<DiscountBody>) -> Result<Response, Problem> {
    let discount = orders::create_discount(&visit.ctx, body.discount()?).await?;
    let location = format!("/v1/admin/discounts/{}", discount.code);
    Ok(created(&location, Json(DiscountView::from(discount))))
}

/// A discount code, and how often it was used
#[utoipa::path(get, path = "/v1/admin/discounts/{code}", tag = "admin: orders", params(("code" = String, Path, description = "The code")),
    responses((status = 200, description = "The code", body = DiscountView), (status = 304, description = "As the client has it")))]
pub async fn get_discount(visit: Visit, Path(code): Path<String>) -> Result<Json<DiscountView>, Problem> {
    Ok(Json(orders::get_discount(&visit.ctx, &code).await?.into()))
}

/// Let nobody redeem a code any more
///
/// Who has done so keeps it, and the code stays to be read.
#[utoipa::path(delete, path = "/v1/admin/discounts/{code}", tag = "admin: orders", params(("code" = String, Path, description = "The code")),
    responses((status = 204, description = "It is not taken any more")))]
pub async fn disable_discount(visit: Visit, Path(code): Path<String>) -> Result<StatusCode, Problem> {
    orders::disable_discount(&visit.ctx, &code).await?;
    Ok(StatusCode::NO_CONTENT)
}
