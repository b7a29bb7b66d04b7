//! The binary, as people and scripts run it: on the embedded engine, in folders of its own, with an environment of its own.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
    sync::Arc,
};

use merkato::{Context, Settings, accounts, analytics::DailySales, catalog::CategoryEntry, context::SystemChance};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use widerow::{
    Commit, Database, Row, Schema, Timestamp,
    embedded::Embedded,
    time::{Clock as _, ManualClock, SystemClock},
};

/// A working directory with a shop in `data`.
struct Shop {
    home: tempfile::TempDir,
}

impl Shop {
    fn new() -> Self {
        Shop { home: tempfile::tempdir().expect("a folder") }
    }

    /// With its tables.
    fn migrated() -> Self {
        let shop = Shop::new();
        shop.ok(&["migrate"]);
        shop
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.home.path().join(name), text).expect("written");
        self.path(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_merkato"));
        command.env_clear().current_dir(self.home.path()).env("MERKATO_EMBEDDED__FOLDER", "data").args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it starts")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        child.wait_with_output().expect("it ends")
    }

    /// What it says, having ended well.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// What it complains of, having ended with this code.
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}{told}", text(&output.stdout));
        told
    }

    fn store<T>(&self, schema: Schema, work: impl AsyncFnOnce(widerow::Store) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let engine = Embedded::open(self.home.path().join("data"), &schema).expect("opened");
            work(Database::new(engine, schema).tenant("default").expect("a tenant")).await
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lines in an order of their own.
fn sorted(lines: &str) -> Vec<String> {
    let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

const CATALOG: &str = "\
id,name,price,category,brand,description,tags,images,stock,width,weight
1,Lamp,19.90,Home > Lamps,Lysverk,\"A lamp, \"\"bright\"\"\",\"new,warm\",/lamp.png,5,12 cm,300 g
2,Chair,120,Home > Chairs,,Four legs,,,0,,
3,Ünlit candle,3.50,Home > Lamps,,,,,9,,
";

const ORDERS: &str = "\
order_id,product_id,name,quantity,price,order_date,status,customer_id
A1,1,Lamp,2,19.90,2026-01-05 10:00:00,delivered,c1
A1,3,Candle,1,3.50,2026-01-05 10:00:00,delivered,c1
A2,2,Chair,1,120,2026-01-06 11:30:00,cancelled,c2
";

#[test]
fn every_command_teaches() {
    fn walk(shop: &Shop, path: &[&str], seen: &mut usize) {
        let help = shop.ok(&[path, &["--help"]].concat());
        assert!(help.contains("Usage: merkato"), "{path:?}: {help}");
        *seen += 1;
        let mut commands = Vec::new();
        let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in section.take_while(|line| !line.is_empty()) {
            // A name stands two spaces in; what is deeper is the rest of a description.
            if let Some(rest) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
                commands.extend(rest.split_whitespace().next());
            }
        }
        if commands.is_empty() {
            assert!(help.contains("--json"), "{path:?}: {help}");
        }
        for command in commands {
            walk(shop, &[path, &[command]].concat(), seen);
        }
    }
    let mut seen = 0;
    walk(&Shop::new(), &[], &mut seen);
    assert!(seen > 30, "{seen}");
    let help = Shop::new().ok(&["--help"]);
    assert!(help.contains("Exit codes:") && help.contains("Examples:"), "{help}");
}

#[test]
fn what_is_not_known_is_refused_with_the_nearest() {
    let shop = Shop::new();
    shop.write("merkato.toml", "engine = \"embedded\"\n[shop.orders]\ncurency = \"EUR\"\n");
    let told = shop.fails(2, &["config", "show"]);
    assert!(told.contains("merkato.toml:3"), "{told}");
    assert!(told.contains("did you mean shop.orders.currency?"), "{told}");
    let shop = Shop::new();
    let output = shop.command(&["config", "show"]).env("MERKATO_HTTP__LISTN", "x").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean MERKATO_HTTP__LISTEN?"), "{}", text(&output.stderr));
    assert!(shop.fails(2, &["--set", "engin=embedded", "config", "show"]).contains("did you mean engine?"));
    assert!(shop.fails(2, &["--config", "nowhere.toml", "config", "show"]).contains("nowhere.toml"));
    shop.fails(2, &["verfy"]);
}

#[test]
fn the_configuration_is_shown_and_its_secrets_are_not() {
    let shop = Shop::new();
    shop.write("secret", "hunter2\n");
    shop.write("other.toml", "[cassandra]\npassword_file = \"secret\"\nuser = \"ada\"\n");
    for arguments in
        [&["--config", "other.toml", "config", "show"][..], &["--config", "other.toml", "config", "show", "--json"]]
    {
        let shown = shop.ok(arguments);
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("cassandra.password") && shown.contains("other.toml:2"), "{shown}");
    }
    let shown = shop.json(&["config", "show"]);
    let all = shown["data"].as_array().expect("a list");
    let folder = all.iter().find(|one| one["setting"] == "embedded.folder").expect("it is there");
    assert_eq!((&folder["value"], &folder["from"]), (&"data".into(), &"MERKATO_EMBEDDED__FOLDER".into()));
    shop.write("merkato.toml", &shop.ok(&["config", "example"]));
    shop.ok(&["config", "show"]);
}

