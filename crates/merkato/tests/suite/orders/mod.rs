//! Orders, on every engine.

use std::{collections::BTreeMap, sync::Arc};

use merkato::{
    Context, Currency, Settings,
    carts::CartEntry,
    context::SystemChance,
    id::{CartId, CategoryId, OrderId, ProductId, UserId},
    orders::{
        self, Change, NewOrder, Order, OrderDraft, OrderLine, OrderStatus, Past, PastStep, PaymentStatus,
        PostalAddress, Purchase,
    },
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{
    Commit, Database, Engine, Options, Timestamp,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use crate::world::{World, schema};

pub mod bad_input;
pub mod costs;
pub mod discounts;
pub mod lists;
pub mod numbers;
pub mod placing;
pub mod status;

pub const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

pub fn line(n: u32, quantity: u32) -> OrderLine {
    OrderLine {
        product_id: ProductId(Uuid::from_u128(n.into())),
        name: format!("Product {n}"),
        image: Some(format!("/images/{n}.jpg")),
        sku: Some(format!("SKU-{n}")),
        options: BTreeMap::from([("size".into(), "L".into())]),
        unit_price: Decimal::from(n) + Decimal::new(99, 2),
        quantity,
        category_id: Some(CategoryId(Uuid::from_u128(u128::from(n % 3)))),
    }
}

/// An order of so many lines, under a number that no other has.
pub fn draft(ctx: &Context, user: Option<UserId>, lines: u32) -> OrderDraft {
    let lines: Vec<_> = (1..=lines).map(|n| line(n, n)).collect();
    let priced: Vec<_> = lines.iter().map(|line| (line.unit_price, line.quantity)).collect();
    let currency = Currency::new("EUR");
    let purchase = Purchase { currency: &currency, lines: &priced, reduction: None, shipping: None, country: "DE" };
    let order_id = OrderId(ctx.new_id());
    OrderDraft {
        order_id,
        order_number: format!("T-{}", order_id.0.simple()),
        checkout_id: None,
        cart_id: None,
        user_id: user,
        user_email: Some("ada@example.com".into()),
        customer_name: Some("Ada Lovelace".into()),
        shipping_address: Some(PostalAddress {
            street: "Am Markt 1".into(),
            city: "Bremen".into(),
            country: "DE".into(),
            ..PostalAddress::default()
        }),
        billing_address: None,
        payment_method: Some("card".into()),
        totals: orders::totals(&purchase, &ctx.settings.orders).expect("totals"),
        lines,
        discount_code: None,
        shipping_method: None,
        estimated_delivery: None,
        customer_notes: Some("Ring twice".into()),
        store_credit: None,
    }
}

/// An order of one line, placed now.
pub fn new_order(ctx: &Context, user: Option<UserId>) -> NewOrder {
    draft(ctx, user, 1).place("customer", ctx.now()).expect("an order")
}

pub async fn place(ctx: &Context, user: Option<UserId>) -> Order {
    write(ctx, &new_order(ctx, user)).await
}

/// What a checkout's commit is guarded on.
pub fn cart(ctx: &Context) -> CartEntry {
    CartEntry {
        user_id: UserId(ctx.new_id()),
        cart_name: "Cleared".into(),
        cart_id: CartId(ctx.new_id()),
        user_email: None,
        told: None,
        cart_is_active: true,
        created_at: ctx.now(),
    }
}

/// Writes an order as a checkout does: in a commit that is guarded elsewhere.
pub async fn write(ctx: &Context, new: &NewOrder) -> Order {
    let cart = cart(ctx);
    ctx.store.commit(orders::place(ctx, Commit::new().put(&cart), new)).await.expect("placed");
    new.order().clone()
}

/// An order of the past that has come so far by now.
pub fn imported(draft: OrderDraft, now: Timestamp, steps: &[(OrderStatus, i64)]) -> NewOrder {
    let step = |(status, seconds_ago): &(OrderStatus, i64)| PastStep {
        status: *status,
        at: now.plus_seconds(-seconds_ago),
        actor: "import".into(),
        notes: Some("As it was".into()),
    };
    let past = Past {
        steps: steps.iter().map(step).collect(),
        payment_status: PaymentStatus::Captured,
        payment_id: Some("old_1".into()),
        tracking_number: None,
        carrier: None,
        internal_notes: Some("Old shop".into()),
    };
    draft.import(past, now).expect("an order")
}

pub fn change(ctx: &Context) -> Change {
    Change::by("admin:john", ctx.new_id())
}

pub async fn go(ctx: &Context, order: OrderId, to: &[OrderStatus]) -> Order {
    let mut last = None;
    for to in to {
        last = Some(orders::change_status(ctx, order, *to, change(ctx)).await.expect("legal"));
    }
    last.expect("a step")
}

/// The same shop in another process.
pub fn second_process(target: &Target, world: &World) -> Context {
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(target.engine(), schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).expect("a good name");
    Context::new(store, Settings::clone(&world.ctx.settings), world.clock.clone(), Arc::new(SystemChance))
}

/// The same shop in a process that stops after so many steps, and makes every step that an engine may need.
pub fn dying(target: &Target, world: &World, steps: u64) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    let clock = world.clock.clone() as Arc<dyn Clock>;
    let options = Options { clock, always_outbox: true, ..Options::default() };
    let database = Database::with_options(faulty.clone(), schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).expect("a good name");
    let settings = Settings::clone(&world.ctx.settings);
    (Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance)), faulty)
}
