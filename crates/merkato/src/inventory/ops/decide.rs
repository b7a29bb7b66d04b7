//! How decisions on stock are made: requests for one product together, in one guarded commit of its partition.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use quick_cache::{Weighter, sync::Cache};
use widerow::{Commit, Memory, Partition, Remembered, key::Tenant, row::KeyParts};

use crate::{
    combine::{Combiner, Turn},
    context::Context,
    id::{HoldId, ProductId},
    inventory::{
        counts::HoldCounts,
        error::{Error, Result},
        rules::{Request, Stock, Wish},
        tables::{Hold, HoldState, Inventory, STOCK},
    },
    limits,
    settings::InventorySettings,
};

const DAY_SECONDS: u32 = 86_400;
/// Products that room is made for beforehand, of those that are remembered.
const STOCKS_EXPECTED: usize = 1_024;

/// One writer a process and product: a conditional write for each shopper is the wall that a sale would run into. What it
/// left of a product's stock it need not read to decide the next time, unless another process has written it since.
pub(crate) struct StockWriter {
    waiting: Combiner<(Tenant, ProductId), Request, Result<Hold>>,
    last: Cache<(Tenant, ProductId), Remembered, ByRows>,
    pub(in crate::inventory) counts: HoldCounts,
}

impl Default for StockWriter {
    fn default() -> Self {
        StockWriter {
            waiting: Combiner::new(limits::STOCK_REQUESTS_TOGETHER_MAX, limits::STOCK_REQUESTS_WAITING_MAX),
            last: Cache::with_weighter(STOCKS_EXPECTED, limits::STOCK_ROWS_REMEMBERED_MAX as u64, ByRows),
            counts: HoldCounts::default(),
        }
    }
}

impl StockWriter {
    /// Whether requests for the product are being decided together.
    pub(super) fn is_busy(&self, tenant: &Tenant, product: ProductId) -> bool {
        self.waiting.is_busy(&(tenant.clone(), product))
    }

    /// What this process left of a product's stock, for the one who asks.
    pub(super) fn take(&self, tenant: &Tenant, product: ProductId) -> Option<Remembered> {
        self.last.remove(&(tenant.clone(), product)).map(|(_, last)| last)
    }

    pub(super) fn keep(&self, tenant: &Tenant, product: ProductId, last: Remembered) {
        self.last.insert((tenant.clone(), product), last);
    }
}

/// What is remembered of one product. As soon as something is to be remembered, the next requests may be decided on it.
struct LastOf<'a> {
    tenant: &'a Tenant,
    product: ProductId,
    writer: &'a StockWriter,
    turn: &'a Turn,
    /// Whether all that wait are decided: the next must not come between them.
    all_decided: &'a AtomicBool,
}

impl Memory for LastOf<'_> {
    fn take(&mut self) -> Option<Remembered> {
        self.writer.take(self.tenant, self.product)
    }

    fn keep(&mut self, last: Remembered) {
        self.writer.keep(self.tenant, self.product, last);
        if self.all_decided.load(Ordering::Relaxed) {
            self.turn.pass();
        }
    }
}

/// What is remembered is bounded by its rows.
#[derive(Clone, Debug)]
struct ByRows;

impl Weighter<(Tenant, ProductId), Remembered> for ByRows {
    fn weight(&self, _: &(Tenant, ProductId), last: &Remembered) -> u64 {
        1 + last.len() as u64
    }
}

/// The answer to a request, decided with those that wait for the same product in this process.
pub(super) async fn submit(ctx: &Context, product: ProductId, hold_id: HoldId, wish: Wish) -> Result<Hold> {
    let own = ctx.clone();
    let decide = move |(_, product), waiting: Vec<Request>, turn: Turn| {
        let ctx = own.clone();
        async move { Ok(decide_together(&ctx, product, &waiting, &turn).await) }
    };
    let key = (ctx.store.tenant().clone(), product);
    let answer = ctx.stock_writer.waiting.submit(key, Request { hold_id, wish }, decide).await?;
    ctx.stock_writer.counts.count(&answer);
    answer
}

/// Decides the requests in their order, in as few commits as their rows fit into. Where a commit fails, the requests that are
/// in it and behind it are told so; those before it are answered.
async fn decide_together(ctx: &Context, product: ProductId, waiting: &[Request], turn: &Turn) -> Vec<Result<Hold>> {
    let mut answers = Vec::with_capacity(waiting.len());
    while answers.len() < waiting.len() {
        match decide_some(ctx, product, &waiting[answers.len()..], turn).await {
            Ok(some) => answers.extend(some),
            Err(error) => answers.resize_with(waiting.len(), || Err(error.clone().into())),
        }
    }
    answers
}

