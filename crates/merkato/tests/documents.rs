//! Documents that are made from the code are as the code is. `MERKATO_WRITE_DOCS=1` writes them anew.

use std::{fmt::Write as _, path::Path};

#[test]
fn the_list_of_access_patterns_is_current() {
    let mut text = String::from(
        "# Access patterns\n\n\
         Every question that the data model answers, with the most that it costs, whatever the number of rows elsewhere. *n* is\n\
         the number of rows that were asked for. Requests go out one after the other or side by side. The costs are measured by\n\
         the tests, on every engine. This file is made from the code.\n",
    );
    for (module, patterns) in merkato::PATTERNS {
        let _ = write!(
            text,
            "\n## {module}\n\n| name | question | table | key | partitions | rows | requests |\n|---|---|---|---|---|---|---|\n"
        );
        for pattern in *patterns {
            let cost = pattern.cost;
            let _ = writeln!(
                text,
                "| {} | {} | `{}` | `{}` | {} | {} | {} |",
                pattern.name, pattern.question, pattern.table, pattern.key, cost.partitions, cost.rows, cost.requests
            );
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/access-patterns.md");
    if std::env::var_os("MERKATO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/access-patterns.md is not what the code says: run the tests with MERKATO_WRITE_DOCS=1"
    );
}
