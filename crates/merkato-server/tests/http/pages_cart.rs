//! The cart and the checkout as pages.

use std::collections::BTreeSet;

use merkato::{
    Currency,
    accounts::{self, Role},
    carts,
    catalog::{self, ProductChange},
    id::ProductId,
    inventory,
    orders::{self, NewDiscount, Reduction},
    wallets::{self, Operation},
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use crate::{
    visitor::{Page, Visitor},
    world::World,
};

cases![
    a_guest_fills_and_changes_a_cart,
    carts_are_saved_switched_copied_renamed_and_deleted,
    a_price_that_changed_is_told_in_the_cart_and_at_the_checkout,
    names_are_text_and_nothing_else,
    a_guest_buys_and_sees_the_order_alone,
    a_form_that_is_sent_again_makes_no_second_order,
    what_is_looked_at_is_kept_and_the_other_is_told,
    what_is_kept_for_a_guest_is_not_in_the_way_of_who_logs_in,
    a_declined_payment_is_told_and_what_was_typed_is_kept,
    what_is_missing_is_told_beside_its_field,
    a_discount_code_is_applied_or_refused_in_words,
    store_credit_pays_what_it_covers,
    a_payment_that_is_late_is_waited_for,
    nothing_to_check_out_is_the_cart,
];

impl Visitor<'_> {
    async fn add(&self, product: ProductId, quantity: &str) -> Page {
        self.get("/login").await;
        let product = product.to_string();
        self.post("/cart/items", &[("product_id", &product), ("quantity", quantity), ("option.Colour", "Black")]).await
    }

    /// All fields of the checkout as the page has them, with these in place of some.
    async fn place(&self, page: &Page, over: &[(&str, &str)]) -> Page {
        let hidden = ["cart", "key", "total", "currency"].map(|name| (name, page.hidden(name).unwrap_or_default()));
        let mut fields = vec![
            ("address", "new"),
            ("email", "guest@example.com"),
            ("street", "Ring 1"),
            ("city", "Vienna"),
            ("country", "AT"),
            ("shipping", "standard"),
            ("outcome", "ok"),
            ("step", "place"),
        ];
        fields.extend(hidden.iter().map(|(name, value)| (*name, value.as_str())));
        for (name, value) in over {
            fields.retain(|(known, _)| known != name);
            fields.push((name, value));
        }
        self.post("/checkout", &fields).await
    }
}

async fn free(world: &World, product: ProductId) -> i64 {
    inventory::get_stock(&world.ctx, product).await.unwrap().available()
}

