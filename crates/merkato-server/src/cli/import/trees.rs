//! Trees as `merkato export` wrote them, read back to the same nodes.

use std::collections::BTreeMap;

use merkato::{
    Context,
    flows::import::{Rejected, Report},
    hierarchy::{self, Inserted, NewNode},
    id::TreeId,
    limits,
};

use crate::cli::{
    export::Placed,
    progress::Progress,
    records::{self, Numbered, Reader},
};

/// Nodes that are inserted together, in as many commits as they take.
const TOGETHER: usize = 1_000;

/// Nodes of one tree that wait to be inserted, each with the number of its record.
type Waiting = Vec<(u64, NewNode)>;

/// Nodes come after those that they stand below. One that is there and the same is left as it is; one that is there and another is
/// rejected, and so is what stands below one that was rejected.
pub(super) async fn import(ctx: &Context, reader: Reader, progress: &mut Progress) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut trees: BTreeMap<String, TreeId> = BTreeMap::new();
    let mut waiting: Option<(TreeId, Waiting)> = None;
    for (number, record) in reader {
        let (number, record): Numbered = (number, record);
        report.read += 1;
        let placed = record.and_then(|record| records::row::<Placed>(&record));
        let Placed { tree, node_id, parent_id, node_name: name, node_type, node_metadata: metadata, .. } = match placed
        {
            Ok(placed) => placed,
            Err(reason) => {
                reject(&mut report, number, reason);
                continue;
            }
        };
        let tree = match trees.get(&tree) {
            Some(known) => *known,
            None => match hierarchy::create_tree(ctx, &tree).await {
                Ok(made) => *trees.entry(tree).or_insert(made.org_id),
                Err(hierarchy::Error::Invalid(invalid)) => {
                    reject(&mut report, number, format!("tree: {invalid}"));
                    continue;
                }
                Err(error @ hierarchy::Error::Kept { .. }) => {
                    reject(&mut report, number, error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            },
        };
        if waiting.as_ref().is_some_and(|(of, nodes)| *of != tree || nodes.len() >= TOGETHER) {
            insert(ctx, waiting.take(), &mut report).await?;
            progress.at(report.read);
        }
        let new = NewNode { node_id: Some(node_id), parent_id: Some(parent_id), name, node_type, metadata };
        waiting.get_or_insert((tree, Vec::new())).1.push((number, new));
    }
    insert(ctx, waiting, &mut report).await?;
    progress.at(report.read);
    Ok(report)
}

async fn insert(ctx: &Context, waiting: Option<(TreeId, Waiting)>, report: &mut Report) -> anyhow::Result<()> {
    let Some((tree, waiting)) = waiting else { return Ok(()) };
    let (numbers, nodes): (Vec<u64>, Vec<NewNode>) = waiting.into_iter().unzip();
    for (number, answer) in numbers.into_iter().zip(hierarchy::insert_nodes(ctx, tree, nodes).await?) {
        match answer {
            Ok(Inserted::New(_)) => report.created += 1,
            Ok(Inserted::Unchanged(_)) => report.unchanged += 1,
            Err(error) => reject(report, number, error.to_string()),
        }
    }
    Ok(())
}

fn reject(report: &mut Report, record: u64, reason: String) {
    if report.rejected.len() < limits::IMPORT_LISTED_MAX {
        report.rejected.push(Rejected { record, line: None, id: None, reason });
    } else {
        report.rejected_unlisted += 1;
    }
}
