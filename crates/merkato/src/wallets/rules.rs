//! What a wallet takes and what it refuses. No reading, no writing, no clock.
//!
//! `decide` looks at the wallet and makes of a wish the entry that tells what comes of it; `apply` makes of the wallet what the
//! entry says. Whoever rebuilds a wallet from its events applies the same entries, and comes to the same balance.

use std::collections::HashMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;
use widerow::Timestamp;

use super::error::{Error, Result};
use crate::{
    check::{Check, Invalid},
    events::{Event, NewEvent, fact_stream},
    id::{self, AggregateId, EventId, UserId},
    limits,
    money::Currency,
};

/// A wallet as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wallet {
    pub user_id: UserId,
    /// That of the first deposit, for good. None: nothing was ever deposited.
    pub currency: Option<Currency>,
    pub balance: Decimal,
    /// Entries that moved money.
    pub transactions: i64,
}

impl Wallet {
    pub fn new(user_id: UserId) -> Self {
        Wallet { user_id, currency: None, balance: Decimal::ZERO, transactions: 0 }
    }
}

/// What an entry tells: the type of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    MoneyDeposited,
    MoneyWithdrawn,
    TransferSent,
    TransferReceived,
    /// What was withdrawn or sent came back.
    MoneyReturned,
    /// An operation that was not made will never be: who was about to make it is too late.
    OperationVoided,
}

impl EntryKind {
    pub const ALL: [EntryKind; 6] = {
        use EntryKind::*;
        [MoneyDeposited, MoneyWithdrawn, TransferSent, TransferReceived, MoneyReturned, OperationVoided]
    };

    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::MoneyDeposited => "MoneyDeposited",
            EntryKind::MoneyWithdrawn => "MoneyWithdrawn",
            EntryKind::TransferSent => "TransferSent",
            EntryKind::TransferReceived => "TransferReceived",
            EntryKind::MoneyReturned => "MoneyReturned",
            EntryKind::OperationVoided => "OperationVoided",
        }
    }

    pub fn of(event_type: &str) -> Option<Self> {
        EntryKind::ALL.into_iter().find(|kind| kind.as_str() == event_type)
    }

    /// What becomes of the balance: more, less, or neither.
    pub fn sign(self) -> Decimal {
        match self {
            EntryKind::MoneyDeposited | EntryKind::TransferReceived | EntryKind::MoneyReturned => Decimal::ONE,
            EntryKind::MoneyWithdrawn | EntryKind::TransferSent => Decimal::NEGATIVE_ONE,
            EntryKind::OperationVoided => Decimal::ZERO,
        }
    }
}

/// What an event of a wallet says: its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub user_id: UserId,
    /// Under which it was asked for.
    pub operation_id: Uuid,
    /// Above nought; nought of one that was voided.
    pub amount: Decimal,
    /// None only where a wallet that never had any money voids an operation.
    pub currency: Option<Currency>,
    /// After it.
    pub balance: Decimal,
    /// After it, with it.
    pub transactions: i64,
    /// Of a transfer: from whom, or to whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<UserId>,
    /// Of money that came back: the operation that it had left by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Uuid>,
    /// What it was for: `order MK-2026-000017`. Nothing about a person: what an event says stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it happened, where that was before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text")]
    pub booked_at: Option<Timestamp>,
}

/// A time as RFC 3339 has it.
mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use widerow::Timestamp;

    pub(super) fn serialize<S: Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => to.collect_str(at),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(|_| D::Error::custom(format!("{text} is no time")))).transpose()
    }
}

/// Money that is to be put in or taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The same for every try: what was done under it is not done again.
    pub operation_id: Uuid,
    pub amount: Decimal,
    pub currency: Currency,
    pub reason: Option<String>,
    /// Of the past, where it is imported.
    pub booked_at: Option<Timestamp>,
    /// What it belongs to: a checkout, a transfer.
    pub correlation_id: Option<Uuid>,
}

impl Operation {
    pub fn new(operation_id: Uuid, amount: Decimal, currency: Currency) -> Self {
        Operation { operation_id, amount, currency, reason: None, booked_at: None, correlation_id: None }
    }

    pub fn within(self, correlation_id: Uuid) -> Self {
        Operation { correlation_id: Some(correlation_id), ..self }
    }

    pub fn because(self, reason: impl Into<String>) -> Self {
        Operation { reason: Some(reason.into()), ..self }
    }

    pub fn booked_at(self, at: Timestamp) -> Self {
        Operation { booked_at: Some(at), ..self }
    }

