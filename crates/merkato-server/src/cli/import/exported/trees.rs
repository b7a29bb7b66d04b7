//! Trees as `merkato export` wrote them, read back to the same nodes.

use std::collections::BTreeSet;

use merkato::{
    Context, Kind,
    flows::import::Report,
    hierarchy::{self, Inserted, NewNode, Origin},
    id::TreeId,
};

use super::reject;
use crate::cli::{
    export::Placed,
    progress::Progress,
    records::{self, Numbered, Reader},
};

/// Nodes that are inserted together, in as many commits as they take.
const TOGETHER: usize = 1_000;

/// Nodes of one tree that wait to be inserted, each with the number of its record.
type Waiting = Vec<(u64, (NewNode, Option<Origin>))>;

/// A tree comes before its nodes, and nodes come after those that they stand below. What is there and the same is left as it is;
/// what is there and another is rejected, and so is what stands below one that was rejected.
pub(super) async fn import(ctx: &Context, reader: Reader, progress: &mut Progress) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut trees: BTreeSet<String> = BTreeSet::new();
    let mut refused: BTreeSet<TreeId> = BTreeSet::new();
    let mut waiting: Option<(TreeId, Waiting)> = None;
    for (number, record) in reader {
        let (number, record): Numbered = (number, record);
        report.read += 1;
        let placed = match record.and_then(|record| records::row::<Placed>(&record)) {
            Ok(placed) => placed,
            Err(reason) => {
                reject(&mut report, number, reason);
                continue;
            }
        };
        let (name, node) = node(placed);
        let tree = hierarchy::tree_id(&name);
        if is_tree(tree, &node.0) {
            let root = NewNode { name: name.clone(), ..node.0 };
            let restored = hierarchy::restore_tree(ctx, root, node.1).await;
            if restored.is_err() {
                refused.insert(tree);
            }
            count(&mut report, number, restored)?;
            progress.at(report.read);
            continue;
        }
        if node.0.parent_id.is_none() {
            reject(&mut report, number, "parent_id: nothing but a tree itself has none".into());
            continue;
        }
        if refused.contains(&tree) {
            reject(&mut report, number, format!("tree: {name} was rejected itself"));
            continue;
        }
        if !trees.contains(&name) {
            // Files of earlier versions have no trees.
            if let Err(error) = hierarchy::create_tree(ctx, &name).await {
                refuse(&mut report, number, error)?;
                continue;
            }
            trees.insert(name);
        }
        if waiting.as_ref().is_some_and(|(of, nodes)| *of != tree || nodes.len() >= TOGETHER) {
            insert(ctx, waiting.take(), &mut report).await?;
            progress.at(report.read);
        }
        waiting.get_or_insert((tree, Vec::new())).1.push((number, node));
    }
    insert(ctx, waiting, &mut report).await?;
    progress.at(report.read);
    Ok(report)
}

/// The name of the tree, and the node as it is to be.
fn node(placed: Placed) -> (String, (NewNode, Option<Origin>)) {
    let Placed { tree, node_id, parent_id, node_name: name, node_type, node_metadata: metadata, .. } = placed;
    let times = placed.created_at.zip(placed.updated_at);
    let origin = placed.revision.zip(times);
    let origin = origin.map(|(revision, (created_at, updated_at))| Origin { revision, created_at, updated_at });
    (tree, (NewNode { node_id: Some(node_id), parent_id, name, node_type, metadata }, origin))
}

fn is_tree(tree: TreeId, node: &NewNode) -> bool {
    node.parent_id.is_none() && node.node_id == Some(hierarchy::root_of(tree))
}

async fn insert(ctx: &Context, waiting: Option<(TreeId, Waiting)>, report: &mut Report) -> anyhow::Result<()> {
    let Some((tree, waiting)) = waiting else { return Ok(()) };
    let (numbers, nodes): (Vec<u64>, Vec<_>) = waiting.into_iter().unzip();
    for (number, answer) in numbers.into_iter().zip(hierarchy::restore_nodes(ctx, tree, nodes).await?) {
        count(report, number, answer)?;
    }
    Ok(())
}

fn count(report: &mut Report, number: u64, answer: hierarchy::Result<Inserted>) -> anyhow::Result<()> {
    match answer {
        Ok(Inserted::New(_)) => report.created += 1,
        Ok(Inserted::Unchanged(_)) => report.unchanged += 1,
        Err(error) => refuse(report, number, error)?,
    }
    Ok(())
}

/// A record that is bad by itself is rejected; a shop that cannot be written to ends the import.
fn refuse(report: &mut Report, number: u64, error: hierarchy::Error) -> anyhow::Result<()> {
    match error.kind() {
        Kind::Unavailable | Kind::Internal => Err(error.into()),
        _ => {
            reject(report, number, error.to_string());
            Ok(())
        }
    }
}
