//! What analytics decides, without reading or writing anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Commit, Date, Timestamp};

use super::{
    error::{Error, Result},
    sketch::Sketch,
    tables::{Contributed, DailySales, ProductViews, SHARDS, SoldProduct, TOTALS, TopProduct, shard},
};
use crate::{
    check::{Check, Invalid},
    id::{CategoryId, OrderId, ProductId},
    limits,
    money::Currency,
};

/// What an order adds to the sales of its day: all of it, as it is at a revision. One that was cancelled or refunded has
/// no categories, and so takes back what it had added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    pub order_id: OrderId,
    /// The day on which it was placed: the same at every revision, as the currency is.
    pub date: Date,
    /// Grows with each change of the order.
    pub revision: i64,
    pub currency: Currency,
    pub categories: BTreeMap<CategoryId, CategorySum>,
}

/// What an order has of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategorySum {
    pub item_count: i64,
    pub revenue: Decimal,
}

/// Sales of one category, in one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sales {
    pub order_count: i64,
    pub item_count: i64,
    /// In minor units of the currency.
    pub revenue_cents: i64,
}

/// What became of an order that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is counted as it was given.
    Counted,
    /// It had been counted so before, or as it is at a later revision.
    Known,
}

pub(super) type Line = (CategoryId, Currency);
type Part = BTreeMap<CategoryId, Contributed>;

/// Categories of an order that are counted in one commit. They may replace as many others, and with the order's own row they
/// must fit the 99 writes that a commit has.
pub(super) const PART_CATEGORIES: usize = 48;

/// A contribution that makes sense, in minor units, in parts that fit a commit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    pub order_id: OrderId,
    pub date: Date,
    pub revision: i64,
    pub currency: Currency,
    /// None is empty but the first of an order without categories.
    pub parts: Vec<Part>,
}

impl Counted {
    pub(super) fn of(contribution: &Contribution) -> Result<Self, Invalid> {
        let Contribution { order_id, date, revision, currency, categories } = contribution;
        let mut check = Check::new();
        check.that(*order_id != TOTALS, "order_id", "the nil id is no order's");
        check.that(date.in_range(), "date", "a date must lie in the years 0000 to 9999");
        check.currency("currency", currency);
        check.count("categories", categories.len(), limits::CATEGORIES_AN_ORDER_MAX);
        let mut whole = Vec::with_capacity(categories.len());
        for (category, sum) in categories {
            let field = |name| format!("categories/{category}/{name}");
            let item_count = units(&mut check, field("item_count"), sum.item_count);
            let revenue_cents = cents(&mut check, field("revenue"), sum.revenue, currency);
            whole.push((*category, Contributed { item_count, revenue_cents }));
        }
        check.end()?;
        let parts = whole.chunks(PART_CATEGORIES).map(|part| part.iter().copied().collect()).collect();
        Ok(Counted { order_id: *order_id, date: *date, revision: *revision, currency: currency.clone(), parts })
    }

    /// The same order without anything.
    pub(super) fn nothing(order_id: OrderId, date: Date, revision: i64, currency: Currency) -> Self {
        Counted { order_id, date, revision, currency, parts: Vec::new() }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (CategoryId, Contributed)> {
        self.parts.iter().flatten().map(|(category, sum)| (*category, *sum))
    }
}

fn units(check: &mut Check, field: String, units: i64) -> i64 {
    let most = limits::UNITS_COUNTED_MAX;
    check.that((1..=most).contains(&units), field, format!("{units} is not 1 to {most}"));
    units
}

/// An amount in minor units. What cannot be told so is refused, and nought.
fn cents(check: &mut Check, field: String, amount: Decimal, currency: &Currency) -> i64 {
    // A currency that is none was refused already.
    if currency.decimals().is_none() {
        return 0;
    }
    match currency.minor_units(amount) {
        Some(cents) if (0..=limits::REVENUE_CENTS_MAX).contains(&cents) => return cents,
        Some(cents) if cents < 0 => check.refuse(field, "a revenue is not negative"),
        Some(_) => check.refuse(field, format!("the limit is {} minor units", limits::REVENUE_CENTS_MAX)),
        None => check.refuse(field, format!("it is not a whole number of the minor units of {currency}")),
    }
    0
}

impl Sales {
    pub(super) fn of(row: &DailySales) -> Self {
        Sales { order_count: row.order_count, item_count: row.item_count, revenue_cents: row.revenue_cents }
    }

