//! The cart, and those that a person has saved under names.

mod lines;
mod saved;
mod show;

use crate::{
    http::access::Access::{Anyone, Person, Shopper},
    web::pages::pages,
};

pages! {
    get "/cart" (Anyone) => show::active;
    get "/cart/{id}" (Person) => show::saved;
    post "/cart/items" (Anyone) .gives_token => lines::add;
    post "/cart/lines/{line}" (Shopper) => lines::change;
    post "/cart/lines/{line}/remove" (Shopper) => lines::remove;
    post "/cart/save" (Person) => saved::save;
    post "/cart/{id}/activate" (Person) => saved::activate;
    post "/cart/{id}/copy" (Person) => saved::copy;
    post "/cart/{id}/rename" (Person) => saved::rename;
    post "/cart/{id}/delete" (Person) => saved::delete;
}
