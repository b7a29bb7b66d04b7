//! Brings the layers together, and remembers of every value where it comes from.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize as _;
use toml::{Table, Value, de::DeTable};

use super::{
    Config, ConfigError, Expects,
    keys::{self, Found},
};

const FILE: &str = "merkato.toml";
const PREFIX: &str = "MERKATO_";
/// Variables that are no settings: the file's path, and what the project's own tests are told. Those that end with an
/// underscore are beginnings.
const OTHER_VARIABLES: [&str; 5] =
    ["MERKATO_CONFIG", "MERKATO_WRITE_DOCS", "MERKATO_TEST_", "MERKATO_COST_", "MERKATO_CRASH_"];

/// What the configuration is read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A file that must be there. Without one, `MERKATO_CONFIG` names it; without that, `merkato.toml` is read if there is one.
    pub file: Option<PathBuf>,
    /// Those of the environment.
    pub variables: Vec<(String, String)>,
    /// Setting and value.
    pub flags: Vec<(String, String)>,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File { path: PathBuf, line: usize },
    Variable(String),
    Flag(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Variable(name) => f.write_str(name),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

/// The configuration, and where its values come from.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    values: BTreeMap<String, (Value, Origin)>,
}

impl Loaded {
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut loading = Loading::default();
        let named = sources.variables.iter().find(|(name, _)| name == "MERKATO_CONFIG").map(|(_, path)| path.into());
        match sources.file.clone().or(named) {
            Some(path) => loading.file(&path)?,
            None if Path::new(FILE).exists() => loading.file(Path::new(FILE))?,
            None => {}
        }
        loading.variables(&sources.variables);
        loading.flags(&sources.flags);
        loading.end()
    }

    /// Every setting that has a value: the setting, its value (None where it is a secret), where it comes from.
    pub fn settings(&self) -> Vec<(&'static str, Option<Value>, Origin)> {
        let defaults = defaults();
        let setting = |key: &keys::Key| {
            let (value, origin) = match self.values.get(key.path) {
                Some(known) => known.clone(),
                None => (get(&defaults, key.path)?.clone(), Origin::Default),
            };
            Some((key.path, Some(value).filter(|_| key.expects != Expects::Secret), origin))
        };
        keys::KEYS.iter().filter_map(setting).collect()
    }
}

#[derive(Default)]
struct Loading {
    values: BTreeMap<String, (Value, Origin)>,
    problems: Vec<String>,
}

