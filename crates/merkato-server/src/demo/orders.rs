//! Ninety days of orders: more in the evening and at the weekend, a few more from week to week, and some that went wrong.

use std::collections::BTreeMap;

use merkato::{
    analytics::{DaySales, ProductSales},
    catalog::Product,
    id::OrderId,
    orders::{OrderStatus, PastStep},
};
use rust_decimal::Decimal;
use widerow::{Date, Timestamp};

use super::{
    DAY_SECONDS, Size,
    furniture::{Buyer, DayViews, PastLine, PastOrder},
    people, products,
};
use crate::dice::Dice;

/// From Monday on, in hundredths of a usual day.
const WEEK: [i64; 7] = [88, 82, 86, 94, 102, 130, 146];
/// What of a day falls on each hour, from midnight on.
const HOURS: [i64; 24] = [3, 1, 1, 1, 1, 2, 5, 12, 20, 26, 30, 34, 40, 36, 30, 30, 34, 42, 54, 70, 82, 76, 48, 18];
/// Hundredths of a usual day at the beginning; at the end there is so much more as there was less.
const BEGINNING: i64 = 84;
/// The newest orders that wait for money, for somebody to pick them, and for the parcel service.
const PENDING: usize = 12;
const PAID: usize = 16;
const PROCESSING: usize = 18;
/// Nobody orders in the minutes in which the shop is made.
const QUIET_SECONDS: i64 = 300;
/// Days for which sales by product are kept for the ranking.
const RANKED_DAYS: i32 = 30;
/// How long ago Ada bought, in hours.
const ADAS: [i64; 11] = [5, 30, 74, 140, 260, 420, 700, 1_000, 1_300, 1_650, 2_000];

pub(super) struct History<'s> {
    pub seed: u64,
    pub now: Timestamp,
    pub size: Size,
    pub products: &'s [Product],
    pub departments: &'s [usize],
    /// Whose orders these can be, by their places among the customers.
    pub customers: usize,
}

/// Who picks, by the sums of the weights: cheap things and a few favourites are bought more often.
struct Basket {
    sums: Vec<i64>,
}

impl Basket {
    fn new(products: &[Product], dice: &mut Dice) -> Self {
        let mut sum = 0;
        let weight = |product: &Product| {
            let price = match product.price {
                price if price < Decimal::from(20) => 9,
                price if price < Decimal::from(60) => 6,
                price if price < Decimal::from(150) => 3,
                _ => 1,
            };
            let favourite = dice.below(10) * dice.below(10) + 4;
            sum += price * favourite * if product.featured.is_empty() { 1 } else { 3 };
            sum
        };
        Basket { sums: products.iter().map(weight).collect() }
    }

    fn pick(&self, dice: &mut Dice) -> usize {
        let at = dice.below(self.sums.last().copied().unwrap_or(1));
        self.sums.partition_point(|sum| *sum <= at)
    }
}

