//! Headers that every answer has.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::who::{Visit, Who};

/// For JSON, which no browser should run, frame or sniff.
const CSP_API: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// For pages: what is their own, and nothing inline.
pub const CSP_PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Lets a page show the pictures of other hosts, those that are named.
pub fn allow_pictures(headers: &mut HeaderMap, origins: &[String]) {
    let is_page = headers.get(header::CONTENT_SECURITY_POLICY).is_some_and(|policy| policy == CSP_PAGE);
    if !is_page || origins.is_empty() {
        return;
    }
    let policy = CSP_PAGE.replace("img-src 'self'", &format!("img-src 'self' {}", origins.join(" ")));
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

fn set_if_absent(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

/// What keeps browsers from doing more than was meant. A page has set a policy of its own before.
pub fn secure(headers: &mut HeaderMap, tls: bool) {
    set_if_absent(headers, header::CONTENT_SECURITY_POLICY, CSP_API);
    set_if_absent(headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set_if_absent(headers, header::X_FRAME_OPTIONS, "DENY");
    set_if_absent(headers, header::REFERRER_POLICY, "same-origin");
    set_if_absent(headers, HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set_if_absent(headers, HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()");
    if tls {
        set_if_absent(headers, header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
}

/// What is somebody's is kept by no cache. What is everybody's may be, if it is asked again each time whether it still holds.
pub fn note_privacy(response: &mut Response, visit: &Visit) {
    let public = matches!(visit.who, Who::Nobody);
    let headers = response.headers_mut();
    set_if_absent(headers, header::CACHE_CONTROL, if public { "no-cache" } else { "no-store" });
    // The answer depends on them.
    headers.append(header::VARY, HeaderValue::from_static("authorization, cookie, merkato-tenant, merkato-guest"));
}
