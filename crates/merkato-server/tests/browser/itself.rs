//! The tests of the tests: that a person is played well, and that a browser can be what it is asked to be.

use fantoccini::key::Key;
use merkato::accounts::{self, Client};
use merkato_server::demo;
use serde_json::json;

use crate::{
    browser::{DESK, PHONE},
    world::{World, link_in},
};

crate::run::cases![
    things_are_found_as_people_call_them,
    the_shop_is_served_and_the_past_can_be_gone_back_to,
    letters_are_read,
    keys_lead_everywhere_and_the_focus_is_seen,
    javascript_can_be_off,
    a_browser_can_be_narrow_and_dark,
    two_browsers_share_nothing,
    what_a_page_complains_of_is_told,
];

const COUNTER: &str = "data:text/html,<!doctype html><title>Counter</title>
    <form onsubmit='event.preventDefault(); said.textContent = `${mail.value} takes ${size.value}, ${colour.value}`'>
    <label for=mail>E-mail <b>address</b></label> <input id=mail name=mail>
    <label>Size <select id=size><option>small<option>large</select></label>
    <fieldset><legend>Colour</legend><label><input type=radio name=colour value=red> Red</label>
    <label><input type=radio name=colour value=blue> Blue</label></fieldset>
    <button aria-label='Place order'>%2b</button></form><p id=said></p>
    <ul><li>Lamp <button onclick='this.parentElement.remove()'>Remove</button>
    <li>Kettle <button onclick='this.parentElement.remove()'>Remove</button></ul>
    <details><summary>More</summary><p>Hidden words</p></details>
    <button onclick='setTimeout(() => late.textContent = `It came at last`, 300)'>Wait</button><p id=late></p>
    <button onclick='twice.textContent += `x`'>Twice</button><p id=twice></p>
    <script>const colour = { get value() { return document.querySelector(':checked[name=colour]').value } }</script>";

async fn things_are_found_as_people_call_them(world: &World) {
    let shopper = world.browser().await;
    shopper.visit(COUNTER).await;
    assert_eq!(shopper.title().await, "Counter");
    shopper.fill("E-mail address", "bob@example.com").await;
    shopper.fill("E-mail address", "ada@example.com").await;
    assert_eq!(shopper.value("E-mail address").await, "ada@example.com");
    shopper.choose("Size", "large").await;
    shopper.choose("Colour", "Blue").await;
    shopper.click("Place order").await;
    shopper.see("ada@example.com takes large, blue").await;
    shopper.within("Kettle").click("Remove").await;
    shopper.see_no_more("Kettle").await;
    shopper.within("Lamp").see("Lamp").await;
    assert!(!shopper.text().await.contains("Hidden words"));
    shopper.click("More").await;
    shopper.see("Hidden words").await;
    shopper.click("Wait").await;
    shopper.see("It came at last").await;
    shopper.double_click("Twice").await;
    shopper.see("xx").await;
}

async fn the_shop_is_served_and_the_past_can_be_gone_back_to(world: &World) {
    let reader = world.browser().await;
    reader.visit("/docs").await;
    reader.click("Errors").await;
    reader.see("cart_not_found").await;
    assert_eq!(reader.path().await, "/docs/errors");
    reader.back().await;
    assert_eq!(reader.path().await, "/docs");
    reader.reload().await;
    reader.see("Schemas").await;
    let weight = reader.weight().await;
    assert!(weight.sent > 1_000 && weight.unpacked > weight.sent, "{weight:?}");
    let client = Client { address: "10.1.1.1".into(), user_agent: None };
    let entered = accounts::log_in(&world.ctx, demo::ADMIN.0, demo::ADMIN.1, &client).await;
    assert!(entered.is_ok(), "the shop is furnished");
}

async fn letters_are_read(world: &World) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let asked =
        client.post(format!("{}/v1/auth/password-reset", world.origin)).json(&json!({ "email": demo::CUSTOMER.0 }));
    assert_eq!(asked.send().await.expect("an answer").status(), 202);
    let letter = world.letter(demo::CUSTOMER.0, 0).await;
    assert!(link_in(&letter).starts_with(&world.origin), "{}", letter.text);
}

