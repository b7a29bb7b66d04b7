//! Products by several words of their names.
//!
//! There is no index of pairs of words: the names that have one of the words are walked, and those that have the others are
//! kept. How far a page walks is bounded, so that a page of words that many names have, and few together, may be short or empty
//! and still have a next one.

use widerow::{Error as DataError, Row, value::Value};

use crate::{
    catalog::{
        error::Result,
        tables::PrefixEntry,
        words::{Walk, Words},
    },
    context::Context,
    pattern::{Amount, PageRequest, ReadCost},
    shards::{self, Merged},
};

/// Rows that are looked at in one read, for each one that is wanted.
const LOOKED_A_ROW: usize = 8;
/// Rows that are looked at in one read. With the longest names and addresses they are less than the mebibyte that DynamoDB gives
/// in one answer.
const LOOKED_MAX: usize = 200;
/// Reads of one page, one after the other.
const READS_MAX: usize = 5;

/// Each read may have one row more, which tells whether the walk goes on, and DynamoDB also reads again the one behind which it
/// goes on.
pub(in crate::catalog) const COST: ReadCost = ReadCost {
    partitions: Amount::of(READS_MAX as u64),
    rows: Amount::of(2 * READS_MAX as u64).and_per_row((LOOKED_A_ROW * READS_MAX) as u64),
    requests: Amount::of(READS_MAX as u64),
};

/// Where a row stands in its partition.
type Position = Vec<Value>;

/// What was met on a part of a walk.
struct Met {
    /// Of those that are meant, each with its place.
    found: Vec<(Position, PrefixEntry)>,
    /// Where the walk goes on; None at its end.
    next: Option<Position>,
}

/// Active products whose names have all the words, in any order; the last word may be the beginning of one. They come in the
/// order of their names from one of the words on.
pub async fn search_text(ctx: &Context, q: &str, page: PageRequest) -> Result<Merged<PrefixEntry>> {
    page.check()?;
    let words = Words::parse(q)?;
    let walks = words.walks();
    let table = PrefixEntry::table();
    let query = shards::fingerprint(&ctx.store, table, words.iter().map(|word| vec![Value::Text(word.to_owned())]));
    let mut reads = 0;
    let (chosen, mut met) = match &page.cursor {
        Some(cursor) => {
            let (chosen, position) = single(shards::decode(cursor, query, table, walks.len())?)?;
            (chosen, Met { found: Vec::new(), next: Some(position) })
        }
        None => choose(ctx, &words, &walks, page.limit, &mut reads).await?,
    };
    while met.found.len() < page.limit
        && reads < READS_MAX
        && let Some(position) = met.next
    {
        let more = look(ctx, &words, walks[chosen], page.limit, Some(position)).await?;
        reads += 1;
        met.found.extend(more.found);
        met.next = more.next;
    }
    let mut next = met.next;
    if met.found.len() > page.limit {
        met.found.truncate(page.limit);
        next = met.found.last().map(|(position, _)| position.clone());
    }
    let next = next.map(|position| {
        let mut positions = vec![None; walks.len()];
        positions[chosen] = Some(position);
        shards::encode(query, positions)
    });
    Ok(Merged { rows: met.found.into_iter().map(|(_, entry)| entry).collect(), next })
}

/// The word to walk by: the first whose walk has an end within reach, or gives a full page; else the one on whose walk most were
/// met. The cursor remembers it.
async fn choose(
    ctx: &Context,
    words: &Words,
    walks: &[Walk<'_>],
    limit: usize,
    reads: &mut usize,
) -> Result<(usize, Met)> {
    let mut best: Option<(usize, Met)> = None;
    for (i, walk) in walks.iter().enumerate() {
        let met = look(ctx, words, *walk, limit, None).await?;
        *reads += 1;
        if met.next.is_none() || met.found.len() >= limit {
            return Ok((i, met));
        }
        if best.as_ref().is_none_or(|(_, best)| met.found.len() > best.found.len()) {
            best = Some((i, met));
        }
    }
    // `Words::parse` lets no words pass that have no walk.
    Ok(best.unwrap_or((0, Met { found: Vec::new(), next: None })))
}

/// One read of a walk.
async fn look(ctx: &Context, words: &Words, walk: Walk<'_>, limit: usize, after: Option<Position>) -> Result<Met> {
    let looked = if words.is_one() { limit } else { (limit * LOOKED_A_ROW).min(LOOKED_MAX) };
    let mut slice = ctx.store.slice::<PrefixEntry>(walk.partition.to_owned()).limit(looked);
    if let Some(start) = walk.start {
        slice = slice.starts_with(start);
    }
    if let Some(position) = after {
        slice = slice.after_key(position);
    }
    let page = slice.page().await?;
    let table = PrefixEntry::table();
    let next = page.next.and(page.rows.last()).map(|row| shards::clustering_of(table, row));
    let is_meant = |row: &PrefixEntry| words.admit(&row.name) && walk.meets_first(&row.name, &row.name_lower);
    let found = page.rows.into_iter().filter(is_meant).map(|row| (shards::clustering_of(table, &row), row));
    Ok(Met { found: found.collect(), next })
}

/// The one walk that a cursor goes on with.
fn single(positions: Vec<Option<Position>>) -> Result<(usize, Position)> {
    let mut set = positions.into_iter().enumerate().filter_map(|(i, position)| Some((i, position?)));
    match (set.next(), set.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(DataError::invalid("cursor", "it does not belong to this query").into()),
    }
}
