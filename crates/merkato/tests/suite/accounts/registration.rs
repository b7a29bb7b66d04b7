//! Of all who want an address, one gets it.

use futures::future::join_all;
use merkato::{
    accounts::{self, Again, NewUser, Profile, User, UserByEmail, UserStatus},
    claims::{self, Claim, ClaimKind, Claimed},
    id::UserId,
};
use widerow::{Commit, Error as DataError, meter::measure};
use widerow_testing::Target;

use super::{
    PASSWORD, at_every_step, client, code, dying, log_in, new_user, register, rows, settings, verified, world,
};
use crate::world::{World, patiently};

widerow_testing::cases![
    of_two_hundred_at_once_one_gets_the_address,
    where_two_register_who_reads_the_letter_chooses_the_password,
    who_has_used_an_account_loses_it_to_nobody_who_registers,
    a_claim_left_by_a_crash_passes_on_and_the_first_one_is_too_late,
    a_registration_that_dies_anywhere_blocks_the_address_for_a_moment_only,
    bad_input_names_the_fields_and_touches_nothing,
    a_token_verifies_once_though_two_use_it_at_once,
    a_token_ends_at_the_instant,
    a_new_letter_takes_the_place_of_the_one_before,
];

async fn of_two_hundred_at_once_one_gets_the_address(target: &Target) {
    let world = world(target);
    let spellings = ["ada@example.com", "ADA@example.com", "  Ada@Example.Com ", "aDa@eXaMpLe.cOm"];
    let tasks = (0..200).map(|i| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move {
            patiently(|| accounts::register(&ctx, new_user(spellings[i % 4])), |error| error.kind()).await
        })
    });
    let (mut winners, mut taken) = (Vec::new(), 0);
    for result in join_all(tasks).await {
        match result.unwrap() {
            Ok(registered) => winners.push(registered.user),
            Err(accounts::Error::EmailTaken) => taken += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((winners.len(), taken), (1, 199));
    assert_eq!(rows::<User>(&world).await, winners);
    let entry = accounts::find_by_email(&world.ctx, "ADA@EXAMPLE.COM").await.unwrap().unwrap();
    assert_eq!((entry.user_id, entry.email.as_str()), (winners[0].user_id, "ada@example.com"));
    assert_eq!((entry.email_verified, entry.status), (false, UserStatus::Active));
}

/// A stranger who registers with somebody's address, before them or after, has no account of theirs when they answer a letter.
async fn where_two_register_who_reads_the_letter_chooses_the_password(target: &Target) {
    let world = world(target);
    let (ctx, profile) = (&world.ctx, Profile { last_name: Some("Mallory".into()), ..Profile::default() });
    for (email, stranger_first) in [("before@example.com", true), ("after@example.com", false)] {
        let stranger = NewUser { password: "of the stranger".into(), profile: profile.clone(), ..new_user(email) };
        let both = if stranger_first { [stranger, new_user(email)] } else { [new_user(email), stranger] };
        let [first, second] = both;
        let first = accounts::register(ctx, first).await.expect("registered");
        let reset = accounts::request_password_reset(ctx, email, "192.0.2.1").await.expect("asked").expect("a letter");
        assert_eq!(code(accounts::register(ctx, second).await), "email_taken");
        let again = accounts::register_again(ctx, email, "192.0.2.1").await.expect("a letter");
        let Again::Choose(letter) = again else { panic!("{again:?}") };
        // Nothing that was sent before is good any more, and nothing that was chosen.
        assert_eq!(code(accounts::verify_email(ctx, first.letter.token.as_str()).await), "token_invalid");
        assert_eq!(code(accounts::reset_password(ctx, reset.token.as_str(), "another one").await), "token_invalid");
        let enter = async |password| code(accounts::log_in(ctx, email, password, &client("192.0.2.1")).await);
        for password in ["of the stranger", PASSWORD] {
            assert_eq!(enter(password).await, "wrong_credentials");
        }
        accounts::reset_password(ctx, letter.token.as_str(), "of who reads it").await.expect("a good token");
        assert_eq!(enter("of the stranger").await, "wrong_credentials");
        assert_eq!(enter("of who reads it").await, "ok");
        let user = accounts::get_user(ctx, first.user.user_id).await.expect("a user");
        assert_eq!((user.email_verified, user.last_name), (true, None));
        world.clock.advance_millis(3_600_000);
    }
    assert_eq!(rows::<User>(&world).await.len(), 2);
}

async fn who_has_used_an_account_loses_it_to_nobody_who_registers(target: &Target) {
    let mut settings = settings();
    settings.accounts.verified_email_needed = false;
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    verified(ctx, "verified@example.com").await;
    register(ctx, "used@example.com").await;
    log_in(ctx, "used@example.com").await;
    register(ctx, "new@example.com").await;
    let suspended = register(ctx, "suspended@example.com").await.user;
    accounts::suspend(ctx, suspended.user_id).await.expect("suspended");
    for name in ["verified", "used", "new", "suspended"] {
        let email = format!("{name}@example.com");
        let before = accounts::find_by_email(ctx, &email).await.expect("read").expect("a user");
        assert_eq!(code(accounts::register(ctx, new_user(&email)).await), "email_taken", "{name}");
        let again = accounts::register_again(ctx, &email, "192.0.2.1").await.expect("a letter");
        assert!(!matches!(again, Again::Choose(_)), "{name}: {again:?}");
        let after = accounts::find_by_email(ctx, &email).await.expect("read").expect("a user");
        assert_eq!(before.password_hash, after.password_hash, "{name}");
    }
}

async fn a_claim_left_by_a_crash_passes_on_and_the_first_one_is_too_late(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let (first, email) = (UserId(ctx.new_id()), "ada@example.com");
    let claimed = claims::claim::<User>(ctx, email, first.0).await.unwrap();
    assert_eq!(claimed, Claimed::Yours);
    assert_eq!(code(accounts::register(ctx, new_user(email)).await), "email_taken");
    world.clock.advance_millis(9_999);
    assert_eq!(code(accounts::register(ctx, new_user(email)).await), "email_taken");
    world.clock.advance_millis(1);
    let second = register(ctx, email).await.user;
    // The first one was only slow, and commits what it had begun.
    let late = User { user_id: first, ..second.clone() };
    let late = ctx.store.commit(Commit::new().unchanged::<User>(first, None).put(&late)).await;
    assert!(matches!(late, Err(DataError::Conflict(_))));
    assert_eq!(rows::<User>(&world).await, std::slice::from_ref(&second));
    assert_eq!(accounts::find_by_email(ctx, email).await.unwrap().unwrap().user_id, second.user_id);
}

async fn a_registration_that_dies_anywhere_blocks_the_address_for_a_moment_only(target: &Target) {
    let world = world(target);
    let engine = target.engine();
    at_every_step(async |steps| {
        let email = format!("ada{steps}@example.com");
        let (ctx, faulty) = dying(&world, &engine, steps);
        let first = accounts::register(&ctx, new_user(&email)).await;
        world.clock.advance_millis(10_000);
        let second = accounts::register(&world.ctx, new_user(&email)).await;
        match (&first, &second) {
            (Err(_), Ok(_)) | (_, Err(accounts::Error::EmailTaken)) => {}
            other => panic!("after {steps} steps: {other:?}"),
        }
        // One user has it, and is found by it once its commit is settled.
        let claim = world.ctx.store.get::<Claim>((ClaimKind::Email, email.clone())).await.unwrap().unwrap();
        accounts::set_role(&world.ctx, UserId(claim.owner), accounts::Role::Customer).await.unwrap();
        let entry = accounts::find_by_email(&world.ctx, &email).await.unwrap().unwrap();
        assert_eq!(entry.user_id.0, claim.owner);
        faulty.has_stopped()
    })
    .await;
    let users = rows::<User>(&world).await;
    assert_eq!(users.len(), rows::<UserByEmail>(&world).await.len());
}

async fn bad_input_names_the_fields_and_touches_nothing(target: &Target) {
    let world = world(target);
    let profile = Profile {
        first_name: Some(String::new()),
        last_name: Some("a\u{7}".into()),
        phone: Some("1".repeat(41)),
        avatar_url: Some("javascript:alert(1)".into()),
    };
    let bad = NewUser { email: "nobody".into(), password: "short".into(), profile };
    let (refused, cost) = measure(accounts::register(&world.ctx, bad)).await;
    let Err(accounts::Error::Invalid(invalid)) = refused else { panic!("{refused:?}") };
    let fields: Vec<&str> = invalid.fields.iter().map(|bad| bad.field.as_str()).collect();
    assert_eq!(fields, ["email", "password", "first_name", "last_name", "phone", "avatar_url"]);
    assert_eq!(cost, Default::default());
    let same = NewUser { email: "Ada@Example.com".into(), password: "ada@example.com".into(), ..NewUser::default() };
    assert_eq!(code(accounts::register(&world.ctx, same).await), "invalid");
    assert_eq!(rows::<User>(&world).await, []);
    assert_eq!(rows::<Claim>(&world).await, []);
}

async fn a_token_verifies_once_though_two_use_it_at_once(target: &Target) {
    let world = world(target);
    for i in 0..5 {
        let letter = register(&world.ctx, &format!("ada{i}@example.com")).await.letter;
        let uses = (0..4).map(|_| {
            let (ctx, token) = (world.ctx.clone(), letter.token.clone());
            tokio::spawn(async move { code(accounts::verify_email(&ctx, token.as_str()).await) })
        });
        let mut answers: Vec<&str> = join_all(uses).await.into_iter().map(Result::unwrap).collect();
        answers.sort_unstable();
        assert_eq!(answers, ["ok", "token_invalid", "token_invalid", "token_invalid"]);
        assert!(accounts::get_user(&world.ctx, letter.user_id).await.unwrap().email_verified);
        assert!(accounts::find_by_email(&world.ctx, &letter.email).await.unwrap().unwrap().email_verified);
    }
}

async fn a_token_ends_at_the_instant(target: &Target) {
    let world = world(target);
    let early = register(&world.ctx, "early@example.com").await.letter;
    let late = register(&world.ctx, "late@example.com").await.letter;
    world.clock.advance_millis(world.ctx.settings.accounts.verify_token_seconds * 1_000 - 1);
    assert_eq!(code(accounts::verify_email(&world.ctx, early.token.as_str()).await), "ok");
    world.clock.advance_millis(1);
    assert_eq!(code(accounts::verify_email(&world.ctx, late.token.as_str()).await), "token_invalid");
    let another = accounts::request_verification(&world.ctx, "LATE@example.com", "192.0.2.1").await.unwrap().unwrap();
    assert_eq!((another.user_id, another.email.as_str()), (late.user_id, "late@example.com"));
    assert_eq!(code(accounts::verify_email(&world.ctx, another.token.as_str()).await), "ok");
}

async fn a_new_letter_takes_the_place_of_the_one_before(target: &Target) {
    let world = world(target);
    let first = register(&world.ctx, "ada@example.com").await.letter;
    let second = accounts::request_verification(&world.ctx, "ada@example.com", "192.0.2.1").await.unwrap().unwrap();
    assert_eq!(code(accounts::verify_email(&world.ctx, first.token.as_str()).await), "token_invalid");
    assert_eq!(code(accounts::verify_email(&world.ctx, second.token.as_str()).await), "ok");
    verified(&world.ctx, "bob@example.com").await;
    for nobody in ["bob@example.com", "nobody@example.com"] {
        assert!(accounts::request_verification(&world.ctx, nobody, "192.0.2.1").await.unwrap().is_none());
    }
    // Another user's secret, and no secret at all.
    let carol = register(&world.ctx, "carol@example.com").await.letter;
    let secret = carol.token.as_str().split_once('.').unwrap().1;
    let mixed = format!("{}.{secret}", second.user_id.0.simple());
    for token in [mixed.as_str(), secret, "", PASSWORD] {
        assert_eq!(code(accounts::verify_email(&world.ctx, token).await), "token_invalid");
    }
    // What fills a mailbox must wait, whether it is anyone's or not.
    for email in ["carol@example.com", "nobody@example.com"] {
        let asked = async || accounts::request_verification(&world.ctx, email, "192.0.2.1").await;
        let free = if email.starts_with("nobody") { 4 } else { 5 };
        for _ in 0..free {
            assert!(asked().await.is_ok());
        }
        assert!(matches!(asked().await, Err(accounts::Error::TooManyAttempts { wait_seconds: 1 })));
    }
}
