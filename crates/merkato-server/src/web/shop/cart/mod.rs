//! The cart, and those that a person has saved under names.

mod lines;
mod saved;
mod show;

use merkato::{
    carts::{self, Shopper, Which},
    flows::{self, checkout},
};

use crate::{
    http::{
        Visit,
        access::Access::{Anyone, Person, Shopper as AnyShopper},
    },
    web::pages::pages,
};

pages! {
    get "/cart" (Anyone) => show::active;
    get "/cart/{id}" (Person) => show::saved;
    post "/cart/items" (Anyone) .gives_token => lines::add;
    post "/cart/lines/{line}" (AnyShopper) => lines::change;
    post "/cart/lines/{line}/remove" (AnyShopper) => lines::remove;
    post "/cart/save" (Person) => saved::save;
    post "/cart/{id}/activate" (Person) => saved::activate;
    post "/cart/{id}/copy" (Person) => saved::copy;
    post "/cart/{id}/rename" (Person) => saved::rename;
    post "/cart/{id}/delete" (Person) => saved::delete;
}

/// Gives back what is kept for the active cart, before it is changed. What cannot be given back now ends by itself.
async fn let_go(visit: &Visit, shopper: &Shopper) {
    let done = async {
        let cart = carts::show_cart(&visit.ctx, shopper, Which::Active).await?;
        checkout::let_go(&visit.ctx, shopper, &cart).await
    };
    let done: Result<(), flows::Error> = done.await;
    if let Err(error) = done {
        tracing::warn!(code = error.code(), "what was kept for a cart could not be given back");
    }
}
