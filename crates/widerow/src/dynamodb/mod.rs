//! DynamoDB as an engine. Each table is a DynamoDB table of its own; derivations declared as an index are real indexes.
//!
//! Invariants: a step is one `TransactWriteItems`, so all of it or nothing; a request that
//! may have been executed is only repeated under the same token; what another tool wrote in the documented layout is read.
//!
//! What differs from the other engines and cannot be helped: rows of an index with equal sort keys stand in DynamoDB's
//! order, not in that of their further columns.

mod convert;
mod each;
mod error;
mod expression;
mod item;
mod key;
mod late;
mod plan;
mod read;
mod replace;
mod scan;
mod schema;
mod template;
#[cfg(test)]
mod tests;
mod write;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use aws_config::Region;
use aws_sdk_dynamodb::{
    Client,
    config::{BehaviorVersion, Credentials, retry::RetryConfig, timeout::TimeoutConfig},
};
use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};

pub use self::template::cloudformation;
use crate::{
    engine::{
        Abilities, Add, Anchor, Applied, Atomicity, Each, Engine, Entry, Get, Late, RawPage, RawRow, ReadAnchor, Scan,
        ScanPage, SchemaReport, Slice, Step,
    },
    error::{Error, Result, SchemaError},
    key::Tenant,
    schema::{Index, Schema, Table},
    value::Value,
};

/// Actions and bytes of one transaction; DynamoDB refuses more than 100 and 4 MB, keys and names included.
const TRANSACTION_ACTIONS_MAX: usize = 100;
/// One action is the bookkeeping of the guarded partition.
const STEP_ROWS_MAX: usize = TRANSACTION_ACTIONS_MAX - 1;
const TRANSACTION_BYTES_MAX: usize = 3_500_000;

/// How to reach DynamoDB and what the tables are called there.
#[derive(Clone)]
pub struct DynamoConfig {
    /// Another address than the region's, such as `http://127.0.0.1:8000`.
    pub endpoint: Option<String>,
    /// From the environment if it is not given.
    pub region: Option<String>,
    /// Before the name of every table.
    pub table_prefix: String,
    /// Tables that are called otherwise: name in the schema, name on DynamoDB (the prefix is not added). For a derived table
    /// that is an index, the name of the index; its key attributes stay as declared.
    pub names: BTreeMap<String, String>,
    /// Access key and secret; from the environment if they are not given.
    pub credentials: Option<(String, String)>,
    /// No call waits longer, repetitions included.
    pub request_timeout: Duration,
    /// `migrate` waits no longer for a table or an index to become active.
    pub migrate_timeout: Duration,
}

impl Default for DynamoConfig {
    fn default() -> Self {
        DynamoConfig {
            endpoint: None,
            region: None,
            table_prefix: String::new(),
            names: BTreeMap::new(),
            credentials: None,
            request_timeout: Duration::from_secs(10),
            migrate_timeout: Duration::from_secs(600),
        }
    }
}

/// Secrets stay out of logs.
impl std::fmt::Debug for DynamoConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DynamoConfig")
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("table_prefix", &self.table_prefix)
            .field("names", &self.names)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}

/// The engine.
#[derive(Clone, Debug)]
pub struct DynamoDb {
    client: Client,
    schema: Schema,
    prefix: String,
    names: BTreeMap<String, String>,
    limit: Duration,
    migrate_limit: Duration,
}

/// Makes the engine. Nothing is sent, unless the region or the credentials have to be found in the environment.
pub async fn connect(config: DynamoConfig, schema: &Schema) -> Result<DynamoDb> {
    for table in schema.tables() {
        check(schema, table)?;
    }
    let http =
        aws_smithy_http_client::Builder::new().tls_provider(tls::Provider::Rustls(CryptoMode::Ring)).build_https();
    let limit = config.request_timeout;
    // An attempt may take half of the time, so that one lost answer leaves time to ask again.
    let timeouts = TimeoutConfig::builder()
        .connect_timeout((limit / 4).min(Duration::from_secs(3)))
        .operation_attempt_timeout(limit / 2)
        .build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts);
    // With an address of one's own the region is only part of the signature, and asking for it would need a network.
    let region = config.region.or_else(|| config.endpoint.as_ref().map(|_| "us-east-1".to_owned()));
    if let Some(region) = region {
        loader = loader.region(Region::new(region));
    }
    if let Some(endpoint) = config.endpoint {
        loader = loader.endpoint_url(endpoint);
    }
    if let Some((key, secret)) = config.credentials {
        loader = loader.credentials_provider(Credentials::new(key, secret, None, None, "configuration"));
    }
    Ok(DynamoDb {
        client: Client::new(&loader.load().await),
        schema: schema.clone(),
        prefix: config.table_prefix,
        names: config.names,
        limit,
        migrate_limit: config.migrate_timeout,
    })
}