async fn a_guest_fills_and_changes_a_cart(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Walnut lamp", 19_99, 9).await.product_id;
    let visitor = Visitor::new(&world);
    let empty = visitor.get("/cart").await;
    empty.assert_whole("/cart");
    empty.assert_says("Your cart is empty.");
    let added = visitor.add(lamp, "2").await;
    assert_eq!((added.status, added.location.as_str()), (303, "/cart?notice=added"));
    let cart = visitor.follow(&added).await;
    cart.assert_whole("/cart");
    for text in ["It is in your cart.", "Walnut lamp", "Colour: Black", "€39.98", "2 pieces", "Check out"] {
        cart.assert_says(text);
    }
    let line = cart.body.split("/cart/lines/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let path = format!("/cart/lines/{line}");
    let changed = visitor.post(&path, &[("quantity", "3")]).await;
    visitor.follow(&changed).await.assert_says("€59.97");
    let wrong = visitor.post(&path, &[("quantity", "a few")]).await;
    wrong.assert_refused("value=\"a few\"");
    wrong.assert_says("Enter a whole number");
    visitor.post(&path, &[("quantity", "0")]).await.assert_refused("Enter a whole number");
    visitor.post(&path, &[("quantity", "100001")]).await.assert_refused("value=\"100001\"");
    let none = visitor.post("/cart/items", &[("product_id", "none"), ("quantity", "1")]).await;
    none.assert_refused("Please look");
    let removed = visitor.post(&format!("{path}/remove"), &[]).await;
    visitor.follow(&removed).await.assert_says("Your cart is empty.");
    let again = visitor.post(&format!("{path}/remove"), &[]).await;
    assert_eq!(again.status, 303, "a second click finds it gone");
}

async fn carts_are_saved_switched_copied_renamed_and_deleted(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 9).await.product_id;
    let (visitor, email) = Visitor::person(&world).await;
    visitor.get("/account").await;
    visitor.add(lamp, "2").await;
    visitor.get("/cart").await.assert_says("Save cart as");
    visitor.post("/cart/save", &[("name", "")]).await.assert_refused("Fill this in");
    let saved = visitor.post("/cart/save", &[("name", "Garden")]).await;
    let cart = visitor.follow(&saved).await;
    cart.assert_says("Your cart is empty.");
    cart.assert_says(">Garden</a>");
    let user = merkato::accounts::find_by_email(&world.ctx, &email).await.unwrap().unwrap().user_id;
    let entries = carts::list_carts(&world.ctx, user).await.unwrap();
    let garden = entries.iter().find(|entry| entry.cart_name == "Garden").unwrap().cart_id;
    let path = format!("/cart/{garden}");
    let page = visitor.get(&path).await;
    page.assert_whole(&path);
    page.assert_says("Switch to this cart");
    let copied = visitor.post(&format!("{path}/copy"), &[("copy", "Balcony")]).await;
    visitor.follow(&copied).await.assert_says("<h1>Balcony</h1>");
    let renamed = visitor.post(&format!("{path}/rename"), &[("rename", "Yard")]).await;
    visitor.follow(&renamed).await.assert_says("<h1>Yard</h1>");
    visitor.post(&format!("{path}/rename"), &[("rename", "x\ny")]).await.assert_refused("nobody can see");
    let switched = visitor.post(&format!("{path}/activate"), &[]).await;
    let active = visitor.follow(&switched).await;
    active.assert_says("<h1>Yard</h1>");
    active.assert_says("€39.98");
    visitor.get("/account/carts").await.assert_says("Balcony");
    let (thief, _) = Visitor::person(&world).await;
    assert_eq!(thief.get(&path).await.status, 404);
    for deed in ["activate", "delete"] {
        assert_eq!(thief.post(&format!("{path}/{deed}"), &[]).await.status, 404, "{deed}");
    }
    let deleted = visitor.post(&format!("{path}/delete"), &[]).await;
    visitor.follow(&deleted).await.assert_says("The cart is deleted.");
    assert_eq!(visitor.get(&path).await.status, 404);
}

async fn a_price_that_changed_is_told_in_the_cart_and_at_the_checkout(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 9).await.product_id;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let seen = visitor.get("/checkout").await;
    seen.assert_says("€60.00");
    let change = ProductChange { price: Some(Decimal::from(70)), ..ProductChange::default() };
    catalog::change_product(&world.ctx, lamp, None, change).await.unwrap();
    visitor.get("/cart").await.assert_says("Price changed: it was €60.00");
    let told = visitor.place(&seen, &[("street", "Lange Gasse 7")]).await;
    told.assert_refused("The total is €70.00 now.");
    told.assert_says("Price changed: it was €60.00");
    told.assert_says("value=\"Lange Gasse 7\"");
    let agreed = visitor.place(&told, &[]).await;
    visitor.follow(&agreed).await.assert_says("€70.00");
}

