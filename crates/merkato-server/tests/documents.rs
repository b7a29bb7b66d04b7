//! Documents that are made from the code are as the code is. `MERKATO_WRITE_DOCS=1` writes them anew.

use std::path::Path;

#[test]
fn the_page_on_configuration_is_current() {
    let text = merkato_server::config::document();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    if std::env::var_os("MERKATO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/configuration.md is not what the code says: run the tests with MERKATO_WRITE_DOCS=1");
}
