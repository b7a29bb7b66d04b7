//! Money in, money out. Each is exactly once by its operation's id.

use uuid::Uuid;

use super::decide::{decide_together, submit};
use crate::{
    context::Context,
    id::UserId,
    limits,
    wallets::{
        error::Result,
        rules::{Decision, EntryKind, Operation, Told, Wish},
    },
};

/// Puts money in. The first deposit says the currency, for good.
pub async fn deposit(ctx: &Context, user: UserId, operation: Operation) -> Result<Told> {
    operation.check(ctx.now())?;
    submit(ctx, user, Wish::Deposit(operation)).await
}

/// Takes money out, if it is there.
pub async fn withdraw(ctx: &Context, user: UserId, operation: Operation) -> Result<Told> {
    operation.check(ctx.now())?;
    submit(ctx, user, Wish::Withdraw(operation)).await
}

/// Money in or out, of several at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posting {
    Deposit(Operation),
    Withdraw(Operation),
}

/// What became of a posting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    pub told: Told,
    /// It was made before.
    pub repeated: bool,
}

/// Books several postings to one wallet in their order, each on what the ones before it left, in as few commits as they fit
/// into. One that is refused stops no other.
pub async fn post(ctx: &Context, user: UserId, postings: Vec<Posting>) -> Result<Vec<Result<Posted>>> {
    let mut wishes = Vec::with_capacity(postings.len());
    let mut answers: Vec<Option<Result<Posted>>> = Vec::with_capacity(postings.len());
    for posting in postings {
        let (operation, wish): (_, fn(Operation) -> Wish) = match posting {
            Posting::Deposit(operation) => (operation, Wish::Deposit),
            Posting::Withdraw(operation) => (operation, Wish::Withdraw),
        };
        match operation.check(ctx.now()) {
            Ok(()) => {
                wishes.push(wish(operation));
                answers.push(None);
            }
            Err(invalid) => answers.push(Some(Err(invalid.into()))),
        }
    }
    let mut decided = Vec::with_capacity(wishes.len());
    for some in wishes.chunks(limits::WALLET_WISHES_TOGETHER_MAX) {
        decided.extend(decide_together(ctx, user, some).await?);
    }
    let posted = |decision: Decision| {
        let repeated = matches!(decision, Decision::Known(_));
        Posted { told: decision.into_told(), repeated }
    };
    let mut decided = decided.into_iter().map(|decision| decision.map(posted));
    Ok(answers.into_iter().filter_map(|answer| answer.or_else(|| decided.next())).collect())
}

/// Takes money out for another's wallet: the first half of a transfer.
pub(crate) async fn send(ctx: &Context, user: UserId, operation: Operation, to: UserId) -> Result<Told> {
    operation.check(ctx.now())?;
    submit(ctx, user, Wish::Send(operation, to)).await
}

/// Puts in what another has sent: the second half of a transfer.
pub(crate) async fn receive(ctx: &Context, user: UserId, operation: Operation, from: UserId) -> Result<Told> {
    operation.check(ctx.now())?;
    submit(ctx, user, Wish::Receive(operation, from)).await
}

/// Puts back what an operation took, once. One that was not made will never be: whoever is about to make it is refused
/// (`Error::OperationVoided`).
pub async fn give_back(ctx: &Context, user: UserId, operation: Uuid) -> Result<Told> {
    submit(ctx, user, Wish::GiveBack(operation)).await
}

/// What became of an operation that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// It was made before, and stays.
    Made,
    /// It was not made, and will never be.
    Voided,
}

/// Makes sure that an operation that was not made will never be.
pub async fn fence(ctx: &Context, user: UserId, operation: Uuid) -> Result<Fenced> {
    let told = submit(ctx, user, Wish::Fence(operation)).await?;
    Ok(if told.kind == EntryKind::OperationVoided { Fenced::Voided } else { Fenced::Made })
}
