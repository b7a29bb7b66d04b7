//! The tables of accounts. Reading this file is reading their data model.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;
use widerow::{Cell, Derive, Row, Schema, Timestamp};

use crate::{
    claims::{Bearer, ClaimKind},
    id::{AddressId, SessionId, UserId},
    limits,
    passwords::PasswordHash,
    shards,
};

/// A deleted user is a row without a person: orders go on naming its id.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStatus {
    Active,
    Suspended,
    Deleted,
}

/// What a user may do, the least first: each may do what the ones before it may.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Customer,
    Staff,
    Admin,
}

/// What a token that was sent by mail is good for.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenPurpose {
    VerifyEmail,
    ResetPassword,
    ChangeEmail,
}

/// A token that was sent and not used yet.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct PendingToken {
    pub secret_hash: String,
    pub expires_at: Timestamp,
    /// For a change of the e-mail address: the new one, folded.
    pub new_email: Option<String>,
}

/// Where something is sent to.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub address_id: AddressId,
    /// `home`, `work`, `shipping`.
    pub label: Option<String>,
    pub street: String,
    pub street2: Option<String>,
    pub city: String,
    pub state: Option<String>,
    pub postal_code: Option<String>,
    /// Two letters of ISO 3166.
    pub country: String,
    pub phone: Option<String>,
}

/// Q6 and Q8: everything about one user. One row a partition, about 1 KiB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "users", partition(user_id), guarded, read = LocalQuorum, write = Quorum)]
pub struct User {
    pub user_id: UserId,
    /// Folded. None once the user is erased, and never before.
    pub email: Option<String>,
    pub password_hash: Option<PasswordHash>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub phone: Option<String>,
    pub avatar_url: Option<String>,
    /// One of the addresses, as long as there are any.
    pub default_address_id: Option<AddressId>,
    pub addresses: Vec<Address>,
    pub preferences: BTreeMap<String, String>,
    pub email_verified: bool,
    pub status: UserStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_login_at: Option<Timestamp>,
    pub role: Role,
    /// Only sessions of the present epoch are good.
    pub session_epoch: i64,
    /// How often the profile, the preferences or the addresses were edited: what an editor's change rests upon.
    pub revision: i64,
    pub pending: BTreeMap<TokenPurpose, PendingToken>,
    /// Addresses that the user has no more, or was about to take, and whose claims are still to be given back.
    pub former_emails: BTreeSet<String>,
}

impl Bearer for User {
    const KIND: ClaimKind = ClaimKind::Email;

    fn partition(owner: Uuid) -> UserId {
        UserId(owner)
    }

    fn key(owner: Uuid) -> UserId {
        UserId(owner)
    }

    fn has_name(&self, email: &str) -> bool {
        self.email.as_deref() == Some(email)
    }
}

/// Q7: whose an e-mail address is, with what logging in needs. One row a partition.
///
/// RACE: an address passes from one user to another, so that rows of two partitions stand behind one key, one after the
/// other. The claim orders them: the next one's commit rests on a claim that was made after the former one's commit was read
/// or its claim given back, and what a process writes is later than all that it has built upon.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "users_by_email", partition(email), read = LocalQuorum)]
pub struct UserByEmail {
    pub email: String,
    pub user_id: UserId,
    pub password_hash: Option<PasswordHash>,
    pub email_verified: bool,
    pub status: UserStatus,
}

/// A user who is erased has no address and stands nowhere.
impl Derive<UserByEmail> for User {
    fn derive(&self) -> Vec<UserByEmail> {
        let entry = |email: &String| UserByEmail {
            email: email.clone(),
            user_id: self.user_id,
            password_hash: self.password_hash.clone(),
            email_verified: self.email_verified,
            status: self.status,
        };
        self.email.iter().map(entry).collect()
    }

    fn source(entry: &UserByEmail) -> UserId {
        entry.user_id
    }
}

