//! The rules: given, when, then; and random sequences of requests against a model that counts every hold.

use std::collections::BTreeMap;

use proptest::prelude::*;
use uuid::Uuid;
use widerow::{Derive, Timestamp};

use super::{
    Availability, Error, Hold, HoldState, Inventory,
    rules::{Request, Shelf, Stock, Wish, choose, on_grid},
};
use crate::{
    id::{HoldId, ProductId},
    settings::{InventorySettings, WarehouseRule},
};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PRODUCT: ProductId = ProductId(Uuid::from_u128(1));

fn id(n: u128) -> HoldId {
    HoldId(Uuid::from_u128(n + 1))
}

fn settings() -> InventorySettings {
    InventorySettings::default()
}

fn shelf(quantity: i32) -> Shelf {
    Shelf { quantity, low_stock_threshold: 0, ending: BTreeMap::new(), updated_at: NOW }
}

/// A stock that is read, decided upon and written, time after time.
struct Shop {
    policy: (bool, bool),
    settings: InventorySettings,
    shelves: BTreeMap<String, Shelf>,
    holds: BTreeMap<HoldId, Hold>,
    clock: Timestamp,
}

impl Shop {
    fn new(shelves: &[(&str, i32)]) -> Self {
        let shelves = shelves.iter().map(|(name, quantity)| (name.to_string(), shelf(*quantity))).collect();
        Shop { policy: (true, false), settings: settings(), shelves, holds: BTreeMap::new(), clock: NOW }
    }

    fn read(&self) -> Stock {
        let free = self.shelves.values().map(|s| i64::from(s.free(Timestamp::MIN))).sum();
        Stock::new(PRODUCT, self.policy, self.shelves.clone(), self.holds.clone(), free, self.clock)
    }

    /// Only what is said to be changed is written.
    fn write(&mut self, stock: Stock) {
        for warehouse in &stock.changed_shelves {
            self.shelves.insert(warehouse.clone(), stock.shelves[warehouse].clone());
        }
        for hold in &stock.changed_holds {
            self.holds.insert(*hold, Hold { became: None, ..stock.holds[hold].clone() });
        }
    }

    fn ask(&mut self, hold: u128, wish: Wish) -> Result<Hold, Error> {
        let mut stock = self.read();
        let answer = stock.decide(&Request { hold_id: id(hold), wish }, &self.settings);
        self.write(stock);
        answer
    }

    fn reserve(&mut self, hold: u128, quantity: i32) -> Result<Hold, Error> {
        self.ask(hold, Wish::Reserve { quantity, seconds: 900 })
    }

    fn wait(&mut self, seconds: i64) {
        self.clock = self.clock.plus_seconds(seconds);
    }

    fn figures(&self, warehouse: &str) -> (i32, i32) {
        let stock = self.read();
        let shelf = &stock.shelves[warehouse];
        (shelf.quantity, shelf.reserved(stock.now))
    }
}

#[test]
fn each_request_changes_once() {
    let mut shop = Shop::new(&[("a", 10)]);
    let first = shop.reserve(1, 4).unwrap();
    assert_eq!(first.allocations, BTreeMap::from([("a".into(), 4)]));
    assert_eq!(shop.reserve(1, 4).unwrap(), first);
    assert!(matches!(shop.reserve(1, 5), Err(Error::HoldMismatch { held: 4, wanted: 5, .. })));
    assert_eq!(shop.figures("a"), (10, 4));
    for _ in 0..2 {
        assert_eq!(shop.ask(1, Wish::Confirm).unwrap().state, HoldState::Confirmed);
        assert_eq!(shop.figures("a"), (6, 0));
    }
    assert!(matches!(shop.ask(1, Wish::Release), Err(Error::HoldConfirmed { .. })));
    assert_eq!(shop.reserve(1, 4).unwrap().state, HoldState::Confirmed);
    for _ in 0..2 {
        assert_eq!(shop.ask(1, Wish::GiveBack).unwrap().state, HoldState::Returned);
        assert_eq!(shop.figures("a"), (10, 0));
    }
    assert!(matches!(shop.ask(1, Wish::Confirm), Err(Error::HoldReturned { .. })));
    shop.reserve(2, 10).unwrap();
    for _ in 0..2 {
        assert_eq!(shop.ask(2, Wish::Release).unwrap().state, HoldState::Released);
        assert_eq!(shop.figures("a"), (10, 0));
    }
    assert!(matches!(shop.reserve(2, 10), Err(Error::HoldReleased { .. })));
    assert!(matches!(shop.ask(2, Wish::Confirm), Err(Error::HoldReleased { .. })));
    assert!(matches!(shop.ask(2, Wish::GiveBack), Err(Error::HoldNotConfirmed { .. })));
    assert!(matches!(shop.ask(3, Wish::Confirm), Err(Error::HoldNotFound { .. })));
}

