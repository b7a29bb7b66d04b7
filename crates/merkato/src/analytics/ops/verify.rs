//! Whether what is stored of a day's sales is what follows from its orders, and made so again.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
};

use futures::{Stream, StreamExt as _};
use uuid::Uuid;
use widerow::{Commit, Consistency, Cursor, Date, Error as DataError, Version};

use super::sales::record_together;
use crate::{
    analytics::{
        error::{Error, Result},
        rules::{self, Contribution, Counted, Line, Mode, Sales},
        tables::{Contributed, DailySales, TOTALS},
    },
    check::Invalid,
    context::Context,
    id::{CategoryId, OrderId},
    limits,
    money::Currency,
};

/// Rows that are read in one request.
const ROWS: usize = 1_000;
/// Orders that are mended in one go, and totals that are written in one commit.
const TOGETHER: usize = 90;
/// Looks at a day until one finds it at rest.
const TRIES: usize = 10;

/// What a look at a day found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayReport {
    pub date: Date,
    /// Orders that were looked at.
    pub orders: u64,
    /// Orders that were not counted as they are, or that do not exist: how many, and the first of them.
    pub wrong_orders: u64,
    pub wrong: Vec<OrderId>,
    /// Categories whose totals were wrong.
    pub differences: Vec<SalesDifference>,
    /// Whether they were mended.
    pub repaired: bool,
}

/// A category whose totals are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalesDifference {
    pub category_id: CategoryId,
    pub currency: Currency,
    pub stored: Sales,
    pub expected: Sales,
}

impl DayReport {
    fn new(date: Date) -> Self {
        DayReport { date, orders: 0, wrong_orders: 0, wrong: Vec::new(), differences: Vec::new(), repaired: false }
    }

    fn note(&mut self, order: OrderId) {
        self.wrong_orders += 1;
        if self.wrong.len() < limits::WRONG_ORDERS_LISTED {
            self.wrong.push(order);
        }
    }

    pub fn is_sound(&self) -> bool {
        self.wrong_orders == 0 && self.differences.is_empty()
    }
}

type Totals = BTreeMap<Line, Sales>;

/// Whether the totals of a day are the sums of what its orders have added; makes them so, if that is asked for.
///
/// RACE: orders may be counted meanwhile. The rows are read page by page, and count only if the partition had the same
/// version before and after; totals are written at that version. On a day that never rests, the answer is to come later.
pub async fn verify_day(ctx: &Context, date: Date, repair: bool) -> Result<DayReport> {
    check_date(date)?;
    for _ in 0..TRIES {
        let version = version(ctx, date).await?;
        let (mut stored, mut expected, mut report) = (Totals::new(), Totals::new(), DayReport::new(date));
        for_each_row(ctx, date, |row| {
            if row.order_id == TOTALS {
                stored.insert((row.category_id, row.currency.clone()), Sales::of(&row));
                return Ok(());
            }
            report.orders += u64::from(row.part == 0);
            let mut lines = row.contributed.iter();
            lines.try_for_each(|(category, sum)| rules::add(&mut expected, (*category, row.currency.clone()), *sum, 1))
        })
        .await?;
        if self::version(ctx, date).await? != version {
            continue;
        }
        report.differences = differences(&stored, &expected);
        if !repair || report.differences.is_empty() {
            return Ok(report);
        }
        if write_totals(ctx, date, version, &report.differences).await? {
            report.repaired = true;
            return Ok(report);
        }
    }
    Err(Error::DayIsBusy { date })
}

/// Compares the sales of a day with its orders, given as they are now, and counts them anew where they differ, if that is
/// asked for. It takes memory for every order of the day, about 200 bytes each and 60 for each category.
///
/// An order that is recorded at this moment may be told as a difference. One that was counted and is not among those that
/// are given does not exist, and is taken back; should it have been missed by mistake, the next call counts it again.
///
/// ORDER: what was counted is read before the first order is asked for. An order exists before it is counted, so that every
/// one that was counted is among those that come, if it exists.
pub async fn rebuild_day<E: From<Error>>(
    ctx: &Context,
    date: Date,
    orders: impl Stream<Item = Result<Contribution, E>>,
    repair: bool,
) -> Result<DayReport, E> {
    check_date(date).map_err(Error::from)?;
    let (stored, mut counted) = read_day(ctx, date).await?;
    let (mut expected, mut report, mut mending) = (Totals::new(), DayReport::new(date), Vec::new());
    let mut orders = pin!(orders);
    let mut seen = BTreeSet::new();
    while let Some(order) = orders.next().await {
        let order = check_order(&order?, date).map_err(Error::from)?;
        if !seen.insert(order.order_id) {
            continue;
        }
        report.orders += 1;
        let known = counted.remove(&order.order_id);
        let newer = known.as_ref().filter(|known| known.revision > order.revision);
        if let Some(known) = newer {
            // It has changed since it was read.
            known.add_to(&mut expected)?;
            continue;
        }
        let wanted = Known::of(&order);
        wanted.add_to(&mut expected)?;
        if known.as_ref() != Some(&wanted) {
            // Counted at an earlier revision, it may be counted rightly all the same.
            let right = known.map_or(wanted.lines.is_empty(), |known| known.whole && known.lines == wanted.lines);
            if !right {
                report.note(order.order_id);
            }
            mending.push(order);
        }
        if repair && mending.len() >= TOGETHER {
            mend(ctx, date, &mut mending).await?;
        }
    }
    for (order_id, known) in counted.into_iter().filter(|(_, known)| !known.lines.is_empty()) {
        report.note(order_id);
        mending.push(Counted::nothing(order_id, date, known.revision, known.currency));
    }
    report.differences = differences(&stored, &expected);
    if repair {
        mend(ctx, date, &mut mending).await?;
    }
    if repair && !report.is_sound() {
        verify_day(ctx, date, true).await?;
        report.repaired = true;
    }
    Ok(report)
}

