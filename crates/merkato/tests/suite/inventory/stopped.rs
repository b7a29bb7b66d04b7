//! Processes that die, and engines that do not answer.

use std::sync::Arc;

use futures::future::join_all;
use merkato::{
    Kind,
    inventory::{self, Error, HoldState, Line, Note},
};
use widerow::faulty::{Faults, Faulty};
use widerow_testing::{Target, cases};

use super::{MAIN, assert_sound, figures, new_hold, new_movement, other_process, reserve, stocked};
use crate::world::{World, seed};

cases![a_checkout_that_dies_anywhere_leaves_nothing_for_good, engines_that_do_not_answer_sell_nothing_twice];

async fn a_checkout_that_dies_anywhere_leaves_nothing_for_good(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b) = (stocked(ctx, &[(MAIN, 3)]).await, stocked(ctx, &[(MAIN, 3)]).await);
    let lines = [a, b].map(|product_id| Line { product_id, quantity: 2 });
    for steps in 0.. {
        let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
        let faulty = Arc::new(Faulty::new(target.engine(), faults));
        let doomed = other_process(&world, faulty.clone());
        let hold = new_hold(ctx);
        let stopped = async {
            inventory::reserve_lines(&doomed, hold, &lines, None).await?;
            inventory::confirm_lines(&doomed, hold, &[a, b]).await
        };
        let stopped = stopped.await;
        // Another process finishes it.
        inventory::reserve_lines(ctx, hold, &lines, None).await.unwrap();
        inventory::confirm_lines(ctx, hold, &[a, b]).await.unwrap();
        assert_eq!((figures(ctx, a).await, figures(ctx, b).await), ((1, 0), (1, 0)), "after {steps}");
        inventory::give_back_lines(ctx, hold, &[a, b]).await.unwrap();
        assert_eq!((figures(ctx, a).await, figures(ctx, b).await), ((3, 0), (3, 0)), "after {steps}");
        if !faulty.has_stopped() {
            stopped.unwrap();
            break;
        }
    }
    for product in [a, b] {
        assert_sound(ctx, product).await;
    }
}

/// Everyone asks until there is an answer.
async fn engines_that_do_not_answer_sell_nothing_twice(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 6), ("b", 4)]).await;
    let faults = Faults {
        seed: seed(),
        refuse: 0.05,
        time_out_before: 0.05,
        time_out_after: 0.05,
        apply_late: 0.05,
        delay: 0.1,
        ..Faults::default()
    };
    let engines = [0, 1].map(|n| Arc::new(Faulty::new(target.engine(), Faults { seed: faults.seed + n, ..faults })));
    let shaky = engines.each_ref().map(|engine| other_process(&world, engine.clone()));
    let later = |error: &Error| error.kind() == Kind::Unavailable || error.kind() == Kind::Internal;
    let shoppers = (0..30).map(|n| {
        let ctx = &shaky[n % 2];
        async move {
            let hold = new_hold(ctx);
            loop {
                match reserve(ctx, product, hold, 1).await {
                    Ok(_) => break,
                    Err(Error::InsufficientStock { .. }) => return None,
                    Err(error) if later(&error) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            loop {
                let answer = if n % 3 == 0 {
                    inventory::release(ctx, product, hold).await
                } else {
                    inventory::confirm(ctx, product, hold).await
                };
                match answer {
                    Ok(hold) => return Some(hold.state),
                    Err(error) if later(&error) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    });
    let delivery = new_movement(ctx);
    let deliver = async {
        while let Err(error) = inventory::restock(&shaky[0], delivery, product, "c", 3, Note::default()).await {
            assert!(later(&error), "{error}");
        }
    };
    let (states, ()) = tokio::join!(join_all(shoppers), deliver);
    for engine in &engines {
        engine.all_applied().await;
    }
    let sold = states.iter().filter(|state| **state == Some(HoldState::Confirmed)).count() as i32;
    assert_eq!(figures(ctx, product).await, (13 - sold, 0));
    assert_sound(ctx, product).await;
}
