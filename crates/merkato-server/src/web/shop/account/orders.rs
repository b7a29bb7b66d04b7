//! What was bought: a list, newest first, and each order with its way.

use askama::Template;
use axum::response::Response;
use merkato::{
    flows::reversal,
    id::OrderId,
    orders::{self, Order, OrderStatus, UserOrder},
};
use serde::Deserialize;

use super::order::{OrderBox, Step, timeline};
use crate::{
    http::{
        Path, Problem, Query, Visit,
        v1::orders::{CUSTOMER, own_order},
        wire::Paging,
    },
    web::{Complaints, Fields, Form, Frame, Html, next, pictures, see_other, words},
};

const ROWS: usize = 10;

#[derive(Template)]
#[template(path = "shop/account/orders.html")]
pub struct OrdersPage {
    frame: Frame,
    orders: Vec<OrderRow>,
    page: u32,
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "shop/account/order.html")]
pub struct OrderPage {
    frame: Frame,
    order: OrderBox,
    steps: Vec<Step>,
    can_be_cancelled: bool,
    complaints: Complaints,
    fields: Fields,
}

pub struct OrderRow {
    pub id: String,
    pub number: String,
    pub day: String,
    pub status: &'static str,
    pub total: String,
    pub pieces: String,
    pub first: String,
    pub picture: Option<String>,
}

impl From<UserOrder> for OrderRow {
    fn from(order: UserOrder) -> Self {
        OrderRow {
            id: order.order_id.to_string(),
            day: words::day(order.order_date.start()),
            status: words::order_status(order.status),
            total: words::money(order.total, &order.currency),
            pieces: words::count(u64::try_from(order.item_count).unwrap_or(0), "piece", "pieces"),
            first: order.first_item_name,
            picture: pictures::own(order.first_item_image.as_deref()),
            number: order.order_number,
        }
    }
}

/// Which page.
#[derive(Deserialize)]
pub struct PageQuery {
    cursor: Option<String>,
    page: Option<u32>,
}

pub async fn list(visit: Visit, frame: Frame, Query(query): Query<PageQuery>) -> Result<Html<OrdersPage>, Problem> {
    let page = visit.page(&Paging { limit: Some(ROWS), cursor: query.cursor.clone() })?;
    let found = orders::list_orders_of_user(&visit.ctx, visit.person()?.user_id, None, None, page).await?;
    let number = query.cursor.map_or(1, |_| query.page.unwrap_or(2).clamp(2, 100_000));
    let after = found.next.as_ref().map(|cursor| {
        let cursor = next::encode(&visit.seal(cursor));
        format!("/account/orders?page={}&cursor={cursor}", number + 1)
    });
    Ok(Html(OrdersPage { frame, orders: found.rows.into_iter().map(OrderRow::from).collect(), page: number, after }))
}

async fn page(visit: &Visit, frame: Frame, order: Order) -> Result<OrderPage, Problem> {
    let (items, history) = futures::try_join!(
        orders::list_items(&visit.ctx, order.order_id),
        orders::timeline(&visit.ctx, order.order_id)
    )?;
    Ok(OrderPage {
        frame,
        steps: timeline(order.status, history),
        can_be_cancelled: order.status.next().contains(&OrderStatus::Cancelled),
        order: OrderBox::new(order, items),
        complaints: Complaints::default(),
        fields: Fields::default(),
    })
}

pub async fn show(visit: Visit, frame: Frame, Path(id): Path<OrderId>) -> Result<Html<OrderPage>, Problem> {
    let order = own_order(&visit, id).await?;
    Ok(Html(page(&visit, frame, order).await?))
}

/// Cancels it, if it was not sent yet. What was paid is given back.
pub async fn cancel(
    visit: Visit,
    frame: Frame,
    Path(id): Path<OrderId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    own_order(&visit, id).await?;
    let notes = fields.optional("notes").map(|notes| notes.replace("\r\n", "\n"));
    let problem = match reversal::cancel_order(&visit.ctx, id, CUSTOMER, notes.as_deref()).await {
        Ok(_) => return Ok(see_other(&format!("/account/orders/{id}?notice=cancelled"))),
        Err(error) => Problem::from(error),
    };
    let complaints = match problem.code {
        "illegal_transition" => Complaints::one("It cannot be cancelled any more: it is on its way, or it is over."),
        _ => Complaints::about(problem)?,
    };
    let order = own_order(&visit, id).await?;
    Ok(Html(OrderPage { complaints, fields, ..page(&visit, frame, order).await? }).refused())
}
