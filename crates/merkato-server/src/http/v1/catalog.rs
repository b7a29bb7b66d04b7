//! The catalog as shoppers see it: what is not on sale is not there.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    catalog::{self, Because, Card, CategoryEntry, FeaturedProduct, NamedItem, PrefixEntry, Product, ProductStatus},
    id::{CategoryId, ProductId},
    limits,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::http::{
    Json, Path, Problem, Query, Visit,
    conditional::Tagged,
    wire::{Listing, Money, Paging, Time},
};

/// Everything about one product.
#[derive(Serialize, ToSchema)]
pub struct ProductView {
    pub id: Uuid,
    #[schema(example = "Walnut desk lamp")]
    pub name: String,
    #[schema(example = "walnut-desk-lamp")]
    pub slug: String,
    pub description: Option<String>,
    pub category_id: Uuid,
    pub category_name: String,
    /// The categories above its own, from the root.
    pub category_path: Vec<Uuid>,
    pub brand: Option<String>,
    pub price: Money,
    pub compare_at_price: Option<Money>,
    pub sku: Option<String>,
    pub weight_grams: Option<i32>,
    /// In millimetres.
    pub dimensions: BTreeMap<String, i32>,
    pub image_urls: Vec<String>,
    pub thumbnail_url: Option<String>,
    pub attributes: BTreeMap<String, String>,
    pub tags: BTreeSet<String>,
    /// Of 1 to 5, as a decimal number.
    #[schema(example = "4.5")]
    pub rating_average: Option<String>,
    pub rating_count: i32,
    pub in_stock: bool,
    pub created_at: Time,
    pub updated_at: Time,
}

impl From<Product> for ProductView {
    fn from(product: Product) -> Self {
        ProductView {
            id: product.product_id.0,
            price: Money::new(product.price, &product.currency),
            compare_at_price: product.compare_at_price.map(|price| Money::new(price, &product.currency)),
            name: product.name,
            slug: product.slug,
            description: product.description,
            category_id: product.category_id.0,
            category_name: product.category_name,
            category_path: product.category_path.into_iter().map(|id| id.0).collect(),
            brand: product.brand,
            sku: product.sku,
            weight_grams: product.weight_grams,
            dimensions: product.dimensions,
            image_urls: product.image_urls,
            thumbnail_url: product.thumbnail_url,
            attributes: product.attributes,
            tags: product.tags,
            rating_average: product.rating_average.map(|rating| rating.to_string()),
            rating_count: product.rating_count,
            in_stock: product.in_stock,
            created_at: product.created_at.into(),
            updated_at: product.updated_at.into(),
        }
    }
}

/// A product as a list shows it.
#[derive(Serialize, ToSchema)]
pub struct ProductCard {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Money,
    pub compare_at_price: Option<Money>,
    pub brand: Option<String>,
    #[schema(example = "4.5")]
    pub rating_average: Option<String>,
    pub rating_count: i32,
    pub in_stock: bool,
}

impl From<CategoryEntry> for ProductCard {
    fn from(entry: CategoryEntry) -> Self {
        ProductCard {
            id: entry.product_id.0,
            price: Money::new(entry.price, &entry.currency),
            compare_at_price: entry.compare_at_price.map(|price| Money::new(price, &entry.currency)),
            name: entry.name,
            slug: entry.slug,
            thumbnail_url: entry.thumbnail_url,
            brand: entry.brand,
            rating_average: entry.rating_average.map(|rating| rating.to_string()),
            rating_count: entry.rating_count,
            in_stock: entry.in_stock,
        }
    }
}

/// A product that was found by words of its name.
#[derive(Serialize, ToSchema)]
pub struct Suggestion {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Money,
    pub category_name: String,
}

impl From<PrefixEntry> for Suggestion {
    fn from(entry: PrefixEntry) -> Self {
        Suggestion {
            id: entry.product_id.0,
            price: Money::new(entry.price, &entry.currency),
            name: entry.name,
            slug: entry.slug,
            thumbnail_url: entry.thumbnail_url,
            category_name: entry.category_name,
        }
    }
}

