use uuid::Uuid;
use widerow::Timestamp;

use super::{
    Reply, ReplyRow, ReplyState,
    rules::{Found, check, find},
};
use crate::limits;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const MINE: Uuid = Uuid::from_u128(1);
const OTHERS: Uuid = Uuid::from_u128(2);

fn row() -> ReplyRow {
    ReplyRow::running("hash".into(), "asked", OTHERS, NOW.plus_seconds(60))
}

fn found(row: &ReplyRow, fingerprint: &str, now: Timestamp) -> Found {
    find(Some(row), MINE, fingerprint, now).expect("sound")
}

#[test]
fn a_key_has_any_characters_but_not_any_number() {
    for key in ["a", "\u{0}", "<b>", " ", &"ü".repeat(255)] {
        check(key, "f").expect("good");
    }
    let fields = |key: &str, fingerprint: &str| {
        let bad = check(key, fingerprint).expect_err("bad").fields;
        bad.into_iter().map(|bad| bad.field).collect::<Vec<_>>()
    };
    assert_eq!(fields("", "f"), ["key"]);
    assert_eq!(fields(&"ü".repeat(256), ""), ["key", "fingerprint"]);
}

#[test]
fn a_key_is_free_when_nobody_has_it_any_more() {
    assert_eq!(find(None, MINE, "asked", NOW).expect("sound"), Found::Free);
    let until = NOW.plus_seconds(60);
    assert_eq!(found(&row(), "asked", NOW.plus_seconds(59)), Found::Running { until });
    assert_eq!(found(&row(), "asked", until), Found::Free);
    assert_eq!(found(&ReplyRow { ticket_id: MINE, ..row() }, "asked", NOW), Found::Own);
}

#[test]
fn another_request_is_told_so_whatever_became_of_the_first() {
    let done = row().ended(&Reply { status: 200, ..Reply::default() });
    for row in [row(), done] {
        assert_eq!(found(&row, "asked otherwise", NOW.plus_seconds(1_000)), Found::Other);
    }
}

#[test]
fn an_answer_comes_back_as_it_was_or_is_too_large() {
    let headers = vec![("content-type".to_owned(), "text/plain".to_owned()), ("x".to_owned(), String::new())];
    for body in [Vec::new(), vec![0, 255, 10]] {
        let reply = Reply { status: 201, headers: headers.clone(), body };
        assert_eq!(found(&row().ended(&reply), "asked", NOW), Found::Done(reply));
    }
    let largest = Reply { status: 200, headers: Vec::new(), body: vec![0; limits::REPLY_BYTES_MAX] };
    assert_eq!(row().ended(&largest).state, ReplyState::Done);
    let larger = Reply { headers: vec![("a".into(), String::new())], ..largest };
    let kept = row().ended(&larger);
    assert_eq!((kept.state, kept.body.clone(), kept.headers.len()), (ReplyState::TooLarge, None, 0));
    assert_eq!(found(&kept, "asked", NOW), Found::TooLarge);
    let many =
        Reply { headers: vec![(String::new(), String::new()); limits::REPLY_HEADERS_MAX + 1], ..Reply::default() };
    assert_eq!(row().ended(&many).state, ReplyState::TooLarge);
}

#[test]
fn an_answer_without_a_status_is_corrupt() {
    let broken = ReplyRow { state: ReplyState::Done, ..row() };
    assert!(matches!(find(Some(&broken), MINE, "asked", NOW), Err(widerow::Error::Corrupt { .. })));
}
