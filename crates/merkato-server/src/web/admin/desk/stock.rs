//! The stock of one product: what each warehouse has, what is kept for whom, and what the clerk does with it.
//!
//! Every movement has an id that came with the page, so that a double click moves once.

use askama::Template;
use axum::response::Response;
use merkato::{
    PageRequest, catalog, flows,
    id::{MovementId, ProductId},
    inventory::{self, Hold, Note, StockLevels, StockMovement},
    limits,
};

use super::{
    forms::{self, Forms},
    pager::{Pager, Turn},
    said,
};
use crate::{
    http::{Path, Problem, Query, Visit, v1::admin::actor},
    web::{Fields, Form, Frame, Html, pictures, see_other, words},
};

pub struct Level {
    warehouse: String,
    quantity: String,
    reserved: String,
    available: String,
    threshold: i32,
    low: bool,
    changed: String,
}

pub struct Kept {
    id: String,
    units: i32,
    from: String,
    left: String,
    until_millis: i64,
    until: String,
    since: String,
}

pub struct Movement {
    at: String,
    kind: &'static str,
    route: String,
    delta: String,
    reason: String,
    by: String,
}

#[derive(Template)]
#[template(path = "admin/stock.html")]
pub struct Shown {
    frame: Frame,
    forms: Forms,
    id: String,
    name: String,
    picture: Option<String>,
    tracked: bool,
    backorder: bool,
    levels: Vec<Level>,
    quantity: String,
    reserved: String,
    available: String,
    /// To choose from; others can be written.
    warehouses: Vec<String>,
    holds: Vec<Kept>,
    /// There are more holds than were looked at.
    more_holds: bool,
    movements: Vec<Movement>,
    pager: Pager,
}

/// Pages of holds that are looked through for those in force: most that are remembered are over.
const HOLD_PAGES_MAX: usize = 5;

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(id): Path<ProductId>,
    Query(turn): Query<Turn>,
) -> Result<Html<Shown>, Problem> {
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, id, &turn, forms).await?))
}

async fn page(visit: &Visit, frame: Frame, id: ProductId, turn: &Turn, forms: Forms) -> Result<Shown, Problem> {
    let ctx = &visit.ctx;
    let product = catalog::get_product(ctx, id).await?;
    let stock = inventory::get_stock(ctx, id).await?;
    let (holds, more_holds) = holds(visit, id).await?;
    let moved = inventory::list_movements(ctx, id, turn.page(visit)?).await?;
    let known = inventory::list_warehouses(ctx, PageRequest::first(limits::PAGE_ROWS_MAX)).await?;
    let count = |units: i64| words::thousands(&units.to_string());
    Ok(Shown {
        pager: turn.pager(visit, &format!("/admin/inventory/{id}"), &[], moved.next),
        movements: moved.rows.into_iter().map(movement).collect(),
        picture: pictures::own(product.thumbnail_url.as_deref()),
        id: id.to_string(),
        name: product.name,
        tracked: stock.tracked,
        backorder: stock.backorder,
        quantity: count(stock.quantity()),
        reserved: count(stock.reserved()),
        available: count(stock.available()),
        levels: levels(stock),
        warehouses: known.rows.into_iter().map(|row| row.warehouse_id).collect(),
        holds,
        more_holds,
        forms,
        frame,
    })
}

fn levels(stock: StockLevels) -> Vec<Level> {
    let count = |units: i32| words::thousands(&units.to_string());
    let level = |level: inventory::WarehouseLevel| Level {
        quantity: count(level.quantity),
        reserved: count(level.reserved),
        available: count(level.available()),
        threshold: level.low_stock_threshold,
        low: level.low_stock_threshold > 0 && level.available() <= level.low_stock_threshold,
        changed: said::moment(level.updated_at),
        warehouse: level.warehouse_id,
    };
    stock.warehouses.into_iter().map(level).collect()
}

/// The holds in force, those that end first first; whether there may be more.
async fn holds(visit: &Visit, id: ProductId) -> Result<(Vec<Kept>, bool), Problem> {
    let now = visit.ctx.now();
    let (mut found, mut cursor) = (Vec::new(), None);
    for _ in 0..HOLD_PAGES_MAX {
        let page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor };
        let page = inventory::list_holds(&visit.ctx, id, page).await?;
        found.extend(page.holds.into_iter().filter(|hold| hold.is_in_force(now)));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    found.sort_by_key(|hold| hold.ends_at);
    let kept = |hold: Hold| Kept {
        id: hold.hold_id.to_string(),
        units: hold.quantity,
        from: hold
            .allocations
            .iter()
            .map(|(from, units)| format!("{units} from {from}"))
            .collect::<Vec<_>>()
            .join(", "),
        left: said::left(hold.ends_at, now),
        until_millis: hold.ends_at.millis(),
        until: said::moment(hold.ends_at),
        since: said::moment(hold.created_at),
    };
    Ok((found.into_iter().take(limits::PAGE_ROWS_MAX).map(kept).collect(), cursor.is_some()))
}

