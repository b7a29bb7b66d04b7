//! Keys of programs, on every engine.

use std::collections::BTreeSet;

use futures::future::join_all;
use merkato::{
    Context, Kind, PageRequest, Settings,
    keys::{self, ApiKey, Created, KeyEntry, NewKey, PATTERNS, Scope, Token},
    limits,
};
use widerow::{Row, meter::measure, store::VerifyOptions};
use widerow_testing::{Target, cases};

use crate::world::{World, raw_rows};

cases![
    a_token_is_shown_once_and_found_in_one_read,
    a_token_that_is_wrong_is_nobodys,
    a_token_is_good_for_its_own_tenant_alone,
    a_key_ends_at_its_time,
    revoking_ends_a_key_at_once_and_for_good,
    a_use_is_noted_once_in_a_while,
    a_use_noted_late_does_not_bring_a_revoked_key_back,
    keys_are_listed_newest_first_without_their_secrets,
    there_are_so_many_keys_and_no_more,
    bad_input_makes_no_key,
];

fn named(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        scopes: BTreeSet::from([Scope::CatalogRead, Scope::OrdersWrite]),
        created_by: "cli".into(),
        expires_at: None,
    }
}

async fn create(ctx: &Context, name: &str) -> Created {
    keys::create(ctx, named(name)).await.expect("a key")
}

async fn find(ctx: &Context, token: &Token) -> Option<ApiKey> {
    keys::find(ctx, token).await.expect("read")
}

async fn list(ctx: &Context) -> Vec<KeyEntry> {
    keys::list(ctx, PageRequest::first(100)).await.expect("read").rows
}

async fn a_token_is_shown_once_and_found_in_one_read(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let created = create(ctx, "Till").await;
    let token = Token::parse(created.token.as_str()).expect("a token");
    let (found, cost) = measure(keys::find(ctx, &token)).await;
    let found = found.expect("read").expect("a key");
    assert_eq!(found, created.key);
    assert!(found.may(Scope::OrdersWrite) && !found.may(Scope::KeysWrite));
    assert!(PATTERNS[0].cost.admits(&cost, 1), "{cost}");
    assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{cost}");
    // The secret itself stands nowhere.
    let secret = created.token.as_str().rsplit('_').next().expect("a secret");
    for table in [ApiKey::table(), KeyEntry::table()] {
        let rows = raw_rows(&world, table).await;
        assert_eq!(rows.len(), 1);
        assert!(!format!("{rows:?}").contains(secret));
    }
}

async fn a_token_that_is_wrong_is_nobodys(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (one, two) = (create(ctx, "One").await, create(ctx, "Two").await);
    let (head, _) = one.token.as_str().rsplit_once('_').expect("parts");
    let (_, secret) = two.token.as_str().rsplit_once('_').expect("parts");
    let crossed = Token::parse(&format!("{head}_{secret}")).expect("well formed");
    assert_eq!(find(ctx, &crossed).await, None);
    let unknown = format!("mk_{}_{}_{secret}", ctx.store.tenant(), ctx.new_id().simple());
    assert_eq!(find(ctx, &Token::parse(&unknown).expect("well formed")).await, None);
}

async fn a_token_is_good_for_its_own_tenant_alone(target: &Target) {
    let (world, other) = (World::new(target), World::new(target));
    let created = create(&world.ctx, "Till").await;
    assert_eq!(created.token.tenant(), world.ctx.store.tenant().as_str());
    assert_eq!(find(&other.ctx, &created.token).await, None);
    // The same id and secret under the other's name.
    let own = world.ctx.store.tenant().as_str();
    let bent = created.token.as_str().replacen(own, other.ctx.store.tenant().as_str(), 1);
    let bent = Token::parse(&bent).expect("well formed");
    assert_eq!(find(&other.ctx, &bent).await, None);
    assert_eq!(find(&world.ctx, &bent).await, None);
    assert_eq!(list(&other.ctx).await, []);
    let revoked = keys::revoke(&other.ctx, created.key.key_id).await;
    assert_eq!(revoked.expect_err("another's").code(), "key_not_found");
    assert!(find(&world.ctx, &created.token).await.is_some());
}

async fn a_key_ends_at_its_time(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let ends = NewKey { expires_at: Some(ctx.now().plus_seconds(60)), ..named("Guest") };
    let created = keys::create(ctx, ends).await.expect("a key");
    world.clock.advance_millis(59_999);
    assert!(find(ctx, &created.token).await.is_some());
    world.clock.advance_millis(1);
    assert_eq!(find(ctx, &created.token).await, None);
    assert_eq!(list(ctx).await.len(), 1);
    world.clock.advance_millis(1_000 * (limits::KEY_MEMORY_SECONDS + 1));
    assert_eq!(list(ctx).await, []);
}

