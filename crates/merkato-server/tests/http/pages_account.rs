//! The way in and the account as pages.

use merkato::accounts::{self, Role};
use merkato_server::{
    http::access::Access,
    web::{pages, shop},
};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::{
    visitor::Visitor,
    world::{PASSWORD, World, token_in},
};

cases![
    a_newcomer_registers_verifies_and_logs_in,
    a_stranger_learns_nothing_of_accounts_by_pages,
    one_goes_on_to_pages_of_this_site_only,
    a_letter_leads_to_no_host_that_somebody_made_up,
    a_letter_leads_to_the_shop_it_is_from,
    a_password_is_set_by_letter,
    every_page_of_the_account_is_whole,
    nobody_is_asked_to_log_in,
    a_form_without_its_token_is_refused,
    addresses_are_kept_changed_and_removed,
    orders_are_listed_shown_and_cancelled,
    sessions_are_seen_and_ended,
    the_profile_the_password_and_the_address_are_changed,
];

async fn a_newcomer_registers_verifies_and_logs_in(target: &Target) {
    let world = World::new(target).await;
    let visitor = Visitor::new(&world);
    visitor.get("/register").await.assert_whole("/register");
    let email = format!("{}@example.com", widerow_testing::unique());
    let refused = visitor.post("/register", &[("email", "ada"), ("password", "short"), ("first_name", "Ada")]).await;
    refused.assert_refused("Enter an e-mail address, as ada@example.com");
    refused.assert_says("ten characters are the least");
    refused.assert_says("value=\"Ada\"");
    assert!(!refused.body.contains("short"), "a password is not shown");
    let sent = visitor.post("/register", &[("email", &email), ("password", PASSWORD), ("first_name", "Ada")]).await;
    visitor.follow(&sent).await.assert_whole("/register/sent");
    let early = visitor.post("/login", &[("email", &email), ("password", PASSWORD)]).await;
    early.assert_refused("not verified yet");
    let again = visitor.post("/verify/letter", &[("email", &email)]).await;
    assert_eq!(again.location, "/register/sent");
    let letter = world.letter(&email, 1).await;
    let link = format!("http://{}/verify?token=", world.address);
    assert!(letter.text.contains(&link), "{}", letter.text);
    let path = format!("/verify?token={}", token_in(&letter));
    let page = visitor.get(&path).await;
    page.assert_whole(&path);
    let token = page.hidden("token").unwrap();
    let verified = visitor.post("/verify", &[("token", &token)]).await;
    visitor.follow(&verified).await.assert_says("Your e-mail address is verified.");
    visitor.post("/verify", &[("token", &token)]).await.assert_refused("has been used");
    let fields = [("email", email.as_str()), ("password", PASSWORD), ("next", "/account/orders")];
    let entered = visitor.post("/login", &fields).await;
    assert_eq!(entered.location, "/account/orders");
    visitor.get("/account").await.assert_says("Hello, Ada");
    let left = visitor.post("/logout", &[]).await;
    visitor.follow(&left).await.assert_says("You are logged out.");
    assert!(visitor.get("/account").await.location.starts_with("/login"));
}

/// A page without what differs from one visit to the next.
fn told(body: &str) -> String {
    let parts = body.split("name=\"csrf\" value=\"");
    let same = |part: &str| part.split_once('"').map_or(String::new(), |(_, rest)| rest.to_owned());
    parts.map(same).collect::<String>()
}

async fn a_stranger_learns_nothing_of_accounts_by_pages(target: &Target) {
    let world = World::new(target).await;
    let (_, known) = world.user(&world.ctx, Role::Customer).await;
    let unknown = format!("{}@example.com", widerow_testing::unique());
    for (path, password) in [
        ("/login", "not the password"),
        ("/password-reset", ""),
        ("/verify/letter", ""),
        ("/register", "a new password"),
    ] {
        let mut answers = Vec::new();
        for email in [&known, &unknown] {
            let visitor = Visitor::new(&world);
            visitor.get("/login").await;
            let answer = visitor.post(path, &[("email", email), ("password", password)]).await;
            answers.push((answer.status, answer.location.clone(), told(&answer.body).replace(email.as_str(), "")));
        }
        assert_eq!(answers[0], answers[1], "{path}");
    }
    // What was registered over the known address changed nothing.
    Visitor::new(&world).log_in(&known).await;
}

async fn one_goes_on_to_pages_of_this_site_only(target: &Target) {
    let world = World::new(target).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    for next in ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""] {
        let visitor = Visitor::new(&world);
        visitor.get("/login").await;
        let entered = visitor.post("/login", &[("email", &email), ("password", PASSWORD), ("next", next)]).await;
        assert_eq!(entered.location, "/account", "{next}");
        assert_eq!(visitor.get(&format!("/login?next={next}")).await.location, "/account", "{next}");
    }
}