    /// With one order more, or one less.
    fn with(self, sum: Contributed, orders: i64) -> Option<Self> {
        Some(Sales {
            order_count: self.order_count.checked_add(orders)?,
            item_count: self.item_count.checked_add(orders.checked_mul(sum.item_count)?)?,
            revenue_cents: self.revenue_cents.checked_add(orders.checked_mul(sum.revenue_cents)?)?,
        })
    }

    /// The row of these totals.
    pub(super) fn row(self, date: Date, (category_id, currency): Line) -> DailySales {
        DailySales {
            date,
            order_id: TOTALS,
            category_id,
            currency,
            part: 0,
            order_count: self.order_count,
            item_count: self.item_count,
            revenue_cents: self.revenue_cents,
            revision: None,
            contributed: BTreeMap::new(),
        }
    }

    /// Writes these totals. A category without sales has no row.
    pub(super) fn put(self, date: Date, line: Line, commit: Commit) -> Commit {
        let row = self.row(date, line);
        if self == Sales::default() { commit.delete::<DailySales>(row.key()) } else { commit.put(&row) }
    }
}

/// Adds one order's part to sums.
pub(super) fn add(totals: &mut BTreeMap<Line, Sales>, line: Line, sum: Contributed, orders: i64) -> Result<()> {
    let old = totals.get(&line).copied().unwrap_or_default();
    let new = old.with(sum, orders).ok_or(Error::TooMuch { category: line.0 })?;
    totals.insert(line, new);
    Ok(())
}

/// When an order that is recorded takes the place of what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Its revision is later.
    Newer,
    /// Also where the revision is the same, and what was counted is not.
    Mend,
}

/// How far an order came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Whole(Recorded),
    /// The commit is full; the rest, or all of it, goes into the next.
    Part(Recorded),
}

/// What is known of a day: its totals, and the orders that were asked for.
///
/// What is changed here is within one commit, so that totals and orders agree in every state that anyone sees.
#[derive(Debug)]
pub(super) struct Day {
    date: Date,
    totals: BTreeMap<Line, Sales>,
    orders: HashMap<OrderId, BTreeMap<i32, Counting>>,
    changed_totals: BTreeSet<Line>,
    changed_orders: BTreeSet<(OrderId, i32)>,
}

/// What a part of an order has added so far.
#[derive(Clone, Debug)]
struct Counting {
    revision: i64,
    currency: Currency,
    contributed: Part,
}

impl Day {
    pub(super) fn of(date: Date, rows: &[DailySales]) -> Self {
        let (mut totals, mut orders) = (BTreeMap::new(), HashMap::<_, BTreeMap<_, _>>::new());
        for row in rows {
            if row.order_id == TOTALS {
                totals.insert((row.category_id, row.currency.clone()), Sales::of(row));
            } else {
                let revision = row.revision.unwrap_or(i64::MIN);
                let counting =
                    Counting { revision, currency: row.currency.clone(), contributed: row.contributed.clone() };
                orders.entry(row.order_id).or_default().insert(row.part, counting);
            }
        }
        Day { date, totals, orders, changed_totals: BTreeSet::new(), changed_orders: BTreeSet::new() }
    }

