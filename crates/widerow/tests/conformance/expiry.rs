//! Time to live: exact to the instant by the store's clock, whatever the engine sweeps and when.
//!
//! Rows that shall be there have minutes to live: an engine that lets them end by itself does so by a clock that goes on while
//! the store's stands still, and a case takes long on a busy machine.

use widerow::{Commit, Error, Store, Timestamp, store::VerifyOptions};

use crate::{
    cases,
    tables::{Coupon, CouponByOwner, Hold, HoldByPlace, Notice, Session, SessionByDevice},
    world::{Target, World, Worlds},
};

cases!(
    rows_end_at_their_instant,
    pages_stay_full_when_rows_have_ended,
    an_ended_row_is_absent_for_guards,
    space_is_reclaimed,
    rows_end_by_their_column,
    a_derived_row_ends_with_its_base_or_before,
    an_end_that_moves_takes_derived_rows_along,
    an_end_that_is_past_is_never_seen,
    space_of_rows_that_ended_by_a_column_is_reclaimed,
    ends_that_are_no_more_do_not_stop_the_reclaiming,
);

fn session(number: i32) -> Session {
    Session { person: "ann".into(), number, device: "phone".into() }
}

async fn rows_end_at_their_instant(target: &Target) {
    let world = target.world();
    let store = &world.store;
    store.commit(Commit::new().put(&session(1)).put_for(&session(2), 1_000)).await.unwrap();
    let numbers = async || {
        let base = store.slice::<Session>("ann".into()).page().await.unwrap().rows;
        let derived = store.slice::<SessionByDevice>("phone".into()).page().await.unwrap().rows;
        let base: Vec<i32> = base.iter().map(|r| r.number).collect();
        assert_eq!(base, derived.iter().map(|r| r.number).collect::<Vec<_>>(), "derived rows end with their base");
        base
    };
    assert_eq!(numbers().await, [1, 2]);
    world.clock.advance_millis(999_999);
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
    let claim = Commit::new().absent::<Session>(key()).put_for(&session(1), 300);
    store.commit(claim.clone()).await.unwrap();
    assert!(matches!(store.commit(claim.clone()).await, Err(Error::Conflict(_))));
    world.clock.advance_millis(300_000);
    let touch = Commit::new().present::<Session>(key()).put(&session(1));
    assert!(matches!(store.commit(touch).await, Err(Error::Conflict(_))));
    store.commit(claim).await.unwrap();
}

async fn space_is_reclaimed(target: &Target) {
    let world = target.empty_world();
    for number in 0..20 {
        let commit = Commit::new().put_for(&session(number), if number < 15 { 10 } else { 1_000 });
        world.store.commit(commit).await.unwrap();
    }
    // One of them is written again in the meantime: its first end must not take it.
    world.store.commit(Commit::new().put_for(&session(0), 1000)).await.unwrap();
    world.clock.advance_millis(11_000);
    let reclaimed = world.database.reclaim(1000).await.unwrap();
    if target.name == "embedded" {
        assert_eq!(reclaimed.rows, 2 * 14, "rows and their derived rows");
        assert_eq!(world.database.reclaim(1000).await.unwrap().rows, 0);
    }
    let rows = world.store.slice::<Session>("ann".into()).page().await.unwrap().rows;
    assert_eq!(rows.len(), 6);
}

fn hold(number: i32, until: Option<Timestamp>, shown: Option<Timestamp>) -> Hold {
    Hold { item: "lamp".into(), number, until, shown, place: "hall".into() }
}

/// The numbers of the holds, and of those that are listed by place.
async fn holds(store: &Store) -> (Vec<i32>, Vec<i32>) {
    let base = store.slice::<Hold>("lamp".into()).page().await.unwrap().rows;
    let derived = store.slice::<HoldByPlace>("hall".into()).page().await.unwrap().rows;
    (base.iter().map(|r| r.number).collect(), derived.iter().map(|r| r.number).collect())
}

async fn nothing_drifted(world: &World) {
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}