async fn a_letter_leads_to_no_host_that_somebody_made_up(target: &Target) {
    let world = World::new(target).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let body = serde_json::json!({"email": email});
    let ask = |host: &str| world.post("/v1/auth/password-reset", &body).header("host", host).send();
    assert_eq!(ask("evil.example").await.unwrap().status(), 202);
    let letter = world.letter(&email, 0).await;
    assert!(!letter.text.contains("evil"), "{}", letter.text);
    let own = format!("{}.example", world.tenant());
    assert_eq!(ask(&own).await.unwrap().status(), 202);
    let letter = world.letter(&email, 1).await;
    assert!(letter.text.contains(&format!("http://{own}/password-reset?token=")), "{}", letter.text);
    // Another shop's host has other accounts.
    let others = format!("{}.example", world.other.store.tenant());
    assert_eq!(ask(&others).await.unwrap().status(), 202);
    let letter = world.letter(&email, 2).await;
    assert!(!letter.text.contains("://"), "{}", letter.text);
}

/// The setting is for all shops that have no host of their own, and leads nobody of one that has to another shop.
async fn a_letter_leads_to_the_shop_it_is_from(target: &Target) {
    let world = World::with(target, |settings| {
        settings.public_url = Some("https://shop.example/".into());
        settings.behind_tls = true;
    });
    let world = world.await;
    let (own, others) = (world.tenant(), world.other.store.tenant().as_str());
    let cases = [
        (own, format!("{own}.example"), format!("https://{own}.example")),
        (others, format!("{others}.example"), format!("https://{others}.example")),
        (own, format!("{others}.example"), "https://shop.example".to_owned()),
        (own, "localhost".to_owned(), "https://shop.example".to_owned()),
        (own, "evil.example".to_owned(), "https://shop.example".to_owned()),
    ];
    for (tenant, host, leads_to) in cases {
        let ctx = if tenant == own { &world.ctx } else { &world.other };
        let (_, email) = world.user(ctx, Role::Customer).await;
        let asked = world.bare("POST", "/v1/auth/password-reset").json(&serde_json::json!({"email": email}));
        let asked = asked.header("merkato-tenant", tenant).header("host", &host).send().await.unwrap();
        assert_eq!(asked.status(), 202);
        let letter = world.letter(&email, 0).await;
        assert!(letter.text.contains(&format!("\n{leads_to}/password-reset?token=")), "{host}: {}", letter.text);
    }
}

async fn a_password_is_set_by_letter(target: &Target) {
    let world = World::new(target).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let visitor = Visitor::new(&world);
    visitor.get("/password-reset").await.assert_whole("/password-reset");
    visitor.post("/password-reset", &[("email", "nobody")]).await.assert_refused("value=\"nobody\"");
    let sent = visitor.post("/password-reset", &[("email", &email)]).await;
    visitor.follow(&sent).await.assert_whole("/password-reset/sent");
    let token = token_in(&world.letter(&email, 0).await);
    let page = visitor.get(&format!("/password-reset?token={token}")).await;
    page.assert_says("New password");
    let short = [("token", token.as_str()), ("new_password", "short")];
    visitor.post("/password-reset/confirm", &short).await.assert_refused("ten characters are the least");
    let good = [("token", token.as_str()), ("new_password", "a better password")];
    let done = visitor.post("/password-reset/confirm", &good).await;
    assert_eq!(done.location, "/login?notice=password-set");
    visitor.post("/password-reset/confirm", &good).await.assert_refused("Ask for a new letter");
    let entered = visitor.post("/login", &[("email", &email), ("password", "a better password")]).await;
    assert_eq!(entered.location, "/account");
}

async fn every_page_of_the_account_is_whole(target: &Target) {
    let world = World::new(target).await;
    let (visitor, _) = Visitor::person(&world).await;
    let parts = [shop::account::PAGES, shop::cart::PAGES, shop::entry::PAGES];
    let plain = parts.into_iter().flatten().filter(|rule| !rule.is_unsafe() && !rule.path.contains('{'));
    for rule in plain.filter(|rule| !matches!(rule.path, "/login" | "/register")) {
        visitor.get(rule.path).await.assert_whole(rule.path);
    }
    for path in ["/account/orders", "/account/addresses", "/cart"] {
        let missing = visitor.get(&format!("{path}/{}", Uuid::new_v4())).await;
        assert_eq!(missing.status, 404, "{path}");
        missing.assert_says("There is nothing here");
    }
    assert_eq!(visitor.get("/account/orders?cursor=bent").await.status, 400);
}

