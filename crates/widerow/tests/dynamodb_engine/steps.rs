//! Steps: guards, versions, the outbox, statics, expiry, counters.

use widerow::{
    Error,
    engine::{
        Add, AnchorRows, Applied, Condition, Engine, Entry, Fence, Late, Operator, RawRow, ReadAnchor, Version, Write,
    },
    meter,
    schema::Table,
    time::Timestamp,
    value::Value,
};

use crate::fixture::*;

async fn anchor(b: &Bench, table: &'static Table, keys: &[Vec<Value>]) -> widerow::engine::Anchor {
    let read =
        ReadAnchor { tenant: &b.tenant, table, partition: &[text("p")], rows: AnchorRows::Keys(keys), ring: true };
    b.engine.read_anchor(read).await.unwrap()
}

fn refused(applied: Applied) -> Vec<(usize, Option<RawRow>)> {
    match applied {
        Applied::Refused(rows) => rows,
        other => panic!("not refused: {other:?}"),
    }
}

fn done(applied: Applied) -> Version {
    match applied {
        Applied::Done(version) => version,
        other => panic!("not done: {other:?}"),
    }
}

#[tokio::test]
async fn guards_hold_or_tell_the_rows_in_one_request() {
    on_tables(true, |b| async move {
        let a = [text("a")];
        let absent = || guarded(&STOCK, "p", vec![on(&a, Condition::Absent)]);
        let (applied, cost) =
            meter::measure(b.apply(Some(absent()), vec![put(&STOCK, stock("a", 5)), put(&STOCK, stock("b", 7))])).await;
        assert_eq!(done(applied), Version(NOW.millis() * 1000));
        assert_eq!((cost.round_trips, cost.conditional_writes, cost.partitions_written), (1, 1, 1));

        let rows = refused(b.apply(Some(absent()), vec![put(&STOCK, stock("a", 6))]).await);
        assert_eq!(rows, vec![(0, Some(RawRow { values: stock("a", 5), expires_at: None }))]);

        // Several guards, on written and on other rows; those that fail are told with their rows.
        let guards = vec![
            on(&a, compare(4, Operator::GreaterOrEqual, Value::Int(5))),
            on(&[text("b")], compare(4, Operator::Less, Value::Int(7))),
            on(&[text("c")], Condition::Present),
            on(&a, compare(4, Operator::NotEqual, Value::Int(5))),
            on(&a, compare(5, Operator::Equal, Value::Null)),
            on(&a, compare(1, Operator::Equal, text("a"))),
        ];
        let rows = refused(b.apply(Some(guarded(&STOCK, "p", guards.clone())), vec![put(&STOCK, stock("a", 1))]).await);
        let told: Vec<(usize, bool)> = rows.iter().map(|(i, row)| (*i, row.is_some())).collect();
        assert_eq!(told, vec![(1, true), (2, false), (3, true)]);
        assert_eq!(b.get(&STOCK, &[text("p"), text("a")]).await.unwrap().values, stock("a", 5));

        let good = vec![guards[0].clone(), guards[4].clone(), guards[5].clone()];
        // The clock stood still, so the version is the next number.
        let (applied, cost) =
            meter::measure(b.apply(Some(guarded(&STOCK, "p", good)), vec![put(&STOCK, stock("a", 1))])).await;
        assert_eq!(done(applied), Version(NOW.millis() * 1000 + 1));
        assert_eq!(cost.round_trips, 2, "one to learn that the clock is behind");
        assert_eq!(b.get(&STOCK, &[text("p"), text("a")]).await.unwrap().values, stock("a", 1));
    })
    .await;
}