async fn rows_end_by_their_column(target: &Target) {
    let world = target.empty_world();
    let store = &world.store;
    let at = |millis: i64| Timestamp::from_millis(world.clock_now().millis() + millis);
    let coupon = |code: &str, until| Coupon { code: code.into(), until, owner: "ann".into() };
    let notice = |until| Notice { owner: "ann".into(), until, text: "soon".into() };
    let (short, long, far) = (at(600_500), at(6_000_000), at(i64::from(u32::MAX) * 1000));
    let commit = Commit::new().put(&hold(1, Some(short), None)).put(&hold(2, Some(long), None));
    let commit =
        commit.put(&hold(3, None, None)).put(&hold(4, Some(far), None)).put(&hold(5, Some(Timestamp::MAX), None));
    store.commit(commit).await.unwrap();
    for (code, until) in [("a", short), ("b", long), ("c", far)] {
        store.commit(Commit::new().put(&coupon(code, until)).put(&notice(until))).await.unwrap();
    }
    let seen = async || {
        let (base, derived) = holds(store).await;
        assert_eq!(base, derived, "derived rows end with their base");
        let codes = store.get_many::<Coupon>(["a", "b", "c"].map(String::from)).await.unwrap();
        let coupons = codes.iter().flatten().count();
        assert_eq!(store.slice::<CouponByOwner>("ann".into()).page().await.unwrap().rows.len(), coupons);
        assert_eq!(store.slice::<Notice>("ann".into()).page().await.unwrap().rows.len(), coupons);
        nothing_drifted(&world).await;
        (base, coupons)
    };
    assert_eq!(seen().await, (vec![1, 2, 3, 4, 5], 3));
    world.clock.advance_millis(600_499);
    assert_eq!(seen().await, (vec![1, 2, 3, 4, 5], 3));
    world.clock.advance_millis(1);
    assert_eq!(seen().await, (vec![2, 3, 4, 5], 2));
    world.clock.advance_millis(5_399_500);
    assert_eq!(seen().await, (vec![3, 4, 5], 1));
    // An ended row is absent: the coupon's code is free.
    let fresh = coupon("a", at(1_000_000));
    store.commit(Commit::new().absent::<Coupon>("a".into()).put(&fresh).put(&notice(fresh.until))).await.unwrap();
    assert_eq!(seen().await, (vec![3, 4, 5], 2));
    let error = store.commit(Commit::new().put_for(&fresh, 10)).await.unwrap_err();
    assert_eq!(error.to_string(), "coupons ttl: a row ends by its column until, not after a time");
}

async fn a_derived_row_ends_with_its_base_or_before(target: &Target) {
    let engine = target.empty_engine();
    for always_outbox in [false, true] {
        let world = target.world_on(engine.clone(), always_outbox);
        let store = &world.store;
        let at = |seconds: i64| Some(world.clock_now().plus_seconds(seconds));
        let rows = [
            hold(1, at(100), at(200)),
            hold(2, at(200), at(100)),
            hold(3, None, at(100)),
            hold(4, at(100), None),
            hold(5, None, None),
        ];
        store.commit(rows.iter().fold(Commit::new(), |c, row| c.put(row))).await.unwrap();
        assert_eq!(holds(store).await, (vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 5]));
        nothing_drifted(&world).await;
        world.clock.advance_millis(100_000);
        assert_eq!(holds(store).await, (vec![2, 3, 5], vec![5]));
        nothing_drifted(&world).await;
        // Written again, with a later end, it is listed again.
        store.commit(Commit::new().put(&hold(2, at(50), at(60))).put(&hold(3, None, None))).await.unwrap();
        assert_eq!(holds(store).await, (vec![2, 3, 5], vec![2, 3, 5]));
        world.clock.advance_millis(50_000);
        assert_eq!(holds(store).await, (vec![3, 5], vec![3, 5]));
        nothing_drifted(&world).await;
    }
}

/// The derived row's own cells are as they were; only its base ends at another time.
async fn an_end_that_moves_takes_derived_rows_along(target: &Target) {
    let world = target.empty_world();
    let store = &world.store;
    let at = |seconds: i64| Some(world.clock_now().plus_seconds(seconds));
    for (first, then) in [(at(100), at(1000)), (at(1000), at(100)), (at(100), None), (None, at(100))] {
        store.commit(Commit::new().delete_partition::<Hold>("lamp".into())).await.unwrap();
        store.commit(Commit::new().put(&hold(1, first, at(500)))).await.unwrap();
        store.commit(Commit::new().put(&hold(1, then, at(500)))).await.unwrap();
        let now = world.clock_now();
        assert_eq!(holds(store).await, (vec![1], vec![1]));
        world.clock.advance_millis(100_000);
        let lives = then.is_none_or(|end| end > now.plus_seconds(100));
        let expected = if lives { vec![1] } else { vec![] };
        assert_eq!(holds(store).await, (expected.clone(), expected));
        nothing_drifted(&world).await;
        world.clock.advance_millis(-100_000);
    }
    // A row that is put as it was needs no second write of what is derived from it.
    let row = hold(1, at(1000), at(500));
    store.commit(Commit::new().put(&row)).await.unwrap();
    let (again, cost) = widerow::meter::measure(store.commit(Commit::new().put(&row))).await;
    again.unwrap();
    assert!(cost.rows_written <= 2, "{cost:?}: the row, and on DynamoDB the bookkeeping");
}

