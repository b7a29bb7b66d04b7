//! Who has an account. What a user may do is said from the shell alone.

use merkato::{
    accounts::{self, Role, User, UserEntry, UserStatus},
    id::UserId,
    orders::{self, UserOrder},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::http::{
    Json, Path, Problem, Query, Visit, Who,
    conditional::Tagged,
    v1::{auth::RoleView, me::Me, orders::OrderStatusView},
    wire::{Day, Listing, Money, Paging, Time, mirror},
};

mirror! {
    /// Whether a user may log in. One who was deleted is an id without a person.
    UserStatusView = UserStatus { Active, Suspended, Deleted }
}

/// A user as the list for staff shows it.
#[derive(Serialize, ToSchema)]
pub struct UserCard {
    pub id: Uuid,
    pub email: String,
    pub email_verified: bool,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub status: UserStatusView,
    pub role: RoleView,
    pub created_at: Time,
}

impl From<UserEntry> for UserCard {
    fn from(entry: UserEntry) -> Self {
        UserCard {
            id: entry.user_id.0,
            email: entry.email,
            email_verified: entry.email_verified,
            first_name: entry.first_name,
            last_name: entry.last_name,
            status: entry.status.into(),
            role: entry.role.into(),
            created_at: entry.created_at.into(),
        }
    }
}

/// A user as staff sees it.
#[derive(Serialize, ToSchema)]
pub struct StaffUser {
    #[serde(flatten)]
    pub user: Me,
    pub status: UserStatusView,
    pub last_login_at: Option<Time>,
}

fn tagged(user: User) -> Tagged<Json<StaffUser>> {
    let revision = user.revision;
    let (status, last_login_at) = (user.status.into(), user.last_login_at.map(Time));
    Tagged { revision, view: Json(StaffUser { status, last_login_at, user: user.into() }) }
}

/// Users, newest first
#[utoipa::path(get, path = "/v1/admin/users", tag = "admin: users", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<UserCard>), (status = 304, description = "As the client has it")))]
pub async fn list_users(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<UserCard>>, Problem> {
    let found = accounts::list_users(&visit.ctx, visit.page(&paging)?).await?;
    Ok(Json(visit.listed(found.rows, found.next, UserCard::from)))
}

/// A user
#[utoipa::path(get, path = "/v1/admin/users/{id}", tag = "admin: users", params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The user", body = StaffUser), (status = 304, description = "As the client has it")))]
pub async fn get_user(visit: Visit, Path(id): Path<UserId>) -> Result<Tagged<Json<StaffUser>>, Problem> {
    Ok(tagged(accounts::get_user(&visit.ctx, id).await?))
}

/// An order as the list of its user shows it.
#[derive(Serialize, ToSchema)]
pub struct UserOrderCard {
    pub id: Uuid,
    pub order_number: String,
    pub date: Day,
    pub status: OrderStatusView,
    pub total: Money,
    /// Pieces, over all lines.
    pub item_count: i64,
    pub first_item_name: String,
    pub first_item_image: Option<String>,
}

impl From<UserOrder> for UserOrderCard {
    fn from(order: UserOrder) -> Self {
        UserOrderCard {
            id: order.order_id.0,
            total: Money::new(order.total, &order.currency),
            order_number: order.order_number,
            date: order.order_date.into(),
            status: order.status.into(),
            item_count: order.item_count,
            first_item_name: order.first_item_name,
            first_item_image: order.first_item_image,
        }
    }
}

/// Which orders of a user.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UserOrdersQuery {
    /// The first day.
    #[param(inline)]
    from: Option<Day>,
    /// The last day.
    #[param(inline)]
    to: Option<Day>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// A user's orders, newest first
#[utoipa::path(get, path = "/v1/admin/users/{id}/orders", tag = "admin: users",
    params(("id" = Uuid, Path, description = "The user"), UserOrdersQuery),
    responses((status = 200, description = "A page of them", body = Listing<UserOrderCard>), (status = 304, description = "As the client has it")))]
pub async fn list_orders_of_user(
    visit: Visit,
    Path(id): Path<UserId>,
    Query(query): Query<UserOrdersQuery>,
) -> Result<Json<Listing<UserOrderCard>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let day = |day: Option<Day>| day.map(|Day(date)| date);
    let found = orders::list_orders_of_user(&visit.ctx, id, day(query.from), day(query.to), page).await?;
    Ok(Json(visit.listing(found, UserOrderCard::from)))
}

/// Customers are anybody's of the staff; colleagues are an admin's.
///
/// RACE: the user may become staff right after this look. Whoever makes someone staff sees that the account is suspended.
pub(crate) async fn check_rank(visit: &Visit, id: UserId) -> Result<(), Problem> {
    let user = accounts::get_user(&visit.ctx, id).await?;
    let is_admin = matches!(&visit.who, Who::Person { actor, .. } if actor.role >= Role::Admin);
    if user.role > Role::Customer && !is_admin {
        return Err(Problem::new("forbidden", "only an admin decides about the staff"));
    }
    // Whoever is erased stays so.
    if user.status == UserStatus::Deleted {
        return Err(accounts::Error::UserNotFound { user: id }.into());
    }
    Ok(())
}

/// Keep a user out, at once: every session ends
#[utoipa::path(post, path = "/v1/admin/users/{id}/suspend", tag = "admin: users", params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The user as it is now", body = StaffUser)))]
pub async fn suspend(visit: Visit, Path(id): Path<UserId>) -> Result<Tagged<Json<StaffUser>>, Problem> {
    check_rank(&visit, id).await?;
    Ok(tagged(accounts::suspend(&visit.ctx, id).await?))
}

/// Let a user log in again
#[utoipa::path(post, path = "/v1/admin/users/{id}/reinstate", tag = "admin: users", params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The user as it is now", body = StaffUser)))]
pub async fn reinstate(visit: Visit, Path(id): Path<UserId>) -> Result<Tagged<Json<StaffUser>>, Problem> {
    check_rank(&visit, id).await?;
    Ok(tagged(accounts::reinstate(&visit.ctx, id).await?))
}
