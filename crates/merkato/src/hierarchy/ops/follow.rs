//! What depends on the place of a node follows when that has changed: which nodes have followers that are not there yet, and how
//! far these are. Who follows is the business of those who keep the tree.
//!
//! 1. A change is noted in the commit that begins it, with the time of the one that decides it, and its note goes when all has followed, or with a newer note.
//! 2. How far it is, is a part of the note: whoever comes by goes on from there.

use widerow::Page;

use super::{draft::decide, drive};
use crate::{
    context::Context,
    hierarchy::{
        error::Result,
        tables::{FollowEntry, ToFollow},
    },
    id::{NodeId, TreeId},
    pattern::PageRequest,
};

/// The nodes whose change is to be followed.
///
/// ORDER: what is under way is ended first. A process may have died when it had begun a change and its note was not listed yet:
/// the next commit on the tree lists it.
pub(crate) async fn list(ctx: &Context, tree: TreeId, page: PageRequest) -> Result<Page<FollowEntry>> {
    page.check()?;
    drive::finish(ctx, tree).await?;
    Ok(ctx.store.slice::<FollowEntry>(tree).limit(page.limit).after(page.cursor).page().await?)
}

/// Ends what is under way in the tree, and says what is to be followed of a node.
pub(crate) async fn find(ctx: &Context, tree: TreeId, node: NodeId) -> Result<Option<ToFollow>> {
    decide(ctx, tree, vec![node], |draft| Ok(draft.node(node).and_then(|node| node.to_follow.clone()))).await
}

/// Notes how far it is (None: all has followed), unless another change has come since; whether it did.
pub(crate) async fn note(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    was: &ToFollow,
    now: Option<ToFollow>,
) -> Result<bool> {
    decide(ctx, tree, vec![node], |draft| {
        let Some(found) = draft.node(node).filter(|found| found.to_follow.as_ref() == Some(was)).cloned() else {
            return Ok(false);
        };
        let noted = crate::hierarchy::tables::Node { to_follow: now.clone(), ..found };
        draft.write(vec![(node, Some(noted))])?;
        Ok(true)
    })
    .await
}
