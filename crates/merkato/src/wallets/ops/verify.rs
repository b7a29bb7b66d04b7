//! Adds every wallet up again, from its events.

use std::collections::HashSet;

use widerow::{Commit, Partition};

use crate::{
    context::Context,
    events::{self, EventStream, ReadStream},
    id::UserId,
    limits,
    wallets::{
        error::{Error, Result},
        ops::{
            decide::{told, wallet_of},
            read::find_balance,
        },
        rules::{self, KIND, Wallet},
    },
};

/// What a look at all wallets found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalletsVerified {
    pub wallets: u64,
    pub entries: u64,
    /// Wallets of which the projection has not told everything yet.
    pub behind: u64,
    pub faults: Vec<WalletFault>,
    pub faults_unlisted: u64,
}

/// A wallet that does not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletFault {
    pub user_id: UserId,
    pub problem: String,
}

impl WalletsVerified {
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    fn fault(&mut self, user_id: UserId, problem: String) {
        if self.faults.len() < limits::WALLET_FAULTS_LISTED {
            self.faults.push(WalletFault { user_id, problem });
        } else {
            self.faults_unlisted += 1;
        }
    }
}

/// Adds up the events of every wallet of the tenant, and compares: what each entry says of the balance after it, what stands
/// beside the stream, and what the projection has. It walks over all streams.
pub async fn verify_wallets(ctx: &Context) -> Result<WalletsVerified> {
    let mut streams = Vec::new();
    ctx.for_each_row::<EventStream>(|stream| {
        if stream.aggregate_kind == KIND {
            streams.push(stream.aggregate_id);
        }
    })
    .await?;
    let mut report = WalletsVerified::default();
    for aggregate in streams {
        // Read anew, as others may have written since, and by a read that finishes what they have begun.
        let read = |found: &Partition<EventStream>| Ok((Commit::new(), found.rows.first().cloned()));
        let stream = ctx.store.guarded::<EventStream, _, Error>(aggregate, read).await?;
        let Some(stream) = stream else { continue };
        report.wallets += 1;
        verify_one(ctx, &stream, &mut report).await?;
    }
    Ok(report)
}

async fn verify_one(ctx: &Context, stream: &EventStream, report: &mut WalletsVerified) -> Result<()> {
    let mut wallet: Option<Wallet> = None;
    let mut read = ReadStream { to: Some(stream.version), limit: limits::PAGE_ROWS_MAX, ..ReadStream::default() };
    let mut seen = 0;
    let mut operations = HashSet::new();
    loop {
        let page = events::list_events(ctx, stream.aggregate_id, read).await?;
        for event in &page.events {
            let told = told(event)?;
            let wallet = wallet.get_or_insert_with(|| Wallet::new(told.entry.user_id));
            rules::apply(wallet, &told);
            seen = event.event_version;
            let user = wallet.user_id;
            if !operations.insert(told.entry.operation_id) {
                report.fault(user, format!("version {seen} is operation {} once more", told.entry.operation_id));
            }
            if told.entry.balance != wallet.balance || told.entry.transactions != wallet.transactions {
                let (said, is) = (told.entry.balance, wallet.balance);
                report.fault(user, format!("version {seen} says {said}, its entries come to {is}"));
            }
            if wallet.balance.is_sign_negative() && !wallet.balance.is_zero() {
                report.fault(user, format!("version {seen} is below nought: {}", wallet.balance));
            }
        }
        report.entries += page.events.len() as u64;
        match page.next {
            Some(next) => read = next,
            None => break,
        }
    }
    let Some(wallet) = wallet else {
        if stream.version > 0 {
            // Whose it is, only its entries say.
            let problem = format!("of the {} entries of stream {} none is there", stream.version, stream.aggregate_id);
            report.fault(UserId(stream.aggregate_id.0), problem);
        }
        return Ok(());
    };
    let user = wallet.user_id;
    if seen != stream.version {
        report.fault(user, format!("of {} entries {seen} are there", stream.version));
    }
    if rules::stream_of(user) != stream.aggregate_id {
        report.fault(user, format!("its stream is {}", stream.aggregate_id));
    }
    let stands = wallet_of(user, stream.state.as_deref())?;
    if stands != wallet {
        report.fault(user, format!("the wallet has {}, its entries come to {}", stands.balance, wallet.balance));
    }
    match find_balance(ctx, user).await? {
        Some(row) if row.event_version == stream.version => {
            if row.current_balance != wallet.balance || row.transaction_count != wallet.transactions {
                report.fault(user, format!("the projection has {}, not {}", row.current_balance, wallet.balance));
            }
        }
        _ => report.behind += 1,
    }
    Ok(())
}
