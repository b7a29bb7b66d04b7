//! The engine trait on a real Cassandra or ScyllaDB, without the layer above it: what the server does with the
//! statements. Runs when `MERKATO_TEST_CASSANDRA` has an address; says so when it has none.

use std::{
    cmp::Ordering,
    ops::Bound,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use scylla::client::{session::Session, session_builder::SessionBuilder};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};
use uuid::Uuid;
use widerow::{
    cassandra::{Cassandra, CassandraConfig},
    engine::*,
    error::{Error, SchemaError},
    key::Tenant,
    meter,
    row::Row,
    schema::*,
    time::{Clock, Date, SystemClock, Timestamp},
    value::{Mismatch, StructType, Type, Value},
};

const REPLICATION: &str = "{'class': 'SimpleStrategy', 'replication_factor': 1}";

/// A keyspace of its own for one test.
struct Bench {
    engine: Cassandra,
    session: Session,
    keyspace: String,
    tenant: Tenant,
}

fn address() -> Option<String> {
    let address = std::env::var("MERKATO_TEST_CASSANDRA").ok().filter(|a| !a.is_empty());
    if address.is_none() {
        eprintln!("SKIPPED: MERKATO_TEST_CASSANDRA is not set, so nothing was tried on Cassandra");
    }
    address
}

impl Bench {
    /// None where there is no server to test on.
    async fn new(schema: &Schema) -> Option<Bench> {
        let bench = Bench::empty(schema).await?;
        let report = bench.engine.migrate(schema, true).await.unwrap();
        assert_eq!(report.problems, []);
        Some(bench)
    }

    async fn empty(schema: &Schema) -> Option<Bench> {
        let address = address()?;
        let keyspace = format!("Wr_{}", Uuid::new_v4().simple());
        let session = SessionBuilder::new().known_node(&address).fetch_schema_metadata(false).build().await.unwrap();
        let config = CassandraConfig { nodes: vec![address], keyspace: keyspace.clone(), ..CassandraConfig::default() };
        let engine = Cassandra::connect(config, schema).await.unwrap();
        Some(Bench { engine, session, keyspace, tenant: Tenant::new("acme").unwrap() })
    }

    async fn end(self) {
        self.session.query_unpaged(format!("DROP KEYSPACE IF EXISTS \"{}\"", self.keyspace), ()).await.unwrap();
    }

    fn step(&self, writes: Vec<Write>) -> Step<'_> {
        let (now, timestamp) = (SystemClock.now(), SystemClock.now_micros());
        Step { id: Uuid::new_v4(), tenant: &self.tenant, guarded: None, writes, now, timestamp }
    }

    fn guarded(&self, table: &'static Table, partition: &[Value], seen: &Anchor, writes: Vec<Write>) -> Step<'_> {
        let next = Version(SystemClock.now_micros().max(seen.version.map_or(0, |v| v.0 + 1)));
        let expect = Some(Expect { version: seen.version, sequence: seen.sequence, next });
        let guarded = Guarded { table, partition: partition.to_vec(), expect, guards: Vec::new(), outbox: None };
        Step { guarded: Some(guarded), ..self.step(writes) }
    }

    async fn anchor(&self, table: &'static Table, partition: &[Value], keys: &[Vec<Value>]) -> Anchor {
        let rows = AnchorRows::Keys(keys);
        let read = ReadAnchor { tenant: &self.tenant, table, partition, rows, ring: true };
        self.engine.read_anchor(read).await.unwrap()
    }

    async fn get(&self, table: &'static Table, keys: &[Vec<Value>]) -> Vec<Option<RawRow>> {
        let get = Get { tenant: &self.tenant, table, keys, consistency: Consistency::Quorum };
        self.engine.get(get).await.unwrap()
    }

    async fn apply(&self, writes: Vec<Write>) {
        assert!(matches!(self.engine.apply(&self.step(writes)).await.unwrap(), Applied::Done(Version(0))));
    }

    fn all<'a>(&'a self, table: &'static Table, partition: &'a [Value]) -> Slice<'a> {
        Slice {
            tenant: &self.tenant,
            table,
            partition,
            prefix: &[],
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
            reverse: false,
            after: None,
            limit: 1_000,
            consistency: Consistency::LocalQuorum,
        }
    }
}

