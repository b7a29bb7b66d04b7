//! The rules: given, when, then.

use widerow::Timestamp;

use super::{
    error::Error,
    rules::{self, AddressInput},
    tables::{LoginAttempts, TokenPurpose, User},
    token::{Secret, parse_link},
};
use crate::{
    check::Check,
    id::{AddressId, UserId},
    passwords::PasswordHash,
    settings::AttemptSettings,
};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn problems(check: impl FnOnce(&mut Check)) -> Vec<String> {
    let mut found = Check::new();
    check(&mut found);
    found.end().err().map_or_else(Vec::new, |bad| bad.fields.into_iter().map(|field| field.field).collect())
}

fn token(secret: &Secret, new_email: Option<&str>) -> super::PendingToken {
    super::PendingToken {
        secret_hash: secret.hash(),
        expires_at: NOW.plus_seconds(60),
        new_email: new_email.map(str::to_owned),
    }
}

fn secret(digit: char) -> Secret {
    Secret::parse(&digit.to_string().repeat(64)).unwrap()
}

fn hash(text: &str) -> PasswordHash {
    widerow::Cell::from_value(widerow::value::Value::Text(text.into())).unwrap()
}

fn user() -> User {
    let (id, verify) = (UserId(uuid::Uuid::from_u128(7)), token(&secret('a'), None));
    rules::new_user(id, "me@example.com", hash("one"), Default::default(), verify, NOW)
}

#[test]
fn an_address_is_one_whatever_its_case_and_spaces() {
    for text in ["Me@Example.com", "  me@example.COM\n", "ME@EXAMPLE.COM"] {
        assert_eq!(rules::fold_email(text), "me@example.com");
    }
    assert_eq!(rules::fold_email("JOSÉ@example.com"), rules::fold_email("jose\u{301}@example.com"));
}

#[test]
fn what_is_no_address_is_refused() {
    for good in ["a@b", "first.last+tag@example.co.uk", "josé@exämple.de", "o'brien@example.ie"] {
        assert!(problems(|check| rules::check_email(check, "email", good)).is_empty(), "{good}");
    }
    let long = format!("{}@example.com", "a".repeat(250));
    for bad in ["", "@", "a@", "@b", "a@b@c", "a b@c", "a\u{a0}b@c", "a\r\nbcc: x@c", "a,b@c", "<a@b>", "a\0@b", &long]
    {
        assert_eq!(problems(|check| rules::check_email(check, "email", bad)), ["email"], "{bad}");
    }
}

#[test]
fn a_password_is_long_enough_and_not_the_address() {
    let bad =
        |password: &str| problems(|check| rules::check_new_password(check, "p", password, Some("me@example.com")));
    assert!(bad("aaaaaaaaaa").is_empty());
    assert!(bad(&"a".repeat(1_024)).is_empty());
    for password in ["", "123456789", " Me@Example.com", &"a".repeat(1_025)] {
        assert_eq!(bad(password), ["p"], "{password}");
    }
}

#[test]
fn every_bad_field_of_an_address_is_named() {
    let good = AddressInput {
        street: "Main Street 1".into(),
        city: "Utrecht".into(),
        country: "NL".into(),
        ..Default::default()
    };
    good.check().unwrap();
    let bad = AddressInput {
        street: String::new(),
        city: "a\nb".into(),
        country: "nl".into(),
        postal_code: Some("1".repeat(21)),
        phone: Some(" 1".into()),
        ..good
    };
    let fields: Vec<String> = bad.check().unwrap_err().fields.into_iter().map(|bad| bad.field).collect();
    assert_eq!(fields, ["street", "city", "postal_code", "country", "phone"]);
}

