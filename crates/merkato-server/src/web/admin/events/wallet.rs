//! A customer's wallet: what it holds, and how it came to that.

use askama::Template;
use merkato::{
    accounts,
    id::UserId,
    keys::Scope::CustomersRead,
    wallets::{self, EntryKind, StatementLine},
};

use super::{second, stream_path};
use crate::{
    http::{
        Path, Problem, Query, Visit,
        cursor::{cursor_at, version_of},
    },
    web::{
        Frame, Html,
        admin::desk::{
            may,
            pager::{Pager, Turn},
        },
        words,
    },
};

struct Line {
    href: String,
    what: &'static str,
    about: String,
    when: String,
    amount: String,
    balance: String,
    is_less: bool,
}

#[derive(Template)]
#[template(path = "admin/wallet.html")]
pub struct Shown {
    frame: Frame,
    owner: String,
    customer: Option<String>,
    balance: String,
    transactions: String,
    lines: Vec<Line>,
    pager: Pager,
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(user): Path<UserId>,
    Query(turn): Query<Turn>,
) -> Result<Html<Shown>, Problem> {
    let ctx = &visit.ctx;
    let wallet = wallets::get_wallet(ctx, user).await?;
    let owner = accounts::find_user(ctx, user).await?;
    if owner.is_none() && wallet.transactions == 0 {
        return Err(accounts::Error::UserNotFound { user }.into());
    }
    // Whose it is, is told to whoever may see customers.
    let owner = owner.filter(|_| may(&visit, CustomersRead));
    let page = turn.page(&visit)?;
    let found = wallets::statement(ctx, user, version_of(&page)?, page.limit).await?;
    let next = found.before.map(cursor_at);
    let path = format!("/admin/wallets/{user}");
    Ok(Html(Shown {
        customer: owner.is_some().then(|| format!("/admin/customers/{user}")),
        owner: owner.and_then(words::name_or_email).unwrap_or_else(|| user.to_string()),
        balance: match &wallet.currency {
            Some(currency) => words::money(wallet.balance, currency),
            None => "Nothing yet".to_owned(),
        },
        transactions: words::count(wallet.transactions.unsigned_abs(), "entry", "entries"),
        pager: turn.pager(&visit, &path, &[], next),
        lines: found.lines.into_iter().map(|entry| line(user, entry)).collect(),
        frame,
    }))
}

fn line(user: UserId, line: StatementLine) -> Line {
    let (kind, entry) = (line.told.kind, line.told.entry);
    let money = |amount| entry.currency.as_ref().map_or(String::new(), |currency| words::money(amount, currency));
    let what = match kind {
        EntryKind::MoneyDeposited => "Deposit",
        EntryKind::MoneyWithdrawn => "Withdrawal",
        EntryKind::TransferSent => "Sent to another",
        EntryKind::TransferReceived => "Received from another",
        EntryKind::MoneyReturned => "Came back",
        EntryKind::OperationVoided => "Given up before it was made",
    };
    let sign = kind.sign();
    let amount = if sign.is_zero() { "–".to_owned() } else { money(entry.amount * sign) };
    Line {
        href: stream_path(wallets::stream_of(user), line.version),
        what,
        about: entry.reason.unwrap_or_default(),
        when: second(line.at),
        is_less: sign.is_sign_negative() && !sign.is_zero(),
        amount,
        balance: money(entry.balance),
    }
}
