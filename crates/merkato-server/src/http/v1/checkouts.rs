//! From a cart to an order that is paid for.
//!
//! A checkout is a flow that is known by the shopper and the key: what it says is the answer, however often it is asked for, and
//! no reply is kept beside it. What is refused before it begins (bad input, an empty cart, changed prices) may be tried again
//! under the same key.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use merkato::{
    accounts, carts,
    carts::{Shopper, Which},
    flows::{
        self,
        checkout::{self, Checkout, CheckoutRequest, Failure, QuoteRequest, Stage},
    },
    id::{AddressId, CartId, CheckoutId},
    orders::{self, PostalAddress},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    carts::currency_of,
    orders::{OrderView, Postal, is_own},
};
use crate::http::{
    Json, Path, Problem, Visit, Who,
    idempotency::{self, Key},
    problem::{Details, PriceChange, Shortage},
    wire::Money,
};

/// What is to be ordered, and how.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckoutBody {
    /// The active cart without it.
    pub(crate) cart_id: Option<Uuid>,
    /// A person's own without it; a guest gives one.
    #[schema(example = "ada@example.com", min_length = 3, max_length = 254)]
    pub(crate) email: Option<String>,
    #[schema(example = "Ada Lovelace", min_length = 1, max_length = 200)]
    pub(crate) customer_name: Option<String>,
    /// Either this or `shipping_address_id`.
    pub(crate) shipping_address: Option<Postal>,
    /// One of a person's own addresses.
    pub(crate) shipping_address_id: Option<Uuid>,
    /// The shipping address without it.
    pub(crate) billing_address: Option<Postal>,
    #[schema(example = "standard", min_length = 1, max_length = 200)]
    pub(crate) shipping_method: String,
    #[schema(min_length = 1, max_length = 40)]
    pub(crate) discount_code: Option<String>,
    pub(crate) payment: PaymentBody,
    /// What the shopper wants to tell the shop.
    #[schema(max_length = 4000)]
    pub(crate) customer_notes: Option<String>,
    /// What the shopper saw and agreed to. Without it, nothing is ordered if a price has changed since it was put into the cart.
    pub(crate) expected_total: Option<Money>,
    /// How much of it a person's wallet pays, up to the total; the payment pays the rest.
    pub(crate) store_credit: Option<Money>,
}

/// How it is paid.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentBody {
    #[schema(example = "card", min_length = 1, max_length = 200)]
    pub(crate) method: String,
    /// What stands for the payer's card or account: a token of the payment provider's.
    #[schema(example = "ok", min_length = 1, max_length = 200)]
    pub(crate) source: String,
}

/// A checkout and how far it has come.
#[derive(Serialize, ToSchema)]
pub struct CheckoutView {
    pub id: Uuid,
    pub status: CheckoutStatus,
    /// Why it came to nothing.
    pub failure: Option<FailureView>,
    pub total: Money,
    /// Null where it came to nothing before there was one.
    pub order: Option<OrderView>,
}

/// Where a checkout stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckoutStatus {
    /// On its way, or waiting for the payment.
    Pending,
    Paid,
    /// The cart is as it was.
    Failed,
}

/// Why a checkout came to nothing.
#[derive(Serialize, ToSchema)]
pub struct FailureView {
    /// As errors have it.
    #[schema(example = "payment_declined")]
    pub code: &'static str,
    pub detail: String,
}

async fn view(visit: &Visit, checkout: Checkout) -> Result<CheckoutView, Problem> {
    let order = orders::find_order(&visit.ctx, checkout.draft.order_id).await?;
    let (status, failure) = match &checkout.stage {
        Stage::Going => (CheckoutStatus::Pending, None),
        Stage::Paid => (CheckoutStatus::Paid, None),
        Stage::Undoing(failure) | Stage::Failed(failure) => (CheckoutStatus::Failed, Some(failure)),
    };
    let totals = &checkout.draft.totals;
    Ok(CheckoutView {
        id: checkout.checkout_id().0,
        status,
        failure: failure.map(|failure| FailureView { code: failure.code(), detail: failure.to_string() }),
        total: Money::new(totals.total, &totals.currency),
        order: order.map(OrderView::from),
    })
}

fn which(cart: Option<Uuid>) -> Which {
    cart.map_or(Which::Active, |id| Which::Cart(CartId(id)))
}

