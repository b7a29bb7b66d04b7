//! The shop on the embedded engine, through its own flow.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use merkato::{
    Context, PageRequest, Settings, analytics,
    carts::{Shopper, Which},
    catalog::{self, NewCategory, NewProduct},
    context::SystemChance,
    flows::{
        checkout::{self, CheckoutRequest, Stage},
        shopping,
    },
    id::MovementId,
    inventory::{self, Note},
    orders::{self, PostalAddress},
    payments::TestProvider,
};
use rust_decimal::Decimal;
use widerow::{Database, Date, embedded::Embedded, time::SystemClock};

use super::{Books, CLIENTS, COUNTRY, EACH, SHIPPING_METHOD, STOCK, TAX_PERCENT, basket};
use crate::{
    alone::Bill,
    measure::{self, Contender},
    postgres::sample::Sample,
};

pub struct Shop {
    ctx: Context,
    sample: Arc<Sample>,
    provider: Arc<TestProvider>,
    opened: Date,
    pub bill: Arc<Bill>,
    round: usize,
    /// Of the round, by client.
    requests: Vec<Vec<CheckoutRequest>>,
}

impl Shop {
    pub async fn load(folder: &Path, sample: Arc<Sample>) -> Self {
        let schema = || merkato::schema().expect("a schema");
        let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
        database.migrate().await.expect("tables");
        let store = database.tenant("bench").expect("a good name");
        let mut settings = Settings::default();
        settings.orders.tax_rates = BTreeMap::from([(COUNTRY.into(), Decimal::new(TAX_PERCENT, 2))]);
        let clock = Arc::new(SystemClock);
        let provider = Arc::new(TestProvider::new(clock.clone()));
        let ctx = Context::new(store, settings, clock, Arc::new(SystemChance)).with_payments(provider.clone());
        furnish(&ctx, &sample).await;
        let opened = ctx.now().date();
        Shop { ctx, sample, provider, opened, bill: Arc::default(), round: 0, requests: Vec::new() }
    }

    pub async fn books(&self) -> Books {
        let mut books = Books { orders: 0, money: self.provider.captured_total(), units_sold: 0, pieces_counted: 0 };
        let today = self.ctx.now().date();
        for date in (self.opened.days()..=today.days()).map(Date::from_days) {
            let mut page = PageRequest::first(merkato::limits::PAGE_ROWS_MAX);
            loop {
                let found = orders::list_by_day(&self.ctx, date, page.clone()).await.expect("orders");
                assert!(found.rows.iter().all(|order| order.status == orders::OrderStatus::Paid));
                books.orders += found.rows.len() as i64;
                let Some(next) = found.next else { break };
                page.cursor = Some(next);
            }
        }
        let sales = analytics::list_daily_sales_between(&self.ctx, self.opened, today).await.expect("sales");
        books.pieces_counted = sales.iter().map(|row| row.item_count).sum();
        for i in 0..self.sample.len() {
            let stock = inventory::get_stock(&self.ctx, self.sample.id(i)).await.expect("stock");
            assert_eq!(stock.reserved(), 0, "no unit is held when all is done");
            books.units_sold += i64::from(STOCK) - stock.quantity();
        }
        books
    }
}

/// The categories, the products, and enough of each.
pub async fn furnish(ctx: &Context, sample: &Arc<Sample>) {
    for (category_id, name, parent_id) in sample.categories() {
        let new = NewCategory { category_id: Some(category_id), name, slug: None, parent_id };
        catalog::create_category(ctx, new).await.expect("a category");
    }
    let next = Arc::new(AtomicUsize::new(0));
    measure::clients(CLIENTS, |_| {
        let (ctx, sample, next) = (ctx.clone(), sample.clone(), next.clone());
        async move {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= sample.len() {
                    return Vec::new();
                }
                let new = NewProduct { in_stock: true, ..sample.new_product(i) };
                let product = catalog::create_product(&ctx, new).await.expect("a product").product_id;
                let (movement, units) = (MovementId(ctx.new_id()), i64::from(STOCK));
                let note = Note::default();
                inventory::restock(&ctx, movement, product, "vienna", units, note).await.expect("restocked");
            }
        }
    })
    .await;
}

impl Contender for Shop {
    fn name(&self) -> String {
        "merkato on the embedded engine".into()
    }

    async fn prepare(&mut self) {
        self.round += 1;
        let round = self.round;
        self.requests = (0..CLIENTS).map(|c| (0..EACH).map(|i| request(round, c, i)).collect()).collect();
        measure::clients(CLIENTS, |client| {
            let (ctx, sample) = (self.ctx.clone(), self.sample.clone());
            async move {
                for i in 0..EACH {
                    let (user, products) = basket(round, client, i);
                    for product in products {
                        let (shopper, options) = (Shopper::User(user), BTreeMap::new());
                        shopping::add_to_cart(&ctx, &shopper, Which::Active, sample.id(product), options, 1)
                            .await
                            .expect("added");
                    }
                }
                Vec::new()
            }
        })
        .await;
    }

    async fn round(&mut self) -> Vec<Duration> {
        let mut requests = std::mem::take(&mut self.requests);
        let checkouts = measure::clients(CLIENTS, |client| {
            let (ctx, mine) = (self.ctx.clone(), std::mem::take(&mut requests[client]));
            async move {
                let mut times = Vec::with_capacity(mine.len());
                for request in &mine {
                    let start = Instant::now();
                    let done = checkout::check_out(&ctx, request).await.expect("an order");
                    times.push(start.elapsed());
                    assert_eq!(done.stage, Stage::Paid);
                }
                times
            }
        });
        self.bill.add(&self.ctx.store.database(), checkouts).await
    }
}

fn request(round: usize, client: usize, checkout: usize) -> CheckoutRequest {
    let (user, _) = basket(round, client, checkout);
    CheckoutRequest {
        key: format!("round {round}"),
        shopper: Shopper::User(user),
        cart: Which::Active,
        email: format!("shopper{client}.{checkout}@example.org"),
        customer_name: Some("Ada Lovelace".into()),
        shipping_address: PostalAddress {
            street: "Ring 1".into(),
            city: "Vienna".into(),
            postal_code: Some("1010".into()),
            country: COUNTRY.into(),
            ..PostalAddress::default()
        },
        billing_address: None,
        shipping_method: SHIPPING_METHOD.into(),
        discount_code: None,
        payment_method: "card".into(),
        payment_source: "ok".into(),
        customer_notes: None,
        expected_total: None,
        store_credit: None,
    }
}
