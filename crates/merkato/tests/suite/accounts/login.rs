//! Who knows the password comes in; who does not learns nothing and must wait.

use futures::future::join_all;
use merkato::accounts::{self, LoginAttempts, UserStatus};
use widerow::meter::measure;
use widerow_testing::Target;

use super::{PASSWORD, beside, client, code, log_in, register, rows, settings, verified, world};
use crate::world::World;

widerow_testing::cases![
    a_wrong_password_and_an_unknown_address_look_the_same,
    what_keeps_someone_out_is_said_to_who_knows_the_password_only,
    a_login_is_noted,
    a_password_is_hashed_anew_when_the_parameters_have_changed,
    guesses_at_an_account_must_wait_longer_and_longer,
    of_guesses_side_by_side_no_more_get_through_than_in_a_row,
    an_unknown_address_must_wait_as_well,
    guesses_from_one_address_must_wait_whatever_the_account,
    right_passwords_are_not_counted,
];

async fn a_wrong_password_and_an_unknown_address_look_the_same(target: &Target) {
    let world = world(target);
    verified(&world.ctx, "ada@example.com").await;
    let client = client("192.0.2.1");
    let (wrong, wrong_cost) = measure(accounts::log_in(&world.ctx, "ada@example.com", "wrong horse", &client)).await;
    let (unknown, unknown_cost) =
        measure(accounts::log_in(&world.ctx, "bob@example.com", "wrong horse", &client)).await;
    let (wrong, unknown) = (wrong.unwrap_err(), unknown.unwrap_err());
    assert_eq!(wrong.code(), "wrong_credentials");
    assert_eq!((wrong.code(), wrong.kind(), wrong.to_string()), (unknown.code(), unknown.kind(), unknown.to_string()));
    assert_eq!(wrong_cost.conditional_writes, unknown_cost.conditional_writes);
    assert_eq!(wrong_cost.round_trips, unknown_cost.round_trips);
    // Nothing is written about a user who was not logged in to.
    assert_eq!(wrong_cost.rows_written, unknown_cost.rows_written);
    for bad in ["", "x", "a@b@c"] {
        let (refused, cost) = measure(accounts::log_in(&world.ctx, bad, PASSWORD, &client)).await;
        assert_eq!((code(refused), cost), ("invalid", Default::default()));
    }
}

async fn what_keeps_someone_out_is_said_to_who_knows_the_password_only(target: &Target) {
    let world = world(target);
    let from = client("192.0.2.1");
    let letter = register(&world.ctx, "ada@example.com").await.letter;
    let ask = async |password: &str| code(accounts::log_in(&world.ctx, "ada@example.com", password, &from).await);
    assert_eq!(ask("wrong horse").await, "wrong_credentials");
    assert_eq!(ask(PASSWORD).await, "email_not_verified");
    accounts::verify_email(&world.ctx, letter.token.as_str()).await.unwrap();
    assert_eq!(ask(PASSWORD).await, "ok");
    accounts::suspend(&world.ctx, letter.user_id).await.unwrap();
    assert_eq!(ask("wrong horse").await, "wrong_credentials");
    assert_eq!(ask(PASSWORD).await, "account_suspended");
    let entry = accounts::find_by_email(&world.ctx, "ada@example.com").await.unwrap().unwrap();
    assert_eq!(entry.status, UserStatus::Suspended);
    accounts::reinstate(&world.ctx, letter.user_id).await.unwrap();
    assert_eq!(ask(PASSWORD).await, "ok");
    // A shop that does not ask for it.
    let mut lax = settings();
    lax.accounts.verified_email_needed = false;
    let lax = beside(&world, target.engine(), lax);
    register(&lax, "bob@example.com").await;
    log_in(&lax, "bob@example.com").await;
}

async fn a_login_is_noted(target: &Target) {
    let world = world(target);
    let user = verified(&world.ctx, "ada@example.com").await;
    assert_eq!(user.last_login_at, None);
    world.clock.advance_millis(5_000);
    let entered = log_in(&world.ctx, " ADA@example.com").await;
    let user = accounts::get_user(&world.ctx, user.user_id).await.unwrap();
    assert_eq!(user.last_login_at, Some(widerow::time::Clock::now(&*world.clock)));
    assert_eq!(entered.user, user);
    assert_eq!(rows::<LoginAttempts>(&world).await, []);
}

async fn a_password_is_hashed_anew_when_the_parameters_have_changed(target: &Target) {
    let world = world(target);
    let before = verified(&world.ctx, "ada@example.com").await;
    let mut harder = settings();
    harder.accounts.passwords.passes = 2;
    let harder = beside(&world, target.engine(), harder);
    assert_eq!(
        code(accounts::log_in(&harder, "ada@example.com", "wrong horse", &client("a")).await),
        "wrong_credentials"
    );
    let hash = async || accounts::get_user(&world.ctx, before.user_id).await.unwrap().password_hash;
    assert_eq!(hash().await, before.password_hash);
    // All at once: each finds the hash that it verified gone, but for one.
    let logins = (0..5).map(|i| {
        let ctx = harder.clone();
        tokio::spawn(async move {
            code(accounts::log_in(&ctx, "ada@example.com", PASSWORD, &client(&format!("192.0.2.{i}"))).await)
        })
    });
    for answer in join_all(logins).await {
        assert!(["ok", "too_many_attempts"].contains(&answer.unwrap()));
    }
    let after = hash().await;
    assert_ne!(after, before.password_hash);
    let entry = accounts::find_by_email(&world.ctx, "ada@example.com").await.unwrap().unwrap();
    assert_eq!(entry.password_hash, after);
    world.clock.advance_millis(60_000);
    log_in(&harder, "ada@example.com").await;
    assert_eq!(hash().await, after);
}

