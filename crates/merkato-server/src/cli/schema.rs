//! `merkato schema`: the tables, for those who make them by themselves.

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{Global, exit, output};
use crate::config::{DynamoSection, EngineKind};

/// Print what `merkato migrate` would create on an empty engine. Nothing is connected to.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato schema --engine cassandra | cqlsh
  merkato schema --engine dynamodb > template.json
  merkato schema --json                     every table with its columns and keys")]
pub struct SchemaCommand {}

impl SchemaCommand {
    /// `--engine` is the one that every command has.
    pub fn run(self, global: &Global) -> anyhow::Result<()> {
        let schema = merkato::schema()?;
        let config = global.load()?.config;
        if global.json {
            return output::json(&json!({ "data": schema.tables().map(described).collect::<Vec<_>>() }));
        }
        match config.engine {
            EngineKind::Cassandra => {
                let section = &config.cassandra;
                let cql = widerow::cassandra::cql(&schema, &section.keyspace, &section.replication);
                output::line(cql.trim_end())
            }
            EngineKind::DynamoDb => {
                let template = cloudformation(&schema, &config.dynamodb)?;
                output::line(template.trim_end())
            }
            EngineKind::Embedded => {
                let others = EngineKind::value_variants().iter().filter(|kind| **kind != EngineKind::Embedded);
                let names: Vec<&str> = others.map(|kind| kind.as_str()).collect();
                Err(exit::usage(format!(
                    "a folder has no schema of its own to print: say --engine {}, or --json for all tables",
                    names.join(" or --engine ")
                )))
            }
        }
    }
}

#[cfg(feature = "dynamodb")]
fn cloudformation(schema: &widerow::Schema, section: &DynamoSection) -> anyhow::Result<String> {
    Ok(widerow::dynamodb::cloudformation(schema, &section.table_prefix, &section.names()))
}

#[cfg(not(feature = "dynamodb"))]
fn cloudformation(_: &widerow::Schema, _: &DynamoSection) -> anyhow::Result<String> {
    Err(exit::usage("this build is without DynamoDB: build it with --features dynamodb"))
}

fn described(table: &widerow::schema::Table) -> serde_json::Value {
    let names = |columns: &[widerow::schema::Column]| columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let columns = table.columns.iter().map(
        |column| json!({ "name": column.name, "type": column.column_type.to_string(), "optional": column.optional }),
    );
    json!({
        "table": table.name,
        "what": table.doc,
        "partition": names(table.partition()),
        "clustering": names(table.clustering()),
        "guarded": table.guarded,
        "columns": columns.collect::<Vec<_>>(),
    })
}
