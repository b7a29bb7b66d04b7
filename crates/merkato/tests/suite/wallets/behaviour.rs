//! Money in, money out, and what is told of it.

use merkato::{
    Currency,
    events::{self, AppendRequest, Event, Expected, NewEvent},
    id::AggregateId,
    wallets::{self, EntryKind, Error, Fenced, Operation},
};
use rust_decimal::Decimal;
use serde_json::json;
use widerow::Commit;
use widerow_testing::{Target, cases};

use super::{assert_sound, balance, cents, euro, euros, holding, new_user, under};
use crate::world::World;

cases![
    a_wallet_holds_what_came_in_less_what_went_out,
    an_operation_is_made_once_by_its_id,
    what_a_wallet_does_not_take_is_refused_by_name,
    an_operation_that_was_given_up_is_never_made,
    a_statement_is_read_from_the_newest_entry_on_page_by_page,
    the_balance_that_the_feed_tells_is_made_anew,
    a_wallet_of_which_something_is_missing_is_found,
    nobody_appends_to_a_wallet_from_outside,
];

async fn a_wallet_holds_what_came_in_less_what_went_out(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = new_user(ctx);
    let empty = wallets::get_wallet(ctx, user).await.unwrap();
    assert_eq!((empty.currency.clone(), euros(&empty)), (None, (Decimal::ZERO, 0)));
    wallets::deposit(ctx, user, cents(ctx, 10_00)).await.unwrap();
    let told = wallets::withdraw(ctx, user, cents(ctx, 3_50).because("a book")).await.unwrap();
    assert_eq!((told.kind, told.entry.balance), (EntryKind::MoneyWithdrawn, Decimal::new(6_50, 2)));
    assert_eq!(told.entry.reason.as_deref(), Some("a book"));
    let wallet = wallets::get_wallet(ctx, user).await.unwrap();
    assert_eq!((wallet.currency.clone(), euros(&wallet)), (Some(euro()), (Decimal::new(6_50, 2), 2)));
    let verified = assert_sound(ctx).await;
    assert_eq!((verified.wallets, verified.entries), (1, 2));
    // A wallet rebuilt from its events is the same.
    let row = wallets::find_balance(ctx, user).await.unwrap().unwrap();
    assert_eq!((row.current_balance, row.transaction_count, row.event_version), (wallet.balance, 2, 2));
    assert_eq!(row.last_transaction_id, wallets::event_of(user, told.entry.operation_id));
}

async fn an_operation_is_made_once_by_its_id(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = holding(ctx, 10_00).await;
    let out = cents(ctx, 4_00);
    let first = wallets::withdraw(ctx, user, out.clone()).await.unwrap();
    wallets::withdraw(ctx, user, cents(ctx, 6_00)).await.unwrap();
    // The answer is the first one's, also where it could not be made any more.
    assert_eq!(wallets::withdraw(ctx, user, out.clone()).await.unwrap(), first);
    assert_eq!(balance(ctx, user).await, Decimal::ZERO);
    let dearer = under(out.operation_id, 4_01);
    for other in [wallets::withdraw(ctx, user, dearer).await, wallets::deposit(ctx, user, out.clone()).await] {
        assert!(matches!(other, Err(Error::OperationReused { .. })), "{other:?}");
    }
    // Another's operation may have the same id.
    let other = holding(ctx, 5_00).await;
    wallets::withdraw(ctx, other, out).await.unwrap();
    assert_eq!(balance(ctx, other).await, Decimal::ONE);
    assert_sound(ctx).await;
}

async fn what_a_wallet_does_not_take_is_refused_by_name(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = new_user(ctx);
    let none = wallets::withdraw(ctx, user, cents(ctx, 1)).await;
    assert!(matches!(none, Err(Error::InsufficientFunds { .. })), "{none:?}");
    wallets::deposit(ctx, user, cents(ctx, 1_00)).await.unwrap();
    let much = wallets::withdraw(ctx, user, cents(ctx, 1_01)).await;
    let Err(Error::InsufficientFunds { balance: held, wanted }) = much else { panic!("{much:?}") };
    assert_eq!((held, wanted), (Decimal::ONE, Decimal::new(101, 2)));
    let crowns = Operation::new(ctx.new_id(), Decimal::ONE, Currency::new("CZK"));
    let other = wallets::deposit(ctx, user, crowns).await;
    assert!(matches!(other, Err(Error::OtherCurrency { .. })), "{other:?}");
    let finer = Operation::new(ctx.new_id(), Decimal::new(1, 3), euro());
    let yen = Operation::new(ctx.new_id(), Decimal::new(15, 1), Currency::new("JPY"));
    let strange = Operation::new(ctx.new_id(), Decimal::ONE, Currency::new("XYZ"));
    for (bad, field) in [
        (finer, "amount"),
        (yen, "amount"),
        (strange, "currency"),
        (cents(ctx, 0), "amount"),
        (cents(ctx, -5), "amount"),
        (cents(ctx, 1).because("two\nlines"), "reason"),
        (cents(ctx, 1).booked_at(ctx.now().plus_seconds(10 * 86_400)), "booked_at"),
    ] {
        let refused = wallets::deposit(ctx, user, bad).await;
        let Err(Error::Invalid(invalid)) = refused else { panic!("{refused:?}") };
        assert_eq!(invalid.fields[0].field, field);
    }
    let most = Operation::new(ctx.new_id(), merkato::limits::AMOUNT_MAX, euro());
    let full = wallets::deposit(ctx, user, most).await;
    assert!(matches!(full, Err(Error::BalanceTooLarge { .. })), "{full:?}");
    assert_eq!(balance(ctx, user).await, Decimal::ONE);
    assert_sound(ctx).await;
}

