//! The two cookies, and how they are set: never readable by a script, never sent with another site's requests that change
//! anything.

use http::{HeaderMap, HeaderValue, header};

pub const SESSION: &str = "merkato_session";
pub const GUEST: &str = "merkato_guest";

/// The value of a cookie, if it is there once. Two of a name are a sign that someone planted one.
pub fn find<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(found, _)| *found == name).map(|(_, value)| value.trim_matches('"'));
    values.next().filter(|_| values.next().is_none())
}

/// A cookie for so many seconds; with none, the browser forgets it.
pub fn set(name: &str, value: &str, seconds: i64, secure: bool) -> Option<HeaderValue> {
    header(name, value, &format!("; Max-Age={}", seconds.max(0)), secure)
}

/// A cookie until the browser is closed.
pub fn set_for_now(name: &str, value: &str, secure: bool) -> Option<HeaderValue> {
    header(name, value, "", secure)
}

fn header(name: &str, value: &str, until: &str, secure: bool) -> Option<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let mut cookie =
        HeaderValue::try_from(format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{until}{secure}")).ok()?;
    cookie.set_sensitive(true);
    Some(cookie)
}
