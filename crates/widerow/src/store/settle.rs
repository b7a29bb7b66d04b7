//! One step, or as many as the engine needs, until it is known what became of it.

use super::{Store, plan};
use crate::{
    engine::{Anchor, AnchorRows, Applied, Atomicity, Expect, Guarded, ReadAnchor, Step, Version, Write},
    error::{Error, Result},
    limits,
    schema::Table,
    time::Timestamp,
    value::Value,
};

/// A guarded commit that needs only be sent.
pub(super) struct Ready {
    pub id: uuid::Uuid,
    pub guarded: Guarded,
    /// Those of the guarded partition come first.
    pub writes: Vec<Write>,
    pub inside: usize,
    /// All of it is one step of the engine's: no later writes are on their way when that is made.
    pub at_once: bool,
    pub now: Timestamp,
}

/// What became of a step, and whether the answer comes from the engine or, that one being lost, from the ring.
pub(crate) struct Settled {
    pub applied: Applied,
    pub by_ring: bool,
}

impl Store {
    /// Whether the engine can apply the writes in one step.
    pub(super) fn fits(&self, beside: usize, writes: &[Write], guarded: Option<(&Table, &[Value])>) -> bool {
        let outside = |w: &Write| guarded.is_none_or(|(t, p)| w.table().name != t.name || w.partition() != p);
        if self.inner.always_outbox {
            return if guarded.is_some() { !writes.iter().any(outside) } else { writes.len() <= 1 };
        }
        let bytes = || writes.iter().map(Write::bytes).sum::<usize>();
        match self.inner.engine.abilities().atomicity {
            Atomicity::Everything => true,
            Atomicity::Rows { rows, bytes: most } => plan::rows(writes) + beside <= rows && bytes() <= most,
            Atomicity::Partition { unguarded_rows, unguarded_bytes } => match guarded {
                Some(_) => !writes.iter().any(outside),
                None => writes.len() <= 1 || (writes.len() <= unguarded_rows && bytes() <= unguarded_bytes),
            },
        }
    }

    /// A guarded partition's version, outbox and, if asked for, ring: no rows.
    pub(crate) async fn bookkeeping(&self, table: &'static Table, partition: &[Value], ring: bool) -> Result<Anchor> {
        let rows = AnchorRows::Keys(&[]);
        self.inner.engine.read_anchor(ReadAnchor { tenant: &self.tenant, table, partition, rows, ring }).await
    }

    /// Reads the partition, having finished what earlier commits left undone.
    pub(crate) async fn settled(
        &self,
        table: &'static Table,
        partition: &[Value],
        rows: AnchorRows<'_>,
        ring: bool,
    ) -> Result<Anchor> {
        let mut tries = 0;
        loop {
            let read = ReadAnchor { tenant: &self.tenant, table, partition, rows: rows.clone(), ring };
            let anchor = self.inner.engine.read_anchor(read).await.map_err(|e| match e {
                // Nothing has been sent that could have happened.
                Error::TimedOut { .. } => Error::unavailable(e),
                e => e,
            })?;
            if anchor.outbox.is_empty() {
                return Ok(anchor);
            }
            for (id, bucket) in &anchor.outbox {
                self.finish_other(table, partition, *id, *bucket).await?;
            }
            self.pause(table, &mut tries).await?;
        }
    }

    /// With so many conditions beside the writes.
    pub(super) fn ready(
        &self,
        id: uuid::Uuid,
        guarded: Guarded,
        beside: usize,
        mut writes: Vec<Write>,
        outside: Vec<Write>,
        now: Timestamp,
    ) -> Ready {
        let inside = writes.len();
        writes.extend(outside);
        let at_once = self.fits(beside, &writes, Some((guarded.table, &guarded.partition)));
        Ready { id, guarded, writes, inside, at_once, now }
    }

    /// One step, or as many as the engine needs.
    pub(super) async fn apply_split(&self, ready: Ready) -> Result<Applied> {
        let Ready { id, guarded, writes, inside, at_once, now } = ready;
        let timestamp = guarded.expect.map_or_else(|| self.inner.timestamp(), |e| e.next.0);
        let mut step = Step { id, tenant: &self.tenant, guarded: Some(guarded), writes, now, timestamp };
        if at_once {
            return Ok(self.apply_settled(&step).await?.applied);
        }
        let outside = step.writes.split_off(inside);
        self.apply_with_outbox(step, outside).await
    }

