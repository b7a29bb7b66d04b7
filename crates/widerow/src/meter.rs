//! What a request costs: partitions, rows, bytes, conditional writes, round trips; per call and summed per task.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// A sum of costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub partitions_read: u64,
    pub rows_read: u64,
    pub bytes_read: u64,
    pub partitions_written: u64,
    pub rows_written: u64,
    pub bytes_written: u64,
    pub conditional_writes: u64,
    /// Requests that were sent one after the other or side by side. The embedded engine counts its calls.
    pub round_trips: u64,
    /// Requests that were sent again, as the engine did not take them or did not answer: what a question costs depends on it
    /// alone, and this on the engine's health.
    pub repeats: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, o: Cost) {
        self.partitions_read += o.partitions_read;
        self.rows_read += o.rows_read;
        self.bytes_read += o.bytes_read;
        self.partitions_written += o.partitions_written;
        self.rows_written += o.rows_written;
        self.bytes_written += o.bytes_written;
        self.conditional_writes += o.conditional_writes;
        self.round_trips += o.round_trips;
        self.repeats += o.repeats;
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "partitions_read={}, rows_read={}, bytes_read={}, partitions_written={}, rows_written={}, bytes_written={}, conditional_writes={}, round_trips={}, repeats={}",
            self.partitions_read,
            self.rows_read,
            self.bytes_read,
            self.partitions_written,
            self.rows_written,
            self.bytes_written,
            self.conditional_writes,
            self.round_trips,
            self.repeats
        )
    }
}

#[derive(Debug, Default)]
struct Meter {
    cells: [AtomicU64; 9],
}

impl Meter {
    fn add(&self, c: &Cost) {
        let amounts = [
            c.partitions_read,
            c.rows_read,
            c.bytes_read,
            c.partitions_written,
            c.rows_written,
            c.bytes_written,
            c.conditional_writes,
            c.round_trips,
            c.repeats,
        ];
        for (cell, amount) in self.cells.iter().zip(amounts) {
            if amount > 0 {
                cell.fetch_add(amount, Ordering::Relaxed);
            }
        }
    }

    fn cost(&self) -> Cost {
        let [a, b, c, d, e, f, g, h, i] = std::array::from_fn(|i| self.cells[i].load(Ordering::Relaxed));
        Cost {
            partitions_read: a,
            rows_read: b,
            bytes_read: c,
            partitions_written: d,
            rows_written: e,
            bytes_written: f,
            conditional_writes: g,
            round_trips: h,
            repeats: i,
        }
    }
}

tokio::task_local! {
    static METER: Arc<Meter>;
}

/// Runs the future and tells what its reads and writes cost. Nested measures add to the outer one as well.
pub async fn measure<F: Future>(future: F) -> (F::Output, Cost) {
    let meter = Arc::new(Meter::default());
    let output = METER.scope(meter.clone(), future).await;
    let cost = meter.cost();
    charge(cost);
    (output, cost)
}

/// A request is sent, for the first time or again.
pub(crate) fn charge_sending(tries: u32) {
    let (round_trips, repeats) = if tries == 1 { (1, 0) } else { (0, 1) };
    charge(Cost { round_trips, repeats, ..Cost::default() });
}

/// Adds to the cost of the task that runs now, if it is measured.
pub fn charge(cost: Cost) {
    let _ = METER.try_with(|meter| meter.add(&cost));
}

/// As `charge`, of what takes some time to sum up.
pub fn charge_with(cost: impl FnOnce() -> Cost) {
    let _ = METER.try_with(|meter| meter.add(&cost()));
}

/// Lets a spawned task count toward the task that spawned it.
pub fn inherit<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let meter = METER.try_with(Arc::clone).ok();
    async move {
        match meter {
            Some(meter) => METER.scope(meter, future).await,
            None => future.await,
        }
    }
}
