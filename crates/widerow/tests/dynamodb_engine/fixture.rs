//! Tables, an engine under a prefix of its own, and short words for both.

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::LazyLock, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    config::{BehaviorVersion, Credentials, Region},
    types::AttributeValue,
};
use futures::FutureExt;
use uuid::Uuid;
use widerow::{
    derived::Derive,
    dynamodb::{DynamoConfig, DynamoDb, connect},
    engine::{Applied, Condition, Engine, Expect, Guarded, Operator, RawGuard, RawRow, Step, Version, Write},
    key::Tenant,
    row::Row,
    schema::{Column, Consistency, Direction, Index, Kind, Projection, Schema, Table},
    time::Timestamp,
    value::{Mismatch, StructType, Type, Value},
};

pub const UP: Kind = Kind::Clustering(Direction::Ascending);
pub const DOWN: Kind = Kind::Clustering(Direction::Descending);
/// Far ahead: DynamoDB deletes what has ended by its own clock.
pub const NOW: Timestamp = Timestamp::from_millis(4_000_000_000_000);

pub fn column(name: &str, column_type: Type, kind: Kind, label: &str) -> Column {
    let optional = matches!(kind, Kind::Regular | Kind::Static);
    Column { name: name.into(), column_type, kind, optional, label: label.into(), index_key: None }
}

pub fn table(name: &str, guarded: bool, columns: Vec<Column>) -> Table {
    let count = |wanted: fn(&Kind) -> bool| columns.iter().filter(|c| wanted(&c.kind)).count();
    Table {
        name: name.into(),
        doc: String::new(),
        partition_columns: count(|k| *k == Kind::Partition),
        clustering_columns: count(|k| matches!(k, Kind::Clustering(_))),
        counters: columns.iter().any(|c| c.column_type == Type::Counter),
        columns,
        guarded,
        ttl_seconds: None,
        ends: None,
        shared: false,
        series: false,
        gc_grace_seconds: None,
        read: Consistency::Quorum,
        write: Consistency::Quorum,
        index: None,
    }
}

/// Guarded, with clustering and static columns.
pub static STOCK: LazyLock<Table> = LazyLock::new(|| {
    table(
        "stock",
        true,
        vec![
            column("product", Type::Text, Kind::Partition, "STOCK"),
            column("line", Type::Text, UP, "LINE"),
            column("note", Type::Text, Kind::Static, ""),
            column("level", Type::Int, Kind::Static, ""),
            column("amount", Type::Int, Kind::Regular, ""),
            column("price", Type::Decimal, Kind::Regular, ""),
            column("flag", Type::Boolean, Kind::Regular, ""),
        ],
    )
});

/// Guarded, without clustering columns: its bookkeeping is in the row's item.
pub static ACCOUNT: LazyLock<Table> = LazyLock::new(|| {
    table(
        "account",
        true,
        vec![
            column("id", Type::Text, Kind::Partition, "ACCOUNT"),
            column("balance", Type::Int, Kind::Regular, ""),
            column("owner", Type::Text, Kind::Regular, ""),
        ],
    )
});

/// Not guarded; columns in different directions.
pub static MIXED: LazyLock<Table> = LazyLock::new(|| {
    table(
        "mixed",
        false,
        vec![
            column("p", Type::Text, Kind::Partition, ""),
            column("day", Type::Date, DOWN, "DAY"),
            column("n", Type::Int, UP, ""),
            column("word", Type::Text, DOWN, ""),
            column("v", Type::Int, Kind::Regular, ""),
        ],
    )
});

/// One bare text as sort key.
pub static WORDS: LazyLock<Table> = LazyLock::new(|| {
    table(
        "words",
        false,
        vec![
            column("p", Type::Int, Kind::Partition, ""),
            column("word", Type::Text, UP, ""),
            column("shared", Type::Text, Kind::Static, ""),
            column("v", Type::Int, Kind::Regular, ""),
        ],
    )
});

