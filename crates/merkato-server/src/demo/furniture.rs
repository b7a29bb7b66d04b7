//! The demo shop as plain data, from a seed and an instant. Nothing here reads, writes, or asks for the time.

use merkato::{
    Currency,
    catalog::{NewCategory, NewProduct, ProductStatus},
    id::{CategoryId, MovementId, OrderId, ProductId},
    orders::OrderStatus,
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::catalog::{AISLES, Item};

/// Everything that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Furniture {
    /// Parents first.
    pub categories: Vec<NewCategory>,
    pub products: Vec<NewProduct>,
    pub stock: Vec<Delivery>,
    /// Lists by their names, with what stands on each product.
    pub featured: Vec<(&'static str, Vec<Place>)>,
    pub orders: Vec<PastOrder>,
}

pub type Place = (ProductId, Option<&'static str>);

/// Units that came into a warehouse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub movement: MovementId,
    pub product: ProductId,
    pub warehouse: &'static str,
    pub units: i64,
}

/// An order of the last weeks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastOrder {
    pub order: OrderId,
    pub number: String,
    /// Whether the demo's customer placed it; a guest otherwise.
    pub of_customer: bool,
    pub buyer: &'static str,
    pub city: &'static str,
    pub placed_at: Timestamp,
    pub status: OrderStatus,
    /// Products by their place among the products, and how many.
    pub lines: Vec<(usize, u32)>,
}

const WAREHOUSES: [&str; 3] = ["berlin", "hamburg", "munich"];
const CUSTOMER: (&str, &str) = ("Ada Vogel", "Berlin");
const BUYERS: [(&str, &str); 6] = [
    ("Ben Okafor", "Hamburg"),
    ("Carla Russo", "Munich"),
    ("Deniz Aydin", "Cologne"),
    ("Elif Brandt", "Leipzig"),
    ("Finn Sorensen", "Kiel"),
    ("Greta Lind", "Bremen"),
];
const ORDERS: usize = 48;
const DAYS: i64 = 30;
const DAY_SECONDS: i64 = 86_400;
const FEATURED: usize = 8;
/// One product in so many is short, and one in so many is out of stock.
const SHORT: i64 = 9;
const OUT: i64 = 23;

/// The shop of a seed, with orders of the thirty days before `now`.
pub fn furnish(seed: u64, now: Timestamp) -> Furniture {
    let mut making = Making { seed, dice: Dice(seed), now, products: Vec::new(), stock: Vec::new() };
    let mut categories = Vec::new();
    for (aisle, shelves) in AISLES {
        let aisle_id = CategoryId(making.id("category", aisle));
        categories.push(category(aisle_id, aisle, None));
        for (shelf, items) in *shelves {
            let shelf_id = CategoryId(making.id("category", shelf));
            categories.push(category(shelf_id, shelf, Some(aisle_id)));
            items.iter().for_each(|item| making.product(item, (aisle, shelf), shelf_id));
        }
    }
    let featured = making.featured();
    let mut orders: Vec<PastOrder> = (0..ORDERS).map(|n| making.order(n)).collect();
    orders.sort_by_key(|order| order.placed_at);
    Furniture { categories, products: making.products, stock: making.stock, featured, orders }
}

fn category(category_id: CategoryId, name: &str, parent_id: Option<CategoryId>) -> NewCategory {
    NewCategory { category_id: Some(category_id), name: name.to_owned(), slug: None, parent_id }
}

struct Making {
    seed: u64,
    dice: Dice,
    now: Timestamp,
    products: Vec<NewProduct>,
    stock: Vec<Delivery>,
}

impl Making {
    /// The same for the same thing, so that what was written is known again.
    fn id(&self, what: &str, name: &str) -> Uuid {
        Uuid::new_v5(&Uuid::from_u128(self.seed.into()), format!("{what} {name}").as_bytes())
    }

