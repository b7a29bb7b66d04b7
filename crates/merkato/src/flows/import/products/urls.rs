//! The addresses of pictures, as sources write them.

use crate::flows::import::record::Value;

/// The addresses in a value: a list, or several in one text.
pub(super) fn urls(value: &Value) -> Vec<String> {
    let texts: Vec<String> = match value {
        Value::List(items) => items.clone(),
        value => {
            let text = value.text();
            let (mut parts, mut from) = (Vec::new(), 0);
            for (i, c) in text.char_indices() {
                let parted = match c {
                    '|' | ' ' | '\n' | '\t' => true,
                    // It may be a part of an address, unless another address follows.
                    ',' | ';' => {
                        let rest = text[i + 1..].trim_start();
                        ["http://", "https://", "/"].iter().any(|start| rest.starts_with(start))
                    }
                    _ => false,
                };
                if parted {
                    parts.push(text[from..i].to_owned());
                    from = i + c.len_utf8();
                }
            }
            parts.push(text[from..].to_owned());
            parts
        }
    };
    texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).map(address).collect()
}

/// The same address as the catalog takes it: with a scheme, and without the characters that end one in a page.
fn address(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 6);
    if text.starts_with("//") {
        out.push_str("https:");
    }
    for c in text.chars() {
        match c {
            ' ' | '"' | '\'' | '<' | '>' | '\\' => out.push_str(&format!("%{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out
}
