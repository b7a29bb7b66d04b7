//! Connections: made, kept up, hidden, ended, listed and counted.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    PageRequest,
    graph::{self, ConnectionType, Degree, Edge, Error, Made, NewConnection},
    id::UserId,
};
use rust_decimal::Decimal;
use widerow::meter::measure;
use widerow_testing::Target;

use super::{connect, connections, followers, listed, mutual, person, small_buckets, sound, strong};
use crate::world::World;

use ConnectionType::{Block, Colleague, Follow, Friend};

widerow_testing::cases!(
    a_friendship_is_that_of_both,
    a_block_hides_and_what_it_hid_comes_back,
    interactions_make_stronger,
    what_is_made_again_takes_over_what_is_given,
    lists_go_over_several_partitions,
    a_page_looks_at_few_of_the_partitions_that_were_emptied,
    many_are_made_each_with_its_answer,
    who_is_forgotten_knows_nobody,
);

async fn a_friendship_is_that_of_both(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b) = (person(1), person(2));
    let made = connect(ctx, a, Friend, b).await;
    assert_eq!(made.connection_strength, Friend.default_strength());
    for (one, other) in [(a, b), (b, a)] {
        assert_eq!(listed(ctx, one).await, BTreeMap::from([(Friend, vec![other])]));
        assert_eq!(followers(ctx, one).await, BTreeMap::from([(Friend, vec![other])]));
        assert_eq!(graph::get_degree(ctx, one).await.unwrap(), Degree { friends: 1, ..Degree::default() });
    }
    connect(ctx, a, Follow, b).await;
    connect(ctx, b, Colleague, a).await;
    let of_a = graph::get_degree(ctx, a).await.unwrap();
    assert_eq!(of_a, Degree { friends: 1, following: 1, colleague_of: 1, ..Degree::default() });
    let of_b = graph::get_degree(ctx, b).await.unwrap();
    assert_eq!(of_b, Degree { friends: 1, followers: 1, colleagues: 1, ..Degree::default() });
    assert_eq!(followers(ctx, b).await, BTreeMap::from([(Friend, vec![a]), (Follow, vec![a])]));
    // Whoever ends it, it is that of neither.
    graph::disconnect(ctx, b, Friend, a).await.unwrap();
    assert_eq!(listed(ctx, a).await, BTreeMap::from([(Follow, vec![b])]));
    assert_eq!(listed(ctx, b).await, BTreeMap::from([(Colleague, vec![a])]));
    let gone = graph::disconnect(ctx, a, Friend, b).await.unwrap_err();
    assert!(matches!(gone, Error::NotConnected { connection_type: Friend, .. }), "{gone:?}");
    let other_way = graph::disconnect(ctx, b, Follow, a).await.unwrap_err();
    assert!(matches!(other_way, Error::NotConnected { .. }), "a follows b, b does not follow a");
    graph::disconnect(ctx, a, Follow, b).await.unwrap();
    graph::disconnect(ctx, b, Colleague, a).await.unwrap();
    assert_eq!(ctx.store.get::<graph::Pair>((a.min(b), a.max(b))).await.unwrap(), None, "nothing is left of a pair");
    assert_eq!(graph::get_degree(ctx, a).await.unwrap(), Degree::default());
    sound(&world).await;
}

async fn a_block_hides_and_what_it_hid_comes_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b, c) = (person(1), person(2), person(3));
    connect(ctx, a, Friend, b).await;
    connect(ctx, b, Follow, a).await;
    for other in [a, b] {
        connect(ctx, c, Friend, other).await;
    }
    connect(ctx, a, Block, b).await;
    assert_eq!(listed(ctx, a).await, BTreeMap::from([(Block, vec![b]), (Friend, vec![c])]));
    assert_eq!(listed(ctx, b).await, BTreeMap::from([(Friend, vec![c])]));
    for one in [a, b] {
        assert_eq!(followers(ctx, one).await, BTreeMap::from([(Friend, vec![c])]), "nobody is told of the block");
    }
    assert_eq!(mutual(ctx, a, b, Friend, 10).await, []);
    assert_eq!(graph::find_path(ctx, b, a, 3).await.unwrap(), None);
    assert_eq!(graph::find_connection(ctx, b, Follow, a).await.unwrap(), None);
    assert!(graph::find_connection(ctx, a, Block, b).await.unwrap().is_some());
    let of_a = graph::get_degree(ctx, a).await.unwrap();
    assert_eq!(of_a, Degree { friends: 1, blocked: 1, ..Degree::default() });
    for (one, other) in [(a, b), (b, a)] {
        let refused = graph::connect(ctx, one, Colleague, other, NewConnection::default()).await.unwrap_err();
        assert!(matches!(refused, Error::Blocked { .. }), "{refused:?}");
    }
    let hidden = graph::interact(ctx, b, Follow, a).await.unwrap_err();
    assert!(matches!(hidden, Error::NotConnected { .. }), "{hidden:?}");
    // Both block; one takes it back, and it is hidden still.
    connect(ctx, b, Block, a).await;
    graph::disconnect(ctx, a, Block, b).await.unwrap();
    assert_eq!(listed(ctx, a).await, BTreeMap::from([(Friend, vec![c])]));
    // What is hidden can be ended.
    graph::disconnect(ctx, b, Follow, a).await.unwrap();
    graph::disconnect(ctx, b, Block, a).await.unwrap();
    assert_eq!(listed(ctx, a).await[&Friend].len(), 2);
    assert_eq!(followers(ctx, a).await[&Friend].len(), 2);
    assert_eq!(mutual(ctx, a, b, Friend, 10).await, [c]);
    assert_eq!(graph::get_degree(ctx, a).await.unwrap(), Degree { friends: 2, ..Degree::default() });
    sound(&world).await;
}