    fn product(&mut self, item: &Item, (aisle, shelf): (&str, &str), category: CategoryId) {
        let (name, brand, cents, sentence) = *item;
        let product_id = ProductId(self.id("product", name));
        let dice = &mut self.dice;
        let on_sale = dice.one_in(6);
        let ratings = dice.below(180);
        let stars = Decimal::new(350 + dice.below(150), 2);
        let age_days = DAYS + dice.below(300);
        let initials: String = shelf.split(' ').filter_map(|word| word.chars().next()).collect();
        self.products.push(NewProduct {
            product_id: Some(product_id),
            description: Some(sentence.to_owned()),
            brand: Some(brand.to_owned()),
            compare_at_price: on_sale.then(|| Decimal::new(cents * 5 / 4, 2)),
            sku: Some(format!("{}-{:03}", initials.to_uppercase(), self.products.len() + 1)),
            status: ProductStatus::Active,
            rating_average: (ratings > 0).then_some(stars),
            rating_count: i32::try_from(ratings).unwrap_or(0),
            tags: [aisle.to_lowercase(), shelf.to_lowercase()].into(),
            created_at: Some(self.now.plus_seconds(-DAY_SECONDS * age_days)),
            ..NewProduct::named(name, category, Decimal::new(cents, 2), Currency::new("EUR"))
        });
        let (out, short) = (dice.one_in(OUT), dice.one_in(SHORT));
        for warehouse in WAREHOUSES {
            let units = match (out, short) {
                (true, _) => 0,
                (_, true) => self.dice.below(3),
                _ => 5 + self.dice.below(60),
            };
            if units > 0 {
                let movement = MovementId(self.id("delivery", &format!("{name} {warehouse}")));
                self.stock.push(Delivery { movement, product: product_id, warehouse, units });
            }
        }
    }

    fn featured(&mut self) -> Vec<(&'static str, Vec<Place>)> {
        let on_sale = self.products.iter().filter(|product| product.compare_at_price.is_some());
        let deals = on_sale.filter_map(|product| Some((product.product_id?, Some("Sale")))).take(FEATURED).collect();
        let mut front: Vec<Place> = Vec::new();
        while front.len() < FEATURED.min(self.products.len()) {
            let picked = self.products[self.dice.index(self.products.len())].product_id;
            front.extend(picked.filter(|id| front.iter().all(|(known, _)| known != id)).map(|id| (id, None)));
        }
        vec![("homepage", front), ("deals", deals)]
    }

    fn order(&mut self, n: usize) -> PastOrder {
        let order = OrderId(self.id("order", &n.to_string()));
        let (products, dice) = (self.products.len(), &mut self.dice);
        let of_customer = n.is_multiple_of(6);
        let (buyer, city) = if of_customer { CUSTOMER } else { BUYERS[dice.index(BUYERS.len())] };
        let days_ago = dice.below(DAYS);
        let status = match days_ago {
            _ if dice.one_in(14) => OrderStatus::Cancelled,
            0..2 => OrderStatus::Paid,
            2..4 => OrderStatus::Processing,
            4..8 => OrderStatus::Shipped,
            _ => OrderStatus::Delivered,
        };
        let mut lines: Vec<(usize, u32)> = Vec::new();
        for _ in 0..=dice.below(3) {
            let product = dice.index(products);
            if lines.iter().all(|(known, _)| *known != product) {
                lines.push((product, if dice.one_in(3) { 2 } else { 1 }));
            }
        }
        let seconds = 3_600 + dice.below(DAY_SECONDS / 2);
        PastOrder {
            order,
            number: format!("DEMO-{:04}", n + 1),
            of_customer,
            buyer,
            city,
            placed_at: self.now.plus_seconds(-days_ago * DAY_SECONDS - seconds),
            status,
            lines,
        }
    }
}

/// The same throws for the same seed, for ever: no crate's generator promises that.
struct Dice(u64);

impl Dice {
    /// SplitMix64.
    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: i64) -> i64 {
        let end = u64::try_from(end).unwrap_or(1).max(1);
        i64::try_from(self.throw() % end).unwrap_or(0)
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.throw() % (len.max(1) as u64)).unwrap_or(0)
    }

    fn one_in(&mut self, many: i64) -> bool {
        self.below(many) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_shop() {
        let now = Timestamp::from_millis(1_790_000_000_000);
        let made = furnish(7, now);
        assert_eq!(made, furnish(7, now));
        assert_ne!(made, furnish(8, now));
        assert_eq!(made.products.len(), 60);
        assert_eq!(made.categories.len(), 16);
        assert!(made.orders.iter().all(|order| order.placed_at < now && !order.lines.is_empty()));
    }
}
