//! Carts, on every engine.

use std::{collections::BTreeMap, sync::Arc};

use merkato::{
    Context, Currency, Settings,
    carts::{self, Cart, CartEnd, CartLine, GuestToken, ItemSnapshot, Line, Shopper, Which},
    context::SystemChance,
    id::{CartId, LineId, ProductId, UserId},
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{
    Database, Date, Engine, Options,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use crate::world::{World, schema};

pub mod bad_input;
pub mod cost;
pub mod guests;
pub mod lines;
pub mod merge;
pub mod model;
pub mod named;
pub mod stopped;

pub const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

pub fn product(n: u32) -> ProductId {
    ProductId(Uuid::from_u128(n.into()))
}

/// The n-th product, for n euros and 99 cents.
pub fn item(n: u32) -> ItemSnapshot {
    ItemSnapshot {
        product_id: product(n),
        name: format!("Product {n}"),
        image_url: Some(format!("/images/{n}.jpg")),
        unit_price: Decimal::from(n) + Decimal::new(99, 2),
        currency: Currency::new("EUR"),
        options: BTreeMap::new(),
    }
}

pub fn sized(n: u32, size: &str) -> ItemSnapshot {
    ItemSnapshot { options: BTreeMap::from([("size".into(), size.into())]), ..item(n) }
}

pub fn line(n: u32) -> LineId {
    carts::line_id(product(n), &BTreeMap::new())
}

pub fn new_user(ctx: &Context) -> (UserId, Shopper) {
    let user = UserId(ctx.new_id());
    (user, Shopper::User(user))
}

pub fn new_guest(ctx: &Context) -> (GuestToken, Shopper) {
    let token = GuestToken::new(ctx);
    (token.clone(), Shopper::Guest(token))
}

pub async fn add(ctx: &Context, shopper: &Shopper, n: u32, quantity: i64) -> Cart {
    sound(carts::add_line(ctx, shopper, Which::Active, item(n), quantity).await.unwrap())
}

/// Many lines, a few commits.
pub async fn add_many(ctx: &Context, shopper: &Shopper, numbers: impl IntoIterator<Item = u32>, quantity: i64) {
    let items: Vec<_> = numbers.into_iter().map(|n| (item(n), quantity)).collect();
    for some in items.chunks(merkato::limits::LINES_AT_ONCE_MAX) {
        sound(carts::add_lines(ctx, shopper, Which::Active, some).await.unwrap());
    }
}

pub async fn show(ctx: &Context, shopper: &Shopper, which: impl Into<Which>) -> Cart {
    sound(carts::show_cart(ctx, shopper, which).await.unwrap())
}

/// The totals are those of the lines, newest first, each product with its options once.
pub fn sound(cart: Cart) -> Cart {
    let sum: Decimal = cart.lines.iter().map(|l| l.unit_price * Decimal::from(l.quantity)).sum();
    assert_eq!(cart.subtotal, sum);
    assert_eq!(cart.item_count, cart.lines.iter().map(|l| l.quantity).sum::<u32>());
    assert_eq!(cart.currency.is_some(), !cart.lines.is_empty());
    let ids: std::collections::BTreeSet<_> = cart.lines.iter().map(|l| l.line_id).collect();
    assert_eq!(ids.len(), cart.lines.len(), "a line is there twice");
    for line in &cart.lines {
        assert_eq!(line.line_id, carts::line_id(line.product_id, &line.selected_options));
    }
    assert!(cart.lines.is_sorted_by(|a, b| a.added_at >= b.added_at), "not the newest first");
    cart
}

/// What two carts of different times and owners can be compared by.
pub fn gist(lines: &[Line]) -> Vec<(LineId, u32, Decimal)> {
    lines.iter().map(|l| (l.line_id, l.quantity, l.unit_price)).collect()
}

/// The rows that are stored of a cart, seen or not, and whether it has static columns.
pub async fn stored(ctx: &Context, cart: CartId) -> (usize, bool) {
    let page = ctx.store.slice::<CartLine>(cart).limit(2_000).page().await.unwrap();
    (page.rows.len(), page.statics.get(CartLine::UPDATED_AT).unwrap().is_some())
}

/// The carts that are noted to end on the day so many days from now.
pub async fn ends_in(ctx: &Context, days: i64) -> Vec<CartId> {
    ends_on(ctx, ctx.now().plus_seconds(days * 24 * 60 * 60).date()).await
}

pub async fn ends_on(ctx: &Context, day: Date) -> Vec<CartId> {
    ctx.store.slice::<CartEnd>(day).page().await.unwrap().rows.into_iter().map(|end| end.cart_id).collect()
}

/// Does what commits of a stopped process left to write elsewhere, as the data layer does in the background; in a process
/// that has just started, which looks at all that is there and not at every minute that the clock was moved by.
pub async fn finish_commits(target: &Target, world: &World) {
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    Database::with_options(target.engine(), schema(), options).sweep().await.unwrap();
}

/// The same shop in a process that stops after so many steps.
pub fn dying(target: &Target, world: &World, steps: u64) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(faulty.clone(), schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).unwrap();
    let settings = Settings::clone(&world.ctx.settings);
    (Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance)), faulty)
}
