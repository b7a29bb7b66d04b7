//! The proof that ships with the product: many shoppers, few units, checkouts that are stopped at any step, payments that
//! answer late or never, and then the books are checked.
//!
//! It runs on whatever engine the stores stand on, in a tenant that should be its own. Several stores are several processes:
//! they share nothing but the engine. Time-outs with unknown outcome come from the engine that it is given
//! (`widerow::faulty`), stopped processes and lost payments from the seed.

mod audit;
mod shoppers;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use widerow::{Store, time::Clock};

use crate::{
    context::{Chance, Context},
    flows::{
        self,
        run::{Point, Watch},
    },
    payments::{Chaos, TestProvider},
    settings::Settings,
};

pub type Result<T, E = flows::Error> = std::result::Result<T, E>;

/// How hard it is made.
#[derive(Clone, Debug)]
pub struct Options {
    pub shoppers: usize,
    /// Of the one product that they all want.
    pub units: i32,
    /// None: nothing goes wrong but what shoppers do to each other.
    pub faults: Option<u64>,
    /// Shoppers at the same time.
    pub at_once: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { shoppers: 1_000, units: 100, faults: None, at_once: 64 }
    }
}

/// Of a thousand steps, so many are a process's last.
const STOPS_PER_MILLE: u64 = 15;
/// Of a thousand calls of the payment provider, so many are lost.
const LOST_PER_MILLE: u64 = 50;
/// For how long a stopped checkout is left alone.
const LEASE_SECONDS: i64 = 1;

/// What happened, and whether the books are right.
#[derive(Clone, Debug)]
pub struct Report {
    /// Units of paid orders.
    pub sold: i64,
    /// Units of holds that are in force at the end.
    pub held: i64,
    /// Units that are left to be sold.
    pub left: i64,
    /// Shoppers who were told that there is not enough.
    pub refused: usize,
    /// Shoppers whose payment came to nothing.
    pub declined: usize,
    /// Times that a shopper asked again, or a sweep went on, because a checkout had stopped.
    pub retried: u64,
    /// Processes that ended at a step.
    pub stopped: u64,
    pub took: Duration,
    /// From the first try to the answer, by shopper.
    pub answer_p50: Duration,
    pub answer_p99: Duration,
    pub verdicts: Vec<Verdict>,
}

/// One thing that must be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub what: &'static str,
    pub holds: bool,
    pub detail: String,
}

impl Report {
    pub fn passed(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }
}

/// Lets the shoppers loose, waits until all is settled, and looks at the books. `watch` is told how many have had their
/// answer.
pub async fn inventory(
    stores: &[Store],
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
    options: &Options,
    progress: impl Fn(usize) + Send + Sync,
) -> Result<Report> {
    let provider = Arc::new(match options.faults {
        Some(seed) => TestProvider::with_chaos(clock.clone(), Chaos { seed, failures: LOST_PER_MILLE }),
        None => TestProvider::new(clock.clone()),
    });
    let ends = Arc::new(Ends::new(options.faults));
    let mut settings = Settings::default();
    settings.flows.lease_seconds = LEASE_SECONDS;
    let contexts: Vec<Context> = stores
        .iter()
        .map(|store| {
            Context::new(store.clone(), settings.clone(), clock.clone(), chance.clone())
                .with_payments(provider.clone())
                .with_watch(ends.clone())
        })
        .collect();
    let Some(first) = contexts.first() else {
        return Err(crate::Invalid::new("stores", "there are none").into());
    };
    let shop = shoppers::open_shop(first, options.units).await?;
    let start = Instant::now();
    let mut bought = shoppers::shop_all(&contexts, &shop, options, &progress).await?;
    let took = start.elapsed();
    // From here on no process ends, and what was stopped goes on.
    ends.disarm();
    bought.retried += shoppers::settle(&contexts, &bought).await?;
    let mut report = audit::audit(first, &shop, options, &bought, &provider).await?;
    report.took = took;
    report.stopped = ends.stopped();
    Ok(report)
}

/// Ends processes by chance.
struct Ends {
    seed: Option<u64>,
    armed: AtomicBool,
    points: AtomicU64,
    stopped: AtomicU64,
}

impl Ends {
    fn new(seed: Option<u64>) -> Self {
        let (armed, points, stopped) = (AtomicBool::new(seed.is_some()), AtomicU64::new(0), AtomicU64::new(0));
        Ends { seed, armed, points, stopped }
    }

    fn disarm(&self) {
        self.armed.store(false, Ordering::SeqCst);
    }

    fn stopped(&self) -> u64 {
        self.stopped.load(Ordering::SeqCst)
    }
}

impl Watch for Ends {
    fn stops(&self, _: Point) -> bool {
        let (Some(seed), true) = (self.seed, self.armed.load(Ordering::SeqCst)) else { return false };
        let point = self.points.fetch_add(1, Ordering::SeqCst);
        let stops = mix(seed, point) % 1_000 < STOPS_PER_MILLE;
        self.stopped.fetch_add(u64::from(stops), Ordering::SeqCst);
        stops
    }
}

/// A number that follows from the two and looks like chance.
fn mix(seed: u64, number: u64) -> u64 {
    let mut x = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
