//! From the cart to the order: one page, and the one that says thank you.
//!
//! What is in the cart is kept while one looks at the page (`checkout::keep`). Its key goes along in a hidden field: however often
//! the form is sent, by a double click, from the page before or after loading it anew, there is one order.

mod choices;
mod page;
mod place;
mod thanks;

pub(super) use choices::in_a_line;

use crate::{
    http::access::Access::{Anyone, Shopper},
    web::pages::pages,
};

pages! {
    get "/checkout" (Anyone) => page::show;
    post "/checkout" (Shopper) => place::submit;
    get "/orders/{id}/thanks" (Shopper) => thanks::show;
}
