//! Who makes sense of events: how an aggregate follows from its own, and which read models follow the feed.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;
use widerow::Commit;

use super::{error::Result, ops::EventTypes, tables::Event};
use crate::context::Context;

/// What an aggregate of one kind is, after its events. A pure function: no clock, no chance, nothing but the events.
pub trait Aggregate: Send + Sync + 'static {
    fn kind(&self) -> &str;

    /// From 1; raised with every change of what `fold` gives, so that snapshots of the older one are not used.
    fn fold_version(&self) -> i32 {
        1
    }

    /// Whether the shop alone appends to such streams, and nobody from outside.
    fn is_reserved(&self) -> bool {
        false
    }

    /// Brings an event of an older schema up to date. Said in words where it makes no sense.
    fn upcast(&self, event: Event) -> Result<Event, String> {
        Ok(event)
    }

    /// The state after the event. `Null` is before all events.
    fn fold(&self, state: Value, event: &Event) -> Result<Value, String>;
}

/// Every kind that nobody has registered: the events' data merged, one over the other, as RFC 7396 merges.
pub struct MergedJson;

impl Aggregate for MergedJson {
    fn kind(&self) -> &str {
        "json"
    }

    /// None that a kind of its own has: what is merged is of no use to one that is registered later.
    fn fold_version(&self) -> i32 {
        0
    }

    fn fold(&self, mut state: Value, event: &Event) -> Result<Value, String> {
        merge(&mut state, event.data()?);
        Ok(state)
    }
}

/// Deep only as far as the JSON is, which the parser bounds.
fn merge(state: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *state = patch;
        return;
    };
    if !state.is_object() {
        *state = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = state else { return };
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(&name);
        } else {
            merge(fields.entry(name).or_insert(Value::Null), value);
        }
    }
}

/// A read model that follows the feed.
///
/// Its rows are written by nobody else, and only in the commits that it is given: each is guarded on how far the projection
/// is, so that what it reads of its own rows is what they are, and the events have their effect once.
#[async_trait]
pub trait Projection: Send + Sync + 'static {
    /// Never changed: it is a key.
    fn name(&self) -> &'static str;

    /// Reads what it needs of its own rows of the generation, and adds to the commit what they become. The events are in the
    /// feed's order; at most [`Projection::events_a_commit`] of them.
    async fn apply(&self, ctx: &Context, generation: i64, events: &[Event], commit: Commit) -> Result<Commit>;

    /// Removes rows of a generation that nobody reads any more, as many as go at once. Whether none are left.
    async fn clear(&self, ctx: &Context, generation: i64) -> Result<bool>;

    /// As many as their rows surely fit into one commit.
    fn events_a_commit(&self) -> usize {
        100
    }
}

/// The kinds of aggregates and the projections that a process knows.
#[derive(Clone)]
pub struct Registry {
    aggregates: BTreeMap<String, Arc<dyn Aggregate>>,
    merged: Arc<dyn Aggregate>,
    projections: Vec<Arc<dyn Projection>>,
}

impl Default for Registry {
    fn default() -> Self {
        let registry = Registry { aggregates: BTreeMap::new(), merged: Arc::new(MergedJson), projections: Vec::new() };
        registry.projection(EventTypes)
    }
}

impl Registry {
    /// Of two of one kind the later one counts.
    pub fn aggregate(mut self, aggregate: impl Aggregate) -> Self {
        self.aggregates.insert(aggregate.kind().to_owned(), Arc::new(aggregate));
        self
    }

    /// Of two of one name the later one counts.
    pub fn projection(mut self, projection: impl Projection) -> Self {
        self.projections.retain(|known| known.name() != projection.name());
        self.projections.push(Arc::new(projection));
        self
    }

    pub fn aggregate_of(&self, kind: &str) -> &Arc<dyn Aggregate> {
        self.aggregates.get(kind).unwrap_or(&self.merged)
    }

    pub fn find_projection(&self, name: &str) -> Option<&Arc<dyn Projection>> {
        self.projections.iter().find(|known| known.name() == name)
    }

    pub fn projections(&self) -> &[Arc<dyn Projection>] {
        &self.projections
    }
}
