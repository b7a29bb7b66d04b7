//! One order: what was bought, by whom, where it stands; and what the clerk does with it.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    flows::{fulfilment::move_order, reversal},
    id::OrderId,
    orders::{self, Change, Order, OrderItem, OrderStatus, PostalAddress, TimelineStep},
};

use super::{
    forms::{self, Forms},
    said::{self, State},
};
use crate::{
    http::{Path, Problem, Visit, v1::admin::actor},
    web::{Fields, Form, Frame, Html, pictures, see_other, shop::countries, words},
};

pub struct Line {
    product: String,
    name: String,
    picture: Option<String>,
    sku: String,
    options: String,
    quantity: u32,
    price: String,
    total: String,
}

pub struct Step {
    state: State,
    at: String,
    by: String,
    notes: String,
}

/// What may be done next without asking: the status, and what the button says.
pub struct Next {
    status: &'static str,
    heading: &'static str,
    button: &'static str,
    ships: bool,
}

#[derive(Template)]
#[template(path = "admin/order.html")]
pub struct Shown {
    frame: Frame,
    forms: Forms,
    id: String,
    number: String,
    revision: i64,
    state: State,
    placed: String,
    lines: Vec<Line>,
    sums: Vec<(String, String)>,
    total: String,
    steps: Vec<Step>,
    next: Option<Next>,
    may_cancel: bool,
    may_refund: bool,
    waits_for_payment: bool,
    customer: String,
    email: String,
    user: Option<String>,
    shipping: Vec<String>,
    billing: Vec<String>,
    payment: State,
    payment_facts: Vec<(&'static str, String)>,
    delivery_facts: Vec<(&'static str, String)>,
    customer_notes: String,
    /// What the note says by now, where somebody typed another.
    notes_now: String,
}

pub async fn show(visit: Visit, frame: Frame, Path(id): Path<OrderId>) -> Result<Html<Shown>, Problem> {
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, id, forms).await?))
}

async fn page(visit: &Visit, frame: Frame, id: OrderId, forms: Forms) -> Result<Shown, Problem> {
    let order = orders::get_order(&visit.ctx, id).await?;
    let items = orders::list_items(&visit.ctx, id).await?;
    let history = orders::timeline(&visit.ctx, id).await?;
    Ok(shown(frame, order, items, history, forms))
}

fn shown(frame: Frame, order: Order, items: Vec<OrderItem>, history: Vec<TimelineStep>, forms: Forms) -> Shown {
    let money = |amount| words::money(amount, &order.currency);
    let line = |item: OrderItem| Line {
        product: item.product_id.to_string(),
        picture: pictures::own(item.product_image.as_deref()),
        sku: item.sku.unwrap_or_default(),
        options: item
            .selected_options
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect::<Vec<_>>()
            .join(", "),
        quantity: item.quantity,
        price: money(item.unit_price),
        total: money(item.line_total),
        name: item.product_name,
    };
    let mut sums = vec![("Goods".to_owned(), money(order.subtotal))];
    if !order.discount_amount.is_zero() {
        let code = order.discount_code.as_deref().map_or(String::new(), |code| format!(" ({code})"));
        sums.push((format!("Discount{code}"), money(-order.discount_amount)));
    }
    sums.push(("Shipping".to_owned(), money(order.shipping_amount)));
    sums.push(("Tax".to_owned(), money(order.tax_amount)));
    let fact = |name, value: &Option<String>| value.clone().map(|value| (name, value));
    let at = |name, at: Option<widerow::Timestamp>| at.map(|at| (name, said::moment(at)));
    let payment_facts = [
        order.store_credit.map(|credit| ("From store credit", money(credit))),
        fact("Method", &order.payment_method),
        fact("Reference", &order.payment_id),
        at("Paid", order.paid_at),
        at("Given back", order.refunded_at),
    ];
    let delivery_facts = [
        fact("Method", &order.shipping_method),
        fact("Carrier", &order.carrier),
        fact("Tracking number", &order.tracking_number),
        order.estimated_delivery.map(|day| ("Expected", said::day(day.start()))),
        at("Shipped", order.shipped_at),
        at("Delivered", order.delivered_at),
    ];
    let notes = order.internal_notes.clone().unwrap_or_default();
    let notes_now = if forms.is_refused("notes") { notes.clone() } else { String::new() };
    let forms = forms.with("notes", Fields::of([("internal_notes", notes)]));
    Shown {
        next: next(&order),
        may_cancel: order.status.next().contains(&OrderStatus::Cancelled),
        may_refund: order.status.next().contains(&OrderStatus::Refunded),
        waits_for_payment: order.status == OrderStatus::Pending && order.checkout_id.is_some(),
        id: order.order_id.to_string(),
        revision: order.revision,
        state: said::order(order.status),
        placed: words::moment(order.created_at),
        lines: items.into_iter().map(line).collect(),
        sums,
        total: money(order.total),
        steps: history.into_iter().map(step).collect(),
        customer: order.customer_name.unwrap_or_default(),
        email: order.user_email.unwrap_or_default(),
        user: order.user_id.map(|id| id.to_string()),
        shipping: order.shipping_address.as_ref().map_or_else(Vec::new, postal),
        billing: order
            .billing_address
            .filter(|to| Some(to) != order.shipping_address.as_ref())
            .as_ref()
            .map_or_else(Vec::new, postal),
        payment: said::payment(order.payment_status),
        payment_facts: payment_facts.into_iter().flatten().collect(),
        delivery_facts: delivery_facts.into_iter().flatten().collect(),
        customer_notes: order.customer_notes.unwrap_or_default(),
        notes_now,
        number: order.order_number,
        forms,
        frame,
    }
}