async fn an_operation_that_was_given_up_is_never_made(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = holding(ctx, 10_00).await;
    let (made, unmade) = (cents(ctx, 4_00), cents(ctx, 5_00));
    wallets::withdraw(ctx, user, made.clone()).await.unwrap();
    for _ in 0..3 {
        let back = wallets::give_back(ctx, user, made.operation_id).await.unwrap();
        assert_eq!((back.kind, back.entry.balance), (EntryKind::MoneyReturned, Decimal::TEN));
        assert_eq!(back.entry.returns, Some(made.operation_id));
        let void = wallets::give_back(ctx, user, unmade.operation_id).await.unwrap();
        assert_eq!((void.kind, void.entry.amount), (EntryKind::OperationVoided, Decimal::ZERO));
        // Nor is anything paid by what was given back.
        for operation in [&made, &unmade] {
            let late = wallets::withdraw(ctx, user, operation.clone()).await;
            assert!(matches!(late, Err(Error::OperationVoided { .. })), "{late:?}");
        }
    }
    assert_eq!(wallets::fence(ctx, user, made.operation_id).await.unwrap(), Fenced::Made);
    assert_eq!(wallets::fence(ctx, user, unmade.operation_id).await.unwrap(), Fenced::Voided);
    let wallet = wallets::get_wallet(ctx, user).await.unwrap();
    assert_eq!(euros(&wallet), (Decimal::TEN, 3));
    assert_eq!(assert_sound(ctx).await.entries, 4);
}

async fn a_statement_is_read_from_the_newest_entry_on_page_by_page(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = new_user(ctx);
    for n in 1..=7 {
        wallets::deposit(ctx, user, cents(ctx, n)).await.unwrap();
    }
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let page = wallets::statement(ctx, user, before, 3).await.unwrap();
        assert!(page.lines.len() <= 3);
        seen.extend(page.lines.iter().map(|line| (line.version, line.told.entry.amount)));
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, (1..=7).rev().map(|n| (n, Decimal::new(n, 2))).collect::<Vec<_>>());
    let nobody = wallets::statement(ctx, new_user(ctx), None, 3).await.unwrap();
    assert_eq!((nobody.lines.len(), nobody.before), (0, None));
    assert!(wallets::statement(ctx, user, None, 0).await.is_err());
}

async fn the_balance_that_the_feed_tells_is_made_anew(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let users = [holding(ctx, 1_00).await, holding(ctx, 2_00).await];
    assert_sound(ctx).await;
    events::rebuild_projection(ctx, wallets::BALANCES).await.unwrap();
    wallets::withdraw(ctx, users[0], cents(ctx, 25)).await.unwrap();
    assert_sound(ctx).await;
    for (user, cents) in users.into_iter().zip([75, 2_00]) {
        let row = wallets::find_balance(ctx, user).await.unwrap().unwrap();
        assert_eq!((row.generation, row.current_balance), (2, Decimal::new(cents, 2)));
    }
}

async fn a_wallet_of_which_something_is_missing_is_found(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for missing in [1, 2] {
        let user = holding(ctx, 5).await;
        wallets::deposit(ctx, user, Operation::new(ctx.new_id(), Decimal::ONE, Currency::new("EUR"))).await.unwrap();
        assert_sound(ctx).await;
        let stream = wallets::stream_of(user);
        let row = ctx.store.get::<Event>((stream, 0, missing)).await.unwrap().unwrap();
        ctx.store.commit(Commit::new().delete::<Event>((stream, 0, missing))).await.unwrap();
        let found = wallets::verify_wallets(ctx).await.unwrap();
        assert!(!found.is_sound(), "without {missing}: {found:?}");
        ctx.store.commit(Commit::new().put(&row)).await.unwrap();
    }
}

async fn nobody_appends_to_a_wallet_from_outside(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = holding(ctx, 1_00).await;
    // Nor takes the id of an operation to come for an event of their own, so that the wallet could never tell it.
    let event_id = Some(wallets::event_of(user, ctx.new_id()));
    let squatted = AppendRequest {
        aggregate_id: AggregateId(ctx.new_id()),
        kind: "purse".into(),
        expected: Expected::Any,
        events: vec![NewEvent { event_id, ..NewEvent::new("Squatted", json!({})) }],
    };
    let refused = events::append(ctx, squatted).await;
    assert!(
        matches!(&refused, Err(events::Error::Invalid(bad)) if bad.fields[0].field == "events/0/event_id"),
        "{refused:?}"
    );
    let data = json!({ "amount": "1000000" });
    for (aggregate_id, kind) in [
        (wallets::stream_of(user), "json"),
        (wallets::stream_of(user), wallets::KIND),
        (AggregateId(ctx.new_id()), wallets::KIND),
    ] {
        let events = vec![NewEvent::new("MoneyDeposited", data.clone())];
        let request = AppendRequest { aggregate_id, kind: kind.into(), expected: Expected::Any, events };
        let refused = events::append(ctx, request).await;
        assert_eq!(refused.unwrap_err().code(), "stream_reserved");
    }
    assert_eq!(balance(ctx, user).await, Decimal::ONE);
    assert_sound(ctx).await;
}
