//! A node with what stands below it; the root's page is the tree's.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    PageRequest,
    hierarchy::{self, Counts, Node},
    id::NodeId,
    limits,
};
use serde::Deserialize;

use super::{
    super::{
        forms::Forms,
        pager::{Pager, Turn},
        said,
    },
    CATEGORIES, node_path,
    outline::{Line, Of, Open},
    tree_path,
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Fields, Frame, Html, next, see_other, words},
};

/// What of a page is asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct NodeQuery {
    /// The nodes that are open; as the page thinks best where it is not said.
    open: Option<String>,
    /// Whether all below is counted, however much it is.
    figures: Option<String>,
}

/// How many stand on one level.
struct LevelRow {
    level: usize,
    nodes: u64,
    /// Of the fullest level, in steps of five percent.
    width: u64,
}

struct Figures {
    summary: String,
    levels: Vec<LevelRow>,
}

#[derive(Template)]
#[template(path = "admin/tree.html")]
pub struct Shown {
    frame: Frame,
    forms: Forms,
    tree: String,
    tree_path: String,
    id: String,
    name: String,
    path: String,
    node_type: String,
    metadata: Vec<(String, String)>,
    pairs: Vec<(String, String)>,
    created: String,
    updated: String,
    is_root: bool,
    children: i64,
    below: String,
    parent_path: String,
    above: Vec<(NodeId, String, String)>,
    root_id: NodeId,
    here: String,
    lines: Vec<Line>,
    pager: Pager,
    figures: Option<Figures>,
    count_path: String,
    relocating: bool,
}

pub async fn show_root(
    visit: Visit,
    frame: Frame,
    Path(tree): Path<String>,
    Query(query): Query<NodeQuery>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let id = hierarchy::tree_id(&tree);
    if hierarchy::is_kept(id) {
        return Ok(see_other(CATEGORIES));
    }
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, &tree, hierarchy::root_of(id), (&query, &turn), forms).await?).into_response())
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path((tree, id)): Path<(String, NodeId)>,
    Query(query): Query<NodeQuery>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    if hierarchy::is_kept(hierarchy::tree_id(&tree)) {
        return Ok(see_other(&format!("{CATEGORIES}/{id}")));
    }
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, &tree, id, (&query, &turn), forms).await?).into_response())
}

pub async fn page(
    visit: &Visit,
    frame: Frame,
    name: &str,
    id: NodeId,
    (query, turn): (&NodeQuery, &Turn),
    forms: Forms,
) -> Result<Shown, Problem> {
    let tree = hierarchy::get_tree(&visit.ctx, name).await?;
    let node = hierarchy::get_node(&visit.ctx, tree.org_id, id).await?;
    let own = node_path(&tree.tree_name, tree.org_id, id);
    let found = hierarchy::list_children(&visit.ctx, tree.org_id, Some(id), turn.page(visit)?).await?;
    let here = |open: &str| turn.here(&own, &[("open", if open.is_empty() { "none" } else { open })]);
    let of = Of { ctx: &visit.ctx, tree: tree.org_id, name: &tree.tree_name };
    let open = query.open.as_deref().map(Open::parse);
    let lines = of.outline(found.rows, open, here).await?;
    let open = query.open.as_deref().unwrap_or_default();
    let relocating = hierarchy::pending_relocation(&visit.ctx, tree.org_id).await?.is_some();
    let above = hierarchy::ancestors_of(&node);
    let metadata: Vec<_> = node.node_metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let typed = forms.is_refused("facts").then(|| forms.pairs("facts", "key", "value"));
    let mut pairs = typed.unwrap_or_else(|| metadata.clone());
    pairs.retain(|(key, value)| !key.is_empty() || !value.is_empty());
    pairs.extend([(String::new(), String::new())]);
    let parent_path = node.node_path.rsplit_once('/').map_or(hierarchy::path::ROOT, |(above, _)| above);
    Ok(Shown {
        figures: figures(visit, &node, query.figures.is_some()).await?,
        count_path: format!("{own}?figures=all"),
        forms: filled(forms, &node, parent_path),
        parent_path: match above.last() {
            Some(parent) => node_path(&tree.tree_name, tree.org_id, parent.node_id),
            None => tree_path(&tree.tree_name),
        },
        above: above
            .into_iter()
            .map(|above| (above.node_id, node_path(&tree.tree_name, tree.org_id, above.node_id), above.name))
            .collect(),
        here: turn.here(&own, &[("open", open)]),
        pager: turn.pager(visit, &own, &[("open", open)], found.next),
        tree_path: tree_path(&tree.tree_name),
        root_id: hierarchy::root_of(tree.org_id),
        id: id.to_string(),
        is_root: node.is_root(),
        children: node.children_count,
        below: words::count(node.children_count.unsigned_abs(), "node", "nodes"),
        path: node.node_path,
        node_type: node.node_type.unwrap_or_default(),
        name: node.node_name,
        created: said::moment(node.created_at),
        updated: said::moment(node.updated_at),
        tree: tree.tree_name,
        frame,
        metadata,
        pairs,
        lines,
        relocating,
    })
}

