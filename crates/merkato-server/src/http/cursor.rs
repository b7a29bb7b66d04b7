//! Cursors as clients see them: opaque, signed, and bound to the shop, the path and the query they came from, and to the person
//! where the list is a person's own, so that none can be bent to another list.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use http::Uri;
use merkato::{Cursor, PageRequest};

use super::{problem::Problem, sign::Signer};

const TAG_BYTES: usize = 16;

/// The list that a cursor belongs to.
#[derive(Clone, Debug)]
pub struct ListId {
    tenant: String,
    /// Whose list it is; nobody's where it is the same for all.
    owner: String,
    path: String,
    /// Without what says which page it is, in one order.
    query: Vec<String>,
}

impl ListId {
    pub fn new(tenant: &str, owner: String, uri: &Uri) -> Self {
        // What is said in another way is the same list: a form writes a blank as `+` and sends its empty fields, a link does not.
        let said: Vec<(String, String)> =
            serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default();
        let said = said.iter().map(|(name, value)| (name.as_str(), value.trim())).filter(|(name, value)| {
            !value.is_empty() && !matches!(*name, "cursor" | "limit" | "notice" | "open" | "page" | "trail")
        });
        let mut query: Vec<String> = said.map(|(name, value)| format!("{name}={value}")).collect();
        query.sort_unstable();
        ListId { tenant: tenant.to_owned(), owner, path: uri.path().to_owned(), query }
    }

    /// The list at another address, of the same shop and owner.
    pub fn at(&self, address: &Uri) -> Self {
        ListId::new(&self.tenant, self.owner.clone(), address)
    }

    fn parts<'l>(&'l self, cursor: &'l str) -> Vec<&'l [u8]> {
        let list = [self.tenant.as_bytes(), self.owner.as_bytes(), self.path.as_bytes(), cursor.as_bytes()];
        list.into_iter().chain(self.query.iter().map(|parameter| parameter.as_bytes())).collect()
    }
}

/// A cursor into what is numbered, before this number.
pub fn cursor_at(version: i64) -> Cursor {
    Cursor::from(version.to_string())
}

/// The number that a page goes on before.
pub fn version_of(page: &PageRequest) -> Result<Option<i64>, Problem> {
    let version = page.cursor.as_ref().map(|cursor| cursor.as_str().parse::<i64>()).transpose();
    // A cursor that was signed here was written here.
    version.map_err(|_| Problem::internal("a cursor carries no version"))
}

pub fn seal(signer: &Signer, list: &ListId, cursor: &Cursor) -> String {
    let tag = signer.tag("cursor", &list.parts(cursor.as_str()));
    BASE64_URL_SAFE_NO_PAD.encode([tag.as_slice(), cursor.as_str().as_bytes()].concat())
}

pub fn open(signer: &Signer, list: &ListId, text: &str) -> Result<Cursor, Problem> {
    let bad = || Problem::field("bad_cursor", "/cursor", "it is not a cursor of this list");
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| bad())?;
    let (tag, cursor) = bytes.split_at_checked(TAG_BYTES).ok_or_else(bad)?;
    let cursor = std::str::from_utf8(cursor).map_err(|_| bad())?;
    if !signer.verify("cursor", &list.parts(cursor), tag) {
        return Err(bad());
    }
    Ok(Cursor::from(cursor.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_the_same_however_its_address_is_written() {
        let parts = |address: &'static str| {
            let list = ListId::new("default", String::new(), &Uri::from_static(address));
            list.parts("").into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let list = parts("/search?q=desk%20lamp&sort=newest");
        assert_eq!(parts("/search?sort=newest&q=desk+lamp&brand=&page=3"), list);
        for other in ["/search?q=desk&sort=newest", "/search?q=desk%20lamp", "/items?q=desk%20lamp&sort=newest"] {
            assert_ne!(parts(other), list, "{other}");
        }
    }

    #[test]
    fn a_list_at_another_address_is_the_one_that_is_found_there() {
        let named = Uri::from_static("/orders?date=2026-03-01");
        let list = ListId::new("default", "ada".into(), &Uri::from_static("/orders")).at(&named);
        assert_eq!(list.parts("c"), ListId::new("default", "ada".into(), &named).parts("c"));
    }
}
