//! The operations of analytics, each in the file of its kind.

mod sales;
mod top;
mod verify;
mod views;

pub use sales::{list_daily_sales, list_daily_sales_between, record_order};
pub use top::{DaySet, Ranked, list_top_products, rank_products, set_day_sales};
pub use verify::{DayReport, SalesDifference, rebuild_day, verify_day};
pub use views::{DayViews, Flushed, flush_views, keep_flushing, list_day_views, list_product_views, view_product};
