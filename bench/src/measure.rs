//! Two contenders in turns, so that a slow moment of the machine hits both.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// A ratio and what it must not fall below.
pub struct Verdict {
    pub name: String,
    pub ratio: f64,
    pub floor: f64,
}

/// All of them, and which are wanted.
pub struct Verdicts {
    pub all: Vec<Verdict>,
    pub only: Option<String>,
}

/// Runs both in turns and compares their medians of operations a second.
pub async fn duel<A, B>(
    name: &str,
    floor: f64,
    rounds: usize,
    mut ours: impl FnMut() -> A,
    mut theirs: impl FnMut() -> B,
    verdicts: &mut Verdicts,
) where
    A: Future<Output = usize>,
    B: Future<Output = usize>,
{
    if verdicts.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
        return;
    }
    let (mut our_rates, mut their_rates) = (Vec::new(), Vec::new());
    // The first round warms both up and is not counted.
    for round in 0..=rounds {
        let ((a, a_time), (b, b_time)) = (timed(ours()).await, timed(theirs()).await);
        if round > 0 {
            our_rates.push(a as f64 / a_time.as_secs_f64());
            their_rates.push(b as f64 / b_time.as_secs_f64());
        }
    }
    let (a, b) = (median(&mut our_rates), median(&mut their_rates));
    println!("{name:<44} {a:>12.0} /s   directly {b:>12.0} /s   ratio {:.2}", a / b);
    verdicts.all.push(Verdict { name: name.into(), ratio: a / b, floor });
}

async fn timed(work: impl Future<Output = usize>) -> (usize, Duration) {
    let start = Instant::now();
    let count = work.await;
    (count, start.elapsed())
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The most memory that the process has had, in MiB.
pub fn peak_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
