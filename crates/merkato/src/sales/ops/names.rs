//! The categories and brands that sales name: what somebody can ask for.
//!
//! Of an index one can ask what a category sold, not which categories there are. So each name is noted when a sale with it is
//! recorded, once in a while and not with every sale. What other tools write into the table is noted by the backfill, which
//! sees every record.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use widerow::{Page, Timestamp};

use crate::{
    context::Context,
    pattern::PageRequest,
    sales::{
        error::Result,
        tables::{NameKind, SaleName, SaleRecord},
    },
};

/// A name that was noted less than so long ago is not noted again by the same process.
const FRESH_MILLIS: i64 = 86_400_000;
/// Names that a process remembers to have noted.
const REMEMBERED_MAX: usize = 100_000;

/// What a process remembers to have noted, of all tenants.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<HashMap<(String, NameKind, String), Timestamp>>);

impl Noted {
    /// Those that are to be noted now.
    fn missing(&self, tenant: &str, names: BTreeSet<(NameKind, &str)>, now: Timestamp) -> Vec<(NameKind, String)> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |kind, name: &str| {
            let noted = known.get(&(tenant.to_owned(), kind, name.to_owned()));
            noted.is_some_and(|noted| now.millis() - noted.millis() < FRESH_MILLIS)
        };
        let missing = names.into_iter().filter(|(kind, name)| !is_fresh(*kind, name));
        missing.map(|(kind, name)| (kind, name.to_owned())).collect()
    }

    fn remember(&self, tenant: &str, names: Vec<(NameKind, String)>, now: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + names.len() > REMEMBERED_MAX {
            known.clear();
        }
        known.extend(names.into_iter().map(|(kind, name)| ((tenant.to_owned(), kind, name), now)));
    }
}

/// Notes the names of these sales. They are recorded already, so a failure is logged and made good by the next sale.
pub(super) async fn note_names(ctx: &Context, sales: impl IntoIterator<Item = &SaleRecord>) {
    let names: BTreeSet<(NameKind, &str)> = sales
        .into_iter()
        .flat_map(|sale| {
            let brand = sale.brand.as_deref().map(|brand| (NameKind::Brand, brand));
            [Some((NameKind::Category, sale.category.as_str())), brand].into_iter().flatten()
        })
        .collect();
    let (tenant, now) = (ctx.store.tenant().as_str(), ctx.now());
    let missing = ctx.sale_names.missing(tenant, names, now);
    if missing.is_empty() {
        return;
    }
    let row = |(kind, name): &(NameKind, String)| SaleName { kind: *kind, name: name.clone(), noted_at: now };
    let rows: Vec<SaleName> = missing.iter().map(row).collect();
    let answers = ctx.store.put_many(&rows).await;
    if let Some(error) = answers.iter().find_map(|answer| answer.as_ref().err()) {
        tracing::warn!(%tenant, %error, "names of sales could not be noted");
    }
    let noted = missing.into_iter().zip(answers).filter(|(_, answer)| answer.is_ok()).map(|(name, _)| name);
    ctx.sale_names.remember(tenant, noted.collect(), now);
}

/// S6: the categories, or the brands, that sales have named, in the order of their names. All sales of one may have ended.
pub async fn list_names(ctx: &Context, kind: NameKind, page: PageRequest) -> Result<Page<SaleName>> {
    page.check()?;
    Ok(ctx.store.slice::<SaleName>(kind).limit(page.limit).after(page.cursor).page().await?)
}
