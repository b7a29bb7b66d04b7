//! How measurements become the figures of an hour, and hours those of a day. Nothing here reads or writes.

pub(super) mod day;
pub(super) mod hour;
pub(super) mod seen;
pub(super) mod totals;
