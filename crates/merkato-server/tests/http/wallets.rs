//! Wallets over HTTP: money put in, taken out, moved, and its statement; and every way in which that is refused.

use std::sync::Arc;

use merkato::{
    Currency,
    accounts::Role,
    flows::{
        person,
        run::{Point, Watch},
        transfer::{self, TransferRequest},
    },
    id::UserId,
    keys::Scope,
};
use reqwest::Response;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::{
    admin::{Office, key},
    pages_desk::Clerk,
    world::{assert_ok, assert_problem},
};

cases![
    money_goes_in_and_out_and_is_told,
    a_wallet_refuses_what_it_cannot_do,
    an_operation_is_made_once,
    money_is_moved_or_stays,
    a_transfer_that_is_under_way_is_asked_for_again,
    whoever_is_erased_is_given_nothing_more,
    a_key_reads_or_writes_wallets_as_its_scopes_say,
    everybody_sees_their_own_wallet_alone,
    a_statement_is_shown_in_the_office,
];

fn euros(amount: &str) -> Value {
    json!({"amount": {"amount": amount, "currency": "EUR"}})
}

async fn post(office: &Office, user: Uuid, what: &str, body: &Value) -> Response {
    office.post(&format!("/v1/wallets/{user}/{what}"), body).send().await.unwrap()
}

async fn get(office: &Office, path: &str) -> Value {
    assert_ok(office.get(path).send().await.unwrap()).await
}

async fn customer(office: &Office) -> Uuid {
    office.world.user(&office.world.ctx, Role::Customer).await.0.0
}

async fn balance(office: &Office, user: Uuid) -> Value {
    get(office, &format!("/v1/wallets/{user}")).await["balance"]["amount"].clone()
}

async fn money_goes_in_and_out_and_is_told(target: &Target) {
    let office = Office::open(target).await;
    let user = customer(&office).await;
    let empty = get(&office, &format!("/v1/wallets/{user}")).await;
    assert_eq!(empty, json!({"user_id": user, "balance": null, "transactions": 0}));
    let body = json!({"amount": {"amount": "20.50", "currency": "EUR"}, "reason": "goodwill"});
    let put = post(&office, user, "deposits", &body).await;
    assert_eq!(put.status(), 201);
    let put = assert_ok(put).await;
    assert_eq!((&put["kind"], &put["reason"]), (&json!("money_deposited"), &json!("goodwill")));
    assert_eq!(put["balance"]["amount"], "20.50");
    assert_eq!(post(&office, user, "withdrawals", &euros("0.50")).await.status(), 201);
    assert_eq!(balance(&office, user).await, "20.00");
    let path = format!("/v1/wallets/{user}/statement");
    let all = get(&office, &path).await;
    let kinds: Vec<&Value> = all["data"].as_array().unwrap().iter().map(|line| &line["kind"]).collect();
    assert_eq!(kinds, [&json!("money_withdrawn"), &json!("money_deposited")]);
    let first = get(&office, &format!("{path}?limit=1")).await;
    let next = get(&office, &format!("{path}?limit=1&cursor={}", first["next_cursor"].as_str().unwrap())).await;
    assert_eq!((&next["data"][0], &next["next_cursor"]), (&all["data"][1], &Value::Null));
}

async fn a_wallet_refuses_what_it_cannot_do(target: &Target) {
    let office = Office::open(target).await;
    let user = customer(&office).await;
    assert_eq!(post(&office, user, "deposits", &euros("5.00")).await.status(), 201);
    assert_problem(post(&office, user, "withdrawals", &euros("5.01")).await, 409, "insufficient_funds").await;
    let dollars = json!({"amount": {"amount": "1.00", "currency": "USD"}});
    assert_problem(post(&office, user, "deposits", &dollars).await, 409, "wallet_other_currency").await;
    for bad in ["0.00", "-1.00", "0.001"] {
        let problem = assert_problem(post(&office, user, "deposits", &euros(bad)).await, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], "/amount", "{bad}");
    }
    assert_problem(post(&office, Uuid::new_v4(), "deposits", &euros("1.00")).await, 404, "user_not_found").await;
    let nobody = office.get(&format!("/v1/wallets/{}", Uuid::new_v4())).send().await.unwrap();
    assert_problem(nobody, 404, "user_not_found").await;
    assert_eq!(balance(&office, user).await, "5.00");
}

