//! What goes through several modules.

use std::collections::BTreeMap;

use merkato::{
    Context, Kind, PageRequest,
    accounts::{self, AddressInput, Client, NewUser, Profile},
    analytics,
    carts::{self, CartEntry, CartLine, GuestToken, MergePolicy, Shopper, Which},
    catalog::{self, Product, ProductChange},
    flows::{
        self, Error,
        checkout::{self, CheckoutRequest},
        person, reversal, shopping,
    },
    id::{MovementId, ProductId, UserId},
    inventory::{self, Note},
    orders::{self, Change, Order, OrderStatus, PostalAddress},
};
use rust_decimal::Decimal;
use widerow::Commit;
use widerow_testing::{Target, cases};

use crate::{
    accounts::settings,
    catalog::{category, on_sale},
    world::{World, raw_rows},
};

cases![
    a_line_has_the_catalogs_price_and_keeps_it,
    a_login_takes_the_guests_cart_along,
    a_new_address_is_shown_beside_the_carts,
    who_is_forgotten_has_no_carts,
    who_is_forgotten_is_in_no_table_and_the_money_stays,
    totals_that_drifted_are_found_and_mended,
];

const PASSWORD: &str = "correct horse";

async fn product(ctx: &Context) -> Product {
    let lamps = category(ctx, "Lamps").await;
    catalog::create_product(ctx, on_sale("Lamp", &lamps, 1999)).await.expect("a product")
}

async fn register(ctx: &Context, email: &str) -> UserId {
    let new = NewUser { email: email.into(), password: PASSWORD.into(), profile: Profile::default() };
    let registered = accounts::register(ctx, new).await.expect("registered");
    accounts::verify_email(ctx, registered.letter.token.as_str()).await.expect("verified").user_id
}

fn client() -> Client {
    Client { address: "192.0.2.7".into(), user_agent: None }
}

async fn a_line_has_the_catalogs_price_and_keeps_it(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamp = product(ctx).await;
    let guest = Shopper::Guest(GuestToken::new(ctx));
    let options = BTreeMap::from([("size".to_owned(), "L".to_owned())]);
    let add = |quantity| shopping::add_to_cart(ctx, &guest, Which::Active, lamp.product_id, options.clone(), quantity);
    let cart = add(2).await.expect("added");
    assert_eq!((cart.subtotal, cart.item_count), (Decimal::new(3998, 2), 2));
    // The shopper sees the price that was chosen, until it is chosen again.
    let change = ProductChange { price: Some(Decimal::from(5)), ..ProductChange::default() };
    catalog::change_product(ctx, lamp.product_id, None, change).await.expect("changed");
    let shown = carts::show_cart(ctx, &guest, Which::Active).await.expect("shown");
    assert_eq!(shown.subtotal, Decimal::new(3998, 2));
    assert_eq!(add(1).await.expect("added").subtotal, Decimal::from(15));
    for quantity in [0, -1, 1 << 31] {
        assert_eq!(add(quantity).await.expect_err("refused").kind(), Kind::Invalid);
    }
    catalog::archive_product(ctx, lamp.product_id, None).await.expect("archived");
    assert!(matches!(add(1).await, Err(Error::NotOnSale { product }) if product == lamp.product_id));
    let other = World::new(target);
    let foreign = shopping::add_to_cart(&other.ctx, &guest, Which::Active, lamp.product_id, BTreeMap::new(), 1).await;
    assert_eq!(foreign.expect_err("another tenant's").code(), "product_not_found");
}

async fn a_login_takes_the_guests_cart_along(target: &Target) {
    let world = World::with(target, settings());
    let ctx = &world.ctx;
    let lamp = product(ctx).await;
    let user = register(ctx, "ada@example.org").await;
    let token = GuestToken::new(ctx);
    for shopper in [Shopper::Guest(token.clone()), Shopper::User(user)] {
        shopping::add_to_cart(ctx, &shopper, Which::Active, lamp.product_id, BTreeMap::new(), 2).await.expect("added");
    }
    let wrong = person::log_in(ctx, "ada@example.org", "wrong horse", &client(), Some(&token), MergePolicy::Sum).await;
    assert_eq!(wrong.expect_err("refused").kind(), Kind::Unauthenticated);
    let client = client();
    let enter = || person::log_in(ctx, "Ada@Example.org", PASSWORD, &client, Some(&token), MergePolicy::Sum);
    let (entered, report) = enter().await.expect("entered");
    assert_eq!((entered.user.user_id, report.changed.len()), (user, 1));
    let (_, again) = enter().await.expect("entered");
    assert_eq!(again.changed.len(), 0);
    let cart = carts::show_cart(ctx, &Shopper::User(user), Which::Active).await.expect("shown");
    assert_eq!((cart.lines.len(), cart.item_count), (1, 4));
}

async fn email_beside(ctx: &Context, user: UserId) -> Option<String> {
    let page = ctx.store.slice::<CartEntry>(user).page().await.expect("read");
    page.statics.get(CartEntry::USER_EMAIL).expect("a text").flatten()
}