    pub fn check(&self, now: Timestamp) -> Result<(), Invalid> {
        let mut check = Check::new();
        check_amount(&mut check, self.amount, &self.currency);
        check.optional_line("reason", self.reason.as_deref(), limits::LINE_BYTES_MAX);
        let latest = now.plus_seconds(limits::CLOCK_SKEW_SECONDS);
        let past = |at: Timestamp| at.in_range() && at <= latest;
        check.that(self.booked_at.is_none_or(past), "booked_at", "it is not in the past");
        check.end()
    }
}

/// Above nought, and no finer than the currency has it.
pub fn check_amount(check: &mut Check, amount: Decimal, currency: &Currency) {
    check.currency("currency", currency);
    check.that(amount > Decimal::ZERO, "amount", format!("{amount} is not above nought"));
    check.that(amount <= limits::AMOUNT_MAX, "amount", format!("the limit is {}", limits::AMOUNT_MAX));
    if let Some(decimals) = currency.decimals() {
        check.that(amount.normalize().scale() <= decimals, "amount", format!("{currency} has {decimals} decimals"));
    }
}

/// What is asked of a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Deposit(Operation),
    Withdraw(Operation),
    Send(Operation, UserId),
    Receive(Operation, UserId),
    /// What the operation took comes back, once; if it was not made, it never will be.
    GiveBack(Uuid),
    /// If the operation was not made, it never will be. What was made stays.
    Fence(Uuid),
}

impl Wish {
    pub fn operation_id(&self) -> Uuid {
        match self {
            Wish::Deposit(operation)
            | Wish::Withdraw(operation)
            | Wish::Send(operation, _)
            | Wish::Receive(operation, _) => operation.operation_id,
            Wish::GiveBack(operation) | Wish::Fence(operation) => *operation,
        }
    }

    fn operation(&self) -> Option<&Operation> {
        match self {
            Wish::Deposit(operation)
            | Wish::Withdraw(operation)
            | Wish::Send(operation, _)
            | Wish::Receive(operation, _) => Some(operation),
            Wish::GiveBack(_) | Wish::Fence(_) => None,
        }
    }

    /// The event that tells of it.
    pub(super) fn event(&self, told: &Told) -> NewEvent {
        let user = told.entry.user_id;
        NewEvent {
            event_id: Some(event_of(user, told.entry.operation_id)),
            causation_id: told.entry.returns.map(|operation| event_of(user, operation).0),
            correlation_id: self.operation().and_then(|operation| operation.correlation_id),
            at: told.entry.booked_at,
            ..NewEvent::new(told.kind.as_str(), json!(told.entry))
        }
    }

    /// The events that may have been told of it, by the operations they stand under.
    pub fn operations(&self) -> Vec<Uuid> {
        match self {
            Wish::Deposit(_) | Wish::Receive(..) | Wish::Fence(_) => vec![self.operation_id()],
            // What was taken may have been given back since.
            Wish::Withdraw(_) | Wish::Send(..) | Wish::GiveBack(_) => {
                vec![self.operation_id(), return_of(self.operation_id())]
            }
        }
    }
}

/// Under which an operation's money comes back.
pub fn return_of(operation: Uuid) -> Uuid {
    Uuid::new_v5(&operation, b"returned")
}

/// The stream of a user's wallet.
pub fn stream_of(user: UserId) -> AggregateId {
    fact_stream(KIND, user.0)
}

/// What the events of a wallet are events of.
pub const KIND: &str = "wallet";

/// The event of an operation: no two wallets share one, whatever ids their operations have, and nobody can give it to an event
/// of their own.
pub fn event_of(user: UserId, operation: Uuid) -> EventId {
    let digest = Sha256::new_with_prefix(stream_of(user).0.as_bytes()).chain_update(operation.as_bytes());
    EventId(id::of_digest(&digest.finalize().into()))
}

/// An entry as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub kind: EntryKind,
    pub entry: Entry,
}

impl Told {
    /// What an event of a wallet tells; in words where it makes no sense.
    pub fn of(event: &Event) -> Result<Self, String> {
        let kind = EntryKind::of(&event.event_type);
        let kind = kind.ok_or_else(|| format!("{} is no event of a wallet", event.event_type))?;
        let entry = serde_json::from_str(&event.event_data).map_err(|error| format!("its data: {error}"))?;
        Ok(Told { kind, entry })
    }
}

/// What comes of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is told now.
    Tell(Told),
    /// It was told before.
    Known(Told),
}

impl Decision {
    pub(super) fn into_told(self) -> Told {
        match self {
            Decision::Tell(told) | Decision::Known(told) => told,
        }
    }
}

