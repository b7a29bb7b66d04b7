//! What every shopper does, in the words of the pages, and what a case looks up behind them.

use merkato::{
    PageRequest,
    catalog::{self, Product},
    id::MovementId,
    inventory::{self, Level, Note},
    orders,
};
use widerow::Date;

use crate::{browser::Browser, world::World};

/// What is bought here: a thing without options and one with a colour to choose.
pub const LAMP: &str = "desk-lamp-fjord";
pub const BEAR: &str = "teddy-bear-bruno";

/// How an order's number begins.
const NUMBER: &str = "ORD-";

/// A product of which one warehouse has so many units, and the others none.
pub async fn stocked(world: &World, slug: &str, units: i64) -> Product {
    let product = catalog::get_product_by_slug(&world.ctx, slug).await.expect("a product of the demo");
    let id = product.product_id;
    inventory::set_policy(&world.ctx, id, true, false).await.expect("a policy");
    let levels = inventory::get_stock(&world.ctx, id).await.expect("levels").warehouses;
    assert!(!levels.is_empty(), "no warehouse has {slug}");
    for (place, level) in levels.iter().enumerate() {
        let quantity = if place == 0 { units } else { 0 };
        let movement = MovementId(world.ctx.new_id());
        let level_now = Level { quantity, low_stock_threshold: None };
        inventory::set_level(&world.ctx, movement, id, &level.warehouse_id, level_now, None, Note::default())
            .await
            .expect("a level");
    }
    product
}

/// Units that can be sold.
pub async fn free_units(world: &World, product: &Product) -> i64 {
    inventory::get_stock(&world.ctx, product.product_id).await.expect("levels").available()
}

/// Orders that were placed by anybody, since the day on which the case began.
pub async fn orders_placed(world: &World) -> usize {
    let mut count = 0;
    for day in world.began_on.days()..=world.ctx.now().date().days() {
        let listed = orders::list_by_day(&world.ctx, Date::from_days(day), PageRequest::first(100)).await;
        let page = listed.expect("orders");
        assert!(page.next.is_none(), "the demo has so many orders a day that they do not fit a page");
        count += page.rows.len();
    }
    count
}

pub async fn log_in(person: &Browser, (email, password): (&str, &str)) {
    person.visit("/login").await;
    person.fill("E-mail address", email).await;
    person.fill("Password", password).await;
    person.within("Password").click("Log in").await;
    person.see("You are logged in as").await;
}

/// From the product's page.
pub async fn add_to_cart(shopper: &Browser, slug: &str) {
    shopper.visit(&format!("/p/{slug}")).await;
    shopper.click("Add to cart").await;
    shopper.see("It is in your cart.").await;
}

/// The address of somebody who has none yet.
pub async fn fill_address(shopper: &Browser) {
    shopper.fill("Street", "Unter den Linden 1").await;
    shopper.fill("Postal code", "10117").await;
    shopper.fill("City", "Berlin").await;
    shopper.choose("Country", "Germany").await;
}

/// From the cart to the page of the checkout, as somebody without an account.
pub async fn check_out_as_guest(shopper: &Browser) {
    shopper.visit("/cart").await;
    shopper.click("Check out").await;
    shopper.fill("E-mail address", "grace@example.com").await;
    shopper.fill("Full name", "Grace Hopper").await;
    fill_address(shopper).await;
}

/// The number of the order that one is thanked for.
pub async fn thanked(shopper: &Browser) -> String {
    shopper.see("Thank you for your order").await;
    number_in(&shopper.text().await)
}

fn number_in(text: &str) -> String {
    let found = text.split_whitespace().find(|word| word.starts_with(NUMBER));
    found.unwrap_or_else(|| panic!("no order's number in: {text}")).trim_end_matches('.').to_owned()
}

/// Cents of an amount as it stands on a page: `€1,234.50`.
pub fn cents(amount: &str) -> i64 {
    let digits: String = amount.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{amount:?} is no amount"))
}
