//! What a cart costs as it is now.

use std::collections::HashMap;

use rust_decimal::Decimal;
use widerow::Opened;

use super::{Checkout, CheckoutRequest, QuoteRequest, Stage, checkout_id};
use crate::{
    carts::{self, CartLine, Line, OpenedCart, Shopper},
    catalog::{self, Product, ProductStatus},
    context::Context,
    flows::error::{Error, Result},
    id::{CartId, LineId, OrderId, ProductId, UserId},
    orders::{self, OrderDraft, OrderLine, Purchase, Totals},
    wallets,
};

/// A price that is not the one at which the line was put into the cart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceChange {
    pub line_id: LineId,
    pub product_id: ProductId,
    pub was: Decimal,
    pub is: Decimal,
}

/// What would be ordered, and for how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    pub cart_id: CartId,
    pub lines: Vec<OrderLine>,
    pub totals: Totals,
    /// To be shown to the shopper before anything is charged.
    pub changed: Vec<PriceChange>,
}

/// What the cart costs at today's prices. Nothing is held or written.
pub async fn quote(ctx: &Context, request: &QuoteRequest) -> Result<Quote> {
    request.check()?;
    let cart = carts::open_cart(ctx, &request.shopper, request.cart).await?;
    quote_cart(ctx, request, &cart).await
}

/// A checkout of the cart as it is, that has not begun, and the cart.
pub(super) async fn price(ctx: &Context, request: &CheckoutRequest) -> Result<(Checkout, Opened<CartLine>)> {
    let cart = carts::open_cart(ctx, &request.shopper, request.cart).await?;
    let Some(version) = cart.version else { return Err(Error::EmptyCart) };
    let quote = quote_cart(ctx, &request.to_quote(), &cart).await?;
    match request.expected_total {
        Some(expected) if expected != quote.totals.total => {
            return Err(Error::TotalChanged { expected, total: quote.totals.total, changed: quote.changed });
        }
        None if !quote.changed.is_empty() => return Err(Error::PricesChanged { changed: quote.changed }),
        _ => {}
    }
    let user_id = match &request.shopper {
        Shopper::User(user) => Some(*user),
        Shopper::Guest(_) => None,
    };
    let store_credit = match (request.store_credit, user_id) {
        (Some(wanted), Some(user)) => Some(credit(ctx, user, wanted, &quote.totals).await?),
        _ => None,
    };
    let draft = OrderDraft {
        order_id: OrderId(ctx.new_id()),
        order_number: orders::take_number(ctx).await?,
        checkout_id: Some(checkout_id(request)),
        cart_id: Some(cart.cart_id),
        user_id,
        user_email: Some(request.folded_email()),
        customer_name: request.customer_name.clone(),
        shipping_address: Some(request.shipping_address.clone()),
        billing_address: request.billing_address.clone(),
        payment_method: Some(request.payment_method.clone()),
        lines: quote.lines,
        totals: quote.totals,
        discount_code: request.discount_code.clone(),
        shipping_method: Some(request.shipping_method.clone()),
        estimated_delivery: None,
        customer_notes: request.customer_notes.clone(),
        store_credit: store_credit.filter(|credit| !credit.is_zero()),
    };
    // What the order refuses is refused before anything is held.
    draft.clone().place("customer", ctx.now())?;
    let (cart_version, source) = (version.0, request.payment_source.clone());
    let checkout = Checkout { draft, cart_version, source, stage: Stage::Going, only_money: false, placed: None };
    Ok((checkout, cart.opened))
}

/// What the wallet pays. Whether it still can is decided when it is taken; who cannot now is told before anything is held.
async fn credit(ctx: &Context, user: UserId, wanted: Decimal, totals: &Totals) -> Result<Decimal> {
    let credit = wanted.min(totals.total);
    let wallet = wallets::get_wallet(ctx, user).await?;
    match wallet.currency {
        Some(currency) if currency != totals.currency => {
            Err(wallets::Error::OtherCurrency { wallet: currency, given: totals.currency.clone() }.into())
        }
        _ if wallet.balance < credit => {
            Err(wallets::Error::InsufficientFunds { balance: wallet.balance, wanted: credit }.into())
        }
        _ => Ok(credit),
    }
}

async fn quote_cart(ctx: &Context, request: &QuoteRequest, cart: &OpenedCart) -> Result<Quote> {
    let Some(currency) = cart.currency.clone().filter(|_| !cart.lines.is_empty()) else {
        return Err(Error::EmptyCart);
    };
    let mut ids: Vec<ProductId> = cart.lines.iter().map(|line| line.product_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = catalog::list_products(ctx, &ids).await?;
    let products: HashMap<ProductId, Product> = found.into_iter().flatten().map(|p| (p.product_id, p)).collect();
    let mut lines = Vec::with_capacity(cart.lines.len());
    let mut changed = Vec::new();
    // Oldest first, as the shopper chose them.
    for line in cart.lines.iter().rev() {
        let on_sale = |product: &&Product| product.status == ProductStatus::Active;
        let Some(product) = products.get(&line.product_id).filter(on_sale) else {
            return Err(Error::NotOnSale { product: line.product_id });
        };
        if product.currency != currency {
            let found = product.currency.clone();
            return Err(orders::Error::OtherCurrency { wanted: currency, found }.into());
        }
        if product.price != line.unit_price {
            let (was, is) = (line.unit_price, product.price);
            changed.push(PriceChange { line_id: line.line_id, product_id: line.product_id, was, is });
        }
        lines.push(order_line(line, product));
    }
    let prices: Vec<(Decimal, u32)> = lines.iter().map(|line| (line.unit_price, line.quantity)).collect();
    let reduction = match &request.discount_code {
        Some(code) => {
            let discount = orders::get_discount(ctx, code).await?;
            discount.usable(ctx.now())?;
            Some(discount.reduction(orders::subtotal(&prices)?, &currency)?)
        }
        None => None,
    };
    let purchase = Purchase {
        currency: &currency,
        lines: &prices,
        reduction,
        shipping: Some(orders::shipping_method(&ctx.settings.orders, &request.shipping_method)?),
        country: &request.country,
    };
    let totals = orders::totals(&purchase, &ctx.settings.orders)?;
    Ok(Quote { cart_id: cart.cart_id, lines, totals, changed })
}

/// The name, the picture and the options as the shopper chose them, at the price of now.
fn order_line(line: &Line, product: &Product) -> OrderLine {
    OrderLine {
        product_id: line.product_id,
        name: line.product_name.clone(),
        image: line.product_image.clone(),
        sku: product.sku.clone(),
        options: line.selected_options.clone(),
        unit_price: product.price,
        quantity: line.quantity,
        category_id: Some(product.category_id),
    }
}
