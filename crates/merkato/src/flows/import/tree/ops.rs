//! Reads a source on a thread of its own and inserts its nodes, many at once.

use std::io::{Read, Seek};

use tokio::task::spawn_blocking;

use super::{
    fields::TreeField,
    order::{Drafted, ordered},
    read::read,
};
use crate::{
    check::Check,
    context::Context,
    flows::import::{
        error::{Error, Result},
        mapping::Mapping,
        report::Report,
        source::Format,
    },
    hierarchy::{self, Inserted, NewNode, NodeFacts, root_of},
    id::TreeId,
    limits,
};

/// Nodes that are inserted together, in as many commits as they take.
const TOGETHER: usize = 1_000;

/// How a source is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeLayout {
    /// Whatever it looks like.
    #[default]
    Auto,
    /// Records with an id, a name and the id of the one above.
    Table,
    /// A line a node: `id : A > B > C`, or the names alone. Lines that begin with `#` are remarks.
    Paths,
}

/// How a source of nodes is to be read.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// The name of the source: ids are its own.
    pub source: String,
    /// The name of the tree, which is made if it is not there.
    pub tree: String,
    pub layout: TreeLayout,
    /// Of a table.
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<TreeField>>,
    /// Between the names of a path.
    pub separator: String,
    /// Of nodes about which the source says nothing.
    pub node_type: Option<String>,
    /// Of lines with paths: the source's own id is noted of the node as `source_id`.
    pub keep_ids: bool,
}

impl TreeOptions {
    pub fn new(source: impl Into<String>, tree: impl Into<String>) -> Self {
        TreeOptions {
            source: source.into(),
            tree: tree.into(),
            layout: TreeLayout::Auto,
            format: Format::Auto,
            mapping: None,
            separator: " > ".into(),
            node_type: None,
            keep_ids: true,
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.line("tree", &self.tree, 1..=limits::TREE_NAME_BYTES_MAX);
        check.that(!self.separator.trim().is_empty(), "separator", "it is empty");
        check.optional_line("node_type", self.node_type.as_deref(), limits::NODE_TYPE_BYTES_MAX);
        Ok(check.end()?)
    }

    /// Whether the first line that says something is a path.
    pub(super) fn has_paths(&self, beginning: &[u8]) -> bool {
        match self.layout {
            TreeLayout::Table => false,
            TreeLayout::Paths => true,
            TreeLayout::Auto => {
                let text = String::from_utf8_lossy(beginning);
                let said = |line: &&str| !line.is_empty() && !line.starts_with('#');
                let lines: Vec<&str> = text.lines().map(str::trim).filter(said).take(2).collect();
                self.format == Format::Auto && lines.iter().any(|l| l.contains(&self.separator) || l.contains(" : "))
            }
        }
    }
}

/// Imports a tree. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is stopped
/// half-way, the same import again finds what is there and goes on.
pub async fn import_tree<R>(
    ctx: &Context,
    mut input: R,
    options: TreeOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let name = options.tree.clone();
    let reading = spawn_blocking(move || -> Result<_> {
        let mut report = Report::default();
        let drafts = read(&mut input, &options, &mut report)?;
        let (order, refused) = ordered(drafts);
        for (draft, reason) in refused {
            report.count(1);
            report.reject(draft.place, Some(draft.id), reason.into());
        }
        Ok((order, report))
    });
    // ORDER: the source is read to its end before anything is written.
    let (mut order, mut report) =
        reading.await.map_err(|_| Error::unreadable("the reader ended before its time"))??;
    let tree = hierarchy::create_tree(ctx, &name).await?.org_id;
    on_progress(&report);
    while !order.is_empty() {
        let rest = order.split_off(order.len().min(TOGETHER));
        write(ctx, tree, std::mem::replace(&mut order, rest), &mut report).await?;
        on_progress(&report);
    }
    report.sort();
    Ok(report)
}

async fn write(ctx: &Context, tree: TreeId, drafts: Vec<Drafted>, report: &mut Report) -> Result<()> {
    let nodes: Vec<NewNode> = drafts.iter().map(|draft| draft.node.clone()).collect();
    let answers = hierarchy::insert_nodes(ctx, tree, nodes).await?;
    for (draft, answer) in drafts.into_iter().zip(answers) {
        let answer = match answer {
            Err(hierarchy::Error::NodeExists { .. }) => change(ctx, tree, &draft.node).await.map(|()| None),
            other => other.map(Some),
        };
        if !draft.is_record {
            // No record is about it; those below say what became of it.
            match answer {
                Ok(Some(Inserted::New(_))) => {
                    report.note(draft.place, format!("{} stands in paths only, and was made", draft.id));
                }
                Err(error) if error.kind().is_failure() => return Err(error.into()),
                _ => {}
            }
            continue;
        }
        report.count(1);
        match answer {
            Ok(Some(Inserted::New(_))) => report.created += 1,
            Ok(Some(Inserted::Unchanged(_))) => report.unchanged += 1,
            Ok(None) => report.changed += 1,
            Err(error) if error.kind().is_failure() => return Err(error.into()),
            Err(error) => report.reject(draft.place, Some(draft.id), error.to_string()),
        }
    }
    Ok(())
}

/// A node that is there otherwise becomes what the source says.
async fn change(ctx: &Context, tree: TreeId, new: &NewNode) -> hierarchy::Result<()> {
    let Some(node) = new.node_id else { return Ok(()) };
    let parent = new.parent_id.unwrap_or(root_of(tree));
    hierarchy::relocate_node(ctx, tree, node, Some(parent), Some(&new.name), None).await?;
    let facts = NodeFacts { node_type: Some(new.node_type.clone()), metadata: Some(new.metadata.clone()) };
    hierarchy::describe_node(ctx, tree, node, facts, None).await?;
    Ok(())
}
