//! The operations: load, decide, commit, answer.

mod erase;
mod insert;
mod read;
mod status;

pub(crate) use self::status::join_status;
pub use self::{
    erase::erase_person,
    insert::{insert, place},
    read::{
        TimelineStep, find_by_number, find_order, get_order, get_order_versioned, list_by_day, list_by_status,
        list_history, list_items, list_newest_of_day, list_orders, list_orders_of_user, timeline,
    },
    status::{change_status, note_internally, note_payment},
};
