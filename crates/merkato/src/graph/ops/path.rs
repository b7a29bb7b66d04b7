//! How one is connected to another: the shortest way over friends, colleagues and those one follows, and of the shortest ones
//! the strongest, which is that whose weakest step is strongest.
//!
//! 1. A path is shown only if every step was there when its pairs were read last, at the end, whether it was searched or kept.
//! 2. Nobody is on a path who is hidden from its start or its end.
//! 3. It is kept for a day. In that time a way may come that is shorter or stronger; one step from the start to the end is seen
//!    at once, others when the day is over or when no kept path holds any more. That there is no path is not kept.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet, hash_map::Entry},
};

use futures::future::try_join;
use rust_decimal::Decimal;
use widerow::{Commit, Timestamp};

use super::lists;
use crate::{
    check::Invalid,
    context::Context,
    graph::{
        error::{Error, Result},
        rules::{check_two, pair_key},
        tables::{ConnectionPath, ConnectionType, Link, Pair},
    },
    id::UserId,
    limits,
};

/// Searches, where paths are cut while they are searched.
const SEARCHES_MAX: usize = 5;

/// A path, as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// From the start to the end, both included.
    pub nodes: Vec<UserId>,
    /// Of each step, the strongest.
    pub types: Vec<ConnectionType>,
    /// The least of its steps.
    pub strength: Decimal,
    /// When it was searched.
    pub calculated_at: Timestamp,
}

/// G4. The shortest path of so many steps at the most; of the shortest the strongest, when it was searched.
pub async fn find_path(ctx: &Context, start: UserId, end: UserId, hops_max: usize) -> Result<Option<Found>> {
    check_two(start, end)?;
    let most = limits::PATH_HOPS_MAX;
    if !(1..=most).contains(&hops_max) {
        return Err(Invalid::new("max_hops", format!("{hops_max} is not 1 to {most}")).into());
    }
    let lengths = (1..=hops_max as u32).map(|length| (start, length, end));
    let (direct, kept) =
        try_join(ctx.store.get::<Pair>(pair_key(start, end)), ctx.store.get_many::<ConnectionPath>(lengths)).await?;
    if let Some(direct) = &direct {
        if direct.is_hidden() {
            return Ok(None);
        }
        if let Some(tie) = direct.strongest(start) {
            let (nodes, types) = (vec![start, end], vec![tie.connection_type]);
            return Ok(Some(Found { nodes, types, strength: tie.strength, calculated_at: ctx.now() }));
        }
    }
    // Shortest first. One that does not hold goes: it would be looked at before the longer one that is found in its place.
    for kept in kept.into_iter().flatten() {
        if let Some(found) = as_it_is(ctx, &kept.path_nodes, kept.calculated_at).await? {
            return Ok(Some(found));
        }
        let key = (kept.start_user_id, kept.path_length, kept.end_user_id);
        ctx.store.commit(Commit::new().delete::<ConnectionPath>(key)).await?;
    }
    for _ in 0..SEARCHES_MAX {
        let Some(nodes) = search(ctx, start, end, hops_max).await? else { return Ok(None) };
        if let Some(found) = as_it_is(ctx, &nodes, ctx.now()).await? {
            keep(ctx, &found).await?;
            return Ok(Some(found));
        }
    }
    Err(Error::Busy { user: start })
}

async fn keep(ctx: &Context, found: &Found) -> Result<()> {
    let (Some(start), Some(end)) = (found.nodes.first(), found.nodes.last()) else { return Ok(()) };
    let path = ConnectionPath {
        start_user_id: *start,
        path_length: found.types.len() as u32,
        end_user_id: *end,
        path_nodes: found.nodes.clone(),
        path_strength: found.strength,
        path_types: found.types.clone(),
        calculated_at: found.calculated_at,
    };
    ctx.store.commit(Commit::new().put(&path)).await?;
    Ok(())
}

/// The path as its pairs are now; None where it does not hold.
async fn as_it_is(ctx: &Context, nodes: &[UserId], calculated_at: Timestamp) -> Result<Option<Found>> {
    let (Some(start), Some(end)) = (nodes.first(), nodes.last()) else { return Ok(None) };
    let steps = nodes.windows(2).map(|step| pair_key(step[0], step[1]));
    let seen = nodes.iter().flat_map(|node| [(*start, *node), (*end, *node)]).filter(|(one, other)| one != other);
    let mut keys: Vec<(UserId, UserId)> = steps.chain(seen.map(|(one, other)| pair_key(one, other))).collect();
    keys.sort_unstable();
    keys.dedup();
    let pairs = ctx.store.get_many::<Pair>(keys).await?.into_iter().flatten();
    let pairs: HashMap<_, Pair> = pairs.map(|pair| ((pair.low_user_id, pair.high_user_id), pair)).collect();
    if pairs.values().any(Pair::is_hidden) {
        return Ok(None);
    }
    let (mut types, mut strength) = (Vec::new(), Decimal::ONE);
    for step in nodes.windows(2) {
        let pair = pairs.get(&pair_key(step[0], step[1]));
        let Some(tie) = pair.and_then(|pair| pair.strongest(step[0])) else { return Ok(None) };
        types.push(tie.connection_type);
        strength = strength.min(tie.strength);
    }
    Ok(Some(Found { nodes: nodes.to_vec(), types, strength, calculated_at }))
}

/// Which way links are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

/// How one end came to somebody: in how many steps, how strong the best way of that length is, and from whom.
#[derive(Clone, Copy)]
struct Reached {
    depth: usize,
    strength: u32,
    from: UserId,
}

