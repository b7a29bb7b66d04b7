//! The account at a glance.

use askama::Template;
use merkato::{
    PageRequest,
    accounts::{self, Address},
    orders, wallets,
};

use super::orders::OrderRow;
use crate::{
    http::{Problem, Visit},
    web::{Frame, Html, shop::checkout::in_a_line, words},
};

const ORDERS_SHOWN: usize = 3;

#[derive(Template)]
#[template(path = "shop/account/overview.html")]
pub struct Overview {
    frame: Frame,
    greeting: String,
    email: String,
    orders: Vec<OrderRow>,
    address: Option<String>,
    credit: Option<String>,
}

pub async fn show(visit: Visit, frame: Frame) -> Result<Html<Overview>, Problem> {
    let user_id = visit.person()?.user_id;
    let page = PageRequest { limit: ORDERS_SHOWN, cursor: None };
    let user = async { accounts::get_user(&visit.ctx, user_id).await.map_err(Problem::from) };
    let listed =
        async { orders::list_orders_of_user(&visit.ctx, user_id, None, None, page).await.map_err(Problem::from) };
    let wallet = async { wallets::get_wallet(&visit.ctx, user_id).await.map_err(Problem::from) };
    let (user, listed, wallet) = futures::try_join!(user, listed, wallet)?;
    let default = |address: &&Address| Some(address.address_id) == user.default_address_id;
    Ok(Html(Overview {
        frame,
        greeting: user.first_name.clone().map_or_else(|| "Your account".into(), |name| format!("Hello, {name}")),
        address: user.addresses.iter().find(default).map(in_a_line),
        credit: wallet.currency.map(|currency| words::money(wallet.balance, &currency)),
        email: user.email.unwrap_or_default(),
        orders: listed.rows.into_iter().map(OrderRow::from).collect(),
    }))
}
