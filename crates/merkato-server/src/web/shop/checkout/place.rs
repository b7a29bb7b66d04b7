//! The form of the checkout: totals anew, or the order.

use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use merkato::{
    carts::{self, Which},
    flows::{
        self,
        checkout::{self, Checkout, CheckoutRequest, Failure},
    },
    id::CheckoutId,
    wallets,
};

use super::{choices::NEW, page};
use crate::{
    http::{
        Problem, Visit,
        v1::{
            checkouts::{self, CheckoutBody, PaymentBody},
            orders::Postal,
        },
        wire::Money,
    },
    web::{Complaints, Fields, Form, Frame, Html, see_other, words},
};

/// How long a second click waits for what the first one began: the browser shows the answer to the second.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
const LOOKS_MAX: u32 = 40;
const CREDIT_REFUSED: &str = "Your store credit no longer pays its part. Nothing was charged: look at what is left to pay, \
                              and place the order if you agree.";

pub async fn submit(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    // What is left to pay is shown before it is agreed to: a box that was ticked, or not, since the totals were made is no order.
    let credit_is_shown = fields.is_on(page::STORE_CREDIT) != fields.text("credit").is_empty();
    let is_placed = fields.text("step") == "place";
    if !is_placed || !credit_is_shown {
        let complaints = match is_placed {
            true => Complaints::one("What is left to pay has changed. Look at it, and place the order if you agree."),
            false => Complaints::default(),
        };
        let page = page::build(&visit, frame, fields, complaints).await?;
        return Ok(page.map_or_else(|| see_other("/cart"), |page| Html(page).into_response()));
    }
    let complaints = match try_place(&visit, &fields).await? {
        Ok(path) => return Ok(see_other(&path)),
        Err(complaints) => complaints,
    };
    let page = page::build(&visit, frame, fields, complaints).await?;
    Ok(page.map_or_else(|| see_other("/cart"), |page| Html(page).refused()))
}

/// The order, as the path of its page; or what is wrong, in words.
async fn try_place(visit: &Visit, fields: &Fields) -> Result<Result<String, Complaints>, Problem> {
    let request = match checkouts::request(visit, fields.text("key").to_owned(), body(fields)?).await {
        Ok(request) => request,
        Err(problem) => return refused(problem).map(Err),
    };
    let error = match patiently(visit, &request).await {
        Ok(checkout) => return Ok(Ok(thanks(&checkout, ""))),
        Err(error) => error,
    };
    if let flows::Error::OtherRequest { flow } = &error {
        // The same page was sent before with something else in it. If that was an order, there it is.
        let before = checkouts::find(visit, CheckoutId(flow.0)).await?;
        if let Some(before) = before.filter(|before| matches!(before.stage, checkout::Stage::Paid)) {
            return Ok(Ok(thanks(&before, "?notice=ordered-before")));
        }
    }
    if page::is_about_discount(&error) {
        return Ok(Err(page::discount_refused(&error)));
    }
    match in_words(visit, &request, &error).await {
        Some(text) => Ok(Err(Complaints::one(text))),
        None => refused(error.into()).map(Err),
    }
}

fn thanks(checkout: &Checkout, query: &str) -> String {
    format!("/orders/{}/thanks{query}", checkout.draft.order_id)
}

/// What the person can mend stands beside the fields; all else is a failure of its own.
fn refused(problem: Problem) -> Result<Complaints, Problem> {
    let mut problem = problem;
    if problem.code == "address_not_found" {
        problem = Problem::field("invalid", "/address", "This address is not there any more: choose another.");
    }
    for error in &mut problem.errors {
        error.detail = plainly(&error.pointer, std::mem::take(&mut error.detail));
    }
    Complaints::about(problem).map(|complaints| complaints.without_prefix("shipping_address/"))
}

fn plainly(pointer: &str, detail: String) -> String {
    let is_empty = detail.contains("empty") || detail.contains("0 bytes");
    match pointer {
        "/email" => "Enter an e-mail address, as ada@example.com".into(),
        "/shipping_address/street" if is_empty => "Enter the street and the number".into(),
        "/shipping_address/city" if is_empty => "Enter the city".into(),
        "/shipping_address/country" => "Choose the country".into(),
        _ => detail,
    }
}

