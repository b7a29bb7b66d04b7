//! The office: what the staff sees.

mod analytics;
mod dashboard;
mod data;
pub mod desk;
pub mod events;
mod inspection;
mod keys;
mod paging;
mod patterns;
mod range;
mod sales;
mod sizes;
mod system;
mod takings;
mod telemetry;
mod traffic;
mod users;
mod views;

use merkato::keys::Scope::{AnalyticsRead, CustomersWrite, KeysWrite, SalesRead, SystemRead, TelemetryRead};

pub use self::inspection::Inspections;
use super::pages::pages;
use crate::http::access::Access::{Admin, Staff};

pages! {
    get "/admin" (Staff(AnalyticsRead)) => dashboard::show;
    get "/admin/analytics" (Staff(AnalyticsRead)) => analytics::show;
    get "/admin/analytics/products" (Staff(AnalyticsRead)) => views::find;
    get "/admin/analytics/products/{id}" (Staff(AnalyticsRead)) => views::show;
    get "/admin/sales" (Staff(SalesRead)) => sales::overview::show;
    get "/admin/sales/categories" (Staff(SalesRead)) => sales::overview::categories;
    get "/admin/sales/categories/{name}" (Staff(SalesRead)) => sales::subject::category;
    get "/admin/sales/categories/{name}/brands" (Staff(SalesRead)) => sales::brands::show;
    get "/admin/sales/brands" (Staff(SalesRead)) => sales::overview::brands;
    get "/admin/sales/brands/{name}" (Staff(SalesRead)) => sales::subject::brand;
    get "/admin/sales/products/{id}" (Staff(SalesRead)) => sales::subject::product;
    get "/admin/sales/suggestion" (Staff(SalesRead)) => sales::suggestion::show;
    get "/admin/telemetry" (Staff(TelemetryRead)) => telemetry::list::show;
    get "/admin/telemetry/{id}" (Staff(TelemetryRead)) => telemetry::sensor::show;
    get "/admin/data" (Staff(SystemRead)) => data::show;
    get "/admin/data/patterns" (Staff(SystemRead)) => patterns::show;
    get "/admin/data/sizes" (Admin(SystemRead)) => sizes::show;
    get "/admin/keys" (Admin(KeysWrite)) => keys::list;
    get "/admin/keys/new" (Admin(KeysWrite)) => keys::new;
    post "/admin/keys" (Admin(KeysWrite)) .secret_answer => keys::create;
    post "/admin/keys/{id}/revoke" (Admin(KeysWrite)) => keys::revoke;
    get "/admin/users" (Admin(CustomersWrite)) => users::list;
    post "/admin/users" (Admin(CustomersWrite)) => users::appoint;
    post "/admin/users/{id}/role" (Admin(CustomersWrite)) => users::change;
    get "/admin/system" (Staff(SystemRead)) => system::show;
    post "/admin/system/verify" (Admin(SystemRead)) => system::verify;
}
