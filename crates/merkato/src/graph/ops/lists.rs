//! The lists of somebody: bucket after bucket, each of which is a partition.

use futures::{StreamExt as _, TryStreamExt as _, future::try_join, stream};
use rust_decimal::Decimal;
use widerow::{Cursor, Error as DataError, Page, Row, store::SliceRequest};

use crate::{
    check::Invalid,
    context::Context,
    graph::{
        error::Result,
        rules::{check_two, pair_key},
        tables::{Connection, ConnectionType, Link, Pair, Person, ReverseConnection},
    },
    id::UserId,
    limits,
    pattern::PageRequest,
    shards::Merged,
};

/// Connections that are asked for, for one page of mutual ones: after as many the page is short and goes on behind.
const WALKED_MAX: usize = 2_000;
/// Of these at once; they may be fewer, where buckets are empty.
const WALKED_AT_ONCE: usize = 200;
/// People whose links are read side by side.
pub(super) const READ_AT_ONCE: usize = 32;

/// G1. Whom somebody is connected to, by one type or by all; whom they have blocked is among these. A page that goes over several
/// buckets may be short, or empty, and not the last.
pub async fn list_connections(
    ctx: &Context,
    user: UserId,
    connection_type: Option<ConnectionType>,
    page: PageRequest,
) -> Result<Merged<Connection>> {
    page.check()?;
    list(ctx, user, connection_type, &page).await
}

/// G2. Who is connected to somebody, by one type or by all, in pages as those of G1. Who has blocked them is not told.
pub async fn list_followers(
    ctx: &Context,
    user: UserId,
    connection_type: Option<ConnectionType>,
    page: PageRequest,
) -> Result<Merged<ReverseConnection>> {
    page.check()?;
    not_block(connection_type)?;
    list(ctx, user, connection_type, &page).await
}

fn not_block(connection_type: Option<ConnectionType>) -> Result<()> {
    if connection_type == Some(ConnectionType::Block) {
        return Err(Invalid::new("type", "who has blocked somebody is not told").into());
    }
    Ok(())
}

/// Somebody whom two have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutual {
    pub user_id: UserId,
    /// Of the first with them, and of the second.
    pub strength: Decimal,
    pub other_strength: Decimal,
}

/// G9. Whom both are connected to by one type. The list of the one who has fewer is walked, and looked up with the other. Two who
/// are hidden from each other have nobody in common.
pub async fn list_mutual(
    ctx: &Context,
    user: UserId,
    other: UserId,
    connection_type: ConnectionType,
    page: PageRequest,
) -> Result<Merged<Mutual>> {
    page.check()?;
    check_two(user, other)?;
    not_block(Some(connection_type))?;
    let (pair, people) =
        try_join(ctx.store.get::<Pair>(pair_key(user, other)), ctx.store.get_many::<Person>([user, other])).await?;
    if pair.is_some_and(|pair| pair.is_hidden()) {
        return Ok(Merged { rows: Vec::new(), next: None });
    }
    let many = |i: usize| people[i].as_ref().map_or(0, |person| person.degree.of(connection_type));
    let (first, mut cursor) = match page.cursor.as_ref().map(Cursor::as_str) {
        None => (many(0) <= many(1), None),
        Some(text) => match text.split_at_checked(1) {
            Some(("a", rest)) => (true, Some(Cursor::from(rest.to_owned()))),
            Some(("b", rest)) => (false, Some(Cursor::from(rest.to_owned()))),
            _ => return Err(DataError::invalid("cursor", "it does not belong to this query").into()),
        },
    };
    let (walker, looked_up) = if first { (user, other) } else { (other, user) };
    let behind = |cursor: Cursor| Cursor::from(format!("{}{}", if first { 'a' } else { 'b' }, cursor.as_str()));
    let (mut rows, mut walked): (Vec<Mutual>, usize) = (Vec::new(), 0);
    loop {
        let some = PageRequest { limit: WALKED_AT_ONCE, cursor: cursor.take() };
        let some: Merged<Connection> = list(ctx, walker, Some(connection_type), &some).await?;
        let asked = some.rows.iter().filter(|row| row.connected_user_id != looked_up);
        let asked: Vec<&Connection> = asked.collect();
        let keys = asked.iter().map(|row| pair_key(looked_up, row.connected_user_id));
        let pairs = ctx.store.get_many::<Pair>(keys).await?;
        walked += WALKED_AT_ONCE;
        for (row, pair) in asked.into_iter().zip(pairs) {
            let seen = pair.filter(|pair| !pair.is_hidden());
            let Some(tie) = seen.as_ref().and_then(|pair| pair.tie(looked_up, connection_type)) else { continue };
            let (own, theirs) = (row.connection_strength, tie.strength);
            let (strength, other_strength) = if first { (own, theirs) } else { (theirs, own) };
            rows.push(Mutual { user_id: row.connected_user_id, strength, other_strength });
            if rows.len() == page.limit {
                return Ok(Merged { rows, next: Some(behind(cursor_at(ctx, row, Some(connection_type)))) });
            }
        }
        match some.next {
            Some(next) if walked < WALKED_MAX => cursor = Some(next),
            next => return Ok(Merged { rows, next: next.map(behind) }),
        }
    }
}

/// A row of somebody's lists.
trait Listed: Row<Partition = (UserId, u32)> {
    fn place(&self) -> (UserId, u32);
}

