//! What is decided about a user's row, and when an attempt must wait. No reading, no writing, no clock.

use std::{collections::BTreeMap, net::IpAddr};

use unicode_normalization::UnicodeNormalization;
use widerow::Timestamp;

use super::{
    error::{Error, Result},
    tables::{Address, LoginAttempts, PendingToken, Role, TokenPurpose, User, UserStatus},
    token::Secret,
};
use crate::{
    check::{Check, Invalid},
    id::{AddressId, UserId},
    limits,
    passwords::PasswordHash,
    settings::AttemptSettings,
};

/// Who wants to register.
#[derive(Clone, Debug, Default)]
pub struct NewUser {
    pub email: String,
    pub password: String,
    pub profile: Profile,
}

/// What people say about themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub phone: Option<String>,
    pub avatar_url: Option<String>,
}

/// What one changes about oneself; what is None stays. Of what may be absent, `Some(None)` takes it away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChange {
    pub first_name: Option<Option<String>>,
    pub last_name: Option<Option<String>>,
    pub phone: Option<Option<String>>,
    pub avatar_url: Option<Option<String>>,
    /// In place of all that there are.
    pub preferences: Option<BTreeMap<String, String>>,
}

/// An address without its id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressInput {
    pub label: Option<String>,
    pub street: String,
    pub street2: Option<String>,
    pub city: String,
    pub state: Option<String>,
    pub postal_code: Option<String>,
    pub country: String,
    pub phone: Option<String>,
}

/// The one form in which an address is kept and compared.
pub fn fold_email(email: &str) -> String {
    email.trim().to_lowercase().nfc().collect()
}

/// Whether a folded address can be one. Whether it is, only a letter to it tells.
pub fn check_email(check: &mut Check, field: &str, email: &str) {
    let parts: Vec<&str> = email.split('@').collect();
    // What would part one address from the next in a letter's head.
    let bad = |c: char| c.is_whitespace() || c.is_control() || "<>()[]\\,;:\"".contains(c);
    if email.len() > limits::EMAIL_BYTES_MAX {
        check.refuse(field, format!("it has {} bytes, the limit is {}", email.len(), limits::EMAIL_BYTES_MAX));
    } else if parts.len() != 2 || parts.iter().any(|part| part.is_empty()) || email.contains(bad) {
        check.refuse(field, "not an e-mail address");
    }
}

/// A new password. It is not asked what it is made of.
pub fn check_new_password(check: &mut Check, field: &str, password: &str, email: Option<&str>) {
    let (least, most) = (*limits::PASSWORD_BYTES.start(), *limits::PASSWORD_BYTES.end());
    if password.len() < least {
        check.refuse(field, format!("it has {} bytes, {least} are the least", password.len()));
    } else if password.len() > most {
        check.refuse(field, format!("it has {} bytes, the limit is {most}", password.len()));
    } else if email.is_some_and(|email| fold_email(password) == email) {
        check.refuse(field, "it is the e-mail address");
    }
}

/// A password to be compared: only its length is looked at, because it is going to be hashed.
pub fn check_given_password(check: &mut Check, field: &str, password: &str) {
    let most = *limits::PASSWORD_BYTES.end();
    check.that(!password.is_empty(), field, "it is empty");
    check.that(password.len() <= most, field, format!("it has {} bytes, the limit is {most}", password.len()));
}

impl Profile {
    pub fn check(&self, check: &mut Check) {
        check.optional_line("first_name", self.first_name.as_deref(), limits::LINE_BYTES_MAX);
        check.optional_line("last_name", self.last_name.as_deref(), limits::LINE_BYTES_MAX);
        check.optional_line("phone", self.phone.as_deref(), limits::PHONE_BYTES_MAX);
        if let Some(url) = &self.avatar_url {
            check.url("avatar_url", url);
        }
    }

    fn set(self, user: &mut User) {
        user.first_name = self.first_name;
        user.last_name = self.last_name;
        user.phone = self.phone;
        user.avatar_url = self.avatar_url;
    }
}