fn column(name: &str, column_type: Type, kind: Kind) -> Column {
    let optional = matches!(kind, Kind::Static | Kind::Regular);
    Column { name: name.into(), column_type, kind, optional, label: String::new() }
}

fn table(name: &str, columns: Vec<Column>) -> Table {
    let count = |f: fn(&Kind) -> bool| columns.iter().filter(|c| f(&c.kind)).count();
    Table {
        name: name.into(),
        doc: "What it's for;\n  in two lines.".into(),
        partition_columns: count(|k| *k == Kind::Partition),
        clustering_columns: count(|k| matches!(k, Kind::Clustering(_))),
        columns,
        guarded: false,
        counters: false,
        ttl_seconds: None,
        gc_grace_seconds: None,
        read: Consistency::LocalQuorum,
        write: Consistency::LocalQuorum,
        index: None,
    }
}

const ASC: Kind = Kind::Clustering(Direction::Ascending);
const DESC: Kind = Kind::Clustering(Direction::Descending);

/// A table as a row type, because a schema is made of those.
macro_rules! tables {
    ($($row:ident = $table:expr;)+) => { $(
        #[derive(Clone)]
        struct $row(Vec<Value>);
        impl Row for $row {
            type Partition = Vec<Value>;
            type Key = Vec<Value>;
            fn table() -> &'static Table {
                static TABLE: LazyLock<Table> = LazyLock::new(|| $table);
                &TABLE
            }
            fn to_values(&self) -> Vec<Value> {
                self.0.clone()
            }
            fn from_cells(cells: &mut std::vec::IntoIter<Value>) -> Result<Self, Mismatch> {
                Ok($row(cells.take(Self::table().columns.len()).collect()))
            }
        }
    )+ };
}

fn address_type() -> Type {
    Type::Struct(StructType {
        name: "address".into(),
        fields: vec![
            ("street".into(), Type::Text),
            ("order".into(), Type::Int),
            ("tags".into(), Type::Set(Box::new(Type::Text))),
            (
                "place".into(),
                Type::Struct(StructType { name: "Place".into(), fields: vec![("x".into(), Type::Double)] }),
            ),
        ],
    })
}

fn longer_address_type() -> Type {
    let Type::Struct(mut def) = address_type() else { unreachable!() };
    def.fields.push(("zip".into(), Type::Text));
    Type::Struct(def)
}

fn every_type() -> Vec<(&'static str, Type)> {
    vec![
        ("a_text", Type::Text),
        ("order", Type::Int),
        ("camelCase", Type::BigInt),
        ("a_decimal", Type::Decimal),
        ("a_double", Type::Double),
        ("a_boolean", Type::Boolean),
        ("a_uuid", Type::Uuid),
        ("a_timestamp", Type::Timestamp),
        ("a_date", Type::Date),
        ("a_blob", Type::Blob),
        ("a_vector", Type::Vector(3)),
        ("a_list", Type::List(Box::new(address_type()))),
        ("a_set", Type::Set(Box::new(Type::Uuid))),
        ("a_map", Type::Map(Box::new(Type::Decimal), Box::new(Type::List(Box::new(Type::Int))))),
        ("a_struct", address_type()),
    ]
}