#[tokio::test]
async fn every_operator_agrees_with_the_shared_rules() {
    on_tables(true, |b| async move {
        let cell = |n: i32, price: &str, flag: bool| {
            let (price, flag) = (Value::Decimal(price.parse().unwrap()), Value::Boolean(flag));
            vec![text("p"), text("x"), Value::Null, Value::Null, Value::Int(n), price, flag]
        };
        b.apply(Some(guarded(&STOCK, "p", vec![])), vec![put(&STOCK, cell(-5, "10.50", false))]).await;
        let row = b.get(&STOCK, &[text("p"), text("x")]).await.unwrap();
        let values = [
            (4, vec![Value::Int(-50), Value::Int(-5), Value::Int(3), Value::Null]),
            (5, ["9", "10.5", "10.51"].map(|d| Value::Decimal(d.parse().unwrap())).to_vec()),
            (6, vec![Value::Boolean(false), Value::Boolean(true)]),
        ];
        use Operator::*;
        for (column, values) in values {
            for value in values {
                for operator in [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual] {
                    let condition = compare(column, operator, value.clone());
                    let expected = condition.holds(Some(&row), None);
                    let guards = vec![on(&[text("x")], condition.clone())];
                    let applied = b.apply(Some(guarded(&STOCK, "p", guards)), vec![]).await;
                    assert_eq!(matches!(applied, Applied::Done(_)), expected, "{condition:?}: {applied:?}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_version_that_moved_is_told_and_nothing_is_written() {
    on_tables(true, |b| async move {
        for (table, first, second) in [
            (&*STOCK, stock("a", 1), stock("a", 2)),
            (&*ACCOUNT, vec![text("p"), Value::Int(1), Value::Null], vec![text("p"), Value::Int(2), text("x")]),
        ] {
            let key = first[..table.key_columns()].to_vec();
            let clustering = vec![key[table.partition_columns..].to_vec()];
            let empty = anchor(&b, table, &clustering).await;
            assert_eq!((empty.version, empty.sequence, empty.rows), (None, 0, vec![None]));
            let fresh = || expecting(guarded(table, "p", vec![]), None, 0, 100);
            let step = b.step(Some(fresh()), vec![put(table, first.clone())]);
            let (id, again) = (step.id, step.clone());
            let (applied, cost) = meter::measure(b.engine.apply(&step)).await;
            assert_eq!(done(applied.unwrap()), Version(100));
            assert_eq!(cost.round_trips, 1);
            assert_eq!(done(b.engine.apply(&again.clone()).await.unwrap()), Version(100), "the same step again");

            assert!(matches!(b.apply(Some(fresh()), vec![put(table, second.clone())]).await, Applied::Moved));
            assert_eq!(b.get(table, &key).await.unwrap().values, first);

            let read = anchor(&b, table, &clustering).await;
            assert_eq!((read.version, read.sequence, read.ring.clone()), (Some(Version(100)), 1, vec![id]));
            let next = expecting(guarded(table, "p", vec![]), read.version, read.sequence, 200);
            done(b.apply(Some(next), vec![put(table, second.clone())]).await);
            assert_eq!(b.get(table, &key).await.unwrap().values, second);
            // The first step once more, much later: its id is known and nothing changes.
            let mut late = again;
            late.now = Timestamp::from_millis(NOW.millis() + 1);
            assert_eq!(done(b.engine.apply(&late).await.unwrap()), Version(200));
            assert_eq!(b.get(table, &key).await.unwrap().values, second);
            assert_eq!(anchor(&b, table, &clustering).await.sequence, 2);
        }
    })
    .await;
}

#[tokio::test]
async fn a_step_by_guards_alone_is_known_by_its_id() {
    on_tables(true, |b| async move {
        let guards = vec![on(&[text("a")], Condition::Absent)];
        let step = b.step(Some(guarded(&STOCK, "p", guards)), vec![put(&STOCK, stock("a", 1))]);
        done(b.engine.apply(&step.clone()).await.unwrap());
        done(b.engine.apply(&step.clone()).await.unwrap());
        // Another instant is another request with another token; the id in the bookkeeping still tells.
        let mut later = step;
        later.now = Timestamp::from_millis(NOW.millis() + 5);
        later.timestamp += 5_000;
        done(b.engine.apply(&later).await.unwrap());
        assert_eq!(anchor(&b, &STOCK, &[]).await.sequence, 1);
    })
    .await;
}

#[tokio::test]
async fn the_version_of_an_anchor_is_never_newer_than_its_rows() {
    on_tables(true, |b| async move {
        let writer = async {
            let mut version = None;
            for n in 0..60 {
                let step = expecting(guarded(&STOCK, "p", vec![]), version, n, n + 1);
                version = Some(done(b.apply(Some(step), vec![put(&STOCK, stock("a", n as i32 + 1))]).await));
            }
        };
        let reader = async {
            let mut seen = 0;
            while seen < 60 {
                let read = anchor(&b, &STOCK, &[vec![text("a")]]).await;
                let Some(row) = &read.rows[0] else { continue };
                let Value::Int(amount) = row.values[4] else { panic!("{row:?}") };
                seen = read.version.map_or(0, |v| v.0);
                assert!(i64::from(amount) >= seen, "version {seen} with the row of {amount}");
            }
        };
        futures::future::join(writer, reader).await;
    })
    .await;
}

#[tokio::test]
async fn the_ring_remembers_sixty_four() {
    on_tables(true, |b| async move {
        let mut version = None;
        let mut ids = Vec::new();
        for n in 0..70 {
            let step = b.step(Some(expecting(guarded(&ACCOUNT, "p", vec![]), version, n, n + 1)), vec![]);
            ids.push(step.id);
            version = Some(done(b.engine.apply(&step).await.unwrap()));
        }
        let read = anchor(&b, &ACCOUNT, &[vec![]]).await;
        let mut ring = read.ring;
        ring.sort();
        let mut expected = ids.split_off(6);
        expected.sort();
        assert_eq!((ring, read.sequence, read.rows), (expected, 70, vec![None]), "bookkeeping alone is no row");
    })
    .await;
}

#[tokio::test]
async fn a_row_and_its_bookkeeping_in_one_item() {
    on_tables(true, |b| async move {
        let row = |n| vec![text("p"), Value::Int(n), text("ann")];
        done(
            b.apply(Some(guarded(&ACCOUNT, "p", vec![on(&[], Condition::Absent)])), vec![put(&ACCOUNT, row(1))]).await,
        );
        let delete = || vec![Write::Delete { table: &ACCOUNT, key: vec![text("p")] }];
        let rows = refused(
            b.apply(Some(guarded(&ACCOUNT, "p", vec![on(&[], compare(1, Operator::Equal, Value::Int(2)))])), delete())
                .await,
        );
        assert_eq!(rows[0].1.as_ref().unwrap().values, row(1));
        done(b.apply(Some(guarded(&ACCOUNT, "p", vec![on(&[], Condition::Present)])), delete()).await);
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await, None);
        let read = anchor(&b, &ACCOUNT, &[vec![]]).await;
        assert_eq!((read.rows, read.sequence), (vec![None], 2), "the bookkeeping outlives the row");
        refused(b.apply(Some(guarded(&ACCOUNT, "p", vec![on(&[], Condition::Present)])), vec![]).await);
        done(
            b.apply(Some(guarded(&ACCOUNT, "p", vec![on(&[], Condition::Absent)])), vec![put(&ACCOUNT, row(3))]).await,
        );
        // Replacing the whole row: a null takes the old cell away.
        let fewer = vec![text("p"), Value::Int(4), Value::Null];
        done(b.apply(Some(guarded(&ACCOUNT, "p", vec![])), vec![put(&ACCOUNT, fewer.clone())]).await);
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await.unwrap().values, fewer);
    })
    .await;
}

#[tokio::test]
async fn a_foreign_row_stays_when_its_partition_gets_a_version() {
    on_tables(true, |b| async move {
        let s = |t: &str| aws_sdk_dynamodb::types::AttributeValue::S(t.into());
        let n = aws_sdk_dynamodb::types::AttributeValue::N("9".into());
        let table = format!("{}account", b.prefix);
        let request = b.client.put_item().table_name(table).item("PK", s("TENANT#acme#ACCOUNT#p"));
        request.item("balance", n).send().await.unwrap();
        let row = vec![text("p"), Value::Int(9), Value::Null];
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await.unwrap().values, row);
        done(b.apply(Some(guarded(&ACCOUNT, "p", vec![on(&[], Condition::Present)])), vec![]).await);
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await.unwrap().values, row);
        done(b.apply(Some(guarded(&ACCOUNT, "p", vec![])), vec![]).await);
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await.unwrap().values, row);
    })
    .await;
}

/// A row of the pending table, which belongs to no tenant that a caller can name.
async fn pending(b: &Bench, bucket: i64, id: uuid::Uuid) {
    let s = aws_sdk_dynamodb::types::AttributeValue::S;
    let table = format!("{}widerow_pending", b.prefix);
    let request = b.client.put_item().table_name(table).item("PK", s(format!("TENANT#_system#BUCKET#{bucket}")));
    request.item("SK", s(format!("ID#{id}#PIECE#0000000000"))).send().await.unwrap();
}

fn late<'a>(b: &'a Bench, fence: Fence<'a>, writes: &'a [Write], timestamp: i64) -> Late<'a> {
    Late { tenant: &b.tenant, fence, writes, now: NOW, timestamp }
}

