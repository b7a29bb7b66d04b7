//! What makes a key, and when it is one. No reading, no writing, no clock.

use std::collections::BTreeSet;

use widerow::Timestamp;

use super::tables::{ApiKey, KeyEntry, Scope, SecretHash};
use crate::{
    check::{Check, Invalid},
    id::KeyId,
    limits,
};

/// A key to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    pub name: String,
    pub scopes: BTreeSet<Scope>,
    /// Who makes it: a user's id, a key's, or a word such as `cli`.
    pub created_by: String,
    /// None: it is good until it is revoked.
    pub expires_at: Option<Timestamp>,
}

impl NewKey {
    pub(super) fn check(&self, now: Timestamp) -> Result<(), Invalid> {
        let mut check = Check::new();
        check.line("name", &self.name, 1..=limits::LINE_BYTES_MAX);
        check.that(!self.scopes.is_empty(), "scopes", "a key is good for something");
        check.line("created_by", &self.created_by, 1..=limits::REFERENCE_BYTES_MAX);
        if let Some(expires_at) = self.expires_at {
            check.that(expires_at > now, "expires_at", "it is past");
            let latest = now.plus_seconds(limits::KEY_SECONDS_MAX);
            check.that(expires_at <= latest, "expires_at", "it is more than ten years ahead");
        }
        check.end()
    }

    pub(super) fn make(self, key_id: KeyId, secret_hash: SecretHash, now: Timestamp) -> ApiKey {
        ApiKey {
            key_id,
            name: self.name,
            secret_hash,
            scopes: self.scopes,
            created_by: self.created_by,
            created_at: now,
            last_used_at: None,
            expires_at: self.expires_at,
            revoked_at: None,
        }
    }
}

fn in_force(expires_at: Option<Timestamp>, revoked_at: Option<Timestamp>, now: Timestamp) -> bool {
    revoked_at.is_none() && expires_at.is_none_or(|end| now < end)
}

impl KeyEntry {
    /// Whether the key is good at this instant.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        in_force(self.expires_at, self.revoked_at, now)
    }
}

impl ApiKey {
    /// Whether it is good at this instant.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        in_force(self.expires_at, self.revoked_at, now)
    }

    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Whether it is to be written down that it is used now.
    pub(super) fn use_is_due(&self, now: Timestamp, every_seconds: i64) -> bool {
        self.is_in_force(now) && self.last_used_at.is_none_or(|last| last.plus_seconds(every_seconds) <= now)
    }

    /// The seconds for which it is still to be kept; None: for good.
    pub(super) fn rest_seconds(&self, now: Timestamp) -> Option<u32> {
        let end = self.revoked_at.into_iter().chain(self.expires_at).min()?;
        let forgotten = end.plus_seconds(limits::KEY_MEMORY_SECONDS);
        let seconds = (forgotten.millis().saturating_sub(now.millis())).div_euclid(1_000);
        Some(u32::try_from(seconds.max(1)).unwrap_or(widerow::limits::TTL_SECONDS_MAX))
    }
}
