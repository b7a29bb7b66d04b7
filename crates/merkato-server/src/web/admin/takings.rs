//! What some days brought, in the shop's currency, by day and by category.

use std::collections::BTreeMap;

use merkato::{Context, Currency, analytics, analytics::DailySales, id::CategoryId};
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use widerow::Date;

use crate::http::Problem;

/// What one category brought on the days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// In minor units, one for each day.
    minor_units: Vec<i64>,
    pub orders: i64,
    pub pieces: i64,
}

/// The days, from the first to the last.
#[derive(Clone, Debug)]
pub struct Takings {
    pub from: Date,
    pub to: Date,
    pub currency: Currency,
    pub shares: BTreeMap<CategoryId, Share>,
    /// What was sold in other currencies, which are not added up with the shop's.
    pub elsewhere: BTreeMap<Currency, Decimal>,
}

impl Takings {
    pub async fn load(ctx: &Context, from: Date, to: Date) -> Result<Self, Problem> {
        let rows = analytics::list_daily_sales_between(ctx, from, to).await?;
        Ok(Takings::of(&rows, from, to, ctx.settings.orders.currency.clone()))
    }

    pub fn of(rows: &[DailySales], from: Date, to: Date, currency: Currency) -> Self {
        let days = usize::try_from(to.days() - from.days() + 1).unwrap_or_default();
        let mut takings = Takings { from, to, currency, shares: BTreeMap::new(), elsewhere: BTreeMap::new() };
        for row in rows {
            if row.currency != takings.currency {
                *takings.elsewhere.entry(row.currency.clone()).or_default() += row.revenue();
                continue;
            }
            let share = takings.shares.entry(row.category_id).or_default();
            share.minor_units.resize(days, 0);
            let position = usize::try_from(row.date.days() - from.days()).unwrap_or(usize::MAX);
            if let Some(day) = share.minor_units.get_mut(position) {
                *day = day.saturating_add(row.revenue_cents);
                share.orders += row.order_count;
                share.pieces += row.item_count;
            }
        }
        takings
    }

    pub fn days(&self) -> impl Iterator<Item = Date> + use<> {
        (self.from.days()..=self.to.days()).map(Date::from_days)
    }

    pub fn on(&self, date: Date) -> Decimal {
        let position = usize::try_from(date.days() - self.from.days()).unwrap_or(usize::MAX);
        self.shares.values().map(|share| self.amount_at(share, position)).sum()
    }

    pub fn whole(&self) -> Decimal {
        self.shares.values().map(|share| self.amount(share)).sum()
    }

    pub fn amount(&self, share: &Share) -> Decimal {
        share.minor_units.iter().map(|units| self.currency.amount(*units)).sum()
    }

    fn amount_at(&self, share: &Share, position: usize) -> Decimal {
        share.minor_units.get(position).map_or(Decimal::ZERO, |units| self.currency.amount(*units))
    }

    /// Where the days of some categories, taken together, are on a chart.
    pub fn positions<'s>(&self, shares: impl IntoIterator<Item = &'s Share> + Clone) -> Vec<Option<f64>> {
        let day = |position| {
            let sum: Decimal = shares.clone().into_iter().map(|share| self.amount_at(share, position)).sum();
            sum.to_f64()
        };
        (0..self.days().count()).map(day).collect()
    }

    /// The same by what the categories belong to: an order of two categories of one department is two of the department's.
    pub fn by_department(&self, departments: &BTreeMap<CategoryId, CategoryId>) -> Takings {
        let mut shares: BTreeMap<CategoryId, Share> = BTreeMap::new();
        for (category, share) in &self.shares {
            let sum = shares.entry(*departments.get(category).unwrap_or(category)).or_default();
            sum.minor_units.resize(sum.minor_units.len().max(share.minor_units.len()), 0);
            sum.minor_units.iter_mut().zip(&share.minor_units).for_each(|(to, from)| *to = to.saturating_add(*from));
            sum.orders += share.orders;
            sum.pieces += share.pieces;
        }
        Takings { shares, ..self.clone() }
    }

    /// The categories, the one that brought the most first.
    pub fn ranked(&self) -> Vec<(CategoryId, &Share)> {
        let mut all: Vec<_> = self.shares.iter().map(|(category, share)| (*category, share)).collect();
        all.sort_by_key(|(category, share)| (std::cmp::Reverse(self.amount(share)), *category));
        all
    }
}

#[cfg(test)]
mod tests {
    use merkato::analytics::TOTALS;
    use uuid::Uuid;

    use super::*;

    fn sold(day: i32, category: u128, code: &str, cents: i64) -> DailySales {
        DailySales {
            date: Date::from_days(day),
            order_id: TOTALS,
            category_id: CategoryId(Uuid::from_u128(category)),
            currency: Currency::new(code),
            part: 0,
            order_count: 1,
            item_count: 2,
            revenue_cents: cents,
            revision: None,
            contributed: BTreeMap::new(),
        }
    }

    #[test]
    fn days_and_categories_are_added_up_and_currencies_are_not() {
        let rows = [sold(10, 1, "EUR", 500), sold(10, 2, "EUR", 900), sold(12, 1, "EUR", 700), sold(11, 1, "USD", 99)];
        let (from, to) = (Date::from_days(10), Date::from_days(12));
        let takings = Takings::of(&rows, from, to, Currency::new("EUR"));
        assert_eq!(takings.on(from), Decimal::new(1_400, 2));
        assert_eq!(takings.on(Date::from_days(11)), Decimal::ZERO);
        assert_eq!(takings.whole(), Decimal::new(2_100, 2));
        assert_eq!(takings.elsewhere, BTreeMap::from([(Currency::new("USD"), Decimal::new(99, 2))]));
        let ranked = takings.ranked();
        assert_eq!(ranked[0].0, CategoryId(Uuid::from_u128(1)));
        assert_eq!((ranked[0].1.orders, ranked[0].1.pieces), (2, 4));
        assert_eq!(takings.positions(takings.shares.values()), [Some(14.0), Some(0.0), Some(7.0)]);
        assert_eq!(takings.on(Date::from_days(99)), Decimal::ZERO);
        let [one, two] = [1, 2].map(|id| CategoryId(Uuid::from_u128(id)));
        let whole = takings.by_department(&BTreeMap::from([(one, two)]));
        assert_eq!((whole.shares.len(), whole.whole()), (1, takings.whole()));
        assert_eq!(whole.positions(whole.shares.values()), takings.positions(takings.shares.values()));
    }
}
