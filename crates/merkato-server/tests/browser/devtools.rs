//! What WebDriver has no word for: commands to Chromium's developer tools, and what the page complained of.

use fantoccini::{Client, error::CmdError, wd::WebDriverCompatibleCommand};
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command of chromedriver's own.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

pub async fn devtools(client: &Client, command: &str, parameters: Value) -> Result<Value, CmdError> {
    let body = json!({ "cmd": command, "params": parameters });
    client.issue_cmd(Extension { path: "goog/cdp/execute", body }).await
}

/// What the console has that no page of ours may cause: broken scripts, and what the policy of the page forbids. Each is told once.
pub async fn complaints(client: &Client) -> Result<Vec<String>, CmdError> {
    let entries = client.issue_cmd(Extension { path: "se/log", body: json!({ "type": "browser" }) }).await?;
    let entries = entries.as_array().cloned().unwrap_or_default();
    let serious = |entry: &Value| {
        let source = entry["source"].as_str().unwrap_or_default();
        entry["level"] == "SEVERE" && ["javascript", "security", "console-api"].contains(&source)
    };
    Ok(entries.iter().filter(|entry| serious(entry)).map(|entry| entry["message"].to_string()).collect())
}
