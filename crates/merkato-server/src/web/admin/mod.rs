//! The office: what the staff sees.

mod dashboard;

use merkato::keys::Scope::AnalyticsRead;

use super::pages::pages;
use crate::http::access::Access::Staff;

pages! {
    get "/admin" (Staff(AnalyticsRead)) => dashboard::show;
}