async fn nobody_is_asked_to_log_in(target: &Target) {
    let world = World::new(target).await;
    let visitor = Visitor::new(&world);
    visitor.get("/login").await;
    let mine = [shop::account::PAGES, shop::cart::PAGES, shop::entry::PAGES, shop::checkout::PAGES];
    for rule in mine.into_iter().flatten().filter(|rule| matches!(rule.access, Access::Person | Access::Shopper)) {
        let path = rule.path.replace("{id}", &Uuid::nil().to_string()).replace("{line}", &Uuid::nil().to_string());
        let answer = if rule.is_unsafe() { visitor.post(&path, &[]).await } else { visitor.get(&path).await };
        assert!(answer.location.starts_with("/login?next="), "{rule:?}: {}", answer.status);
    }
}

async fn a_form_without_its_token_is_refused(target: &Target) {
    let world = World::new(target).await;
    let (visitor, _) = Visitor::person(&world).await;
    for rule in pages::rules().filter(|rule| rule.is_unsafe() && !rule.path.starts_with("/admin")) {
        let path = rule.path.replace("{id}", &Uuid::nil().to_string()).replace("{line}", &Uuid::nil().to_string());
        for fields in [&[] as &[(&str, &str)], &[("csrf", "0000")]] {
            assert_eq!(visitor.send(&path, fields).await.status, 403, "{rule:?}");
        }
    }
    let stranger = Visitor::new(&world);
    for path in ["/login", "/register", "/password-reset", "/verify", "/cart/items"] {
        assert_eq!(stranger.send(path, &[("email", "a@example.com")]).await.status, 403, "{path}");
    }
}

async fn addresses_are_kept_changed_and_removed(target: &Target) {
    let world = World::new(target).await;
    let (visitor, email) = Visitor::person(&world).await;
    let list = "/account/addresses";
    let refused =
        visitor.post("/account/addresses/new", &[("street", "Ring 1"), ("city", ""), ("country", "AT")]).await;
    refused.assert_refused("value=\"Ring 1\"");
    for (street, label) in [("Ring 1", "Home"), ("Gasse 2", "Work")] {
        let fields = [("street", street), ("city", "Vienna"), ("country", "AT"), ("label", label)];
        let added = visitor.post("/account/addresses/new", &fields).await;
        visitor.follow(&added).await.assert_says(&format!("{street}, Vienna, Austria"));
    }
    let user = accounts::find_by_email(&world.ctx, &email).await.unwrap().unwrap().user_id;
    let addresses = accounts::list_addresses(&world.ctx, user).await.unwrap();
    let (home, work) = (addresses[0].address_id, addresses[1].address_id);
    visitor.get(&format!("{list}/{work}")).await.assert_says("value=\"Gasse 2\"");
    let fields = [("street", "Gasse 3"), ("city", "Vienna"), ("country", "AT"), ("make_default", "yes")];
    visitor.post(&format!("{list}/{work}"), &fields).await;
    assert_eq!(accounts::get_user(&world.ctx, user).await.unwrap().default_address_id, Some(work));
    visitor.post(&format!("{list}/{home}/default"), &[]).await;
    assert_eq!(accounts::get_user(&world.ctx, user).await.unwrap().default_address_id, Some(home));
    let (thief, _) = Visitor::person(&world).await;
    assert_eq!(thief.get(&format!("{list}/{home}")).await.status, 404);
    assert_eq!(thief.post(&format!("{list}/{home}/default"), &[]).await.status, 404);
    let removed = visitor.post(&format!("{list}/{home}/remove"), &[]).await;
    let left = visitor.follow(&removed).await;
    assert!(!left.body.contains("Ring 1") && left.body.contains("Gasse 3"), "{}", left.body);
}