#[test]
fn a_token_works_for_its_purpose_until_the_instant_it_ends() {
    let find = |purpose, secret: &Secret, now| rules::find_token(&user(), purpose, secret, now).map(drop);
    let end = NOW.plus_seconds(60);
    assert!(find(TokenPurpose::VerifyEmail, &secret('a'), NOW).is_ok());
    assert!(find(TokenPurpose::VerifyEmail, &secret('a'), Timestamp::from_millis(end.millis() - 1)).is_ok());
    for refused in [
        find(TokenPurpose::VerifyEmail, &secret('a'), end),
        find(TokenPurpose::VerifyEmail, &secret('b'), NOW),
        find(TokenPurpose::ResetPassword, &secret('a'), NOW),
    ] {
        assert!(matches!(refused, Err(Error::TokenInvalid)));
    }
}

#[test]
fn a_link_is_read_as_it_was_written() {
    let id = UserId(uuid::Uuid::from_u128(7));
    let link = secret('c').of_user(id);
    assert_eq!(parse_link(link.as_str()), Some((id, secret('c'))));
    assert_eq!(format!("{link:?}"), "Secret(…)");
    for bad in ["", ".", "x.y", &link.as_str()[1..], &link.as_str().replace('.', ""), &format!("{}0", link.as_str())] {
        assert_eq!(parse_link(bad), None, "{bad}");
    }
}

#[test]
fn a_new_password_ends_sessions_and_links_that_are_under_way() {
    let mut before = rules::issue_token(user(), TokenPurpose::ResetPassword, token(&secret('b'), None), NOW);
    before = rules::issue_token(before, TokenPurpose::ChangeEmail, token(&secret('c'), Some("new@example.com")), NOW);
    let after = rules::change_password(before.clone(), hash("two"), NOW);
    assert_eq!(after.session_epoch, before.session_epoch + 1);
    assert_eq!(after.pending.keys().collect::<Vec<_>>(), [&TokenPurpose::VerifyEmail]);
    assert_eq!(after.former_emails.iter().collect::<Vec<_>>(), ["new@example.com"]);
}

#[test]
fn a_new_address_drops_all_links_and_lets_go_of_the_old() {
    let asked =
        rules::issue_token(user(), TokenPurpose::ChangeEmail, token(&secret('c'), Some("new@example.com")), NOW);
    assert_eq!(asked.email.as_deref(), Some("me@example.com"));
    let changed = rules::confirm_email_change(asked, &secret('c'), NOW).unwrap();
    assert_eq!(changed.email.as_deref(), Some("new@example.com"));
    assert!(changed.email_verified && changed.pending.is_empty());
    assert_eq!(changed.former_emails.iter().collect::<Vec<_>>(), ["me@example.com"]);
    let back = rules::issue_token(changed, TokenPurpose::ChangeEmail, token(&secret('d'), Some("me@example.com")), NOW);
    let back = rules::confirm_email_change(back, &secret('d'), NOW).unwrap();
    assert_eq!(back.former_emails.iter().collect::<Vec<_>>(), ["new@example.com"]);
}

#[test]
fn there_is_a_default_as_long_as_there_is_an_address() {
    let address = |n| AddressInput::default().with_id(AddressId(uuid::Uuid::from_u128(n)));
    let id = |n| Some(AddressId(uuid::Uuid::from_u128(n)));
    let one = rules::add_address(user(), address(1), false, NOW).unwrap();
    assert_eq!(one.default_address_id, id(1));
    let two = rules::add_address(one, address(2), false, NOW).unwrap();
    assert_eq!(two.default_address_id, id(1));
    let three = rules::add_address(two, address(3), true, NOW).unwrap();
    assert_eq!(three.default_address_id, id(3));
    let two = rules::remove_address(three, AddressId(uuid::Uuid::from_u128(3)), NOW).unwrap();
    assert_eq!(two.default_address_id, id(1));
    let one = rules::remove_address(two, AddressId(uuid::Uuid::from_u128(1)), NOW).unwrap();
    let none = rules::remove_address(one, AddressId(uuid::Uuid::from_u128(2)), NOW).unwrap();
    assert_eq!((none.default_address_id, none.revision), (None, 6));
}

