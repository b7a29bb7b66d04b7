//! The command line. Each command is one file under `cli/`.

mod cli;

use clap::{Parser, Subcommand};

/// A headless commerce backend. Today its domain can be put to the proof; the server is being built on it.
#[derive(Parser)]
#[command(name = "merkato", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Prove that nothing is sold twice, lost or miscounted (`chaos inventory` is the default command)
    Chaos(cli::chaos::Chaos),
}

/// Requests make and drop many small rows; the system's allocator takes a tenth of a page's time for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Some(Command::Chaos(chaos)) => chaos.run().await,
        None => cli::chaos::Inventory::default().run().await,
    }
}
