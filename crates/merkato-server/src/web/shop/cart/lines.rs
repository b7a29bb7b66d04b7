//! Lines put into a cart, changed and removed.

use std::collections::BTreeMap;

use axum::response::Response;
use http::header;
use merkato::{
    carts::{self, GuestToken, Shopper, Which},
    flows::shopping,
    id::{CartId, LineId, ProductId},
};

use super::show::{self, Refused};
use crate::{
    http::{
        Path, Problem, Visit, Who,
        v1::carts::{guest_cookie, let_go},
    },
    web::{Fields, Form, Frame, Html, see_other},
};

/// Puts something into the cart. Whoever is nobody becomes a guest.
pub async fn add(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let is_new = matches!(visit.who, Who::Nobody);
    let new_guest = || Shopper::Guest(GuestToken::new(&visit.ctx));
    let mut shopper = if is_new { new_guest() } else { visit.shopper()? };
    let mut added = try_add(&visit, &shopper, &fields).await;
    if added.as_ref().is_err_and(|problem| problem.code == "guest_cart_merged") {
        // It went into a person's cart by another window. Whoever goes on as a guest has a new one.
        shopper = new_guest();
        added = try_add(&visit, &shopper, &fields).await;
    }
    if let Err(problem) = added {
        return refuse(&visit, frame, Which::Active, Refused::of(&problem, Fields::default()), problem).await;
    }
    let mut response = see_other("/cart?notice=added");
    if let Shopper::Guest(token) = &shopper {
        response.headers_mut().extend(guest_cookie(&visit, token).map(|cookie| (header::SET_COOKIE, cookie)));
    }
    Ok(response)
}

async fn try_add(visit: &Visit, shopper: &Shopper, fields: &Fields) -> Result<(), Problem> {
    let product: ProductId = fields.parse("product_id", "a product")?;
    let quantity: i64 = fields.parse("quantity", "a whole number")?;
    let options: BTreeMap<String, String> =
        fields.with_prefix("option.").map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let_go(visit, shopper).await;
    shopping::add_to_cart(&visit.ctx, shopper, Which::Active, product, options, quantity).await?;
    Ok(())
}

/// Which cart a form is about: the active one where it does not say.
fn which(fields: &Fields) -> Result<Which, Problem> {
    if fields.text("cart").is_empty() {
        return Ok(Which::Active);
    }
    Ok(Which::Cart(fields.parse::<CartId>("cart", "a cart")?))
}

/// Where one goes after a change.
fn back(fields: &Fields, notice: &str) -> Response {
    let path = match fields.text("back") {
        "saved" => format!("/cart/{}?notice={notice}", fields.text("cart")),
        _ => format!("/cart?notice={notice}"),
    };
    see_other(&path)
}

/// Another quantity of a line.
pub async fn change(
    visit: Visit,
    frame: Frame,
    Path(line): Path<LineId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let (shopper, cart) = (visit.shopper()?, which(&fields)?);
    let changed = async {
        let quantity: i64 = fields.parse("quantity", "a whole number")?;
        let_go(&visit, &shopper).await;
        carts::set_quantity(&visit.ctx, &shopper, cart, line, quantity).await.map_err(Problem::from)
    };
    match changed.await {
        Ok(_) => Ok(back(&fields, "changed")),
        Err(problem) => {
            let refused = Refused { line: Some(line), ..Refused::of(&problem, fields) };
            refuse(&visit, frame, cart, refused, problem).await
        }
    }
}

pub async fn remove(
    visit: Visit,
    frame: Frame,
    Path(line): Path<LineId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let (shopper, cart) = (visit.shopper()?, which(&fields)?);
    let_go(&visit, &shopper).await;
    match carts::remove_line(&visit.ctx, &shopper, cart, line).await {
        Ok(_) => Ok(back(&fields, "removed")),
        // It is gone already: by another window, or a second click.
        Err(carts::Error::LineNotFound { .. }) => Ok(back(&fields, "removed")),
        Err(error) => {
            let problem = Problem::from(error);
            refuse(&visit, frame, cart, Refused::of(&problem, fields), problem).await
        }
    }
}

/// The cart with what is wrong; where that is no fault of what was typed, the problem itself.
pub(super) async fn refuse(
    visit: &Visit,
    frame: Frame,
    cart: Which,
    refused: Refused,
    problem: Problem,
) -> Result<Response, Problem> {
    let lost = problem.code == "cart_not_found" || matches!(problem.status.as_u16(), 401 | 403);
    if lost || !problem.status.is_client_error() {
        return Err(problem);
    }
    Ok(Html(show::page(visit, frame, cart, refused).await?).refused())
}
