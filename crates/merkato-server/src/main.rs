//! The command line. Each command is one file under `cli/`.

mod cli;

use clap::{Parser, Subcommand};

/// A headless commerce backend. Today its data layer can be seen at work; the shop is being built on it.
#[derive(Parser)]
#[command(name = "merkato", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Many shoppers want few units, on the embedded engine: see that none is sold twice, and what it costs (the default)
    Tour(cli::tour::Tour),
}

/// Requests make and drop many small rows; the system's allocator takes a tenth of a page's time for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Arguments::parse().command.unwrap_or(Command::Tour(cli::tour::Tour::default())) {
        Command::Tour(tour) => tour.run().await,
    }
}
