//! Everything over HTTP.
//!
//! To add a route: write a handler with `#[utoipa::path]` under `v1/`, name it in [`routes`], and say in [`access`] who may
//! call it. The server does not start with a route that is missing in either. A handler takes a [`Visit`] (the shop, and who
//! asks), answers with a view or a [`Problem`], and knows nothing of what surrounds it.
//!
//! What surrounds it, from the outside to the inside: [`serve`] (sockets, TLS), [`observe`] (request id, log, metrics, cost,
//! headers), [`pipeline`] (rate, body, time, principal, access, idempotency, conditions).

pub mod access;
pub mod app;
pub mod body;
pub mod client;
pub mod codes;
pub mod conditional;
pub mod cookies;
pub mod cursor;
pub mod docs;
pub mod entry;
pub mod extract;
pub mod headers;
pub mod idempotency;
pub mod mail;
pub mod metrics;
pub mod observe;
pub mod openapi;
pub mod operation;
pub mod pipeline;
pub mod problem;
pub mod rate;
pub mod routes;
pub mod serve;
pub mod settings;
pub mod sign;
pub mod stall;
pub mod store_metrics;
pub mod system;
pub mod tls;
pub mod v1;
pub mod who;
pub mod wire;

pub use app::{App, StartError};
pub use extract::{Json, Path, Query, read_value};
pub use problem::{FieldProblem, Problem};
pub use serve::serve;
pub use settings::HttpSettings;
pub use who::{Visit, Who};
