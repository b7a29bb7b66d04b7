//! A session is good until it ends, is revoked, or its user is another.

use merkato::{
    PageRequest,
    accounts::{self, Client, Role, Session, User, UserSession},
    id::SessionId,
    limits,
};
use widerow::Commit;
use widerow_testing::Target;

use super::{code, log_in, register, rows, verified, world};

widerow_testing::cases![
    a_token_tells_who_makes_a_request,
    a_session_ends_at_the_instant,
    sessions_are_listed_and_revoked_by_their_owner,
    the_oldest_session_goes_when_there_are_too_many,
    a_new_epoch_ends_sessions_whose_rows_are_still_there,
    a_role_and_a_suspension_count_at_once,
    nobody_gets_a_role_whose_address_is_not_verified,
    when_a_session_was_last_seen_is_noted_now_and_then,
    what_a_browser_says_of_itself_is_cut,
];

async fn a_token_tells_who_makes_a_request(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    let actor = accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    assert_eq!((actor.user_id, actor.role), (user.user_id, Role::Customer));
    let other = "a".repeat(64);
    let hash = rows::<Session>(&world).await[0].token_hash.clone();
    let longer = format!("{}0", entered.token.as_str());
    for token in ["", "nonsense", &other, &hash, &longer, &entered.token.as_str()[1..]] {
        assert_eq!(code(accounts::authenticate(ctx, token).await), "not_logged_in");
    }
    // What is stored does not let one in.
    let stored = format!("{:?}{:?}", rows::<Session>(&world).await, rows::<UserSession>(&world).await);
    assert!(!stored.contains(entered.token.as_str()));
    assert!(actor.require(Role::Customer).is_ok());
    assert_eq!(code(actor.require(Role::Staff)), "forbidden");
}

async fn a_session_ends_at_the_instant(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    let seconds = i64::from(ctx.settings.accounts.session_seconds);
    world.clock.advance_millis(seconds * 1_000 - 1);
    assert_eq!(accounts::list_sessions(ctx, user.user_id).await.unwrap().len(), 1);
    // ORDER: the last look. It notes that the session was seen, for the second that is left: an engine that lets rows end by
    // itself does so a moment later, though the store's clock stands still.
    accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    world.clock.advance_millis(1);
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    assert_eq!(accounts::list_sessions(ctx, user.user_id).await.unwrap(), []);
}

async fn sessions_are_listed_and_revoked_by_their_owner(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let ada = verified(ctx, "ada@example.com").await;
    let bob = verified(ctx, "bob@example.com").await;
    let mut ids = Vec::new();
    let mut tokens = Vec::new();
    for _ in 0..3 {
        world.clock.advance_millis(1);
        let entered = log_in(ctx, "ada@example.com").await;
        ids.insert(0, entered.actor.session_id);
        tokens.insert(0, entered.token);
    }
    let list = async || {
        let sessions = accounts::list_sessions(ctx, ada.user_id).await.unwrap();
        sessions.into_iter().map(|session| session.session_id).collect::<Vec<_>>()
    };
    assert_eq!(list().await, ids);
    accounts::revoke_session(ctx, bob.user_id, ids[1]).await.unwrap();
    assert_eq!(list().await, ids);
    for _ in 0..2 {
        accounts::revoke_session(ctx, ada.user_id, ids[1]).await.unwrap();
    }
    assert_eq!(list().await, [ids[0], ids[2]]);
    assert_eq!(code(accounts::authenticate(ctx, tokens[1].as_str()).await), "not_logged_in");
    accounts::authenticate(ctx, tokens[0].as_str()).await.unwrap();
    accounts::revoke_all_sessions(ctx, ada.user_id).await.unwrap();
    assert_eq!(list().await, []);
    assert_eq!(code(accounts::authenticate(ctx, tokens[0].as_str()).await), "not_logged_in");
    assert_eq!(rows::<Session>(&world).await, []);
    assert_eq!(code(accounts::list_sessions(ctx, merkato::id::UserId(ctx.new_id())).await), "user_not_found");
}

