//! What `merkato export` wrote, read back to the same rows.

mod events;
mod graph;
mod rows;
mod trees;

use merkato::{
    Context,
    flows::import::{Rejected, Report},
    limits,
};

use crate::cli::{export::What, progress::Progress, records::Reader};

pub async fn import(ctx: &Context, what: What, reader: Reader, progress: &mut Progress) -> anyhow::Result<Report> {
    match what {
        What::Tree => trees::import(ctx, reader, progress).await,
        What::Events => events::import(ctx, events::Of::Streams, reader, progress).await,
        What::Wallets => events::import(ctx, events::Of::Wallets, reader, progress).await,
        What::Graph => graph::import(ctx, reader, progress).await,
        _ => rows::import(ctx, what, reader, progress).await,
    }
}

/// Notes a record that is not taken; of very many, how many there are.
fn reject(report: &mut Report, record: u64, reason: String) {
    if report.rejected.len() < limits::IMPORT_LISTED_MAX {
        report.rejected.push(Rejected { record, line: None, id: None, reason });
    } else {
        report.rejected_unlisted += 1;
    }
}
