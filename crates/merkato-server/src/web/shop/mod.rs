//! The shop: what shoppers see.

mod home;

use super::pages::pages;
use crate::http::access::Access::Anyone;

pages! {
    get "/" (Anyone) => home::show;
}
