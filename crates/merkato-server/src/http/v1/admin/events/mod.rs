//! Events: appended to streams, read back in every order, followed as they come.

pub mod feed;
pub mod lists;
pub mod projections;
pub mod streams;

use std::collections::BTreeMap;

use merkato::events::{Event, FeedEvent};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{Problem, wire::Time};

/// An event.
#[derive(Serialize, ToSchema)]
pub struct EventView {
    /// What it is about: its stream.
    pub aggregate_id: Uuid,
    /// What that is.
    #[schema(example = "wallet")]
    pub kind: String,
    /// Its number in the stream, from 1 without a gap.
    #[schema(example = 7)]
    pub version: i64,
    pub event_id: Uuid,
    /// In the past tense.
    #[schema(example = "MoneyDeposited")]
    pub event_type: String,
    /// When it happened; never before the event before it in its stream.
    pub at: Time,
    /// What it says.
    #[schema(value_type = Object, example = json!({"amount": "19.99"}))]
    pub data: Value,
    /// Of the data.
    #[schema(example = 1)]
    pub schema_version: i32,
    pub metadata: BTreeMap<String, String>,
    /// The event or the command that it follows from.
    pub causation_id: Option<Uuid>,
    /// What belongs together has the same; its own id where nothing was said.
    pub correlation_id: Uuid,
}

impl EventView {
    fn of(event: Event) -> Result<Self, Problem> {
        // It was JSON when it was appended.
        let data = event.data().map_err(Problem::internal)?;
        Ok(EventView {
            aggregate_id: event.aggregate_id.0,
            kind: event.aggregate_kind,
            version: event.event_version,
            event_id: event.event_id.0,
            event_type: event.event_type,
            at: event.event_timestamp.into(),
            data,
            schema_version: event.schema_version,
            metadata: event.event_metadata,
            causation_id: event.causation_id,
            correlation_id: event.correlation_id,
        })
    }
}

/// An event, and its place among all.
#[derive(Serialize, ToSchema)]
pub struct PlacedEventView {
    /// Its place in the feed, from 1 without a gap, for good.
    #[schema(example = 1042)]
    pub position: i64,
    #[serde(flatten)]
    pub event: EventView,
}

impl PlacedEventView {
    fn of(event: FeedEvent) -> Result<Self, Problem> {
        Ok(PlacedEventView { position: event.position, event: EventView::of(event.event)? })
    }
}