    /// Counts the order, if what is known of it is older.
    ///
    /// RACE: revisions of one order come in any order, several times, and stop between their parts. The first part is counted
    /// first and says which revision the order is at: of an earlier one nothing is counted any more, none of its parts that
    /// are still missing either.
    pub(super) fn record(&mut self, order: &Counted, mode: Mode) -> Result<Progress> {
        let known = self.orders.get(&order.order_id).cloned().unwrap_or_default();
        if let Some(other) = known.values().find(|part| part.currency != order.currency) {
            let (counted, found) = (other.currency.clone(), order.currency.clone());
            return Err(Error::OtherCurrency { order: order.order_id, counted, found });
        }
        if known.get(&0).is_some_and(|first| first.revision > order.revision) {
            return Ok(Progress::Whole(Recorded::Known));
        }
        let nothing = Part::new();
        let parts = known.keys().map(|part| part + 1).max().unwrap_or(1).max(order.parts.len() as i32);
        let mut recorded = Recorded::Known;
        for part in 0..parts {
            let wanted = order.parts.get(part as usize).unwrap_or(&nothing);
            let due = match known.get(&part) {
                Some(found) if found.revision == order.revision => mode == Mode::Mend && found.contributed != *wanted,
                Some(found) => found.revision < order.revision,
                None => part == 0 || !wanted.is_empty(),
            };
            if !due {
                continue;
            }
            let before = known.get(&part).map_or(&nothing, |found| &found.contributed);
            if !self.has_room(order, part, before, wanted) {
                return Ok(Progress::Part(recorded));
            }
            self.replace(order, part, before, wanted)?;
            recorded = Recorded::Counted;
        }
        Ok(Progress::Whole(recorded))
    }

    fn has_room(&self, order: &Counted, part: i32, before: &Part, wanted: &Part) -> bool {
        let touched: BTreeSet<Line> = touched(before, wanted).map(|c| (c, order.currency.clone())).collect();
        let lines = touched.union(&self.changed_totals).count();
        let key = (order.order_id, part);
        let orders = self.changed_orders.len() + usize::from(!self.changed_orders.contains(&key));
        lines + orders <= widerow::limits::GUARDED_WRITES_MAX
    }

    fn replace(&mut self, order: &Counted, part: i32, before: &Part, wanted: &Part) -> Result<()> {
        // All of the sums or none: nothing is changed before the last one is known.
        let mut sums = BTreeMap::new();
        for category in touched(before, wanted) {
            let line = (category, order.currency.clone());
            sums.extend(self.totals.get(&line).map(|sales| (line.clone(), *sales)));
            for (part, orders) in [(before, -1), (wanted, 1)] {
                if let Some(sum) = part.get(&category) {
                    add(&mut sums, line.clone(), *sum, orders)?;
                }
            }
        }
        self.changed_totals.extend(sums.keys().cloned());
        self.totals.extend(sums);
        let counting =
            Counting { revision: order.revision, currency: order.currency.clone(), contributed: wanted.clone() };
        self.orders.entry(order.order_id).or_default().insert(part, counting);
        self.changed_orders.insert((order.order_id, part));
        Ok(())
    }

    /// Everything that was changed, in one commit.
    pub(super) fn commit(&self) -> Commit {
        let (rows, gone) = self.changes();
        let commit = rows.iter().fold(Commit::new(), Commit::put);
        gone.into_iter().fold(commit, |commit, row| commit.delete::<DailySales>(row.key()))
    }

    /// The rows that are to be written, and those that are to go: a category without sales has none.
    pub(super) fn changes(&self) -> (Vec<DailySales>, Vec<DailySales>) {
        let totals = self.changed_totals.iter().map(|line| {
            let sales = self.totals.get(line).copied().unwrap_or_default();
            sales.row(self.date, line.clone())
        });
        let (gone, mut rows): (Vec<_>, Vec<_>) = totals.partition(|row| Sales::of(row) == Sales::default());
        rows.extend(self.changed_orders.iter().filter_map(|(order_id, part)| {
            let counting = self.orders.get(order_id)?.get(part)?;
            Some(counting.row(self.date, *order_id, *part))
        }));
        (rows, gone)
    }
}

