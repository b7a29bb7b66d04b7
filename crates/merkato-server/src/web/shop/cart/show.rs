//! What is in a cart, at the prices of now.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    Currency,
    carts::{self, Cart, CartEntry, Line, Shopper, Which},
    catalog::{Product, ProductStatus},
    id::{CartId, LineId},
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    http::{
        Path, Problem, Visit, Who,
        v1::carts::{currency_of, products},
    },
    web::{Complaints, Fields, Frame, Html, pictures, words},
};

#[derive(Template)]
#[template(path = "shop/cart.html")]
pub struct CartPage {
    frame: Frame,
    complaints: Complaints,
    fields: Fields,
    /// One's carts, by name; none of a guest.
    tabs: Vec<Tab>,
    is_person: bool,
    is_active: bool,
    id: String,
    name: String,
    lines: Vec<LineBox>,
    pieces: String,
    subtotal: String,
    /// Whether it can be ordered as it is.
    is_good: bool,
}

struct Tab {
    path: String,
    name: String,
    is_active: bool,
    is_here: bool,
}

struct LineBox {
    id: Uuid,
    name: String,
    path: Option<String>,
    picture: Option<String>,
    options: Vec<(String, String)>,
    quantity: u32,
    /// What was typed in place of the quantity, if that was refused.
    typed: Option<String>,
    unit: String,
    /// The price at which it was put into the cart, if that is another.
    was: Option<String>,
    total: String,
    /// Why it cannot be ordered.
    trouble: Option<&'static str>,
    /// Whether none of it is free. It may be because they are kept for this very shopper: only the checkout tells.
    is_scarce: bool,
}

/// What was refused, beside which line.
#[derive(Default)]
pub struct Refused {
    pub complaints: Complaints,
    pub fields: Fields,
    pub line: Option<LineId>,
}

impl Refused {
    pub fn of(problem: &Problem, fields: Fields) -> Self {
        let complaints = if problem.errors.is_empty() {
            Complaints::in_words(problem)
        } else {
            Complaints::about(problem.clone()).unwrap_or_else(|problem| Complaints::in_words(&problem))
        };
        Refused { complaints, fields, line: None }
    }
}

/// The cart that one is filling.
pub async fn active(visit: Visit, frame: Frame) -> Result<Response, Problem> {
    Ok(Html(page(&visit, frame, Which::Active, Refused::default()).await?).into_response())
}

/// One of one's carts.
pub async fn saved(visit: Visit, frame: Frame, Path(id): Path<CartId>) -> Result<Response, Problem> {
    Ok(Html(page(&visit, frame, Which::Cart(id), Refused::default()).await?).into_response())
}

/// A cart as it is, with what was refused.
pub async fn page(visit: &Visit, frame: Frame, which: Which, refused: Refused) -> Result<CartPage, Problem> {
    let (cart, entries) = match &visit.who {
        // A guest without a cart: nothing is asked of the store.
        Who::Nobody => (Cart::default(), Vec::new()),
        _ => {
            let shopper = visit.shopper()?;
            let cart = carts::show_cart(&visit.ctx, &shopper, which).await?;
            (cart, entries(visit, &shopper).await?)
        }
    };
    let found = products(visit, &cart.lines).await?;
    let entry = entries.iter().find(|entry| Some(entry.cart_id) == cart.cart_id);
    let currency = currency_of(visit, cart.currency.clone());
    let mut subtotal = Decimal::ZERO;
    let mut lines = Vec::with_capacity(cart.lines.len());
    for line in &cart.lines {
        let (line, total) = line_box(line, &currency, found.get(&line.product_id), &refused);
        subtotal = subtotal.saturating_add(total);
        lines.push(line);
    }
    let is_active = entry.is_none_or(|entry| entry.cart_is_active);
    Ok(CartPage {
        frame,
        complaints: refused.complaints,
        fields: refused.fields,
        tabs: entries.iter().map(|entry| tab(entry, cart.cart_id)).collect(),
        is_person: matches!(visit.who, Who::Person { .. }),
        is_active,
        id: cart.cart_id.map_or_else(String::new, |id| id.to_string()),
        name: entry.map_or_else(String::new, |entry| entry.cart_name.clone()),
        pieces: words::count(cart.item_count.into(), "piece", "pieces"),
        subtotal: words::money(subtotal, &currency),
        is_good: is_active && !lines.is_empty() && lines.iter().all(|line| line.trouble.is_none()),
        lines,
    })
}

async fn entries(visit: &Visit, shopper: &Shopper) -> Result<Vec<CartEntry>, Problem> {
    match shopper {
        Shopper::User(user) => Ok(carts::list_carts(&visit.ctx, *user).await?),
        Shopper::Guest(_) => Ok(Vec::new()),
    }
}

fn tab(entry: &CartEntry, here: Option<CartId>) -> Tab {
    Tab {
        path: if entry.cart_is_active { "/cart".into() } else { format!("/cart/{}", entry.cart_id) },
        name: entry.cart_name.clone(),
        is_active: entry.cart_is_active,
        is_here: Some(entry.cart_id) == here,
    }
}

/// A line, and what it comes to at the price of now.
fn line_box(line: &Line, currency: &Currency, product: Option<&Product>, refused: &Refused) -> (LineBox, Decimal) {
    let on_sale = product.filter(|product| product.status == ProductStatus::Active);
    let priced = on_sale.filter(|product| product.currency == *currency);
    let price = priced.map_or(line.unit_price, |product| product.price);
    let total = price.saturating_mul(line.quantity.into());
    let is_refused = refused.line == Some(line.line_id);
    let line = LineBox {
        id: line.line_id.0,
        name: line.product_name.clone(),
        path: on_sale.map(|product| format!("/p/{}", product.slug)),
        picture: pictures::own(line.product_image.as_deref()),
        options: line.selected_options.clone().into_iter().collect(),
        quantity: line.quantity,
        typed: is_refused.then(|| refused.fields.text("quantity").to_owned()),
        unit: words::money(price, currency),
        was: (price != line.unit_price).then(|| words::money(line.unit_price, currency)),
        total: words::money(total, currency),
        is_scarce: priced.is_some_and(|product| !product.in_stock),
        trouble: match (on_sale, priced) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some("It is sold in another currency now: remove it, and add it again."),
            (None, _) => Some("It is not on sale any more: remove it to go on."),
        },
    };
    (line, total)
}

impl LineBox {
    fn shown_quantity(&self) -> String {
        self.typed.clone().unwrap_or_else(|| self.quantity.to_string())
    }

    fn less(&self) -> u32 {
        self.quantity.saturating_sub(1)
    }

    fn more(&self) -> u32 {
        self.quantity.saturating_add(1)
    }
}
