//! Every page: who may see it, and what answers. One list for each part, from which the routes and the rules are made.

use axum::{Router, middleware};

use super::{admin, assets, form, pictures, shop};
use crate::http::{App, access::Rule};

/// Declares pages: `get "/cart" (Anyone) => cart::show;`. Makes `PAGES`, who may call what, and `router`.
macro_rules! pages {
    ($($method:ident $path:literal ($access:expr) $(.$mark:ident)* => $handler:path;)*) => {
        pub const PAGES: &[$crate::http::access::Rule] =
            &[$($crate::http::access::$method($path, $access)$(.$mark())*),*];

        pub fn router() -> axum::Router<$crate::http::App> {
            axum::Router::new()$(.route($path, axum::routing::$method($handler)))*
        }
    };
}
pub(crate) use pages;

const PARTS: [&[Rule]; 13] = [
    assets::PAGES,
    pictures::PAGES,
    shop::PAGES,
    shop::catalog::PAGES,
    shop::cart::PAGES,
    shop::checkout::PAGES,
    shop::entry::PAGES,
    shop::account::PAGES,
    admin::PAGES,
    admin::desk::PAGES,
    admin::desk::graph::PAGES,
    admin::desk::trees::PAGES,
    admin::events::PAGES,
];

/// The rules of all pages.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    PARTS.into_iter().flatten()
}

pub fn router() -> Router<App> {
    let shopping = shop::catalog::router().merge(shop::cart::router()).merge(shop::checkout::router());
    let people = shop::entry::router().merge(shop::account::router());
    let pages = shop::router().merge(shopping).merge(people).merge(admin::router()).merge(admin::desk::router());
    let pages = pages.merge(admin::desk::trees::router()).merge(admin::desk::graph::router());
    let pages = pages.merge(admin::events::router());
    let pages = pages.layer(middleware::from_fn(form::remember));
    pages.merge(assets::router()).merge(pictures::router())
}
