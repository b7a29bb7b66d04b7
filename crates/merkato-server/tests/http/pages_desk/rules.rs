//! What holds for every page of the desk.

use merkato::{
    accounts::Role,
    graph::{self, ConnectionType, NewConnection},
    keys::Scope,
};
use merkato_server::{
    http::access::{Access, Rule},
    web::{admin::desk::PAGES, pages},
};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{Clerk, Seen};
use crate::admin::{key, orders};

cases![
    every_page_is_shown,
    nobody_is_asked_to_log_in,
    a_customer_sees_nothing,
    a_key_sees_what_its_scope_is_for,
    another_shop_s_things_are_not_there,
    a_form_without_its_token_does_nothing,
    an_empty_shop_says_how_to_begin,
    what_is_asked_for_is_shown_as_text,
];

/// The address of a page, with something for each variable.
fn address(rule: &Rule, with: impl Fn(&str) -> String) -> String {
    let part = |part: &str| if part.starts_with('{') { with(part) } else { part.to_owned() };
    rule.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn anything(part: &str) -> String {
    match part {
        "{list}" => "homepage".to_owned(),
        _ => Uuid::now_v7().to_string(),
    }
}

async fn every_page_is_shown(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (world, ctx) = (clerk.world(), &clerk.world().ctx);
    let product = orders::product(&clerk.office, 5).await;
    let order = orders::buy(&clerk.office, product).await;
    let category = world.category(ctx, "Chairs").await;
    let (customer, email) = world.user(ctx, Role::Customer).await;
    let pages = [
        ("/admin/orders".to_owned(), "Orders"),
        (format!("/admin/orders/{order}"), "Order ORD-"),
        ("/admin/products".to_owned(), "Products"),
        ("/admin/products/new".to_owned(), "Add product"),
        (format!("/admin/products/{product}"), "Lamp"),
        ("/admin/featured/homepage".to_owned(), "Featured"),
        ("/admin/featured/deals".to_owned(), "Deals"),
        ("/admin/categories".to_owned(), "Categories"),
        (format!("/admin/categories/{category}"), "Chairs"),
        ("/admin/inventory".to_owned(), "Inventory"),
        (format!("/admin/inventory/{product}"), "Stock of Lamp"),
        ("/admin/customers".to_owned(), "Customers"),
        (format!("/admin/customers/{customer}"), email.as_str()),
        ("/admin/discounts".to_owned(), "Discounts"),
    ];
    for (path, title) in &pages {
        clerk.see(path).await.is_a_page(title);
    }
    clerk.see("/admin/featured").await.leads_to("/admin/featured/homepage");
    assert_eq!(clerk.see("/admin/orders?date=yesterday").await.status, 400);
    assert_eq!(clerk.see("/admin/featured/No%20list").await.status, 400);
    assert_eq!(clerk.see("/admin/orders/nothing").await.status, 400);
}

async fn nobody_is_asked_to_log_in(target: &Target) {
    let clerk = Clerk::come(target).await;
    for rule in PAGES {
        let path = address(rule, anything);
        let request = clerk.world().request(rule.method, &path).header("accept", "text/html");
        let request = if rule.is_unsafe() { request.form(&[("a", "b")]) } else { request };
        let seen = Seen::of(request.send().await.expect("an answer")).await;
        assert_eq!(seen.status, 303, "{path}");
        assert!(seen.location.starts_with("/login?next="), "{path}: {}", seen.location);
    }
}

async fn a_customer_sees_nothing(target: &Target) {
    let clerk = Clerk::come(target).await;
    let token = clerk.session(Role::Customer).await;
    for rule in PAGES {
        let path = address(rule, anything);
        let request = clerk.world().request(rule.method, &path).bearer_auth(&token);
        let request = if rule.is_unsafe() { request.form(&[("a", "b")]) } else { request };
        assert_eq!(request.send().await.expect("an answer").status(), 403, "{path}");
    }
}

/// A program sees no more on a page than the API would tell it.
async fn a_key_sees_what_its_scope_is_for(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let product = orders::product(&clerk.office, 5).await;
    let (customer, email) = clerk.world().user(ctx, Role::Customer).await;
    let (friend, friends_email) = clerk.world().user(ctx, Role::Customer).await;
    graph::connect(ctx, customer, ConnectionType::Friend, friend, NewConnection::default()).await.expect("connected");
    let (_, staffs_email) = clerk.world().user(ctx, Role::Staff).await;
    let office = || pages::rules().filter(|rule| rule.path.starts_with("/admin") && !rule.is_unsafe());
    assert!(office().count() > PAGES.len());
    for own in Scope::ALL {
        let token = key(ctx, &[*own]).await;
        let see = async |path: &str| {
            let answer = clerk.world().get(path).bearer_auth(&token).send().await.expect("an answer");
            let seen = Seen::of(answer).await;
            let told = |scope, heading: &str| *own == scope || !seen.html.contains(heading);
            assert!(told(Scope::InventoryRead, "id=\"stock\""), "{path}: {}", seen.html);
            assert!(told(Scope::InventoryRead, "id=\"low\""), "{path}: {}", seen.html);
            assert!(told(Scope::OrdersRead, "What is ordered with this account"), "{path}: {}", seen.html);
            for email in [&email, &friends_email, &staffs_email] {
                assert!(told(Scope::CustomersRead, email), "{path}, {own:?}: {}", seen.html);
            }
            seen
        };
        for rule in office() {
            let path = address(rule, |part| match part {
                "{product}" => product.to_string(),
                "{user}" | "{user_id}" => customer.to_string(),
                "{id}" if rule.path.contains("customers") => customer.to_string(),
                "{id}" if rule.path.contains("products") => product.to_string(),
                part => anything(part),
            });
            let seen = see(&path).await;
            let wanted = [Access::Staff(*own), Access::Admin(*own)].contains(&rule.access);
            assert_eq!(seen.status != 403, wanted, "{path} {own:?}: {}", seen.status);
        }
        // Nor whose an e-mail address is.
        for path in ["/admin/graph?who=", "/admin/graph/path?from=", "/admin/customers?email="] {
            let asked = clerk.world().get(&format!("{path}{email}")).bearer_auth(&token).send().await;
            let seen = Seen::of(asked.expect("an answer")).await;
            let told = seen.location.contains(&customer.to_string()) || seen.html.contains(&customer.to_string());
            assert!(*own == Scope::CustomersRead || !told, "{path}, {own:?}: {}", seen.html);
        }
    }
}

async fn another_shop_s_things_are_not_there(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (world, other) = (clerk.world(), &clerk.world().other);
    let product = world.stocked(other, "Lamp", 10_00, 5).await;
    let (customer, email) = world.user(other, Role::Customer).await;
    for path in [
        format!("/admin/products/{}", product.product_id),
        format!("/admin/inventory/{}", product.product_id),
        format!("/admin/categories/{}", product.category_id),
        format!("/admin/customers/{customer}"),
        "/admin/discounts/welcome".to_owned(),
        format!("/admin/orders/{}", Uuid::now_v7()),
    ] {
        assert_eq!(clerk.see(&path).await.status, 404, "{path}");
    }
    clerk.see(&format!("/admin/customers?email={email}")).await.says("Nobody has the e-mail address");
    clerk.see("/admin/products").await.does_not_say("Lamp");
    clerk.see("/admin/inventory").await.does_not_say("vienna");
}

async fn a_form_without_its_token_does_nothing(target: &Target) {
    let clerk = Clerk::come(target).await;
    let product = orders::product(&clerk.office, 5).await;
    for rule in PAGES.iter().filter(|rule| rule.is_unsafe()) {
        let path = address(rule, |part| match part {
            "{product}" => product.to_string(),
            part => anything(part),
        });
        for csrf in ["", "0123456789abcdef0123456789abcdef"] {
            let seen = clerk.send_with(csrf, &path, &[("name", "New"), ("units", "3")]).await;
            assert_eq!(seen.status, 403, "{path}: {}", seen.html);
        }
    }
}

async fn an_empty_shop_says_how_to_begin(target: &Target) {
    let clerk = Clerk::come(target).await;
    for (path, says) in [
        ("/admin/orders", "No orders here."),
        ("/admin/products", "No products yet."),
        ("/admin/products/new", "There is none yet"),
        ("/admin/categories", "No categories yet."),
        ("/admin/inventory", "No warehouse has anything yet."),
        ("/admin/discounts", "No codes yet."),
        ("/admin/featured/deals", "Nothing stands in this list."),
    ] {
        clerk.see(path).await.says(says).is_sound();
    }
}

async fn what_is_asked_for_is_shown_as_text(target: &Target) {
    let clerk = Clerk::come(target).await;
    let hostile = "%3Cscript%3Ealert(1)%3C/script%3E%22%3E";
    for path in [
        "/admin/products?q=",
        "/admin/inventory?q=",
        "/admin/orders?number=",
        "/admin/customers?email=",
        "/admin/discounts?code=",
    ] {
        let seen = clerk.see(&format!("{path}{hostile}")).await;
        assert_eq!(seen.status, 200, "{path}");
        seen.says("&#60;script&#62;").does_not_say("<script>alert").is_sound();
    }
}
