//! Wallets: store credit that the shop keeps for its customers, and how it came to be.

use axum::response::Response;
use merkato::{
    Context,
    accounts::{self, UserStatus},
    flows::transfer::{self, TransferRequest},
    id::UserId,
    wallets::{self, EntryKind, Posting, StatementLine, Told, Wallet},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::admin::{amount, created};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    cursor::{cursor_at, version_of},
    operation::Operation,
    wire::{Listing, Money, Paging, Time, mirror},
};

mirror! {
    /// What an entry tells.
    EntryKindView = EntryKind {
        MoneyDeposited, MoneyWithdrawn, TransferSent, TransferReceived, MoneyReturned, OperationVoided,
    }
}

/// A wallet.
#[derive(Serialize, ToSchema)]
pub struct WalletView {
    pub user_id: Uuid,
    /// Null before the first deposit, which says the currency for good.
    pub balance: Option<Money>,
    /// Entries that moved money.
    #[schema(example = 7)]
    pub transactions: i64,
}

impl From<Wallet> for WalletView {
    fn from(wallet: Wallet) -> Self {
        let balance = wallet.currency.as_ref().map(|currency| Money::new(wallet.balance, currency));
        WalletView { user_id: wallet.user_id.0, balance, transactions: wallet.transactions }
    }
}

/// An entry of a wallet.
#[derive(Serialize, ToSchema)]
pub struct EntryView {
    /// Under which it was asked for.
    pub operation_id: Uuid,
    pub kind: EntryKindView,
    /// Above nought, whichever way it went; null of an operation that was given up in an empty wallet.
    pub amount: Option<Money>,
    /// After it.
    pub balance: Option<Money>,
    /// Of a transfer: from whom, or to whom.
    pub peer_id: Option<Uuid>,
    /// Of money that came back: the operation that it had left by.
    pub returns: Option<Uuid>,
    #[schema(example = "A refund in goodwill")]
    pub reason: Option<String>,
}

impl From<Told> for EntryView {
    fn from(told: Told) -> Self {
        let entry = told.entry;
        let money = |amount| entry.currency.as_ref().map(|currency| Money::new(amount, currency));
        EntryView {
            operation_id: entry.operation_id,
            kind: told.kind.into(),
            amount: money(entry.amount),
            balance: money(entry.balance),
            peer_id: entry.peer.map(|peer| peer.0),
            returns: entry.returns,
            reason: entry.reason,
        }
    }
}

/// A line of a wallet's statement.
#[derive(Serialize, ToSchema)]
pub struct StatementView {
    /// Counted from 1 without a gap.
    #[schema(example = 7)]
    pub version: i64,
    pub event_id: Uuid,
    pub at: Time,
    #[serde(flatten)]
    pub entry: EntryView,
}

impl From<StatementLine> for StatementView {
    fn from(line: StatementLine) -> Self {
        let StatementLine { version, event_id, at, told } = line;
        StatementView { version, event_id: event_id.0, at: at.into(), entry: told.into() }
    }
}

/// Nobody's wallet is no wallet; but one that has entries is one, also where its owner is gone.
async fn must_be(ctx: &Context, user: UserId) -> Result<Wallet, Problem> {
    let wallet = wallets::get_wallet(ctx, user).await?;
    if wallet.transactions == 0 && accounts::find_user(ctx, user).await?.is_none() {
        return Err(accounts::Error::UserNotFound { user }.into());
    }
    Ok(wallet)
}

/// Whoever is erased is given nothing more: there is nobody who could spend it. What the wallet holds can be taken out still.
async fn may_receive(ctx: &Context, user: UserId) -> Result<(), Problem> {
    must_be(ctx, user).await?;
    let found = accounts::find_user(ctx, user).await?;
    if found.is_some_and(|found| found.status == UserStatus::Deleted) {
        return Err(accounts::Error::UserNotFound { user }.into());
    }
    Ok(())
}

/// What a customer's wallet holds
#[utoipa::path(get, path = "/v1/wallets/{user_id}", tag = "wallets",
    params(("user_id" = Uuid, Path, description = "Whose it is")),
    responses((status = 200, description = "The wallet", body = WalletView), (status = 304, description = "As the client has it")))]
pub async fn get_wallet(visit: Visit, Path(user): Path<UserId>) -> Result<Json<WalletView>, Problem> {
    Ok(Json(must_be(&visit.ctx, user).await?.into()))
}

/// How a wallet came to what it holds, the newest first
#[utoipa::path(get, path = "/v1/wallets/{user_id}/statement", tag = "wallets",
    params(("user_id" = Uuid, Path, description = "Whose it is"), Paging),
    responses((status = 200, description = "A page of it", body = Listing<StatementView>), (status = 304, description = "As the client has it")))]
pub async fn list_statement(
    visit: Visit,
    Path(user): Path<UserId>,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<StatementView>>, Problem> {
    must_be(&visit.ctx, user).await?;
    statement(&visit, user, &paging).await
}

async fn statement(visit: &Visit, user: UserId, paging: &Paging) -> Result<Json<Listing<StatementView>>, Problem> {
    let page = visit.page(paging)?;
    let found = wallets::statement(&visit.ctx, user, version_of(&page)?, page.limit).await?;
    Ok(Json(visit.listed(found.lines, found.before.map(cursor_at), StatementView::from)))
}

/// What the caller's own wallet holds
#[utoipa::path(get, path = "/v1/me/wallet", tag = "wallets",
    responses((status = 200, description = "The wallet", body = WalletView), (status = 304, description = "As the client has it")))]
