//! Registering, logging in and out; and what a stranger does not learn.

use merkato::accounts::{self, Role};
use serde_json::json;
use widerow_testing::{Target, cases};

use crate::world::{PASSWORD, World, assert_ok, assert_problem, token_in};

cases![
    a_person_registers_verifies_logs_in_and_out,
    a_stranger_learns_nothing_of_accounts,
    logging_in_always_opens_a_new_session,
    a_password_is_reset_by_letter,
    where_two_register_a_letter_lets_its_reader_choose,
    a_wrong_password_waits_longer_and_longer,
    a_link_leads_nowhere_else,
];

async fn a_person_registers_verifies_logs_in_and_out(target: &Target) {
    let world = World::new(target).await;
    let email = format!("{}@example.com", widerow_testing::unique());
    let body = json!({"email": email, "password": PASSWORD, "first_name": "Ada"});
    let answer = world.post("/v1/auth/register", &body).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    let login = json!({"email": email, "password": PASSWORD});
    assert_problem(world.post("/v1/auth/login", &login).send().await.unwrap(), 403, "email_not_verified").await;
    let token = token_in(&world.letter(&email, 0).await);
    let verify = json!({"token": token});
    assert_eq!(world.post("/v1/auth/verify", &verify).send().await.unwrap().status(), 204);
    assert_problem(world.post("/v1/auth/verify", &verify).send().await.unwrap(), 422, "token_invalid").await;
    let answer = world.post("/v1/auth/login", &login).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let session = assert_ok(answer).await;
    let token = session["token"].as_str().unwrap();
    assert_eq!(session["role"], "customer");
    let me = assert_ok(world.get("/v1/me").bearer_auth(token).send().await.unwrap()).await;
    assert_eq!((me["first_name"].as_str(), me["email"].as_str()), (Some("Ada"), Some(email.as_str())));
    let out = world.request("POST", "/v1/auth/logout").bearer_auth(token).send().await.unwrap();
    assert_eq!(out.status(), 204);
    assert!(out.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_problem(world.get("/v1/me").bearer_auth(token).send().await.unwrap(), 401, "not_logged_in").await;
}

async fn a_stranger_learns_nothing_of_accounts(target: &Target) {
    let world = World::new(target).await;
    let (_, known) = world.user(&world.ctx, Role::Customer).await;
    let unknown = format!("{}@example.com", widerow_testing::unique());
    let compare = async |path: &str, with: fn(&str) -> serde_json::Value| {
        let mut answers = Vec::new();
        for email in [&known, &unknown] {
            let answer = world.post(path, &with(email)).send().await.unwrap();
            let status = answer.status();
            let mut names: Vec<String> = answer.headers().keys().map(|name| name.to_string()).collect();
            names.sort();
            let mut body: serde_json::Value = answer.json().await.unwrap();
            body.as_object_mut().unwrap().remove("request_id");
            answers.push((status, names, body));
        }
        assert_eq!(answers[0], answers[1], "{path}");
    };
    compare("/v1/auth/login", |email| json!({"email": email, "password": "not the password"})).await;
    compare("/v1/auth/password-reset", |email| json!({"email": email})).await;
    // Last: it makes the unknown address a known one.
    compare("/v1/auth/register", |email| json!({"email": email, "password": "another password"})).await;
    assert!(world.letter(&known, 0).await.subject.contains("password"));
    assert!(world.letter(&known, 1).await.subject.contains("account already"));
    // A registration counts as a letter, whosever the address is: what is asked for next tells nothing of it.
    let unknown = format!("{}@example.com", widerow_testing::unique());
    let mut answers = Vec::new();
    for email in [&known, &unknown] {
        let register = json!({"email": email, "password": "another password"});
        for _ in 0..5 {
            assert_eq!(world.post("/v1/auth/register", &register).send().await.unwrap().status(), 202);
        }
        let reset = world.post("/v1/auth/password-reset", &json!({"email": email})).send().await.unwrap();
        answers.push(reset.status().as_u16());
    }
    assert_eq!(answers, [429, 429]);
    // What was registered over the known address changed nothing.
    let login = json!({"email": known, "password": PASSWORD});
    assert_ok(world.post("/v1/auth/login", &login).send().await.unwrap()).await;
}

/// One who plants a session before the login has nothing afterwards.
async fn logging_in_always_opens_a_new_session(target: &Target) {
    let world = World::new(target).await;
    let (user, email) = world.user(&world.ctx, Role::Customer).await;
    let planted = world.session(&world.ctx, Role::Customer).await;
    let login = world.post("/v1/auth/login", &json!({"email": email, "password": PASSWORD}));
    let login = login.header("cookie", format!("merkato_session={planted}")).header("sec-fetch-site", "same-origin");
    let session = assert_ok(login.send().await.unwrap()).await;
    let token = session["token"].as_str().unwrap().to_owned();
    assert_ne!(token, planted);
    assert_eq!(session["user_id"], user.0.to_string());
    // The one that the browser had is over.
    assert_problem(world.get("/v1/me").bearer_auth(&planted).send().await.unwrap(), 401, "not_logged_in").await;
    let again = world.post("/v1/auth/login", &json!({"email": email, "password": PASSWORD})).send().await.unwrap();
    assert_ne!(assert_ok(again).await["token"], token.as_str());
    assert_eq!(accounts::list_sessions(&world.ctx, user).await.unwrap().len(), 2);
}

async fn a_password_is_reset_by_letter(target: &Target) {
    let world = World::new(target).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let session =
        assert_ok(world.post("/v1/auth/login", &json!({"email": email, "password": PASSWORD})).send().await.unwrap())
            .await;
    world.post("/v1/auth/password-reset", &json!({"email": email})).send().await.unwrap();
    let token = token_in(&world.letter(&email, 0).await);
    let reset = json!({"token": token, "new_password": "a better password"});
    assert_eq!(world.post("/v1/auth/password-reset/confirm", &reset).send().await.unwrap().status(), 204);
    let old = world.get("/v1/me").bearer_auth(session["token"].as_str().unwrap()).send().await.unwrap();
    assert_problem(old, 401, "not_logged_in").await;
    let login = |password| world.post("/v1/auth/login", &json!({"email": email, "password": password})).send();
    assert_problem(login(PASSWORD).await.unwrap(), 401, "wrong_credentials").await;
    assert_ok(login("a better password").await.unwrap()).await;
}

async fn where_two_register_a_letter_lets_its_reader_choose(target: &Target) {
    let world = World::new(target).await;
    let email = format!("{}@example.com", widerow_testing::unique());
    for password in ["of the stranger", PASSWORD] {
        let body = json!({"email": email, "password": password});
        assert_eq!(world.post("/v1/auth/register", &body).send().await.unwrap().status(), 202);
    }
    let first = json!({"token": token_in(&world.letter(&email, 0).await)});
    assert_problem(world.post("/v1/auth/verify", &first).send().await.unwrap(), 422, "token_invalid").await;
    let letter = world.letter(&email, 1).await;
    assert_eq!(letter.subject, "Choose your password");
    let choose = json!({"token": token_in(&letter), "new_password": "a better password"});
    assert_eq!(world.post("/v1/auth/password-reset/confirm", &choose).send().await.unwrap().status(), 204);
    let login = |password| world.post("/v1/auth/login", &json!({"email": email, "password": password})).send();
    assert_problem(login("of the stranger").await.unwrap(), 401, "wrong_credentials").await;
    assert_ok(login("a better password").await.unwrap()).await;
}

async fn a_wrong_password_waits_longer_and_longer(target: &Target) {
    let world = World::new(target).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let login = json!({"email": email, "password": "not the password"});
    let mut answers = Vec::new();
    for _ in 0..8 {
        let answer = world.post("/v1/auth/login", &login).send().await.unwrap();
        let wait = answer.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        answers.push((answer.status().as_u16(), wait));
    }
    assert_eq!(answers[0], (401, None));
    assert_eq!(answers[7], (429, Some("1".into())), "{answers:?}");
}

/// There is no address to be sent on to: no parameter of any answer becomes a redirect.
async fn a_link_leads_nowhere_else(target: &Target) {
    let world = World::new(target).await;
    for path in ["/v1/auth/login?next=https://evil.example", "//evil.example/v1/me", "/docs?next=//evil.example"] {
        let answer = world.get(path).send().await.unwrap();
        assert!(!answer.status().is_redirection(), "{path}: {}", answer.status());
        assert!(answer.headers().get("location").is_none(), "{path}");
    }
}