async fn names_are_text_and_nothing_else(target: &Target) {
    let world = World::new(target).await;
    // What the domain takes, and what it does not: neither is ever more than text.
    let (odd, hostile) = ("Lamp < 5\" & 'co' {{ 7 }}", "<script>alert('x')</script>\"'&");
    let lamp = world.stocked(&world.ctx, odd, 60_00, 9).await.product_id;
    let (visitor, _) = Visitor::person(&world).await;
    visitor.get("/account").await;
    visitor.add(lamp, "1").await;
    visitor.get("/cart").await.assert_whole("/cart");
    let refused = visitor.post("/cart/save", &[("name", hostile)]).await;
    refused.assert_refused("value=\"&#60;script&#62;");
    assert!(!refused.body.contains("<script>"), "{}", refused.body);
    visitor.post("/cart/save", &[("name", odd)]).await;
    let tabs = visitor.get("/cart").await;
    tabs.assert_whole("/cart");
    tabs.assert_says("Lamp &#60; 5&#34; &#38; &#39;co&#39; {{ 7 }}");
    visitor.get("/account/carts").await.assert_whole("/account/carts");
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    for field in ["customer_notes", "customer_name", "street", "discount_code"] {
        let refused = visitor.place(&page, &[(field, hostile)]).await;
        refused.assert_refused("&#60;script&#62;");
        assert!(!refused.body.contains("<script>"), "{}", refused.body);
    }
    let page = visitor.get("/checkout").await;
    let bought = visitor.place(&page, &[("customer_notes", odd), ("customer_name", odd), ("street", odd)]).await;
    let thanks = visitor.follow(&bought).await;
    thanks.assert_whole(&bought.location);
    let order = bought.location.replace("/orders/", "/account/orders/").replace("/thanks", "");
    visitor.get(&order).await.assert_whole(&order);
}

async fn a_guest_buys_and_sees_the_order_alone(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 9).await.product_id;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    page.assert_whole("/checkout");
    for text in [
        "E-mail address",
        "Street",
        "City",
        "Postal code",
        "Country",
        "Test payment",
        "Place order",
        "We keep these for you for",
    ] {
        page.assert_says(text);
    }
    let bought = visitor.place(&page, &[]).await;
    let thanks = visitor.follow(&bought).await;
    thanks.assert_whole(&bought.location);
    thanks.assert_says("Thank you for your order");
    thanks.assert_says("ORD-");
    visitor.get("/cart").await.assert_says("Your cart is empty.");
    assert_eq!(free(&world, lamp).await, 8);
    let stranger = Visitor::new(&world);
    assert!(stranger.get(&bought.location).await.location.starts_with("/login?next="));
    stranger.add(lamp, "1").await;
    assert_eq!(stranger.get(&bought.location).await.status, 404);
}

async fn a_form_that_is_sent_again_makes_no_second_order(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 50).await.product_id;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    assert_eq!(
        visitor.get("/checkout").await.hidden("key"),
        page.hidden("key"),
        "loaded again, it is the same purchase"
    );
    let clicks = futures::future::join_all((0..5).map(|_| visitor.place(&page, &[]))).await;
    let orders: BTreeSet<String> = clicks.into_iter().map(|answer| answer.location).collect();
    assert_eq!(orders.len(), 1, "{orders:?}");
    let order = orders.first().unwrap();
    assert!(order.ends_with("/thanks"), "{order}");
    // Back to the page before, and sent once more; then with something else in it.
    assert_eq!(visitor.place(&page, &[]).await.location, *order);
    let other = visitor.place(&page, &[("street", "Another street 2")]).await;
    assert_eq!(other.location, format!("{order}?notice=ordered-before"));
    visitor.add(lamp, "1").await;
    assert_eq!(visitor.place(&page, &[]).await.location, *order, "a cart that was filled since is not ordered");
    assert_eq!(free(&world, lamp).await, 49);
}

