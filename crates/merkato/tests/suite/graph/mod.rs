//! Who knows whom, on every engine.

use std::collections::BTreeMap;

use merkato::{
    Context, Kind, PageRequest, Settings,
    graph::{self, Connection, ConnectionType, NewConnection},
    id::UserId,
    settings::GraphSettings,
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::store::VerifyOptions;
use widerow_testing::Target;

use crate::world::{World, patiently};

pub mod analysis;
pub mod bad_input;
pub mod connections;
pub mod costs;
pub mod model;
pub mod paths;
pub mod races;
pub mod real;
pub mod stopped;
pub mod suggestions;

/// Somebody, the same in every case; the order of their ids is not that of the numbers.
pub fn person(n: u32) -> UserId {
    UserId(Uuid::new_v5(&Uuid::NAMESPACE_OID, &n.to_be_bytes()))
}

/// Lists in partitions of three, so that a few people have several.
pub fn small_buckets(target: &Target) -> World {
    let graph = GraphSettings { pairs_a_bucket: 3 };
    World::with(target, Settings { graph, ..Settings::default() })
}

pub async fn connect(ctx: &Context, user: UserId, connection_type: ConnectionType, other: UserId) -> Connection {
    let new = NewConnection::default();
    graph::connect(ctx, user, connection_type, other, new).await.expect("a connection")
}

pub async fn befriend(ctx: &Context, one: u32, other: u32) {
    connect(ctx, person(one), ConnectionType::Friend, person(other)).await;
}

pub fn strong(hundredths: i64) -> NewConnection {
    NewConnection { strength: Some(Decimal::new(hundredths, 2)), ..NewConnection::default() }
}

/// Whom somebody is connected to, through pages of so many.
pub async fn connections(ctx: &Context, user: UserId, of: Option<ConnectionType>, rows: usize) -> Vec<Connection> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { limit: rows, cursor };
        let page = graph::list_connections(ctx, user, of, page).await.expect("a page");
        let has_several = ctx.settings.graph.pairs_a_bucket < GraphSettings::default().pairs_a_bucket;
        let is_full = page.rows.len() == rows || has_several;
        assert!(page.next.is_none() || is_full, "a page of one bucket is full unless it is the last");
        all.extend(page.rows);
        match page.next {
            Some(next) => cursor = Some(next),
            None => return all,
        }
    }
}

/// By type, each in the order of their ids.
pub async fn listed(ctx: &Context, user: UserId) -> BTreeMap<ConnectionType, Vec<UserId>> {
    let mut by_type: BTreeMap<ConnectionType, Vec<UserId>> = BTreeMap::new();
    for row in connections(ctx, user, None, 7).await {
        by_type.entry(row.connection_type).or_default().push(row.connected_user_id);
    }
    by_type.values_mut().for_each(|others| others.sort_unstable());
    by_type
}

/// Who is connected to somebody, by type, each in the order of their ids.
pub async fn followers(ctx: &Context, user: UserId) -> BTreeMap<ConnectionType, Vec<UserId>> {
    let mut by_type: BTreeMap<ConnectionType, Vec<UserId>> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = PageRequest { limit: 5, cursor };
        let page = graph::list_followers(ctx, user, None, page).await.expect("a page");
        for row in page.rows {
            by_type.entry(row.connection_type).or_default().push(row.connecting_user_id);
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    by_type.values_mut().for_each(|others| others.sort_unstable());
    by_type
}

pub async fn mutual(ctx: &Context, one: UserId, other: UserId, of: ConnectionType, rows: usize) -> Vec<UserId> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { limit: rows, cursor };
        let page = graph::list_mutual(ctx, one, other, of, page).await.expect("a page");
        all.extend(page.rows.into_iter().map(|mutual| mutual.user_id));
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    all.sort_unstable();
    all
}

/// Everybody has as many as were counted, nothing waits to be counted, and all that follows from pairs is there and nothing else.
pub async fn sound(world: &World) {
    let report = patiently(|| graph::verify_graph(&world.ctx), graph::Error::kind).await.expect("a look");
    assert_eq!((report.wrong.as_slice(), report.uncounted), (&[][..], 0));
    let look = || world.ctx.store.verify(VerifyOptions::default());
    let report = patiently(look, Kind::of).await.expect("a look");
    assert_eq!(report.listed, []);
}
