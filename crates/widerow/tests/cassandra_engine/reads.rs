//! Reads: every type, slices against a model, static columns, scans.

use std::{cmp::Ordering, ops::Bound};

use uuid::Uuid;
use widerow::{
    engine::*,
    key::Tenant,
    meter,
    row::Row,
    schema::*,
    time::{Date, Timestamp},
    value::Value,
};

use crate::fixture::*;

#[tokio::test]
async fn every_type_comes_back_as_it_was() {
    let schema = Schema::new().table::<Types>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let place = Value::Struct(vec![Value::Double(-0.5)]);
    let home = Value::Struct(vec![t("Zürich 8"), n(-7), Value::Set(vec![t("a"), t("b")]), place]);
    let away = Value::Struct(vec![t(""), Value::Null, Value::Null, Value::Null]);
    let ids = [Uuid::from_u128(1), Uuid::now_v7(), Uuid::max()];
    let full = vec![
        n(1),
        t("naïve 'quotes' \" and; semicolons"),
        n(i32::MIN),
        Value::BigInt(i64::MAX),
        dec("-79228162514264337593543950.335"),
        Value::Double(f64::MIN_POSITIVE),
        Value::Boolean(false),
        Value::Uuid(ids[1]),
        Value::Timestamp(Timestamp::MIN),
        Value::Date(Date::MAX),
        Value::Blob(vec![0, 255, 7]),
        Value::Vector(vec![1.5, -2.25, f32::MAX]),
        Value::List(vec![home.clone(), away.clone(), home.clone()]),
        Value::Set(ids.map(Value::Uuid).to_vec()),
        Value::Map(vec![(dec("-1.5"), Value::List(vec![n(3), n(1)])), (dec("20"), Value::List(vec![n(0)]))]),
        home,
    ];
    let mut empty = vec![Value::Null; full.len()];
    empty[0] = n(2);
    let table = Types::table();
    bench.apply(vec![put(table, full.clone()), put(table, empty.clone())]).await;
    let found = bench.get(table, &[vec![n(2)], vec![n(3)], vec![n(1)]]).await;
    assert_eq!(found[0].as_ref().unwrap().values, empty);
    assert_eq!(found[1], None);
    assert_eq!(found[2].as_ref().unwrap().values, full);
    assert_eq!(found[2].as_ref().unwrap().expires_at, None);
    // A row that replaces another leaves nothing of it, collections included.
    empty[0] = n(1);
    bench.apply(vec![put(table, empty.clone())]).await;
    assert_eq!(bench.get(table, &[vec![n(1)]]).await[0].as_ref().unwrap().values, empty);
    bench.end().await;
}

#[tokio::test]
async fn keys_of_every_type_are_found_sliced_and_resumed() {
    let schema = Schema::new().table::<Keys>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let table = Keys::table();
    let key = |text: &str, int: i32, decimal: &str, days: i32| {
        let stamp = Value::Timestamp(Timestamp::from_millis(i64::from(days) * 86_400_001));
        let uuid = Value::Uuid(Uuid::from_u128(days.unsigned_abs().into()));
        let (boolean, date) = (Value::Boolean(days > 0), Value::Date(Date::from_days(days)));
        let blob = Value::Blob(vec![int as u8]);
        vec![t("p"), t(text), n(int), Value::BigInt(int.into()), dec(decimal), boolean, uuid, stamp, date, blob]
    };
    let keys = vec![key("", 1, "1.5", 1), key("a", -1, "-3", -40), key("a", 2, "100", 0), key("é", 0, "0.0001", 9)];
    bench.apply(keys.iter().map(|key| put(table, key.clone())).collect()).await;
    for found in bench.get(table, &keys).await {
        assert!(found.is_some());
    }
    let partition = [t("p")];
    let all = Vec::from(bench.engine.slice(bench.all(table, &partition)).await.unwrap().rows);
    assert_eq!(all.len(), 4);
    for reverse in [false, true] {
        let mut expected = all.clone();
        if reverse {
            expected.reverse();
        }
        for (i, row) in expected.iter().enumerate() {
            let slice = Slice { after: Some(&row.values[1..]), reverse, ..bench.all(table, &partition) };
            let found = Vec::from(bench.engine.slice(slice).await.unwrap().rows);
            assert_eq!(found, expected[i + 1..]);
        }
    }
    bench.end().await;
}

