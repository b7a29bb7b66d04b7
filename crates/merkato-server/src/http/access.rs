//! Who may call what: one table of every route of the API; the pages have theirs in [`pages`]. A route that is not in it is not served, and a line without a route keeps the
//! server from starting.

use http::Method;
use merkato::{accounts::Role, keys::Scope};

use super::{
    problem::Problem,
    who::{Visit, Who},
};
use crate::web::pages;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever comes, of no shop in particular: nothing is asked of the store for it.
    System,
    /// Whoever comes to a shop.
    Anyone,
    /// A guest with a cart, or a person.
    Shopper,
    /// Somebody who is logged in.
    Person,
    /// A person of the staff, or a program whose key has the scope.
    Staff(Scope),
    /// An admin, or a program whose key has the scope: what outlives whoever does it, or gives power to others.
    Admin(Scope),
}

/// One route.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub method: &'static str,
    pub path: &'static str,
    pub access: Access,
    /// It counts against how often a client may ask. Not so those by which one asks how the server is, who must not be told to
    /// come later, nor what pages are made of.
    pub counted: bool,
    /// It takes a password or sends a letter, and is asked for less often.
    pub login: bool,
    /// Its answer is never kept under an idempotency key, because a secret is in it.
    pub secret_answer: bool,
    /// Nothing is kept of it under an idempotency key, because a password is in what is asked: even a hash of it, to know the
    /// same request by, would let whoever reads the store try passwords as fast as hashes go.
    pub secret_body: bool,
    /// It is not done without an idempotency key.
    pub key_required: bool,
    /// Its operation knows the key and answers the same again: no answer is kept beside it.
    pub own_key: bool,
    /// To nobody it gives a guest's token, which is a secret.
    pub gives_token: bool,
    /// It may read a body. Others are not waited for.
    pub takes_body: bool,
}

const fn rule(method: &'static str, path: &'static str, access: Access, takes_body: bool) -> Rule {
    Rule {
        method,
        path,
        access,
        counted: !matches!(access, Access::System),
        login: false,
        secret_answer: false,
        secret_body: false,
        key_required: false,
        own_key: false,
        gives_token: false,
        takes_body,
    }
}

pub(crate) const fn get(path: &'static str, access: Access) -> Rule {
    rule("GET", path, access, false)
}

pub(crate) const fn post(path: &'static str, access: Access) -> Rule {
    rule("POST", path, access, true)
}

const fn put(path: &'static str, access: Access) -> Rule {
    rule("PUT", path, access, true)
}

const fn patch(path: &'static str, access: Access) -> Rule {
    rule("PATCH", path, access, true)
}

const fn delete(path: &'static str, access: Access) -> Rule {
    rule("DELETE", path, access, true)
}

impl Rule {
    const fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    pub(crate) const fn login(mut self) -> Self {
        self.login = true;
        self
    }

    pub(crate) const fn secret_answer(mut self) -> Self {
        self.secret_answer = true;
        self
    }

    pub(crate) const fn secret_body(mut self) -> Self {
        self.secret_body = true;
        self
    }

    pub(crate) const fn own_key(mut self) -> Self {
        (self.key_required, self.own_key) = (true, true);
        self
    }

    pub(crate) const fn gives_token(mut self) -> Self {
        self.gives_token = true;
        self
    }

    pub fn is_unsafe(&self) -> bool {
        self.method != "GET"
    }

    /// Whether a request that is made again under its key is answered as before.
    pub fn takes_key(&self) -> bool {
        self.is_unsafe() && !self.secret_answer && !self.secret_body
    }
}

use Access::{Admin, Anyone, Person, Shopper, Staff, System};
use Scope::{
    AnalyticsRead, CatalogRead, CatalogWrite, CustomersRead, CustomersWrite, EventsRead, EventsWrite, GraphRead,
    GraphWrite, InventoryRead, InventoryWrite, KeysWrite, OrdersRead, OrdersWrite, SalesRead, SalesWrite,
    TelemetryRead, TelemetryWrite, TreesRead, TreesWrite, WalletsRead, WalletsWrite,
};

