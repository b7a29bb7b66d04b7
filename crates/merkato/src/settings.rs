//! What a shop decides for itself. A configuration file has these names; what it leaves out is the default.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    limits,
    money::Currency,
    sales::{Hemisphere, figures},
};

/// All of it; each module has its own part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub catalog: CatalogSettings,
    pub accounts: AccountSettings,
    pub carts: CartSettings,
    pub orders: OrderSettings,
    pub inventory: InventorySettings,
    pub analytics: AnalyticsSettings,
    pub sales: SalesSettings,
    pub telemetry: TelemetrySettings,
    pub graph: GraphSettings,
    pub flows: FlowSettings,
    pub keys: KeySettings,
    pub replies: ReplySettings,
}

/// How the lists of people are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphSettings {
    /// People of one partition of somebody's lists; each has a few rows there. When it is changed, lists that are there stay.
    pub pairs_a_bucket: u32,
}

impl Default for GraphSettings {
    fn default() -> Self {
        GraphSettings { pairs_a_bucket: 10_000 }
    }
}

/// What is written down of programs' keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeySettings {
    /// How exact it is when a key was last used: it is written down no oftener than this.
    pub used_seconds: i64,
}

impl Default for KeySettings {
    fn default() -> Self {
        KeySettings { used_seconds: 3_600 }
    }
}

/// How answers are kept under idempotency keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplySettings {
    /// How long a key and its answer are remembered.
    pub memory_seconds: u32,
    /// For how long a request is left to whoever runs it; longer than any request takes.
    pub lease_seconds: i64,
}

impl Default for ReplySettings {
    fn default() -> Self {
        ReplySettings { memory_seconds: 86_400, lease_seconds: 60 }
    }
}

/// How flows that outlive their process are taken up again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowSettings {
    /// For how long a flow is left to whoever runs it.
    pub lease_seconds: i64,
}

impl Default for FlowSettings {
    fn default() -> Self {
        FlowSettings { lease_seconds: limits::FLOW_LEASE_SECONDS }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogSettings {
    /// Active products with one and the same name.
    pub products_a_name_max: usize,
}

impl Default for CatalogSettings {
    fn default() -> Self {
        CatalogSettings { products_a_name_max: limits::PRODUCTS_A_NAME_MAX }
    }
}

/// How long carts live.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CartSettings {
    /// What the cart is called that a user gets without asking.
    pub default_cart_name: String,
    /// Days after its last change for which a guest's cart lives; at least one.
    pub guest_cart_days: u32,
    /// As many for the lines of a user's cart; None: for good.
    pub saved_cart_days: Option<u32>,
}

impl Default for CartSettings {
    fn default() -> Self {
        CartSettings { default_cart_name: "My cart".into(), guest_cart_days: 30, saved_cart_days: None }
    }
}

/// How people prove who they are, and for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSettings {
    pub passwords: PasswordSettings,
    pub attempts: AttemptSettings,
    /// Whether one must have shown that the e-mail address is one's own before logging in.
    pub verified_email_needed: bool,
    pub session_seconds: u32,
    /// How exact it is when a session was last seen: it is written down no oftener than this.
    pub session_seen_seconds: i64,
    pub verify_token_seconds: i64,
    pub reset_token_seconds: i64,
    pub email_change_token_seconds: i64,
}

impl Default for AccountSettings {
    fn default() -> Self {
        AccountSettings {
            passwords: PasswordSettings::default(),
            attempts: AttemptSettings::default(),
            verified_email_needed: true,
            session_seconds: 30 * 86_400,
            session_seen_seconds: 3_600,
            verify_token_seconds: 2 * 86_400,
            reset_token_seconds: 3_600,
            email_change_token_seconds: 86_400,
        }
    }
}

/// The work that a guess at a password costs. Whoever logs in is hashed anew after a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PasswordSettings {
    pub memory_kib: u32,
    pub passes: u32,
    pub lanes: u32,
    /// Passwords that are hashed side by side; each takes the memory.
    pub at_once: usize,
    /// How long one waits for one's turn before being told to come later.
    pub wait_seconds_max: u64,
}

impl Default for PasswordSettings {
    /// What OWASP recommends for Argon2id.
    fn default() -> Self {
        let at_once = std::thread::available_parallelism().map_or(2, usize::from);
        PasswordSettings { memory_kib: 19_456, passes: 2, lanes: 1, at_once, wait_seconds_max: 10 }
    }
}

/// How many wrong passwords are free, and how the waits grow after that.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttemptSettings {
    pub account_free: u32,
    pub address_free: u32,
    /// Doubled with each attempt.
    pub first_wait_seconds: i64,
    pub wait_seconds_max: i64,
    /// One attempt is forgotten for every so many seconds without any. Without it, an address that many people share would
    /// come to its limit and never leave it.
    pub forget_seconds: i64,
}

impl Default for AttemptSettings {
    fn default() -> Self {
        AttemptSettings {
            account_free: 5,
            address_free: 20,
            first_wait_seconds: 1,
            wait_seconds_max: 15 * 60,
            forget_seconds: 15 * 60,
        }
    }
}

/// What an order costs beside its goods, and how it is numbered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrderSettings {
    /// Of the shipping methods' amounts, and of orders that name no other.
    pub currency: Currency,
    /// By country, in two capital letters: 0.19 is nineteen per cent. No tax where a country is not named.
    pub tax_rates: BTreeMap<String, Decimal>,
    /// Whether shipping is taxed as the goods are.
    pub tax_on_shipping: bool,
    pub shipping_methods: Vec<ShippingMethod>,
    /// What a number begins with: `ORD-2026-000123`.
    pub number_prefix: String,
    /// Numbers that a process takes at once. What is left of them is lost when it ends.
    pub number_block: u32,
    /// How long an order may stay unpaid before it is given up.
    pub unpaid_seconds: i64,
}

