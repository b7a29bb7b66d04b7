//! The shop's own events, on the embedded engine.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use merkato::{
    Context,
    events::{self, AppendRequest, Expected, NewEvent},
    id::AggregateId,
};

use super::{CLIENTS, KIND, Streams, TYPE, data};
use crate::{
    alone::Bill,
    measure::{self, Contender},
};

pub(super) struct Ours {
    ctx: Context,
    pub bill: Arc<Bill>,
    streams: Streams,
    batch: i64,
    each: usize,
    /// What appends and what places took so far.
    appending: Duration,
    placing: Duration,
}

impl Ours {
    pub(super) fn new(ctx: Context, batch: i64, each: usize) -> Self {
        let (bill, streams) = (Arc::new(Bill::default()), Streams::new());
        Ours { ctx, bill, streams, batch, each, appending: Duration::ZERO, placing: Duration::ZERO }
    }

    /// Gives all events that have none their places in the feed.
    async fn place(&mut self) {
        let start = Instant::now();
        events::sequence_all(&self.ctx, |_| {}).await.expect("places");
        self.placing += start.elapsed();
    }

    /// Each event has its place; what that cost is told.
    pub(super) async fn check(&mut self) {
        self.place().await;
        let appended = self.streams.events();
        assert_eq!(events::feed_position(&self.ctx).await.expect("a place"), appended, "each event has its place");
        println!(
            "an append of ours: {}\n{appended} events had their places given at {:.0} a second; with that on its clock ours \
             appends {:.0} times a second",
            self.bill,
            appended as f64 / self.placing.as_secs_f64(),
            (appended / self.batch) as f64 / (self.appending + self.placing).as_secs_f64()
        );
    }
}

impl Contender for Ours {
    fn name(&self) -> String {
        "merkato on the embedded engine".into()
    }

    async fn prepare(&mut self) {
        self.place().await;
    }

    async fn round(&mut self) -> Vec<Duration> {
        let (batch, each, start) = (self.batch, self.each, Instant::now());
        let appends = measure::clients(CLIENTS, |client| {
            let (ctx, streams) = (self.ctx.clone(), self.streams.clone());
            async move {
                let mut times = Vec::with_capacity(each);
                for n in 0..each {
                    let (stream, start) = (streams.turn(client, n), Instant::now());
                    let version = stream.version();
                    let request = AppendRequest {
                        aggregate_id: AggregateId(stream.id),
                        kind: KIND.into(),
                        expected: Expected::Exact(version),
                        events: (1..=batch).map(|n| NewEvent::new(TYPE, data(version + n))).collect(),
                    };
                    let appended = events::append(&ctx, request).await.expect("appended");
                    times.push(start.elapsed());
                    stream.moved_to(appended.version);
                }
                times
            }
        });
        let times = self.bill.add(&self.ctx.store.database(), appends).await;
        self.appending += start.elapsed();
        times
    }
}
