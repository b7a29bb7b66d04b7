//! Every page in its turn: of the shop as a guest and as a customer, of the office as an admin.

use std::time::Duration;

use merkato::{
    Context,
    events::{self, AppendRequest, Expected, NewEvent},
    id::AggregateId,
};
use merkato_server::demo;
use serde_json::json;

use crate::{
    shopping::{BEAR, LAMP, add_to_cart, check_out_as_guest, log_in, stocked, thanked},
    tour::{Eye, Part, Tour},
    world::{World, link_in},
};

crate::run::cases![every_page_of_the_shop_is_whole, every_page_of_the_office_is_whole];

const STRANGER: &str = "stranger@example.com";
/// How long it takes to look through the whole shop, on a machine that is busy.
const CHECKS_TIME_MAX: Duration = Duration::from_secs(900);
/// A product without a single unit.
const SOLD_OUT: &str = "enamel-kettle-1-5-l";

async fn every_page_of_the_shop_is_whole(world: &World) {
    shop(world, Eye::Whole).await;
}

async fn every_page_of_the_office_is_whole(world: &World) {
    office(world, Eye::Whole).await;
}

pub async fn shop(world: &World, eye: Eye) {
    let lamp = stocked(world, LAMP, 3).await;
    stocked(world, BEAR, 12).await;
    stocked(world, SOLD_OUT, 0).await;
    let mut tour = Tour::new(world, eye).await;
    for (name, path) in [
        ("home", "/"),
        ("product", "/p/desk-lamp-fjord"),
        ("product-choices", "/p/teddy-bear-bruno"),
        ("product-sold-out", "/p/enamel-kettle-1-5-l"),
        ("search", "/search?q=lamp"),
        ("search-nothing", "/search?q=submarine"),
        ("search-empty", "/search"),
        ("cart-empty", "/cart"),
        ("login", "/login"),
        ("register", "/register"),
        ("reset", "/password-reset"),
        ("lost", "/nowhere"),
    ] {
        tour.go(name, path).await;
    }
    tour.visitor.visit("/").await;
    tour.follow("department", "/c/").await;
    tour.follow("category", "/c/").await;
    entry(&mut tour).await;

    // A guest who buys, after having left out everything.
    let visitor = tour.visitor.clone();
    add_to_cart(&visitor, LAMP).await;
    tour.look("cart-guest").await;
    visitor.click("Check out").await;
    visitor.see("We keep these for you for").await;
    tour.look("checkout-guest").await;
    visitor.click("Place order").await;
    visitor.see("Enter the street and the number").await;
    tour.look("checkout-refused").await;
    check_out_as_guest(&visitor).await;
    visitor.click("Place order").await;
    thanked(&visitor).await;
    tour.look("thanks").await;
    // What was free is with the guest, but for two.
    visitor.visit(&format!("/p/{}", lamp.slug)).await;
    visitor.see("Only 2 left").await;

    log_in(&visitor, demo::CUSTOMER).await;
    tour.look("account").await;
    for (name, path) in [
        ("cart", "/cart"),
        ("checkout", "/checkout"),
        ("account-addresses", "/account/addresses"),
        ("account-address-new", "/account/addresses/new"),
        ("account-carts", "/account/carts"),
        ("account-sessions", "/account/sessions"),
        ("account-profile", "/account/profile"),
        ("account-email", "/account/email?token=1.2"),
        ("forbidden", "/admin"),
    ] {
        tour.go(name, path).await;
    }
    visitor.visit("/account/addresses").await;
    tour.follow("account-address", "/account/addresses/").await;
    visitor.visit("/cart").await;
    tour.follow("cart-saved", "/cart/").await;
    tour.go("account-orders", "/account/orders").await;
    tour.follow("account-order", "/account/orders/").await;
    tour.end(Part::Shop).await;
}