async fn an_operation_is_made_once(target: &Target) {
    let office = Office::open(target).await;
    let user = customer(&office).await;
    let mut body = euros("3.00");
    body["operation_id"] = json!(Uuid::new_v4());
    for _ in 0..2 {
        assert_eq!(post(&office, user, "deposits", &body).await.status(), 201);
    }
    for _ in 0..2 {
        let request = office.post(&format!("/v1/wallets/{user}/withdrawals"), &euros("1.00"));
        assert_eq!(request.header("idempotency-key", "w1").send().await.unwrap().status(), 201);
    }
    assert_eq!(balance(&office, user).await, "2.00");
    body["amount"]["amount"] = json!("4.00");
    assert_problem(post(&office, user, "deposits", &body).await, 400, "operation_reused").await;
}

async fn money_is_moved_or_stays(target: &Target) {
    let office = Office::open(target).await;
    let (one, two) = (customer(&office).await, customer(&office).await);
    assert_eq!(post(&office, one, "deposits", &euros("10.00")).await.status(), 201);
    let body = |amount: &str, to: Uuid| json!({"to": to, "amount": {"amount": amount, "currency": "EUR"}});
    let moved = post(&office, one, "transfers", &body("4.00", two)).await;
    assert_eq!(moved.status(), 201);
    assert_eq!((balance(&office, one).await, balance(&office, two).await), (json!("6.00"), json!("4.00")));
    assert_problem(post(&office, one, "transfers", &body("7.00", two)).await, 409, "transfer_refused").await;
    assert_problem(post(&office, one, "transfers", &body("1.00", Uuid::new_v4())).await, 404, "user_not_found").await;
    assert_eq!((balance(&office, one).await, balance(&office, two).await), (json!("6.00"), json!("4.00")));
}

/// A process that dies before its first step.
struct Dies;

impl Watch for Dies {
    fn stops(&self, _: Point) -> bool {
        true
    }
}

async fn a_transfer_that_is_under_way_is_asked_for_again(target: &Target) {
    let office = Office::open(target).await;
    let world = &office.world;
    let (one, two) = (customer(&office).await, customer(&office).await);
    assert_eq!(post(&office, one, "deposits", &euros("10.00")).await.status(), 201);
    let transfer_id = Uuid::new_v4();
    let request = TransferRequest {
        transfer_id,
        from: UserId(one),
        to: UserId(two),
        amount: Decimal::from(4),
        currency: Currency::new("EUR"),
        reason: None,
    };
    assert!(transfer::transfer(&world.ctx.with_watch(Arc::new(Dies)), request).await.is_err());
    let body = json!({"transfer_id": transfer_id, "to": two, "amount": {"amount": "4.00", "currency": "EUR"}});
    let path = format!("/v1/wallets/{one}/transfers");
    let ask = async || office.post(&path, &body).header("idempotency-key", "t1").send().await.unwrap();
    for _ in 0..2 {
        let waits = ask().await;
        assert_eq!(waits.headers()["retry-after"], "1");
        assert_problem(waits, 409, "in_progress").await;
    }
    // How it ended is told under the same key, and kept.
    world.clock.advance_millis(1_000 * (world.ctx.settings.flows.lease_seconds + 1));
    for _ in 0..2 {
        assert_eq!(ask().await.status(), 201);
    }
    assert_eq!((balance(&office, one).await, balance(&office, two).await), (json!("6.00"), json!("4.00")));
}

