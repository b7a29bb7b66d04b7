//! How long a stream of a million events takes to be what it is, from its snapshot.

use std::time::Instant;

use merkato::{
    events::{self, AppendRequest, Expected, NewEvent},
    id::AggregateId,
};
use uuid::Uuid;

use super::{KIND, TYPE, data, shop};
use crate::measure::{Verdict, Verdicts};

const REBUILD: &str = "events: a million rebuilt from a snapshot in 10 ms";
const MILLIS_MAX: f64 = 10.0;
const LONG_STREAM: i64 = 1_000_000;

/// A stream of a million events, rebuilt from its snapshot.
pub async fn run_rebuild(quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(REBUILD) {
        return;
    }
    println!();
    let count = if quick { LONG_STREAM / 10 } else { LONG_STREAM };
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = shop(folder.path()).await;
    let stream = AggregateId(Uuid::now_v7());
    let start = Instant::now();
    for first in (0..count).step_by(500) {
        let request = AppendRequest {
            aggregate_id: stream,
            kind: KIND.into(),
            expected: Expected::Exact(first),
            events: (first..first + 500).map(|n| NewEvent::new(TYPE, data(n))).collect(),
        };
        events::append(&ctx, request).await.expect("appended");
    }
    println!("a stream of {count} events, appended in {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let scratch = events::state_from_scratch(&ctx, stream, None).await.expect("a state");
    println!("  from scratch in {:.2} s", start.elapsed().as_secs_f64());
    assert!(events::take_snapshot(&ctx, stream).await.expect("a snapshot"));
    // A tail as long as one can be before the next snapshot is due.
    let request = AppendRequest {
        aggregate_id: stream,
        kind: KIND.into(),
        expected: Expected::Exact(count),
        events: (count..count + 99).map(|n| NewEvent::new(TYPE, data(n))).collect(),
    };
    events::append(&ctx, request).await.expect("appended");
    assert_eq!(scratch.version, count);
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        let state = events::state_now(&ctx, stream).await.expect("a state");
        times.push(start.elapsed());
        assert_eq!((state.version, state.from_snapshot), (count + 99, count));
    }
    times.sort_unstable();
    let millis = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1_000.0;
    println!("  from its snapshot and 99 events: p50 {:.2} ms, p99 {:.2} ms", millis(50), millis(99));
    verdicts.all.push(Verdict { name: REBUILD.into(), ratio: MILLIS_MAX / millis(99), floor: 1.0 });
}