#[tokio::test]
async fn later_writes_are_made_while_the_fence_stands() {
    on_tables(true, |b| async move {
        let mut first = guarded(&STOCK, "p", vec![]);
        let id = uuid::Uuid::now_v7();
        first.outbox = Some((id, 7));
        let step = b.step(Some(first), vec![put(&STOCK, stock("a", 1))]);
        let version = done(b.engine.apply(&step).await.unwrap());
        assert_eq!(anchor(&b, &STOCK, &[]).await.outbox, vec![(id, 7)]);

        let row = |n: i32, v: i32| vec![text("late"), day("2025-01-01"), Value::Int(n), text("w"), Value::Int(v)];
        let partition = [text("p")];
        let fence = || Fence::Outbox { tenant: &b.tenant, table: &STOCK, partition: &partition, id, bucket: 1 };
        let writes: Vec<Write> = (0..250).map(|n| put(&MIXED, row(n, n))).collect();
        let (made, cost) = meter::measure(b.engine.apply_late(late(&b, fence(), &writes, version.0))).await;
        made.unwrap();
        assert_eq!(cost.round_trips, 3);
        let row_key = |n| row(n, 0)[..4].to_vec();
        assert_eq!(b.get(&MIXED, &row_key(249)).await.unwrap().values, row(249, 249));

        // A sweeper makes the same writes behind the pending row.
        pending(&b, 7, id).await;
        let key = [Value::BigInt(7), Value::Uuid(id), Value::Int(0)];
        b.engine.apply_late(late(&b, Fence::Pending { key: &key }, &writes, version.0)).await.unwrap();

        let entry = Entry { tenant: &b.tenant, table: &STOCK, partition: &partition, id, version };
        b.engine.close_outbox(entry.clone()).await.unwrap();
        b.engine.close_outbox(entry).await.unwrap();
        assert_eq!(anchor(&b, &STOCK, &[]).await.outbox, vec![]);
        b.engine.apply_late(late(&b, fence(), &[put(&MIXED, row(249, -1))], version.0)).await.unwrap();
        assert_eq!(b.get(&MIXED, &row_key(249)).await.unwrap().values, row(249, 249), "the fence was gone");
    })
    .await;
}