impl History<'_> {
    /// Oldest first.
    pub(super) fn orders(&self) -> Vec<PastOrder> {
        let mut dice = Dice::new(self.seed ^ 0x0bde5);
        let basket = Basket::new(self.products, &mut dice);
        let mut times = Vec::new();
        let days = self.size.days();
        for back in (0..days).rev() {
            let date = Date::from_days(self.now.date().days() - back);
            let growth = BEGINNING + 2 * (100 - BEGINNING) * i64::from(days - back) / i64::from(days);
            let usual = self.size.orders_a_day() * self.of_week(date) * growth;
            for _ in 0..usual * (88 + dice.below(25)) / 1_000_000 {
                times.push(at_some_hour(date, &mut dice));
            }
        }
        times.retain(|at| *at <= self.now.plus_seconds(-QUIET_SECONDS));
        times.sort_unstable();
        let count = times.len();
        let mut orders: Vec<PastOrder> =
            times.into_iter().enumerate().map(|(n, at)| self.order(n, count - 1 - n, at, &basket, &mut dice)).collect();
        self.give_to_ada(&mut orders);
        orders
    }

    fn of_week(&self, date: Date) -> i64 {
        // The first day of 1970 was a Thursday.
        WEEK[usize::try_from((date.days() + 3).rem_euclid(7)).unwrap_or(0)]
    }

    fn order(&self, n: usize, newer: usize, placed_at: Timestamp, basket: &Basket, dice: &mut Dice) -> PastOrder {
        let buyer = match dice.below(10) {
            0..=6 if self.customers > 0 => {
                // The first customers come most often.
                let (a, b) = (dice.index(self.customers), dice.index(self.customers));
                Buyer::Customer(a.min(b))
            }
            _ => Buyer::Guest {
                name: dice.index(people::NAMES.len()),
                city: dice.index(people::CITIES.len()),
                house: 1 + dice.below(120),
            },
        };
        let status = self.status(newer, placed_at, dice);
        PastOrder {
            order: OrderId(products::id(self.seed, "order", &n.to_string())),
            number: format!("AF-{}", 100_001 + n),
            buyer,
            steps: steps(status, placed_at, self.now, dice),
            status,
            lines: self.lines(basket, dice),
            discounted: dice.one_in(9),
            shipping: match dice.below(20) {
                0..=15 => 0,
                16..=18 => 1,
                _ => 2,
            },
            parcel: dice.below(90_000_000) + 10_000_000,
        }
    }

    fn lines(&self, basket: &Basket, dice: &mut Dice) -> Vec<PastLine> {
        let mut lines: Vec<PastLine> = Vec::new();
        let wanted = [1, 1, 1, 2, 2, 2, 3, 3, 4, 5][dice.index(10)];
        for _ in 0..wanted * 3 {
            let product = basket.pick(dice);
            let first = lines.first().map(|line| self.departments[line.product]);
            // Whoever buys a pan is likely to buy a spoon.
            let fits = first.is_none_or(|first| first == self.departments[product]) || dice.one_in(4);
            if !fits || lines.iter().any(|line| line.product == product) {
                continue;
            }
            let units =
                if self.products[product].price < Decimal::from(20) && dice.one_in(3) { 2 + dice.below(2) } else { 1 };
            let options = choose(&self.products[product], dice);
            lines.push(PastLine { product, units: u32::try_from(units).unwrap_or(1), options });
            if lines.len() >= wanted {
                break;
            }
        }
        lines
    }

    fn status(&self, newer: usize, placed_at: Timestamp, dice: &mut Dice) -> OrderStatus {
        let hours = (self.now.millis() - placed_at.millis()) / 3_600_000;
        let (pending, paid, processing) = (PENDING, PENDING + PAID, PENDING + PAID + PROCESSING);
        let luck = dice.below(100);
        match newer {
            _ if luck < 4 && newer > pending => OrderStatus::Cancelled,
            // A pending order among paid ones, as it is where people go for their cards.
            n if n < paid && self.size == Size::Full => {
                if n * PENDING % paid < PENDING {
                    OrderStatus::Pending
                } else {
                    OrderStatus::Paid
                }
            }
            n if n < processing && self.size == Size::Full => OrderStatus::Processing,
            _ => match hours {
                0..20 => OrderStatus::Paid,
                20..60 => OrderStatus::Processing,
                60..110 => OrderStatus::Shipped,
                110..200 if luck < 60 => OrderStatus::Shipped,
                200.. if luck > 96 => OrderStatus::Refunded,
                _ => OrderStatus::Delivered,
            },
        }
    }

    /// The demo's own customer has bought now and then.
    fn give_to_ada(&self, orders: &mut [PastOrder]) {
        for hours in ADAS {
            let at = self.now.plus_seconds(-hours * 3_600);
            let place = orders.partition_point(|order| order.placed_at() < at);
            // In the small hours the last order may be older.
            let place = place.min(orders.len().saturating_sub(1));
            if let Some(order) = orders.get_mut(place) {
                order.buyer = Buyer::Ada;
            }
        }
    }

    /// What people looked at, day by day: everything in the last weeks, and before that what is looked at most.
    pub(super) fn views(&self) -> Vec<DayViews> {
        let mut dice = Dice::new(self.seed ^ 0x71e35);
        let basket = Basket::new(self.products, &mut dice);
        let mut all = Vec::new();
        for back in 0..self.size.days_viewed() {
            let date = Date::from_days(self.now.date().days() - back);
            let part_of_day = if back == 0 { (self.now.millis() - date.start().millis()) / 864_000 } else { 100 };
            let views = self.size.views_a_day() * self.of_week(date) * part_of_day / 10_000;
            let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
            for _ in 0..views {
                *seen.entry(basket.pick(&mut dice)).or_default() += 1;
            }
            all.push(DayViews { date, seen: seen.into_iter().collect() });
        }
        all
    }
}

