//! Names that only one may have: an e-mail address, a slug. A guarded row keyed by the name says whose it is.
//!
//! A commit has one guarded partition, so that a name and the row that bears it are written one after the other; this
//! module keeps what that could break.
//! 1. Two never have one name: the bearer's row is committed at a version that was read before the claim was made, and a
//!    claim passes to another only after the first one's row was moved on from that version (`fence`).
//! 2. A claim that was never used blocks nobody: it passes to the next who asks, after a moment of grace.

use uuid::Uuid;
use widerow::{Cell, Commit, Error, Row, Schema, Timestamp};

use crate::{
    context::Context,
    limits,
    pattern::{AccessPattern, ReadCost},
};

/// What the name is a name of.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    ProductSlug,
    Email,
    OrderNumber,
}

/// Whose a name is. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "claims", partition(kind, name), guarded, read = LocalQuorum, write = Quorum)]
pub struct Claim {
    pub kind: ClaimKind,
    pub name: String,
    pub owner: Uuid,
    pub claimed_at: Timestamp,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<Claim>()
}

pub const PATTERNS: &[AccessPattern] = &[AccessPattern {
    name: "claim",
    question: "Whose is a name that only one may have",
    table: "claims",
    key: "kind = ? AND name = ?",
    cost: ReadCost::ROW,
}];

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "another may have the name"]
pub enum Claimed {
    Yours,
    Taken,
}

/// Whether a bearer has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    Held,
    /// It does not have the name, and nothing that it has begun can give it the name.
    Fenced,
}

/// A row that has such a name, alone in its partition.
pub trait Bearer: Row {
    const KIND: ClaimKind;

    fn partition(owner: Uuid) -> Self::Partition;
    fn key(owner: Uuid) -> Self::Key;
    fn has_name(&self, name: &str) -> bool;
}

/// Whose the name is said to be. The bearer must be asked: a claim can outlive its use.
pub async fn find_owner<B: Bearer>(ctx: &Context, name: &str) -> Result<Option<Uuid>, Error> {
    Ok(ctx.store.get::<Claim>((B::KIND, name.to_owned())).await?.map(|claim| claim.owner))
}

/// Claims the name for the owner, whose row must be committed afterwards at a version that was read before.
pub async fn claim<B: Bearer>(ctx: &Context, name: &str, owner: Uuid) -> Result<Claimed, Error> {
    let key = (B::KIND, name.to_owned());
    loop {
        let (found, version) = ctx.store.get_versioned::<Claim>(key.clone()).await?;
        if let Some(claim) = found.filter(|claim| claim.owner != owner) {
            let fresh = ctx.now() < claim.claimed_at.plus_seconds(limits::CLAIM_GRACE_SECONDS);
            if fresh || fence::<B>(ctx, name, claim.owner).await? == Holding::Held {
                return Ok(Claimed::Taken);
            }
        }
        // RACE: written also where it is the owner's already, so that one who has just found it unused must look again.
        let claim = Claim { kind: B::KIND, name: name.to_owned(), owner, claimed_at: ctx.now() };
        match ctx.store.commit(Commit::new().unchanged::<Claim>(key.clone(), version).put(&claim)).await {
            Ok(_) => return Ok(Claimed::Yours),
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives the name back, unless the owner has it.
///
/// RACE: the owner may be taking it again at this moment; fenced, it must begin anew, and finds the name free.
pub async fn release<B: Bearer>(ctx: &Context, name: &str, owner: Uuid) -> Result<(), Error> {
    let key = (B::KIND, name.to_owned());
    loop {
        let (found, version) = ctx.store.get_versioned::<Claim>(key.clone()).await?;
        if found.is_none_or(|claim| claim.owner != owner) || fence::<B>(ctx, name, owner).await? == Holding::Held {
            return Ok(());
        }
        let commit = Commit::new().unchanged::<Claim>(key.clone(), version).delete::<Claim>(key.clone());
        match ctx.store.commit(commit).await {
            Ok(_) => return Ok(()),
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether the bearer has the name; if not, moves its partition on, so that a commit which rests on an earlier version
/// fails. A row that is not there yet cannot come then either, if it is committed as `unchanged`.
pub async fn fence<B: Bearer>(ctx: &Context, name: &str, owner: Uuid) -> Result<Holding, Error> {
    let decide = |found: &widerow::Partition<B>| {
        Ok(match found.rows.first() {
            Some(row) if row.has_name(name) => (Commit::new(), Holding::Held),
            Some(row) => (Commit::new().put(row), Holding::Fenced),
            None => (Commit::new().delete::<B>(B::key(owner)), Holding::Fenced),
        })
    };
    ctx.store.guarded::<B, _, Error>(B::partition(owner), decide).await
}
