//! Carts, of persons and of guests.
//!
//! A guest is known by a token that the first write gives, as the cookie `merkato_guest` and as the header `Merkato-Guest`. What
//! a line says of its product comes from the catalog; what the product costs now stands beside it.

use std::collections::{BTreeMap, HashMap};

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use merkato::{
    Currency,
    carts::{self, Cart, CartEntry, GuestToken, Line, Shopper, Which},
    catalog::{self, Product, ProductStatus},
    flows::{self, checkout, shopping},
    id::{CartId, LineId, ProductId},
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{
    Json, Path, Problem, Visit, Who,
    conditional::{IfMatch, Tagged},
    cookies, who,
    wire::{Listing, Money, Time},
};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// A cart as a list shows it.
#[derive(Serialize, ToSchema)]
pub struct CartCard {
    pub id: Uuid,
    #[schema(example = "For the garden")]
    pub name: String,
    pub is_active: bool,
    pub created_at: Time,
}

impl From<CartEntry> for CartCard {
    fn from(entry: CartEntry) -> Self {
        CartCard {
            id: entry.cart_id.0,
            name: entry.cart_name,
            is_active: entry.cart_is_active,
            created_at: entry.created_at.into(),
        }
    }
}

/// A cart with all that is in it.
#[derive(Serialize, ToSchema)]
pub struct CartView {
    /// Null where there is no cart yet.
    pub id: Option<Uuid>,
    /// A guest's cart has none.
    pub name: Option<String>,
    pub is_active: bool,
    /// Newest first.
    pub lines: Vec<LineView>,
    /// The sum of the lines, at the prices at which they were put into the cart.
    pub subtotal: Money,
    /// Pieces, over all lines.
    pub item_count: u32,
    /// When its lines are gone, if it is not changed before.
    pub expires_at: Option<Time>,
    pub updated_at: Option<Time>,
}

/// A line of a cart.
#[derive(Serialize, ToSchema)]
pub struct LineView {
    pub id: Uuid,
    pub product_id: Uuid,
    #[schema(example = "Walnut desk lamp")]
    pub name: String,
    pub image_url: Option<String>,
    #[schema(example = json!({"colour": "black"}))]
    pub options: BTreeMap<String, String>,
    #[schema(example = 2)]
    pub quantity: u32,
    /// When it was put into the cart.
    pub unit_price: Money,
    /// What it costs now, if that is another price.
    pub current_price: Option<Money>,
    pub line_total: Money,
    pub stock: StockHint,
    pub added_at: Time,
}

/// Whether a line can be had. The checkout decides.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StockHint {
    InStock,
    OutOfStock,
    NotOnSale,
}

fn line_view(line: Line, currency: &Currency, product: Option<&Product>) -> LineView {
    let product = product.filter(|product| product.status == ProductStatus::Active);
    let changed = product.filter(|product| product.price != line.unit_price || product.currency != *currency);
    LineView {
        id: line.line_id.0,
        product_id: line.product_id.0,
        unit_price: Money::new(line.unit_price, currency),
        current_price: changed.map(|product| Money::new(product.price, &product.currency)),
        line_total: Money::new(line.unit_price.saturating_mul(line.quantity.into()), currency),
        name: line.product_name,
        image_url: line.product_image,
        options: line.selected_options,
        quantity: line.quantity,
        stock: match product {
            Some(product) if product.in_stock => StockHint::InStock,
            Some(_) => StockHint::OutOfStock,
            None => StockHint::NotOnSale,
        },
        added_at: line.added_at.into(),
    }
}

/// Gives back what is kept for the active cart, before it is changed. What cannot be given back now ends by itself.
pub(crate) async fn let_go(visit: &Visit, shopper: &Shopper) {
    let done = async {
        let cart = carts::show_cart(&visit.ctx, shopper, Which::Active).await?;
        checkout::let_go(&visit.ctx, shopper, &cart).await
    };
    let done: Result<(), flows::Error> = done.await;
    if let Err(error) = done {
        tracing::warn!(code = error.code(), "what was kept for a cart could not be given back");
    }
}

/// The currency of a cart; an empty one has the shop's.
pub(crate) fn currency_of(visit: &Visit, currency: Option<Currency>) -> Currency {
    currency.unwrap_or_else(|| visit.ctx.settings.orders.currency.clone())
}

