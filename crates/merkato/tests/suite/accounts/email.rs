//! An address changes hands, and is never in two.

use futures::future::join_all;
use merkato::{
    accounts::{self, User},
    claims::{Claim, ClaimKind},
};
use widerow_testing::Target;

use super::{at_every_step, client, code, dying, log_in, new_user, register, rows, verified, world};

widerow_testing::cases![
    an_address_changes_when_the_letter_is_answered_and_the_old_one_is_free_at_once,
    of_many_who_want_one_address_one_gets_it,
    a_token_changes_the_address_once,
    an_address_that_is_taken_stays_where_it_is,
    a_change_that_dies_anywhere_can_be_confirmed_again,
    addresses_go_round_without_getting_lost,
];

async fn an_address_changes_when_the_letter_is_answered_and_the_old_one_is_free_at_once(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    assert_eq!(
        code(accounts::request_email_change(ctx, user.user_id, " Ada@example.com", "192.0.2.1").await),
        "invalid"
    );
    assert_eq!(code(accounts::request_email_change(ctx, user.user_id, "nonsense", "192.0.2.1").await), "invalid");
    let dropped = accounts::request_email_change(ctx, user.user_id, "typo@example.com", "192.0.2.1").await.unwrap();
    let letter = accounts::request_email_change(ctx, user.user_id, "New@example.com", "192.0.2.1").await.unwrap();
    assert_eq!(letter.email, "new@example.com");
    assert_eq!(accounts::find_by_email(ctx, "new@example.com").await.unwrap(), None);
    log_in(ctx, "ada@example.com").await;
    let reset = accounts::request_password_reset(ctx, "ada@example.com", "192.0.2.1").await.unwrap().unwrap();

    let changed = accounts::confirm_email_change(ctx, letter.token.as_str()).await.unwrap();
    assert_eq!((changed.email.as_deref(), changed.email_verified), (Some("new@example.com"), true));
    log_in(ctx, "new@example.com").await;
    let old = accounts::log_in(ctx, "ada@example.com", super::PASSWORD, &client("192.0.2.1")).await;
    assert_eq!(code(old), "wrong_credentials");
    accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    for token in [letter.token, dropped.token] {
        assert_eq!(code(accounts::confirm_email_change(ctx, token.as_str()).await), "token_invalid");
    }
    // A letter that lies in the old mailbox opens nothing any more.
    assert_eq!(code(accounts::reset_password(ctx, reset.token.as_str(), "battery staple").await), "token_invalid");
    let heir = verified(ctx, "ada@example.com").await;
    assert_eq!(log_in(ctx, "ada@example.com").await.actor.user_id, heir.user_id);
    assert!(accounts::get_user(ctx, user.user_id).await.unwrap().former_emails.is_empty());

    let late = accounts::request_email_change(ctx, user.user_id, "later@example.com", "192.0.2.1").await.unwrap();
    world.clock.advance_millis(ctx.settings.accounts.email_change_token_seconds * 1_000);
    assert_eq!(code(accounts::confirm_email_change(ctx, late.token.as_str()).await), "token_invalid");
}

async fn of_many_who_want_one_address_one_gets_it(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let mut tokens = Vec::new();
    for i in 0..10 {
        let user = register(ctx, &format!("u{i}@example.com")).await.user;
        world.clock.advance_millis(60_000);
        let letter =
            accounts::request_email_change(ctx, user.user_id, "wanted@example.com", "192.0.2.1").await.unwrap();
        tokens.push(letter.token);
    }
    let changes = tokens.into_iter().map(|token| {
        let ctx = ctx.clone();
        tokio::spawn(async move { code(accounts::confirm_email_change(&ctx, token.as_str()).await) })
    });
    let registrations = (0..5).map(|_| {
        let ctx = ctx.clone();
        tokio::spawn(async move { code(accounts::register(&ctx, new_user("Wanted@example.com")).await) })
    });
    let answers = join_all(changes.chain(registrations)).await;
    let answers: Vec<&str> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| **answer == "ok").count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| **answer == "email_taken").count(), 14, "{answers:?}");
    let users = rows::<User>(&world).await;
    let owners: Vec<&User> = users.iter().filter(|u| u.email.as_deref() == Some("wanted@example.com")).collect();
    assert_eq!(owners.len(), 1);
    let entry = accounts::find_by_email(ctx, "wanted@example.com").await.unwrap().unwrap();
    assert_eq!(entry.user_id, owners[0].user_id);
}

