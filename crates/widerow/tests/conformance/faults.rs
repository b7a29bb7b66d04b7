//! Guarded counters through an engine that refuses, times out and delays: exact at the end.

use std::sync::Arc;

use widerow::{
    Commit, Database, Engine, Error, Options,
    faulty::{Faults, Faulty},
    store::VerifyOptions,
    time::Clock,
};

use crate::{
    cases,
    commits::article,
    tables::{Article, ArticleByStatus, Status},
    world::{Target, Worlds},
};

cases!(counters_end_exact, an_error_that_is_certain_changed_nothing);

/// A seed from the environment replays a run.
fn seed() -> u64 {
    std::env::var("MERKATO_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_261)
}

async fn counters_end_exact(target: &Target) {
    let world = target.empty_world();
    let tenant = world.store.tenant().to_string();
    for id in 0..3 {
        world.store.commit(Commit::new().put(&Article { price: 0, ..article(id) })).await.unwrap();
    }
    let engines = (0..6u64).map(|writer| {
        let faults = Faults {
            seed: seed() + writer,
            refuse: 0.05,
            time_out_before: 0.05,
            time_out_after: 0.08,
            apply_late: 0.08,
            delay: 0.2,
            stop_after_steps: None,
        };
        Arc::new(Faulty::new(world.engine.clone(), faults))
    });
    let engines: Vec<Arc<Faulty<Arc<dyn Engine>>>> = engines.collect();
    let writers = (0..).zip(&engines).map(|(writer, faulty)| {
        let clock = world.clock.clone() as Arc<dyn Clock>;
        let options = Options { clock, always_outbox: writer % 2 == 0, ..Options::default() };
        let database = Database::with_options(faulty.clone(), crate::tables::schema(), options);
        let store = database.tenant(&tenant).unwrap();
        tokio::spawn(async move {
            let (mut certain, mut unknown) = ([0i64; 3], [0i64; 3]);
            for i in 0..12 {
                let id = ((writer + i) % 3) as usize;
                let more = |old: Option<Article>| {
                    let old = old.expect("it is there");
                    Ok::<_, Error>(Some(Article { count: old.count + 1, price: old.price + 1, ..old }))
                };
                match store.update::<Article, Error>(id as i64, None, more).await {
                    Ok(_) => certain[id] += 1,
                    Err(Error::Indeterminate { .. }) => unknown[id] += 1,
                    Err(_) => {}
                }
            }
            (certain, unknown)
        })
    });
    let (mut certain, mut unknown) = ([0; 3], [0; 3]);
    for writer in writers.collect::<Vec<_>>() {
        let (c, u) = writer.await.unwrap();
        (0..3).for_each(|i| {
            certain[i] += c[i];
            unknown[i] += u[i];
        });
    }
    for engine in &engines {
        engine.all_applied().await;
    }
    world.clock.advance_millis(120_000);
    world.database.sweep().await.unwrap();
    for id in 0..3usize {
        let row = world.store.get::<Article>(id as i64).await.unwrap().unwrap();
        assert_eq!(row.count, row.price, "a commit is there whole");
        let (least, most) = (certain[id], certain[id] + unknown[id]);
        assert!((least..=most).contains(&row.count), "{} increments, {least} to {most} acknowledged", row.count);
    }
    assert!(certain.iter().sum::<i64>() > 5, "{certain:?}");
    let rows = world.store.slice::<ArticleByStatus>(Status::OnSale).page().await.unwrap().rows;
    assert_eq!(rows.len(), 3);
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}

async fn an_error_that_is_certain_changed_nothing(target: &Target) {
    let world = target.world();
    let faults = Faults { seed: seed(), refuse: 1.0, ..Faults::default() };
    let faulty = Faulty::new(world.engine.clone(), faults);
    let database = Database::new(faulty, crate::tables::schema());
    let store = database.tenant(world.store.tenant().as_str()).unwrap();
    let error = store.commit(Commit::new().put(&article(1))).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }) && error.is_transient() && !error.may_have_happened());
    assert_eq!(world.store.get::<Article>(1).await.unwrap(), None);
}
