//! Writes the furniture, each thing once. Things that do not rest upon each other are written side by side, as the store takes
//! many commits at once as quickly as one.

mod circles;
mod credit;
mod past;
mod people;
mod prices;
mod sensors;
mod things;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{StreamExt as _, TryStreamExt as _, stream, try_join};
use merkato::{
    Context, catalog, flows, hierarchy,
    id::CheckoutId,
    orders::{self, NewDiscount, Reduction},
};
use rust_decimal::Decimal;
use tokio::task::JoinSet;

use self::people::People;
pub use self::{
    prices::{is_stocked, stock_trader},
    sensors::measure,
};
use super::{DAY_SECONDS, company, furniture::Furniture};

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
    for answer in catalog::create_categories(ctx, made.categories.clone()).await? {
        match answer {
            Ok(_) | Err(catalog::Error::CategoryExists { .. }) => done.add(1),
            Err(error) => return Err(error.into()),
        }
    }
    let shop = Writing { ctx: ctx.clone(), made: made.clone(), done: done.clone(), people: Arc::default() };
    let (_, _, _, _, people) = try_join!(
        shop.each(made.products.len(), |shop, n| async move { shop.product(n).await }),
        shop.each(made.stock.len(), |shop, n| async move { shop.stock(n).await }),
        shop.each(made.customers.len(), |shop, n| async move { shop.customer(n).await }),
        company(ctx, done),
        people::staff_and_ada(ctx),
    )?;
    let shop = Writing { people: Arc::new(shop.people(people).await?), ..shop };
    try_join!(
        shop.each(made.orders.len(), |shop, n| async move { shop.order(n).await }),
        shop.each(made.purchases, |shop, n| async move { shop.purchase(n).await }),
        shop.each(made.views.len(), |shop, n| async move { shop.views(n).await }),
        shop.each(made.sales.len(), |shop, n| async move { shop.sales(n).await }),
        shop.each(made.customers.len() + 1, |shop, n| async move { shop.carts(n).await }),
        shop.each(made.held.len(), |shop, n| async move { shop.hold(n).await }),
        shop.circles(),
        shop.credit(),
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
}

/// Those who work here, as a tree. Whoever was moved since stays there.
async fn company(ctx: &Context, done: &Done) -> anyhow::Result<()> {
    let tree = hierarchy::create_tree(ctx, company::COMPANY).await?.org_id;
    for answer in hierarchy::insert_nodes(ctx, tree, company::nodes()).await? {
        match answer {
            Ok(_) | Err(hierarchy::Error::NodeExists { .. }) => done.add(1),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
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
    ] {
        create(ctx, new).await?;
    }
    // Some friends have been here.
    for n in 0..7u8 {
        orders::redeem(ctx, "FRIENDS20", CheckoutId(uuid::Uuid::new_v5(&uuid::Uuid::nil(), &[n]))).await?;
    }
    create(ctx, NewDiscount { currency: None, ..code(MARK, percent(10)) }).await
}

async fn create(ctx: &Context, new: NewDiscount) -> anyhow::Result<()> {
    match orders::create_discount(ctx, new).await {
        Ok(_) | Err(orders::Error::DiscountExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
