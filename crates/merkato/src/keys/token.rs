//! Tokens: what a program shows. `mk_<tenant>_<key id>_<secret>`, the id and the secret in hexadecimal digits of fixed length,
//! so that a tenant's name may have underscores of its own.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;
use widerow::key::Tenant;

use super::tables::SecretHash;
use crate::{
    context::Context,
    id::KeyId,
    text::{hex, is_hex},
};

const PREFIX: &str = "mk_";
const ID_BYTES: usize = 16;
/// Bytes that nobody guesses. A fast hash of them is as safe as a slow one.
const SECRET_BYTES: usize = 32;

/// A token as it is shown, well formed; whether it is good is asked of `find`.
#[derive(Clone)]
pub struct Token {
    text: String,
    tenant: Tenant,
    key_id: KeyId,
    secret_hash: SecretHash,
}

/// A log is no place for its secret.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Token({PREFIX}{}_{}_…)", self.tenant, self.key_id.0.simple())
    }
}

impl Token {
    pub(super) fn new(ctx: &Context, key_id: KeyId) -> Self {
        let secret = hex(&ctx.random::<SECRET_BYTES>());
        let tenant = ctx.store.tenant().clone();
        let text = format!("{PREFIX}{tenant}_{}_{secret}", key_id.0.simple());
        Token { text, tenant, key_id, secret_hash: hash(&secret) }
    }

    /// A token as someone presents it; None if it cannot be one. There is one way to write it: no other case, no spaces.
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, secret) = text.strip_prefix(PREFIX)?.rsplit_once('_')?;
        let (tenant, id) = rest.rsplit_once('_')?;
        if !is_hex(id, ID_BYTES) || !is_hex(secret, SECRET_BYTES) {
            return None;
        }
        let tenant = Tenant::new(tenant).ok()?;
        let key_id = KeyId(Uuid::try_parse(id).ok()?);
        Some(Token { text: text.to_owned(), tenant, key_id, secret_hash: hash(secret) })
    }

    /// Whose key it says to be.
    pub fn tenant(&self) -> &str {
        self.tenant.as_str()
    }

    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// All of it, with its secret.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn hash(&self) -> &SecretHash {
        &self.secret_hash
    }

    pub(super) fn has_hash(&self, hash: &SecretHash) -> bool {
        self.secret_hash.0.as_bytes().ct_eq(hash.0.as_bytes()).into()
    }
}

fn hash(secret: &str) -> SecretHash {
    SecretHash(hex(&Sha256::digest(secret)))
}
