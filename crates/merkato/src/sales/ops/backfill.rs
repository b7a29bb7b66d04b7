//! Records without an end get one; records that end soon are given out before they go.

use widerow::{Row, Timestamp, store::ScanCursor};

use super::names::note_names;
use crate::{
    context::Context,
    sales::{
        error::{Error, Result},
        retention,
        tables::SaleRecord,
    },
};

/// Records that are written together.
const TOGETHER: usize = 500;

/// What a backfill found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backfilled {
    /// Records of the tenant that were looked at.
    pub scanned: u64,
    /// Those that have no end and get one.
    pub without: u64,
    /// Those that got it; none in a dry run.
    pub updated: u64,
    /// Those that could not be written; they are found again by another run.
    pub failed: u64,
    /// Where to go on; None at the end.
    pub next: Option<ScanCursor>,
}

/// Gives every record of the tenant that has no end the one that the retention says. With `dry_run` it is only counted.
/// `on_progress` is told after each piece, with the cursor from which another run goes on, and says whether to.
///
/// It walks over the table of all tenants.
///
/// A record that somebody else writes between the look and the write is left as they wrote it, and counted as failed; what
/// other tools keep in it stays.
pub async fn backfill_ttl(
    ctx: &Context,
    dry_run: bool,
    resume: Option<ScanCursor>,
    mut on_progress: impl FnMut(&Backfilled) -> bool,
) -> Result<Backfilled> {
    let database = ctx.store.database();
    let mut scan = match resume {
        Some(cursor) => database.resume_scan(SaleRecord::table(), &cursor)?,
        None => database.scan(SaleRecord::table(), 1).await?.pop().ok_or_else(nothing)?,
    };
    let mut done = Backfilled::default();
    while let Some(rows) = scan.next().await? {
        let (mut seen, mut mended) = (Vec::new(), Vec::new());
        for (_, row) in rows.into_iter().filter(|(tenant, _)| tenant == ctx.store.tenant()) {
            done.scanned += 1;
            let sale = SaleRecord::from_values(row.values).map_err(|m| widerow::Error::mismatch("sales", m))?;
            let end = retention::end(sale.sale_date, ctx.settings.sales.retention());
            if sale.ttl.is_none() && end.is_some() {
                done.without += 1;
                mended.push((sale.clone(), SaleRecord { ttl: end, ..sale.clone() }));
            }
            seen.push(sale);
        }
        if !dry_run {
            note_names(ctx, &seen).await;
            for some in mended.chunks(TOGETHER) {
                let answers = ctx.store.replace_many(some).await;
                let failed = answers.iter().filter(|answer| !matches!(answer, Ok(true))).count() as u64;
                done.failed += failed;
                done.updated += some.len() as u64 - failed;
            }
        }
        done.next = scan.cursor();
        if !on_progress(&done) {
            break;
        }
    }
    Ok(done)
}

fn nothing() -> Error {
    Error::Data(widerow::Error::unavailable("the table has no ranges"))
}

/// A record that ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    pub record: SaleRecord,
    pub ends_at: Timestamp,
}

/// Shows every record of the tenant that ends before an instant, those included that have ended and that the engine still
/// has: what is to be kept elsewhere before it goes. How many there were.
pub async fn export_ending(ctx: &Context, before: Timestamp, mut see: impl FnMut(Ending)) -> Result<u64> {
    let mut seen = 0;
    for mut range in ctx.store.scan(SaleRecord::table(), 1).await? {
        while let Some(rows) = range.next_with_ended().await? {
            for (_, row) in rows {
                let Some(ends_at) = row.expires_at.filter(|end| *end < before) else { continue };
                let record = SaleRecord::from_values(row.values).map_err(|m| widerow::Error::mismatch("sales", m))?;
                seen += 1;
                see(Ending { record, ends_at });
            }
        }
    }
    Ok(seen)
}
