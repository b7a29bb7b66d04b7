//! A price for a new item, with the sales that it rests on.

use merkato::sales::{
    self, Advised, Item, Season,
    figures::{Basis, Confidence},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{SeasonView, currency, records::SaleView};
use crate::http::{
    Json, Problem, Visit,
    wire::{Day, Money, mirror},
};

mirror! {
    /// How sure a suggestion is: high if nothing speaks against it, fair if one thing does, low if more do.
    ConfidenceView = Confidence { Low, Fair, High }
}

mirror! {
    /// Which sales were taken.
    BasisView = Basis { CategoryAndBrand, Category }
}

/// The item that a price is wanted for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemBody {
    #[schema(example = "dress", min_length = 1, max_length = 200, pattern = "^[^#]+$")]
    category: String,
    #[schema(example = "Nike", min_length = 1, max_length = 200, pattern = "^[^#]+$")]
    brand: Option<String>,
    /// In which it is to be sold; seasons do not matter if it is not said.
    season: Option<SeasonView>,
    /// The day on which it is asked, today if it is not said: later sales are left out.
    on: Option<Day>,
    /// Its embedding: sales of what looks alike weigh more.
    #[schema(min_items = 1, max_items = 4096)]
    vector: Option<Vec<f32>>,
}

/// What speaks for a price, or against it.
#[derive(Serialize, ToSchema)]
pub struct ReasonView {
    #[schema(example = "it rests on 120 sales of the same brand")]
    pub text: String,
    pub speaks_against: bool,
}

/// A sale that a price rests on.
#[derive(Serialize, ToSchema)]
pub struct RestsOnView {
    pub sale: SaleView,
    /// Its share of all weight.
    #[schema(example = "0.031")]
    pub weight: String,
    /// The cosine of its vector with the item's, where both have one.
    #[schema(example = 0.93)]
    pub similarity: Option<f32>,
}

/// A price for an item, or why there is none.
#[derive(Serialize, ToSchema)]
pub struct SuggestionView {
    /// The weighted median of the prices of comparable sales; null where there are too few of them.
    pub price: Option<Money>,
    /// The weighted quartiles.
    pub low: Option<Money>,
    pub high: Option<Money>,
    pub basis: Option<BasisView>,
    pub confidence: Option<ConfidenceView>,
    pub reasons: Vec<ReasonView>,
    /// Comparable sales that were found.
    pub sales_count: usize,
    /// As how many evenly weighted sales they are worth.
    #[schema(example = "41.5")]
    pub effective_count: Option<String>,
    /// Those with the most weight first.
    pub rests_on: Vec<RestsOnView>,
}

/// Suggest a price for a new item
///
/// From the sales of the same category and brand, or of the category where those are too few; the newer, the more they weigh.
#[utoipa::path(post, path = "/v1/admin/sales/suggestion", tag = "admin: sales", request_body = ItemBody,
    responses((status = 200, description = "A price, or why there is none", body = SuggestionView)))]
pub async fn suggest(visit: Visit, Json(body): Json<ItemBody>) -> Result<Json<SuggestionView>, Problem> {
    let item = Item {
        category: body.category,
        brand: body.brand,
        season: body.season.map(Season::from),
        on: body.on.map(|Day(date)| date),
        vector: body.vector,
    };
    let currency = currency(&visit);
    let money = |amount| Some(Money::new(amount, currency));
    Ok(Json(match sales::suggest_price(&visit.ctx, item).await? {
        Advised::Price(priced) => SuggestionView {
            price: money(priced.price),
            low: money(priced.low),
            high: money(priced.high),
            basis: Some(priced.basis.into()),
            confidence: Some(priced.confidence.into()),
            reasons: priced
                .reasons
                .iter()
                .map(|reason| ReasonView { text: reason.to_string(), speaks_against: reason.speaks_against() })
                .collect(),
            sales_count: priced.sales_count,
            effective_count: Some(priced.effective_count.normalize().to_string()),
            rests_on: priced
                .rests_on
                .into_iter()
                .map(|(sale, weight, similarity)| RestsOnView {
                    sale: SaleView::new(sale, currency),
                    weight: weight.normalize().to_string(),
                    similarity,
                })
                .collect(),
        },
        Advised::TooFewSales { found, needed } => SuggestionView {
            price: None,
            low: None,
            high: None,
            basis: None,
            confidence: None,
            reasons: vec![ReasonView {
                text: format!("{found} comparable sales were found, and it takes {needed}"),
                speaks_against: true,
            }],
            sales_count: found,
            effective_count: None,
            rests_on: Vec::new(),
        },
    }))
}
