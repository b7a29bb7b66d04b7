//! What was bought: for the person who bought it, or the guest whose cart it was. To everyone else there is no such order.

use std::collections::BTreeMap;

use merkato::{
    Currency,
    flows::reversal,
    id::{CartId, OrderId, UserId},
    orders::{self, Order, OrderItem, OrderStatus, PaymentStatus, PostalAddress, TimelineStep, UserOrder},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::http::{
    Json, Path, Problem, Query, Visit, Who,
    conditional::{IfMatch, Tagged},
    wire::{Day, Listing, Money, Paging, Time, mirror},
};

/// Who stands behind a change that the shopper made.
pub(crate) const CUSTOMER: &str = "customer";

mirror! {
    /// Where an order stands.
    OrderStatusView = OrderStatus { Pending, Paid, Processing, Shipped, Delivered, Cancelled, Refunded }
}

mirror! {
    /// What became of the money, as the payment provider has it.
    PaymentStatusView = PaymentStatus { Pending, Authorised, Captured, Declined, Voided, Refunded }
}

/// Where something goes to.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Postal {
    #[schema(min_length = 1, max_length = 200)]
    pub label: Option<String>,
    #[schema(example = "Unter den Linden 1", min_length = 1, max_length = 200)]
    pub street: String,
    #[schema(min_length = 1, max_length = 200)]
    pub street2: Option<String>,
    #[schema(example = "Berlin", min_length = 1, max_length = 200)]
    pub city: String,
    #[schema(min_length = 1, max_length = 200)]
    pub state: Option<String>,
    #[schema(example = "10117", min_length = 1, max_length = 20)]
    pub postal_code: Option<String>,
    /// Two letters of ISO 3166.
    #[schema(example = "DE", pattern = "^[A-Z]{2}$")]
    pub country: String,
    #[schema(min_length = 1, max_length = 40)]
    pub phone: Option<String>,
}

impl From<PostalAddress> for Postal {
    fn from(address: PostalAddress) -> Self {
        let PostalAddress { label, street, street2, city, state, postal_code, country, phone } = address;
        Postal { label, street, street2, city, state, postal_code, country, phone }
    }
}

impl From<Postal> for PostalAddress {
    fn from(address: Postal) -> Self {
        let Postal { label, street, street2, city, state, postal_code, country, phone } = address;
        PostalAddress { label, street, street2, city, state, postal_code, country, phone }
    }
}

/// An order as whoever placed it sees it.
#[derive(Serialize, ToSchema)]
pub struct OrderView {
    pub id: Uuid,
    /// For people.
    #[schema(example = "ORD-2026-000123")]
    pub number: String,
    pub status: OrderStatusView,
    pub payment_status: PaymentStatusView,
    #[schema(example = "card")]
    pub payment_method: Option<String>,
    pub email: Option<String>,
    pub customer_name: Option<String>,
    pub shipping_address: Option<Postal>,
    pub billing_address: Option<Postal>,
    /// Pieces, over all lines.
    pub item_count: i64,
    pub subtotal: Money,
    pub discount: Money,
    pub discount_code: Option<String>,
    pub shipping: Money,
    pub tax: Money,
    /// The subtotal without the discount, with shipping and tax.
    pub total: Money,
    /// What the wallet paid of it.
    pub store_credit: Option<Money>,
    #[schema(example = "standard")]
    pub shipping_method: Option<String>,
    pub carrier: Option<String>,
    pub tracking_number: Option<String>,
    pub estimated_delivery: Option<Day>,
    /// What the shopper wrote to the shop.
    pub customer_notes: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
    pub paid_at: Option<Time>,
    pub shipped_at: Option<Time>,
    pub delivered_at: Option<Time>,
    pub cancelled_at: Option<Time>,
    pub refunded_at: Option<Time>,
}

