//! What surrounds every page: the shop's name, who is there, what is in the cart.

use axum::extract::{FromRef, FromRequestParts};
use http::request::Parts;
use merkato::{
    PageRequest,
    accounts::{self, Role},
    carts,
    catalog::{self, Subcategory},
};

use super::{assets, form, words};
use crate::http::{App, Problem, Visit, Who};

/// Who is logged in, as the head of a page shows it.
#[derive(Clone, Debug)]
pub struct Person {
    pub name: String,
    pub email: String,
    pub role: Role,
}

/// Categories that every page of the shop has a link to.
const CATEGORIES_MAX: usize = 12;

/// Given to every template as `frame`.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub shop: String,
    pub tagline: String,
    /// Where the visitor is, with the query.
    pub path: String,
    /// The site's address, as `https://shop.example`, for links that others follow.
    pub site: String,
    /// The categories at the top, in the shop.
    pub categories: Vec<Subcategory>,
    /// Whether it was looked up who is there. A page about an error does not ask the store.
    pub known: bool,
    pub person: Option<Person>,
    /// Pieces in the cart.
    pub pieces: u32,
    /// The token of forms, for a field of the name `csrf`.
    pub csrf: String,
    /// What has just been done, after a redirect with `?notice=…`.
    pub notice: Option<&'static str>,
}

impl Frame {
    /// Of a page that is shown without asking the store for anything.
    pub fn bare(app: &App, path: &str) -> Self {
        let pages = &app.settings().pages;
        Frame { shop: pages.name.clone(), tagline: pages.tagline.clone(), path: path.to_owned(), ..Frame::default() }
    }

    /// The address of a stylesheet or a script, which changes with its content.
    pub fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    pub fn is_staff(&self) -> bool {
        self.person.as_ref().is_some_and(|person| person.role >= Role::Staff)
    }

    pub fn is_admin(&self) -> bool {
        self.person.as_ref().is_some_and(|person| person.role >= Role::Admin)
    }

    /// Whether the visitor is at this very page.
    pub fn is_page(&self, path: &str) -> bool {
        self.path.split('?').next().unwrap_or_default() == path
    }

    /// Whether a link of the navigation leads to where the visitor is, or to what is above it.
    pub fn is_at(&self, path: &str) -> bool {
        let here = self.path.split('?').next().unwrap_or_default();
        here == path || here.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether the visitor looks at this category.
    pub fn is_in(&self, category: &Subcategory) -> bool {
        let here = self.path.split('?').next().unwrap_or_default();
        here.strip_prefix("/c/") == Some(category.slug.as_str())
    }

    async fn load(app: &App, visit: &Visit, path: &str) -> Result<Self, Problem> {
        let mut frame = Frame { known: true, notice: words::notice(path), ..Frame::bare(app, path) };
        let person = async {
            let Who::Person { actor, .. } = &visit.who else { return Ok::<_, Problem>(None) };
            let Some(user) = accounts::find_user(&visit.ctx, actor.user_id).await? else { return Ok(None) };
            let name = words::full_name(user.first_name, user.last_name);
            Ok(Some(Person { name, email: user.email.unwrap_or_default(), role: actor.role }))
        };
        let pieces = async {
            let Ok(shopper) = visit.shopper() else { return 0 };
            // A cart that cannot be shown is no reason to show nothing.
            carts::show_cart(&visit.ctx, &shopper, carts::Which::Active).await.map_or(0, |cart| cart.item_count)
        };
        let categories = async {
            if frame.is_at("/admin") {
                return Vec::new();
            }
            // As with the cart: a page without them is better than none.
            let first = PageRequest::first(CATEGORIES_MAX);
            catalog::list_subcategories(&visit.ctx, None, first).await.map_or(Vec::new(), |page| page.rows)
        };
        let (person, pieces, categories) = tokio::join!(person, pieces, categories);
        (frame.person, frame.pieces, frame.categories) = (person?, pieces, categories);
        Ok(frame)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Frame
where
    App: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let app = App::from_ref(state);
        let Some(visit) = parts.extensions.get::<Visit>() else {
            return Err(Problem::internal("a route of no shop has no frame"));
        };
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let csrf = form::token(visit, &parts.extensions);
        let site = app.site(&parts.headers, &parts.uri);
        Ok(Frame { csrf, site, ..Frame::load(&app, visit, path).await? })
    }
}
