//! An order as whoever placed it reads it: what was bought, what it cost, how far it has come.

use merkato::orders::{Order, OrderItem, OrderStatus, PostalAddress, TimelineStep};
use rust_decimal::Decimal;

use crate::{
    http::v1::orders::CUSTOMER,
    web::{pictures, shop::countries, words},
};

pub struct OrderBox {
    pub id: String,
    pub number: String,
    pub status: &'static str,
    pub placed: String,
    pub lines: Vec<OrderLineBox>,
    pub subtotal: String,
    pub discount: Option<String>,
    pub discount_code: String,
    pub shipping: String,
    pub tax: Option<String>,
    pub total: String,
    pub credit: Option<String>,
    pub name: String,
    pub address: Vec<String>,
    pub tracking: Option<String>,
    pub notes: Option<String>,
}

pub struct OrderLineBox {
    pub name: String,
    pub picture: Option<String>,
    pub options: String,
    pub quantity: u32,
    pub unit: String,
    pub total: String,
}

/// A step on an order's way, behind it or before it.
pub struct Step {
    pub title: &'static str,
    pub at: Option<String>,
    pub by: &'static str,
    pub notes: Option<String>,
    pub is_last: bool,
}

impl OrderBox {
    pub fn new(order: Order, items: Vec<OrderItem>) -> Self {
        let money = |amount: Decimal| words::money(amount, &order.currency);
        let unless_none = |amount: Decimal| (!amount.is_zero()).then_some(amount);
        let line = |item: OrderItem| OrderLineBox {
            picture: pictures::own(item.product_image.as_deref()),
            options: item.selected_options.values().cloned().collect::<Vec<_>>().join(", "),
            quantity: item.quantity,
            unit: money(item.unit_price),
            total: money(item.line_total),
            name: item.product_name,
        };
        let carrier = order.carrier.as_deref().unwrap_or("Tracking");
        OrderBox {
            id: order.order_id.to_string(),
            status: words::order_status(order.status),
            placed: words::moment(order.created_at),
            lines: items.into_iter().map(line).collect(),
            subtotal: money(order.subtotal),
            discount: unless_none(order.discount_amount).map(|amount| money(-amount)),
            discount_code: order.discount_code.clone().unwrap_or_default(),
            shipping: unless_none(order.shipping_amount).map_or_else(|| "Free".into(), money),
            tax: unless_none(order.tax_amount).map(money),
            total: money(order.total),
            credit: order.store_credit.map(money),
            name: order.customer_name.clone().unwrap_or_default(),
            address: order.shipping_address.as_ref().map_or_else(Vec::new, in_lines),
            tracking: order.tracking_number.as_ref().map(|number| format!("{carrier}: {number}")),
            notes: order.customer_notes,
            number: order.order_number,
        }
    }
}

/// An address as it stands on a parcel.
fn in_lines(address: &PostalAddress) -> Vec<String> {
    let city = [address.postal_code.as_deref().unwrap_or_default(), &address.city].join(" ").trim().to_owned();
    let country = countries::name(&address.country).to_owned();
    let lines = [
        Some(address.street.clone()),
        address.street2.clone(),
        Some(city),
        address.state.clone(),
        Some(country),
        address.phone.clone(),
    ];
    lines.into_iter().flatten().collect()
}

/// Who changed an order that nobody touched.
const SYSTEM: &str = "system";

/// The way so far, oldest first, and what is still to come.
pub fn timeline(status: OrderStatus, history: Vec<TimelineStep>) -> Vec<Step> {
    use OrderStatus::{Delivered, Paid, Pending, Processing, Shipped};
    let mut steps: Vec<Step> = history
        .into_iter()
        .rev()
        .map(|row| Step {
            title: if row.status == Pending { "Ordered" } else { words::order_status(row.status) },
            at: Some(words::moment(row.status_time)),
            by: if row.actor == CUSTOMER { "by you" } else { "" },
            // What people wrote, as the office says that it is seen. What the shop itself noted is its own business.
            notes: row.notes.filter(|_| row.actor != SYSTEM && row.status != Pending),
            is_last: false,
        })
        .collect();
    if let Some(last) = steps.last_mut() {
        last.is_last = true;
    }
    let way = [Pending, Paid, Processing, Shipped, Delivered];
    let here = way.iter().position(|step| *step == status);
    let ahead = here.map_or(&[] as &[OrderStatus], |here| &way[here + 1..]);
    let coming = |status: &OrderStatus| Step {
        title: words::order_status(*status),
        at: None,
        by: "",
        notes: None,
        is_last: false,
    };
    steps.extend(ahead.iter().map(coming));
    steps
}
