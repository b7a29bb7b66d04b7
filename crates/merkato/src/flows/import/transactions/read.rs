//! A record as a transaction.

use rust_decimal::Decimal;
use widerow::{Date, Timestamp};

use super::{fields::TransactionField, ops::TransactionOptions};
use crate::{
    flows::import::{
        amount, clean, ids,
        mapping::Plans,
        record::{Place, Record},
        time,
    },
    id::UserId,
    wallets::Operation,
};

/// A transaction of a record.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub place: Place,
    /// The source's own.
    pub id: String,
    pub user: UserId,
    pub is_deposit: bool,
    pub operation: Operation,
    pub day: Date,
    /// What the account held afterwards, as the source says.
    pub balance: Option<Decimal>,
}

/// Reads records of one source, in its order.
pub(super) struct Reading {
    options: TransactionOptions,
    plans: Plans<TransactionField>,
}

impl Reading {
    pub fn new(options: TransactionOptions) -> Self {
        Reading { plans: Plans::new(options.mapping.clone()), options }
    }

    /// The transaction, or why it is none. Whether it can be booked is the wallet's to say.
    pub fn transaction(&mut self, record: &Record) -> Result<Found, String> {
        let plan = self.plans.of(&record.columns);
        let value = |field| {
            let mut cells = plan.columns.iter().zip(&record.values);
            cells.find(|((known, _), value)| *known == field && !value.is_empty()).map(|(_, value)| value)
        };
        let line = |field| value(field).map(|value| clean::line(&value.text())).filter(|text| !text.is_empty());
        let id = line(TransactionField::Id).ok_or("it has no id")?;
        let account = line(TransactionField::Account).ok_or("it names no account")?;
        let user = account.parse().map_or_else(|_| ids::user(&self.options.source, &account), UserId);
        let is_deposit = direction(&line(TransactionField::Type).ok_or("it does not say whether money came or went")?)?;
        let at = day_or_time(&line(TransactionField::Date).ok_or("it has no date")?, &self.options)?;
        let currency = &self.options.currency;
        let money = |field| value(field).map(|value| amount::price(value, currency)).transpose().map(Option::flatten);
        let amount = money(TransactionField::Amount)?.ok_or("it has no amount")?;
        let operation_id = id.parse().unwrap_or_else(|_| ids::transaction(&self.options.source, &id));
        let operation = Operation::new(operation_id, amount, currency.clone()).booked_at(at);
        let operation = Operation { reason: line(TransactionField::Reason), ..operation };
        let balance = money(TransactionField::Balance).ok().flatten();
        Ok(Found { place: record.place, id, user, is_deposit, operation, day: at.date(), balance })
    }
}

/// Whether money came in; as English and Czech banks say it.
fn direction(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "credit" | "deposit" | "in" | "prijem" => Ok(true),
        "debit" | "withdrawal" | "out" | "vydaj" | "vyber" => Ok(false),
        _ => Err(format!("{text} says neither that money came nor that it went")),
    }
}

/// `930101` is the first of January of 1993, `19930101` too.
fn day_or_time(text: &str, options: &TransactionOptions) -> Result<Timestamp, String> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let number: i32 = match text.parse() {
        Ok(number) if digits && (text.len() == 6 || text.len() == 8) => number,
        _ => return time::read(text, options.dates),
    };
    let year = match (text.len(), number / 10_000) {
        (8, year) => year,
        // As POSIX has it: a year of two digits is of 1969 to 2068.
        (_, year @ 69..) => 1900 + year,
        (_, year) => 2000 + year,
    };
    let (month, day) = (number / 100 % 100, number % 100);
    let date = || Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?);
    date().map(Date::start).ok_or_else(|| format!("{text} is no day"))
}
