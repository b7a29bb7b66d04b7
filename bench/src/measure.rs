//! Two contenders in turns, so that a slow moment of the machine hits both.

use std::{future::Future, time::Instant};

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

/// Runs both in turns, each first in every second round, and takes the median of the rounds' ratios: a slow moment, or
/// what one leaves behind for the other, counts little.
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
    let (mut our_rates, mut their_rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first two rounds warm both up and are not counted.
    for round in 0..rounds + 2 {
        let (a, b) = if round % 2 == 0 {
            let a = rate(ours()).await;
            (a, rate(theirs()).await)
        } else {
            let b = rate(theirs()).await;
            (rate(ours()).await, b)
        };
        if round >= 2 {
            our_rates.push(a);
            their_rates.push(b);
            ratios.push(a / b);
        }
    }
    let (a, b, ratio) = (median(&mut our_rates), median(&mut their_rates), median(&mut ratios));
    let spread = ratios[ratios.len() / 4]..=ratios[ratios.len() * 3 / 4];
    println!(
        "{name:<44} {a:>12.0} /s   directly {b:>12.0} /s   ratio {ratio:.2} ({:.2} to {:.2})",
        spread.start(),
        spread.end()
    );
    verdicts.all.push(Verdict { name: name.into(), ratio, floor });
}

/// Operations a second.
async fn rate(work: impl Future<Output = usize>) -> f64 {
    let start = Instant::now();
    let count = work.await;
    count as f64 / start.elapsed().as_secs_f64()
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