/// The products of the lines, as they are now.
pub(crate) async fn products(visit: &Visit, lines: &[Line]) -> Result<HashMap<ProductId, Product>, Problem> {
    let mut ids: Vec<ProductId> = lines.iter().map(|line| line.product_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = catalog::list_products(&visit.ctx, &ids).await?;
    Ok(found.into_iter().flatten().map(|product| (product.product_id, product)).collect())
}

/// What the owner's list says of a cart.
async fn entry(visit: &Visit, shopper: &Shopper, cart: Option<CartId>) -> Result<Option<CartEntry>, Problem> {
    match (shopper, cart) {
        (Shopper::User(user), Some(cart)) => {
            let entries = carts::list_carts(&visit.ctx, *user).await?;
            Ok(entries.into_iter().find(|entry| entry.cart_id == cart))
        }
        _ => Ok(None),
    }
}

async fn view(visit: &Visit, shopper: &Shopper, cart: Cart) -> Result<Tagged<Json<CartView>>, Problem> {
    let (products, entry) = futures::try_join!(products(visit, &cart.lines), entry(visit, shopper, cart.cart_id))?;
    let revision = cart.revision();
    let currency = currency_of(visit, cart.currency);
    let is_active = entry.as_ref().map_or(matches!(shopper, Shopper::Guest(_)), |entry| entry.cart_is_active);
    let lines = cart.lines.into_iter().map(|line| {
        let product = products.get(&line.product_id);
        line_view(line, &currency, product)
    });
    let view = CartView {
        id: cart.cart_id.map(|id| id.0),
        name: entry.map(|entry| entry.cart_name),
        is_active,
        lines: lines.collect(),
        subtotal: Money::new(cart.subtotal, &currency),
        item_count: cart.item_count,
        expires_at: cart.expires_at.map(Time::from),
        updated_at: cart.updated_at.map(Time::from),
    };
    Ok(Tagged { revision, view: Json(view) })
}

/// The answer to an edit. A new guest is given the token; the cookie of one who has it lives on with the cart.
async fn edited(visit: &Visit, shopper: &Shopper, is_new: bool, cart: Cart) -> Result<Response, Problem> {
    let mut response = view(visit, shopper, cart).await?.into_response();
    let Shopper::Guest(token) = shopper else { return Ok(response) };
    let headers = response.headers_mut();
    if is_new && let Ok(mut value) = HeaderValue::try_from(token.as_str()) {
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(who::GUEST), value);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    // Only who is known by a cookie has a token against other sites.
    if is_new || visit.csrf_token().is_some() {
        headers.extend(guest_cookie(visit, token).map(|cookie| (header::SET_COOKIE, cookie)));
    }
    Ok(response)
}

/// A guest's cookie, for as long as the cart lives.
pub(crate) fn guest_cookie(visit: &Visit, token: &GuestToken) -> Option<HeaderValue> {
    let seconds = i64::from(visit.ctx.settings.carts.guest_cart_days.max(1)) * DAY_SECONDS;
    cookies::set(cookies::GUEST, token.as_str(), seconds, visit.secure)
}

fn created(card: CartCard) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(location) = HeaderValue::try_from(format!("/v1/carts/{}", card.id)) {
        headers.insert(header::LOCATION, location);
    }
    (StatusCode::CREATED, headers, Json(card)).into_response()
}

/// The cart that a path names: by its id, or as `active`.
pub struct NamedCart(Which);

impl<'de> Deserialize<'de> for NamedCart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "active" {
            return Ok(NamedCart(Which::Active));
        }
        let id = text.parse::<CartId>().map_err(|_| serde::de::Error::custom("neither a cart's id nor `active`"))?;
        Ok(NamedCart(Which::Cart(id)))
    }
}

/// What a cart is called.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CartName {
    #[schema(example = "For the garden", min_length = 1, max_length = 200)]
    name: String,
}

/// One's carts, by name
#[utoipa::path(get, path = "/v1/carts", tag = "carts",
    responses((status = 200, description = "All of them, at most 100", body = Listing<CartCard>), (status = 304, description = "As the client has it")))]
pub async fn list_carts(visit: Visit) -> Result<Json<Listing<CartCard>>, Problem> {
    Ok(Json(Listing::whole(carts::list_carts(&visit.ctx, visit.person()?.user_id).await?)))
}

/// A new cart
///
/// It is empty, and saved for later; one's first is active.
#[utoipa::path(post, path = "/v1/carts", tag = "carts", request_body = CartName,
    responses((status = 201, description = "The cart", body = CartCard, headers(("Location" = String, description = "Where it is")))))]
