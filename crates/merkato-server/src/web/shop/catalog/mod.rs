//! What there is to buy: categories, search, products; and what tells search engines of them.

pub mod card;
mod category;
pub mod meta;
mod pager;
mod product;
mod robots;
mod search;
mod shelf;
mod stock;

use crate::{http::access::Access::Anyone, web::pages::pages};

pages! {
    get "/c/{category}" (Anyone) => category::show;
    get "/p/{product}" (Anyone) => product::show;
    get "/search" (Anyone) => search::show;
    get "/robots.txt" (Anyone) => robots::robots;
    get "/sitemap.xml" (Anyone) => robots::sitemap;
    get "/sitemaps/{category}" (Anyone) => robots::category;
}
