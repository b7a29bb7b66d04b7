//! What the staff does with an order, and what the customer sees of it.

use merkato_server::demo;

use crate::{
    browser::Browser,
    shopping::{LAMP, add_to_cart, cents, log_in, stocked, thanked},
    world::World,
};

crate::run::cases![a_clerk_ships_an_order_and_sees_the_shop_change, the_office_is_for_the_staff];

/// What the dashboard says at a moment.
struct Dashboard {
    orders: i64,
    revenue_cents: i64,
    /// Orders that wait to be shipped.
    waiting: i64,
}

async fn a_clerk_ships_an_order_and_sees_the_shop_change(world: &World) {
    let lamp = stocked(world, LAMP, 40).await;
    let (clerk, ada) = futures::join!(world.browser(), world.browser());
    log_in(&clerk, demo::CLERK).await;
    clerk.click("Office").await;
    let before = dashboard(&clerk).await;
    assert_eq!(units_there(&clerk, &lamp.name).await, 40);

    // What Ada has in her cart already is put aside.
    log_in(&ada, demo::CUSTOMER).await;
    ada.visit("/cart").await;
    ada.fill("Cart name", "Later").await;
    ada.click("Save cart as").await;
    ada.see("Your cart is empty.").await;
    for _ in 0..2 {
        add_to_cart(&ada, LAMP).await;
    }
    ada.click("Check out").await;
    ada.choose("Shipping", "Pick up at the shop").await;
    ada.within("Total").see("Shipping Free").await;
    ada.click("Place order").await;
    let number = thanked(&ada).await;
    ada.click("Follow the order").await;

    // The clerk sees that something was sold, and finds the order by its number.
    assert_eq!(units_there(&clerk, &lamp.name).await, 38);
    let sold = dashboard(&clerk).await;
    assert_eq!((sold.orders, sold.waiting), (before.orders + 1, before.waiting + 1));
    let price = cents(&merkato_server::web::words::money(lamp.price, &lamp.currency));
    assert_eq!(sold.revenue_cents, before.revenue_cents + 2 * price);
    clerk.within("Sections").click("Orders").await;
    clerk.fill("Order number", &number).await;
    clerk.click("Find").await;
    clerk.see(demo::CUSTOMER.0).await;
    clerk.click("Start processing").await;
    clerk.see("The order is moved on.").await;

    // A word to the customer goes along. However quickly it is clicked twice, it is shipped once.
    clerk.fill("Carrier", "Post").await;
    clerk.fill("Tracking number", "XY 12 34").await;
    clerk.within("Carrier").fill("Note", "Wrapped in three newspapers.").await;
    clerk.double_click("Mark as shipped").await;
    clerk.see("It has arrived").await;
    let timeline = clerk.within("Timeline").text().await;
    assert_eq!(timeline.matches("Shipped").count(), 1, "{timeline}");
    let shipped = dashboard(&clerk).await;
    assert_eq!((shipped.orders, shipped.waiting), (sold.orders, before.waiting));

    ada.reload().await;
    ada.see("On its way").await;
    ada.see("Post: XY 12 34").await;
    ada.see("Wrapped in three newspapers.").await;
}

async fn the_office_is_for_the_staff(world: &World) {
    let visitor = world.browser().await;
    visitor.visit("/admin/orders").await;
    visitor.see("I have forgotten my password").await;
    visitor.fill("E-mail address", demo::CUSTOMER.0).await;
    visitor.fill("Password", demo::CUSTOMER.1).await;
    visitor.within("Password").click("Log in").await;
    visitor.see("This is not for you").await;
    assert_eq!(visitor.path().await, "/admin/orders");
}

async fn dashboard(clerk: &Browser) -> Dashboard {
    clerk.visit("/admin").await;
    clerk.see("wait to be shipped").await;
    let text = clerk.text().await;
    let waiting = text.split(" of the ").find_map(|part| part.rsplit(' ').next()?.replace(',', "").parse().ok());
    let figure = "const named = [...document.querySelectorAll('.figures li')].find(
            (item) => item.querySelector('h2').innerText.toLowerCase() === arguments[0]);
        return named.querySelector('.figure-value').innerText";
    let orders: String = clerk.run(figure, vec!["orders".into()]).await;
    let revenue: String = clerk.run(figure, vec!["revenue".into()]).await;
    Dashboard {
        orders: orders.replace(',', "").parse().expect("a number of orders"),
        revenue_cents: cents(&revenue),
        waiting: waiting.unwrap_or_else(|| panic!("nobody waits in: {text}")),
    }
}

/// What all warehouses have of a product, as the inventory says.
async fn units_there(clerk: &Browser, name: &str) -> i64 {
    clerk.within("Sections").click("Inventory").await;
    clerk.fill("Search products", name).await;
    clerk.click("Search").await;
    clerk.click(name).await;
    clerk.see(&format!("Stock of {name}")).await;
    let there: String = clerk.run("return document.querySelector('tfoot td').innerText", Vec::new()).await;
    there.parse().expect("a number of units")
}
