//! Whom somebody may know: the friends of their friends. A friend of few says more than a friend of many (Adamic–Adar: each mutual
//! friend counts one over the logarithm of how many friends they have), and what both like counts besides.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures::future::try_join;
use rust_decimal::{Decimal, prelude::FromPrimitive as _};
use widerow::{Commit, Timestamp};

use super::{lists, people::get_person};
use crate::{
    context::Context,
    graph::{
        error::{Error, Result},
        rules::{pair_key, reason},
        tables::{Link, Pair, Person, Suggestion},
    },
    id::UserId,
    limits,
};

/// What one common interest adds to the score: about a third of a mutual friend who has twenty friends.
const INTEREST: f64 = 0.1;
/// Decimals of a score.
const SCORE_DECIMALS: u32 = 6;

/// Makes somebody's suggestions anew and puts them in place of the old ones, in one commit. They last for a week.
///
/// At most `SUGGESTION_ROWS_MAX` rows are read; where that does not suffice, the suggestion's metadata say `partial`. Interests
/// are looked at for the first `SUGGESTED_CONSIDERED_MAX` by their mutual friends.
pub async fn suggest(ctx: &Context, user: UserId) -> Result<Vec<Suggestion>> {
    let (mut candidates, partial) = friends_of_friends(ctx, user).await?;
    candidates.sort_unstable_by(|(a, x), (b, y)| y.score.total_cmp(&x.score).then(a.cmp(b)));
    candidates.truncate(limits::SUGGESTED_CONSIDERED_MAX);
    let own = get_person(ctx, user).await?.interests;
    let others = match own.is_empty() {
        true => vec![None; candidates.len()],
        false => ctx.store.get_many::<Person>(candidates.iter().map(|(other, _)| *other)).await?,
    };
    let now = ctx.now();
    let suggestions = candidates.into_iter().zip(others).map(|((other, mutual), person)| {
        let common = person.map_or_else(BTreeSet::new, |person| own.intersection(&person.interests).cloned().collect());
        suggestion(user, other, mutual, common, partial, now)
    });
    let mut suggestions: Vec<Suggestion> = suggestions.collect();
    suggestions.sort_unstable_by_key(|row| (std::cmp::Reverse(row.suggestion_score), row.suggested_user_id));
    suggestions.truncate(limits::SUGGESTIONS_A_USER_MAX);
    let suggestions = unknown_alone(ctx, user, suggestions).await?;
    replace(ctx, user, &suggestions).await?;
    Ok(suggestions)
}

/// G6. Somebody's suggestions, the best first, without those who were connected, blocked or forgotten since they were made.
pub async fn list_suggestions(ctx: &Context, user: UserId) -> Result<Vec<Suggestion>> {
    let page = ctx.store.slice::<Suggestion>(user).limit(limits::SUGGESTIONS_A_USER_MAX).page().await?;
    unknown_alone(ctx, user, page.rows).await
}

async fn unknown_alone(ctx: &Context, user: UserId, rows: Vec<Suggestion>) -> Result<Vec<Suggestion>> {
    let pairs = ctx.store.get_many::<Pair>(rows.iter().map(|row| pair_key(user, row.suggested_user_id)));
    let people = ctx.store.get_many::<Person>(rows.iter().map(|row| row.suggested_user_id));
    let (pairs, people) = try_join(pairs, people).await?;
    let unknown = |pair: Option<Pair>| pair.is_none_or(|pair| !pair.is_hidden() && pair.strongest(user).is_none());
    let there = |person: Option<Person>| person.is_none_or(|person| person.forgotten_at.is_none());
    let seen = rows.into_iter().zip(pairs.into_iter().zip(people));
    Ok(seen.filter_map(|(row, (pair, person))| (unknown(pair) && there(person)).then_some(row)).collect())
}

#[derive(Clone, Copy, Default)]
struct Mutual {
    friends: u32,
    score: f64,
}

/// Those who are friends of friends and no more, and whether some were left out.
async fn friends_of_friends(ctx: &Context, user: UserId) -> Result<(Vec<(UserId, Mutual)>, bool)> {
    let own = lists::links(ctx, user, limits::SUGGESTION_ROWS_MAX).await?;
    let mut partial = !own.whole;
    let known = own.links.iter().filter(|link| link.is(Link::OUT) || link.is(Link::HIDDEN));
    let known: HashSet<UserId> = known.map(|link| link.other_user_id).chain([user]).collect();
    let mut left = limits::SUGGESTION_ROWS_MAX - own.links.len().min(limits::SUGGESTION_ROWS_MAX);
    let mut friends: Vec<&Link> = own.links.iter().filter(|link| link.is(Link::FRIEND)).collect();
    // Where not all can be asked, the nearest are.
    friends.sort_by_key(|link| (std::cmp::Reverse(link.outward), link.other_user_id));
    let mut found: HashMap<UserId, Mutual> = HashMap::new();
    for some in friends.chunks(lists::READ_AT_ONCE) {
        if left == 0 {
            partial = true;
            break;
        }
        let some: Vec<UserId> = some.iter().map(|friend| friend.other_user_id).collect();
        for theirs in lists::links_of(ctx, &some, left).await? {
            partial |= !theirs.whole;
            left -= theirs.links.len().min(left);
            let theirs: Vec<&Link> = theirs.links.iter().filter(|link| link.is(Link::FRIEND)).collect();
            // At least two: somebody and the one who may be suggested.
            let weight = 1.0 / (theirs.len().max(2) as f64).ln();
            for link in theirs.into_iter().filter(|link| !known.contains(&link.other_user_id)) {
                let mutual = found.entry(link.other_user_id).or_default();
                mutual.friends += 1;
                mutual.score += weight;
            }
        }
    }
    Ok((found.into_iter().collect(), partial))
}

fn suggestion(
    user: UserId,
    other: UserId,
    mutual: Mutual,
    common_interests: BTreeSet<String>,
    partial: bool,
    now: Timestamp,
) -> Suggestion {
    let score = mutual.score + INTEREST * common_interests.len() as f64;
    let mut metadata = BTreeMap::from([
        ("algorithm".to_owned(), "adamic_adar".to_owned()),
        ("calculated_at".to_owned(), now.to_string()),
    ]);
    if partial {
        metadata.insert("partial".to_owned(), "true".to_owned());
    }
    Suggestion {
        user_id: user,
        suggestion_score: Decimal::from_f64(score).unwrap_or_default().round_dp(SCORE_DECIMALS).normalize(),
        suggested_user_id: other,
        suggestion_reason: reason(mutual.friends, &common_interests),
        mutual_connections: mutual.friends,
        common_interests,
        suggestion_metadata: metadata,
    }
}

async fn replace(ctx: &Context, user: UserId, rows: &[Suggestion]) -> Result<()> {
    let key = |row: &Suggestion| (row.user_id, row.suggestion_score, row.suggested_user_id);
    let new: HashSet<_> = rows.iter().map(key).collect();
    ctx.store
        .guarded::<Suggestion, (), Error>(user, |found| {
            let old = found.rows.iter().map(key).filter(|key| !new.contains(key));
            let commit = old.fold(Commit::new(), |commit, key| commit.delete::<Suggestion>(key));
            Ok((rows.iter().fold(commit, |commit, row| commit.put(row)), ()))
        })
        .await
}
