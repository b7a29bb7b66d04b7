//! A bank's transactions become entries of wallets: small ones on every engine, and a year of a real bank in the folder that
//! `MERKATO_TEST_DATA` names; without it the run says that it skipped it.
//!
//! The year is not of this project: `events-berka-1993` (PKDD'99 discovery challenge).

use std::{collections::BTreeMap, fs::File, io::Cursor, io::Read as _};

use merkato::{
    Currency,
    flows::import::{Balances, TransactionOptions, import_transactions},
    wallets::{self, EntryKind},
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use super::{
    known,
    real::{is_quick, real},
};
use crate::world::World;

cases![transactions_are_booked_day_by_day_and_once, a_year_of_a_bank_ends_each_day_as_its_file_says];

fn crowns() -> TransactionOptions {
    TransactionOptions { tolerance: Decimal::new(5, 1), ..TransactionOptions::new("bank", Currency::new("CZK")) }
}

/// On the second day the withdrawal stands before the deposit that covers it; on the third one is not covered before the fourth.
const BOOK: &str = "\
id;account;date;type;amount;balance
1;a;930101;credit;100.00;100.00
2;b;930101;credit;50.00;50.00
3;a;930102;debit;120.00;30.00
4;a;930102;credit;50.00;150.00
5;a;930103;debit;40.00;-10.00
6;a;930104;credit;30.00;20.00
7;a;930104;gift;30.00;50.00
8;b;930104;debit;1000.00;-950.00
";

async fn transactions_are_booked_day_by_day_and_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for turn in 0..2 {
        let report = import_transactions(ctx, Cursor::new(BOOK), crowns(), |_| {}).await.expect("an import");
        assert_eq!((report.read, known(&report)), (8, 8), "{report:?}");
        let done = if turn == 0 { (report.created, report.unchanged) } else { (report.unchanged, report.created) };
        assert_eq!(done, (6, 0), "{report:?}");
        let rejected: Vec<_> = report.rejected.iter().map(|rejected| rejected.record).collect();
        assert_eq!(rejected, [7, 8]);
        if turn == 0 {
            // On the third day, and on the fourth of the other, the file is below nought.
            assert_eq!(report.balances, Some(Balances { days: 6, matched: 4 }), "{report:?}");
            assert!(report.notes.iter().any(|note| note.record == 5), "{:?}", report.notes);
        }
    }
    // What comes in from elsewhere pays for nothing that the file has left open.
    let user = merkato::flows::import::account_of("bank", "b");
    let gift = wallets::Operation::new(ctx.new_id(), Decimal::from(2_000), Currency::new("CZK"));
    wallets::deposit(ctx, user, gift).await.expect("deposited");
    let report = import_transactions(ctx, Cursor::new(BOOK), crowns(), |_| {}).await.expect("an import");
    assert_eq!((report.created, report.unchanged), (0, 6), "{report:?}");
    assert_eq!(wallets::get_wallet(ctx, user).await.expect("a wallet").balance, Decimal::from(2_050));
    let verified = wallets::verify_wallets(ctx).await.expect("verified");
    assert!(verified.is_sound() && verified.wallets == 2 && verified.entries == 7, "{verified:?}");
}

async fn a_year_of_a_bank_ends_each_day_as_its_file_says(target: &Target) {
    let Some(file) = real("events-berka-1993/trans_1993.asc.gz").filter(|_| is_quick(target)) else { return };
    let world = World::new(target);
    let ctx = &world.ctx;
    let open = || File::open(&file).expect("a file");
    let report = import_transactions(ctx, open(), crowns(), |_| {}).await.expect("an import");
    assert_eq!((report.read, report.created, report.rejected_count()), (28_205, 28_205, 0), "{:?}", report.rejected);
    let balances = report.balances.expect("compared");
    assert_eq!(balances.days, 23_440);
    assert!(balances.matched * 1_000 >= balances.days * 999, "{balances:?}");
    let again = import_transactions(ctx, open(), crowns(), |_| {}).await.expect("an import");
    assert_eq!((again.read, again.created, again.unchanged), (28_205, 0, 28_205));
    let verified = wallets::verify_wallets(ctx).await.expect("verified");
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(verified.entries, 28_205);

    // What the wallets hold in the end is what a few lines here make of the same file by themselves.
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(open()).read_to_end(&mut bytes).expect("unpacked");
    let mut sums: BTreeMap<String, Decimal> = BTreeMap::new();
    let rows = csv::ReaderBuilder::new().delimiter(b';').from_reader(&bytes[..]).into_deserialize();
    for row in rows.map(|row: Result<BTreeMap<String, String>, _>| row.expect("a row")) {
        let amount: Decimal = row["amount"].parse().expect("an amount");
        let sign = if row["type"] == "PRIJEM" { Decimal::ONE } else { Decimal::NEGATIVE_ONE };
        *sums.entry(row["account_id"].clone()).or_default() += amount * sign;
    }
    assert_eq!(verified.wallets as usize, sums.len());
    let total: Decimal = sums.values().copied().sum();
    let mut held = Decimal::ZERO;
    for account in sums.keys() {
        let user = merkato::flows::import::account_of("bank", account);
        let wallet = wallets::get_wallet(ctx, user).await.expect("a wallet");
        assert_eq!(wallet.balance, sums[account], "account {account}");
        held += wallet.balance;
        let line = wallets::statement(ctx, user, None, 1).await.expect("a statement").lines.remove(0);
        assert!(matches!(line.told.kind, EntryKind::MoneyDeposited | EntryKind::MoneyWithdrawn));
        assert!(line.at.date().to_string().starts_with("1993-"), "{line:?}");
    }
    assert_eq!(held, total);
}
