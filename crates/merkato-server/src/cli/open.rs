//! The configured engine, opened: what commands work on.

use std::sync::Arc;

use anyhow::Context as _;
use merkato::{Context, context::SystemChance};
use widerow::{Database, Engine, Schema, cassandra::Cassandra, embedded::Embedded, time::SystemClock};

use super::{Global, exit, logs};
use crate::config::{Config, DynamoSection, EngineKind};

/// Whose rows a command is about.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct TenantChoice {
    /// Whose shop it is about
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub tenant: String,
}

/// An engine and what it was opened with.
pub(super) struct Opened {
    pub config: Config,
    pub database: Database,
}

impl Opened {
    /// The tables must be as they should be: a command that reads or writes rows begins here.
    pub(super) async fn ready(global: &Global) -> anyhow::Result<Self> {
        let config = global.load()?.config;
        logs::start_quiet(&config.http.log)?;
        let folder = &config.embedded.folder;
        if config.engine == EngineKind::Embedded && !folder.exists() {
            anyhow::bail!("there is no folder {}: run merkato migrate first, or name another", folder.display());
        }
        let opened = Self::with(config).await?;
        opened.check().await?;
        Ok(opened)
    }

    /// Whatever the tables are: for what looks at them or makes them.
    pub(super) async fn as_it_is(global: &Global) -> anyhow::Result<Self> {
        let config = global.load()?.config;
        logs::start_quiet(&config.http.log)?;
        Self::with(config).await
    }

    pub(super) async fn with(config: Config) -> anyhow::Result<Self> {
        let engine = engine(&config, &merkato::schema()?).await?;
        let database = Database::new(engine, merkato::schema()?);
        Ok(Opened { config, database })
    }

    pub(super) async fn check(&self) -> anyhow::Result<()> {
        let problems = self.database.compare().await?.problems;
        match problems.first() {
            Some(first) => anyhow::bail!(
                "the tables are not as they should be ({first}{}): run merkato migrate first",
                if problems.len() > 1 { format!("; and {} more", problems.len() - 1) } else { String::new() }
            ),
            None => Ok(()),
        }
    }

    pub(super) fn context(&self, tenant: &TenantChoice) -> anyhow::Result<Context> {
        let store = self.database.tenant(&tenant.tenant).map_err(|error| exit::usage(error.to_string()))?;
        Ok(Context::new(store, self.config.shop.clone(), Arc::new(SystemClock), Arc::new(SystemChance)))
    }
}

pub(super) async fn engine(config: &Config, schema: &Schema) -> anyhow::Result<Arc<dyn Engine>> {
    Ok(match config.engine {
        EngineKind::Embedded => {
            let (folder, settings) = (&config.embedded.folder, config.embedded.config());
            let opened = Embedded::open_with(folder, schema, &settings);
            Arc::new(opened.with_context(|| format!("the folder {}", folder.display()))?)
        }
        EngineKind::Cassandra => {
            let nodes = config.cassandra.nodes.join(", ");
            let connected = Cassandra::connect(config.cassandra.config(), schema).await;
            Arc::new(connected.with_context(|| format!("Cassandra at {nodes}"))?)
        }
        EngineKind::DynamoDb => dynamodb(&config.dynamodb, schema).await?,
    })
}

#[cfg(feature = "dynamodb")]
async fn dynamodb(section: &DynamoSection, schema: &Schema) -> anyhow::Result<Arc<dyn Engine>> {
    Ok(Arc::new(widerow::dynamodb::connect(section.config(), schema).await?))
}

#[cfg(not(feature = "dynamodb"))]
async fn dynamodb(_: &DynamoSection, _: &Schema) -> anyhow::Result<Arc<dyn Engine>> {
    Err(exit::usage("this build is without DynamoDB: build it with --features dynamodb"))
}