async fn what_is_looked_at_is_kept_and_the_other_is_told(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Last lamp", 60_00, 1).await.product_id;
    let (first, second) = (Visitor::new(&world), Visitor::new(&world));
    first.add(lamp, "1").await;
    second.add(lamp, "1").await;
    let page = first.get("/checkout").await;
    page.assert_says("data-countdown");
    assert_eq!(free(&world, lamp).await, 0);
    let late = second.get("/checkout").await;
    assert_eq!(late.status, 200);
    late.assert_says("Sold out");
    assert!(!late.body.contains("Place order</button>"));
    // Whoever changes the cart lets go of what was kept.
    first.get("/cart").await.assert_says("None is free");
    let line =
        first.get("/cart").await.body.split("/cart/lines/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    first.post(&format!("/cart/lines/{line}/remove"), &[]).await;
    assert_eq!(free(&world, lamp).await, 1);
    let page = second.get("/checkout").await;
    page.assert_says("Place order");
    // Kept for too long, and sold to another meanwhile.
    world.clock.advance_millis(16 * 60_000);
    first.add(lamp, "1").await;
    let quicker = first.get("/checkout").await;
    let bought = first.place(&quicker, &[]).await;
    assert_eq!(bought.status, 303, "{}", bought.body);
    let told = second.place(&page, &[("street", "Kept 1")]).await;
    told.assert_refused("not enough left");
    told.assert_says("Sold out");
    told.assert_says("value=\"Kept 1\"");
}

async fn what_is_kept_for_a_guest_is_not_in_the_way_of_who_logs_in(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Last lamp", 60_00, 1).await.product_id;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    visitor.get("/checkout").await.assert_says("Place order");
    let guest = visitor.cookie("merkato_guest");
    visitor.log_in(&email).await;
    let page = visitor.get("/checkout").await;
    page.assert_says("Place order");
    assert_eq!(visitor.place(&page, &[]).await.status, 303);
    // Another window has still the guest's cookie: it goes on with a new cart.
    let other = Visitor::new(&world);
    other.set_cookie("merkato_guest", &guest);
    let added = other.add(lamp, "1").await;
    assert_eq!(added.location, "/cart?notice=added");
    other.follow(&added).await.assert_says("Last lamp");
    assert_ne!(other.cookie("merkato_guest"), guest);
}

async fn a_declined_payment_is_told_and_what_was_typed_is_kept(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 1).await.product_id;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    let declined = visitor.place(&page, &[("outcome", "decline"), ("street", "Typed 5")]).await;
    declined.assert_refused("Your payment was declined.");
    declined.assert_says("value=\"Typed 5\"");
    assert_ne!(declined.hidden("key"), page.hidden("key"), "to try again is a new purchase");
    let bought = visitor.place(&declined, &[]).await;
    visitor.follow(&bought).await.assert_says("Thank you");
}

async fn what_is_missing_is_told_beside_its_field(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 9).await.product_id;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    let refused = visitor.place(&page, &[("email", ""), ("street", ""), ("city", ""), ("postal_code", "1010")]).await;
    refused.assert_refused("Enter an e-mail address");
    for text in ["Enter the street", "Enter the city", "value=\"1010\""] {
        refused.assert_says(text);
    }
    assert_eq!(visitor.place(&refused, &[]).await.status, 303);
}

async fn a_discount_code_is_applied_or_refused_in_words(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 9).await.product_id;
    let discount = NewDiscount {
        code: "TENTH".into(),
        reduction: Reduction::Percentage(Decimal::TEN),
        currency: None,
        minimal_subtotal: None,
        valid_from: None,
        valid_until: None,
        uses_max: None,
    };
    orders::create_discount(&world.ctx, discount).await.unwrap();
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    for wrong in ["NONE", "no such code!"] {
        let told = visitor.place(&page, &[("discount_code", wrong), ("step", "apply")]).await;
        told.assert_says("There is no such code.");
        told.assert_says("€60.00");
    }
    let applied = visitor.place(&page, &[("discount_code", "tenth"), ("step", "apply"), ("city", "Graz")]).await;
    assert_eq!(applied.status, 200);
    for text in ["−€6.00", "€54.00", "value=\"Graz\""] {
        applied.assert_says(text);
    }
    let wrong = visitor.place(&applied, &[("discount_code", "NONE")]).await;
    wrong.assert_refused("There is no such code.");
    let bought = visitor.place(&applied, &[("discount_code", "tenth")]).await;
    visitor.follow(&bought).await.assert_says("€54.00");
}

