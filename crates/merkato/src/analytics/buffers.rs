//! What a process holds for all its tenants: views that are not written yet, and orders that are counted together.

use uuid::Uuid;
use widerow::{Date, key::Tenant};

use super::{
    error::Result,
    rules::{Counted, Recorded},
    views::Views,
};
use crate::{combine::Combiner, limits};

pub(crate) struct Buffers {
    pub(super) views: Views,
    /// By tenant and day.
    pub(super) orders: Combiner<(Tenant, Date), Counted, Result<Recorded>>,
}

impl Buffers {
    /// The id is the process's own.
    pub(crate) fn new(process: Uuid) -> Self {
        let orders = Combiner::new(limits::ORDERS_TOGETHER_MAX, limits::ORDERS_WAITING_MAX);
        Buffers { views: Views::new(process), orders }
    }
}
