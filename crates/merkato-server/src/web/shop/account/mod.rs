//! What a person sees of the account: orders, addresses, carts, sessions, the profile.

mod addresses;
mod carts;
pub(super) mod order;
mod orders;
mod overview;
mod profile;
mod sessions;

use crate::{http::access::Access::Person, web::pages::pages};

pages! {
    get "/account" (Person) => overview::show;
    get "/account/orders" (Person) => orders::list;
    get "/account/orders/{id}" (Person) => orders::show;
    post "/account/orders/{id}/cancel" (Person) => orders::cancel;
    get "/account/addresses" (Person) => addresses::list;
    get "/account/addresses/new" (Person) => addresses::new;
    post "/account/addresses/new" (Person) => addresses::add;
    get "/account/addresses/{id}" (Person) => addresses::edit;
    post "/account/addresses/{id}" (Person) => addresses::change;
    post "/account/addresses/{id}/default" (Person) => addresses::make_default;
    post "/account/addresses/{id}/remove" (Person) => addresses::remove;
    get "/account/carts" (Person) => carts::list;
    get "/account/sessions" (Person) => sessions::list;
    post "/account/sessions/end-all" (Person) .secret_answer => sessions::end_all;
    post "/account/sessions/{id}/end" (Person) => sessions::end;
    get "/account/profile" (Person) => profile::show;
    post "/account/profile" (Person) => profile::change;
    post "/account/password" (Person) .login.secret_answer.secret_body => profile::change_password;
    post "/account/email" (Person) .login.secret_body => profile::change_email;
    get "/account/email" (Person) => profile::confirm_page;
    post "/account/email/confirm" (Person) .login => profile::confirm_email;
}