/// Decides at least the first of the requests.
///
/// RACE: two shoppers and one unit. All that is decided rests on one version of the partition, and is committed only if it
/// still has that version; otherwise it is decided again. Requests of one group see what the ones before them left.
async fn decide_some(
    ctx: &Context,
    product: ProductId,
    waiting: &[Request],
    turn: &Turn,
) -> Result<Vec<Result<Hold>>, widerow::Error> {
    let settings = &ctx.settings.inventory;
    let holds = waiting.iter().map(|request| (request.hold_id, String::new()).into_values());
    let prefixes: Vec<_> = std::iter::once(STOCK.into_values()).chain(holds).collect();
    let (tenant, all_decided) = (ctx.store.tenant(), AtomicBool::new(false));
    let mut last = LastOf { tenant, product, writer: &ctx.stock_writer, turn, all_decided: &all_decided };
    ctx.store
        .guarded_from::<Inventory, _, widerow::Error>(&mut last, product, prefixes, |view| {
            let mut stock = load(product, view, ctx)?;
            // A request writes its hold, and all of them together no more than every row of stock.
            let room = widerow::limits::GUARDED_WRITES_MAX.saturating_sub(stock.shelves.len()).max(1);
            all_decided.store(room >= waiting.len(), Ordering::Relaxed);
            let answers = waiting.iter().take(room).map(|request| stock.decide(request, settings)).collect();
            Ok((changes(&stock, settings), answers))
        })
        .await
}

/// The stock of a product as a guarded read found it, with the holds that were read beside it.
pub(super) fn load(product: ProductId, view: &Partition<Inventory>, ctx: &Context) -> Result<Stock, widerow::Error> {
    let tracked = view.statics.get(Inventory::TRACKED)?.flatten().unwrap_or(true);
    let backorder = view.statics.get(Inventory::BACKORDER)?.flatten().unwrap_or(false);
    stock_of(product, (tracked, backorder), &view.rows, ctx)
}

pub(super) fn stock_of(
    product: ProductId,
    policy: (bool, bool),
    rows: &[Inventory],
    ctx: &Context,
) -> Result<Stock, widerow::Error> {
    let (mut shelves, mut holds, mut stored_free) = (BTreeMap::new(), BTreeMap::new(), 0);
    for row in rows {
        if let Some(shelf) = row.shelf() {
            let free = shelf.quantity.saturating_sub(row.reserved.unwrap_or_default());
            stored_free += i64::from(free.max(0));
            shelves.insert(row.warehouse_id.clone(), shelf);
        } else if let Some(hold) = row.hold() {
            holds.insert(row.hold_id, hold);
        } else if row.movement.is_none() {
            return Err(widerow::Error::corrupt("inventory", format!("the hold {} has no state", row.hold_id)));
        }
    }
    Ok(Stock::new(product, policy, shelves, holds, stored_free, ctx.now()))
}

/// What was decided, as a commit; empty where nothing was.
pub(super) fn changes(stock: &Stock, settings: &InventorySettings) -> Commit {
    let mut commit = Commit::new();
    let shelves = stock.changed_shelves.iter().filter_map(|warehouse| stock.shelves.get_key_value(warehouse));
    for (warehouse, shelf) in shelves {
        commit = commit.put(&Inventory::of_shelf(stock.product_id, warehouse, shelf));
    }
    for hold in stock.changed_holds.iter().filter_map(|id| stock.holds.get(id)) {
        let left = (hold.ends_at.millis() - stock.now.millis()).max(0) / 1000;
        let seconds = match hold.state {
            HoldState::Held => memory_seconds(settings).saturating_add(u32::try_from(left).unwrap_or_default()),
            HoldState::Confirmed => seconds_of(settings.confirmed_days),
            HoldState::Released | HoldState::Returned => memory_seconds(settings),
        };
        commit = commit.put_for(&Inventory::of_hold(hold), seconds);
    }
    commit
}

pub(super) fn memory_seconds(settings: &InventorySettings) -> u32 {
    seconds_of(settings.memory_days)
}

/// At least a day, and within what an engine takes.
fn seconds_of(days: u32) -> u32 {
    days.max(1).saturating_mul(DAY_SECONDS).min(widerow::limits::TTL_SECONDS_MAX / 2)
}

/// Reads the stock of a product and, where one is asked for, a movement; decides; commits.
pub(super) async fn guarded_stock<T>(
    ctx: &Context,
    product: ProductId,
    beside: Option<Vec<widerow::value::Value>>,
    mut decide: impl FnMut(&mut Stock, &Partition<Inventory>) -> Result<(Commit, T)>,
) -> Result<T> {
    let stock = vec![widerow::Cell::to_value(&STOCK)];
    ctx.store
        .guarded_prefixes::<Inventory, T, Error>(product, std::iter::once(stock).chain(beside), |view| {
            decide(&mut load(product, view, ctx)?, view)
        })
        .await
}
