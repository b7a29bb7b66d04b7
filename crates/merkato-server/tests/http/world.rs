//! Where a case runs: a server on a port of its own, two shops of its own on the shared tables, letters that can be read.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use merkato::{
    Context, Currency, Settings,
    accounts::{self, Client, NewUser, Role},
    catalog::{self, NewCategory, NewProduct, Product, ProductStatus},
    context::SystemChance,
    flows,
    id::{CategoryId, MovementId, UserId},
    inventory::{self, Note},
    settings::PasswordSettings,
};
use merkato_server::http::{
    App, HttpSettings,
    mail::{Mail, Mailer},
    settings::RateSettings,
};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use widerow::{
    Database, Options, Schema,
    time::{Clock, ManualClock, SystemClock},
};
use widerow_testing::Target;

pub fn schema() -> Schema {
    merkato::schema().expect("a schema")
}

pub const PASSWORD: &str = "correct horse battery";

#[derive(Default)]
pub struct Letters(Mutex<Vec<Mail>>);

#[async_trait]
impl Mailer for Letters {
    async fn send(&self, mail: Mail) -> std::io::Result<()> {
        self.0.lock().expect("no panic").push(mail);
        Ok(())
    }
}

pub struct World {
    pub address: SocketAddr,
    pub client: reqwest::Client,
    /// The shop that requests go to.
    pub ctx: Context,
    /// Another one of the same server.
    pub other: Context,
    pub clock: Arc<ManualClock>,
    pub letters: Arc<Letters>,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<()>>,
}

impl World {
    pub async fn new(target: &Target) -> Self {
        World::with(target, |_| {}).await
    }

    pub async fn with(target: &Target, change: impl FnOnce(&mut HttpSettings)) -> Self {
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let options = Options { clock: clock.clone() as Arc<dyn Clock>, ..Options::default() };
        let database = Database::with_options(target.engine(), schema(), options);
        let mut shop = Settings::default();
        shop.accounts.passwords =
            PasswordSettings { memory_kib: 8, passes: 1, lanes: 1, at_once: 8, wait_seconds_max: 10 };
        let names = [widerow_testing::unique(), widerow_testing::unique()];
        let mut settings = HttpSettings {
            tenants: BTreeMap::from(names.clone().map(|name| (name.clone(), vec![format!("{name}.example")]))),
            rate: RateSettings { requests_a_minute: 0, logins_a_minute: 0, ..RateSettings::default() },
            ..HttpSettings::default()
        };
        change(&mut settings);
        let letters = Arc::new(Letters::default());
        let app = App::new(database, shop, settings, clock.clone(), Arc::new(SystemChance), letters.clone());
        let app = app.expect("an app");
        let [ctx, other] = names.map(|name| {
            let contexts = app.contexts().expect("contexts");
            contexts.into_iter().find(|ctx| ctx.store.tenant().as_str() == name).expect("a shop")
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = app.clone();
        let server = tokio::spawn(async move {
            let served = merkato_server::http::serve(serving, listener, async { _ = stopped.await }).await;
            served.expect("served");
        });
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let client = client.timeout(Duration::from_secs(60)).build().expect("a client");
        World { address, client, ctx, other, clock, letters, stop: Some(stop), server: Some(server) }
    }

    pub fn tenant(&self) -> &str {
        self.ctx.store.tenant().as_str()
    }

    /// A request to the first shop.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.bare(method, path).header("merkato-tenant", self.tenant())
    }

    /// A request that names no shop.
    pub fn bare(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request("GET", path)
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request("POST", path).json(body)
    }

    /// Begins to stop the server; what runs goes on.
    pub fn stop(&mut self) -> JoinHandle<()> {
        drop(self.stop.take());
        self.server.take().expect("it runs")
    }

    /// A user with a verified address.
    pub async fn user(&self, ctx: &Context, role: Role) -> (UserId, String) {
        let email = format!("{}@example.com", widerow_testing::unique());
        let new = NewUser { email: email.clone(), password: PASSWORD.into(), ..NewUser::default() };
        let registered = accounts::register(ctx, new).await.expect("registered");
        accounts::verify_email(ctx, registered.letter.token.as_str()).await.expect("verified");
        let user = registered.user.user_id;
        accounts::set_role(ctx, user, role).await.expect("a role");
        (user, email)
    }

    /// The token of a session of a new user.
    pub async fn session(&self, ctx: &Context, role: Role) -> String {
        let (_, email) = self.user(ctx, role).await;
        let client = Client { address: "10.1.1.1".into(), user_agent: None };
        let entered = accounts::log_in(ctx, &email, PASSWORD, &client).await.expect("logged in");
        entered.token.as_str().to_owned()
    }

    /// The letters to an address; waits for one more than there were.
    pub async fn letter(&self, email: &str, earlier: usize) -> Mail {
        // As long as a request may take: letters are sent behind the answer, and engines of a busy machine take their time.
        for _ in 0..6_000 {
            let found =
                self.letters.0.lock().expect("no panic").iter().filter(|mail| mail.to == email).nth(earlier).cloned();
            if let Some(mail) = found {
                return mail;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no letter came");
    }

    pub async fn category(&self, ctx: &Context, name: &str) -> CategoryId {
        let new = NewCategory { category_id: None, name: name.into(), slug: None, parent_id: None };
        catalog::create_category(ctx, new).await.expect("a category").category_id
    }

    /// A product with so many units of it.
    pub async fn stocked(&self, ctx: &Context, name: &str, cents: i64, units: i64) -> Product {
        let category = self.category(ctx, name).await;
        let product = self.product(ctx, category, name, cents).await;
        let (id, movement) = (product.product_id, MovementId(ctx.new_id()));
        inventory::restock(ctx, movement, id, "vienna", units, Note::default()).await.expect("restocked");
        flows::stock::follow_stock(ctx, id).await.expect("followed");
        product
    }

    pub async fn product(&self, ctx: &Context, category: CategoryId, name: &str, cents: i64) -> Product {
        let price = rust_decimal::Decimal::new(cents, 2);
        let new = NewProduct::named(name, category, price, Currency::new("EUR"));
        catalog::create_product(ctx, NewProduct { status: ProductStatus::Active, ..new }).await.expect("a product")
    }
}

/// The token that a letter carries: its only line without a space, of some length, or what the link there ends with.
pub fn token_in(mail: &Mail) -> String {
    let line = mail.text.lines().find(|line| line.len() > 40 && !line.contains(' '));
    let line = line.expect("a token");
    line.split_once("token=").map_or(line, |(_, token)| token).to_owned()
}

/// Asserts that an answer is a problem with this status and code, in the one form that all have.
pub async fn assert_problem(response: Response, status: u16, code: &str) -> Value {
    let found = response.status().as_u16();
    let id = response.headers()["x-request-id"].to_str().expect("text").to_owned();
    let media_type = response.headers().get("content-type").cloned();
    let text = response.text().await.expect("a body");
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{found}, not JSON: {text}"));
    assert_eq!((found, body["code"].as_str()), (status, Some(code)), "{body}");
    assert_eq!(media_type.expect("a type"), "application/problem+json");
    assert_eq!(body["status"], status);
    assert_eq!(body["request_id"], id.as_str());
    assert!(body["title"].as_str().is_some_and(|title| !title.is_empty()), "{body}");
    assert!(body["type"].as_str().is_some_and(|kind| kind.ends_with(code)), "{body}");
    body
}

pub async fn assert_ok(response: Response) -> Value {
    let status = response.status();
    let text = response.text().await.expect("a body");
    assert!(status.is_success(), "{status}: {text}");
    if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") }
}