pub async fn create_cart(visit: Visit, Json(body): Json<CartName>) -> Result<Response, Problem> {
    let entry = carts::create_cart(&visit.ctx, visit.person()?.user_id, &body.name).await?;
    Ok(created(entry.into()))
}

/// The cart that one is filling
///
/// Whoever has none is shown an empty one.
#[utoipa::path(get, path = "/v1/carts/active", tag = "carts",
    responses((status = 200, description = "The cart", body = CartView), (status = 304, description = "As the client has it")))]
pub async fn get_active_cart(visit: Visit) -> Result<Tagged<Json<CartView>>, Problem> {
    if matches!(visit.who, Who::Nobody) {
        // A guest without a cart: nothing is asked of the store.
        return view(&visit, &Shopper::Guest(GuestToken::new(&visit.ctx)), Cart::default()).await;
    }
    let shopper = shopper(&visit)?;
    let cart = carts::show_cart(&visit.ctx, &shopper, Which::Active).await?;
    view(&visit, &shopper, cart).await
}

/// One of one's carts
#[utoipa::path(get, path = "/v1/carts/{id}", tag = "carts", params(("id" = Uuid, Path, description = "The cart")),
    responses((status = 200, description = "The cart", body = CartView), (status = 304, description = "As the client has it")))]
pub async fn get_cart(visit: Visit, Path(id): Path<CartId>) -> Result<Tagged<Json<CartView>>, Problem> {
    let shopper = shopper(&visit)?;
    let cart = carts::show_cart(&visit.ctx, &shopper, id).await?;
    view(&visit, &shopper, cart).await
}

/// Another name for a cart
#[utoipa::path(patch, path = "/v1/carts/{id}", tag = "carts", request_body = CartName,
    params(("id" = Uuid, Path, description = "The cart"), ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The cart as it is called now", body = CartCard)))]
pub async fn rename_cart(
    visit: Visit,
    Path(id): Path<CartId>,
    IfMatch(expected): IfMatch,
    Json(body): Json<CartName>,
) -> Result<Json<CartCard>, Problem> {
    let user = visit.person()?.user_id;
    // RACE: a line that comes between this look and the new name is not touched by it.
    if let Some(expected) = expected
        && carts::show_cart(&visit.ctx, &Shopper::User(user), id).await?.revision() != expected
    {
        return Err(carts::Error::Changed { cart: id }.into());
    }
    Ok(Json(carts::rename_cart(&visit.ctx, user, id, &body.name).await?.into()))
}

/// Delete a cart and its lines
///
/// If it was the active one, another is active afterwards.
#[utoipa::path(delete, path = "/v1/carts/{id}", tag = "carts",
    params(("id" = Uuid, Path, description = "The cart"), ("If-Match" = Option<String>, Header, description = "The ETag that it rests upon")),
    responses((status = 204, description = "It is gone")))]
pub async fn delete_cart(
    visit: Visit,
    Path(id): Path<CartId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, Problem> {
    carts::delete_cart(&visit.ctx, visit.person()?.user_id, id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Make a cart the one that is filled
///
/// The one that was is saved.
#[utoipa::path(post, path = "/v1/carts/{id}/activate", tag = "carts", params(("id" = Uuid, Path, description = "The cart")),
    responses((status = 200, description = "The cart, which is active now", body = CartCard)))]
pub async fn activate_cart(visit: Visit, Path(id): Path<CartId>) -> Result<Json<CartCard>, Problem> {
    Ok(Json(carts::activate_cart(&visit.ctx, visit.person()?.user_id, id).await?.into()))
}

/// A saved cart with the same lines
#[utoipa::path(post, path = "/v1/carts/{id}/copy", tag = "carts", request_body = CartName,
    params(("id" = Uuid, Path, description = "The cart that is copied")),
    responses((status = 201, description = "The copy", body = CartCard, headers(("Location" = String, description = "Where it is")))))]
pub async fn copy_cart(visit: Visit, Path(id): Path<CartId>, Json(body): Json<CartName>) -> Result<Response, Problem> {
    let entry = carts::copy_cart(&visit.ctx, visit.person()?.user_id, id, &body.name).await?;
    Ok(created(entry.into()))
}

/// What is put into a cart. What it costs is the catalog's to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewItem {
    product_id: Uuid,
    #[serde(default = "one")]
    #[schema(example = 2, minimum = 1, maximum = 100_000, default = 1)]
    quantity: i64,
    /// As size and colour, at most 20. The same product in other options is another line.
    #[serde(default)]
    #[schema(example = json!({"colour": "black"}))]
    options: BTreeMap<String, String>,
}

