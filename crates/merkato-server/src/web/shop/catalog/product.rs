//! A product: what it looks like, what it costs, whether it can be had, and the form that puts it into the cart.

use askama::Template;
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::HeaderMap;
use merkato::{
    catalog::{self, Because, Choice, Product, ProductStatus},
    id::ProductId,
    inventory, text,
};

use super::{
    card::{Card, percent_less},
    meta::{self, Crumb},
    stock::Stock,
};
use crate::{
    http::{App, Path, Problem, Visit, conditional::HeadOnly, v1::views},
    web::{Frame, Html, next, pictures::Pictures, words},
};

#[derive(Template)]
#[template(path = "shop/product.html")]
struct Page {
    frame: Frame,
    product: Product,
    crumbs: Vec<Crumb>,
    pictures: Vec<String>,
    price: String,
    was: Option<String>,
    less: Option<String>,
    rating: Option<String>,
    choices: Vec<Choice>,
    stock: Stock,
    paragraphs: Vec<String>,
    /// What is told of it, name by name.
    details: Vec<(String, String)>,
    together: Vec<Card>,
    related: Vec<Card>,
    description: String,
    canonical: String,
    shared_picture: String,
    data: String,
    crumbs_data: String,
}

/// Products beside this one.
const RELATED: usize = 8;
/// Bytes of the description, and of one detail, that a page shows. Pages stay light whatever was written.
const DESCRIPTION_BYTES_MAX: usize = 16_000;
const DETAIL_BYTES_MAX: usize = 400;
/// Bytes that search engines show.
const BRIEF_BYTES_MAX: usize = 200;

pub async fn show(
    State(app): State<App>,
    visit: Visit,
    frame: Frame,
    head: Option<Extension<HeadOnly>>,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let product = find(&visit, &name).await?;
    if product.status != ProductStatus::Active {
        return Err(catalog::Error::ProductNotFound { product: product.product_id }.into());
    }
    if product.slug != name {
        return Ok(next::moved(&format!("/p/{}", product.slug)));
    }
    let (ctx, id) = (&visit.ctx, product.product_id);
    let (above, levels, beside) = tokio::try_join!(
        async {
            let Some(category) = catalog::find_category(ctx, product.category_id).await? else { return Ok(Vec::new()) };
            Ok::<_, Problem>(catalog::breadcrumbs(ctx, &category).await?)
        },
        async { Ok(inventory::get_stock(ctx, id).await?) },
        async { Ok(catalog::list_related(ctx, id, RELATED).await?) },
    )?;
    // Who asks for the head alone sees nothing.
    if head.is_none()
        && !is_prefetch(&headers)
        && let Err(problem) = views::count(&visit, id).await
    {
        tracing::warn!(code = problem.code, "a view could not be counted");
    }
    let stock = Stock::of(&levels, product.in_stock);
    let shown = Pictures::of(&app);
    let pictures = shown.all(&product.image_urls, product.thumbnail_url.as_deref(), &product.name);
    let (together, related): (Vec<_>, Vec<_>) =
        beside.into_iter().partition(|related| related.because == Because::BoughtTogether);
    let cards = |list: Vec<catalog::Related>| list.into_iter().map(|one| Card::of_related(shown, one.card)).collect();
    let crumbs: Vec<Crumb> = above.iter().map(Crumb::of).collect();
    let path = format!("/p/{}", product.slug);
    let here = Crumb { name: product.name.clone(), path: path.clone() };
    let crumbs_data = meta::breadcrumbs(&frame.site, &[crumbs.as_slice(), &[here]].concat());
    let was = product.compare_at_price.filter(|was| *was > product.price);
    let description = match &product.description {
        Some(text) if !text.trim().is_empty() => meta::brief(text, BRIEF_BYTES_MAX),
        _ => format!("{} at {}", product.name, frame.shop),
    };
    let choices = product.choices();
    let page = Page {
        price: words::money(product.price, &product.currency),
        was: was.map(|was| words::money(was, &product.currency)),
        less: was.and_then(|was| percent_less(product.price, was)),
        rating: rating(&product),
        paragraphs: paragraphs(product.description.as_deref().unwrap_or_default()),
        details: details(&product, &choices),
        together: cards(together),
        related: cards(related),
        canonical: meta::absolute(&frame.site, &path),
        shared_picture: pictures.first().map_or(String::new(), |path| meta::absolute(&frame.site, path)),
        data: meta::product(&frame.site, &product, &description, &pictures, &stock),
        crumbs_data,
        choices,
        description,
        stock,
        pictures,
        crumbs,
        product,
        frame,
    };
    Ok(Html(page).into_response())
}

/// By what the address has: a slug, also an old one, or an id.
async fn find(visit: &Visit, name: &str) -> Result<Product, Problem> {
    if let Ok(id) = name.parse::<ProductId>() {
        return Ok(catalog::get_product(&visit.ctx, id).await?);
    }
    match catalog::get_product_by_slug(&visit.ctx, name).await {
        // What cannot be a slug is none.
        Err(catalog::Error::Invalid(_)) => Err(Problem::new("not_found", "")),
        found => Ok(found?),
    }
}

/// A browser that loads a page in case somebody will look at it.
fn is_prefetch(headers: &HeaderMap) -> bool {
    let purpose = headers.get("sec-purpose").or_else(|| headers.get("purpose"));
    purpose.is_some_and(|purpose| purpose.as_bytes().starts_with(b"prefetch"))
}

/// `4.4 of 5, from 57 ratings`.
fn rating(product: &Product) -> Option<String> {
    let count = u64::try_from(product.rating_count).ok().filter(|count| *count > 0)?;
    let average = product.rating_average?.round_dp(1).normalize();
    Some(format!("{average} of 5, from {}", words::count(count, "rating", "ratings")))
}

fn paragraphs(description: &str) -> Vec<String> {
    let shown = text::cut(description, DESCRIPTION_BYTES_MAX);
    let mut paragraphs: Vec<String> =
        shown.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if shown.len() < description.len()
        && let Some(last) = paragraphs.last_mut()
    {
        last.push('…');
    }
    paragraphs
}

/// The attributes that are no choices, and what is measured.
fn details(product: &Product, choices: &[Choice]) -> Vec<(String, String)> {
    let mut details: Vec<(String, String)> = Vec::new();
    let told = product.attributes.iter().filter(|(name, _)| !choices.iter().any(|choice| choice.name == **name));
    details.extend(told.map(|(name, value)| (name.clone(), meta::brief(value, DETAIL_BYTES_MAX))));
    details.extend(product.dimensions.iter().map(|(name, side)| (capital(name), words::length(*side))));
    details.extend(product.weight_grams.map(|grams| ("Weight".to_owned(), words::weight(grams))));
    details.extend(product.sku.clone().map(|sku| ("Article number".to_owned(), sku)));
    details
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