fn step(row: TimelineStep) -> Step {
    Step {
        state: said::order(row.status),
        at: said::moment(row.status_time),
        by: said::actor(&row.actor),
        notes: row.notes.unwrap_or_default(),
    }
}

/// The one way that leads on. A checkout's order is paid by its payment, not by hand.
fn next(order: &Order) -> Option<Next> {
    let step = |status: OrderStatus, heading, button| Next {
        status: status.as_str(),
        heading,
        button,
        ships: status == OrderStatus::Shipped,
    };
    order.status.next().iter().find_map(|status| match status {
        OrderStatus::Paid if order.checkout_id.is_none() => Some(step(*status, "The money has come", "Mark as paid")),
        OrderStatus::Processing => Some(step(*status, "Pack it", "Start processing")),
        OrderStatus::Shipped => Some(step(*status, "Send it", "Mark as shipped")),
        OrderStatus::Delivered => Some(step(*status, "It has arrived", "Mark as delivered")),
        _ => None,
    })
}

fn postal(address: &PostalAddress) -> Vec<String> {
    let town = [address.postal_code.as_deref(), Some(address.city.as_str())].into_iter().flatten().collect::<Vec<_>>();
    let lines = [
        Some(address.street.clone()),
        address.street2.clone(),
        Some(town.join(" ")),
        address.state.clone(),
        Some(countries::name(&address.country).to_owned()),
        address.phone.clone(),
    ];
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect()
}

/// Sends on who did it, or shows the order with what was typed and why it was not done.
async fn answer(
    visit: &Visit,
    frame: Frame,
    id: OrderId,
    form: &'static str,
    fields: Fields,
    done: Result<Order, Problem>,
) -> Result<Response, Problem> {
    let problem = match done {
        Ok(_) => {
            let notice = match form {
                "cancel" => "order-cancelled",
                "refund" => "order-refunded",
                "notes" => "note-saved",
                _ => "order-moved",
            };
            return Ok(see_other(&format!("/admin/orders/{id}?notice={notice}")));
        }
        Err(problem) => problem,
    };
    let changed = matches!(problem.code, "changed_meanwhile" | "illegal_transition");
    let mut forms = Forms::new(visit).refused(form, fields, problem)?;
    if changed {
        forms = forms.saying(
            "Somebody else has changed this order meanwhile. This is how it is now: look at it, then decide again.",
        );
    }
    Ok(forms::refused(page(visit, frame, id, forms).await?).into_response())
}

fn notes(fields: &Fields) -> Option<String> {
    Some(forms::lines(fields.text("notes"))).filter(|notes| !notes.is_empty())
}

pub async fn move_on(
    visit: Visit,
    frame: Frame,
    Path(id): Path<OrderId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let done = moved(&visit, id, &fields).await;
    answer(&visit, frame, id, "status", fields, done).await
}

async fn moved(visit: &Visit, id: OrderId, fields: &Fields) -> Result<Order, Problem> {
    let status = OrderStatus::ALL.into_iter().find(|status| status.as_str() == fields.text("status"));
    // Cancelling and giving money back have forms of their own, which ask.
    let status = status.filter(|status| !matches!(status, OrderStatus::Cancelled | OrderStatus::Refunded));
    let status = status.ok_or_else(|| Problem::field("invalid", "/status", "there is no such step"))?;
    let estimated_delivery = match fields.optional("estimated_delivery") {
        Some(_) => Some(fields.parse("estimated_delivery", "a day as 2026-03-01")?),
        None => None,
    };
    let change = Change {
        notes: notes(fields),
        tracking_number: fields.optional("tracking_number"),
        carrier: fields.optional("carrier"),
        estimated_delivery,
        ..Change::by(actor(visit)?, forms::operation(fields)?)
    };
    let revision = fields.parse("revision", "a number")?;
    Ok(move_order(&visit.ctx, id, status, change, Some(revision)).await?)
}

pub async fn cancel(
    visit: Visit,
    frame: Frame,
    Path(id): Path<OrderId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let done = reversal::cancel_order(&visit.ctx, id, &actor(&visit)?, notes(&fields).as_deref()).await;
    answer(&visit, frame, id, "cancel", fields, done.map_err(Problem::from)).await
}

pub async fn refund(
    visit: Visit,
    frame: Frame,
    Path(id): Path<OrderId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let restock = fields.is_on("restock");
    let done = reversal::refund_order(&visit.ctx, id, restock, &actor(&visit)?, notes(&fields).as_deref()).await;
    answer(&visit, frame, id, "refund", fields, done.map_err(Problem::from)).await
}

pub async fn note(
    visit: Visit,
    frame: Frame,
    Path(id): Path<OrderId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let done = noted(&visit, id, &fields).await;
    answer(&visit, frame, id, "notes", fields, done).await
}

async fn noted(visit: &Visit, id: OrderId, fields: &Fields) -> Result<Order, Problem> {
    let notes = forms::lines(fields.text("internal_notes"));
    let revision = fields.parse("revision", "a number")?;
    Ok(orders::note_internally(&visit.ctx, id, Some(&notes), Some(revision)).await?)
}
