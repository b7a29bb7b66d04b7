//! What a shop decides for itself.

/// All of it; each module has its own part.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub carts: CartSettings,
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
