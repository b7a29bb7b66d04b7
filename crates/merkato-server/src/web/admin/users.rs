//! Who works for the shop, and what they may do. Admins only: a role gives power to others.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    Context, PageRequest,
    accounts::{self, Role, StaffEntry, User, UserStatus},
    id::UserId,
    limits,
};

use super::paging::{PageQuery, Pager};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Complaints, Fields, Form, Frame, Html, see_other, words},
};

/// Somebody of the staff.
struct Row {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    role_value: &'static str,
    is_suspended: bool,
    is_self: bool,
    last_login: String,
}

/// The roles, as the form has them.
const ROLES: [(&str, &str, &str); 3] = [
    ("customer", "Customer", "Sees the shop, and nothing of the office."),
    ("staff", "Staff", "Works in the office: orders, products, stock, customers."),
    ("admin", "Admin", "Also makes keys and decides who is staff."),
];

fn role_of(text: &str) -> Option<Role> {
    [Role::Customer, Role::Staff, Role::Admin].into_iter().find(|role| role.as_str() == text)
}

fn called(role: Role) -> &'static str {
    ROLES.iter().find(|(value, ..)| *value == role.as_str()).map_or("", |(_, name, _)| name)
}

#[derive(Template)]
#[template(path = "admin/users.html")]
pub struct Users {
    frame: Frame,
    rows: Vec<Row>,
    pager: Pager,
    fields: Fields,
    complaints: Complaints,
    roles: [(&'static str, &'static str, &'static str); 3],
}

pub async fn list(frame: Frame, visit: Visit, Query(query): Query<PageQuery>) -> Result<Html<Users>, Problem> {
    Ok(Html(page(frame, &visit, &query, Fields::of([("role", "staff")]), Complaints::default()).await?))
}

async fn page(
    frame: Frame,
    visit: &Visit,
    query: &PageQuery,
    fields: Fields,
    complaints: Complaints,
) -> Result<Users, Problem> {
    // A program with a key gives nobody a role, and has no business with who has one.
    let own = visit.person()?.user_id;
    let found = accounts::list_staff(&visit.ctx, query.request(visit)?).await?;
    let pager = query.links(visit, "/admin/users", found.next.as_ref());
    let row = |entry: StaffEntry| Row {
        id: entry.user_id.to_string(),
        name: name(entry.first_name, entry.last_name),
        email: entry.email,
        role: called(entry.role),
        role_value: entry.role.as_str(),
        is_suspended: entry.status == UserStatus::Suspended,
        is_self: own == entry.user_id,
        last_login: entry.last_login_at.map_or("never".into(), words::moment),
    };
    Ok(Users { frame, rows: found.rows.into_iter().map(row).collect(), pager, fields, complaints, roles: ROLES })
}

fn name(first: Option<String>, last: Option<String>) -> String {
    [first, last].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Gives a role to whoever has an e-mail address.
pub async fn appoint(frame: Frame, visit: Visit, Form(fields): Form) -> Result<Response, Problem> {
    visit.person()?;
    let role = role(&fields)?;
    let email = fields.text("email").trim();
    // An address that is none belongs to nobody, as one that nobody has.
    let found = match accounts::find_by_email(&visit.ctx, email).await {
        Ok(found) => found,
        Err(accounts::Error::Invalid(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let Some(found) = found else {
        let why = "Nobody has an account with this address. They must register first.";
        return refused(frame, &visit, fields, Complaints::field("email", why)).await;
    };
    match set(frame.clone(), &visit, found.user_id, role, fields.is_on("sure")).await {
        Err(problem) if problem.code == UNVERIFIED => {
            let why = "This address is not verified: anybody can have registered with it. They must follow the link in their letter first.";
            refused(frame, &visit, fields, Complaints::field("email", why)).await
        }
        answer => answer,
    }
}

const UNVERIFIED: &str = "email_not_verified";

async fn refused(frame: Frame, visit: &Visit, fields: Fields, why: Complaints) -> Result<Response, Problem> {
    let page = page(frame, visit, &PageQuery::default(), fields, why).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, Html(page)).into_response())
}

/// Gives another role to somebody of the list.
pub async fn change(
    frame: Frame,
    visit: Visit,
    Path(id): Path<UserId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let role = role(&fields)?;
    match set(frame.clone(), &visit, id, role, fields.is_on("sure")).await {
        Err(problem) if problem.code == UNVERIFIED => {
            let why = "Their address is not verified, so they may not do more than before.";
            refused(frame, &visit, Fields::of([("role", "staff")]), Complaints::one(why)).await
        }
        answer => answer,
    }
}

fn role(fields: &Fields) -> Result<Role, Problem> {
    role_of(fields.text("role")).ok_or_else(|| Problem::field("invalid", "/role", "there is no such role"))
}

#[derive(Template)]
#[template(path = "admin/users_sure.html")]
pub struct Sure {
    frame: Frame,
    id: String,
    email: String,
    role: &'static str,
    role_value: &'static str,
    is_self: bool,
    is_last: bool,
}

/// What cannot be taken back from these pages is asked about first: an admin who gives up the own role, and the last admin.
///
/// RACE: two admins who take the role from each other at the same moment are both let do it. The shell can always make an
/// admin.
async fn set(frame: Frame, visit: &Visit, id: UserId, role: Role, is_sure: bool) -> Result<Response, Problem> {
    // A program with a key gives nobody a role: it could give itself more than its scopes.
    let own = visit.person()?.user_id;
    let user = accounts::get_user(&visit.ctx, id).await?;
    if user.role == Role::Admin && role < Role::Admin && !is_sure {
        let is_last = !has_other_admin(&visit.ctx, &user).await?;
        if is_last || id == own {
            let page = Sure {
                frame,
                id: id.to_string(),
                email: user.email.unwrap_or_default(),
                role: called(role),
                role_value: role.as_str(),
                is_self: id == own,
                is_last,
            };
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, Html(page)).into_response());
        }
    }
    accounts::set_role(&visit.ctx, id, role).await?;
    // Whoever is no admin any more does not see the list.
    let next =
        if id == own && role < Role::Admin { "/?notice=role-changed" } else { "/admin/users?notice=role-changed" };
    Ok(see_other(next))
}

/// Whether somebody else is an admin who can log in, as far as one page of the staff tells.
async fn has_other_admin(ctx: &Context, user: &User) -> Result<bool, Problem> {
    let staff = accounts::list_staff(ctx, PageRequest::first(limits::PAGE_ROWS_MAX)).await?;
    let is_other = |entry: &StaffEntry| {
        entry.user_id != user.user_id && entry.role == Role::Admin && entry.status == UserStatus::Active
    };
    Ok(staff.rows.iter().any(is_other))
}
