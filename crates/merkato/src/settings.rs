//! What a shop decides for itself.

use crate::limits;

/// All of it; each module has its own part.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub catalog: CatalogSettings,
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
