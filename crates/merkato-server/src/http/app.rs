//! All that the handlers share: the shops, the settings, the bounds.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use axum::Router;
use http::{HeaderMap, Uri};
use merkato::{Context, Settings, context::Chance, secrets};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};
use utoipa::openapi::OpenApi;
use widerow::{Database, time::Clock};

use crate::web::{admin::Inspections, pages};

use super::{
    access::RULES,
    body::Room,
    mail::{Mailer, Post},
    metrics::Metrics,
    problem::Problem,
    rate::Limiter,
    routes,
    settings::HttpSettings,
    sign::{self, KEY_BYTES, Signer},
    system::{Documents, Readiness},
    who,
};

/// What all bodies that are being gathered may take, beyond a little for each.
const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Letters that wait to be sent.
const LETTERS_WAITING_MAX: usize = 1_000;
/// The most that the setting of requests at once can say.
const REQUESTS_MAX: usize = 1_000_000;
/// The name of the key that cursors and CSRF tokens are signed with.
const SIGNING_KEY: &str = "http-signing-key";

/// The server without its sockets. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    database: Database,
    settings: HttpSettings,
    ctx: Context,
    shops: BTreeMap<String, Lot>,
    hosts: HashMap<String, String>,
    signing_key: Option<[u8; KEY_BYTES]>,
    openapi: Arc<OpenApi>,
    documents: Documents,
    requests: Limiter,
    logins: Limiter,
    room: Room,
    turns: Arc<Semaphore>,
    /// Places for those who follow the feed.
    followers: Arc<Semaphore>,
    /// Whether the server stops: answers that would go on for ever end then.
    stopping: watch::Sender<bool>,
    metrics: Metrics,
    post: Post,
    readiness: Readiness,
    inspections: Inspections,
}

/// A tenant, opened when it is first asked for.
#[derive(Default)]
struct Lot {
    shop: OnceCell<Arc<Shop>>,
}

/// A tenant's surroundings, and its key.
pub struct Shop {
    pub name: String,
    pub ctx: Context,
    signer: Signer,
}

impl Shop {
    pub fn signer(&self) -> &Signer {
        &self.signer
    }
}

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the tenant {name} cannot be: {problem}")]
    Tenant { name: String, problem: widerow::Error },
    #[error("the host {host} is given to the tenants {one} and {other}")]
    HostTwice { host: String, one: String, other: String },
    #[error("signing_key: not {} hexadecimal digits", 2 * KEY_BYTES)]
    SigningKey,
    #[error("{setting}: {origin} is not an origin as https://shop.example")]
    Origin { setting: &'static str, origin: String },
    #[error("the route {route} is not in the table of who may call what")]
    NoRule { route: String },
    #[error("the table of who may call what has the route {route}, which there is not")]
    NoRoute { route: String },
    #[error("{what}: {problem}")]
    Tls { what: String, problem: String },
}

impl App {
    pub fn new(
        database: Database,
        shop: Settings,
        settings: HttpSettings,
        clock: Arc<dyn Clock>,
        chance: Arc<dyn Chance>,
        mailer: Arc<dyn Mailer>,
    ) -> Result<Self, StartError> {
        let store = |name: &str| {
            let refused = |problem| StartError::Tenant { name: name.to_owned(), problem };
            database.tenant(name).map_err(refused)
        };
        let mut hosts: HashMap<String, String> = HashMap::new();
        for (tenant, names) in &settings.tenants {
            store(tenant)?;
            for host in names {
                if let Some(one) = hosts.insert(host.to_ascii_lowercase(), tenant.clone()) {
                    return Err(StartError::HostTwice { host: host.clone(), one, other: tenant.clone() });
                }
            }
        }
        check_origins("cors_origins", &settings.cors_origins)?;
        check_origins("pages.picture_origins", &settings.pages.picture_origins)?;
        let signing_key = match &settings.signing_key {
            Some(text) => {
                let key = sign::unhex(text.expose()).and_then(|bytes| bytes.try_into().ok());
                Some(key.ok_or(StartError::SigningKey)?)
            }
            None => None,
        };
        let openapi = routes::all().into_openapi();
        check_rules(&openapi)?;
        // Of no shop: ids, time and chance. Its store is never asked.
        let ctx = Context::new(store("none")?, shop, clock, chance);
        let rate = &settings.rate;
        Ok(App(Arc::new(Inner {
            shops: settings.tenants.keys().map(|name| (name.clone(), Lot::default())).collect(),
            hosts,
            signing_key,
            openapi: Arc::new(super::openapi::complete(openapi, &settings)),
            documents: Documents::default(),
            requests: Limiter::new(rate.requests_a_minute, rate.clients_max),
            logins: Limiter::new(rate.logins_a_minute, rate.clients_max),
            room: Room::new(BODIES_BYTES_MAX, settings.body_bytes_max),
            turns: Arc::new(Semaphore::new(settings.requests_at_once_max.clamp(1, REQUESTS_MAX))),
            followers: Arc::new(Semaphore::new(settings.followers_max.min(REQUESTS_MAX))),
            stopping: watch::Sender::new(false),
            metrics: Metrics::new(RULES.iter().chain(pages::rules())),
            post: Post::new(mailer, LETTERS_WAITING_MAX),
            readiness: Readiness::default(),
            inspections: Inspections::default(),
            database,
            settings,
            ctx,
        })))
    }

