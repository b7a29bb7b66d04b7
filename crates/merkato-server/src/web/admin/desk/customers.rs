//! The customers, and one of them.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    accounts::{self, Address, Role, User, UserEntry, UserStatus},
    carts,
    id::UserId,
    keys::Scope::OrdersRead,
    orders::{self, UserOrder},
};
use serde::Deserialize;

use super::{
    may,
    pager::{Pager, Turn},
    said::{self, State},
};
use crate::{
    http::{Path, Problem, Query, Visit, v1::admin::users::check_rank},
    web::{Form, Frame, Html, see_other, shop::countries, words},
};

const PATH: &str = "/admin/customers";

#[derive(Deserialize)]
pub struct Filter {
    #[serde(default)]
    email: String,
}

pub struct Line {
    id: String,
    name: String,
    email: String,
    state: State,
    role: &'static str,
    verified: bool,
    since: String,
}

#[derive(Template)]
#[template(path = "admin/customers.html")]
pub struct Customers {
    frame: Frame,
    email: String,
    trouble: String,
    lines: Vec<Line>,
    pager: Pager,
}

pub async fn list(
    visit: Visit,
    frame: Frame,
    Query(filter): Query<Filter>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let email = filter.email.trim();
    let mut trouble = String::new();
    if !email.is_empty() {
        match accounts::find_by_email(&visit.ctx, email).await {
            Ok(Some(found)) => return Ok(see_other(&format!("{PATH}/{}", found.user_id))),
            Ok(None) => trouble = format!("Nobody has the e-mail address {email}."),
            Err(accounts::Error::Invalid(_)) => trouble = format!("{email} is not a whole e-mail address."),
            Err(error) => return Err(error.into()),
        }
    }
    let found = accounts::list_users(&visit.ctx, turn.page(&visit)?).await?;
    let pager = turn.pager(&visit, PATH, &[], found.next);
    let lines = found.rows.into_iter().map(Line::from).collect();
    Ok(Html(Customers { email: email.to_owned(), trouble, lines, pager, frame }).into_response())
}

impl From<UserEntry> for Line {
    fn from(entry: UserEntry) -> Self {
        Line {
            id: entry.user_id.to_string(),
            name: words::full_name(entry.first_name, entry.last_name),
            email: entry.email,
            state: said::user(entry.status),
            role: said::role(entry.role),
            verified: entry.email_verified,
            since: said::day(entry.created_at),
        }
    }
}

pub struct OrderLine {
    id: String,
    number: String,
    state: State,
    what: String,
    total: String,
    day: String,
}

pub struct Basket {
    name: String,
    active: bool,
    since: String,
}

#[derive(Template)]
#[template(path = "admin/customer.html")]
pub struct Shown {
    frame: Frame,
    id: String,
    name: String,
    email: String,
    verified: bool,
    phone: String,
    state: State,
    role: &'static str,
    since: String,
    seen: String,
    is_suspended: bool,
    /// Customers are anybody's of the staff; colleagues are an admin's.
    may_decide: bool,
    addresses: Vec<Vec<String>>,
    orders: Option<Vec<OrderLine>>,
    pager: Pager,
    baskets: Vec<Basket>,
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(id): Path<UserId>,
    Query(turn): Query<Turn>,
) -> Result<Html<Shown>, Problem> {
    let user = accounts::get_user(&visit.ctx, id).await?;
    let (orders, next) = match may(&visit, OrdersRead) {
        true => {
            let found = orders::list_orders_of_user(&visit.ctx, id, None, None, turn.page(&visit)?).await?;
            (Some(found.rows.into_iter().map(OrderLine::from).collect()), found.next)
        }
        false => (None, None),
    };
    let baskets = carts::list_carts(&visit.ctx, id).await?.into_iter();
    let baskets = baskets.map(|cart| Basket {
        name: cart.cart_name,
        active: cart.cart_is_active,
        since: said::day(cart.created_at),
    });
    let pager = turn.pager(&visit, &format!("{PATH}/{id}"), &[], next);
    let may_decide = user.role == Role::Customer || frame.is_admin();
    let User { first_name, last_name, email, phone, addresses, status, role, .. } = user;
    Ok(Html(Shown {
        id: id.to_string(),
        name: words::full_name(first_name, last_name),
        email: email.unwrap_or_default(),
        verified: user.email_verified,
        phone: phone.unwrap_or_default(),
        state: said::user(status),
        role: said::role(role),
        since: words::day(user.created_at),
        seen: user.last_login_at.map(said::moment).unwrap_or_default(),
        is_suspended: status == UserStatus::Suspended,
        may_decide,
        addresses: addresses.iter().map(postal).collect(),
        orders,
        pager,
        baskets: baskets.collect(),
        frame,
    }))
}

fn postal(address: &Address) -> Vec<String> {
    let town = [address.postal_code.as_deref(), Some(address.city.as_str())].into_iter().flatten().collect::<Vec<_>>();
    let lines = [
        address.label.clone(),
        Some(address.street.clone()),
        address.street2.clone(),
        Some(town.join(" ")),
        address.state.clone(),
        Some(countries::name(&address.country).to_owned()),
    ];
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect()
}

impl From<UserOrder> for OrderLine {
    fn from(order: UserOrder) -> Self {
        let more = order.item_count > 1;
        OrderLine {
            id: order.order_id.to_string(),
            state: said::order(order.status),
            total: words::money(order.total, &order.currency),
            day: said::day(order.order_date.start()),
            what: if more { format!("{} and more", order.first_item_name) } else { order.first_item_name },
            number: order.order_number,
        }
    }
}

pub async fn suspend(visit: Visit, Path(id): Path<UserId>, Form(_): Form) -> Result<Response, Problem> {
    check_rank(&visit, id).await?;
    accounts::suspend(&visit.ctx, id).await?;
    Ok(see_other(&format!("{PATH}/{id}?notice=suspended")))
}

pub async fn reinstate(visit: Visit, Path(id): Path<UserId>, Form(_): Form) -> Result<Response, Problem> {
    check_rank(&visit, id).await?;
    accounts::reinstate(&visit.ctx, id).await?;
    Ok(see_other(&format!("{PATH}/{id}?notice=reinstated")))
}
