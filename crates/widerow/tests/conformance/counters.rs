//! Counters: added to, read, each tenant's own.

use widerow::{Commit, Counter, Date, Error};

use crate::{
    cases,
    tables::Views,
    world::{Target, Worlds},
};

cases!(adds_are_summed, counters_are_not_committed);

async fn adds_are_summed(target: &Target) {
    let world = target.world();
    let day = |d| Date::new(2026, 3, d).expect("a day");
    let adders = (0..8).map(|i| {
        let store = world.store.clone();
        tokio::spawn(async move {
            for _ in 0..5 {
                store.add(("home".into(), day(1)), Views::VIEWS, 2).await.unwrap();
                store.add(("home".into(), day(2)), Views::CLICKS, -i).await.unwrap();
            }
        })
    });
    for adder in adders.collect::<Vec<_>>() {
        adder.await.unwrap();
    }
    let rows = world.store.slice::<Views>("home".into()).page().await.unwrap().rows;
    let counts: Vec<_> = rows.iter().map(|r| (r.day, r.views.0, r.clicks.0)).collect();
    assert_eq!(counts, [(day(1), 80, 0), (day(2), 0, -140)]);
    let other = world.database.tenant("elsewhere").unwrap();
    assert_eq!(other.get::<Views>(("home".into(), day(1))).await.unwrap(), None);
}

async fn counters_are_not_committed(target: &Target) {
    let store = target.world().store;
    let row = Views { page: "p".into(), day: Date::from_days(0), views: Counter(1), clicks: Counter(1) };
    let error = store.commit(Commit::new().put(&row)).await.unwrap_err();
    assert!(matches!(&error, Error::Invalid { field, .. } if field == "views"), "{error}");
}
