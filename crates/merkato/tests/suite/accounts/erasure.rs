//! An erased person is in no table any more.

use std::collections::BTreeMap;

use futures::future::join_all;
use merkato::{
    accounts::{
        self, AddressInput, Client, LoginAttempts, NewUser, Profile, Session, User, UserByEmail, UserEntry,
        UserSession, UserStatus,
    },
    claims::Claim,
    id::UserId,
};
use widerow::Row;
use widerow_testing::Target;

use super::{PASSWORD, at_every_step, code, dying, log_in, raw_rows, verified, world};
use crate::world::World;

widerow_testing::cases![
    nothing_personal_is_left_in_any_table,
    an_erasure_that_dies_anywhere_is_finished_by_the_next,
    a_login_during_an_erasure_leaves_nothing,
    erasing_again_changes_nothing_and_the_address_is_free,
];

const MARK: &str = "zelda";

/// A user with something personal in every column and every table.
async fn zelda(world: &World, n: u64) -> UserId {
    let ctx = &world.ctx;
    let email = format!("{MARK}{n}@example.com");
    let text = |what: &str| Some(format!("{MARK} {what}"));
    let profile = Profile {
        first_name: text("first"),
        last_name: text("last"),
        phone: text("phone"),
        avatar_url: Some(format!("/{MARK}.png")),
    };
    let new = NewUser { email: email.clone(), password: PASSWORD.into(), profile };
    let registered = accounts::register(ctx, new).await.unwrap();
    let id = registered.user.user_id;
    accounts::verify_email(ctx, registered.letter.token.as_str()).await.unwrap();
    let address = AddressInput {
        label: text("label"),
        street: format!("{MARK} street"),
        street2: text("second"),
        city: format!("{MARK} city"),
        state: text("state"),
        postal_code: text("code"),
        country: "NL".into(),
        phone: text("phone"),
    };
    accounts::add_address(ctx, id, address, true).await.unwrap();
    accounts::set_preferences(ctx, id, BTreeMap::from([(MARK.to_owned(), MARK.to_owned())]), None).await.unwrap();
    let client = Client { address: format!("{MARK} {n}"), user_agent: text("agent") };
    drop(accounts::log_in(ctx, &email, PASSWORD, &client).await.unwrap());
    drop(accounts::log_in(ctx, &email, "wrong horse", &client).await);
    drop(accounts::request_password_reset(ctx, &email, &client.address).await.unwrap());
    // One change was asked for and, by a process that died, claimed; another took its place.
    drop(accounts::request_email_change(ctx, id, &format!("{MARK}-a{n}@example.com"), &client.address).await.unwrap());
    drop(accounts::request_email_change(ctx, id, &format!("{MARK}-b{n}@example.com"), &client.address).await.unwrap());
    id
}

/// Everything that accounts keep, as text.
async fn everything(world: &World) -> String {
    let mut text = String::new();
    let tables = [
        User::table(),
        UserByEmail::table(),
        UserEntry::table(),
        UserSession::table(),
        Session::table(),
        LoginAttempts::table(),
        Claim::table(),
    ];
    for table in tables {
        for values in raw_rows(world, table).await {
            text.push_str(&format!("{}: {values:?}\n", table.name));
        }
    }
    text.to_lowercase()
}

