//! What may become of a product's stock and of the holds on it. No reading, no writing, no clock.
//!
//! Invariant: in every warehouse, at every instant, 0 ≤ reserved ≤ quantity. Units are reserved and taken out only where they
//! are free, and only such are let go as are reserved: each is looked at before it is done, whatever the caller believes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use serde_json::json;
use widerow::Timestamp;

use super::{
    error::{Error, Result, Shortage},
    tables::{Availability, Hold, HoldState, MovementKind, StockMovement},
};
use crate::{
    check::Check,
    events::{Fact, NewEvent, Told, fact_stream},
    id::{AggregateId, HoldId, ProductId},
    limits,
    settings::{InventorySettings, WarehouseRule},
};

/// What one warehouse has of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shelf {
    pub quantity: i32,
    pub low_stock_threshold: i32,
    /// Reserved units by the instant from which on they are free again.
    pub ending: BTreeMap<Timestamp, i32>,
    pub updated_at: Timestamp,
}

impl Shelf {
    fn empty(now: Timestamp) -> Self {
        Shelf { quantity: 0, low_stock_threshold: 0, ending: BTreeMap::new(), updated_at: now }
    }

    pub fn reserved(&self, now: Timestamp) -> i32 {
        let in_force = self.ending.range((Bound::Excluded(now), Bound::Unbounded));
        in_force.fold(0, |sum: i32, (_, units)| sum.saturating_add(*units))
    }

    pub fn free(&self, now: Timestamp) -> i32 {
        self.quantity.saturating_sub(self.reserved(now))
    }

    /// Whether there are units whose hold has ended among those that are written down as reserved.
    pub fn has_ended_units(&self, now: Timestamp) -> bool {
        self.ending.first_key_value().is_some_and(|(ends_at, _)| *ends_at <= now)
    }

    fn forget_ended(&mut self, now: Timestamp) {
        self.ending.retain(|ends_at, _| *ends_at > now);
    }

    fn let_go(&mut self, units: i32, ends_at: Timestamp) {
        if let Some(reserved) = self.ending.get_mut(&ends_at) {
            *reserved = reserved.saturating_sub(units);
            if *reserved <= 0 {
                self.ending.remove(&ends_at);
            }
        }
    }
}

/// What is asked of a hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub hold_id: HoldId,
    pub wish: Wish,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Reserve {
        quantity: i32,
        seconds: i64,
    },
    Release,
    /// Units of a hold that has ended are taken again, if there are still as many free.
    Confirm,
    /// Only of a hold that has not ended: nothing is taken from anybody else.
    ConfirmHeld,
    GiveBack,
    Extend {
        until: Timestamp,
    },
}

/// The stock of a product, and those holds on it that something is asked of.
#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub product_id: ProductId,
    pub tracked: bool,
    pub backorder: bool,
    pub now: Timestamp,
    pub shelves: BTreeMap<String, Shelf>,
    pub holds: BTreeMap<HoldId, Hold>,
    pub changed_shelves: BTreeSet<String>,
    pub changed_holds: BTreeSet<HoldId>,
    /// What was said last.
    was: Availability,
}

impl Stock {
    /// `clock` is the deciding process's; `stored_free` the units that were free by what is written down.
    ///
    /// RACE: the clocks of two processes differ. Units that one has counted as free again must not be counted as held by the
    /// other, or a hold that is over for the one would be in force for the other. So time never goes back for a product: no
    /// decision is older than the newest row of its stock.
    pub fn new(
        product_id: ProductId,
        (tracked, backorder): (bool, bool),
        shelves: BTreeMap<String, Shelf>,
        holds: BTreeMap<HoldId, Hold>,
        stored_free: i64,
        clock: Timestamp,
    ) -> Self {
        let now = shelves.values().map(|shelf| shelf.updated_at).fold(clock, Timestamp::max);
        Stock {
            product_id,
            tracked,
            backorder,
            now,
            shelves,
            holds,
            changed_shelves: BTreeSet::new(),
            changed_holds: BTreeSet::new(),
            was: availability(tracked, backorder, stored_free),
        }
    }

    /// Units that can be reserved now.
    pub fn free(&self) -> i64 {
        self.shelves.values().map(|shelf| i64::from(shelf.free(self.now).max(0))).sum()
    }

