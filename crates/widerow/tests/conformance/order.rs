//! Keys order by value on every engine: text and bytes by bytes, numbers and times as numbers and times.

use std::ops::Bound;

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use rust_decimal::Decimal;
use widerow::{Commit, Date, Row, Store, Timestamp, schema::Direction, value::KeyCell};

use crate::{
    cases,
    tables::{ByBigInt, ByBlob, ByDate, ByDecimal, ByInt, ByText, ByTimestamp},
    world::{Target, Worlds},
};

cases!(text, ints, bigints, decimals, dates, timestamps, blobs, no_key_is_another);

/// What a random seed makes of a strategy; the seed is fixed, so that a failure replays.
fn sample<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[42; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

/// Writes the values, then compares slices over random ranges, both ways, with the model.
async fn check<R, T>(store: &Store, mut values: Vec<T>, make: impl Fn(T) -> R, value_of: impl Fn(&R) -> T)
where
    R: Row<Partition = String> + PartialEq + std::fmt::Debug,
    T: KeyCell + Ord + Clone + std::fmt::Debug,
{
    values.sort();
    values.dedup();
    for chunk in values.chunks(40) {
        store.commit(chunk.iter().fold(Commit::new(), |c, v| c.put(&make(v.clone())))).await.unwrap();
    }
    let descending = R::table().direction(0) == Direction::Descending;
    let bounds: Vec<T> = values.iter().step_by((values.len() / 6).max(1)).cloned().collect();
    for low in std::iter::once(None).chain(bounds.iter().map(Some)) {
        for high in std::iter::once(None).chain(bounds.iter().map(Some)) {
            if matches!((low, high), (Some(l), Some(h)) if l > h) {
                continue;
            }
            for reverse in [false, true] {
                let inside = |v: &&T| low.is_none_or(|l| *v >= l) && high.is_none_or(|h| *v < h);
                let mut expected: Vec<T> = values.iter().filter(inside).cloned().collect();
                if descending != reverse {
                    expected.reverse();
                }
                let slice = store
                    .slice::<R>("me".into())
                    .from(low.map_or(Bound::Unbounded, |v| Bound::Included(v.clone())))
                    .to(high.map_or(Bound::Unbounded, |v| Bound::Excluded(v.clone())))
                    .limit(1000);
                let page = if reverse { slice.reverse() } else { slice }.page().await.unwrap();
                let found: Vec<T> = page.rows.iter().map(&value_of).collect();
                assert_eq!(found, expected, "from {low:?} to {high:?}, reverse {reverse}");
            }
        }
    }
}

macro_rules! ordered {
    ($name:ident, $row:ident, $strategy:expr) => {
        async fn $name(target: &Target) {
            let make = |value| $row { owner: "me".into(), value, note: 1 };
            check::<$row, _>(&target.world().store, sample($strategy, 90), make, |row| row.value.clone()).await;
        }
    };
}

/// Texts that look like each other and like separators.
fn nasty_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\0"),
        Just("#"),
        Just("$"),
        Just("/"),
        Just("$23"),
        Just(" "),
        Just("!"),
        Just("a"),
        Just("b"),
        Just("~"),
        Just("\u{e9}"),
        Just("\u{ffff}"),
        Just("\u{1f9c0}"),
        Just("\u{7f}"),
        Just("TENANT#"),
        Just("\u{1}"),
        Just("%"),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

ordered!(text, ByText, nasty_text());
ordered!(ints, ByInt, prop_oneof![any::<i32>(), -3..3i32, Just(i32::MIN), Just(i32::MAX)]);
ordered!(bigints, ByBigInt, prop_oneof![any::<i64>(), -3..3i64, Just(i64::MIN), Just(i64::MAX)]);
ordered!(
    decimals,
    ByDecimal,
    prop_oneof![
        (any::<i64>(), 0..20u32).prop_map(|(n, scale)| Decimal::new(n, scale)),
        (-1100..1100i64, 0..4u32).prop_map(|(n, scale)| Decimal::new(n, scale)),
        Just(Decimal::MAX),
        Just(Decimal::MIN),
        Just(Decimal::new(1, 28)),
    ]
    .prop_map(|d| d.normalize())
);
ordered!(dates, ByDate, prop_oneof![Date::MIN.days()..=Date::MAX.days(), -3..3i32].prop_map(Date::from_days));
ordered!(
    timestamps,
    ByTimestamp,
    prop_oneof![Timestamp::MIN.millis()..=Timestamp::MAX.millis(), -2000..2000i64].prop_map(Timestamp::from_millis)
);
ordered!(blobs, ByBlob, prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(255)], 0..5));

/// Partition keys with separators and escapes inside are neither each other nor another tenant's.
async fn no_key_is_another(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let mut keys: Vec<String> = sample(nasty_text(), 120).into_iter().filter(|k| !k.is_empty()).collect();
    keys.extend(["a#VALUE#b", "a", "a#", "a##", "x#OWNER#me", "TENANT#other#OWNER#me"].map(String::from));
    keys.sort();
    keys.dedup();
    for (i, chunk) in keys.chunks(20).enumerate() {
        let row = |j: usize, key: &String| ByText { owner: key.clone(), value: key.clone(), note: (i * 20 + j) as i32 };
        let commit = chunk.iter().enumerate().fold(Commit::new(), |c, (j, key)| c.put(&row(j, key)));
        store.commit(commit).await.unwrap();
    }
    let stranger = world.database.tenant("stranger").unwrap();
    for (i, key) in keys.iter().enumerate() {
        let page = store.slice::<ByText>(key.clone()).page().await.unwrap();
        assert_eq!(page.rows.iter().map(|r| r.note).collect::<Vec<_>>(), [i as i32], "{key:?}");
        let row = store.get::<ByText>((key.clone(), key.clone())).await.unwrap();
        assert_eq!(row.map(|r| r.owner), Some(key.clone()));
        assert!(stranger.slice::<ByText>(key.clone()).page().await.unwrap().rows.is_empty());
    }
}
