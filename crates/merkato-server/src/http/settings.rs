//! What the operator decides about HTTP: the section `[http]` of the configuration.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::config::Secret;

/// The tenant of a request that names none.
pub const DEFAULT_TENANT: &str = "default";

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How people reach it from outside, as `https://shop.example`: links in letters begin with it.
    pub public_url: Option<String>,
    /// Bytes of a request's body.
    pub body_bytes_max: usize,
    /// Seconds for a request's body to come, and again as many for its answer to be made.
    pub request_seconds_max: u64,
    /// Seconds for a request's head to come, and between two requests on one connection.
    pub header_seconds_max: u64,
    /// Seconds for which a client may take in nothing of its answer.
    pub stall_seconds_max: u64,
    /// Seconds that running requests are given when the server stops.
    pub stop_seconds_max: u64,
    pub connections_max: usize,
    /// Requests that are worked on at once. More are told to come later.
    pub requests_at_once_max: usize,
    /// Those that follow the feed of events at once. More are told to come later.
    pub followers_max: usize,
    pub rate: RateSettings,
    /// Sites whose pages may read answers, as `https://shop.example`. None by default.
    pub cors_origins: Vec<String>,
    /// The shops, and the host names each is reached by.
    pub tenants: BTreeMap<String, Vec<String>>,
    /// Networks of proxies whose `X-Forwarded-For` is believed. None by default.
    pub trusted_proxies: Vec<IpNet>,
    /// Whether a proxy in front speaks TLS, so that cookies are `Secure`.
    pub behind_tls: bool,
    pub tls: Option<TlsSettings>,
    /// What cursors and CSRF tokens are signed with: 64 hexadecimal digits. Without it, each shop has one that is made once
    /// and stored with it, so that several processes agree.
    pub signing_key: Option<Secret>,
    pub mail: MailSettings,
    pub pages: PagesSettings,
    pub log: LogSettings,
}

/// Requests of one client a minute; 0 turns a limit off.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateSettings {
    pub requests_a_minute: u32,
    /// Of routes that take passwords, or send letters.
    pub logins_a_minute: u32,
    /// Clients that are remembered.
    pub clients_max: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The chain of certificates, in PEM.
    pub certificate: PathBuf,
    /// The private key, in PEM.
    pub key: PathBuf,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailSettings {
    /// Where letters are put as `.eml` files, for whatever sends them. Without it they are dropped, and the log says so.
    pub folder: Option<PathBuf>,
    pub from: String,
}

/// The pages for people: the shop at `/`, the office at `/admin`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PagesSettings {
    /// Whether there are any. Without them it is an API alone.
    pub enabled: bool,
    /// What the shop is called.
    pub name: String,
    /// What it is, in a few words.
    pub tagline: String,
    /// Hosts from which pictures of products are shown, as `https://pictures.example`. Others' are replaced by drawn ones.
    pub picture_origins: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    pub format: LogFormat,
    /// As `info` or `merkato=debug,widerow=warn`; `info` if it is empty.
    pub filter: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            public_url: None,
            body_bytes_max: 1024 * 1024,
            request_seconds_max: 30,
            header_seconds_max: 15,
            stall_seconds_max: 30,
            stop_seconds_max: 30,
            connections_max: 4_096,
            requests_at_once_max: 1_024,
            followers_max: 256,
            rate: RateSettings::default(),
            cors_origins: Vec::new(),
            tenants: BTreeMap::from([(DEFAULT_TENANT.into(), Vec::new())]),
            trusted_proxies: Vec::new(),
            behind_tls: false,
            tls: None,
            signing_key: None,
            mail: MailSettings::default(),
            pages: PagesSettings::default(),
            log: LogSettings::default(),
        }
    }
}

impl Default for RateSettings {
    fn default() -> Self {
        RateSettings { requests_a_minute: 3_000, logins_a_minute: 30, clients_max: 65_536 }
    }
}

impl Default for PagesSettings {
    fn default() -> Self {
        PagesSettings { enabled: true, name: "merkato".into(), tagline: String::new(), picture_origins: Vec::new() }
    }
}

impl Default for MailSettings {
    fn default() -> Self {
        MailSettings { folder: None, from: "shop@localhost".into() }
    }
}

impl HttpSettings {
    /// Whether clients speak TLS, with this server or with a proxy in front of it.
    pub fn is_secure(&self) -> bool {
        self.behind_tls || self.tls.is_some()
    }
}
