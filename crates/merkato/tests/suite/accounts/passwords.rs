//! A password is changed by who knows it, or reset by who reads the letters; either ends all sessions.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::join_all;
use merkato::accounts::{self, TokenPurpose, UserSession};
use widerow_testing::Target;

use super::{PASSWORD, at_every_step, client, code, dying, log_in, register, rows, verified, world};

const NEW: &str = "battery staple";

widerow_testing::cases![
    a_change_needs_the_present_password_and_ends_all_sessions,
    a_change_that_dies_anywhere_leaves_the_old_or_the_new_whole,
    a_login_during_a_change_leaves_no_session_of_the_old_password,
    a_reset_works_once_and_ends_all_sessions,
    a_reset_of_who_is_unknown_or_writes_nonsense_is_refused,
    a_password_is_asked_again_under_the_same_limits,
];

async fn a_change_needs_the_present_password_and_ends_all_sessions(target: &Target) {
    let world = world(target);
    let user = verified(&world.ctx, "ada@example.com").await;
    let sessions = [log_in(&world.ctx, "ada@example.com").await, log_in(&world.ctx, "ada@example.com").await];
    let from = client("192.0.2.1");
    let change =
        async |old: &str, new: &str| accounts::change_password(&world.ctx, user.user_id, old, new, &from).await;
    assert_eq!(code(change("wrong horse", NEW).await), "wrong_credentials");
    assert_eq!(code(change(PASSWORD, "short").await), "invalid");
    assert_eq!(code(change(PASSWORD, "ADA@example.com").await), "invalid");
    for session in &sessions {
        accounts::authenticate(&world.ctx, session.token.as_str()).await.unwrap();
    }
    let fresh = change(PASSWORD, NEW).await.unwrap();
    for session in &sessions {
        assert_eq!(code(accounts::authenticate(&world.ctx, session.token.as_str()).await), "not_logged_in");
    }
    assert_eq!(accounts::authenticate(&world.ctx, fresh.token.as_str()).await.unwrap(), fresh.actor);
    let left = rows::<UserSession>(&world).await;
    assert_eq!(left.iter().map(|row| row.session_id).collect::<Vec<_>>(), [fresh.actor.session_id]);
    assert_eq!(code(accounts::log_in(&world.ctx, "ada@example.com", PASSWORD, &from).await), "wrong_credentials");
    assert_eq!(code(accounts::log_in(&world.ctx, "ada@example.com", NEW, &from).await), "ok");
}

async fn a_change_that_dies_anywhere_leaves_the_old_or_the_new_whole(target: &Target) {
    let world = world(target);
    let engine = target.engine();
    let outcomes = [AtomicU64::new(0), AtomicU64::new(0)];
    at_every_step(async |steps| {
        let (email, from) = (format!("ada{steps}@example.com"), client(&format!("10.0.0.{steps}")));
        let user = verified(&world.ctx, &email).await;
        let session = accounts::log_in(&world.ctx, &email, PASSWORD, &from).await.unwrap();
        let (ctx, faulty) = dying(&world, &engine, steps);
        let result = accounts::change_password(&ctx, user.user_id, PASSWORD, NEW, &from).await;
        let row = accounts::get_user(&world.ctx, user.user_id).await.unwrap();
        let changed = row.password_hash != user.password_hash;
        assert!(changed || result.is_err());
        let alive = accounts::authenticate(&world.ctx, session.token.as_str()).await.is_ok();
        assert_eq!(alive, !changed, "after {steps} steps");
        let (right, wrong) = if changed { (NEW, PASSWORD) } else { (PASSWORD, NEW) };
        assert_eq!(code(accounts::log_in(&world.ctx, &email, wrong, &from).await), "wrong_credentials");
        assert_eq!(code(accounts::log_in(&world.ctx, &email, right, &from).await), "ok");
        outcomes[usize::from(changed)].fetch_add(1, Ordering::SeqCst);
        faulty.has_stopped()
    })
    .await;
    assert!(outcomes.iter().all(|many| many.load(Ordering::SeqCst) > 0), "{outcomes:?}");
}

async fn a_login_during_a_change_leaves_no_session_of_the_old_password(target: &Target) {
    let world = world(target);
    let user = verified(&world.ctx, "ada@example.com").await;
    let logins = (0..4).map(|i| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move {
            drop(accounts::log_in(&ctx, "ada@example.com", PASSWORD, &client(&format!("10.0.0.{i}"))).await);
        })
    });
    let logins = join_all(logins);
    let from = client("192.0.2.1");
    let change = accounts::change_password(&world.ctx, user.user_id, PASSWORD, NEW, &from);
    let (_, changed) = futures::join!(logins, change);
    let changed = changed.unwrap();
    for session in rows::<UserSession>(&world).await {
        assert_eq!(session.session_epoch, changed.user.session_epoch);
    }
    assert_eq!(accounts::list_sessions(&world.ctx, user.user_id).await.unwrap().len(), 1);
}