async fn a_new_address_is_shown_beside_the_carts(target: &Target) {
    let world = World::with(target, settings());
    let ctx = &world.ctx;
    let user = register(ctx, "ada@example.org").await;
    person::log_in(ctx, "ada@example.org", PASSWORD, &client(), None, MergePolicy::Sum).await.expect("entered");
    carts::create_cart(ctx, user, "Own").await.expect("a cart");
    assert_eq!(email_beside(ctx, user).await.as_deref(), Some("ada@example.org"));
    let letter = accounts::request_email_change(ctx, user, "ada@example.net", "192.0.2.7").await.expect("a letter");
    person::confirm_email_change(ctx, letter.token.as_str()).await.expect("changed");
    assert_eq!(email_beside(ctx, user).await.as_deref(), Some("ada@example.net"));
    assert_eq!(carts::list_carts(ctx, user).await.expect("read").len(), 1);
}

async fn who_is_forgotten_has_no_carts(target: &Target) {
    let world = World::with(target, settings());
    let ctx = &world.ctx;
    let lamp = product(ctx).await;
    let user = register(ctx, "ada@example.org").await;
    let (entered, _) =
        person::log_in(ctx, "ada@example.org", PASSWORD, &client(), None, MergePolicy::Sum).await.expect("entered");
    for name in ["A", "B", "C"] {
        let cart = carts::create_cart(ctx, user, name).await.expect("a cart").cart_id;
        let shopper = Shopper::User(user);
        shopping::add_to_cart(ctx, &shopper, cart, lamp.product_id, BTreeMap::new(), 1).await.expect("added");
    }
    let ids: Vec<_> = carts::list_carts(ctx, user).await.expect("read").iter().map(|entry| entry.cart_id).collect();
    for _ in 0..2 {
        person::erase(ctx, user).await.expect("erased");
        assert_eq!(email_beside(ctx, user).await, None);
        assert_eq!(carts::list_carts(ctx, user).await.expect("read"), []);
    }
    for cart in ids {
        assert_eq!(ctx.store.slice::<CartLine>(cart).page().await.expect("read").rows, []);
    }
    assert_eq!(accounts::authenticate(ctx, entered.token.as_str()).await.expect_err("ended").code(), "not_logged_in");
    let gone = person::log_in(ctx, "ada@example.org", PASSWORD, &client(), None, MergePolicy::Sum).await;
    assert!(matches!(gone, Err(flows::Error::Accounts(accounts::Error::WrongCredentials))));
}

/// What stands for everything that is personal.
const MARK: &str = "zelda";

fn marked(what: &str) -> Option<String> {
    Some(format!("{MARK} {what}"))
}

/// A user with something personal in every column.
async fn zelda(ctx: &Context) -> UserId {
    let email = format!("{MARK}@example.org");
    let profile = Profile {
        first_name: marked("first"),
        last_name: marked("last"),
        phone: marked("phone"),
        avatar_url: Some(format!("/{MARK}.png")),
    };
    let new = NewUser { email: email.clone(), password: PASSWORD.into(), profile };
    let registered = accounts::register(ctx, new).await.expect("registered");
    accounts::verify_email(ctx, registered.letter.token.as_str()).await.expect("verified");
    let user = registered.user.user_id;
    let address = AddressInput {
        label: marked("label"),
        street: format!("{MARK} street"),
        street2: None,
        city: format!("{MARK} city"),
        state: None,
        postal_code: None,
        country: "AT".into(),
        phone: marked("phone"),
    };
    accounts::add_address(ctx, user, address, true).await.expect("added");
    let client = Client { address: "192.0.2.7".into(), user_agent: marked("agent") };
    person::log_in(ctx, &email, PASSWORD, &client, None, MergePolicy::Sum).await.expect("entered");
    user
}

fn purchase(user: UserId, key: &str, source: &str) -> CheckoutRequest {
    let address = PostalAddress {
        label: marked("label"),
        street: format!("{MARK} street"),
        street2: marked("second"),
        city: format!("{MARK} city"),
        postal_code: marked("code"),
        country: "AT".into(),
        phone: marked("phone"),
        ..PostalAddress::default()
    };
    CheckoutRequest {
        key: key.into(),
        shopper: Shopper::User(user),
        cart: Which::Active,
        email: format!("{MARK}@example.org"),
        customer_name: marked("name"),
        shipping_address: address.clone(),
        billing_address: Some(address),
        shipping_method: "standard".into(),
        discount_code: None,
        payment_method: "card".into(),
        payment_source: source.into(),
        customer_notes: marked("wishes"),
        expected_total: None,
        store_credit: None,
    }
}

async fn orders_of(ctx: &Context, user: UserId) -> Vec<Order> {
    let page = orders::list_orders_of_user(ctx, user, None, None, PageRequest::default()).await.expect("read");
    let ids: Vec<_> = page.rows.iter().map(|row| row.order_id).collect();
    orders::list_orders(ctx, &ids).await.expect("read").into_iter().flatten().collect()
}