async fn orders_are_listed_shown_and_cancelled(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 99).await.product_id.to_string();
    let (visitor, _) = Visitor::person(&world).await;
    let mut last = String::new();
    for _ in 0..11 {
        visitor.get("/account").await;
        visitor.post("/cart/items", &[("product_id", &lamp), ("quantity", "1")]).await;
        let page = visitor.get("/checkout").await;
        let hidden = ["cart", "key", "total", "currency", "email"].map(|name| page.hidden(name).unwrap_or_default());
        let fields = [
            ("address", "new"),
            ("street", "Ring 1"),
            ("city", "Vienna"),
            ("country", "AT"),
            ("shipping", "standard"),
            ("outcome", "ok"),
            ("step", "place"),
            ("email", "ada@example.com"),
            ("cart", &hidden[0]),
            ("key", &hidden[1]),
            ("total", &hidden[2]),
            ("currency", &hidden[3]),
        ];
        let bought = visitor.post("/checkout", &fields).await;
        assert_eq!(bought.status, 303, "{}", bought.body);
        last = bought.location.replace("/orders/", "/account/orders/").replace("/thanks", "");
    }
    let first = visitor.get("/account/orders?notice=changed").await;
    first.assert_whole("/account/orders");
    assert_eq!(first.body.matches("<strong>ORD-").count(), 10);
    let next =
        first.body.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap().replace("&#38;", "&");
    let second = visitor.get(&next).await;
    second.assert_says("Page 2");
    assert_eq!(second.body.matches("<strong>ORD-").count(), 1);
    let page = visitor.get(&last).await;
    page.assert_whole(&last);
    for text in ["Ordered", "Paid", "still to come", "Vienna", "€60.00", "Cancel this order"] {
        page.assert_says(text);
    }
    let (thief, _) = Visitor::person(&world).await;
    assert_eq!(thief.get(&last).await.status, 404);
    assert_eq!(thief.post(&format!("{last}/cancel"), &[]).await.status, 404);
    let refused = visitor.post(&format!("{last}/cancel"), &[("notes", "<i>Ordered twice</i>")]).await;
    refused.assert_refused("&#60;i&#62;Ordered twice");
    let cancelled = visitor.post(&format!("{last}/cancel"), &[("notes", "Ordered twice & more")]).await;
    let page = visitor.follow(&cancelled).await;
    page.assert_says("The order is cancelled.");
    page.assert_says("Ordered twice &#38; more");
    assert!(!page.body.contains("Cancel this order"));
}

async fn sessions_are_seen_and_ended(target: &Target) {
    let world = World::new(target).await;
    let (visitor, email) = Visitor::person(&world).await;
    let elsewhere = Visitor::new(&world);
    elsewhere.log_in(&email).await;
    let page = visitor.get("/account/sessions").await;
    page.assert_says("this one");
    let other = page.body.split("/account/sessions/").map(|rest| rest.split('/').next().unwrap_or_default().to_owned());
    let other = other.filter(|id| id.parse::<Uuid>().is_ok()).collect::<Vec<_>>();
    assert_eq!(other.len(), 1, "one's own has no button");
    let ended = visitor.post(&format!("/account/sessions/{}/end", other[0]), &[]).await;
    visitor.follow(&ended).await.assert_says("The session has ended.");
    assert!(elsewhere.get("/account").await.location.starts_with("/login"));
    let all = visitor.post("/account/sessions/end-all", &[]).await;
    visitor.follow(&all).await.assert_says("You are logged out everywhere.");
    assert!(visitor.get("/account").await.location.starts_with("/login"));
}

async fn the_profile_the_password_and_the_address_are_changed(target: &Target) {
    let world = World::new(target).await;
    let (visitor, email) = Visitor::person(&world).await;
    let changed = visitor.post("/account/profile", &[("typed", "yes"), ("first_name", "Grace")]).await;
    visitor.follow(&changed).await.assert_says("value=\"Grace\"");
    let wrong = [("password", "not my password"), ("new_password", "another password")];
    visitor.post("/account/password", &wrong).await.assert_refused("This is not your password");
    let right = [("password", PASSWORD), ("new_password", "another password")];
    let changed = visitor.post("/account/password", &right).await;
    visitor.follow(&changed).await.assert_says("Your password is changed.");
    let new = format!("{}@example.com", widerow_testing::unique());
    let wrong = [("email", new.as_str()), ("email_password", PASSWORD)];
    let refused = visitor.post("/account/email", &wrong).await;
    refused.assert_refused("This is not your password");
    refused.assert_says(&format!("value=\"{new}\""));
    let sent = visitor.post("/account/email", &[("email", &new), ("email_password", "another password")]).await;
    visitor.follow(&sent).await.assert_says("A letter is on its way.");
    let token = token_in(&world.letter(&new, 0).await);
    visitor.get(&format!("/account/email?token={token}")).await.assert_says("Use this address");
    // Somebody else who is logged in changes nothing with it.
    let (other, _) = Visitor::person(&world).await;
    let refused = other.post("/account/email/confirm", &[("token", &token)]).await;
    assert_eq!(refused.status, 422);
    refused.assert_refused("Ask for a new letter");
    assert!(accounts::find_by_email(&world.ctx, &email).await.unwrap().is_some());
    assert!(accounts::find_by_email(&world.ctx, &new).await.unwrap().is_none());
    let done = visitor.post("/account/email/confirm", &[("token", &token)]).await;
    visitor.follow(&done).await.assert_says(&new);
    assert!(accounts::find_by_email(&world.ctx, &email).await.unwrap().is_none());
}