#[tokio::test]
async fn later_writes_behind_a_pending_row() {
    on_tables(true, |b| async move {
        let id = uuid::Uuid::new_v4();
        let key = [Value::BigInt(5), Value::Uuid(id), Value::Int(0)];
        let row = |v: i32| vec![text("late"), day("2025-01-01"), Value::Int(1), text("w"), Value::Int(v)];
        let fence = || Fence::Pending { key: &key };
        b.engine.apply_late(late(&b, fence(), &[put(&MIXED, row(1))], 1)).await.unwrap();
        assert_eq!(b.get(&MIXED, &row(0)[..4]).await, None);
        pending(&b, 5, id).await;
        b.engine.apply_late(late(&b, fence(), &[put(&MIXED, row(2))], 2)).await.unwrap();
        assert_eq!(b.get(&MIXED, &row(0)[..4]).await.unwrap().values, row(2));
    })
    .await;
}

#[tokio::test]
async fn statics_belong_to_the_partition() {
    on_tables(true, |b| async move {
        let mut with = stock("a", 1);
        with[2] = text("note");
        done(b.apply(Some(guarded(&STOCK, "p", vec![])), vec![put(&STOCK, with), put(&STOCK, stock("b", 2))]).await);
        let set = Write::SetStatics { table: &STOCK, partition: vec![text("p")], cells: vec![(3, Value::Int(9))] };
        let equal = |v: i32| Condition::CompareStatic { column: 3, operator: Operator::Equal, value: Value::Int(v) };
        let rows = refused(b.apply(Some(guarded(&STOCK, "p", vec![on(&[], equal(1))])), vec![set.clone()]).await);
        assert_eq!(rows[0].1.as_ref().unwrap().values[2], text("note"));
        let null = Condition::CompareStatic { column: 3, operator: Operator::Equal, value: Value::Null };
        done(b.apply(Some(guarded(&STOCK, "p", vec![on(&[], null)])), vec![set]).await);
        for (line, amount) in [("a", 1), ("b", 2)] {
            let row = b.get(&STOCK, &[text("p"), text(line)]).await.unwrap();
            assert_eq!(row.values[2..5], [text("note"), Value::Int(9), Value::Int(amount)]);
        }
        // The row that refuses is shown with the statics, too.
        let rows = refused(
            b.apply(Some(guarded(&STOCK, "p", vec![on(&[text("b")], Condition::Absent), on(&[], equal(8))])), vec![])
                .await,
        );
        assert_eq!(rows.iter().map(|(i, _)| *i).collect::<Vec<_>>(), vec![0, 1]);
        assert!(rows.iter().all(|(_, row)| row.as_ref().unwrap().values[3] == Value::Int(9)));
        // Deleting all rows leaves them.
        let delete = |line: &str| Write::Delete { table: &STOCK, key: vec![text("p"), text(line)] };
        done(b.apply(Some(guarded(&STOCK, "p", vec![])), vec![delete("a"), delete("b")]).await);
        let read = anchor(&b, &STOCK, &[vec![text("a")]]).await;
        assert_eq!((read.rows, read.statics.unwrap()[2].clone()), (vec![None], text("note")));
    })
    .await;
}