async fn revoking_ends_a_key_at_once_and_for_good(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (gone, kept) = (create(ctx, "Gone").await, create(ctx, "Kept").await);
    let revoked = keys::revoke(ctx, gone.key.key_id).await.expect("revoked");
    assert_eq!(revoked.revoked_at, Some(ctx.now()));
    assert_eq!(find(ctx, &gone.token).await, None);
    assert!(find(ctx, &kept.token).await.is_some());
    world.clock.advance_millis(5_000);
    assert_eq!(keys::revoke(ctx, gone.key.key_id).await.expect("again"), revoked);
    assert_eq!(keys::get_key(ctx, gone.key.key_id).await.expect("a key"), revoked);
    world.clock.advance_millis(1_000 * (limits::KEY_MEMORY_SECONDS + 1));
    assert_eq!(keys::revoke(ctx, gone.key.key_id).await.expect_err("forgotten").kind(), Kind::NotFound);
    assert_eq!(list(ctx).await.iter().map(|entry| entry.key_id).collect::<Vec<_>>(), [kept.key.key_id]);
    assert!(find(ctx, &kept.token).await.is_some());
}

async fn a_use_is_noted_once_in_a_while(target: &Target) {
    let mut settings = Settings::default();
    settings.keys.used_seconds = 60;
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    let ends = NewKey { expires_at: Some(ctx.now().plus_seconds(1_000)), ..named("Till") };
    let token = keys::create(ctx, ends).await.expect("a key").token;
    let key = find(ctx, &token).await.expect("a key");
    let first = ctx.now();
    // Of many at once one writes.
    let noted = join_all((0..8).map(|_| measure(keys::note_use(ctx, &key)))).await;
    assert_eq!(noted.iter().map(|(_, cost)| cost.conditional_writes).sum::<u64>(), 1);
    assert!(noted.iter().all(|(noted, _)| noted.is_ok()));
    world.clock.advance_millis(59_000);
    let key = find(ctx, &token).await.expect("a key");
    assert_eq!(key.last_used_at, Some(first));
    let (noted, cost) = measure(keys::note_use(ctx, &key)).await;
    noted.expect("nothing to do");
    assert_eq!(cost.round_trips, 0, "{cost}");
    world.clock.advance_millis(1_000);
    keys::note_use(ctx, &key).await.expect("noted");
    assert_eq!(list(ctx).await[0].last_used_at, Some(first.plus_seconds(60)));
    // The key ends when it did before.
    world.clock.advance_millis(940_000);
    assert_eq!(find(ctx, &token).await, None);
    world.clock.advance_millis(1_000 * (limits::KEY_MEMORY_SECONDS + 1));
    assert_eq!(list(ctx).await, []);
}

async fn a_use_noted_late_does_not_bring_a_revoked_key_back(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    for _ in 0..8 {
        let created = create(ctx, "Till").await;
        let (noted, revoked) = tokio::join!(keys::note_use(ctx, &created.key), keys::revoke(ctx, created.key.key_id));
        noted.expect("noted, or too late");
        revoked.expect("revoked");
        assert_eq!(find(ctx, &created.token).await, None);
        keys::note_use(ctx, &created.key).await.expect("too late");
        assert_eq!(find(ctx, &created.token).await, None);
    }
    let report = world.ctx.store.verify(VerifyOptions::default()).await.expect("verified");
    assert_eq!((report.differences, report.base_rows), (0, 8));
}

async fn keys_are_listed_newest_first_without_their_secrets(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for i in 0..7 {
        let _ = create(ctx, &format!("key {i}")).await;
        world.clock.advance_millis(10);
    }
    let mut names = Vec::new();
    let mut page = PageRequest::first(3);
    for rows in [3, 3, 1] {
        let (found, cost) = measure(keys::list(ctx, page.clone())).await;
        let found = found.expect("read");
        assert!(PATTERNS[1].cost.admits(&cost, rows), "{cost}");
        names.extend(found.rows.into_iter().map(|entry| entry.name));
        page.cursor = found.next;
    }
    assert_eq!(page.cursor, None);
    assert_eq!(names, ["key 6", "key 5", "key 4", "key 3", "key 2", "key 1", "key 0"]);
    let bad = keys::list(ctx, PageRequest::first(101)).await;
    assert_eq!(bad.expect_err("too many").kind(), Kind::Invalid);
}

async fn there_are_so_many_keys_and_no_more(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // As many as there may be are made by hand, as it takes long otherwise.
    let one = create(ctx, "First").await.key;
    let others: Vec<_> =
        (1..limits::KEYS_MAX).map(|_| ApiKey { key_id: merkato::id::KeyId(ctx.new_id()), ..one.clone() }).collect();
    for some in others.chunks(50) {
        let made = some.iter().map(|key| ctx.store.commit(widerow::Commit::new().put(key)));
        assert!(join_all(made).await.iter().all(Result::is_ok));
    }
    let refused = keys::create(ctx, named("One more")).await.expect_err("too many");
    assert_eq!((refused.code(), refused.kind()), ("too_many_keys", Kind::Limit));
    keys::revoke(ctx, one.key_id).await.expect("revoked");
    let _ = create(ctx, "One more").await;
}

async fn bad_input_makes_no_key(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let bad = NewKey { name: "<b>".into(), scopes: BTreeSet::new(), expires_at: Some(ctx.now()), ..named("") };
    let refused = keys::create(ctx, bad).await.expect_err("bad");
    let keys::Error::Invalid(invalid) = &refused else { panic!("{refused:?}") };
    let fields: Vec<_> = invalid.fields.iter().map(|bad| bad.field.as_str()).collect();
    assert_eq!((fields, refused.kind()), (vec!["name", "scopes", "expires_at"], Kind::Invalid));
    assert_eq!(list(ctx).await, []);
}
