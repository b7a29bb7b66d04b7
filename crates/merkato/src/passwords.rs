//! Passwords: hashed with Argon2id, away from the threads that serve requests, so many at once and no more.
//!
//! 1. A password is nowhere kept, only its hash, salted, with the parameters that it was made with.
//! 2. Asking after a hash that is not there takes as long as asking after one that is.

use std::{hint::black_box, sync::Arc, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{Error as HashError, PasswordHasher, PasswordVerifier, phc},
};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;
use widerow::Cell;

use crate::settings::PasswordSettings;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a password could not be hashed. It says nothing about the password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("too many passwords are being checked, try again later")]
    Busy,
    #[error("a password could not be hashed: {detail}")]
    Failed { detail: String },
}

impl Error {
    fn failed(detail: impl ToString) -> Self {
        Error::Failed { detail: detail.to_string() }
    }
}

/// The hash of a password as a PHC string: algorithm, parameters, salt and output.
#[derive(Cell, Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

/// A log is no place for it.
impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// Hashes passwords. One for all clones of a context, so that they share its bound.
pub struct Passwords {
    settings: PasswordSettings,
    turns: Arc<Semaphore>,
}

impl Passwords {
    pub fn new(settings: &PasswordSettings) -> Self {
        let turns = Arc::new(Semaphore::new(settings.at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Passwords { settings: settings.clone(), turns }
    }

    /// The salt must be new each time.
    pub async fn hash(&self, password: &str, salt: [u8; 16]) -> Result<PasswordHash> {
        let (argon2, password) = (self.argon2()?, normal(password));
        self.in_turn(move || match argon2.hash_password_with_salt(password.as_bytes(), &salt) {
            Ok(hash) => Ok(PasswordHash(hash.to_string())),
            Err(error) => Err(Error::failed(error)),
        })
        .await
    }

    /// Whether the password is the one that was hashed. Never where there is no hash, and that takes as long.
    pub async fn verify(&self, password: &str, hash: Option<&PasswordHash>) -> Result<bool> {
        let Some(hash) = hash.cloned() else {
            black_box(self.hash(password, [0; 16]).await?);
            return Ok(false);
        };
        let (argon2, password) = (self.argon2()?, normal(password));
        self.in_turn(move || {
            let hash = phc::PasswordHash::new(&hash.0).map_err(Error::failed)?;
            match argon2.verify_password(password.as_bytes(), &hash) {
                Ok(()) => Ok(true),
                Err(HashError::PasswordInvalid) => Ok(false),
                Err(error) => Err(Error::failed(error)),
            }
        })
        .await
    }

    /// Whether the hash was made otherwise than hashes are made now.
    pub fn is_outdated(&self, hash: &PasswordHash) -> bool {
        let PasswordSettings { memory_kib, passes, lanes, .. } = self.settings;
        let made = phc::PasswordHash::new(&hash.0).ok().filter(|hash| {
            hash.algorithm == Algorithm::Argon2id.ident() && hash.version == Some(Version::V0x13.into())
        });
        let params = made.and_then(|hash| Params::try_from(&hash).ok());
        params.is_none_or(|made| (made.m_cost(), made.t_cost(), made.p_cost()) != (memory_kib, passes, lanes))
    }

    fn argon2(&self) -> Result<Argon2<'static>> {
        let PasswordSettings { memory_kib, passes, lanes, .. } = self.settings;
        let params = Params::new(memory_kib, passes, lanes, None).map_err(Error::failed)?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// The permit goes with the work: a caller who has gone away leaves a thread that is still busy.
    async fn in_turn<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let waited = Duration::from_secs(self.settings.wait_seconds_max);
        let turn = tokio::time::timeout(waited, self.turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| Error::Busy)?.map_err(Error::failed)?;
        let work = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::failed)?
    }
}

/// Keyboards write one and the same letter differently; NIST SP 800-63B asks for one form.
fn normal(password: &str) -> String {
    password.nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: PasswordSettings =
        PasswordSettings { memory_kib: 8, passes: 1, lanes: 1, at_once: 2, wait_seconds_max: 10 };

    #[tokio::test]
    async fn the_right_password_and_no_other_is_the_one_that_was_hashed() {
        let passwords = Passwords::new(&SMALL);
        let hash = passwords.hash("correct horse", [7; 16]).await.unwrap();
        assert!(hash.0.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{}", hash.0);
        assert!(passwords.verify("correct horse", Some(&hash)).await.unwrap());
        assert!(!passwords.verify("correct horsE", Some(&hash)).await.unwrap());
        assert!(!passwords.verify("correct horse", None).await.unwrap());
        assert_eq!(format!("{hash:?}"), "PasswordHash(…)");
    }

    #[tokio::test]
    async fn composed_and_decomposed_letters_are_one_password() {
        let passwords = Passwords::new(&SMALL);
        let hash = passwords.hash("caf\u{e9} \u{212b}ngstr\u{f6}m", [7; 16]).await.unwrap();
        assert!(passwords.verify("cafe\u{301} A\u{30a}ngstro\u{308}m", Some(&hash)).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_of_other_parameters_is_good_and_outdated() {
        let old = Passwords::new(&SMALL).hash("correct horse", [7; 16]).await.unwrap();
        for settings in [
            PasswordSettings { memory_kib: 16, ..SMALL },
            PasswordSettings { passes: 2, ..SMALL },
            PasswordSettings { memory_kib: 16, lanes: 2, ..SMALL },
        ] {
            let passwords = Passwords::new(&settings);
            assert!(passwords.verify("correct horse", Some(&old)).await.unwrap());
            assert!(passwords.is_outdated(&old));
            assert!(!passwords.is_outdated(&passwords.hash("correct horse", [7; 16]).await.unwrap()));
        }
        assert!(Passwords::new(&SMALL).is_outdated(&PasswordHash("what is this".into())));
    }

    #[tokio::test]
    async fn parameters_that_make_no_sense_and_hashes_that_are_none_are_errors() {
        let passwords = Passwords::new(&PasswordSettings { memory_kib: 1, ..SMALL });
        assert!(matches!(passwords.hash("correct horse", [7; 16]).await, Err(Error::Failed { .. })));
        let passwords = Passwords::new(&SMALL);
        let wrong = PasswordHash("what is this".into());
        assert!(matches!(passwords.verify("correct horse", Some(&wrong)).await, Err(Error::Failed { .. })));
    }

    #[tokio::test]
    async fn no_more_are_hashed_at_once_than_is_said() {
        let settings = PasswordSettings { at_once: 1, wait_seconds_max: 0, ..SMALL };
        let passwords = Passwords::new(&settings);
        let turn = passwords.turns.clone().acquire_owned().await.unwrap();
        assert!(matches!(passwords.verify("correct horse", None).await, Err(Error::Busy)));
        drop(turn);
        assert!(!passwords.verify("correct horse", None).await.unwrap());
    }
}