pub const RULES: &[Rule] = &[
    // The server itself.
    get("/healthz", System),
    get("/readyz", System),
    get("/metrics", System),
    get("/openapi.json", System).counted(),
    get("/docs", System).counted(),
    get("/docs/errors", System).counted(),
    // The catalog.
    get("/v1/products/{id}", Anyone),
    get("/v1/products/by-slug/{slug}", Anyone),
    get("/v1/products/{id}/related", Anyone),
    get("/v1/categories", Anyone),
    get("/v1/categories/{id}", Anyone),
    get("/v1/categories/{id}/products", Anyone),
    get("/v1/search", Anyone),
    get("/v1/items", Anyone),
    get("/v1/featured/{feature_type}", Anyone),
    // Who one is.
    post("/v1/auth/register", Anyone).login().secret_body(),
    post("/v1/auth/verify", Anyone).login(),
    post("/v1/auth/login", Anyone).login().secret_answer().secret_body(),
    post("/v1/auth/logout", Person).secret_answer(),
    post("/v1/auth/password-reset", Anyone).login(),
    post("/v1/auth/password-reset/confirm", Anyone).login().secret_body(),
    get("/v1/me", Person),
    patch("/v1/me", Person),
    get("/v1/me/addresses", Person),
    post("/v1/me/addresses", Person),
    put("/v1/me/addresses/{id}", Person),
    delete("/v1/me/addresses/{id}", Person),
    // From the cart to the order.
    get("/v1/carts", Person),
    post("/v1/carts", Person),
    get("/v1/carts/active", Anyone),
    get("/v1/carts/{id}", Shopper),
    patch("/v1/carts/{id}", Person),
    delete("/v1/carts/{id}", Person),
    post("/v1/carts/{id}/activate", Person),
    post("/v1/carts/{id}/copy", Person),
    post("/v1/carts/active/items", Anyone).gives_token(),
    get("/v1/carts/{id}/items/{line}", Shopper),
    patch("/v1/carts/{id}/items/{line}", Shopper),
    delete("/v1/carts/{id}/items/{line}", Shopper),
    post("/v1/checkouts", Shopper).own_key(),
    post("/v1/checkouts/quote", Shopper),
    get("/v1/checkouts/{id}", Shopper),
    get("/v1/me/orders", Person),
    get("/v1/me/wallet", Person),
    get("/v1/me/wallet/statement", Person),
    get("/v1/orders/{id}", Shopper),
    get("/v1/orders/{id}/items", Shopper),
    get("/v1/orders/{id}/history", Shopper),
    post("/v1/orders/{id}/cancel", Shopper),
    post("/v1/products/{id}/views", Anyone),
    // What staff do.
    get("/v1/admin/products", Staff(CatalogRead)),
    post("/v1/admin/products", Staff(CatalogWrite)),
    get("/v1/admin/products/{id}", Staff(CatalogRead)),
    put("/v1/admin/products/{id}", Staff(CatalogWrite)),
    delete("/v1/admin/products/{id}", Staff(CatalogWrite)),
    get("/v1/admin/products/{id}/prices", Staff(CatalogRead)),
    post("/v1/admin/categories", Staff(CatalogWrite)),
    get("/v1/admin/categories/{id}", Staff(CatalogRead)),
    put("/v1/admin/categories/{id}", Staff(CatalogWrite)),
    delete("/v1/admin/categories/{id}", Staff(CatalogWrite)),
    post("/v1/admin/categories/{id}/move", Staff(CatalogWrite)),
    get("/v1/admin/categories/{id}/products", Staff(CatalogRead)),
    put("/v1/admin/featured/{feature_type}", Staff(CatalogWrite)),
    get("/v1/admin/trees", Staff(TreesRead)),
    post("/v1/admin/trees", Staff(TreesWrite)),
    get("/v1/admin/trees/{tree}", Staff(TreesRead)),
    get("/v1/admin/trees/{tree}/nodes", Staff(TreesRead)),
    post("/v1/admin/trees/{tree}/nodes", Staff(TreesWrite)),
    post("/v1/admin/trees/{tree}/nodes/batch", Staff(TreesWrite)),
    get("/v1/admin/trees/{tree}/nodes/{id}", Staff(TreesRead)),
    patch("/v1/admin/trees/{tree}/nodes/{id}", Staff(TreesWrite)),
    delete("/v1/admin/trees/{tree}/nodes/{id}", Staff(TreesWrite)),
    post("/v1/admin/trees/{tree}/nodes/{id}/move", Staff(TreesWrite)),
    get("/v1/admin/trees/{tree}/nodes/{id}/children", Staff(TreesRead)),
    get("/v1/admin/trees/{tree}/nodes/{id}/ancestors", Staff(TreesRead)),
    get("/v1/admin/trees/{tree}/nodes/{id}/subtree", Staff(TreesRead)),
    get("/v1/admin/trees/{tree}/nodes/{id}/descendants", Staff(TreesRead)),
    get("/v1/admin/trees/{tree}/nodes/{id}/search", Staff(TreesRead)),
    get("/v1/admin/trees/{tree}/nodes/{id}/counts", Staff(TreesRead)),
    get("/v1/admin/graph/communities", Staff(GraphRead)),
    get("/v1/admin/graph/{user}", Staff(GraphRead)),
    put("/v1/admin/graph/{user}", Staff(GraphWrite)),
    get("/v1/admin/graph/{user}/suggestions", Staff(GraphRead)),
    post("/v1/admin/graph/{user}/suggestions", Staff(GraphWrite)),
    get("/v1/admin/graph/{user}/metrics", Staff(GraphRead)),
    get("/v1/admin/graph/{user}/connections", Staff(GraphRead)),
    get("/v1/admin/graph/{user}/followers", Staff(GraphRead)),
    get("/v1/admin/graph/{user}/connections/{type}/{other}", Staff(GraphRead)),
    put("/v1/admin/graph/{user}/connections/{type}/{other}", Staff(GraphWrite)),
    delete("/v1/admin/graph/{user}/connections/{type}/{other}", Staff(GraphWrite)),
    post("/v1/admin/graph/{user}/connections/{type}/{other}/interactions", Staff(GraphWrite)),
    get("/v1/admin/graph/{user}/mutual/{other}", Staff(GraphRead)),
    get("/v1/admin/graph/{user}/path/{other}", Staff(GraphRead)),
    get("/v1/admin/orders", Staff(OrdersRead)),
    get("/v1/admin/orders/{id}", Staff(OrdersRead)),
    post("/v1/admin/orders/{id}/status", Staff(OrdersWrite)),
    post("/v1/admin/orders/{id}/cancel", Staff(OrdersWrite)),
    post("/v1/admin/orders/{id}/refund", Staff(OrdersWrite)),
    post("/v1/admin/discounts", Staff(OrdersWrite)),
    get("/v1/admin/discounts/{code}", Staff(OrdersRead)),
    delete("/v1/admin/discounts/{code}", Staff(OrdersWrite)),
    get("/v1/admin/inventory/low-stock", Staff(InventoryRead)),
    get("/v1/admin/inventory/movements", Staff(InventoryRead)),
    post("/v1/admin/inventory/transfers", Staff(InventoryWrite)),
    get("/v1/admin/inventory/holds", Staff(InventoryRead)),
    post("/v1/admin/inventory/holds", Staff(InventoryWrite)),
    post("/v1/admin/inventory/holds/{id}/release", Staff(InventoryWrite)),
    post("/v1/admin/inventory/holds/{id}/confirm", Staff(InventoryWrite)),
    post("/v1/admin/inventory/holds/{id}/extend", Staff(InventoryWrite)),
    get("/v1/admin/inventory/{product_id}", Staff(InventoryRead)),
    put("/v1/admin/inventory/{product_id}", Staff(InventoryWrite)),
    put("/v1/admin/inventory/{product_id}/{warehouse_id}", Staff(InventoryWrite)),
    post("/v1/admin/inventory/{product_id}/{warehouse_id}/adjust", Staff(InventoryWrite)),
    post("/v1/admin/inventory/{product_id}/{warehouse_id}/restock", Staff(InventoryWrite)),
    get("/v1/admin/analytics/daily-sales", Staff(AnalyticsRead)),
    get("/v1/admin/analytics/top-products", Staff(AnalyticsRead)),
    get("/v1/admin/analytics/products/{id}/views", Staff(AnalyticsRead)),
    post("/v1/admin/sales", Staff(SalesWrite)),
    post("/v1/admin/sales/batch", Staff(SalesWrite)),
    get("/v1/admin/sales/categories", Staff(SalesRead)),
    get("/v1/admin/sales/categories/{category}/trends", Staff(SalesRead)),
    get("/v1/admin/sales/categories/{category}/figures", Staff(SalesRead)),
    get("/v1/admin/sales/categories/{category}/distribution", Staff(SalesRead)),
    get("/v1/admin/sales/categories/{category}/brands", Staff(SalesRead)),
    get("/v1/admin/sales/brands", Staff(SalesRead)),
    get("/v1/admin/sales/brands/{brand}", Staff(SalesRead)),
    get("/v1/admin/sales/brands/{brand}/figures", Staff(SalesRead)),
    get("/v1/admin/sales/brands/{brand}/distribution", Staff(SalesRead)),
    get("/v1/admin/sales/products/{product_id}", Staff(SalesRead)),
    get("/v1/admin/sales/products/{product_id}/embeddings", Staff(SalesRead)),
    get("/v1/admin/sales/products/{product_id}/figures", Staff(SalesRead)),
    get("/v1/admin/sales/products/{product_id}/distribution", Staff(SalesRead)),
    get("/v1/admin/sales/{product_id}/{sale_date}/{sale_id}", Staff(SalesRead)),
    delete("/v1/admin/sales/{product_id}/{sale_date}/{sale_id}", Staff(SalesWrite)),
    post("/v1/admin/sales/nearest", Staff(SalesRead)),
    post("/v1/admin/sales/suggestion", Staff(SalesRead)),
    get("/v1/admin/telemetry", Staff(TelemetryRead)),
    post("/v1/admin/telemetry", Staff(TelemetryWrite)),
    get("/v1/admin/telemetry/{sensor_id}", Staff(TelemetryRead)),
    get("/v1/admin/telemetry/{sensor_id}/sensor", Staff(TelemetryRead)),
    put("/v1/admin/telemetry/{sensor_id}/sensor", Staff(TelemetryWrite)),
    post("/v1/admin/telemetry/{sensor_id}/retire", Staff(TelemetryWrite)),
    post("/v1/admin/telemetry/{sensor_id}/measurements", Staff(TelemetryWrite)),
    get("/v1/admin/telemetry/{sensor_id}/chart", Staff(TelemetryRead)),
    get("/v1/admin/telemetry/{sensor_id}/windows", Staff(TelemetryRead)),
    get("/v1/admin/telemetry/{sensor_id}/quality", Staff(TelemetryRead)),
    get("/v1/admin/telemetry/{sensor_id}/quality/hours", Staff(TelemetryRead)),
    get("/v1/admin/streams/{aggregate_id}/events", Staff(EventsRead)),
    post("/v1/admin/streams/{aggregate_id}/events", Staff(EventsWrite)),
    get("/v1/admin/streams/{aggregate_id}/state", Staff(EventsRead)),
    get("/v1/admin/events", Staff(EventsRead)),
    get("/v1/admin/events/feed", Staff(EventsRead)),
    get("/v1/admin/events/types", Staff(EventsRead)),
    get("/v1/admin/projections", Staff(EventsRead)),
    post("/v1/admin/projections/{name}/rebuild", Staff(EventsWrite)),
    get("/v1/wallets/{user_id}", Staff(WalletsRead)),
    get("/v1/wallets/{user_id}/statement", Staff(WalletsRead)),
    post("/v1/wallets/{user_id}/deposits", Staff(WalletsWrite)),
    post("/v1/wallets/{user_id}/withdrawals", Staff(WalletsWrite)),
    post("/v1/wallets/{user_id}/transfers", Staff(WalletsWrite)),
    get("/v1/admin/users", Staff(CustomersRead)),
    get("/v1/admin/users/{id}", Staff(CustomersRead)),
    get("/v1/admin/users/{id}/orders", Staff(OrdersRead)),
    post("/v1/admin/users/{id}/suspend", Staff(CustomersWrite)),
    post("/v1/admin/users/{id}/reinstate", Staff(CustomersWrite)),
    get("/v1/admin/keys", Admin(KeysWrite)),
    post("/v1/admin/keys", Admin(KeysWrite)).secret_answer(),
    delete("/v1/admin/keys/{id}", Admin(KeysWrite)),
];