/// A way in which goods come to the shopper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippingMethod {
    pub name: String,
    pub title: String,
    pub amount: Decimal,
    /// Nothing is charged from this price of the goods on, the discount taken off.
    pub free_from: Option<Decimal>,
    /// Until it is delivered.
    pub days: u32,
}

impl Default for OrderSettings {
    fn default() -> Self {
        let method = |name: &str, title: &str, cents, free_from: Option<i64>, days| ShippingMethod {
            name: name.into(),
            title: title.into(),
            amount: Decimal::new(cents, 2),
            free_from: free_from.map(Decimal::from),
            days,
        };
        OrderSettings {
            currency: Currency::new("EUR"),
            tax_rates: BTreeMap::new(),
            tax_on_shipping: true,
            shipping_methods: vec![
                method("standard", "Standard", 4_90, Some(50), 4),
                method("express", "Express", 12_90, None, 1),
                method("pickup", "Pick up at the shop", 0, None, 1),
            ],
            number_prefix: "ORD".into(),
            number_block: 100,
            unpaid_seconds: 3_600,
        }
    }
}
/// How long stock is kept for someone, and where it is taken from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InventorySettings {
    /// How long a hold lasts that is asked for without a time.
    pub hold_seconds: u32,
    /// The longest that a hold is asked for, and extended to, from its beginning.
    pub hold_seconds_max: u32,
    /// Holds end at multiples of this, rounded up, so that they end at few instants; it is made longer where the longest
    /// hold would have more than a thousand of them.
    pub hold_grid_seconds: u32,
    /// Days for which a hold that is over, and a movement, are remembered: so long a repeated request changes nothing.
    pub memory_days: u32,
    /// Days for which a confirmed hold is remembered: so long its units can be given back.
    pub confirmed_days: u32,
    pub warehouse_rule: WarehouseRule,
}

impl Default for InventorySettings {
    fn default() -> Self {
        InventorySettings {
            hold_seconds: 900,
            hold_seconds_max: 3_600,
            hold_grid_seconds: 10,
            memory_days: 7,
            confirmed_days: 90,
            warehouse_rule: WarehouseRule::MostStockFirst,
        }
    }
}

/// The order in which warehouses are asked. One that can serve all of a line is preferred to several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarehouseRule {
    MostStockFirst,
    /// These in their order, then the others by their ids.
    Priority(Vec<String>),
}
/// How much is counted in memory before it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalyticsSettings {
    /// Seconds between two flushes of views, for whoever keeps them going: what a crash may lose.
    pub views_flush_seconds: u64,
    /// Products and days whose views are held at most; then they are flushed at once.
    pub views_products_max: usize,
    /// Bytes that they take at most, about; then they are flushed at once.
    pub views_bytes_max: usize,
}

impl Default for AnalyticsSettings {
    fn default() -> Self {
        AnalyticsSettings { views_flush_seconds: 5, views_products_max: 10_000, views_bytes_max: 8 * 1024 * 1024 }
    }
}

/// How sales are recorded for the analysis of prices.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SalesSettings {
    /// Calendar years for which a sale is kept; 0: for good.
    pub retention_years: u32,
    /// Shards of a category's trends. It is a part of stored keys: a change needs all records written anew.
    pub category_shards: u32,
    /// Shards of the products' embeddings, likewise.
    pub embedding_shards: u32,
    /// Where the customers are, for the season of a sale that comes without one.
    pub hemisphere: Hemisphere,
    /// Whether the shop's own orders are recorded as sales; those in the orders' own currency alone, as a price has none.
    pub follow_orders: bool,
    /// How sales are weighed for a suggestion.
    pub suggestion: figures::SuggestSettings,
    /// What DynamoDB asks for the table.
    pub prices: figures::cost::Prices,
}

impl Default for SalesSettings {
    /// The document's.
    fn default() -> Self {
        SalesSettings {
            retention_years: 2,
            category_shards: 10,
            embedding_shards: 5,
            hemisphere: Hemisphere::North,
            follow_orders: true,
            suggestion: figures::SuggestSettings::default(),
            prices: figures::cost::Prices::default(),
        }
    }
}

impl SalesSettings {
    /// The years for which a sale is kept, unless it is kept for good.
    pub fn retention(&self) -> Option<u32> {
        (self.retention_years > 0).then_some(self.retention_years)
    }
}

/// How measurements are taken and rolled up.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Hours for which raw measurements are shown.
    pub raw_hours: u32,
    /// Hours for which they are kept beyond: so long roll-ups may stand still, and nothing is missing in them.
    pub raw_reserve_hours: u32,
    /// After the end of an hour its roll-up waits so long for measurements on their way. Clocks must not differ by more.
    pub grace_seconds: u32,
    /// How far ahead of this machine's clock a measurement's time may be.
    pub future_seconds: u32,
    /// How many times the robust deviation a value lies off the median to be an outlier.
    pub outlier_threshold: Decimal,
}

impl Default for TelemetrySettings {
    /// The document's 24 hours.
    fn default() -> Self {
        TelemetrySettings {
            raw_hours: 24,
            raw_reserve_hours: 48,
            grace_seconds: 120,
            future_seconds: 300,
            outlier_threshold: Decimal::from(5),
        }
    }
}

impl TelemetrySettings {
    pub(crate) fn raw_kept_seconds(&self) -> i64 {
        (i64::from(self.raw_hours) + i64::from(self.raw_reserve_hours)).clamp(1, 24 * 3_650) * 3_600
    }

    /// Never nought: everything would be an outlier.
    pub(crate) fn outlier_score(&self) -> f64 {
        crate::telemetry::figures::from_decimal(self.outlier_threshold).max(0.5)
    }
}
