//! The operations of carts, each in the file of its kind.

mod cart;
mod copy;
mod delete;
mod erase;
mod lines;
mod list;
mod merge;
mod order;
mod show;
mod sweep;
mod verify;

pub use cart::{Cart, ROWS_AT_ONCE as ORDERED_AT_ONCE};
pub use copy::copy_cart;
pub use delete::delete_cart;
pub use erase::erase_carts;
pub use lines::{add_line, add_lines, clear_cart, remove_line, set_quantity};
pub use list::{activate_cart, create_cart, find_active_cart, list_carts, rename_cart, save_active_cart, set_email};
pub use merge::{Dropped, MergeReport, merge_guest_cart};
pub(crate) use order::join_order;
pub use order::{OpenedCart, OrderedCart, fence_cart, open_cart, order_cart, restore_lines, settle_cart, tidy_ordered};
pub use show::{find_line, find_product, show_cart};
pub use sweep::{Swept, sweep};
pub use verify::{Verified, WrongTotals, verify_carts};