#[test]
fn a_hold_ends_at_its_instant_and_what_it_kept_is_free() {
    let mut shop = Shop::new(&[("a", 1)]);
    let hold = shop.reserve(1, 1).unwrap();
    assert_eq!(hold.ends_at, on_grid(NOW.plus_seconds(900), &shop.settings));
    shop.clock = Timestamp::from_millis(hold.ends_at.millis() - 1);
    assert!(matches!(shop.reserve(2, 1), Err(Error::InsufficientStock { .. })));
    shop.clock = hold.ends_at;
    assert!(matches!(shop.reserve(1, 1), Err(Error::HoldEnded { .. })));
    shop.reserve(2, 1).unwrap();
    // Another has the unit: neither the release nor the confirmation of the first takes it.
    assert!(matches!(shop.ask(1, Wish::Confirm), Err(Error::HoldEnded { .. })));
    assert!(matches!(shop.ask(1, Wish::Extend { until: shop.clock.plus_seconds(60) }), Err(Error::HoldEnded { .. })));
    assert_eq!(shop.ask(1, Wish::Release).unwrap().state, HoldState::Released);
    assert_eq!(shop.figures("a"), (1, 1));
    assert_eq!(shop.ask(2, Wish::Confirm).unwrap().state, HoldState::Confirmed);
    assert_eq!(shop.figures("a"), (0, 0));
}

#[test]
fn an_ended_hold_is_confirmed_or_extended_if_its_units_are_free_anywhere() {
    let mut shop = Shop::new(&[("a", 2), ("b", 1)]);
    shop.reserve(1, 2).unwrap();
    shop.wait(1_000);
    assert!(matches!(shop.ask(1, Wish::ConfirmHeld), Err(Error::HoldEnded { .. })), "that takes nothing anew");
    shop.reserve(2, 1).unwrap();
    assert_eq!(shop.holds[&id(2)].allocations, BTreeMap::from([("a".into(), 1)]));
    let again = shop.ask(1, Wish::Extend { until: shop.clock.plus_seconds(600) }).unwrap();
    assert_eq!(again.allocations, BTreeMap::from([("a".into(), 1), ("b".into(), 1)]));
    assert!(again.is_in_force(shop.clock));
    shop.wait(700);
    let sold = shop.ask(1, Wish::Confirm).unwrap();
    assert_eq!((sold.state, sold.quantity), (HoldState::Confirmed, 2));
    assert_eq!((shop.figures("a"), shop.figures("b")), ((1, 1), (0, 0)));
}

#[test]
fn an_extension_is_never_shorter_and_never_beyond_the_cap() {
    let mut shop = Shop::new(&[("a", 1)]);
    let hold = shop.reserve(1, 1).unwrap();
    let until = |seconds| Wish::Extend { until: NOW.plus_seconds(seconds) };
    assert_eq!(shop.ask(1, until(10)).unwrap().ends_at, hold.ends_at);
    assert_eq!(shop.ask(1, until(1_800)).unwrap().ends_at, on_grid(NOW.plus_seconds(1_800), &settings()));
    let last = on_grid(NOW.plus_seconds(3_600), &settings());
    assert_eq!(shop.ask(1, until(1_000_000)).unwrap().ends_at, last);
    assert_eq!(shop.shelves["a"].ending, BTreeMap::from([(last, 1)]));
    shop.clock = last;
    assert!(matches!(shop.ask(1, until(1_000_000)), Err(Error::HoldEnded { .. })));
    // It can still be bought.
    shop.ask(1, Wish::Confirm).unwrap();
}

#[test]
fn holds_end_at_few_instants_whatever_the_settings() {
    let ends = |hold_seconds_max, hold_grid_seconds| {
        let settings = InventorySettings { hold_seconds_max, hold_grid_seconds, ..settings() };
        let last = on_grid(NOW.plus_seconds(hold_seconds_max.into()), &settings).millis();
        let step = on_grid(Timestamp::from_millis(1), &settings).millis();
        assert_eq!((last % step, on_grid(Timestamp::from_millis(last), &settings).millis()), (0, last));
        ((last - NOW.millis()) / step, step)
    };
    assert_eq!(ends(3_600, 10), (360, 10_000));
    assert_eq!(ends(3_600, 0), (900, 4_000));
    assert!(ends(7 * 86_400, 1).0 <= 1_001);
}

