//! A numbered page of a category.
//!
//! A list is read behind a cursor, which says nothing of a page's number. A link to the next page has both. A number alone
//! leads to its page by a walk from the beginning, as far as a bound: so pages can be linked, and gone back to, by their number.

use merkato::{
    Cursor, PageRequest,
    catalog::{self, CategoryEntry, SortOrder},
    id::CategoryId,
};

use super::pager::WALKED_PAGES_MAX;
use crate::http::{Problem, Visit, wire::Paging};

/// Products of a page: full rows in two, three and four columns.
pub const ROWS: usize = 24;
/// Rows that are read at once on a walk, and ahead of a page.
const AHEAD: usize = 4 * ROWS;

pub struct Shelf {
    pub rows: Vec<CategoryEntry>,
    /// The cursor of the next page; None on the last.
    pub next: Option<String>,
    /// How many products are behind this page, as far as was looked.
    pub behind: usize,
    /// Whether there are still more.
    pub is_more: bool,
}

/// Which page: its number, from one on, and the cursor that a link to it had.
pub struct Place {
    pub number: usize,
    pub cursor: Option<String>,
}

pub async fn read(visit: &Visit, category: CategoryId, order: SortOrder, place: Place) -> Result<Shelf, Problem> {
    let start = find_start(visit, category, order, place).await?;
    let page = PageRequest { limit: ROWS, cursor: start };
    let found = catalog::list_category(&visit.ctx, category, order, page).await?;
    let Some(next) = found.next else { return Ok(Shelf { rows: found.rows, next: None, behind: 0, is_more: false }) };
    let shown = visit.seal(&next);
    let page = PageRequest { limit: AHEAD, cursor: Some(next) };
    let ahead = catalog::list_category(&visit.ctx, category, order, page).await?;
    // The last row of a page does not tell whether it was the last of all.
    let next = (!ahead.rows.is_empty()).then_some(shown);
    Ok(Shelf { rows: found.rows, next, behind: ahead.rows.len(), is_more: ahead.next.is_some() })
}

/// Where a page begins. A cursor that does not hold is left aside: it is a shorter way, and the number says all.
async fn find_start(
    visit: &Visit,
    category: CategoryId,
    order: SortOrder,
    place: Place,
) -> Result<Option<Cursor>, Problem> {
    if place.number == 1 {
        return Ok(None);
    }
    if place.cursor.is_some()
        && let Ok(page) = visit.page(&Paging { limit: None, cursor: place.cursor })
    {
        return Ok(page.cursor);
    }
    let nothing = || Problem::new("not_found", "The list has no such page.");
    if place.number > WALKED_PAGES_MAX {
        return Err(nothing());
    }
    let mut left = (place.number - 1) * ROWS;
    let mut cursor = None;
    while left > 0 {
        let page = PageRequest { limit: left.min(AHEAD), cursor };
        let found = catalog::list_category(&visit.ctx, category, order, page).await?;
        if found.rows.is_empty() || found.next.is_none() {
            return Err(nothing());
        }
        left = left.saturating_sub(found.rows.len());
        cursor = found.next;
    }
    Ok(cursor)
}