async fn keys_lead_everywhere_and_the_focus_is_seen(world: &World) {
    let shopper = world.browser().await;
    shopper.visit(COUNTER).await;
    shopper.tab_to("E-mail address").await;
    shopper.write("ada@example.com").await;
    shopper.tab_to("Red").await;
    shopper.press(Key::Space).await;
    shopper.tab_to("Place order").await;
    assert!(shopper.focus().await.visible);
    shopper.press(Key::Enter).await;
    shopper.see("ada@example.com takes small, red").await;
    shopper.visit("data:text/html,<style>:focus { outline: none }</style><button>Unseen</button>").await;
    shopper.press(Key::Tab).await;
    let focus = shopper.focus().await;
    assert_eq!((focus.name.as_str(), focus.tag.as_str(), focus.visible), ("Unseen", "button", false));
}

async fn javascript_can_be_off(world: &World) {
    const PAGE: &str = "data:text/html,<title>before</title><script>document.title = 'scripted'</script>
        <noscript>Without scripts</noscript><label>Name <input></label>";
    let with = world.browser().await;
    with.visit(PAGE).await;
    assert_eq!(with.title().await, "scripted");
    let without = world.browser_without_javascript().await;
    without.visit(PAGE).await;
    without.see("Without scripts").await;
    assert_eq!(without.title().await, "before");
    // What a person does is still done.
    without.fill("Name", "Ada").await;
    assert_eq!(without.value("Name").await, "Ada");
    without.visit("/docs").await;
    without.click("Errors").await;
    without.see("cart_not_found").await;
}

async fn a_browser_can_be_narrow_and_dark(world: &World) {
    const PAGE: &str = "data:text/html,<meta name=viewport content='width=device-width'><style>body { margin: 0 }
        p { width: 500px } @media (prefers-color-scheme: dark) { body { background: rgb(1, 2, 3) } }</style><p class=wide>Wide</p>";
    let reader = world.browser().await;
    reader.visit(PAGE).await;
    assert_eq!(reader.overflow().await, Vec::<String>::new());
    reader.resize(PHONE).await;
    let wide = reader.overflow().await;
    assert_eq!(wide, ["the page is 500 wide", "p.wide: 0 to 500"]);
    reader.visit("data:text/html,<meta name=viewport content='width=device-width'><p>Narrow</p>").await;
    assert_eq!(reader.overflow().await, Vec::<String>::new());
    assert_eq!(reader.run::<u32>("return innerWidth", Vec::new()).await, PHONE);
    reader.visit(PAGE).await;
    let colour = "return getComputedStyle(document.body).backgroundColor";
    assert_ne!(reader.run::<String>(colour, Vec::new()).await, "rgb(1, 2, 3)");
    reader.darken(true).await;
    assert_eq!(reader.run::<String>(colour, Vec::new()).await, "rgb(1, 2, 3)");
    reader.darken(false).await;
    reader.resize(DESK).await;
    reader.visit("/docs/errors").await;
    let picture = std::fs::read(reader.screenshot("docs-errors").await).expect("a picture");
    // The width stands in the head of a PNG.
    assert_eq!(picture[16..20], DESK.to_be_bytes());
}

async fn two_browsers_share_nothing(world: &World) {
    let (one, other) = futures::join!(world.browser(), world.browser());
    for browser in [&one, &other] {
        browser.visit("/docs").await;
    }
    one.run::<()>("document.cookie = 'cart=mine; path=/'", Vec::new()).await;
    let cookie = "return document.cookie";
    assert_eq!(one.run::<String>(cookie, Vec::new()).await, "cart=mine");
    assert_eq!(other.run::<String>(cookie, Vec::new()).await, "");
}

async fn what_a_page_complains_of_is_told(world: &World) {
    let reader = world.browser().await;
    reader.visit("data:text/html,<script>nobody.knows()</script>").await;
    let complaints = world.complaints().await;
    assert!(complaints.len() == 1 && complaints[0].contains("nobody"), "{complaints:?}");
    assert_eq!(world.complaints().await, Vec::<String>::new(), "told once");
}
