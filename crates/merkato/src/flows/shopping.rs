//! From the catalog into the cart.

use std::collections::BTreeMap;

use super::error::{Error, Result};
use crate::{
    carts::{self, Cart, CartAt, ItemSnapshot, Shopper},
    catalog::{self, Product, ProductStatus},
    context::Context,
    id::ProductId,
};

/// Puts so many of a product into a cart, at the price that it has now. What the line says of the product comes from the
/// catalog and from nobody else.
pub async fn add_to_cart(
    ctx: &Context,
    shopper: &Shopper,
    which: impl Into<CartAt>,
    product: ProductId,
    options: BTreeMap<String, String>,
    quantity: i64,
) -> Result<Cart> {
    let product = catalog::get_product(ctx, product).await?;
    if product.status != ProductStatus::Active {
        return Err(Error::NotOnSale { product: product.product_id });
    }
    Ok(carts::add_line(ctx, shopper, which, snapshot(product, options), quantity).await?)
}

fn snapshot(product: Product, options: BTreeMap<String, String>) -> ItemSnapshot {
    ItemSnapshot {
        product_id: product.product_id,
        name: product.name,
        image_url: product.thumbnail_url.or_else(|| product.image_urls.into_iter().next()),
        unit_price: product.price,
        currency: product.currency,
        options,
    }
}
