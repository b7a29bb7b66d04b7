//! The test provider: given, when, then.

use std::sync::Arc;

use futures::executor::block_on;
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Timestamp, time::ManualClock};

use super::{Authorise, Chaos, Error, PaymentProvider, PaymentState, TestProvider};
use crate::Currency;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)))
}

fn key(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn money(n: i64) -> Decimal {
    Decimal::from(n)
}

fn request(n: u128, source: &str) -> Authorise {
    Authorise {
        key: key(n),
        order_number: format!("ORD-2026-{n:06}"),
        amount: money(100),
        currency: Currency::new("EUR"),
        source: source.into(),
    }
}

fn is_unknown<T: std::fmt::Debug>(result: super::Result<T>) -> bool {
    matches!(result, Err(Error::Unknown { .. }))
}

#[test]
fn the_same_key_gives_the_same_answer_and_takes_the_money_once() {
    let provider = TestProvider::new(clock());
    block_on(async {
        let first = provider.authorise(request(1, "ok")).await.unwrap();
        assert_eq!(provider.authorise(request(1, "ok")).await.unwrap(), first);
        for _ in 0..3 {
            let captured = provider.capture(key(2), &first.payment_id, money(60)).await.unwrap();
            assert_eq!(captured.amount, money(60));
        }
        assert_eq!(provider.captured_total(), money(60));
        for _ in 0..3 {
            provider.refund(key(3), &first.payment_id, money(40)).await.unwrap();
        }
        assert_eq!(provider.refunded_total(), money(40));
        let status = provider.status(key(1)).await.unwrap();
        assert_eq!((status.state, status.captured, status.refunded), (PaymentState::Refunded, money(60), money(40)));
        assert_eq!(provider.charges().len(), 1);
        assert_eq!(provider.charges_of("ORD-2026-000001").len(), 1);
    });
}

#[test]
fn a_key_is_good_for_one_request_alone() {
    let provider = TestProvider::new(clock());
    block_on(async {
        let id = provider.authorise(request(1, "ok")).await.unwrap().payment_id;
        let other = Authorise { amount: money(99), ..request(1, "ok") };
        assert_eq!(provider.authorise(other).await, Err(Error::Mismatch));
        provider.capture(key(2), &id, money(60)).await.unwrap();
        assert_eq!(provider.capture(key(2), &id, money(61)).await, Err(Error::Mismatch));
        assert_eq!(provider.refund(key(2), &id, money(60)).await, Err(Error::Mismatch));
        assert_eq!(provider.refund(key(1), &id, money(60)).await, Err(Error::Mismatch));
        assert_eq!(provider.authorise(request(2, "ok")).await, Err(Error::Mismatch));
        assert_eq!(provider.void(key(2)).await, Err(Error::Mismatch));
    });
}

#[test]
fn what_is_too_much_is_refused() {
    let provider = TestProvider::new(clock());
    block_on(async {
        let id = provider.authorise(request(1, "ok")).await.unwrap().payment_id;
        let over = provider.capture(key(2), &id, money(101)).await;
        assert_eq!(over, Err(Error::OverAmount { wanted: money(101), available: money(100) }));
        assert!(matches!(provider.capture(key(2), &id, money(0)).await, Err(Error::NoAmount { .. })));
        assert!(matches!(provider.refund(key(3), &id, money(1)).await, Err(Error::OverAmount { .. })));
        provider.capture(key(2), &id, money(50)).await.unwrap();
        let twice = provider.capture(key(4), &id, money(50)).await;
        assert_eq!(twice, Err(Error::AlreadyCaptured { payment_id: id.clone(), amount: money(50) }));
        provider.refund(key(5), &id, money(30)).await.unwrap();
        let over = provider.refund(key(6), &id, money(21)).await;
        assert_eq!(over, Err(Error::OverAmount { wanted: money(21), available: money(20) }));
        assert!(matches!(provider.capture(key(7), "nothing", money(1)).await, Err(Error::PaymentNotFound { .. })));
        let nothing = Authorise { amount: money(0), ..request(8, "ok") };
        assert!(matches!(provider.authorise(nothing).await, Err(Error::NoAmount { .. })));
    });
}

#[test]
fn the_source_says_who_is_declined() {
    let provider = TestProvider::new(clock());
    block_on(async {
        for source in ["decline", "no such word"] {
            let n = source.len() as u128;
            for _ in 0..2 {
                assert!(matches!(provider.authorise(request(n, source)).await, Err(Error::Declined { .. })));
            }
            assert_eq!(provider.status(key(n)).await.unwrap().state, PaymentState::Declined);
            provider.void(key(n)).await.unwrap();
        }
        let id = provider.authorise(request(1, "decline_capture")).await.unwrap().payment_id;
        for _ in 0..2 {
            assert!(matches!(provider.capture(key(2), &id, money(100)).await, Err(Error::Declined { .. })));
        }
        provider.void(key(1)).await.unwrap();
        assert_eq!(provider.captured_total(), money(0));
    });
}

#[test]
fn a_request_that_is_lost_has_no_effect_and_a_lost_answer_has_one() {
    let provider = TestProvider::new(clock());
    block_on(async {
        for (n, source, state) in
            [(10, "timeout_before:2", PaymentState::Absent), (20, "timeout_after:2", PaymentState::Authorised)]
        {
            for _ in 0..2 {
                assert!(is_unknown(provider.authorise(request(n, source)).await));
                assert_eq!(provider.status(key(n)).await.unwrap().state, state);
            }
            let id = provider.authorise(request(n, source)).await.unwrap().payment_id;
            let before = provider.captured_total();
            for _ in 0..2 {
                assert!(is_unknown(provider.capture(key(n + 1), &id, money(100)).await));
                let taken = provider.captured_total() - before;
                assert_eq!(taken, if state == PaymentState::Absent { money(0) } else { money(100) });
            }
            provider.capture(key(n + 1), &id, money(100)).await.unwrap();
            assert_eq!(provider.captured_total() - before, money(100));
        }
    });
}

#[test]
fn what_is_late_is_good_when_its_time_has_come() {
    let clock = clock();
    let provider = TestProvider::new(clock.clone());
    block_on(async {
        assert!(is_unknown(provider.authorise(request(1, "late:30")).await));
        assert!(is_unknown(provider.authorise(request(2, "late")).await));
        assert_eq!(provider.status(key(1)).await.unwrap().state, PaymentState::Pending);
        clock.advance_millis(30_000);
        let first = provider.authorise(request(1, "late:30")).await.unwrap();
        assert!(is_unknown(provider.authorise(request(2, "late")).await));
        provider.settle();
        let status = provider.status(key(2)).await.unwrap();
        assert_eq!((status.state, status.authorised), (PaymentState::Authorised, money(100)));
        provider.capture(key(3), &first.payment_id, money(100)).await.unwrap();
        provider.capture(key(4), &status.payment_id.unwrap(), money(100)).await.unwrap();
    });
}

#[test]
fn after_a_void_nothing_is_captured_however_late_it_comes() {
    let clock = clock();
    let provider = TestProvider::new(clock.clone());
    block_on(async {
        let id = provider.authorise(request(1, "ok")).await.unwrap().payment_id;
        assert!(is_unknown(provider.authorise(request(2, "late:10")).await));
        for n in [1, 2, 3, 1, 2, 3] {
            provider.void(key(n)).await.unwrap();
        }
        clock.advance_millis(60_000);
        provider.settle();
        assert_eq!(provider.capture(key(11), &id, money(100)).await, Err(Error::Voided));
        assert_eq!(provider.authorise(request(1, "ok")).await, Err(Error::Voided));
        assert_eq!(provider.authorise(request(2, "late:10")).await, Err(Error::Voided));
        // It was voided before it was ever asked for.
        assert_eq!(provider.authorise(request(3, "ok")).await, Err(Error::Voided));
        let late = provider.charges()[1].payment_id.clone();
        assert_eq!(provider.capture(key(12), &late, money(100)).await, Err(Error::Voided));
        assert_eq!(provider.captured_total(), money(0));
        // What was captured is not voided.
        let id = provider.authorise(request(4, "ok")).await.unwrap().payment_id;
        provider.capture(key(13), &id, money(70)).await.unwrap();
        let void = provider.void(key(4)).await;
        assert_eq!(void, Err(Error::AlreadyCaptured { payment_id: id, amount: money(70) }));
    });
}

#[test]
fn chaos_is_the_same_for_the_same_seed_and_ends_for_who_asks_again() {
    let run = |seed| {
        let provider = TestProvider::with_chaos(clock(), Chaos { seed, failures: 500 });
        let mut story = Vec::new();
        block_on(async {
            for n in 0..50u128 {
                let mut authorised = None;
                for _ in 0..10 {
                    match provider.authorise(request(1_000 + n, "ok")).await {
                        Ok(answer) => authorised = Some(answer),
                        Err(error) => {
                            assert!(error.is_transient(), "{error}");
                            story.push(format!("{n}: {error}"));
                            continue;
                        }
                    }
                    break;
                }
                let id = authorised.expect("in the end").payment_id;
                let mut tries = 0;
                while let Err(error) = provider.capture(key(2_000 + n), &id, money(100)).await {
                    assert!(error.is_transient(), "{error}");
                    story.push(format!("{n}: {error}"));
                    tries += 1;
                    assert!(tries < 10);
                }
            }
        });
        assert_eq!(provider.captured_total(), money(5_000));
        story
    };
    let (first, again, other) = (run(1), run(1), run(2));
    assert_eq!(first, again);
    assert_ne!(first, other);
    for what in ["unavailable", "no answer"] {
        assert!(first.iter().any(|line| line.contains(what)), "{what}");
    }
}
