//! Nodes by a part of their name. There is no index of names: the rows below a node are looked through, so many and no more.

use widerow::Page;

use super::{judge, read::get_node};
use crate::{
    check::Check,
    context::Context,
    hierarchy::{error::Result, rules::root_of, tables::Relationship},
    id::{NodeId, TreeId},
    limits,
    pattern::PageRequest,
    text,
};

/// Rows that are looked through in one read.
const ROWS: usize = 1_000;

/// What stands below a node and has the text in its name, as `list_subtree` has it in order. Case and accents count for nothing.
/// A page may be short, even empty, and not the last: no more than `NODES_SEARCHED_MAX` nodes are looked at for it.
pub async fn search_subtree(
    ctx: &Context,
    tree: TreeId,
    node: Option<NodeId>,
    part: &str,
    page: PageRequest,
) -> Result<Page<Relationship>> {
    page.check()?;
    let mut check = Check::new();
    check.line("q", part, 1..=limits::NODE_NAME_BYTES_MAX);
    check.end()?;
    let (node, wanted) = (node.unwrap_or(root_of(tree)), text::fold(part));
    if page.cursor.is_none() {
        get_node(ctx, tree, node).await?;
    }
    let slice = ctx.store.slice::<Relationship>((tree, node));
    let (mut cursor, mut found, mut looked_at) = (page.cursor, Vec::new(), 0);
    loop {
        let mut read = judge::page(ctx, tree, slice.clone().after(cursor), ROWS).await?;
        looked_at += read.rows.len();
        for row in std::mem::take(&mut read.rows) {
            if !text::fold(&row.node_name).contains(&wanted) {
                continue;
            }
            if found.len() == page.limit {
                // One more than there is room for: the next page begins behind the last that has room.
                read.next = found.last().map(|last| slice.cursor_at(last));
                read.rows = found;
                return Ok(read);
            }
            found.push(row);
        }
        if read.next.is_none() || looked_at >= limits::NODES_SEARCHED_MAX {
            read.rows = found;
            return Ok(read);
        }
        cursor = read.next;
    }
}
