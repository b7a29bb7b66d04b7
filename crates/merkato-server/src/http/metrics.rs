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

/// What is known of one route, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteStats {
    pub route: &'static str,
    pub method: &'static str,
    pub count: u64,
    /// Answers of the server's own fault.
    pub failed: u64,
    pub mean_micros: u64,
    /// Half of the requests, and nineteen in twenty, took no longer than this; none where they took longer than the last
    /// bucket.
    pub half_millis: Option<u64>,
    pub most_millis: Option<u64>,
    pub round_trips: u64,
}

impl Tally {
    fn show(&self, route: &'static str, method: &'static str) -> RouteStats {
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let count = load(&self.count);
        let within = |percent: u64| {
            let mut sum = 0;
            let ends = BUCKETS_MILLIS.iter().zip(&self.buckets);
            ends.into_iter().find_map(|(millis, bucket)| {
                sum += load(bucket);
                (sum * 100 >= count * percent).then_some(*millis)
            })
        };
        let by_status = self.by_status.lock().unwrap_or_else(PoisonError::into_inner);
        RouteStats {
            route,
            method,
            count,
            failed: by_status.iter().filter(|(status, _)| **status >= 500).map(|(_, count)| count).sum(),
            mean_micros: load(&self.micros) / count.max(1),
            half_millis: within(50),
            most_millis: within(95),
            round_trips: load(&self.round_trips),
        }
    }
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
        add(&tally.round_trips, cost.round_trips + cost.repeats);
    }

    /// The routes that were asked for, the most often asked first.
    pub fn show(&self) -> Vec<RouteStats> {
        let asked = |tally: &Tally| tally.count.load(Ordering::Relaxed) > 0;
        let routes = self.routes.iter().filter(|(_, tally)| asked(tally));
        let mut all: Vec<_> = routes.map(|((route, method), tally)| tally.show(route, method)).collect();
        all.sort_unstable_by_key(|of| (std::cmp::Reverse(of.count), of.route, of.method));
        all
    }

    /// Requests that are being answered, and connections that are open.
    pub fn going_on(&self) -> (u64, u64) {
        (self.running.load(Ordering::Relaxed), self.connections.load(Ordering::Relaxed))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::access::RULES;

    #[test]
    fn a_route_is_shown_with_the_time_that_most_requests_took() {
        let metrics = Metrics::new(RULES.iter());
        assert_eq!(metrics.show(), []);
        for millis in 1..=100 {
            let status = if millis == 100 { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
            metrics.count("/v1/carts", &Method::GET, status, Duration::from_millis(millis), &Cost::default());
        }
        metrics.count("/v1/me", &Method::HEAD, StatusCode::OK, Duration::from_secs(60), &Cost::default());
        let [carts, me] = &metrics.show()[..] else { panic!("two routes") };
        assert_eq!((carts.route, carts.count, carts.failed), ("/v1/carts", 100, 1));
        assert_eq!((carts.half_millis, carts.most_millis, carts.mean_micros), (Some(50), Some(100), 50_500));
        assert_eq!((me.method, me.half_millis), ("GET", None));
    }
}
