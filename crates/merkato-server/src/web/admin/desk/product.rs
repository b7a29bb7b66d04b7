//! One product: made, edited, archived.

use askama::Template;
use axum::response::Response;
use merkato::{
    catalog::{self, Product},
    id::{CategoryId, ProductId},
    inventory,
    keys::Scope::InventoryRead,
};
use serde::Deserialize;

use super::{
    featured,
    forms::{self, Forms},
    may, product_form,
    said::{self, State},
    tree::{self, Branch},
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Fields, Form, Frame, Html, pictures, see_other, words},
};

/// Changes of the price on the page.
const PRICES_SHOWN: usize = 10;
const FORM: &str = "product";
/// Empty rows for further measurements and details.
const BLANK_ROWS: usize = 2;

/// What the page says of a product beside its form.
pub struct Known {
    id: String,
    name: String,
    slug: String,
    state: State,
    is_shown: bool,
    is_archived: bool,
    pictures: Vec<String>,
    popularity: i64,
    revision: i64,
    edited: String,
    featured: Vec<(String, i32, String)>,
    stock: Option<Vec<Level>>,
    /// When, what it was, what it came to be; the newest first.
    prices: Vec<(String, String, String)>,
}

pub struct Level {
    warehouse: String,
    quantity: i32,
    available: i32,
    low: bool,
}

#[derive(Template)]
#[template(path = "admin/product.html")]
pub struct Edited {
    frame: Frame,
    forms: Forms,
    known: Option<Known>,
    categories: Vec<Branch>,
    /// There are more categories than the list has.
    cut: bool,
    chosen: String,
    statuses: Vec<(&'static str, &'static str)>,
    dimensions: Vec<(String, String)>,
    attributes: Vec<(String, String)>,
}

/// The category that a new product begins in.
#[derive(Deserialize)]
pub struct Beginning {
    #[serde(default)]
    category: String,
}

pub async fn begin(visit: Visit, frame: Frame, Query(beginning): Query<Beginning>) -> Result<Html<Edited>, Problem> {
    let currency = visit.ctx.settings.orders.currency.code().to_owned();
    let fields = Fields::of([("category_id", beginning.category), ("currency", currency), ("status", "draft".into())]);
    let forms = Forms::new(&visit).with(FORM, fields);
    Ok(Html(page(&visit, frame, None, forms).await?))
}

pub async fn show(visit: Visit, frame: Frame, Path(id): Path<ProductId>) -> Result<Html<Edited>, Problem> {
    let product = catalog::get_product(&visit.ctx, id).await?;
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, Some(product), forms).await?))
}

async fn page(visit: &Visit, frame: Frame, product: Option<Product>, forms: Forms) -> Result<Edited, Problem> {
    let forms = match &product {
        Some(product) => forms.with(FORM, product_form::filled(product)),
        None => forms,
    };
    let (mut categories, all) = tree::whole(&visit.ctx).await?;
    let chosen = forms.text(FORM, "category_id").to_owned();
    // The one that is chosen can always be chosen again.
    if let Ok(id) = chosen.parse::<CategoryId>()
        && !categories.iter().any(|branch| branch.id == id)
        && let Some(category) = catalog::find_category(&visit.ctx, id).await?
    {
        categories.push(Branch { id, name: category.name, slug: category.slug, depth: 0, cut: false });
    }
    let rows = |left, right| {
        let mut pairs = forms.pairs(FORM, left, right);
        pairs.retain(|(name, value)| !name.is_empty() || !value.is_empty());
        pairs.extend(std::iter::repeat_n((String::new(), String::new()), BLANK_ROWS));
        pairs
    };
    let (dimensions, attributes) = (rows("dimension_name", "dimension_mm"), rows("attribute_name", "attribute_value"));
    let known = match product {
        Some(product) => Some(known(visit, product).await?),
        None => None,
    };
    let statuses = product_form::STATUSES.map(|status| (status.as_str(), said::product(status).word)).to_vec();
    Ok(Edited { frame, forms, known, categories, cut: !all, chosen, statuses, dimensions, attributes })
}

