//! A product as a small picture of it: the whole card is the link.

use merkato::{
    Currency,
    catalog::{self, CategoryEntry, FeaturedProduct, PrefixEntry, ProductEntry},
};
use rust_decimal::Decimal;

use crate::web::{pictures::Pictures, words};

#[derive(Clone, Debug)]
pub struct Card {
    pub path: String,
    pub name: String,
    /// Who makes it, or what it is found under; may be empty.
    pub brand: String,
    pub picture: String,
    pub price: String,
    /// What it cost before.
    pub was: Option<String>,
    pub badge: Option<String>,
    pub sold_out: bool,
}

/// What the card of any list is made of.
struct Parts<'p> {
    slug: &'p str,
    name: String,
    brand: Option<String>,
    thumbnail_url: Option<&'p str>,
    price: Decimal,
    was: Option<Decimal>,
    currency: &'p Currency,
    badge: Option<String>,
    in_stock: bool,
}

impl Card {
    fn new(pictures: Pictures, parts: Parts) -> Self {
        let was = parts.was.filter(|was| *was > parts.price);
        let less = was.and_then(|was| percent_less(parts.price, was));
        Card {
            path: format!("/p/{}", parts.slug),
            picture: pictures.small(parts.thumbnail_url, &parts.name),
            brand: parts.brand.unwrap_or_default(),
            price: words::money(parts.price, parts.currency),
            was: was.map(|was| words::money(was, parts.currency)),
            badge: parts.badge.or(less),
            sold_out: !parts.in_stock,
            name: parts.name,
        }
    }

    pub fn of_entry(pictures: Pictures, entry: CategoryEntry) -> Self {
        let parts = Parts {
            slug: &entry.slug,
            name: entry.name,
            brand: entry.brand,
            thumbnail_url: entry.thumbnail_url.as_deref(),
            price: entry.price,
            was: entry.compare_at_price,
            currency: &entry.currency,
            badge: None,
            in_stock: entry.in_stock,
        };
        Card::new(pictures, parts)
    }

    pub fn of_featured(pictures: Pictures, featured: FeaturedProduct) -> Self {
        let parts = Parts {
            slug: &featured.slug,
            name: featured.name,
            brand: None,
            thumbnail_url: featured.thumbnail_url.as_deref(),
            price: featured.price,
            was: featured.compare_at_price,
            currency: &featured.currency,
            badge: featured.badge,
            // The list does not say; the product's page does.
            in_stock: true,
        };
        Card::new(pictures, parts)
    }

    pub fn of_new(pictures: Pictures, entry: ProductEntry) -> Self {
        let parts = Parts {
            slug: &entry.slug,
            name: entry.name,
            brand: None,
            thumbnail_url: entry.thumbnail_url.as_deref(),
            price: entry.price,
            was: None,
            currency: &entry.currency,
            badge: None,
            in_stock: entry.in_stock,
        };
        Card::new(pictures, parts)
    }

    pub fn of_found(pictures: Pictures, entry: PrefixEntry) -> Self {
        let parts = Parts {
            slug: &entry.slug,
            name: entry.name,
            brand: Some(entry.category_name),
            thumbnail_url: entry.thumbnail_url.as_deref(),
            price: entry.price,
            was: None,
            currency: &entry.currency,
            badge: None,
            in_stock: true,
        };
        Card::new(pictures, parts)
    }

    pub fn of_related(pictures: Pictures, related: catalog::Card) -> Self {
        let parts = Parts {
            slug: &related.slug,
            name: related.name,
            brand: None,
            thumbnail_url: related.thumbnail_url.as_deref(),
            price: related.price,
            was: related.compare_at_price,
            currency: &related.currency,
            badge: None,
            in_stock: related.in_stock,
        };
        Card::new(pictures, parts)
    }
}

/// `−20%`, in whole per cent and never more than it is; nothing below one.
pub fn percent_less(price: Decimal, was: Decimal) -> Option<String> {
    let share = (was - price).checked_div(was)?;
    let percent = (share * Decimal::ONE_HUNDRED).trunc();
    (percent >= Decimal::ONE).then(|| format!("{percent}% off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduction_is_never_said_to_be_more_than_it_is() {
        let less = |price: i64, was: i64| percent_less(Decimal::new(price, 2), Decimal::new(was, 2));
        assert_eq!(less(8_000, 10_000).as_deref(), Some("20% off"));
        assert_eq!(less(6_667, 10_000).as_deref(), Some("33% off"));
        assert_eq!(less(9_950, 10_000), None);
        assert_eq!(less(0, 0), None);
    }
}
