//! How many sales were stored and asked for by this process, of all tenants: for whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::context::Context;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Product,
    Category,
    Brand,
    Embeddings,
    /// Figures of any of them, each sale that went into them counted.
    Figures,
}

impl Asked {
    pub const ALL: [Asked; 5] = [Asked::Product, Asked::Category, Asked::Brand, Asked::Embeddings, Asked::Figures];

    pub fn as_str(self) -> &'static str {
        match self {
            Asked::Product => "product",
            Asked::Category => "category",
            Asked::Brand => "brand",
            Asked::Embeddings => "embeddings",
            Asked::Figures => "figures",
        }
    }
}

/// What was counted since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaleStats {
    pub stored: u64,
    /// Bad by themselves.
    pub refused: u64,
    /// Not stored, though good: the store could not be written to.
    pub failed: u64,
    /// What was asked for, how often, and how many sales were found.
    pub asked: Vec<(&'static str, u64, u64)>,
}

/// The counters of a process.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    stored: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    asked: [(AtomicU64, AtomicU64); Asked::ALL.len()],
}

impl Tally {
    pub(super) fn put(&self, stored: u64, refused: u64, failed: u64) {
        self.stored.fetch_add(stored, Relaxed);
        self.refused.fetch_add(refused, Relaxed);
        self.failed.fetch_add(failed, Relaxed);
    }

    pub(super) fn asked(&self, what: Asked, found: u64) {
        let (times, sales) = &self.asked[what as usize];
        times.fetch_add(1, Relaxed);
        sales.fetch_add(found, Relaxed);
    }
}

pub fn stats(ctx: &Context) -> SaleStats {
    let tally = &ctx.sale_tally;
    let asked = Asked::ALL.map(|what| {
        let (times, sales) = &tally.asked[what as usize];
        (what.as_str(), times.load(Relaxed), sales.load(Relaxed))
    });
    SaleStats {
        stored: tally.stored.load(Relaxed),
        refused: tally.refused.load(Relaxed),
        failed: tally.failed.load(Relaxed),
        asked: asked.into(),
    }
}