/// Asks for the checkout again while another request is at it: that one is about to be done, and who waits a moment is thanked
/// for a paid order. What takes longer is shown as it stands.
async fn patiently(visit: &Visit, request: &CheckoutRequest) -> Result<Checkout, flows::Error> {
    for _ in 0..LOOKS_MAX {
        match checkout::check_out(&visit.ctx, request).await {
            Err(flows::Error::FlowRunning { .. }) => tokio::time::sleep(LOOK_AGAIN).await,
            answer => return answer,
        }
    }
    checkouts::place(visit, request).await
}

fn body(fields: &Fields) -> Result<CheckoutBody, Problem> {
    let is_new = fields.text("address") == NEW || fields.text("address").is_empty();
    let typed = || Postal {
        label: None,
        street: fields.text("street").trim().to_owned(),
        street2: fields.optional("street2"),
        city: fields.text("city").trim().to_owned(),
        state: fields.optional("state"),
        postal_code: fields.optional("postal_code"),
        country: fields.text("country").to_owned(),
        phone: fields.optional("phone"),
    };
    let credit = Money { amount: fields.text("credit").to_owned(), currency: fields.text("currency").to_owned() };
    let expected = Money { amount: fields.text("total").to_owned(), currency: fields.text("currency").to_owned() };
    Ok(CheckoutBody {
        // The cart that was looked at, whichever is active by now.
        cart_id: Some(fields.parse("cart", "a cart")?),
        // Also where nothing is typed, so that all that is missing is told at once.
        email: Some(fields.text("email").trim().to_owned()),
        customer_name: fields.optional("customer_name"),
        shipping_address: is_new.then(typed),
        shipping_address_id: if is_new { None } else { Some(fields.parse("address", "one of your addresses")?) },
        billing_address: None,
        shipping_method: fields.text("shipping").to_owned(),
        discount_code: fields.optional("discount_code"),
        payment: PaymentBody { method: "card".into(), source: fields.text("outcome").to_owned() },
        customer_notes: fields.optional("customer_notes").map(|notes| notes.replace("\r\n", "\n")),
        expected_total: (!expected.amount.is_empty()).then_some(expected),
        store_credit: (!credit.amount.is_empty()).then_some(credit),
    })
}

/// Why nothing was ordered, and what to do.
async fn in_words(visit: &Visit, request: &CheckoutRequest, error: &flows::Error) -> Option<String> {
    let text = match error {
        flows::Error::TotalChanged { total, .. } => {
            let cart = carts::show_cart(&visit.ctx, &request.shopper, Which::Active).await.ok();
            let currency = cart.and_then(|cart| cart.currency);
            let currency = currency.unwrap_or_else(|| visit.ctx.settings.orders.currency.clone());
            let total = words::money(*total, &currency);
            format!("The total is {total} now. Nothing was ordered yet: look at it, and place the order if you agree.")
        }
        flows::Error::PricesChanged { .. } => {
            "Prices have changed. Nothing was ordered yet: look at them, and place the order if you agree.".into()
        }
        flows::Error::NotOnSale { .. } => "Something in your cart is not on sale any more. Remove it to go on.".into(),
        flows::Error::OtherRequest { .. } => {
            "Something was changed while the order was placed. Look at it, and place the order again.".into()
        }
        flows::Error::Wallets(wallets::Error::InsufficientFunds { .. }) => CREDIT_REFUSED.into(),
        flows::Error::CheckoutFailed { failure, .. } => match failure {
            Failure::OutOfStock { .. } => {
                "Somebody was quicker: there is not enough left of what is in your cart. Nothing was charged.".into()
            }
            Failure::Declined { .. } => {
                "Your payment was declined. Nothing was charged, and your cart is as it was: pay in \
                                         another way, or try again."
                    .into()
            }
            Failure::CartChanged => {
                "Your cart was changed meanwhile. Look at what is in it now, and place the order again.".into()
            }
            Failure::Expired => {
                "We could not keep your things for so long. Nothing was charged; place the order again while \
                                 they are there."
                    .into()
            }
            Failure::Unpaid => "No payment came in time. Nothing was charged: place the order again.".into(),
            Failure::CreditRefused { .. } => CREDIT_REFUSED.into(),
            Failure::Cancelled => "The order was cancelled. Nothing was charged.".into(),
            Failure::DiscountRefused { .. } => return None,
        },
        _ => return None,
    };
    Some(text)
}
