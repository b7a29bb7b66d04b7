//! What a shop decides for itself.

use crate::limits;

/// All of it; each module has its own part.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub catalog: CatalogSettings,
    pub carts: CartSettings,
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
