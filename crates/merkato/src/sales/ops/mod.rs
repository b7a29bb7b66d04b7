//! The operations on sales, each in the file of its kind.

mod answers;
mod backfill;
mod follow;
mod names;
mod read;
mod restore;
mod suggest;
mod walk;
mod write;

pub use answers::{
    Brands, Distribution, Near, Picture, Subject, Trend, compare_brands, find_nearest, find_vector,
    get_category_summary, get_distribution, get_picture, get_trend, point,
};
pub use backfill::{Backfilled, Ending, backfill_ttl, export_ending};
pub use follow::{RecordedBefore, find_followed, forget_order, list_recorded, record_orders, set_followed};
pub(crate) use names::Noted;
pub use names::list_names;
pub use read::{
    Days, Embedding, SalePage, find_sale, get_sale, list_brand_sales, list_category_sales, list_embeddings,
    list_product_sales,
};
pub use restore::{Restored, restore_sales};
pub use suggest::{Advised, Item, Priced, suggest_price};
pub use walk::{count_shards, walk_brand, walk_category, walk_category_prices, walk_product, walk_vectors};
pub use write::{delete_sale, put_sale, put_sales};