async fn a_reset_works_once_and_ends_all_sessions(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    // Whoever could read the letter has the address, verified before or not.
    let user = register(ctx, "ada@example.com").await.user;
    for _ in 0..5 {
        drop(accounts::log_in(ctx, "ada@example.com", "wrong horse", &client("192.0.2.9")).await);
    }
    let letter = accounts::request_password_reset(ctx, "Ada@example.com", "192.0.2.1").await.unwrap().unwrap();
    assert_eq!(code(accounts::reset_password(ctx, letter.token.as_str(), "short").await), "invalid");
    assert_eq!(code(accounts::reset_password(ctx, letter.token.as_str(), "Ada@Example.com").await), "invalid");
    let uses = (0..3).map(|_| {
        let (ctx, token) = (ctx.clone(), letter.token.clone());
        tokio::spawn(async move { code(accounts::reset_password(&ctx, token.as_str(), NEW).await) })
    });
    let mut answers: Vec<&str> = join_all(uses).await.into_iter().map(Result::unwrap).collect();
    answers.sort_unstable();
    assert_eq!(answers, ["ok", "token_invalid", "token_invalid"]);
    let entered = accounts::log_in(ctx, "ada@example.com", NEW, &client("192.0.2.1")).await.unwrap();
    assert!(entered.user.email_verified && entered.user.pending.is_empty());

    let change = accounts::request_email_change(ctx, user.user_id, "new@example.com", "192.0.2.1").await.unwrap();
    let letter = accounts::request_password_reset(ctx, "ada@example.com", "192.0.2.1").await.unwrap().unwrap();
    accounts::reset_password(ctx, letter.token.as_str(), PASSWORD).await.unwrap();
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    assert_eq!(rows::<UserSession>(&world).await, []);
    assert_eq!(code(accounts::confirm_email_change(ctx, change.token.as_str()).await), "token_invalid");

    let letter = accounts::request_password_reset(ctx, "ada@example.com", "192.0.2.1").await.unwrap().unwrap();
    world.clock.advance_millis(ctx.settings.accounts.reset_token_seconds * 1_000);
    assert_eq!(code(accounts::reset_password(ctx, letter.token.as_str(), NEW).await), "token_invalid");
}

async fn a_reset_of_who_is_unknown_or_writes_nonsense_is_refused(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    assert!(accounts::request_password_reset(ctx, "nobody@example.com", "192.0.2.1").await.unwrap().is_none());
    assert_eq!(code(accounts::request_password_reset(ctx, "nobody", "192.0.2.1").await), "invalid");
    assert_eq!(code(accounts::reset_password(ctx, "nonsense", NEW).await), "token_invalid");
    let nobody = format!("{}.{}", ctx.new_id().simple(), "a".repeat(64));
    assert_eq!(code(accounts::reset_password(ctx, &nobody, NEW).await), "token_invalid");
    // A token is for its purpose alone.
    let registered = register(ctx, "ada@example.com").await;
    assert!(registered.user.pending.contains_key(&TokenPurpose::VerifyEmail));
    let token = registered.letter.token;
    assert_eq!(code(accounts::reset_password(ctx, token.as_str(), NEW).await), "token_invalid");
    assert_eq!(code(accounts::confirm_email_change(ctx, token.as_str()).await), "token_invalid");
    assert_eq!(code(accounts::verify_email(ctx, token.as_str()).await), "ok");
}

async fn a_password_is_asked_again_under_the_same_limits(target: &Target) {
    let world = world(target);
    let user = verified(&world.ctx, "ada@example.com").await;
    let ask = async |password: &str| code(accounts::confirm_password(&world.ctx, user.user_id, password, "a").await);
    assert_eq!(ask(PASSWORD).await, "ok");
    for _ in 0..5 {
        assert_eq!(ask("wrong horse").await, "wrong_credentials");
    }
    assert_eq!(ask(PASSWORD).await, "too_many_attempts");
    let elsewhere = accounts::log_in(&world.ctx, "ada@example.com", PASSWORD, &client("b")).await;
    assert_eq!(code(elsewhere), "too_many_attempts");
}
