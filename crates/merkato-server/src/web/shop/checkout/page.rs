//! The page of the checkout: address, shipping, payment, and what it all comes to.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    accounts::{self, User},
    carts::{self, Cart, Shopper, Which},
    flows::{
        self,
        checkout::{self, Quote, QuoteRequest},
    },
    inventory, orders, wallets,
};
use rust_decimal::Decimal;

use super::choices::{self, AddressChoice, MethodChoice, NEW, Outcome};
use crate::{
    http::{Problem, Visit, Who},
    web::{
        Complaints, Fields, Frame, Html, pictures, see_other,
        shop::countries::{COUNTRIES, Country},
        words,
    },
};

/// The box that is ticked to pay from the wallet.
pub const STORE_CREDIT: &str = "store_credit";

#[derive(Template)]
#[template(path = "shop/checkout.html")]
pub struct CheckoutPage {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    is_person: bool,
    addresses: Vec<AddressChoice>,
    is_new_address: bool,
    countries: &'static [Country],
    methods: Vec<MethodChoice>,
    outcomes: Vec<Outcome>,
    lines: Vec<ReviewLine>,
    totals: Option<TotalsBox>,
    /// What is in the wallet, where that can pay here.
    credit: Option<String>,
    hold: Option<HoldBox>,
    cart: String,
    /// Empty where it cannot be ordered as it is.
    key: String,
}

struct ReviewLine {
    name: String,
    picture: Option<String>,
    options: String,
    quantity: String,
    total: String,
    /// The price at which it was put into the cart, if that is another.
    was: Option<String>,
    short: Option<String>,
}

struct TotalsBox {
    subtotal: String,
    discount: Option<String>,
    shipping: String,
    tax: Option<String>,
    total: String,
    /// What the wallet pays, and what is left to pay then.
    credit: Option<CreditBox>,
    /// What the shopper agrees to by placing the order.
    amount: String,
    currency: String,
}

struct CreditBox {
    paid: String,
    rest: String,
    /// What the shopper agrees to take from the wallet.
    amount: String,
}

/// How long what is in the cart is kept.
pub struct HoldBox {
    pub left: String,
    pub seconds: i64,
    pub until: String,
}

impl HoldBox {
    pub fn new(visit: &Visit, until: widerow::Timestamp) -> Option<Self> {
        let seconds = (until.millis() - visit.ctx.now().millis()) / 1_000;
        let clock = until.to_string().get(11..16).unwrap_or_default().to_owned();
        (seconds > 0).then(|| HoldBox { left: words::left(seconds), seconds, until: clock })
    }
}

/// Whoever opens it has what is in the cart kept; opening it again changes nothing.
pub async fn show(visit: Visit, frame: Frame) -> Result<Response, Problem> {
    if matches!(visit.who, Who::Nobody) {
        return Ok(see_other("/cart"));
    }
    let page = build(&visit, frame, Fields::default(), Complaints::default()).await?;
    Ok(page.map_or_else(|| see_other("/cart"), |page| Html(page).into_response()))
}

/// The page with what was typed so far; None where there is nothing in the cart.
pub async fn build(
    visit: &Visit,
    frame: Frame,
    fields: Fields,
    mut complaints: Complaints,
) -> Result<Option<CheckoutPage>, Problem> {
    let shopper = visit.shopper()?;
    let cart = carts::show_cart(&visit.ctx, &shopper, Which::Active).await?;
    if cart.lines.is_empty() {
        return Ok(None);
    }
    let user = match &visit.who {
        Who::Person { actor, .. } => Some(accounts::get_user(&visit.ctx, actor.user_id).await?),
        _ => None,
    };
    let settings = &visit.ctx.settings.orders;
    let fields = begin(visit, user.as_ref(), fields);
    let (key, hold, short) = match checkout::keep(&visit.ctx, &shopper, &cart).await {
        Ok(kept) => (kept.key, kept.until.and_then(|until| HoldBox::new(visit, until)), Vec::new()),
        Err(flows::Error::Inventory(inventory::Error::InsufficientStock { short })) => {
            complaints = Complaints::one("There is not enough left of what is in your cart. Change it to go on.");
            (String::new(), None, short)
        }
        Err(error) => return Err(error.into()),
    };
    let country = choices::country(user.as_ref(), &fields);
    let (quote, complaints) = quote(visit, &shopper, &country, &fields, complaints).await?;
    let credit = credit(visit, user.as_ref()).await?;
    let goods = quote.as_ref().map_or(cart.subtotal, |quote| quote.totals.subtotal - quote.totals.discount_amount);
    Ok(Some(CheckoutPage {
        frame,
        complaints,
        is_person: user.is_some(),
        addresses: choices::addresses(user.as_ref(), &fields),
        is_new_address: fields.text("address") == NEW,
        countries: COUNTRIES,
        methods: choices::methods(settings, goods, &fields),
        outcomes: choices::outcomes(&fields),
        lines: lines(&cart, quote.as_ref(), &short),
        totals: quote.as_ref().map(|quote| totals(quote, credit.filter(|_| fields.is_on(STORE_CREDIT)))),
        credit: credit.map(|credit| words::money(credit, &settings.currency)),
        hold,
        cart: cart.cart_id.map_or_else(String::new, |id| id.to_string()),
        key: if quote.is_some() { key } else { String::new() },
        fields,
    }))
}

/// What a person's wallet can pay with: its balance, if it is of the shop's currency.
async fn credit(visit: &Visit, user: Option<&User>) -> Result<Option<Decimal>, Problem> {
    let Some(user) = user else { return Ok(None) };
    let wallet = wallets::get_wallet(&visit.ctx, user.user_id).await?;
    let can_pay = wallet.currency.as_ref() == Some(&visit.ctx.settings.orders.currency) && !wallet.balance.is_zero();
    Ok(can_pay.then_some(wallet.balance))
}

