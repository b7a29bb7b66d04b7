//! Where a case runs: an engine, a tenant of its own, a clock that stands still.

use std::sync::{Arc, LazyLock};

use merkato::{Context, Kind, Settings, context::SystemChance};
use widerow::{
    Database, Options, Schema,
    schema::Table,
    time::{Clock, ManualClock, SystemClock},
    value::Value,
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

/// From `MERKATO_TEST_SEED`, or of this run's own, and then said aloud.
pub fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        let given = std::env::var("MERKATO_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| SystemClock.now().millis() as u64);
        eprintln!("MERKATO_TEST_SEED={seed} replays this run");
        seed
    });
    *SEED
}

/// Of how many points one is stopped at, where all of them take minutes: 1, unless `MERKATO_TEST_STRIDE` says otherwise. Which one
/// they begin with is the seed's choice, so that runs which skip some make up for each other.
pub fn stride() -> usize {
    let given: Option<usize> = std::env::var("MERKATO_TEST_STRIDE").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(1).max(1)
}

/// Asks again as long as the answer is to ask later: hundreds who want one partition at once wait long on a slow machine.
pub async fn patiently<T, E, F: Future<Output = Result<T, E>>>(
    ask: impl Fn() -> F,
    kind: impl Fn(&E) -> Kind,
) -> Result<T, E> {
    loop {
        match ask().await {
            Err(error) if kind(&error) == Kind::Unavailable => {}
            answer => return answer,
        }
    }
}

/// What the tenant has in a table.
pub async fn raw_rows(world: &World, table: &'static Table) -> Vec<Vec<Value>> {
    let mut found = Vec::new();
    for mut scan in world.ctx.store.scan(table, 1).await.expect("a scan") {
        while let Some(page) = scan.next().await.expect("rows") {
            found.extend(page.into_iter().map(|(_, row)| row.values));
        }
    }
    found
}

impl World {
    pub fn new(target: &Target) -> Self {
        World::with(target, Settings::default())
    }

    pub fn with(target: &Target, settings: Settings) -> Self {
        World::on(target.engine(), settings, false)
    }

    /// Where every commit that writes beside its guarded partition goes through the outbox, whatever the engine could do at once.
    pub fn step_by_step(target: &Target, settings: Settings) -> Self {
        World::on(target.engine(), settings, true)
    }

    /// On tables that no other case uses, for cases that look at whole tables.
    pub fn alone(target: &Target) -> Self {
        World::alone_with(target, Settings::default())
    }

    pub fn alone_with(target: &Target, settings: Settings) -> Self {
        World::on(target.empty_engine(), settings, false)
    }

    fn on(engine: Arc<dyn widerow::Engine>, settings: Settings, always_outbox: bool) -> Self {
        // The machine's time at the beginning, so that engines with a clock of their own agree about what is over.
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let options = Options { clock: clock.clone() as Arc<dyn Clock>, always_outbox, ..Options::default() };
        let database = Database::with_options(engine, schema(), options);
        let store = database.tenant(&widerow_testing::unique()).expect("a good name");
        let ctx = Context::new(store, settings, clock.clone(), Arc::new(SystemChance));
        World { ctx, clock, database }
    }
}