/// Decides a wish on the wallet as it is; `known` holds what was told under the wish's operations before.
pub fn decide(wallet: &Wallet, wish: &Wish, known: &HashMap<Uuid, Told>) -> Result<Decision> {
    match wish {
        Wish::Deposit(operation) => make(wallet, EntryKind::MoneyDeposited, operation, None, known),
        Wish::Withdraw(operation) => make(wallet, EntryKind::MoneyWithdrawn, operation, None, known),
        Wish::Send(operation, to) => make(wallet, EntryKind::TransferSent, operation, Some(*to), known),
        Wish::Receive(operation, from) => make(wallet, EntryKind::TransferReceived, operation, Some(*from), known),
        Wish::GiveBack(operation) => give_back(wallet, *operation, known),
        Wish::Fence(operation) => match known.get(operation) {
            Some(told) => Ok(Decision::Known(told.clone())),
            None => Ok(Decision::Tell(void(wallet, *operation))),
        },
    }
}

fn make(
    wallet: &Wallet,
    kind: EntryKind,
    operation: &Operation,
    peer: Option<UserId>,
    known: &HashMap<Uuid, Told>,
) -> Result<Decision> {
    let id = operation.operation_id;
    if let Some(told) = known.get(&id) {
        if told.kind == EntryKind::OperationVoided {
            return Err(Error::OperationVoided { operation: id });
        }
        let entry = &told.entry;
        let same = told.kind == kind
            && entry.amount == operation.amount
            && entry.currency.as_ref() == Some(&operation.currency)
            && entry.peer == peer;
        if !same {
            return Err(Error::OperationReused { operation: id });
        }
        // Nothing is paid by money that was given back.
        if known.contains_key(&return_of(id)) {
            return Err(Error::OperationVoided { operation: id });
        }
        return Ok(Decision::Known(told.clone()));
    }
    let moved = operation.amount * kind.sign();
    match &wallet.currency {
        Some(currency) if *currency != operation.currency => {
            return Err(Error::OtherCurrency { wallet: currency.clone(), given: operation.currency.clone() });
        }
        // What was never there is in no currency.
        None if moved < Decimal::ZERO => {
            return Err(Error::InsufficientFunds { balance: wallet.balance, wanted: operation.amount });
        }
        _ => {}
    }
    let balance = moved_to(wallet, moved)?;
    let entry = Entry {
        user_id: wallet.user_id,
        operation_id: id,
        amount: operation.amount,
        currency: Some(operation.currency.clone()),
        balance,
        transactions: wallet.transactions + 1,
        peer,
        returns: None,
        reason: operation.reason.clone(),
        booked_at: operation.booked_at,
    };
    Ok(Decision::Tell(Told { kind, entry }))
}

fn moved_to(wallet: &Wallet, moved: Decimal) -> Result<Decimal> {
    // Both are within the largest amount, which a decimal holds many times over.
    let balance = wallet.balance + moved;
    if balance < Decimal::ZERO {
        return Err(Error::InsufficientFunds { balance: wallet.balance, wanted: -moved });
    }
    if balance > limits::AMOUNT_MAX {
        return Err(Error::BalanceTooLarge { limit: limits::AMOUNT_MAX });
    }
    Ok(balance)
}

fn give_back(wallet: &Wallet, operation: Uuid, known: &HashMap<Uuid, Told>) -> Result<Decision> {
    let id = return_of(operation);
    if let Some(told) = known.get(&id) {
        return Ok(Decision::Known(told.clone()));
    }
    let Some(told) = known.get(&operation) else { return Ok(Decision::Tell(void(wallet, operation))) };
    match told.kind {
        EntryKind::OperationVoided => Ok(Decision::Known(told.clone())),
        EntryKind::MoneyWithdrawn | EntryKind::TransferSent => {
            // The limit is for what is put in: what the wallet had before it may have again.
            let entry = Entry {
                operation_id: id,
                balance: wallet.balance + told.entry.amount,
                transactions: wallet.transactions + 1,
                returns: Some(operation),
                booked_at: None,
                ..told.entry.clone()
            };
            Ok(Decision::Tell(Told { kind: EntryKind::MoneyReturned, entry }))
        }
        EntryKind::MoneyDeposited | EntryKind::TransferReceived | EntryKind::MoneyReturned => {
            Err(Error::OperationReused { operation })
        }
    }
}

