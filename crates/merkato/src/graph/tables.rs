//! The tables of the graph. Reading this file is reading its data model.
//!
//! What two people are to each other has one owner: their row of `connection_pairs`, a guarded partition of its own. Who is
//! connected to whom, in both directions, follows from it in the same commit: a friendship is seen by both or by neither, a
//! block hides all else between the two, and nothing stays behind. How many connections somebody has is counted in
//! `graph_people`, once for every change of a pair (`ops::count`).
//!
//! A person of millions of followers has them in several partitions: a pair gets a place (`low_bucket`, `high_bucket`) with each
//! of its two when it begins, and keeps it.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Cell, Derive, Row, Schema, Timestamp};

use super::{
    copurchase,
    rules::{millionths, pair_key},
};
use crate::{id::UserId, shards};

/// What one is to another.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionType {
    /// Hides the two from each other.
    Block,
    /// As the one says; the other may say otherwise.
    Colleague,
    Follow,
    /// Mutual: both are, or neither.
    Friend,
}

/// Who of a pair says it.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Low,
    High,
    Both,
}

/// One relation of a pair.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Tie {
    pub connection_type: ConnectionType,
    pub says: Says,
    pub strength: Decimal,
    pub metadata: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub last_interaction: Timestamp,
}

/// How many connections somebody has, as the lists show them.
#[derive(Cell, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Degree {
    pub friends: i64,
    pub following: i64,
    pub followers: i64,
    pub colleagues: i64,
    /// Those who name this person a colleague.
    pub colleague_of: i64,
    /// Those whom this person has blocked.
    pub blocked: i64,
}

/// A change of a pair that its two people have not counted yet.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// The change's own.
    pub token: Uuid,
    /// What is to be added for the one, and for the other.
    pub low: Degree,
    pub high: Degree,
    /// 1 where the pair began, and takes a place with both; -1 where it ended.
    pub places: i32,
}

/// What two people are to each other: the truth. One row, which goes when they are nothing any more and that is counted.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "connection_pairs", partition(low_user_id, high_user_id), guarded, read = Quorum, write = Quorum)]
pub struct Pair {
    /// The lesser of the two ids.
    pub low_user_id: UserId,
    pub high_user_id: UserId,
    /// At most two of each type: one by each.
    pub ties: Vec<Tie>,
    /// In which partition of the one's lists the other stands.
    pub low_bucket: u32,
    pub high_bucket: u32,
    pub uncounted: Option<Uncounted>,
}

/// G1: whom somebody is connected to, by type. A partition is a bucket of `PAIRS_A_BUCKET` people; expected 150 rows, at most
/// some 40,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "user_connections",
    partition(user_id, bucket),
    clustering(connection_type, connected_user_id),
    read = LocalQuorum,
    write = Quorum
)]
pub struct Connection {
    pub user_id: UserId,
    pub bucket: u32,
    pub connection_type: ConnectionType,
    pub connected_user_id: UserId,
    /// 0 to 1.
    pub connection_strength: Decimal,
    pub connection_metadata: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub last_interaction: Timestamp,
}

/// G2: who is connected to somebody, by type; blocks are not told. Buckets as in `user_connections`.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "user_reverse_connections",
    partition(user_id, bucket),
    clustering(connection_type, connecting_user_id),
    read = LocalQuorum,
    write = Quorum
)]
pub struct ReverseConnection {
    /// Who is being connected to.
    pub user_id: UserId,
    pub bucket: u32,
    pub connection_type: ConnectionType,
    pub connecting_user_id: UserId,
    pub connection_strength: Decimal,
    pub created_at: Timestamp,
}

/// Everybody whom somebody has to do with, either way, in few bytes: what paths and suggestions are searched in. Buckets as in
/// `user_connections`; one row a pair.
#[derive(Row, Clone, Copy, Debug, PartialEq)]
#[row(
    table = "connection_links",
    partition(user_id, bucket),
    clustering(other_user_id),
    read = LocalQuorum,
    write = Quorum
)]
pub struct Link {
    pub user_id: UserId,
    pub bucket: u32,
    pub other_user_id: UserId,
    /// `Link::FRIEND` and so on.
    pub flags: u32,
    /// The strongest connection to the other and from the other, in millionths.
    pub outward: u32,
    pub inward: u32,
}

impl Link {
    pub(super) const OUT: u32 = 1;
    pub(super) const IN: u32 = 2;
    pub(super) const FRIEND: u32 = 4;
    /// One has blocked the other: they are hidden from each other.
    pub(super) const HIDDEN: u32 = 8;

