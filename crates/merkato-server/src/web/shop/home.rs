//! The front of the shop: one large picture, what is recommended, what is reduced, what is new, and where to go on.

use askama::Template;
use axum::extract::State;
use merkato::{
    PageRequest,
    catalog::{self, ProductStatus},
};

use super::catalog::{card::Card, meta};
use crate::{
    http::{App, Problem, Visit},
    pictures::Picture,
    web::{Frame, Html, pictures::Pictures},
};

#[derive(Template)]
#[template(path = "shop/home.html")]
pub struct Home {
    frame: Frame,
    hero: String,
    rows: Vec<Row>,
    aisles: Vec<Aisle>,
}

/// Some products under a heading.
struct Row {
    id: &'static str,
    heading: &'static str,
    cards: Vec<Card>,
}

/// A category with its picture.
struct Aisle {
    path: String,
    name: String,
    picture: String,
}

/// Products of a row: two rows of four, four of two.
const CARDS: usize = 8;
/// The picture at the top.
const HERO: Picture = Picture::Hero { palette: 0, seed: 26 };

pub async fn show(State(app): State<App>, visit: Visit, frame: Frame) -> Result<Html<Home>, Problem> {
    let pictures = Pictures::of(&app);
    let list = |name: &'static str| {
        let ctx = &visit.ctx;
        async move {
            let found = catalog::list_featured(ctx, name, PageRequest::first(CARDS)).await?;
            let cards = found.rows.into_iter().map(|featured| Card::of_featured(pictures, featured));
            Ok::<_, Problem>(cards.collect::<Vec<_>>())
        }
    };
    let (featured, deals, new) = tokio::try_join!(list("homepage"), list("deals"), list("new_arrivals"))?;
    let new = if new.is_empty() { newest(&visit, pictures).await? } else { new };
    let rows = [
        Row { id: "featured", heading: "Featured", cards: featured },
        Row { id: "deals", heading: "Deals", cards: deals },
        Row { id: "new", heading: "New arrivals", cards: new },
    ];
    let aisle = |category: &catalog::Subcategory| Aisle {
        path: format!("/c/{}", category.slug),
        name: category.name.clone(),
        picture: Picture::of_category(&category.name).path(),
    };
    Ok(Html(Home {
        hero: HERO.path(),
        rows: rows.into_iter().filter(|row| !row.cards.is_empty()).collect(),
        aisles: frame.categories.iter().map(aisle).collect(),
        frame,
    }))
}

/// What came last, where nobody has said what is new.
async fn newest(visit: &Visit, pictures: Pictures<'_>) -> Result<Vec<Card>, Problem> {
    let found = catalog::list_products_by_age(&visit.ctx, PageRequest::first(4 * CARDS)).await?;
    let shown = found.rows.into_iter().filter(|entry| entry.status == ProductStatus::Active);
    Ok(shown.take(CARDS).map(|entry| Card::of_new(pictures, entry)).collect())
}