fn check_date(date: Date) -> Result<(), Invalid> {
    match date.in_range() {
        true => Ok(()),
        false => Err(Invalid::new("date", "a date must lie in the years 0000 to 9999")),
    }
}

fn check_order(order: &Contribution, date: Date) -> Result<Counted, Invalid> {
    if order.date != date {
        return Err(Invalid::new("date", format!("the order {} is of {}, not of {date}", order.order_id, order.date)));
    }
    Counted::of(order)
}

/// What an order has added, all its parts together.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    /// Of the first part, which tells at which revision the order is.
    revision: i64,
    /// Whether all parts are at that revision.
    whole: bool,
    currency: Currency,
    lines: BTreeMap<CategoryId, Contributed>,
}

impl Known {
    fn of(order: &Counted) -> Self {
        let (revision, currency) = (order.revision, order.currency.clone());
        Known { revision, whole: true, currency, lines: order.lines().collect() }
    }

    fn add_to(&self, totals: &mut Totals) -> Result<()> {
        let mut lines = self.lines.iter();
        lines.try_for_each(|(category, sum)| rules::add(totals, (*category, self.currency.clone()), *sum, 1))
    }
}

async fn read_day(ctx: &Context, date: Date) -> Result<(Totals, BTreeMap<OrderId, Known>)> {
    let (mut totals, mut orders) = (Totals::new(), BTreeMap::<OrderId, Known>::new());
    for_each_row(ctx, date, |row| {
        if row.order_id == TOTALS {
            totals.insert((row.category_id, row.currency.clone()), Sales::of(&row));
            return Ok(());
        }
        let revision = row.revision.unwrap_or(i64::MIN);
        // The first part comes first.
        let known = orders.entry(row.order_id).or_insert_with(|| Known {
            revision,
            whole: row.part == 0,
            currency: row.currency.clone(),
            lines: BTreeMap::new(),
        });
        known.whole &= known.revision == revision && known.currency == row.currency;
        known.lines.extend(row.contributed);
        Ok(())
    })
    .await?;
    Ok((totals, orders))
}

/// Every row of a day, page by page.
async fn for_each_row(ctx: &Context, date: Date, mut see: impl FnMut(DailySales) -> Result<()>) -> Result<()> {
    let mut cursor: Option<Cursor> = None;
    loop {
        let slice = ctx.store.slice::<DailySales>(date).consistency(Consistency::Quorum);
        let page = slice.limit(ROWS).after(cursor).page().await?;
        page.rows.into_iter().try_for_each(&mut see)?;
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

async fn version(ctx: &Context, date: Date) -> widerow::Result<Option<Version>> {
    // No row has this key: it is the partition that is asked for.
    let nobody = (date, TOTALS, CategoryId(Uuid::nil()), Currency::new(""), 0);
    Ok(ctx.store.get_versioned::<DailySales>(nobody).await?.1)
}

fn differences(stored: &Totals, expected: &Totals) -> Vec<SalesDifference> {
    let lines: BTreeSet<&Line> = stored.keys().chain(expected.keys()).collect();
    let each = lines.into_iter().map(|line| {
        let sales = |totals: &Totals| totals.get(line).copied().unwrap_or_default();
        let (category_id, currency) = line.clone();
        SalesDifference { category_id, currency, stored: sales(stored), expected: sales(expected) }
    });
    each.filter(|difference| difference.stored != difference.expected).collect()
}

/// Whether all could be written, each commit at the version that the one before it left.
async fn write_totals(
    ctx: &Context,
    date: Date,
    mut version: Option<Version>,
    differences: &[SalesDifference],
) -> Result<bool> {
    for some in differences.chunks(TOGETHER) {
        let mut commit = Commit::new().unchanged::<DailySales>(date, version);
        for SalesDifference { category_id, currency, expected, .. } in some {
            commit = expected.put(date, (*category_id, currency.clone()), commit);
        }
        match ctx.store.commit(commit).await {
            Ok(committed) => version = committed.version,
            Err(DataError::Conflict(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

async fn mend(ctx: &Context, date: Date, mending: &mut Vec<Counted>) -> Result<()> {
    for some in std::mem::take(mending).chunks(TOGETHER) {
        for answer in record_together(ctx, date, some, Mode::Mend).await? {
            answer?;
        }
    }
    Ok(())
}
