//! Carts by their names: saved, switched to, copied, renamed, deleted.

use axum::response::Response;
use merkato::{
    carts::{self, Shopper, Which},
    id::{CartId, UserId},
};

use super::{lines::refuse, show::Refused};
use crate::{
    http::{Path, Problem, Visit, v1::carts::let_go},
    web::{Form, Frame, see_other},
};

async fn owner(visit: &Visit) -> Result<UserId, Problem> {
    let user = visit.person()?.user_id;
    let_go(visit, &Shopper::User(user)).await;
    Ok(user)
}

/// Puts the cart aside under a name; one goes on with an empty one.
pub async fn save(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let user = owner(&visit).await?;
    match carts::save_active_cart(&visit.ctx, user, fields.text("name").trim()).await {
        Ok(_) => Ok(see_other("/cart?notice=cart-saved")),
        Err(error) => {
            let problem = Problem::from(error);
            refuse(&visit, frame, Which::Active, Refused::of(&problem, fields), problem).await
        }
    }
}

/// Makes a saved cart the one that is filled and ordered.
pub async fn activate(visit: Visit, Path(id): Path<CartId>, Form(_): Form) -> Result<Response, Problem> {
    let user = owner(&visit).await?;
    carts::activate_cart(&visit.ctx, user, id).await?;
    Ok(see_other("/cart?notice=cart-switched"))
}

pub async fn copy(visit: Visit, frame: Frame, Path(id): Path<CartId>, Form(fields): Form) -> Result<Response, Problem> {
    let user = visit.person()?.user_id;
    match carts::copy_cart(&visit.ctx, user, id, fields.text("copy").trim()).await {
        Ok(copy) => Ok(see_other(&format!("/cart/{}?notice=cart-copied", copy.cart_id))),
        Err(error) => {
            let problem = renamed(error.into(), "copy");
            refuse(&visit, frame, Which::Cart(id), Refused::of(&problem, fields), problem).await
        }
    }
}

pub async fn rename(
    visit: Visit,
    frame: Frame,
    Path(id): Path<CartId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let user = visit.person()?.user_id;
    match carts::rename_cart(&visit.ctx, user, id, fields.text("rename").trim()).await {
        Ok(cart) if cart.cart_is_active => Ok(see_other("/cart?notice=changed")),
        Ok(_) => Ok(see_other(&format!("/cart/{id}?notice=changed"))),
        Err(error) => {
            let problem = renamed(error.into(), "rename");
            refuse(&visit, frame, Which::Cart(id), Refused::of(&problem, fields), problem).await
        }
    }
}

pub async fn delete(visit: Visit, Path(id): Path<CartId>, Form(_): Form) -> Result<Response, Problem> {
    let user = owner(&visit).await?;
    carts::delete_cart(&visit.ctx, user, id, None).await?;
    Ok(see_other("/cart?notice=cart-deleted"))
}

/// The page has several forms with a name; each field has a name of its own there.
fn renamed(mut problem: Problem, field: &str) -> Problem {
    for error in &mut problem.errors {
        if error.pointer == "/name" {
            error.pointer = format!("/{field}");
        }
    }
    problem
}
