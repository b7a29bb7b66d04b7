//! Nodes of a tree by a part of their name.

use askama::Template;
use merkato::{
    hierarchy::{self, Relationship},
    id::NodeId,
};
use serde::Deserialize;

use super::{
    super::pager::{Pager, ROWS, Turn},
    node_path, tree_path,
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Frame, Html},
};

/// What is searched for.
#[derive(Deserialize)]
pub struct SearchQuery {
    #[serde(default)]
    q: String,
}

struct FoundRow {
    path: String,
    name: String,
    node_type: String,
    /// The names above it.
    above: String,
}

#[derive(Template)]
#[template(path = "admin/tree_found.html")]
pub struct Found {
    frame: Frame,
    tree: String,
    tree_path: String,
    q: String,
    rows: Vec<FoundRow>,
    pager: Pager,
    /// Not all nodes were looked at.
    is_partial: bool,
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(name): Path<String>,
    Query(query): Query<SearchQuery>,
    Query(turn): Query<Turn>,
) -> Result<Html<Found>, Problem> {
    let tree = hierarchy::get_tree(&visit.ctx, &name).await?;
    let q = query.q.trim().to_owned();
    let path = tree_path(&tree.tree_name);
    let search = format!("{path}/search");
    let (mut rows, mut next) = (Vec::new(), None);
    if !q.is_empty() {
        let page = turn.page(&visit)?;
        let found = hierarchy::search_subtree(&visit.ctx, tree.org_id, None, &q, page).await?;
        let ids: Vec<NodeId> = found.rows.iter().map(|row| row.descendant_id).collect();
        let nodes = hierarchy::find_nodes(&visit.ctx, tree.org_id, &ids).await?;
        let row = |(row, node): (Relationship, Option<hierarchy::Node>)| {
            let above = node.map(|node| hierarchy::ancestors_of(&node)).unwrap_or_default();
            FoundRow {
                path: node_path(&tree.tree_name, tree.org_id, row.descendant_id),
                name: row.node_name,
                node_type: row.node_type.unwrap_or_default(),
                above: above.into_iter().map(|above| above.name).collect::<Vec<_>>().join(" / "),
            }
        };
        rows = found.rows.into_iter().zip(nodes).map(row).collect();
        next = found.next;
    }
    let is_partial = next.is_some() && rows.len() < ROWS;
    let pager = turn.pager(&visit, &search, &[("q", &q)], next);
    Ok(Html(Found { frame, tree: tree.tree_name, tree_path: path, q, rows, pager, is_partial }))
}
