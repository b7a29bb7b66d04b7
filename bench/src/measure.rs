//! Two contenders in turns, so that a slow moment of the machine hits both.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use crate::alone::Alone;

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

impl Verdicts {
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
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
    if !verdicts.wants(name) {
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

/// Who takes part in a contest.
pub trait Contender {
    fn name(&self) -> String;

    /// What a round needs, before its clock starts.
    async fn prepare(&mut self) {}

    /// Makes one round, all clients side by side: how long each request took.
    async fn round(&mut self) -> Vec<Duration>;
}

/// Ours and its rivals in turns, there and back, another first every second round, so that who follows whom changes; beside the
/// fastest of the rivals it is counted. What the engine alone would make of it takes its turns too, and is told, not counted.
pub async fn contest<A: Contender, B: Contender>(
    name: &str,
    floor: f64,
    rounds: usize,
    ours: &mut A,
    rivals: &mut [B],
    mut alone: Option<&mut Alone>,
    verdicts: &mut Verdicts,
) {
    let (with_rivals, sides) = (1 + rivals.len(), 1 + rivals.len() + usize::from(alone.is_some()));
    let mut tallies: Vec<Tally> = (0..sides).map(|_| Tally::default()).collect();
    // One round more for each, to warm up.
    for round in 0..=rounds {
        for turn in 0..sides {
            let turn = if round % 2 == 0 { turn } else { sides - 1 - turn };
            let side = (turn + round / 2) % sides;
            let (times, took) = match (side, &mut alone) {
                (0, _) => timed(ours).await,
                (_, Some(alone)) if side == with_rivals => timed(*alone).await,
                (rival, _) => timed(&mut rivals[rival - 1]).await,
            };
            if round > 0 {
                tallies[side].rates.push(times.len() as f64 / took.as_secs_f64());
                tallies[side].times.extend(times);
            }
        }
    }
    println!("{:<64} {:>10} {:>12} {:>12}", "", "a second", "p50", "p99");
    let names = std::iter::once(ours.name()).chain(rivals.iter().map(Contender::name));
    let names = names.chain(alone.iter().map(|alone| alone.name()));
    let mut medians = Vec::new();
    for (side, tally) in names.zip(&mut tallies) {
        tally.times.sort_unstable();
        let median = median(&mut tally.rates.clone());
        println!(
            "{:<64} {median:>10.0} {:>9.2} ms {:>9.2} ms",
            format!("  {side}"),
            tally.percentile(50),
            tally.percentile(99)
        );
        medians.push(median);
    }
    let fastest = (1..with_rivals).max_by(|a, b| medians[*a].total_cmp(&medians[*b])).expect("a rival");
    let beside_fastest = |side: usize| {
        let rates = tallies[side].rates.iter().zip(&tallies[fastest].rates);
        let mut ratios: Vec<f64> = rates.map(|(a, b)| a / b).collect();
        let ratio = median(&mut ratios);
        (ratio, format!("{ratio:.2} ({:.2} to {:.2})", ratios[ratios.len() / 4], ratios[ratios.len() * 3 / 4]))
    };
    let (ratio, shown) = beside_fastest(0);
    println!("{name}: ratio {shown} beside {}", rivals[fastest - 1].name());
    if alone.is_some() {
        println!("the engine alone beside it: {}", beside_fastest(with_rivals).1);
    }
    verdicts.all.push(Verdict { name: name.into(), ratio, floor });
}

/// What a side has done in all rounds that count.
#[derive(Default)]
struct Tally {
    /// Requests a second, by round.
    rates: Vec<f64>,
    times: Vec<Duration>,
}

impl Tally {
    /// In milliseconds, of times that are in order.
    fn percentile(&self, percent: usize) -> f64 {
        let place = (self.times.len() * percent / 100).min(self.times.len() - 1);
        self.times[place].as_secs_f64() * 1000.0
    }
}

async fn timed(side: &mut impl Contender) -> (Vec<Duration>, Duration) {
    side.prepare().await;
    let start = Instant::now();
    let times = side.round().await;
    (times, start.elapsed())
}

/// Every client's requests, one after the other, all clients side by side: how long each request took.
pub async fn clients<F>(count: usize, mut work: impl FnMut(usize) -> F) -> Vec<Duration>
where
    F: Future<Output = Vec<Duration>> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|client| tokio::spawn(work(client))).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("no panic"));
    }
    times
}

/// Operations a second.
async fn rate(work: impl Future<Output = usize>) -> f64 {
    let start = Instant::now();
    let count = work.await;
    count as f64 / start.elapsed().as_secs_f64()
}

pub fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The most memory that the process has had, in MiB.
pub fn peak_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
