//! People: how they register, prove who they are, and what the shop keeps about them until they ask to be forgotten.
//!
//! It sends no mail (it hands out [`Letter`]s), and it does not decide what a stranger is told: whether "this address is
//! taken" is said aloud is the server's business. What a role may do is asked of the [`Actor`].
//!
//! 1. An e-mail address belongs to one user, under any race (`claims`); case and surrounding spaces do not make it another.
//! 2. `users` decides; `users_by_email`, `users_by_age`, `staff` and `sessions` are derived and never written.
//! 3. A token that was sent by mail works once and until it ends: using it and what it does are one commit of the user's row.
//! 4. A wrong password and an unknown address have the same answer, after the same work.
//! 5. An attempt is counted before the password is looked at, so that guesses side by side get no more than guesses in a row.
//! 6. A new password ends all sessions in its own commit (`session_epoch`); their rows are cleared away afterwards, and the
//!    partition of the sessions takes none of an earlier epoch any more (`epoch_min`).
//! 7. An erased person leaves the user id, its times and numbers, and nothing personal. Erasing goes on where it was
//!    interrupted: the addresses to let go of stay in the row (`former_emails`) until all else is gone.

mod error;
mod ops;
mod rules;
mod tables;
#[cfg(test)]
mod tests;
mod token;

pub use error::Error;
pub use ops::{
    Actor, Again, Client, LoggedIn, Registered, add_address, authenticate, change_address, change_password,
    change_profile, confirm_email_change, confirm_password, count_letter, erase, find_attempts, find_by_email,
    find_user, find_users, get_user, list_addresses, list_sessions, list_staff, list_users, log_in, register,
    register_again, reinstate, remove_address, request_email_change, request_password_reset, request_verification,
    reset_password, revoke_all_sessions, revoke_session, set_default_address, set_password, set_preferences, set_role,
    suspend, update_profile, verify_email,
};
pub use rules::{AddressInput, NewUser, Profile, ProfileChange, fold_email};
pub(crate) use tables::tables;
pub use tables::{
    Address, LoginAttempts, PendingToken, Role, Session, StaffEntry, TokenPurpose, User, UserByEmail, UserEntry,
    UserSession, UserStatus,
};
pub use token::{Letter, Secret, addressee};

use crate::{
    limits,
    pattern::{AccessPattern, Amount, ReadCost},
    shards,
};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern { name: "Q6", question: "A user's profile", table: "users", key: "user_id = ?", cost: ReadCost::ROW },
    AccessPattern {
        name: "Q7",
        question: "Whose an e-mail address is, for logging in",
        table: "users_by_email",
        key: "email = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "Q8",
        question: "A user's saved addresses",
        table: "users",
        key: "user_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "session",
        question: "Who makes a request: the session, then the user, as both are now",
        table: "sessions, users",
        key: "token_hash = ?, then user_id = ?",
        cost: ReadCost::ROW.then(ReadCost::ROW),
    },
    AccessPattern {
        name: "sessions-of-user",
        question: "Where a user is logged in",
        table: "users, sessions_by_user",
        key: "user_id = ?",
        // On DynamoDB the static column comes in a request of its own, side by side with the rows.
        cost: ReadCost { requests: Amount::of(3), ..ReadCost::ROW.then(ReadCost::PAGE) },
    },
    AccessPattern {
        name: "users",
        question: "The users of a shop, newest first",
        table: "users_by_age",
        key: "shard = ?, for each of 16",
        cost: shards::page_cost(limits::USER_SHARDS),
    },
    AccessPattern {
        name: "staff",
        question: "Who works for the shop, the oldest first",
        table: "staff",
        key: "shop = 0",
        // DynamoDB reads again the row behind which a page goes on.
        cost: ReadCost { rows: Amount::of(2).and_per_row(1), ..ReadCost::PAGE },
    },
    AccessPattern {
        name: "login-attempts",
        question: "How many attempts are counted against an account or an address",
        table: "login_attempts",
        key: "subject = ?",
        cost: ReadCost::ROW,
    },
];
