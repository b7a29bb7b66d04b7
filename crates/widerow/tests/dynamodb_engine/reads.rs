//! Reads: slices against a model, scans, all types, and items of others.

use std::{cmp::Ordering, ops::Bound};

use aws_sdk_dynamodb::types::AttributeValue;
use widerow::{
    Error,
    engine::{Engine, Get, RawRow, Scan, Slice},
    key::Tenant,
    meter,
    schema::{Consistency, Direction, Table},
    value::Value,
};

use crate::fixture::*;

fn order(table: &Table, a: &[Value], b: &[Value]) -> Ordering {
    let keys = table.partition_columns..table.key_columns();
    keys.map(|i| match table.direction(i - table.partition_columns) {
        Direction::Ascending => a[i].key_order(&b[i]),
        Direction::Descending => b[i].key_order(&a[i]),
    })
    .fold(Ordering::Equal, Ordering::then)
}

fn within(cell: &Value, lower: Bound<&Value>, upper: Bound<&Value>) -> bool {
    let above = match lower {
        Bound::Unbounded => true,
        Bound::Included(v) => cell.key_order(v).is_ge(),
        Bound::Excluded(v) => cell.key_order(v).is_gt(),
    };
    above
        && match upper {
            Bound::Unbounded => true,
            Bound::Included(v) => cell.key_order(v).is_le(),
            Bound::Excluded(v) => cell.key_order(v).is_lt(),
        }
}

async fn load(b: &Bench, rows: &[Vec<Value>], table: &'static Table) {
    let writes: Vec<_> = rows.iter().map(|r| put(table, r.clone())).collect();
    assert!(b.engine.put_many(&b.tenant, &writes).await.unwrap().iter().all(Result::is_ok));
}

/// Walks the slice in pages, resuming behind each page's last row, and behind every single row, and compares with the model.
async fn check(b: &Bench, slice: Slice<'_>, model: &[Vec<Value>]) {
    let (table, n) = (slice.table, slice.partition.len() + slice.prefix.len());
    let mut expected: Vec<&Vec<Value>> = model
        .iter()
        .filter(|r| r[..slice.partition.len()] == *slice.partition)
        .filter(|r| r[slice.partition.len()..n] == *slice.prefix)
        .filter(|r| n >= table.key_columns() || within(&r[n], slice.lower, slice.upper))
        .collect();
    expected.sort_by(|a, b| order(table, a, b));
    if slice.reverse {
        expected.reverse();
    }
    let keys = table.partition_columns..table.key_columns();
    for from in 0..=expected.len() {
        let after = from.checked_sub(1).map(|i| &expected[i][keys.clone()]);
        for limit in [1, 3, 100] {
            let page = b.engine.slice(Slice { after, limit, ..slice.clone() }).await.unwrap();
            let found: Vec<&[Value]> = page.rows.iter().collect();
            let wanted = &expected[from..expected.len().min(from + limit)];
            assert_eq!(found, wanted, "{slice:?} from {from} limit {limit}");
        }
    }
}

fn whole<'a>(b: &'a Bench, table: &'static Table, partition: &'a [Value]) -> Slice<'a> {
    Slice { consistency: Consistency::Quorum, ..Slice::first(100, &b.tenant, table, partition) }
}