pub static HITS: LazyLock<Table> = LazyLock::new(|| {
    table(
        "hits",
        false,
        vec![
            column("page", Type::Text, Kind::Partition, ""),
            column("day", Type::Date, UP, ""),
            column("views", Type::Counter, Kind::Regular, ""),
            column("sales", Type::Counter, Kind::Regular, ""),
        ],
    )
});

pub fn struct_type() -> StructType {
    let fields = vec![("street".to_owned(), Type::Text), ("number".to_owned(), Type::Int)];
    StructType { name: "address".into(), fields }
}

pub static EVERYTHING: LazyLock<Table> = LazyLock::new(|| {
    let boxed = |t: Type| Box::new(t);
    let types = [
        Type::Text,
        Type::Int,
        Type::BigInt,
        Type::Decimal,
        Type::Double,
        Type::Boolean,
        Type::Uuid,
        Type::Timestamp,
        Type::Date,
        Type::Blob,
        Type::Vector(3),
        Type::List(boxed(Type::Int)),
        Type::Set(boxed(Type::Text)),
        Type::Set(boxed(Type::Decimal)),
        Type::Set(boxed(Type::Blob)),
        Type::Set(boxed(Type::Boolean)),
        Type::Map(boxed(Type::Text), boxed(Type::Double)),
        Type::Map(boxed(Type::Int), boxed(Type::Text)),
        Type::Struct(struct_type()),
        Type::List(boxed(Type::Struct(struct_type()))),
    ];
    let mut columns = vec![column("p", Type::Text, Kind::Partition, ""), column("n", Type::Int, UP, "")];
    columns.extend(types.into_iter().enumerate().map(|(i, t)| column(&format!("c{i}"), t, Kind::Regular, "")));
    table("everything", false, columns)
});

/// The sales document's table.
pub static SALES: LazyLock<Table> = LazyLock::new(|| {
    table(
        "sales",
        true,
        vec![
            column("productId", Type::Text, Kind::Partition, "PRODUCT"),
            column("saleDate", Type::Date, UP, "SALE"),
            column("saleId", Type::Text, UP, ""),
            column("salePrice", Type::Decimal, Kind::Regular, ""),
            column("category", Type::Text, Kind::Regular, ""),
            column("brand", Type::Text, Kind::Regular, ""),
            column("embeddingS3Key", Type::Text, Kind::Regular, ""),
        ],
    )
});

fn indexed(mut table: Table, name: &str, sort_columns: usize, projection: Projection) -> Table {
    table.index = Some(Index { name: name.into(), sort_columns, projection });
    table
}

pub static BY_CATEGORY: LazyLock<Table> = LazyLock::new(|| {
    let declared = table(
        "sales_by_category",
        false,
        vec![
            column("category", Type::Text, Kind::Partition, "CATEGORY"),
            column("shard", Type::Int, Kind::Partition, "SHARD"),
            column("saleDate", Type::Date, UP, "DATE"),
            column("price_cents", Type::Int, UP, "PRICE"),
            column("productId", Type::Text, UP, ""),
            column("saleId", Type::Text, UP, ""),
        ],
    );
    indexed(declared, "GSI1", 2, Projection::KeysOnly)
});

pub static EMBEDDINGS: LazyLock<Table> = LazyLock::new(|| {
    let declared = table(
        "sales_embeddings",
        false,
        vec![
            column("shard", Type::Int, Kind::Partition, "EMBTYPE#PRODUCT#SHARD"),
            column("saleDate", Type::Date, UP, "DATE"),
            column("productId", Type::Text, UP, ""),
            column("saleId", Type::Text, UP, ""),
            column("embeddingS3Key", Type::Text, Kind::Regular, ""),
            column("salePrice", Type::Decimal, Kind::Regular, ""),
        ],
    );
    let projected = ["embeddingS3Key", "productId", "category", "salePrice", "brand"].map(str::to_owned);
    indexed(declared, "GSI2", 1, Projection::Include(projected.to_vec()))
});

