//! A file with every setting, and the page of the documentation that is made of it.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::{
    Expects,
    keys::{KEYS, Key, SECTIONS},
    layers::{defaults, get},
};

/// Depends on the machine, so that it is not shown with a value.
const BY_MACHINE: [&str; 1] = ["shop.accounts.passwords.at_once"];

/// A commented file: every setting with its default, switched off by a `#` right before it.
pub fn example() -> String {
    let defaults = defaults();
    let mut text = String::from(
        "# The configuration of merkato. What stands after a # without a space is the default, or an example where there is none:\n\
         # remove the # to set it. A variable says the same: shop.orders.currency is MERKATO_SHOP__ORDERS__CURRENCY; and so does\n\
         # a flag: --set shop.orders.currency=CHF. Flags go over variables, variables over this file.\n",
    );
    for (section, doc) in SECTIONS {
        let _ = write!(text, "\n# {doc}\n");
        if !section.is_empty() {
            let _ = writeln!(text, "[{section}]");
        }
        for key in KEYS.iter().filter(|key| section_of(key.path) == *section) {
            let name = name_of(key.path);
            let _ = writeln!(text, "# {} ({})", key.doc, key.expects.describe());
            match default_of(&defaults, key) {
                Some(value) => _ = writeln!(text, "#{name} = {value}"),
                None => _ = writeln!(text, "#{name} ="),
            }
            if key.expects == Expects::Secret {
                let _ = writeln!(text, "#{name}_file =");
            }
        }
    }
    text
}

/// `docs/configuration.md`.
pub fn document() -> String {
    let defaults = defaults();
    let mut text = String::from(
        "# Configuration\n\n\
         A setting comes from, the later over the earlier: its default; `merkato.toml` in the working directory (or the file of\n\
         `--config FILE` or `MERKATO_CONFIG`); a variable of the environment; a flag, `--set SETTING=VALUE`. The variable of\n\
         `shop.orders.currency` is `MERKATO_SHOP__ORDERS__CURRENCY`: upper case, two underscores for a point. In variables and flags,\n\
         texts stand without quotes, lists of texts with commas, all else as in the file.\n\n\
         What is not known is refused, with its place and the nearest setting. A secret can stand in a file: for `cassandra.password`\n\
         there is `cassandra.password_file`. `merkato config show` tells every value and where it comes from, secrets hidden;\n\
         `merkato config example` prints a file with all of this. This page is made from the code.\n",
    );
    for (section, doc) in SECTIONS {
        let title = if section.is_empty() { "The engine".to_owned() } else { format!("`[{section}]`") };
        let _ =
            write!(text, "\n## {title}\n\n{doc}\n\n| setting | default | expects | what it is |\n|---|---|---|---|\n");
        for key in KEYS.iter().filter(|key| section_of(key.path) == *section) {
            let default = default_of(&defaults, key).map_or("".to_owned(), |value| format!("`{value}`"));
            let name = name_of(key.path);
            let _ = writeln!(text, "| `{name}` | {default} | {} | {} |", key.expects.describe(), key.doc);
        }
    }
    text
}

fn default_of(defaults: &Table, key: &Key) -> Option<Value> {
    get(defaults, key.path).filter(|_| !BY_MACHINE.contains(&key.path)).cloned()
}

fn section_of(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(section, _)| section)
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}
