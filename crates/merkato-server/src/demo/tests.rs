//! The shop as it is made, before anything is written.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::{
    demo::{SEED, brands, catalog, materials},
    pictures::{FOLDER, Motif, Picture},
};

const NOON: Timestamp = Timestamp::from_millis(1_790_000_000_000);

#[test]
fn one_seed_is_one_shop() {
    for size in [Size::Small, Size::Full] {
        let made = furnish(7, NOON, size);
        assert_eq!(made, furnish(7, NOON, size));
        assert_ne!(made, furnish(8, NOON, size));
    }
}

#[test]
fn there_is_enough_of_everything() {
    let made = furnish(SEED, NOON, Size::Full);
    assert!((350..=500).contains(&made.products.len()), "{} products", made.products.len());
    assert!((1_500..=2_800).contains(&made.orders.len()), "{} orders", made.orders.len());
    assert!(made.customers.len() >= 55 && made.categories.len() >= 50);
    let slugs: BTreeSet<&str> = made.products.iter().map(|product| product.slug.as_str()).collect();
    assert_eq!(slugs.len(), made.products.len(), "two products have one address");
    let names: BTreeSet<&str> = made.categories.iter().map(|category| category.name.as_str()).collect();
    assert_eq!(names.len(), made.categories.len(), "two categories have one name");
    for list in ["homepage", "deals", "new_arrivals"] {
        let mut places: Vec<i32> =
            made.products.iter().filter_map(|product| Some(product.featured.get(list)?.position)).collect();
        places.sort_unstable();
        assert_eq!(places, (1..=12).collect::<Vec<_>>(), "{list}");
    }
    assert!(made.adas_carts.iter().all(|cart| cart.lines.len() >= 3), "{:?}", made.adas_carts);
    let emails: BTreeSet<&str> = made.customers.iter().map(|customer| customer.email.as_str()).collect();
    assert_eq!(emails.len(), made.customers.len());
}

#[test]
fn stock_is_plenty_scarce_and_gone() {
    let made = furnish(SEED, NOON, Size::Full);
    let units = |stock: &Stock| stock.deliveries.iter().map(|delivery| delivery.units).sum::<i64>();
    let some = |test: &dyn Fn(&Stock) -> bool| made.stock.iter().filter(|stock| test(stock)).count();
    assert!(some(&|stock| (1..=4).contains(&units(stock))) >= 20);
    assert!(some(&|stock| units(stock) == 0 && !stock.backorder) >= 5);
    assert!(some(&|stock| stock.backorder) >= 3);
    let warehouses: BTreeSet<&str> =
        made.stock.iter().flat_map(|stock| &stock.deliveries).map(|delivery| delivery.warehouse).collect();
    assert_eq!(warehouses.len(), 3);
    for (product, stock) in made.products.iter().zip(&made.stock) {
        assert_eq!(product.in_stock, stock.backorder || units(stock) > 0);
    }
}

#[test]
fn orders_have_all_states_and_a_rhythm() {
    // At any time of the day, also right after midnight.
    for hours in [0, 7, 12, 23] {
        let now = NOON.date().start().plus_seconds(hours * 3_600 + 400);
        let made = furnish(SEED, now, Size::Full);
        let mut states: BTreeMap<OrderStatus, usize> = BTreeMap::new();
        let mut weekend = [0; 2];
        let mut evening = [0; 2];
        for order in &made.orders {
            *states.entry(order.status).or_default() += 1;
            assert!(!order.lines.is_empty() && order.steps.iter().all(|step| step.at < now));
            assert!(order.steps.windows(2).all(|pair| pair[0].at < pair[1].at), "{:?}", order.steps);
            assert_eq!(order.steps.last().map(|step| step.status), Some(order.status));
            weekend[usize::from((order.placed_at().date().days() + 3).rem_euclid(7) >= 5)] += 1;
            evening[usize::from((order.placed_at().millis() / 3_600_000).rem_euclid(24) >= 17)] += 1;
        }
        assert!(OrderStatus::ALL.iter().all(|status| states.get(status).is_some_and(|n| *n >= 10)), "{states:?}");
        assert!(states[&OrderStatus::Delivered] > made.orders.len() / 2);
        assert!(weekend[1] * 5 > weekend[0] * 2 * 11 / 10, "{weekend:?}");
        assert!(evening[1] * 17 > evening[0] * 7, "{evening:?}");
        assert_eq!(made.orders.iter().filter(|order| order.buyer == Buyer::Ada).count(), 11);
    }
}

#[test]
fn every_product_is_described_and_drawn() {
    let made = furnish(SEED, NOON, Size::Full);
    for product in &made.products {
        let text = product.description.as_deref().unwrap_or_default();
        assert!(text.len() > 80 && text.split("\n\n").count() == 3 && !text.contains("  "), "{}: {text}", product.name);
        assert_eq!(product.image_urls.len(), 3);
        for url in &product.image_urls {
            assert!(url.strip_prefix(FOLDER).and_then(Picture::parse).is_some(), "{url}");
        }
        assert!(product.compare_at_price.is_none_or(|before| before > product.price), "{}", product.name);
        assert!(!product.attributes["Material"].contains(", "));
        for (word, material) in [
            ("iron", "Cast iron"),
            ("oak", "Oak"),
            ("cotton", "Cotton"),
            ("linen", "Linen"),
            ("enamel ", "Enamelled steel"),
        ] {
            let told = product.name.to_lowercase().contains(word) && !product.name.contains("barn");
            assert!(!told || product.attributes["Material"] == material, "{}: {:?}", product.name, product.attributes);
        }
    }
    for category in made.categories.iter().filter(|category| category.name != "Gifts") {
        assert_ne!(Motif::of(&category.name), Motif::Parcel, "{}", category.name);
    }
}

#[test]
fn every_line_names_what_there_is() {
    fn walk(shelf: &catalog::Shelf) {
        shelf.below.iter().for_each(walk);
        for line in shelf.lines {
            assert!(!line.items.is_empty() && !line.says.is_empty() && line.grams.0 < line.grams.1);
            assert!(line.brands.iter().all(|name| brands::brand_of(name).is_some()), "{:?}", line.brands);
            assert!(line.materials.iter().all(|name| materials::is_listed(name)), "{:?}", line.materials);
        }
    }
    catalog::DEPARTMENTS.iter().for_each(walk);
    assert!(brands::BRANDS.iter().all(|brand| brand.palette < crate::pictures::PALETTES));
}
