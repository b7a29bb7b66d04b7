//! At the till: one unit is sold to one shopper, and one shopper has one order, whatever is pressed.

use crate::{
    browser::Browser,
    shopping::{BEAR, LAMP, add_to_cart, check_out_as_guest, free_units, orders_placed, stocked, thanked},
    world::World,
};

crate::run::cases![
    the_last_unit_is_sold_to_one_of_two,
    a_double_click_is_one_order,
    the_way_back_is_no_second_order,
    a_page_that_is_open_twice_is_one_order,
    what_is_kept_is_given_back_when_the_cart_changes,
];

async fn the_last_unit_is_sold_to_one_of_two(world: &World) {
    let lamp = stocked(world, LAMP, 1).await;
    let before = orders_placed(world).await;
    let (one, other) = futures::join!(world.browser(), world.browser());
    one.visit(&format!("/p/{LAMP}")).await;
    one.see("Only 1 left").await;
    futures::join!(add_to_cart(&one, LAMP), add_to_cart(&other, LAMP));
    // Whoever comes to the till first gets it: nobody knows who that is.
    futures::join!(one.click("Check out"), other.click("Check out"));
    futures::join!(one.see("Your order"), other.see("Your order"));
    let is_first = !one.text().await.contains("Sold out");
    let (first, second) = if is_first { (&one, &other) } else { (&other, &one) };
    first.see("We keep these for you for").await;
    second.see("Sold out").await;
    second.see("It cannot be ordered as it is.").await;
    assert!(!second.text().await.contains("Place order"));

    check_out_as_guest(first).await;
    first.click("Place order").await;
    thanked(first).await;
    assert_eq!(orders_placed(world).await, before + 1);
    assert_eq!(free_units(world, &lamp).await, 0);

    // The other keeps the cart, and finds out on every page.
    second.visit("/cart").await;
    second.see(&lamp.name).await;
    second.see("None is free at this moment.").await;
    second.visit(&format!("/p/{LAMP}")).await;
    second.see("It cannot be ordered at the moment.").await;
    assert!(!second.text().await.contains("Add to cart"));
}

async fn a_double_click_is_one_order(world: &World) {
    stocked(world, LAMP, 10).await;
    let before = orders_placed(world).await;
    // Without a script both clicks are sent: that they are one order is not the script's doing.
    let (with, without) = futures::join!(world.browser(), world.browser_without_javascript());
    for (done, shopper) in [&with, &without].into_iter().enumerate() {
        add_to_cart(shopper, LAMP).await;
        check_out_as_guest(shopper).await;
        shopper.double_click("Place order").await;
        thanked(shopper).await;
        assert_eq!(orders_placed(world).await, before + done + 1);
        shopper.visit("/cart").await;
        shopper.see("Your cart is empty.").await;
    }
}

async fn the_way_back_is_no_second_order(world: &World) {
    stocked(world, LAMP, 10).await;
    let before = orders_placed(world).await;
    let shopper = world.browser().await;
    add_to_cart(&shopper, LAMP).await;
    check_out_as_guest(&shopper).await;
    shopper.click("Place order").await;
    let number = thanked(&shopper).await;
    shopper.reload().await;
    assert_eq!(thanked(&shopper).await, number);
    // The browser shows the page that it has kept, with the order's key in it, or asks for it again.
    shopper.back().await;
    if shopper.path().await == "/checkout" {
        shopper.click("Place order").await;
        assert_eq!(thanked(&shopper).await, number);
        shopper.back().await;
        shopper.reload().await;
    }
    shopper.see("Your cart is empty.").await;
    assert_eq!(orders_placed(world).await, before + 1);
}

/// As with a page that the browser has kept and shows again: it has the key of the order that was placed.
async fn a_page_that_is_open_twice_is_one_order(world: &World) {
    stocked(world, LAMP, 10).await;
    let before = orders_placed(world).await;
    let shopper = world.browser().await;
    add_to_cart(&shopper, LAMP).await;
    check_out_as_guest(&shopper).await;
    let first = shopper.client.window().await.expect("a window");
    let second = shopper.client.new_window(true).await.expect("another window").handle;
    shopper.client.switch_to_window(second.clone()).await.expect("the other window");
    check_out_as_guest(&shopper).await;
    shopper.client.switch_to_window(first).await.expect("the first window");
    shopper.click("Place order").await;
    let number = thanked(&shopper).await;
    shopper.client.switch_to_window(second).await.expect("the other window");
    shopper.click("Place order").await;
    assert_eq!(thanked(&shopper).await, number);
    assert_eq!(orders_placed(world).await, before + 1);
}

async fn what_is_kept_is_given_back_when_the_cart_changes(world: &World) {
    let bear = stocked(world, BEAR, 3).await;
    let shopper = world.browser().await;
    add_to_cart(&shopper, BEAR).await;
    shopper.click("Check out").await;
    shopper.see("We keep these for you for").await;
    assert_eq!(free_units(world, &bear).await, 2);
    assert!(seconds_left(&shopper).await > 60);
    shopper.visit("/cart").await;
    shopper.click(&format!("One more of {}", bear.name)).await;
    shopper.see("Your changes are saved.").await;
    assert_eq!(free_units(world, &bear).await, 3);
    shopper.click("Check out").await;
    shopper.see("2 pieces").await;
    assert_eq!(free_units(world, &bear).await, 1);
}

/// What the countdown says: `14:32`.
async fn seconds_left(shopper: &Browser) -> u32 {
    let left: String = shopper.run("return document.querySelector('[data-countdown]').innerText", Vec::new()).await;
    let (minutes, seconds) = left.split_once(':').expect("minutes and seconds");
    minutes.parse::<u32>().expect("minutes") * 60 + seconds.parse::<u32>().expect("seconds")
}