fn void(wallet: &Wallet, operation: Uuid) -> Told {
    let entry = Entry {
        user_id: wallet.user_id,
        operation_id: operation,
        amount: Decimal::ZERO,
        currency: wallet.currency.clone(),
        balance: wallet.balance,
        transactions: wallet.transactions,
        peer: None,
        returns: None,
        reason: None,
        booked_at: None,
    };
    Told { kind: EntryKind::OperationVoided, entry }
}

pub(super) fn wrong(field: &str, problem: impl Into<String>) -> Error {
    Invalid::new(field, problem).into()
}

/// What an event says that comes from elsewhere, if it can be an entry at all: in the stream of the wallet that it names, under the
/// id that its operation has there.
pub(super) fn check_entry(event: &Event) -> Result<Told> {
    let told = Told::of(event).map_err(|problem| wrong("event_data", problem))?;
    let (kind, entry) = (told.kind, &told.entry);
    let mut check = Check::new();
    check.that(event.aggregate_kind == KIND, "aggregate_kind", format!("it is not {KIND}"));
    let user = entry.user_id;
    check.that(event.aggregate_id == stream_of(user), "aggregate_id", format!("it is not the wallet of {user}"));
    let (version, most) = (event.event_version, limits::REVISION_MAX);
    check.that((1..=most).contains(&version), "event_version", format!("{version} is not 1 to {most}"));
    let own = event.event_id == event_of(user, entry.operation_id);
    check.that(own, "event_id", "it is not that of its operation");
    if kind == EntryKind::OperationVoided {
        check.that(entry.amount.is_zero(), "amount", format!("{} is not nought", entry.amount));
    } else if let Some(currency) = &entry.currency {
        check_amount(&mut check, entry.amount, currency);
    } else {
        check.refuse("currency", "it has none");
    }
    let returns = entry.returns.map(return_of);
    let returned = (kind == EntryKind::MoneyReturned).then_some(entry.operation_id);
    check.that(returns == returned, "returns", "it is not what came back");
    let moved = matches!(kind, EntryKind::TransferSent | EntryKind::TransferReceived);
    check.that(!moved || entry.peer.is_some(), "peer", "it has none");
    check.end()?;
    Ok(told)
}

/// Whether money from elsewhere that has come back is what an operation had taken out.
pub(super) fn check_return(taken: Option<&Told>, back: &Told) -> Result<()> {
    let is_taken = |taken: &&Told| {
        matches!(taken.kind, EntryKind::MoneyWithdrawn | EntryKind::TransferSent)
            && (taken.entry.amount, &taken.entry.currency) == (back.entry.amount, &back.entry.currency)
    };
    match taken.filter(is_taken) {
        Some(_) => Ok(()),
        None => Err(wrong("returns", "no operation has taken out as much")),
    }
}

/// Whether an entry from elsewhere is the next one of the wallet. It adds up by itself, as `apply` does.
pub(super) fn check_next(wallet: &Wallet, event: &Event, told: &Told, version: i64) -> Result<()> {
    let Told { kind, entry } = told;
    let mut check = Check::new();
    let found = event.event_version;
    check.that(found == version, "event_version", format!("{found} does not follow on {}", version - 1));
    check.that(entry.user_id == wallet.user_id, "user_id", format!("it is not {}", wallet.user_id));
    let other = wallet.currency.is_some() && entry.currency != wallet.currency;
    check.that(!other, "currency", "it is not that of the wallet");
    let moved = i64::from(*kind != EntryKind::OperationVoided);
    let balance = wallet.balance + entry.amount * kind.sign();
    let (said, is) = (entry.balance, balance);
    check.that(said == is, "balance", format!("it says {said}, the entries come to {is}"));
    check.that(balance >= Decimal::ZERO, "balance", format!("{balance} is below nought"));
    // What comes back may be more: the limit is for what is put in.
    let most = limits::AMOUNT_MAX;
    let put_in = matches!(kind, EntryKind::MoneyDeposited | EntryKind::TransferReceived);
    check.that(!put_in || balance <= most, "balance", format!("the limit is {most}"));
    let transactions = wallet.transactions + moved;
    check.that(entry.transactions == transactions, "transactions", format!("there are {transactions}"));
    Ok(check.end()?)
}

/// The wallet after an entry. It adds up by itself, and does not take the entry's word for the balance.
pub fn apply(wallet: &mut Wallet, told: &Told) {
    if told.kind == EntryKind::OperationVoided {
        return;
    }
    wallet.currency = wallet.currency.take().or_else(|| told.entry.currency.clone());
    wallet.balance += told.entry.amount * told.kind.sign();
    wallet.transactions += 1;
}
