//! Where a visitor goes next.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::http::Problem;

const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A text as a part of a query.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

/// The answer to a form: a page that can be loaded again without doing it again.
pub fn see_other(path: &str) -> Response {
    match HeaderValue::try_from(path) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(error) => Problem::internal(error).into_response(),
    }
}

/// Where something is now that was here before.
pub fn moved(path: &str) -> Response {
    match HeaderValue::try_from(path) {
        Ok(location) => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, location)]).into_response(),
        Err(error) => Problem::internal(error).into_response(),
    }
}

/// A page of this site that somebody named, and no other: browsers take `//host` and `/\host` for another one's.
pub fn own_path(path: &str) -> Option<&str> {
    let plain = path.bytes().all(|b| b.is_ascii_graphic());
    let own = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    (plain && own).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_site_are_gone_to() {
        for good in ["/", "/cart", "/account/orders/1?notice=placed", "/search?q=a%20b"] {
            assert_eq!(own_path(good), Some(good));
        }
        for bad in [
            "",
            "cart",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nSet-Cookie: x",
            "/\t/e",
            "/ä",
        ] {
            assert_eq!(own_path(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_text_is_one_part_of_a_query() {
        assert_eq!(encode("/cart?a=b&c=d#e f"), "/cart%3Fa%3Db%26c%3Dd%23e%20f");
    }
}