async fn a_token_changes_the_address_once(target: &Target) {
    let world = world(target);
    let user = register(&world.ctx, "ada@example.com").await.user;
    let letter =
        accounts::request_email_change(&world.ctx, user.user_id, "new@example.com", "192.0.2.1").await.unwrap();
    let uses = (0..4).map(|_| {
        let (ctx, token) = (world.ctx.clone(), letter.token.clone());
        tokio::spawn(async move { code(accounts::confirm_email_change(&ctx, token.as_str()).await) })
    });
    let mut answers: Vec<&str> = join_all(uses).await.into_iter().map(Result::unwrap).collect();
    answers.sort_unstable();
    assert_eq!(answers, ["ok", "token_invalid", "token_invalid", "token_invalid"]);
    let claims = rows::<Claim>(&world).await;
    assert_eq!(claims.iter().map(|claim| claim.name.as_str()).collect::<Vec<_>>(), ["new@example.com"]);
}

async fn an_address_that_is_taken_stays_where_it_is(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let ada = register(ctx, "ada@example.com").await.user;
    let bob = register(ctx, "bob@example.com").await.user;
    world.clock.advance_millis(60_000);
    let letter = accounts::request_email_change(ctx, ada.user_id, "bob@example.com", "192.0.2.1").await.unwrap();
    assert_eq!(code(accounts::confirm_email_change(ctx, letter.token.as_str()).await), "email_taken");
    assert_eq!(accounts::find_by_email(ctx, "bob@example.com").await.unwrap().unwrap().user_id, bob.user_id);
    assert_eq!(accounts::find_by_email(ctx, "ada@example.com").await.unwrap().unwrap().user_id, ada.user_id);
    // It works as soon as it is free.
    accounts::erase(ctx, bob.user_id).await.unwrap();
    assert_eq!(code(accounts::confirm_email_change(ctx, letter.token.as_str()).await), "ok");
}

async fn a_change_that_dies_anywhere_can_be_confirmed_again(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let engine = target.engine();
    at_every_step(async |steps| {
        let (old, new) = (format!("old{steps}@example.com"), format!("new{steps}@example.com"));
        let user = register(ctx, &old).await.user;
        let letter = accounts::request_email_change(ctx, user.user_id, &new, &format!("10.0.0.{steps}")).await.unwrap();
        let (dies, faulty) = dying(&world, &engine, steps);
        let first = code(accounts::confirm_email_change(&dies, letter.token.as_str()).await);
        let second = code(accounts::confirm_email_change(ctx, letter.token.as_str()).await);
        assert!(matches!((first, second), (_, "ok") | ("ok" | "data", "token_invalid")), "{steps}: {first}, {second}");
        // The old one is free, at the latest after a moment; the new one is not.
        world.clock.advance_millis(10_000);
        assert_eq!(code(accounts::register(ctx, new_user(&new)).await), "email_taken");
        let heir = register(ctx, &old).await.user;
        assert_eq!(accounts::find_by_email(ctx, &old).await.unwrap().unwrap().user_id, heir.user_id);
        assert_eq!(accounts::find_by_email(ctx, &new).await.unwrap().unwrap().user_id, user.user_id);
        faulty.has_stopped()
    })
    .await;
}

/// Three users hand three addresses round, while others try to take them.
async fn addresses_go_round_without_getting_lost(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let names = ["a@example.com", "b@example.com", "c@example.com"];
    let mut users = Vec::new();
    for name in names {
        users.push(register(ctx, name).await.user.user_id);
    }
    for round in 0..4 {
        let changes = users.iter().enumerate().map(|(i, user)| {
            let (ctx, user, from) = (ctx.clone(), *user, format!("10.1.{round}.{i}"));
            tokio::spawn(async move {
                let Ok(letter) = accounts::request_email_change(&ctx, user, names[(i + round) % 3], &from).await else {
                    return;
                };
                drop(accounts::confirm_email_change(&ctx, letter.token.as_str()).await);
            })
        });
        let spare = users.iter().enumerate().map(|(i, user)| {
            let (ctx, user, from) = (ctx.clone(), *user, format!("10.0.{round}.{i}"));
            tokio::spawn(async move {
                let spare = format!("spare{i}-{round}@example.com");
                let Ok(letter) = accounts::request_email_change(&ctx, user, &spare, &from).await else { return };
                drop(accounts::confirm_email_change(&ctx, letter.token.as_str()).await);
            })
        });
        join_all(changes.chain(spare)).await;
        let rows = rows::<User>(&world).await;
        let mut emails: Vec<&str> = rows.iter().map(|user| user.email.as_deref().unwrap()).collect();
        emails.sort_unstable();
        emails.dedup();
        assert_eq!(emails.len(), 3, "{emails:?}");
        for user in &rows {
            let email = user.email.clone().unwrap();
            let entry = accounts::find_by_email(ctx, &email).await.unwrap().unwrap();
            assert_eq!(entry.user_id, user.user_id);
            let claim = ctx.store.get::<Claim>((ClaimKind::Email, email)).await.unwrap().unwrap();
            assert_eq!(claim.owner, user.user_id.0);
        }
    }
}