fn one() -> i64 {
    1
}

/// Put something into the cart
///
/// The same product with the same options is one line, with both quantities together. Whoever is nobody becomes a guest, and is
/// given the token of the cart, as a cookie and as a header; it goes along with every request afterwards.
#[utoipa::path(post, path = "/v1/carts/active/items", tag = "carts", request_body = NewItem,
    params(("If-Match" = Option<String>, Header, description = "The ETag of the cart that it rests upon")),
    responses((status = 200, description = "The cart as it is now", body = CartView,
        headers(("Merkato-Guest" = String, description = "The token of a new guest"), ("ETag" = String, description = "For If-Match")))))]
pub async fn add_item(
    visit: Visit,
    IfMatch(expected): IfMatch,
    Json(body): Json<NewItem>,
) -> Result<Response, Problem> {
    let is_new = matches!(visit.who, Who::Nobody);
    let shopper = if is_new { Shopper::Guest(GuestToken::new(&visit.ctx)) } else { shopper(&visit)? };
    let NewItem { product_id, quantity, options } = body;
    let cart = Which::Active.at(expected);
    let cart = shopping::add_to_cart(&visit.ctx, &shopper, cart, ProductId(product_id), options, quantity).await?;
    edited(&visit, &shopper, is_new, cart).await
}

/// Whose cart it is; a program has none.
fn shopper(visit: &Visit) -> Result<Shopper, Problem> {
    match visit.who {
        Who::Program(_) => Err(Problem::new("forbidden", "a program has no cart")),
        _ => visit.shopper(),
    }
}

/// One line of a cart
#[utoipa::path(get, path = "/v1/carts/{id}/items/{line}", tag = "carts",
    params(("id" = String, Path, description = "The cart, or `active`"), ("line" = Uuid, Path, description = "The line")),
    responses((status = 200, description = "The line", body = LineView), (status = 304, description = "As the client has it")))]
pub async fn get_line(
    visit: Visit,
    Path((NamedCart(which), line)): Path<(NamedCart, LineId)>,
) -> Result<Tagged<Json<LineView>>, Problem> {
    let cart = carts::show_cart(&visit.ctx, &visit.shopper()?, which).await?;
    let revision = cart.revision();
    let found = cart.lines.into_iter().find(|found| found.line_id == line);
    let found = found.ok_or(carts::Error::LineNotFound { line })?;
    let product = catalog::find_product(&visit.ctx, found.product_id).await?;
    let currency = currency_of(&visit, cart.currency);
    Ok(Tagged { revision, view: Json(line_view(found, &currency, product.as_ref())) })
}

/// So many of a line.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LineChange {
    /// To have none, remove the line.
    #[schema(example = 3, minimum = 1, maximum = 100_000)]
    quantity: i64,
}

/// Another quantity of a line
#[utoipa::path(patch, path = "/v1/carts/{id}/items/{line}", tag = "carts", request_body = LineChange,
    params(("id" = String, Path, description = "The cart, or `active`"), ("line" = Uuid, Path, description = "The line"),
        ("If-Match" = Option<String>, Header, description = "The ETag of the cart that it rests upon")),
    responses((status = 200, description = "The cart as it is now", body = CartView, headers(("ETag" = String, description = "For If-Match")))))]
pub async fn change_line(
    visit: Visit,
    Path((NamedCart(which), line)): Path<(NamedCart, LineId)>,
    IfMatch(expected): IfMatch,
    Json(body): Json<LineChange>,
) -> Result<Response, Problem> {
    let shopper = visit.shopper()?;
    let cart = carts::set_quantity(&visit.ctx, &shopper, which.at(expected), line, body.quantity).await?;
    edited(&visit, &shopper, false, cart).await
}

/// Remove a line
#[utoipa::path(delete, path = "/v1/carts/{id}/items/{line}", tag = "carts",
    params(("id" = String, Path, description = "The cart, or `active`"), ("line" = Uuid, Path, description = "The line"),
        ("If-Match" = Option<String>, Header, description = "The ETag of the cart that it rests upon")),
    responses((status = 200, description = "The cart as it is now", body = CartView, headers(("ETag" = String, description = "For If-Match")))))]
pub async fn remove_line(
    visit: Visit,
    Path((NamedCart(which), line)): Path<(NamedCart, LineId)>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Problem> {
    let shopper = visit.shopper()?;
    let cart = carts::remove_line(&visit.ctx, &shopper, which.at(expected), line).await?;
    edited(&visit, &shopper, false, cart).await
}