/// The line of a request that has come to a route. HEAD is as GET.
pub fn find(method: &Method, path: &str) -> Option<&'static Rule> {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    RULES.iter().chain(pages::rules()).find(|rule| rule.path == path && rule.method == method)
}

/// Refuses one who may not: 401 to nobody, 403 to somebody else.
pub fn check(rule: &Rule, visit: &Visit) -> Result<(), Problem> {
    let nobody = || Problem::new("not_logged_in", "it needs a session or an API key");
    let forbidden = || Problem::new("forbidden", "");
    match (rule.access, &visit.who) {
        (Access::System | Access::Anyone, _) => Ok(()),
        (Access::Shopper, Who::Guest(_) | Who::Person { .. }) => Ok(()),
        (Access::Shopper, Who::Nobody) => Err(nobody()),
        (Access::Person, Who::Person { .. }) => Ok(()),
        (Access::Person, Who::Nobody | Who::Guest(_)) => Err(nobody()),
        (Access::Shopper | Access::Person, Who::Program(_)) => Err(forbidden()),
        (Access::Staff(_) | Access::Admin(_), Who::Nobody | Who::Guest(_)) => Err(nobody()),
        (Access::Staff(_), Who::Person { actor, .. }) if actor.role >= Role::Staff => Ok(()),
        (Access::Admin(_), Who::Person { actor, .. }) if actor.role >= Role::Admin => Ok(()),
        (Access::Staff(_) | Access::Admin(_), Who::Person { .. }) => Err(forbidden()),
        (Access::Staff(scope) | Access::Admin(scope), Who::Program(key)) if key.scopes.contains(&scope) => Ok(()),
        (Access::Staff(scope) | Access::Admin(scope), Who::Program(_)) => {
            Err(Problem::new("scope_missing", format!("the key has not the scope {}", scope.as_str())))
        }
    }
}
