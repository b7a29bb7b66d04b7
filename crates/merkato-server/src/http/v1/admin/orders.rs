//! Orders as the staff sees them, and on their way.

use std::collections::BTreeMap;

use merkato::{
    PageRequest,
    flows::{fulfilment::move_order, reversal},
    id::OrderId,
    orders::{self, Change, DayOrder, Order, OrderItem, TimelineStep},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::actor;
use crate::http::{
    Json, Path, Problem, Query, Visit,
    conditional::{IfMatch, Tagged},
    operation::Operation,
    v1::orders::{OrderStatusView, PaymentStatusView, Postal},
    wire::{Day, Listing, Money, Paging, Time},
};

/// An order as a list for staff shows it.
#[derive(Serialize, ToSchema)]
pub struct StaffOrderCard {
    pub id: Uuid,
    #[schema(example = "ORD-2026-000123")]
    pub order_number: String,
    pub status: OrderStatusView,
    pub total: Money,
    /// Pieces, over all lines.
    pub item_count: i64,
    pub created_at: Time,
}

impl From<Order> for StaffOrderCard {
    fn from(order: Order) -> Self {
        StaffOrderCard {
            id: order.order_id.0,
            total: Money::new(order.total, &order.currency),
            order_number: order.order_number,
            status: order.status.into(),
            item_count: order.item_count,
            created_at: order.created_at.into(),
        }
    }
}

impl From<DayOrder> for StaffOrderCard {
    fn from(order: DayOrder) -> Self {
        StaffOrderCard {
            id: order.order_id.0,
            total: Money::new(order.total, &order.currency),
            order_number: order.order_number,
            status: order.status.into(),
            item_count: order.item_count,
            created_at: order.created_at.into(),
        }
    }
}

/// A line of an order.
#[derive(Serialize, ToSchema)]
pub struct StaffOrderLine {
    /// From one.
    pub line_number: i32,
    pub product_id: Uuid,
    pub product_name: String,
    pub product_image: Option<String>,
    pub sku: Option<String>,
    pub options: BTreeMap<String, String>,
    pub unit_price: Money,
    pub quantity: u32,
    pub line_total: Money,
}

/// How an order came to a status.
#[derive(Serialize, ToSchema)]
pub struct StaffOrderStep {
    pub status: OrderStatusView,
    pub at: Time,
    /// As `system`, `customer`, `staff:` or `admin:` and a user's id, `key:` and a key's.
    pub actor: String,
    pub notes: Option<String>,
}

/// Everything about one order.
#[derive(Serialize, ToSchema)]
pub struct StaffOrder {
    pub id: Uuid,
    #[schema(example = "ORD-2026-000123")]
    pub order_number: String,
    pub status: OrderStatusView,
    /// What it may become.
    pub next: Vec<OrderStatusView>,
    /// None where a guest placed it.
    pub user_id: Option<Uuid>,
    pub user_email: Option<String>,
    pub customer_name: Option<String>,
    pub shipping_address: Option<Postal>,
    pub billing_address: Option<Postal>,
    pub payment_method: Option<String>,
    pub payment_status: PaymentStatusView,
    /// The provider's.
    pub payment_id: Option<String>,
    pub subtotal: Money,
    pub discount: Money,
    pub discount_code: Option<String>,
    pub shipping: Money,
    pub tax: Money,
    pub total: Money,
    /// What the customer's wallet paid of it.
    pub store_credit: Option<Money>,
    pub shipping_method: Option<String>,
    pub tracking_number: Option<String>,
    pub carrier: Option<String>,
    pub estimated_delivery: Option<Day>,
    pub customer_notes: Option<String>,
    pub internal_notes: Option<String>,
    pub checkout_id: Option<Uuid>,
    pub cart_id: Option<Uuid>,
    /// Pieces, over all lines.
    pub item_count: i64,
    pub items: Vec<StaffOrderLine>,
    /// Newest first.
    pub history: Vec<StaffOrderStep>,
    pub created_at: Time,
    pub updated_at: Time,
    pub paid_at: Option<Time>,
    pub shipped_at: Option<Time>,
    pub delivered_at: Option<Time>,
    pub cancelled_at: Option<Time>,
    pub refunded_at: Option<Time>,
}

fn view(order: Order, items: Vec<OrderItem>, history: Vec<TimelineStep>) -> StaffOrder {
    let money = |amount| Money::new(amount, &order.currency);
    let line = |item: OrderItem| StaffOrderLine {
        line_number: item.line_number,
        product_id: item.product_id.0,
        product_name: item.product_name,
        product_image: item.product_image,
        sku: item.sku,
        options: item.selected_options,
        unit_price: money(item.unit_price),
        quantity: item.quantity,
        line_total: money(item.line_total),
    };
    let step = |row: TimelineStep| StaffOrderStep {
        status: row.status.into(),
        at: row.status_time.into(),
        actor: row.actor,
        notes: row.notes,
    };
    StaffOrder {
        id: order.order_id.0,
        status: order.status.into(),
        next: order.status.next().iter().copied().map(Into::into).collect(),
        user_id: order.user_id.map(|id| id.0),
        payment_status: order.payment_status.into(),
        subtotal: money(order.subtotal),
        discount: money(order.discount_amount),
        shipping: money(order.shipping_amount),
        tax: money(order.tax_amount),
        total: money(order.total),
        store_credit: order.store_credit.map(money),
        estimated_delivery: order.estimated_delivery.map(Day),
        checkout_id: order.checkout_id.map(|id| id.0),
        cart_id: order.cart_id.map(|id| id.0),
        item_count: order.item_count,
        items: items.into_iter().map(line).collect(),
        history: history.into_iter().map(step).collect(),
        created_at: order.created_at.into(),
        updated_at: order.updated_at.into(),
        paid_at: order.paid_at.map(Time),
        shipped_at: order.shipped_at.map(Time),
        delivered_at: order.delivered_at.map(Time),
        cancelled_at: order.cancelled_at.map(Time),
        refunded_at: order.refunded_at.map(Time),
        order_number: order.order_number,
        user_email: order.user_email,
        customer_name: order.customer_name,
        shipping_address: order.shipping_address.map(Into::into),
        billing_address: order.billing_address.map(Into::into),
        payment_method: order.payment_method,
        payment_id: order.payment_id,
        discount_code: order.discount_code,
        shipping_method: order.shipping_method,
        tracking_number: order.tracking_number,
        carrier: order.carrier,
        customer_notes: order.customer_notes,
        internal_notes: order.internal_notes,
    }
}

async fn shown(visit: &Visit, order: Order) -> Result<Tagged<Json<StaffOrder>>, Problem> {
    let items = orders::list_items(&visit.ctx, order.order_id).await?;
    let history = orders::timeline(&visit.ctx, order.order_id).await?;
    Ok(Tagged { revision: order.revision, view: Json(view(order, items, history)) })
}

/// Which orders.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct OrdersQuery {
    /// Only those that stand so, newest first; without it all of the day, oldest first. Orders are listed by status for
    /// thirty days.
    #[param(inline)]
    status: Option<OrderStatusView>,
    /// The day on which they were placed, today if it is not said.
    #[param(inline)]
    date: Option<Day>,
    /// The order with this number alone; neither a status nor a date goes with it.
    #[param(min_length = 1, max_length = 40, example = "ORD-2026-000123")]
    number: Option<String>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// The orders of a day, all or those that stand so
#[utoipa::path(get, path = "/v1/admin/orders", tag = "admin: orders", params(OrdersQuery),
    responses((status = 200, description = "A page of them", body = Listing<StaffOrderCard>), (status = 304, description = "As the client has it")))]