#[test]
fn a_shop_must_be_there_before_it_is_used() {
    let shop = Shop::new();
    assert!(shop.fails(1, &["verify"]).contains("merkato migrate"));
    assert!(!Path::new(&shop.path("data")).exists());
    shop.fails(3, &["migrate", "--dry-run"]);
    assert!(shop.ok(&["migrate"]).contains("created products\n"));
    assert_eq!(shop.ok(&["migrate"]), "");
    shop.ok(&["migrate", "--dry-run"]);
}

#[test]
fn the_schema_is_printed() {
    let shop = Shop::new();
    let cql = shop.ok(&["schema", "--engine", "cassandra"]);
    assert!(cql.starts_with("CREATE KEYSPACE IF NOT EXISTS merkato"), "{cql}");
    let tables = shop.json(&["schema"])["data"].as_array().expect("a list").clone();
    for table in &tables {
        let name = table["table"].as_str().expect("a name");
        assert!(cql.contains(&format!("merkato.{name} (")), "{name}");
    }
    assert!(tables.len() > 30);
    shop.fails(2, &["schema"]);
    if cfg!(feature = "dynamodb") {
        let template: Value = serde_json::from_str(&shop.ok(&["schema", "--engine", "dynamodb"])).expect("JSON");
        assert_eq!(template["Resources"]["ProductsTable"]["Properties"]["TableName"], "merkato_products");
    }
}

#[test]
fn products_come_back_as_they_were() {
    let shop = Shop::migrated();
    let file = shop.write("catalog.csv", CATALOG);
    let report = shop.json(&["import", "products", &file]);
    assert_eq!((&report["read"], &report["created"], &report["categories_created"]), (&3.into(), &3.into(), &3.into()));
    let again = shop.json(&["import", "products", &file]);
    assert_eq!((&again["created"], &again["unchanged"]), (&0.into(), &3.into()));
    let exported = shop.ok(&["export", "products"]);
    assert_eq!(exported.lines().count(), 3);
    for format in ["ndjson", "csv"] {
        let out = shop.path("out");
        shop.ok(&["export", "products", "--format", format, "--output", &out]);
        let other = Shop::migrated();
        assert_eq!(other.json(&["import", "products", &out])["created"], 3);
        assert_eq!(sorted(&other.ok(&["export", "products"])), sorted(&exported), "{format}");
        assert_eq!(other.json(&["import", "products", &out])["unchanged"], 3);
        other.ok(&["verify"]);
    }
    // Into another tenant of the same shop, through a pipe.
    let output = shop.run_with(&["import", "products", "-", "--tenant", "other"], &exported);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(sorted(&shop.ok(&["export", "products", "--tenant", "other"])), sorted(&exported));
}

#[test]
fn categories_and_stock_come_back_too() {
    let shop = Shop::new();
    shop.ok(&["demo", "--only-make", "--small", "--folder", "data"]);
    let other = Shop::migrated();
    for what in ["categories", "products", "stock"] {
        let out = shop.path(what);
        shop.ok(&["export", what, "--output", &out]);
        let report = other.json(&["import", what, &out]);
        assert_eq!(report["created"], report["read"], "{what}: {report}");
        assert_eq!(sorted(&other.ok(&["export", what])), sorted(&shop.ok(&["export", what])), "{what}");
        let again = other.json(&["import", what, &out]);
        assert_eq!(again["unchanged"], again["read"], "{what}: {again}");
    }
    other.ok(&["verify"]);
    assert!(other.fails(2, &["import", "stock", &shop.path("products")]).contains("export"));
}

#[test]
fn trees_are_read_written_and_read_back() {
    let shop = Shop::migrated();
    // In any order; one of them stands below nobody who is there.
    let file = shop
        .write("people.csv", "Nr,Boss,Person,Role\n2,1,Grace,team\n1,,R/D,department\n3,2,Büro,room\n9,8,Nobody,\n");
    let map = "id=Nr,parent=Boss,name=Person,type=Role";
    let import = ["import", "tree", &file, "--tree", "company", "--map", map, "--json"];
    let output = shop.run(&import);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["created"], &report["rejected"]), (&3.into(), &1.into()), "{report}");
    let again: Value = serde_json::from_slice(&shop.run(&import).stdout).expect("JSON");
    assert_eq!((&again["created"], &again["unchanged"]), (&0.into(), &3.into()), "{again}");
    let paths = shop.write("taxonomy.txt", "# Version 1\n1 : Animals\n2 : Animals > Birds\n");
    assert_eq!(shop.json(&["import", "tree", &paths])["created"], 2);
    let exported = shop.ok(&["export", "tree"]);
    assert_eq!(exported.lines().count(), 7, "two trees, five nodes");
    assert!(exported.contains("root/R~1D/Grace/Büro") && exported.contains("\"tree\":\"taxonomy\""), "{exported}");
    for format in ["ndjson", "csv"] {
        let out = shop.path("out");
        shop.ok(&["export", "tree", "--format", format, "--output", &out]);
        let other = Shop::migrated();
        assert_eq!(other.json(&["import", "tree", &out])["created"], 7);
        assert_eq!(other.ok(&["export", "tree"]), exported, "{format}");
        assert_eq!(other.json(&["import", "tree", &out])["unchanged"], 7);
        other.ok(&["verify"]);
    }
}

