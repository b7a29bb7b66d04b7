//! The way in: registering, verifying an address, logging in and out, a new password.
//!
//! Whether an address has an account is not told here, neither by words nor by time: what the API does, these do
//! (`http::entry`). A link in a letter shows a page with a button, because programs that look through letters follow links.

mod login;
mod register;
mod reset;

pub(super) use register::{ConfirmPage, LinkQuery, plainly};

use crate::{
    http::access::Access::{Anyone, Person},
    web::pages::pages,
};

pages! {
    get "/login" (Anyone) => login::show;
    post "/login" (Anyone) .login.secret_answer.secret_body => login::submit;
    post "/logout" (Person) .secret_answer => login::leave;
    get "/register" (Anyone) => register::show;
    post "/register" (Anyone) .login.secret_body => register::submit;
    get "/register/sent" (Anyone) => register::sent;
    get "/verify" (Anyone) => register::verify_page;
    post "/verify" (Anyone) .login => register::verify;
    post "/verify/letter" (Anyone) .login => register::send_again;
    get "/password-reset" (Anyone) => reset::show;
    post "/password-reset" (Anyone) .login => reset::ask;
    get "/password-reset/sent" (Anyone) => reset::sent;
    post "/password-reset/confirm" (Anyone) .login.secret_body => reset::set;
}
