//! Every change of a pair is counted once by each of its two, however many processes try, and wherever one dies.
//!
//! 1. The change and what is to be counted are one commit, of the pair (`Uncounted`).
//! 2. Each of the two adds it, and notes in the same commit that it has (`Counted`), if its row is as it was read, and if the
//!    pair, read after that, still has it to count.
//! 3. When both have, it is taken from the pair. Only when that is seen is the note of 2 forgotten.
//!
//! RACE: somebody who slept between reading and adding finds the person's row changed. Somebody who reads the row after the note
//! was forgotten finds the pair without anything to count. So nobody adds twice.

use std::{collections::HashSet, time::Duration};

use futures::{StreamExt as _, TryStreamExt as _, future::try_join, stream};
use widerow::{Commit, Error as DataError, key::Tenant};

use crate::{
    combine::Combiner,
    context::Context,
    graph::{
        error::Result,
        rules::pair_key,
        tables::{Counted, Degree, MARK_SHARDS, Pair, PairMark, Person},
    },
    id::UserId,
    limits,
};

/// Times that a person's row is read anew because another process was quicker.
const TRIES_MAX: u32 = 64;
/// Pairs that are settled at once.
const SETTLED_AT_ONCE: usize = 16;

/// One writer a process and person: whoever gets a thousand followers at once counts them in a few commits.
pub(crate) struct Counter(Combiner<(Tenant, UserId), Count, ()>);

impl Default for Counter {
    fn default() -> Self {
        Counter(Combiner::new(limits::COUNTED_TOGETHER_MAX, limits::COUNTS_WAITING_MAX))
    }
}

/// What somebody has to count.
#[derive(Clone, Copy, Debug)]
struct Count {
    change: Counted,
    degree: Degree,
    places: i32,
    bucket: u32,
}

/// Counts what the pair has to count, if anything.
pub(super) async fn settle(ctx: &Context, pair: &Pair) -> Result<()> {
    let Some(uncounted) = pair.uncounted else { return Ok(()) };
    let (low, high, token, places) = (pair.low_user_id, pair.high_user_id, uncounted.token, uncounted.places);
    let of_low =
        Count { change: Counted { other: high, token }, degree: uncounted.low, places, bucket: pair.low_bucket };
    let of_high =
        Count { change: Counted { other: low, token }, degree: uncounted.high, places, bucket: pair.high_bucket };
    try_join(submit(ctx, low, of_low), submit(ctx, high, of_high)).await?;
    ctx.store
        .guarded::<Pair, (), DataError>((low, high), |found| {
            let pair = found.rows.first().filter(|pair| pair.uncounted == Some(uncounted));
            let settled = pair.map(|pair| match pair.ties.as_slice() {
                [] => Commit::new().delete::<Pair>((low, high)),
                _ => Commit::new().put(&Pair { uncounted: None, ..pair.clone() }),
            });
            Ok((settled.unwrap_or_default(), ()))
        })
        .await?;
    Ok(())
}

async fn submit(ctx: &Context, user: UserId, count: Count) -> Result<()> {
    let own = ctx.clone();
    let decide = move |(_, user), counts: Vec<Count>, _| {
        let ctx = own.clone();
        async move { count_together(&ctx, user, &counts).await.map(|()| vec![(); counts.len()]) }
    };
    Ok(ctx.graph_counter.0.submit((ctx.store.tenant().clone(), user), count, decide).await?)
}

async fn count_together(ctx: &Context, user: UserId, counts: &[Count]) -> Result<(), DataError> {
    for tries in 1..=TRIES_MAX {
        // ORDER: the person first, then the pairs: see the head of this file.
        let (person, version) = ctx.store.get_versioned::<Person>(user).await?;
        let mut person = person.unwrap_or_else(|| Person::new(user));
        let kept = if person.counted.len() > limits::COUNTED_KEPT { person.counted.clone() } else { Vec::new() };
        let mut changes: Vec<Counted> = counts.iter().map(|count| count.change).collect();
        changes.extend(kept.iter().copied());
        let uncounted = still_uncounted(ctx, user, &changes).await?;
        person.counted.retain(|counted| kept.is_empty() || uncounted.contains(counted));
        let mut counted = false;
        for count in counts {
            if uncounted.contains(&count.change) && !person.counted.contains(&count.change) {
                person.degree = person.degree.plus(count.degree);
                person.fill(count.bucket, count.places);
                person.counted.push(count.change);
                counted = true;
            }
        }
        if !counted {
            return Ok(());
        }
        match ctx.store.commit(Commit::new().unchanged::<Person>(user, version).put(&person)).await {
            Err(DataError::Conflict(_)) => tokio::time::sleep(Duration::from_millis(u64::from(tries))).await,
            other => return other.map(|_| ()),
        }
    }
    Err(DataError::Contended { table: "graph_people".into(), tries: TRIES_MAX })
}

/// Which of the changes of a person their pairs still have to count.
async fn still_uncounted(ctx: &Context, user: UserId, changes: &[Counted]) -> Result<HashSet<Counted>, DataError> {
    let mut found = HashSet::new();
    for some in changes.chunks(widerow::limits::GET_KEYS_MAX) {
        let pairs = ctx.store.get_many::<Pair>(some.iter().map(|change| pair_key(user, change.other))).await?;
        let uncounted = some.iter().zip(pairs).filter(|(change, pair)| {
            let token = pair.as_ref().and_then(|pair| pair.uncounted).map(|uncounted| uncounted.token);
            token == Some(change.token)
        });
        found.extend(uncounted.map(|(change, _)| *change));
    }
    Ok(found)
}

/// Counts what processes that died left uncounted; how many pairs. Whoever changes such a pair does so by themselves.
pub async fn settle_counts(ctx: &Context) -> Result<u64> {
    let mut settled = 0;
    for shard in 0..MARK_SHARDS {
        let mut cursor = None;
        loop {
            let page = ctx.store.slice::<PairMark>(shard).limit(limits::PAGE_ROWS_MAX).after(cursor).page().await?;
            let keys = page.rows.iter().map(|mark| (mark.low_user_id, mark.high_user_id));
            let pairs = ctx.store.get_many::<Pair>(keys).await?;
            let waiting: Vec<Pair> = pairs.into_iter().flatten().filter(|pair| pair.uncounted.is_some()).collect();
            settled += waiting.len() as u64;
            let each = waiting.iter().map(|pair| settle(ctx, pair));
            stream::iter(each.collect::<Vec<_>>()).buffer_unordered(SETTLED_AT_ONCE).try_collect::<Vec<()>>().await?;
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
    }
    Ok(settled)
}
