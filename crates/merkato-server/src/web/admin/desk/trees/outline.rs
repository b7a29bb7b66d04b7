//! What stands below a node, as far as it is opened.

use std::collections::{BTreeSet, HashMap};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    Context, PageRequest,
    hierarchy::{self, Relationship},
    id::{NodeId, TreeId},
};

use super::node_path;
use crate::{http::Problem, web::words};

/// Nodes that are open at once; what is opened beyond that stays closed.
const OPEN_MAX: usize = 24;
/// Nodes right below one that is opened; the others are on its own page.
const BELOW_MAX: usize = 25;
/// Lines beyond which nothing more is opened, so that the page stays light.
const LINES_MAX: usize = 100;
/// Steps below the page's node, so that names have room. Deeper ones are on the pages of those above them.
const DEPTH_MAX: usize = 6;
/// As many at the top are open without being asked for.
const OPEN_BY_ITSELF_MAX: usize = 12;
/// Partitions that are read side by side.
const AT_ONCE: usize = 8;

/// A line of the outline.
pub struct Line {
    pub id: NodeId,
    pub name: String,
    pub node_type: String,
    pub depth: usize,
    pub path: String,
    /// Right below it, in words.
    pub below: String,
    /// Opens or closes it; none where there is nothing to open.
    pub toggle: Option<String>,
    pub is_open: bool,
    /// Instead of a node: how many more there are than are shown, and where.
    pub more: Option<String>,
}

/// Which nodes are open, as an address says it: by the ends of their ids, as every line has such an address. Where two ids end the
/// same, both are open.
#[derive(Clone, Debug, Default)]
pub struct Open(BTreeSet<String>);

/// Characters of an id that an address has.
const ENDING: usize = 8;

fn ending(node: NodeId) -> String {
    let id = node.0.simple().to_string();
    id[id.len() - ENDING..].to_owned()
}

impl Open {
    pub fn parse(text: &str) -> Self {
        let is_ending = |part: &&str| part.len() == ENDING && part.bytes().all(|b| b.is_ascii_hexdigit());
        Open(text.split('.').filter(is_ending).take(OPEN_MAX).map(str::to_ascii_lowercase).collect())
    }

    fn of(nodes: impl IntoIterator<Item = NodeId>) -> Self {
        Open(nodes.into_iter().map(ending).collect())
    }

    fn has(&self, node: NodeId) -> bool {
        self.0.contains(&ending(node))
    }

    /// The address with this one open, too, or no more.
    fn turned(&self, node: NodeId) -> String {
        let mut turned = self.0.clone();
        if !turned.remove(&ending(node)) {
            turned.insert(ending(node));
        }
        turned.into_iter().collect::<Vec<_>>().join(".")
    }
}

/// A tree, and where its pages are.
pub struct Of<'t> {
    pub ctx: &'t Context,
    pub tree: TreeId,
    pub name: &'t str,
}

impl Of<'_> {
    /// The lines below the rows of a page. `here` makes an address of the page with other nodes open.
    pub async fn outline(
        &self,
        rows: Vec<Relationship>,
        open: Option<Open>,
        here: impl Fn(&str) -> String,
    ) -> Result<Vec<Line>, Problem> {
        let tops: Vec<NodeId> = rows.iter().map(|row| row.descendant_id).collect();
        let by_itself = || Open::of(tops.iter().copied().filter(|_| tops.len() <= OPEN_BY_ITSELF_MAX));
        let open = open.unwrap_or_else(by_itself);
        let (below, counts) = self.gather(&rows, &open).await?;
        let mut lines = Vec::new();
        let mut stack: Vec<(usize, Relationship)> = rows.into_iter().rev().map(|row| (0, row)).collect();
        let mut cut: HashMap<NodeId, (usize, i64)> = HashMap::new();
        while let Some((depth, row)) = stack.pop() {
            let id = row.descendant_id;
            let count = counts.get(&id).copied().unwrap_or(0);
            let children = below.get(&id);
            let is_open = children.is_some();
            // What was asked for and is not open has no room here: it has a page of its own.
            let can_open = count > 0 && depth + 1 < DEPTH_MAX && open.has(id) == is_open;
            let toggle = can_open.then(|| here(&open.turned(id)));
            let path = node_path(self.name, self.tree, id);
            lines.push(Line {
                id,
                name: row.node_name,
                node_type: row.node_type.unwrap_or_default(),
                depth,
                path: path.clone(),
                below: if count > 0 { words::count(count.unsigned_abs(), "below", "below") } else { String::new() },
                toggle: toggle.map(|toggle| format!("{toggle}#n-{id}")),
                is_open,
                more: None,
            });
            if let Some(children) = children {
                let left = count - children.len() as i64;
                if let (true, Some(last)) = (left > 0, children.last()) {
                    cut.insert(last.descendant_id, (depth + 1, left));
                }
                stack.extend(children.iter().rev().map(|child| (depth + 1, child.clone())));
            }
            if let Some((depth, left)) = cut.remove(&id) {
                let path = node_path(self.name, self.tree, row.parent_id);
                lines.push(Line {
                    id: row.parent_id,
                    name: String::new(),
                    node_type: String::new(),
                    depth,
                    path,
                    below: String::new(),
                    toggle: None,
                    is_open: false,
                    more: Some(words::count(left.unsigned_abs(), "more", "more")),
                });
            }
        }
        Ok(lines)
    }

    /// What stands below each node that is open, and how many below each that is shown.
    async fn gather(
        &self,
        rows: &[Relationship],
        open: &Open,
    ) -> Result<(HashMap<NodeId, Vec<Relationship>>, HashMap<NodeId, i64>), Problem> {
        let (mut below, mut counts) = (HashMap::new(), HashMap::new());
        let mut level: Vec<NodeId> = rows.iter().map(|row| row.descendant_id).collect();
        let mut lines = rows.len();
        for depth in 0..DEPTH_MAX {
            for some in level.chunks(widerow::limits::GET_KEYS_MAX) {
                let nodes = hierarchy::find_nodes(self.ctx, self.tree, some).await?;
                counts.extend(nodes.into_iter().flatten().map(|node| (node.node_id, node.children_count)));
            }
            let mut opened = Vec::new();
            for id in level.iter().filter(|id| open.has(**id)) {
                let below = counts.get(id).map_or(0, |count| usize::try_from(*count).unwrap_or(0)).min(BELOW_MAX);
                if below > 0 && depth + 1 < DEPTH_MAX && lines + below <= LINES_MAX {
                    lines += below;
                    opened.push(*id);
                }
            }
            let reads = opened.into_iter().map(|id| async move {
                let page = PageRequest::first(BELOW_MAX);
                match hierarchy::list_children(self.ctx, self.tree, Some(id), page).await {
                    Ok(page) => Ok((id, page.rows)),
                    // It has gone since it was listed.
                    Err(hierarchy::Error::NodeNotFound { .. }) => Ok((id, Vec::new())),
                    Err(error) => Err(Problem::from(error)),
                }
            });
            // As a list: a stream that borrows from a closure is of no one lifetime.
            let reads: Vec<_> = reads.collect();
            let read: Vec<(NodeId, Vec<Relationship>)> = stream::iter(reads).buffered(AT_ONCE).try_collect().await?;
            level = read.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.descendant_id)).collect();
            below.extend(read);
            if level.is_empty() {
                break;
            }
        }
        Ok((below, counts))
    }
}
