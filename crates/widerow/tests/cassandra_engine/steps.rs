//! Steps: guards, the ring, what ends, later writes, counters.

use std::{sync::Arc, time::Duration};

use widerow::{
    engine::*,
    error::Error,
    meter,
    row::Row,
    schema::*,
    time::{Clock, Date, SystemClock, Timestamp},
    value::Value,
};

use crate::fixture::*;

#[tokio::test]
async fn a_guarded_step_is_applied_once_at_the_version_it_expects() {
    let schema = Schema::new().table::<Stock>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, partition) = (Stock::table(), vec![t("lamp")]);
    let keys = vec![vec![t("hold"), n(1)], vec![t("stock"), n(0)]];
    let row = |kind: &str, id: i32, note: Value, held: i32| put(table, vec![t("lamp"), t(kind), n(id), note, n(held)]);

    let fresh = bench.anchor(table, &partition, &keys).await;
    assert_eq!((fresh.version, fresh.sequence, fresh.rows.len()), (None, 0, 2));
    assert_eq!((fresh.rows[0].clone(), fresh.statics, fresh.ring.len()), (None, None, 0));

    let first = bench.guarded(table, &partition, &Anchor::default(), vec![row("stock", 0, t("oak"), 5)]);
    let (first_id, (applied, cost)) = (first.id, meter::measure(bench.engine.apply(&first.clone())).await);
    let Applied::Done(version) = applied.unwrap() else { panic!("not applied") };
    assert_eq!((cost.conditional_writes, cost.round_trips, cost.rows_written), (1, 1, 1));
    // The same again meets another version; the ring tells that it was applied.
    assert!(matches!(bench.engine.apply(&first).await.unwrap(), Applied::Moved));
    let (seen, cost) = meter::measure(bench.anchor(table, &partition, &keys)).await;
    assert_eq!((cost.round_trips, cost.rows_read), (1, 1));
    assert_eq!((seen.version, seen.sequence, seen.ring.clone()), (Some(version), 1, vec![first_id]));
    assert_eq!(seen.rows[0], None);
    assert_eq!(seen.rows[1].as_ref().unwrap().values, [t("lamp"), t("stock"), n(0), t("oak"), n(5)]);
    assert_eq!(seen.statics.as_ref().unwrap()[3], t("oak"));

    // Two that saw the same: one is applied. A null static column is left as it is.
    let writes = vec![row("hold", 1, Value::Null, 1), row("stock", 0, Value::Null, 4)];
    let (one, two) =
        (bench.guarded(table, &partition, &seen, writes.clone()), bench.guarded(table, &partition, &seen, writes));
    let (one, two) = tokio::join!(bench.engine.apply(&one), bench.engine.apply(&two));
    let done = [one, two].into_iter().filter(|r| matches!(r, Ok(Applied::Done(_)))).count();
    assert_eq!(done, 1);
    let seen = bench.anchor(table, &partition, &keys).await;
    assert_eq!((seen.sequence, seen.ring.len()), (2, 2));
    assert_eq!(seen.rows[0].as_ref().unwrap().values, [t("lamp"), t("hold"), n(1), t("oak"), n(1)]);

    // Deleting all rows keeps version, ring and static columns; a read of absent rows still tells the version.
    let delete = |kind: &str, id: i32| Write::Delete { table, key: vec![t("lamp"), t(kind), n(id)] };
    let step = bench.guarded(table, &partition, &seen, vec![delete("hold", 1), delete("stock", 0)]);
    let Applied::Done(version) = bench.engine.apply(&step).await.unwrap() else { panic!("not applied") };
    for keys in [&keys[..], &[]] {
        let seen = bench.anchor(table, &partition, keys).await;
        assert_eq!((seen.version, seen.sequence, seen.ring.len()), (Some(version), 3, 3));
        assert_eq!(seen.statics.as_ref().unwrap()[3], t("oak"));
        assert!(seen.rows.iter().all(Option::is_none) && seen.rows.len() == keys.len());
    }
    for prefix in [vec![], vec![t("hold")]] {
        let rows = AnchorRows::Prefixes { prefixes: &[prefix], limit: 10 };
        let read = ReadAnchor { tenant: &bench.tenant, table, partition: &partition, rows, ring: false };
        let seen = bench.engine.read_anchor(read).await.unwrap();
        assert_eq!((seen.version, seen.rows.len(), seen.ring.len()), (Some(version), 0, 0));
    }
    let page = bench.engine.slice(bench.all(table, &partition)).await.unwrap();
    assert_eq!((page.rows.len(), page.statics.unwrap()[3].clone()), (0, t("oak")));

    let seen = bench.anchor(table, &partition, &[]).await;
    let cells = vec![(3, Value::Null)];
    let clear = Write::SetStatics { table, partition: partition.clone(), cells };
    bench
        .engine
        .apply(&bench.guarded(
            table,
            &partition,
            &seen,
            vec![clear, row("hold", 7, Value::Null, 1), row("hold", 9, Value::Null, 2)],
        ))
        .await
        .unwrap();
    let rows = AnchorRows::Prefixes { prefixes: &[vec![t("hold")]], limit: 10 };
    let seen =
        bench.engine.read_anchor(ReadAnchor { tenant: &bench.tenant, table, partition: &partition, rows, ring: false });
    let seen = seen.await.unwrap();
    assert_eq!((seen.statics, seen.sequence), (None, 4));
    assert_eq!(seen.rows.iter().map(|r| r.as_ref().unwrap().values[2].clone()).collect::<Vec<_>>(), [n(9), n(7)]);

    // What is guarded is never written plainly.
    assert!(matches!(bench.engine.apply(&bench.step(vec![delete("hold", 1)])).await, Err(Error::Invalid { .. })));
    bench.end().await;
}