    /// Writes that rest on a partition as it was read, and on nothing else.
    pub(crate) async fn apply_at(
        &self,
        id: uuid::Uuid,
        table: &'static Table,
        partition: &[Value],
        anchor: &Anchor,
        writes: Vec<Write>,
    ) -> Result<Applied> {
        let (inside, outside) =
            writes.into_iter().partition(|w| w.table().name == table.name && w.partition() == partition);
        let expect = Some(self.expect(anchor));
        let (partition, guards, new_rows) = (partition.to_vec(), Vec::new(), Vec::new());
        let guarded = Guarded { table, partition, expect, guards, new_rows, outbox: None, beside: Vec::new() };
        self.apply_split(self.ready(id, guarded, 1, inside, outside, self.inner.now())).await
    }

    pub(super) fn expect(&self, anchor: &Anchor) -> Expect {
        let next = Version(self.inner.timestamp().max(anchor.version.map_or(i64::MIN, |v| v.0 + 1)));
        // What this process writes from now on, anywhere, is later than this commit.
        self.inner.not_before(next.0);
        Expect { version: anchor.version, sequence: anchor.sequence, next, after: None }
    }

    /// Applies a step; where the engine cannot say whether it did, finds out.
    ///
    /// RACE: once an answer was lost, no later answer may be taken at its word. `Moved` may tell of this very step, and a
    /// refusal says nothing about the first try. With an expected version the ring decides; without, the step is sent again
    /// under its id, which changes nothing the second time.
    pub(crate) async fn apply_settled(&self, step: &Step<'_>) -> Result<Settled> {
        const TRIES: u32 = 10;
        let mut lost: Option<String> = None;
        for tries in 1..=TRIES {
            let applied = self.inner.engine.apply(step).await;
            if step.guarded.is_some() {
                self.inner.stats.count_conditional(&applied);
            }
            match applied {
                Err(Error::Indeterminate { detail, .. }) => lost = Some(detail),
                Ok(applied @ Applied::Done(_)) => return Ok(Settled { applied, by_ring: false }),
                other if lost.is_none() => return other.map(|applied| Settled { applied, by_ring: false }),
                Ok(applied) if !step.expects() => return Ok(Settled { applied, by_ring: false }),
                Ok(_) | Err(_) => {}
            }
            self.inner.back_off(tries).await;
            if step.expects()
                && let Some(applied) = Box::pin(self.find_in_ring(step, TRIES - tries)).await?
            {
                return Ok(Settled { applied, by_ring: true });
            }
        }
        let detail = lost.unwrap_or_else(|| "the engine does not answer".into());
        Err(Error::Indeterminate { id: step.id, detail })
    }

    /// Whether a step with an expected version was applied; None where it was not yet, and may be sent again: if the lost
    /// one is applied after all, the second finds another version, and the ring is asked again.
    pub(super) async fn find_in_ring(&self, step: &Step<'_>, tries: u32) -> Result<Option<Applied>> {
        let Some(Guarded { table, partition, expect: Some(expect), .. }) = &step.guarded else { return Ok(None) };
        let unknown = |detail: String| Err(Error::Indeterminate { id: step.id, detail });
        for attempt in 0.. {
            match self.bookkeeping(table, partition, true).await {
                Ok(anchor) if anchor.ring.contains(&step.id) => return Ok(Some(Applied::Done(expect.next))),
                Ok(anchor) if anchor.version == expect.version => return Ok(None),
                // So many commits have followed that the ring may have forgotten this one.
                Ok(anchor) if !(0..limits::RING_SLOTS).contains(&(anchor.sequence - expect.sequence)) => {
                    return unknown("no answer, and too many commits since".into());
                }
                Ok(_) => return Ok(Some(Applied::Moved)),
                Err(e) if attempt >= tries => return unknown(format!("no answer, and then {e}")),
                Err(_) => self.inner.back_off(attempt).await,
            }
        }
        Ok(None)
    }
}