impl AddressInput {
    pub fn check(&self) -> Result<(), Invalid> {
        let mut check = Check::new();
        check.optional_line("label", self.label.as_deref(), limits::LINE_BYTES_MAX);
        check.line("street", &self.street, 1..=limits::LINE_BYTES_MAX);
        check.optional_line("street2", self.street2.as_deref(), limits::LINE_BYTES_MAX);
        check.line("city", &self.city, 1..=limits::LINE_BYTES_MAX);
        check.optional_line("state", self.state.as_deref(), limits::LINE_BYTES_MAX);
        check.optional_line("postal_code", self.postal_code.as_deref(), limits::POSTAL_CODE_BYTES_MAX);
        let country = self.country.len() == 2 && self.country.bytes().all(|b| b.is_ascii_uppercase());
        check.that(country, "country", "not the two capital letters of a country");
        check.optional_line("phone", self.phone.as_deref(), limits::PHONE_BYTES_MAX);
        check.end()
    }

    pub fn with_id(self, address_id: AddressId) -> Address {
        let AddressInput { label, street, street2, city, state, postal_code, country, phone } = self;
        Address { address_id, label, street, street2, city, state, postal_code, country, phone }
    }
}

pub fn check_preferences(preferences: &BTreeMap<String, String>) -> Result<(), Invalid> {
    let mut check = Check::new();
    check.count("preferences", preferences.len(), limits::COLLECTION_ITEMS_MAX);
    for (name, value) in preferences {
        check.line("preferences", name, 1..=limits::LINE_BYTES_MAX);
        check.line(format_args!("preferences/{name}"), value, 0..=limits::LINE_BYTES_MAX);
    }
    check.end()
}

/// A new user, to be committed once the address is claimed.
pub fn new_user(
    user_id: UserId,
    email: &str,
    password_hash: PasswordHash,
    profile: Profile,
    verify: PendingToken,
    now: Timestamp,
) -> User {
    let mut user = User {
        user_id,
        email: Some(email.to_owned()),
        password_hash: Some(password_hash),
        pending: BTreeMap::from([(TokenPurpose::VerifyEmail, verify)]),
        status: UserStatus::Active,
        ..nobody(user_id, now)
    };
    profile.set(&mut user);
    user
}

/// Several have registered with an address that nobody has shown to be theirs, nor used: whose password it is to be says who reads
/// its letters. All that was chosen goes, and what was sent before opens nothing any more.
pub fn contest(user: User, email: &str, choose: PendingToken, now: Timestamp) -> Result<User> {
    let unused = user.status == UserStatus::Active && !user.email_verified && user.last_login_at.is_none();
    if !unused || user.email.as_deref() != Some(email) {
        return Err(Error::EmailTaken);
    }
    let mut user = end_sessions(user, now);
    drop_tokens(&mut user, &[TokenPurpose::VerifyEmail, TokenPurpose::ResetPassword, TokenPurpose::ChangeEmail]);
    user.password_hash = None;
    let user = issue_token(user, TokenPurpose::ResetPassword, choose, now);
    edit(user, None, now, |user| Profile::default().set(user))
}

/// A user without a person.
fn nobody(user_id: UserId, now: Timestamp) -> User {
    User {
        user_id,
        email: None,
        password_hash: None,
        first_name: None,
        last_name: None,
        phone: None,
        avatar_url: None,
        default_address_id: None,
        addresses: Vec::new(),
        preferences: BTreeMap::new(),
        email_verified: false,
        status: UserStatus::Deleted,
        created_at: now,
        updated_at: now,
        last_login_at: None,
        role: Role::Customer,
        session_epoch: 0,
        revision: 0,
        pending: BTreeMap::new(),
        former_emails: Default::default(),
    }
}

/// The user, if there is one who has not been erased.
pub fn living(found: Option<User>, user: UserId) -> Result<User> {
    found.filter(|user| user.status != UserStatus::Deleted).ok_or(Error::UserNotFound { user })
}

/// One more edit by a person, who may have said which one it rests upon.
pub fn edit(mut user: User, expected: Option<i64>, now: Timestamp, change: impl FnOnce(&mut User)) -> Result<User> {
    if let Some(expected) = expected.filter(|expected| *expected != user.revision) {
        return Err(Error::Edited { expected, found: user.revision });
    }
    change(&mut user);
    user.revision += 1;
    user.updated_at = now;
    Ok(user)
}

pub fn set_profile(user: User, profile: Profile, expected: Option<i64>, now: Timestamp) -> Result<User> {
    edit(user, expected, now, |user| profile.set(user))
}

