//! The documentation as pages: made on the server from the OpenAPI document, with a style of its own and no script.

use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use utoipa::openapi::OpenApi;

use super::codes::CODES;

const STYLE: &str = include_str!("docs.css");

/// How the page's policy names its style.
pub fn style_hash() -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(STYLE)))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<header><a href=\"/docs\">merkato</a> <nav><a href=\"/docs\">Routes</a> \
         <a href=\"/docs/errors\">Errors</a> <a href=\"/openapi.json\">openapi.json</a></nav></header>\n<main>\n{body}</main>\n\
         </body>\n</html>\n"
    )
}

/// Every code of an error.
pub fn errors() -> String {
    let mut body = String::from("<h1>Errors</h1>\n<table>\n<tr><th>Code<th>Status<th>Meaning</tr>\n");
    for known in CODES {
        let (code, status, title) = (known.code, known.status.as_u16(), escape(known.title));
        let _ = writeln!(body, "<tr id=\"{code}\"><td><code>{code}</code><td>{status}<td>{title}</tr>");
    }
    body.push_str("</table>\n");
    page("merkato: errors", &body)
}

/// Every route, by its tag.
pub fn routes(openapi: &OpenApi) -> String {
    let document = serde_json::to_value(openapi).unwrap_or_default();
    let mut body = String::from("<h1>merkato</h1>\n");
    let _ = writeln!(body, "<p>{}</p>", escape(text(&document["info"]["description"])));
    for tag in document["tags"].as_array().into_iter().flatten() {
        let name = text(&tag["name"]);
        let id = name.replace(' ', "-");
        let _ = writeln!(body, "<h2 id=\"{id}\">{name}</h2>\n<p>{}</p>", escape(text(&tag["description"])));
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let tagged = operation["tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| text(tag) == name));
                if tagged {
                    write_operation(&mut body, path, method, operation);
                }
            }
        }
    }
    body.push_str("<h2 id=\"schemas\">Schemas</h2>\n");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let json = serde_json::to_string_pretty(schema).unwrap_or_default();
        let name = escape(name);
        let _ = writeln!(
            body,
            "<details id=\"schema-{name}\"><summary>{name}</summary><pre>{}</pre></details>",
            escape(&json)
        );
    }
    page("merkato: routes", &body)
}

fn write_operation(body: &mut String, path: &str, method: &str, operation: &Value) {
    let method = method.to_uppercase();
    let _ = writeln!(
        body,
        "<details><summary><b class=\"{method}\">{method}</b> <code>{}</code> {}</summary>",
        escape(path),
        escape(text(&operation["summary"]))
    );
    if let Some(description) = operation["description"].as_str() {
        let _ = writeln!(body, "<p>{}</p>", escape(description));
    }
    let who: Vec<&str> = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|scheme| scheme.as_object().into_iter().flatten().map(|(name, _)| name.as_str()))
        .collect();
    let _ = writeln!(body, "<p>Needs: {}</p>", if who.is_empty() { "nothing".into() } else { who.join(" or ") });
    let parameters = operation["parameters"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    if !parameters.is_empty() {
        body.push_str("<table>\n<tr><th>Parameter<th>In<th>Meaning</tr>\n");
        for parameter in parameters {
            let (name, place) = (escape(text(&parameter["name"])), text(&parameter["in"]));
            let description = escape(text(&parameter["description"]));
            let _ = writeln!(body, "<tr><td><code>{name}</code><td>{place}<td>{description}</tr>");
        }
        body.push_str("</table>\n");
    }
    let contents = operation["requestBody"]["content"].as_object();
    for (media_type, content) in contents.into_iter().flatten() {
        let _ = writeln!(body, "<p>Body: <code>{media_type}</code> {}</p>", schema_link(&content["schema"]));
    }
    body.push_str("<table>\n<tr><th>Status<th>Answer<th>Schema</tr>\n");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let schema = response["content"].as_object().and_then(|content| content.values().next());
        let link = schema.map_or(String::new(), |content| schema_link(&content["schema"]));
        let _ = writeln!(body, "<tr><td>{status}<td>{}<td>{link}</tr>", escape(text(&response["description"])));
    }
    body.push_str("</table>\n</details>\n");
}

fn schema_link(schema: &Value) -> String {
    let name = text(&schema["$ref"]).rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        escape(text(&schema["type"]))
    } else {
        format!("<a href=\"#schema-{0}\">{0}</a>", escape(name))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
