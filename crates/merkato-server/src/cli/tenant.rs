//! `merkato tenant`: all of a shop at once.

use std::{io::BufWriter, path::PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use widerow::schema::Table;

use super::{
    Global,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    records::{self, Format, Record, Writer},
};

#[derive(Args)]
pub struct TenantCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Every tenant that has a row. It walks over all tables
    List,
    /// Every row of a tenant, an object a line, with its table. Derived rows are left out, and so is every secret
    #[command(after_help = "Example:\n  merkato tenant export acme > acme.ndjson")]
    Export {
        name: String,
        /// A file instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete every row of a tenant, for good. Let nobody in before
    #[command(after_help = "Example:\n  merkato tenant erase acme --yes")]
    Erase {
        name: String,
        /// It cannot be taken back
        #[arg(long)]
        yes: bool,
    },
}

/// Tables of secrets, and of what is of no use elsewhere.
const LEFT_OUT: [&str; 8] =
    ["api_keys", "flows", "flows_swept", "login_attempts", "replies", "secrets", "sessions", "sessions_by_user"];
/// Columns that hold secrets, hashed or not: a user's password, and the links that were sent and not used yet.
const HIDDEN: [&str; 2] = ["password_hash", "pending"];

impl TenantCommand {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        match self.what {
            What::List => {
                let all = opened.database.list_tenants().await?;
                let names: Vec<&str> = all.iter().map(|tenant| tenant.as_str()).collect();
                if global.json {
                    return output::json(&json!({ "data": names }));
                }
                names.iter().try_for_each(output::line)
            }
            What::Export { name, output } => export(&opened, &TenantChoice { tenant: name }, output).await,
            What::Erase { name, yes } => {
                output::confirm(yes, &format!("erasing the tenant {name}"))?;
                let ctx = opened.context(&TenantChoice { tenant: name.clone() })?;
                let mut progress = Progress::new("rows erased", None);
                let rows = ctx.store.erase(|rows| progress.at(rows)).await?;
                drop(progress);
                if global.json {
                    return output::json(&json!({ "tenant": name, "rows": rows }));
                }
                output::line(format!("{rows} rows of {name} are gone"))
            }
        }
    }
}

async fn export(opened: &Opened, tenant: &TenantChoice, path: Option<PathBuf>) -> anyhow::Result<()> {
    let ctx = opened.context(tenant)?;
    let schema = opened.database.schema();
    let out: Box<dyn std::io::Write> = match &path {
        Some(path) => Box::new(std::fs::File::create(path)?),
        None => Box::new(std::io::stdout()),
    };
    let mut writer = Writer::new(Format::Ndjson, Vec::new(), BufWriter::new(out))?;
    let mut progress = Progress::new("rows", None);
    let mut written = 0;
    let is_wanted =
        |table: &&'static Table| schema.derivation_into(table).is_none() && !LEFT_OUT.contains(&table.name.as_str());
    for table in schema.tables().filter(is_wanted) {
        for mut range in opened.database.scan(table, 1).await? {
            while let Some(rows) = range.next().await? {
                for (_, row) in rows.into_iter().filter(|(tenant, _)| tenant == ctx.store.tenant()) {
                    let mut values = records::values_record(table, &row.values);
                    values.retain(|name, _| !HIDDEN.contains(&name.as_str()));
                    let record: Record =
                        [("table".to_owned(), json!(table.name)), ("row".to_owned(), Json::Object(values))]
                            .into_iter()
                            .collect();
                    writer.write(&record)?;
                    written += 1;
                    progress.at(written);
                }
            }
        }
    }
    drop(progress);
    writer.end()?;
    eprintln!("{written} rows");
    Ok(())
}
