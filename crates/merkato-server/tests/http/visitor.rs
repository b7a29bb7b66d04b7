//! Somebody with a browser, as far as forms and cookies go: no script, no pictures.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};

use merkato::accounts::Role;
use reqwest::{RequestBuilder, Response};

use crate::world::{PASSWORD, World};

pub struct Visitor<'w> {
    world: &'w World,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cookies: BTreeMap<String, String>,
    token: String,
}

/// An answer, as far as a person cares.
#[derive(Clone, Debug)]
pub struct Page {
    pub status: u16,
    /// Where it sends one on to; empty where it does not.
    pub location: String,
    pub body: String,
}

impl<'w> Visitor<'w> {
    pub fn new(world: &'w World) -> Self {
        Visitor { world, state: Mutex::default() }
    }

    /// Somebody who has an account and has logged in by the page; with the address.
    pub async fn person(world: &'w World) -> (Self, String) {
        let (_, email) = world.user(&world.ctx, Role::Customer).await;
        let visitor = Visitor::new(world);
        visitor.log_in(&email).await;
        (visitor, email)
    }

    pub async fn log_in(&self, email: &str) {
        self.get("/login").await;
        let entered = self.post("/login", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!((entered.status, entered.location.as_str()), (303, "/account"), "{}", entered.body);
        self.get("/account").await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    pub fn cookie(&self, name: &str) -> String {
        self.state().cookies.get(name).cloned().unwrap_or_default()
    }

    pub fn set_cookie(&self, name: &str, value: &str) {
        self.state().cookies.insert(name.to_owned(), value.to_owned());
    }

    fn with_cookies(&self, request: RequestBuilder) -> RequestBuilder {
        let pairs: Vec<String> = self.state().cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header("accept", "text/html").header("origin", format!("http://{}", self.world.address));
        if pairs.is_empty() { request } else { request.header("cookie", pairs.join("; ")) }
    }

    async fn take(&self, answer: Response) -> Page {
        for line in answer.headers().get_all("set-cookie") {
            let line = line.to_str().expect("text");
            let (name, rest) = line.split_once('=').expect("a cookie");
            let value = rest.split(';').next().unwrap_or_default();
            if rest.contains("Max-Age=0") {
                self.state().cookies.remove(name);
            } else {
                self.state().cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = answer.headers().get("location").map_or("", |path| path.to_str().expect("text")).to_owned();
        let page = Page { status: answer.status().as_u16(), location, body: answer.text().await.expect("a body") };
        if let Some(token) = page.hidden("csrf") {
            self.state().token = token;
        }
        page
    }

    pub async fn get(&self, path: &str) -> Page {
        let answer = self.with_cookies(self.world.get(path)).send().await.expect("an answer");
        self.take(answer).await
    }

    /// Sends a form with the token of the page that was seen last.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.state().token.clone();
        let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("csrf", token.as_str())]).collect();
        self.send(path, &fields).await
    }

    /// Sends a form as it is.
    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let request = self.world.request("POST", path).header("content-type", "application/x-www-form-urlencoded");
        let body = fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let request = request.body(body.collect::<Vec<_>>().join("&"));
        let answer = self.with_cookies(request).send().await.expect("an answer");
        self.take(answer).await
    }

    /// Follows where a form has sent one on to.
    pub async fn follow(&self, page: &Page) -> Page {
        assert_eq!(page.status, 303, "{}", page.body);
        let path = page.location.strip_prefix(&format!("http://{}", self.world.address)).unwrap_or(&page.location);
        self.get(path).await
    }
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

impl Page {
    /// What a hidden field says.
    pub fn hidden(&self, name: &str) -> Option<String> {
        let (_, rest) = self.body.split_once(&format!("type=\"hidden\" name=\"{name}\" value=\""))?;
        rest.split('"').next().map(str::to_owned)
    }

    /// A page that is whole: a title, one heading, light.
    pub fn assert_whole(&self, path: &str) {
        assert_eq!(self.status, 200, "{path}: {}", self.body);
        assert!(self.body.contains("<title>") && !self.body.contains("<title></title>"), "{path}");
        assert_eq!(self.body.matches("<h1").count(), 1, "{path}");
        assert!(self.body.len() < 100 * 1024, "{path} has {} bytes", self.body.len());
        for inline in [" style=", " onclick=", " onsubmit=", "<script>", "javascript:"] {
            assert!(!self.body.contains(inline), "{path} has {inline}");
        }
    }

    pub fn assert_says(&self, text: &str) {
        assert!(self.body.contains(text), "{text:?} is not in {}", self.body);
    }

    pub fn assert_refused(&self, text: &str) {
        assert_eq!(self.status, 422, "{}", self.body);
        self.assert_says(text);
        self.assert_says("<title>Error: ");
    }
}