    pub fn availability(&self) -> Availability {
        availability(self.tracked, self.backorder, self.free())
    }

    /// What the product has become since this was asked last; first, since it was written down.
    pub fn became(&mut self) -> Option<Availability> {
        let is = self.availability();
        (std::mem::replace(&mut self.was, is) != is).then_some(is)
    }

    /// Decides one request on what the ones before it left.
    pub fn decide(&mut self, request: &Request, settings: &InventorySettings) -> Result<Hold> {
        let id = request.hold_id;
        let hold = match request.wish {
            Wish::Reserve { quantity, seconds } => self.reserve(id, quantity, seconds, settings),
            Wish::Release => self.release(id),
            Wish::Confirm => self.confirm(id, true, settings),
            Wish::ConfirmHeld => self.confirm(id, false, settings),
            Wish::GiveBack => self.give_back(id),
            Wish::Extend { until } => self.extend(id, until, settings),
        }?;
        Ok(Hold { became: self.became(), ..hold })
    }

    fn reserve(&mut self, id: HoldId, quantity: i32, seconds: i64, settings: &InventorySettings) -> Result<Hold> {
        if let Some(hold) = self.holds.get(&id) {
            return match hold.state {
                HoldState::Released => Err(Error::HoldReleased { hold: id }),
                HoldState::Returned => Err(Error::HoldReturned { hold: id }),
                HoldState::Held | HoldState::Confirmed if hold.quantity != quantity => {
                    Err(Error::HoldMismatch { hold: id, held: hold.quantity, wanted: quantity })
                }
                HoldState::Held if !hold.is_in_force(self.now) => Err(ended(hold)),
                HoldState::Held | HoldState::Confirmed => Ok(hold.clone()),
            };
        }
        let (allocations, backordered) = self.choose(quantity, &settings.warehouse_rule).ok_or_else(|| {
            let (wanted, available) = (quantity.into(), self.free());
            Error::InsufficientStock { short: vec![Shortage { product: self.product_id, wanted, available }] }
        })?;
        let hold = Hold {
            product_id: self.product_id,
            hold_id: id,
            state: HoldState::Held,
            quantity,
            allocations,
            backordered,
            ends_at: on_grid(self.now.plus_seconds(seconds), settings),
            created_at: self.now,
            updated_at: self.now,
            became: None,
        };
        self.keep(&hold);
        Ok(self.write(hold))
    }

    /// A hold that is not in force has nothing to give back, but is marked all the same, also one that nobody has heard of:
    /// what was released is never confirmed, and a reservation that comes later than its release takes nothing.
    fn release(&mut self, id: HoldId) -> Result<Hold> {
        let Some(hold) = self.holds.get(&id).cloned() else {
            return Ok(self.write(Hold {
                product_id: self.product_id,
                hold_id: id,
                state: HoldState::Released,
                quantity: 0,
                allocations: BTreeMap::new(),
                backordered: 0,
                ends_at: self.now,
                created_at: self.now,
                updated_at: self.now,
                became: None,
            }));
        };
        match hold.state {
            HoldState::Confirmed => return Err(Error::HoldConfirmed { hold: id }),
            HoldState::Released | HoldState::Returned => return Ok(hold),
            HoldState::Held => {}
        }
        if !(hold.is_in_force(self.now) && self.let_go(&hold)) {
            self.write_end(&hold);
        }
        Ok(self.write(Hold { state: HoldState::Released, ..hold }))
    }

    fn confirm(&mut self, id: HoldId, ended_too: bool, settings: &InventorySettings) -> Result<Hold> {
        let mut hold = self.get(id)?;
        match hold.state {
            HoldState::Confirmed => return Ok(hold),
            HoldState::Released => return Err(Error::HoldReleased { hold: id }),
            HoldState::Returned => return Err(Error::HoldReturned { hold: id }),
            HoldState::Held => {}
        }
        if !(hold.is_in_force(self.now) && self.let_go(&hold)) {
            let chosen = self.choose_again(&hold, &settings.warehouse_rule).filter(|_| ended_too);
            let chosen = chosen.ok_or_else(|| ended(&hold))?;
            self.write_end(&hold);
            (hold.allocations, hold.backordered) = chosen;
        }
        for (warehouse, units) in &hold.allocations {
            self.change(warehouse, |shelf| shelf.quantity -= units);
        }
        Ok(self.write(Hold { state: HoldState::Confirmed, ..hold }))
    }