/// The pages of the way in that come after a form or out of a letter.
async fn entry(tour: &mut Tour<'_>) {
    let visitor = tour.visitor.clone();
    visitor.visit("/login").await;
    visitor.fill("E-mail address", STRANGER).await;
    visitor.fill("Password", "not this one").await;
    visitor.within("Password").click("Log in").await;
    visitor.see("The e-mail address or the password is wrong.").await;
    tour.look("login-refused").await;
    visitor.visit("/register").await;
    visitor.fill("E-mail address", STRANGER).await;
    visitor.fill("Password", "strange and long").await;
    visitor.within("Last name").click("Register").await;
    visitor.see("Look into your letters").await;
    tour.look("register-sent").await;
    tour.go("verify", &link_in(&tour.world.letter(STRANGER, 0).await)).await;
    visitor.visit("/password-reset").await;
    visitor.fill("E-mail address", demo::CUSTOMER.0).await;
    visitor.click("Send me a letter").await;
    visitor.see("It may take some minutes.").await;
    tour.look("reset-sent").await;
    tour.go("reset-set", &link_in(&tour.world.letter(demo::CUSTOMER.0, 0).await)).await;
}

/// A wallet to look at, with some events of every sort.
async fn spend(ctx: &Context) -> AggregateId {
    let (id, together) = (AggregateId(ctx.new_id()), ctx.new_id());
    let mut all = vec![NewEvent::new(
        "WalletOpened",
        json!({"owner": "Ada Lovelace", "currency": "EUR", "balance": "0.00", "limits": {"day": "500.00", "once": "200.00"}}),
    )];
    for n in 1..=30 {
        let last = json!({"amount": format!("{n}.50"), "reference": format!("INV-{n:04}")});
        let data = json!({"balance": format!("{}.25", 40 * n), "last": last, "tags": ["shop", "credit"]});
        let name = if n % 3 == 0 { "MoneyWithdrawn" } else { "MoneyDeposited" };
        let mut event = NewEvent { correlation_id: Some(together), ..NewEvent::new(name, data) };
        event.metadata.insert("till".into(), "Berlin 2".into());
        all.push(event);
    }
    all.push(NewEvent::new("LimitsLifted", json!({"limits": null, "lifted_by": "Grace"})));
    let request = AppendRequest { aggregate_id: id, kind: "purse".into(), expected: Expected::Absent, events: all };
    events::append(ctx, request).await.expect("appended");
    events::sequence_all(ctx, |_| {}).await.expect("places");
    events::project_all(ctx).await.expect("read models");
    id
}

