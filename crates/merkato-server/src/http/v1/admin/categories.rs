//! Categories: made, renamed, moved, deleted when nothing is in them.

use axum::{http::StatusCode, response::Response};
use merkato::{
    catalog::{self, Category, CategoryChange, CategoryMember, NewCategory},
    id::CategoryId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{created, products::StaffProductStatus};
use crate::http::{
    FieldProblem, Json, Path, Problem, Query, Visit,
    conditional::{IfMatch, Tagged},
    operation::Operation,
    wire::{Listing, Paging, Time},
};

/// A category as editors see it.
#[derive(Serialize, ToSchema)]
pub struct StaffCategory {
    pub id: Uuid,
    #[schema(example = "Lamps")]
    pub name: String,
    #[schema(example = "lamps")]
    pub slug: String,
    pub parent_id: Option<Uuid>,
    /// The categories above it, from the root.
    pub path: Vec<Uuid>,
    pub created_at: Time,
    pub updated_at: Time,
}

fn tagged(category: Category) -> Tagged<Json<StaffCategory>> {
    let view = StaffCategory {
        id: category.category_id.0,
        name: category.name,
        slug: category.slug,
        parent_id: category.parent_id.map(|id| id.0),
        path: category.path.into_iter().map(|id| id.0).collect(),
        created_at: category.created_at.into(),
        updated_at: category.updated_at.into(),
    };
    Tagged { revision: category.revision, view: Json(view) }
}

/// A category to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoryBody {
    #[schema(example = "Lamps", min_length = 1, max_length = 200)]
    name: String,
    /// Made of the name where it is not given.
    #[schema(example = "lamps", max_length = 120, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    slug: Option<String>,
    /// At the top without one.
    parent_id: Option<Uuid>,
}

/// Make a category
#[utoipa::path(post, path = "/v1/admin/categories", tag = "admin: catalog", request_body = CategoryBody,
    responses((status = 201, description = "The category", body = StaffCategory,
        headers(("Location" = String, description = "Where it is"), ("ETag" = String, description = "For If-Match")))))]
pub async fn create_category(
    visit: Visit,
    operation: Operation,
    Json(body): Json<CategoryBody>,
) -> Result<Response, Problem> {
    let CategoryBody { name, slug, parent_id } = body;
    let id = CategoryId(operation.id);
    let new = NewCategory { category_id: Some(id), name, slug, parent_id: parent_id.map(CategoryId) };
    let category = match catalog::create_category(&visit.ctx, new).await {
        // An earlier try of this very request has made it.
        Err(catalog::Error::CategoryExists { .. }) if operation.may_be_known => {
            catalog::get_category(&visit.ctx, id).await?
        }
        made => made?,
    };
    Ok(created(&format!("/v1/admin/categories/{id}"), tagged(category)))
}

/// A category
#[utoipa::path(get, path = "/v1/admin/categories/{id}", tag = "admin: catalog",
    params(("id" = Uuid, Path, description = "The category")),
    responses((status = 200, description = "The category", body = StaffCategory), (status = 304, description = "As the client has it")))]
pub async fn get_category(visit: Visit, Path(id): Path<CategoryId>) -> Result<Tagged<Json<StaffCategory>>, Problem> {
    Ok(tagged(catalog::get_category(&visit.ctx, id).await?))
}

/// What is changed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoryNames {
    #[schema(example = "Desk lamps", min_length = 1, max_length = 200)]
    name: String,
    /// As it was where it is not given. The former one still leads to the category, until another takes it.
    #[schema(example = "desk-lamps", max_length = 120, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    slug: Option<String>,
}

/// Rename a category, and what its products say of it
#[utoipa::path(put, path = "/v1/admin/categories/{id}", tag = "admin: catalog", request_body = CategoryNames,
    params(("id" = Uuid, Path, description = "The category"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The category as it is now", body = StaffCategory,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn change_category(
    visit: Visit,
    Path(id): Path<CategoryId>,
    IfMatch(expected): IfMatch,
    Json(body): Json<CategoryNames>,
) -> Result<Tagged<Json<StaffCategory>>, Problem> {
    let change = CategoryChange { name: Some(body.name), slug: body.slug };
    Ok(tagged(catalog::change_category(&visit.ctx, id, expected, change).await?))
}

/// Where a category is to stand.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoryPlace {
    /// The category that it is to stand below; null: at the top.
    parent_id: Option<Uuid>,
}

/// Move a category, with all below it
///
/// The tree is seen before, or after, wherever it is asked. The products of all that is moved leave the lists of the categories that were
/// above it and come into the new ones one by one: most of them before the answer, the others soon after.
#[utoipa::path(post, path = "/v1/admin/categories/{id}/move", tag = "admin: catalog", request_body = CategoryPlace,
    params(("id" = Uuid, Path, description = "The category"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The category as it is now", body = StaffCategory,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn move_category(
    visit: Visit,
    Path(id): Path<CategoryId>,
    IfMatch(expected): IfMatch,
    Json(body): Json<CategoryPlace>,
) -> Result<Tagged<Json<StaffCategory>>, Problem> {
    let parent = body.parent_id.map(CategoryId);
    let moved = catalog::move_category(&visit.ctx, id, parent, expected).await;
    Ok(tagged(moved.map_err(|error| misplaced(error, id))?))
}

/// Why it cannot stand there is told of the field that says where.
fn misplaced(error: catalog::Error, moved: CategoryId) -> Problem {
    use catalog::Error;
    let about_place = match &error {
        Error::CategoryNotFound { category } => *category != moved,
        Error::CategoryCycle { .. } | Error::CategoryNameTaken { .. } | Error::TooDeep { .. } => true,
        _ => false,
    };
    let mut problem = Problem::from(error);
    if about_place {
        problem.errors = vec![FieldProblem { pointer: "/parent_id".into(), detail: problem.detail.clone() }];
    }
    problem
}

/// Delete a category that nothing is in
///
/// It has no products, archived ones included, and no categories below it. Where a product comes into it at the same moment, the
/// category is there again, as it was.
#[utoipa::path(delete, path = "/v1/admin/categories/{id}", tag = "admin: catalog",
    params(("id" = Uuid, Path, description = "The category"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 204, description = "It is gone")))]
pub async fn delete_category(
    visit: Visit,
    Path(id): Path<CategoryId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, Problem> {
    catalog::delete_category(&visit.ctx, id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A product of a category, for editors.
#[derive(Serialize, ToSchema)]
pub struct CategoryMemberView {
    pub id: Uuid,
    pub name: String,
    pub status: StaffProductStatus,
}

impl From<CategoryMember> for CategoryMemberView {
    fn from(member: CategoryMember) -> Self {
        CategoryMemberView { id: member.product_id.0, name: member.name, status: member.status.into() }
    }
}

/// The products whose own category this is, shown to shoppers or not
#[utoipa::path(get, path = "/v1/admin/categories/{id}/products", tag = "admin: catalog",
    params(("id" = Uuid, Path, description = "The category"), Paging),
    responses((status = 200, description = "A page of them", body = Listing<CategoryMemberView>), (status = 304, description = "As the client has it")))]
pub async fn list_products_of_category(
    visit: Visit,
    Path(id): Path<CategoryId>,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<CategoryMemberView>>, Problem> {
    let found = catalog::list_products_of_category(&visit.ctx, id, visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, CategoryMemberView::from)))
}