    /// The same server with a payment provider that moves money. To be called before the first request.
    pub fn with_payments(mut self, payments: Arc<dyn merkato::payments::PaymentProvider>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.ctx = inner.ctx.with_payments(payments);
        }
        self
    }

    /// Every route, with all that surrounds it.
    pub fn router(&self) -> Router {
        routes::router(self)
    }

    /// A shop by its name; None if there is no such. Its key is read, or made, when it is first asked for.
    pub async fn shop(&self, name: &str) -> Result<Option<Arc<Shop>>, Problem> {
        let Some(lot) = self.0.shops.get(name) else { return Ok(None) };
        let opened = lot.shop.get_or_try_init(|| async {
            let ctx = self.0.ctx.with_store(self.0.database.tenant(name)?);
            let key = match self.0.signing_key {
                Some(key) => key,
                None => secrets::get_or_make(&ctx, SIGNING_KEY).await?,
            };
            Ok::<_, Problem>(Arc::new(Shop { name: name.to_owned(), ctx, signer: Signer::new(key) }))
        });
        Ok(Some(opened.await?.clone()))
    }

    /// The contexts of all shops, for work in the background that shares their bounds.
    pub fn contexts(&self) -> Result<Vec<Context>, widerow::Error> {
        let context = |name: &String| Ok(self.0.ctx.with_store(self.0.database.tenant(name)?));
        self.0.shops.keys().map(context).collect()
    }

    /// A place to follow the feed; None when all are taken.
    pub(super) fn follow(&self) -> Option<OwnedSemaphorePermit> {
        self.0.followers.clone().try_acquire_owned().ok()
    }

    /// Ready when the server stops.
    pub(super) fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stopping = self.0.stopping.subscribe();
        async move {
            // Whoever could say so is gone: that is a stop, too.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        }
    }

    /// Ends the answers that go on for ever.
    pub(super) fn end_streams(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Waits until nothing is worked on and no letter waits.
    pub async fn rest(&self) {
        let all = self.settings().requests_at_once_max.clamp(1, REQUESTS_MAX) as u32;
        let _ = self.0.turns.acquire_many(all).await;
        self.0.post.rest().await;
    }

    pub fn tenant_of_host(&self, host: &str) -> Option<&str> {
        self.0.hosts.get(host).map(String::as_str)
    }

    /// Whether a page of this origin is the site's own: of the host that was asked, or one that the settings name.
    pub fn is_own_origin(&self, origin: &str, host: Option<&str>) -> bool {
        let authority = origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://").filter(|_| !self.settings().is_secure()));
        let same_host = authority.zip(host).is_some_and(|(authority, host)| authority.eq_ignore_ascii_case(host));
        same_host || self.settings().public_url.as_deref().is_some_and(|url| url.trim_end_matches('/') == origin)
    }

    /// Where the asked site is, as `https://shop.example`: the shop's own host, or what the settings say, or the host that was
    /// asked for.
    pub fn site(&self, headers: &HeaderMap, uri: &Uri) -> String {
        let scheme = if self.settings().is_secure() { "https" } else { "http" };
        let plain = |b: u8| b.is_ascii_alphanumeric() || b".-:[]".contains(&b);
        let authority = who::authority(headers, uri).filter(|authority| authority.bytes().all(plain));
        let own = who::host(headers, uri).is_some_and(|host| self.tenant_of_host(&host).is_some());
        match (&self.settings().public_url, authority) {
            (_, Some(authority)) if own => format!("{scheme}://{authority}"),
            (Some(url), _) => url.trim_end_matches('/').to_owned(),
            (None, authority) => format!("{scheme}://{}", authority.unwrap_or("localhost")),
        }
    }

    pub fn settings(&self) -> &HttpSettings {
        &self.0.settings
    }

    pub fn database(&self) -> &Database {
        &self.0.database
    }

    /// Ids, time and chance, of no shop.
    pub fn ctx(&self) -> &Context {
        &self.0.ctx
    }

    pub fn openapi(&self) -> &OpenApi {
        &self.0.openapi
    }

    pub(super) fn documents(&self) -> &Documents {
        &self.0.documents
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub fn post(&self) -> &Post {
        &self.0.post
    }

    pub(crate) fn inspections(&self) -> &Inspections {
        &self.0.inspections
    }

    pub(super) fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    pub(super) fn limiter(&self, login: bool) -> &Limiter {
        if login { &self.0.logins } else { &self.0.requests }
    }

    pub(super) fn room(&self) -> &Room {
        &self.0.room
    }

    pub(super) fn turns(&self) -> &Arc<Semaphore> {
        &self.0.turns
    }
}

/// Each is a scheme and a host, and nothing that would mean more in the header it is written into.
fn check_origins(setting: &'static str, origins: &[String]) -> Result<(), StartError> {
    let plain =
        |host: &str| !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b));
    let good = |origin: &&String| match origin.split_once("://") {
        Some((scheme, host)) => matches!(scheme, "http" | "https") && plain(host),
        None => false,
    };
    match origins.iter().find(|origin| !good(origin)) {
        Some(origin) => Err(StartError::Origin { setting, origin: origin.clone() }),
        None => Ok(()),
    }
}

/// The table of who may call what and the routes are the same set.
fn check_rules(openapi: &OpenApi) -> Result<(), StartError> {
    let mut routes = super::openapi::operations(openapi);
    for rule in RULES {
        if !routes.remove(&(rule.method.to_owned(), rule.path.to_owned())) {
            return Err(StartError::NoRoute { route: format!("{} {}", rule.method, rule.path) });
        }
    }
    match routes.first() {
        Some((method, path)) => Err(StartError::NoRule { route: format!("{method} {path}") }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        let check = |origin: &str| check_origins("cors_origins", &[origin.to_owned()]);
        for good in ["https://shop.example", "http://127.0.0.1:8080", "https://[::1]:8443"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in
            ["", "shop.example", "https://", "https://shop.example/", "https://*", "ftp://shop.example", "https://a; b"]
        {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