    fn give_back(&mut self, id: HoldId) -> Result<Hold> {
        let hold = self.get(id)?;
        match hold.state {
            HoldState::Returned => return Ok(hold),
            HoldState::Held | HoldState::Released => return Err(Error::HoldNotConfirmed { hold: id }),
            HoldState::Confirmed => {}
        }
        self.move_units(&hold.allocations)?;
        Ok(self.write(Hold { state: HoldState::Returned, ..hold }))
    }

    /// Never shorter, and never beyond the longest time from the hold's beginning.
    fn extend(&mut self, id: HoldId, until: Timestamp, settings: &InventorySettings) -> Result<Hold> {
        let mut hold = self.get(id)?;
        match hold.state {
            HoldState::Confirmed => return Err(Error::HoldConfirmed { hold: id }),
            HoldState::Released => return Err(Error::HoldReleased { hold: id }),
            HoldState::Returned => return Err(Error::HoldReturned { hold: id }),
            HoldState::Held => {}
        }
        let last = on_grid(hold.created_at.plus_seconds(settings.hold_seconds_max.into()), settings);
        let ends_at = on_grid(until, settings).min(last);
        let in_force = hold.is_in_force(self.now);
        if in_force && ends_at <= hold.ends_at {
            return Ok(hold);
        }
        if ends_at <= self.now {
            return Err(ended(&hold));
        }
        if !(in_force && self.let_go(&hold)) {
            let chosen = self.choose_again(&hold, &settings.warehouse_rule).ok_or_else(|| ended(&hold))?;
            self.write_end(&hold);
            (hold.allocations, hold.backordered) = chosen;
        }
        hold.ends_at = ends_at;
        self.keep(&hold);
        Ok(self.write(hold))
    }

    /// Adds to warehouses and takes from them, all or none; only free units are taken.
    pub fn move_units(&mut self, deltas: &BTreeMap<String, i32>) -> Result<()> {
        let mut warehouses = self.shelves.len();
        for (warehouse, delta) in deltas {
            let shelf = self.shelves.get(warehouse);
            let (quantity, reserved) = shelf.map_or((0, 0), |shelf| (shelf.quantity, shelf.reserved(self.now)));
            let wanted = i64::from(quantity) + i64::from(*delta);
            if *delta < 0 && wanted < i64::from(reserved) {
                let (warehouse, wanted) = (warehouse.clone(), delta.saturating_neg());
                return Err(Error::NotFree { warehouse, quantity, reserved, wanted });
            }
            if *delta > 0 && wanted > i64::from(limits::WAREHOUSE_UNITS_MAX) {
                let (warehouse, limit) = (warehouse.clone(), limits::WAREHOUSE_UNITS_MAX);
                return Err(Error::TooManyUnits { warehouse, wanted, limit });
            }
            warehouses += usize::from(shelf.is_none());
        }
        if warehouses > limits::WAREHOUSES_A_PRODUCT_MAX.max(self.shelves.len()) {
            return Err(Error::TooManyWarehouses { limit: limits::WAREHOUSES_A_PRODUCT_MAX });
        }
        for (warehouse, delta) in deltas {
            self.change(warehouse, |shelf| shelf.quantity += delta);
        }
        Ok(())
    }

    pub fn set_threshold(&mut self, warehouse: &str, units: i32) -> Result<()> {
        let Some(shelf) = self.shelves.get(warehouse) else {
            return Err(Error::WarehouseNotFound { product: self.product_id, warehouse: warehouse.to_owned() });
        };
        if shelf.low_stock_threshold != units {
            self.change(warehouse, |shelf| shelf.low_stock_threshold = units);
        }
        Ok(())
    }

    /// Writes down what has ended. It changes no figure that anyone sees.
    pub fn settle(&mut self) {
        let ended = self.shelves.iter().filter(|(_, shelf)| shelf.has_ended_units(self.now));
        for warehouse in ended.map(|(warehouse, _)| warehouse.clone()).collect::<Vec<_>>() {
            self.change(&warehouse, |_| {});
        }
    }

