//! Figures as charts and rows of tables.

use merkato::{
    Currency,
    sales::figures::{Histogram, PeriodFigures, Summary},
};
use rust_decimal::{Decimal, prelude::ToPrimitive as _};

use crate::web::{
    charts::{self, Band, Chart, Column, Line, Series},
    words,
};

/// A row of figures.
pub struct FiguresRow {
    pub name: String,
    pub count: String,
    pub minimum: String,
    pub lower: String,
    pub median: String,
    pub upper: String,
    pub maximum: String,
    pub discount: String,
    pub change: String,
}

const NOTHING: &str = "–";

/// `12.5 %`, with a sign if it is a change.
pub fn percent(share: Option<Decimal>, signed: bool) -> String {
    let Some(share) = share else { return NOTHING.to_owned() };
    let percent = (share * Decimal::ONE_HUNDRED).round_dp(1).normalize();
    let sign = match (percent.is_zero(), percent.is_sign_negative(), signed) {
        (true, ..) | (_, false, false) => "",
        (_, true, _) => "−",
        (_, false, true) => "+",
    };
    format!("{sign}{} %", percent.abs())
}

pub fn row(name: String, summary: Option<&Summary>, change: Option<Decimal>, currency: &Currency) -> FiguresRow {
    let money = |of: fn(&Summary) -> Decimal| {
        summary.map_or_else(|| NOTHING.to_owned(), |summary| words::money(of(summary), currency))
    };
    FiguresRow {
        name,
        count: words::thousands(&summary.map_or(0, |summary| summary.count).to_string()),
        minimum: money(|summary| summary.minimum),
        lower: money(|summary| summary.lower_quartile),
        median: money(|summary| summary.median),
        upper: money(|summary| summary.upper_quartile),
        maximum: money(|summary| summary.maximum),
        discount: percent(summary.and_then(|summary| summary.discount), false),
        change: percent(change, true),
    }
}

/// The newest first, as people look for it.
pub fn rows(periods: &[PeriodFigures], currency: &Currency) -> Vec<FiguresRow> {
    let each = periods.iter().rev();
    each.map(|of| row(of.period.to_string(), of.summary.as_ref(), of.change, currency)).collect()
}

fn position(amount: Decimal) -> f64 {
    amount.to_f64().unwrap_or_default()
}

/// The median with the middle half of prices around it, period by period; None without any sale.
pub fn over_time(
    name: &str,
    periods: &[PeriodFigures],
    whole: &Summary,
    when: &str,
    currency: &Currency,
) -> Option<Chart> {
    let (first, last) = (periods.iter().find_map(|p| p.summary.as_ref())?, periods.last()?.summary.as_ref()?);
    let median = |summary: &Summary| words::money(summary.median, currency);
    let way = match last.median.cmp(&first.median) {
        _ if periods.len() < 2 => format!("was {}", median(whole)),
        std::cmp::Ordering::Less => format!("went down from {} to {}", median(first), median(last)),
        std::cmp::Ordering::Equal => format!("was {} at the beginning and at the end", median(last)),
        std::cmp::Ordering::Greater => format!("went up from {} to {}", median(first), median(last)),
    };
    let title = format!("The median price of {name} {way} in {when}");
    let of = |value: fn(&Summary) -> Decimal| -> Vec<Option<f64>> {
        periods.iter().map(|period| period.summary.as_ref().map(|summary| position(value(summary)))).collect()
    };
    let band = Band {
        name: "The middle half of prices".into(),
        low: of(|summary| summary.lower_quartile),
        high: of(|summary| summary.upper_quartile),
    };
    let written = |value: f64| words::money_glanced(Decimal::from_f64_retain(value).unwrap_or_default(), currency);
    let read = |value: f64| words::money(Decimal::from_f64_retain(value).unwrap_or_default(), currency);
    let chart = charts::line(&Line {
        title: &title,
        labels: periods.iter().map(|period| period.period.to_string()).collect(),
        series: vec![Series::line("Median", of(|summary| summary.median))],
        bands: vec![band],
        marks: Vec::new(),
        is_around: false,
        axis: &written,
        value: &read,
    });
    Some(chart.with_note("The band is the middle half of prices: a quarter were lower, a quarter higher."))
}

/// How many were sold at which price; None without any sale.
pub fn distribution(name: &str, histogram: &Histogram, whole: &Summary, currency: &Currency) -> Option<Chart> {
    let fullest = histogram.bins.iter().max_by_key(|bin| bin.count)?;
    let fine = histogram.width < Decimal::ONE;
    let edge = |amount: Decimal| {
        if fine { words::money(amount, currency) } else { words::money_glanced(amount, currency) }
    };
    let title = format!(
        "Of {} of {name}, {} went for {} to {}, more than at any other price",
        words::count(whole.count, "sale", "sales"),
        words::thousands(&fullest.count.to_string()),
        edge(fullest.from),
        edge(fullest.below),
    );
    let columns: Vec<Column> = histogram
        .bins
        .iter()
        .map(|bin| Column {
            // Its lower price alone: columns are narrow, and the next one says where it ends.
            name: edge(bin.from),
            value: bin.count,
            shown: words::thousands(&bin.count.to_string()),
        })
        .collect();
    Some(
        charts::histogram(&title, "Price from", &columns)
            .with_note("Each column begins at its lower price and ends below the next."),
    )
}
