//! What search engines and other sites read of a page: data of schema.org as JSON-LD, which is a block of data and is not run.

use merkato::catalog::{Category, Product};
use serde_json::{Value, json};

use super::stock::Stock;
use crate::http::wire::Money;

/// A step of the way to a page.
#[derive(Clone, Debug)]
pub struct Crumb {
    pub name: String,
    pub path: String,
}

impl Crumb {
    pub fn of(category: &Category) -> Self {
        Crumb { name: category.name.clone(), path: format!("/c/{}", category.slug) }
    }
}

/// Text as one sentence or two, for where little space is.
pub fn brief(text: &str, bytes_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= bytes_max {
        return line;
    }
    let cut = merkato::text::cut(&line, bytes_max.saturating_sub('…'.len_utf8()));
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end_matches([',', '.', ';', ':']))
}

/// An address from outside. What is at another host is as it is.
pub fn absolute(site: &str, path: &str) -> String {
    if path.starts_with('/') { format!("{site}{path}") } else { path.to_owned() }
}

/// As a block of a page: nothing in it ends the block, or begins another element.
fn block(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

pub fn breadcrumbs(site: &str, crumbs: &[Crumb]) -> String {
    let item = |(position, crumb): (usize, &Crumb)| json!({"@type": "ListItem", "position": position + 1, "name": crumb.name, "item": absolute(site, &crumb.path)});
    let items: Vec<Value> = crumbs.iter().enumerate().map(item).collect();
    block(&json!({"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": items}))
}

pub fn product(site: &str, product: &Product, description: &str, pictures: &[String], stock: &Stock) -> String {
    let price = Money::new(product.price, &product.currency);
    let pictures: Vec<String> = pictures.iter().map(|path| absolute(site, path)).collect();
    let mut value = json!({
        "@context": "https://schema.org",
        "@type": "Product",
        "name": product.name,
        "description": description,
        "image": pictures,
        "sku": product.sku.clone().unwrap_or_else(|| product.product_id.to_string()),
        "offers": {
            "@type": "Offer",
            "url": format!("{site}/p/{}", product.slug),
            "price": price.amount,
            "priceCurrency": price.currency,
            "availability": format!("https://schema.org/{}", stock.schema),
        },
    });
    if let Some(brand) = &product.brand {
        value["brand"] = json!({"@type": "Brand", "name": brand});
    }
    if let Some(average) = product.rating_average.filter(|_| product.rating_count > 0) {
        let count = product.rating_count;
        value["aggregateRating"] =
            json!({"@type": "AggregateRating", "ratingValue": average.to_string(), "ratingCount": count});
    }
    block(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_data_ends_where_it_should() {
        let crumbs = [Crumb { name: "</script><script>alert(1)</script>&".into(), path: "/c/a".into() }];
        let text = breadcrumbs("https://shop.example", &crumbs);
        assert!(!text.contains(['<', '>', '&']), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["itemListElement"][0]["name"], crumbs[0].name.as_str());
        assert_eq!(read["itemListElement"][0]["item"], "https://shop.example/c/a");
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        assert_eq!(brief("A  lamp,\nof oak.", 100), "A lamp, of oak.");
        assert_eq!(brief("A lamp of oak, and of brass", 20), "A lamp of oak…");
    }
}
