//! Changes of stock that are no sales: each exactly once by its id, and noted as a fact in the same commit.

use std::collections::BTreeMap;

use widerow::{Cell, Commit, Partition, Timestamp};

use super::{
    decide::{self, guarded_stock},
    show::StockLevels,
};
use crate::{
    check::Check,
    context::Context,
    events::{self, Told},
    id::{MovementId, ProductId},
    inventory::{
        error::{Error, Result},
        rules,
        tables::{Availability, Inventory, MOVEMENTS, MovementKind, MovementValue, StockMovement, Warehouse},
    },
    limits,
};

/// Who moved stock, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub actor: Option<String>,
    pub reason: Option<String>,
}

/// The stock after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub stock: StockLevels,
    /// That the product has just become available or unavailable.
    pub became: Option<Availability>,
}

/// Units came in. A warehouse that had none of the product has it from now on.
pub async fn restock(
    ctx: &Context,
    movement: MovementId,
    product: ProductId,
    warehouse: &str,
    units: i64,
    note: Note,
) -> Result<Moved> {
    let mut check = Check::new();
    rules::check_warehouse(&mut check, "warehouse_id", warehouse);
    let units = rules::check_units(&mut check, "units", units);
    let parts = Parts { kind: MovementKind::Restock, warehouse, to: None, delta: units };
    make(ctx, check, movement, product, parts, note).await
}

/// Someone counted, or something broke: units are added or taken away, never such as are reserved. A reason must be given.
pub async fn adjust(
    ctx: &Context,
    movement: MovementId,
    product: ProductId,
    warehouse: &str,
    delta: i64,
    note: Note,
) -> Result<Moved> {
    let mut check = Check::new();
    rules::check_warehouse(&mut check, "warehouse_id", warehouse);
    let size = delta.saturating_abs();
    let problem = || format!("{delta} is not 1 to {0}, nor -1 to -{0}", limits::UNITS_MAX);
    check.that((1..=limits::UNITS_MAX).contains(&size), "delta", problem());
    check.that(note.reason.is_some(), "reason", "it is not given");
    let delta = i32::try_from(delta).unwrap_or_default();
    let parts = Parts { kind: MovementKind::Adjust, warehouse, to: None, delta };
    make(ctx, check, movement, product, parts, note).await
}

/// Free units go from one warehouse to another.
pub async fn transfer(
    ctx: &Context,
    movement: MovementId,
    product: ProductId,
    (from, to): (&str, &str),
    units: i64,
    note: Note,
) -> Result<Moved> {
    let mut check = Check::new();
    rules::check_warehouse(&mut check, "from", from);
    rules::check_warehouse(&mut check, "to", to);
    check.that(from != to, "to", "it is where the units come from");
    let units = rules::check_units(&mut check, "units", units);
    let parts = Parts { kind: MovementKind::Transfer, warehouse: from, to: Some(to), delta: -units };
    make(ctx, check, movement, product, parts, note).await
}

/// What someone found in a warehouse, and wants to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The units that are there, reserved or not.
    pub quantity: i64,
    /// From how many available units down the product is listed as low, zero: never; None: as it was.
    pub low_stock_threshold: Option<i64>,
}

/// Makes what a warehouse has what was counted there, never less than is reserved; with `expected`, only if the stock is still
/// as it was read (`StockLevels::mark`). What that adds or takes away is a fact like any adjustment.
///
/// RACE: units are sold between the count and its writing. Only who says what the count rests upon is told.
pub async fn set_level(
    ctx: &Context,
    movement: MovementId,
    product: ProductId,
    warehouse: &str,
    level: Level,
    expected: Option<i64>,
    note: Note,
) -> Result<Moved> {
    let mut check = Check::new();
    rules::check_warehouse(&mut check, "warehouse_id", warehouse);
    let most = i64::from(limits::WAREHOUSE_UNITS_MAX);
    let mut units = |field, units: i64| {
        check.that((0..=most).contains(&units), field, format!("{units} is not 0 to {most}"));
        i32::try_from(units).unwrap_or_default()
    };
    let quantity = units("quantity", level.quantity);
    let threshold = level.low_stock_threshold.map(|threshold| units("low_stock_threshold", threshold));
    check_note(&mut check, &note);
    check.end()?;
    let settings = &ctx.settings.inventory;
    let own = vec![MOVEMENTS.to_value(), movement.to_string().to_value()];
    guarded_stock(ctx, product, Some(own), |stock, view| {
        if let Some(row) = view.rows.iter().find(|row| row.hold_id == MOVEMENTS) {
            // What it added rested on what was there: where it was made is all that can be compared.
            let same = |made: &MovementValue| made.kind == MovementKind::Adjust && made.deltas.contains_key(warehouse);
            if !row.movement.as_ref().is_some_and(same) {
                return Err(Error::MovementMismatch { movement });
            }
            return Ok((Commit::new(), Moved { became: None, stock: StockLevels::of(stock) }));
        }
        // ORDER: after the movement is looked for, which has itself changed the mark.
        if expected.is_some_and(|expected| expected != StockLevels::of(stock).mark()) {
            return Err(Error::Changed { product });
        }
        let shelf = stock.shelves.get(warehouse).map(|shelf| shelf.quantity);
        let delta = quantity - shelf.unwrap_or_default();
        let parts = Parts { kind: MovementKind::Adjust, warehouse, to: None, delta };
        let new = new_warehouses(stock, &parts.deltas());
        if shelf != Some(quantity) {
            stock.move_units(&parts.deltas())?;
        }
        if let Some(threshold) = threshold {
            stock.set_threshold(warehouse, threshold)?;
        }
        // Remembered also where nothing is added: by the time it is sent again, something may have been sold.
        let row = Inventory::of_movement(product, movement, parts.kind, &parts.deltas(), stock.now);
        let mut commit = decide::changes(stock, settings).put_for(&row, decide::memory_seconds(settings));
        if delta != 0 {
            commit = parts.tell(ctx, commit, view, (product, movement), &note)?;
        }
        commit = new.iter().fold(commit, Commit::put);
        Ok((commit, Moved { became: stock.became(), stock: StockLevels::of(stock) }))
    })
    .await
}