/// What was given must be right; what was not is as it was.
pub fn change_profile(user: User, change: ProfileChange, expected: Option<i64>, now: Timestamp) -> Result<User> {
    edit(user, expected, now, |user| {
        let fields = [
            (&mut user.first_name, change.first_name),
            (&mut user.last_name, change.last_name),
            (&mut user.phone, change.phone),
            (&mut user.avatar_url, change.avatar_url),
        ];
        for (field, given) in fields {
            if let Some(given) = given {
                *field = given;
            }
        }
        if let Some(preferences) = change.preferences {
            user.preferences = preferences;
        }
    })
}

/// The first address is the default, whether or not it is asked for.
pub fn add_address(user: User, address: Address, make_default: bool, now: Timestamp) -> Result<User> {
    if user.addresses.len() >= limits::ADDRESSES_MAX {
        return Err(Error::TooManyAddresses { limit: limits::ADDRESSES_MAX });
    }
    edit(user, None, now, |user| {
        if make_default || user.addresses.is_empty() {
            user.default_address_id = Some(address.address_id);
        }
        user.addresses.push(address);
    })
}

pub fn change_address(user: User, address: Address, now: Timestamp) -> Result<User> {
    let position = position(&user, address.address_id)?;
    edit(user, None, now, |user| user.addresses[position] = address)
}

/// The default passes to the oldest that is left.
pub fn remove_address(user: User, address: AddressId, now: Timestamp) -> Result<User> {
    let position = position(&user, address)?;
    edit(user, None, now, |user| {
        user.addresses.remove(position);
        if user.default_address_id == Some(address) {
            user.default_address_id = user.addresses.first().map(|address| address.address_id);
        }
    })
}

pub fn set_default_address(user: User, address: AddressId, now: Timestamp) -> Result<User> {
    position(&user, address)?;
    edit(user, None, now, |user| user.default_address_id = Some(address))
}

fn position(user: &User, address: AddressId) -> Result<usize> {
    let position = user.addresses.iter().position(|known| known.address_id == address);
    position.ok_or(Error::AddressNotFound { address })
}

/// A token takes the place of an earlier one for the same purpose.
pub fn issue_token(mut user: User, purpose: TokenPurpose, token: PendingToken, now: Timestamp) -> User {
    drop_tokens(&mut user, &[purpose]);
    user.pending.insert(purpose, token);
    user.updated_at = now;
    user
}

/// The token that the secret is the secret of, if it has not ended. It ends at the instant.
pub fn find_token<'u>(
    user: &'u User,
    purpose: TokenPurpose,
    secret: &Secret,
    now: Timestamp,
) -> Result<&'u PendingToken> {
    let good = |token: &&PendingToken| secret.has_hash(&token.secret_hash) && now < token.expires_at;
    user.pending.get(&purpose).filter(good).ok_or(Error::TokenInvalid)
}

pub fn verify_email(mut user: User, secret: &Secret, now: Timestamp) -> Result<User> {
    find_token(&user, TokenPurpose::VerifyEmail, secret, now)?;
    user.pending.remove(&TokenPurpose::VerifyEmail);
    user.email_verified = true;
    user.updated_at = now;
    Ok(user)
}

/// Who could read the letter has the address, too.
pub fn reset_password(user: User, secret: &Secret, hash: PasswordHash, now: Timestamp) -> Result<User> {
    find_token(&user, TokenPurpose::ResetPassword, secret, now)?;
    Ok(set_password(user, hash, now))
}

/// A password from somebody who vouches for the address.
pub fn set_password(user: User, hash: PasswordHash, now: Timestamp) -> User {
    let mut user = change_password(user, hash, now);
    user.email_verified = true;
    user.pending.remove(&TokenPurpose::VerifyEmail);
    user
}

/// A new password ends what an intruder may have begun: sessions, and links that are under way.
pub fn change_password(user: User, hash: PasswordHash, now: Timestamp) -> User {
    let mut user = end_sessions(user, now);
    drop_tokens(&mut user, &[TokenPurpose::ResetPassword, TokenPurpose::ChangeEmail]);
    user.password_hash = Some(hash);
    user
}

pub fn end_sessions(mut user: User, now: Timestamp) -> User {
    user.session_epoch += 1;
    user.updated_at = now;
    user
}

