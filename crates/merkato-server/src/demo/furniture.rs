//! The demo shop as plain data, from a seed and an instant. Nothing here reads, writes, or asks for the time.

use std::collections::BTreeMap;

use merkato::{
    analytics::DaySales,
    catalog::{NewCategory, Product},
    id::{MovementId, OrderId, ProductId},
    orders::{OrderStatus, PastStep},
};
use widerow::{Date, Timestamp};

use super::{
    DAY_SECONDS,
    orders::{self, History},
    people, products,
};
use crate::dice::Dice;

/// How much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For tests: one thing of each kind, and a few dozen orders.
    Small,
    /// What people see.
    Full,
}

impl Size {
    pub(super) fn items_a_line(self) -> usize {
        if self == Size::Small { 1 } else { usize::MAX }
    }

    pub(super) fn customers(self) -> usize {
        if self == Size::Small { 3 } else { people::NAMES.len() }
    }

    pub(super) fn days(self) -> i32 {
        if self == Size::Small { 30 } else { 90 }
    }

    pub(super) fn orders_a_day(self) -> i64 {
        if self == Size::Small { 2 } else { 26 }
    }

    pub(super) fn days_viewed(self) -> i32 {
        if self == Size::Small { 2 } else { 30 }
    }

    pub(super) fn views_a_day(self) -> i64 {
        if self == Size::Small { 40 } else { 900 }
    }

    fn holds(self) -> usize {
        if self == Size::Small { 0 } else { 6 }
    }

    /// Orders of which it is noted what was bought together.
    fn purchases(self) -> usize {
        if self == Size::Small { 20 } else { 400 }
    }
}

/// Everything that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Furniture {
    /// Parents first.
    pub categories: Vec<NewCategory>,
    /// With their places in the lists of the front page, and with what was sold of them.
    pub products: Vec<Product>,
    pub stock: Vec<Stock>,
    /// Oldest first.
    pub orders: Vec<PastOrder>,
    /// What each of the last days sold, by product.
    pub sales: Vec<DaySales>,
    pub views: Vec<DayViews>,
    pub customers: Vec<Customer>,
    /// What the demo's customer keeps, the active cart first.
    pub adas_carts: Vec<SavedCart>,
    /// So many of the last orders, of which it is noted what was bought together.
    pub purchases: usize,
    /// Products of which somebody at the till has one in hand, by their places.
    pub held: Vec<usize>,
}

impl Furniture {
    /// How many things are written, for who wants to know how far it is.
    pub fn steps(&self) -> usize {
        let views: usize = self.views.iter().map(|day| day.seen.len()).sum();
        self.categories.len()
            + self.products.len()
            + self.stock.len()
            + self.orders.len()
            + self.sales.len()
            + views
            + self.customers.len()
            + self.purchases.min(self.orders.len())
    }
}

/// What the warehouses have of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    pub product: ProductId,
    /// More may be sold than is there.
    pub backorder: bool,
    pub deliveries: Vec<Delivery>,
}

/// What was counted in a warehouse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub movement: MovementId,
    pub warehouse: &'static str,
    pub units: i64,
    /// From how many down it is short.
    pub low: i64,
}

/// Somebody with an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    pub email: String,
    pub first_name: &'static str,
    pub last_name: &'static str,
    pub home: Home,
    pub registered_at: Timestamp,
    pub carts: Vec<SavedCart>,
}

/// Where somebody lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    pub street: String,
    pub city: &'static str,
    pub postal_code: &'static str,
    pub country: &'static str,
}

/// A cart by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedCart {
    pub name: &'static str,
    /// The one on top last.
    pub lines: Vec<PastLine>,
    /// Whether the first line was cheaper when it was put there.
    pub first_was_cheaper: bool,
}

/// A product by its place among the products, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastLine {
    pub product: usize,
    pub units: u32,
    pub options: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buyer {
    /// The customer whose login is told.
    Ada,
    /// By the place among the customers.
    Customer(usize),
    /// By the places among names and cities.
    Guest { name: usize, city: usize, house: i64 },
}

/// An order of the last months.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastOrder {
    pub order: OrderId,
    pub number: String,
    pub buyer: Buyer,
    pub status: OrderStatus,
    /// How it came to its status, at least one step.
    pub steps: Vec<PastStep>,
    pub lines: Vec<PastLine>,
    pub discounted: bool,
    /// By the place among the shop's shipping methods.
    pub shipping: usize,
    pub parcel: i64,
}

impl PastOrder {
    pub(super) fn placed_at(&self) -> Timestamp {
        self.steps.first().map_or(Timestamp::from_millis(0), |step| step.at)
    }

    /// Whether its money is the shop's.
    pub(super) fn stands(&self) -> bool {
        use OrderStatus::{Delivered, Paid, Processing, Shipped};
        matches!(self.status, Paid | Processing | Shipped | Delivered)
    }
}