impl From<Order> for OrderView {
    fn from(order: Order) -> Self {
        let money = |amount| Money::new(amount, &order.currency);
        OrderView {
            id: order.order_id.0,
            status: order.status.into(),
            payment_status: order.payment_status.into(),
            item_count: order.item_count,
            subtotal: money(order.subtotal),
            discount: money(order.discount_amount),
            shipping: money(order.shipping_amount),
            tax: money(order.tax_amount),
            total: money(order.total),
            store_credit: order.store_credit.map(money),
            number: order.order_number,
            payment_method: order.payment_method,
            email: order.user_email,
            customer_name: order.customer_name,
            shipping_address: order.shipping_address.map(Postal::from),
            billing_address: order.billing_address.map(Postal::from),
            discount_code: order.discount_code,
            shipping_method: order.shipping_method,
            carrier: order.carrier,
            tracking_number: order.tracking_number,
            estimated_delivery: order.estimated_delivery.map(Day::from),
            customer_notes: order.customer_notes,
            created_at: order.created_at.into(),
            updated_at: order.updated_at.into(),
            paid_at: order.paid_at.map(Time::from),
            shipped_at: order.shipped_at.map(Time::from),
            delivered_at: order.delivered_at.map(Time::from),
            cancelled_at: order.cancelled_at.map(Time::from),
            refunded_at: order.refunded_at.map(Time::from),
        }
    }
}

fn tagged(order: Order) -> Tagged<Json<OrderView>> {
    Tagged { revision: order.revision, view: Json(order.into()) }
}

/// An order as a list shows it.
#[derive(Serialize, ToSchema)]
pub struct OrderCard {
    pub id: Uuid,
    #[schema(example = "ORD-2026-000123")]
    pub number: String,
    pub date: Day,
    pub status: OrderStatusView,
    pub total: Money,
    pub item_count: i64,
    pub first_item_name: String,
    pub first_item_image: Option<String>,
}

impl From<UserOrder> for OrderCard {
    fn from(order: UserOrder) -> Self {
        OrderCard {
            id: order.order_id.0,
            number: order.order_number,
            date: order.order_date.into(),
            status: order.status.into(),
            total: Money::new(order.total, &order.currency),
            item_count: order.item_count,
            first_item_name: order.first_item_name,
            first_item_image: order.first_item_image,
        }
    }
}

/// A line of an order, as it was when the order was placed.
#[derive(Serialize, ToSchema)]
pub struct OrderLineView {
    /// From one.
    pub line_number: i32,
    pub product_id: Uuid,
    pub name: String,
    pub image_url: Option<String>,
    pub sku: Option<String>,
    pub options: BTreeMap<String, String>,
    pub unit_price: Money,
    pub quantity: u32,
    pub line_total: Money,
}

fn item_view(item: OrderItem, currency: &Currency) -> OrderLineView {
    OrderLineView {
        line_number: item.line_number,
        product_id: item.product_id.0,
        name: item.product_name,
        image_url: item.product_image,
        sku: item.sku,
        options: item.selected_options,
        unit_price: Money::new(item.unit_price, currency),
        quantity: item.quantity,
        line_total: Money::new(item.line_total, currency),
    }
}

/// When an order came to a status.
#[derive(Serialize, ToSchema)]
pub struct HistoryView {
    pub status: OrderStatusView,
    pub at: Time,
    pub by: ChangedBy,
    pub notes: Option<String>,
}

/// Who changed an order. Which of the shop's people it was is the shop's own business.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    Customer,
    Shop,
}

impl From<TimelineStep> for HistoryView {
    fn from(row: TimelineStep) -> Self {
        HistoryView {
            status: row.status.into(),
            at: row.status_time.into(),
            by: if row.actor == CUSTOMER { ChangedBy::Customer } else { ChangedBy::Shop },
            notes: row.notes,
        }
    }
}

/// Whether what was bought is the visitor's own: by the person, or by the guest's token, which only its cart's shopper has.
pub(crate) fn is_own(visit: &Visit, user: Option<UserId>, cart: Option<CartId>) -> bool {
    match (user, &visit.who) {
        (Some(user), Who::Person { actor, .. }) => actor.user_id == user,
        (Some(_), _) => false,
        (None, _) => visit.guest.as_ref().zip(cart).is_some_and(|(token, cart)| token.cart_id() == cart),
    }
}

