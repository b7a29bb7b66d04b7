//! A cursor is good for its own list and for no other.

use widerow_testing::{Target, cases};

use crate::world::{World, assert_ok, assert_problem};

cases![a_cursor_is_bound_to_shop_path_and_query, a_cursor_that_was_bent_is_refused];

async fn a_cursor_is_bound_to_shop_path_and_query(target: &Target) {
    let world = World::new(target).await;
    let (lamps, chairs) = (world.category(&world.ctx, "Lamps").await, world.category(&world.ctx, "Chairs").await);
    for i in 0..3 {
        world.product(&world.ctx, lamps, &format!("Lamp {i}"), 10_00).await;
        world.product(&world.ctx, chairs, &format!("Chair {i}"), 10_00).await;
    }
    let path = format!("/v1/categories/{lamps}/products");
    let page = assert_ok(world.get(&format!("{path}?sort=newest&limit=1")).send().await.unwrap()).await;
    let cursor = page["next_cursor"].as_str().expect("a cursor").to_owned();
    // The page's size may change on the way, and the order of parameters.
    for good in [format!("{path}?sort=newest&limit=2&cursor={cursor}"), format!("{path}?cursor={cursor}&sort=newest")] {
        assert_ok(world.get(&good).send().await.unwrap()).await;
    }
    let chairs = format!("/v1/categories/{chairs}/products");
    for bad in [
        format!("{path}?sort=popular&cursor={cursor}"),
        format!("{path}?cursor={cursor}"),
        format!("{chairs}?sort=newest&cursor={cursor}"),
        format!("/v1/categories?cursor={cursor}"),
    ] {
        assert_problem(world.get(&bad).send().await.unwrap(), 400, "bad_cursor").await;
    }
    let there = world.bare("GET", &format!("{path}?sort=newest&cursor={cursor}"));
    let there = there.header("merkato-tenant", world.other.store.tenant().as_str()).send().await.unwrap();
    assert_problem(there, 400, "bad_cursor").await;
}

async fn a_cursor_that_was_bent_is_refused(target: &Target) {
    let world = World::new(target).await;
    for i in 0..3 {
        world.category(&world.ctx, &format!("Lamps {i}")).await;
    }
    let page = assert_ok(world.get("/v1/categories?limit=1").send().await.unwrap()).await;
    let cursor = page["next_cursor"].as_str().expect("a cursor").to_owned();
    assert_ok(world.get(&format!("/v1/categories?limit=1&cursor={cursor}")).send().await.unwrap()).await;
    for i in [0, 5, cursor.len() / 2, cursor.len() - 2] {
        let mut bent = cursor.clone().into_bytes();
        bent[i] = if bent[i] == b'A' { b'B' } else { b'A' };
        let bent = String::from_utf8(bent).unwrap();
        let answer = world.get(&format!("/v1/categories?limit=1&cursor={bent}")).send().await.unwrap();
        assert_problem(answer, 400, "bad_cursor").await;
    }
    for bad in ["", "x", "%00", "!!!!", &"A".repeat(5_000)] {
        let answer = world.get(&format!("/v1/categories?limit=1&cursor={bad}")).send().await.unwrap();
        assert_problem(answer, 400, "bad_cursor").await;
    }
}
