//! The declarations are what the types are; layers go over each other; what is wrong is told.

use toml::Table;

use super::{
    layers::{defaults, get},
    *,
};

fn load(file: Option<&str>, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.toml");
    std::fs::write(&path, file.unwrap_or_default()).expect("written");
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    Loaded::load(&Sources { file: Some(path), variables: pairs(variables), flags: pairs(flags) })
}

fn problems(result: Result<Loaded, ConfigError>) -> Vec<String> {
    result.err().map(|error| error.problems).unwrap_or_default()
}

/// Every leaf of the defaults is declared, and what is declared without a default is optional in the types.
#[test]
fn every_setting_is_declared() {
    fn leaves(above: &str, table: &Table, found: &mut Vec<String>) {
        for (name, value) in table {
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            match value {
                toml::Value::Table(below) if !KEYS.iter().any(|key| key.path == path) => leaves(&path, below, found),
                _ => found.push(path),
            }
        }
    }
    let mut found = Vec::new();
    leaves("", &defaults(), &mut found);
    for path in &found {
        assert!(KEYS.iter().any(|key| key.path == *path), "{path} is not declared in config/keys.rs");
    }
    for key in KEYS.iter().filter(|key| !found.contains(&key.path.to_owned())) {
        let text = match key.expects {
            Expects::Integer(least, _) => least.max(1).to_string(),
            _ => "x".to_owned(),
        };
        // A certificate is nothing without its key.
        let mut flags = vec![(key.path, text.as_str())];
        flags.extend(
            key.path
                .starts_with("http.tls.")
                .then_some([("http.tls.key", "k"), ("http.tls.certificate", "c")])
                .into_iter()
                .flatten(),
        );
        load(None, &[], &flags).expect(key.path);
    }
}

#[test]
fn the_defaults_are_what_is_expected() {
    let defaults = defaults();
    for key in KEYS {
        if let Some(value) = get(&defaults, key.path) {
            assert!(key.expects.admits(value), "{}: {value}", key.path);
        }
    }
}

#[test]
fn the_example_is_the_defaults() {
    let switched_on = |line: &str| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') && !setting.ends_with('=') => setting.to_owned(),
        _ => line.to_owned(),
    };
    let text: Vec<String> = example().lines().map(switched_on).collect();
    let loaded = load(Some(&text.join("\n")), &[], &[]).expect("the example is good");
    assert_eq!(Table::try_from(loaded.config).expect("a table"), defaults());
    load(Some(&example()), &[], &[]).expect("as it stands, too");
}

#[test]
fn layers_go_over_each_other() {
    let file = "engine = \"cassandra\"\n[cassandra]\nnodes = [\"a:1\"]\nkeyspace = \"file\"\nuser = \"file\"\n";
    let variables = [("MERKATO_CASSANDRA__KEYSPACE", "variable"), ("MERKATO_CASSANDRA__USER", "variable")];
    let loaded = load(Some(file), &variables, &[("cassandra.user", "flag")]).expect("good");
    let cassandra = &loaded.config.cassandra;
    assert_eq!(loaded.config.engine, EngineKind::Cassandra);
    assert_eq!(cassandra.nodes, ["a:1"]);
    assert_eq!(cassandra.keyspace, "variable");
    assert_eq!(cassandra.user.as_deref(), Some("flag"));
    let origin =
        |path: &str| loaded.settings().into_iter().find(|(known, ..)| *known == path).map(|(.., origin)| origin);
    assert!(matches!(origin("cassandra.nodes"), Some(Origin::File { line: 3, .. })));
    assert_eq!(origin("cassandra.keyspace"), Some(Origin::Variable("MERKATO_CASSANDRA__KEYSPACE".into())));
    assert_eq!(origin("http.listen"), Some(Origin::Default));
}