#[test]
fn what_was_released_before_it_was_reserved_stays_released() {
    let mut shop = Shop::new(&[("a", 1)]);
    assert_eq!(shop.ask(1, Wish::Release).unwrap().state, HoldState::Released);
    assert!(matches!(shop.reserve(1, 1), Err(Error::HoldReleased { .. })));
    assert_eq!(shop.figures("a"), (1, 0));
}

#[test]
fn untracked_products_are_always_there_and_backorders_take_what_there_is() {
    let mut shop = Shop::new(&[]);
    shop.policy = (false, false);
    let hold = shop.reserve(1, 1_000_000).unwrap();
    assert!(hold.allocations.is_empty() && hold.backordered == 0);
    shop.ask(1, Wish::Confirm).unwrap();
    shop.ask(1, Wish::GiveBack).unwrap();
    assert!(shop.shelves.is_empty());
    let mut shop = Shop::new(&[("a", 2), ("b", 3)]);
    shop.policy = (true, true);
    let hold = shop.reserve(1, 9).unwrap();
    assert_eq!(hold.allocations, BTreeMap::from([("a".into(), 2), ("b".into(), 3)]));
    assert_eq!(hold.backordered, 4);
    assert_eq!(shop.reserve(2, 1).unwrap().backordered, 1);
    shop.ask(1, Wish::Confirm).unwrap();
    assert_eq!((shop.figures("a"), shop.figures("b")), ((0, 0), (0, 0)));
    shop.ask(1, Wish::GiveBack).unwrap();
    assert_eq!((shop.figures("a"), shop.figures("b")), ((2, 0), (3, 0)));
}

#[test]
fn one_warehouse_is_preferred_and_the_rule_says_which() {
    let free = [("a", 3), ("b", 9), ("c", 5), ("d", 0)];
    let chosen = |quantity, rule: &WarehouseRule| {
        let (allocations, missing) = choose(free.into_iter(), quantity, rule);
        (allocations.into_iter().map(|(name, units)| format!("{name}{units}")).collect::<Vec<_>>().join(" "), missing)
    };
    let most = WarehouseRule::MostStockFirst;
    assert_eq!(chosen(2, &most), ("b2".into(), 0));
    assert_eq!(chosen(12, &most), ("b9 c3".into(), 0));
    assert_eq!(chosen(20, &most), ("a3 b9 c5".into(), 3));
    let first = WarehouseRule::Priority(vec!["d".into(), "c".into()]);
    assert_eq!(chosen(2, &first), ("c2".into(), 0));
    assert_eq!(chosen(6, &first), ("b6".into(), 0));
    assert_eq!(chosen(10, &first), ("a3 b2 c5".into(), 0));
}

#[test]
fn it_is_told_when_a_product_comes_and_goes() {
    let mut shop = Shop::new(&[("a", 2)]);
    assert_eq!(shop.reserve(1, 1).unwrap().became, None);
    assert_eq!(shop.reserve(2, 1).unwrap().became, Some(Availability::OutOfStock));
    assert_eq!(shop.ask(1, Wish::Release).unwrap().became, Some(Availability::InStock));
    assert_eq!(shop.reserve(3, 1).unwrap().became, Some(Availability::OutOfStock));
    // What ended by itself is told by the next who changes something, and by whoever settles it.
    shop.wait(1_000);
    let mut settled = shop.read();
    settled.settle();
    assert_eq!(settled.became(), Some(Availability::InStock));
    assert_eq!(shop.reserve(4, 1).unwrap().became, Some(Availability::InStock));
    assert_eq!(shop.reserve(5, 1).unwrap().became, Some(Availability::OutOfStock));
}

/// One process counts a hold as over, the other, whose clock is behind, does not: they agree by the rows.
#[test]
fn a_clock_that_is_behind_does_not_bring_an_ended_hold_back() {
    let mut shop = Shop::new(&[("a", 1)]);
    shop.reserve(1, 1).unwrap();
    shop.wait(1_000);
    shop.reserve(2, 1).unwrap();
    shop.wait(-900);
    assert!(matches!(shop.ask(1, Wish::Confirm), Err(Error::HoldEnded { .. })));
    assert_eq!(shop.figures("a"), (1, 1));
}