/// A product that was found by its whole name.
#[derive(Serialize, ToSchema)]
pub struct Item {
    pub id: Uuid,
    pub name: String,
    pub description: Option<String>,
    pub price: Money,
}

impl From<NamedItem> for Item {
    fn from(item: NamedItem) -> Self {
        Item {
            id: item.product_id.0,
            price: Money::new(item.price, &item.currency),
            name: item.name,
            description: item.description,
        }
    }
}

/// A product of a list for the front page.
#[derive(Serialize, ToSchema)]
pub struct FeaturedView {
    pub id: Uuid,
    pub position: i32,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Money,
    pub compare_at_price: Option<Money>,
    #[schema(example = "Sale")]
    pub badge: Option<String>,
}

impl From<FeaturedProduct> for FeaturedView {
    fn from(featured: FeaturedProduct) -> Self {
        FeaturedView {
            id: featured.product_id.0,
            position: featured.position,
            price: Money::new(featured.price, &featured.currency),
            compare_at_price: featured.compare_at_price.map(|price| Money::new(price, &featured.currency)),
            name: featured.name,
            slug: featured.slug,
            thumbnail_url: featured.thumbnail_url,
            badge: featured.badge,
        }
    }
}

/// A product that goes with another.
#[derive(Serialize, ToSchema)]
pub struct RelatedView {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Money,
    pub compare_at_price: Option<Money>,
    pub in_stock: bool,
    pub because: Why,
}

/// Why a product is shown beside another.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    BoughtTogether,
    SameBrand,
    SameCategory,
}

impl From<catalog::Related> for RelatedView {
    fn from(related: catalog::Related) -> Self {
        let Card { product_id, name, slug, thumbnail_url, price, compare_at_price, currency, in_stock } = related.card;
        RelatedView {
            id: product_id.0,
            name,
            slug,
            thumbnail_url,
            price: Money::new(price, &currency),
            compare_at_price: compare_at_price.map(|price| Money::new(price, &currency)),
            in_stock,
            because: match related.because {
                Because::BoughtTogether => Why::BoughtTogether,
                Because::SameBrand => Why::SameBrand,
                Because::SameCategory => Why::SameCategory,
            },
        }
    }
}

/// A category as a list shows it.
#[derive(Serialize, ToSchema)]
pub struct CategoryCard {
    pub id: Uuid,
    #[schema(example = "Lamps")]
    pub name: String,
    #[schema(example = "lamps")]
    pub slug: String,
}

/// A category, with those above it.
#[derive(Serialize, ToSchema)]
pub struct CategoryView {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub parent_id: Option<Uuid>,
    /// From the root to this one.
    pub breadcrumbs: Vec<CategoryCard>,
}

impl From<catalog::Category> for CategoryCard {
    fn from(category: catalog::Category) -> Self {
        CategoryCard { id: category.category_id.0, name: category.name, slug: category.slug }
    }
}

impl From<catalog::Subcategory> for CategoryCard {
    fn from(category: catalog::Subcategory) -> Self {
        CategoryCard { id: category.category_id.0, name: category.name, slug: category.slug }
    }
}

/// A draft is nobody's business: to shoppers there is no such product.
fn on_sale(product: Product) -> Result<Tagged<Json<ProductView>>, Problem> {
    if product.status != ProductStatus::Active {
        return Err(catalog::Error::ProductNotFound { product: product.product_id }.into());
    }
    Ok(Tagged { revision: product.revision, view: Json(product.into()) })
}

/// A product
#[utoipa::path(get, path = "/v1/products/{id}", tag = "catalog", params(("id" = Uuid, Path, description = "The product")),
    responses((status = 200, description = "The product", body = ProductView), (status = 304, description = "As the client has it")))]
