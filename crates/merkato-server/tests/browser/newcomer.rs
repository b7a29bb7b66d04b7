//! From the first look to an order that is followed: what somebody does who has never been here.

use merkato::catalog;
use merkato_server::demo;

use crate::{
    shopping::{BEAR, LAMP, add_to_cart, fill_address, stocked, thanked},
    world::{World, link_in},
};

crate::run::cases![a_newcomer_looks_around_registers_and_buys];

const NEWCOMER: (&str, &str) = ("grace@example.com", "a ship in a harbour");

async fn a_newcomer_looks_around_registers_and_buys(world: &World) {
    let lamp = stocked(world, LAMP, 12).await;
    let bear = stocked(world, BEAR, 12).await;
    let category = catalog::get_category(&world.ctx, lamp.category_id).await.expect("its category");
    let way = catalog::breadcrumbs(&world.ctx, &category).await.expect("the way to it");
    let department = &way[0].name;

    // Looking around: the front, a department, down to a shelf of it, something that stands there.
    let shopper = world.browser().await;
    shopper.visit("/").await;
    shopper.see(demo::SHOP_LINE).await;
    assert!(shopper.title().await.starts_with(demo::SHOP_NAME), "{}", shopper.title().await);
    shopper.click(department).await;
    for step in way.windows(2) {
        shopper.within(&format!("Below {}", step[0].name)).click(&step[1].name).await;
    }
    assert_eq!(shopper.path().await, format!("/c/{}", category.slug));
    shopper.within("Order").click("Price, low to high").await;
    let cheapest: String = shopper.run("return document.querySelector('.card-name').innerText", Vec::new()).await;
    shopper.click(&cheapest).await;
    shopper.see("Details").await;
    assert!(shopper.title().await.starts_with(&cheapest), "{}", shopper.title().await);
    shopper.within("Breadcrumbs").click(department).await;
    assert_eq!(shopper.path().await, format!("/c/{}", way[0].slug));

    // Looking for something: what is suggested while one types leads there at once.
    shopper.fill("Search", "desk lamp f").await;
    shopper.within("Suggestions").click(&lamp.name).await;
    shopper.see("You may also like").await;
    assert_eq!(shopper.path().await, format!("/p/{LAMP}"));
    shopper.fill("Quantity", "2").await;
    shopper.click("Add to cart").await;
    shopper.see("It is in your cart.").await;
    assert_eq!(shopper.within(&lamp.name).value("Quantity").await, "2");

    // An account: the letter shows whose address it is, and the guest's cart comes along.
    shopper.within("Account and cart").click("Log in").await;
    shopper.click("Make an account").await;
    shopper.fill("E-mail address", NEWCOMER.0).await;
    shopper.fill("Password", NEWCOMER.1).await;
    shopper.fill("First name", "Grace").await;
    shopper.fill("Last name", "Hopper").await;
    shopper.within("Last name").click("Register").await;
    shopper.see("Look into your letters").await;
    shopper.visit(&link_in(&world.letter(NEWCOMER.0, 0).await)).await;
    shopper.click("Verify my e-mail address").await;
    shopper.see("Your e-mail address is verified.").await;
    shopper.fill("E-mail address", NEWCOMER.0).await;
    shopper.fill("Password", "a ship in a bottle").await;
    shopper.within("Password").click("Log in").await;
    shopper.see("The e-mail address or the password is wrong.").await;
    assert!(shopper.title().await.starts_with("Error: "), "{}", shopper.title().await);
    assert_eq!(shopper.value("E-mail address").await, NEWCOMER.0);
    shopper.fill("Password", NEWCOMER.1).await;
    shopper.within("Password").click("Log in").await;
    shopper.see("You are logged in as grace@example.com").await;
    shopper.click("Cart").await;
    assert_eq!(shopper.within(&lamp.name).value("Quantity").await, "2");

    // Two carts by name, and the way between them.
    save_cart(&shopper, "For the desk").await;
    add_to_cart(&shopper, BEAR).await;
    save_cart(&shopper, "Presents").await;
    shopper.within("Your carts").click("Presents").await;
    shopper.see(&bear.name).await;
    shopper.within("Your carts").click("For the desk").await;
    shopper.see("This cart is saved for later.").await;
    shopper.click("Switch to this cart").await;
    shopper.see("This is your cart now.").await;
    shopper.see(&lamp.name).await;
    shopper.see_no_more(&bear.name).await;

    // The checkout: what is missing is said beside the field, and what was typed stays.
    shopper.click("Check out").await;
    shopper.see("We keep these for you for").await;
    assert_eq!(shopper.value("Full name").await, "Grace Hopper");
    shopper.click("Place order").await;
    shopper.see("Enter the street and the number").await;
    fill_address(&shopper).await;
    shopper.choose("Shipping", "Express").await;
    shopper.within("Total").see("Shipping €12.90").await;
    shopper.choose("Outcome of the test payment", "The bank says no Nothing is charged").await;
    shopper.click("Place order").await;
    shopper.see("Your payment was declined. Nothing was charged").await;
    assert_eq!(shopper.value("Street").await, "Unter den Linden 1");
    shopper.choose("Outcome of the test payment", "The payment goes well").await;
    shopper.click("Place order").await;
    let number = thanked(&shopper).await;

    // The order, as the account shows it.
    shopper.click("Follow the order").await;
    shopper.see(&format!("Order {number}")).await;
    let timeline = shopper.within("How far it has come").text().await;
    for step in ["Ordered", "Paid", "Being packed", "On its way", "Delivered"] {
        assert!(timeline.contains(step), "{step} is not in: {timeline}");
    }
    shopper.see("Unter den Linden 1").await;
    shopper.within("Your account").click("Orders").await;
    shopper.within(&number).see("Desk lamp").await;
    shopper.within("Your account").click("Carts").await;
    shopper.see("Presents").await;
    shopper.within("Your account").click("Log out").await;
    shopper.see("You are logged out.").await;
    shopper.visit("/account/orders").await;
    shopper.see("I have forgotten my password").await;
}

async fn save_cart(shopper: &crate::browser::Browser, name: &str) {
    shopper.visit("/cart").await;
    shopper.fill("Cart name", name).await;
    shopper.click("Save cart as").await;
    shopper.see("Your cart is saved. Here is an empty one to go on with.").await;
}
