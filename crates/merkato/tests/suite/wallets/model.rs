//! Beside a model: whatever is asked, in any order and again, the wallets hold what a few lines of adding up say.

use std::collections::BTreeMap;

use merkato::{
    flows::{
        Error as FlowError,
        transfer::{TransferRequest, transfer},
    },
    wallets::{self, Error},
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{assert_sound, balance, euro, new_user, under};
use crate::{
    inventory::other_process,
    world::{World, seed},
};

cases![wallets_hold_what_a_model_says];

/// What an operation did, by its wallet and its id: cents that it moved, or that it was given up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    Moved(i64),
    Returned(i64),
    Voided,
}

async fn wallets_hold_what_a_model_says(target: &Target) {
    let world = World::new(target);
    let processes = [world.ctx.clone(), other_process(&world, target.engine())];
    let mut dice = SmallRng::seed_from_u64(seed());
    let users: Vec<_> = (0..3).map(|_| new_user(&world.ctx)).collect();
    let ids: Vec<Uuid> = (0..40).map(|_| world.ctx.new_id()).collect();
    let mut held = [0_i64; 3];
    let mut made: BTreeMap<(usize, Uuid), Made> = BTreeMap::new();
    let rounds = if target.name == "embedded" { 300 } else { 60 };
    for round in 0..rounds {
        let ctx = &processes[dice.random_range(0..2)];
        let (who, id) = (dice.random_range(0..3), ids[dice.random_range(0..ids.len())]);
        let amount = dice.random_range(1..500);
        let known = made.get(&(who, id)).copied();
        match dice.random_range(0..10) {
            kind @ 0..=6 => {
                let moved = if kind < 4 { amount } else { -amount };
                let answer = if moved > 0 {
                    wallets::deposit(ctx, users[who], under(id, amount)).await
                } else {
                    wallets::withdraw(ctx, users[who], under(id, amount)).await
                };
                match known {
                    Some(Made::Voided) => assert!(matches!(answer, Err(Error::OperationVoided { .. })), "{answer:?}"),
                    Some(Made::Moved(before) | Made::Returned(before)) if before != moved => {
                        assert!(matches!(answer, Err(Error::OperationReused { .. })), "{answer:?}");
                    }
                    Some(Made::Returned(_)) => {
                        assert!(matches!(answer, Err(Error::OperationVoided { .. })), "{answer:?}");
                    }
                    Some(Made::Moved(_)) => drop(answer.unwrap()),
                    None if held[who] + moved < 0 => {
                        assert!(matches!(answer, Err(Error::InsufficientFunds { .. })), "{answer:?}");
                    }
                    None => {
                        held[who] += moved;
                        made.insert((who, id), Made::Moved(moved));
                        assert_eq!(answer.unwrap().entry.balance, Decimal::new(held[who], 2));
                    }
                }
            }
            7 => {
                let answer = wallets::give_back(ctx, users[who], id).await;
                match known {
                    Some(Made::Moved(moved)) if moved > 0 => {
                        assert!(matches!(answer, Err(Error::OperationReused { .. })), "{answer:?}");
                    }
                    Some(Made::Moved(moved)) => {
                        held[who] -= moved;
                        made.insert((who, id), Made::Returned(moved));
                        answer.unwrap();
                    }
                    Some(Made::Returned(_) | Made::Voided) => drop(answer.unwrap()),
                    None => {
                        made.insert((who, id), Made::Voided);
                        answer.unwrap();
                    }
                }
            }
            _ => {
                let to = (who + 1 + dice.random_range(0..2)) % 3;
                let wanted = TransferRequest {
                    transfer_id: ctx.new_id(),
                    from: users[who],
                    to: users[to],
                    amount: Decimal::new(amount, 2),
                    currency: euro(),
                    reason: None,
                };
                match transfer(ctx, wanted).await {
                    Ok(_) => {
                        held[who] -= amount;
                        held[to] += amount;
                    }
                    Err(FlowError::TransferRefused { .. }) => assert!(held[who] < amount, "{held:?}, {amount}"),
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert!(held.iter().all(|cents| *cents >= 0), "{held:?}");
        if target.name == "embedded" || round % 10 == 9 {
            for (user, cents) in users.iter().zip(held) {
                assert_eq!(balance(ctx, *user).await, Decimal::new(cents, 2), "round {round}");
            }
        }
    }
    assert_sound(&world.ctx).await;
}
