//! The orders of a day, all or those that stand so.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use futures::future::try_join_all;
use merkato::{
    Context, PageRequest, limits,
    orders::{self, Order, OrderStatus},
};
use serde::Deserialize;
use widerow::Date;

use super::{
    pager::{Pager, Turn},
    said::{self, State},
};
use crate::{
    http::{Problem, Query, Visit},
    web::{Frame, Html, see_other, words},
};

const PATH: &str = "/admin/orders";

/// What the list is narrowed by, as it stands in the address.
#[derive(Deserialize)]
pub struct Filter {
    #[serde(default)]
    status: String,
    #[serde(default)]
    date: String,
    #[serde(default)]
    number: String,
}

/// A link of the row of filters.
pub struct Tab {
    word: String,
    href: String,
    here: bool,
    count: Option<u64>,
}

pub struct Line {
    id: String,
    number: String,
    state: State,
    payment: State,
    customer: String,
    what: String,
    pieces: String,
    total: String,
    placed: String,
}

#[derive(Template)]
#[template(path = "admin/orders.html")]
pub struct Orders {
    frame: Frame,
    tabs: Vec<Tab>,
    days: Vec<Tab>,
    day: String,
    is_today: bool,
    date: String,
    status: String,
    earlier: String,
    later: Option<String>,
    number: String,
    /// What the list cannot say.
    trouble: String,
    lines: Vec<Line>,
    pager: Pager,
}

/// Orders of a day that are counted for the row of filters; a busier day has links without counts.
const COUNTED_MAX: usize = limits::PAGE_ROWS_MAX;
/// Days of the row of days, and orders of each that are counted.
const DAYS: i32 = 7;
const COUNTED_A_DAY_MAX: usize = 50;

pub async fn list(
    visit: Visit,
    frame: Frame,
    Query(filter): Query<Filter>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let today = ctx.now().date();
    let number = filter.number.trim();
    let mut trouble = String::new();
    if !number.is_empty() {
        match orders::find_by_number(ctx, number).await {
            Ok(Some(order)) => return Ok(see_other(&format!("{PATH}/{}", order.order_id))),
            Ok(None) => trouble = format!("No order has the number {number}."),
            Err(orders::Error::Invalid(_)) => trouble = format!("{number} is no order number."),
            Err(error) => return Err(error.into()),
        }
    }
    let status = OrderStatus::ALL.into_iter().find(|status| status.as_str() == filter.status);
    let (date, days) = if filter.date.is_empty() {
        let days = count_days(ctx, today, status).await?;
        (last_busy(&days).unwrap_or(today), days)
    } else {
        let date: Option<Date> = filter.date.parse().ok().filter(|date: &Date| date.in_range());
        let date = date.ok_or_else(|| Problem::field("invalid", "/date", "not a day as 2026-03-01"))?;
        // Days around it, as far as there are any.
        let last = date.days().saturating_add(DAYS / 2).min(today.days()).max(date.days());
        (date, count_days(ctx, Date::from_days(last), status).await?)
    };
    let page = turn.page(&visit)?;
    let found = match status {
        Some(status) => orders::list_by_status(ctx, status, date, page).await.map(|found| (found.rows, found.next)),
        None => of_day(ctx, date, page).await,
    };
    let (rows, next) = match found {
        Ok(found) => found,
        Err(error @ orders::Error::TooLongAgo { .. }) => {
            trouble = format!("Of this day all orders can be listed, but not by where they stand: {error}.");
            (Vec::new(), None)
        }
        Err(error) => return Err(error.into()),
    };
    let status = status.map_or("", |status| status.as_str());
    let day_text = date.to_string();
    let pager = turn.pager(&visit, PATH, &[("status", status), ("date", &day_text), ("number", number)], next);
    let other = |days: i32| href(status, &Date::from_days(date.days().saturating_add(days)).to_string());
    let orders = Orders {
        tabs: tabs(ctx, date, status).await?,
        days: days.into_iter().map(|busy| busy.tab(date, today, status)).collect(),
        day: words::day(date.start()),
        is_today: date == today,
        earlier: other(-DAYS),
        later: (date < today).then(|| other((today.days() - date.days()).min(DAYS))),
        date: day_text,
        status: status.to_owned(),
        number: number.to_owned(),
        trouble,
        lines: rows.into_iter().map(line).collect(),
        pager,
        frame,
    };
    Ok(Html(orders).into_response())
}