pub async fn office(world: &World, eye: Eye) {
    let wallet = spend(&world.ctx).await;
    // The shop's own sales are of yesterday at the most; a trader's are of two years.
    let (trader, done) = (&demo::TRADERS[0], demo::Done::default());
    demo::stock_trader(&world.ctx, trader, demo::SEED, demo::Size::Small, &done).await.expect("sales");
    demo::measure(&world.ctx, demo::SEED, demo::Size::Small).await.expect("measurements");
    let mut tour = Tour::new(world, eye).await;
    log_in(&tour.visitor, demo::ADMIN).await;
    tour.go("office-sizes-measured", "/admin/data/sizes?measure=now").await;
    tour.go("office-system", "/admin/system").await;
    // The checks go on while one looks at the other pages. Meanwhile nobody else measures anything.
    tour.visitor.click("Check now").await;
    tour.visitor.see("The checks have begun.").await;
    for (name, path) in [
        ("office-dashboard", "/admin"),
        ("office-analytics", "/admin/analytics"),
        ("office-views-find", "/admin/analytics/products"),
        ("office-prices", "/admin/sales"),
        ("office-prices-categories", "/admin/sales/categories"),
        ("office-prices-category", "/admin/sales/categories/dress"),
        ("office-prices-seasons", "/admin/sales/categories/coat?by=season&span=730"),
        ("office-prices-refused", "/admin/sales/categories/dress?by=day&from=2020-01-01"),
        ("office-prices-side-by-side", "/admin/sales/categories/dress/brands"),
        ("office-prices-brands", "/admin/sales/brands"),
        ("office-prices-brand", "/admin/sales/brands/Hollis"),
        ("office-prices-product", "/admin/sales/products/hollis%2Ddress%2D1"),
        ("office-prices-suggestion", "/admin/sales/suggestion?category=dress&brand=Hollis"),
        ("office-sensors", "/admin/telemetry"),
        ("office-graph", "/admin/graph"),
        ("office-graph-nobody", "/admin/graph?who=stranger"),
        ("office-graph-path-begin", "/admin/graph/path"),
        ("office-graph-path-wrong", "/admin/graph/path?from=ada@demo.example&to=nobody@demo.example"),
        ("office-tree-search", "/admin/trees/company/search?q=an"),
        ("office-tree-search-nothing", "/admin/trees/company/search?q=submarine"),
        ("office-data", "/admin/data"),
        ("office-patterns", "/admin/data/patterns"),
        ("office-sizes", "/admin/data/sizes"),
        ("office-keys", "/admin/keys"),
        ("office-key-new", "/admin/keys/new"),
        ("office-users", "/admin/users"),
        ("office-product-new", "/admin/products/new"),
        ("office-featured", "/admin/featured"),
        ("office-orders-none", "/admin/orders?date=2020-02-02"),
        ("office-orders-lost", "/admin/orders?number=ORD-1"),
    ] {
        tour.go(name, path).await;
    }
    for (name, path) in [
        ("office-events", "/admin/events"),
        ("office-events-type", "/admin/events?type=MoneyDeposited"),
        ("office-events-nothing", "/admin/events?type=MoneyDeposited&from=2020-01-01&to=2020-01-31"),
        ("office-events-refused", "/admin/events?stream=lamp"),
        ("office-projections", "/admin/events/projections"),
    ] {
        tour.go(name, path).await;
    }
    for version in [1, 14, 32] {
        let path = format!("/admin/events/streams/{wallet}?version={version}");
        tour.go(&format!("office-stream-{version}"), &path).await;
    }
    for (list, path, one) in [
        ("office-orders", "/admin/orders", "office-order"),
        ("office-products", "/admin/products", "office-product"),
        ("office-categories", "/admin/categories", "office-category"),
        ("office-inventory", "/admin/inventory", "office-stock"),
        ("office-customers", "/admin/customers", "office-customer"),
        ("office-trees", "/admin/trees", "office-tree"),
        ("office-discounts", "/admin/discounts", "office-discount"),
        ("office-views-list", "/admin/analytics/products", "office-views"),
    ] {
        tour.go(list, path).await;
        tour.follow(one, &format!("{path}/")).await;
    }
    tour.visitor.visit("/admin/customers").await;
    tour.follow("office-customer-again", "/admin/customers/").await;
    tour.follow("office-wallet", "/admin/wallets/").await;
    for (name, sensor) in [("good", "Cold store Berlin"), ("gaps", "Cold store Hamburg"), ("failing", "Freezer Munich")]
    {
        tour.visitor.visit("/admin/telemetry").await;
        tour.visitor.click(sensor).await;
        tour.visitor.see("Day by day").await;
        tour.look(&format!("office-sensor-{name}")).await;
    }
    let sensor = tour.visitor.path().await;
    tour.go("office-sensor-week", &format!("{sensor}?span=7d")).await;
    tour.go("office-sensor-nothing", &format!("{sensor}?metric=pressure")).await;
    tour.go("office-sensor-refused", &format!("{sensor}?from=2026-02-30")).await;
    let visitor = tour.visitor.clone();
    visitor.visit("/admin/keys/new").await;
    visitor.fill("Name", "Nightly import").await;
    visitor.click("Make the key").await;
    visitor.see("Choose at least one").await;
    tour.look("office-key-refused").await;
    visitor.choose("What it may do", "Catalog: read").await;
    visitor.click("Make the key").await;
    visitor.see("The key is made").await;
    tour.look("office-key-made").await;
    tour.go("office-keys-some", "/admin/keys").await;
    tour.go("office-tree-open", "/admin/trees/company").await;
    visitor.click("Engineering").await;
    visitor.see("Below Engineering").await;
    tour.look("office-tree-node").await;
    visitor.click("▸ Move").await;
    visitor.fill("Path of the node that it is to stand below", "root/Engineering/Design").await;
    visitor.click("Move it there").await;
    visitor.see("To the form").await;
    tour.look("office-tree-refused").await;
    visitor.visit("/admin/graph?who=ada@demo.example").await;
    visitor.see("Ada Vogel has").await;
    tour.look("office-graph-person").await;
    visitor.fill("With", "nobody@demo.example").await;
    visitor.click("Connect").await;
    visitor.see("To the form").await;
    tour.look("office-graph-refused").await;
    visitor.visit("/admin/graph/path?from=ada@demo.example&to=deniz.aydin@example.com").await;
    visitor.see("Everybody on the way").await;
    tour.look("office-graph-path").await;
    visitor.visit("/admin/system").await;
    visitor.see_within(CHECKS_TIME_MAX, "Everything agrees, as of").await;
    tour.look("office-system-checked").await;
    tour.end(Part::Office).await;
}
