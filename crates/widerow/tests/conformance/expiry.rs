//! Time to live: exact to the instant by the store's clock, whatever the engine sweeps and when.

use widerow::{Commit, Error};

use crate::{
    cases,
    tables::{Session, SessionByDevice},
    world::{Target, Worlds},
};

cases!(
    rows_end_at_their_instant,
    pages_stay_full_when_rows_have_ended,
    an_ended_row_is_absent_for_guards,
    space_is_reclaimed
);

fn session(number: i32) -> Session {
    Session { person: "ann".into(), number, device: "phone".into() }
}

async fn rows_end_at_their_instant(target: &Target) {
    let world = target.world();
    let store = &world.store;
    store.commit(Commit::new().put(&session(1)).put_for(&session(2), 10)).await.unwrap();
    let numbers = async || {
        let base = store.slice::<Session>("ann".into()).page().await.unwrap().rows;
        let derived = store.slice::<SessionByDevice>("phone".into()).page().await.unwrap().rows;
        let base: Vec<i32> = base.iter().map(|r| r.number).collect();
        assert_eq!(base, derived.iter().map(|r| r.number).collect::<Vec<_>>(), "derived rows end with their base");
        base
    };
    assert_eq!(numbers().await, [1, 2]);
    world.clock.advance_millis(9_999);
    assert_eq!(numbers().await, [1, 2]);
    world.clock.advance_millis(1);
    assert_eq!(numbers().await, [1]);
    assert_eq!(store.get::<Session>(("ann".into(), 2)).await.unwrap(), None);
    // Written again, a row lives again, its full time.
    world.clock.advance_millis(1_000_000);
    store.commit(Commit::new().put(&session(1))).await.unwrap();
    world.clock.advance_millis(3_599_999);
    assert_eq!(numbers().await, [1]);
    world.clock.advance_millis(1);
    assert!(numbers().await.is_empty());
    let error = store.commit(Commit::new().put_for(&session(3), 0)).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
}

async fn pages_stay_full_when_rows_have_ended(target: &Target) {
    let world = target.world();
    let store = &world.store;
    for chunk in (0..90).collect::<Vec<i32>>().chunks(30) {
        let commit =
            chunk.iter().fold(Commit::new(), |c, n| c.put_for(&session(*n), if n % 3 == 0 { 5000 } else { 60 }));
        store.commit(commit).await.unwrap();
    }
    world.clock.advance_millis(61_000);
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.slice::<Session>("ann".into()).limit(7).after(cursor).page().await.unwrap();
        assert!(page.rows.len() == 7 || page.next.is_none());
        seen.extend(page.rows.iter().map(|r| r.number));
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, (0..90).step_by(3).collect::<Vec<_>>());
}

async fn an_ended_row_is_absent_for_guards(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let key = || ("ann".to_owned(), 1);
    let claim = Commit::new().absent::<Session>(key()).put_for(&session(1), 30);
    store.commit(claim.clone()).await.unwrap();
    assert!(matches!(store.commit(claim.clone()).await, Err(Error::Conflict(_))));
    world.clock.advance_millis(30_000);
    let touch = Commit::new().present::<Session>(key()).put(&session(1));
    assert!(matches!(store.commit(touch).await, Err(Error::Conflict(_))));
    store.commit(claim).await.unwrap();
}

async fn space_is_reclaimed(target: &Target) {
    let world = target.empty_world();
    for number in 0..20 {
        let commit = Commit::new().put_for(&session(number), if number < 15 { 10 } else { 100 });
        world.store.commit(commit).await.unwrap();
    }
    // One of them is written again in the meantime: its first end must not take it.
    world.store.commit(Commit::new().put_for(&session(0), 1000)).await.unwrap();
    world.clock.advance_millis(11_000);
    let reclaimed = world.database.reclaim(1000).await.unwrap();
    if target.name == "embedded" {
        assert_eq!(reclaimed, 2 * 14, "rows and their derived rows");
        assert_eq!(world.database.reclaim(1000).await.unwrap(), 0);
    }
    let rows = world.store.slice::<Session>("ann".into()).page().await.unwrap().rows;
    assert_eq!(rows.len(), 6);
}
