//! Discount codes: found, made, taken out of use.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    Currency,
    orders::{self, Discount, NewDiscount, Reduction},
};
use serde::Deserialize;
use widerow::{Date, Timestamp};

use super::{
    forms::{self, Forms, Wrong},
    pager::{Pager, Turn},
    said::{self, State},
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Fields, Form, Frame, Html, next, see_other, words},
};

const PATH: &str = "/admin/discounts";

#[derive(Deserialize)]
pub struct Filter {
    #[serde(default)]
    code: String,
}

/// A code as the pages show it.
pub struct Shown {
    code: String,
    takes_off: String,
    minimum: String,
    begins: String,
    ends: String,
    uses: String,
    state: State,
    is_disabled: bool,
    made: String,
}

#[derive(Template)]
#[template(path = "admin/discounts.html")]
pub struct Discounts {
    frame: Frame,
    forms: Forms,
    code: String,
    trouble: String,
    currency: String,
    codes: Vec<Shown>,
    pager: Pager,
}

#[derive(Template)]
#[template(path = "admin/discount.html")]
pub struct One {
    frame: Frame,
    shown: Shown,
}

fn shown(discount: Discount, now: Timestamp) -> Shown {
    let money = |amount| match &discount.currency {
        Some(currency) => words::money(amount, currency),
        None => amount.to_string(),
    };
    let state = match discount.usable(now) {
        Ok(()) => State { word: "In use", class: "done" },
        Err(orders::Error::DiscountNotYet { .. }) => State { word: "Not begun", class: "waiting" },
        Err(orders::Error::DiscountOver { .. }) => State { word: "Over", class: "off" },
        Err(orders::Error::DiscountUsedUp { .. }) => State { word: "Used up", class: "off" },
        Err(_) => State { word: "Out of use", class: "bad" },
    };
    let of = discount.uses_max.map_or(String::new(), |most| format!(" of {}", words::thousands(&most.to_string())));
    Shown {
        takes_off: match discount.reduction {
            Reduction::Amount(amount) => money(amount),
            Reduction::Percentage(percentage) => format!("{}%", percentage.normalize()),
        },
        minimum: discount.minimal_subtotal.map(money).unwrap_or_default(),
        begins: discount.valid_from.map(said::moment).unwrap_or_default(),
        ends: discount.valid_until.map(said::moment).unwrap_or_default(),
        uses: format!("{}{of}", words::thousands(&discount.uses.to_string())),
        state,
        is_disabled: discount.disabled,
        made: said::moment(discount.created_at),
        code: discount.code,
    }
}

pub async fn list(
    visit: Visit,
    frame: Frame,
    Query(filter): Query<Filter>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let code = filter.code.trim();
    let mut trouble = String::new();
    if !code.is_empty() {
        match orders::find_discount(&visit.ctx, code).await {
            Ok(Some(found)) => return Ok(see_other(&address(&found.code))),
            Ok(None) => trouble = format!("There is no code {code}."),
            Err(orders::Error::Invalid(_)) => {
                trouble = format!("{code} is no code: letters, digits, hyphens and underscores make one.");
            }
            Err(error) => return Err(error.into()),
        }
    }
    let forms = Forms::new(&visit).with("discount", Fields::of([("kind", "percentage")]));
    let page = page(&visit, frame, &turn, forms).await?;
    Ok(Html(Discounts { code: code.to_owned(), trouble, ..page }).into_response())
}

async fn page(visit: &Visit, frame: Frame, turn: &Turn, forms: Forms) -> Result<Discounts, Problem> {
    let found = orders::list_discounts(&visit.ctx, turn.page(visit)?).await?;
    let now = visit.ctx.now();
    Ok(Discounts {
        pager: turn.pager(visit, PATH, &[], found.next),
        codes: found.rows.into_iter().map(|discount| shown(discount, now)).collect(),
        currency: visit.ctx.settings.orders.currency.code().to_owned(),
        code: String::new(),
        trouble: String::new(),
        forms,
        frame,
    })
}

