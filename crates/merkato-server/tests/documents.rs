//! Documents that are made from the code are as the code is. `MERKATO_WRITE_DOCS=1` writes them anew.

use std::{collections::BTreeSet, fmt::Write as _, path::Path};

use merkato_server::http::codes::{self, CODES};

#[test]
fn the_list_of_errors_is_current() {
    let mut text = String::from(
        "# Errors\n\n\
         Every error is `application/problem+json` with `type`, `title`, `status`, `code`, `request_id`, mostly a `detail`, and for bad\n\
         input `errors` with the place of each wrong field. Programs decide by `code`, which does not change. Of a 5xx nothing is told\n\
         but the request id, under which the log has the cause. This file is made from the code.\n\n\
         | code | status | meaning |\n|---|---|---|\n",
    );
    for known in CODES {
        let _ = writeln!(text, "| `{}` | {} | {} |", known.code, known.status.as_u16(), known.title);
    }
    assert_current("errors.md", &text);
}

#[test]
fn the_page_on_configuration_is_current() {
    assert_current("configuration.md", &merkato_server::config::document());
}

fn assert_current(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("MERKATO_WRITE_DOCS").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/{name} is not what the code says: run the tests with MERKATO_WRITE_DOCS=1");
}

/// Whatever the domain's errors or the server's own call themselves is in the list.
#[test]
fn every_code_is_in_the_list() {
    let mut found = BTreeSet::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // What measurements are found to be is no error, and has codes of its own.
    let kinds = ["pub enum AnomalyKind", "pub enum OutlierReason", "pub enum Maintenance"];
    read(&crates.join("merkato/src"), &mut |text| {
        if kinds.iter().any(|kind| text.contains(kind)) {
            return;
        }
        let bodies = text.split("fn code(").skip(1).filter_map(|rest| rest.split("\n    }\n").next());
        found.extend(bodies.flat_map(|body| words_after(body, "=> ")));
    });
    read(&crates.join("merkato-server/src/http"), &mut |text| {
        found.extend(["Problem::new(", "Problem::field(", "recoded("].iter().flat_map(|call| words_after(text, call)));
    });
    found.remove("data");
    assert!(found.len() > 80, "{found:?}");
    let missing: Vec<_> = found.iter().filter(|code| codes::find(code).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What stands in quotation marks right after each mark.
fn words_after(text: &str, mark: &str) -> Vec<String> {
    let quoted = |rest: &str| rest.strip_prefix('"')?.split('"').next().map(str::to_owned);
    text.split(mark).skip(1).filter_map(quoted).collect()
}

fn read(folder: &Path, see: &mut impl FnMut(&str)) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read(&path, see);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            see(&std::fs::read_to_string(&path).expect("a file"));
        }
    }
}