impl Listed for Connection {
    fn place(&self) -> (UserId, u32) {
        (self.user_id, self.bucket)
    }
}

impl Listed for ReverseConnection {
    fn place(&self) -> (UserId, u32) {
        (self.user_id, self.bucket)
    }
}

fn slice<R: Listed>(ctx: &Context, place: (UserId, u32), connection_type: Option<ConnectionType>) -> SliceRequest<R> {
    let slice = ctx.store.slice::<R>(place);
    match connection_type {
        Some(connection_type) => slice.prefix(connection_type),
        None => slice,
    }
}

fn cursor_at<R: Listed>(ctx: &Context, row: &R, connection_type: Option<ConnectionType>) -> Cursor {
    let place = row.place();
    position(place.1, Some(slice::<R>(ctx, place, connection_type).cursor_at(row)))
}

/// A bucket, and where in it.
fn position(bucket: u32, within: Option<Cursor>) -> Cursor {
    let within = within.as_ref().map_or("", Cursor::as_str);
    Cursor::from(format!("{bucket}.{within}"))
}

fn parse(cursor: Option<&Cursor>) -> Result<(u32, Option<Cursor>)> {
    let Some(cursor) = cursor else { return Ok((0, None)) };
    let parts = cursor.as_str().split_once('.').and_then(|(bucket, within)| Some((bucket.parse().ok()?, within)));
    let (bucket, within): (u32, &str) =
        parts.ok_or_else(|| DataError::invalid("cursor", "it does not belong to this query"))?;
    Ok((bucket, (!within.is_empty()).then(|| Cursor::from(within.to_owned()))))
}

async fn list<R: Listed>(
    ctx: &Context,
    user: UserId,
    connection_type: Option<ConnectionType>,
    page: &PageRequest,
) -> Result<Merged<R>> {
    let (mut bucket, mut within) = parse(page.cursor.as_ref())?;
    let mut last: Option<u32> = None;
    let (mut rows, mut looked_at): (Vec<R>, u64) = (Vec::new(), 0);
    loop {
        let slice = slice::<R>(ctx, (user, bucket), connection_type).limit(page.limit - rows.len());
        let read = slice.after(within.take()).page();
        let (found, known) = match last {
            Some(last) => (read.await?, last),
            // Side by side: most people have one bucket, and are done.
            None => {
                let (found, person) = try_join(read, ctx.store.get::<Person>(user)).await?;
                (found, person.map_or(0, |person| person.last_bucket(ctx.settings.graph.pairs_a_bucket)))
            }
        };
        last = Some(known);
        rows.extend(found.rows);
        if let Some(next) = found.next {
            return Ok(Merged { rows, next: Some(position(bucket, Some(next))) });
        }
        if bucket >= known {
            return Ok(Merged { rows, next: None });
        }
        bucket += 1;
        looked_at += 1;
        // Whoever was followed by millions may have as many buckets that nobody is in any more.
        if rows.len() >= page.limit || looked_at >= limits::BUCKETS_A_PAGE_MAX {
            return Ok(Merged { rows, next: Some(position(bucket, None)) });
        }
    }
}

/// All whom somebody has to do with.
pub(super) struct Links {
    pub links: Vec<Link>,
    /// Whether these are all.
    pub whole: bool,
}

/// The links of somebody, so many at the most.
pub(super) async fn links(ctx: &Context, user: UserId, rows_max: usize) -> Result<Links> {
    let nobody = Links { links: Vec::new(), whole: true };
    Ok(links_of(ctx, &[user], rows_max).await?.pop().unwrap_or(nobody))
}

/// The links of each of them, in their order, so many of all at the most, and the first page of each. Most have one bucket, and all
/// of these are read side by side.
pub(super) async fn links_of(ctx: &Context, users: &[UserId], rows_max: usize) -> Result<Vec<Links>> {
    let limit = rows_max.clamp(1, widerow::limits::PAGE_ROWS_MAX);
    let first = users.iter().map(|user| ctx.store.slice::<Link>((*user, 0)).limit(limit).page());
    let first = stream::iter(first.collect::<Vec<_>>()).buffered(READ_AT_ONCE).try_collect::<Vec<_>>();
    let (first, people) = try_join(first, ctx.store.get_many::<Person>(users.iter().copied())).await?;
    let (mut all, mut left) = (Vec::with_capacity(users.len()), rows_max);
    for ((user, page), person) in users.iter().zip(first).zip(people) {
        let last = person.map_or(0, |person| person.last_bucket(ctx.settings.graph.pairs_a_bucket));
        let links = rest(ctx, *user, page, last, left).await?;
        left = left.saturating_sub(links.links.len());
        all.push(links);
    }
    Ok(all)
}

/// Goes on behind the first page, to the end of the last bucket.
async fn rest(ctx: &Context, user: UserId, first: Page<Link>, last: u32, rows_max: usize) -> Result<Links> {
    let (mut links, mut next, mut bucket) = (first.rows, first.next, 0);
    loop {
        let more = next.is_some() || bucket < last;
        if !more || links.len() >= rows_max {
            return Ok(Links { links, whole: !more });
        }
        if next.is_none() {
            bucket += 1;
        }
        let limit = (rows_max - links.len()).min(widerow::limits::PAGE_ROWS_MAX);
        let page = ctx.store.slice::<Link>((user, bucket)).limit(limit).after(next.take()).page().await?;
        links.extend(page.rows);
        next = page.next;
    }
}