async fn known(visit: &Visit, product: Product) -> Result<Known, Problem> {
    let stock = match may(visit, InventoryRead) {
        true => Some(inventory::get_stock(&visit.ctx, product.product_id).await?),
        false => None,
    };
    let prices = catalog::price_history(&visit.ctx, product.product_id, None, PRICES_SHOWN).await?;
    let price = |step: catalog::PriceStep| {
        let change = step.change;
        let was = words::money(change.was, &change.was_currency);
        (said::moment(step.at), was, words::money(change.price, &change.currency))
    };
    let level = |level: inventory::WarehouseLevel| Level {
        low: level.low_stock_threshold > 0 && level.available() <= level.low_stock_threshold,
        quantity: level.quantity,
        available: level.available(),
        warehouse: level.warehouse_id,
    };
    let pictures = product.thumbnail_url.iter().chain(&product.image_urls);
    let mut pictures: Vec<_> = pictures.filter_map(|url| pictures::own(Some(url))).collect();
    pictures.dedup();
    let placed = product.featured.into_iter();
    Ok(Known {
        id: product.product_id.to_string(),
        state: said::product(product.status),
        is_shown: product.status == catalog::ProductStatus::Active,
        is_archived: product.status == catalog::ProductStatus::Archived,
        pictures,
        popularity: product.popularity,
        revision: product.revision,
        edited: said::moment(product.updated_at),
        featured: placed.map(|(list, place)| (list, place.position, place.badge.unwrap_or_default())).collect(),
        stock: stock.map(|stock| stock.warehouses.into_iter().map(level).collect()),
        prices: prices.steps.into_iter().map(price).collect(),
        name: product.name,
        slug: product.slug,
    })
}

/// A category or a slug that cannot be had is a field that is wrong, not a page that is missing.
fn about_field(error: catalog::Error) -> Problem {
    let field = match &error {
        catalog::Error::CategoryNotFound { .. } => "/category_id",
        catalog::Error::SlugTaken { .. } => "/slug",
        catalog::Error::TooManyOfName { .. } => "/name",
        _ => return error.into(),
    };
    Problem::field("invalid", field, error.to_string())
}

pub async fn create(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    match made(&visit, &fields).await {
        Ok(id) => Ok(see_other(&format!("/admin/products/{id}?notice=product-made"))),
        Err(problem) => {
            let forms = Forms::new(&visit).refused(FORM, fields, problem)?;
            Ok(forms::refused(page(&visit, frame, None, forms).await?))
        }
    }
}

async fn made(visit: &Visit, fields: &Fields) -> Result<ProductId, Problem> {
    let id = ProductId(forms::operation(fields)?);
    match catalog::create_product(&visit.ctx, product_form::read(fields)?.new_product(id)).await {
        // The same form was sent twice, and the first has made it.
        Ok(_) | Err(catalog::Error::ProductExists { .. }) => Ok(id),
        Err(error) => Err(about_field(error)),
    }
}

pub async fn change(
    visit: Visit,
    frame: Frame,
    Path(id): Path<ProductId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let problem = match changed(&visit, id, &fields).await {
        Ok(_) => return Ok(see_other(&format!("/admin/products/{id}?notice=changed"))),
        Err(problem) => problem,
    };
    let edited = problem.code == "edited_meanwhile";
    let product = catalog::get_product(&visit.ctx, id).await?;
    let differences = product_form::differences(&product, &fields);
    // ORDER: only who was told of the other's change may save over it; any other refusal leaves the edit on what it rests upon.
    let fields = if edited { resting_on(fields, product.revision) } else { fields };
    let mut forms = Forms::new(&visit).refused(FORM, fields, problem)?;
    if edited {
        let where_ = if differences.is_empty() {
            String::new()
        } else {
            format!(" It differs from yours in: {}.", differences.join(", "))
        };
        forms = forms.saying(format!(
            "Somebody else has changed this product since you opened it.{where_} What you typed is kept below. Save again to put it in place of theirs, or load the page anew to see theirs."
        ));
    }
    Ok(forms::refused(page(&visit, frame, Some(product), forms).await?))
}

fn resting_on(fields: Fields, revision: i64) -> Fields {
    let others = fields.with_prefix("").filter(|(name, _)| *name != "revision");
    let others = others.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Fields::of([("revision".to_owned(), revision.to_string())].into_iter().chain(others))
}

async fn changed(visit: &Visit, id: ProductId, fields: &Fields) -> Result<Product, Problem> {
    let change = product_form::read(fields)?.change();
    let revision = fields.parse("revision", "a number")?;
    catalog::change_product(&visit.ctx, id, Some(revision), change).await.map_err(about_field)
}

pub async fn archive(
    visit: Visit,
    frame: Frame,
    Path(id): Path<ProductId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let revision = fields.parse("revision", "a number")?;
    match catalog::archive_product(&visit.ctx, id, Some(revision)).await {
        Ok(_) => Ok(see_other(&format!("/admin/products/{id}?notice=archived"))),
        Err(error) => {
            let forms = Forms::new(&visit).refused("archive", fields, error.into())?;
            let product = catalog::get_product(&visit.ctx, id).await?;
            Ok(forms::refused(page(&visit, frame, Some(product), forms).await?))
        }
    }
}