/// What was looked at on a day: products by their places, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayViews {
    pub date: Date,
    pub seen: Vec<(usize, u32)>,
}

/// The shop of a seed, with what happened in the months before `now`.
pub fn furnish(seed: u64, now: Timestamp, size: Size) -> Furniture {
    let mut shop = products::make(seed, now, size);
    let mut dice = Dice::new(seed ^ 0xada);
    let customers: Vec<Customer> = (0..size.customers()).map(|n| customer(n, now, &shop.products, &mut dice)).collect();
    let adas_carts = adas_carts(&shop.products, &mut dice);
    let history = History {
        seed,
        now,
        size,
        products: &shop.products,
        departments: &shop.departments,
        customers: customers.len(),
    };
    let (orders, views) = (history.orders(), history.views());
    let sales = orders::sales(&orders, &shop.products, now);
    for order in orders.iter().filter(|order| order.stands()) {
        for line in &order.lines {
            shop.products[line.product].popularity += i64::from(line.units);
        }
    }
    let plenty = |stock: &Stock| stock.deliveries.iter().any(|delivery| delivery.units > 5);
    let held = (0..shop.stock.len()).filter(|at| plenty(&shop.stock[*at])).step_by(53).take(size.holds()).collect();
    Furniture {
        categories: shop.categories,
        products: shop.products,
        stock: shop.stock,
        orders,
        sales,
        views,
        customers,
        adas_carts,
        purchases: size.purchases(),
        held,
    }
}

/// An address of somebody, by the throws.
pub(super) fn home(city: usize, house: i64) -> Home {
    let (city, postal_code, country) = people::CITIES[city % people::CITIES.len()];
    let street = people::STREETS[usize::try_from(house).unwrap_or(0) % people::STREETS.len()];
    Home { street: format!("{street} {house}"), city, postal_code, country }
}

fn customer(n: usize, now: Timestamp, products: &[Product], dice: &mut Dice) -> Customer {
    let (first_name, last_name) = people::NAMES[n % people::NAMES.len()];
    let mail_name = format!("{first_name}.{last_name}").to_lowercase().replace(' ', "");
    let carts = match dice.below(5) {
        0 | 1 => 1,
        2 => 2,
        _ => 0,
    };
    Customer {
        email: format!("{mail_name}@example.com"),
        first_name,
        last_name,
        home: home(dice.index(people::CITIES.len()), 1 + dice.below(120)),
        registered_at: now.plus_seconds(-DAY_SECONDS * (91 + dice.below(500)) - dice.below(DAY_SECONDS)),
        carts: (0..carts)
            .map(|n| cart(people::CART_NAMES[(n * 3 + dice.index(3)) % people::CART_NAMES.len()], products, dice))
            .collect(),
    }
}

fn cart(name: &'static str, products: &[Product], dice: &mut Dice) -> SavedCart {
    let mut lines: Vec<PastLine> = Vec::new();
    for _ in 0..2 + dice.below(4) {
        lines.extend(
            line(dice.index(products.len()), 1, products, dice)
                .filter(|new| lines.iter().all(|line| line.product != new.product)),
        );
    }
    SavedCart { name, lines, first_was_cheaper: false }
}

/// What can be had of a product, if it can.
fn line(product: usize, units: u32, products: &[Product], dice: &mut Dice) -> Option<PastLine> {
    let found = products.get(product).filter(|product| product.in_stock)?;
    Some(PastLine { product, units, options: orders::choose(found, dice) })
}

/// What she buys every week, what she might give away, and what the new flat needs.
fn adas_carts(products: &[Product], dice: &mut Dice) -> Vec<SavedCart> {
    let carts: [(&'static str, &[(&str, u32)]); 3] = [
        (
            "Weekly shop",
            &[
                ("house-espresso", 2),
                ("olive-oil-fruity", 1),
                ("apricot-jam-220-g", 2),
                ("breakfast-tea", 1),
                ("dark-chocolate-70", 3),
            ],
        ),
        (
            "Birthday ideas",
            &[("teddy-bear-bruno", 1), ("enamel-kettle-1-5-l", 1), ("notebook-a5", 2), ("kite-swallow", 1)],
        ),
        (
            "New flat",
            &[
                ("dining-chair-alder", 4),
                ("paper-pendant-45-cm", 1),
                ("wool-blanket", 1),
                ("cast-iron-pan-26-cm", 1),
                ("desk-lamp-fjord", 1),
            ],
        ),
    ];
    let place = |slug: &str| products.iter().position(|product| product.slug == slug);
    let cart = |(name, lines): (&'static str, &[(&str, u32)])| SavedCart {
        name,
        lines: lines.iter().filter_map(|(slug, units)| line(place(slug)?, *units, products, dice)).collect(),
        first_was_cheaper: name == "New flat",
    };
    carts.map(cart).into()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
