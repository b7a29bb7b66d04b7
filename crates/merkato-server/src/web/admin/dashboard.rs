//! How the shop does today.

use askama::Template;

use crate::web::{Frame, Html};

#[derive(Template)]
#[template(path = "admin/dashboard.html")]
pub struct Dashboard {
    frame: Frame,
}

pub async fn show(frame: Frame) -> Html<Dashboard> {
    Html(Dashboard { frame })
}