    /// In these warehouses, makes what is reserved what the holds in force come to, instant by instant; all holds must have
    /// been read. The units that are there stay as they are, also where more are held, and no warehouse is made.
    pub fn restate(&mut self, warehouses: &BTreeSet<String>) {
        let mut held: BTreeMap<&str, BTreeMap<Timestamp, i32>> = BTreeMap::new();
        for hold in self.holds.values().filter(|hold| hold.is_in_force(self.now)) {
            for (warehouse, units) in hold.allocations.iter().filter(|(_, units)| **units > 0) {
                let sum = held.entry(warehouse).or_default().entry(hold.ends_at).or_default();
                *sum = sum.saturating_add(*units);
            }
        }
        let there = warehouses.iter().filter(|warehouse| self.shelves.contains_key(*warehouse));
        let ending = |warehouse: &String| held.get(warehouse.as_str()).cloned().unwrap_or_default();
        for (warehouse, ending) in there.map(|warehouse| (warehouse, ending(warehouse))).collect::<Vec<_>>() {
            self.change(warehouse, |shelf| shelf.ending = ending);
        }
    }

    fn get(&self, id: HoldId) -> Result<Hold> {
        self.holds.get(&id).cloned().ok_or(Error::HoldNotFound { product: self.product_id, hold: id })
    }

    fn write(&mut self, hold: Hold) -> Hold {
        let hold = Hold { updated_at: self.now, ..hold };
        self.holds.insert(hold.hold_id, hold.clone());
        self.changed_holds.insert(hold.hold_id);
        hold
    }

    fn change(&mut self, warehouse: &str, change: impl FnOnce(&mut Shelf)) {
        let shelf = self.shelves.entry(warehouse.to_owned()).or_insert_with(|| Shelf::empty(self.now));
        shelf.forget_ended(self.now);
        change(shelf);
        shelf.updated_at = self.now;
        self.changed_shelves.insert(warehouse.to_owned());
    }

    /// Reserves what was chosen, which is free.
    fn keep(&mut self, hold: &Hold) {
        for (warehouse, units) in &hold.allocations {
            self.change(warehouse, |shelf| *shelf.ending.entry(hold.ends_at).or_default() += units);
        }
    }

    /// Frees the units that a hold in force has reserved; false, and nothing is done, where they are not reserved.
    fn let_go(&mut self, hold: &Hold) -> bool {
        let reserved = |(warehouse, units): (&String, &i32)| {
            let shelf = self.shelves.get(warehouse);
            shelf.and_then(|shelf| shelf.ending.get(&hold.ends_at)).is_some_and(|reserved| reserved >= units)
        };
        let all = hold.allocations.iter().all(reserved);
        if all {
            for (warehouse, units) in &hold.allocations {
                self.change(warehouse, |shelf| shelf.let_go(*units, hold.ends_at));
            }
        }
        all
    }

    /// Writes down that a hold has ended, where it still stands.
    ///
    /// RACE: to a process whose clock is behind, it would be in force by the stock's rows and not by its own.
    fn write_end(&mut self, hold: &Hold) {
        for warehouse in hold.allocations.keys() {
            if self.shelves.get(warehouse).is_some_and(|shelf| shelf.ending.contains_key(&hold.ends_at)) {
                self.change(warehouse, |_| {});
            }
        }
    }

    /// Where units are taken from, and how many are not there at all; None where that is too little.
    fn choose(&self, quantity: i32, rule: &WarehouseRule) -> Option<(BTreeMap<String, i32>, i32)> {
        if !self.tracked {
            return Some((BTreeMap::new(), 0));
        }
        let free = self.shelves.iter().map(|(warehouse, shelf)| (warehouse.as_str(), shelf.free(self.now)));
        let (allocations, missing) = choose(free, quantity, rule);
        (missing == 0 || self.backorder).then_some((allocations, missing))
    }

    /// As it was chosen before, if that is free again; otherwise anew.
    fn choose_again(&self, hold: &Hold, rule: &WarehouseRule) -> Option<(BTreeMap<String, i32>, i32)> {
        let free = |warehouse: &String| self.shelves.get(warehouse).map_or(0, |shelf| shelf.free(self.now));
        if hold.allocations.iter().all(|(warehouse, units)| free(warehouse) >= *units)
            && (hold.backordered == 0 || self.backorder)
            && (!hold.allocations.is_empty() || hold.backordered > 0 || !self.tracked)
        {
            return Some((hold.allocations.clone(), hold.backordered));
        }
        self.choose(hold.quantity, rule)
    }
}

