//! Paths: the names from the root down, joined by `/`. A `/` in a name is written `~1` and a `~` is written `~0`, as JSON
//! Pointer has it, so that a path says one thing only.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::{check::Invalid, limits, text};

/// The path of every tree's root.
pub const ROOT: &str = "root";

/// A name as it stands in a path.
pub fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['/', '~']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

/// A name out of a path; None where a `~` stands for nothing.
pub fn unescape(part: &str) -> Option<Cow<'_, str>> {
    if !part.contains('~') {
        return Some(part.into());
    }
    let good = part.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    good.then(|| part.replace("~1", "/").replace("~0", "~").into())
}

/// The path of the node with this name below the node with that path.
pub fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", escape(name))
}

/// The names in a path, from the root down, the root aside.
pub fn names(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|part| unescape(part).unwrap_or(part.into()).into_owned()).collect()
}

/// The path above, and the last name.
pub(super) fn parse(path: &str) -> Result<Option<(&str, String)>, Invalid> {
    let wrong = |problem: &str| Invalid::new("path", problem);
    if path == ROOT {
        return Ok(None);
    }
    if path.len() > limits::NODE_PATH_BYTES_MAX {
        return Err(wrong(&format!("it has {} bytes, the limit is {}", path.len(), limits::NODE_PATH_BYTES_MAX)));
    }
    if !path.strip_prefix(ROOT).is_some_and(|rest| rest.starts_with('/')) {
        return Err(wrong("a path begins with root/"));
    }
    let (above, last) = path.rsplit_once('/').unwrap_or((ROOT, ""));
    if path.split('/').any(str::is_empty) {
        return Err(wrong("a name in it is empty"));
    }
    let name = unescape(last).ok_or_else(|| wrong("a ~ stands before 0 or 1 only: ~0 is ~, ~1 is /"))?;
    Ok(Some((above, name.into_owned())))
}

/// A name as it is kept: the same letters are the same bytes.
pub(super) fn normal(name: &str) -> String {
    if is_nfc(name) { name.to_owned() } else { name.nfc().collect() }
}

/// By what nodes side by side are in order.
pub(super) fn order(name: &str) -> String {
    text::cut(&text::fold(name), limits::NODE_ORDER_BYTES_MAX).to_owned()
}

/// A path as a part of a key. One that is too long is known by its beginning and its digest, which together are longer than
/// any that is not.
pub(super) fn key(path: &str) -> String {
    if path.len() <= limits::NODE_PATH_KEY_BYTES_MAX {
        return path.to_owned();
    }
    format!("{}…{}", text::cut(path, limits::NODE_PATH_KEY_BYTES_MAX), text::digest(&[path.as_bytes()]))
}
