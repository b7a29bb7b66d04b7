//! What Prometheus asks for: how many requests, how they ended, how long they took, what they cost; by route, which are few.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::{Method, StatusCode};
use widerow::meter::Cost;

use super::access::Rule;

/// Upper ends of the histogram's buckets, in milliseconds.
const BUCKETS_MILLIS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000];

/// What is counted of one route.
#[derive(Default)]
struct Tally {
    by_status: Mutex<BTreeMap<u16, u64>>,
    buckets: [AtomicU64; BUCKETS_MILLIS.len()],
    count: AtomicU64,
    micros: AtomicU64,
    partitions_read: AtomicU64,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
    conditional_writes: AtomicU64,
    round_trips: AtomicU64,
}

/// All counts of a process.
pub struct Metrics {
    routes: HashMap<(&'static str, &'static str), Tally>,
    /// What came to no route.
    elsewhere: Tally,
    running: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
}

/// Something that is going on until this is dropped.
#[must_use = "it counts until it is dropped"]
pub struct Running(Arc<AtomicU64>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    pub fn new(rules: impl Iterator<Item = &'static Rule>) -> Self {
        Metrics {
            routes: rules.map(|rule| ((rule.path, rule.method), Tally::default())).collect(),
            elsewhere: Tally::default(),
            running: Arc::default(),
            connections: Arc::default(),
        }
    }

    /// A request is running.
    pub fn begin(&self) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(self.running.clone())
    }

    /// A connection is open.
    pub fn connect(&self) -> Running {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Running(self.connections.clone())
    }

    pub fn count(&self, route: &str, method: &Method, status: StatusCode, took: Duration, cost: &Cost) {
        let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
        let tally = self.routes.get(&(route, method)).unwrap_or(&self.elsewhere);
        *tally.by_status.lock().unwrap_or_else(PoisonError::into_inner).entry(status.as_u16()).or_default() += 1;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = BUCKETS_MILLIS.iter().position(|millis| micros <= millis * 1_000) {
            tally.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        let add = |cell: &AtomicU64, amount| _ = cell.fetch_add(amount, Ordering::Relaxed);
        add(&tally.count, 1);
        add(&tally.micros, micros);
        add(&tally.partitions_read, cost.partitions_read);
        add(&tally.rows_read, cost.rows_read);
        add(&tally.rows_written, cost.rows_written);
        add(&tally.conditional_writes, cost.conditional_writes);
        add(&tally.round_trips, cost.round_trips);
    }

    /// The text format of Prometheus.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let mut tallies: Vec<_> = self.routes.iter().map(|((route, method), tally)| (*route, *method, tally)).collect();
        tallies.sort_unstable_by_key(|(route, method, _)| (*route, *method));
        tallies.push(("", "", &self.elsewhere));
        tallies.retain(|(_, _, tally)| tally.count.load(Ordering::Relaxed) > 0);
        // Writing to a string does not fail.
        let _ = self.write(&mut text, &tallies);
        text
    }

    fn write(&self, text: &mut String, tallies: &[(&str, &str, &Tally)]) -> std::fmt::Result {
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        head(text, "merkato_http_requests_total", "counter", "Requests that were answered")?;
        for (route, method, tally) in tallies {
            let by_status = tally.by_status.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for (status, count) in by_status {
                let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
                writeln!(text, "merkato_http_requests_total{{{labels}}} {count}")?;
            }
        }
        let name = "merkato_http_request_seconds";
        head(text, name, "histogram", "How long requests took")?;
        for (route, method, tally) in tallies {
            let labels = format!("route=\"{route}\",method=\"{method}\"");
            let mut sum = 0;
            for (millis, bucket) in BUCKETS_MILLIS.iter().zip(&tally.buckets) {
                sum += load(bucket);
                let le = *millis as f64 / 1_000.0;
                writeln!(text, "{name}_bucket{{{labels},le=\"{le}\"}} {sum}")?;
            }
            writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", load(&tally.count))?;
            writeln!(text, "{name}_sum{{{labels}}} {}", load(&tally.micros) as f64 / 1e6)?;
            writeln!(text, "{name}_count{{{labels}}} {}", load(&tally.count))?;
        }
        type Cell = fn(&Tally) -> &AtomicU64;
        let costs: [(&str, &str, Cell); 5] = [
            ("partitions_read", "Partitions that requests read", |tally| &tally.partitions_read),
            ("rows_read", "Rows that requests read", |tally| &tally.rows_read),
            ("rows_written", "Rows that requests wrote", |tally| &tally.rows_written),
            ("conditional_writes", "Conditional writes that requests tried", |tally| &tally.conditional_writes),
            ("round_trips", "Requests to the engine", |tally| &tally.round_trips),
        ];
        for (name, help, cell) in costs {
            head(text, &format!("merkato_store_{name}_total"), "counter", help)?;
            for (route, method, tally) in tallies {
                let count = load(cell(tally));
                writeln!(text, "merkato_store_{name}_total{{route=\"{route}\",method=\"{method}\"}} {count}")?;
            }
        }
        head(text, "merkato_http_requests_running", "gauge", "Requests that are being answered")?;
        writeln!(text, "merkato_http_requests_running {}", load(&self.running))?;
        head(text, "merkato_http_connections", "gauge", "Connections that are open")?;
        writeln!(text, "merkato_http_connections {}", load(&self.connections))
    }
}

pub(super) fn head(text: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}")
}