async fn store_credit_pays_what_it_covers(target: &Target) {
    let world = World::new(target).await;
    let ctx = &world.ctx;
    let lamp = world.stocked(ctx, "Lamp", 60_00, 9).await.product_id;
    let (visitor, email) = Visitor::person(&world).await;
    visitor.add(lamp, "1").await;
    assert!(!visitor.get("/checkout").await.body.contains("store credit"), "an empty wallet pays nothing");
    let user = accounts::find_by_email(ctx, &email).await.unwrap().unwrap().user_id;
    let money = |cents| Operation::new(ctx.new_id(), Decimal::new(cents, 2), Currency::new("EUR"));
    wallets::deposit(ctx, user, money(25_00)).await.unwrap();
    visitor.get("/account").await.assert_says("You have €25.00.");
    visitor.get("/checkout").await.assert_says("You have €25.00.");
    // Ticked and sent at once, before what is left to pay was shown: nothing is ordered yet.
    let at_once = visitor.place(&visitor.get("/checkout").await, &[("store_credit", "yes")]).await;
    at_once.assert_says("What is left to pay has changed.");
    at_once.assert_says("Left to pay");
    assert_eq!((at_once.status, free(&world, lamp).await), (200, 8), "it is kept, and not sold");
    assert_eq!(wallets::get_wallet(ctx, user).await.unwrap().balance, Decimal::from(25));
    let ticked = visitor.place(&visitor.get("/checkout").await, &[("store_credit", "yes"), ("step", "totals")]).await;
    ticked.assert_says("−€25.00");
    ticked.assert_says("Left to pay");
    let credit = ticked.hidden("credit").expect("what the wallet pays");
    // Between the look and the order some of it is spent elsewhere: nothing is ordered, and that is told.
    let spent = money(5_00);
    wallets::withdraw(ctx, user, spent).await.unwrap();
    let refused = visitor.place(&ticked, &[("store_credit", "yes"), ("credit", &credit)]).await;
    refused.assert_refused("Your store credit no longer pays its part.");
    let again = visitor.place(&visitor.get("/checkout").await, &[("store_credit", "yes"), ("step", "totals")]).await;
    let credit = again.hidden("credit").expect("what the wallet pays");
    assert_eq!(credit, "20.00");
    let bought = visitor.place(&again, &[("store_credit", "yes"), ("credit", &credit)]).await;
    let thanks = visitor.follow(&bought).await;
    thanks.assert_says("Of it store credit");
    assert_eq!(wallets::get_wallet(ctx, user).await.unwrap().balance, Decimal::ZERO);
    // More than the order comes to is not taken.
    wallets::deposit(ctx, user, money(50_000)).await.unwrap();
    visitor.add(lamp, "1").await;
    let page = visitor.place(&visitor.get("/checkout").await, &[("store_credit", "yes"), ("step", "totals")]).await;
    assert_eq!(page.hidden("credit"), page.hidden("total"));
    let credit = page.hidden("credit").unwrap();
    let bought = visitor.place(&page, &[("store_credit", "yes"), ("credit", &credit)]).await;
    visitor.follow(&bought).await.assert_says("Thank you for your order");
    let left = Decimal::from(500) - credit.parse::<Decimal>().unwrap();
    assert_eq!(wallets::get_wallet(ctx, user).await.unwrap().balance, left);
}

async fn a_payment_that_is_late_is_waited_for(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 9).await.product_id;
    let visitor = Visitor::new(&world);
    visitor.add(lamp, "1").await;
    let page = visitor.get("/checkout").await;
    let placed = visitor.place(&page, &[("outcome", "late:20")]).await;
    let waiting = visitor.follow(&placed).await;
    waiting.assert_whole(&placed.location);
    waiting.assert_says("waiting for its payment");
    waiting.assert_says("We keep these for you for");
    world.clock.advance_millis(30_000);
    merkato::flows::run::resume_due(&world.ctx).await.unwrap();
    visitor.get(&placed.location).await.assert_says("Thank you for your order");
}

async fn nothing_to_check_out_is_the_cart(target: &Target) {
    let world = World::new(target).await;
    assert_eq!(Visitor::new(&world).get("/checkout").await.location, "/cart");
    let (person, _) = Visitor::person(&world).await;
    assert_eq!(person.get("/checkout").await.location, "/cart");
}
