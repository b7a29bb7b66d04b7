//! Sensors and what they measured: registered, taken in, read over time, judged.

pub mod measurements;
pub mod sensors;
pub mod series;

use merkato::{Context, Cursor, PageRequest, check::Invalid, telemetry::Resolution};
use serde::Serialize;
use utoipa::ToSchema;
use widerow::Timestamp;

use crate::http::{
    Problem, Visit,
    wire::{Paging, Time, mirror},
};

mirror! {
    /// How fine an answer is: `auto` is raw up to a day, hourly up to thirty days, else daily, and coarser where some of
    /// what is so fine has ended.
    ResolutionView = Resolution { Auto, Raw, Hourly, Daily }
}

/// Several values in a few numbers.
#[derive(Serialize, ToSchema)]
pub struct ValuesView {
    /// Values.
    pub count: u64,
    /// Null of none, as all the others.
    #[schema(example = 3.94)]
    pub mean: Option<f64>,
    #[schema(example = 3.6)]
    pub min: Option<f64>,
    #[schema(example = 4.3)]
    pub max: Option<f64>,
    /// Of all of them, not of a sample.
    #[schema(example = 0.2)]
    pub stddev: Option<f64>,
}

impl From<&merkato::telemetry::figures::Summary> for ValuesView {
    fn from(summary: &merkato::telemetry::figures::Summary) -> Self {
        ValuesView {
            count: summary.count(),
            mean: summary.mean(),
            min: summary.min(),
            max: summary.max(),
            stddev: summary.stddev(),
        }
    }
}

/// Where nothing was measured.
#[derive(Serialize, ToSchema)]
pub struct GapView {
    /// The last measurement before it, or where the time begins.
    pub from: Time,
    /// The first one after it, or where the time ends.
    pub to: Time,
    /// How many should have come.
    pub missing: u64,
}

impl From<merkato::telemetry::figures::Gap> for GapView {
    fn from(gap: merkato::telemetry::figures::Gap) -> Self {
        GapView { from: gap.from.into(), to: gap.to.into(), missing: gap.missing }
    }
}

const DAY_SECONDS: i64 = 86_400;

/// From when to when: the last so many days if nothing is said.
fn span(ctx: &Context, from: Option<Time>, to: Option<Time>, days: i64) -> (Timestamp, Timestamp) {
    // What was measured at this very instant is part of a time that ends now.
    let now = || Timestamp::from_millis(ctx.now().millis() + 1);
    let to = to.map_or_else(now, |Time(at)| at);
    // Within what a time can be, whatever somebody says.
    let earlier = || Timestamp::from_millis(to.millis().saturating_sub(days * DAY_SECONDS * 1_000));
    (from.map_or_else(earlier, |Time(at)| at), to)
}

/// Which time, and which page of it. A time that ends now ends a moment later on the next page, so that its cursor carries it.
struct Turn {
    from: Timestamp,
    to: Timestamp,
    page: PageRequest,
}

impl Turn {
    fn of(visit: &Visit, time: (Option<Time>, Option<Time>), days: i64, paging: &Paging) -> Result<Self, Problem> {
        let mut page = visit.page(paging)?;
        let (mut from, mut to) = span(&visit.ctx, time.0, time.1, days);
        if let Some(cursor) = &page.cursor {
            let unsound = || Problem::from(Invalid::new("cursor", "it does not belong to this query"));
            let (first, rest) = cursor.as_str().split_once('.').ok_or_else(unsound)?;
            let (last, cursor) = rest.split_once('.').ok_or_else(unsound)?;
            let time = |text: &str| text.parse().map(Timestamp::from_millis).map_err(|_| unsound());
            (from, to) = (time(first)?, time(last)?);
            page.cursor = Some(Cursor::from(cursor.to_owned()));
        }
        Ok(Turn { from, to, page })
    }

    fn next(from: Timestamp, to: Timestamp, next: &Cursor) -> Cursor {
        Cursor::from(format!("{}.{}.{}", from.millis(), to.millis(), next.as_str()))
    }
}