/// The warehouses that had none of the product before. Most are known by another product, and are written as they are.
fn new_warehouses(stock: &rules::Stock, deltas: &BTreeMap<String, i32>) -> Vec<Warehouse> {
    let new = deltas.keys().filter(|warehouse| !stock.shelves.contains_key(*warehouse));
    new.map(|warehouse| Warehouse { shop: Warehouse::ALL, warehouse_id: warehouse.clone() }).collect()
}

fn check_note(check: &mut Check, note: &Note) {
    check.optional_line("actor", note.actor.as_deref(), limits::LINE_BYTES_MAX);
    check.optional_line("reason", note.reason.as_deref(), limits::LINE_BYTES_MAX);
}

struct Parts<'p> {
    kind: MovementKind,
    warehouse: &'p str,
    to: Option<&'p str>,
    delta: i32,
}

impl Parts<'_> {
    fn deltas(&self) -> BTreeMap<String, i32> {
        let to = self.to.map(|to| (to.to_owned(), -self.delta));
        [(self.warehouse.to_owned(), self.delta)].into_iter().chain(to).collect()
    }

    /// The movement as a row of the product's, and as an event.
    fn tell(
        &self,
        ctx: &Context,
        commit: Commit,
        view: &Partition<Inventory>,
        (product_id, movement_id): (ProductId, MovementId),
        note: &Note,
    ) -> Result<Commit> {
        let now = ctx.now();
        let told = Told::after(view.statics.get(Inventory::TOLD)?.flatten(), now);
        let commit = commit.set_static(product_id, Inventory::TOLD, &Some(told));
        let movement = self.movement(product_id, movement_id, note, now);
        let fact = rules::fact(&movement, told);
        Ok(events::tell(ctx, commit.put(&movement), &fact))
    }

    fn movement(
        &self,
        product_id: ProductId,
        movement_id: MovementId,
        note: &Note,
        moved_at: Timestamp,
    ) -> StockMovement {
        StockMovement {
            product_id,
            moved_at,
            movement_id,
            kind: self.kind,
            warehouse_id: self.warehouse.to_owned(),
            to_warehouse_id: self.to.map(str::to_owned),
            delta: self.delta,
            reason: note.reason.clone(),
            actor: note.actor.clone(),
        }
    }
}

/// RACE: a movement that is sent again may meet itself. Its own row stands in the partition that it changes, and is written
/// in the same commit: whichever comes second finds it.
async fn make(
    ctx: &Context,
    mut check: Check,
    movement: MovementId,
    product: ProductId,
    parts: Parts<'_>,
    note: Note,
) -> Result<Moved> {
    check_note(&mut check, &note);
    check.end()?;
    let settings = &ctx.settings.inventory;
    let deltas = parts.deltas();
    let own = vec![MOVEMENTS.to_value(), movement.to_string().to_value()];
    guarded_stock(ctx, product, Some(own), |stock, view| {
        let found = view.rows.iter().find(|row| row.hold_id == MOVEMENTS);
        if let Some(row) = found {
            if !row.movement.as_ref().is_some_and(|made| made.kind == parts.kind && made.deltas == deltas) {
                return Err(Error::MovementMismatch { movement });
            }
            return Ok((Commit::new(), Moved { became: None, stock: StockLevels::of(stock) }));
        }
        let new = new_warehouses(stock, &deltas);
        stock.move_units(&deltas)?;
        let row = Inventory::of_movement(product, movement, parts.kind, &deltas, stock.now);
        let commit = decide::changes(stock, settings).put_for(&row, decide::memory_seconds(settings));
        let commit = parts.tell(ctx, commit, view, (product, movement), &note)?;
        let commit = new.iter().fold(commit, Commit::put);
        Ok((commit, Moved { became: stock.became(), stock: StockLevels::of(stock) }))
    })
    .await
}