tables! {
    Types = table("types", std::iter::once(column("id", Type::Int, Kind::Partition))
        .chain(every_type().into_iter().map(|(name, t)| column(name, t, Kind::Regular))).collect());
    // Every type that a key can have, in keys.
    Keys = table("keys", std::iter::once(column("id", Type::Text, Kind::Partition))
        .chain(every_type().into_iter().filter(|(_, t)| t.orders_in_keys())
            .enumerate().map(|(i, (name, t))| column(name, t, if i % 2 == 0 { ASC } else { DESC }))).collect());
    Stock = Table { guarded: true, ttl_seconds: Some(3600), read: Consistency::Serial, write: Consistency::Serial,
        ..table("stock", vec![column("product", Type::Text, Kind::Partition), column("kind", Type::Text, ASC),
            column("id", Type::Int, DESC), column("note", Type::Text, Kind::Static), column("held", Type::Int, Kind::Regular)]) };
    Profile = Table { guarded: true, ..table("profile", vec![column("email", Type::Text, Kind::Partition),
        column("name", Type::Text, Kind::Regular), column("tags", Type::Set(Box::new(Type::Text)), Kind::Regular)]) };
    Mixed = table("mixed", vec![column("p", Type::Int, Kind::Partition), column("a", Type::Int, ASC), column("b", Type::Int, DESC),
        column("c", Type::Int, DESC), column("d", Type::Int, ASC), column("v", Type::Text, Kind::Regular)]);
    Down = table("down", vec![column("p", Type::Int, Kind::Partition), column("a", Type::Int, DESC), column("b", Type::Int, DESC),
        column("s", Type::Text, Kind::Static), column("v", Type::Text, Kind::Regular)]);
    Views = Table { counters: true, ..table("views", vec![column("p", Type::Text, Kind::Partition), column("day", Type::Date, ASC),
        column("seen", Type::Counter, Kind::Regular), column("sold", Type::Counter, Kind::Regular)]) };
    Grown = Table { ttl_seconds: Some(60), gc_grace_seconds: Some(7200), ..table("mixed", vec![column("p", Type::Int, Kind::Partition),
        column("a", Type::Int, ASC), column("b", Type::Int, DESC), column("c", Type::Int, DESC), column("d", Type::Int, ASC),
        column("v", Type::Text, Kind::Regular), column("w", address_type(), Kind::Regular), column("s", Type::Text, Kind::Static)]) };
    Homes = table("homes", vec![column("p", Type::Int, Kind::Partition), column("home", address_type(), Kind::Regular),
        column("past", Type::List(Box::new(address_type())), Kind::Regular)]);
    LongerHomes = table("homes", vec![column("p", Type::Int, Kind::Partition), column("home", longer_address_type(), Kind::Regular),
        column("past", Type::List(Box::new(longer_address_type())), Kind::Regular)]);
    Retyped = table("mixed", vec![column("p", Type::Int, Kind::Partition), column("a", Type::BigInt, ASC), column("b", Type::Int, ASC),
        column("d", Type::Int, ASC), column("v", Type::Int, Kind::Regular), column("new", Type::Int, Kind::Regular)]);
}

fn t(text: &str) -> Value {
    Value::Text(text.into())
}

fn n(number: i32) -> Value {
    Value::Int(number)
}

fn put(table: &'static Table, values: Vec<Value>) -> Write {
    Write::Put { table, values, expires_at: None, indexes: Vec::new() }
}

