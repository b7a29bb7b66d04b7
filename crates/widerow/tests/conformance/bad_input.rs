//! Bad input: a typed error that names the field and the limit; nothing written, nothing sent.

use std::ops::Bound;

use uuid::Uuid;
use widerow::{Commit, Cursor, Date, Error, Timestamp, limits, meter};

use crate::{
    cases,
    commits::article,
    rows::empty,
    slices::line,
    tables::{Article, ByBigInt, ByDate, ByInt, ByText, Everything, Line, Mixed},
    world::{Target, Worlds},
};

cases!(
    keys_and_rows_over_the_limit,
    empty_partition_keys,
    ranges_that_end_before_they_begin,
    cursors_of_another_query,
    positions_outside_the_slice,
    tenants_of_a_wrong_shape,
    times_out_of_range,
    commits_that_make_no_sense,
    an_engine_without_tables,
);

/// The request fails with an error of a kind, at no cost.
async fn refused<T: std::fmt::Debug>(
    request: impl Future<Output = Result<T, Error>>,
    kind: fn(&Error) -> bool,
) -> String {
    let (result, cost) = meter::measure(request).await;
    let error = result.expect_err("it was accepted");
    assert!(kind(&error), "{error:?}");
    assert_eq!(cost.round_trips, 0, "{error}: something was sent");
    error.to_string()
}

fn too_large(e: &Error) -> bool {
    matches!(e, Error::TooLarge { .. })
}

fn invalid(e: &Error) -> bool {
    matches!(e, Error::Invalid { .. })
}

async fn keys_and_rows_over_the_limit(target: &Target) {
    let store = target.world().store;
    let row = |owner: usize, value: usize| ByText { owner: "o".repeat(owner), value: "v".repeat(value), note: 1 };
    let at = row(limits::PARTITION_KEY_BYTES_MAX, limits::CLUSTERING_KEY_BYTES_MAX);
    store.commit(Commit::new().put(&at)).await.unwrap();
    assert_eq!(store.get::<ByText>((at.owner.clone(), at.value.clone())).await.unwrap(), Some(at.clone()));
    // What escaping makes longest still fits.
    let escaped = ByText {
        owner: "#".repeat(limits::PARTITION_KEY_BYTES_MAX),
        value: " ".repeat(limits::CLUSTERING_KEY_BYTES_MAX),
        note: 1,
    };
    store.commit(Commit::new().put(&escaped)).await.unwrap();
    assert_eq!(store.slice::<ByText>(escaped.owner.clone()).page().await.unwrap().rows, [escaped]);
    let message =
        refused(store.commit(Commit::new().put(&row(limits::PARTITION_KEY_BYTES_MAX + 1, 1))), too_large).await;
    assert!(message.contains("by_text partition key") && message.contains("600"), "{message}");
    refused(store.commit(Commit::new().put(&row(1, limits::CLUSTERING_KEY_BYTES_MAX + 1))), too_large).await;
    refused(store.get::<ByText>(("o".repeat(601), "v".into())), too_large).await;
    let large = |bytes| Everything { words: Some("w".repeat(bytes)), ..empty(Uuid::now_v7(), 1) };
    let at = large(limits::ROW_BYTES_MAX - 100);
    store.commit(Commit::new().put(&at)).await.unwrap();
    assert_eq!(store.get::<Everything>((at.id, 1)).await.unwrap(), Some(at));
    refused(store.commit(Commit::new().put(&large(limits::ROW_BYTES_MAX + 1))), too_large).await;
    let many = (0..=limits::COMMIT_WRITES_MAX as i64)
        .fold(Commit::new(), |c, value| c.put(&ByBigInt { owner: "me".into(), value, note: 1 }));
    refused(store.commit(many), too_large).await;
    assert!(store.slice::<ByBigInt>("me".into()).page().await.unwrap().rows.is_empty());
    let inside = (0..=limits::GUARDED_WRITES_MAX as i64).fold(Commit::new(), |c, i| c.put(&line("b", i, "x")));
    assert!(too_large(&store.commit(inside).await.unwrap_err()));
    refused(store.slice::<ByInt>("me".into()).limit(0).page(), invalid).await;
    refused(store.slice::<ByInt>("me".into()).limit(limits::PAGE_ROWS_MAX + 1).page(), invalid).await;
}

async fn empty_partition_keys(target: &Target) {
    let store = target.world().store;
    let row = ByInt { owner: String::new(), value: 1, note: 1 };
    let message = refused(store.commit(Commit::new().put(&row)), invalid).await;
    assert!(message.contains("by_int.owner"), "{message}");
    refused(store.get::<ByInt>((String::new(), 1)), invalid).await;
    refused(store.slice::<Mixed>((String::new(), 1)).page(), invalid).await;
}

async fn ranges_that_end_before_they_begin(target: &Target) {
    let store = target.world().store;
    let slice = store.slice::<ByInt>("me".into()).from(Bound::Included(2)).to(Bound::Included(1));
    let message = refused(slice.page(), invalid).await;
    assert!(message.contains("by_int range"), "{message}");
    // A bound on a column that is not there, or of another type.
    refused(store.slice::<ByInt>("me".into()).prefix(1).from(Bound::Included(2)).page(), invalid).await;
    refused(store.slice::<ByInt>("me".into()).from(Bound::Included("text".to_owned())).page(), invalid).await;
    refused(store.slice::<ByInt>("me".into()).prefix("text").page(), invalid).await;
}