/// A row type that is its values.
macro_rules! raw_row {
    ($name:ident, $table:ident) => {
        #[derive(Clone)]
        pub struct $name(pub Vec<Value>);
        impl Row for $name {
            type Partition = Vec<Value>;
            type Key = Vec<Value>;
            fn table() -> &'static Table {
                &$table
            }
            fn to_values(&self) -> Vec<Value> {
                self.0.clone()
            }
            fn from_cells(cells: &mut std::vec::IntoIter<Value>) -> Result<Self, Mismatch> {
                Ok($name(cells.take($table.columns.len()).collect()))
            }
        }
    };
}

raw_row!(Stock, STOCK);
raw_row!(Account, ACCOUNT);
raw_row!(Mixed, MIXED);
raw_row!(Words, WORDS);
raw_row!(Hits, HITS);
raw_row!(Everything, EVERYTHING);
raw_row!(Sale, SALES);
raw_row!(ByCategory, BY_CATEGORY);
raw_row!(Embedding, EMBEDDINGS);

pub fn cents(price: &Value) -> Value {
    let Value::Decimal(d) = price else { return Value::Null };
    Value::Int(i32::try_from((d * rust_decimal::Decimal::from(100)).trunc().mantissa()).unwrap())
}

impl Derive<ByCategory> for Sale {
    fn derive(&self) -> Vec<ByCategory> {
        let [product, date, id, price, category, ..] = &self.0[..] else { return Vec::new() };
        if category.is_null() {
            return Vec::new();
        }
        let row = [category, &Value::Int(3), date, &cents(price), product, id];
        vec![ByCategory(row.into_iter().cloned().collect())]
    }
    fn source(derived: &ByCategory) -> Vec<Value> {
        vec![derived.0[4].clone(), derived.0[2].clone(), derived.0[5].clone()]
    }
}

impl Derive<Embedding> for Sale {
    fn derive(&self) -> Vec<Embedding> {
        let [product, date, id, price, _, _, key] = &self.0[..] else { return Vec::new() };
        let row = [&Value::Int(1), date, product, id, key, price];
        if key.is_null() { Vec::new() } else { vec![Embedding(row.into_iter().cloned().collect())] }
    }
    fn source(derived: &Embedding) -> Vec<Value> {
        vec![derived.0[2].clone(), derived.0[1].clone(), derived.0[3].clone()]
    }
}

pub fn schema() -> Schema {
    Schema::new()
        .table::<Stock>()
        .table::<Account>()
        .table::<Mixed>()
        .table::<Words>()
        .table::<Hits>()
        .table::<Everything>()
        .derived::<Sale, ByCategory>()
        .derived::<Sale, Embedding>()
        .build()
        .unwrap()
}

pub fn text(t: &str) -> Value {
    Value::Text(t.into())
}

pub fn day(text: &str) -> Value {
    Value::Date(text.parse().unwrap())
}

/// An engine on tables of its own, and the bare SDK beside it.
pub struct Bench {
    pub engine: DynamoDb,
    pub client: Client,
    pub prefix: String,
    pub tenant: Tenant,
}

pub fn address() -> Option<String> {
    let address = std::env::var("MERKATO_TEST_DYNAMODB").ok();
    if address.is_none() {
        eprintln!("skipped: MERKATO_TEST_DYNAMODB does not give the address of a DynamoDB");
    }
    address
}

pub fn config(endpoint: &str, prefix: &str) -> DynamoConfig {
    DynamoConfig {
        endpoint: Some(endpoint.into()),
        credentials: Some(("local".into(), "local".into())),
        table_prefix: prefix.into(),
        names: BTreeMap::new(),
        migrate_timeout: Duration::from_secs(60),
        ..DynamoConfig::default()
    }
}

