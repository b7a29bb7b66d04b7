//! What every operation needs: the tenant's rows, the time, new ids, chance, the shop's settings.

use std::{cell::RefCell, sync::Arc};

use uuid::Uuid;
use widerow::{Row, Store, Timestamp, time::Clock};

use crate::{
    analytics, events,
    flows::run::{Marks, Watch},
    graph,
    inventory::StockWriter,
    orders::Numbers,
    passwords::Passwords,
    payments::{PaymentProvider, TestProvider},
    sales::{Noted, Tally},
    settings::Settings,
    telemetry,
    wallets::{Balances, WalletFold, WalletWriter},
};

/// The surroundings of an operation, for one tenant. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub store: Store,
    pub settings: Arc<Settings>,
    pub payments: Arc<dyn PaymentProvider>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) stock_writer: Arc<StockWriter>,
    pub(crate) analytics: Arc<analytics::Buffers>,
    pub(crate) marks: Arc<Marks>,
    pub(crate) sale_names: Arc<Noted>,
    pub(crate) sale_tally: Arc<Tally>,
    pub(crate) telemetry: Arc<telemetry::Memory>,
    pub(crate) wallet_writer: Arc<WalletWriter>,
    pub(crate) events: Arc<events::Memory>,
    pub(crate) graph_counter: Arc<graph::Counter>,
    watch: Option<Arc<dyn Watch>>,
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
}

/// The kinds of aggregates and the projections of the shop itself. Whoever adds some begins with these.
pub fn registry() -> events::Registry {
    events::Registry::default().aggregate(WalletFold).projection(Balances)
}

/// Where bytes that nobody can guess come from.
pub trait Chance: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's. An id is a few bytes, and asking for them one by one would cost more than making them.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemChance;

/// Random bytes that are asked for at once, by each thread.
const AHEAD_BYTES: usize = 512;

/// Those that nobody has had yet. What was given is zero: nobody finds in memory what a secret was made of.
struct Ahead {
    bytes: [u8; AHEAD_BYTES],
    given: usize,
}

thread_local! {
    static AHEAD: RefCell<Ahead> = const { RefCell::new(Ahead { bytes: [0; AHEAD_BYTES], given: AHEAD_BYTES }) };
}

impl Ahead {
    fn fill(&mut self, bytes: &mut [u8]) {
        if bytes.len() > AHEAD_BYTES {
            return from_system(bytes);
        }
        if bytes.len() > AHEAD_BYTES - self.given {
            from_system(&mut self.bytes);
            self.given = 0;
        }
        let next = &mut self.bytes[self.given..self.given + bytes.len()];
        bytes.copy_from_slice(next);
        next.fill(0);
        self.given += bytes.len();
    }
}

fn from_system(bytes: &mut [u8]) {
    // Without it no secret is one: there is nothing sensible to do instead.
    getrandom::fill(bytes).expect("the operating system gives random bytes");
}

impl Chance for SystemChance {
    fn fill(&self, bytes: &mut [u8]) {
        AHEAD.with_borrow_mut(|ahead| ahead.fill(bytes));
    }
}

impl Context {
    pub fn new(store: Store, settings: Settings, clock: Arc<dyn Clock>, chance: Arc<dyn Chance>) -> Self {
        let mut process = [0; 16];
        chance.fill(&mut process);
        Context {
            store,
            payments: Arc::new(TestProvider::new(clock.clone())),
            passwords: Arc::new(Passwords::new(&settings.accounts.passwords)),
            numbers: Arc::new(Numbers::default()),
            stock_writer: Arc::new(StockWriter::default()),
            analytics: Arc::new(analytics::Buffers::new(Uuid::from_bytes(process))),
            settings: Arc::new(settings),
            marks: Arc::new(Marks::default()),
            sale_names: Arc::new(Noted::default()),
            sale_tally: Arc::new(Tally::default()),
            telemetry: Arc::new(telemetry::Memory::default()),
            graph_counter: Arc::new(graph::Counter::default()),
            wallet_writer: Arc::new(WalletWriter::default()),
            events: Arc::new(events::Memory::new(registry())),
            watch: None,
            clock,
            chance,
        }
    }

    /// The same surroundings with a payment provider that moves money; without one, the test provider moves none.
    pub fn with_payments(&self, payments: Arc<dyn PaymentProvider>) -> Self {
        Context { payments, ..self.clone() }
    }

    /// The same surroundings with other kinds of aggregates and other projections. What their streams and projections are
    /// called is in the tables: all processes of a shop have the same.
    pub fn with_events(&self, registry: events::Registry) -> Self {
        Context { events: Arc::new(events::Memory::new(registry)), ..self.clone() }
    }

    /// The same surroundings for another tenant of the same database: how many passwords are hashed at once and how many
    /// views are held are bounds for the whole process, requests for the same stock are combined over all of it, and order
    /// numbers are kept by tenant.
    pub fn with_store(&self, store: Store) -> Self {
        Context { store, ..self.clone() }
    }

    /// The same surroundings, with somebody who sees every step of a flow, and may stop it there.
    pub fn with_watch(&self, watch: Arc<dyn Watch>) -> Self {
        Context { watch: Some(watch), ..self.clone() }
    }

    pub(crate) fn watch(&self) -> Option<&dyn Watch> {
        self.watch.as_deref()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Shows every row that the tenant has in a table. It walks over all of them: for sweeps and verification.
    pub(crate) async fn for_each_row<R: Row>(&self, mut see: impl FnMut(R)) -> Result<(), widerow::Error> {
        for mut range in self.store.scan(R::table(), 1).await? {
            while let Some(rows) = range.next().await? {
                for (_, row) in rows {
                    see(R::from_values(row.values).map_err(|m| widerow::Error::mismatch(&R::table().name, m))?);
                }
            }
        }
        Ok(())
    }

    /// Finishes commits that processes left half-way when they died; whether none of them is left.
    pub(crate) async fn finish_commits(&self) -> bool {
        if self.store.shows_commits_whole() {
            return true;
        }
        match self.store.database().sweep().await {
            Ok(swept) => swept.failed == 0,
            Err(error) => {
                tracing::warn!(%error, "commits that were left half-way are still to be finished");
                false
            }
        }
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn bytes(count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        SystemChance.fill(&mut bytes);
        bytes
    }

    #[test]
    fn no_two_are_given_the_same_bytes() {
        let sizes = [10, 16, AHEAD_BYTES - 1, 10, AHEAD_BYTES, 10, AHEAD_BYTES + 1, 4 * AHEAD_BYTES];
        let mut seen = HashSet::new();
        for size in sizes.into_iter().cycle().take(1_000) {
            for part in bytes(size).as_chunks::<8>().0 {
                assert!(seen.insert(*part), "{part:?} twice");
            }
        }
        let others = std::thread::spawn(|| (0..100).map(|_| bytes(8)).collect::<Vec<_>>()).join().expect("no panic");
        assert!(others.iter().all(|part| !seen.contains(&part[..])));
    }

    #[test]
    fn what_was_given_is_kept_nowhere() {
        bytes(100);
        AHEAD.with_borrow(|ahead| assert!(ahead.bytes[..ahead.given].iter().all(|byte| *byte == 0)));
    }
}
