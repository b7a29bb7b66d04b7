use std::collections::BTreeSet;

use uuid::Uuid;
use widerow::Timestamp;

use super::{NewKey, Scope, SecretHash, Token};
use crate::{id::KeyId, limits};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn new_key() -> NewKey {
    NewKey {
        name: "Warehouse".into(),
        scopes: BTreeSet::from([Scope::InventoryRead]),
        created_by: "cli".into(),
        expires_at: None,
    }
}

#[test]
fn every_scope_is_read_as_it_is_written() {
    for scope in Scope::ALL {
        assert_eq!(Scope::parse(scope.as_str()), Some(*scope));
    }
    assert_eq!(Scope::ALL.iter().collect::<BTreeSet<_>>().len(), Scope::ALL.len());
    assert_eq!(Scope::parse("Catalog_Read"), None);
}

#[test]
fn a_token_is_read_strictly() {
    let (id, secret) = ("0".repeat(31) + "a", "b".repeat(64));
    for tenant in ["default", "a", "a_b", "mk_a__b_", "0-_"] {
        let token = Token::parse(&format!("mk_{tenant}_{id}_{secret}")).expect("a token");
        assert_eq!((token.tenant(), token.key_id()), (tenant, KeyId(Uuid::from_u128(10))));
        assert!(!format!("{token:?}").contains(&secret));
    }
    let upper = "B".repeat(64);
    let hyphens = Uuid::from_u128(10).to_string();
    for text in [
        "",
        "mk_",
        &format!("mk_{id}_{secret}"),
        &format!("mk__{id}_{secret}"),
        &format!("mk__a_{id}_{secret}"),
        &format!("mk_A_{id}_{secret}"),
        &format!("mk_{}_{id}_{secret}", "a".repeat(65)),
        &format!("MK_a_{id}_{secret}"),
        &format!("mk_a_{id}_{upper}"),
        &format!("mk_a_{hyphens}_{secret}"),
        &format!("mk_a_{id}_{secret} "),
        &format!("mk_a_{id}_{secret}_"),
        &format!("mk_a_{id}_b{secret}"),
        &format!("mk_a_{}_{secret}", &id[1..]),
        &format!("mk_a_{id}{secret}"),
        &format!("mk_ä_{id}_{secret}"),
    ] {
        assert!(Token::parse(text).is_none(), "{text}");
    }
}

#[test]
fn every_bad_field_is_named() {
    let bad = NewKey {
        name: " ".into(),
        scopes: BTreeSet::new(),
        created_by: "x".repeat(limits::REFERENCE_BYTES_MAX + 1),
        expires_at: Some(NOW),
    };
    let fields: Vec<_> = bad.check(NOW).expect_err("bad").fields.into_iter().map(|bad| bad.field).collect();
    assert_eq!(fields, ["name", "scopes", "created_by", "expires_at"]);
    let late = NewKey { expires_at: Some(NOW.plus_seconds(limits::KEY_SECONDS_MAX + 1)), ..new_key() };
    assert!(late.check(NOW).is_err());
    new_key().check(NOW).expect("good");
}

#[test]
fn a_key_is_kept_for_a_while_after_its_end() {
    let key = new_key().make(KeyId(Uuid::nil()), SecretHash("x".into()), NOW);
    assert_eq!(key.rest_seconds(NOW), None);
    assert!(!format!("{key:?}").contains("\"x\""));
    let memory = u32::try_from(limits::KEY_MEMORY_SECONDS).unwrap();
    let ends = |expires_at| super::ApiKey { expires_at: Some(expires_at), ..key.clone() };
    assert_eq!(ends(NOW.plus_seconds(60)).rest_seconds(NOW), Some(memory + 60));
    let revoked = super::ApiKey { revoked_at: Some(NOW), ..ends(NOW.plus_seconds(60)) };
    assert_eq!(revoked.rest_seconds(NOW), Some(memory));
    assert_eq!(revoked.rest_seconds(NOW.plus_seconds(1 << 40)), Some(1));
    let longest = ends(NOW.plus_seconds(limits::KEY_SECONDS_MAX)).rest_seconds(NOW).unwrap();
    assert!(longest <= widerow::limits::TTL_SECONDS_MAX);
}

#[test]
fn a_use_is_due_once_in_a_while_and_never_of_a_key_that_is_over() {
    let key = new_key().make(KeyId(Uuid::nil()), SecretHash("x".into()), NOW);
    assert!(key.use_is_due(NOW, 60));
    let used = super::ApiKey { last_used_at: Some(NOW), ..key.clone() };
    assert!(!used.use_is_due(NOW.plus_seconds(59), 60));
    assert!(used.use_is_due(NOW.plus_seconds(60), 60));
    let revoked = super::ApiKey { revoked_at: Some(NOW), ..key.clone() };
    let over = super::ApiKey { expires_at: Some(NOW), ..key };
    assert!(!revoked.use_is_due(NOW, 60) && !over.use_is_due(NOW, 60));
}