/// What keys and items rely on.
fn check(schema: &Schema, table: &Table) -> Result<()> {
    let wrong = |problem: String| Err(SchemaError::Declaration { table: table.name.clone(), problem }.into());
    let first = table.clustering().first();
    if first.is_some_and(|c| c.label.as_bytes().first().is_some_and(|b| !b.is_ascii_alphanumeric())) {
        return wrong("the label of the first clustering column must begin with a letter or a digit".into());
    }
    for index in schema.derivations_of(table).filter_map(|d| d.derived.index.as_ref()) {
        let (pk, sk) = item::index_keys(index);
        if let Some(name) = [Some(pk), sk].into_iter().flatten().find(|name| table.position(name).is_some()) {
            return wrong(format!("column {name} has the name of a key attribute of index {}", index.name));
        }
    }
    Ok(())
}

/// Where the rows of a table are: in a table, or in an index of one.
struct Home<'s> {
    physical: String,
    /// The table whose items they are.
    base: &'static Table,
    index: Option<&'s Index>,
    index_name: Option<String>,
    /// How many clustering columns the sort key has.
    sorted: usize,
}

impl DynamoDb {
    /// The table's name on DynamoDB.
    fn physical(&self, table: &Table) -> String {
        self.names.get(&table.name).cloned().unwrap_or_else(|| format!("{}{}", self.prefix, table.name))
    }

    /// The index's name on DynamoDB.
    fn index_name(&self, derived: &Table, index: &Index) -> String {
        self.names.get(&derived.name).unwrap_or(&index.name).clone()
    }

    fn home(&self, table: &'static Table) -> Result<Home<'static>> {
        let Some(index) = &table.index else {
            return Ok(Home {
                physical: self.physical(table),
                base: table,
                index: None,
                index_name: None,
                sorted: table.clustering_columns,
            });
        };
        let derivation = self
            .schema
            .derivation_into(table)
            .ok_or_else(|| SchemaError::IndexOfNothing { table: table.name.clone() })?;
        let sorted = item::index_sorted(table, index);
        Ok(Home {
            physical: self.physical(derivation.base),
            base: derivation.base,
            index: Some(index),
            index_name: Some(self.index_name(table, index)),
            sorted,
        })
    }

    /// The derived tables that are indexes of this one.
    fn indexes<'t>(&'t self, base: &'t Table) -> impl Iterator<Item = (&'static Table, &'static Index)> + 't {
        self.schema.derivations_of(base).filter_map(|d| Some((d.derived, d.derived.index.as_ref()?)))
    }
}

#[async_trait]
impl Engine for DynamoDb {
    fn name(&self) -> &'static str {
        "dynamodb"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            atomicity: Atomicity::Rows { rows: STEP_ROWS_MAX, bytes: TRANSACTION_BYTES_MAX },
            native_guards: true,
            native_indexes: true,
            keeps_shared: true,
            native_range_delete: false,
            in_order: false,
        }
    }

    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        self.get_rows(get).await
    }

    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        self.slice_rows(slice).await
    }

    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        self.anchor(read).await
    }

    async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
        self.apply_step(step).await
    }

    async fn write_each(&self, each: Each<'_>) -> Vec<Result<()>> {
        self.each(each).await
    }

    async fn replace_each(&self, each: Each<'_>, old: Vec<Vec<Value>>) -> Vec<Result<bool>> {
        self.replace(each, old).await
    }

    async fn apply_late(&self, late: Late<'_>) -> Result<()> {
        self.late(late.tenant, late.fence, late.writes, late.timestamp).await
    }

    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
        self.close(entry.tenant, entry.table, entry.partition, entry.id).await
    }

    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        self.add_counters(tenant, adds).await
    }

    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
        self.scan_range(scan).await
    }

    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        self.migrate_schema(schema, create).await
    }
}

/// A request that the SDK refuses to build is a mistake of this module.
fn unbuilt(error: impl std::error::Error) -> Error {
    Error::Engine { detail: error.to_string() }
}