/// The new address takes the place of the old. Letters that went to the old one open nothing any more.
pub fn confirm_email_change(mut user: User, secret: &Secret, now: Timestamp) -> Result<User> {
    let new_email = find_token(&user, TokenPurpose::ChangeEmail, secret, now)?.new_email.clone();
    let new_email = new_email.ok_or(Error::TokenInvalid)?;
    user.pending.clear();
    user.former_emails.remove(&new_email);
    user.former_emails.extend(user.email.replace(new_email.clone()).filter(|old| *old != new_email));
    user.email_verified = true;
    user.updated_at = now;
    Ok(user)
}

/// The password was right: whether its owner may come in.
pub fn may_log_in(user: &User, email: &str, verified_email_needed: bool) -> Result<()> {
    // The address has passed to another meanwhile, or to nobody.
    if user.email.as_deref() != Some(email) {
        return Err(Error::WrongCredentials);
    }
    match user.status {
        UserStatus::Active if verified_email_needed && !user.email_verified => Err(Error::EmailNotVerified),
        UserStatus::Active => Ok(()),
        UserStatus::Suspended => Err(Error::Suspended),
        UserStatus::Deleted => Err(Error::WrongCredentials),
    }
}

/// What is left of a person: an id that orders name. The addresses stay until their claims are given back.
pub fn erase(mut user: User, now: Timestamp) -> User {
    let all = [TokenPurpose::VerifyEmail, TokenPurpose::ResetPassword, TokenPurpose::ChangeEmail];
    drop_tokens(&mut user, &all);
    user.former_emails.extend(user.email.take());
    User {
        created_at: user.created_at,
        session_epoch: user.session_epoch + 1,
        revision: user.revision + 1,
        former_emails: user.former_emails,
        ..nobody(user.user_id, now)
    }
}

/// A change of address that was asked for and dropped may have claimed its address already.
fn drop_tokens(user: &mut User, purposes: &[TokenPurpose]) {
    for purpose in purposes {
        let new_email = user.pending.remove(purpose).and_then(|token| token.new_email);
        user.former_emails.extend(new_email.filter(|new| user.email.as_ref() != Some(new)));
    }
}

/// An address as attempts are counted: of IPv6 the network, because one who has one address there has them all.
pub fn address_subject(address: &str) -> String {
    match address.trim().parse::<IpAddr>() {
        Ok(IpAddr::V6(v6)) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.to_string(),
            None => v6.segments()[..4].iter().map(|segment| format!("{segment:x}:")).collect(),
        },
        Ok(v4) => v4.to_string(),
        Err(_) => address.trim().to_owned(),
    }
}

/// Counts an attempt, or says how many seconds it must wait.
pub fn attempt(
    found: Option<LoginAttempts>,
    subject: &str,
    free: u32,
    settings: &AttemptSettings,
    now: Timestamp,
) -> Result<LoginAttempts> {
    let mut attempts = 1;
    if let Some(found) = found {
        let wait_millis = found.next_at.millis() - now.millis();
        if wait_millis > 0 {
            return Err(Error::TooManyAttempts { wait_seconds: (wait_millis + 999) / 1_000 });
        }
        let quiet_millis = (now.millis() - found.last_at.millis()).max(0);
        let forgotten = quiet_millis / settings.forget_seconds.max(1).saturating_mul(1_000);
        attempts += (found.attempts - forgotten).max(0);
    }
    let next_at = now.plus_seconds(wait_seconds(attempts, free, settings));
    Ok(LoginAttempts { subject: subject.to_owned(), attempts, last_at: now, next_at })
}

/// Takes one attempt back, as if it had not been made. The others stay counted.
pub fn take_back(found: Option<LoginAttempts>, free: u32, settings: &AttemptSettings) -> Option<LoginAttempts> {
    let found = found.filter(|found| found.attempts > 1)?;
    let attempts = found.attempts - 1;
    let next_at = found.last_at.plus_seconds(wait_seconds(attempts, free, settings));
    Some(LoginAttempts { attempts, next_at, ..found })
}

/// How long after so many attempts the next one must wait.
fn wait_seconds(attempts: i64, free: u32, settings: &AttemptSettings) -> i64 {
    let over = attempts - i64::from(free);
    if over < 0 {
        return 0;
    }
    let doubled = settings.first_wait_seconds.saturating_mul(1 << over.min(40));
    doubled.min(settings.wait_seconds_max)
}
