//! What a wallet decides: given, when, then.

use std::collections::HashMap;

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    error::Error,
    rules::{self, Decision, Entry, EntryKind, Operation, Told, Wallet, Wish},
};
use crate::{
    events::{Aggregate as _, Event},
    id::{EventId, UserId},
    money::Currency,
    wallets::WalletFold,
};

const USER: UserId = UserId(Uuid::from_u128(7));
const OTHER: UserId = UserId(Uuid::from_u128(8));

fn cents(id: u128, cents: i64) -> Operation {
    Operation::new(Uuid::from_u128(id), Decimal::new(cents, 2), Currency::new("EUR"))
}

/// The wallet after these wishes, each of which is told.
fn given(wishes: &[Wish]) -> (Wallet, HashMap<Uuid, Told>) {
    let (mut wallet, mut known) = (Wallet::new(USER), HashMap::new());
    for wish in wishes {
        let Ok(Decision::Tell(told)) = rules::decide(&wallet, wish, &known) else { panic!("{wish:?}") };
        rules::apply(&mut wallet, &told);
        assert_eq!((told.entry.balance, told.entry.transactions), (wallet.balance, wallet.transactions));
        known.insert(told.entry.operation_id, told);
    }
    (wallet, known)
}

#[test]
fn what_was_told_is_known_again_and_another_under_its_id_is_refused() {
    let (wallet, known) = given(&[Wish::Deposit(cents(1, 500)), Wish::Withdraw(cents(2, 500))]);
    assert_eq!((wallet.balance, wallet.transactions), (Decimal::ZERO, 2));
    let again = rules::decide(&wallet, &Wish::Withdraw(cents(2, 500)), &known);
    assert!(matches!(again, Ok(Decision::Known(told)) if told.kind == EntryKind::MoneyWithdrawn));
    for other in [Wish::Withdraw(cents(2, 499)), Wish::Deposit(cents(2, 500)), Wish::Send(cents(2, 500), OTHER)] {
        let refused = rules::decide(&wallet, &other, &known);
        assert!(matches!(refused, Err(Error::OperationReused { .. })), "{refused:?}");
    }
}

#[test]
fn nothing_goes_below_nought_and_nothing_changes_its_currency() {
    let (wallet, known) = given(&[Wish::Deposit(cents(1, 500))]);
    for wish in [Wish::Withdraw(cents(2, 501)), Wish::Send(cents(2, 501), OTHER)] {
        let refused = rules::decide(&wallet, &wish, &known);
        assert!(matches!(refused, Err(Error::InsufficientFunds { .. })), "{refused:?}");
    }
    let crowns = Operation { currency: Currency::new("CZK"), ..cents(2, 100) };
    for wish in [Wish::Deposit(crowns.clone()), Wish::Withdraw(crowns.clone()), Wish::Receive(crowns, OTHER)] {
        let refused = rules::decide(&wallet, &wish, &known);
        assert!(matches!(refused, Err(Error::OtherCurrency { .. })), "{refused:?}");
    }
}

#[test]
fn what_was_sent_comes_back_once_and_what_was_not_never_goes() {
    let sent = Wish::Send(cents(2, 200), OTHER);
    let id = sent.operation_id();
    let (wallet, known) = given(&[Wish::Deposit(cents(1, 500)), sent, Wish::GiveBack(id)]);
    assert_eq!(wallet.balance, Decimal::new(500, 2));
    let again = rules::decide(&wallet, &Wish::GiveBack(id), &known);
    assert!(matches!(again, Ok(Decision::Known(told)) if told.kind == EntryKind::MoneyReturned));
    let unmade = Uuid::from_u128(3);
    for give_up in [Wish::GiveBack(unmade), Wish::Fence(unmade)] {
        let (wallet, known) = given(&[Wish::Deposit(cents(1, 500)), give_up]);
        assert_eq!((wallet.balance, wallet.transactions), (Decimal::new(500, 2), 1));
        let late = rules::decide(&wallet, &Wish::Withdraw(cents(3, 100)), &known);
        assert!(matches!(late, Err(Error::OperationVoided { .. })), "{late:?}");
    }
    // What came in is not given back by those who only take.
    let refused = rules::decide(&wallet, &Wish::GiveBack(Uuid::from_u128(1)), &known);
    assert!(matches!(refused, Err(Error::OperationReused { .. })), "{refused:?}");
}

#[test]
fn an_entry_is_read_as_it_was_written_and_folds_into_the_same_wallet() {
    let at = Timestamp::from_millis(725_846_400_000);
    let wishes = [
        Wish::Deposit(cents(1, 1000).booked_at(at).because("gift")),
        Wish::Send(cents(2, 200), OTHER),
        Wish::Fence(Uuid::nil()),
    ];
    let (mut wallet, mut known) = (Wallet::new(USER), HashMap::new());
    let mut state = serde_json::Value::Null;
    for (wish, version) in wishes.iter().zip(1..) {
        let Ok(Decision::Tell(told)) = rules::decide(&wallet, wish, &known) else { panic!("{wish:?}") };
        let new = wish.event(&told);
        assert_eq!(new.event_id, Some(rules::event_of(USER, wish.operation_id())));
        let event = Event {
            aggregate_id: rules::stream_of(USER),
            block: 0,
            event_version: version,
            event_timestamp: at,
            event_id: EventId(Uuid::nil()),
            aggregate_kind: rules::KIND.into(),
            event_type: new.event_type,
            event_data: new.data.to_string(),
            schema_version: 1,
            event_metadata: Default::default(),
            causation_id: None,
            correlation_id: Uuid::nil(),
        };
        assert_eq!(Told::of(&event).expect("readable"), told);
        state = WalletFold.fold(state, &event).expect("folded");
        rules::apply(&mut wallet, &told);
        known.insert(told.entry.operation_id, told);
    }
    assert_eq!(serde_json::from_value::<Wallet>(state).expect("a wallet"), wallet);
    let amounts: Entry = serde_json::from_value(serde_json::json!({
        "user_id": USER, "operation_id": Uuid::nil(), "amount": "0.10", "currency": "EUR", "balance": "0.10", "transactions": 1,
    }))
    .expect("an entry without what is optional");
    assert_eq!(amounts.amount, Decimal::new(10, 2));
}

#[test]
fn streams_of_two_users_have_no_event_in_common() {
    let id = Uuid::from_u128(1);
    assert_ne!(rules::event_of(USER, id), rules::event_of(OTHER, id));
    assert_ne!(rules::stream_of(USER), rules::stream_of(OTHER));
}
