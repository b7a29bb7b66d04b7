//! Changes of stock that are no sales: each exactly once by its id, and noted as a fact in the same commit.

use std::collections::BTreeMap;

use widerow::{Cell, Commit, Timestamp};

use super::{
    decide::{self, guarded_stock},
    show::StockLevels,
};
use crate::{
    check::Check,
    context::Context,
    id::{MovementId, ProductId},
    inventory::{
        error::{Error, Result},
        rules,
        tables::{Availability, Inventory, MOVEMENTS, MovementKind, StockMovement},
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

    fn fact(&self, product_id: ProductId, movement_id: MovementId, note: &Note, moved_at: Timestamp) -> StockMovement {
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
    check.optional_line("actor", note.actor.as_deref(), limits::LINE_BYTES_MAX);
    check.optional_line("reason", note.reason.as_deref(), limits::LINE_BYTES_MAX);
    check.end()?;
    let settings = &ctx.settings.inventory;
    let deltas = parts.deltas();
    let own = vec![MOVEMENTS.to_value(), movement.to_string().to_value()];
    guarded_stock(ctx, product, Some(own), |stock, view| {
        let found = view.rows.iter().find(|row| row.hold_id == MOVEMENTS);
        if let Some(row) = found {
            if row.movement != Some(parts.kind) || row.allocations != deltas {
                return Err(Error::MovementMismatch { movement });
            }
            return Ok((Commit::new(), Moved { became: None, stock: StockLevels::of(stock) }));
        }
        stock.move_units(&deltas)?;
        let row = Inventory::of_movement(product, movement, parts.kind, &deltas, stock.now);
        let commit = decide::changes(stock, settings)
            .put_for(&row, decide::memory_seconds(settings))
            .put(&parts.fact(product, movement, &note, stock.now));
        Ok((commit, Moved { became: stock.became(), stock: StockLevels::of(stock) }))
    })
    .await
}
