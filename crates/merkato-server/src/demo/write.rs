//! Writes the furniture, each thing once. Things that do not rest upon each other are written side by side, as the store takes
//! many commits at once as quickly as one.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{StreamExt as _, TryStreamExt as _, stream, try_join};
use merkato::{
    Context,
    accounts::{self, AddressInput, NewUser, Profile, Role},
    analytics,
    carts::{self, ItemSnapshot, Shopper},
    catalog::{self, Product},
    context::SystemChance,
    flows,
    id::{CheckoutId, UserId},
    inventory::{self, Level, Note, Reserve},
    orders::{
        self, NewDiscount, OrderDraft, OrderLine, OrderStatus, Past, PaymentStatus, PostalAddress, Purchase, Reduction,
    },
};
use rust_decimal::Decimal;
use tokio::task::JoinSet;
use widerow::{Timestamp, time::ManualClock};

use super::{
    ADMIN, CLERK, CUSTOMER, DAY_SECONDS,
    furniture::{self, Buyer, Customer, Furniture, Home, PastLine, PastOrder, SavedCart},
    people,
};

/// A discount code, which is the last thing that is written: where it is, everything is.
const MARK: &str = "WELCOME10";
/// Tasks of one kind, and things that each has under way: more threads than cores help nobody.
const TASKS: usize = 2;
const AT_ONCE: usize = 48;

/// How many things are written so far.
#[derive(Clone, Debug, Default)]
pub struct Done(Arc<AtomicU64>);

impl Done {
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, things: usize) {
        self.0.fetch_add(u64::try_from(things).unwrap_or(0), Ordering::Relaxed);
    }
}

pub async fn is_furnished(ctx: &Context) -> anyhow::Result<bool> {
    Ok(orders::find_discount(ctx, MARK).await?.is_some())
}

/// What was written before, by a start that was interrupted, is left as it is.
pub async fn write(ctx: &Context, furniture: Furniture, done: &Done) -> anyhow::Result<()> {
    let made = Arc::new(furniture);
    for new in &made.categories {
        match catalog::create_category(ctx, new.clone()).await {
            Ok(_) | Err(catalog::Error::CategoryExists { .. }) => done.add(1),
            Err(error) => return Err(error.into()),
        }
    }
    let shop = Writing { ctx: ctx.clone(), made: made.clone(), done: done.clone(), people: Arc::default() };
    let (_, _, _, people) = try_join!(
        shop.each(made.products.len(), |shop, n| async move { shop.product(n).await }),
        shop.each(made.stock.len(), |shop, n| async move { shop.stock(n).await }),
        shop.each(made.customers.len(), |shop, n| async move { shop.customer(n).await }),
        staff_and_ada(ctx),
    )?;
    let shop = Writing { people: Arc::new(shop.people(people).await?), ..shop };
    try_join!(
        shop.each(made.orders.len(), |shop, n| async move { shop.order(n).await }),
        shop.each(made.purchases, |shop, n| async move { shop.purchase(n).await }),
        shop.each(made.views.len(), |shop, n| async move { shop.views(n).await }),
        shop.each(made.sales.len(), |shop, n| async move { shop.sales(n).await }),
        shop.each(made.customers.len() + 1, |shop, n| async move { shop.carts(n).await }),
        shop.each(made.held.len(), |shop, n| async move { shop.hold(n).await }),
    )?;
    flows::sales::rank_products(ctx).await?;
    discounts(ctx).await
}

#[derive(Clone)]
struct Writing {
    ctx: Context,
    made: Arc<Furniture>,
    done: Done,
    people: Arc<People>,
}

/// Whose ids are known.
#[derive(Default)]
struct People {
    ada: Option<UserId>,
    customers: Vec<UserId>,
}