#[test]
fn only_what_is_low_is_derived() {
    let row = |quantity, threshold, reserved: i32| {
        let ending = if reserved > 0 { BTreeMap::from([(NOW, reserved)]) } else { BTreeMap::new() };
        let shelf = Shelf { low_stock_threshold: threshold, ending, ..shelf(quantity) };
        Inventory::of_shelf(PRODUCT, "a", &shelf).derive()
    };
    assert!(row(5, 0, 0).is_empty(), "nobody wants to be told");
    assert!(row(6, 5, 0).is_empty());
    assert_eq!(row(6, 5, 1)[0].available, 5);
    let low = &row(6, 5, 6)[0];
    assert_eq!((low.available, low.quantity, low.reserved), (0, 6, 6));
}

#[derive(Clone, Debug)]
enum Step {
    Ask(u128, Wish),
    Move(Vec<(usize, i32)>),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let hold = 0..12u128;
    prop_oneof![
        6 => (hold.clone(), 1..8i32, 1..120i64)
            .prop_map(|(hold, quantity, seconds)| Step::Ask(hold, Wish::Reserve { quantity, seconds })),
        2 => hold.clone().prop_map(|hold| Step::Ask(hold, Wish::Release)),
        3 => hold.clone().prop_map(|hold| Step::Ask(hold, Wish::Confirm)),
        2 => hold.clone().prop_map(|hold| Step::Ask(hold, Wish::ConfirmHeld)),
        2 => hold.clone().prop_map(|hold| Step::Ask(hold, Wish::GiveBack)),
        2 => (hold, -50..400i64)
            .prop_map(|(hold, seconds)| Step::Ask(hold, Wish::Extend { until: NOW.plus_seconds(seconds) })),
        2 => prop::collection::vec((0..4usize, -6..8i32), 1..3).prop_map(Step::Move),
        // Now and then a process decides whose clock is behind.
        3 => (-8..40i64).prop_map(Step::Wait),
    ]
}

/// Counts every hold, every time.
#[derive(Default)]
struct Model {
    quantity: BTreeMap<String, i32>,
    holds: BTreeMap<HoldId, Hold>,
}

impl Model {
    fn reserved(&self, warehouse: &str, now: Timestamp) -> i32 {
        let in_force = self.holds.values().filter(|hold| hold.is_in_force(now));
        in_force.map(|hold| hold.allocations.get(warehouse).copied().unwrap_or_default()).sum()
    }

    fn free(&self, now: Timestamp) -> i32 {
        self.quantity.iter().map(|(warehouse, quantity)| quantity - self.reserved(warehouse, now)).sum()
    }

    /// Whether a wish should be granted.
    fn grants(&self, hold: HoldId, wish: &Wish, (tracked, backorder): (bool, bool), now: Timestamp) -> bool {
        let found = self.holds.get(&hold);
        let state = found.map(|hold| hold.state);
        let fits = |units: i32| !tracked || backorder || self.free(now) >= units;
        let kept = |found: &Hold| found.is_in_force(now) || fits(found.quantity);
        match (wish, state) {
            (Wish::Reserve { quantity, .. }, None) => fits(*quantity),
            (Wish::Reserve { quantity, .. }, Some(HoldState::Held)) => {
                found.is_some_and(|found| found.quantity == *quantity && found.is_in_force(now))
            }
            (Wish::Reserve { quantity, .. }, Some(HoldState::Confirmed)) => {
                found.is_some_and(|found| found.quantity == *quantity)
            }
            (Wish::Reserve { .. }, Some(_)) => false,
            (Wish::Release, state) => state != Some(HoldState::Confirmed),
            (Wish::Confirm, Some(HoldState::Held)) => found.is_some_and(kept),
            (Wish::ConfirmHeld, Some(HoldState::Held)) => found.is_some_and(|found| found.is_in_force(now)),
            (Wish::Confirm | Wish::ConfirmHeld, state) => state == Some(HoldState::Confirmed),
            (Wish::GiveBack, state) => matches!(state, Some(HoldState::Confirmed | HoldState::Returned)),
            (Wish::Extend { until }, Some(HoldState::Held)) => found.is_some_and(|found| {
                found.is_in_force(now) || (on_grid(*until, &settings()) > now && fits(found.quantity))
            }),
            (Wish::Extend { .. }, _) => false,
        }
    }