fn href(status: &str, date: &str) -> String {
    let said = [("status", status), ("date", date)].into_iter().filter(|(_, value)| !value.is_empty());
    let query: Vec<_> = said.map(|(name, value)| format!("{name}={value}")).collect();
    if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{}", query.join("&")) }
}

/// How many orders of a day are meant, unless they are too many to be counted.
struct Busy {
    day: Date,
    count: Option<u64>,
}

impl Busy {
    fn tab(self, here: Date, today: Date, status: &str) -> Tab {
        Tab {
            word: if self.day == today { "Today".to_owned() } else { said::weekday(self.day) },
            href: href(status, &self.day.to_string()),
            here: self.day == here,
            count: self.count,
        }
    }
}

/// The days up to one, each with how many orders of it stand so: where there is work to do.
async fn count_days(ctx: &Context, last: Date, status: Option<OrderStatus>) -> Result<Vec<Busy>, Problem> {
    let days = (0..DAYS).rev().map(|back| Date::from_days(last.days().saturating_sub(back)));
    let counted = days.filter(|day| day.in_range()).map(|day| async move {
        let listed = orders::list_by_day(ctx, day, PageRequest::first(COUNTED_A_DAY_MAX)).await?;
        let meant = listed.rows.iter().filter(|row| status.is_none_or(|status| row.status == status)).count() as u64;
        Ok::<_, Problem>(Busy { day, count: listed.next.is_none().then_some(meant) })
    });
    try_join_all(counted).await
}

/// Where the list opens: a clerk who comes in the morning finds what came yesterday, not an empty page.
fn last_busy(days: &[Busy]) -> Option<Date> {
    days.iter().rev().find(|busy| busy.count != Some(0)).map(|busy| busy.day)
}

/// All orders of a day, newest first, as they are now: the list of a day has not all that is shown.
async fn of_day(
    ctx: &Context,
    date: Date,
    page: PageRequest,
) -> Result<(Vec<Order>, Option<merkato::Cursor>), orders::Error> {
    let listed = orders::list_newest_of_day(ctx, date, page).await?;
    let ids: Vec<_> = listed.rows.iter().map(|row| row.order_id).collect();
    let found = orders::list_orders(ctx, &ids).await?;
    Ok((found.into_iter().flatten().collect(), listed.next))
}

async fn tabs(ctx: &Context, date: Date, here: &str) -> Result<Vec<Tab>, Problem> {
    let counted = orders::list_by_day(ctx, date, PageRequest::first(COUNTED_MAX)).await?;
    let whole = counted.next.is_none();
    let day = &date.to_string();
    let count = |status: Option<OrderStatus>| {
        let meant = counted.rows.iter().filter(|row| status.is_none_or(|status| row.status == status));
        whole.then(|| meant.count() as u64)
    };
    let all = Tab { word: "All".to_owned(), href: href("", day), here: here.is_empty(), count: count(None) };
    let one = |status: OrderStatus| Tab {
        word: said::order(status).word.to_owned(),
        href: href(status.as_str(), day),
        here: here == status.as_str(),
        count: count(Some(status)),
    };
    Ok([all].into_iter().chain(OrderStatus::ALL.map(one)).collect())
}

fn line(order: Order) -> Line {
    let more = order.item_count > 1;
    Line {
        id: order.order_id.to_string(),
        state: said::order(order.status),
        payment: said::payment(order.payment_status),
        customer: order.customer_name.or(order.user_email).unwrap_or_else(|| "–".to_owned()),
        what: if more { format!("{} and more", order.first_item_name) } else { order.first_item_name },
        pieces: words::thousands(&order.item_count.to_string()),
        total: words::money(order.total, &order.currency),
        placed: said::moment(order.created_at),
        number: order.order_number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_opens_on_the_last_day_that_has_any() {
        let week = |counts: [Option<u64>; 3]| {
            counts
                .into_iter()
                .zip(100..)
                .map(|(count, day)| Busy { day: Date::from_days(day), count })
                .collect::<Vec<_>>()
        };
        assert_eq!(last_busy(&week([Some(2), Some(3), Some(0)])), Some(Date::from_days(101)));
        assert_eq!(last_busy(&week([Some(2), Some(0), None])), Some(Date::from_days(102)), "too many are some");
        assert_eq!(last_busy(&week([Some(0); 3])), None);
    }
}