/// The tables of the shop in which the person stands.
async fn tables_with_the_mark(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    for table in world.database.schema().tables() {
        let rows = raw_rows(world, table).await;
        if format!("{rows:?}").to_lowercase().contains(MARK) {
            found.push(table.name.to_string());
        }
    }
    found
}

async fn who_is_forgotten_is_in_no_table_and_the_money_stays(target: &Target) {
    let world = World::alone_with(target, settings());
    let ctx = &world.ctx;
    let lamp: ProductId = product(ctx).await.product_id;
    let movement = MovementId(ctx.new_id());
    inventory::restock(ctx, movement, lamp, "main", 10, Note::default()).await.expect("restocked");
    let user = zelda(ctx).await;
    let fill = || async {
        let shopper = Shopper::User(user);
        shopping::add_to_cart(ctx, &shopper, Which::Active, lamp, BTreeMap::new(), 2).await.expect("added");
    };
    // One that is on its way, one that was cancelled, one whose payment was declined, and a cart that is not ordered.
    fill().await;
    let bought = checkout::check_out(ctx, &purchase(user, "one", "ok")).await.expect("bought");
    let change = Change { notes: marked("rang"), ..Change::by("clerk", ctx.new_id()) };
    orders::change_status(ctx, bought.draft.order_id, OrderStatus::Processing, change).await.expect("changed");
    fill().await;
    let cancelled = checkout::check_out(ctx, &purchase(user, "two", "ok")).await.expect("bought").draft.order_id;
    reversal::cancel_order(ctx, cancelled, "clerk", marked("asked for it").as_deref()).await.expect("cancelled");
    fill().await;
    let declined = checkout::check_out(ctx, &purchase(user, "three", "decline")).await;
    assert_eq!(declined.expect_err("declined").code(), "payment_declined");
    carts::create_cart(ctx, user, &format!("{MARK} list")).await.expect("a cart");
    let before = orders_of(ctx, user).await;
    assert!(before.len() >= 2);
    let tables = tables_with_the_mark(&world).await;
    for table in
        ["users", "users_by_email", "sessions_by_user", "claims", "carts_by_user", "orders", "order_status_history"]
    {
        assert!(tables.iter().any(|name| name == table), "{table} is not in {tables:?}");
    }
    let date = before[0].order_date();
    let sales = analytics::list_daily_sales(ctx, date, PageRequest::default()).await.expect("read").rows;
    for _ in 0..2 {
        person::erase(ctx, user).await.expect("erased");
        assert_eq!(tables_with_the_mark(&world).await, Vec::<String>::new());
    }
    let after = orders_of(ctx, user).await;
    assert_eq!(after.len(), before.len());
    for (was, is) in before.iter().zip(&after) {
        let left = Order {
            user_email: None,
            customer_name: None,
            shipping_address: None,
            billing_address: None,
            customer_notes: None,
            internal_notes: None,
            updated_at: is.updated_at,
            revision: is.revision,
            ..was.clone()
        };
        assert_eq!(*is, left, "the money, the goods, the status and the country of the tax stay");
        assert_eq!(orders::list_items(ctx, is.order_id).await.expect("read").len(), 1);
    }
    let sales_after = analytics::list_daily_sales(ctx, date, PageRequest::default()).await.expect("read").rows;
    assert_eq!((sales_after, sales.len()), (sales, 1));
    assert_eq!(inventory::get_stock(ctx, lamp).await.expect("read").quantity(), 8);
}

/// Nothing in the shop writes so; a person at the database's console might.
async fn totals_that_drifted_are_found_and_mended(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let lamp = product(ctx).await;
    let (user, guest) = (UserId(ctx.new_id()), Shopper::Guest(GuestToken::new(ctx)));
    for shopper in [&Shopper::User(user), &guest] {
        shopping::add_to_cart(ctx, shopper, Which::Active, lamp.product_id, BTreeMap::new(), 2).await.expect("added");
    }
    let second = carts::create_cart(ctx, user, "Zweiter").await.expect("a cart");
    let sound = carts::verify_carts(ctx, false).await.expect("verified");
    assert_eq!((sound.carts, sound.users, sound.totals.len(), sound.active.len()), (3, 1, 0, 0));
    let cart = carts::show_cart(ctx, &guest, Which::Active).await.expect("shown").cart_id.expect("an id");
    let drift = Commit::new().set_static(cart, CartLine::SUBTOTAL, &Some(Decimal::ONE_HUNDRED));
    ctx.store.commit(drift).await.expect("written");
    let both_active = CartEntry { cart_is_active: true, ..second };
    ctx.store.commit(Commit::new().put(&both_active)).await.expect("written");
    for repair in [false, true] {
        let found = carts::verify_carts(ctx, repair).await.expect("verified");
        assert_eq!(found.active, [(user, 2)]);
        let [wrong] = &found.totals[..] else { panic!("{found:?}") };
        assert_eq!((wrong.cart, wrong.stored, wrong.subtotal), (cart, Decimal::ONE_HUNDRED, Decimal::new(3998, 2)));
    }
    let mended = carts::verify_carts(ctx, false).await.expect("verified");
    assert_eq!((mended.totals.len(), mended.active.len()), (0, 0));
}
