//! Tables, an engine in a keyspace of its own, and short words for both.

use std::sync::LazyLock;

use scylla::client::{session::Session, session_builder::SessionBuilder};
use uuid::Uuid;
use widerow::{
    cassandra::{Cassandra, CassandraConfig},
    engine::*,
    key::Tenant,
    row::Row,
    schema::*,
    time::{Clock, SystemClock},
    value::{Mismatch, StructType, Type, Value},
};

pub const REPLICATION: &str = "{'class': 'SimpleStrategy', 'replication_factor': 1}";

/// A keyspace of its own for one test.
pub struct Bench {
    pub engine: Cassandra,
    pub session: Session,
    pub keyspace: String,
    pub tenant: Tenant,
}

pub fn address() -> Option<String> {
    let address = std::env::var("MERKATO_TEST_CASSANDRA").ok().filter(|a| !a.is_empty());
    if address.is_none() {
        eprintln!("SKIPPED: MERKATO_TEST_CASSANDRA is not set, so nothing was tried on Cassandra");
    }
    address
}

impl Bench {
    pub fn entry<'a>(&'a self, table: &'static Table, partition: &'a [Value], id: Uuid, version: Version) -> Entry<'a> {
        Entry { tenant: &self.tenant, table, partition, id, version }
    }

    /// None where there is no server to test on.
    pub async fn new(schema: &Schema) -> Option<Bench> {
        let bench = Bench::empty(schema).await?;
        let report = bench.engine.migrate(schema, true).await.unwrap();
        assert_eq!(report.problems, []);
        Some(bench)
    }

    pub async fn empty(schema: &Schema) -> Option<Bench> {
        let address = address()?;
        let keyspace = format!("Wr_{}", Uuid::new_v4().simple());
        let session = SessionBuilder::new().known_node(&address).fetch_schema_metadata(false).build().await.unwrap();
        let config = CassandraConfig { nodes: vec![address], keyspace: keyspace.clone(), ..CassandraConfig::default() };
        let engine = Cassandra::connect(config, schema).await.unwrap();
        Some(Bench { engine, session, keyspace, tenant: Tenant::new("acme").unwrap() })
    }

    pub async fn end(self) {
        self.session.query_unpaged(format!("DROP KEYSPACE IF EXISTS \"{}\"", self.keyspace), ()).await.unwrap();
    }

    pub fn step(&self, writes: Vec<Write>) -> Step<'_> {
        let (now, timestamp) = (SystemClock.now(), SystemClock.now_micros());
        Step { id: Uuid::new_v4(), tenant: &self.tenant, guarded: None, writes, now, timestamp }
    }

    pub fn guarded(&self, table: &'static Table, partition: &[Value], seen: &Anchor, writes: Vec<Write>) -> Step<'_> {
        let next = Version(SystemClock.now_micros().max(seen.version.map_or(0, |v| v.0 + 1)));
        let expect = Some(Expect { version: seen.version, sequence: seen.sequence, next, after: None });
        let guarded = Guarded {
            table,
            partition: partition.to_vec(),
            expect,
            guards: Vec::new(),
            new_rows: Vec::new(),
            outbox: None,
            beside: Vec::new(),
        };
        Step { guarded: Some(guarded), ..self.step(writes) }
    }

    pub async fn anchor(&self, table: &'static Table, partition: &[Value], keys: &[Vec<Value>]) -> Anchor {
        let rows = AnchorRows::Keys(keys);
        let read = ReadAnchor { tenant: &self.tenant, table, partition, rows, ring: true };
        self.engine.read_anchor(read).await.unwrap()
    }

    pub async fn get(&self, table: &'static Table, keys: &[Vec<Value>]) -> Vec<Option<RawRow>> {
        let get = Get { tenant: &self.tenant, table, keys, consistency: Consistency::Quorum };
        self.engine.get(get).await.unwrap()
    }

    pub async fn apply(&self, writes: Vec<Write>) {
        assert!(matches!(self.engine.apply(&self.step(writes)).await.unwrap(), Applied::Done(Version(0))));
    }

    pub fn all<'a>(&'a self, table: &'static Table, partition: &'a [Value]) -> Slice<'a> {
        Slice { consistency: Consistency::LocalQuorum, ..Slice::first(1_000, &self.tenant, table, partition) }
    }
}

pub fn column(name: &str, column_type: Type, kind: Kind) -> Column {
    let optional = matches!(kind, Kind::Static | Kind::Regular);
    Column { name: name.into(), column_type, kind, optional, label: String::new(), index_key: None }
}

pub fn table(name: &str, columns: Vec<Column>) -> Table {
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
        ends: None,
        shared: false,
        series: false,
        gc_grace_seconds: None,
        read: Consistency::LocalQuorum,
        write: Consistency::LocalQuorum,
        index: None,
    }
}

pub const ASC: Kind = Kind::Clustering(Direction::Ascending);
pub const DESC: Kind = Kind::Clustering(Direction::Descending);

/// A table as a row type, because a schema is made of those.
macro_rules! tables {
    ($($row:ident = $table:expr;)+) => { $(
        #[derive(Clone)]
        pub struct $row(pub Vec<Value>);
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

pub fn address_type() -> Type {
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

pub fn longer_address_type() -> Type {
    let Type::Struct(mut def) = address_type() else { unreachable!() };
    def.fields.push(("zip".into(), Type::Text));
    Type::Struct(def)
}

pub fn every_type() -> Vec<(&'static str, Type)> {
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

pub fn t(text: &str) -> Value {
    Value::Text(text.into())
}

pub fn n(number: i32) -> Value {
    Value::Int(number)
}

pub fn put(table: &'static Table, values: Vec<Value>) -> Write {
    Write::Put { table, values: values.into(), expires_at: None, indexes: Vec::new() }
}

pub fn dec(text: &str) -> Value {
    Value::Decimal(text.parse().unwrap())
}