/// Attempts as fast as they are let through: when each was made, in seconds from the first.
fn attempts(many: usize, free: u32, settings: &AttemptSettings) -> (Vec<i64>, LoginAttempts) {
    let (mut now, mut found, mut made) = (NOW, None, Vec::new());
    for _ in 0..many {
        let counted = loop {
            match rules::attempt(found.clone(), "s", free, settings, now) {
                Ok(counted) => break counted,
                Err(Error::TooManyAttempts { wait_seconds }) => now = now.plus_seconds(wait_seconds),
                Err(other) => panic!("{other}"),
            }
        };
        made.push((now.millis() - NOW.millis()) / 1_000);
        found = Some(counted);
    }
    (made, found.unwrap())
}

#[test]
fn waits_begin_after_the_free_attempts_and_double_up_to_the_longest() {
    let settings = AttemptSettings { forget_seconds: 1_000_000, ..AttemptSettings::default() };
    let (made, _) = attempts(18, 5, &settings);
    let waits: Vec<i64> = made.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
}

#[test]
fn a_wait_is_told_in_whole_seconds_that_are_enough() {
    let settings = AttemptSettings::default();
    let found = attempts(5, 5, &settings).1;
    let after = |millis| {
        let now = Timestamp::from_millis(NOW.millis() + millis);
        rules::attempt(Some(found.clone()), "s", 5, &settings, now)
    };
    assert!(matches!(after(0), Err(Error::TooManyAttempts { wait_seconds: 1 })));
    assert!(matches!(after(999), Err(Error::TooManyAttempts { wait_seconds: 1 })));
    assert_eq!(after(1_000).unwrap().attempts, 6);
}

#[test]
fn attempts_are_forgotten_one_by_one_in_quiet_times() {
    let settings = AttemptSettings::default();
    let found = attempts(5, 5, &settings).1;
    let later = |quarters: i64| {
        let now = NOW.plus_seconds(quarters * settings.forget_seconds);
        rules::attempt(Some(found.clone()), "s", 5, &settings, now).unwrap().attempts
    };
    assert_eq!([later(1), later(2), later(5), later(50)], [5, 4, 1, 1]);
}

#[test]
fn an_attempt_that_is_taken_back_leaves_the_others_counted() {
    let settings = AttemptSettings::default();
    let (_, five) = attempts(5, 5, &settings);
    let four = rules::take_back(Some(five), 5, &settings).unwrap();
    assert_eq!((four.attempts, four.next_at), (4, NOW));
    assert_eq!(rules::take_back(Some(attempts(1, 5, &settings).1), 5, &settings), None);
    assert_eq!(rules::take_back(None, 5, &settings), None);
}

#[test]
fn addresses_of_one_network_count_as_one() {
    let one = rules::address_subject("2001:db8:1:2::1");
    assert_eq!(one, rules::address_subject("2001:db8:1:2:ffff::9"));
    assert_ne!(one, rules::address_subject("2001:db8:1:3::1"));
    assert_eq!(rules::address_subject("::ffff:192.0.2.1"), "192.0.2.1");
    assert_ne!(rules::address_subject("192.0.2.1"), rules::address_subject("192.0.2.2"));
    assert_eq!(rules::address_subject(" unix "), "unix");
}

#[test]
fn nothing_personal_is_left_of_an_erased_user_but_the_addresses_to_let_go_of() {
    let asked =
        rules::issue_token(user(), TokenPurpose::ChangeEmail, token(&secret('c'), Some("new@example.com")), NOW);
    let erased = rules::erase(asked.clone(), NOW.plus_seconds(9));
    assert_eq!(erased.former_emails.iter().collect::<Vec<_>>(), ["me@example.com", "new@example.com"]);
    assert_eq!((erased.email, erased.password_hash, erased.pending.len()), (None, None, 0));
    assert_eq!((erased.created_at, erased.session_epoch), (NOW, asked.session_epoch + 1));
    assert!(matches!(rules::living(Some(rules::erase(asked, NOW)), erased.user_id), Err(Error::UserNotFound { .. })));
}
