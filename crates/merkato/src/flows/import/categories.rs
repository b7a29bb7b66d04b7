//! The categories that a source names, found or made.

use std::collections::{HashMap, hash_map::Entry};

use super::{clean, ids, report::Report};
use crate::{
    catalog::{self, Error, NewCategory},
    check::Invalid,
    context::Context,
    id::CategoryId,
    limits,
    pattern::PageRequest,
    text,
};

/// The tree as far as it was needed: each place in it is looked up once.
#[derive(Default)]
pub(super) struct Categories {
    known: HashMap<Vec<String>, CategoryId>,
    /// The categories below one, by their folded names.
    below: HashMap<Option<CategoryId>, HashMap<String, CategoryId>>,
}

impl Categories {
    /// The category at a path; what is missing of it is made.
    pub async fn resolve(&mut self, ctx: &Context, path: &[String], report: &mut Report) -> Result<CategoryId, Error> {
        let folded = folded(path);
        if let Some(id) = self.known.get(&folded) {
            return Ok(*id);
        }
        let mut parent = None;
        for (depth, name) in path.iter().enumerate() {
            let here = &folded[..=depth];
            let id = match self.known.get(here) {
                Some(id) => *id,
                None => self.find_or_create(ctx, parent, name, here, report).await?,
            };
            self.known.insert(here.to_vec(), id);
            parent = Some(id);
        }
        parent.ok_or_else(|| Invalid::new("category", "it is empty").into())
    }

    /// The id of the category at a path: the shop's, by its place or by its slug; or the one that an import of it would have.
    /// Nothing is made.
    pub async fn locate(&mut self, ctx: &Context, path: &[String]) -> Result<CategoryId, Error> {
        let folded = folded(path);
        if let Some(id) = self.known.get(&folded) {
            return Ok(*id);
        }
        let id = match self.find(ctx, &folded).await? {
            Some(id) => id,
            None => {
                let slug = path.last().map(|name| text::slugify(name)).unwrap_or_default();
                let found = catalog::find_category_by_slug(ctx, &slug).await?;
                found.map_or_else(|| ids::category(&folded), |category| category.category_id)
            }
        };
        self.known.insert(folded, id);
        Ok(id)
    }

    async fn find(&mut self, ctx: &Context, path: &[String]) -> Result<Option<CategoryId>, Error> {
        let mut at = None;
        for name in path {
            match self.below(ctx, at).await?.get(name) {
                Some(id) => at = Some(*id),
                None => return Ok(None),
            }
        }
        Ok(at)
    }

    async fn below(
        &mut self,
        ctx: &Context,
        parent: Option<CategoryId>,
    ) -> Result<&HashMap<String, CategoryId>, Error> {
        Ok(match self.below.entry(parent) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(below(ctx, parent).await?),
        })
    }

    /// One that the shop has under this name; or the one that an import made and somebody renamed; or a new one.
    async fn find_or_create(
        &mut self,
        ctx: &Context,
        parent: Option<CategoryId>,
        name: &str,
        path: &[String],
        report: &mut Report,
    ) -> Result<CategoryId, Error> {
        let below = self.below(ctx, parent).await?;
        if let Some(id) = path.last().and_then(|folded| below.get(folded)) {
            return Ok(*id);
        }
        let id = ids::category(path);
        if catalog::find_category(ctx, id).await?.is_some() {
            return Ok(id);
        }
        let new = NewCategory { category_id: Some(id), name: name.to_owned(), slug: None, parent_id: parent };
        match catalog::create_category(ctx, new).await {
            Ok(_) => report.categories_created += 1,
            // RACE: another import made it meanwhile; its id follows from its place, so it is the same one.
            Err(Error::CategoryExists { .. }) => {}
            // Or somebody made another one of this name.
            Err(Error::CategoryNameTaken { holder, .. }) => return Ok(holder),
            Err(error) => return Err(error),
        }
        Ok(id)
    }
}

fn folded(path: &[String]) -> Vec<String> {
    path.iter().map(|name| text::fold(name)).collect()
}

async fn below(ctx: &Context, parent: Option<CategoryId>) -> Result<HashMap<String, CategoryId>, Error> {
    let mut below = HashMap::new();
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let found = catalog::list_subcategories(ctx, parent, page).await?;
        for row in found.rows {
            below.entry(text::fold(&row.name)).or_insert(row.category_id);
        }
        match found.next {
            Some(cursor) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(cursor) },
            None => return Ok(below),
        }
    }
}

/// "Hobbies > Model Trains" from the root; what is deeper than categories go stays in the last one's name.
pub(super) fn path(named: &str) -> Vec<String> {
    let named = clean::line(named);
    let all: Vec<&str> = named.split('>').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut path: Vec<String> = all.iter().take(limits::CATEGORY_DEPTH_MAX).map(|name| (*name).to_owned()).collect();
    if let (Some(last), true) = (path.last_mut(), all.len() > limits::CATEGORY_DEPTH_MAX) {
        let rest = all[limits::CATEGORY_DEPTH_MAX - 1..].join(" > ");
        *last = text::cut(&rest, limits::NODE_NAME_BYTES_MAX).trim_end().to_owned();
    }
    path
}