pub async fn get_product(visit: Visit, Path(id): Path<ProductId>) -> Result<Tagged<Json<ProductView>>, Problem> {
    on_sale(catalog::get_product(&visit.ctx, id).await?)
}

/// A product by its address
///
/// An old address still leads to it, until another product takes it.
#[utoipa::path(get, path = "/v1/products/by-slug/{slug}", tag = "catalog",
    params(("slug" = String, Path, description = "As walnut-desk-lamp")),
    responses((status = 200, description = "The product", body = ProductView), (status = 304, description = "As the client has it")))]
pub async fn get_product_by_slug(visit: Visit, Path(slug): Path<String>) -> Result<Tagged<Json<ProductView>>, Problem> {
    on_sale(catalog::get_product_by_slug(&visit.ctx, &slug).await?)
}

/// How many of a list that has no second page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Most {
    /// How many at most.
    #[param(minimum = 1, maximum = 24)]
    limit: Option<usize>,
}

/// Products that go with one, the best first
#[utoipa::path(get, path = "/v1/products/{id}/related", tag = "catalog",
    params(("id" = Uuid, Path, description = "The product"), Most),
    responses((status = 200, description = "At most 24", body = Listing<RelatedView>), (status = 304, description = "As the client has it")))]
pub async fn list_related(
    visit: Visit,
    Path(id): Path<ProductId>,
    Query(most): Query<Most>,
) -> Result<Json<Listing<RelatedView>>, Problem> {
    let limit = most.limit.unwrap_or(limits::RELATED_MAX);
    Ok(Json(Listing::whole(catalog::list_related(&visit.ctx, id, limit).await?)))
}

/// Which categories.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CategoriesQuery {
    /// Right below this one; those at the top without it.
    parent_id: Option<Uuid>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// Categories right below one, or at the top, by name
#[utoipa::path(get, path = "/v1/categories", tag = "catalog", params(CategoriesQuery),
    responses((status = 200, description = "A page of them", body = Listing<CategoryCard>), (status = 304, description = "As the client has it")))]
pub async fn list_categories(
    visit: Visit,
    Query(query): Query<CategoriesQuery>,
) -> Result<Json<Listing<CategoryCard>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = catalog::list_subcategories(&visit.ctx, query.parent_id.map(CategoryId), page).await?;
    Ok(Json(visit.listed(found.rows, found.next, CategoryCard::from)))
}

/// A category
#[utoipa::path(get, path = "/v1/categories/{id}", tag = "catalog", params(("id" = Uuid, Path, description = "The category")),
    responses((status = 200, description = "The category", body = CategoryView), (status = 304, description = "As the client has it")))]
pub async fn get_category(visit: Visit, Path(id): Path<CategoryId>) -> Result<Json<CategoryView>, Problem> {
    let category = catalog::get_category(&visit.ctx, id).await?;
    let above = catalog::breadcrumbs(&visit.ctx, &category).await?;
    Ok(Json(CategoryView {
        id: category.category_id.0,
        name: category.name,
        slug: category.slug,
        parent_id: category.parent_id.map(|id| id.0),
        breadcrumbs: above.into_iter().map(CategoryCard::from).collect(),
    }))
}

/// The order of a category's products.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    PriceAsc,
    PriceDesc,
    NameAsc,
    Newest,
    Popular,
}

/// Which products of a category.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CategoryQuery {
    /// `popular` if it is not said.
    #[param(inline)]
    sort: Option<SortOrder>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// The products of a category and of all below it
#[utoipa::path(get, path = "/v1/categories/{id}/products", tag = "catalog",
    params(("id" = Uuid, Path, description = "The category"), CategoryQuery),
    responses((status = 200, description = "A page of them", body = Listing<ProductCard>), (status = 304, description = "As the client has it")))]
