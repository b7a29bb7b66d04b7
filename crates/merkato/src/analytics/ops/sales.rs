//! The sales of a day, by category.

use std::collections::BTreeSet;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::{Date, Page, Partition};

use crate::{
    analytics::{
        error::Result,
        rules::{Contribution, Counted, Day, Mode, Progress, Recorded},
        tables::{DailySales, TOTALS},
    },
    check::Check,
    context::Context,
    limits,
    pattern::PageRequest,
};

/// Days that are read at once.
const DAYS_AT_ONCE: usize = 8;
/// Rows of totals that are read in one request.
const ROWS: usize = 1_000;

/// Counts an order in the sales of its day: once, however often and in whichever order its revisions come. Orders of one day
/// that come together are counted in one commit.
///
/// On any error it may have been counted: asked again, nothing is counted twice.
pub async fn record_order(ctx: &Context, contribution: Contribution) -> Result<Recorded> {
    let order = Counted::of(&contribution)?;
    let key = (ctx.store.tenant().clone(), order.date);
    let decider = ctx.clone();
    let decide = move |(_, date), orders: Vec<Counted>, _| {
        let ctx = decider.clone();
        async move { record_together(&ctx, date, &orders, Mode::Newer).await }
    };
    ctx.analytics.orders.submit(key, order, decide).await?
}

/// Counts orders of one day in as few commits as they fit; an answer for each, in their order.
///
/// It reads the totals of the day and the rows of these orders, whatever the number of other orders.
pub(super) async fn record_together(
    ctx: &Context,
    date: Date,
    orders: &[Counted],
    mode: Mode,
) -> widerow::Result<Vec<Result<Recorded>>> {
    let mut answers: Vec<Option<Result<Recorded>>> = orders.iter().map(|_| None).collect();
    let mut counted = vec![false; orders.len()];
    loop {
        let waiting: Vec<usize> = (0..orders.len()).filter(|i| answers[*i].is_none()).collect();
        if waiting.is_empty() {
            return Ok(answers.into_iter().flatten().collect());
        }
        let ids: BTreeSet<_> = waiting.iter().map(|i| orders[*i].order_id).chain([TOTALS]).collect();
        let decide = |view: &Partition<DailySales>| {
            let mut day = Day::of(date, &view.rows);
            let steps: Vec<_> = waiting.iter().map(|i| day.record(&orders[*i], mode)).collect();
            Ok((day.commit(), steps))
        };
        let steps = ctx.store.guarded_prefixes::<DailySales, _, widerow::Error>(date, ids, decide).await?;
        for (i, step) in waiting.into_iter().zip(steps) {
            let (whole, recorded) = match step {
                Ok(Progress::Whole(recorded)) => (true, recorded),
                Ok(Progress::Part(recorded)) => (false, recorded),
                Err(error) => {
                    answers[i] = Some(Err(error));
                    continue;
                }
            };
            counted[i] |= recorded == Recorded::Counted;
            if whole {
                answers[i] = Some(Ok(if counted[i] { Recorded::Counted } else { Recorded::Known }));
            }
        }
    }
}

/// Q18. What was sold on a day, by category and currency. One partition, and no row of an order.
pub async fn list_daily_sales(ctx: &Context, date: Date, page: PageRequest) -> Result<Page<DailySales>> {
    page.check()?;
    let slice = ctx.store.slice::<DailySales>(date).prefix(TOTALS);
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// Q18 over several days, the last one included: every row of totals, day by day. The days are read side by side.
pub async fn list_daily_sales_between(ctx: &Context, from: Date, to: Date) -> Result<Vec<DailySales>> {
    let mut check = Check::new();
    check_days(&mut check, from, to, limits::SALES_DAYS_MAX);
    check.end()?;
    let days = (from.days()..=to.days()).map(Date::from_days).map(|date| async move {
        ctx.store.slice::<DailySales>(date).prefix(TOTALS).limit(ROWS).all(limits::SALES_LINES_A_DAY_MAX).await
    });
    let days: Vec<Vec<DailySales>> = stream::iter(days).buffered(DAYS_AT_ONCE).try_collect().await?;
    Ok(days.into_iter().flatten().collect())
}

/// Days in their order, and not too many.
pub(super) fn check_days(check: &mut Check, from: Date, to: Date, most: i32) {
    check.that(from.in_range(), "from", "a date must lie in the years 0000 to 9999");
    check.that(to.in_range(), "to", "a date must lie in the years 0000 to 9999");
    // Dates have fewer days than would overflow, if they are in range.
    if from > to {
        check.refuse("to", "it is before the first day");
    } else if to.days().saturating_sub(from.days()) >= most {
        check.refuse("to", format!("the limit is {most} days"));
    }
}