impl Writing {
    /// Writes so many things, several at once. Things that are near to each other are written at the same time: orders of one
    /// day are then counted together.
    async fn each<F>(&self, count: usize, write: fn(Writing, usize) -> F) -> anyhow::Result<()>
    where
        F: Future<Output = anyhow::Result<usize>> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let shop = self.clone();
            tasks.spawn(async move {
                let things = (task..count).step_by(TASKS).map(|n| write(shop.clone(), n));
                let mut written = stream::iter(things).buffer_unordered(AT_ONCE);
                while let Some(things) = written.try_next().await? {
                    shop.done.add(things);
                }
                anyhow::Ok(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        Ok(())
    }

    async fn product(&self, n: usize) -> anyhow::Result<usize> {
        let product = &self.made.products[n];
        // One that is there may have been edited or sold since.
        if catalog::find_product(&self.ctx, product.product_id).await?.is_none() {
            catalog::restore_product(&self.ctx, product.clone()).await?;
        }
        Ok(1)
    }

    async fn stock(&self, n: usize) -> anyhow::Result<usize> {
        let stock = &self.made.stock[n];
        if stock.backorder {
            inventory::set_policy(&self.ctx, stock.product, true, true).await?;
        }
        for delivery in &stock.deliveries {
            let note = Note { actor: Some("demo".into()), reason: Some("First delivery".into()) };
            let level = Level { quantity: delivery.units, low_stock_threshold: Some(delivery.low) };
            inventory::set_level(&self.ctx, delivery.movement, stock.product, delivery.warehouse, level, None, note)
                .await?;
        }
        Ok(1)
    }

    async fn customer(&self, n: usize) -> anyhow::Result<usize> {
        let Customer { email, first_name, last_name, home, registered_at, .. } = &self.made.customers[n];
        let ctx = &in_the_past(&self.ctx, *registered_at);
        let user = match accounts::find_by_email(ctx, email).await? {
            Some(known) => known.user_id,
            None => {
                let new = new_user((email, &nobody_knows(ctx)), (first_name, last_name));
                crate::cli::create_user(ctx, new, Role::Customer).await?.user_id
            }
        };
        if accounts::list_addresses(ctx, user).await?.is_empty() {
            accounts::add_address(ctx, user, address("Home", home), true).await?;
        }
        Ok(1)
    }

    async fn people(&self, ada: UserId) -> anyhow::Result<People> {
        let mut customers = Vec::new();
        for customer in &self.made.customers {
            let found = accounts::find_by_email(&self.ctx, &customer.email).await?;
            customers.extend(found.map(|found| found.user_id));
        }
        Ok(People { ada: Some(ada), customers })
    }

    async fn order(&self, n: usize) -> anyhow::Result<usize> {
        let past = &self.made.orders[n];
        let draft = self.draft(past)?;
        orders::insert(&self.ctx, &draft.import(history(past), self.ctx.now())?).await?;
        flows::sales::count_order(&self.ctx, past.order).await?;
        Ok(1)
    }

    fn draft(&self, past: &PastOrder) -> anyhow::Result<OrderDraft> {
        let lines: Vec<OrderLine> = past.lines.iter().map(|line| self.line(line)).collect();
        let settings = &self.ctx.settings.orders;
        let prices: Vec<(Decimal, u32)> = lines.iter().map(|line| (line.unit_price, line.quantity)).collect();
        let shipping = settings.shipping_methods.get(past.shipping).or(settings.shipping_methods.first());
        let (user_id, user_email, customer_name, home) = self.buyer(past.buyer);
        let reduction = past.discounted.then_some(Reduction::Percentage(Decimal::TEN));
        let purchase =
            Purchase { currency: &settings.currency, lines: &prices, reduction, shipping, country: home.country };
        let days = shipping.map_or(0, |method| i64::from(method.days));
        Ok(OrderDraft {
            order_id: past.order,
            order_number: past.number.clone(),
            checkout_id: None,
            cart_id: None,
            user_id,
            user_email: Some(user_email),
            customer_name: Some(customer_name),
            shipping_address: Some(postal(&home)),
            billing_address: None,
            payment_method: Some("card".into()),
            totals: orders::totals(&purchase, settings)?,
            lines,
            discount_code: past.discounted.then(|| MARK.to_lowercase()),
            shipping_method: shipping.map(|method| method.name.clone()),
            estimated_delivery: Some(past.placed_at().plus_seconds(days * DAY_SECONDS).date()),
            customer_notes: None,
        })
    }

    fn line(&self, line: &PastLine) -> OrderLine {
        let product = &self.made.products[line.product];
        OrderLine {
            product_id: product.product_id,
            name: product.name.clone(),
            image: product.thumbnail_url.clone(),
            sku: product.sku.clone(),
            options: line.options.clone(),
            unit_price: product.price,
            quantity: line.units,
            category_id: Some(product.category_id),
        }
    }

    fn buyer(&self, buyer: Buyer) -> (Option<UserId>, String, String, Home) {
        match buyer {
            Buyer::Ada => (self.people.ada, CUSTOMER.0.to_owned(), "Ada Vogel".to_owned(), adas_home()),
            Buyer::Customer(n) => {
                let Customer { email, first_name, last_name, home, .. } = &self.made.customers[n];
                (
                    self.people.customers.get(n).copied(),
                    email.clone(),
                    format!("{first_name} {last_name}"),
                    home.clone(),
                )
            }
            Buyer::Guest { name, city, house } => {
                let (first, last) = people::NAMES[name % people::NAMES.len()];
                let email = format!("{}{house}@example.org", first.to_lowercase());
                (None, email, format!("{first} {last}"), furniture::home(city, house))
            }
        }
    }

    /// Of the last orders, and of what is of one department in each: what else was in the parcel goes together by accident.
    async fn purchase(&self, n: usize) -> anyhow::Result<usize> {
        let Some(past) = self.made.orders.iter().rev().nth(n) else { return Ok(0) };
        let products = past.lines.iter().map(|line| &self.made.products[line.product]);
        let department = |product: &Product| product.category_path.first().copied().unwrap_or(product.category_id);
        let first = products.clone().next().map(department);
        let products: Vec<_> = products.filter(|of| Some(department(of)) == first).map(|of| of.product_id).collect();
        catalog::record_purchase(&self.ctx, past.order.0, &products).await?;
        Ok(1)
    }

    async fn views(&self, n: usize) -> anyhow::Result<usize> {
        let day = &self.made.views[n];
        let at = day.date.start().plus_seconds(DAY_SECONDS / 2);
        let ctx = &in_the_past(&self.ctx, at);
        for (product, times) in &day.seen {
            let product = self.made.products[*product].product_id;
            for time in 0..*times {
                // Two of three views are somebody's first of the day.
                let visitor = format!("demo {}", time * 2 / 3);
                analytics::view_product(ctx, product, visitor.as_bytes()).await?;
            }
        }
        analytics::flush_views(ctx).await?;
        Ok(day.seen.len())
    }

    async fn sales(&self, n: usize) -> anyhow::Result<usize> {
        analytics::set_day_sales(&self.ctx, &self.made.sales[n]).await?;
        Ok(1)
    }

    /// The first are Ada's.
    async fn carts(&self, n: usize) -> anyhow::Result<usize> {
        let (user, saved) = match n.checked_sub(1) {
            None => (self.people.ada, &self.made.adas_carts),
            Some(n) => (self.people.customers.get(n).copied(), &self.made.customers[n].carts),
        };
        let Some(user) = user else { return Ok(0) };
        let known = carts::list_carts(&self.ctx, user).await?;
        for cart in saved.iter().filter(|cart| known.iter().all(|known| known.cart_name != cart.name)) {
            let entry = carts::create_cart(&self.ctx, user, cart.name).await?;
            let items = self.items(cart);
            if !items.is_empty() {
                carts::add_lines(&self.ctx, &Shopper::User(user), entry.cart_id, &items).await?;
            }
        }
        Ok(0)
    }

    fn items(&self, cart: &SavedCart) -> Vec<(ItemSnapshot, i64)> {
        let item = |(n, line): (usize, &PastLine)| {
            let product = &self.made.products[line.product];
            let was = (product.price * Decimal::new(9, 1)).round_dp(1);
            let snapshot = ItemSnapshot {
                product_id: product.product_id,
                name: product.name.clone(),
                image_url: product.thumbnail_url.clone(),
                unit_price: if n == 0 && cart.first_was_cheaper { was } else { product.price },
                currency: product.currency.clone(),
                options: line.options.clone(),
            };
            (snapshot, i64::from(line.units))
        };
        cart.lines.iter().enumerate().map(item).collect()
    }

    /// Somebody stands at the till just now, and will not buy: the hold ends by itself.
    async fn hold(&self, n: usize) -> anyhow::Result<usize> {
        let product_id = self.made.products[self.made.held[n]].product_id;
        let seconds = 600 + 300 * i64::try_from(n).unwrap_or(0);
        let hold_id = merkato::id::HoldId(self.ctx.new_id());
        let hold = Reserve { product_id, hold_id, quantity: 1, seconds: Some(seconds) };
        inventory::reserve(&self.ctx, hold).await?;
        Ok(0)
    }
}

/// Those whose passwords are told; who Ada is.
async fn staff_and_ada(ctx: &Context) -> anyhow::Result<UserId> {
    user(ctx, ADMIN, ("Robin", "Keller"), Role::Admin).await?;
    user(ctx, CLERK, ("Sascha", "Lindner"), Role::Staff).await?;
    let ada = user(ctx, CUSTOMER, ("Ada", "Vogel"), Role::Customer).await?;
    if accounts::list_addresses(ctx, ada).await?.is_empty() {
        accounts::add_address(ctx, ada, address("Home", &adas_home()), true).await?;
        let work = Home { street: "Speicherkai 4".into(), city: "Berlin", postal_code: "10999", country: "DE" };
        accounts::add_address(ctx, ada, address("Work", &work), false).await?;
    }
    Ok(ada)
}

async fn user(ctx: &Context, login: (&str, &str), name: (&str, &str), role: Role) -> anyhow::Result<UserId> {
    if let Some(known) = accounts::find_by_email(ctx, login.0).await? {
        return Ok(accounts::set_role(ctx, known.user_id, role).await?.user_id);
    }
    Ok(crate::cli::create_user(ctx, new_user(login, name), role).await?.user_id)
}

fn new_user((email, password): (&str, &str), (first, last): (&str, &str)) -> NewUser {
    let profile = Profile { first_name: Some(first.into()), last_name: Some(last.into()), ..Profile::default() };
    NewUser { email: email.into(), password: password.into(), profile }
}

/// The same shop at another time. Whoever registers there has a password that nobody knows: its hash may be cheap, and would be
/// made anew if anybody ever logged in with it.
fn in_the_past(ctx: &Context, at: Timestamp) -> Context {
    let mut settings = (*ctx.settings).clone();
    (settings.accounts.passwords.memory_kib, settings.accounts.passwords.passes) = (8, 1);
    settings.accounts.passwords.lanes = 1;
    Context::new(ctx.store.clone(), settings, Arc::new(ManualClock::at(at)), Arc::new(SystemChance))
}

fn nobody_knows(ctx: &Context) -> String {
    ctx.random::<24>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn adas_home() -> Home {
    Home { street: "Marktplatz 1".into(), city: "Berlin", postal_code: "10115", country: "DE" }
}

fn address(label: &str, home: &Home) -> AddressInput {
    AddressInput {
        label: Some(label.into()),
        street: home.street.clone(),
        street2: None,
        city: home.city.into(),
        state: None,
        postal_code: Some(home.postal_code.into()),
        country: home.country.into(),
        phone: None,
    }
}

fn postal(home: &Home) -> PostalAddress {
    PostalAddress {
        street: home.street.clone(),
        city: home.city.into(),
        postal_code: Some(home.postal_code.into()),
        country: home.country.into(),
        ..PostalAddress::default()
    }
}

fn history(past: &PastOrder) -> Past {
    use OrderStatus::{Cancelled, Delivered, Pending, Refunded, Shipped};
    let sent = matches!(past.status, Shipped | Delivered | Refunded);
    Past {
        steps: past.steps.clone(),
        payment_status: match past.status {
            Pending => PaymentStatus::Pending,
            Cancelled | Refunded => PaymentStatus::Refunded,
            _ => PaymentStatus::Captured,
        },
        payment_id: None,
        tracking_number: sent.then(|| format!("JD{:010}", past.parcel)),
        carrier: sent.then(|| ["DHL", "DPD", "GLS"][usize::try_from(past.parcel % 3).unwrap_or(0)].to_owned()),
        internal_notes: None,
    }
}

/// Codes of all kinds: by percentage and by amount, from a subtotal on, soon over, long over, limited.
///
/// ORDER: last of all, and the mark last among them, as it says that all else is there.
async fn discounts(ctx: &Context) -> anyhow::Result<()> {
    let code = |code: &str, reduction| NewDiscount {
        code: code.into(),
        reduction,
        currency: Some(ctx.settings.orders.currency.clone()),
        minimal_subtotal: None,
        valid_from: None,
        valid_until: None,
        uses_max: None,
    };
    let in_days = |days: i64| Some(ctx.now().plus_seconds(days * DAY_SECONDS));
    let percent = |percent: i64| Reduction::Percentage(Decimal::from(percent));
    let five = Reduction::Amount(Decimal::from(5));
    for new in [
        NewDiscount { minimal_subtotal: Some(Decimal::from(40)), ..code("FIVER", five) },
        NewDiscount { valid_until: in_days(21), ..code("HARVEST15", percent(15)) },
        NewDiscount { uses_max: Some(50), ..code("FRIENDS20", percent(20)) },
        NewDiscount { valid_until: in_days(-30), ..code("SUMMER10", percent(10)) },
        NewDiscount { currency: None, ..code(MARK, percent(10)) },
    ] {
        match orders::create_discount(ctx, new).await {
            Ok(_) | Err(orders::Error::DiscountExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Some have used theirs.
    for n in 0..7u8 {
        orders::redeem(ctx, "FRIENDS20", CheckoutId(uuid::Uuid::new_v5(&uuid::Uuid::nil(), &[n]))).await?;
    }
    Ok(())
}