fn dec(text: &str) -> Value {
    Value::Decimal(text.parse().unwrap())
}

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
    for prefix in [&[][..], &[t("hold")][..]] {
        let rows = AnchorRows::Prefix { prefix, limit: 10 };
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
    let rows = AnchorRows::Prefix { prefix: &[t("hold")], limit: 10 };
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
            bench.engine.close_outbox(&bench.tenant, table, &partition, id, version).await.unwrap();
            let seen = bench.anchor(table, &partition, &[]).await;
            assert_eq!((seen.outbox.len(), seen.version), (0, Some(version)));
        }
        // A store whose clock is far behind the server's removes its entries as well.
        let seen = bench.anchor(table, &partition, &[]).await;
        let mut step = bench.guarded(table, &partition, &seen, Vec::new());
        step.guarded.as_mut().unwrap().outbox = Some((step.id, 4712));
        let id = step.id;
        bench.engine.apply(&step).await.unwrap();
        bench.engine.close_outbox(&bench.tenant, table, &partition, id, Version(1_000)).await.unwrap();
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
    let put_row = |expires_at| Write::Put { table, values: values.clone(), expires_at, indexes: Vec::new() };
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
    let scan = Scan { table, split: &[], range: 0, ranges: 1, after: None, limit: 10 };
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
    let put_row =
        |table: &'static Table, values, expires_at| Write::Put { table, values, expires_at, indexes: Vec::new() };
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
        lower,
        upper,
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
async fn later_writes_keep_the_order_of_their_timestamps() {
    let schema = Schema::new().table::<Mixed>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let (table, key) = (Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1)]);
    let row = |v: &str| put(table, [key.clone(), vec![t(v)]].concat());
    let late = async |writes: &[Write], timestamp: i64| {
        let fence = Fence::Pending { key: &[] };
        bench.engine.apply_late(&bench.tenant, fence, writes, SystemClock.now(), timestamp).await.unwrap();
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
                let scan = Scan { table, split: &[], range, ranges, after: after.as_deref(), limit };
                let page = bench.engine.scan(scan).await.unwrap();
                assert!(page.rows.len() <= limit && (page.rows.len() == limit || page.next.is_none()));
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

#[tokio::test]
async fn migrate_creates_compares_adds_and_refuses() {
    let schema = Schema::new().table::<Mixed>().table::<Stock>().table::<Profile>().table::<Types>().build().unwrap();
    let Some(bench) = Bench::empty(&schema).await else { return };
    let engine = &bench.engine;
    let missing = engine.migrate(&schema, false).await.unwrap();
    assert_eq!((missing.problems.len(), missing.created_tables.len()), (5, 0));
    assert!(missing.problems.contains(&SchemaError::Missing { table: "mixed".into() }));
    let get = Get {
        tenant: &bench.tenant,
        table: Mixed::table(),
        keys: &[vec![n(1), n(1), n(1), n(1), n(1)]],
        consistency: Consistency::One,
    };
    let refused = engine.get(get).await;
    assert!(matches!(&refused, Err(Error::Schema(SchemaError::Missing { table })) if table == "mixed"), "{refused:?}");

    let made = engine.migrate(&schema, true).await.unwrap();
    assert_eq!((made.created_tables.len(), made.added_columns.len(), made.problems.len()), (5, 0, 0));
    for create in [false, true] {
        assert_eq!(engine.migrate(&schema, create).await.unwrap(), SchemaReport::default());
    }

    bench.apply(vec![put(Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1), t("old")])]).await;
    let grown = Schema::new().table::<Grown>().build().unwrap();
    let compared = engine.migrate(&grown, false).await.unwrap();
    assert_eq!((compared.problems.len(), compared.added_columns.len()), (2, 0));
    let added = engine.migrate(&grown, true).await.unwrap();
    assert_eq!(added.added_columns, [("mixed".to_owned(), "w".to_owned()), ("mixed".to_owned(), "s".to_owned())]);
    assert_eq!(engine.migrate(&grown, false).await.unwrap(), SchemaReport::default());
    // The older declaration still holds: what it does not know is left alone.
    assert_eq!(engine.migrate(&schema, false).await.unwrap().problems, []);
    let found = bench.get(Grown::table(), &[vec![n(1), n(1), n(1), n(1), n(1)]]).await;
    assert_eq!(found[0].as_ref().unwrap().values[5..], [t("old"), Value::Null, Value::Null]);

    let retyped = Schema::new().table::<Retyped>().build().unwrap();
    let refused = engine.migrate(&retyped, true).await.unwrap();
    let columns: Vec<_> = refused
        .problems
        .iter()
        .map(|p| match p {
            SchemaError::Lossy { table, column, .. } if table == "mixed" => column.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(columns, ["a", "b", "d", "c", "v"]);
    assert_eq!((refused.created_tables.len(), refused.added_columns.len()), (0, 0));
    assert_eq!(engine.migrate(&grown, false).await.unwrap(), SchemaReport::default());
    bench.end().await;
}

#[tokio::test]
async fn a_nested_type_grows_a_field_under_rows_that_have_it_not() {
    let schema = Schema::new().table::<Homes>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let short = Value::Struct(vec![t("Zürich 8"), n(1), Value::Null, Value::Null]);
    let row = |table, id: i32, home: &Value| put(table, vec![n(id), home.clone(), Value::List(vec![home.clone()])]);
    bench.apply(vec![row(Homes::table(), 1, &short)]).await;

    let longer = Schema::new().table::<LongerHomes>().build().unwrap();
    let report = bench.engine.migrate(&longer, true).await.unwrap();
    assert_eq!(report.added_columns, [("address".to_owned(), "zip".to_owned())]);
    let long = Value::Struct(vec![t("Zürich 8"), n(1), Value::Null, Value::Null, t("8000")]);
    bench.apply(vec![row(LongerHomes::table(), 2, &long)]).await;
    let found = bench.get(LongerHomes::table(), &[vec![n(1)], vec![n(2)]]).await;
    let old = Value::Struct(vec![t("Zürich 8"), n(1), Value::Null, Value::Null, Value::Null]);
    assert_eq!(found[0].as_ref().unwrap().values[1..], [old.clone(), Value::List(vec![old])]);
    assert_eq!(found[1].as_ref().unwrap().values[1..], [long.clone(), Value::List(vec![long])]);
    // Who still has the older declaration reads both, and writes.
    let found = bench.get(Homes::table(), &[vec![n(2)]]).await;
    assert_eq!(found[0].as_ref().unwrap().values[1], short);
    bench.apply(vec![row(Homes::table(), 3, &short)]).await;
    bench.end().await;
}

#[tokio::test]
async fn the_emitted_cql_is_taken_statement_by_statement() {
    let schema = Schema::new().table::<Types>().table::<Keys>().table::<Stock>().table::<Profile>().table::<Views>();
    let schema = schema.table::<Grown>().table::<Down>().build().unwrap();
    let Some(bench) = Bench::empty(&schema).await else { return };
    let text = widerow::cassandra::cql(&schema, &bench.keyspace, REPLICATION);
    let statements: Vec<_> = text.split(";\n").map(str::trim).filter(|s| !s.is_empty()).collect();
    assert_eq!(statements.len(), 1 + 2 + 8);
    for statement in statements {
        bench.session.query_unpaged(statement, ()).await.unwrap_or_else(|e| panic!("{statement}\n{e}"));
    }
    assert_eq!(bench.engine.migrate(&schema, false).await.unwrap(), SchemaReport::default());
    bench.end().await;
}

/// Passes on what the client says. While it is told to, it keeps the server's answers to itself, or is not there.
struct Proxy {
    address: String,
    mute: Arc<AtomicBool>,
    cut: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Proxy {
    async fn to(server: String) -> Proxy {
        // At the address of the node itself, by which the driver will look for it.
        let host = server.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (mute, cut) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let proxy = Proxy { address, mute: mute.clone(), cut: cut.clone(), connections: Arc::default() };
        let connections = proxy.connections.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if cut.load(SeqCst) {
                    continue;
                }
                let upstream = TcpStream::connect(&server).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = upstream.into_split();
                let mute = mute.clone();
                let up = tokio::spawn(async move {
                    let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
                });
                let down = tokio::spawn(async move {
                    let mut buffer = vec![0; 65_536];
                    while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
                        if !mute.load(SeqCst) && to_client.write_all(&buffer[..read]).await.is_err() {
                            break;
                        }
                    }
                });
                connections.lock().unwrap().extend([up.abort_handle(), down.abort_handle()]);
            }
        });
        proxy
    }

    fn cut(&self) {
        self.cut.store(true, SeqCst);
        self.connections.lock().unwrap().drain(..).for_each(|connection| connection.abort());
    }
}

