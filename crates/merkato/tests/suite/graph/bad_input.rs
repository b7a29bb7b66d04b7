//! What the graph refuses, naming the field and the limit.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Cursor, PageRequest,
    graph::{self, ConnectionType, Error, NewConnection},
    limits,
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{connect, person};
use crate::world::World;

widerow_testing::cases!(bad_connections_are_refused, bad_questions_are_refused);

fn field(error: &Error) -> &str {
    match error {
        Error::Invalid(invalid) => &invalid.fields[0].field,
        other => panic!("{other:?}"),
    }
}

async fn bad_connections_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b) = (person(1), person(2));
    let with = |new: NewConnection| graph::connect(ctx, a, ConnectionType::Friend, b, new);
    for strength in [Decimal::new(-1, 2), Decimal::new(101, 2), Decimal::MAX] {
        let new = NewConnection { strength: Some(strength), ..NewConnection::default() };
        let refused = with(new).await.unwrap_err();
        assert_eq!(field(&refused), "strength");
        assert!(refused.to_string().contains("is not 0 to 1"), "{refused}");
    }
    let noted = |name: &str, value: &str| {
        let metadata = Some(BTreeMap::from([(name.to_owned(), value.to_owned())]));
        NewConnection { metadata, ..NewConnection::default() }
    };
    let long = "x".repeat(limits::CONNECTION_METADATA_BYTES_MAX + 1);
    for new in [noted("", "x"), noted("x", &long), noted(&long, "x"), noted("a\nb", "x"), noted("x", "a\u{7}")] {
        assert!(field(&with(new).await.unwrap_err()).starts_with("metadata/"));
    }
    let many = (0..=limits::CONNECTION_METADATA_MAX).map(|n| (n.to_string(), String::new())).collect();
    let many = NewConnection { metadata: Some(many), ..NewConnection::default() };
    assert_eq!(field(&with(many).await.unwrap_err()), "metadata");
    let self_made = graph::connect(ctx, a, ConnectionType::Follow, a, NewConnection::default()).await.unwrap_err();
    assert!(matches!(self_made, Error::OneSelf { .. }));
    assert_eq!(graph::get_person(ctx, a).await.unwrap().degree, graph::Degree::default());
    let unknown = ConnectionType::parse("enemy").unwrap_err();
    assert_eq!(unknown.to_string(), "type: \"enemy\" is none of block, colleague, follow, friend");
    let interests: BTreeSet<String> = (0..=limits::INTERESTS_MAX).map(|n| n.to_string()).collect();
    assert_eq!(field(&graph::describe_person(ctx, a, &interests).await.unwrap_err()), "interests");
    let empty = BTreeSet::from([String::new()]);
    assert_eq!(field(&graph::describe_person(ctx, a, &empty).await.unwrap_err()), "interests/0");
}

async fn bad_questions_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (a, b) = (person(1), person(2));
    for n in 2..6 {
        connect(ctx, a, ConnectionType::Friend, person(n)).await;
    }
    for hops in [0, limits::PATH_HOPS_MAX + 1] {
        assert_eq!(field(&graph::find_path(ctx, a, b, hops).await.unwrap_err()), "max_hops");
    }
    assert!(matches!(graph::find_path(ctx, a, a, 3).await.unwrap_err(), Error::OneSelf { .. }));
    let page = || PageRequest::first(2);
    let blocked = graph::list_followers(ctx, a, Some(ConnectionType::Block), page()).await.unwrap_err();
    assert_eq!(field(&blocked), "type");
    let blocked = graph::list_mutual(ctx, a, b, ConnectionType::Block, page()).await.unwrap_err();
    assert_eq!(field(&blocked), "type");
    for limit in [0, limits::PAGE_ROWS_MAX + 1] {
        let refused = graph::list_connections(ctx, a, None, PageRequest::first(limit)).await.unwrap_err();
        assert_eq!(field(&refused), "limit");
    }
    let next = graph::list_connections(ctx, a, None, page()).await.unwrap().next.unwrap();
    let strange = ["", "x", "0.x", "-1.", "99999999999.", "0", "a0.x", "c0.", "é.é"];
    for cursor in strange.map(|text| Cursor::from(text.to_owned())) {
        let page = PageRequest { limit: 2, cursor: Some(cursor.clone()) };
        graph::list_connections(ctx, a, None, page.clone()).await.expect_err(cursor.as_str());
        graph::list_mutual(ctx, a, b, ConnectionType::Friend, page).await.expect_err(cursor.as_str());
    }
    let others = PageRequest { limit: 2, cursor: Some(next) };
    graph::list_connections(ctx, b, None, others).await.expect_err("the cursor of another list");
}