pub async fn list_orders(
    visit: Visit,
    Query(query): Query<OrdersQuery>,
) -> Result<Json<Listing<StaffOrderCard>>, Problem> {
    let ctx = &visit.ctx;
    let page: PageRequest = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    if let Some(number) = query.number {
        if query.status.is_some() || query.date.is_some() {
            return Err(Problem::field("invalid", "/number", "neither a status nor a date goes with it"));
        }
        return Ok(Json(Listing::whole(orders::find_by_number(ctx, &number).await?)));
    }
    let date = query.date.map_or_else(|| ctx.now().date(), |Day(date)| date);
    Ok(Json(match query.status {
        Some(status) => {
            let found = orders::list_by_status(ctx, status.into(), date, page).await?;
            visit.listed(found.rows, found.next, StaffOrderCard::from)
        }
        None => {
            let found = orders::list_by_day(ctx, date, page).await?;
            visit.listed(found.rows, found.next, StaffOrderCard::from)
        }
    }))
}

/// An order, with its lines and how it came to where it stands
#[utoipa::path(get, path = "/v1/admin/orders/{id}", tag = "admin: orders", params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, description = "The order", body = StaffOrder), (status = 304, description = "As the client has it")))]
pub async fn get_order(visit: Visit, Path(id): Path<OrderId>) -> Result<Tagged<Json<StaffOrder>>, Problem> {
    let order = orders::get_order(&visit.ctx, id).await?;
    shown(&visit, order).await
}

