//! What was sold at which price: records, the ways in which they are found, and what they say.
//!
//! A record has no currency; amounts here are in the shop's own.

pub mod figures;
pub mod records;
pub mod search;
pub mod suggestion;

use merkato::{
    Currency,
    sales::{Days, Season},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::{Visit, wire::Day};

/// A season, as records have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum SeasonView {
    Spring,
    Summer,
    Fall,
    Winter,
}

impl From<SeasonView> for Season {
    fn from(season: SeasonView) -> Self {
        match season {
            SeasonView::Spring => Season::Spring,
            SeasonView::Summer => Season::Summer,
            SeasonView::Fall => Season::Fall,
            SeasonView::Winter => Season::Winter,
        }
    }
}

/// The currency of all amounts.
fn currency(visit: &Visit) -> &Currency {
    &visit.ctx.settings.orders.currency
}

fn days(from: Option<Day>, to: Option<Day>) -> Days {
    Days { from: from.map(|Day(date)| date), to: to.map(|Day(date)| date) }
}

/// Which days, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SalesBetween {
    /// The first day; from the first sale on if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; to the last sale if it is not said.
    #[param(inline)]
    to: Option<Day>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}