/// The request as the domain has it, with what the person did not say because the shop knows it.
pub(crate) async fn request(visit: &Visit, key: String, body: CheckoutBody) -> Result<CheckoutRequest, Problem> {
    let knows_enough = body.email.is_some() && body.shipping_address_id.is_none();
    let user = match &visit.who {
        Who::Person { actor, .. } if !knows_enough => Some(accounts::get_user(&visit.ctx, actor.user_id).await?),
        _ => None,
    };
    let needed = || Problem::field("invalid", "/email", "an order needs one");
    let email = body.email.or_else(|| user.as_ref()?.email.clone()).ok_or_else(needed)?;
    let shipping_address = match (body.shipping_address, body.shipping_address_id.map(AddressId)) {
        (Some(address), None) => address.into(),
        (None, Some(id)) => {
            let addresses = user.map(|user| user.addresses).unwrap_or_default();
            let found = addresses.into_iter().find(|address| address.address_id == id);
            postal(found.ok_or(accounts::Error::AddressNotFound { address: id })?)
        }
        _ => {
            let problem = "either `shipping_address` or `shipping_address_id` is wanted";
            return Err(Problem::field("invalid", "/shipping_address", problem));
        }
    };
    let shopper = visit.shopper()?;
    let cart = which(body.cart_id);
    let mut amounts = [None, None];
    let given = [("expected_total", body.expected_total), ("store_credit", body.store_credit)];
    for (amount, (field, money)) in amounts.iter_mut().zip(given) {
        let Some(money) = money else { continue };
        let (given, currency) = money.parse(field)?;
        // A cart that was ordered has no currency, and its checkout knows what was expected.
        let found = carts::show_cart(&visit.ctx, &shopper, cart).await?.currency;
        if let Some(found) = found.filter(|found| *found != currency) {
            return Err(orders::Error::OtherCurrency { wanted: currency, found }.into());
        }
        *amount = Some(given);
    }
    let [expected_total, store_credit] = amounts;
    Ok(CheckoutRequest {
        key,
        shopper,
        cart,
        email,
        customer_name: body.customer_name,
        shipping_address,
        billing_address: body.billing_address.map(PostalAddress::from),
        shipping_method: body.shipping_method,
        discount_code: body.discount_code,
        payment_method: body.payment.method,
        payment_source: body.payment.source,
        customer_notes: body.customer_notes,
        expected_total,
        store_credit,
    })
}

fn postal(address: accounts::Address) -> PostalAddress {
    let accounts::Address { label, street, street2, city, state, postal_code, country, phone, .. } = address;
    PostalAddress { label, street, street2, city, state, postal_code, country, phone }
}

/// A refusal, with what the shopper can mend.
async fn refused(visit: &Visit, shopper: &Shopper, cart: Which, error: flows::Error) -> Problem {
    let mut details = Details::default();
    match &error {
        flows::Error::PricesChanged { changed } | flows::Error::TotalChanged { changed, .. } => {
            let found = carts::show_cart(&visit.ctx, shopper, cart).await.ok();
            let currency = currency_of(visit, found.and_then(|cart| cart.currency));
            let change = |change: &checkout::PriceChange| PriceChange {
                line_id: change.line_id.0,
                product_id: change.product_id.0,
                was: Money::new(change.was, &currency),
                is: Money::new(change.is, &currency),
            };
            details.price_changes = changed.iter().map(change).collect();
            if let flows::Error::TotalChanged { total, .. } = &error {
                details.total = Some(Money::new(*total, &currency));
            }
        }
        flows::Error::CheckoutFailed { checkout, failure } => {
            details.checkout_id = Some(checkout.0);
            if let Failure::OutOfStock { products } = failure {
                let short = |short: &checkout::Short| Shortage {
                    product_id: short.product_id.0,
                    wanted: short.wanted,
                    available: short.available,
                };
                details.shortages = products.iter().map(short).collect();
            }
        }
        flows::Error::FlowRunning { .. } => return Problem::from(error),
        _ => return error.into(),
    }
    Problem { details: Some(Box::new(details)), ..error.into() }
}

/// Order the cart and pay for it
///
/// The same request under the same key has the same answer. A checkout that came to nothing leaves the cart as it was; to try
/// again is a new purchase, with a new key.
#[utoipa::path(post, path = "/v1/checkouts", tag = "checkout", request_body = CheckoutBody,
    responses(
        (status = 201, description = "The order is paid for", body = CheckoutView, headers(("Location" = String, description = "The order"))),
        (status = 202, description = "The order is placed, its payment is on its way", body = CheckoutView, headers(("Location" = String, description = "The checkout")))))]
pub async fn check_out(visit: Visit, Key(key): Key, Json(body): Json<CheckoutBody>) -> Result<Response, Problem> {
    let request = request(&visit, key, body).await?;
    let id = checkout::checkout_id(&request);
    let was_known = find(&visit, id).await?.is_some();
    let mut response = match run(&visit, &request, id).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    if was_known {
        idempotency::mark_replayed(&mut response);
    }
    Ok(response)
}

