//! Which picture a product is shown with, and the drawn ones: what has no picture that may be shown gets one that is drawn.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use sha2::{Digest as _, Sha256};

use super::pages::pages;
use crate::{
    http::{App, Path, Problem, access::Access::System},
    pictures::{self, Motif, PALETTES, Picture},
};

pages! {
    get "/pictures/{name}" (System) => picture;
}

/// Pictures of one product that are shown.
const SHOWN_MAX: usize = 6;

/// Whose pictures may be shown.
#[derive(Clone, Copy, Debug)]
pub struct Pictures<'a> {
    origins: &'a [String],
}

impl<'a> Pictures<'a> {
    pub fn of(app: &'a App) -> Self {
        Pictures { origins: &app.settings().pages.picture_origins }
    }

    /// The small picture of a product.
    pub fn small(self, url: Option<&str>, name: &str) -> String {
        match url.filter(|url| self.may_show(url)) {
            Some(url) => url.to_owned(),
            None => drawn(name)[0].path(),
        }
    }

    /// All pictures of a product; there is always one.
    pub fn all(self, urls: &[String], small: Option<&str>, name: &str) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        for url in urls.iter().map(String::as_str).chain(small).filter(|url| self.may_show(url)) {
            // The small one is often one of the others.
            if shown.len() < SHOWN_MAX && !shown.iter().any(|known| known == url) {
                shown.push(url.to_owned());
            }
        }
        if shown.is_empty() { drawn(name).map(Picture::path).into() } else { shown }
    }

    /// A path on this site, or one of a host that is named. The browser would not load another.
    fn may_show(self, url: &str) -> bool {
        is_own(url)
            || self
                .origins
                .iter()
                .any(|origin| url.strip_prefix(origin.as_str()).is_some_and(|rest| rest.starts_with('/')))
    }
}

/// A small picture of this site, for who has a mark of its own in the place of any other.
pub fn own(url: Option<&str>) -> Option<String> {
    url.filter(|url| is_own(url)).map(str::to_owned)
}

/// A path on this site: browsers take `//host` for another one.
fn is_own(url: &str) -> bool {
    url.starts_with('/') && !url.starts_with("//")
}

/// The same name always looks the same.
fn drawn(name: &str) -> [Picture; 3] {
    let seed = Sha256::digest(name)[..4].iter().fold(0_u64, |seed, byte| seed << 8 | u64::from(*byte));
    let palette = usize::try_from(seed).unwrap_or(0) % PALETTES;
    Picture::views(Motif::of(name), palette, seed)
}

async fn picture(Path(name): Path<String>) -> Result<Response, Problem> {
    let svg = pictures::svg(&name).ok_or_else(|| Problem::new("not_found", ""))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    Ok((headers, svg).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_pictures_and_those_of_named_hosts_are_shown() {
        let origins = ["https://pictures.example".to_owned()];
        let pictures = Pictures { origins: &origins };
        for good in ["/pictures/a.svg", "https://pictures.example/a.jpg"] {
            assert_eq!(pictures.small(Some(good), "Lamp"), good);
        }
        for bad in ["//evil.example/a.jpg", "https://pictures.example.evil/a.jpg", "https://evil.example/a.jpg"] {
            assert!(pictures.small(Some(bad), "Lamp").starts_with("/pictures/"), "{bad}");
        }
    }

    #[test]
    fn there_is_always_a_picture_and_each_is_there_once() {
        let pictures = Pictures { origins: &[] };
        let drawn = pictures.all(&[], None, "Desk lamp");
        assert_eq!(drawn, pictures.all(&["https://elsewhere.example/a.jpg".into()], None, "Desk lamp"));
        assert!(drawn.len() == 3 && drawn[0] == pictures.small(None, "Desk lamp"), "{drawn:?}");
        assert_eq!(pictures.all(&["/a.svg".into(), "/b.svg".into()], Some("/a.svg"), "x"), ["/a.svg", "/b.svg"]);
        for path in drawn {
            let name = path.strip_prefix(pictures::FOLDER).unwrap();
            assert!(pictures::svg(name).is_some_and(|svg| svg.starts_with("<svg")), "{name}");
        }
    }

    #[test]
    fn no_picture_comes_from_elsewhere() {
        assert_eq!(own(Some("/pictures/a.svg")).as_deref(), Some("/pictures/a.svg"));
        assert_eq!(own(Some("https://elsewhere.example/a.png")), None);
        assert_eq!(own(Some("//elsewhere.example/a.png")), None);
        assert_eq!(own(None), None);
    }
}
