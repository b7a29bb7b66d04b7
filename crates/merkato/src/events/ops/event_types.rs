//! Which types of events there are: the projection that ships with the log.

use std::collections::BTreeMap;

use async_trait::async_trait;
use widerow::{Commit, Cursor};

use super::project::generation_of;
use crate::{
    context::Context,
    events::{
        error::Result,
        registry::Projection,
        tables::{Event, EventTypeCount},
    },
    pattern::PageRequest,
};

const NAME: &str = "event_types";
/// Rows that are removed at once.
const CLEARED_ROWS: usize = 100;

/// Counts the events of each type.
pub struct EventTypes;

#[async_trait]
impl Projection for EventTypes {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn apply(&self, ctx: &Context, generation: i64, events: &[Event], commit: Commit) -> Result<Commit> {
        let mut counts: BTreeMap<&str, Option<EventTypeCount>> = BTreeMap::new();
        events.iter().for_each(|event| drop(counts.insert(&event.event_type, None)));
        let keys: Vec<_> = counts.keys().map(|event_type| (generation, (*event_type).to_owned())).collect();
        let known = ctx.store.get_many::<EventTypeCount>(keys).await?;
        counts.values_mut().zip(known).for_each(|(count, known)| *count = known);
        for event in events {
            let Some(count) = counts.get_mut(event.event_type.as_str()) else { continue };
            let count = count.get_or_insert_with(|| EventTypeCount {
                generation,
                event_type: event.event_type.clone(),
                events_count: 0,
                first_event_at: event.event_timestamp,
                last_event_at: event.event_timestamp,
            });
            count.events_count += 1;
            count.first_event_at = count.first_event_at.min(event.event_timestamp);
            count.last_event_at = count.last_event_at.max(event.event_timestamp);
        }
        Ok(counts.values().flatten().fold(commit, Commit::put))
    }

    async fn clear(&self, ctx: &Context, generation: i64) -> Result<bool> {
        let page = ctx.store.slice::<EventTypeCount>(generation).limit(CLEARED_ROWS).page().await?;
        for rows in page.rows.chunks(25) {
            let delete = |commit: Commit, row: &EventTypeCount| {
                commit.delete::<EventTypeCount>((row.generation, row.event_type.clone()))
            };
            ctx.store.commit(rows.iter().fold(Commit::new(), delete)).await?;
        }
        Ok(page.next.is_none())
    }

    fn events_a_commit(&self) -> usize {
        1_000
    }
}

/// The types of events that there are, by name, as far as the projection is.
pub async fn list_event_types(ctx: &Context, page: &PageRequest) -> Result<(Vec<EventTypeCount>, Option<Cursor>)> {
    page.check()?;
    let Some(generation) = generation_of(ctx, NAME).await? else { return Ok((Vec::new(), None)) };
    let slice = ctx.store.slice::<EventTypeCount>(generation);
    let page = slice.limit(page.limit).after(page.cursor.clone()).page().await?;
    Ok((page.rows, page.next))
}