#[tokio::test]
async fn the_ring_remembers_sixty_four_commits_and_the_outbox_opens_and_closes() {
    let schema = Schema::new().table::<Stock>().table::<Profile>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, partition) = (Stock::table(), vec![t("chair")]);
    let mut seen = Anchor::default();
    let mut ids = Vec::new();
    for i in 0..70 {
        let step = bench.guarded(
            table,
            &partition,
            &seen,
            vec![put(table, vec![t("chair"), t("stock"), n(0), Value::Null, n(i)])],
        );
        ids.push(step.id);
        let Applied::Done(version) = bench.engine.apply(&step).await.unwrap() else { panic!("moved") };
        seen = Anchor { version: Some(version), sequence: seen.sequence + 1, ..Anchor::default() };
    }
    let mut found = bench.anchor(table, &partition, &[]).await.ring;
    found.sort();
    let mut last = ids[6..].to_vec();
    last.sort();
    assert_eq!(found, last);

    for (table, partition) in [(table, partition), (Profile::table(), vec![t("a@b")])] {
        let seen = bench.anchor(table, &partition, &[]).await;
        let mut step = bench.guarded(table, &partition, &seen, Vec::new());
        step.guarded.as_mut().unwrap().outbox = Some((step.id, 4711));
        let id = step.id;
        let Applied::Done(version) = bench.engine.apply(&step).await.unwrap() else { panic!("moved") };
        assert_eq!(bench.anchor(table, &partition, &[]).await.outbox, [(id, 4711)]);
        for _ in 0..2 {
            bench.engine.close_outbox(bench.entry(table, &partition, id, version)).await.unwrap();
            let seen = bench.anchor(table, &partition, &[]).await;
            assert_eq!((seen.outbox.len(), seen.version), (0, Some(version)));
        }
        // A store whose clock is far behind the server's removes its entries as well.
        let seen = bench.anchor(table, &partition, &[]).await;
        let mut step = bench.guarded(table, &partition, &seen, Vec::new());
        step.guarded.as_mut().unwrap().outbox = Some((step.id, 4712));
        let id = step.id;
        bench.engine.apply(&step).await.unwrap();
        bench.engine.close_outbox(bench.entry(table, &partition, id, Version(1_000))).await.unwrap();
        assert_eq!(bench.anchor(table, &partition, &[]).await.outbox, []);
    }
    bench.end().await;
}