async fn whoever_is_erased_is_given_nothing_more(target: &Target) {
    let office = Office::open(target).await;
    let (gone, giver) = (customer(&office).await, customer(&office).await);
    for user in [gone, giver] {
        assert_eq!(post(&office, user, "deposits", &euros("5.00")).await.status(), 201);
    }
    person::erase(&office.world.ctx, UserId(gone)).await.unwrap();
    assert_problem(post(&office, gone, "deposits", &euros("1.00")).await, 404, "user_not_found").await;
    let body = |to: Uuid| json!({"to": to, "amount": {"amount": "2.00", "currency": "EUR"}});
    assert_problem(post(&office, giver, "transfers", &body(gone)).await, 404, "user_not_found").await;
    assert_eq!((balance(&office, gone).await, balance(&office, giver).await), (json!("5.00"), json!("5.00")));
    // What is left can be taken out.
    assert_eq!(post(&office, gone, "withdrawals", &euros("3.00")).await.status(), 201);
    assert_eq!(post(&office, gone, "transfers", &body(giver)).await.status(), 201);
    assert_eq!((balance(&office, gone).await, balance(&office, giver).await), (json!("0.00"), json!("7.00")));
}

async fn a_key_reads_or_writes_wallets_as_its_scopes_say(target: &Target) {
    let office = Office::open(target).await;
    let (world, user) = (&office.world, customer(&office).await);
    let reader = key(&world.ctx, &[Scope::WalletsRead]).await;
    let writer = key(&world.ctx, &[Scope::WalletsWrite]).await;
    let path = format!("/v1/wallets/{user}");
    let read = async |token: &str| world.get(&path).bearer_auth(token).send().await.unwrap();
    let write = async |token: &str| {
        world.post(&format!("{path}/deposits"), &euros("1.00")).bearer_auth(token).send().await.unwrap()
    };
    assert_problem(write(&reader).await, 403, "scope_missing").await;
    assert_problem(read(&writer).await, 403, "scope_missing").await;
    assert_eq!(write(&writer).await.status(), 201);
    assert_eq!(assert_ok(read(&reader).await).await["transactions"], 1);
}

async fn everybody_sees_their_own_wallet_alone(target: &Target) {
    let office = Office::open(target).await;
    let world = &office.world;
    let token = world.session(&world.ctx, Role::Customer).await;
    let own = async |path: &str| world.get(path).bearer_auth(&token).send().await.unwrap();
    let me = assert_ok(own("/v1/me").await).await["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(assert_ok(own("/v1/me/wallet").await).await["balance"], Value::Null);
    assert_eq!(post(&office, me, "deposits", &euros("5.00")).await.status(), 201);
    assert_eq!(assert_ok(own("/v1/me/wallet").await).await["balance"]["amount"], "5.00");
    let lines = assert_ok(own("/v1/me/wallet/statement").await).await;
    assert_eq!((lines["data"].as_array().unwrap().len(), &lines["data"][0]["kind"]), (1, &json!("money_deposited")));
    assert_problem(own(&format!("/v1/wallets/{me}")).await, 403, "forbidden").await;
    assert_problem(world.get("/v1/me/wallet").send().await.unwrap(), 401, "not_logged_in").await;
}

async fn a_statement_is_shown_in_the_office(target: &Target) {
    let clerk = Clerk::come(target).await;
    let user = customer(&clerk.office).await;
    let path = format!("/admin/wallets/{user}");
    clerk.see(&path).await.is_a_page("Wallet of ").says("Nothing was ever put in.");
    for n in 1..=30 {
        let body = json!({"amount": {"amount": format!("{n}.00"), "currency": "EUR"}, "reason": format!("round {n}.")});
        assert_eq!(post(&clerk.office, user, "deposits", &body).await.status(), 201);
    }
    assert_eq!(post(&clerk.office, user, "withdrawals", &euros("65.00")).await.status(), 201);
    let page = clerk.see(&path).await;
    page.is_a_page("Wallet of ").says("€400.00").says("31 entries").says("−€65.00").says("round 30.");
    page.does_not_say("round 3.").says("rel=\"next\"").says("/admin/events/streams/");
    assert_eq!(clerk.see(&format!("/admin/wallets/{}", Uuid::new_v4())).await.status, 404);
}
