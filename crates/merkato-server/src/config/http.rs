//! The section `[http]`.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::Secret;

/// The tenant of a request that names none.
const DEFAULT_TENANT: &str = "default";

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    pub listen: SocketAddr,
    pub public_url: Option<String>,
    pub body_bytes_max: usize,
    pub request_seconds_max: u64,
    pub header_seconds_max: u64,
    pub stall_seconds_max: u64,
    pub stop_seconds_max: u64,
    pub connections_max: usize,
    pub requests_at_once_max: usize,
    pub rate: RateSettings,
    pub cors_origins: Vec<String>,
    /// The shops, and the host names each is reached by.
    pub tenants: BTreeMap<String, Vec<String>>,
    pub trusted_proxies: Vec<String>,
    pub behind_tls: bool,
    pub tls: Option<TlsSettings>,
    pub signing_key: Option<Secret>,
    pub mail: MailSettings,
    pub log: LogSettings,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateSettings {
    pub requests_a_minute: u32,
    pub logins_a_minute: u32,
    pub clients_max: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailSettings {
    pub folder: Option<PathBuf>,
    pub from: String,
}

/// What is logged, to standard error.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    pub format: LogFormat,
    /// `info` if it is empty.
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
            rate: RateSettings::default(),
            cors_origins: Vec::new(),
            tenants: BTreeMap::from([(DEFAULT_TENANT.into(), Vec::new())]),
            trusted_proxies: Vec::new(),
            behind_tls: false,
            tls: None,
            signing_key: None,
            mail: MailSettings::default(),
            log: LogSettings::default(),
        }
    }
}

impl Default for RateSettings {
    fn default() -> Self {
        RateSettings { requests_a_minute: 3_000, logins_a_minute: 30, clients_max: 65_536 }
    }
}

impl Default for MailSettings {
    fn default() -> Self {
        MailSettings { folder: None, from: "shop@localhost".into() }
    }
}