async fn an_end_that_is_past_is_never_seen(target: &Target) {
    let engine = target.empty_engine();
    for always_outbox in [false, true] {
        let world = target.world_on(engine.clone(), always_outbox);
        let store = &world.store;
        let at = |seconds: i64| Some(world.clock_now().plus_seconds(seconds));
        let ended = [at(0), at(-1), at(-86_400 * 365 * 30), Some(Timestamp::from_millis(0)), Some(Timestamp::MIN)];
        for (number, end) in (0..).zip(ended) {
            store.commit(Commit::new().put(&hold(number, end, None)).put(&hold(10 + number, None, end))).await.unwrap();
        }
        store
            .commit(Commit::new().put(&Notice { owner: "o".into(), until: at(-5).unwrap(), text: "past".into() }))
            .await
            .unwrap();
        assert_eq!(holds(store).await, (vec![10, 11, 12, 13, 14], vec![]));
        assert!(store.slice::<Notice>("o".into()).page().await.unwrap().rows.is_empty());
        store.commit(Commit::new().absent::<Hold>(("lamp".into(), 0)).put(&hold(0, None, None))).await.unwrap();
        assert_eq!(holds(store).await, (vec![0, 10, 11, 12, 13, 14], vec![0]));
        nothing_drifted(&world).await;
        // Over rows that live, an end that is past is an end.
        let commit = Commit::new().put(&hold(0, at(-1), None)).put(&hold(10, None, at(-1)));
        store.commit(commit).await.unwrap();
        assert_eq!(holds(store).await, (vec![10, 11, 12, 13, 14], vec![]));
        store.commit(Commit::new().put(&hold(20, None, None))).await.unwrap();
        store.commit(Commit::new().put(&hold(20, None, at(-1)))).await.unwrap();
        assert_eq!(holds(store).await, (vec![10, 11, 12, 13, 14, 20], vec![]));
        nothing_drifted(&world).await;
    }
}

/// Of a row that is written again and again there is an entry for each of its ends.
async fn ends_that_are_no_more_do_not_stop_the_reclaiming(target: &Target) {
    let world = target.empty_world();
    let at = |seconds: i64| Some(world.clock_now().plus_seconds(seconds));
    for n in 1..=25 {
        world.store.commit(Commit::new().put(&hold(1, at(n), None))).await.unwrap();
    }
    world.clock.advance_millis(100_000);
    let (mut rows, mut rounds) = (0, 0);
    loop {
        let reclaimed = world.database.reclaim(10).await.unwrap();
        rows += reclaimed.rows;
        rounds += 1;
        if !reclaimed.more {
            break;
        }
    }
    if target.name == "embedded" {
        assert!(rows > 0 && rounds > 2, "{rows} rows in {rounds} rounds");
        assert_eq!(world.database.reclaim(10).await.unwrap(), Default::default());
    }
    assert_eq!(holds(&world.store).await, (vec![], vec![]));
}

async fn space_of_rows_that_ended_by_a_column_is_reclaimed(target: &Target) {
    let world = target.empty_world();
    let at = |seconds: i64| Some(world.clock_now().plus_seconds(seconds));
    for number in 0..10 {
        let row = hold(number, if number < 4 { at(10) } else { at(100) }, at(10));
        world.store.commit(Commit::new().put(&row)).await.unwrap();
    }
    // One ends later than it was to, one earlier.
    world.store.commit(Commit::new().put(&hold(0, None, None)).put(&hold(9, at(10), None))).await.unwrap();
    world.clock.advance_millis(11_000);
    let reclaimed = world.database.reclaim(1000).await.unwrap();
    if target.name == "embedded" {
        assert_eq!(reclaimed.rows, 4 + 9, "rows and their derived rows");
        assert_eq!(world.database.reclaim(1000).await.unwrap().rows, 0);
    }
    assert_eq!(holds(&world.store).await, (vec![0, 4, 5, 6, 7, 8], vec![0]));
    nothing_drifted(&world).await;
}
