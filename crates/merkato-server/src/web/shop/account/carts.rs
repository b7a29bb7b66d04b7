//! One's carts, by name.

use askama::Template;
use merkato::carts::{self, CartEntry};

use crate::{
    http::{Problem, Visit},
    web::{Frame, Html, words},
};

#[derive(Template)]
#[template(path = "shop/account/carts.html")]
pub struct CartsPage {
    frame: Frame,
    carts: Vec<CartRow>,
}

struct CartRow {
    id: String,
    name: String,
    is_active: bool,
    since: String,
}

pub async fn list(visit: Visit, frame: Frame) -> Result<Html<CartsPage>, Problem> {
    let row = |entry: CartEntry| CartRow {
        id: entry.cart_id.to_string(),
        name: entry.cart_name,
        is_active: entry.cart_is_active,
        since: words::day(entry.created_at),
    };
    let found = carts::list_carts(&visit.ctx, visit.person()?.user_id).await?;
    Ok(Html(CartsPage { frame, carts: found.into_iter().map(row).collect() }))
}
