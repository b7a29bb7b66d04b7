//! `merkato config`: what is set, and what could be.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Global, output};
use crate::config;

#[derive(Args)]
pub struct ConfigCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Every setting that has a value, and where it comes from; secrets are hidden
    #[command(after_help = "Examples:
  merkato config show
  MERKATO_ENGINE=cassandra merkato config show --json")]
    Show,
    /// A merkato.toml with every setting, its default and what it is for
    #[command(after_help = "Example:\n  merkato config example > merkato.toml")]
    Example,
}

impl ConfigCommand {
    pub fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.what {
            What::Show => show(global),
            What::Example if global.json => output::json(&json!({ "merkato.toml": config::example() })),
            What::Example => output::line(config::example().trim_end()),
        }
    }
}

const HIDDEN: &str = "(hidden)";

fn show(global: &Global) -> anyhow::Result<()> {
    let settings = global.load()?.settings();
    if global.json {
        let each = settings.iter().map(|(path, value, origin)| {
            json!({ "setting": path, "value": value, "secret": value.is_none(), "from": origin.to_string() })
        });
        return output::json(&json!({ "data": each.collect::<Vec<_>>() }));
    }
    let text = |value: &Option<toml::Value>| value.as_ref().map_or(HIDDEN.to_owned(), ToString::to_string);
    let row = |(path, value, origin): &(&str, Option<toml::Value>, config::Origin)| {
        vec![(*path).to_owned(), origin.to_string(), text(value)]
    };
    output::table(&["setting", "from", "value"], &settings.iter().map(row).collect::<Vec<_>>())
}
