//! What every question costs, and that the derived tables agree with their bases in the end.

use futures::future::join_all;
use merkato::{
    PageRequest,
    accounts::{self, PATTERNS, Role, UserStatus},
    pattern::ReadCost,
};
use widerow::{
    meter::{Cost, measure},
    store::VerifyOptions,
};
use widerow_testing::Target;

use super::{PASSWORD, alone, client, log_in, new_user, register, verified, world};

widerow_testing::cases![
    every_question_costs_what_it_says,
    derived_tables_agree_after_a_busy_day,
    staff_see_the_users_newest_first,
    who_works_here_is_a_list_of_its_own,
];

fn cost_of(name: &str) -> ReadCost {
    PATTERNS.iter().find(|pattern| pattern.name == name).expect("a pattern").cost
}

async fn every_question_costs_what_it_says(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = verified(ctx, "ada@example.com").await;
    let mut entered = log_in(ctx, "ada@example.com").await;
    drop(accounts::log_in(ctx, "ada@example.com", "wrong horse", &client("192.0.2.9")).await);
    let mut asked = 0;
    for others in [0, 6] {
        for i in 0..others {
            register(ctx, &format!("u{i}@example.com")).await;
            entered = log_in(ctx, "ada@example.com").await;
        }
        drop(accounts::log_in(ctx, "ada@example.com", "wrong horse", &client("192.0.2.9")).await);
        let mut within = |name: &str, rows: u64, cost: Cost| {
            assert!(cost_of(name).admits(&cost, rows), "{name}: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}: {cost}");
            asked += 1;
        };
        let (answer, cost) = measure(accounts::get_user(ctx, user.user_id)).await;
        answer.unwrap();
        within("Q6", 1, cost);
        let (answer, cost) = measure(accounts::find_by_email(ctx, "Ada@example.com")).await;
        assert_eq!(answer.unwrap().unwrap().user_id, user.user_id);
        within("Q7", 1, cost);
        let (answer, cost) = measure(accounts::list_addresses(ctx, user.user_id)).await;
        answer.unwrap();
        within("Q8", 1, cost);
        let (answer, cost) = measure(accounts::authenticate(ctx, entered.token.as_str())).await;
        answer.unwrap();
        within("session", 1, cost);
        let (answer, cost) = measure(accounts::list_sessions(ctx, user.user_id)).await;
        let sessions = answer.unwrap().len() as u64;
        assert_eq!(sessions, 1 + others);
        within("sessions-of-user", sessions, cost);
        let (answer, cost) = measure(accounts::list_users(ctx, PageRequest::default())).await;
        let users = answer.unwrap().rows.len() as u64;
        assert_eq!(users, 1 + others);
        within("users", users, cost);
        let (answer, cost) = measure(accounts::list_staff(ctx, PageRequest::default())).await;
        assert_eq!(answer.unwrap().rows.len(), 0);
        within("staff", 0, cost);
        let (answer, cost) = measure(accounts::find_attempts(ctx, "ada@example.com")).await;
        assert_eq!(answer.unwrap().unwrap().attempts, if others == 0 { 2 } else { 1 });
        within("login-attempts", 1, cost);
    }
    assert_eq!(asked, 2 * PATTERNS.len());
    // A wrong password: two counts, and nothing else is written. A right one: the counts, the user, the session, and the
    // counts taken back.
    let from = client("192.0.2.10");
    let (_, wrong) = measure(accounts::log_in(ctx, "ada@example.com", "wrong horse", &from)).await;
    let (right, cost) = measure(accounts::log_in(ctx, "ada@example.com", PASSWORD, &from)).await;
    assert!(right.is_ok());
    assert_eq!((wrong.conditional_writes, cost.conditional_writes), (2, 6));
}

async fn derived_tables_agree_after_a_busy_day(target: &Target) {
    let world = alone(target);
    let days = (0..12).map(|i| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move {
            // Three of each address: two are refused.
            let email = format!("u{}@example.com", i / 3);
            let Ok(registered) = accounts::register(&ctx, new_user(&email)).await else { return };
            let id = registered.user.user_id;
            accounts::verify_email(&ctx, registered.letter.token.as_str()).await.unwrap();
            let from = client(&format!("10.0.0.{i}"));
            for _ in 0..2 {
                log_in(&ctx, &email).await;
            }
            let other = format!("v{i}@example.com");
            let letter = accounts::request_email_change(&ctx, id, &other, "192.0.2.1").await.unwrap();
            accounts::confirm_email_change(&ctx, letter.token.as_str()).await.unwrap();
            let entered = accounts::log_in(&ctx, &other, PASSWORD, &from).await.unwrap();
            match i / 3 {
                0 => accounts::erase(&ctx, id).await.unwrap(),
                1 => drop(accounts::change_password(&ctx, id, PASSWORD, "battery staple", &from).await.unwrap()),
                2 => drop(accounts::suspend(&ctx, id).await.unwrap()),
                _ => accounts::revoke_session(&ctx, id, entered.actor.session_id).await.unwrap(),
            }
        })
    });
    for day in join_all(days).await {
        day.unwrap();
    }
    let report = world.ctx.store.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!((report.differences, report.listed), (0, Vec::new()));
    // Users, for each of the three tables that follow from them; the sessions of the one with a new password, and of the one
    // who logged out once.
    assert_eq!(report.base_rows, 3 * 4 + 3);
}

async fn staff_see_the_users_newest_first(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let mut expected = Vec::new();
    for n in 0..9 {
        expected.insert(0, register(ctx, &format!("u{n}@example.com")).await.user.user_id);
        world.clock.advance_millis(1);
    }
    accounts::suspend(ctx, expected[0]).await.unwrap();
    accounts::erase(ctx, expected.remove(3)).await.unwrap();
    let (mut found, mut page) = (Vec::new(), PageRequest::first(3));
    loop {
        let listed = accounts::list_users(ctx, page.clone()).await.unwrap();
        found.extend(listed.rows);
        page.cursor = listed.next;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(found.iter().map(|entry| entry.user_id).collect::<Vec<_>>(), expected);
    assert_eq!((found[0].status, found[0].email.as_str()), (UserStatus::Suspended, "u8@example.com"));
    assert_eq!(found[1].status, UserStatus::Active);
    assert!(accounts::list_users(ctx, PageRequest::first(0)).await.is_err());
}

async fn who_works_here_is_a_list_of_its_own(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let mut users = Vec::new();
    for n in 0..5 {
        users.push(verified(ctx, &format!("u{n}@example.com")).await.user_id);
        world.clock.advance_millis(1);
    }
    let staff = async || {
        let page = accounts::list_staff(ctx, PageRequest::default()).await.unwrap();
        page.rows.iter().map(|entry| (entry.user_id, entry.role)).collect::<Vec<_>>()
    };
    assert_eq!(staff().await, []);
    accounts::set_role(ctx, users[3], Role::Admin).await.unwrap();
    accounts::set_role(ctx, users[1], Role::Staff).await.unwrap();
    assert_eq!(staff().await, [(users[1], Role::Staff), (users[3], Role::Admin)]);
    accounts::set_role(ctx, users[1], Role::Customer).await.unwrap();
    accounts::suspend(ctx, users[3]).await.unwrap();
    let page = accounts::list_staff(ctx, PageRequest::first(1)).await.unwrap();
    assert_eq!(page.rows[0].status, UserStatus::Suspended);
    accounts::erase(ctx, users[3]).await.unwrap();
    assert_eq!(staff().await, []);
}
