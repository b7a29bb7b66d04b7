//! Apache Cassandra and ScyllaDB.
//!
//! A table of the schema is a table of the keyspace: the tenant first in its partition key, then the declared columns by
//! their names, then a few hidden ones that begin with an underscore (see `cql::hidden_columns`).
//!
//! Invariants: a guarded partition changes only by a lightweight transaction on its version; everything else is
//! idempotent under the commit's timestamp; a transaction whose outcome is not known is reported so, never repeated.

mod convert;
mod cql;
mod failure;
mod link;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod write;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use scylla::{
    client::{execution_profile::ExecutionProfile, session_builder::SessionBuilder},
    policies::speculative_execution::SimpleSpeculativeExecutionPolicy,
};

use self::link::Link;
pub use self::schema::cql;
use crate::{
    engine::{
        Abilities, Add, Anchor, Applied, Atomicity, Engine, Entry, Get, Late, RawPage, RawRow, ReadAnchor, Scan,
        ScanPage, SchemaReport, Slice, Step,
    },
    error::{Error, Result, SchemaError},
    key::Tenant,
    schema::Schema,
    time::Timestamp,
};

/// Where the cluster is and how to speak to it.
#[derive(Clone)]
pub struct CassandraConfig {
    /// `host:port` of some nodes; the others are found through them.
    pub nodes: Vec<String>,
    /// Made by `migrate` if it is not there.
    pub keyspace: String,
    /// The keyspace's replication, as CQL writes it.
    pub replication: String,
    pub user: Option<String>,
    pub password: Option<String>,
    /// For the first connection, all of it.
    pub connect_timeout: Duration,
    /// For one request; a request that may be repeated takes at most twice as long.
    pub request_timeout: Duration,
    /// A read, other than a linearizable one, that takes longer is sent to another node as well.
    pub hedge_after: Duration,
    /// Whose nodes to speak to, where there are several data centers; the local levels of consistency are theirs.
    pub datacenter: Option<String>,
}

impl Default for CassandraConfig {
    fn default() -> Self {
        CassandraConfig {
            nodes: vec!["127.0.0.1:9042".into()],
            keyspace: "widerow".into(),
            replication: "{'class': 'SimpleStrategy', 'replication_factor': 1}".into(),
            user: None,
            password: None,
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            hedge_after: Duration::from_millis(500),
            datacenter: None,
        }
    }
}

/// The password stays out of logs.
impl std::fmt::Debug for CassandraConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CassandraConfig")
            .field("nodes", &self.nodes)
            .field("keyspace", &self.keyspace)
            .field("replication", &self.replication)
            .field("user", &self.user)
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}

/// A session with a cluster.
pub struct Cassandra {
    link: Link,
    replication: String,
}

impl Cassandra {
    /// Connects. The keyspace and its tables need not be there yet: `migrate` makes them.
    pub async fn connect(config: CassandraConfig, schema: &Schema) -> Result<Cassandra> {
        check_names(&config, schema)?;
        let hedge = SimpleSpeculativeExecutionPolicy { max_retry_count: 1, retry_interval: config.hedge_after };
        let profile = ExecutionProfile::builder()
            .request_timeout(Some(config.request_timeout))
            .speculative_execution_policy(Some(Arc::new(hedge)))
            .build();
        let mut builder = SessionBuilder::new()
            .known_nodes(&config.nodes)
            .connection_timeout(config.connect_timeout)
            .keyspaces_to_fetch([config.keyspace.clone()])
            // What routing needs, and no more: the driver gives up on a keyspace with a type whose name is quoted.
            .fetch_full_schema_metadata(false)
            .default_execution_profile_handle(profile.into_handle());
        if let Some(datacenter) = config.datacenter {
            builder = builder.prefer_datacenter(datacenter);
        }
        if let (Some(user), Some(password)) = (&config.user, &config.password) {
            builder = builder.user(user, password);
        }
        let session = tokio::time::timeout(config.connect_timeout, builder.build())
            .await
            .map_err(|_| Error::unavailable(format!("no connection within {:?}", config.connect_timeout)))?
            .map_err(|e| failure::of_connect(&e))?;
        let link = Link::new(session, config.keyspace, config.request_timeout);
        Ok(Cassandra { link, replication: config.replication })
    }
}

/// Names of nested types are checked nowhere else; that of the keyspace is the operator's.
fn check_names(config: &CassandraConfig, schema: &Schema) -> Result<()> {
    let good = |name: &str| {
        (1..=48).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    if !good(&config.keyspace) {
        return Err(Error::invalid("keyspace", "its name is 1 to 48 letters, digits and '_', a letter first"));
    }
    for table in schema.tables() {
        for def in table.struct_types() {
            let names = std::iter::once(&def.name).chain(def.fields.iter().map(|(name, _)| name));
            if let Some(bad) = names.into_iter().find(|name| !good(name)) {
                let problem =
                    format!("type or field {bad:?}: a name is 1 to 48 letters, digits and '_', a letter first");
                return Err(SchemaError::Declaration { table: table.name.clone(), problem }.into());
            }
        }
    }
    Ok(())
}

#[async_trait]
impl Engine for Cassandra {
    fn name(&self) -> &'static str {
        "cassandra"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            // What the server counts for the cells of forty rows of thirty columns fits besides the values.
            atomicity: Atomicity::Partition { unguarded_rows: 40, unguarded_bytes: 24 * 1024 },
            native_guards: false,
            native_indexes: false,
            keeps_shared: false,
            native_range_delete: true,
            // Two conditional writes of one partition would fight.
            in_order: false,
        }
    }

    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        self.read_rows(get).await
    }

    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        self.read_slice(slice).await
    }

    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        self.read_guarded(read).await
    }

    async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
        self.apply_step(step).await
    }

    async fn apply_late(&self, late: Late<'_>) -> Result<()> {
        self.write_late(late).await
    }

    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
        self.clear_outbox(entry).await
    }

    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        self.add_counters(tenant, adds).await
    }

    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
        self.read_range(scan).await
    }

    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        self.migrate_tables(schema, create).await
    }

    async fn server_time(&self) -> Result<Option<Timestamp>> {
        self.read_clock().await
    }
}