#[test]
fn an_unknown_setting_is_told_with_its_place_and_the_nearest() {
    let file = "[shop.orders]\ncurency = \"EUR\"\n\n[htp]\nlisten = \"x\"\n";
    let told = problems(load(Some(file), &[("MERKATO_CASANDRA__NODES", "a")], &[("listen", "x")]));
    assert_eq!(told.len(), 4, "{told:?}");
    let has = |part: &str| assert!(told.iter().any(|line| line.contains(part)), "{part}: {told:?}");
    has("shop.toml:2: there is no setting shop.orders.curency; did you mean shop.orders.currency?");
    has("shop.toml:4: there is no setting htp");
    has("MERKATO_CASANDRA__NODES: there is no setting casandra.nodes; did you mean MERKATO_CASSANDRA__NODES?");
    has("--set listen: there is no setting listen; did you mean http.listen?");
}

#[test]
fn a_wrong_value_is_told_with_what_is_expected() {
    let file = "engine = \"postgres\"\nhttp = 3\n[shop.orders]\ntax_rates = { DE = 0.19 }\nnumber_block = \"many\"\n";
    let told = problems(load(Some(file), &[("MERKATO_SHOP__ORDERS__TAX_ON_SHIPPING", "maybe")], &[]));
    let has = |part: &str| assert!(told.iter().any(|line| line.contains(part)), "{part}: {told:?}");
    has("shop.toml:1: engine must be one of embedded, cassandra, dynamodb");
    has("http is a section, not a value");
    has("shop.toml:4: shop.orders.tax_rates must be names with amounts in quotes");
    has("shop.toml:5: shop.orders.number_block must be a whole number from 1 to 10000");
    has("MERKATO_SHOP__ORDERS__TAX_ON_SHIPPING: shop.orders.tax_on_shipping must be true or false");
}

#[test]
fn the_parts_of_a_value_are_looked_at_too() {
    let bad = "[{ name = \"a\", title = \"A\", amount = \"1\", dais = 3 }]";
    let told = problems(load(None, &[], &[("shop.orders.shipping_methods", bad)]));
    assert!(told.iter().any(|line| line.contains("dais")), "{told:?}");
    let good = "[{ name = \"a\", title = \"A\", amount = \"1.50\", days = 3 }]";
    let loaded =
        load(None, &[], &[("shop.orders.shipping_methods", good), ("shop.orders.tax_rates", "{ DE = \"0.19\" }")])
            .expect("good");
    assert_eq!(loaded.config.shop.orders.shipping_methods.len(), 1);
    assert_eq!(loaded.config.shop.orders.tax_rates["DE"].to_string(), "0.19");
}

#[test]
fn a_secret_comes_from_its_file_and_is_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("password");
    std::fs::write(&secret, "hunter2\n").expect("written");
    let path = secret.to_str().expect("a path");
    let loaded = load(None, &[("MERKATO_CASSANDRA__PASSWORD_FILE", path)], &[]).expect("good");
    assert_eq!(loaded.config.cassandra.password.as_ref().map(Secret::expose), Some("hunter2"));
    assert!(!format!("{:?}", loaded.config).contains("hunter2"));
    let shown = loaded.settings();
    let (_, value, _) = shown.iter().find(|(known, ..)| *known == "cassandra.password").expect("it is set");
    assert_eq!(*value, None);
    let both = [("MERKATO_CASSANDRA__PASSWORD_FILE", path), ("MERKATO_CASSANDRA__PASSWORD", "x")];
    assert!(problems(load(None, &both, &[]))[0].contains("both set"));
    // A later layer decides alone, in either form.
    let over =
        load(None, &[("MERKATO_CASSANDRA__PASSWORD_FILE", path)], &[("cassandra.password", "flag")]).expect("good");
    assert_eq!(over.config.cassandra.password.as_ref().map(Secret::expose), Some("flag"));
    assert!(
        problems(load(None, &[("MERKATO_CASSANDRA__PASSWORD_FILE", "/nowhere")], &[]))[0].contains("cannot be read")
    );
}