/// One end of the search.
struct Front {
    way: Way,
    reached: HashMap<UserId, Reached>,
    /// Those who were reached last.
    edge: Vec<UserId>,
    depth: usize,
}

impl Front {
    fn new(way: Way, user: UserId) -> Self {
        let reached = HashMap::from([(user, Reached { depth: 0, strength: u32::MAX, from: user })]);
        Front { way, reached, edge: vec![user], depth: 0 }
    }

    /// From somebody back to where it began, both included.
    fn trail(&self, mut user: UserId) -> Vec<UserId> {
        let mut trail = vec![user];
        while let Some(reached) = self.reached.get(&user).filter(|reached| reached.depth > 0) {
            user = reached.from;
            trail.push(user);
        }
        trail
    }
}

/// Where the ends meet.
#[derive(Clone, Copy)]
struct Meeting {
    user: UserId,
    strength: u32,
}

struct Search<'a> {
    ctx: &'a Context,
    /// Of the start and the end, which are read before all others.
    ends: HashMap<UserId, Vec<Link>>,
    /// From the start or the end.
    hidden: HashSet<UserId>,
    rows: usize,
}

/// From both ends, always on the side that has fewer to go on from, level by level. Both have seen all ways of so many steps as
/// they are deep together.
async fn search(ctx: &Context, start: UserId, end: UserId, hops_max: usize) -> Result<Option<Vec<UserId>>> {
    let mut search = Search { ctx, ends: HashMap::new(), hidden: HashSet::new(), rows: 0 };
    let ends = search.read(&[start, end]).await?;
    let hidden = ends.iter().flat_map(|(_, links)| links).filter(|link| link.is(Link::HIDDEN));
    search.hidden = hidden.map(|link| link.other_user_id).collect();
    search.ends = ends.into_iter().collect();
    if search.hidden.contains(&start) || search.hidden.contains(&end) {
        return Ok(None);
    }
    let (mut out, mut back) = (Front::new(Way::Out, start), Front::new(Way::In, end));
    while out.depth + back.depth < hops_max && !out.edge.is_empty() && !back.edge.is_empty() {
        let last = out.depth + back.depth + 1 == hops_max;
        let meeting = if out.edge.len() <= back.edge.len() {
            search.expand(&mut out, &back, last).await?
        } else {
            search.expand(&mut back, &out, last).await?
        };
        if let Some(meeting) = meeting {
            let mut nodes = out.trail(meeting.user);
            nodes.reverse();
            nodes.extend(back.trail(meeting.user).into_iter().skip(1));
            return Ok(Some(nodes));
        }
    }
    Ok(None)
}

impl Search<'_> {
    /// One step further. Where it meets the other end, the best of the meetings.
    async fn expand(&mut self, own: &mut Front, other: &Front, last: bool) -> Result<Option<Meeting>> {
        let strength = |own: &Front, user: &UserId| own.reached.get(user).map_or(0, |reached| reached.strength);
        let mut edge = std::mem::take(&mut own.edge);
        edge.sort_unstable_by_key(|user| Reverse(strength(own, user)));
        own.depth += 1;
        let mut best: Option<Meeting> = None;
        for some in edge.chunks(lists::READ_AT_ONCE) {
            // No way over those who are left is stronger than the best.
            if best.is_some_and(|best| some.first().is_some_and(|user| strength(own, user) <= best.strength)) {
                break;
            }
            for (user, links) in self.read(some).await? {
                self.follow(own, other, (user, &links), last, &mut best);
            }
        }
        Ok(best)
    }

    fn follow(
        &self,
        own: &mut Front,
        other: &Front,
        (user, links): (UserId, &[Link]),
        last: bool,
        best: &mut Option<Meeting>,
    ) {
        let so_far = own.reached.get(&user).map_or(0, |reached| reached.strength);
        for link in links {
            let (leads, step) = match own.way {
                Way::Out => (link.is(Link::OUT), link.outward),
                Way::In => (link.is(Link::IN), link.inward),
            };
            let next = link.other_user_id;
            let met = other.reached.get(&next);
            // What is reached with the last step, and not by the other end, leads nowhere.
            if !leads || (last && met.is_none()) || self.hidden.contains(&next) {
                continue;
            }
            let reached = Reached { depth: own.depth, strength: so_far.min(step), from: user };
            match own.reached.entry(next) {
                Entry::Vacant(place) => {
                    place.insert(reached);
                    own.edge.push(next);
                }
                Entry::Occupied(mut known) => {
                    if known.get().depth < own.depth || known.get().strength >= reached.strength {
                        continue;
                    }
                    known.insert(reached);
                }
            }
            if let Some(met) = met {
                let strength = reached.strength.min(met.strength);
                if best.is_none_or(|best| best.strength < strength) {
                    *best = Some(Meeting { user: next, strength });
                }
            }
        }
    }

    /// The links of each of them, in their order.
    async fn read(&mut self, users: &[UserId]) -> Result<Vec<(UserId, Vec<Link>)>> {
        if let [user] = users
            && let Some(links) = self.ends.remove(user)
        {
            return Ok(vec![(*user, links)]);
        }
        let too_wide = Error::SearchTooWide { limit: limits::PATH_ROWS_MAX };
        let left = limits::PATH_ROWS_MAX - self.rows.min(limits::PATH_ROWS_MAX);
        if left == 0 {
            return Err(too_wide);
        }
        let read = lists::links_of(self.ctx, users, left).await?;
        if read.iter().any(|links| !links.whole) {
            return Err(too_wide);
        }
        self.rows += read.iter().map(|links| links.links.len()).sum::<usize>();
        Ok(users.iter().copied().zip(read.into_iter().map(|links| links.links)).collect())
    }
}