#[tokio::test]
async fn a_guarded_row_without_clustering_columns_comes_and_goes() {
    let schema = Schema::new().table::<Profile>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, partition, keys) = (Profile::table(), vec![t("a@b")], vec![Vec::new()]);
    let values = vec![t("a@b"), t("Ada"), Value::Set(vec![t("x")])];
    let put_row = |expires_at| Write::Put { table, values: values.clone().into(), expires_at, indexes: Vec::new() };
    let key = || vec![partition.clone()];

    let seen = bench.anchor(table, &partition, &keys).await;
    assert_eq!((seen.version, seen.rows), (None, vec![None]));
    bench.engine.apply(&bench.guarded(table, &partition, &Anchor::default(), vec![put_row(None)])).await.unwrap();
    let (seen, cost) = meter::measure(bench.anchor(table, &partition, &keys)).await;
    assert_eq!((cost.round_trips, seen.rows[0].as_ref().unwrap().values.clone()), (1, values.clone()));

    let delete = Write::Delete { table, key: partition.clone() };
    bench.engine.apply(&bench.guarded(table, &partition, &seen, vec![delete])).await.unwrap();
    let seen = bench.anchor(table, &partition, &keys).await;
    assert_eq!((seen.sequence, seen.rows.clone(), seen.ring.len()), (2, vec![None], 2));
    assert_eq!(bench.get(table, &key()).await, [None]);
    let scan = Scan { table, tenant: None, split: &[], range: 0, ranges: 1, after: None, limit: 10 };
    assert_eq!(bench.engine.scan(scan).await.unwrap().rows.len(), 0);
    assert_eq!(bench.engine.slice(bench.all(table, &partition)).await.unwrap().rows.len(), 0);

    // The row ends by the server's own time to live; the bookkeeping does not.
    let end = SystemClock.now().plus_seconds(5);
    bench.engine.apply(&bench.guarded(table, &partition, &seen, vec![put_row(Some(end))])).await.unwrap();
    assert_eq!(bench.get(table, &key()).await[0].as_ref().unwrap().expires_at, Some(end));
    tokio::time::sleep(Duration::from_millis(6_500)).await;
    let seen = bench.anchor(table, &partition, &keys).await;
    assert_eq!((seen.sequence, seen.rows), (3, vec![None]));
    bench.end().await;
}

#[tokio::test]
async fn rows_end_and_their_statics_and_bookkeeping_stay() {
    let schema = Schema::new().table::<Stock>().table::<Down>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let now = SystemClock.now();
    let ends = [
        Some(now.plus_seconds(1)),
        Some(Timestamp::from_millis(now.millis() + 1_000_001)),
        Some(now.plus_seconds(19 * 365 * 86_400)),
        None,
    ];
    let put_row = |table: &'static Table, values: Vec<Value>, expires_at| Write::Put {
        table,
        values: values.into(),
        expires_at,
        indexes: Vec::new(),
    };
    let down = |(i, end): (usize, &Option<Timestamp>)| {
        put_row(Down::table(), vec![n(1), n(i as i32), n(0), t("stays"), t("v")], *end)
    };
    bench.apply(ends.iter().enumerate().map(down).collect()).await;
    let stock = |(i, end): (usize, &Option<Timestamp>)| {
        put_row(Stock::table(), vec![t("p"), t("k"), n(i as i32), t("stays"), n(1)], *end)
    };
    let step =
        bench.guarded(Stock::table(), &[t("p")], &Anchor::default(), ends.iter().enumerate().map(stock).collect());
    bench.engine.apply(&step).await.unwrap();

    for (table, partition, last) in [(Down::table(), vec![n(1)], 1), (Stock::table(), vec![t("p")], 2)] {
        let found = |page: RawPage| {
            let mut found: Vec<_> = page.rows.iter().map(|r| r[last].clone()).zip(page.rows.ends.clone()).collect();
            found.sort_by(|(a, _), (b, _)| a.key_order(b));
            (found, page.statics.map(|s| s[3].clone()))
        };
        let page = bench.engine.slice(bench.all(table, &partition)).await.unwrap();
        let all: Vec<_> = ends.iter().enumerate().map(|(i, end)| (n(i as i32), *end)).collect();
        // The first may be gone already if the machine is slow.
        let (rows, statics) = found(page);
        assert_eq!((&rows[rows.len() - 3..], statics), (&all[1..], Some(t("stays"))));
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        let page = bench.engine.slice(bench.all(table, &partition)).await.unwrap();
        assert_eq!(found(page), (all[1..].to_vec(), Some(t("stays"))));
    }
    assert_eq!(bench.anchor(Stock::table(), &[t("p")], &[]).await.sequence, 1);
    // The table's own time to live takes neither what was written without one, nor static columns, nor bookkeeping.
    let ttl = format!(
        "SELECT ttl(held), ttl(note), ttl(\"_version\") FROM \"{}\".stock WHERE tenant = 'acme' AND product = 'p' AND kind = 'k' AND id = ?",
        bench.keyspace
    );
    for (id, expected) in [(1, true), (3, false)] {
        let result = bench.session.query_unpaged(ttl.clone(), (id,)).await.unwrap().into_rows_result().unwrap();
        let (held, note, version) = result.single_row::<(Option<i32>, Option<i32>, Option<i32>)>().unwrap();
        assert_eq!((held.is_some(), note, version), (expected, None, None));
        assert!(held.is_none_or(|seconds| (900..=1_001).contains(&seconds)));
    }
    bench.end().await;
}