    pub(super) fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Partitions over which a tenant's marks are spread. It is a part of stored keys and never changes.
pub const MARK_SHARDS: u32 = 8;

/// Which pairs are not counted yet: for whoever ends what a process that died has begun. Expected no row.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "connection_marks", partition(shard), clustering(low_user_id, high_user_id), gc_grace = "1h")]
pub struct PairMark {
    pub shard: u32,
    pub low_user_id: UserId,
    pub high_user_id: UserId,
}

/// A change that was counted, and may still be marked as uncounted.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counted {
    pub other: UserId,
    pub token: Uuid,
}

/// G5: somebody, with the number of their connections and what they like.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "graph_people", partition(user_id), guarded, read = Quorum, write = Quorum)]
pub struct Person {
    pub user_id: UserId,
    pub interests: BTreeSet<String>,
    pub degree: Degree,
    /// The last bucket of their lists, and the pairs that it has.
    pub bucket: u32,
    pub bucket_pairs: i64,
    pub counted: Vec<Counted>,
    /// Since then they are suggested to nobody.
    pub forgotten_at: Option<Timestamp>,
}

impl Person {
    /// Somebody of whom nothing is known.
    pub(super) fn new(user_id: UserId) -> Self {
        let (interests, degree, counted) = (BTreeSet::new(), Degree::default(), Vec::new());
        Person { user_id, interests, degree, bucket: 0, bucket_pairs: 0, counted, forgotten_at: None }
    }

    /// The bucket that the next pair gets.
    pub(super) fn place(&self, pairs_a_bucket: u32) -> u32 {
        self.bucket + u32::from(self.bucket_pairs >= i64::from(pairs_a_bucket.max(1)))
    }

    /// The last bucket that has pairs, or may have one that is not counted yet.
    pub(super) fn last_bucket(&self, pairs_a_bucket: u32) -> u32 {
        self.bucket + u32::from(self.bucket_pairs >= i64::from(pairs_a_bucket / 2))
    }

    /// A pair took a place (1) in the bucket, or left it (-1).
    pub(super) fn fill(&mut self, bucket: u32, places: i32) {
        if bucket > self.bucket {
            (self.bucket, self.bucket_pairs) = (bucket, 0);
        }
        if bucket == self.bucket {
            self.bucket_pairs += i64::from(places);
        }
    }
}

/// G4: a path that was found. It is served if all of it still holds.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "connection_paths", partition(start_user_id, path_length), clustering(end_user_id), ttl = "1d")]
pub struct ConnectionPath {
    pub start_user_id: UserId,
    pub path_length: u32,
    pub end_user_id: UserId,
    /// From the start to the end, both included.
    pub path_nodes: Vec<UserId>,
    /// The least strength of its steps.
    pub path_strength: Decimal,
    pub path_types: Vec<ConnectionType>,
    pub calculated_at: Timestamp,
}

/// G6: whom somebody may know, the best first. At most `SUGGESTIONS_A_USER_MAX` rows, replaced together.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "connection_suggestions",
    partition(user_id),
    clustering(suggestion_score desc, suggested_user_id),
    guarded,
    ttl = "7d",
    read = LocalQuorum,
    write = Quorum
)]
pub struct Suggestion {
    pub user_id: UserId,
    pub suggestion_score: Decimal,
    pub suggested_user_id: UserId,
    /// In words: "4 mutual friends, both like coffee".
    pub suggestion_reason: String,
    pub mutual_connections: u32,
    pub common_interests: BTreeSet<String>,
    pub suggestion_metadata: BTreeMap<String, String>,
}

/// G7: what an analysis of the whole graph says of somebody.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "graph_metrics", partition(user_id), read = LocalOne)]
pub struct Metrics {
    pub user_id: UserId,
    /// People whom this person is connected with, either way.
    pub degree: u32,
    pub clustering: f64,
    pub betweenness: f64,
    pub pagerank: f64,
    /// The number of the component, the largest being 0.
    pub component: u32,
    /// The number of the community, the largest being 0.
    pub community: u32,
    pub computed_at: Timestamp,
}

/// What an analysis says of the graph as a whole.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Summary {
    pub people: i64,
    pub edges: i64,
    pub components: i64,
    pub communities: i64,
    pub modularity: f64,
    /// Sources from which betweenness was measured, where not from all.
    pub sampled: Option<i64>,
    pub computed_at: Timestamp,
}

/// G8: the communities of the last analysis, the largest first, replaced together. One partition of at most
/// `COMMUNITIES_LISTED_MAX` rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "graph_communities", partition(shelf), clustering(community), guarded)]
pub struct Community {
    /// All on one.
    pub shelf: u32,
    /// Its number: the largest is 0.
    pub community: u32,
    #[row(static)]
    pub summary: Option<Summary>,
    pub people: u32,
    /// The first by PageRank.
    pub leaders: Vec<UserId>,
}

