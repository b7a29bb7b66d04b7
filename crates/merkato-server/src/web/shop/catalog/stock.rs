//! How many there are, in words.

use merkato::inventory::StockLevels;

/// So few that it is said how many.
const FEW: i64 = 5;
/// What one asks for at once, where the stock does not say it.
const AT_ONCE_MAX: i64 = 99;

/// What is said of a product's stock, and how many can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    pub words: String,
    pub tone: Tone,
    /// The most that can be put into a cart at once; none where it is sold out.
    pub most: i64,
    /// As schema.org calls it.
    pub schema: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warn,
    Bad,
}

impl Tone {
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
        }
    }
}

impl Stock {
    /// `in_stock` is what the catalog was told; it counts where the inventory knows nothing of the product.
    pub fn of(levels: &StockLevels, in_stock: bool) -> Self {
        let stock = |words: String, tone, most, schema| Stock { words, tone, most, schema };
        let there = || stock("In stock".into(), Tone::Good, AT_ONCE_MAX, "InStock");
        let none = || stock("Sold out".into(), Tone::Bad, 0, "OutOfStock");
        if levels.is_unknown() {
            return if in_stock { there() } else { none() };
        }
        if !levels.tracked {
            return there();
        }
        match levels.available() {
            few @ 1..=FEW => {
                let most = if levels.backorder { AT_ONCE_MAX } else { few };
                stock(format!("Only {few} left"), Tone::Warn, most, "LimitedAvailability")
            }
            many if many > FEW => Stock { most: many.min(AT_ONCE_MAX), ..there() },
            _ if levels.backorder => {
                let words = "None here now. Order it, and we send it when it comes.";
                stock(words.into(), Tone::Warn, AT_ONCE_MAX, "BackOrder")
            }
            _ => none(),
        }
    }

    pub fn is_sold_out(&self) -> bool {
        self.most == 0
    }
}

#[cfg(test)]
mod tests {
    use merkato::{id::ProductId, inventory::WarehouseLevel};
    use widerow::Timestamp;

    use super::*;

    fn levels(tracked: bool, backorder: bool, units: &[(i32, i32)]) -> StockLevels {
        let level = |&(quantity, reserved): &(i32, i32)| WarehouseLevel {
            warehouse_id: "vienna".into(),
            quantity,
            reserved,
            low_stock_threshold: 0,
            updated_at: Timestamp::from_millis(0),
        };
        let product_id = ProductId(uuid::Uuid::nil());
        StockLevels { product_id, tracked, backorder, warehouses: units.iter().map(level).collect() }
    }

    #[test]
    fn what_can_be_had_is_said_in_words() {
        let words = |levels: StockLevels, in_stock| {
            let stock = Stock::of(&levels, in_stock);
            (stock.words, stock.most)
        };
        assert_eq!(words(levels(true, false, &[(5, 4), (2, 0)]), true), ("Only 3 left".into(), 3));
        assert_eq!(words(levels(true, false, &[(500, 4)]), true), ("In stock".into(), 99));
        assert_eq!(words(levels(true, false, &[(7, 0)]), true), ("In stock".into(), 7));
        assert_eq!(words(levels(true, false, &[(4, 4)]), true), ("Sold out".into(), 0));
        assert!(words(levels(true, true, &[(4, 4)]), true).0.starts_with("None here now"));
        assert_eq!(words(levels(false, false, &[]), false), ("In stock".into(), 99));
        assert_eq!(words(levels(true, false, &[]), true).0, "In stock");
        assert_eq!(words(levels(true, false, &[]), false).0, "Sold out");
    }
}
