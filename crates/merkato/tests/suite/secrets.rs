//! Secrets that the processes of a shop share, on every engine.

use std::collections::BTreeSet;

use futures::future::join_all;
use merkato::{
    Kind,
    secrets::{self, PATTERNS},
};
use widerow::meter::measure;
use widerow_testing::{Target, cases};

use crate::{
    inventory::other_process,
    world::{World, patiently},
};

cases![all_who_ask_at_once_get_one_secret, a_secret_is_anothers_by_name_and_by_tenant, bad_input_makes_no_secret];

async fn all_who_ask_at_once_get_one_secret(target: &Target) {
    let world = World::new(target);
    let other = other_process(&world, target.engine());
    let asked = (0..40).map(|i| {
        let ctx = if i % 2 == 0 { world.ctx.clone() } else { other.clone() };
        tokio::spawn(async move {
            patiently(|| secrets::get_or_make(&ctx, "cursors"), secrets::Error::kind).await.expect("a secret")
        })
    });
    let found: BTreeSet<_> = join_all(asked).await.into_iter().map(|secret| secret.expect("it ran")).collect();
    assert_eq!(found.len(), 1);
    world.clock.advance_millis(10 * 365 * 86_400_000);
    let (again, cost) = measure(secrets::get_or_make(&world.ctx, "cursors")).await;
    assert_eq!(Some(&again.expect("a secret")), found.first());
    assert!(PATTERNS[0].cost.admits(&cost, 1), "{cost}");
    assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{cost}");
}

async fn a_secret_is_anothers_by_name_and_by_tenant(target: &Target) {
    let (one, two) = (World::new(target), World::new(target));
    let mut found = BTreeSet::new();
    for (ctx, name) in [(&one.ctx, "cursors"), (&one.ctx, "forms"), (&two.ctx, "cursors")] {
        found.insert(secrets::get_or_make(ctx, name).await.expect("a secret"));
    }
    assert_eq!(found.len(), 3);
}

async fn bad_input_makes_no_secret(target: &Target) {
    let world = World::new(target);
    for name in ["", " ", "a\nb", &"x".repeat(201)] {
        let refused = secrets::get_or_make(&world.ctx, name).await.expect_err("bad");
        assert_eq!((refused.code(), refused.kind()), ("invalid", Kind::Invalid));
    }
}
