//! After the order: its number, and what happens next.

use askama::Template;
use merkato::{
    flows::checkout,
    id::OrderId,
    inventory,
    orders::{self, OrderStatus},
};

use super::page::HoldBox;
use crate::{
    http::{Path, Problem, Visit, v1::orders::own_order},
    web::{Frame, Html, shop::account::order::OrderBox, words},
};

#[derive(Template)]
#[template(path = "shop/thanks.html")]
pub struct Thanks {
    frame: Frame,
    order: OrderBox,
    is_person: bool,
    is_waiting: bool,
    is_over: bool,
    hold: Option<HoldBox>,
    arrives: Option<String>,
}

/// To whoever placed the order: the person, or the guest whose cart it was.
pub async fn show(visit: Visit, frame: Frame, Path(id): Path<OrderId>) -> Result<Html<Thanks>, Problem> {
    let order = own_order(&visit, id).await?;
    let items = orders::list_items(&visit.ctx, id).await?;
    let is_waiting = order.status == OrderStatus::Pending;
    let hold = match (order.checkout_id, items.first()) {
        (Some(id), Some(first)) if is_waiting => {
            let hold = inventory::find_hold(&visit.ctx, first.product_id, checkout::hold_of(id)).await?;
            hold.and_then(|hold| HoldBox::new(&visit, hold.ends_at))
        }
        _ => None,
    };
    let arrives = order.estimated_delivery.map(|date| words::day(date.start()));
    Ok(Html(Thanks {
        frame,
        is_person: order.user_id.is_some(),
        is_waiting,
        is_over: matches!(order.status, OrderStatus::Cancelled | OrderStatus::Refunded),
        hold,
        arrives,
        order: OrderBox::new(order, items),
    }))
}
