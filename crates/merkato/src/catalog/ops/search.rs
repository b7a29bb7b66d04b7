//! Products by name: as one types, and exactly.

use std::collections::HashSet;

use widerow::Page;

use crate::{
    catalog::{
        error::{Error, Result},
        prefix::{self, SHORT_CHARS},
        tables::{NamedItem, PrefixEntry},
    },
    check::{Check, Invalid},
    context::Context,
    limits,
    pattern::PageRequest,
    text,
};

/// A product is found once for each of its words that begin so. Reading this many times what is shown leaves few pages short.
const WORDS_A_PRODUCT: usize = 3;

/// Q3. Active products of whose names a word begins with what was typed. One partition, one request.
pub async fn suggest(ctx: &Context, typed: &str, limit: usize) -> Result<Vec<PrefixEntry>> {
    let folded = text::fold(text::cut(typed, limits::NAME_BYTES_MAX));
    let folded = text::cut(&folded, prefix::SORTED_BYTES_MAX).trim_end();
    let mut check = Check::new();
    check.that((1..=limits::SUGGESTIONS_MAX).contains(&limit), "limit", {
        format!("{limit} is not 1 to {}", limits::SUGGESTIONS_MAX)
    });
    let place = prefix::place(folded);
    let chars = folded.chars().count();
    check.that(place.is_some(), "prefix", format!("{chars} characters are too short, {SHORT_CHARS} are needed"));
    check.end()?;
    let (partition, slice_from) = place.unwrap_or_default();
    let mut slice = ctx.store.slice::<PrefixEntry>(partition.to_owned()).limit(limit * WORDS_A_PRODUCT);
    if let Some(start) = slice_from {
        slice = slice.starts_with(start);
    }
    let mut seen = HashSet::new();
    let found = slice.page().await?.rows.into_iter();
    Ok(found.filter(|entry| seen.insert(entry.product_id)).take(limit).collect())
}

/// named-carts Q3. Active products with exactly this name.
pub async fn list_items_by_name(ctx: &Context, name: &str, page: PageRequest) -> Result<Page<NamedItem>> {
    page.check()?;
    if name.is_empty() || name.len() > limits::NAME_BYTES_MAX {
        return Err(Invalid::new("name", format!("1 to {} bytes are wanted", limits::NAME_BYTES_MAX)).into());
    }
    Ok(ctx.store.slice::<NamedItem>(name.to_owned()).limit(page.limit).after(page.cursor).page().await?)
}

/// Rows that are counted at once: few names are had by more.
const COUNTED_AT_ONCE: usize = 200;

/// Refuses one product more of a name that too many have. Two at once may both be the last: the limit keeps partitions
/// small, and a few rows more do no harm.
pub(super) async fn check_name(ctx: &Context, name: &str) -> Result<()> {
    let most = ctx.settings.catalog.products_a_name_max;
    let (mut count, mut cursor) = (0, None);
    loop {
        let slice = ctx.store.slice::<NamedItem>(name.to_owned()).limit(COUNTED_AT_ONCE).after(cursor);
        let page = slice.page().await?;
        count += page.rows.len();
        cursor = page.next;
        if count >= most {
            return Err(Error::TooManyOfName { limit: most });
        }
        if cursor.is_none() {
            return Ok(());
        }
    }
}