/// The partition that all communities are listed in.
pub const SHELF: u32 = 0;

/// One of a pair, with the other and the place of the other in this one's lists.
#[derive(Clone, Copy)]
struct Side {
    user: UserId,
    other: UserId,
    bucket: u32,
    own: Says,
    others: Says,
}

impl Pair {
    fn sides(&self) -> [Side; 2] {
        let (low, high) = (self.low_user_id, self.high_user_id);
        [
            Side { user: low, other: high, bucket: self.low_bucket, own: Says::Low, others: Says::High },
            Side { user: high, other: low, bucket: self.high_bucket, own: Says::High, others: Says::Low },
        ]
    }

    /// One has blocked the other.
    pub fn is_hidden(&self) -> bool {
        self.ties.iter().any(|tie| tie.connection_type == ConnectionType::Block)
    }

    /// What can be seen: all, or the blocks alone.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Tie> {
        let hidden = self.is_hidden();
        self.ties.iter().filter(move |tie| !hidden || tie.connection_type == ConnectionType::Block)
    }
}

impl Derive<Connection> for Pair {
    fn derive(&self) -> Vec<Connection> {
        let of = |side: Side| {
            let said = self.visible().filter(move |tie| tie.says != side.others);
            said.map(move |tie| Connection {
                user_id: side.user,
                bucket: side.bucket,
                connection_type: tie.connection_type,
                connected_user_id: side.other,
                connection_strength: tie.strength,
                connection_metadata: tie.metadata.clone(),
                created_at: tie.created_at,
                last_interaction: tie.last_interaction,
            })
        };
        self.sides().into_iter().flat_map(of).collect()
    }

    fn source(row: &Connection) -> (UserId, UserId) {
        pair_key(row.user_id, row.connected_user_id)
    }
}

impl Derive<ReverseConnection> for Pair {
    fn derive(&self) -> Vec<ReverseConnection> {
        let of = |side: Side| {
            let told = self.visible().filter(|tie| tie.connection_type != ConnectionType::Block);
            told.filter(move |tie| tie.says != side.own).map(move |tie| ReverseConnection {
                user_id: side.user,
                bucket: side.bucket,
                connection_type: tie.connection_type,
                connecting_user_id: side.other,
                connection_strength: tie.strength,
                created_at: tie.created_at,
            })
        };
        self.sides().into_iter().flat_map(of).collect()
    }

    fn source(row: &ReverseConnection) -> (UserId, UserId) {
        pair_key(row.user_id, row.connecting_user_id)
    }
}

impl Derive<Link> for Pair {
    fn derive(&self) -> Vec<Link> {
        if self.ties.is_empty() {
            return Vec::new();
        }
        let hidden = self.is_hidden();
        let link = |side: Side| {
            let mut link = Link {
                user_id: side.user,
                bucket: side.bucket,
                other_user_id: side.other,
                flags: if hidden { Link::HIDDEN } else { 0 },
                outward: 0,
                inward: 0,
            };
            for tie in self.ties.iter().filter(|_| !hidden) {
                let strength = millionths(tie.strength);
                if tie.says != side.others {
                    link.flags |= Link::OUT;
                    link.outward = link.outward.max(strength);
                }
                if tie.says != side.own {
                    link.flags |= Link::IN;
                    link.inward = link.inward.max(strength);
                }
                if tie.connection_type == ConnectionType::Friend {
                    link.flags |= Link::FRIEND;
                }
            }
            link
        };
        self.sides().into_iter().map(link).collect()
    }

    fn source(row: &Link) -> (UserId, UserId) {
        pair_key(row.user_id, row.other_user_id)
    }
}

impl Derive<PairMark> for Pair {
    fn derive(&self) -> Vec<PairMark> {
        let shard = shards::of(self.low_user_id.0.as_bytes(), MARK_SHARDS);
        let mark = PairMark { shard, low_user_id: self.low_user_id, high_user_id: self.high_user_id };
        self.uncounted.iter().map(|_| mark.clone()).collect()
    }

    fn source(row: &PairMark) -> (UserId, UserId) {
        (row.low_user_id, row.high_user_id)
    }
}

pub(crate) fn tables(schema: Schema) -> Schema {
    let schema = schema.derived::<Pair, Connection>().derived::<Pair, ReverseConnection>();
    let schema = schema.derived::<Pair, Link>().derived::<Pair, PairMark>();
    let schema = schema.table::<Person>().table::<ConnectionPath>().table::<Suggestion>();
    copurchase::tables(schema.table::<Metrics>().table::<Community>())
}
