//! Secrets that are handed out once and kept only as hashes: sessions, and links that are sent by mail.

use subtle::ConstantTimeEq;

use crate::{
    context::Context,
    id::UserId,
    text::{digest, hex, is_hex},
};

/// Bytes that nobody guesses. A fast hash of them is as safe as a slow one.
const SECRET_BYTES: usize = 32;

/// What only its bearer knows. It is shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A log is no place for it.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    pub(super) fn new(ctx: &Context) -> Self {
        Secret(hex(&ctx.random::<SECRET_BYTES>()))
    }

    /// A secret as someone presents it; None if it cannot be one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        is_hex(text, SECRET_BYTES).then(|| Secret(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> String {
        digest(&[self.0.as_bytes()])
    }

    pub(super) fn has_hash(&self, hash: &str) -> bool {
        self.hash().as_bytes().ct_eq(hash.as_bytes()).into()
    }

    /// What a link carries: whose it is, so that one row decides, and the secret.
    pub(super) fn of_user(&self, user: UserId) -> Self {
        Secret(format!("{}.{}", user.0.simple(), self.0))
    }
}

/// The user and the secret of a link.
pub(super) fn parse_link(text: &str) -> Option<(UserId, Secret)> {
    let (user, secret) = text.split_once('.')?;
    Some((user.parse().ok()?, Secret::parse(secret)?))
}

/// To whom the letter went that a token is from, if it can be one. Whether it is good is not said.
pub fn addressee(token: &str) -> Option<UserId> {
    parse_link(token).map(|(user, _)| user)
}

/// A token and where to send it.
#[derive(Clone, Debug)]
#[must_use = "the token is kept nowhere else"]
pub struct Letter {
    pub user_id: UserId,
    pub email: String,
    pub token: Secret,
}
