//! The office's pages of figures, keys, roles and the system: who sees them, what they say, what their forms do.

use merkato::{
    Context,
    accounts::{self, NewUser, Role},
    analytics::{self, CategorySum, Contribution},
    flows,
    id::{OrderId, UserId},
    keys::{self, NewKey, Scope},
};
use reqwest::{RequestBuilder, Response};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use crate::world::{PASSWORD, World};

cases![
    every_page_renders_for_an_admin,
    nobody_is_sent_to_log_in_and_others_are_refused,
    what_somebody_wrote_is_never_markup,
    a_range_that_is_none_is_told,
    a_key_is_made_shown_once_and_revoked,
    a_form_without_its_token_is_refused,
    roles_are_given_and_the_last_admin_is_asked,
    another_shop_is_not_seen,
    the_checks_come_to_an_end,
    tables_are_measured_when_somebody_asks,
];

const PAGES: [(&str, &str); 9] = [
    ("/admin", "Dashboard"),
    ("/admin/analytics", "Analytics"),
    ("/admin/analytics/products", "Views of a product"),
    ("/admin/data", "Data model"),
    ("/admin/data/patterns", "Access patterns"),
    ("/admin/data/sizes", "Partition sizes"),
    ("/admin/keys", "Keys"),
    ("/admin/users", "Users and roles"),
    ("/admin/system", "System"),
];

/// A browser with a session: its cookies, and the token of its forms.
struct Browser<'w> {
    world: &'w World,
    cookie: String,
    csrf: String,
}

impl<'w> Browser<'w> {
    async fn of(world: &'w World, ctx: &Context, role: Role) -> Self {
        let session = world.session(ctx, role).await;
        let mut browser = Browser { world, cookie: format!("merkato_session={session}"), csrf: String::new() };
        let answer = browser.send("GET", "/").send().await.expect("an answer");
        if let Some(cookie) = answer.headers().get("set-cookie").and_then(|value| value.to_str().ok()) {
            browser.cookie += &format!("; {}", cookie.split(';').next().unwrap_or_default());
        }
        if role == Role::Admin && ctx.store.tenant() == world.ctx.store.tenant() {
            let (_, html) = browser.get("/admin/keys/new").await;
            browser.csrf = between(&html, "name=\"csrf\" value=\"", "\"").to_owned();
            assert!(!browser.csrf.is_empty());
        }
        browser
    }

    fn send(&self, method: &str, path: &str) -> RequestBuilder {
        let request = self.world.request(method, path).header("cookie", &self.cookie);
        request.header("accept", "text/html").header("origin", format!("http://{}", self.world.address))
    }

