//! Which shop, and who: keys, cookies, headers, host names; and what another site's page cannot do.

use std::collections::BTreeSet;

use merkato::{
    accounts::Role,
    keys::{self, NewKey, Scope},
};
use serde_json::json;
use widerow_testing::{Target, cases};

use crate::world::{World, assert_ok, assert_problem};

cases![
    the_shop_is_told_by_header_or_host,
    a_key_has_its_own_shop,
    a_key_is_nobody_s_person,
    a_cookie_changes_nothing_from_another_site,
    another_site_s_page_reads_nothing_unless_it_is_named,
    two_cookies_of_a_name_are_none,
];

async fn the_shop_is_told_by_header_or_host(target: &Target) {
    let world = World::new(target).await;
    world.category(&world.ctx, "Lamps").await;
    world.category(&world.other, "Chairs").await;
    let other = world.other.store.tenant().as_str().to_owned();
    let by_host = world.bare("GET", "/v1/categories").header("host", format!("{}.EXAMPLE:8080", other));
    assert_eq!(assert_ok(by_host.send().await.unwrap()).await["data"][0]["name"], "Chairs");
    let both = world.get("/v1/categories").header("host", format!("{other}.example"));
    assert_eq!(assert_ok(both.send().await.unwrap()).await["data"][0]["name"], "Lamps");
    // There is no shop named `default` here.
    assert_problem(world.bare("GET", "/v1/categories").send().await.unwrap(), 404, "unknown_tenant").await;
    for unknown in ["nobody", "_system", "../x", "none"] {
        let answer = world.bare("GET", "/v1/categories").header("merkato-tenant", unknown).send().await.unwrap();
        assert_problem(answer, 404, "unknown_tenant").await;
    }
    let twice = world.get("/v1/categories").header("merkato-tenant", other).send().await.unwrap();
    assert_problem(twice, 400, "bad_header").await;
}

async fn key(ctx: &merkato::Context) -> String {
    let new = NewKey {
        name: "a program".into(),
        scopes: BTreeSet::from([Scope::CatalogRead]),
        created_by: "a test".into(),
        expires_at: None,
    };
    keys::create(ctx, new).await.expect("a key").token.as_str().to_owned()
}

async fn a_key_has_its_own_shop(target: &Target) {
    let world = World::new(target).await;
    world.category(&world.other, "Chairs").await;
    let token = key(&world.other).await;
    let own = world.bare("GET", "/v1/categories").bearer_auth(&token).send().await.unwrap();
    assert_eq!(assert_ok(own).await["data"][0]["name"], "Chairs");
    assert_problem(world.get("/v1/categories").bearer_auth(&token).send().await.unwrap(), 403, "tenant_mismatch").await;
    let mut wrong = token.clone();
    wrong.pop();
    wrong.push(if token.ends_with('0') { '1' } else { '0' });
    let unknown = token.replace(world.other.store.tenant().as_str(), "nowhere");
    for bad in [wrong.as_str(), unknown.as_str(), "mk_x", "mk_"] {
        let answer = world.bare("GET", "/v1/categories").bearer_auth(bad).send().await.unwrap();
        assert_problem(answer, 401, "not_logged_in").await;
    }
    let basic = world.get("/v1/categories").basic_auth("ada", Some("x")).send().await.unwrap();
    assert_problem(basic, 401, "not_logged_in").await;
}

async fn a_key_is_nobody_s_person(target: &Target) {
    let world = World::new(target).await;
    let token = key(&world.ctx).await;
    assert_problem(world.get("/v1/me").bearer_auth(&token).send().await.unwrap(), 403, "forbidden").await;
}

async fn a_cookie_changes_nothing_from_another_site(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let patch = || {
        let request = world.request("PATCH", "/v1/me").header("cookie", format!("a=b; merkato_session={token}"));
        request.json(&json!({"first_name": "Ada"}))
    };
    assert_problem(patch().send().await.unwrap(), 403, "csrf").await;
    let own = format!("http://{}", world.address);
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", &own.replace("127.0.0.1", "127.0.0.1.evil.example")),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("merkato-csrf", "0123"),
    ] {
        assert_problem(patch().header(name, value).send().await.unwrap(), 403, "csrf").await;
    }
    assert_ok(patch().header("origin", &own).send().await.unwrap()).await;
    assert_ok(patch().header("sec-fetch-site", "same-origin").send().await.unwrap()).await;
    // Reading needs nothing, and who shows the token in a header is no browser that was led astray.
    let read = world.get("/v1/me").header("cookie", format!("merkato_session={token}")).send().await.unwrap();
    assert_ok(read).await;
    let bearer = world.request("PATCH", "/v1/me").bearer_auth(&token).json(&json!({"first_name": "Ada"}));
    assert_ok(bearer.header("origin", "https://evil.example").send().await.unwrap()).await;
}

async fn another_site_s_page_reads_nothing_unless_it_is_named(target: &Target) {
    let world = World::with(target, |settings| settings.cors_origins = vec!["https://shop.example".into()]).await;
    let named = world.get("/v1/categories").header("origin", "https://shop.example").send().await.unwrap();
    assert_eq!(named.headers()["access-control-allow-origin"], "https://shop.example");
    assert!(named.headers().get("access-control-allow-credentials").is_none());
    let other = world.get("/v1/categories").header("origin", "https://evil.example").send().await.unwrap();
    assert!(other.headers().get("access-control-allow-origin").is_none());
}

async fn two_cookies_of_a_name_are_none(target: &Target) {
    let world = World::new(target).await;
    let (own, planted) =
        (world.session(&world.ctx, Role::Customer).await, world.session(&world.ctx, Role::Customer).await);
    let cookie = format!("merkato_session={planted}; merkato_session={own}");
    assert_problem(world.get("/v1/me").header("cookie", cookie).send().await.unwrap(), 401, "not_logged_in").await;
}
