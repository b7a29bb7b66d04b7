//! The addresses that a person keeps.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    accounts::{self, Address, AddressInput},
    id::AddressId,
    limits,
};

use crate::{
    http::{Path, Problem, Visit},
    web::{
        Complaints, Fields, Form, Frame, Html, see_other,
        shop::{
            checkout::in_a_line,
            countries::{COUNTRIES, Country},
        },
    },
};

#[derive(Template)]
#[template(path = "shop/account/addresses.html")]
pub struct AddressesPage {
    frame: Frame,
    addresses: Vec<AddressBox>,
    can_add: bool,
}

struct AddressBox {
    id: AddressId,
    label: String,
    text: String,
    is_default: bool,
}

#[derive(Template)]
#[template(path = "shop/account/address.html")]
pub struct AddressPage {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    countries: &'static [Country],
    /// None of one that is added.
    id: Option<AddressId>,
}

const LIST: &str = "/account/addresses";

pub async fn list(visit: Visit, frame: Frame) -> Result<Html<AddressesPage>, Problem> {
    let user = accounts::get_user(&visit.ctx, visit.person()?.user_id).await?;
    let view = |address: &Address| AddressBox {
        id: address.address_id,
        label: address.label.clone().unwrap_or_else(|| "Address".into()),
        text: in_a_line(address),
        is_default: user.default_address_id == Some(address.address_id),
    };
    let addresses: Vec<AddressBox> = user.addresses.iter().map(view).collect();
    Ok(Html(AddressesPage { frame, can_add: addresses.len() < limits::ADDRESSES_MAX, addresses }))
}

fn form(frame: Frame, id: Option<AddressId>, fields: Fields, complaints: Complaints) -> Html<AddressPage> {
    let fields = fields.or("country", "DE");
    Html(AddressPage { frame, fields, complaints, countries: COUNTRIES, id })
}

pub async fn new(frame: Frame) -> Html<AddressPage> {
    form(frame, None, Fields::default(), Complaints::default())
}

fn input(fields: &Fields) -> AddressInput {
    AddressInput {
        label: fields.optional("label"),
        street: fields.text("street").trim().to_owned(),
        street2: fields.optional("street2"),
        city: fields.text("city").trim().to_owned(),
        state: fields.optional("state"),
        postal_code: fields.optional("postal_code"),
        country: fields.text("country").to_owned(),
        phone: fields.optional("phone"),
    }
}

pub async fn add(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let user = visit.person()?.user_id;
    match accounts::add_address(&visit.ctx, user, input(&fields), fields.is_on("make_default")).await {
        Ok(_) => Ok(see_other(&format!("{LIST}?notice=changed"))),
        Err(error) => Ok(form(frame, None, fields, Complaints::about(error.into())?).refused()),
    }
}

pub async fn edit(visit: Visit, frame: Frame, Path(id): Path<AddressId>) -> Result<Response, Problem> {
    let user = accounts::get_user(&visit.ctx, visit.person()?.user_id).await?;
    let found = user.addresses.into_iter().find(|address| address.address_id == id);
    let address = found.ok_or(accounts::Error::AddressNotFound { address: id })?;
    let fields = Fields::of([
        ("label", address.label.unwrap_or_default()),
        ("street", address.street),
        ("street2", address.street2.unwrap_or_default()),
        ("city", address.city),
        ("state", address.state.unwrap_or_default()),
        ("postal_code", address.postal_code.unwrap_or_default()),
        ("country", address.country),
        ("phone", address.phone.unwrap_or_default()),
    ]);
    Ok(form(frame, Some(id), fields, Complaints::default()).into_response())
}

pub async fn change(
    visit: Visit,
    frame: Frame,
    Path(id): Path<AddressId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let user = visit.person()?.user_id;
    if let Err(error) = accounts::change_address(&visit.ctx, user, id, input(&fields)).await {
        return Ok(form(frame, Some(id), fields, Complaints::about(error.into())?).refused());
    }
    if fields.is_on("make_default") {
        accounts::set_default_address(&visit.ctx, user, id).await?;
    }
    Ok(see_other(&format!("{LIST}?notice=changed")))
}

pub async fn make_default(visit: Visit, Path(id): Path<AddressId>, Form(_): Form) -> Result<Response, Problem> {
    accounts::set_default_address(&visit.ctx, visit.person()?.user_id, id).await?;
    Ok(see_other(&format!("{LIST}?notice=changed")))
}

pub async fn remove(visit: Visit, Path(id): Path<AddressId>, Form(_): Form) -> Result<Response, Problem> {
    match accounts::remove_address(&visit.ctx, visit.person()?.user_id, id).await {
        Ok(_) | Err(accounts::Error::AddressNotFound { .. }) => Ok(see_other(&format!("{LIST}?notice=removed"))),
        Err(error) => Err(error.into()),
    }
}
