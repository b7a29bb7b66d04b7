//! Wallets, on every engine.

use merkato::{
    Context, Currency, events,
    id::UserId,
    wallets::{self, Operation, Wallet},
};
use rust_decimal::Decimal;
use uuid::Uuid;

pub mod behaviour;
pub mod costs;
pub mod model;
pub mod races;
pub mod transfers;

pub fn euro() -> Currency {
    Currency::new("EUR")
}

pub fn new_user(ctx: &Context) -> UserId {
    UserId(ctx.new_id())
}

/// So many cents, under a new id.
pub fn cents(ctx: &Context, cents: i64) -> Operation {
    under(ctx.new_id(), cents)
}

pub fn under(id: Uuid, cents: i64) -> Operation {
    Operation::new(id, Decimal::new(cents, 2), euro())
}

/// A user whose wallet holds so much.
pub async fn holding(ctx: &Context, amount: i64) -> UserId {
    let user = new_user(ctx);
    wallets::deposit(ctx, user, cents(ctx, amount)).await.expect("deposited");
    user
}

pub async fn balance(ctx: &Context, user: UserId) -> Decimal {
    wallets::get_wallet(ctx, user).await.expect("a wallet").balance
}

/// What the events come to is what stands beside the stream, of every wallet of the tenant; and what the feed tells.
pub async fn assert_sound(ctx: &Context) -> wallets::WalletsVerified {
    events::sequence_all(ctx, |_| {}).await.expect("sequenced");
    while events::project(ctx, wallets::BALANCES).await.expect("projected").more {}
    let verified = wallets::verify_wallets(ctx).await.expect("verified");
    assert_eq!((&verified.faults[..], verified.behind), (&[][..], 0));
    verified
}

pub fn euros(wallet: &Wallet) -> (Decimal, i64) {
    (wallet.balance, wallet.transactions)
}