pub async fn get_my_wallet(visit: Visit) -> Result<Json<WalletView>, Problem> {
    Ok(Json(wallets::get_wallet(&visit.ctx, visit.person()?.user_id).await?.into()))
}

/// How the caller's own wallet came to what it holds, the newest first
#[utoipa::path(get, path = "/v1/me/wallet/statement", tag = "wallets", params(Paging),
    responses((status = 200, description = "A page of it", body = Listing<StatementView>), (status = 304, description = "As the client has it")))]
pub async fn list_my_statement(
    visit: Visit,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<StatementView>>, Problem> {
    statement(&visit, visit.person()?.user_id, &paging).await
}

/// Money that is put in or taken out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoneyBody {
    /// By which it is known when it comes again; without one, by the `Idempotency-Key`.
    operation_id: Option<Uuid>,
    /// Above nought, with no more decimals than the currency has.
    amount: Money,
    /// One line, at most 200 bytes.
    #[schema(example = "A refund in goodwill", max_length = 200)]
    reason: Option<String>,
}

impl MoneyBody {
    fn operation(self, operation: Operation) -> Result<wallets::Operation, Problem> {
        let (amount, currency) = amount("amount", &self.amount)?;
        let id = self.operation_id.unwrap_or(operation.id);
        Ok(wallets::Operation { reason: self.reason, ..wallets::Operation::new(id, amount, currency) })
    }
}

/// Put money into a wallet
///
/// The first deposit says the wallet's currency for good. The same operation again changes nothing.
#[utoipa::path(post, path = "/v1/wallets/{user_id}/deposits", tag = "wallets", request_body = MoneyBody,
    params(("user_id" = Uuid, Path, description = "Whose it is")),
    responses((status = 201, description = "The entry", body = EntryView)))]
pub async fn deposit(
    visit: Visit,
    Path(user): Path<UserId>,
    operation: Operation,
    Json(body): Json<MoneyBody>,
) -> Result<Response, Problem> {
    may_receive(&visit.ctx, user).await?;
    booked(&visit, user, Posting::Deposit(body.operation(operation)?)).await
}

/// Take money out of a wallet, if it is there
#[utoipa::path(post, path = "/v1/wallets/{user_id}/withdrawals", tag = "wallets", request_body = MoneyBody,
    params(("user_id" = Uuid, Path, description = "Whose it is")),
    responses((status = 201, description = "The entry", body = EntryView)))]
pub async fn withdraw(
    visit: Visit,
    Path(user): Path<UserId>,
    operation: Operation,
    Json(body): Json<MoneyBody>,
) -> Result<Response, Problem> {
    must_be(&visit.ctx, user).await?;
    booked(&visit, user, Posting::Withdraw(body.operation(operation)?)).await
}

/// The entry that tells of money in or out.
async fn booked(visit: &Visit, user: UserId, posting: Posting) -> Result<Response, Problem> {
    let told = match posting {
        Posting::Deposit(operation) => wallets::deposit(&visit.ctx, user, operation).await?,
        Posting::Withdraw(operation) => wallets::withdraw(&visit.ctx, user, operation).await?,
    };
    Ok(created(&statement_of(user), Json(EntryView::from(told))))
}

fn statement_of(user: UserId) -> String {
    format!("/v1/wallets/{user}/statement")
}

/// Money for another's wallet.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferBody {
    /// By which it is known when it comes again; without one, by the `Idempotency-Key`.
    transfer_id: Option<Uuid>,
    /// Whose wallet it goes to.
    to: Uuid,
    /// Above nought, with no more decimals than the currency has.
    amount: Money,
    /// One line, at most 200 bytes.
    #[schema(max_length = 200)]
    reason: Option<String>,
}

/// A transfer.
#[derive(Serialize, ToSchema)]
pub struct TransferView {
    pub transfer_id: Uuid,
    pub from: Uuid,
    pub to: Uuid,
    pub amount: Money,
}

/// Move money to another's wallet: both see it, or neither
#[utoipa::path(post, path = "/v1/wallets/{user_id}/transfers", tag = "wallets", request_body = TransferBody,
    params(("user_id" = Uuid, Path, description = "Whose money it is")),
    responses((status = 201, description = "The transfer", body = TransferView)))]
pub async fn transfer(
    visit: Visit,
    Path(from): Path<UserId>,
    operation: Operation,
    Json(body): Json<TransferBody>,
) -> Result<Response, Problem> {
    let to = UserId(body.to);
    let (sum, currency) = amount("amount", &body.amount)?;
    must_be(&visit.ctx, from).await?;
    may_receive(&visit.ctx, to).await?;
    let transfer_id = body.transfer_id.unwrap_or(operation.id);
    let request =
        TransferRequest { transfer_id, from, to, amount: sum, currency: currency.clone(), reason: body.reason };
    let done = transfer::transfer(&visit.ctx, request).await?;
    let request = done.request;
    let view = TransferView {
        transfer_id: request.transfer_id,
        from: request.from.0,
        to: request.to.0,
        amount: Money::new(request.amount, &currency),
    };
    Ok(created(&statement_of(from), Json(view)))
}
