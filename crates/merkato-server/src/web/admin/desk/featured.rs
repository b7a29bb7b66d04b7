//! The lists of the front page: which products stand in them, in which order, under which badge.

use askama::Template;
use axum::response::Response;
use merkato::{
    catalog::{self, Featured, Product, ProductStatus},
    id::ProductId,
    limits,
};

use super::{
    forms::{self, Forms},
    products,
    said::{self, State},
};
use crate::{
    http::{Path, Problem, Visit},
    web::{Fields, Form, Frame, Html, pictures, see_other, words},
};

/// The lists that the front page shows, with what they are called.
const LISTS: [(&str, &str); 3] = [("homepage", "Featured"), ("deals", "Deals"), ("new_arrivals", "New arrivals")];
const FORM: &str = "featured";

/// What a list is called; its own name, where the front page does not show it.
pub fn called(list: &str) -> &str {
    LISTS.iter().find(|(name, _)| *name == list).map_or(list, |(_, called)| called)
}

pub struct Line {
    id: String,
    name: String,
    picture: Option<String>,
    price: String,
    state: State,
    is_shown: bool,
    position: String,
    badge: String,
    removed: bool,
}

#[derive(Template)]
#[template(path = "admin/featured.html")]
pub struct Shown {
    frame: Frame,
    forms: Forms,
    list: String,
    title: String,
    tabs: [(&'static str, &'static str); 3],
    lines: Vec<Line>,
}

pub async fn begin() -> Response {
    see_other(&format!("/admin/featured/{}", LISTS[0].0))
}

pub async fn show(visit: Visit, frame: Frame, Path(list): Path<String>) -> Result<Html<Shown>, Problem> {
    Ok(Html(page(&visit, frame, list, Forms::new(&visit)).await?))
}

async fn page(visit: &Visit, frame: Frame, list: String, forms: Forms) -> Result<Shown, Problem> {
    let placed = catalog::list_placed(&visit.ctx, &list).await?;
    let typed = forms.is_refused(FORM);
    let line = |(index, product): (usize, Product)| {
        let id = product.product_id.to_string();
        let badge = product.featured.get(&list).and_then(|place| place.badge.clone()).unwrap_or_default();
        let own = |name: &str| forms.text(FORM, &format!("{name}.{id}")).to_owned();
        Line {
            picture: pictures::own(product.thumbnail_url.as_deref()),
            price: words::money(product.price, &product.currency),
            state: said::product(product.status),
            is_shown: product.status == ProductStatus::Active,
            position: if typed { own("position") } else { (index + 1).to_string() },
            badge: if typed { own("badge") } else { badge },
            removed: typed && !own("remove").is_empty(),
            name: product.name,
            id,
        }
    };
    let lines = placed.into_iter().enumerate().map(line).collect();
    Ok(Shown { title: called(&list).to_owned(), tabs: LISTS, lines, list, forms, frame })
}

pub async fn change(
    visit: Visit,
    frame: Frame,
    Path(list): Path<String>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    match changed(&visit, &list, &fields).await {
        Ok(()) => Ok(see_other(&format!("/admin/featured/{list}?notice=featured-saved"))),
        Err(problem) => {
            let forms = Forms::new(&visit).refused(FORM, fields, problem)?;
            Ok(forms::refused(page(&visit, frame, list, forms).await?))
        }
    }
}

/// A place that somebody gave a product: the smaller, the earlier.
struct Place {
    position: i64,
    featured: Featured,
}

async fn changed(visit: &Visit, list: &str, fields: &Fields) -> Result<(), Problem> {
    let mut places = Vec::new();
    for (id, position) in fields.with_prefix("position.").take(limits::FEATURED_MAX) {
        if fields.is_on(&format!("remove.{id}")) {
            continue;
        }
        let field = format!("/position.{id}");
        let position = position.trim().parse().map_err(|_| Problem::field("invalid", field, "a number is wanted"))?;
        let product_id = id.parse().map_err(|_| Problem::new("bad_form", "a place is no product's"))?;
        let badge = fields.optional(&format!("badge.{id}"));
        places.push(Place { position, featured: Featured { product_id, badge } });
    }
    // Of two with one number the one that was there first stays first.
    places.sort_by_key(|place| place.position);
    if let Some(named) = fields.optional("add") {
        let product_id = named_product(visit, &named).await?;
        if places.iter().any(|place| place.featured.product_id == product_id) {
            return Err(Problem::field("invalid", "/add", "it is in the list already"));
        }
        let at = match fields.optional("add_position") {
            Some(_) => fields.parse::<usize>("add_position", "a number")?.saturating_sub(1).min(places.len()),
            None => places.len(),
        };
        let featured = Featured { product_id, badge: fields.optional("add_badge") };
        places.insert(at, Place { position: 0, featured });
    }
    let featured: Vec<Featured> = places.into_iter().map(|place| place.featured).collect();
    Ok(catalog::set_featured(&visit.ctx, list, &featured).await?)
}

/// The product of an id, an address in the shop, or the one whose name is typed out.
async fn named_product(visit: &Visit, text: &str) -> Result<ProductId, Problem> {
    let text = text.rsplit('/').next().unwrap_or(text);
    if let Some(id) = products::find(visit, text).await? {
        return Ok(id);
    }
    let refused = |detail| Problem::field("invalid", "/add", detail);
    let named = catalog::list_items_by_name(&visit.ctx, text, merkato::PageRequest::first(2)).await?;
    match named.rows.as_slice() {
        [] => Err(refused("there is no such product: write its id, its address in the shop, or its whole name")),
        [one] => Ok(one.product_id),
        _ => Err(refused("several products have this name: write the id or the address of the one you mean")),
    }
}
