//! Which engine keeps the rows, and how it is reached.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use widerow::{cassandra::CassandraConfig, embedded::EmbeddedConfig};

/// The one line that decides where the rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    #[default]
    Embedded,
    Cassandra,
    #[value(name = "dynamodb")]
    #[serde(rename = "dynamodb")]
    DynamoDb,
}

impl EngineKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EngineKind::Embedded => "embedded",
            EngineKind::Cassandra => "cassandra",
            EngineKind::DynamoDb => "dynamodb",
        }
    }
}

/// What no log and no listing shows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A folder of this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddedSection {
    pub folder: PathBuf,
    pub cache_mib: u64,
    pub memtable_mib: u64,
    pub page_cache_mib: u64,
}

const MIB: u64 = 1024 * 1024;

impl Default for EmbeddedSection {
    fn default() -> Self {
        let config = EmbeddedConfig::default();
        EmbeddedSection {
            folder: "merkato-data".into(),
            cache_mib: config.cache_bytes / MIB,
            memtable_mib: config.memtable_bytes / MIB,
            page_cache_mib: config.page_cache_bytes / MIB,
        }
    }
}

impl EmbeddedSection {
    pub fn config(&self) -> EmbeddedConfig {
        EmbeddedConfig {
            cache_bytes: self.cache_mib * MIB,
            memtable_bytes: self.memtable_mib * MIB,
            page_cache_bytes: self.page_cache_mib * MIB,
            ..EmbeddedConfig::default()
        }
    }
}

/// Apache Cassandra or ScyllaDB.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CassandraSection {
    pub nodes: Vec<String>,
    pub keyspace: String,
    pub replication: String,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub datacenter: Option<String>,
    pub connect_timeout_ms: u64,
    pub request_timeout_ms: u64,
    pub hedge_after_ms: u64,
}

impl Default for CassandraSection {
    fn default() -> Self {
        let config = CassandraConfig::default();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        CassandraSection {
            nodes: config.nodes,
            keyspace: "merkato".into(),
            replication: config.replication,
            user: None,
            password: None,
            datacenter: None,
            connect_timeout_ms: millis(config.connect_timeout),
            request_timeout_ms: millis(config.request_timeout),
            hedge_after_ms: millis(config.hedge_after),
        }
    }
}

impl CassandraSection {
    pub fn config(&self) -> CassandraConfig {
        CassandraConfig {
            nodes: self.nodes.clone(),
            keyspace: self.keyspace.clone(),
            replication: self.replication.clone(),
            user: self.user.clone(),
            password: self.password.as_ref().map(|password| password.expose().to_owned()),
            connect_timeout: Duration::from_millis(self.connect_timeout_ms),
            request_timeout: Duration::from_millis(self.request_timeout_ms),
            hedge_after: Duration::from_millis(self.hedge_after_ms),
            datacenter: self.datacenter.clone(),
        }
    }
}

/// DynamoDB, or what speaks its language.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DynamoSection {
    pub endpoint: Option<String>,
    pub region: Option<String>,
    pub table_prefix: String,
    pub names: BTreeMap<String, String>,
    pub stage: String,
    pub sales_table: String,
    pub access_key: Option<String>,
    pub secret_key: Option<Secret>,
    pub request_timeout_ms: u64,
    pub migrate_timeout_ms: u64,
}

impl Default for DynamoSection {
    fn default() -> Self {
        DynamoSection {
            endpoint: None,
            region: None,
            table_prefix: "merkato_".into(),
            names: BTreeMap::new(),
            stage: "dev".into(),
            sales_table: "bg-remover-{stage}-sales-intelligence".into(),
            access_key: None,
            secret_key: None,
            request_timeout_ms: 10_000,
            migrate_timeout_ms: 600_000,
        }
    }
}

impl DynamoSection {
    /// Tables that are not called by the prefix and their own name.
    pub fn names(&self) -> BTreeMap<String, String> {
        let sales = self.sales_table.replace("{stage}", &self.stage);
        let mut names = BTreeMap::from([("sales_intelligence".to_owned(), sales)]);
        names.extend(self.names.clone());
        names
    }
}

#[cfg(feature = "dynamodb")]
impl DynamoSection {
    pub fn config(&self) -> widerow::dynamodb::DynamoConfig {
        let secret = self.secret_key.as_ref().map(|secret| secret.expose().to_owned());
        widerow::dynamodb::DynamoConfig {
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
            table_prefix: self.table_prefix.clone(),
            names: self.names(),
            credentials: self.access_key.clone().zip(secret),
            request_timeout: Duration::from_millis(self.request_timeout_ms),
            migrate_timeout: Duration::from_millis(self.migrate_timeout_ms),
        }
    }
}