#[tokio::test]
async fn an_engine_that_goes_away_is_unavailable_at_once_and_found_again() {
    let schema = Schema::new().table::<Stock>().table::<Mixed>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let proxy = Proxy::to(address().unwrap()).await;
    let (nodes, keyspace) = (vec![proxy.address.clone()], bench.keyspace.clone());
    let engine = Cassandra::connect(CassandraConfig { nodes, keyspace, ..CassandraConfig::default() }, &schema);
    let engine = engine.await.unwrap();
    let (table, partition) = (Stock::table(), vec![t("lamp")]);
    let stock = |held: i32| vec![put(table, vec![t("lamp"), t("stock"), n(0), Value::Null, n(held)])];
    let plain = || vec![put(Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1), t("v")])];
    let key = vec![vec![n(1), n(1), n(1), n(1), n(1)]];
    let get = Get { tenant: &bench.tenant, table: Mixed::table(), keys: &key, consistency: Consistency::Quorum };
    engine.apply(&bench.guarded(table, &partition, &Anchor::default(), stock(1))).await.unwrap();
    engine.apply(&bench.step(plain())).await.unwrap();
    engine.get(get.clone()).await.unwrap();

    proxy.cut();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let seen = bench.anchor(table, &partition, &[]).await;
    let refused = engine.apply(&bench.guarded(table, &partition, &seen, stock(2))).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    let refused = engine.apply(&bench.step(plain())).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    let refused = engine.get(get.clone()).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    assert_eq!(bench.anchor(table, &partition, &[]).await.sequence, 1);

    proxy.cut.store(false, SeqCst);
    while engine.get(get.clone()).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "it is never found again");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    engine.apply(&bench.guarded(table, &partition, &seen, stock(2))).await.unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_lost_answer_is_told_as_what_it_is_and_nothing_is_done_twice() {
    let schema = Schema::new().table::<Stock>().table::<Views>().table::<Mixed>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let proxy = Proxy::to(address().unwrap()).await;
    let config = CassandraConfig {
        nodes: vec![proxy.address.clone()],
        keyspace: bench.keyspace.clone(),
        request_timeout: Duration::from_millis(700),
        ..CassandraConfig::default()
    };
    let engine = Cassandra::connect(config, &schema).await.unwrap();
    let (table, partition, day) = (Stock::table(), vec![t("lamp")], Value::Date(Date::from_days(1)));
    let stock = |held: i32| vec![put(table, vec![t("lamp"), t("stock"), n(0), Value::Null, n(held)])];
    let add = [Add { table: Views::table(), key: vec![t("a"), day.clone()], amounts: vec![(2, 1)] }];
    let plain = |v: &str| vec![put(Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1), t(v)])];
    let key = vec![vec![n(1), n(1), n(1), n(1), n(1)]];
    let get = Get { tenant: &bench.tenant, table: Mixed::table(), keys: &key, consistency: Consistency::Quorum };

    // Everything once while the answers come, so that the statements are prepared.
    engine.apply(&bench.guarded(table, &partition, &Anchor::default(), stock(1))).await.unwrap();
    engine.add(&bench.tenant, &add).await.unwrap();
    engine.apply(&bench.step(plain("first"))).await.unwrap();
    engine.get(get.clone()).await.unwrap();
    let seen = bench.anchor(table, &partition, &[]).await;

    proxy.mute.store(true, SeqCst);
    let started = Instant::now();
    let step = bench.guarded(table, &partition, &seen, stock(2));
    let step_id = step.id;
    let lost = engine.apply(&step).await;
    assert!(matches!(lost, Err(Error::Indeterminate { id, .. }) if id == step_id), "{lost:?}");
    let lost = engine.add(&bench.tenant, &add).await;
    assert!(matches!(lost, Err(Error::TimedOut { .. })), "{lost:?}");
    let step = bench.step(plain("second"));
    let lost = engine.apply(&step.clone()).await;
    assert!(matches!(lost, Err(Error::Indeterminate { id, .. }) if id == step.id), "{lost:?}");
    let lost = engine.get(get.clone()).await;
    assert!(matches!(lost, Err(Error::TimedOut { .. })), "{lost:?}");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());

    // All of it had happened, once.
    let seen = bench.anchor(table, &partition, &[]).await;
    assert!(seen.ring.contains(&step_id) && seen.sequence == 2);
    let views = bench.get(Views::table(), &[vec![t("a"), day]]).await;
    assert_eq!(views[0].as_ref().unwrap().values[2], Value::Counter(2));
    proxy.mute.store(false, SeqCst);
    engine.apply(&step).await.unwrap();
    assert_eq!(engine.get(get).await.unwrap()[0].as_ref().unwrap().values[5], t("second"));
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
                bench.engine.close_outbox(&bench.tenant, table, &partition, id, version).await.unwrap();
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