/// The users, newest first, for staff. Sixteen partitions for good; expected 1,000 rows each, at most 500,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "users_by_age", partition(shard), clustering(created_at desc, user_id desc), read = LocalQuorum)]
pub struct UserEntry {
    pub shard: u32,
    pub created_at: Timestamp,
    pub user_id: UserId,
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub email_verified: bool,
    pub status: UserStatus,
    pub role: Role,
}

/// A user who is erased stands nowhere.
impl Derive<UserEntry> for User {
    fn derive(&self) -> Vec<UserEntry> {
        let entry = |email: &String| UserEntry {
            shard: shards::of(self.user_id.0.as_bytes(), limits::USER_SHARDS),
            created_at: self.created_at,
            user_id: self.user_id,
            email: email.clone(),
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            email_verified: self.email_verified,
            status: self.status,
            role: self.role,
        };
        self.email.iter().map(entry).collect()
    }

    fn source(entry: &UserEntry) -> UserId {
        entry.user_id
    }
}

/// Who works for the shop, the oldest first: few, and found without walking over the customers. One partition; expected 10
/// rows, at most 10,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "staff", partition(shop), clustering(created_at, user_id), read = LocalQuorum)]
pub struct StaffEntry {
    /// Always the same: a list must have a partition.
    pub shop: u32,
    pub created_at: Timestamp,
    pub user_id: UserId,
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub status: UserStatus,
    pub role: Role,
    pub last_login_at: Option<Timestamp>,
}

/// The one partition of the staff.
pub(super) const STAFF: u32 = 0;

/// A customer, and a user who is erased, has no row.
impl Derive<StaffEntry> for User {
    fn derive(&self) -> Vec<StaffEntry> {
        let entry = |email: &String| StaffEntry {
            shop: STAFF,
            created_at: self.created_at,
            user_id: self.user_id,
            email: email.clone(),
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            status: self.status,
            role: self.role,
            last_login_at: self.last_login_at,
        };
        self.email.iter().filter(|_| self.role > Role::Customer).map(entry).collect()
    }

    fn source(entry: &StaffEntry) -> UserId {
        entry.user_id
    }
}

/// The sessions of a user, oldest first. At most 50 rows; each ends with its session.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "sessions_by_user",
    partition(user_id),
    clustering(session_id),
    guarded,
    read = LocalQuorum,
    write = Quorum
)]
pub struct UserSession {
    pub user_id: UserId,
    pub session_id: SessionId,
    /// Sessions of an earlier epoch are not taken any more: a login that was under way while the password changed, or while
    /// the user was erased, writes none.
    #[row(static)]
    pub epoch_min: Option<i64>,
    pub token_hash: String,
    pub created_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub expires_at: Timestamp,
    /// The client's, at the login.
    pub address: String,
    pub user_agent: Option<String>,
    pub session_epoch: i64,
}

/// A session by the hash of its token. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sessions", partition(token_hash), read = LocalQuorum)]
pub struct Session {
    pub token_hash: String,
    pub user_id: UserId,
    pub session_id: SessionId,
    pub session_epoch: i64,
    pub last_seen_at: Timestamp,
    pub expires_at: Timestamp,
}

impl Derive<Session> for UserSession {
    fn derive(&self) -> Vec<Session> {
        vec![Session {
            token_hash: self.token_hash.clone(),
            user_id: self.user_id,
            session_id: self.session_id,
            session_epoch: self.session_epoch,
            last_seen_at: self.last_seen_at,
            expires_at: self.expires_at,
        }]
    }

    fn source(session: &Session) -> (UserId, SessionId) {
        (session.user_id, session.session_id)
    }
}

/// Attempts of late, against an account or from an address; the subject is a hash of either. One row a partition, for a day.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "login_attempts", partition(subject), guarded, ttl = "1d", read = LocalQuorum, write = Quorum)]
pub struct LoginAttempts {
    pub subject: String,
    pub attempts: i64,
    pub last_at: Timestamp,
    /// None before this.
    pub next_at: Timestamp,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema
        .derived::<User, UserByEmail>()
        .derived::<User, UserEntry>()
        .derived::<User, StaffEntry>()
        .derived::<UserSession, Session>()
        .table::<LoginAttempts>()
}