async fn interactions_make_stronger(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b) = (person(1), person(2));
    graph::connect(ctx, a, Friend, b, strong(50)).await.unwrap();
    world.clock.advance_millis(60_000);
    let first = graph::interact(ctx, b, Friend, a).await.unwrap();
    assert_eq!((first.connection_strength, first.last_interaction), (Decimal::new(55, 2), ctx.now()));
    assert!(first.created_at < first.last_interaction);
    for _ in 0..20 {
        graph::interact(ctx, a, Friend, b).await.unwrap();
    }
    let (of_a, of_b) = (connections(ctx, a, None, 9).await, connections(ctx, b, None, 9).await);
    assert_eq!(of_a[0].connection_strength, of_b[0].connection_strength, "it is one friendship");
    assert!(of_a[0].connection_strength > Decimal::new(9, 1) && of_a[0].connection_strength <= Decimal::ONE);
    for _ in 0..150 {
        let now = graph::interact(ctx, a, Friend, b).await.unwrap();
        assert!(now.connection_strength <= Decimal::ONE);
        if target.name != "embedded" {
            break;
        }
    }
    let missing = graph::interact(ctx, a, Follow, b).await.unwrap_err();
    assert!(matches!(missing, Error::NotConnected { .. }), "{missing:?}");
    sound(&world).await;
}

async fn what_is_made_again_takes_over_what_is_given(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b) = (person(1), person(2));
    let noted = |value: &str| Some(BTreeMap::from([("met".to_owned(), value.to_owned())]));
    let since = ctx.now().plus_seconds(-86_400);
    let new =
        NewConnection { strength: Some(Decimal::new(25, 2)), metadata: noted("at work"), created_at: Some(since) };
    let first = graph::connect(ctx, a, Colleague, b, new).await.unwrap();
    assert_eq!((first.created_at, first.last_interaction), (since, since));
    let again = connect(ctx, a, Colleague, b).await;
    assert_eq!(again, first, "what is not given stays");
    let new = NewConnection { metadata: noted("at school"), ..strong(90) };
    let changed = graph::connect(ctx, a, Colleague, b, new).await.unwrap();
    assert_eq!((changed.connection_strength, changed.created_at), (Decimal::new(9, 1), since));
    assert_eq!(changed.connection_metadata["met"], "at school");
    assert_eq!(connections(ctx, a, Some(Colleague), 5).await, [changed]);
    assert_eq!(connections(ctx, b, None, 5).await, [], "colleagues say it each for themselves");
}

async fn lists_go_over_several_partitions(target: &Target) {
    let world = small_buckets(target);
    let ctx = &world.ctx;
    let star = person(0);
    for n in 1..=11 {
        connect(ctx, person(n), Follow, star).await;
        if n % 2 == 0 {
            connect(ctx, star, Friend, person(n)).await;
        }
    }
    let mut all: Vec<UserId> = (1..=11).map(person).collect();
    all.sort_unstable();
    assert_eq!(followers(ctx, star).await[&Follow], all);
    let buckets: BTreeSet<u32> = connections(ctx, star, None, 2).await.iter().map(|row| row.bucket).collect();
    assert_eq!(buckets, BTreeSet::from([0, 1, 2, 3]), "three pairs have one");
    let friends: BTreeSet<UserId> =
        connections(ctx, star, Some(Friend), 1).await.iter().map(|row| row.connected_user_id).collect();
    assert_eq!(friends, (1..=5).map(|n| person(2 * n)).collect());
    let degree = graph::get_degree(ctx, star).await.unwrap();
    assert_eq!(degree, Degree { friends: 5, followers: 11, ..Degree::default() });
    for round in 0..8 {
        // Somebody who comes and goes fills no bucket.
        connect(ctx, person(20), Follow, star).await;
        assert_eq!(followers(ctx, star).await[&Follow].len(), 12, "round {round}");
        graph::disconnect(ctx, person(20), Follow, star).await.unwrap();
    }
    assert_eq!(graph::get_person(ctx, star).await.unwrap().bucket, 3);
    for n in 1..=11 {
        graph::disconnect(ctx, person(n), Follow, star).await.unwrap();
    }
    assert_eq!(followers(ctx, star).await.get(&Follow), None);
    assert_eq!(listed(ctx, star).await[&Friend].len(), 5);
    sound(&world).await;
}

