//! Slices: prefixes, ranges, both directions, cursors, statics.

use std::ops::Bound;

use rust_decimal::Decimal;
use widerow::{Commit, Store, meter};

use crate::{
    cases,
    tables::{Article, ArticleByShelf, Line, Mixed},
    world::{Target, Worlds},
};

cases!(
    mixed_directions_from_every_position,
    prefixes_and_ranges,
    behind_any_key,
    pages_of_several_partitions_by_one_position,
    statics_come_with_the_slice,
    a_page_costs_the_same_in_a_large_partition,
);

fn mixed_rows() -> Vec<Mixed> {
    let mut rows = Vec::new();
    for kind in ["", "a", "a b", "a#b", "a\0b", "b"] {
        for price in [-3.5, -0.5, 0.0, 0.25, 10.0] {
            for name in ["", "x", "x y", "z"] {
                let price = Decimal::try_from(price).expect("a decimal");
                rows.push(Mixed {
                    owner: "me".into(),
                    year: 7,
                    kind: kind.into(),
                    price,
                    name: name.into(),
                    note: Some(format!("{kind}/{price}/{name}")),
                });
            }
        }
    }
    // The table's order: kind up, price down, name up.
    rows.sort_by(|a, b| (&a.kind, b.price, &a.name).cmp(&(&b.kind, a.price, &b.name)));
    rows
}

async fn fill(store: &Store) -> Vec<Mixed> {
    let rows = mixed_rows();
    for chunk in rows.chunks(25) {
        store.commit(chunk.iter().fold(Commit::new(), Commit::put)).await.unwrap();
    }
    // Neighbours that no slice may show.
    let near = |owner: &str, year| Mixed { owner: owner.into(), year, ..rows[0].clone() };
    store.commit(Commit::new().put(&near("me", 8)).put(&near("m", 7)).put(&near("me2", 7))).await.unwrap();
    rows
}

