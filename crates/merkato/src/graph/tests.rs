//! What two people may be to each other, and what follows.

use std::collections::BTreeSet;

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Derive as _, Timestamp};

use super::{
    error::Error,
    rules::{NewConnection, reason},
    tables::{Connection, ConnectionType, Degree, Link, Pair, PairMark, Person, ReverseConnection},
};
use crate::id::UserId;

use ConnectionType::{Block, Colleague, Follow, Friend};

const LOW: UserId = UserId(Uuid::from_u128(1));
const HIGH: UserId = UserId(Uuid::from_u128(2));
const NOW: Timestamp = Timestamp::from_millis(1_000);

fn token(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn pair(said: &[(UserId, ConnectionType)]) -> Pair {
    let blank = Pair::new((LOW, HIGH), (3, 0));
    said.iter()
        .fold(blank, |pair, (user, of)| pair.connect(*user, *of, &NewConnection::default(), NOW).expect("a connection"))
}

#[test]
fn both_directions_follow_from_one_row() {
    let friends = pair(&[(HIGH, Friend), (LOW, Follow)]);
    let out: Vec<Connection> = friends.derive();
    let said: Vec<_> = out.iter().map(|row| (row.user_id, row.bucket, row.connection_type)).collect();
    assert_eq!(said, [(LOW, 3, Friend), (LOW, 3, Follow), (HIGH, 0, Friend)]);
    let back: Vec<ReverseConnection> = friends.derive();
    let told: Vec<_> = back.iter().map(|row| (row.user_id, row.connecting_user_id, row.connection_type)).collect();
    assert_eq!(told, [(LOW, HIGH, Friend), (HIGH, LOW, Friend), (HIGH, LOW, Follow)]);
    let links: Vec<Link> = friends.derive();
    assert_eq!((links[0].outward, links[0].inward), (700_000, 700_000));
    assert!(links.iter().all(|link| link.flags == Link::OUT | Link::IN | Link::FRIEND));
}

#[test]
fn a_block_hides_all_but_itself() {
    let hidden = pair(&[(LOW, Friend), (HIGH, Colleague), (HIGH, Block)]);
    let out: Vec<Connection> = hidden.derive();
    assert_eq!(out.iter().map(|row| (row.user_id, row.connection_type)).collect::<Vec<_>>(), [(HIGH, Block)]);
    assert_eq!(Vec::<ReverseConnection>::len(&hidden.derive()), 0);
    let links: Vec<Link> = hidden.derive();
    assert!(links.iter().all(|link| link.flags == Link::HIDDEN && (link.outward, link.inward) == (0, 0)));
    assert_eq!(hidden.degrees(), (Degree::default(), Degree { blocked: 1, ..Degree::default() }));
    let refused = hidden.connect(LOW, Follow, &NewConnection::default(), NOW);
    assert!(matches!(refused, Err(Error::Blocked { .. })));
    let shown = hidden.disconnect(HIGH, Block).expect("ended");
    assert_eq!(shown.degrees().0, Degree { friends: 1, colleague_of: 1, ..Degree::default() });
}

#[test]
fn a_change_says_what_is_to_be_counted() {
    let blank = Pair::new((LOW, HIGH), (0, 0));
    let first = pair(&[(LOW, Follow)]).instead_of(&blank, token(7)).expect("a change");
    let counted = first.uncounted.expect("something to count");
    assert_eq!((counted.token, counted.places), (token(7), 1));
    assert_eq!((counted.low.following, counted.high.followers), (1, 1));
    assert_eq!(Vec::<PairMark>::len(&first.derive()), 1);
    let settled = Pair { uncounted: None, ..first };
    assert_eq!(settled.clone().instead_of(&settled, token(8)), None);
    let stronger = settled.interact(LOW, Follow, NOW).expect("there").instead_of(&settled, token(8)).expect("a change");
    assert_eq!((stronger.uncounted, stronger.ties[0].strength), (None, Decimal::new(37, 2)));
    let ended = settled.disconnect(LOW, Follow).expect("there").instead_of(&settled, token(9)).expect("a change");
    let counted = ended.uncounted.expect("something to count");
    assert_eq!((counted.places, counted.low.following, counted.high.followers), (-1, -1, -1));
}

#[test]
fn buckets_fill_one_after_the_other() {
    let mut person = Person::new(LOW);
    for n in 0..7 {
        let place = person.place(3);
        assert_eq!(place, n / 3);
        person.fill(place, 1);
        assert!(person.last_bucket(3) >= person.bucket);
    }
    person.fill(0, -1);
    assert_eq!(person.place(3), 2, "one that is not the last is not filled again");
    person.fill(2, -1);
    assert_eq!((person.bucket, person.bucket_pairs, person.place(3)), (2, 0, 2));
    assert_eq!(Person::new(LOW).place(0), 0);
}

#[test]
fn reasons_are_in_words() {
    let said = |friends, interests: &[&str]| {
        reason(friends, &interests.iter().map(|i| (*i).to_owned()).collect::<BTreeSet<String>>())
    };
    assert_eq!(said(1, &[]), "1 mutual friend");
    assert_eq!(said(4, &["coffee"]), "4 mutual friends, both like coffee");
    assert_eq!(said(2, &["tea", "coffee"]), "2 mutual friends, both like coffee and tea");
    assert_eq!(said(2, &["a", "b", "c"]), "2 mutual friends, both like a, b and c");
    assert_eq!(said(2, &["a", "b", "c", "d", "e"]), "2 mutual friends, both like a, b, c and 2 more");
}
