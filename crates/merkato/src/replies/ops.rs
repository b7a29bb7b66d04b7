//! The operations: load, decide, commit, answer.

use uuid::Uuid;
use widerow::{Commit, Timestamp};

use super::{
    error::{Error, Result},
    rules::{self, Found, Reply},
    tables::ReplyRow,
};
use crate::{context::Context, text};

/// What one is told who comes with a request under a key.
#[derive(Debug)]
#[must_use = "another may have the key"]
pub enum Begun {
    /// The request is the caller's to run. Whoever has the ticket ends it, by `keep` or by `forget`; one that is lost ends
    /// with its lease.
    New(Ticket),
    /// Somebody runs it, and has it until then.
    Running {
        until: Timestamp,
    },
    /// The key was used for another request.
    Other,
    Done(Reply),
    /// It is done, and its answer was too large to be kept.
    TooLarge,
}

/// Stands for a request that is running.
#[derive(Debug)]
pub struct Ticket {
    key_hash: String,
    ticket_id: Uuid,
    until: Timestamp,
}

impl Ticket {
    /// Until then nobody else runs the request.
    pub fn until(&self) -> Timestamp {
        self.until
    }
}

/// Begins a request under a key, or says what became of it. The scope says whose the key is and for what; it may be any text.
///
/// RACE: of two who take a request over whose lease is over, one finds the row as it was; the other decides again, on the new
/// lease, and is told that it runs.
pub async fn begin(ctx: &Context, scope: &str, key: &str, fingerprint: &str) -> Result<Begun> {
    rules::check(key, fingerprint)?;
    let key_hash = text::digest(&[b"reply", scope.as_bytes(), key.as_bytes()]);
    let ticket_id = ctx.new_id();
    let settings = &ctx.settings.replies;
    let ticket = |until| Begun::New(Ticket { key_hash: key_hash.clone(), ticket_id, until });
    ctx.store
        .guarded::<ReplyRow, _, Error>(key_hash.clone(), |found| {
            let (now, row) = (ctx.now(), found.rows.first());
            let told = match rules::find(row, ticket_id, fingerprint, now)? {
                Found::Free => {
                    let until = now.plus_seconds(settings.lease_seconds);
                    let row = ReplyRow::running(key_hash.clone(), fingerprint, ticket_id, until);
                    return Ok((Commit::new().put_for(&row, settings.memory_seconds), ticket(until)));
                }
                Found::Own => ticket(row.map_or(now, |row| row.running_until)),
                Found::Running { until } => Begun::Running { until },
                Found::Other => Begun::Other,
                Found::Done(reply) => Begun::Done(reply),
                Found::TooLarge => Begun::TooLarge,
            };
            Ok((Commit::new(), told))
        })
        .await
}

/// Keeps the answer to a request, unless it was taken over meanwhile. Of one that is too large it is kept that it was given.
pub async fn keep(ctx: &Context, ticket: Ticket, reply: &Reply) -> Result<()> {
    let seconds = ctx.settings.replies.memory_seconds;
    end(ctx, ticket, |row| Commit::new().put_for(&row.ended(reply), seconds)).await
}

/// Forgets that the request was made, unless it was taken over meanwhile: whoever comes with the key begins anew.
pub async fn forget(ctx: &Context, ticket: Ticket) -> Result<()> {
    end(ctx, ticket, |row| Commit::new().delete::<ReplyRow>(row.key_hash.clone())).await
}

/// RACE: another may be taking it over. The row says who runs it, and the commit rests on the row.
async fn end(ctx: &Context, ticket: Ticket, how: impl Fn(&ReplyRow) -> Commit) -> Result<()> {
    ctx.store
        .guarded::<ReplyRow, _, Error>(ticket.key_hash, |found| {
            let own = found.rows.first().filter(|row| row.is_run_by(ticket.ticket_id));
            Ok((own.map_or(Commit::new(), &how), ()))
        })
        .await
}
