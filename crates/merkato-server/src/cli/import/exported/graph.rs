//! Connections as `merkato export` wrote them, read back to the same.

use merkato::{
    Context, Kind,
    flows::import::Report,
    graph::{self, ConnectionType, Edge, Made, NewConnection},
    id::UserId,
    limits,
};

use super::reject;
use crate::cli::{
    export::Said,
    progress::Progress,
    records::{self, Numbered, Reader},
};

/// Connections that are made together.
const TOGETHER: usize = 2_000;

/// Connections with the numbers of their records.
type Waiting = Vec<(u64, Edge)>;

/// All between two people stands together, a block last: what it hides is made before, or was there before. One that is there and the
/// same is left as it is.
pub(super) async fn import(ctx: &Context, reader: Reader, progress: &mut Progress) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let (mut ties, mut blocks): (Waiting, Waiting) = (Vec::new(), Vec::new());
    let mut last = None;
    for (number, record) in reader {
        let (number, record): Numbered = (number, record);
        report.read += 1;
        let edge = match record.and_then(|record| records::row::<Said>(&record)) {
            Ok(said) => edge(said),
            Err(reason) => {
                reject(&mut report, number, reason);
                continue;
            }
        };
        let pair = (edge.user.min(edge.other), edge.user.max(edge.other));
        // ORDER: a pair is not cut in two.
        if ties.len() + blocks.len() >= TOGETHER && last != Some(pair) {
            make(ctx, &mut ties, &mut blocks, &mut report).await?;
            progress.at(report.read);
        }
        last = Some(pair);
        let kept = if edge.connection_type == ConnectionType::Block { &mut blocks } else { &mut ties };
        kept.push((number, edge));
    }
    make(ctx, &mut ties, &mut blocks, &mut report).await?;
    progress.at(report.read);
    Ok(report)
}

fn edge(said: Said) -> Edge {
    Edge {
        user: said.user_id,
        connection_type: said.connection_type,
        other: said.connected_user_id,
        new: NewConnection {
            strength: Some(said.connection_strength),
            metadata: Some(said.connection_metadata),
            created_at: Some(said.created_at),
        },
    }
}

async fn make(ctx: &Context, ties: &mut Waiting, blocks: &mut Waiting, report: &mut Report) -> anyhow::Result<()> {
    let blocked = |user: UserId, other: UserId| {
        blocks.iter().any(|(_, block)| [(user, other), (other, user)].contains(&(block.user, block.other)))
    };
    for waiting in [std::mem::take(ties), blocks.clone()] {
        for waiting in waiting.chunks(limits::CONNECTIONS_TOGETHER_MAX) {
            let edges = waiting.iter().map(|(_, edge)| edge.clone()).collect();
            for ((number, edge), answer) in waiting.iter().zip(graph::connect_many(ctx, edges).await?) {
                match answer {
                    Ok(Made::New) => report.created += 1,
                    Ok(Made::Changed) => report.changed += 1,
                    Ok(Made::Unchanged) => report.unchanged += 1,
                    // The block of this very file hides it since an earlier run.
                    Err(graph::Error::Blocked { .. }) if blocked(edge.user, edge.other) => report.unchanged += 1,
                    Err(error) if matches!(error.kind(), Kind::Unavailable | Kind::Internal) => {
                        return Err(error.into());
                    }
                    Err(error) => reject(report, *number, error.to_string()),
                }
            }
        }
    }
    blocks.clear();
    Ok(())
}
