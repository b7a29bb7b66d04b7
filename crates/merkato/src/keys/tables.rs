//! The tables of keys. Reading this file is reading their data model.

use std::collections::BTreeSet;

use widerow::{Cell, Derive, Row, Schema, Timestamp};

use crate::id::KeyId;

/// What a key may be good for.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    CatalogRead,
    CatalogWrite,
    TreesRead,
    TreesWrite,
    GraphRead,
    GraphWrite,
    CustomersRead,
    CustomersWrite,
    OrdersRead,
    OrdersWrite,
    InventoryRead,
    InventoryWrite,
    AnalyticsRead,
    SalesRead,
    SalesWrite,
    TelemetryRead,
    TelemetryWrite,
    EventsRead,
    EventsWrite,
    WalletsRead,
    WalletsWrite,
    /// To make keys and to revoke them. Whether a key may make one with more scopes than its own is the server's business.
    KeysWrite,
    /// To see how the system is.
    SystemRead,
}

impl Scope {
    pub const ALL: &[Scope] = &[
        Scope::CatalogRead,
        Scope::CatalogWrite,
        Scope::TreesRead,
        Scope::TreesWrite,
        Scope::GraphRead,
        Scope::GraphWrite,
        Scope::CustomersRead,
        Scope::CustomersWrite,
        Scope::OrdersRead,
        Scope::OrdersWrite,
        Scope::InventoryRead,
        Scope::InventoryWrite,
        Scope::AnalyticsRead,
        Scope::SalesRead,
        Scope::SalesWrite,
        Scope::TelemetryRead,
        Scope::TelemetryWrite,
        Scope::EventsRead,
        Scope::EventsWrite,
        Scope::WalletsRead,
        Scope::WalletsWrite,
        Scope::KeysWrite,
        Scope::SystemRead,
    ];

    /// What `as_str` says, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        Scope::ALL.iter().copied().find(|scope| scope.as_str() == text)
    }
}

/// What is kept of a secret.
#[derive(Cell, Clone, PartialEq, Eq)]
pub struct SecretHash(pub(super) String);

/// A log is no place for it.
impl std::fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// A key by its id. One row a partition, about 500 bytes. One that is revoked or at its end goes after a while.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "api_keys", partition(key_id), guarded, read = LocalQuorum, write = Quorum)]
pub struct ApiKey {
    pub key_id: KeyId,
    /// What its makers call it; several may have one name.
    pub name: String,
    pub secret_hash: SecretHash,
    pub scopes: BTreeSet<Scope>,
    /// Who made it: a user's id, a key's, or a word.
    pub created_by: String,
    pub created_at: Timestamp,
    /// As exact as the settings say.
    pub last_used_at: Option<Timestamp>,
    /// None: it is good until it is revoked.
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// The keys of a shop, newest first, without the hashes. One partition: expected 10 rows, at most 200 in force.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "api_keys_by_age", partition(shard), clustering(created_at desc, key_id desc), read = LocalQuorum)]
pub struct KeyEntry {
    /// Always 0: a list must have a partition.
    pub shard: i32,
    pub created_at: Timestamp,
    pub key_id: KeyId,
    pub name: String,
    pub scopes: BTreeSet<Scope>,
    pub created_by: String,
    pub last_used_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

pub(super) const SHARD: i32 = 0;

impl Derive<KeyEntry> for ApiKey {
    fn derive(&self) -> Vec<KeyEntry> {
        vec![KeyEntry {
            shard: SHARD,
            created_at: self.created_at,
            key_id: self.key_id,
            name: self.name.clone(),
            scopes: self.scopes.clone(),
            created_by: self.created_by.clone(),
            last_used_at: self.last_used_at,
            expires_at: self.expires_at,
            revoked_at: self.revoked_at,
        }]
    }

    fn source(entry: &KeyEntry) -> KeyId {
        entry.key_id
    }
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.derived::<ApiKey, KeyEntry>()
}
