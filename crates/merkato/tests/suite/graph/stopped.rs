//! Changes that were stopped after every step, and counted once by whoever comes next.

use std::sync::Arc;

use merkato::{
    Context, Settings,
    context::SystemChance,
    graph::{self, ConnectionType, Degree, Error, NewConnection},
    id::UserId,
};
use widerow::{
    Database, Engine, Options,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use super::{connect, listed, person, sound};
use crate::{
    hierarchy::races::row_by_row,
    world::{World, schema},
};

use ConnectionType::{Block, Friend};

widerow_testing::cases!(a_change_stopped_anywhere_is_made_whole_or_not_and_counted_once);

/// The same shop in a process that stops after so many steps; with `always_outbox`, one whose commits are seen so on the embedded
/// engine too.
fn dying(target: &Target, world: &World, steps: u64, always_outbox: bool) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    let clock = world.clock.clone() as Arc<dyn Clock>;
    let options = Options { clock, always_outbox, ..Options::default() };
    let database = Database::with_options(faulty.clone(), schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).unwrap();
    let settings = Settings::clone(&world.ctx.settings);
    (Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance)), faulty)
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Befriend,
    Hide,
    End,
}

async fn make(ctx: &Context, change: Change, a: UserId, b: UserId) -> Result<(), Error> {
    match change {
        Change::Befriend => graph::connect(ctx, a, Friend, b, NewConnection::default()).await.map(drop),
        Change::Hide => graph::connect(ctx, a, Block, b, NewConnection::default()).await.map(drop),
        Change::End => graph::disconnect(ctx, a, Friend, b).await,
    }
}

/// Whoever comes by: the sweeps, or somebody who changes the same pair.
async fn heal(target: &Target, world: &World, healer: u64, change: Change, a: UserId, b: UserId) {
    if healer.is_multiple_of(2) {
        world.clock.advance_millis(600_000);
        row_by_row(target, world).store.database().sweep().await.unwrap();
        graph::settle_counts(&world.ctx).await.unwrap();
    } else {
        match make(&world.ctx, change, a, b).await {
            Ok(()) | Err(Error::NotConnected { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

async fn a_change_stopped_anywhere_is_made_whole_or_not_and_counted_once(target: &Target) {
    let quick = target.name == "embedded";
    let mut pair = 0;
    for (change, always_outbox) in [
        (Change::Befriend, false),
        (Change::Hide, false),
        (Change::End, false),
        (Change::Befriend, true),
        (Change::Hide, true),
        (Change::End, true),
    ] {
        if always_outbox && !quick {
            continue;
        }
        let world = World::new(target);
        let ctx = &world.ctx;
        let (mut before, mut after) = (0, 0);
        for steps in (0..).step_by(if quick { 1 } else { 3 }) {
            let (a, b) = (person(1_000 + pair), person(1_001 + pair));
            pair += 2;
            if !matches!(change, Change::Befriend) {
                connect(ctx, a, Friend, b).await;
            }
            let (doomed, faulty) = dying(target, &world, steps, always_outbox);
            let stopped = make(&doomed, change, a, b).await;
            if quick && !always_outbox {
                // Friends on both sides or on neither, at any instant.
                let sides = [listed(ctx, a).await.contains_key(&Friend), listed(ctx, b).await.contains_key(&Friend)];
                assert_eq!(sides[0], sides[1], "{change:?} after {steps}");
            }
            heal(target, &world, steps, change, a, b).await;
            let (of_a, of_b) = (graph::get_degree(ctx, a).await.unwrap(), graph::get_degree(ctx, b).await.unwrap());
            let friends = Degree { friends: 1, ..Degree::default() };
            let nothing = Degree::default();
            let (old, new) = match change {
                Change::Befriend => ((nothing, nothing), (friends, friends)),
                Change::Hide => ((friends, friends), (Degree { blocked: 1, ..nothing }, nothing)),
                Change::End => ((friends, friends), (nothing, nothing)),
            };
            assert!((of_a, of_b) == old || (of_a, of_b) == new, "{change:?} after {steps}: {of_a:?}, {of_b:?}");
            assert!((of_a, of_b) == new || stopped.is_err(), "what was answered is done");
            (before, after) = (before + u32::from((of_a, of_b) == old), after + u32::from((of_a, of_b) == new));
            if !faulty.has_stopped() {
                stopped.unwrap();
                break;
            }
        }
        sound(&world).await;
        assert!(after > 0 && (before > 0 || !quick), "{change:?}: {before}, {after}");
    }
}
