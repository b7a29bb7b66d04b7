//! Who can log in, who has bought, and what they keep in their carts.

use std::sync::Arc;

use merkato::{
    Context,
    accounts::{self, AddressInput, NewUser, Profile, Role},
    carts::{self, ItemSnapshot, Shopper},
    context::SystemChance,
    id::UserId,
};
use rust_decimal::Decimal;
use widerow::{Timestamp, time::ManualClock};

use super::Writing;
use crate::demo::{
    ADMIN, CLERK, CUSTOMER,
    furniture::{Customer, Home, PastLine, SavedCart},
};

/// Whose ids are known.
#[derive(Default)]
pub(super) struct People {
    pub(super) ada: Option<UserId>,
    pub(super) customers: Vec<UserId>,
}

impl Writing {
    pub(super) async fn customer(&self, n: usize) -> anyhow::Result<usize> {
        let Customer { email, first_name, last_name, home, registered_at, .. } = &self.made.customers[n];
        let ctx = &in_the_past(&self.ctx, *registered_at);
        let user = match accounts::find_by_email(ctx, email).await? {
            Some(known) => known.user_id,
            None => {
                let new = new_user((email, &nobody_knows(ctx)), (first_name, last_name));
                crate::cli::create_user(ctx, new, Role::Customer).await?.user_id
            }
        };
        if accounts::list_addresses(ctx, user).await?.is_empty() {
            accounts::add_address(ctx, user, address("Home", home), true).await?;
        }
        Ok(1)
    }

    pub(super) async fn people(&self, ada: UserId) -> anyhow::Result<People> {
        let mut customers = Vec::new();
        for customer in &self.made.customers {
            let found = accounts::find_by_email(&self.ctx, &customer.email).await?;
            customers.extend(found.map(|found| found.user_id));
        }
        Ok(People { ada: Some(ada), customers })
    }

    /// The first are Ada's.
    pub(super) async fn carts(&self, n: usize) -> anyhow::Result<usize> {
        let (user, saved) = match n.checked_sub(1) {
            None => (self.people.ada, &self.made.adas_carts),
            Some(n) => (self.people.customers.get(n).copied(), &self.made.customers[n].carts),
        };
        let Some(user) = user else { return Ok(0) };
        let known = carts::list_carts(&self.ctx, user).await?;
        for cart in saved.iter().filter(|cart| known.iter().all(|known| known.cart_name != cart.name)) {
            let entry = carts::create_cart(&self.ctx, user, cart.name).await?;
            let items = self.items(cart);
            if !items.is_empty() {
                carts::add_lines(&self.ctx, &Shopper::User(user), entry.cart_id, &items).await?;
            }
        }
        Ok(0)
    }

    fn items(&self, cart: &SavedCart) -> Vec<(ItemSnapshot, i64)> {
        let item = |(n, line): (usize, &PastLine)| {
            let product = &self.made.products[line.product];
            let was = (product.price * Decimal::new(9, 1)).round_dp(1);
            let snapshot = ItemSnapshot {
                product_id: product.product_id,
                name: product.name.clone(),
                image_url: product.thumbnail_url.clone(),
                unit_price: if n == 0 && cart.first_was_cheaper { was } else { product.price },
                currency: product.currency.clone(),
                options: line.options.clone(),
            };
            (snapshot, i64::from(line.units))
        };
        cart.lines.iter().enumerate().map(item).collect()
    }
}

/// Those whose passwords are told; who Ada is.
pub(super) async fn staff_and_ada(ctx: &Context) -> anyhow::Result<UserId> {
    user(ctx, ADMIN, ("Robin", "Keller"), Role::Admin).await?;
    user(ctx, CLERK, ("Sascha", "Lindner"), Role::Staff).await?;
    let ada = user(ctx, CUSTOMER, ("Ada", "Vogel"), Role::Customer).await?;
    if accounts::list_addresses(ctx, ada).await?.is_empty() {
        accounts::add_address(ctx, ada, address("Home", &adas_home()), true).await?;
        let work = Home { street: "Speicherkai 4".into(), city: "Berlin", postal_code: "10999", country: "DE" };
        accounts::add_address(ctx, ada, address("Work", &work), false).await?;
    }
    Ok(ada)
}

pub(super) async fn user(ctx: &Context, login: (&str, &str), name: (&str, &str), role: Role) -> anyhow::Result<UserId> {
    if let Some(known) = accounts::find_by_email(ctx, login.0).await? {
        // A run that was stopped before the address was vouched for.
        if !known.email_verified {
            accounts::set_password(ctx, known.user_id, login.1).await?;
        }
        return Ok(accounts::set_role(ctx, known.user_id, role).await?.user_id);
    }
    Ok(crate::cli::create_user(ctx, new_user(login, name), role).await?.user_id)
}

fn new_user((email, password): (&str, &str), (first, last): (&str, &str)) -> NewUser {
    let profile = Profile { first_name: Some(first.into()), last_name: Some(last.into()), ..Profile::default() };
    NewUser { email: email.into(), password: password.into(), profile }
}

/// The same shop at another time. Whoever registers there has a password that nobody knows: its hash may be cheap, and would be
/// made anew if anybody ever logged in with it.
pub(super) fn in_the_past(ctx: &Context, at: Timestamp) -> Context {
    let mut settings = (*ctx.settings).clone();
    (settings.accounts.passwords.memory_kib, settings.accounts.passwords.passes) = (8, 1);
    settings.accounts.passwords.lanes = 1;
    Context::new(ctx.store.clone(), settings, Arc::new(ManualClock::at(at)), Arc::new(SystemChance))
}

fn nobody_knows(ctx: &Context) -> String {
    ctx.random::<24>().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn adas_home() -> Home {
    Home { street: "Marktplatz 1".into(), city: "Berlin", postal_code: "10115", country: "DE" }
}

fn address(label: &str, home: &Home) -> AddressInput {
    AddressInput {
        label: Some(label.into()),
        street: home.street.clone(),
        street2: None,
        city: home.city.into(),
        state: None,
        postal_code: Some(home.postal_code.into()),
        country: home.country.into(),
        phone: None,
    }
}