/// The categories whose sums change.
fn touched(before: &Part, wanted: &Part) -> impl Iterator<Item = CategoryId> {
    let all: BTreeSet<CategoryId> = before.keys().chain(wanted.keys()).copied().collect();
    all.into_iter().filter(|category| before.get(category) != wanted.get(category))
}

impl Counting {
    fn row(&self, date: Date, order_id: OrderId, part: i32) -> DailySales {
        DailySales {
            date,
            order_id,
            category_id: CategoryId(Uuid::nil()),
            currency: self.currency.clone(),
            part,
            order_count: i64::from(!self.contributed.is_empty()),
            item_count: self.contributed.values().map(|sum| sum.item_count).sum(),
            revenue_cents: self.contributed.values().map(|sum| sum.revenue_cents).sum(),
            revision: Some(self.revision),
            contributed: self.contributed.clone(),
        }
    }
}

/// Views of one product on one day that are not counted yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    pub views: i64,
    pub visitors: Sketch,
}

/// The day's row with what was seen since; None where this very flush is in it.
///
/// RACE: a flush without an answer may have been counted. It is made again under the same id, and the row says, for each
/// process, which flush of it was the last: a process makes one at a time.
pub(super) fn see(
    old: Option<&ProductViews>,
    key: (ProductId, Date),
    seen: &Seen,
    process: Uuid,
    flush: Uuid,
) -> widerow::Result<Option<ProductViews>> {
    let mut flushed = old.map(|row| row.flushed.clone()).unwrap_or_default();
    if flushed.insert(process, flush) == Some(flush) {
        return Ok(None);
    }
    // Ids of flushes begin with their time.
    while flushed.len() > limits::FLUSHES_KEPT {
        let oldest = flushed.iter().min_by_key(|(_, flush)| **flush).map(|(process, _)| *process);
        oldest.map(|process| flushed.remove(&process));
    }
    let mut visitors = old.map_or_else(|| Ok(Sketch::default()), sketch)?;
    visitors.merge(&seen.visitors);
    let view_count = old.map_or(0, |row| row.view_count).saturating_add(seen.views);
    Ok(Some(ProductViews {
        product_id: key.0,
        date: key.1,
        view_count,
        // An estimate may be over what can be.
        unique_visitor_count: visitors.count().min(view_count),
        visitors: visitors.to_bytes(),
        flushed,
    }))
}

fn sketch(row: &ProductViews) -> widerow::Result<Sketch> {
    Sketch::from_bytes(&row.visitors).map_err(|error| widerow::Error::corrupt("product_views", error))
}

/// How many different visitors the days had together; of one product, as the sketches of two have nothing in common.
pub fn unique_visitors(days: &[ProductViews]) -> widerow::Result<i64> {
    let mut all = Sketch::default();
    for day in days {
        all.merge(&sketch(day)?);
    }
    Ok(all.count().min(days.iter().map(|day| day.view_count).sum()))
}

/// What was sold on a day, as it follows from all its orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySales {
    pub date: Date,
    /// When the reading of the orders began. What was computed from an earlier reading never replaces it.
    pub as_of: Timestamp,
    pub products: Vec<ProductSales>,
}

/// What was sold of one product, in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductSales {
    pub product_id: ProductId,
    pub currency: Currency,
    pub units: i64,
    pub revenue: Decimal,
}