fn address(code: &str) -> String {
    format!("{PATH}/{}", next::encode(code))
}

pub async fn show(visit: Visit, frame: Frame, Path(code): Path<String>) -> Result<Html<One>, Problem> {
    let discount = orders::get_discount(&visit.ctx, &code).await?;
    Ok(Html(One { shown: shown(discount, visit.ctx.now()), frame }))
}

pub async fn create(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let problem = match made(&visit, &fields).await {
        Ok(made) => return Ok(see_other(&format!("{}?notice=discount-made", address(&made.code)))),
        Err(problem) => problem,
    };
    let mut problem = match problem.code {
        "discount_exists" => Problem::field("discount_exists", "/code", problem.detail),
        _ => problem,
    };
    // The form has one field for what the domain has two for.
    for error in problem.errors.iter_mut().filter(|error| matches!(error.pointer.as_str(), "/amount" | "/percentage")) {
        "/off".clone_into(&mut error.pointer);
    }
    let forms = Forms::new(&visit).refused("discount", fields, problem)?;
    Ok(forms::refused(page(&visit, frame, &Turn::default(), forms).await?))
}

async fn made(visit: &Visit, fields: &Fields) -> Result<Discount, Problem> {
    let new = read(fields, &visit.ctx.settings.orders.currency)?;
    let wanted = new.clone();
    match orders::create_discount(&visit.ctx, new).await {
        Err(orders::Error::DiscountExists { code }) => {
            // The same form was sent twice, and the first has made it.
            let found = orders::get_discount(&visit.ctx, &code).await?;
            let same = found.reduction == wanted.reduction
                && found.minimal_subtotal == wanted.minimal_subtotal
                && (found.valid_from, found.valid_until) == (wanted.valid_from, wanted.valid_until)
                && found.uses_max == wanted.uses_max;
            if same && found.uses == 0 && !found.disabled {
                Ok(found)
            } else {
                Err(orders::Error::DiscountExists { code }.into())
            }
        }
        made => Ok(made?),
    }
}

fn day(fields: &Fields, name: &str) -> Result<Option<Date>, Problem> {
    match fields.optional(name) {
        Some(_) => fields.parse(name, "a day as 2026-03-01").map(Some),
        None => Ok(None),
    }
}

fn read(fields: &Fields, currency: &Currency) -> Result<NewDiscount, Problem> {
    let mut wrong = Wrong::default();
    let off = wrong.note(forms::decimal(fields, "off"));
    let minimal_subtotal = wrong.note(forms::optional_decimal(fields, "minimal_subtotal")).flatten();
    let first = wrong.note(day(fields, "valid_from")).flatten();
    let last = wrong.note(day(fields, "valid_until")).flatten();
    let uses_max = wrong.note(match fields.optional("uses_max") {
        Some(_) => forms::units(fields, "uses_max").map(Some),
        None => Ok(None),
    });
    wrong.end()?;
    let is_amount = fields.text("kind") == "amount";
    let off = off.unwrap_or_default();
    Ok(NewDiscount {
        code: fields.text("code").trim().to_owned(),
        reduction: if is_amount { Reduction::Amount(off) } else { Reduction::Percentage(off) },
        currency: (is_amount || minimal_subtotal.is_some()).then(|| currency.clone()),
        minimal_subtotal,
        valid_from: first.map(Date::start),
        // The last day counts whole.
        valid_until: last.map(|last| Date::from_days(last.days().saturating_add(1)).start()),
        uses_max: uses_max.flatten(),
    })
}

pub async fn disable(visit: Visit, Path(code): Path<String>, Form(_): Form) -> Result<Response, Problem> {
    let discount = orders::disable_discount(&visit.ctx, &code).await?;
    Ok(see_other(&format!("{}?notice=discount-disabled", address(&discount.code))))
}
