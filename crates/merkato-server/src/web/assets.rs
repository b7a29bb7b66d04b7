//! Stylesheets, scripts and the mark of the site. They are in the binary; an address names a content, so that browsers keep
//! them for good.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use merkato::text::hex;
use sha2::{Digest as _, Sha256};

use super::pages::pages;
use crate::http::{Path, Problem, access::Access::System};

pages! {
    get "/assets/{name}" (System) => asset;
}

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
    version: String,
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let asset = |(name, kind, text): (&'static str, &'static str, &'static str)| Asset {
        name,
        kind,
        text,
        version: hex(&Sha256::digest(text)[..6]),
    };
    // One sheet for each part: what both share, and its own.
    let shop = concat!(
        include_str!("../../assets/base.css"),
        include_str!("../../assets/shop.css"),
        include_str!("../../assets/shop-catalog.css"),
        include_str!("../../assets/shop-cart.css"),
        include_str!("../../assets/shop-account.css"),
    );
    let admin = concat!(
        include_str!("../../assets/base.css"),
        include_str!("../../assets/admin.css"),
        include_str!("../../assets/admin-charts.css"),
        include_str!("../../assets/admin-data.css"),
        include_str!("../../assets/admin-desk.css"),
        include_str!("../../assets/admin-trees.css"),
    );
    let shop_script = concat!(
        include_str!("../../assets/shop.js"),
        include_str!("../../assets/shop-catalog.js"),
        include_str!("../../assets/shop-cart.js"),
    );
    let admin_script = concat!(include_str!("../../assets/admin.js"), include_str!("../../assets/admin-desk.js"),);
    let all = [
        ("shop.css", CSS, shop),
        ("admin.css", CSS, admin),
        ("shop.js", SCRIPT, shop_script),
        ("admin.js", SCRIPT, admin_script),
        // Of some pages alone.
        ("admin-events.css", CSS, include_str!("../../assets/admin-events.css")),
        ("admin-graph.css", CSS, include_str!("../../assets/admin-graph.css")),
        ("admin-trees.js", SCRIPT, include_str!("../../assets/admin-trees.js")),
        ("admin-events.js", SCRIPT, include_str!("../../assets/admin-events.js")),
        ("mark.svg", "image/svg+xml", include_str!("../../assets/mark.svg")),
    ];
    all.into_iter().map(asset).collect()
});

fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Where a page finds an asset.
pub fn address(name: &str) -> String {
    let version = find(name).map_or("", |asset| asset.version.as_str());
    format!("/assets/{name}?v={version}")
}

async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let asset = find(&name).ok_or_else(|| Problem::new("not_found", ""))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    Ok((headers, asset.text).into_response())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn nothing_comes_from_another_host() {
        for asset in ASSETS.iter() {
            let text = asset.text.replace("http://www.w3.org/", "");
            assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("@import"), "{}", asset.name);
        }
    }

    /// Classes that a sheet styles by themselves, as `.card { … }`.
    fn classes(sheet: &str) -> BTreeSet<&str> {
        let selectors =
            sheet.split('{').flat_map(|text| text.rsplit(['}', ';', '/']).next().unwrap_or_default().split(','));
        let classes = selectors.filter_map(|selector| selector.trim().strip_prefix('.'));
        classes.filter(|name| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')).collect()
    }

    /// Where two sheets of one page style a class, the later one decides what the other's pages look like.
    #[test]
    fn a_class_is_styled_by_one_sheet() {
        let shop: &[(&str, &str)] = &[
            ("shop.css", include_str!("../../assets/shop.css")),
            ("shop-catalog.css", include_str!("../../assets/shop-catalog.css")),
            ("shop-cart.css", include_str!("../../assets/shop-cart.css")),
            ("shop-account.css", include_str!("../../assets/shop-account.css")),
        ];
        let admin: &[(&str, &str)] = &[
            ("admin.css", include_str!("../../assets/admin.css")),
            ("admin-charts.css", include_str!("../../assets/admin-charts.css")),
            ("admin-data.css", include_str!("../../assets/admin-data.css")),
            ("admin-desk.css", include_str!("../../assets/admin-desk.css")),
            ("admin-trees.css", include_str!("../../assets/admin-trees.css")),
            ("admin-events.css", include_str!("../../assets/admin-events.css")),
            ("admin-graph.css", include_str!("../../assets/admin-graph.css")),
        ];
        for sheets in [shop, admin] {
            let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
            for (sheet, text) in sheets.iter().copied() {
                for class in classes(text) {
                    let owner = owners.entry(class).or_insert(sheet);
                    assert_eq!(*owner, sheet, "both style .{class}");
                }
            }
            assert!(owners.len() > 50, "the sheets are read");
        }
    }
}
