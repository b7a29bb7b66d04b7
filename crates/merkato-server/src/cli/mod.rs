//! The commands, one file each. Data goes to standard output, logs and progress to standard error.

mod analytics;
mod chaos;
mod config;
mod demo;
mod doctor;
mod events;
mod exit;
mod explain;
mod export;
mod graph;
mod import;
mod key;
mod logs;
mod migrate;
mod open;
mod output;
mod progress;
mod records;
mod rollup;
mod sales;
mod schema;
mod serve;
mod tenant;
mod user;
mod verify;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory as _, Parser, Subcommand};

pub(crate) use self::user::create as create_user;
use crate::config::{EngineKind, Loaded, Sources};

const EXAMPLES: &str = "\
Examples:
  merkato                                   a furnished shop in ./merkato-demo, on http://127.0.0.1:8080
  merkato config example > merkato.toml     every setting, with its default
  merkato migrate && merkato serve          a shop of your own
  merkato --engine cassandra migrate        the same on Cassandra; see [cassandra] in the configuration
  merkato import products catalog.csv --map name=Title,price=Price
  merkato verify --json                     is everything that is derived as it should be?

Exit codes: 0 done; 1 failed; 2 wrong usage or configuration; 3 differences were found (verify, doctor, analytics rebuild).";

/// A headless commerce backend in one binary: on a folder, on Cassandra / ScyllaDB, on DynamoDB.
///
/// Without a command it serves a furnished demo shop (`merkato demo`).
#[derive(Parser)]
#[command(name = "merkato", version, after_help = EXAMPLES, disable_help_subcommand = true)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What every command understands.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Global {
    /// The configuration file [default: merkato.toml, if there is one]
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The engine, over what is configured
    #[arg(long, global = true, help_heading = "Everywhere", value_enum)]
    engine: Option<EngineKind>,
    /// The folder of the embedded engine, over what is configured
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Any setting, over what is configured, as http.listen=127.0.0.1:9000; can be repeated
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "SETTING=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// Answer in JSON
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a furnished shop on the embedded engine; what runs without a command
    Demo(demo::Demo),
    /// Serve, as configured
    Serve(serve::Serve),
    /// Show the configuration and where each value comes from, or an example of it
    Config(config::ConfigCommand),
    /// Print the tables: the CQL for Cassandra, the CloudFormation template for DynamoDB
    Schema(schema::SchemaCommand),
    /// Create what is missing on the engine; refuse what would lose data
    Migrate(migrate::Migrate),
    /// Take products, categories, stock, orders, sales, measurements, trees, events or connections from a file
    Import(import::Import),
    /// Write products, categories, stock, orders, sales, measurements, trees, events or connections, as import reads them back
    Export(export::Export),
    /// Recompute everything that is derived, compare, and mend it if asked
    Verify(verify::Verify),
    /// Prove that nothing is sold twice, lost or miscounted
    Chaos(chaos::Chaos),
    /// Every question that the data model answers: table, key, cost on each engine
    Explain(explain::Explain),
    /// Look at the engine: is it there, are the tables right, are partitions small, are clocks together
    Doctor(doctor::Doctor),
    /// Figures of the past, counted anew
    Analytics(analytics::Analytics),
    /// Records of sales: their ends, what they cost, how they are spread
    Sales(sales::SalesCommand),
    /// The graph of people: what the whole of it says about each
    Graph(graph::GraphCommand),
    /// Roll up measurements of sensors, of hours that are over
    Rollup(rollup::Rollup),
    /// Events: the read models that follow them, made anew
    Events(events::EventsCommand),
    /// People: make one, set a password, give a role
    User(user::User),
    /// Keys for programs: make one, list them, revoke one
    Key(key::KeyCommand),
    /// Tenants: list them, take one out, erase one
    Tenant(tenant::TenantCommand),
    /// A script for your shell that completes commands
    #[command(after_help = "Example:\n  merkato completions bash > /etc/bash_completion.d/merkato")]
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("not SETTING=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

impl Global {
    fn load(&self) -> anyhow::Result<Loaded> {
        self.load_with(Vec::new())
    }

    /// With further settings over all others.
    fn load_with(&self, over: Vec<(String, String)>) -> anyhow::Result<Loaded> {
        let mut flags = self.set.clone();
        flags.extend(self.engine.map(|engine| ("engine".to_owned(), engine.as_str().to_owned())));
        let folder = self.folder.as_ref().map(|folder| folder.display().to_string());
        flags.extend(folder.map(|folder| ("embedded.folder".to_owned(), folder)));
        flags.extend(over);
        // Other programs' variables need not be text; ours are, or are wrong.
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
        let sources = Sources { file: self.config.clone(), variables, flags };
        Loaded::load(&sources).map_err(|error| exit::usage(error.to_string()))
    }
}

/// Runs the command of this process; its exit code.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(error) => Err(anyhow::Error::new(error).context("no runtime")),
    };
    exit::code(done)
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let global = arguments.global;
    match arguments.command {
        None => demo::Demo::default().run(&global).await,
        Some(Command::Demo(command)) => command.run(&global).await,
        Some(Command::Serve(command)) => command.run(&global).await,
        Some(Command::Config(command)) => command.run(&global),
        Some(Command::Schema(command)) => command.run(&global),
        Some(Command::Migrate(command)) => command.run(&global).await,
        Some(Command::Import(command)) => command.run(&global).await,
        Some(Command::Export(command)) => command.run(&global).await,
        Some(Command::Verify(command)) => command.run(&global).await,
        Some(Command::Chaos(command)) => command.run(&global).await,
        Some(Command::Explain(command)) => command.run(&global),
        Some(Command::Doctor(command)) => command.run(&global).await,
        Some(Command::Analytics(command)) => command.run(&global).await,
        Some(Command::Sales(command)) => command.run(&global).await,
        Some(Command::Graph(graph)) => graph.run(&global).await,
        Some(Command::Rollup(command)) => command.run(&global).await,
        Some(Command::Events(command)) => command.run(&global).await,
        Some(Command::User(command)) => command.run(&global).await,
        Some(Command::Key(command)) => command.run(&global).await,
        Some(Command::Tenant(command)) => command.run(&global).await,
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Arguments::command(), "merkato", &mut std::io::stdout());
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_well_formed() {
        Arguments::command().debug_assert();
    }
}