#[tokio::test]
async fn slices_in_mixed_directions_agree_with_a_model() {
    on_tables(true, |b| async move {
        let mut rows = Vec::new();
        for (i, d) in ["2024-02-29", "2025-01-01", "2025-01-02"].iter().enumerate() {
            for n in [-7, 0, 3] {
                for w in ["", "a", "a#b", "é"].iter().take(2 + i) {
                    rows.push(vec![text("x"), day(d), Value::Int(n), text(w), Value::Int(rows.len() as i32)]);
                }
            }
        }
        rows.push(vec![text("other"), day("2025-01-01"), Value::Int(1), text("a"), Value::Int(99)]);
        load(&b, &rows, &MIXED).await;
        let partition = [text("x")];
        for reverse in [false, true] {
            let all = Slice { reverse, ..whole(&b, &MIXED, &partition) };
            check(&b, all.clone(), &rows).await;
            let prefixes = [vec![day("2025-01-01")], vec![day("2025-01-02"), Value::Int(0)]];
            for prefix in &prefixes {
                check(&b, Slice { prefix, ..all.clone() }, &rows).await;
            }
            let whole_key = [day("2025-01-02"), Value::Int(0), text("a#b")];
            check(&b, Slice { prefix: &whole_key, ..all.clone() }, &rows).await;
            let cases = [
                (&prefixes[0][..0], day("2025-01-01"), day("2025-01-01")),
                (&prefixes[0][..], Value::Int(-7), Value::Int(0)),
                (&prefixes[1][..], text(""), text("a#b")),
            ];
            for (prefix, low, high) in &cases {
                let bounds = [Bound::Unbounded, Bound::Included(low), Bound::Excluded(low)];
                for lower in bounds {
                    for upper in [Bound::Unbounded, Bound::Included(high), Bound::Excluded(high)] {
                        check(&b, Slice { prefix, lower, upper, ..all.clone() }, &rows).await;
                    }
                }
            }
            let nothing = Slice { lower: Bound::Excluded(&cases[0].1), upper: Bound::Excluded(&cases[0].1), ..all };
            check(&b, nothing, &rows).await;
        }
    })
    .await;
}

#[tokio::test]
async fn bare_texts_are_never_confused_with_the_bookkeeping() {
    on_tables(true, |b| async move {
        let words = [
            "", "\0", "\0a", " ", "!", "!x", "\"", "#", "#a", "$", "$21", "%", "/", "a", "a\0", "a!", "~", "é", "日本",
        ];
        let partition = [Value::Int(-4)];
        let mut rows: Vec<Vec<Value>> = words
            .iter()
            .enumerate()
            .map(|(i, w)| vec![Value::Int(-4), text(w), Value::Null, Value::Int(i as i32)])
            .collect();
        load(&b, &rows, &WORDS).await;
        let page = b.engine.slice(whole(&b, &WORDS, &partition)).await.unwrap();
        assert_eq!(page.statics, None);
        let set = widerow::engine::Write::SetStatics {
            table: &WORDS,
            partition: partition.to_vec(),
            cells: vec![(2, text("all"))],
        };
        b.apply(None, vec![set]).await;
        rows.iter_mut().for_each(|r| r[2] = text("all"));
        for reverse in [false, true] {
            let all = Slice { reverse, ..whole(&b, &WORDS, &partition) };
            check(&b, all.clone(), &rows).await;
            for w in ["", "!", "#", "a"].map(text) {
                check(&b, Slice { prefix: std::slice::from_ref(&w), ..all.clone() }, &rows).await;
                check(&b, Slice { lower: Bound::Excluded(&w), ..all.clone() }, &rows).await;
                check(&b, Slice { upper: Bound::Excluded(&w), ..all.clone() }, &rows).await;
            }
        }
        let page = b.engine.slice(whole(&b, &WORDS, &partition)).await.unwrap();
        assert_eq!(page.statics, Some(vec![Value::Null, Value::Null, text("all"), Value::Null]));
        let empty = b
            .engine
            .slice(Slice {
                lower: Bound::Included(&text("zz")),
                upper: Bound::Excluded(&text("zzz")),
                ..whole(&b, &WORDS, &partition)
            })
            .await
            .unwrap();
        assert_eq!((empty.rows.len(), empty.statics), (0, page.statics), "statics come without rows too");
    })
    .await;
}

