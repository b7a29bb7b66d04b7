//! What a shop decides for itself.

use crate::limits;

/// All of it; each module has its own part.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub catalog: CatalogSettings,
    pub accounts: AccountSettings,
    pub carts: CartSettings,
    pub analytics: AnalyticsSettings,
}

#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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

/// How much is counted in memory before it is written.
#[derive(Clone, Debug)]
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