#[tokio::test]
async fn two_that_migrate_at_once_both_succeed() {
    let schema = Schema::new().table::<Mixed>().table::<Types>().build().unwrap();
    let Some(bench) = Bench::empty(&schema).await else { return };
    let config = CassandraConfig {
        nodes: vec![address().unwrap()],
        keyspace: bench.keyspace.clone(),
        ..CassandraConfig::default()
    };
    let other = Cassandra::connect(config, &schema).await.unwrap();
    for schema in [schema, Schema::new().table::<Grown>().build().unwrap()] {
        let (one, two) = tokio::join!(bench.engine.migrate(&schema, true), other.migrate(&schema, true));
        assert_eq!((one.unwrap().problems, two.unwrap().problems), (vec![], vec![]));
        assert_eq!(other.migrate(&schema, false).await.unwrap(), SchemaReport::default());
    }
    bench.end().await;
}

#[tokio::test]
async fn a_wrong_address_is_refused_in_time() {
    let schema = Schema::new().build().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    // A closed port, and a server that says nothing.
    for node in ["127.0.0.1:1", &silent] {
        let started = Instant::now();
        let connect_timeout = Duration::from_millis(1_500);
        let config = CassandraConfig { nodes: vec![node.into()], connect_timeout, ..CassandraConfig::default() };
        let refused = Cassandra::connect(config, &schema).await.err();
        assert!(matches!(refused, Some(Error::Unavailable { .. })), "{node}: {refused:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "{node}: {:?}", started.elapsed());
    }
}