async fn scan_all(b: &Bench, table: &'static Table, mut expected: Vec<Vec<Value>>) {
    for (ranges, limit) in [(1, 1), (1, 2), (1, 7), (3, 2), (3, 5), (4, 1000)] {
        let mut seen: Vec<Vec<Value>> = Vec::new();
        for range in 0..ranges {
            let mut after: Option<Vec<u8>> = None;
            loop {
                let scan = Scan { table, tenant: None, split: &[], range, ranges, after: after.as_deref(), limit };
                let page = b.engine.scan(scan).await.unwrap();
                assert!(page.len() <= limit && (page.len() == limit || page.next.is_none()));
                assert!(page.rows.iter().all(|(tenant, _)| *tenant == b.tenant));
                seen.extend(page.rows.into_iter().map(|(_, row)| row.values));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        let mut partitions: Vec<&Value> = seen.iter().map(|r| &r[0]).collect();
        partitions.dedup();
        let count = partitions.len();
        partitions.sort_by(|a, b| a.key_order(b));
        partitions.dedup();
        assert_eq!(partitions.len(), count, "rows of a partition stand together");
        let ordered = seen.windows(2).all(|w| w[0][0] != w[1][0] || order(table, &w[0], &w[1]).is_lt());
        assert!(ordered, "rows of a partition stand in clustering order: {ranges} ranges, limit {limit}");
        let sort =
            |rows: &mut Vec<Vec<Value>>| rows.sort_by(|a, b| a[0].key_order(&b[0]).then_with(|| order(table, a, b)));
        sort(&mut seen);
        sort(&mut expected);
        assert_eq!(seen, expected, "{ranges} ranges, limit {limit}");
    }
}

#[tokio::test]
async fn scans_see_every_row_once() {
    on_tables(true, |b| async move {
        let mut rows = Vec::new();
        for p in 0..12 {
            for w in 0..(p % 4) * 3 {
                let shared = if p % 2 == 0 { text(&format!("s{p}")) } else { Value::Null };
                rows.push(vec![Value::Int(p), text(&format!("w{w:02}")), shared, Value::Int(w)]);
            }
        }
        load(&b, &rows, &WORDS).await;
        scan_all(&b, &WORDS, rows).await;
        let bad = Scan { table: &WORDS, tenant: None, split: &[], range: 0, ranges: 1, after: Some(&[9, 9]), limit: 1 };
        assert!(matches!(b.engine.scan(bad).await, Err(Error::Invalid { .. })));
    })
    .await;
}

#[tokio::test]
async fn scans_go_down_where_the_table_does() {
    on_tables(true, |b| async move {
        let mut rows = Vec::new();
        for p in 0..9 {
            for n in 0..p {
                let date = if n % 3 == 0 { "2025-01-01" } else { "2025-01-02" };
                rows.push(vec![text(&format!("p{p}")), day(date), Value::Int(n), text("w"), Value::Int(n)]);
            }
        }
        load(&b, &rows, &MIXED).await;
        scan_all(&b, &MIXED, rows).await;
    })
    .await;
}

#[tokio::test]
async fn all_types_read_back() {
    on_tables(true, |b| async move {
        let decimal = |d: &str| Value::Decimal(d.parse().unwrap());
        let street = |s: &str, n: Value| Value::Struct(vec![text(s), n]);
        let ordinary = vec![
            text("é\0#$ "),
            Value::Int(i32::MIN),
            Value::BigInt(i64::MAX),
            decimal("-79228162514264337593543950335"),
            Value::Double(0.1),
            Value::Boolean(false),
            Value::Uuid(uuid::Uuid::from_u128(7)),
            Value::Timestamp(NOW),
            day("0000-01-01"),
            Value::Blob(vec![0, 255]),
            Value::Vector(vec![1.5, -0.0, f32::MAX]),
            Value::List(vec![Value::Int(3), Value::Int(1), Value::Int(3)]),
            Value::Set(vec![text(""), text("a"), text("b")]),
            Value::Set(vec![decimal("-2"), decimal("1.5"), decimal("10")]),
            Value::Set(vec![Value::Blob(vec![]), Value::Blob(vec![1])]),
            Value::Set(vec![Value::Boolean(false), Value::Boolean(true)]),
            Value::Map(vec![(text("a b"), Value::Double(f64::MAX)), (text("c"), Value::Double(-0.0))]),
            Value::Map(vec![(Value::Int(-1), text("x")), (Value::Int(5), text(""))]),
            street("Main", Value::Null),
            Value::List(vec![street("A", Value::Int(1)), street("", Value::Int(2))]),
        ];
        let mut extreme = ordinary.clone();
        extreme[0] = text("");
        extreme[3] = decimal("0.0000000000000000000000000001");
        extreme[4] = Value::Double(f64::MIN_POSITIVE);
        extreme[9] = Value::Blob(vec![]);
        extreme[16] = Value::Map(vec![(text(""), Value::Double(f64::INFINITY))]);
        let nulls = vec![Value::Null; ordinary.len()];
        for (n, cells) in [ordinary, extreme, nulls].into_iter().enumerate() {
            let row = [vec![text("p"), Value::Int(n as i32)], cells].concat();
            b.apply(None, vec![put(&EVERYTHING, row.clone())]).await;
            assert_eq!(b.get(&EVERYTHING, &row[..2]).await.unwrap().values, row);
        }
        let mut doubles = vec![text("p"), Value::Int(9)];
        doubles.extend(vec![Value::Null; 20]);
        for d in [f64::NAN, f64::NEG_INFINITY, -0.0, 1e125, 1e126, 1e-130, 1e-131, 123456789.123, 5e-324] {
            doubles[6] = Value::Double(d);
            b.apply(None, vec![put(&EVERYTHING, doubles.clone())]).await;
            let Value::Double(read) = b.get(&EVERYTHING, &doubles[..2]).await.unwrap().values[6] else { panic!() };
            assert!(read.to_bits() == d.to_bits() || read.is_nan() && d.is_nan(), "{d:?} became {read:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn many_keys_keep_their_order() {
    on_tables(true, |b| async move {
        let row = |n: i32| vec![text("x"), day("2025-01-01"), Value::Int(n), text("w"), Value::Int(n)];
        let rows: Vec<Vec<Value>> = (0..230).step_by(2).map(row).collect();
        load(&b, &rows, &MIXED).await;
        let keys: Vec<Vec<Value>> = (0..230).rev().chain([4, 4, 5]).map(|n| row(n)[..4].to_vec()).collect();
        let get = Get { tenant: &b.tenant, table: &MIXED, keys: &keys, consistency: Consistency::LocalOne };
        let (found, cost) = meter::measure(b.engine.get(get)).await;
        let found = found.unwrap();
        let expected: Vec<Option<RawRow>> = (0..230)
            .rev()
            .chain([4, 4, 5])
            .map(|n| (n % 2 == 0).then(|| RawRow { values: row(n), expires_at: None }))
            .collect();
        assert_eq!(found, expected);
        assert_eq!((cost.round_trips, cost.partitions_read, cost.rows_read), (3, 1, 115));
        let other = Tenant::new("other").unwrap();
        let get = Get { tenant: &other, table: &MIXED, keys: &keys[..3], consistency: Consistency::Quorum };
        assert_eq!(b.engine.get(get).await.unwrap(), vec![None, None, None], "another tenant's");
        let (_, cost) = meter::measure(b.engine.slice(whole(&b, &MIXED, &keys[0][..1]))).await;
        assert_eq!((cost.round_trips, cost.partitions_read, cost.rows_read), (1, 1, 100));
    })
    .await;
}

#[tokio::test]
async fn an_item_that_cannot_be_is_corrupt() {
    on_tables(true, |b| async move {
        let s = |t: &str| AttributeValue::S(t.into());
        let request =
            || b.client.put_item().table_name(format!("{}stock", b.prefix)).item("PK", s("TENANT#acme#STOCK#p"));
        request().item("SK", s("LINE#a")).item("amount", s("many")).send().await.unwrap();
        let key = [vec![text("p"), text("a")]];
        let get = Get { tenant: &b.tenant, table: &STOCK, keys: &key, consistency: Consistency::Quorum };
        assert!(matches!(b.engine.get(get).await, Err(Error::Corrupt { .. })));
        let amount = AttributeValue::N("1.5".into());
        request().item("SK", s("LINE#a")).item("amount", amount).send().await.unwrap();
        assert!(matches!(b.engine.slice(whole(&b, &STOCK, &[text("p")])).await, Err(Error::Corrupt { .. })));
    })
    .await;
}
