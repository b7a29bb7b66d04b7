//! The data layer beside its engines called directly, and the shop beside what it would be without: same machine, same
//! run, same work, as ratios.

mod alone;
mod cassandra;
mod checkout;
mod embedded;
mod events;
mod graph;
mod graph_figures;
mod hierarchy;
mod holds;
mod http;
mod measure;
mod postgres;
mod sales;
mod telemetry;

use clap::Parser;

use crate::measure::Verdicts;

/// Compares widerow with the engines beneath it, the shop with PostgreSQL and with bare Cassandra, the server with what Vendure
/// did on such a machine. A ratio of 1.00 is as fast as the rival.
#[derive(Parser)]
struct Arguments {
    /// A tenth of the rows and a quarter of the time.
    #[arg(long)]
    quick: bool,
    /// Leave the embedded engine out.
    #[arg(long)]
    no_embedded: bool,
    /// Leave the server out, which is `merkato` beside this program.
    #[arg(long)]
    no_server: bool,
    /// A Cassandra to compare on, such as 127.0.0.1:9042; without one it is left out.
    #[arg(long, env = "MERKATO_TEST_CASSANDRA")]
    cassandra: Option<String>,
    /// A PostgreSQL to compare the shop with, as `engines/postgres.sh url` prints it; without one it is left out.
    #[arg(long, env = "MERKATO_TEST_POSTGRES")]
    postgres: Option<String>,
    /// Only comparisons whose name holds this.
    #[arg(long)]
    only: Option<String>,
    /// Only warn about a ratio below its floor, for machines that are shared.
    #[arg(long)]
    tolerant: bool,
}

/// For both sides, as the server has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    let mut verdicts = Verdicts { all: Vec::new(), only: arguments.only };
    if !arguments.no_embedded {
        embedded::run(arguments.quick, &mut verdicts).await;
        sales::run(arguments.quick, &mut verdicts).await;
        telemetry::run_charts(arguments.quick, &mut verdicts).await;
        hierarchy::run(&mut verdicts).await;
        events::run_rebuild(arguments.quick, &mut verdicts).await;
        graph::run(arguments.quick, &mut verdicts).await;
        graph_figures::run(arguments.quick, &mut verdicts);
    }
    match arguments.cassandra.as_deref().filter(|a| !a.is_empty()) {
        Some(address) => {
            cassandra::run(address, arguments.quick, &mut verdicts).await;
            holds::cassandra(address, arguments.quick, &mut verdicts).await;
        }
        None => println!("\nskipped: Cassandra, as no address was given"),
    }
    match arguments.postgres.as_deref().filter(|a| !a.is_empty()) {
        Some(address) => {
            postgres::run(address, arguments.quick, &mut verdicts).await;
            checkout::run(address, arguments.quick, &mut verdicts).await;
            holds::postgres(address, arguments.quick, &mut verdicts).await;
            telemetry::run(address, arguments.quick, &mut verdicts).await;
            events::run(address, arguments.quick, &mut verdicts).await;
        }
        None => println!("\nskipped: PostgreSQL, as no address was given"),
    }
    if !arguments.no_server {
        http::run(arguments.quick, &mut verdicts).await;
    }
    println!("\n{:<56} {:>8} {:>8}", "", "ratio", "floor");
    let mut below = 0;
    for verdict in &verdicts.all {
        let good = verdict.ratio >= verdict.floor;
        below += usize::from(!good);
        println!(
            "{:<56} {:>8.2} {:>8.2}{}",
            verdict.name,
            verdict.ratio,
            verdict.floor,
            if good { "" } else { "   below" }
        );
    }
    if below > 0 && !arguments.tolerant {
        std::process::exit(1);
    }
}