async fn nothing_personal_is_left_in_any_table(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let id = zelda(&world, 0).await;
    let before = accounts::get_user(ctx, id).await.unwrap();
    let full = everything(&world).await;
    for table in ["users:", "users_by_email:", "users_by_age:", "sessions_by_user:", "claims:"] {
        assert!(full.lines().any(|line| line.starts_with(table) && line.contains(MARK)), "{table}");
    }
    accounts::erase(ctx, id).await.unwrap();
    let text = everything(&world).await;
    assert!(!text.contains(MARK), "{text}");
    for table in ["users_by_email:", "users_by_age:", "sessions_by_user:", "sessions:", "claims:"] {
        assert!(!text.contains(table), "{text}");
    }
    // The account's attempts are gone. Those from the client's address, and the letter to the address that was given up
    // before, stay for a day, as numbers without a name.
    assert_eq!(text.lines().filter(|line| line.starts_with("login_attempts:")).count(), 2, "{text}");
    world.clock.advance_millis(86_400_000);
    assert!(!everything(&world).await.contains("login_attempts:"));
    let left = accounts::find_user(ctx, id).await.unwrap().unwrap();
    assert_eq!((left.status, left.created_at), (UserStatus::Deleted, before.created_at));
    assert_eq!((left.email, left.password_hash, left.last_login_at), (None, None, None));
    assert_eq!(code(accounts::get_user(ctx, id).await), "user_not_found");
}

async fn an_erasure_that_dies_anywhere_is_finished_by_the_next(target: &Target) {
    let world = world(target);
    let engine = target.engine();
    at_every_step(async |steps| {
        let id = zelda(&world, steps).await;
        let (ctx, faulty) = dying(&world, &engine, steps);
        let first = accounts::erase(&ctx, id).await;
        assert_eq!(first.is_ok(), !faulty.has_stopped(), "after {steps} steps: {first:?}");
        accounts::erase(&world.ctx, id).await.unwrap();
        faulty.has_stopped()
    })
    .await;
    let text = everything(&world).await;
    assert!(!text.contains(MARK), "{text}");
}

async fn a_login_during_an_erasure_leaves_nothing(target: &Target) {
    let world = world(target);
    for n in 0..4 {
        let id = zelda(&world, n).await;
        let email = format!("{MARK}{n}@example.com");
        let logins = (0..3).map(|i| {
            let (ctx, email) = (world.ctx.clone(), email.clone());
            tokio::spawn(async move {
                let client = Client { address: format!("{MARK} {i}"), user_agent: Some(MARK.into()) };
                drop(accounts::log_in(&ctx, &email, PASSWORD, &client).await);
                drop(accounts::request_password_reset(&ctx, &email, "192.0.2.1").await);
            })
        });
        let ctx = world.ctx.clone();
        let erase = tokio::spawn(async move { accounts::erase(&ctx, id).await.unwrap() });
        let (_, erased) = futures::join!(join_all(logins), erase);
        erased.unwrap();
        let text = everything(&world).await;
        assert!(!text.contains(MARK), "{text}");
        world.clock.advance_millis(3_600_000);
    }
}

async fn erasing_again_changes_nothing_and_the_address_is_free(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    let reset = accounts::request_password_reset(ctx, "ada@example.com", "192.0.2.1").await.unwrap().unwrap();
    accounts::erase(ctx, user.user_id).await.unwrap();
    let left = accounts::find_user(ctx, user.user_id).await.unwrap();
    accounts::erase(ctx, user.user_id).await.unwrap();
    assert_eq!(accounts::find_user(ctx, user.user_id).await.unwrap(), left);
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    assert_eq!(code(accounts::reset_password(ctx, reset.token.as_str(), PASSWORD).await), "token_invalid");
    let login = accounts::log_in(ctx, "ada@example.com", PASSWORD, &super::client("192.0.2.1")).await;
    assert_eq!(code(login), "wrong_credentials");
    for refused in [
        accounts::suspend(ctx, user.user_id).await,
        accounts::reinstate(ctx, user.user_id).await,
        accounts::update_profile(ctx, user.user_id, Profile::default(), None).await,
    ] {
        assert_eq!(code(refused), "user_not_found");
    }
    assert_eq!(
        code(accounts::request_email_change(ctx, user.user_id, "new@example.com", "192.0.2.1").await),
        "user_not_found"
    );
    assert_eq!(code(accounts::erase(ctx, UserId(ctx.new_id())).await), "user_not_found");
    let heir = verified(ctx, "ada@example.com").await;
    assert_ne!(heir.user_id, user.user_id);
    log_in(ctx, "ada@example.com").await;
}