pub fn sdk(endpoint: &str) -> Client {
    let http = aws_smithy_http_client::Builder::new().build_http();
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http)
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "test"));
    Client::from_conf(config.build())
}

/// Runs a case on fresh tables and deletes them afterwards, also if the case fails.
pub async fn on_tables<F: Future<Output = ()>>(migrate: bool, case: impl FnOnce(std::sync::Arc<Bench>) -> F) {
    let Some(endpoint) = address() else { return };
    let prefix = format!("t{}-", Uuid::new_v4().simple());
    let engine = connect(config(&endpoint, &prefix), &schema()).await.unwrap();
    let client = sdk(&endpoint);
    if migrate {
        let report = engine.migrate(&schema(), true).await.unwrap();
        assert_eq!(report.problems, vec![]);
    }
    let bench = Bench { engine, client: client.clone(), prefix: prefix.clone(), tenant: Tenant::new("acme").unwrap() };
    let outcome = AssertUnwindSafe(case(std::sync::Arc::new(bench))).catch_unwind().await;
    let mut start = None;
    loop {
        let page = client.list_tables().set_exclusive_start_table_name(start).send().await.unwrap();
        for name in page.table_names().iter().filter(|n| n.starts_with(&prefix)) {
            client.delete_table().table_name(name).send().await.unwrap();
        }
        start = page.last_evaluated_table_name;
        if start.is_none() {
            break;
        }
    }
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

impl Bench {
    pub fn step(&self, guarded: Option<Guarded>, writes: Vec<Write>) -> Step<'_> {
        let timestamp = NOW.millis() * 1000;
        Step { id: Uuid::new_v4(), tenant: &self.tenant, guarded, writes, now: NOW, timestamp }
    }

    pub async fn apply(&self, guarded: Option<Guarded>, writes: Vec<Write>) -> Applied {
        self.engine.apply(&self.step(guarded, writes)).await.unwrap()
    }

    pub async fn get(&self, table: &'static Table, key: &[Value]) -> Option<RawRow> {
        let get = widerow::engine::Get {
            tenant: &self.tenant,
            table,
            keys: &[key.to_vec()],
            consistency: Consistency::Quorum,
        };
        self.engine.get(get).await.unwrap().remove(0)
    }

    /// An item as the bare SDK sees it.
    pub async fn item(
        &self,
        table: &str,
        pk: &str,
        sk: Option<&str>,
    ) -> Option<std::collections::HashMap<String, AttributeValue>> {
        let request = self.client.get_item().table_name(format!("{}{table}", self.prefix));
        let mut request = request.key("PK", AttributeValue::S(pk.into())).consistent_read(true);
        if let Some(sk) = sk {
            request = request.key("SK", AttributeValue::S(sk.into()));
        }
        request.send().await.unwrap().item
    }
}

pub fn put(table: &'static Table, values: Vec<Value>) -> Write {
    Write::Put { table, values: values.into(), expires_at: None, indexes: Vec::new() }
}

pub fn guarded(table: &'static Table, partition: &str, guards: Vec<RawGuard>) -> Guarded {
    Guarded {
        table,
        partition: vec![text(partition)],
        expect: None,
        guards,
        new_rows: Vec::new(),
        outbox: None,
        beside: Vec::new(),
    }
}

pub fn expecting(mut guarded: Guarded, version: Option<Version>, sequence: i64, next: i64) -> Guarded {
    guarded.expect = Some(Expect { version, sequence, next: Version(next), after: None });
    guarded
}

pub fn on(clustering: &[Value], condition: Condition) -> RawGuard {
    RawGuard { clustering: clustering.to_vec(), condition }
}

pub fn compare(column: usize, operator: Operator, value: Value) -> Condition {
    Condition::Compare { column, operator, value }
}

pub fn stock(line: &str, amount: i32) -> Vec<Value> {
    vec![text("p"), text(line), Value::Null, Value::Null, Value::Int(amount), Value::Null, Value::Null]
}
