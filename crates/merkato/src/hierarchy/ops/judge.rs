//! What is seen of rows that may be marked: all of the old place of a subtree, or all of the new one.
//!
//! RACE: a relocation is decided in one commit, after all its rows were marked, and its marks go after that.
//! 1. What was read without marks is as it is: a row that leaves is marked from before the decision until it goes, and one that
//!    arrives until after it.
//! 2. What was read with marks of a relocation that is undecided *after* the read was read before the decision: rows of the old
//!    place are all there, marked or not.
//! 3. What was read *after* the relocation was seen to be decided has all rows of the new place, marked or not, and those of
//!    the old one are marked or gone.
//! 4. What was read before that may lack rows of the new place, and is read again.
//! 5. Marks of a relocation that is not the tree's last are of before: a next one begins when all of it is made. They are gone
//!    when the rows are read again.

use std::collections::BTreeSet;

use uuid::Uuid;
use widerow::{Page, store::SliceRequest};

use crate::{
    context::Context,
    hierarchy::{
        error::{Error, Result},
        rules::{Marked, Side},
        tables::{Node, Relocation},
    },
    id::{NodeId, TreeId},
    limits,
};

/// Reads of one answer, each of which a relocation has overtaken.
const LOOKS_MAX: usize = 16;

/// Rows that are read at once where many are passed over.
const PASSED_AT_ONCE_MAX: usize = 2_000;

/// Which relocation is known to be decided, and of which others marks were seen. Whoever reads asks it about every row, and
/// reads all of it again until it agrees.
#[derive(Default)]
pub(super) struct Judge {
    decided: Option<Uuid>,
    open: BTreeSet<Uuid>,
    looks: usize,
}

impl Judge {
    /// On which side a marked row is looked at.
    pub fn side(&mut self, relocation: Uuid) -> Side {
        if self.decided == Some(relocation) {
            return Side::New;
        }
        self.open.insert(relocation);
        Side::Old
    }

    pub fn knows_decided(&self) -> bool {
        self.decided.is_some()
    }

    /// What was taken to be decided has ended meanwhile: all is read again.
    pub fn overtaken(&mut self, relocation: Uuid) {
        self.open.insert(relocation);
    }

    pub fn show<R: Marked>(&mut self, row: R) -> Option<R> {
        let side = row.mark().map(|mark| mark.relocation).map_or(Side::Old, |relocation| self.side(relocation));
        row.on(side)
    }

    /// Whether all that was shown since it was asked last is of one side.
    pub async fn agrees(&mut self, ctx: &Context, tree: TreeId) -> Result<bool> {
        if self.open.is_empty() {
            return Ok(true);
        }
        self.looks += 1;
        if self.looks > LOOKS_MAX {
            return Err(Error::Busy { tree });
        }
        let open = std::mem::take(&mut self.open);
        // ORDER: the state after the rows.
        let state = state(ctx, tree).await?.map(|state| (state.id, state.side()));
        self.decided = match state {
            Some((id, Side::Old)) if open.iter().all(|open| *open == id) => return Ok(true),
            Some((id, Side::New)) => Some(id),
            _ => None,
        };
        Ok(false)
    }
}

/// What is under way in a tree, or was last.
pub(super) async fn state(ctx: &Context, tree: TreeId) -> Result<Option<Relocation>> {
    let root = NodeId(tree.0);
    let page = ctx.store.slice::<Node>(tree).prefix(root).limit(1).page().await?;
    Ok(page.statics.get(Node::RELOCATION)?.flatten())
}

/// A page of marked rows, full unless it is the last, or so many rows had to be passed over.
pub(super) async fn page<R: Marked>(
    ctx: &Context,
    tree: TreeId,
    slice: SliceRequest<R>,
    limit: usize,
) -> Result<Page<R>> {
    let mut judge = Judge::default();
    loop {
        let page = gather(&slice, limit, &mut judge).await?;
        if judge.agrees(ctx, tree).await? {
            return Ok(page);
        }
    }
}

/// The rows that the judge shows, read on until they are enough.
async fn gather<R: Marked>(slice: &SliceRequest<R>, limit: usize, judge: &mut Judge) -> Result<Page<R>> {
    let (mut rows, mut passed, mut wanted) = (Vec::new(), 0, limit);
    let mut slice = slice.clone();
    loop {
        let mut page = slice.clone().limit(wanted).page().await?;
        let last = page.rows.last().map(|row| slice.cursor_at(row));
        let mut raw = std::mem::take(&mut page.rows).into_iter();
        let mut cut = None;
        for row in raw.by_ref() {
            let cursor = (rows.len() + 1 == limit).then(|| slice.cursor_at(&row));
            match judge.show(row) {
                Some(row) => rows.push(row),
                None => passed += 1,
            }
            if rows.len() == limit {
                cut = cursor;
                break;
            }
        }
        let more = page.next.is_some() || raw.len() > 0;
        let full = rows.len() == limit || passed >= limits::PASSED_ROWS_A_PAGE_MAX;
        if !more || full {
            page.rows = rows;
            page.next = if more { cut.or(last) } else { None };
            return Ok(page);
        }
        slice = slice.after(page.next);
        // Where many are passed over, more are read at once.
        wanted = (2 * wanted).min(PASSED_AT_ONCE_MAX).max(limit);
    }
}
