//! What accounts refuse. No text of an e-mail address, a password or a token is in it.

use crate::{
    check::Invalid,
    error::Kind,
    id::{AddressId, UserId},
    passwords,
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no user {user}")]
    UserNotFound { user: UserId },
    #[error("there is no address {address}")]
    AddressNotFound { address: AddressId },
    #[error("another one has the e-mail address")]
    EmailTaken,
    /// A wrong password and an unknown address alike.
    #[error("the e-mail address or the password is wrong")]
    WrongCredentials,
    #[error("too many attempts: try again in {wait_seconds} s")]
    TooManyAttempts { wait_seconds: i64 },
    #[error("the e-mail address has not been verified")]
    EmailNotVerified,
    #[error("the account is suspended")]
    Suspended,
    #[error("the link is not valid, or it has been used or has ended")]
    TokenInvalid,
    #[error("nobody is logged in")]
    NotLoggedIn,
    #[error("it needs the role {}", needed.as_str())]
    Forbidden { needed: super::Role },
    #[error("{limit} addresses are the most")]
    TooManyAddresses { limit: usize },
    #[error("the profile was edited meanwhile: it is at revision {found}, not {expected}")]
    Edited { expected: i64, found: i64 },
    #[error(transparent)]
    Password(#[from] passwords::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::UserNotFound { .. } => "user_not_found",
            Error::AddressNotFound { .. } => "address_not_found",
            Error::EmailTaken => "email_taken",
            Error::WrongCredentials => "wrong_credentials",
            Error::TooManyAttempts { .. } => "too_many_attempts",
            Error::EmailNotVerified => "email_not_verified",
            Error::Suspended => "account_suspended",
            Error::TokenInvalid => "token_invalid",
            Error::NotLoggedIn => "not_logged_in",
            Error::Forbidden { .. } => "forbidden",
            Error::TooManyAddresses { .. } => "too_many_addresses",
            Error::Edited { .. } => "edited_meanwhile",
            Error::Password(passwords::Error::Busy) => "busy",
            Error::Password(_) => "password",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::UserNotFound { .. } | Error::AddressNotFound { .. } => Kind::NotFound,
            Error::EmailTaken => Kind::Exists,
            Error::WrongCredentials | Error::NotLoggedIn => Kind::Unauthenticated,
            Error::TooManyAttempts { .. } | Error::TooManyAddresses { .. } => Kind::Limit,
            Error::EmailNotVerified | Error::Suspended | Error::Forbidden { .. } => Kind::Forbidden,
            Error::TokenInvalid => Kind::Refused,
            Error::Edited { .. } => Kind::Conflict,
            Error::Password(passwords::Error::Busy) => Kind::Unavailable,
            Error::Password(_) => Kind::Internal,
            Error::Data(error) => Kind::of(error),
        }
    }
}
