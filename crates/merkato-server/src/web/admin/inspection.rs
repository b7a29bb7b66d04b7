//! Checks that an admin asks for: one at a time in a process, in the background, with what was found so far to be looked at.
//!
//! What was found is the process's own and is forgotten when it stops: it is no record, and can be asked for again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use merkato::{Context, limits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use widerow::{Date, Timestamp};

use crate::checks::{self, Checking, Found};

/// The longest that the checks of one shop take before they are given up.
const TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// Differences that are listed for each check.
const LISTED_MAX: usize = 20;
/// The checks there are, so that it can be told how far they are.
pub const CHECKS: usize = 10;

/// How an inspection stands.
#[derive(Clone, Debug)]
pub enum State {
    Running,
    Done(Timestamp),
    Failed(String),
}

/// The last inspection of a shop.
#[derive(Clone, Debug)]
pub struct Inspection {
    pub began_at: Timestamp,
    pub state: State,
    pub found: Vec<Found>,
}

impl Inspection {
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }

    pub fn differences(&self) -> u64 {
        self.found.iter().map(|found| found.differences).sum()
    }
}

/// The last inspection of every shop, and the turn to make one, or to measure tables.
#[derive(Debug)]
pub struct Inspections {
    turn: Arc<Semaphore>,
    last: Arc<Mutex<BTreeMap<String, Inspection>>>,
}

impl Default for Inspections {
    fn default() -> Self {
        Inspections { turn: Arc::new(Semaphore::new(1)), last: Arc::default() }
    }
}

impl Inspections {
    /// The right to walk over tables; None while somebody does.
    pub fn take_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.turn.clone().try_acquire_owned().ok()
    }

    pub fn last(&self, ctx: &Context) -> Option<Inspection> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(ctx.store.tenant().as_str()).cloned()
    }

    /// Begins to check a shop, unless tables are walked over already. It reads, and mends nothing.
    pub fn begin(&self, ctx: &Context) -> bool {
        let Some(turn) = self.take_turn() else { return false };
        let ctx = ctx.clone();
        let begun = Inspection { began_at: ctx.now(), state: State::Running, found: Vec::new() };
        let notes = Notes { last: self.last.clone(), tenant: ctx.store.tenant().as_str().to_owned() };
        notes.write(|inspection| *inspection = begun.clone());
        tokio::spawn(async move {
            let _turn = turn;
            let ended = tokio::time::timeout(TIME_MAX, check(&ctx, &notes)).await;
            let state = match ended {
                Ok(Ok(())) => State::Done(ctx.now()),
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the checks did not come to their end");
                    State::Failed("The store did not answer as it should. The log says more.".into())
                }
                Err(_) => {
                    State::Failed("It took longer than ten minutes. Run merkato verify in a shell instead.".into())
                }
            };
            notes.write(|inspection| inspection.state = state.clone());
        });
        true
    }
}

/// Where an inspection writes down what it found.
struct Notes {
    last: Arc<Mutex<BTreeMap<String, Inspection>>>,
    tenant: String,
}

impl Notes {
    fn write(&self, change: impl Fn(&mut Inspection)) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = Inspection { began_at: Timestamp::from_millis(0), state: State::Running, found: Vec::new() };
        change(last.entry(self.tenant.clone()).or_insert(unknown));
    }
}

async fn check(ctx: &Context, notes: &Notes) -> Result<(), checks::Error> {
    let checking = Checking { repair: false, listed_max: LISTED_MAX };
    let note = |found: Found| notes.write(|inspection| inspection.found.push(found.clone()));
    note(checking.carts(ctx).await?);
    note(checking.stock(ctx).await?);
    note(checking.roll_ups(ctx).await?);
    note(checking.trees(ctx).await?);
    note(checking.categories(ctx).await?);
    note(checking.events(ctx).await?);
    note(checking.connections(ctx).await?);
    note(checking.wallets(ctx).await?);
    // As many days as the figures of the office look back.
    let today = ctx.now().date().days();
    let days = (today - limits::SALES_DAYS_MAX + 1..=today).map(Date::from_days);
    note(checking.sales(ctx, days, |_| {}).await?);
    let report = ctx.store.verify(checking.options()).await?;
    note(checking.derived(ctx.store.tenant().to_string(), &report));
    Ok(())
}