/// What the orders of each of the last days sold, by product.
pub(super) fn sales(orders: &[PastOrder], products: &[Product], now: Timestamp) -> Vec<DaySales> {
    let mut days: BTreeMap<Date, BTreeMap<usize, i64>> = BTreeMap::new();
    let first = Date::from_days(now.date().days() - RANKED_DAYS + 1);
    for order in orders.iter().filter(|order| order.stands() && order.placed_at().date() >= first) {
        let day = days.entry(order.placed_at().date()).or_default();
        for line in &order.lines {
            *day.entry(line.product).or_default() += i64::from(line.units);
        }
    }
    let sold = |(product, units): (usize, i64)| {
        let product = &products[product];
        let revenue = product.price * Decimal::from(units);
        ProductSales { product_id: product.product_id, currency: product.currency.clone(), units, revenue }
    };
    let day = |(date, sums): (Date, BTreeMap<usize, i64>)| DaySales {
        date,
        as_of: now,
        products: sums.into_iter().map(sold).collect(),
    };
    days.into_iter().map(day).collect()
}

/// One value of each option.
pub(super) fn choose(product: &Product, dice: &mut Dice) -> BTreeMap<String, String> {
    let choices = product.attributes.iter().filter(|(_, values)| values.contains(", "));
    let one = |(name, values): (&String, &String)| {
        let values: Vec<&str> = values.split(", ").collect();
        (name.clone(), values[dice.index(values.len())].to_owned())
    };
    choices.map(one).collect()
}

fn at_some_hour(date: Date, dice: &mut Dice) -> Timestamp {
    let mut left = dice.below(HOURS.iter().sum());
    let mut hour = 0;
    for weight in HOURS {
        if left < weight {
            break;
        }
        left -= weight;
        hour += 1;
    }
    date.start().plus_seconds(hour * 3_600 + dice.below(3_600))
}

/// The way to where the order stands; if there was not time enough for it, all of it was quicker.
fn steps(status: OrderStatus, placed_at: Timestamp, now: Timestamp, dice: &mut Dice) -> Vec<PastStep> {
    use OrderStatus::{Cancelled, Delivered, Paid, Pending, Processing, Refunded, Shipped};
    let way: &[OrderStatus] = match status {
        Pending => &[Pending],
        Paid => &[Pending, Paid],
        Processing => &[Pending, Paid, Processing],
        Shipped => &[Pending, Paid, Processing, Shipped],
        Delivered => &[Pending, Paid, Processing, Shipped, Delivered],
        Cancelled => &[Pending, Paid, Cancelled],
        Refunded => &[Pending, Paid, Processing, Shipped, Delivered, Refunded],
    };
    let mut offset = 0;
    let mut offsets = Vec::new();
    for status in way {
        offset += match status {
            Pending => 0,
            Paid => 20 + dice.below(100),
            Processing => 3_600 + dice.below(16 * 3_600),
            Shipped => 5 * 3_600 + dice.below(30 * 3_600),
            Delivered => DAY_SECONDS + dice.below(2 * DAY_SECONDS),
            Cancelled => 900 + dice.below(5 * 3_600),
            Refunded => 2 * DAY_SECONDS + dice.below(6 * DAY_SECONDS),
        };
        offsets.push(offset);
    }
    let time = (now.millis() - placed_at.millis()) / 1_000 - 30;
    let squeezed = |offset: i64| {
        if *offsets.last().unwrap_or(&0) <= time {
            offset
        } else {
            offset * time / offsets.last().copied().unwrap_or(1).max(1)
        }
    };
    let step = |(n, (status, offset)): (i64, (&OrderStatus, &i64))| PastStep {
        status: *status,
        // Each later than the one before, however little time there was.
        at: placed_at.plus_seconds(squeezed(*offset) + n),
        actor: match status {
            Pending | Paid => "system".to_owned(),
            Cancelled => "customer".to_owned(),
            _ => "staff:clerk".to_owned(),
        },
        notes: match status {
            Cancelled => Some("Ordered by mistake.".to_owned()),
            Refunded => Some("Came back unused.".to_owned()),
            _ => None,
        },
    };
    (0..).zip(way.iter().zip(&offsets)).map(step).collect()
}