impl Loading {
    fn file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::one(format!("{shown} cannot be read: {error}")))?;
        let wrong = |error: toml::de::Error| ConfigError::one(format!("{shown} is no TOML: {error}"));
        let table: Table = text.parse().map_err(wrong)?;
        let spans = DeTable::parse(&text).map_err(wrong)?;
        let line_of = |setting: &str| line_of(&text, spans.get_ref(), setting);
        let mut layer = BTreeMap::new();
        self.walk("", &table, &|setting| Origin::File { path: path.to_owned(), line: line_of(setting) }, &mut layer);
        self.add(layer);
        Ok(())
    }

    fn walk(
        &mut self,
        above: &str,
        table: &Table,
        origin: &dyn Fn(&str) -> Origin,
        layer: &mut BTreeMap<String, (Value, Origin)>,
    ) {
        for (name, value) in table {
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            match (keys::find(&path), value) {
                (Found::Setting(expects), value) if expects.admits(value) => {
                    layer.insert(path.clone(), (value.clone(), origin(&path)));
                }
                (Found::Setting(expects), _) => self.wrong(&origin(&path), &path, expects),
                (Found::Section, Value::Table(table)) => self.walk(&path, table, origin, layer),
                (Found::Section, _) => {
                    self.problems.push(format!("{}: {path} is a section, not a value", origin(&path)));
                }
                (Found::Nothing, _) => self.unknown(&origin(&path), &path, nothing),
            }
        }
    }

    /// `MERKATO_CASSANDRA__NODES` is `cassandra.nodes`.
    fn variables(&mut self, variables: &[(String, String)]) {
        let is_other = |name: &str| {
            OTHER_VARIABLES.iter().any(|other| match other.strip_suffix('_') {
                Some(_) => name.starts_with(other),
                None => name == *other,
            })
        };
        let mut layer = BTreeMap::new();
        for (name, text) in variables.iter().filter(|(name, _)| name.starts_with(PREFIX) && !is_other(name)) {
            let path = name[PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
            self.text(&path, text, Origin::Variable(name.clone()), variable_of, &mut layer);
        }
        self.add(layer);
    }

    fn flags(&mut self, flags: &[(String, String)]) {
        let mut layer = BTreeMap::new();
        for (path, text) in flags {
            self.text(path, text, Origin::Flag(format!("--set {path}")), nothing, &mut layer);
        }
        self.add(layer);
    }

    fn text(
        &mut self,
        path: &str,
        text: &str,
        origin: Origin,
        called: fn(&str) -> String,
        layer: &mut BTreeMap<String, (Value, Origin)>,
    ) {
        match keys::find(path) {
            Found::Setting(expects) => match expects.read(text) {
                Some(value) => _ = layer.insert(path.to_owned(), (value, origin)),
                None => self.wrong(&origin, path, expects),
            },
            Found::Section => self.problems.push(format!("{origin}: {path} is a section, not a value")),
            Found::Nothing => self.unknown(&origin, path, called),
        }
    }

    /// One layer over those before it. The file of a secret is read here, and stands for the secret from here on.
    fn add(&mut self, layer: BTreeMap<String, (Value, Origin)>) {
        for (path, (value, origin)) in &layer {
            let Some(secret) = keys::secret_of(path) else {
                self.values.insert(path.clone(), (value.clone(), origin.clone()));
                continue;
            };
            if layer.contains_key(secret) {
                self.problems.push(format!("{origin}: {secret} and {path} are both set; keep one of them"));
                continue;
            }
            let file = value.as_str().unwrap_or_default();
            match std::fs::read_to_string(file) {
                Ok(text) => {
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
                    self.values.insert(secret.to_owned(), (Value::String(text), origin.clone()));
                }
                Err(error) => self.problems.push(format!("{origin}: {path}: {file} cannot be read: {error}")),
            }
        }
    }

    fn wrong(&mut self, origin: &Origin, path: &str, expects: Expects) {
        self.problems.push(format!("{origin}: {path} must be {}", expects.describe()));
    }

    fn unknown(&mut self, origin: &Origin, path: &str, called: fn(&str) -> String) {
        let meant = keys::nearest(path).map(|near| format!("; did you mean {}?", called(&near)));
        self.problems.push(format!("{origin}: there is no setting {path}{}", meant.unwrap_or_default()));
    }

    fn end(self) -> Result<Loaded, ConfigError> {
        let mut problems = self.problems;
        let mut tree = Table::new();
        for (path, (value, _)) in &self.values {
            set(&mut tree, path, value.clone());
        }
        match Config::deserialize(tree) {
            Ok(config) if problems.is_empty() => Ok(Loaded { config, values: self.values }),
            Ok(_) => Err(ConfigError { problems }),
            // What the declarations do not say: the parts of a shipping method, and the like.
            Err(error) => {
                problems.push(error.to_string().trim_end().to_owned());
                Err(ConfigError { problems })
            }
        }
    }
}

fn nothing(path: &str) -> String {
    path.to_owned()
}

fn variable_of(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "__").to_ascii_uppercase())
}

/// The defaults, as a file would have them; what has none is not there.
pub(super) fn defaults() -> Table {
    Table::try_from(Config::default()).unwrap_or_default()
}

pub(super) fn get<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    match path.split_once('.') {
        Some((section, rest)) => get(table.get(section)?.as_table()?, rest),
        None => table.get(path),
    }
}

fn set(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        Some((section, rest)) => {
            let below = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(below) = below {
                set(below, rest, value);
            }
        }
        None => _ = table.insert(path.to_owned(), value),
    }
}

/// The line on which a setting stands.
fn line_of(text: &str, table: &DeTable<'_>, path: &str) -> usize {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == first) else { return 1 };
    match (rest, value.get_ref().as_table()) {
        (Some(rest), Some(below)) => line_of(text, below, rest),
        _ => text[..name.span().start.min(text.len())].matches('\n').count() + 1,
    }
}