fn availability(tracked: bool, backorder: bool, free: i64) -> Availability {
    if !tracked || backorder || free > 0 { Availability::InStock } else { Availability::OutOfStock }
}

fn ended(hold: &Hold) -> Error {
    Error::HoldEnded { hold: hold.hold_id, ended_at: hold.ends_at }
}

/// The first instant of the grid that is not before.
pub(super) fn on_grid(instant: Timestamp, settings: &InventorySettings) -> Timestamp {
    let least = settings.hold_seconds_max.div_ceil(limits::HOLD_ENDS_MAX).max(1);
    let step = i64::from(settings.hold_grid_seconds.max(least)) * 1000;
    let late = instant.millis().rem_euclid(step);
    Timestamp::from_millis(if late == 0 { instant.millis() } else { instant.millis() - late + step })
}

/// The warehouses that give the units, and how many units are missing. The first by the rule that can give all of them;
/// where none can, as many as needed in the rule's order.
pub(super) fn choose<'w>(
    free: impl Iterator<Item = (&'w str, i32)>,
    quantity: i32,
    rule: &WarehouseRule,
) -> (BTreeMap<String, i32>, i32) {
    let mut order: Vec<(&str, i32)> = free.filter(|(_, free)| *free > 0).collect();
    match rule {
        WarehouseRule::MostStockFirst => order.sort_by_key(|(warehouse, free)| (Reverse(*free), *warehouse)),
        WarehouseRule::Priority(first) => {
            let place = |warehouse: &str| first.iter().position(|name| name == warehouse).unwrap_or(usize::MAX);
            order.sort_by_key(|(warehouse, _)| (place(warehouse), *warehouse));
        }
    }
    if let Some((warehouse, _)) = order.iter().find(|(_, free)| *free >= quantity) {
        return (BTreeMap::from([((*warehouse).to_owned(), quantity)]), 0);
    }
    let mut missing = quantity;
    let mut allocations = BTreeMap::new();
    for (warehouse, free) in order {
        if missing == 0 {
            break;
        }
        let units = free.min(missing);
        missing -= units;
        allocations.insert(warehouse.to_owned(), units);
    }
    (allocations, missing)
}

/// How many units there must be; as the table keeps them.
pub(super) fn check_units(check: &mut Check, field: &str, units: i64) -> i32 {
    check.that((1..=limits::UNITS_MAX).contains(&units), field, format!("{units} is not 1 to {}", limits::UNITS_MAX));
    i32::try_from(units).unwrap_or_default()
}

pub(super) fn check_warehouse(check: &mut Check, field: &str, warehouse: &str) {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    if !(1..=limits::WAREHOUSE_ID_CHARS_MAX).contains(&warehouse.len()) {
        let problem = format!("it has {} characters, not 1 to {}", warehouse.len(), limits::WAREHOUSE_ID_CHARS_MAX);
        check.refuse(field, problem);
    } else if !warehouse.chars().all(good) {
        check.refuse(field, "only the letters a to z, digits, hyphens and underscores");
    }
}

/// The least and the greatest of all ids stand for something else.
pub(super) fn check_hold(check: &mut Check, hold: HoldId) {
    check.that(!hold.0.is_nil() && !hold.0.is_max(), "hold_id", "it is not an id that a hold can have");
}

/// What the events of a product's stock are events of.
pub const STOCK_KIND: &str = "stock";

/// The stream of a product's movements.
pub fn movements_of(product: ProductId) -> AggregateId {
    fact_stream(STOCK_KIND, product.0)
}

/// That stock was moved. The reason stands in the movement itself.
pub fn fact(movement: &StockMovement, told: Told) -> Fact {
    let event_type = match movement.kind {
        MovementKind::Restock => "StockRestocked",
        MovementKind::Adjust => "StockAdjusted",
        MovementKind::Transfer => "StockTransferred",
    };
    let data = json!({
        "product_id": movement.product_id,
        "movement_id": movement.movement_id,
        "warehouse_id": movement.warehouse_id,
        "to_warehouse_id": movement.to_warehouse_id,
        "delta": movement.delta,
        "actor": movement.actor,
    });
    told.fact(STOCK_KIND, movement.product_id.0, NewEvent::new(event_type, data))
}
