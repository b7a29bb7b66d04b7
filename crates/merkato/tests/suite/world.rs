//! Where a case runs: an engine, a tenant of its own, a clock that stands still, chance from a seed.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use merkato::{
    Context, Settings,
    context::{Chance, SystemChance},
};
use widerow::{
    Database, Options, Schema,
    time::{Clock, ManualClock, SystemClock},
};
use widerow_testing::Target;

pub fn schema() -> Schema {
    merkato::schema().expect("a schema")
}

/// A shop of its own on the shared tables.
pub struct World {
    pub ctx: Context,
    pub clock: Arc<ManualClock>,
    pub database: Database,
}

/// Bytes that follow from a seed: a run replays. Never for a real shop.
pub struct SeededChance(AtomicU64);

impl SeededChance {
    pub fn new(seed: u64) -> Self {
        SeededChance(AtomicU64::new(seed))
    }
}

impl Chance for SeededChance {
    fn fill(&self, bytes: &mut [u8]) {
        // SplitMix64.
        for chunk in bytes.chunks_mut(8) {
            let mut z = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::SeqCst);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

impl World {
    pub fn new(target: &Target) -> Self {
        World::with(target, Settings::default())
    }

    pub fn with(target: &Target, settings: Settings) -> Self {
        World::on(target, target.engine(), settings)
    }

    /// On tables that no other case uses, for cases that look at whole tables.
    pub fn alone(target: &Target) -> Self {
        World::on(target, target.empty_engine(), Settings::default())
    }

    fn on(_target: &Target, engine: Arc<dyn widerow::Engine>, settings: Settings) -> Self {
        // The machine's time at the beginning, so that engines with a clock of their own agree about what is over.
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let options = Options { clock: clock.clone() as Arc<dyn Clock>, ..Options::default() };
        let database = Database::with_options(engine, schema(), options);
        let store = database.tenant(&widerow_testing::unique()).expect("a good name");
        let ctx = Context::new(store, settings, clock.clone(), Arc::new(SystemChance));
        World { ctx, clock, database }
    }
}
