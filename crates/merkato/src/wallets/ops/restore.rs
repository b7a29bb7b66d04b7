//! Wallets as they were elsewhere, entry by entry: what an export says comes back as it was.

use std::borrow::Cow;

use widerow::Timestamp;

use crate::{
    context::Context,
    events::{self, Change, Event, NewEvent, Stream},
    id::EventId,
    wallets::{
        error::{Error, Result},
        ops::{decide::wallet_of, read::find_operation},
        rules::{self, KIND, Told},
    },
};

/// Entries of one wallet, behind each other, come to stand at the versions that they have: all of them or none. They are no
/// wishes that are decided again, but each must follow from what stands before it: whose it is, its currency, its balance.
///
/// The same entries again change nothing.
pub async fn restore(ctx: &Context, entries: &[Event]) -> Result<()> {
    let Some(first) = entries.first() else { return Ok(()) };
    let told: Vec<Told> = entries.iter().map(rules::check_entry).collect::<Result<_, _>>()?;
    let user = told[0].entry.user_id;
    let stream = rules::stream_of(user);
    let new: Vec<NewEvent> = entries.iter().map(as_it_was).collect::<Result<_>>()?;
    events::check_events(&new, ctx.now())?;
    for (at, back) in told.iter().enumerate() {
        let Some(operation) = back.entry.returns else { continue };
        let earlier = told[..at].iter().find(|told| told.entry.operation_id == operation).cloned();
        let taken = match earlier {
            Some(told) => Some(told),
            None => find_operation(ctx, user, operation).await?,
        };
        rules::check_return(taken.as_ref(), back)?;
    }
    let ids: Vec<EventId> = entries.iter().map(|event| event.event_id).collect();
    let before = first.event_version - 1;
    let decide = |found: &Stream| {
        let none = |repeated| Change { events: Cow::default(), state: None, answer: repeated };
        let stands = |event: &Event| {
            found.known.get(&event.event_id).is_some_and(|known| known.event_version == event.event_version)
        };
        if entries.iter().all(stands) {
            return Ok(none(true));
        }
        if let Some((_, told)) = entries.iter().zip(&told).find(|(event, _)| found.known.contains_key(&event.event_id))
        {
            return Err(Error::OperationReused { operation: told.entry.operation_id });
        }
        if found.version() != before {
            let (aggregate, expected, found) = (stream, before, found.version());
            return Err(events::Error::VersionConflict { aggregate, expected, found }.into());
        }
        let mut wallet = wallet_of(user, found.state())?;
        let mut last = found.head.as_ref().map_or(Timestamp::MIN, |head| head.last_event_at);
        for (at, (event, told)) in entries.iter().zip(&told).enumerate() {
            rules::check_next(&wallet, event, told, before + 1 + at as i64)?;
            if event.event_timestamp < last {
                return Err(rules::wrong("event_timestamp", "it is before that of the entry before it"));
            }
            last = event.event_timestamp;
            rules::apply(&mut wallet, told);
        }
        let state = serde_json::to_string(&wallet);
        let state = state.map_err(|error| widerow::Error::corrupt("event_streams", error.to_string()))?;
        Ok(Change { events: Cow::Borrowed(&new[..]), state: Some(state), answer: false })
    };
    let repeated = events::change::<_, Error>(ctx, stream, KIND, &ids, decide).await?.answer;
    if !repeated {
        return Ok(());
    }
    let keys = entries.iter().map(|event| (stream, events::block_of(event.event_version), event.event_version));
    let found = ctx.store.get_many::<Event>(keys).await?;
    let other = found.into_iter().zip(entries).zip(&told).find(|((found, event), _)| {
        found.as_ref() != Some(&Event { block: events::block_of(event.event_version), ..(*event).clone() })
    });
    other.map_or(Ok(()), |(_, told)| Err(Error::OperationReused { operation: told.entry.operation_id }))
}

fn as_it_was(event: &Event) -> Result<NewEvent> {
    let data = event.data().map_err(|problem| rules::wrong("event_data", problem))?;
    Ok(NewEvent {
        schema_version: event.schema_version,
        metadata: event.event_metadata.clone(),
        causation_id: event.causation_id,
        correlation_id: Some(event.correlation_id),
        at: Some(event.event_timestamp),
        ..NewEvent::new(event.event_type.clone(), data).with_id(event.event_id)
    })
}