#[tokio::test]
async fn later_writes_keep_the_order_of_their_timestamps() {
    let schema = Schema::new().table::<Mixed>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, key) = (Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1)]);
    let row = |v: &str| put(table, [key.clone(), vec![t(v)]].concat());
    let late = async |writes: &[Write], timestamp: i64| {
        let fence = Fence::Pending { key: &[] };
        let late = Late { tenant: &bench.tenant, fence, writes, now: SystemClock.now(), timestamp };
        bench.engine.apply_late(late).await.unwrap();
    };
    let now = SystemClock.now_micros();
    late(&[row("newer")], now + 10).await;
    late(&[row("older")], now).await;
    assert_eq!(bench.get(table, std::slice::from_ref(&key)).await[0].as_ref().unwrap().values[5], t("newer"));
    late(&[Write::Delete { table, key: key.clone() }], now + 5).await;
    assert!(bench.get(table, std::slice::from_ref(&key)).await[0].is_some());
    late(&[Write::Delete { table, key: key.clone() }], now + 20).await;
    late(&[row("again")], now + 15).await;
    assert_eq!(bench.get(table, std::slice::from_ref(&key)).await, [None]);
    // Many, and each larger than a batch could be.
    let big = "x".repeat(60_000);
    let many: Vec<_> = (0..100).map(|i| put(table, vec![n(i), n(0), n(0), n(0), n(0), t(&big)])).collect();
    late(&many, now).await;
    let keys: Vec<_> = (0..100).map(|i| vec![n(i), n(0), n(0), n(0), n(0)]).collect();
    let (found, cost) = meter::measure(bench.get(table, &keys)).await;
    assert!(found.iter().all(Option::is_some));
    assert_eq!((cost.partitions_read, cost.rows_read, cost.round_trips), (100, 100, 100));
    bench.end().await;
}

#[tokio::test]
async fn a_plain_step_as_large_as_the_abilities_say_is_taken_and_a_larger_one_refused_unsent() {
    let schema = Schema::new().table::<Mixed>().table::<Types>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let Atomicity::Partition { unguarded_rows, unguarded_bytes } = bench.engine.abilities().atomicity else { panic!() };
    let table = Types::table();
    let row = |i: usize, bytes: usize| {
        let mut values = vec![Value::Null; table.columns.len()];
        (values[0], values[1]) = (n(i as i32), t(&"x".repeat(bytes)));
        put(table, values)
    };
    let size = unguarded_bytes / unguarded_rows - table.columns.len() - 3;
    let writes: Vec<_> = (0..unguarded_rows).map(|i| row(i, size)).collect();
    assert!(writes.iter().map(Write::bytes).sum::<usize>() <= unguarded_bytes);
    bench.apply(writes).await;
    let found = bench.get(table, &(0..unguarded_rows).map(|i| vec![n(i as i32)]).collect::<Vec<_>>()).await;
    assert!(found.iter().all(Option::is_some));
    let refused = bench.engine.apply(&bench.step(vec![row(900, 40_000), row(901, 40_000)])).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    assert_eq!(bench.get(table, &[vec![n(900)]]).await, [None]);
    // Within one partition there is no such limit.
    let large = "x".repeat(100_000);
    let one = |i: i32| put(Mixed::table(), vec![n(1), n(i), n(0), n(0), n(0), t(&large)]);
    bench.apply((0..5).map(one).collect()).await;
    bench.end().await;
}

