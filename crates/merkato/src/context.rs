//! What every operation needs: the tenant's rows, the time, new ids, chance, the shop's settings.

use std::sync::Arc;

use uuid::Uuid;
use widerow::{Store, Timestamp, time::Clock};

use crate::{analytics, passwords::Passwords, settings::Settings};

/// The surroundings of an operation, for one tenant. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub store: Store,
    pub settings: Arc<Settings>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) analytics: Arc<analytics::Buffers>,
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
}

/// Where bytes that nobody can guess come from.
pub trait Chance: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    fn fill(&self, bytes: &mut [u8]) {
        // Without it no secret is one: there is nothing sensible to do instead.
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}

impl Context {
    pub fn new(store: Store, settings: Settings, clock: Arc<dyn Clock>, chance: Arc<dyn Chance>) -> Self {
        let passwords = Arc::new(Passwords::new(&settings.accounts.passwords));
        let mut process = [0; 16];
        chance.fill(&mut process);
        let analytics = Arc::new(analytics::Buffers::new(Uuid::from_bytes(process)));
        Context { store, settings: Arc::new(settings), passwords, analytics, clock, chance }
    }

    /// The same surroundings for another tenant: how many passwords are hashed at once is a bound for the whole
    /// process, and so is what is held of views.
    pub fn with_store(&self, store: Store) -> Self {
        Context { store, ..self.clone() }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A new id: a UUIDv7 of the context's own time and chance.
    pub fn new_id(&self) -> Uuid {
        let millis = u64::try_from(self.now().millis()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &self.random::<10>()).into_uuid()
    }

    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.chance.fill(&mut bytes);
        bytes
    }
}
