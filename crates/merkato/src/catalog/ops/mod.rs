//! What can be done with the catalog.

mod categories;
mod delete;
mod featured;
mod follow;
mod prices;
mod products;
mod related;
mod restore;
mod search;
mod search_text;
mod verify;

pub use categories::{
    CategoryChange, NewCategory, breadcrumbs, change_category, create_categories, create_category, find_categories,
    find_category, find_category_by_slug, get_category, list_category, list_descendants, list_products_of_category,
    list_subcategories, move_category,
};
pub use delete::delete_category;
pub use featured::{Featured, list_featured, list_placed, set_featured};
pub use follow::{Followed, follow_categories};
pub use prices::{PriceHistory, PriceStep, price_history};
pub use products::{
    archive_product, change_product, create_product, find_product, find_product_by_slug, get_product,
    get_product_by_slug, list_products, list_products_by_age, set_in_stock, set_popularity, set_rating,
};
pub use related::{Because, Card, Related, list_related};
pub use restore::{Restored, restore_category, restore_product};
pub use search::{list_items_by_name, suggest};
pub(super) use search_text::COST as SEARCH_TEXT;
pub use search_text::search_text;
pub use verify::{CategoriesReport, Misfiled, verify_categories};
