//! Brands, or whatever sales are told apart by, side by side.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{
    Point,
    error::{Error, Result},
    limits,
    summary::{Gathered, Summary},
    units::{self, MinorUnits},
};

/// The sales of one brand among those of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFigures {
    /// None: sales without a brand.
    pub name: Option<String>,
    pub summary: Summary,
    /// Of the number of all sales.
    pub share_of_count: Decimal,
    /// Of the sum of all prices; None if that is zero.
    pub share_of_total: Option<Decimal>,
}

/// Sales on their way into groups, in any order. Eight to sixteen bytes are kept of each.
#[derive(Debug)]
pub struct Comparison {
    units: MinorUnits,
    sales_count: usize,
    named: BTreeMap<String, Gathered>,
    unnamed: Gathered,
}

impl Comparison {
    pub fn new(units: MinorUnits) -> Self {
        Comparison { units, sales_count: 0, named: BTreeMap::new(), unnamed: Gathered::default() }
    }

    /// Takes in one sale, under its brand.
    pub fn add(&mut self, point: &Point<'_>) -> Result<()> {
        self.add_to(point.brand, point)
    }

    /// Takes in one sale, under whatever it is told apart by. One that is refused is not counted.
    pub fn add_to(&mut self, name: Option<&str>, point: &Point<'_>) -> Result<()> {
        super::check_date(point.date)?;
        if self.sales_count >= limits::SALES_MAX {
            return Err(Error::TooManySales { limit: limits::SALES_MAX });
        }
        match name {
            None => self.unnamed.add(point, self.units)?,
            Some(name) => match self.named.get_mut(name) {
                Some(gathered) => gathered.add(point, self.units)?,
                None => self.add_first(name, point)?,
            },
        }
        self.sales_count += 1;
        Ok(())
    }

    fn add_first(&mut self, name: &str, point: &Point<'_>) -> Result<()> {
        if self.named.len() >= limits::GROUPS_MAX {
            return Err(Error::TooManyGroups { limit: limits::GROUPS_MAX });
        }
        let mut gathered = Gathered::default();
        gathered.add(point, self.units)?;
        self.named.insert(name.to_owned(), gathered);
        Ok(())
    }

    /// Those with the most sales first; among equals by name, and what has none last.
    pub fn end(self) -> Result<Vec<GroupFigures>> {
        let Comparison { units, sales_count, named, unnamed } = self;
        let all: i128 = named.values().chain([&unnamed]).map(Gathered::total).sum();
        let groups = named.into_iter().map(|(name, gathered)| (Some(name), gathered)).chain([(None, unnamed)]);
        let mut figures = Vec::new();
        for (name, gathered) in groups {
            let (count, total) = (gathered.count() as i128, gathered.total());
            let share_of_count = units::share(count, sales_count as i128).unwrap_or_default();
            let share_of_total = units::share(total, all);
            if let Some(summary) = gathered.summary(units)? {
                figures.push(GroupFigures { name, summary, share_of_count, share_of_total });
            }
        }
        figures.sort_by(|a, b| {
            let by_count = b.summary.count.cmp(&a.summary.count);
            by_count.then_with(|| a.name.is_none().cmp(&b.name.is_none())).then_with(|| a.name.cmp(&b.name))
        });
        Ok(figures)
    }
}

/// All sales at once, by brand.
pub fn brands<'a>(points: impl IntoIterator<Item = Point<'a>>, units: MinorUnits) -> Result<Vec<GroupFigures>> {
    let mut comparison = Comparison::new(units);
    points.into_iter().try_for_each(|point| comparison.add(&point))?;
    comparison.end()
}