fn filled(forms: Forms, node: &Node, parent_path: &str) -> Forms {
    let revision = node.revision.to_string();
    let rename = Fields::of([("name", node.node_name.clone()), ("revision", revision.clone())]);
    let facts = Fields::of([("node_type", node.node_type.clone().unwrap_or_default()), ("revision", revision.clone())]);
    let place = Fields::of([("path", parent_path.to_owned()), ("revision", revision.clone())]);
    let delete = Fields::of([("revision", revision)]);
    forms.with("rename", rename).with("facts", facts).with("move", place).with("delete", delete)
}

/// How many stand below, level by level. A few are counted in one read; many, when somebody asks for it.
async fn figures(visit: &Visit, node: &Node, all: bool) -> Result<Option<Figures>, Problem> {
    let (tree, id) = (node.org_id, Some(node.node_id));
    let counts = if all {
        hierarchy::count_descendants(&visit.ctx, tree, id).await?
    } else {
        let page = PageRequest::first(limits::PAGE_ROWS_MAX);
        let found = hierarchy::list_subtree(&visit.ctx, tree, id, None, page).await?;
        if found.next.is_some() {
            return Ok(None);
        }
        let deepest = found.rows.last().map_or(0, |row| usize::try_from(row.relationship_depth).unwrap_or(0));
        let mut by_depth = vec![0; deepest];
        for row in &found.rows {
            let depth = usize::try_from(row.relationship_depth).unwrap_or(1).max(1);
            by_depth[depth - 1] += 1;
        }
        Counts { descendants: found.rows.len() as u64, by_depth }
    };
    let most = counts.by_depth.iter().copied().max().unwrap_or(1).max(1);
    let row =
        |(i, nodes): (usize, &u64)| LevelRow { level: i + 1, nodes: *nodes, width: (nodes * 20).div_ceil(most) * 5 };
    let levels = counts.by_depth.iter().enumerate().map(row).collect::<Vec<_>>();
    let (nodes, on) =
        (words::count(counts.descendants, "node", "nodes"), words::count(levels.len() as u64, "level", "levels"));
    let summary = if levels.is_empty() { "Nothing stands below it.".to_owned() } else { format!("{nodes} on {on}.") };
    Ok(Some(Figures { summary, levels }))
}

/// Where one goes after something was done: back to the page that the form was on.
pub fn back(fields: &Fields, otherwise: &str, notice: &str) -> String {
    let to = next::own_path(fields.text("back")).filter(|path| path.starts_with(super::PATH)).unwrap_or(otherwise);
    let mark = if to.contains('?') { '&' } else { '?' };
    format!("{to}{mark}notice={notice}")
}