pub async fn list_category_products(
    visit: Visit,
    Path(id): Path<CategoryId>,
    Query(query): Query<CategoryQuery>,
) -> Result<Json<Listing<ProductCard>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let order = match query.sort.unwrap_or(SortOrder::Popular) {
        SortOrder::PriceAsc => catalog::SortOrder::PriceAsc,
        SortOrder::PriceDesc => catalog::SortOrder::PriceDesc,
        SortOrder::NameAsc => catalog::SortOrder::NameAsc,
        SortOrder::Newest => catalog::SortOrder::Newest,
        SortOrder::Popular => catalog::SortOrder::Popular,
    };
    let found = catalog::list_category(&visit.ctx, id, order, page).await?;
    Ok(Json(visit.listing(found, ProductCard::from)))
}

/// What is looked for: exactly one of `prefix` and `q`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// What was typed so far, at least two characters: a word of the name begins so.
    #[param(min_length = 2, example = "lam")]
    prefix: Option<String>,
    /// Words, at least one of two characters: the name has all of them, in any order. The last may be the beginning of one.
    #[param(min_length = 2, max_length = 600)]
    q: Option<String>,
    /// How many: with `prefix` at most 20, and 20 if it is not said; with `q` 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same `q`.
    cursor: Option<String>,
}

/// Products by the words of their names
///
/// As someone types, by `prefix`: one short list. By all of several words, with `q`: page by page. A page of `q` may be shorter than
/// asked for, or empty, where many names have each of the words and few have all: `next_cursor` tells whether there are more.
#[utoipa::path(get, path = "/v1/search", tag = "catalog", params(SearchQuery),
    responses((status = 200, description = "A page of them", body = Listing<Suggestion>), (status = 304, description = "As the client has it")))]
pub async fn search(visit: Visit, Query(query): Query<SearchQuery>) -> Result<Json<Listing<Suggestion>>, Problem> {
    match query {
        SearchQuery { prefix: Some(prefix), q: None, limit, cursor: None } => {
            let limit = limit.unwrap_or(limits::SUGGESTIONS_MAX);
            Ok(Json(Listing::whole(catalog::suggest(&visit.ctx, &prefix, limit).await?)))
        }
        SearchQuery { prefix: Some(_), q: None, cursor: Some(_), .. } => {
            Err(Problem::field("bad_cursor", "/cursor", "a search by prefix has no second page"))
        }
        SearchQuery { prefix: None, q: Some(q), limit, cursor } => {
            let page = visit.page(&Paging { limit, cursor })?;
            let found = catalog::search_text(&visit.ctx, &q, page).await?;
            Ok(Json(visit.listed(found.rows, found.next, Suggestion::from)))
        }
        _ => Err(Problem::field("bad_query", "/q", "exactly one of prefix and q is wanted")),
    }
}

/// Which name.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ItemsQuery {
    /// The whole name.
    #[param(min_length = 1, max_length = 600)]
    name: String,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// Products with exactly this name
#[utoipa::path(get, path = "/v1/items", tag = "catalog", params(ItemsQuery),
    responses((status = 200, description = "A page of them", body = Listing<Item>), (status = 304, description = "As the client has it")))]
pub async fn list_items(visit: Visit, Query(query): Query<ItemsQuery>) -> Result<Json<Listing<Item>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = catalog::list_items_by_name(&visit.ctx, &query.name, page).await?;
    Ok(Json(visit.listing(found, Item::from)))
}

/// A list for the front page
#[utoipa::path(get, path = "/v1/featured/{feature_type}", tag = "catalog",
    params(("feature_type" = String, Path, description = "As homepage, deals or new_arrivals"), Paging),
    responses((status = 200, description = "A page of it", body = Listing<FeaturedView>), (status = 304, description = "As the client has it")))]
pub async fn list_featured(
    visit: Visit,
    Path(feature_type): Path<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<FeaturedView>>, Problem> {
    let page = visit.page(&paging)?;
    let found = catalog::list_featured(&visit.ctx, &feature_type, page).await?;
    Ok(Json(visit.listing(found, FeaturedView::from)))
}
