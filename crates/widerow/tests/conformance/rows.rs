//! Rows by key.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Commit, Date, Timestamp, Vector, meter};

use crate::{
    cases,
    tables::{Address, Everything, Status},
    world::{Target, Worlds},
};

cases!(
    every_type_comes_back,
    empty_cells_stay_empty,
    many_rows_in_the_order_asked,
    tenants_do_not_meet,
    a_get_costs_one_row
);

pub fn empty(id: Uuid, position: i32) -> Everything {
    Everything {
        id,
        position,
        words: None,
        small: None,
        large: None,
        exact: None,
        float: None,
        yes: None,
        other: None,
        at: None,
        day: None,
        bytes: None,
        vector: None,
        list: vec![],
        tags: BTreeSet::new(),
        numbers: BTreeSet::new(),
        sizes: BTreeMap::new(),
        by_day: BTreeMap::new(),
        home: None,
        addresses: vec![],
        nested: BTreeMap::new(),
        status: None,
    }
}

fn full(id: Uuid, position: i32) -> Everything {
    let home =
        Address { street: "Souk al-Attarine\0#$/'\"".into(), number: Some(-7), moved_in: Date::new(1899, 12, 31) };
    Everything {
        id,
        position,
        words: Some("naïve \u{1f9c0} text\n\0 with #, $ and 'quotes'".into()),
        small: Some(i32::MIN),
        large: Some(i64::MAX),
        exact: Some("-79228162514264337593543950335".parse().expect("a decimal")),
        float: Some(f64::MIN_POSITIVE),
        yes: Some(false),
        other: Some(Uuid::now_v7()),
        at: Some(Timestamp::from_millis(-1)),
        day: Date::new(1, 1, 1),
        bytes: Some(vec![0, 255, 1]),
        vector: Vector::new(vec![0.1, -2.5, f32::MAX]),
        list: vec!["b".into(), "a".into(), "b".into()],
        tags: ["z", "ä", "A"].map(String::from).into(),
        numbers: [3, -1, i64::MIN].into(),
        sizes: [("width".to_owned(), 10), ("depth".to_owned(), -3)].into(),
        by_day: [(Date::new(2024, 2, 29).expect("a day"), Decimal::new(12345, 3))].into(),
        home: Some(home.clone()),
        addresses: vec![home.clone(), Address { street: "2".into(), number: None, moved_in: None }],
        nested: [("x".to_owned(), vec![1, 2]), ("y".to_owned(), vec![3])].into(),
        status: Some(Status::OnSale),
    }
}

async fn every_type_comes_back(target: &Target) {
    let store = target.world().store;
    let row = full(Uuid::now_v7(), -5);
    store.commit(Commit::new().put(&row)).await.unwrap();
    assert_eq!(store.get::<Everything>((row.id, -5)).await.unwrap().unwrap(), row);
    for float in [0.0, -0.0, 1e300, -1e-300, f64::INFINITY, 0.1 + 0.2, 123456789.123456] {
        let row = Everything { float: Some(float), ..empty(row.id, 1) };
        store.commit(Commit::new().put(&row)).await.unwrap();
        let found = store.get::<Everything>((row.id, 1)).await.unwrap().unwrap();
        assert_eq!(found.float.map(f64::to_bits), Some(float.to_bits()));
    }
}

/// A whole row replaces a whole row: what it leaves out is gone.
async fn empty_cells_stay_empty(target: &Target) {
    let store = target.world().store;
    let row = full(Uuid::now_v7(), 1);
    let bare = empty(row.id, 1);
    store.commit(Commit::new().put(&row)).await.unwrap();
    store.commit(Commit::new().put(&bare)).await.unwrap();
    assert_eq!(store.get::<Everything>((row.id, 1)).await.unwrap().unwrap(), bare);
    store.commit(Commit::new().delete::<Everything>((row.id, 1))).await.unwrap();
    assert_eq!(store.get::<Everything>((row.id, 1)).await.unwrap(), None);
}

async fn many_rows_in_the_order_asked(target: &Target) {
    let store = target.world().store;
    let ids: Vec<Uuid> = (0..120).map(|_| Uuid::now_v7()).collect();
    for chunk in ids.chunks(10) {
        let commit = chunk.iter().fold(Commit::new(), |c, id| c.put(&Everything { small: Some(1), ..empty(*id, 0) }));
        store.commit(commit).await.unwrap();
    }
    let mut keys: Vec<(Uuid, i32)> = ids.iter().rev().map(|id| (*id, 0)).collect();
    keys.insert(3, (Uuid::nil(), 9));
    keys.push(keys[0]);
    let rows = store.get_many::<Everything>(keys.clone()).await.unwrap();
    for (key, row) in keys.iter().zip(rows) {
        assert_eq!(row.map(|r| r.id), Some(key.0).filter(|id| !id.is_nil()));
    }
}

async fn tenants_do_not_meet(target: &Target) {
    let world = target.world();
    let (one, other) = (world.database.tenant("one").unwrap(), world.database.tenant("other").unwrap());
    let row = full(Uuid::now_v7(), 1);
    one.commit(Commit::new().put(&row)).await.unwrap();
    assert_eq!(other.get::<Everything>((row.id, 1)).await.unwrap(), None);
    assert!(other.slice::<Everything>(row.id).page().await.unwrap().rows.is_empty());
    other.commit(Commit::new().delete_partition::<Everything>(row.id)).await.unwrap();
    assert!(one.get::<Everything>((row.id, 1)).await.unwrap().is_some());
}

async fn a_get_costs_one_row(target: &Target) {
    let store = target.world().store;
    let row = full(Uuid::now_v7(), 1);
    store.commit(Commit::new().put(&row)).await.unwrap();
    let (_, cost) = meter::measure(store.get::<Everything>((row.id, 1))).await;
    assert_eq!((cost.partitions_read, cost.rows_read, cost.round_trips), (1, 1, 1));
    assert!(cost.bytes_read > 100, "{cost}");
    // Nested measures add up.
    let ((_, inner), outer) = meter::measure(async {
        store.get::<Everything>((row.id, 2)).await.unwrap();
        meter::measure(store.get::<Everything>((row.id, 1))).await
    })
    .await;
    assert_eq!((inner.round_trips, outer.round_trips), (1, 2));
}
