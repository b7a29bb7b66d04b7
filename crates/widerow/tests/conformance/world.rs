//! Where a case runs: an engine, a clock that stands still, a tenant of its own.

use std::sync::Arc;

use widerow::{
    Database, Engine, Options, Schema, Store, Timestamp,
    time::{Clock, ManualClock, SystemClock},
};
pub use widerow_testing::Target;

pub struct World {
    pub engine: Arc<dyn Engine>,
    pub clock: Arc<ManualClock>,
    pub store: Store,
    pub database: Database,
}

/// Worlds on the suite's tables.
pub trait Worlds {
    /// A world on the tables that all cases share, with a tenant of its own.
    fn world(&self) -> World;
    /// A world on empty tables, for cases that look at all tenants.
    fn empty_world(&self) -> World;
    fn world_on(&self, engine: Arc<dyn Engine>, always_outbox: bool) -> World;
    /// Another world on the same tables and the same clock.
    fn world_like(&self, world: &World) -> World;
    /// An engine for another schema, without tables unless they are asked for.
    fn world_with(&self, schema: Schema, create: bool) -> Arc<dyn Engine>;
}

impl Worlds for Target {
    fn world(&self) -> World {
        self.world_on(self.engine(), false)
    }

    fn empty_world(&self) -> World {
        self.world_on(self.empty_engine(), false)
    }

    fn world_on(&self, engine: Arc<dyn Engine>, always_outbox: bool) -> World {
        // The machine's time at the beginning, so that engines with a clock of their own agree about what is over.
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let database = Database::with_options(
            engine.clone(),
            crate::tables::schema(),
            Options { clock: clock.clone() as Arc<dyn Clock>, always_outbox, ..Options::default() },
        );
        let store = database.tenant(&widerow_testing::unique()).expect("a good name");
        World { engine, clock, store, database }
    }

    fn world_like(&self, world: &World) -> World {
        World {
            engine: world.engine.clone(),
            clock: world.clock.clone(),
            store: world.store.clone(),
            database: world.database.clone(),
        }
    }

    fn world_with(&self, schema: Schema, create: bool) -> Arc<dyn Engine> {
        self.engine_for(schema, create)
    }
}

impl World {
    pub fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }
}