async fn a_page_looks_at_few_of_the_partitions_that_were_emptied(target: &Target) {
    let world = small_buckets(target);
    let ctx = &world.ctx;
    let star = person(0);
    // Nine buckets; who is left is in the last but one.
    for n in 1..=26 {
        connect(ctx, person(n), Follow, star).await;
    }
    for n in (1..=26).filter(|n| *n != 24) {
        graph::disconnect(ctx, person(n), Follow, star).await.unwrap();
    }
    let (mut found, mut pages, mut cursor) = (Vec::new(), 0, None);
    loop {
        let page = graph::list_followers(ctx, star, Some(Follow), PageRequest { limit: 10, cursor });
        let (page, cost) = measure(page).await;
        let page = page.unwrap();
        assert!(graph::PATTERNS[1].cost.admits(&cost, page.rows.len() as u64), "page {pages}: {cost}");
        found.extend(page.rows.into_iter().map(|row| row.connecting_user_id));
        pages += 1;
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!((found, pages), (vec![person(24)], 3));
    // Whoever walks the lists of others gets to their end, too.
    connect(ctx, star, Friend, person(24)).await;
    connect(ctx, star, Friend, person(30)).await;
    connect(ctx, person(24), Friend, person(30)).await;
    assert_eq!(mutual(ctx, star, person(24), Friend, 10).await, [person(30)]);
    sound(&world).await;
}

async fn many_are_made_each_with_its_answer(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let edge = |one: u32, other: u32| Edge {
        user: person(one),
        connection_type: Friend,
        other: person(other),
        new: NewConnection::default(),
    };
    let edges = || vec![edge(1, 2), edge(3, 3), edge(1, 3), edge(1, 4)];
    let answers = graph::connect_many(ctx, edges()).await.unwrap();
    assert!(matches!(answers[1], Err(Error::OneSelf { .. })));
    let made = |answers: Vec<Result<Made, Error>>| answers.into_iter().filter_map(Result::ok).collect::<Vec<_>>();
    assert_eq!(made(answers), [Made::New; 3]);
    assert_eq!(made(graph::connect_many(ctx, edges()).await.unwrap()), [Made::Unchanged; 3]);
    let stronger = vec![Edge { new: strong(99), ..edge(2, 1) }];
    assert_eq!(made(graph::connect_many(ctx, stronger).await.unwrap()), [Made::Changed]);
    assert_eq!(graph::get_degree(ctx, person(1)).await.unwrap().friends, 3);
    sound(&world).await;
}

async fn who_is_forgotten_knows_nobody(target: &Target) {
    let world = small_buckets(target);
    let ctx = &world.ctx;
    let gone = person(0);
    for n in 1..=5 {
        connect(ctx, gone, Friend, person(n)).await;
        connect(ctx, person(n), Follow, gone).await;
    }
    connect(ctx, person(6), Block, gone).await;
    connect(ctx, person(1), Friend, person(2)).await;
    connect(ctx, person(2), Friend, person(7)).await;
    graph::describe_person(ctx, gone, &BTreeSet::from(["tea".to_owned()])).await.unwrap();
    assert!(!graph::suggest(ctx, gone).await.unwrap().is_empty());
    graph::forget_person(ctx, gone).await.unwrap();
    graph::forget_person(ctx, gone).await.unwrap();
    let person_now = graph::get_person(ctx, gone).await.unwrap();
    assert_eq!((person_now.degree, person_now.interests.len()), (Degree::default(), 0));
    assert_eq!((listed(ctx, gone).await.len(), followers(ctx, gone).await.len()), (0, 0));
    assert_eq!(graph::list_suggestions(ctx, gone).await.unwrap(), []);
    for n in 1..=6 {
        assert!(!listed(ctx, person(n)).await.values().flatten().any(|other| *other == gone));
        assert!(!followers(ctx, person(n)).await.values().flatten().any(|other| *other == gone));
    }
    assert_eq!(graph::get_degree(ctx, person(1)).await.unwrap().friends, 1);
    sound(&world).await;
}
