//! The operations on sales, each in the file of its kind.

mod backfill;
mod follow;
mod read;
mod walk;
mod write;

pub use backfill::{Backfilled, Ending, backfill_ttl, export_ending};
pub use follow::{RecordedBefore, find_followed, forget_order, list_recorded, record_orders, set_followed};
pub use read::{
    Days, Embedding, SalePage, find_sale, get_sale, list_brand_sales, list_category_sales, list_embeddings,
    list_product_sales,
};
pub use walk::{count_shards, walk_brand, walk_category, walk_category_prices, walk_product, walk_vectors};
pub use write::{delete_sale, put_sale, put_sales};
