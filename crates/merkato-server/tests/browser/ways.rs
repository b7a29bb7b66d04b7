//! Other ways to buy than with a mouse on a large screen with scripts: without scripts, by keys alone, on a phone.

use fantoccini::key::Key;
use merkato_server::demo;

use crate::{
    browser::PHONE,
    shopping::{LAMP, check_out_as_guest, log_in, orders_placed, stocked, thanked},
    world::World,
};

crate::run::cases![
    a_purchase_without_javascript,
    a_purchase_by_keys_alone,
    a_purchase_on_a_phone,
    keys_lead_through_the_lists_of_the_office,
];

async fn a_purchase_without_javascript(world: &World) {
    let lamp = stocked(world, LAMP, 10).await;
    let before = orders_placed(world).await;
    let shopper = world.browser_without_javascript().await;
    shopper.visit("/").await;
    shopper.fill("Search", "desk lamp fjord").await;
    shopper.click("Search").await;
    shopper.see("Results for “desk lamp fjord”").await;
    shopper.click(&lamp.name).await;
    shopper.click("Add to cart").await;
    shopper.click(&format!("One more of {}", lamp.name)).await;
    shopper.see("Your changes are saved.").await;
    shopper.within(&lamp.name).fill("Quantity", "3").await;
    shopper.click("Update").await;
    shopper.see("Subtotal, 3 pieces").await;
    check_out_as_guest(&shopper).await;
    // What is chosen is reckoned by a button; an order of another total is not placed.
    shopper.choose("Shipping", "Express").await;
    shopper.click("Place order").await;
    shopper.see("Nothing was ordered yet: look at it, and place the order if you agree.").await;
    shopper.choose("Shipping", "Pick up at the shop").await;
    shopper.click("Update the totals").await;
    shopper.within("Total").see("Shipping Free").await;
    assert_eq!(shopper.value("Street").await, "Unter den Linden 1");
    shopper.click("Place order").await;
    let number = thanked(&shopper).await;
    assert_eq!(orders_placed(world).await, before + 1);
    shopper.reload().await;
    assert_eq!(thanked(&shopper).await, number);
}

async fn a_purchase_by_keys_alone(world: &World) {
    let lamp = stocked(world, LAMP, 10).await;
    let shopper = world.browser().await;
    shopper.visit("/").await;
    shopper.tab_to("Skip to content").await;
    shopper.press(Key::Enter).await;
    shopper.tab_to("Look around").await;
    shopper.visit("/").await;
    shopper.tab_to("Search").await;
    shopper.write("desk lamp f").await;
    shopper.within("Suggestions").see(&lamp.name).await;
    shopper.press(Key::Down).await;
    shopper.press(Key::Enter).await;
    shopper.see("You may also like").await;
    shopper.tab_to("Quantity").await;
    shopper.press(Key::Up).await;
    shopper.tab_to("Add to cart").await;
    shopper.press(Key::Enter).await;
    shopper.see("Subtotal, 2 pieces").await;
    shopper.tab_to("Check out").await;
    shopper.press(Key::Enter).await;
    for (field, text) in [
        ("E-mail address", "grace@example.com"),
        ("Full name", "Grace Hopper"),
        ("Street", "Unter den Linden 1"),
        ("Postal code", "10117"),
        ("City", "Berlin"),
        ("Country", "Germany"),
    ] {
        shopper.tab_to(field).await;
        shopper.write(text).await;
    }
    shopper.tab_to("Standard").await;
    shopper.press(Key::Down).await;
    assert!(shopper.focus().await.name.starts_with("Express"), "{:?}", shopper.focus().await);
    shopper.within("Total").see("Shipping €12.90").await;
    shopper.tab_to("Place order").await;
    shopper.press(Key::Enter).await;
    thanked(&shopper).await;
}

async fn a_purchase_on_a_phone(world: &World) {
    let lamp = stocked(world, LAMP, 10).await;
    let shopper = world.browser().await;
    shopper.resize(PHONE).await;
    shopper.visit("/").await;
    shopper.fill("Search", "desk lamp f").await;
    shopper.within("Suggestions").see(&lamp.name).await;
    assert_eq!(shopper.overflow().await, Vec::<String>::new());
    shopper.within("Suggestions").click(&lamp.name).await;
    shopper.click("Add to cart").await;
    check_out_as_guest(&shopper).await;
    shopper.choose("Shipping", "Express").await;
    shopper.within("Total").see("Shipping €12.90").await;
    shopper.click("Place order").await;
    thanked(&shopper).await;
}

async fn keys_lead_through_the_lists_of_the_office(world: &World) {
    let clerk = world.browser().await;
    log_in(&clerk, demo::CLERK).await;
    for list in ["/admin/products", "/admin/customers"] {
        clerk.visit(list).await;
        clerk.run::<()>("document.querySelector('tbody a').focus()", Vec::new()).await;
        let first = clerk.focus().await.name;
        clerk.press(Key::Down).await;
        let second = clerk.focus().await.name;
        assert_ne!(first, second, "{list}");
        clerk.press(Key::Up).await;
        assert_eq!(clerk.focus().await.name, first, "{list}");
        clerk.write("/").await;
        let search = clerk.focus().await;
        assert!(search.tag == "input" && search.visible, "{list}: {search:?}");
    }
    clerk.write(demo::CUSTOMER.0).await;
    clerk.press(Key::Enter).await;
    clerk.see("Ada").await;
}