/// The order, if it is the visitor's own.
pub(crate) async fn own_order(visit: &Visit, id: OrderId) -> Result<Order, Problem> {
    let order = orders::get_order(&visit.ctx, id).await?;
    if !is_own(visit, order.user_id, order.cart_id) {
        return Err(orders::Error::OrderNotFound { order: id }.into());
    }
    Ok(order)
}

/// Which orders.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct OrdersQuery {
    /// The first day; without it, from the first order on.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; without it, to the newest order.
    #[param(inline)]
    to: Option<Day>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// One's orders, newest first
#[utoipa::path(get, path = "/v1/me/orders", tag = "me", params(OrdersQuery),
    responses((status = 200, description = "A page of them", body = Listing<OrderCard>), (status = 304, description = "As the client has it")))]
pub async fn list_my_orders(
    visit: Visit,
    Query(query): Query<OrdersQuery>,
) -> Result<Json<Listing<OrderCard>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let (from, to) = (query.from.map(|Day(date)| date), query.to.map(|Day(date)| date));
    let found = orders::list_orders_of_user(&visit.ctx, visit.person()?.user_id, from, to, page).await?;
    Ok(Json(visit.listing(found, OrderCard::from)))
}

/// An order
#[utoipa::path(get, path = "/v1/orders/{id}", tag = "orders", params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, description = "The order", body = OrderView), (status = 304, description = "As the client has it")))]
pub async fn get_order(visit: Visit, Path(id): Path<OrderId>) -> Result<Tagged<Json<OrderView>>, Problem> {
    Ok(tagged(own_order(&visit, id).await?))
}

/// What was ordered
#[utoipa::path(get, path = "/v1/orders/{id}/items", tag = "orders", params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, description = "All lines", body = Listing<OrderLineView>), (status = 304, description = "As the client has it")))]
pub async fn list_items(visit: Visit, Path(id): Path<OrderId>) -> Result<Json<Listing<OrderLineView>>, Problem> {
    let currency = own_order(&visit, id).await?.currency;
    let items = orders::list_items(&visit.ctx, id).await?;
    Ok(Json(Listing::whole(items.into_iter().map(|item| item_view(item, &currency)))))
}

/// How an order came to where it stands, newest first
#[utoipa::path(get, path = "/v1/orders/{id}/history", tag = "orders", params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, description = "Every change", body = Listing<HistoryView>), (status = 304, description = "As the client has it")))]
pub async fn list_history(visit: Visit, Path(id): Path<OrderId>) -> Result<Json<Listing<HistoryView>>, Problem> {
    own_order(&visit, id).await?;
    Ok(Json(Listing::whole(orders::timeline(&visit.ctx, id).await?)))
}

/// Why.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancellation {
    /// For the order's history.
    #[schema(example = "Ordered twice", max_length = 4000)]
    notes: Option<String>,
}

/// Cancel an order that was not sent yet
///
/// What was paid is given back. Asked again, it changes nothing.
#[utoipa::path(post, path = "/v1/orders/{id}/cancel", tag = "orders", request_body = Option<Cancellation>,
    params(("id" = Uuid, Path, description = "The order"), ("If-Match" = Option<String>, Header, description = "The ETag that it rests upon")),
    responses((status = 200, description = "The order, which is cancelled", body = OrderView)))]
pub async fn cancel_order(
    visit: Visit,
    Path(id): Path<OrderId>,
    IfMatch(expected): IfMatch,
    body: Option<Json<Cancellation>>,
) -> Result<Tagged<Json<OrderView>>, Problem> {
    let order = own_order(&visit, id).await?;
    // RACE: whoever changes it after this look is met by the order's own status, which decides who was first.
    if expected.is_some_and(|expected| expected != order.revision) {
        return Err(orders::Error::Changed { order: id }.into());
    }
    let notes = body.and_then(|Json(body)| body.notes);
    Ok(tagged(reversal::cancel_order(&visit.ctx, id, CUSTOMER, notes.as_deref()).await?))
}
