//! Reads a source on a thread of its own and books its transactions, day by day.

use std::{
    collections::BTreeMap,
    io::{Read, Seek},
    ops::ControlFlow,
};

use futures::{StreamExt as _, stream};
use rust_decimal::Decimal;
use widerow::Date;

use super::{
    fields::TransactionField,
    read::{Found, Reading},
};
use crate::{
    check::Check,
    context::Context,
    flows::import::{
        error::Result,
        heaps::{Heaps, Step, Steps, check_source},
        mapping::Mapping,
        record::Item,
        report::{Balances, Report},
        source::{self, Format},
        time::DateOrder,
    },
    id::UserId,
    limits,
    money::Currency,
    wallets::{self, Posted, Posting},
};

/// How a source of transactions is to be read.
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// The name of the source: its ids and its names of accounts are its own.
    pub source: String,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<TransactionField>>,
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
    /// Of all amounts.
    pub currency: Currency,
    /// By how much the source's own balances may differ at the end of a day: banks round interest.
    pub tolerance: Decimal,
}

impl TransactionOptions {
    pub fn new(source: impl Into<String>, currency: Currency) -> Self {
        TransactionOptions {
            source: source.into(),
            format: Format::Auto,
            mapping: None,
            dates: DateOrder::Unknown,
            currency,
            tolerance: Decimal::ZERO,
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.currency("currency", &self.currency);
        check.that(!self.tolerance.is_sign_negative(), "tolerance", "it is below nought");
        Ok(check.end()?)
    }
}

/// Wallets that are booked side by side.
const AT_ONCE: usize = 32;

/// Imports transactions. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is
/// stopped half-way, the same import again finds what is there and goes on.
pub async fn import_transactions<R>(
    ctx: &Context,
    input: R,
    options: TransactionOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let tolerance = options.tolerance;
    let mut heaps = Heaps::of(move |steps| read(input, options, steps));
    let mut report = Report { balances: Some(Balances::default()), ..Report::default() };
    let mut accounts: BTreeMap<UserId, Account> = BTreeMap::new();
    while let Some(found) = heaps.next(&mut report, &mut on_progress).await {
        book_day(ctx, found, &mut accounts, tolerance, &mut report).await?;
        on_progress(&report);
    }
    heaps.end().await?;
    for found in accounts.into_values().flat_map(|account| account.waiting) {
        report.reject(found.place, Some(found.id), "it was never covered".to_owned());
    }
    report.sort();
    Ok(report)
}

/// What is known of an account between its days.
#[derive(Default)]
struct Account {
    balance: Decimal,
    /// What the source itself has put in and not taken out. Only that pays its withdrawals: what comes into the wallet from
    /// elsewhere is not the source's to take, however often it is imported.
    own: Decimal,
    /// Withdrawals that were not covered.
    waiting: Vec<Found>,
}

/// What became of an account's day.
struct Booked {
    user: UserId,
    account: Account,
    day: Vec<Found>,
    answers: Vec<(Found, wallets::Result<Posted>)>,
}

async fn book_day(
    ctx: &Context,
    found: Vec<Found>,
    accounts: &mut BTreeMap<UserId, Account>,
    tolerance: Decimal,
    report: &mut Report,
) -> Result<()> {
    let mut by_user: BTreeMap<UserId, Vec<Found>> = BTreeMap::new();
    for found in found {
        by_user.entry(found.user).or_default().push(found);
    }
    let days = by_user.into_iter().map(|(user, day)| {
        let account = accounts.remove(&user).unwrap_or_default();
        book(ctx, user, account, day)
    });
    let days: Vec<_> = stream::iter(days.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).collect().await;
    for booked in days {
        let Booked { user, mut account, day, answers } = booked?;
        for (found, answer) in answers {
            let first = day.iter().any(|of_day| of_day.place == found.place);
            if first {
                report.count(1);
            }
            match answer {
                Ok(posted) => {
                    account.own += if found.is_deposit { found.operation.amount } else { -found.operation.amount };
                    account.balance = posted.told.entry.balance;
                    if posted.repeated {
                        report.unchanged += 1;
                    } else {
                        report.created += 1;
                    }
                    if !first {
                        let on = day.first().map_or_else(String::new, |found| found.day.to_string());
                        report.note(found.place, format!("it was not covered, and booked on {on}"));
                    }
                }
                Err(wallets::Error::InsufficientFunds { .. }) => account.waiting.push(found),
                Err(error) if error.kind().is_failure() => return Err(error.into()),
                Err(error) => report.reject(found.place, Some(found.id), error.to_string()),
            }
        }
        compare(&day, account.balance, tolerance, report);
        accounts.insert(user, account);
    }
    Ok(())
}

/// What came in, what still waited, what went out.
async fn book(ctx: &Context, user: UserId, mut account: Account, day: Vec<Found>) -> Result<Booked> {
    let (credits, debits): (Vec<Found>, Vec<Found>) = day.iter().cloned().partition(|found| found.is_deposit);
    let all: Vec<Found> = credits.into_iter().chain(std::mem::take(&mut account.waiting)).chain(debits).collect();
    let mut own = account.own;
    let mut is_covered = |found: &Found| {
        let amount = found.operation.amount;
        let covered = found.is_deposit || amount <= own;
        if covered {
            own += if found.is_deposit { amount } else { -amount };
        }
        covered
    };
    let (covered, waiting): (Vec<Found>, Vec<Found>) = all.into_iter().partition(|found| is_covered(found));
    let posting = |found: &Found| match found.is_deposit {
        true => Posting::Deposit(found.operation.clone()),
        false => Posting::Withdraw(found.operation.clone()),
    };
    let answers = wallets::post(ctx, user, covered.iter().map(posting).collect()).await?;
    let mut answers: Vec<_> = covered.into_iter().zip(answers).collect();
    let balance = own;
    answers.extend(waiting.into_iter().map(|found| {
        let wanted = found.operation.amount;
        (found, Err(wallets::Error::InsufficientFunds { balance, wanted }))
    }));
    Ok(Booked { user, account, day, answers })
}

/// Whether the end of the day is one of the balances that the source has for it: its order within the day is not known.
fn compare(day: &[Found], balance: Decimal, tolerance: Decimal, report: &mut Report) {
    let mut said = day.iter().filter_map(|found| found.balance).peekable();
    if said.peek().is_none() {
        return;
    }
    let matches = said.any(|said| (said - balance).abs() <= tolerance);
    if let Some(balances) = &mut report.balances {
        balances.days += 1;
        balances.matched += u64::from(matches);
    }
    if let Some(last) = day.last().filter(|_| !matches) {
        report.note(last.place, format!("at the end of {} the wallet holds {balance}", last.day));
    }
}

/// Twice through the source: whether it can be read to its end, before anything is written; then its transactions.
fn read(mut input: impl Read + Seek, options: TransactionOptions, steps: &Steps<Vec<Found>>) -> Result<()> {
    let (mapping, format) = (options.mapping.clone().unwrap_or_default(), options.format);
    check_source(&mapping, |each| source::read(&mut input, format, each))?;
    let mut reading = Reading::new(options);
    let mut waiting: Vec<Found> = Vec::new();
    let mut latest: Option<Date> = None;
    source::read(&mut input, format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return steps.send(Step::Rejected(place, None, reason)),
        };
        let found = match reading.transaction(&record) {
            Ok(found) => found,
            Err(reason) => return steps.send(Step::Rejected(record.place, None, reason)),
        };
        if latest.is_some_and(|latest| found.day < latest) {
            steps.send(Step::Note(
                found.place,
                format!("{} comes after a later day, and is booked in this order", found.day),
            ))?;
        }
        latest = latest.max(Some(found.day));
        let over = waiting.last().is_some_and(|last| last.day != found.day);
        let day = if over || waiting.len() >= limits::IMPORT_WAITING_MAX as usize {
            std::mem::take(&mut waiting)
        } else {
            Vec::new()
        };
        waiting.push(found);
        if day.is_empty() { ControlFlow::Continue(()) } else { steps.send(Step::Heap(day)) }
    })?;
    if !waiting.is_empty() {
        let _ = steps.send(Step::Heap(waiting));
    }
    Ok(())
}
