//! The shop: what shoppers see.

pub mod catalog;
mod home;

use super::pages::pages;
use crate::http::access::Access::Anyone;

pages! {
    get "/" (Anyone) => home::show;
}