async fn guesses_at_an_account_must_wait_longer_and_longer(target: &Target) {
    let world = world(target);
    verified(&world.ctx, "ada@example.com").await;
    let guess = async |password: &str, from: u32| {
        accounts::log_in(&world.ctx, "ada@example.com", password, &client(&format!("10.0.0.{from}"))).await
    };
    for i in 0..5 {
        assert_eq!(code(guess("wrong horse", i).await), "wrong_credentials");
    }
    for wait in [1, 2, 4] {
        for _ in 0..2 {
            let refused = guess(PASSWORD, 100).await.unwrap_err();
            assert!(
                matches!(refused, accounts::Error::TooManyAttempts { wait_seconds } if wait_seconds == wait),
                "{refused}"
            );
        }
        world.clock.advance_millis(wait * 1_000);
        assert_eq!(code(guess("wrong horse", 101).await), "wrong_credentials");
    }
    assert_eq!(accounts::find_attempts(&world.ctx, "Ada@example.com").await.unwrap().unwrap().attempts, 8);
    world.clock.advance_millis(8_000);
    assert_eq!(code(guess(PASSWORD, 102).await), "ok");
    assert_eq!(accounts::find_attempts(&world.ctx, "ada@example.com").await.unwrap(), None);
}

async fn of_guesses_side_by_side_no_more_get_through_than_in_a_row(target: &Target) {
    let world = world(target);
    verified(&world.ctx, "ada@example.com").await;
    let guesses = (0..40).map(|i| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move {
            let guess = format!("wrong horse {i}");
            code(accounts::log_in(&ctx, "ada@example.com", &guess, &client(&format!("10.0.0.{i}"))).await)
        })
    });
    let answers: Vec<&str> = join_all(guesses).await.into_iter().map(Result::unwrap).collect();
    let count = |what| answers.iter().filter(|answer| **answer == what).count();
    assert_eq!((count("wrong_credentials"), count("too_many_attempts")), (5, 35));
    // The right one has to wait as well.
    let right = accounts::log_in(&world.ctx, "ada@example.com", PASSWORD, &client("10.0.1.1")).await;
    assert_eq!(code(right), "too_many_attempts");
}

async fn an_unknown_address_must_wait_as_well(target: &Target) {
    let world = world(target);
    let mut answers = Vec::new();
    for i in 0..6 {
        let guess = accounts::log_in(&world.ctx, "nobody@example.com", PASSWORD, &client(&format!("10.0.0.{i}"))).await;
        answers.push(guess.unwrap_err().to_string());
    }
    assert_eq!(answers[4], "the e-mail address or the password is wrong");
    assert_eq!(answers[5], "too many attempts: try again in 1 s");
    // The table says neither whose account nor from where.
    for row in rows::<LoginAttempts>(&world).await {
        assert!(row.subject.len() == 64 && row.subject.bytes().all(|b| b.is_ascii_hexdigit()));
    }
}

async fn guesses_from_one_address_must_wait_whatever_the_account(target: &Target) {
    let mut few = settings();
    few.accounts.attempts.address_free = 4;
    let world = World::with(target, few);
    verified(&world.ctx, "ada@example.com").await;
    let guess = async |account: &str, password: &str, from: &str| {
        code(accounts::log_in(&world.ctx, account, password, &client(from)).await)
    };
    for i in 0..3 {
        assert_eq!(guess(&format!("u{i}@example.com"), PASSWORD, "2001:db8::1").await, "wrong_credentials");
    }
    // One's own account does not wipe out what was tried at others.
    assert_eq!(guess("ada@example.com", PASSWORD, "2001:db8::2").await, "ok");
    assert_eq!(guess("u4@example.com", PASSWORD, "2001:db8::3").await, "wrong_credentials");
    assert_eq!(guess("ada@example.com", PASSWORD, "2001:db8::4").await, "too_many_attempts");
    assert_eq!(guess("ada@example.com", PASSWORD, "2001:db8:0:1::1").await, "ok");
    // One who must wait does not make an account wait.
    assert_eq!(accounts::find_attempts(&world.ctx, "ada@example.com").await.unwrap(), None);
    world.clock.advance_millis(1_000);
    assert_eq!(guess("ada@example.com", PASSWORD, "2001:db8::4").await, "ok");
}

async fn right_passwords_are_not_counted(target: &Target) {
    let world = world(target);
    verified(&world.ctx, "ada@example.com").await;
    for _ in 0..7 {
        log_in(&world.ctx, "ada@example.com").await;
    }
    assert_eq!(rows::<LoginAttempts>(&world).await, []);
}
