//! Events from elsewhere: tables, and a real log in the folder that `MERKATO_TEST_DATA` names.

use std::{fs::File, io::Cursor};

use merkato::{
    events::{self, ReadStream},
    flows::import::{EventOptions, Report, import_events},
};
use serde_json::json;
use widerow_testing::Target;

use super::{
    known,
    real::{is_quick, real},
};
use crate::{
    events::{check_feed, read_feed, verify},
    world::World,
};

widerow_testing::cases!(
    a_table_becomes_streams,
    a_source_that_has_grown_adds_what_is_new,
    the_receipts_of_a_town_are_streams,
);

async fn import(world: &World, text: &str) -> Report {
    let options = EventOptions::new("desk");
    let report = import_events(&world.ctx, Cursor::new(text.to_owned()), options, |_| {}).await.expect("an import");
    assert_eq!(report.read, known(&report), "{report:?}");
    report
}

const TABLE: &str = "case id,activity,timestamp,by\n\
    a,Opened,2020-03-29 01:59:00+01:00,Ann\n\
    b,Opened,2020-03-29 03:01:00+02:00,\n\
    a,Noted,2020-03-29 03:05:00+02:00,Bob\n\
    a,Noted,2020-03-29 03:05:00+02:00,Bob\n\
    ,Noted,2020-03-29 03:05:00+02:00,Bob\n\
    a,,2020-03-29 03:05:00+02:00,Bob\n\
    a,Noted,yesterday,Bob\n";

async fn a_table_becomes_streams(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let report = import(&world, TABLE).await;
    let reasons: Vec<_> = report.rejected.iter().map(|r| (r.record, r.reason.as_str())).collect();
    assert_eq!((report.read, report.created), (7, 4));
    assert_eq!(reasons, [(5, "it names no case"), (6, "it has no type"), (7, "yesterday is no time")]);
    let feed = read_feed(ctx, 0).await;
    let versions = check_feed(&feed);
    let mut counts: Vec<i64> = versions.values().copied().collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 3]);
    let (a, _) = versions.iter().find(|(_, version)| **version == 3).expect("a case of three");
    let page = events::list_events(ctx, *a, ReadStream::default()).await.unwrap();
    assert_eq!(page.events[0].data().unwrap(), json!({ "by": "Ann" }));
    assert_eq!(page.events[0].event_timestamp.to_string(), "2020-03-29T00:59:00.000Z");
    assert_eq!(page.events[1].event_timestamp.to_string(), "2020-03-29T01:05:00.000Z");
    assert_eq!(page.events[0].aggregate_kind, "case");
    let again = import(&world, TABLE).await;
    assert_eq!((again.created, again.unchanged, again.rejected), (0, 4, report.rejected));
    assert_eq!(read_feed(ctx, 0).await, feed);
    let options = EventOptions::new("desk");
    let refused = import_events(ctx, Cursor::new("case,time\n1,2020-01-01\n"), options, |_| {}).await.unwrap_err();
    assert!(refused.to_string().contains("no column is known to be the type"), "{refused}");
}

async fn a_source_that_has_grown_adds_what_is_new(target: &Target) {
    let world = World::new(target);
    import(&world, TABLE).await;
    let grown = format!("{TABLE}a,Closed,2020-04-01 00:00:00Z,Cy\n");
    let report = import(&world, &grown).await;
    assert_eq!((report.created, report.unchanged), (1, 4));
    assert_eq!(read_feed(&world.ctx, 0).await.len(), 5);
    verify(&world.ctx).await;
}

async fn the_receipts_of_a_town_are_streams(target: &Target) {
    let Some(path) = real("events-receipt/receipt.csv.gz").filter(|_| is_quick(target)) else { return };
    let world = World::new(target);
    let ctx = &world.ctx;
    for (created, unchanged) in [(8_577, 0), (0, 8_577)] {
        let file = File::open(&path).expect("a file");
        let report = import_events(ctx, file, EventOptions::new("receipt"), |_| {}).await.expect("an import");
        assert_eq!((report.read, report.created, report.unchanged), (8_577, created, unchanged), "{report:?}");
    }
    events::sequence_all(ctx, |_| {}).await.unwrap();
    let versions = check_feed(&read_feed(ctx, 0).await);
    assert_eq!((versions.len(), versions.values().sum::<i64>()), (1_434, 8_577));
    verify(ctx).await;
    events::project_all(ctx).await.unwrap();
    let (types, _) = events::list_event_types(ctx, &merkato::PageRequest::first(100)).await.unwrap();
    let confirmed = types.iter().find(|of| of.event_type == "Confirmation of receipt").expect("known");
    assert_eq!((types.iter().map(|of| of.events_count).sum::<i64>(), confirmed.events_count), (8_577, 1_434));
}