/// What stands in the form before anything is typed.
fn begin(visit: &Visit, user: Option<&User>, fields: Fields) -> Fields {
    let settings = &visit.ctx.settings.orders;
    let is_first = fields.text("address").is_empty();
    let default = user.and_then(|user| user.default_address_id).map_or_else(|| NEW.to_owned(), |id| id.to_string());
    let country = user.and_then(|user| user.addresses.first()).map(|address| address.country.clone());
    let country = country.or_else(|| settings.tax_rates.keys().next().cloned()).unwrap_or_else(|| "DE".into());
    let fields = fields.or("address", default).or("country", country).or("outcome", "ok");
    let fields = fields.or("shipping", settings.shipping_methods.first().map_or("", |method| &method.name));
    match user {
        Some(user) if is_first => {
            let name = words::full_name(user.first_name.clone(), user.last_name.clone());
            let email = user.email.clone().unwrap_or_default();
            fields.with("customer_name", name).with("email", email)
        }
        _ => fields,
    }
}

/// What it comes to; without the discount where that is refused, and nothing where something is not on sale.
async fn quote(
    visit: &Visit,
    shopper: &Shopper,
    country: &str,
    fields: &Fields,
    complaints: Complaints,
) -> Result<(Option<Quote>, Complaints), Problem> {
    let mut request = QuoteRequest {
        shopper: shopper.clone(),
        cart: Which::Active,
        country: country.to_owned(),
        shipping_method: fields.text("shipping").to_owned(),
        discount_code: fields.optional("discount_code"),
    };
    let mut refused = None;
    let mut quoted = checkout::quote(&visit.ctx, &request).await;
    if let Err(error) = &quoted
        && request.discount_code.is_some()
        && is_about_discount(error)
    {
        refused = Some(discount_refused(error));
        request.discount_code = None;
        quoted = checkout::quote(&visit.ctx, &request).await;
    }
    let complaints = refused.filter(|_| complaints.is_empty()).unwrap_or(complaints);
    match quoted {
        Ok(quote) => Ok((Some(quote), complaints)),
        Err(error) => {
            let problem = Problem::from(error);
            if !problem.status.is_client_error() {
                return Err(problem);
            }
            let own = Complaints::in_words(&problem);
            Ok((None, if complaints.is_empty() { own } else { complaints }))
        }
    }
}

pub(super) fn is_about_discount(error: &flows::Error) -> bool {
    let is_no_code = match error {
        flows::Error::Orders(orders::Error::Invalid(invalid)) => invalid.fields.iter().any(|bad| bad.field == "code"),
        _ => false,
    };
    is_no_code || error.code().starts_with("discount_")
}

pub(super) fn discount_refused(error: &flows::Error) -> Complaints {
    let text = match error.code() {
        "discount_not_found" | "invalid" => "There is no such code. Look whether it is written as you were given it.",
        "discount_minimum" => "Your order is too small for this code.",
        "discount_not_yet" => "This code cannot be used yet.",
        "discount_over" | "discount_disabled" => "This code has ended.",
        _ => "This code cannot be used any more.",
    };
    Complaints::field("discount_code", text)
}

fn lines(cart: &Cart, quote: Option<&Quote>, short: &[inventory::Shortage]) -> Vec<ReviewLine> {
    let currency = quote.map(|quote| quote.totals.currency.clone()).or_else(|| cart.currency.clone());
    let currency = currency.unwrap_or_else(|| merkato::Currency::new("EUR"));
    let line = |line: &carts::Line| {
        let changed = quote.and_then(|quote| quote.changed.iter().find(|change| change.line_id == line.line_id));
        let price = changed.map_or(line.unit_price, |change| change.is);
        let missing = short.iter().find(|short| short.product == line.product_id);
        ReviewLine {
            name: line.product_name.clone(),
            picture: pictures::own(line.product_image.as_deref()),
            options: line.selected_options.values().cloned().collect::<Vec<_>>().join(", "),
            quantity: words::count(line.quantity.into(), "piece", "pieces"),
            total: words::money(price.saturating_mul(line.quantity.into()), &currency),
            was: changed.map(|change| words::money(change.was, &currency)),
            short: missing.map(|short| match short.available {
                ..=0 => "Sold out".to_owned(),
                left => format!("Only {left} left, you want {}", short.wanted),
            }),
        }
    };
    cart.lines.iter().rev().map(line).collect()
}

fn totals(quote: &Quote, credit: Option<Decimal>) -> TotalsBox {
    let totals = &quote.totals;
    let money = |amount: Decimal| words::money(amount, &totals.currency);
    let unless_none = |amount: Decimal| (!amount.is_zero()).then_some(amount);
    let credit = credit.map(|credit| credit.min(totals.total)).filter(|credit| !credit.is_zero());
    let credit = credit.map(|credit| CreditBox {
        paid: money(-credit),
        rest: money(totals.total - credit),
        amount: credit.to_string(),
    });
    TotalsBox {
        credit,
        subtotal: money(totals.subtotal),
        discount: unless_none(totals.discount_amount).map(|amount| money(-amount)),
        shipping: if totals.shipping_amount.is_zero() { "Free".into() } else { money(totals.shipping_amount) },
        tax: unless_none(totals.tax_amount).map(money),
        total: money(totals.total),
        amount: totals.total.to_string(),
        currency: totals.currency.code().to_owned(),
    }
}
