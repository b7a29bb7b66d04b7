//! The front of the shop.

use askama::Template;

use crate::web::{Frame, Html};

#[derive(Template)]
#[template(path = "shop/home.html")]
pub struct Home {
    frame: Frame,
}

pub async fn show(frame: Frame) -> Html<Home> {
    Html(Home { frame })
}