async fn positions_outside_the_slice(target: &Target) {
    let store = target.world().store;
    let lines = || store.slice::<Line>("b".into());
    let key = |added: i64| (added, "x".to_owned());
    assert!(lines().prefix(1i64).after_key(key(1)).page().await.is_ok());
    // In part, too long, of a wrong type, and of another prefix or range.
    refused(lines().after_key(1i64).page(), invalid).await;
    refused(lines().after_key(()).page(), invalid).await;
    refused(lines().after_key((1i64, "x".to_owned(), 1)).page(), invalid).await;
    refused(lines().after_key(("x".to_owned(), 1)).page(), invalid).await;
    refused(lines().prefix(2i64).after_key(key(1)).page(), invalid).await;
    refused(lines().from(Bound::Included(2i64)).after_key(key(1)).page(), invalid).await;
}

async fn cursors_of_another_query(target: &Target) {
    let world = target.world();
    let store = &world.store;
    for owner in ["one", "two"] {
        let rows = (0..5).fold(Commit::new(), |c, value| c.put(&ByInt { owner: owner.into(), value, note: 1 }));
        store.commit(rows).await.unwrap();
    }
    let one = || store.slice::<ByInt>("one".into()).limit(2);
    let cursor = one().page().await.unwrap().next;
    assert!(one().after(cursor.clone()).page().await.is_ok());
    refused(store.slice::<ByInt>("two".into()).limit(2).after(cursor.clone()).page(), invalid).await;
    refused(one().reverse().after(cursor.clone()).page(), invalid).await;
    refused(one().from(Bound::Included(1)).after(cursor.clone()).page(), invalid).await;
    refused(store.slice::<ByBigInt>("one".into()).after(cursor.clone()).page(), invalid).await;
    let stranger = world.database.tenant("stranger").unwrap();
    refused(stranger.slice::<ByInt>("one".into()).limit(2).after(cursor.clone()).page(), invalid).await;
    for text in ["", "x", "!!!", "AAAAAAAAAAAAAAAA"] {
        refused(one().after(Some(Cursor::from(text.to_owned()))).page(), invalid).await;
    }
    // Nested without end, behind a good beginning: refused, not followed down.
    let mut hostile = base64_decode(cursor.as_ref().expect("a cursor").as_str())[..8].to_vec();
    hostile.push(1);
    hostile.extend([13u8, 1].repeat(300_000));
    refused(one().after(Some(Cursor::from(base64_encode(&hostile)))).page(), invalid).await;
    // Cut at any place, and with any byte changed, it is refused or means the same query.
    let text = cursor.expect("a cursor").as_str().to_owned();
    for cut in 0..text.len() {
        let result = one().after(Some(Cursor::from(text[..cut].to_owned()))).page().await;
        assert!(result.is_err(), "cut at {cut}");
    }
}

fn base64_decode(text: &str) -> Vec<u8> {
    base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, text).expect("base64")
}

fn base64_encode(bytes: &[u8]) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, bytes)
}

async fn tenants_of_a_wrong_shape(target: &Target) {
    let database = target.world().database;
    for name in ["", "A", "a#b", "_system", "a b", "ä", "TENANT#x", "a\0", &"x".repeat(65), "а"] {
        let error = database.tenant(name).unwrap_err();
        assert!(matches!(&error, Error::Invalid { field, .. } if field == "tenant"), "{name:?}: {error}");
    }
    for name in ["a", "carousel-labs", "0", "x_y"] {
        database.tenant(name).unwrap();
    }
}

async fn times_out_of_range(target: &Target) {
    let store = target.world().store;
    let row = ByDate { owner: "me".into(), value: Date::from_days(i32::MAX), note: 1 };
    refused(store.commit(Commit::new().put(&row)), invalid).await;
    let row = Everything { at: Some(Timestamp::from_millis(i64::MIN)), ..empty(Uuid::nil(), 1) };
    let message = refused(store.commit(Commit::new().put(&row)), invalid).await;
    assert!(message.contains("everything.at"), "{message}");
}

async fn commits_that_make_no_sense(target: &Target) {
    let store = target.world().store;
    let two = Commit::new().put(&article(1)).put(&article(2));
    let message = refused(store.commit(two), invalid).await;
    assert!(message.contains("one guarded partition"), "{message}");
    let two = Commit::new().absent::<Article>(1).put(&line("b", 1, "x"));
    refused(store.commit(two), invalid).await;
    let row = ByInt { owner: "me".into(), value: 1, note: 1 };
    refused(store.commit(Commit::new().absent::<ByInt>(("me".into(), 1)).put(&row)), invalid).await;
    refused(store.commit(Commit::with_id(Uuid::now_v7()).put(&row)), invalid).await;
    refused(store.commit(Commit::new().put(&Line { quantity: 1, ..line("", 1, "x") })), invalid).await;
    let guards = (0..30).fold(Commit::new(), |c, i| c.absent::<Line>(("b".into(), i, "x".into())));
    refused(store.commit(guards), too_large).await;
    refused(store.get_versioned::<ByInt>(("me".into(), 1)), invalid).await;
    refused(store.update::<ByInt, Error>(("me".into(), 1), None, Ok), invalid).await;
    // A commit of nothing is no mistake.
    store.commit(Commit::new()).await.unwrap();
    assert!(store.slice::<Line>("b".into()).page().await.unwrap().rows.is_empty());
}

/// A table that the schema does not know.
#[derive(widerow::Row, Clone, Debug)]
#[row(table = "nowhere", partition(id))]
struct Nowhere {
    id: i64,
}

async fn an_engine_without_tables(target: &Target) {
    let store = target.world().store;
    refused(store.get::<Nowhere>(1), invalid).await;
    let message = refused(store.commit(Commit::new().put(&Nowhere { id: 1 })), invalid).await;
    assert!(message.contains("nowhere"), "{message}");
}