    /// What a granted wish must have come to; then the model has it as well.
    fn apply(&mut self, answer: &Hold, wish: &Wish, now: Timestamp) {
        let answer = Hold { became: None, ..answer.clone() };
        let before = self.holds.insert(answer.hold_id, answer.clone());
        let was = before.as_ref().map(|hold| hold.state);
        let sold = was != Some(HoldState::Confirmed) && answer.state == HoldState::Confirmed;
        let returned = was == Some(HoldState::Confirmed) && answer.state == HoldState::Returned;
        for (warehouse, units) in &answer.allocations {
            let quantity = self.quantity.entry(warehouse.clone()).or_default();
            *quantity += i32::from(returned) * units - i32::from(sold) * units;
        }
        match wish {
            Wish::Reserve { .. } => assert!(answer.is_in_force(now) || was == Some(HoldState::Confirmed)),
            Wish::Release => assert!(matches!(answer.state, HoldState::Released | HoldState::Returned)),
            Wish::Confirm | Wish::ConfirmHeld => assert_eq!(answer.state, HoldState::Confirmed),
            Wish::GiveBack => assert_eq!(answer.state, HoldState::Returned),
            Wish::Extend { .. } => {
                assert!(answer.is_in_force(now) && before.is_some_and(|before| before.ends_at <= answer.ends_at));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn no_unit_is_held_or_sold_twice_whatever_comes(
        steps in prop::collection::vec(step(), 1..80),
        policy in prop::sample::select(vec![(true, false), (true, false), (true, true), (false, false)]),
        most_first in any::<bool>(),
    ) {
        let mut shop = Shop::new(&[("a", 9), ("b", 4)]);
        shop.policy = policy;
        if !most_first {
            shop.settings.warehouse_rule = WarehouseRule::Priority(vec!["c".into(), "b".into()]);
        }
        let mut model = Model { quantity: BTreeMap::from([("a".into(), 9), ("b".into(), 4)]), ..Model::default() };
        for step in steps {
            let mut stock = shop.read();
            let now = stock.now;
            match step {
                Step::Wait(seconds) => shop.wait(seconds),
                Step::Ask(hold, wish) => {
                    let (hold, granted) = (id(hold), model.grants(id(hold), &wish, policy, now));
                    let answer = stock.decide(&Request { hold_id: hold, wish: wish.clone() }, &shop.settings);
                    prop_assert_eq!(answer.is_ok(), granted, "{:?}: {:?}", wish, answer);
                    match answer {
                        Ok(answer) => {
                            if policy.0 && answer.quantity > 0 {
                                let units: i32 = answer.allocations.values().sum();
                                prop_assert_eq!(units + answer.backordered, answer.quantity);
                                prop_assert!(answer.backordered == 0 || policy.1);
                            }
                            model.apply(&answer, &wish, now);
                        }
                        Err(_) => prop_assert!(stock.changed_shelves.is_empty() && stock.changed_holds.is_empty()),
                    }
                }
                Step::Move(parts) => {
                    let deltas: BTreeMap<String, i32> =
                        parts.into_iter().map(|(n, delta)| (["a", "b", "c", "d"][n].to_owned(), delta)).collect();
                    let free = |warehouse: &String| {
                        model.quantity.get(warehouse).map_or(0, |quantity| quantity - model.reserved(warehouse, now))
                    };
                    let fits = deltas.iter().all(|(warehouse, delta)| *delta >= 0 || free(warehouse) + delta >= 0);
                    prop_assert_eq!(stock.move_units(&deltas).is_ok(), fits);
                    if fits {
                        for (warehouse, delta) in deltas {
                            *model.quantity.entry(warehouse).or_default() += delta;
                        }
                    }
                }
            }
            shop.write(stock);
            let stock = shop.read();
            for (warehouse, shelf) in &stock.shelves {
                let reserved = shelf.reserved(stock.now);
                prop_assert_eq!(shelf.quantity, model.quantity[warehouse]);
                prop_assert_eq!(reserved, model.reserved(warehouse, stock.now));
                prop_assert!(0 <= reserved && reserved <= shelf.quantity);
                // What is written down is sound by itself, ended holds included.
                let written = shelf.reserved(Timestamp::MIN);
                prop_assert!(written <= shelf.quantity && shelf.ending.values().all(|units| *units > 0));
            }
            prop_assert_eq!(&shop.holds, &model.holds);
        }
    }
}