fn movement(row: StockMovement) -> Movement {
    let moved = row.delta.unsigned_abs();
    let (route, delta) = match &row.to_warehouse_id {
        Some(to) => (format!("{} → {to}", row.warehouse_id), moved.to_string()),
        None => (row.warehouse_id, if row.delta < 0 { format!("−{moved}") } else { format!("+{moved}") }),
    };
    Movement {
        at: said::moment(row.moved_at),
        kind: said::movement(row.kind),
        route,
        delta,
        reason: row.reason.unwrap_or_default(),
        by: row.actor.as_deref().map(said::actor).unwrap_or_default(),
    }
}

/// Shows in the catalog what has changed and sends on who did it, or shows the page with what was typed and why it was not
/// done.
async fn answer(
    visit: &Visit,
    frame: Frame,
    id: ProductId,
    form: &'static str,
    fields: Fields,
    done: Result<(), Problem>,
) -> Result<Response, Problem> {
    match done {
        Ok(()) => {
            // Also where nothing has turned: an earlier try of the same change may have been stopped before it was shown.
            flows::stock::follow_stock(&visit.ctx, id).await?;
            let notice = match form {
                "policy" | "threshold" => "stock-policy",
                "release" => "stock-released",
                _ => "stock-moved",
            };
            Ok(see_other(&format!("/admin/inventory/{id}?notice={notice}")))
        }
        Err(problem) => {
            // A warehouse or a hold that is not there is something that was typed, not a page that is missing.
            let problem = match problem.code {
                "warehouse_not_found" => Problem::field("invalid", "/warehouse_id", problem.detail),
                "hold_not_found" => Problem::new("conflict", problem.detail),
                _ => problem,
            };
            let forms = Forms::new(visit).refused(form, fields, problem)?;
            Ok(forms::refused(page(visit, frame, id, &Turn::default(), forms).await?))
        }
    }
}

/// Refuses a product that the shop has not: its stock would be nobody's.
async fn known(visit: &Visit, id: ProductId) -> Result<(), Problem> {
    catalog::get_product(&visit.ctx, id).await?;
    Ok(())
}

fn note(visit: &Visit, fields: &Fields) -> Result<Note, Problem> {
    Ok(Note { actor: Some(actor(visit)?), reason: fields.optional("reason") })
}

fn movement_id(fields: &Fields) -> Result<MovementId, Problem> {
    forms::operation(fields).map(MovementId)
}

macro_rules! handler {
    ($(#[$doc:meta])* $name:ident, $form:literal, $change:path) => {
        $(#[$doc])*
        pub async fn $name(
            visit: Visit,
            frame: Frame,
            Path(id): Path<ProductId>,
            Form(fields): Form,
        ) -> Result<Response, Problem> {
            known(&visit, id).await?;
            let done = $change(&visit, id, &fields).await;
            answer(&visit, frame, id, $form, fields, done).await
        }
    };
}

handler!(restock, "restock", take_in);
handler!(adjust, "adjust", correct);
handler!(transfer, "transfer", carry);
handler!(set_threshold, "threshold", watch);
handler!(set_policy, "policy", count_so);
handler!(release, "release", give_back);

async fn take_in(visit: &Visit, id: ProductId, fields: &Fields) -> Result<(), Problem> {
    let (movement, units) = (movement_id(fields)?, forms::units(fields, "units")?);
    let warehouse = fields.text("warehouse_id").trim();
    inventory::restock(&visit.ctx, movement, id, warehouse, units, note(visit, fields)?).await?;
    Ok(())
}

async fn correct(visit: &Visit, id: ProductId, fields: &Fields) -> Result<(), Problem> {
    let (movement, delta) = (movement_id(fields)?, forms::units(fields, "delta")?);
    let warehouse = fields.text("warehouse_id").trim();
    inventory::adjust(&visit.ctx, movement, id, warehouse, delta, note(visit, fields)?).await?;
    Ok(())
}

async fn carry(visit: &Visit, id: ProductId, fields: &Fields) -> Result<(), Problem> {
    let (movement, units) = (movement_id(fields)?, forms::units(fields, "units")?);
    let ways = (fields.text("from").trim(), fields.text("to").trim());
    inventory::transfer(&visit.ctx, movement, id, ways, units, note(visit, fields)?).await?;
    Ok(())
}

async fn watch(visit: &Visit, id: ProductId, fields: &Fields) -> Result<(), Problem> {
    let units = forms::units(fields, "units")?;
    inventory::set_low_stock_threshold(&visit.ctx, id, fields.text("warehouse_id").trim(), units).await?;
    Ok(())
}

async fn count_so(visit: &Visit, id: ProductId, fields: &Fields) -> Result<(), Problem> {
    inventory::set_policy(&visit.ctx, id, fields.is_on("tracked"), fields.is_on("backorder")).await?;
    Ok(())
}

async fn give_back(visit: &Visit, id: ProductId, fields: &Fields) -> Result<(), Problem> {
    inventory::release(&visit.ctx, id, fields.parse("hold_id", "a hold")?).await?;
    Ok(())
}
