//! A walk through every page, for whoever has something to look at on each of them. What is wrong is gathered, so that one walk
//! tells of all pages.
//!
//! A page that no walk comes to is a fault, too: the lists of pages say which there are.

use std::collections::{BTreeMap, BTreeSet};

use merkato_server::{demo, web::pages};
use serde_json::json;

use crate::{
    browser::{Browser, DESK, PHONE},
    world::World,
};

/// A page without its pictures is lighter than this.
const WEIGHT_MAX: u64 = 100 * 1024;
/// What is answered for programs only.
const NO_PAGES: [&str; 3] = ["/robots.txt", "/sitemap.xml", "/sitemaps/"];
/// Links that are asked for by one script.
const LINKS_AT_ONCE: usize = 40;
/// Pages that people look at in the dark, too.
const DARK: [&str; 8] =
    ["home", "category", "product", "cart", "checkout", "account-order", "office-dashboard", "office-order"];

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// That a page is light, whole, and fits a desk and a phone. It takes the pictures for people.
    Whole,
    /// That nothing on it hinders anybody, in light and in dark.
    Barriers,
}

/// A part of the pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Shop,
    Office,
}

pub struct Tour<'w> {
    pub world: &'w World,
    pub visitor: Browser,
    eye: Eye,
    faults: Vec<String>,
    /// Where one has been.
    paths: BTreeSet<String>,
    /// Links that were seen, each with a page that has it.
    links: BTreeMap<String, String>,
}

impl<'w> Tour<'w> {
    pub async fn new(world: &'w World, eye: Eye) -> Self {
        let visitor = world.browser().await;
        Tour { world, visitor, eye, faults: Vec::new(), paths: BTreeSet::new(), links: BTreeMap::new() }
    }

    /// Opens a page and looks at it.
    pub async fn go(&mut self, name: &str, path: &str) {
        self.visitor.visit(path).await;
        self.note(path);
        self.look(name).await;
    }

    /// Opens the first page below a path that the page has a link to, and looks at it.
    pub async fn follow(&mut self, name: &str, begin: &str) {
        let script = "return [...document.querySelectorAll('main a')].map((link) => link.getAttribute('href')).find(
            (path) => path.startsWith(arguments[0]) && path.length > arguments[0].length
                && !path.startsWith(arguments[0] + 'new')) ?? ''";
        let path: String = self.visitor.run(script, vec![json!(begin)]).await;
        assert!(!path.is_empty(), "no link below {begin} on {}", self.visitor.path().await);
        self.go(name, &path).await;
    }

    /// Looks at the page that is open.
    pub async fn look(&mut self, name: &str) {
        let path = self.visitor.path().await;
        self.note(&path);
        let found = match self.eye {
            Eye::Whole => self.look_whole(name, &path).await,
            Eye::Barriers => self.look_for_barriers(name).await,
        };
        self.faults.extend(found.into_iter().map(|fault| format!("{name} ({path}): {fault}")));
    }

    fn note(&mut self, path: &str) {
        self.paths.insert(path.split(['?', '#']).next().unwrap_or_default().to_owned());
    }

    async fn look_whole(&mut self, name: &str, path: &str) -> Vec<String> {
        let visitor = &self.visitor;
        let inspect = include_str!("scripts/inspect.js");
        let mut faults: Vec<String> = visitor.run(inspect, vec![json!(demo::SHOP_NAME), json!(statuses(name))]).await;
        let weight = visitor.weight().await;
        if weight.unpacked > WEIGHT_MAX {
            faults.push(format!("it is too heavy: {weight:?}"));
        }
        let links: Vec<String> =
            visitor.run("return [...document.links].map((link) => link.getAttribute('href'))", Vec::new()).await;
        for link in links.into_iter().filter(|link| link.starts_with('/')) {
            self.links.entry(link).or_insert_with(|| path.to_owned());
        }
        for width in [DESK, PHONE] {
            visitor.resize(width).await;
            faults.extend(visitor.load_pictures().await);
            faults.extend(visitor.overflow().await.into_iter().map(|fault| format!("at {width}: {fault}")));
            visitor.screenshot(name).await;
        }
        visitor.resize(DESK).await;
        faults
    }

    async fn look_for_barriers(&self, name: &str) -> Vec<String> {
        let mut faults = self.visitor.barriers().await;
        self.visitor.darken(true).await;
        faults.extend(self.visitor.barriers().await.into_iter().map(|fault| format!("in the dark: {fault}")));
        if DARK.contains(&name) {
            faults.extend(self.visitor.load_pictures().await);
            self.visitor.screenshot(&format!("{name}-dark")).await;
        }
        self.visitor.darken(false).await;
        faults
    }

    /// Fails if anything was wrong, if a page of the part was left out, or if a link leads nowhere.
    pub async fn end(mut self, part: Part) {
        for rule in pages::rules().filter(|rule| rule.method == "GET" && is_of(rule.path, part)) {
            if !self.paths.iter().any(|path| fits(rule.path, path)) {
                self.faults.push(format!("nobody looked at {}", rule.path));
            }
        }
        if self.eye == Eye::Whole {
            let dead = self.dead_links().await;
            self.faults.extend(dead);
        }
        assert!(self.faults.is_empty(), "{} faults:\n{}", self.faults.len(), self.faults.join("\n"));
    }

    /// Links that are answered by an error.
    async fn dead_links(&self) -> Vec<String> {
        let mut dead = Vec::new();
        // Measuring takes its time, and no page has another link to what is measured.
        let links: Vec<&String> = self.links.keys().filter(|link| !link.contains("measure=")).collect();
        for links in links.chunks(LINKS_AT_ONCE) {
            let found = self.visitor.client.execute_async(include_str!("scripts/ask.js"), vec![json!(links)]).await;
            let found: Vec<(String, u16)> =
                serde_json::from_value(found.expect("a script")).expect("links and their answers");
            dead.extend(found.into_iter().map(|(link, status)| {
                format!("{} has a link to {link}, which is answered with {status}", self.links[&link])
            }));
        }
        dead
    }
}

/// What a page may be answered with, by its name.
fn statuses(name: &str) -> &'static [u16] {
    match name {
        "lost" => &[404],
        "forbidden" => &[403],
        name if name.ends_with("-refused") => &[422],
        _ => &[200],
    }
}

fn is_of(pattern: &str, part: Part) -> bool {
    let is_office = pattern == "/admin" || pattern.starts_with("/admin/");
    let is_file = pattern.starts_with("/assets/") || pattern.starts_with("/pictures/");
    !is_file && !NO_PAGES.iter().any(|no| pattern.starts_with(no)) && is_office == (part == Part::Office)
}

/// Whether a path is one of a pattern, as `/p/lamp` of `/p/{product}`.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len() && pattern.iter().zip(path).all(|(wanted, is)| wanted.starts_with('{') || *wanted == is)
}
