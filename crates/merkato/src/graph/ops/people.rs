//! Somebody in the graph: how many connections they have, what they like; and how they are forgotten.

use std::collections::BTreeSet;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::Commit;

use super::{connect::change, lists};
use crate::{
    check::Check,
    context::Context,
    graph::{
        error::{Error, Result},
        tables::{Community, Degree, Link, Metrics, Person, SHELF, Suggestion},
    },
    id::UserId,
    limits,
};

/// Pairs of somebody who is forgotten that are ended at once.
const ENDED_AT_ONCE: usize = 16;

/// G5. Somebody. Of one whom the graph does not know, nothing is known.
pub async fn get_person(ctx: &Context, user: UserId) -> Result<Person> {
    Ok(ctx.store.get::<Person>(user).await?.unwrap_or_else(|| Person::new(user)))
}

/// G5. How many connections somebody has, as they were counted: what the lists show, as soon as the change of a list has
/// returned, or, where its process died, after `settle_counts`.
pub async fn get_degree(ctx: &Context, user: UserId) -> Result<Degree> {
    Ok(get_person(ctx, user).await?.degree)
}

/// Says what somebody likes, in place of what was said before. Case does not matter.
pub async fn describe_person(ctx: &Context, user: UserId, interests: &BTreeSet<String>) -> Result<Person> {
    let mut check = Check::new();
    check.count("interests", interests.len(), limits::INTERESTS_MAX);
    for (i, interest) in interests.iter().enumerate() {
        check.line(format_args!("interests/{i}"), interest, 1..=limits::INTEREST_BYTES_MAX);
    }
    check.end()?;
    let interests: BTreeSet<String> = interests.iter().map(|interest| interest.to_lowercase()).collect();
    ctx.store
        .guarded::<Person, Person, Error>(user, |found| {
            let person = found.rows.first().cloned().unwrap_or_else(|| Person::new(user));
            let person = Person { interests: interests.clone(), ..person };
            Ok((Commit::new().put(&person), person))
        })
        .await
}

/// The buckets that a new pair gets with each of its two.
pub(super) async fn places(ctx: &Context, (low, high): (UserId, UserId)) -> Result<(u32, u32)> {
    let found = ctx.store.get_many::<Person>([low, high]).await?;
    let place =
        |person: &Option<Person>| person.as_ref().map_or(0, |person| person.place(ctx.settings.graph.pairs_a_bucket));
    Ok((found.first().map_or(0, place), found.get(1).map_or(0, place)))
}

/// Ends every connection of somebody, whoever made it, and forgets what they like, what was suggested to them and what an
/// analysis found. Stopped half-way, it is done again.
///
/// ORDER: the person first. Others who have them among their suggestions are not known; whoever lists these looks here.
pub async fn forget_person(ctx: &Context, user: UserId) -> Result<()> {
    ctx.store
        .guarded::<Person, (), Error>(user, |found| {
            let person = found.rows.first().cloned().unwrap_or_else(|| Person::new(user));
            let forgotten_at = person.forgotten_at.or(Some(ctx.now()));
            Ok((Commit::new().put(&Person { interests: BTreeSet::new(), forgotten_at, ..person }), ()))
        })
        .await?;
    loop {
        let some = lists::links(ctx, user, limits::PAGE_ROWS_MAX).await?;
        let ended = some.links.iter().map(|link: &Link| {
            change(ctx, user, link.other_user_id, |pair| {
                let mut pair = pair.clone();
                pair.ties.clear();
                Ok(pair)
            })
        });
        stream::iter(ended.collect::<Vec<_>>()).buffer_unordered(ENDED_AT_ONCE).try_collect::<Vec<_>>().await?;
        if some.links.is_empty() {
            break;
        }
    }
    ctx.store
        .guarded::<Suggestion, (), Error>(user, |found| {
            let key = |row: &Suggestion| (row.user_id, row.suggestion_score, row.suggested_user_id);
            let gone = found.rows.iter().map(key);
            Ok((gone.fold(Commit::new(), |commit, key| commit.delete::<Suggestion>(key)), ()))
        })
        .await?;
    ctx.store.commit(Commit::new().delete::<Metrics>(user)).await?;
    ctx.store
        .guarded::<Community, (), Error>(SHELF, |found| {
            let led = found.rows.iter().filter(|row| row.leaders.contains(&user));
            let left = led.map(|row| {
                let leaders = row.leaders.iter().copied().filter(|leader| *leader != user).collect();
                // What is put again must not set static columns as they were.
                Community { leaders, summary: None, ..row.clone() }
            });
            Ok((left.fold(Commit::new(), |commit, row| commit.put(&row)), ()))
        })
        .await
}
