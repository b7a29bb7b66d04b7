//! The office's desk, as a browser sees it.

pub mod goods;
pub mod orders;
pub mod people;
pub mod rules;
pub mod stock;

use merkato::accounts::Role;
use reqwest::Response;
use widerow_testing::Target;

use crate::{admin::Office, world::World};

/// A page without its pictures, uncompressed.
const PAGE_BYTES_MAX: usize = 100 * 1024;

/// What is typed into a form.
pub type Typed<'t> = &'t [(&'t str, &'t str)];

/// Somebody of the staff before a browser.
pub struct Clerk {
    pub office: Office,
}

/// What a browser was answered.
pub struct Seen {
    pub status: u16,
    pub location: String,
    pub html: String,
}

impl Seen {
    pub async fn of(response: Response) -> Self {
        let status = response.status().as_u16();
        let location = response.headers().get("location").map(|value| value.to_str().expect("text").to_owned());
        let html = response.text().await.expect("a body");
        Seen { status, location: location.unwrap_or_default(), html }
    }

    /// Asserts that it says this.
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.html.contains(text), "it does not say {text:?}: {} {}", self.status, self.html);
        self
    }

    pub fn does_not_say(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "it says {text:?}: {}", self.html);
        self
    }

    /// The value of the first hidden field of this name.
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let at = self.html.find(&start).unwrap_or_else(|| panic!("no field {name}: {}", self.html)) + start.len();
        self.html[at..].split('"').next().expect("a value").to_owned()
    }

    /// Asserts that it is a whole page: one heading, a title, light, and nothing inline.
    pub fn is_a_page(&self, title: &str) -> &Self {
        assert_eq!(self.status, 200, "{title}: {}", self.html);
        self.is_sound();
        let found = self.html.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).expect("a title");
        assert!(found.starts_with(title), "{found:?} does not begin with {title:?}");
        self
    }

    fn is_sound(&self) {
        assert_eq!(self.html.matches("<h1").count(), 1, "one heading: {}", self.html);
        assert!(self.html.len() < PAGE_BYTES_MAX, "{} bytes", self.html.len());
        for inline in [" style=", "<style", " onclick", " onsubmit", "javascript:", "<script>"] {
            assert!(!self.html.contains(inline), "{inline}: {}", self.html);
        }
    }

    /// Asserts that a form was refused: the page again, and its title says so.
    pub fn is_refused(&self) -> &Self {
        assert_eq!(self.status, 422, "{}", self.html);
        self.is_sound();
        self.says("<title>Error: ").says("role=\"alert\"")
    }

    /// Asserts that a form was done, and where one is sent to.
    pub fn leads_to(&self, path: &str) -> &Self {
        assert_eq!((self.status, self.location.as_str()), (303, path), "{}", self.html);
        self
    }
}

impl Clerk {
    pub async fn come(target: &Target) -> Self {
        Clerk { office: Office::open(target).await }
    }

    pub fn world(&self) -> &World {
        &self.office.world
    }

    pub async fn see(&self, path: &str) -> Seen {
        self.see_as(&self.office.token, path).await
    }

    pub async fn see_as(&self, token: &str, path: &str) -> Seen {
        let request = self.world().get(path).header("cookie", format!("merkato_session={token}"));
        Seen::of(request.header("accept", "text/html").send().await.expect("an answer")).await
    }

    /// Sends a form with the token of the page that it stands on.
    pub async fn send(&self, page: &Seen, path: &str, fields: Typed<'_>) -> Seen {
        let csrf = page.hidden("csrf");
        self.send_with(&csrf, path, fields).await
    }

    pub async fn send_with(&self, csrf: &str, path: &str, fields: Typed<'_>) -> Seen {
        let all: Vec<_> = [("csrf", csrf)].into_iter().chain(fields.iter().copied()).collect();
        let request = self.world().request("POST", path).form(&all);
        let request = request.header("cookie", format!("merkato_session={}", self.office.token));
        let request = request.header("origin", format!("http://{}", self.world().address));
        Seen::of(request.send().await.expect("an answer")).await
    }

    pub async fn session(&self, role: Role) -> String {
        self.world().session(&self.world().ctx, role).await
    }
}