#[test]
fn events_are_written_and_read_back() {
    let shop = Shop::migrated();
    let (one, two) = ("0199a1b2-0000-7000-8000-000000000001", "0199a1b2-0000-7000-8000-000000000002");
    let event = |stream: &str, version: u32, data: &str| {
        format!(
            r#"{{"aggregate_id":"{stream}","block":0,"event_version":{version},"event_timestamp":"2026-02-01T08:0{version}:00.000Z","event_id":"{}","aggregate_kind":"door","event_type":"Moved","event_data":"{{\"angle\":{data}}}","schema_version":1,"event_metadata":{{"who":"Ada"}},"causation_id":null,"correlation_id":"{one}"}}"#,
            stream.replace("-8000-", &format!("-800{version}-")),
        ) + "\n"
    };
    let good = [event(one, 1, "5"), event(one, 2, "7"), event(two, 1, "9")].concat();
    let file = shop.write("events.ndjson", &good);
    let report = shop.json(&["import", "events", &file]);
    assert_eq!((&report["read"], &report["created"]), (&3.into(), &3.into()), "{report}");
    assert_eq!(shop.json(&["import", "events", &file])["unchanged"], 3);
    // A version that another event has, and one after a gap.
    let bad = shop.write("bad.ndjson", &[event(one, 2, "8"), event(two, 3, "1")].concat());
    let output = shop.run(&["import", "events", &bad, "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["created"], &report["rejected"]), (&0.into(), &2.into()), "{report}");
    let exported = shop.ok(&["export", "events"]);
    assert_eq!(exported.lines().count(), 3);
    for format in ["ndjson", "csv"] {
        let out = shop.path("out");
        shop.ok(&["export", "events", "--format", format, "--output", &out]);
        let other = Shop::migrated();
        assert_eq!(other.json(&["import", "events", &out])["created"], 3, "{format}");
        assert_eq!(other.ok(&["export", "events"]), exported, "{format}");
        other.ok(&["verify"]);
    }
    // From elsewhere, by the names that process mining has.
    let foreign = "case:concept:name,concept:name,time:timestamp,who\nc1,Sent,2026-01-01T10:00:00+02:00,Ada\nc1,Paid,2026-01-02T10:00:00Z,\n";
    let file = Shop::migrated();
    let log = file.write("log.csv", foreign);
    assert_eq!(file.json(&["import", "events", &log, "--kind", "receipt"])["created"], 2);
    assert_eq!(file.json(&["import", "events", &log, "--kind", "receipt"])["unchanged"], 2);
    assert!(file.ok(&["export", "events"]).contains("2026-01-01T08:00:00.000Z"));
    let rebuilt = shop.json(&["events", "rebuild-projection", "event_types"]);
    assert_eq!(rebuilt["data"][0]["position"], 3, "{rebuilt}");
    assert_eq!((&rebuilt["data"][0]["lag"], &rebuilt["data"][0]["rebuild"]), (&0.into(), &Value::Null));
    assert!(shop.ok(&["events", "projections"]).contains("event_types"));
    assert!(shop.fails(2, &["events", "rebuild-projection", "none"]).contains("none"));
    let verified = shop.json(&["verify"]);
    let found = verified["data"].as_array().expect("checks").iter().find(|found| found["check"] == "events");
    assert_eq!(found.expect("events are checked")["looked_at"], 3);
}

#[test]
fn wallets_are_written_and_read_back() {
    let shop = Shop::migrated();
    let book = "id,account,date,type,amount\n1,a,2026-01-01,credit,100.00\n2,b,2026-01-01,credit,50.00\n3,a,2026-01-02,debit,30.50\n";
    let file = shop.write("book.csv", book);
    assert_eq!(shop.json(&["import", "transactions", &file, "--currency", "EUR"])["created"], 3);
    assert_eq!(shop.ok(&["export", "events"]), "", "they are the shop's own");
    let exported = shop.ok(&["export", "wallets"]);
    assert_eq!(exported.lines().count(), 3);
    assert!(exported.contains(r#"\"balance\":\"69.50\""#), "{exported}");
    for format in ["ndjson", "csv"] {
        let out = shop.path("out");
        shop.ok(&["export", "wallets", "--format", format, "--output", &out]);
        let other = Shop::migrated();
        assert_eq!(other.json(&["import", "wallets", &out])["created"], 3, "{format}");
        assert_eq!(sorted(&other.ok(&["export", "wallets"])), sorted(&exported), "{format}");
        assert_eq!(other.json(&["import", "wallets", &out])["unchanged"], 3, "{format}");
        // What was booked there is known here.
        assert_eq!(other.json(&["import", "transactions", &file, "--currency", "EUR"])["unchanged"], 3);
        let verified = other.json(&["verify"]);
        let found = verified["data"].as_array().expect("checks").iter().find(|found| found["check"] == "wallets");
        assert_eq!((&found.expect("wallets are checked")["differences"]), &json!(0), "{verified}");
    }
    // An entry that says more than they come to is not taken, and by no other way.
    let other = Shop::migrated();
    let more = other.write("more", &exported.replace("69.50", "969.50"));
    let output = other.run(&["import", "wallets", &more, "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["created"], &report["rejected"]), (&json!(2), &json!(1)), "{report}");
    other.fails(3, &["import", "events", &more]);
    assert!(other.fails(2, &["import", "wallets", &file]).contains("export"));
    // Of a wallet that has begun otherwise here nothing is taken, although the rest would add up.
    let other = Shop::migrated();
    let begun = other.write("book.csv", "id,account,date,type,amount\n9,a,2026-01-01,credit,100.00\n");
    assert_eq!(other.json(&["import", "transactions", &begun, "--currency", "EUR"])["created"], 1);
    let before = other.ok(&["export", "wallets"]);
    let output = other.run(&["import", "wallets", &shop.write("wallets", &exported), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["created"], &report["rejected"]), (&json!(1), &json!(2)), "{report}");
    assert!(other.ok(&["export", "wallets"]).contains(before.trim_end()), "{report}");
}

#[test]
fn a_graph_is_read_analysed_written_and_read_back() {
    let shop = Shop::migrated();
    let nothing = shop.json(&["graph", "analyze"]);
    assert_eq!((&nothing["people"], &nothing["communities"]), (&0.into(), &0.into()), "{nothing}");
    // One of them knows but themselves.
    let edges = shop.write("edges.txt", "# a remark\n0 1\n1 2\n2 0\n2 3\n4 4\n");
    let import = ["import", "graph", &edges, "--source", "school", "--json"];
    let output = shop.run(&import);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["created"], &report["rejected"]), (&4.into(), &1.into()), "{report}");
    let again: Value = serde_json::from_slice(&shop.run(&import).stdout).expect("JSON");
    assert_eq!((&again["created"], &again["unchanged"]), (&0.into(), &4.into()), "{again}");
    let rated = shop.write("rated.csv", "0,3,4,1289241912\n3,1,-10,1289241942\n");
    let mapped = ["--type", "follow", "--map", "rating=3,time=4", "--source", "school"];
    assert_eq!(shop.json(&[&["import", "graph", &rated], &mapped[..]].concat())["created"], 2);
    let blocks = shop.write("blocks.csv", "from,to,type\n0,1,block\n");
    assert_eq!(shop.json(&["import", "graph", &blocks, "--source", "school"])["created"], 1);

    // The two of whom one has blocked the other are no pair any more.
    let found = shop.json(&["graph", "analyze"]);
    assert_eq!((&found["people"], &found["pairs"], &found["sampled"]), (&4.into(), &5.into(), &Value::Null), "{found}");
    assert_eq!(shop.json(&["graph", "analyze", "--sample", "2"])["sampled"], 2);
    assert_eq!(shop.run(&["graph", "analyze", "--sample", "1"]).status.code(), Some(2));

    let exported = shop.ok(&["export", "graph"]);
    assert_eq!(exported.lines().count(), 7);
    assert!(exported.contains("\"connection_type\":\"block\"") && exported.contains("2010-11-08"), "{exported}");
    for format in ["ndjson", "csv"] {
        let out = shop.path("out");
        shop.ok(&["export", "graph", "--format", format, "--output", &out]);
        let other = Shop::migrated();
        assert_eq!(other.json(&["import", "graph", &out])["created"], 7);
        assert_eq!(other.ok(&["export", "graph"]), exported, "{format}");
        assert_eq!(other.json(&["import", "graph", &out])["unchanged"], 7);
        other.ok(&["verify"]);
    }
}

#[test]
fn orders_come_back_as_they_were() {
    let shop = Shop::migrated();
    shop.ok(&["import", "products", &shop.write("catalog.csv", CATALOG), "--source", "old"]);
    let file = shop.write("orders.csv", ORDERS);
    let report = shop.json(&["import", "orders", &file, "--source", "old"]);
    assert_eq!((&report["read"], &report["created"]), (&3.into(), &2.into()), "{report}");
    assert_eq!(report["sales"]["standing"]["amount"], "43.30");
    let exported = shop.ok(&["export", "orders"]);
    assert_eq!(exported.lines().count(), 2);
    for format in ["ndjson", "csv"] {
        let out = shop.path("out");
        shop.ok(&["export", "orders", "--format", format, "--output", &out]);
        let other = Shop::migrated();
        assert_eq!(other.json(&["import", "orders", &out])["created"], 2);
        assert_eq!(sorted(&other.ok(&["export", "orders"])), sorted(&exported), "{format}");
        assert_eq!(other.json(&["import", "orders", &out])["unchanged"], 2);
        // The sales of the days followed.
        other.ok(&["verify"]);
        let days = other.json(&["analytics", "rebuild", "--from", "2026-01-05", "--to", "2026-01-06", "--dry-run"]);
        assert_eq!(days["data"][0]["orders"], 1);
    }
}

#[test]
fn a_bad_record_is_rejected_and_the_others_are_taken() {
    let shop = Shop::migrated();
    let file = shop.write("bad.csv", "id,name,price\n1,Lamp,19.90\n2,Chair,cheap\n3,Table,80\n");
    let output = shop.run(&["import", "products", &file, "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["created"], &report["rejected"]), (&2.into(), &1.into()));
    let rejects = std::fs::read_to_string(shop.path("bad.csv.rejects.ndjson")).expect("it is there");
    let rejected: Value = serde_json::from_str(rejects.trim()).expect("JSON");
    assert_eq!(rejected["record"], 2);
    assert!(rejected["reason"].as_str().is_some_and(|reason| reason.contains("cheap")), "{rejected}");
    let own = shop.ok(&["export", "products"]);
    let spoiled =
        own.replace("\"price\":\"19.90\"", "\"price\":\"-1\"").replace("\"price\":\"19.9\"", "\"price\":\"-1\"");
    assert_ne!(own, spoiled);
    let other = Shop::migrated();
    let output = other.run_with(&["import", "products", "-", "--rejects", "bad", "--json"], &spoiled);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(std::fs::read_to_string(other.path("bad")).expect("it is there").contains("not negative"));
    let told = shop.fails(1, &["import", "products", &file, "--map", "name=Titel"]);
    assert!(told.contains("there is no column Titel"), "{told}");
    shop.fails(2, &["import", "products", &file, "--map", "nam=name"]);
}

#[test]
fn verify_finds_what_was_planted_and_mends_it() {
    let shop = Shop::new();
    shop.ok(&["demo", "--only-make", "--small", "--folder", "data"]);
    shop.ok(&["verify"]);
    // A schema without the derivation lets the derived table be written.
    let schema = Schema::new().table::<CategoryEntry>().table::<DailySales>().build().expect("a schema");
    shop.store(schema, async |store| {
        let entry = first::<CategoryEntry>(&store).await;
        let wrong = CategoryEntry { price: entry.price + Decimal::ONE, ..entry.clone() };
        let orphan = CategoryEntry { sort_key: "price_asc:nowhere".into(), ..entry };
        store.commit(Commit::new().put(&wrong).put(&orphan)).await.expect("planted");
        let sales = first::<DailySales>(&store).await;
        store
            .commit(Commit::new().put(&DailySales { revenue_cents: sales.revenue_cents + 1, ..sales }))
            .await
            .expect("planted");
    });
    let output = shop.run(&["verify", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let differences = |report: &Value, check: &str| {
        let all = report["data"].as_array().expect("a list");
        all.iter().find(|one| one["check"] == check).map(|one| one["differences"].clone()).expect(check)
    };
    assert_eq!(differences(&report, "derived tables"), 2, "{report}");
    assert_eq!(differences(&report, "daily sales"), 1, "{report}");
    assert!(shop.run(&["verify"]).status.code() == Some(3));
    assert!(shop.ok(&["verify", "--repair"]).contains("derived tables"));
    let mended = shop.json(&["verify"]);
    assert_eq!((differences(&mended, "derived tables"), differences(&mended, "daily sales")), (0.into(), 0.into()));
}

async fn first<R: Row>(store: &widerow::Store) -> R {
    for mut range in store.database().scan(R::table(), 1).await.expect("a scan") {
        while let Some(rows) = range.next().await.expect("rows") {
            if let Some((_, row)) = rows.into_iter().next() {
                return R::from_values(row.values).expect("a row");
            }
        }
    }
    panic!("{} is empty", R::table().name)
}

#[test]
fn people_are_made_and_get_passwords_and_roles() {
    let shop = Shop::migrated();
    let create = ["user", "create", "ada@example.com", "--first-name", "Ada", "--json"];
    let output = shop.run_with(&create, "correct horse battery\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let user: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&user["email"], &user["role"]), (&"ada@example.com".into(), &"customer".into()));
    assert_eq!(shop.run_with(&create, "correct horse battery\n").status.code(), Some(1));
    assert!(shop.fails(2, &["user", "create", "b@example.com"]).contains("standard input"));
    let short = shop.run_with(&["user", "create", "b@example.com"], "short\n");
    assert_eq!(short.status.code(), Some(1));
    assert!(text(&short.stderr).contains("password"), "{}", text(&short.stderr));
    assert_eq!(shop.json(&["user", "role", "ada@example.com", "admin"])["role"], "admin");
    // A stranger has asked for so many letters that nobody gets one for an hour. The shell needs none.
    shop.store(merkato::schema().expect("a schema"), async |store| {
        let later = Arc::new(ManualClock::at(SystemClock.now().plus_seconds(3_600)));
        let ctx = Context::new(store, Settings::default(), later, Arc::new(SystemChance));
        let mut answers = Vec::new();
        for i in 0..10 {
            let asked = accounts::request_password_reset(&ctx, "ada@example.com", &format!("192.0.2.{i}")).await;
            answers.push(asked.is_ok());
        }
        assert!(answers[0] && !answers[9], "{answers:?}");
    });
    let passwd = shop.run_with(&["user", "passwd", "Ada@example.com"], "another long one\n");
    assert_eq!(passwd.status.code(), Some(0), "{}", text(&passwd.stderr));
    assert!(shop.fails(1, &["user", "role", "nobody@example.com", "staff"]).contains("nobody has the address"));
    // Whoever registered with an address that is not verified gets no role, until whoever has the shell vouches for it.
    shop.store(merkato::schema().expect("a schema"), async |store| {
        let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
        let new =
            accounts::NewUser { email: "eve@example.com".into(), password: "a long one".into(), ..Default::default() };
        accounts::register(&ctx, new).await.expect("registered");
    });
    assert!(shop.fails(1, &["user", "role", "eve@example.com", "staff"]).contains("has not been verified"));
    let passwd = shop.run_with(&["user", "passwd", "eve@example.com"], "another long one\n");
    assert_eq!(passwd.status.code(), Some(0), "{}", text(&passwd.stderr));
    assert_eq!(shop.json(&["user", "role", "eve@example.com", "staff"])["role"], "staff");
    shop.fails(2, &["user", "role", "ada@example.com", "king"]);
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let shop = Shop::migrated();
    let made = shop.json(&["key", "create", "shelf", "--scopes", "catalog_read,orders_write", "--expires-days", "30"]);
    let (id, token) = (made["key_id"].as_str().expect("an id"), made["token"].as_str().expect("a token"));
    assert!(token.starts_with("mk_default_"), "{token}");
    let listed = shop.ok(&["key", "list", "--json"]);
    assert!(!listed.contains(token));
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!((&listed["data"][0]["name"], &listed["data"][0]["in_force"]), (&"shelf".into(), &true.into()));
    shop.ok(&["key", "revoke", id]);
    shop.ok(&["key", "revoke", id]);
    assert_eq!(shop.json(&["key", "list"])["data"][0]["in_force"], false);
    assert!(shop.fails(2, &["key", "create", "x", "--scopes", "everything"]).contains("catalog_read"));
    shop.fails(1, &["key", "revoke", "00000000-0000-0000-0000-000000000001"]);
}

#[test]
fn a_tenant_is_taken_out_and_erased() {
    let shop = Shop::migrated();
    let file = shop.write("catalog.csv", CATALOG);
    shop.ok(&["import", "products", &file]);
    shop.ok(&["import", "products", &file, "--tenant", "acme"]);
    let user = shop.run_with(&["user", "create", "ada@example.com", "--tenant", "acme"], "correct horse battery\n");
    assert_eq!(user.status.code(), Some(0), "{}", text(&user.stderr));
    shop.ok(&["key", "create", "k", "--scopes", "catalog_read", "--tenant", "acme"]);
    assert_eq!(shop.json(&["tenant", "list"])["data"], serde_json::json!(["acme", "default"]));
    let taken = shop.ok(&["tenant", "export", "acme"]);
    assert!(taken.contains("ada@example.com") && taken.contains("Lamp"), "{taken}");
    for secret in ["$argon2", "password_hash", "secret_hash"] {
        assert!(!taken.contains(secret), "{secret}: {taken}");
    }
    assert!(shop.fails(2, &["tenant", "erase", "acme"]).contains("--yes"));
    assert!(shop.json(&["tenant", "erase", "acme", "--yes"])["rows"].as_u64().is_some_and(|rows| rows >= 6));
    assert_eq!(shop.json(&["tenant", "list"])["data"], serde_json::json!(["default"]));
    assert_eq!(shop.ok(&["export", "products", "--tenant", "acme"]), "");
    assert_eq!(shop.ok(&["export", "products"]).lines().count(), 3);
    shop.ok(&["verify"]);
}

#[test]
fn patterns_are_explained_and_the_engine_is_looked_at() {
    let shop = Shop::migrated();
    let all = shop.json(&["explain"]);
    assert!(all["data"].as_array().is_some_and(|all| all.len() > 40));
    assert!(shop.ok(&["explain", "q2"]).contains("products_by_category"));
    assert_eq!(shop.json(&["explain", "Q2"])["data"].as_array().map(Vec::len), Some(1));
    shop.fails(2, &["explain", "nothing of the kind"]);
    let file = shop.write("catalog.csv", CATALOG);
    shop.ok(&["import", "products", &file]);
    let health = shop.json(&["doctor"]);
    assert_eq!(health["engine"], "embedded");
    let tables = health["tables"].as_array().expect("a list");
    assert!(tables.iter().any(|table| table["table"] == "products" && table["rows"] == 3), "{tables:?}");
    assert!(shop.ok(&["doctor", "--quick"]).contains("schema   as declared"));
    shop.fails(3, &["--folder", "empty", "doctor"]);
}

#[test]
fn completions_are_for_three_shells() {
    let shop = Shop::new();
    for (shell, part) in [("bash", "_merkato()"), ("zsh", "#compdef merkato"), ("fish", "complete -c merkato")] {
        assert!(shop.ok(&["completions", shell]).contains(part), "{shell}");
    }
}

#[test]
fn the_proof_runs_on_the_configured_engine() {
    let shop = Shop::new();
    let report = shop.json(&["chaos", "inventory", "--shoppers", "20", "--units", "5", "--faults", "3"]);
    assert_eq!(report["passed"], true, "{report}");
    assert!(!Path::new(&shop.path("data")).exists());
    shop.ok(&["--folder", "here", "chaos", "inventory", "--shoppers", "5", "--units", "2"]);
    assert!(Path::new(&shop.path("here")).exists());
}

#[test]
fn the_demo_is_made_once() {
    let shop = Shop::new();
    shop.write("merkato.toml", "engine = \"cassandra\"\n");
    let made = shop.json(&["demo", "--only-make", "--small"]);
    assert_eq!(made["logins"]["admin"]["email"], "admin@demo.example");
    assert_eq!(made["logins"]["staff"]["email"], "clerk@demo.example");
    assert_eq!(made["logins"]["customer"]["email"], "ada@demo.example");
    let rows = || shop.ok(&["--engine", "embedded", "--folder", "merkato-demo", "export", "orders"]);
    let before = rows();
    assert!((40..=80).contains(&before.lines().count()), "{}", before.lines().count());
    let output = shop.run(&["demo", "--only-make"]);
    assert!(!text(&output.stderr).contains("making"), "{}", text(&output.stderr));
    assert_eq!(rows(), before);
    shop.ok(&["--engine", "embedded", "--folder", "merkato-demo", "verify"]);
}

#[cfg(unix)]
#[test]
fn a_server_starts_and_stops_when_it_is_told() {
    let shop = Shop::new();
    let mut child = shop.command(&["serve", "--migrate", "--listen", "127.0.0.1:0"]).spawn().expect("it starts");
    let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        assert_ne!(log.read_line(&mut line).expect("a line"), 0, "it ended before it listened");
    }
    let told = Command::new("kill").arg(child.id().to_string()).status().expect("kill");
    assert!(told.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let told = shop.fails(2, &["serve", "--listen", "nowhere"]);
    assert!(told.contains("listen"), "{told}");
}

const SALES: &str = "\
Order Date,Brand,Sneaker Name,Sale Price,Retail Price,Release Date,Shoe Size
2017-09-01, Yeezy,Boost #1,\"$1,097\",220,2016-09-24,11.0
2017-09-01, Yeezy,Boost #1,\"$1,097\",220,2016-09-24,11.0
2017-09-02,Off-White,Presto,685.5,160,2017-09-09,9
2017-13-02,Off-White,Presto,685,160,2017-09-09,9
2017-09-03,Off-White,Presto,-5,160,2017-09-09,9
";

#[test]
fn sales_are_imported_once_and_exported_again() {
    let shop = Shop::migrated();
    let file = shop.write("sold.csv", SALES);
    let import = ["import", "sales", file.as_str(), "--category", "sneakers", "--currency", "USD"];
    // Older than sales are kept: refused by name, and nothing is written for nobody.
    let told: Value = {
        let output = shop.run(&[&import[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        serde_json::from_str(&text(&output.stdout)).expect("JSON")
    };
    assert_eq!((&told["read"], &told["created"], &told["rejected"]), (&5.into(), &0.into(), &5.into()), "{told}");
    let rejects = std::fs::read_to_string(told["rejects_file"].as_str().expect("a file")).expect("read");
    assert!(rejects.contains("older than sales are kept"), "{rejects}");
    let kept = [&import[..], &["--retention-years", "0", "--json"]].concat();
    for (created, unchanged) in [(3, 0), (0, 3)] {
        let output = shop.run(&kept);
        assert_eq!(output.status.code(), Some(3));
        let told: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
        let figures = (&told["created"], &told["unchanged"], &told["rejected"]);
        assert_eq!(figures, (&created.into(), &unchanged.into(), &2.into()), "{told}");
        let notes = told["notes"].to_string();
        assert!(notes.contains("Shoe Size") && notes.contains("Release Date"), "{notes}");
    }
    let exported = shop.ok(&["export", "sales"]);
    assert_eq!(exported.lines().count(), 3, "{exported}");
    assert!(exported.contains("\"productId\":\"Boost -1\"") && exported.contains("\"brand\":\"Yeezy\""), "{exported}");
    // Elsewhere they are the same rows; here nothing changes.
    for (tenant, created, unchanged) in [("other", 3, 0), ("default", 0, 3)] {
        for (format, name) in [("ndjson", "out.ndjson"), ("csv", "out.csv")] {
            shop.ok(&["export", "sales", "--format", format, "--output", name]);
            let file = shop.path(name);
            let again = ["import", "sales", &file, "--tenant", tenant, "--retention-years", "0"];
            let told = shop.json(&again);
            let created = if format == "ndjson" { created } else { 0 };
            let unchanged = if format == "ndjson" { unchanged } else { 3 };
            assert_eq!((&told["created"], &told["unchanged"]), (&created.into(), &unchanged.into()), "{told}");
        }
        assert_eq!(sorted(&shop.ok(&["export", "sales", "--tenant", tenant])), sorted(&exported));
    }
    let skew = shop.json(&["sales", "skew", "sneakers"]);
    assert_eq!(skew["total"], 3);
    assert!(shop.fails(1, &["import", "sales", &file, "--map", "price=Nothing"]).contains("no column Nothing"));
}

#[test]
fn records_without_an_end_get_one_and_ended_ones_can_be_kept() {
    let shop = Shop::migrated();
    let file = shop.write("sold.csv", SALES);
    // For good: they have no end.
    let import = ["import", "sales", &file, "--category", "sneakers", "--currency", "USD", "--retention-years", "0"];
    assert_eq!(shop.run(&import).status.code(), Some(3));
    let counted = shop.run(&["sales", "backfill-ttl", "--dry-run", "--json"]);
    assert_eq!(counted.status.code(), Some(3), "{}", text(&counted.stderr));
    let counted: Value = serde_json::from_str(&text(&counted.stdout)).expect("JSON");
    assert_eq!((&counted["scanned"], &counted["without"], &counted["updated"]), (&3.into(), &3.into(), &0.into()));
    assert_eq!(shop.ok(&["export", "sales"]).lines().count(), 3, "a dry run changes nothing");
    let done = shop.json(&["sales", "backfill-ttl"]);
    assert_eq!((&done["without"], &done["updated"], &done["failed"]), (&3.into(), &3.into(), &0.into()), "{done}");
    assert_eq!(done["next"], Value::Null);
    // Their time is over: no read shows them any more, and they can still be taken out.
    assert_eq!(shop.ok(&["export", "sales"]), "");
    let ended = shop.ok(&["sales", "export-ended"]);
    assert_eq!(ended.lines().count(), 3, "{ended}");
    let ended = shop.write("ended.ndjson", &ended);
    let back = shop.json(&["import", "sales", &ended, "--tenant", "archive", "--retention-years", "0"]);
    assert_eq!(back["created"], 3);
    assert!(shop.fails(2, &["sales", "backfill-ttl", "--set", "shop.sales.retention_years=0"]).contains("for good"));
    assert!(shop.fails(1, &["sales", "backfill-ttl", "--resume", "nonsense"]).contains("cursor"));
}

#[test]
fn what_the_table_of_sales_costs_is_told_without_an_engine() {
    let shop = Shop::new();
    let cost = ["sales", "cost", "--sales-per-day", "100000", "--reads-per-day", "1000000"];
    let table = shop.ok(&cost);
    assert!(table.contains("36,500,000 a year") && table.contains("brands (GSI-3)"), "{table}");
    let told = shop.json(&cost);
    assert_eq!((&told["currency"], &told["sales_per_year"]), (&"EUR".into(), &"36500000".into()));
    let dearer = shop.json(&[&cost[..], &["--set", "shop.sales.prices.write_million=2.50"]].concat());
    let sum = |told: &Value| told["monthly"].as_str().unwrap().parse::<Decimal>().unwrap();
    assert!(sum(&dearer) > sum(&told));
    let mixed = shop.json(&[&cost[..], &["--category-share", "0.1", "--with-brand", "0.5"]].concat());
    assert!(mixed["lines"].to_string().contains("a category: the table"), "{mixed}");
    assert!(shop.fails(2, &[&cost[..], &["--category-share", "2"]].concat()).contains("share"));
}

#[test]
fn measurements_are_imported_rolled_up_and_exported_again() {
    let shop = Shop::migrated();
    let hour = |ago: i64| Timestamp::from_millis(SystemClock.now().millis() / 3_600_000 * 3_600_000 - ago * 3_600_000);
    let mut csv = "timestamp,value\n".to_owned();
    for n in 0..12 {
        csv.push_str(&format!("{},{}\n", hour(5).plus_seconds(n * 600), 4.0 + n as f64 / 10.0));
    }
    csv.push_str("yesterday,4.0\n");
    shop.write("cold.csv", &csv);
    let import = ["import", "measurements", "cold.csv", "--sensor", "cold", "--metric", "temperature"];
    // Nobody has heard of the sensor.
    shop.fails(3, &import);
    let register = [&import[..], &["--register", "--interval-seconds", "600", "--kind", "cold_store"]].concat();
    shop.fails(3, &register);
    let rejects = std::fs::read_to_string(shop.home.path().join("cold.csv.rejects.ndjson")).expect("rejects");
    assert_eq!(rejects.lines().count(), 1, "{rejects}");
    let rolled = shop.json(&["rollup"]);
    assert_eq!((&rolled["measurements"], &rolled["changed"], &rolled["failed"]), (&json!(12), &json!(2), &json!(0)));
    // Again, it changes nothing.
    shop.fails(3, &register);
    assert_eq!(shop.json(&["rollup"])["measurements"], 0);
    for format in ["ndjson", "csv"] {
        let file = format!("kept.{format}");
        shop.ok(&["export", "measurements", "--format", format, "--output", &file]);
        let other = ["import", "measurements", &file, "--tenant", format];
        let told = shop.json(&other);
        assert_eq!((&told["created"], &told["rejected"]), (&json!(12), &json!(0)), "{told}");
        assert_eq!(shop.json(&other)["unchanged"], 12);
        assert_eq!(shop.json(&["rollup", "--tenant", format])["measurements"], 12);
        let again = shop.ok(&["export", "measurements", "--format", "ndjson", "--tenant", format]);
        let mine = shop.ok(&["export", "measurements", "--format", "ndjson"]);
        let rows = |text: &str| -> Vec<Value> {
            let mut rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            rows.sort_by_key(|row| row["measurement_time"].to_string());
            rows
        };
        assert_eq!(rows(&again), rows(&mine));
    }
    // A sensor that was retired elsewhere is retired here, and has what it measured until then.
    let mine = shop.ok(&["export", "measurements"]);
    let retired = hour(2).to_string();
    let mut lines = Vec::new();
    for line in mine.lines() {
        let mut row: Value = serde_json::from_str(line).expect("JSON");
        row["sensor"]["retired_at"] = json!(retired);
        row["sensor"]["revision"] = json!(2);
        lines.push(row.to_string());
    }
    let file = shop.write("retired.ndjson", &lines.join("\n"));
    let other = ["import", "measurements", &file, "--tenant", "retired"];
    let told = shop.json(&other);
    assert_eq!((&told["created"], &told["rejected"]), (&json!(12), &json!(0)), "{told}");
    assert_eq!(shop.json(&other)["unchanged"], 12);
    let there = shop.ok(&["export", "measurements", "--tenant", "retired"]);
    let rows = |text: &str| -> Vec<Value> {
        let mut rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        rows.sort_by_key(|row| row["measurement_time"].to_string());
        rows
    };
    assert_eq!(rows(&there), rows(&lines.join("\n")));
    // What it would have measured afterwards is none of its measurements.
    let mut late: Value = serde_json::from_str(&lines[0]).expect("JSON");
    late["measurement_time"] = json!(hour(1).to_string());
    late["time_bucket"] = json!(hour(1).millis() / 1_000);
    shop.write("late.ndjson", &late.to_string());
    shop.fails(3, &["import", "measurements", "late.ndjson", "--tenant", "retired"]);
    assert_eq!(
        shop.json(&["verify"])["data"].as_array().expect("checks").iter().filter(|c| c["differences"] != 0).count(),
        0
    );
}