/// The order of the table `mixed`.
fn mixed_order(a: &[Value], b: &[Value]) -> Ordering {
    let by = |i: usize| a[i].key_order(&b[i]);
    by(0).then(by(1).reverse()).then(by(2).reverse()).then(by(3))
}

#[tokio::test]
async fn slices_agree_with_a_model_from_every_position_both_ways() {
    let schema = Schema::new().table::<Mixed>().table::<Down>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let table = Mixed::table();
    let mut model = Vec::new();
    for i in 0..54 {
        model.push(vec![n(i / 18), n(i / 6 % 3), n(i / 2 % 3), n(i % 2)]);
    }
    let row = |key: &Vec<Value>| put(table, [vec![n(1)], key.clone(), vec![t("v")]].concat());
    bench.apply(model.iter().map(row).collect()).await;
    bench.apply(vec![put(table, vec![n(2), n(0), n(0), n(0), n(0), t("other partition")])]).await;
    model.sort_by(|a, b| mixed_order(a, b));

    let partition = [n(1)];
    let bounds = [
        (Bound::Unbounded, Bound::Unbounded),
        (Bound::Included(n(1)), Bound::Unbounded),
        (Bound::Excluded(n(0)), Bound::Included(n(1))),
        (Bound::Unbounded, Bound::Excluded(n(2))),
        (Bound::Included(n(1)), Bound::Excluded(n(1))),
    ];
    let prefixes: Vec<Vec<Value>> =
        vec![vec![], vec![n(1)], vec![n(1), n(2)], vec![n(1), n(2), n(0)], vec![n(1), n(2), n(0), n(1)]];
    let mut tried = 0;
    for prefix in &prefixes {
        for (lower, upper) in &bounds {
            for reverse in [false, true] {
                let inside = |key: &&Vec<Value>| {
                    let next = key.get(prefix.len());
                    key.starts_with(prefix)
                        && next.is_none_or(|v| {
                            let above = match lower {
                                Bound::Included(l) => v.key_order(l).is_ge(),
                                Bound::Excluded(l) => v.key_order(l).is_gt(),
                                Bound::Unbounded => true,
                            };
                            above
                                && match upper {
                                    Bound::Included(u) => v.key_order(u).is_le(),
                                    Bound::Excluded(u) => v.key_order(u).is_lt(),
                                    Bound::Unbounded => true,
                                }
                        })
                };
                let mut expected: Vec<Vec<Value>> = model.iter().filter(inside).cloned().collect();
                if reverse {
                    expected.reverse();
                }
                for start in 0..=expected.len() {
                    let after = start.checked_sub(1).map(|i| expected[i].as_slice());
                    let limit = [1, 5, 100][tried % 3];
                    let slice = Slice {
                        prefix,
                        lower: lower.as_ref(),
                        upper: upper.as_ref(),
                        reverse,
                        after,
                        limit,
                        ..bench.all(table, &partition)
                    };
                    let page = bench.engine.slice(slice).await.unwrap();
                    let found: Vec<_> = page.rows.iter().map(|r| r[1..5].to_vec()).collect();
                    let rest = &expected[start..];
                    assert_eq!(
                        found,
                        rest[..limit.min(rest.len())],
                        "{prefix:?} {lower:?} {upper:?} {reverse} {after:?}"
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 300, "{tried}");
    // One direction is one statement, wherever it resumes.
    let table = Down::table();
    bench.apply((0..4).map(|i| put(table, vec![n(1), n(i / 2), n(i % 2), Value::Null, Value::Null])).collect()).await;
    let after = [n(1), n(0)];
    let slice = Slice { after: Some(&after), upper: Bound::Included(&after[0]), ..bench.all(table, &partition) };
    let (page, cost) = meter::measure(bench.engine.slice(slice)).await;
    assert_eq!((page.unwrap().rows.len(), cost.round_trips, cost.partitions_read), (2, 1, 1));
    bench.end().await;
}

#[tokio::test]
async fn statics_are_read_with_and_without_rows_and_survive_range_deletes() {
    let schema = Schema::new().table::<Down>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, partition) = (Down::table(), [n(1)]);
    let slice = || bench.all(table, &partition);
    let (page, cost) = meter::measure(bench.engine.slice(slice())).await;
    assert_eq!((page.unwrap().statics, cost.round_trips), (None, 1));
    let set = |value: Value| Write::SetStatics { table, partition: partition.to_vec(), cells: vec![(3, value)] };
    bench.apply(vec![set(t("s"))]).await;
    let statics = vec![Value::Null, Value::Null, Value::Null, t("s"), Value::Null];
    let page = bench.engine.slice(slice()).await.unwrap();
    assert_eq!((page.rows.len(), page.statics), (0, Some(statics.clone())));
    let row = |a: i32, b: i32| put(table, vec![n(1), n(a), n(b), Value::Null, t("v")]);
    bench.apply((-4..4).map(|i| row(i, i)).collect()).await;
    let page = bench.engine.slice(slice()).await.unwrap();
    assert_eq!((page.rows.len(), page.rows.cells[3].clone(), page.statics.clone()), (8, t("s"), Some(statics.clone())));
    let none = Slice { lower: Bound::Included(&n(40)), ..slice() };
    assert_eq!(bench.engine.slice(none).await.unwrap().statics, Some(statics.clone()));
    let range = |prefix: Vec<Value>, lower, upper| Write::DeleteRange {
        table,
        partition: partition.to_vec(),
        prefix,
        bounds: Box::new((lower, upper)),
    };
    bench
        .apply(vec![
            range(vec![], Bound::Excluded(n(2)), Bound::Unbounded),
            range(vec![n(-4)], Bound::Unbounded, Bound::Included(n(-4))),
        ])
        .await;
    assert_eq!(bench.engine.slice(slice()).await.unwrap().rows.len(), 6);
    bench.apply(vec![Write::Delete { table, key: vec![n(1), n(0), n(0)] }]).await;
    assert_eq!(bench.engine.slice(slice()).await.unwrap().rows.len(), 5);
    bench.apply(vec![range(vec![], Bound::Unbounded, Bound::Unbounded)]).await;
    let page = bench.engine.slice(slice()).await.unwrap();
    assert_eq!((page.rows.len(), page.statics), (0, Some(statics)));
    bench.apply(vec![set(Value::Null)]).await;
    assert_eq!(bench.engine.slice(slice()).await.unwrap().statics, None);
    bench.end().await;
}

#[tokio::test]
async fn a_scan_in_ranges_sees_every_row_once() {
    let schema = Schema::new().table::<Down>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let table = Down::table();
    for tenant in ["acme", "other"] {
        let tenant = Tenant::new(tenant).unwrap();
        for p in 0..40 {
            let row = |b: i32| put(table, vec![n(p), n(b / 3), n(b % 3), t(&format!("{p}")), Value::Null]);
            let mut writes: Vec<_> = (0..p % 8).map(row).collect();
            // Some partitions have nothing but a static column.
            writes.push(Write::SetStatics { table, partition: vec![n(p)], cells: vec![(3, t(&format!("{p}")))] });
            bench.engine.apply(&Step { tenant: &tenant, ..bench.step(writes) }).await.unwrap();
        }
    }
    let expected = 2 * (0..40).map(|p| p % 8).sum::<i32>() as usize;
    for (ranges, limit) in [(1, 1_000), (1, 7), (5, 3)] {
        let mut seen = Vec::new();
        for range in 0..ranges {
            let mut after: Option<Vec<u8>> = None;
            loop {
                let scan = Scan { table, tenant: None, split: &[], range, ranges, after: after.as_deref(), limit };
                let page = bench.engine.scan(scan).await.unwrap();
                assert!(page.len() <= limit && (page.len() == limit || page.next.is_none()));
                seen.extend(page.rows.into_iter().map(|(tenant, row)| {
                    assert_eq!(
                        Value::Text(format!("{:?}", row.values[0])),
                        t(&format!(
                            "Int({})",
                            match &row.values[3] {
                                Value::Text(p) => p,
                                _ => "",
                            }
                        ))
                    );
                    (tenant, format!("{:?}", &row.values[..3]))
                }));
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((seen.len(), count), (expected, expected), "{ranges} ranges, {limit} rows");
    }
    bench.end().await;
}