#[tokio::test]
async fn counters_add_up_and_are_deleted() {
    let schema = Schema::new().table::<Views>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, day) = (Views::table(), Value::Date(Date::from_days(20_000)));
    let add = |p: &str, amounts: Vec<(usize, i64)>| Add { table, key: vec![t(p), day.clone()], amounts };
    for _ in 0..3 {
        let adds = [add("a", vec![(2, 2), (3, -1)]), add("b", vec![(3, 5)])];
        bench.engine.add(&bench.tenant, &adds).await.unwrap();
    }
    let keys = [vec![t("a"), day.clone()], vec![t("b"), day.clone()], vec![t("c"), day.clone()]];
    let found = bench.get(table, &keys).await;
    assert_eq!(found[0].as_ref().unwrap().values[2..], [Value::Counter(6), Value::Counter(-3)]);
    assert_eq!(found[1].as_ref().unwrap().values[2..], [Value::Null, Value::Counter(15)]);
    assert_eq!(found[2], None);
    bench
        .apply(vec![Write::Delete { table, key: keys[0].clone() }, Write::Delete { table, key: keys[1].clone() }])
        .await;
    assert_eq!(bench.get(table, &keys).await, [None, None, None]);
    bench.end().await;
}

/// Rows come and go in one partition, its static column says which is the case: whoever is let in by the version that
/// was read has seen the rows of that version.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_version_is_never_newer_than_the_rows_and_no_commit_is_lost() {
    let schema = Schema::new().table::<Stock>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let bench = Arc::new(bench);
    let (table, partition) = (Stock::table(), vec![t("lamp")]);
    let writer = |bench: Arc<Bench>, partition: Vec<Value>| async move {
        let (mut done, mut unknown) = (0, 0);
        for _ in 0..30 {
            let keys = [vec![t("hold"), n(1)]];
            let read = ReadAnchor {
                tenant: &bench.tenant,
                table,
                partition: &partition,
                rows: AnchorRows::Keys(&keys),
                ring: false,
            };
            let Ok(seen) = bench.engine.read_anchor(read).await else { continue };
            let there = seen.rows[0].is_some();
            let says = seen.statics.as_ref().is_some_and(|s| s[3] == t("there"));
            let note = t(if there { "gone" } else { "there" });
            let set = Write::SetStatics { table, partition: partition.clone(), cells: vec![(3, note)] };
            let row = if there {
                Write::Delete { table, key: vec![t("lamp"), t("hold"), n(1)] }
            } else {
                put(table, vec![t("lamp"), t("hold"), n(1), Value::Null, n(1)])
            };
            let mut step = bench.guarded(table, &partition, &seen, vec![row, set]);
            step.guarded.as_mut().unwrap().outbox = Some((step.id, 1));
            let id = step.id;
            let applied = match bench.engine.apply(&step).await {
                Ok(Applied::Done(version)) => Some(version),
                Ok(_) => None,
                Err(Error::Indeterminate { .. }) => {
                    unknown += 1;
                    let seen = bench.anchor(table, &partition, &[]).await;
                    seen.ring.contains(&id).then_some(seen.version).flatten()
                }
                Err(error) => panic!("{error}"),
            };
            if let Some(version) = applied {
                assert_eq!(there, says);
                done += 1;
                bench.engine.close_outbox(bench.entry(table, &partition, id, version)).await.unwrap();
            }
        }
        (done, unknown)
    };
    let tasks: Vec<_> = (0..6).map(|_| tokio::spawn(writer(bench.clone(), partition.clone()))).collect();
    let (mut done, mut unknown) = (0, 0);
    for task in tasks {
        let (d, u) = task.await.unwrap();
        (done, unknown) = (done + d, unknown + u);
    }
    let seen = bench.anchor(table, &partition, &[vec![t("hold"), n(1)]]).await;
    println!("{done} applied, {unknown} of unknown outcome");
    assert!(done > 30);
    assert_eq!((seen.sequence, seen.outbox.len(), seen.rows[0].is_some()), (done, 0, done % 2 == 1));
    Arc::into_inner(bench).unwrap().end().await;
}