async fn the_oldest_session_goes_when_there_are_too_many(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let first = log_in(ctx, "ada@example.com").await;
    world.clock.advance_millis(1);
    let second = log_in(ctx, "ada@example.com").await;
    let row = accounts::list_sessions(ctx, user.user_id).await.unwrap().remove(0);
    let more = (2..limits::SESSIONS_MAX).fold(Commit::new(), |commit, i| {
        world.clock.advance_millis(1);
        let (session_id, token_hash) = (SessionId(ctx.new_id()), format!("{i:064}"));
        commit.put_for(&UserSession { session_id, token_hash, ..row.clone() }, 3_600)
    });
    ctx.store.commit(more).await.unwrap();
    accounts::authenticate(ctx, first.token.as_str()).await.unwrap();
    world.clock.advance_millis(1);
    let last = log_in(ctx, "ada@example.com").await;
    assert_eq!(accounts::list_sessions(ctx, user.user_id).await.unwrap().len(), limits::SESSIONS_MAX);
    assert_eq!(code(accounts::authenticate(ctx, first.token.as_str()).await), "not_logged_in");
    for entered in [second, last] {
        accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    }
    accounts::revoke_all_sessions(ctx, user.user_id).await.unwrap();
    assert_eq!(rows::<UserSession>(&world).await, []);
    assert_eq!(rows::<Session>(&world).await, []);
}

async fn a_new_epoch_ends_sessions_whose_rows_are_still_there(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    // As a process leaves it that dies right after the commit of a new password.
    let bump = |found: Option<User>| Ok(found.map(|user| User { session_epoch: user.session_epoch + 1, ..user }));
    ctx.store.update::<User, widerow::Error>(user.user_id, None, bump).await.unwrap();
    assert_eq!(rows::<UserSession>(&world).await.len(), 1);
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    assert_eq!(accounts::list_sessions(ctx, user.user_id).await.unwrap(), []);
    let again = log_in(ctx, "ada@example.com").await;
    accounts::authenticate(ctx, again.token.as_str()).await.unwrap();
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    assert_eq!(accounts::list_sessions(ctx, user.user_id).await.unwrap().len(), 1);
}

async fn nobody_gets_a_role_whose_address_is_not_verified(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let registered = register(ctx, "ada@example.com").await;
    let id = registered.user.user_id;
    for role in [Role::Staff, Role::Admin] {
        let refused = accounts::set_role(ctx, id, role).await;
        assert!(matches!(refused, Err(accounts::Error::EmailNotVerified)), "{refused:?}");
    }
    let user = accounts::set_role(ctx, id, Role::Customer).await.unwrap();
    assert_eq!(user.role, Role::Customer);
    accounts::verify_email(ctx, registered.letter.token.as_str()).await.unwrap();
    assert_eq!(accounts::set_role(ctx, id, Role::Admin).await.unwrap().role, Role::Admin);
    assert_eq!(accounts::list_staff(ctx, PageRequest::default()).await.unwrap().rows.len(), 1);
}

async fn a_role_and_a_suspension_count_at_once(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    accounts::set_role(ctx, user.user_id, Role::Admin).await.unwrap();
    let actor = accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    assert!(actor.require(Role::Staff).is_ok() && actor.require(Role::Admin).is_ok());
    accounts::suspend(ctx, user.user_id).await.unwrap();
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    // Who comes back logs in anew.
    accounts::reinstate(ctx, user.user_id).await.unwrap();
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    let again = log_in(ctx, "ada@example.com").await;
    assert_eq!(accounts::authenticate(ctx, again.token.as_str()).await.unwrap().role, Role::Admin);
}

async fn when_a_session_was_last_seen_is_noted_now_and_then(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let entered = log_in(ctx, "ada@example.com").await;
    let session = async || accounts::list_sessions(ctx, user.user_id).await.unwrap().remove(0);
    let first = session().await;
    let every_millis = ctx.settings.accounts.session_seen_seconds * 1_000;
    world.clock.advance_millis(every_millis - 1);
    accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    assert_eq!(session().await, first);
    world.clock.advance_millis(1);
    accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    let seen = session().await;
    assert_eq!(seen, UserSession { last_seen_at: widerow::time::Clock::now(&*world.clock), ..first.clone() });
    // Being seen does not make it last longer.
    world.clock.advance_millis(i64::from(ctx.settings.accounts.session_seconds) * 1_000 - every_millis);
    assert_eq!(code(accounts::authenticate(ctx, entered.token.as_str()).await), "not_logged_in");
    assert_eq!(rows::<UserSession>(&world).await, []);
}

async fn what_a_browser_says_of_itself_is_cut(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let client = Client { address: "9".repeat(500), user_agent: Some(format!("a\nb{}", "é".repeat(5_000))) };
    let entered = accounts::log_in(ctx, "ada@example.com", super::PASSWORD, &client).await.unwrap();
    accounts::authenticate(ctx, entered.token.as_str()).await.unwrap();
    let session = accounts::list_sessions(ctx, user.user_id).await.unwrap().remove(0);
    assert_eq!(session.address.len(), limits::CLIENT_ADDRESS_BYTES_MAX);
    let agent = session.user_agent.unwrap();
    assert!(agent.starts_with("abé") && agent.len() <= limits::USER_AGENT_BYTES_MAX);
}
