//! Which engine a command works on.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, ensure};
use clap::Args;
use widerow::{
    Engine, Schema,
    cassandra::{Cassandra, CassandraConfig},
    embedded::Embedded,
};

/// The embedded engine, unless another one is named.
#[derive(Args, Default)]
#[group(multiple = false)]
pub struct EngineChoice {
    /// The folder of the embedded engine; without it, one that is removed afterwards
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Addresses of Cassandra or ScyllaDB, as 127.0.0.1:9042,127.0.0.2:9042; the keyspace is `merkato`
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    cassandra: Vec<String>,
    /// The address of DynamoDB, as http://127.0.0.1:8000; credentials come from the environment as usual
    #[arg(long, value_name = "URL")]
    dynamodb: Option<String>,
}

/// An engine with its tables, and what must stay as long as it is used.
pub struct Opened {
    pub engine: Arc<dyn Engine>,
    _folder: Option<tempfile::TempDir>,
}

impl EngineChoice {
    /// Makes what is missing of the tables.
    pub async fn open(self, schema: &Schema) -> anyhow::Result<Opened> {
        let (engine, folder): (Arc<dyn Engine>, _) = if !self.cassandra.is_empty() {
            let config = CassandraConfig { nodes: self.cassandra, ..CassandraConfig::default() };
            (Arc::new(Cassandra::connect(config, schema).await?), None)
        } else if let Some(endpoint) = self.dynamodb {
            (dynamodb(endpoint, schema).await?, None)
        } else if let Some(folder) = self.folder {
            (Arc::new(Embedded::open(folder, schema)?), None)
        } else {
            let folder = tempfile::tempdir().context("no folder could be made")?;
            (Arc::new(Embedded::open(folder.path(), schema)?), Some(folder))
        };
        let report = engine.migrate(schema, true).await?;
        ensure!(report.problems.is_empty(), "the tables are not as they should be: {:?}", report.problems);
        Ok(Opened { engine, _folder: folder })
    }
}

#[cfg(feature = "dynamodb")]
async fn dynamodb(endpoint: String, schema: &Schema) -> anyhow::Result<Arc<dyn Engine>> {
    let config = widerow::dynamodb::DynamoConfig { endpoint: Some(endpoint), ..Default::default() };
    Ok(Arc::new(widerow::dynamodb::connect(config, schema).await?))
}

#[cfg(not(feature = "dynamodb"))]
async fn dynamodb(_: String, _: &Schema) -> anyhow::Result<Arc<dyn Engine>> {
    anyhow::bail!("this build is without DynamoDB: build it with --features dynamodb")
}
