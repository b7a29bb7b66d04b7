//! What every access pattern of events costs: as its declaration says, whatever else there is.

use merkato::{
    PageRequest,
    events::{self, EventById, EventMark, EventPlace, Expected, PATTERNS, ReadStream, TimePage, TimeRange},
    id::EventId,
};
use widerow::{
    Row,
    meter::{Cost, measure},
};
use widerow_testing::Target;

use super::{append, new_stream, noted, request};
use crate::world::{World, raw_rows};

widerow_testing::cases![every_pattern_costs_what_it_says_whatever_the_number_of_events, what_an_append_writes];

const PAGE: usize = 10;

async fn every_pattern_costs_what_it_says_whatever_the_number_of_events(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (stream, id, together) = (new_stream(ctx), EventId(ctx.new_id()), ctx.new_id());
    let event = |n| merkato::events::NewEvent { correlation_id: Some(together), ..noted(n) };
    events::append(ctx, request(stream, Expected::Any, vec![event(0).with_id(id)])).await.unwrap();
    for count in [30, 400] {
        for _ in 0..3 {
            append(ctx, new_stream(ctx), 0..count).await;
        }
        events::append(ctx, request(stream, Expected::Any, (0..count).map(event).collect())).await.unwrap();
        let mark: EventMark = Row::from_values(raw_rows(&world, EventMark::table()).await.remove(0)).unwrap();
        let marks = ctx.store.slice::<EventMark>((mark.bucket, mark.shard)).limit(PAGE);
        let (marks, marks_cost) = measure(marks.page()).await;
        events::sequence_all(ctx, |_| {}).await.unwrap();
        events::take_snapshots(ctx, 100).await.unwrap();
        events::project_all(ctx).await.unwrap();
        let range = TimeRange { from: ctx.now().plus_seconds(-3_600), to: ctx.now().plus_seconds(1) };
        // Behind a place, so that nobody is asked to give any.
        let newest = EventPlace { at: range.to, event: None };
        let oldest = EventPlace { at: ctx.now(), event: None };
        let page = |after| TimePage { limit: PAGE, after: Some(after) };
        let mut measured: Vec<(&str, usize, Cost)> = Vec::new();
        let (found, cost) = measure(events::get_stream(ctx, stream)).await;
        measured.push(("E0", found.map(|_| 1).unwrap(), cost));
        let read = ReadStream { from: 5, limit: PAGE, ..ReadStream::default() };
        let (found, cost) = measure(events::list_events(ctx, stream, read)).await;
        measured.push(("E1", found.unwrap().events.len(), cost));
        let (found, cost) = measure(events::state_now(ctx, stream)).await;
        let found = found.unwrap();
        measured.push(("E2", (found.version - found.from_snapshot) as usize, cost));
        let (found, cost) = measure(events::list_events_by_type(ctx, "Noted", range, page(newest))).await;
        measured.push(("E3", found.unwrap().events.len(), cost));
        let (found, cost) = measure(events::list_events_by_time(ctx, range, page(oldest))).await;
        measured.push(("E4", found.unwrap().events.len(), cost));
        let (found, cost) = measure(events::feed(ctx, 3, PAGE)).await;
        measured.push(("E5", found.unwrap().events.len(), cost));
        let (found, cost) = measure(events::list_events_of_correlation(ctx, together, page(oldest))).await;
        measured.push(("E6", found.unwrap().events.len(), cost));
        let (found, cost) = measure(ctx.store.get::<EventById>(id)).await;
        measured.push(("E7", usize::from(found.unwrap().is_some()), cost));
        let (found, cost) = measure(events::list_event_types(ctx, &PageRequest::first(PAGE))).await;
        measured.push(("E8", found.unwrap().0.len(), cost));
        measured.push(("E9", marks.unwrap().rows.len(), marks_cost));
        assert_eq!(measured.len(), PATTERNS.len());
        for ((name, rows, cost), pattern) in measured.iter().zip(PATTERNS) {
            assert_eq!(*name, pattern.name, "every pattern is measured");
            assert!(*rows >= 1 && pattern.cost.admits(cost, *rows as u64), "{name}, {rows} rows: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
    }
}

/// The stream, the event, a mark; and a row for an id that was given. Whatever is there already.
async fn what_an_append_writes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    for round in 0..2 {
        append(ctx, stream, 0..=round * 300).await;
        let (_, cost) = measure(append(ctx, stream, [1])).await;
        let (_, given) = measure(async {
            let event = noted(1).with_id(EventId(ctx.new_id()));
            events::append(ctx, request(stream, Expected::Any, vec![event])).await.unwrap()
        })
        .await;
        if target.name == "embedded" {
            assert_eq!((cost.rows_written, given.rows_written), (3, 4), "{cost}, {given}");
            // How the stream is, this process knows from its last append.
            assert_eq!((cost.round_trips, given.round_trips), (1, 3), "{cost}, {given}");
        }
        // On Cassandra the conditional write, and what clears its outbox; elsewhere one step.
        assert!(cost.conditional_writes <= 2, "{cost}");
    }
}
