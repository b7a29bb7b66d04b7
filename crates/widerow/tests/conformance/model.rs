//! Random puts, deletions, slices, guarded commits and times to live against a plain model, from a seed.

use std::{
    collections::BTreeMap,
    ops::{Bound, RangeBounds},
};

use rand::{Rng, SeedableRng, rngs::SmallRng};
use widerow::{Commit, Error, Operator, Timestamp, store::VerifyOptions, value::Value};

use crate::{
    cases,
    tables::{Mixed, Session, SessionByDevice},
    world::{Target, Worlds},
};

cases!(plain_tables_follow_the_model, guarded_tables_follow_the_model);

fn seed() -> u64 {
    std::env::var("MERKATO_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(4711)
}

/// Times are long beside those that a case takes: an engine that lets rows end by itself does so by a clock that goes on, while
/// the store's stands still.
const TIMES: u32 = 600;

fn rounds(target: &Target) -> usize {
    if target.name == "embedded" { 1500 } else { 250 }
}

fn text(chance: &mut SmallRng) -> String {
    let alphabet = ["", "a", "b", "#", " ", "\0", "é"];
    (0..chance.random_range(0..3)).map(|_| alphabet[chance.random_range(0..alphabet.len())]).collect()
}

/// Kind up, price down, name up.
type MixedKey = (String, std::cmp::Reverse<i64>, String);

async fn plain_tables_follow_the_model(target: &Target) {
    let store = target.world().store;
    println!("seed {}", seed());
    let chance = &mut SmallRng::seed_from_u64(seed());
    let mut model: BTreeMap<(i32, MixedKey), Option<String>> = BTreeMap::new();
    for round in 0..rounds(target) {
        let year = chance.random_range(0..3);
        match chance.random_range(0..10) {
            0..=4 => {
                let mut commit = Commit::new();
                for _ in 0..chance.random_range(1..4) {
                    let (year, kind, price, name) =
                        (chance.random_range(0..3), text(chance), chance.random_range(-3..4), text(chance));
                    let key = (year, (kind.clone(), std::cmp::Reverse(price), name.clone()));
                    if chance.random_bool(0.25) {
                        commit = commit.delete::<Mixed>(("me".into(), year, kind, price.into(), name));
                        model.remove(&key);
                    } else {
                        let note = chance.random_bool(0.5).then(|| format!("{round}"));
                        commit = commit.put(&Mixed {
                            owner: "me".into(),
                            year,
                            kind,
                            price: price.into(),
                            name,
                            note: note.clone(),
                        });
                        model.insert(key, note);
                    }
                }
                store.commit(commit).await.unwrap();
            }
            5 if chance.random_bool(0.3) => {
                let kind = text(chance);
                let (a, b) = (chance.random_range(-3..4i64), chance.random_range(-3..4i64));
                let bounds = (Bound::Included(a.min(b)), Bound::Excluded(a.max(b)));
                let values = (bounds.0.map(|n| Value::Decimal(n.into())), bounds.1.map(|n| Value::Decimal(n.into())));
                store
                    .commit(Commit::new().delete_range::<Mixed>(("me".into(), year), kind.clone(), values))
                    .await
                    .unwrap();
                model.retain(|(y, (k, price, _)), _| !(*y == year && *k == kind && bounds.contains(&price.0)));
            }
            _ => {
                let prefix = chance.random_bool(0.5).then(|| text(chance));
                let (a, b) = (chance.random_range(-3..4i64), chance.random_range(-3..4i64));
                let pick = |n, kind: u8| match kind {
                    0 => Bound::Unbounded,
                    1 => Bound::Included(n),
                    _ => Bound::Excluded(n),
                };
                let bounds = (pick(a.min(b), chance.random_range(0..3)), pick(a.max(b), chance.random_range(0..3)));
                let (reverse, limit) = (chance.random_bool(0.5), chance.random_range(1..9));
                let inside = |(k, price, _): &MixedKey| match &prefix {
                    Some(prefix) => k == prefix && bounds.contains(&price.0),
                    None => true,
                };
                let mut expected: Vec<_> = model
                    .iter()
                    .filter(|((y, key), _)| *y == year && inside(key))
                    .map(|((_, k), note)| (k.clone(), note.clone()))
                    .collect();
                if reverse {
                    expected.reverse();
                }
                let (mut found, mut cursor) = (Vec::new(), None);
                loop {
                    let mut slice = store.slice::<Mixed>(("me".into(), year)).limit(limit).after(cursor);
                    if let Some(prefix) = &prefix {
                        let decimal = |b: Bound<i64>| b.map(rust_decimal::Decimal::from);
                        slice = slice.prefix(prefix.clone()).from(decimal(bounds.0)).to(decimal(bounds.1));
                    }
                    let page = if reverse { slice.reverse() } else { slice }.page().await.unwrap();
                    found.extend(page.rows.into_iter().map(|r| {
                        let price: i64 = r.price.try_into().expect("a small number");
                        ((r.kind, std::cmp::Reverse(price), r.name), r.note)
                    }));
                    match page.next {
                        Some(next) => cursor = Some(next),
                        None => break,
                    }
                }
                assert_eq!(found, expected, "round {round}");
            }
        }
    }
}

async fn guarded_tables_follow_the_model(target: &Target) {
    let world = target.empty_world();
    let store = &world.store;
    println!("seed {}", seed());
    let chance = &mut SmallRng::seed_from_u64(seed() + 1);
    let mut model: BTreeMap<(String, i32), (String, Timestamp)> = BTreeMap::new();
    for round in 0..rounds(target) / 2 {
        let now = world.clock_now();
        model.retain(|_, (_, end)| *end > now);
        let person = ["ann", "b#b", "c\0"][chance.random_range(0..3)].to_owned();
        let number = chance.random_range(0..5);
        let device = ["phone", "tab let"][chance.random_range(0..2)].to_owned();
        let key = (person.clone(), number);
        let row = Session { person: person.clone(), number, device: device.clone() };
        match chance.random_range(0..8) {
            0..=2 => {
                let ttl = chance.random_range(1..200u32) * TIMES;
                let guard = chance.random_range(0..4);
                let commit = Commit::new().put_for(&row, ttl);
                let (commit, holds) = match guard {
                    0 => (commit.absent::<Session>(key.clone()), !model.contains_key(&key)),
                    1 => (commit.present::<Session>(key.clone()), model.contains_key(&key)),
                    2 => (
                        commit.when(key.clone(), Session::DEVICE, Operator::Equal, &"phone".to_owned()),
                        model.get(&key).is_some_and(|(d, _)| d == "phone"),
                    ),
                    _ => (commit, true),
                };
                match store.commit(commit).await {
                    Ok(_) => assert!(holds, "round {round}"),
                    Err(Error::Conflict(_)) => assert!(!holds, "round {round}"),
                    Err(e) => panic!("{e}"),
                }
                if holds {
                    model.insert(key, (device, now.plus_seconds(ttl.into())));
                }
            }
            3 => {
                store.commit(Commit::new().delete::<Session>(key.clone())).await.unwrap();
                model.remove(&key);
            }
            4 if chance.random_bool(0.3) => {
                store.commit(Commit::new().delete_partition::<Session>(person.clone())).await.unwrap();
                model.retain(|(p, _), _| *p != person);
            }
            5 => world.clock.advance_millis(chance.random_range(0..40_000) * i64::from(TIMES)),
            _ => {
                let rows = store.slice::<Session>(person.clone()).page().await.unwrap().rows;
                let found: Vec<_> = rows.into_iter().map(|r| (r.number, r.device)).collect();
                let expected: Vec<_> =
                    model.iter().filter(|((p, _), _)| *p == person).map(|((_, n), (d, _))| (*n, d.clone())).collect();
                assert_eq!(found, expected, "round {round}");
                let rows = store.slice::<SessionByDevice>(device.clone()).page().await.unwrap().rows;
                let found: Vec<_> = rows.into_iter().map(|r| (r.person, r.number)).collect();
                let expected: Vec<_> =
                    model.iter().filter(|(_, (d, _))| *d == device).map(|(k, _)| k.clone()).collect();
                assert_eq!(found, expected, "round {round}");
            }
        }
    }
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}
