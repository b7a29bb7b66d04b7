//! Of all who want an address, one gets it.

use futures::future::join_all;
use merkato::{
    accounts::{self, NewUser, Profile, Role, User, UserByEmail, UserStatus},
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
    who_registers_again_has_the_password_of_the_letter,
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
    let (mut registered, mut taken) = (Vec::new(), 0);
    for result in join_all(tasks).await {
        match result.unwrap() {
            Ok(one) => registered.push(one),
            // Somebody had claimed it that moment, and was not there yet.
            Err(accounts::Error::EmailTaken) => taken += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(registered.len() + taken, 200);
    let users = rows::<User>(&world).await;
    let [user] = users.as_slice() else { panic!("{} users", users.len()) };
    assert!(registered.iter().all(|one| one.user.user_id == user.user_id));
    let entry = accounts::find_by_email(&world.ctx, "ADA@EXAMPLE.COM").await.unwrap().unwrap();
    assert_eq!((entry.user_id, entry.email.as_str()), (user.user_id, "ada@example.com"));
    assert_eq!((entry.email_verified, entry.status), (false, UserStatus::Active));
    // One letter is good: that of the registration which is there.
    let mut good = 0;
    for one in &registered {
        let answer = code(accounts::verify_email(&world.ctx, one.letter.token.as_str()).await);
        assert_eq!(answer == "ok", one.user.password_hash == user.password_hash, "{answer}");
        good += usize::from(answer == "ok");
    }
    assert_eq!(good, 1);
}

/// A stranger who registers with somebody's address gets no account of theirs, when they register and verify it later.
async fn who_registers_again_has_the_password_of_the_letter(target: &Target) {
    let world = world(target);
    let (ctx, email) = (&world.ctx, "ada@example.com");
    let profile = Profile { last_name: Some("Mallory".into()), ..Profile::default() };
    let stranger = NewUser { password: "of the stranger".into(), profile, ..new_user(email) };
    let first = accounts::register(ctx, stranger).await.expect("registered");
    let reset = accounts::request_password_reset(ctx, email, "192.0.2.1").await.expect("asked").expect("a letter");
    let second = register(ctx, "ADA@example.com").await;
    assert_eq!(second.user.user_id, first.user.user_id);
    let names = (second.user.first_name.as_deref(), second.user.last_name.as_deref());
    assert_eq!((names, second.user.revision), ((Some("Ada"), None), 1));
    // Nothing that was sent before is good any more.
    assert_eq!(code(accounts::verify_email(ctx, first.letter.token.as_str()).await), "token_invalid");
    assert_eq!(code(accounts::reset_password(ctx, reset.token.as_str(), "another one").await), "token_invalid");
    let enter = async |password| code(accounts::log_in(ctx, email, password, &client("192.0.2.1")).await);
    assert_eq!(enter(PASSWORD).await, "email_not_verified");
    accounts::verify_email(ctx, second.letter.token.as_str()).await.expect("a good token");
    assert_eq!(enter("of the stranger").await, "wrong_credentials");
    assert_eq!(enter(PASSWORD).await, "ok");
    assert_eq!(rows::<User>(&world).await.len(), 1);
}

async fn who_has_used_an_account_loses_it_to_nobody_who_registers(target: &Target) {
    let mut settings = settings();
    settings.accounts.verified_email_needed = false;
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    verified(ctx, "verified@example.com").await;
    register(ctx, "used@example.com").await;
    log_in(ctx, "used@example.com").await;
    let suspended = register(ctx, "suspended@example.com").await.user;
    accounts::suspend(ctx, suspended.user_id).await.expect("suspended");
    let staff = register(ctx, "staff@example.com").await.user;
    accounts::set_role(ctx, staff.user_id, Role::Staff).await.expect("a role");
    let mut before = rows::<User>(&world).await;
    for name in ["verified", "used", "suspended", "staff"] {
        let stranger = NewUser { password: "of the stranger".into(), ..new_user(&format!("{name}@example.com")) };
        assert_eq!(code(accounts::register(ctx, stranger).await), "email_taken", "{name}");
    }
    let mut after = rows::<User>(&world).await;
    before.sort_by_key(|user| user.user_id);
    after.sort_by_key(|user| user.user_id);
    assert_eq!(before, after);
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
            (Ok(first), Ok(second)) if first.user.user_id == second.user.user_id => {}
            (Err(_), Ok(_) | Err(accounts::Error::EmailTaken)) => {}
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