#[tokio::test]
async fn expired_rows_are_absent_for_guards_and_marked_for_sweeping() {
    on_tables(true, |b| async move {
        let expires_at = Some(Timestamp::from_millis(NOW.millis() + 1));
        let ending = Write::Put { table: &STOCK, values: stock("a", 1).into(), expires_at, indexes: vec![] };
        done(b.apply(Some(guarded(&STOCK, "p", vec![])), vec![ending]).await);
        let found = b.item("stock", "TENANT#acme#STOCK#p", Some("LINE#a")).await.unwrap();
        assert_eq!(found["_expires_at"].as_n().unwrap(), "4000000000001");
        assert_eq!(found["ttl"].as_n().unwrap(), "4000000001", "rounded up");
        assert_eq!(b.get(&STOCK, &[text("p"), text("a")]).await.unwrap().expires_at, expires_at, "the caller hides it");

        let a = [text("a")];
        refused(b.apply(Some(guarded(&STOCK, "p", vec![on(&a, Condition::Absent)])), vec![]).await);
        let mut later = b.step(Some(guarded(&STOCK, "p", vec![on(&a, Condition::Present)])), vec![]);
        later.now = Timestamp::from_millis(NOW.millis() + 1);
        assert_eq!(refused(b.engine.apply(&later.clone()).await.unwrap()), vec![(0, None)]);
        later.guarded = Some(guarded(&STOCK, "p", vec![on(&a, Condition::Absent)]));
        done(b.engine.apply(&later).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn writes_without_guards() {
    on_tables(true, |b| async move {
        let row = |n: i32| vec![text("u"), day("2025-01-01"), Value::Int(n), text("w"), Value::Int(n)];
        let (_, cost) = meter::measure(b.apply(None, vec![put(&MIXED, row(1))])).await;
        assert_eq!((cost.round_trips, cost.rows_written, cost.conditional_writes), (1, 1, 0));
        let delete = Write::Delete { table: &MIXED, key: row(1)[..4].to_vec() };
        let many: Vec<Write> = (2..99).map(|n| put(&MIXED, row(n))).chain([delete]).collect();
        let (_, cost) = meter::measure(b.apply(None, many)).await;
        assert_eq!((cost.round_trips, cost.rows_written), (1, 98));
        assert_eq!(b.get(&MIXED, &row(1)[..4]).await, None);
        assert_eq!(b.get(&MIXED, &row(98)[..4]).await.unwrap().values, row(98));
        let too_many: Vec<Write> = (0..101).map(|n| put(&MIXED, row(n))).collect();
        assert!(matches!(b.engine.apply(&b.step(None, too_many)).await, Err(Error::TooLarge { .. })));

        let mut load: Vec<Write> = (100..160).map(|n| put(&MIXED, row(n))).collect();
        load.push(put(&ACCOUNT, vec![text("p"), Value::Int(1), Value::Null]));
        let (answers, cost) = meter::measure(b.engine.put_many(&b.tenant, &load)).await;
        assert!(answers.unwrap().iter().all(Result::is_ok));
        assert_eq!(cost.round_trips, 4);
        assert!(b.get(&MIXED, &row(159)[..4]).await.is_some() && b.get(&ACCOUNT, &[text("p")]).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn writes_past_the_guard_move_the_version_and_leave_no_ghost() {
    on_tables(true, |b| async move {
        let delete = || vec![Write::Delete { table: &ACCOUNT, key: vec![text("p")] }];
        b.apply(None, delete()).await;
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await, None);
        let before = anchor(&b, &ACCOUNT, &[vec![]]).await.version;
        b.apply(None, vec![put(&ACCOUNT, vec![text("p"), Value::Int(1), Value::Null])]).await;
        let after = anchor(&b, &ACCOUNT, &[vec![]]).await;
        assert!(after.version > before && after.rows[0].is_some());
        b.apply(None, delete()).await;
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await, None);
    })
    .await;
}

#[tokio::test]
async fn the_same_unguarded_step_again_changes_nothing() {
    on_tables(true, |b| async move {
        let row =
            |n: i32, v: i32| put(&MIXED, vec![text("u"), day("2025-01-01"), Value::Int(n), text("w"), Value::Int(v)]);
        let step = b.step(None, vec![row(1, 1), row(2, 1)]);
        b.engine.apply(&step.clone()).await.unwrap();
        b.apply(None, vec![row(1, 9), row(2, 9)]).await;
        b.engine.apply(&step).await.unwrap();
        let key = [text("u"), day("2025-01-01"), Value::Int(1), text("w")];
        assert_eq!(b.get(&MIXED, &key).await.unwrap().values[4], Value::Int(9));
    })
    .await;
}

#[tokio::test]
async fn counters_add_up() {
    on_tables(true, |b| async move {
        let key = |page: &str| vec![text(page), day("2025-01-01")];
        let add = |page: &str, amounts: Vec<(usize, i64)>| Add { table: &HITS, key: key(page), amounts };
        for _ in 0..3 {
            let adds = [add("a", vec![(2, 2), (3, -1)]), add("b", vec![(2, 1)])];
            b.engine.add(&b.tenant, &adds).await.unwrap();
        }
        assert_eq!(b.get(&HITS, &key("a")).await.unwrap().values[2..], [Value::Counter(6), Value::Counter(-3)]);
        assert_eq!(b.get(&HITS, &key("b")).await.unwrap().values[2..], [Value::Counter(3), Value::Null]);
    })
    .await;
}

#[tokio::test]
async fn writers_that_fight_lose_nothing() {
    on_tables(true, |b| async move {
        let zero = vec![text("p"), Value::Int(0), Value::Null];
        done(b.apply(Some(guarded(&ACCOUNT, "p", vec![])), vec![put(&ACCOUNT, zero)]).await);
        let writer = |b: std::sync::Arc<Bench>| async move {
            for _ in 0..10 {
                loop {
                    let row = b.get(&ACCOUNT, &[text("p")]).await.unwrap().values;
                    let Value::Int(n) = row[1] else { panic!("{row:?}") };
                    let guards = vec![on(&[], compare(1, Operator::Equal, Value::Int(n)))];
                    let next = put(&ACCOUNT, vec![text("p"), Value::Int(n + 1), Value::Null]);
                    match b.apply(Some(guarded(&ACCOUNT, "p", guards)), vec![next]).await {
                        Applied::Done(_) => break,
                        Applied::Refused(_) => {}
                        Applied::Moved => panic!("nothing was expected"),
                    }
                }
            }
        };
        futures::future::join_all((0..4).map(|_| writer(b.clone()))).await;
        assert_eq!(b.get(&ACCOUNT, &[text("p")]).await.unwrap().values[1], Value::Int(40));
        assert_eq!(anchor(&b, &ACCOUNT, &[]).await.sequence, 41);
    })
    .await;
}