pub(crate) async fn find(visit: &Visit, id: CheckoutId) -> Result<Option<Checkout>, flows::Error> {
    match checkout::get_checkout(&visit.ctx, id).await {
        Ok(checkout) => Ok(Some(checkout)),
        Err(flows::Error::CheckoutNotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Orders and pays, for the API and the pages alike. A checkout whose order is placed and whose payment is waited for is an
/// answer.
pub(crate) async fn place(visit: &Visit, request: &CheckoutRequest) -> Result<Checkout, flows::Error> {
    let error = match checkout::check_out(&visit.ctx, request).await {
        Err(error @ flows::Error::FlowRunning { .. }) => error,
        answer => return answer,
    };
    let known = find(visit, checkout::checkout_id(request)).await?.filter(|checkout| checkout.stage == Stage::Going);
    let placed = match &known {
        Some(checkout) => orders::find_order(&visit.ctx, checkout.draft.order_id).await?.is_some(),
        None => false,
    };
    known.filter(|_| placed).ok_or(error)
}

async fn run(visit: &Visit, request: &CheckoutRequest, id: CheckoutId) -> Result<Response, Problem> {
    let checkout = match place(visit, request).await {
        Ok(checkout) => checkout,
        Err(error) => return Err(refused(visit, &request.shopper, request.cart, error).await),
    };
    let (status, location) = match checkout.stage {
        Stage::Paid => (StatusCode::CREATED, format!("/v1/orders/{}", checkout.draft.order_id)),
        _ => (StatusCode::ACCEPTED, format!("/v1/checkouts/{id}")),
    };
    let mut headers = HeaderMap::new();
    if let Ok(location) = HeaderValue::try_from(location) {
        headers.insert(header::LOCATION, location);
    }
    Ok((status, headers, Json(view(visit, checkout).await?)).into_response())
}

/// How far a checkout has come
#[utoipa::path(get, path = "/v1/checkouts/{id}", tag = "checkout", params(("id" = Uuid, Path, description = "The checkout")),
    responses((status = 200, description = "The checkout", body = CheckoutView), (status = 304, description = "As the client has it")))]
pub async fn get_checkout(visit: Visit, Path(id): Path<CheckoutId>) -> Result<Json<CheckoutView>, Problem> {
    let checkout = checkout::get_checkout(&visit.ctx, id).await?;
    if !is_own(&visit, checkout.draft.user_id, checkout.draft.cart_id) {
        return Err(flows::Error::CheckoutNotFound { checkout: id }.into());
    }
    Ok(Json(view(&visit, checkout).await?))
}

/// What would be ordered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuoteBody {
    /// The active cart without it.
    cart_id: Option<Uuid>,
    /// Where it would go to: two letters of ISO 3166.
    #[schema(example = "DE", pattern = "^[A-Z]{2}$")]
    country: String,
    #[schema(example = "standard", min_length = 1, max_length = 200)]
    shipping_method: String,
    #[schema(min_length = 1, max_length = 40)]
    discount_code: Option<String>,
}

/// What a cart costs, at the prices of now.
#[derive(Serialize, ToSchema)]
pub struct QuoteView {
    pub cart_id: Uuid,
    pub subtotal: Money,
    pub discount: Money,
    pub shipping: Money,
    pub tax: Money,
    /// What to agree to, as `expected_total`.
    pub total: Money,
    /// To be shown to the shopper.
    pub price_changes: Vec<PriceChange>,
}

/// What the cart costs at the prices of now, with shipping and tax
///
/// Nothing is held or ordered.
#[utoipa::path(post, path = "/v1/checkouts/quote", tag = "checkout", request_body = QuoteBody,
    responses((status = 200, description = "The price", body = QuoteView)))]
pub async fn quote(visit: Visit, Json(body): Json<QuoteBody>) -> Result<Json<QuoteView>, Problem> {
    let QuoteBody { cart_id, country, shipping_method, discount_code } = body;
    let (shopper, cart) = (visit.shopper()?, which(cart_id));
    let request = QuoteRequest { shopper, cart, country, shipping_method, discount_code };
    let quote = checkout::quote(&visit.ctx, &request).await?;
    let money = |amount| Money::new(amount, &quote.totals.currency);
    let change = |change: &checkout::PriceChange| PriceChange {
        line_id: change.line_id.0,
        product_id: change.product_id.0,
        was: money(change.was),
        is: money(change.is),
    };
    Ok(Json(QuoteView {
        cart_id: quote.cart_id.0,
        subtotal: money(quote.totals.subtotal),
        discount: money(quote.totals.discount_amount),
        shipping: money(quote.totals.shipping_amount),
        tax: money(quote.totals.tax_amount),
        total: money(quote.totals.total),
        price_changes: quote.changed.iter().map(change).collect(),
    }))
}