impl DaySales {
    /// The rows of each shard.
    pub(super) fn rows(&self) -> Result<Vec<Vec<SoldProduct>>, Invalid> {
        let mut check = Check::new();
        check.that(self.date.in_range(), "date", "a date must lie in the years 0000 to 9999");
        check.that(self.as_of.in_range(), "as_of", "a time must lie in the years 0000 to 9999");
        check.count("products", self.products.len(), limits::PRODUCTS_A_DAY_MAX);
        let mut known = BTreeSet::new();
        let mut rows = vec![Vec::new(); SHARDS as usize];
        for (i, sold) in self.products.iter().enumerate() {
            let field = |name: &str| format!("products/{i}/{name}");
            check.currency(&field("currency"), &sold.currency);
            let units = units(&mut check, field("units"), sold.units);
            let revenue_cents = cents(&mut check, field("revenue"), sold.revenue, &sold.currency);
            let new = known.insert((sold.product_id, sold.currency.clone()));
            check.that(new, field("product_id"), "it is there twice in one currency");
            let shard = shard(sold.product_id);
            rows[shard as usize].push(SoldProduct {
                date: self.date,
                shard,
                product_id: sold.product_id,
                currency: sold.currency.clone(),
                as_of: None,
                units,
                revenue_cents,
            });
        }
        check.end()?;
        Ok(rows)
    }
}

/// By what products are ranked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    Views,
    Units,
    Revenue(Currency),
}

impl Metric {
    /// As it stands in the key.
    pub fn name(&self) -> String {
        match self {
            Metric::Views => "views".into(),
            Metric::Units => "units".into(),
            Metric::Revenue(currency) => format!("revenue:{currency}"),
        }
    }
}

/// Days over which products are ranked, today among them.
pub const RANKED_DAYS: [i32; 3] = [1, 7, 30];

/// Sums of every product over the days that were added, the newest day first. It takes memory for every product that was
/// seen or sold in thirty days, about 100 bytes each.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    sums: BTreeMap<Metric, HashMap<ProductId, i64>>,
    lists: BTreeMap<(Metric, i32), Vec<(ProductId, i64)>>,
}

impl Ranking {
    pub(super) fn add(&mut self, metric: &Metric, product: ProductId, value: i64) {
        if !self.sums.contains_key(metric) {
            self.sums.insert(metric.clone(), HashMap::new());
        }
        if let Some(sums) = self.sums.get_mut(metric) {
            let sum = sums.entry(product).or_default();
            *sum = sum.saturating_add(value);
        }
    }

    /// Keeps the best over as many days as were added.
    pub(super) fn keep(&mut self, days: i32) {
        for (metric, sums) in &self.sums {
            let mut best: Vec<_> = sums.iter().map(|(product, sum)| (*product, *sum)).collect();
            let order = |a: &(ProductId, i64), b: &(ProductId, i64)| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
            if best.len() > limits::RANKED_MAX {
                best.select_nth_unstable_by(limits::RANKED_MAX, order);
                best.truncate(limits::RANKED_MAX);
            }
            best.sort_unstable_by(order);
            self.lists.insert((metric.clone(), days), best);
        }
    }

    /// Every list, those too that have become empty: of views, of units, and of each currency that was seen.
    pub(super) fn lists(mut self) -> BTreeMap<(Metric, i32), Vec<(ProductId, i64)>> {
        for metric in self.sums.into_keys().chain([Metric::Views, Metric::Units]) {
            for days in RANKED_DAYS {
                self.lists.entry((metric.clone(), days)).or_default();
            }
        }
        self.lists
    }
}

/// The list in place of the one that is there, unless that one is newer.
pub(super) fn replace_list(
    found: &[TopProduct],
    (metric, days): &(Metric, i32),
    list: &[(ProductId, i64)],
    ranked_at: Timestamp,
) -> Commit {
    let mut commit = Commit::new();
    if found.iter().any(|row| row.ranked_at > ranked_at) {
        return commit;
    }
    let metric = metric.name();
    for (rank, (product_id, value)) in (1..).zip(list) {
        let (metric, days, product_id, value) = (metric.clone(), *days, *product_id, *value);
        commit = commit.put(&TopProduct { metric, days, rank, product_id, value, ranked_at });
    }
    for row in found.iter().filter(|row| row.rank as usize > list.len()) {
        commit = commit.delete::<TopProduct>((metric.clone(), *days, row.rank));
    }
    commit
}