async fn mixed_directions_from_every_position(target: &Target) {
    let store = target.world().store;
    let rows = fill(&store).await;
    for reverse in [false, true] {
        let expected: Vec<_> = if reverse { rows.iter().rev().cloned().collect() } else { rows.clone() };
        for limit in [1, 7, 24, rows.len(), rows.len() + 1] {
            let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
            loop {
                let slice = store.slice::<Mixed>(("me".into(), 7)).limit(limit).after(cursor.take());
                let page = if reverse { slice.reverse() } else { slice }.page().await.unwrap();
                assert!(page.rows.len() == limit || page.next.is_none(), "every page is full unless it is the last");
                assert!(!page.rows.is_empty(), "no page is empty");
                seen.extend(page.rows);
                pages += 1;
                match page.next {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
            assert_eq!(seen, expected, "limit {limit}, reverse {reverse}");
            assert_eq!(pages, rows.len().div_ceil(limit));
        }
    }
}

async fn prefixes_and_ranges(target: &Target) {
    let store = target.world().store;
    let rows = fill(&store).await;
    let d = |n: f64| Decimal::try_from(n).expect("a decimal");
    let check = async |kind: Option<&str>, low: Bound<Decimal>, high: Bound<Decimal>, reverse: bool| {
        let Some(kind) = kind else { return };
        let inside = |r: &&Mixed| r.kind == kind && std::ops::RangeBounds::contains(&(low, high), &r.price);
        let mut expected: Vec<_> = rows.iter().filter(inside).cloned().collect();
        if reverse {
            expected.reverse();
        }
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let slice = store.slice::<Mixed>(("me".into(), 7)).prefix(kind).from(low).to(high).limit(3).after(cursor);
            let page = if reverse { slice.reverse() } else { slice }.page().await.unwrap();
            seen.extend(page.rows);
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{kind:?} {low:?} {high:?} {reverse}");
    };
    for kind in ["", "a", "a b", "a\0b", "b", "absent"] {
        for reverse in [false, true] {
            check(Some(kind), Bound::Unbounded, Bound::Unbounded, reverse).await;
            check(Some(kind), Bound::Included(d(-0.5)), Bound::Included(d(0.25)), reverse).await;
            check(Some(kind), Bound::Excluded(d(-0.5)), Bound::Excluded(d(0.25)), reverse).await;
            check(Some(kind), Bound::Included(d(0.1)), Bound::Unbounded, reverse).await;
            check(Some(kind), Bound::Unbounded, Bound::Excluded(d(0.0)), reverse).await;
        }
    }
    // Ranges on the first column, and a prefix of two with a range on the third.
    let slice = store.slice::<Mixed>(("me".into(), 7)).starts_with("a").limit(100).page().await.unwrap();
    let expected: Vec<_> = rows.iter().filter(|r| r.kind.starts_with('a')).cloned().collect();
    assert_eq!(slice.rows, expected);
    let slice = store.slice::<Mixed>(("me".into(), 7)).prefix(("a".to_owned(), d(0.25))).starts_with("x");
    let names: Vec<_> = slice.page().await.unwrap().rows.into_iter().map(|r| r.name).collect();
    assert_eq!(names, ["x", "x y"]);
    let whole = store.slice::<Mixed>(("me".into(), 7)).prefix(("a".to_owned(), d(0.250), "x y".to_owned()));
    assert_eq!(whole.page().await.unwrap().rows.len(), 1);
}

async fn behind_any_key(target: &Target) {
    let store = target.world().store;
    let rows = fill(&store).await;
    let key = |r: &Mixed| (r.kind.clone(), r.price, r.name.clone());
    let order = |a: &(String, Decimal, String), b: &Mixed| (&a.0, b.price, &a.2).cmp(&(&b.kind, a.1, &b.name));
    // Rows that are there, and keys between, before and behind them.
    let absent = [("", 99, ""), ("a", 5, "x"), ("a", 0, "xx"), ("a b", -1, ""), ("b", -9, "zz")];
    let absent = absent.map(|(kind, price, name)| (kind.to_owned(), Decimal::from(price), name.to_owned()));
    for position in rows.iter().step_by(7).map(key).chain(absent) {
        for reverse in [false, true] {
            let slice = || store.slice::<Mixed>(("me".into(), 7)).after_key(position.clone());
            let slice = || if reverse { slice().reverse() } else { slice() };
            let behind = |r: &&Mixed| if reverse { order(&position, r).is_gt() } else { order(&position, r).is_lt() };
            let mut expected: Vec<_> = rows.iter().filter(behind).cloned().collect();
            if reverse {
                expected.reverse();
            }
            let page = slice().limit(5).page().await.unwrap();
            assert_eq!(page.rows, expected[..expected.len().min(5)], "{position:?} {reverse}");
            // Where a cursor is given too, it is farther on.
            assert_eq!(slice().limit(40).all(1000).await.unwrap(), expected, "{position:?} {reverse}");
            expected.retain(|r| r.kind == position.0);
            let page = slice().prefix(&*position.0).limit(100).page().await.unwrap();
            assert_eq!(page.rows, expected, "{position:?} {reverse}");
        }
    }
}

async fn pages_of_several_partitions_by_one_position(target: &Target) {
    let store = target.world().store;
    let articles: Vec<Article> = (0..30)
        .map(|i| Article { price: 100 - i, shelf: Some(format!("shelf{}", i % 3)), ..crate::commits::article(i) })
        .collect();
    for article in &articles {
        store.commit(Commit::new().put(article)).await.unwrap();
    }
    let (mut seen, mut position) = (Vec::new(), None);
    loop {
        let mut page = Vec::new();
        for shelf in ["shelf0", "shelf1", "shelf2"] {
            let mut slice = store.slice::<ArticleByShelf>(shelf.into()).limit(4);
            if let Some(position) = position {
                slice = slice.after_key(position);
            }
            page.extend(slice.page().await.unwrap().rows);
        }
        page.sort_by_key(|row| (row.price, row.id));
        page.truncate(4);
        let Some(last) = page.last() else { break };
        position = Some((last.price, last.id));
        seen.extend(page.into_iter().map(|row| row.price));
    }
    assert_eq!(seen, (71..=100).collect::<Vec<_>>());
}

pub fn line(basket: &str, added: i64, line: &str) -> Line {
    Line { basket: basket.into(), added, line: line.into(), subtotal: None, owner: None, price: 100, quantity: 1 }
}

async fn statics_come_with_the_slice(target: &Target) {
    let store = target.world().store;
    // Without any row.
    store.commit(Commit::new().set_static("b".into(), Line::SUBTOTAL, &Some(0))).await.unwrap();
    let page = store.slice::<Line>("b".into()).page().await.unwrap();
    assert!(page.rows.is_empty());
    assert_eq!(page.statics.get(Line::SUBTOTAL).unwrap(), Some(Some(0)));
    assert_eq!(page.statics.get(Line::OWNER).unwrap(), None);
    // With rows: a put sets what it has and leaves what it has not.
    let first = Line { subtotal: Some(100), ..line("b", 1, "one") };
    store.commit(Commit::new().put(&first).set_static("b".into(), Line::OWNER, &Some("me".into()))).await.unwrap();
    store.commit(Commit::new().put(&line("b", 2, "two"))).await.unwrap();
    let ((), cost) = meter::measure(async {
        let page = store.slice::<Line>("b".into()).limit(10).page().await.unwrap();
        let with = |l: Line| Line { subtotal: Some(100), owner: Some("me".into()), ..l };
        assert_eq!(page.rows, [with(line("b", 2, "two")), with(line("b", 1, "one"))]);
        assert_eq!(page.statics.get(Line::SUBTOTAL).unwrap(), Some(Some(100)));
    })
    .await;
    assert_eq!(cost.partitions_read, 1, "{cost}");
    // Deleting a row leaves the statics; deleting the partition takes them.
    store.commit(Commit::new().delete::<Line>(("b".into(), 1, "one".into()))).await.unwrap();
    let row = store.get::<Line>(("b".into(), 2, "two".into())).await.unwrap().unwrap();
    assert_eq!(row.subtotal, Some(100));
    store.commit(Commit::new().delete_partition::<Line>("b".into())).await.unwrap();
    let page = store.slice::<Line>("b".into()).page().await.unwrap();
    assert!(page.rows.is_empty() && page.statics.get(Line::SUBTOTAL).unwrap().is_none());
}

async fn a_page_costs_the_same_in_a_large_partition(target: &Target) {
    let store = target.world().store;
    let row = |owner: &str, i: u32| Mixed {
        owner: owner.into(),
        year: 1,
        kind: "k".into(),
        price: Decimal::from(i),
        name: String::new(),
        note: None,
    };
    let mut costs = Vec::new();
    for (owner, rows) in [("small", 100), ("large", 3000)] {
        for chunk in (0..rows).collect::<Vec<_>>().chunks(50) {
            store.commit(chunk.iter().fold(Commit::new(), |c, i| c.put(&row(owner, *i)))).await.unwrap();
        }
        let slice = || store.slice::<Mixed>((owner.into(), 1)).prefix("k").limit(24);
        let first = slice().page().await.unwrap();
        let (second, cost) = meter::measure(slice().after(first.next).page()).await;
        assert_eq!(second.unwrap().rows.len(), 24);
        costs.push((cost.partitions_read, cost.rows_read, cost.round_trips));
    }
    assert_eq!(costs[0], costs[1]);
    assert_eq!(costs[0].0, 1);
}