/// The next status, and what goes with it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusBody {
    status: OrderStatusView,
    #[schema(max_length = 4000)]
    notes: Option<String>,
    #[schema(example = "00340434161094042557", min_length = 1, max_length = 200)]
    tracking_number: Option<String>,
    #[schema(example = "DHL", min_length = 1, max_length = 200)]
    carrier: Option<String>,
    estimated_delivery: Option<Day>,
}

/// Bring an order to its next status
///
/// From pending to paid, processing, shipped, delivered; cancelled before it is shipped, refunded after it is paid. An order
/// that was checked out here is paid by its payment, not by hand.
#[utoipa::path(post, path = "/v1/admin/orders/{id}/status", tag = "admin: orders", request_body = StatusBody,
    params(("id" = Uuid, Path, description = "The order"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The order as it is now", body = StaffOrder,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn change_status(
    visit: Visit,
    Path(id): Path<OrderId>,
    IfMatch(expected): IfMatch,
    operation: Operation,
    Json(body): Json<StatusBody>,
) -> Result<Tagged<Json<StaffOrder>>, Problem> {
    let change = Change {
        notes: body.notes,
        tracking_number: body.tracking_number,
        carrier: body.carrier,
        estimated_delivery: body.estimated_delivery.map(|Day(date)| date),
        ..Change::by(actor(&visit)?, operation.id)
    };
    let order = move_order(&visit.ctx, id, body.status.into(), change, expected).await?;
    shown(&visit, order).await
}

/// Why an order is cancelled.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StaffCancelBody {
    #[schema(example = "The customer called", max_length = 4000)]
    notes: Option<String>,
}

/// Cancel an order that was not shipped
///
/// Its payment is given up or given back, its stock is free. Asked again, it finishes what was stopped.
#[utoipa::path(post, path = "/v1/admin/orders/{id}/cancel", tag = "admin: orders", request_body = StaffCancelBody,
    params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, description = "The order as it is now", body = StaffOrder)))]
pub async fn cancel_order(
    visit: Visit,
    Path(id): Path<OrderId>,
    Json(body): Json<StaffCancelBody>,
) -> Result<Tagged<Json<StaffOrder>>, Problem> {
    let order = reversal::cancel_order(&visit.ctx, id, &actor(&visit)?, body.notes.as_deref()).await?;
    shown(&visit, order).await
}

/// How the money is given back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RefundBody {
    /// Whether the goods can be sold again.
    #[serde(default)]
    restock: bool,
    #[schema(example = "It came broken", max_length = 4000)]
    notes: Option<String>,
}

/// Give the money of a paid order back, all of it
///
/// Asked again, it finishes what was stopped.
#[utoipa::path(post, path = "/v1/admin/orders/{id}/refund", tag = "admin: orders", request_body = RefundBody,
    params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, description = "The order as it is now", body = StaffOrder)))]
pub async fn refund_order(
    visit: Visit,
    Path(id): Path<OrderId>,
    Json(body): Json<RefundBody>,
) -> Result<Tagged<Json<StaffOrder>>, Problem> {
    let order = reversal::refund_order(&visit.ctx, id, body.restock, &actor(&visit)?, body.notes.as_deref()).await?;
    shown(&visit, order).await
}
