//! Paths, and what nodes become on their way.

use super::path;

#[test]
fn a_name_with_a_slash_is_one_name() {
    for name in ["a/b", "~", "~1", "~0/", "/", "//~~", "Büro"] {
        let below = path::below("root", name);
        assert_eq!(path::names(&below), [name]);
        assert_eq!(path::parse(&below).unwrap(), Some(("root", name.to_owned())));
    }
    assert!(path::parse("root/a~2").is_err());
    assert!(path::parse("root//a").is_err());
    assert!(path::parse("elsewhere/a").is_err());
    assert_eq!(path::parse("root").unwrap(), None);
}

#[test]
fn a_long_path_has_a_key_that_no_other_has() {
    let (long, other) = ("root/".to_owned() + &"a".repeat(1_000), "root/".to_owned() + &"a".repeat(1_001));
    assert_ne!(path::key(&long), path::key(&other));
    assert!(path::key(&long).len() > crate::limits::NODE_PATH_KEY_BYTES_MAX);
    assert!(path::key(&long).len() + 16 <= widerow::limits::PARTITION_KEY_BYTES_MAX);
    let short = "root/".to_owned() + &"ä".repeat(200);
    assert_eq!(path::key(&short), short);
}