    async fn get(&self, path: &str) -> (u16, String) {
        page(self.send("GET", path).send().await.expect("an answer")).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let mut all = vec![("csrf", self.csrf.as_str())];
        all.extend(fields);
        let body = all.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&");
        let request = self.send("POST", path).header("content-type", "application/x-www-form-urlencoded");
        request.body(body).send().await.expect("an answer")
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

async fn page(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    (status, answer.text().await.expect("a body"))
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map_or("", |(found, _)| found)
}

fn location(answer: &Response) -> &str {
    assert_eq!(answer.status().as_u16(), 303, "{answer:?}");
    answer.headers()["location"].to_str().expect("text")
}

/// A shop with a product that somebody looked at and that was sold.
async fn furnished(world: &World, name: &str) -> merkato::catalog::Product {
    let ctx = &world.ctx;
    let product = world.stocked(ctx, name, 12_430, 3).await;
    let sum = CategorySum { item_count: 1, revenue: Decimal::new(1_243_000, 2) };
    let contribution = Contribution {
        order_id: OrderId(ctx.new_id()),
        date: ctx.now().date(),
        revision: 1,
        currency: ctx.settings.orders.currency.clone(),
        categories: [(product.category_id, sum)].into(),
    };
    analytics::record_order(ctx, contribution).await.expect("counted");
    analytics::view_product(ctx, product.product_id, b"ada").await.expect("seen");
    analytics::flush_views(ctx).await.expect("written");
    flows::sales::rank_products(ctx).await.expect("ranked");
    product
}

async fn every_page_renders_for_an_admin(target: &Target) {
    let world = World::new(target).await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    // Empty, and with something in it.
    for is_furnished in [false, true] {
        let mut pages: Vec<(String, String)> = PAGES.map(|(path, title)| (path.into(), title.into())).into();
        if is_furnished {
            let product = furnished(&world, "Lamp").await;
            pages.push((format!("/admin/analytics/products/{}", product.product_id), "Lamp".into()));
            pages.push(("/admin/analytics/products?q=lam".into(), "Views of a product".into()));
            pages.push(("/admin/analytics?days=90&by=views&over=30".into(), "Analytics".into()));
            pages.push(("/admin/keys/new".into(), "Make a key".into()));
        }
        for (path, title) in pages {
            let (status, html) = admin.get(&path).await;
            assert_eq!(status, 200, "{path}: {html}");
            assert!(between(&html, "<title>", "</title>").contains(&title), "{path}: {html}");
            assert_eq!(between(&html, "<h1>", "</h1>"), title, "{path}");
            assert!(html.len() < 100 * 1024, "{path}: {} bytes", html.len());
            assert!(!html.contains(" style=") && !html.contains("<script>") && !html.contains(" onclick"), "{path}");
        }
    }
    let (_, html) = admin.get("/admin").await;
    assert!(html.contains("Revenue was €12,430 today, none last"), "{html}");
    let (_, html) = admin.get("/admin/analytics?by=views").await;
    assert!(html.contains("Lamp was looked at the most in the last 7 days: 1 times"), "{html}");
    let (_, html) = admin.get("/admin/analytics/products?q=lam").await;
    assert!(html.contains(">Lamp</a>"), "{html}");
    assert_eq!(admin.get("/admin/analytics/products/0199a1b2-0000-7000-8000-000000000000").await.0, 404);
}

async fn nobody_is_sent_to_log_in_and_others_are_refused(target: &Target) {
    let world = World::new(target).await;
    let customer = Browser::of(&world, &world.ctx, Role::Customer).await;
    let staff = Browser::of(&world, &world.ctx, Role::Staff).await;
    let stranger = Browser::of(&world, &world.other, Role::Admin).await;
    for (path, _) in PAGES {
        let answer = world.get(path).send().await.expect("an answer");
        assert_eq!(location(&answer), format!("/login?next={path}"));
        assert_eq!(customer.get(path).await.0, 403, "{path}");
        let answer = stranger.send("GET", path).send().await.expect("an answer");
        assert_eq!(location(&answer), format!("/login?next={path}"));
        let is_admins = matches!(path, "/admin/keys" | "/admin/users" | "/admin/data/sizes");
        assert_eq!(staff.get(path).await.0, if is_admins { 403 } else { 200 }, "{path}");
    }
    let (_, html) = staff.get("/admin/system").await;
    assert!(!html.contains("Check now") && !html.contains("href=\"/admin/keys\""), "{html}");
}

async fn what_somebody_wrote_is_never_markup(target: &Target) {
    let world = World::new(target).await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    let hostile = "<script>alert(1)</script>";
    // Names that are kept have no tags, but all else that is markup.
    let name = "O'Neil & \"Sons\" <3 lamps";
    let product = furnished(&world, name).await;
    admin.post("/admin/keys", &[("name", name), ("scope", "catalog_read"), ("days", "30")]).await;
    let paths = [
        "/admin/analytics".to_owned(),
        "/admin/analytics/products".into(),
        format!("/admin/analytics/products/{}", product.product_id),
        format!("/admin/analytics/products?q={}", encoded(hostile)),
        "/admin/keys".into(),
    ];
    for path in paths {
        let (status, html) = admin.get(&path).await;
        assert_eq!(status, 200, "{path}");
        assert!(
            !html.contains("<script>alert") && !html.contains("\"Sons\"") && !html.contains("<3"),
            "{path}: {html}"
        );
        assert!(
            html.contains("&#60;script&#62;alert(1)") || html.contains("&#34;Sons&#34; &#60;3 lamps"),
            "{path}: {html}"
        );
    }
}

async fn a_range_that_is_none_is_told(target: &Target) {
    let world = World::new(target).await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    let (status, html) = admin.get("/admin/analytics?from=2026-03-15&to=2026-03-01").await;
    assert_eq!(status, 422);
    assert!(html.contains("<title>Error: Analytics"), "{html}");
    assert!(html.contains("It is before the first day.") && html.contains("value=\"2026-03-15\""), "{html}");
    for bad in ["days=0", "days=many", "from=2020-01-01&to=2026-01-01", "from=x"] {
        assert_eq!(admin.get(&format!("/admin/analytics?{bad}")).await.0, 422, "{bad}");
    }
    assert_eq!(admin.get("/admin/analytics?from=&to=&days=7").await.0, 200);
}

async fn a_key_is_made_shown_once_and_revoked(target: &Target) {
    let world = World::new(target).await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    // What was typed stays, and the page says what is wrong.
    let (status, html) = page(admin.post("/admin/keys", &[("name", "Scanner"), ("days", "90")]).await).await;
    assert_eq!(status, 422);
    assert!(html.contains("value=\"Scanner\"") && html.contains("a key is good for something"), "{html}");
    let (status, html) = page(admin.post("/admin/keys", &[("scope", "catalog_read"), ("days", "-3")]).await).await;
    assert_eq!(status, 422);
    assert!(html.contains("value=\"catalog_read\" aria-describedby=\"says-catalog_read\" checked"), "{html}");
    assert_eq!(admin.post("/admin/keys", &[("name", "x"), ("scope", "everything"), ("days", "1")]).await.status(), 422);
    let fields = [("name", "Scanner"), ("scope", "catalog_read"), ("scope", "orders_read"), ("days", "90")];
    let answer = admin.post("/admin/keys", &fields).await;
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let (status, html) = page(answer).await;
    let token = between(&html, "readonly value=\"", "\"").to_owned();
    assert!(status == 200 && token.starts_with("mk_"), "{html}");
    let products = || world.get("/v1/admin/products").bearer_auth(&token).send();
    assert_eq!(products().await.expect("an answer").status(), 200);
    let (_, list) = admin.get("/admin/keys").await;
    assert!(list.contains("Scanner") && list.contains("In force") && !list.contains("mk_"), "{list}");
    let id = between(&list, "action=\"/admin/keys/", "/revoke");
    let answer = admin.post(&format!("/admin/keys/{id}/revoke"), &[]).await;
    assert_eq!(location(&answer), "/admin/keys?notice=key-revoked");
    assert_eq!(products().await.expect("an answer").status(), 401);
    let (_, list) = admin.get("/admin/keys?notice=key-revoked").await;
    assert!(list.contains("Revoked") && list.contains("The key is revoked."), "{list}");
    // More keys than a page has, and the way to the next.
    world.clock.advance_millis(1_000);
    for n in 0..25 {
        let new = NewKey {
            name: format!("Program {n}"),
            scopes: [Scope::SystemRead].into(),
            created_by: "a test".into(),
            expires_at: None,
        };
        let _ = keys::create(&world.ctx, new).await.expect("a key");
    }
    let (_, first) = admin.get("/admin/keys?notice=key-revoked").await;
    let next = between(&first, "rel=\"next\" href=\"", "\"").replace("&#38;", "&");
    let (status, second) = admin.get(&next).await;
    assert_eq!(status, 200, "{next}");
    assert!(second.contains("Page 2") && second.contains("Scanner") && second.contains("First page"), "{second}");
}

async fn a_form_without_its_token_is_refused(target: &Target) {
    let world = World::new(target).await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    let (user, _) = world.user(&world.ctx, Role::Customer).await;
    let other = Browser { csrf: "0".repeat(64), cookie: admin.cookie.clone(), world: &world };
    for path in ["/admin/keys", "/admin/users", "/admin/system/verify", &format!("/admin/users/{user}/role")] {
        let answer =
            other.post(path, &[("role", "admin"), ("name", "x"), ("scope", "keys_write"), ("days", "0")]).await;
        assert_eq!(answer.status(), 403, "{path}");
    }
    assert_eq!(accounts::get_user(&world.ctx, user).await.expect("a user").role, Role::Customer);
}

async fn roles_are_given_and_the_last_admin_is_asked(target: &Target) {
    let world = World::new(target).await;
    let ctx = &world.ctx;
    let admin = Browser::of(&world, ctx, Role::Admin).await;
    let (user, email) = world.user(ctx, Role::Customer).await;
    let role = async |id: UserId| accounts::get_user(ctx, id).await.expect("a user").role;
    let answer = admin.post("/admin/users", &[("email", "nobody@example.com"), ("role", "staff")]).await;
    let (status, html) = page(answer).await;
    assert_eq!(status, 422);
    assert!(html.contains("value=\"nobody@example.com\"") && html.contains("They must register first."), "{html}");
    assert_eq!(admin.post("/admin/users", &[("email", "no address"), ("role", "staff")]).await.status(), 422);
    // Anybody can have registered with an address.
    let new = NewUser { email: "eve@example.com".into(), password: PASSWORD.into(), ..NewUser::default() };
    let registered = accounts::register(ctx, new).await.expect("registered");
    let eve = registered.user.user_id;
    let appoint = || admin.post("/admin/users", &[("email", "eve@example.com"), ("role", "admin")]);
    let (status, html) = page(appoint().await).await;
    assert_eq!(status, 422);
    assert!(html.contains("This address is not verified") && html.contains("value=\"eve@example.com\""), "{html}");
    let (status, html) = page(admin.post(&format!("/admin/users/{eve}/role"), &[("role", "staff")]).await).await;
    assert!(status == 422 && html.contains("Their address is not verified"), "{html}");
    assert_eq!(role(eve).await, Role::Customer);
    accounts::verify_email(ctx, registered.letter.token.as_str()).await.expect("verified");
    assert_eq!(location(&appoint().await), "/admin/users?notice=role-changed");
    assert_eq!(role(eve).await, Role::Admin);
    accounts::set_role(ctx, eve, Role::Customer).await.expect("less than before");
    let answer = admin.post("/admin/users", &[("email", &email), ("role", "staff")]).await;
    assert_eq!(location(&answer), "/admin/users?notice=role-changed");
    assert_eq!(role(user).await, Role::Staff);
    let (_, list) = admin.get("/admin/users").await;
    assert!(list.contains(&email) && list.contains("(you)"), "{list}");
    // The only admin is asked before the role is gone.
    let own = list.split("action=\"/admin/users/").skip(1).map(|rest| rest.split('/').next().unwrap());
    let own: UserId = own.map(|id| UserId(id.parse().unwrap())).find(|id| *id != user).expect("the admin");
    let path = format!("/admin/users/{own}/role");
    let (status, html) = page(admin.post(&path, &[("role", "customer")]).await).await;
    assert_eq!(status, 422);
    assert!(html.contains("There is no other admin") && html.contains("name=\"sure\""), "{html}");
    assert_eq!(role(own).await, Role::Admin);
    // With another one there, it is still asked about oneself, and not about others.
    accounts::set_role(ctx, user, Role::Admin).await.expect("a role");
    let (_, html) = page(admin.post(&path, &[("role", "staff")]).await).await;
    assert!(!html.contains("There is no other admin") && html.contains("from yourself"), "{html}");
    let answer = admin.post(&format!("/admin/users/{user}/role"), &[("role", "staff")]).await;
    assert_eq!(location(&answer), "/admin/users?notice=role-changed");
    let answer = admin.post(&path, &[("role", "staff"), ("sure", "yes")]).await;
    assert_eq!(location(&answer), "/?notice=role-changed");
    assert_eq!(role(own).await, Role::Staff);
    assert_eq!(admin.get("/admin/users").await.0, 403);
}

async fn another_shop_is_not_seen(target: &Target) {
    let world = World::new(target).await;
    let other = world.stocked(&world.other, "Of another shop", 100, 1).await;
    analytics::view_product(&world.other, other.product_id, b"ada").await.expect("seen");
    analytics::flush_views(&world.other).await.expect("written");
    flows::sales::rank_products(&world.other).await.expect("ranked");
    let (stranger, _) = world.user(&world.other, Role::Admin).await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    assert_eq!(admin.get(&format!("/admin/analytics/products/{}", other.product_id)).await.0, 404);
    assert_eq!(admin.post(&format!("/admin/users/{stranger}/role"), &[("role", "customer")]).await.status(), 404);
    for path in ["/admin", "/admin/analytics?by=views", "/admin/analytics/products", "/admin/users"] {
        let (_, html) = admin.get(path).await;
        assert!(!html.contains("Of another shop") && !html.contains(&stranger.to_string()), "{path}");
    }
    let (_, html) = admin.get("/admin/data/sizes?measure=now&table=products").await;
    assert!(html.contains("There are no rows yet"), "{html}");
}

async fn the_checks_come_to_an_end(target: &Target) {
    let world = World::new(target).await;
    furnished(&world, "Lamp").await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    let answer = admin.post("/admin/system/verify", &[]).await;
    assert_eq!(location(&answer), "/admin/system?notice=checks-begun#checks");
    for _ in 0..600 {
        let (_, html) = admin.get("/admin/system").await;
        if !html.contains("http-equiv=\"refresh\"") {
            // An order that nobody placed was counted: the sales of the day are not those of its orders.
            assert!(html.contains("were found at") || html.contains("was found at"), "{html}");
            assert!(html.contains("daily sales") && html.contains("derived tables"), "{html}");
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the checks did not end");
}

async fn tables_are_measured_when_somebody_asks(target: &Target) {
    let world = World::new(target).await;
    furnished(&world, "Lamp").await;
    let admin = Browser::of(&world, &world.ctx, Role::Admin).await;
    let (_, html) = admin.get("/admin/data/sizes").await;
    assert!(html.contains("Nothing is measured yet"), "{html}");
    let (status, html) = admin.get("/admin/data/sizes?measure=now&table=products_by_category").await;
    assert_eq!(status, 200, "{html}");
    assert!(html.contains("The largest of 1 partition has 5 rows"), "{html}");
    assert_eq!(admin.get("/admin/data/sizes?measure=now&table=no_such_table").await.0, 404);
}
