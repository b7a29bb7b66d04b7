//! The shop: what shoppers see.

pub mod account;
pub mod cart;
pub mod catalog;
pub mod checkout;
pub mod countries;
pub mod entry;
mod home;

use super::pages::pages;
use crate::http::access::Access::Anyone;

pages! {
    get "/" (Anyone) => home::show;
}
