//! A shop with two products, a shopper with both in the cart, and a look at its books.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering::SeqCst},
    },
};

use merkato::{
    Context, Currency, PageRequest, Settings, analytics,
    carts::{self, Shopper, Which},
    catalog,
    flows::{
        self,
        checkout::{self, Checkout, CheckoutRequest},
        run::{self, Watch},
        shopping,
    },
    id::{MovementId, ProductId, UserId},
    inventory::{self, Note},
    orders::{self, NewDiscount, Order, OrderStatus, PostalAddress, Reduction},
    payments::{PaymentState, TestProvider},
    wallets::{self, Operation},
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use crate::{
    catalog::{category, on_sale},
    world::World,
};

pub const CODE: &str = "TENTH";

pub struct Shop {
    pub world: World,
    pub ctx: Context,
    pub provider: Arc<TestProvider>,
    pub shopper: Shopper,
    pub user: UserId,
    /// A lamp for 19.99 and a table for 250.
    pub products: [ProductId; 2],
    stock: [i64; 2],
    /// What is in the shopper's wallet at first, and how much of it is to pay: cents.
    pub deposited: AtomicI64,
    pub credit: AtomicI64,
    /// Whether a refund goes to the wallet, whoever has paid.
    pub refunds_to_credit: AtomicBool,
    /// Whether it is bought without the discount code.
    pub without_code: AtomicBool,
}

/// Two lamps and a table.
pub const WANTED: [i64; 2] = [2, 1];

impl Shop {
    pub async fn open(target: &Target, stock: [i64; 2]) -> Self {
        Shop::open_with(target, stock, Settings::default()).await
    }

    pub async fn open_with(target: &Target, stock: [i64; 2], settings: Settings) -> Self {
        Shop::furnish(World::with(target, taxed(settings)), stock).await
    }

    /// As it is on engines that commit one guarded partition at a time.
    pub async fn open_step_by_step(target: &Target, stock: [i64; 2]) -> Self {
        Shop::furnish(World::step_by_step(target, taxed(Settings::default())), stock).await
    }

    async fn furnish(world: World, stock: [i64; 2]) -> Self {
        let provider = Arc::new(TestProvider::new(world.clock.clone()));
        let ctx = world.ctx.with_payments(provider.clone());
        let furniture = category(&ctx, "Furniture").await;
        let mut products = [ProductId(uuid::Uuid::nil()); 2];
        for (i, (name, cents)) in [("Lamp", 1999), ("Table", 25_000)].into_iter().enumerate() {
            let product = catalog::create_product(&ctx, on_sale(name, &furniture, cents)).await.expect("a product");
            products[i] = product.product_id;
            if stock[i] > 0 {
                let movement = MovementId(ctx.new_id());
                inventory::restock(&ctx, movement, product.product_id, "vienna", stock[i], Note::default())
                    .await
                    .expect("restocked");
            }
        }
        let discount = NewDiscount {
            code: CODE.into(),
            reduction: Reduction::Percentage(Decimal::TEN),
            currency: None,
            minimal_subtotal: None,
            valid_from: None,
            valid_until: None,
            uses_max: Some(1),
        };
        orders::create_discount(&ctx, discount).await.expect("a discount");
        let user = UserId(ctx.new_id());
        let shop = Shop {
            shopper: Shopper::User(user),
            user,
            products,
            stock,
            provider,
            ctx,
            world,
            deposited: AtomicI64::new(0),
            credit: AtomicI64::new(0),
            refunds_to_credit: AtomicBool::new(false),
            without_code: AtomicBool::new(false),
        };
        shop.fill_cart().await;
        shop
    }

    /// Puts so many cents into the wallet; so many of them are to pay.
    pub async fn hold_credit(&self, deposited: i64, credit: i64) {
        let operation = Operation::new(self.ctx.new_id(), Decimal::new(deposited, 2), Currency::new("EUR"));
        wallets::deposit(&self.ctx, self.user, operation).await.expect("deposited");
        self.deposited.fetch_add(deposited, SeqCst);
        self.credit.store(credit, SeqCst);
    }

    pub async fn fill_cart(&self) {
        for (product, quantity) in self.products.into_iter().zip(WANTED) {
            let (ctx, options) = (&self.ctx, BTreeMap::new());
            shopping::add_to_cart(ctx, &self.shopper, Which::Active, product, options, quantity).await.expect("added");
        }
    }

    /// The same shop, seen by a process that is watched.
    pub fn watched(&self, watch: Arc<dyn Watch>) -> Context {
        self.ctx.with_watch(watch)
    }

    pub fn request(&self, key: &str, source: &str) -> CheckoutRequest {
        CheckoutRequest {
            key: key.into(),
            shopper: self.shopper.clone(),
            cart: Which::Active,
            email: "Ada@Example.org".into(),
            customer_name: Some("Ada".into()),
            shipping_address: PostalAddress {
                street: "Ring 1".into(),
                city: "Vienna".into(),
                country: "AT".into(),
                ..PostalAddress::default()
            },
            billing_address: None,
            shipping_method: "standard".into(),
            discount_code: (!self.without_code.load(SeqCst)).then(|| CODE.into()),
            payment_method: "card".into(),
            payment_source: source.into(),
            customer_notes: None,
            expected_total: None,
            store_credit: Some(Decimal::new(self.credit.load(SeqCst), 2)).filter(|credit| !credit.is_zero()),
        }
    }

    pub async fn buy(&self, key: &str) -> Checkout {
        checkout::check_out(&self.ctx, &self.request(key, "ok")).await.expect("bought")
    }

    /// Lets the time pass that a stopped flow is left alone, and goes on with all that are due, until none is.
    pub async fn go_on(&self) {
        for _ in 0..8 {
            self.world.clock.advance_millis(1_000 * (self.ctx.settings.flows.lease_seconds + 1));
            let swept = run::resume_due(&self.ctx).await.expect("resumed");
            assert_eq!(swept.failed, 0, "{swept:?}");
            if swept.resumed == 0 {
                break;
            }
        }
    }

    pub async fn orders(&self) -> Vec<Order> {
        let page = PageRequest { limit: 100, cursor: None };
        let rows = orders::list_orders_of_user(&self.ctx, self.user, None, None, page).await.expect("orders").rows;
        let ids: Vec<_> = rows.iter().map(|row| row.order_id).collect();
        let found = orders::list_orders(&self.ctx, &ids).await.expect("orders");
        let found: Vec<Order> = found.into_iter().map(|order| order.expect("an order that is listed")).collect();
        for (row, order) in rows.iter().zip(&found) {
            assert_eq!(row.status, order.status, "the list says what the order says");
        }
        found
    }

    /// Everything that must be true when nothing is under way: units, holds, money, figures, lists, cart.
    pub async fn audit(&self) {
        let ctx = &self.ctx;
        let orders = self.orders().await;
        let standing: Vec<&Order> = orders.iter().filter(|order| counts(order)).collect();
        for (i, product) in self.products.into_iter().enumerate() {
            let mut sold = 0;
            for order in orders.iter().filter(|order| keeps_stock(order)) {
                let items = orders::list_items(ctx, order.order_id).await.expect("items");
                sold += items
                    .iter()
                    .filter(|item| item.product_id == product)
                    .map(|item| i64::from(item.quantity))
                    .sum::<i64>();
            }
            let stock = inventory::get_stock(ctx, product).await.expect("stock");
            assert_eq!(stock.quantity(), self.stock[i] - sold, "units of product {i}");
            assert_eq!(stock.reserved(), 0, "held units of product {i}");
            let wrong = inventory::verify_stock(ctx, Some(product)).await.expect("verified").differences;
            assert!(wrong.is_empty(), "{wrong:?}");
            let shown = catalog::get_product(ctx, product).await.expect("a product");
            if self.stock[i] > 0 {
                assert_eq!(shown.in_stock, stock.available() > 0, "the catalog says whether product {i} is there");
            }
        }
        let due: Decimal = standing.iter().map(|order| order.total).sum();
        let charged: Decimal = standing.iter().map(|order| order.charge()).sum();
        let kept = self.provider.captured_total() - self.provider.refunded_total();
        let wallet = wallets::get_wallet(ctx, self.user).await.expect("a wallet");
        let spent = Decimal::new(self.deposited.load(SeqCst), 2) - wallet.balance;
        assert_eq!(kept + spent, due, "money: {kept} at the provider, {spent} of the wallet");
        if !self.refunds_to_credit.load(SeqCst) {
            assert_eq!(kept, charged, "what the provider has");
        }
        let verified = wallets::verify_wallets(ctx).await.expect("verified");
        assert!(verified.is_sound(), "{verified:?}");
        for charge in self.provider.charges() {
            assert!(!matches!(charge.state, PaymentState::Authorised | PaymentState::Pending), "{charge:?}");
        }
        let (mut count, mut pieces, mut revenue) = (0, 0, Decimal::ZERO);
        let mut days: Vec<_> = orders.iter().map(Order::order_date).collect();
        days.dedup();
        for day in days {
            let page = PageRequest { limit: 100, cursor: None };
            for row in analytics::list_daily_sales(ctx, day, page).await.expect("sales").rows {
                count += row.order_count;
                pieces += row.item_count;
                revenue += row.revenue();
            }
        }
        assert_eq!(count, standing.len() as i64, "orders in the daily sales");
        assert_eq!(pieces, standing.iter().map(|order| order.item_count).sum::<i64>());
        assert_eq!(revenue, standing.iter().map(|order| order.subtotal).sum::<Decimal>());
        for order in &orders {
            assert!(order.status != OrderStatus::Pending, "no order is left pending");
            let history = orders::list_history(ctx, order.order_id).await.expect("history");
            assert_eq!(history.first().map(|row| row.status), Some(order.status), "the history ends where it stands");
            let timeline = orders::timeline(ctx, order.order_id).await.expect("a timeline");
            let told: Vec<_> =
                timeline.iter().map(|step| (step.status, step.status_time, step.event_version)).collect();
            let rows = history.iter().zip((1..=history.len() as i64).rev());
            assert_eq!(told, rows.map(|(row, n)| (row.status, row.status_time, Some(n))).collect::<Vec<_>>());
        }
        let uses = orders::get_discount(ctx, CODE).await.expect("a discount").uses;
        let used = orders.iter().filter(|order| order.discount_code.is_some() && order.paid_at.is_some()).count();
        assert_eq!(uses, used as i64, "uses of the discount code");
    }

    /// What is in the cart of each product.
    pub async fn cart(&self) -> [i64; 2] {
        let cart = carts::show_cart(&self.ctx, &self.shopper, Which::Active).await.expect("a cart");
        self.products.map(|product| {
            cart.lines.iter().filter(|line| line.product_id == product).map(|line| i64::from(line.quantity)).sum()
        })
    }

    pub async fn check_out(&self, ctx: &Context, key: &str, source: &str) -> flows::Result<Checkout> {
        checkout::check_out(ctx, &self.request(key, source)).await
    }
}

/// A fifth, in the country that everything is shipped to.
fn taxed(mut settings: Settings) -> Settings {
    settings.orders.tax_rates = BTreeMap::from([("AT".into(), Decimal::new(20, 2))]);
    settings
}

/// Whether it is in the figures.
fn counts(order: &Order) -> bool {
    use OrderStatus::*;
    matches!(order.status, Paid | Processing | Shipped | Delivered)
}

/// Whether its units are gone.
fn keeps_stock(order: &Order) -> bool {
    counts(order) || order.status == OrderStatus::Refunded && order.internal_notes.as_deref() == Some("kept")
}
