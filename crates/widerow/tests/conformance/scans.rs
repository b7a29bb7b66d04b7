//! Whole tables in parallel ranges, and the sizes of partitions.

use std::collections::BTreeMap;

use widerow::{
    Commit, Row, Store,
    store::{Extent, ScanCursor},
};

use crate::{
    cases,
    slices::line,
    tables::{ByInt, Line},
    world::{Target, Worlds},
};

cases!(
    ranges_give_every_row_once,
    a_table_that_grows_loses_no_row_to_a_scan,
    a_scan_goes_on_from_its_cursor,
    statics_come_with_a_scan,
    static_columns_without_rows_are_erased,
    histograms_count_partitions
);

async fn ranges_give_every_row_once(target: &Target) {
    let world = target.empty_world();
    let mut expected = BTreeMap::new();
    for tenant in ["ann", "bob"] {
        let store = world.database.tenant(tenant).unwrap();
        for owner in 0..40 {
            let rows = (0..=owner).map(|value| ByInt { owner: format!("owner {owner}"), value, note: owner });
            store.commit(rows.fold(Commit::new(), |c, row| c.put(&row))).await.unwrap();
            (0..=owner).for_each(|value| {
                *expected.entry((tenant.to_owned(), format!("owner {owner}"), value)).or_insert(0) += 1
            });
        }
    }
    for ranges in [1, 3, 8] {
        let mut seen = BTreeMap::new();
        for mut scan in world.database.scan(ByInt::table(), ranges).await.unwrap() {
            while let Some(rows) = scan.next().await.unwrap() {
                for (tenant, row) in rows {
                    let row = ByInt::from_values(row.values).unwrap();
                    *seen.entry((tenant.to_string(), row.owner, row.value)).or_insert(0) += 1;
                }
            }
        }
        assert_eq!(seen, expected, "{ranges} ranges");
    }
}

async fn a_table_that_grows_loses_no_row_to_a_scan(target: &Target) {
    let world = target.empty_world();
    let put = async |from: i32, to: i32| {
        for chunk in (from..to).collect::<Vec<_>>().chunks(25) {
            let row = |n: &i32| ByInt { owner: format!("{n:06}"), value: *n, note: 0 };
            world.store.commit(chunk.iter().fold(Commit::new(), |c, n| c.put(&row(n)))).await.unwrap();
        }
    };
    put(0, 200).await;
    let mut seen = std::collections::BTreeSet::new();
    for (i, mut scan) in world.database.scan(ByInt::table(), 4).await.unwrap().into_iter().enumerate() {
        while let Some(rows) = scan.next().await.unwrap() {
            seen.extend(rows.into_iter().map(|(_, row)| ByInt::from_values(row.values).unwrap().value));
        }
        // Everything new sorts behind, as time-ordered keys do.
        put(200 + i as i32 * 300, 500 + i as i32 * 300).await;
    }
    assert!(
        (0..200).all(|n| seen.contains(&n)),
        "{} of the first 200 were seen",
        seen.iter().filter(|n| **n < 200).count()
    );
}

async fn a_scan_goes_on_from_its_cursor(target: &Target) {
    let world = target.empty_world();
    for owner in 0..30 {
        let rows = (0..50).map(|value| ByInt { owner: format!("owner {owner}"), value, note: owner });
        world.store.commit(rows.fold(Commit::new(), |c, row| c.put(&row))).await.unwrap();
    }
    let mut seen = BTreeMap::new();
    for scan in world.database.scan(ByInt::table(), 2).await.unwrap() {
        // Every page by a scan that knows nothing but the text of a cursor.
        let mut next = scan.cursor();
        while let Some(cursor) = next.take() {
            let cursor = ScanCursor::from(cursor.as_str().to_owned());
            let mut scan = world.database.resume_scan(ByInt::table(), &cursor).unwrap();
            for (_, row) in scan.next().await.unwrap().unwrap_or_default() {
                let row = ByInt::from_values(row.values).unwrap();
                *seen.entry((row.owner, row.value)).or_insert(0) += 1;
            }
            next = scan.cursor();
            assert!(world.database.resume_scan(Line::table(), &cursor).is_err(), "a cursor of another table");
        }
    }
    assert_eq!(seen.len(), 1500);
    assert!(seen.values().all(|times| *times == 1));
    for made_up in ["", "%", "AAAA", "YnlfaW50"] {
        assert!(world.database.resume_scan(ByInt::table(), &ScanCursor::from(made_up.to_owned())).is_err());
    }
}

async fn statics_come_with_a_scan(target: &Target) {
    let world = target.empty_world();
    for basket in 0..5i64 {
        let name = format!("b{basket}");
        let commit = (0..3).fold(Commit::new(), |c, i| c.put(&line(&name, i, "x")));
        world.store.commit(commit.set_static(name, Line::SUBTOTAL, &Some(basket))).await.unwrap();
    }
    let mut rows = Vec::new();
    for mut scan in world.database.scan(Line::table(), 2).await.unwrap() {
        while let Some(page) = scan.next().await.unwrap() {
            rows.extend(page.into_iter().map(|(_, row)| Line::from_values(row.values).unwrap()));
        }
    }
    assert_eq!(rows.len(), 15);
    assert!(rows.iter().all(|l| l.subtotal == l.basket[1..].parse().ok()), "{rows:?}");
}

/// A basket that was emptied line by line still has its sum.
async fn static_columns_without_rows_are_erased(target: &Target) {
    let world = target.empty_world();
    let other = world.database.tenant("other").unwrap();
    let baskets: Vec<String> = (0..40).map(|n| format!("basket {n:02}")).collect();
    for store in [&world.store, &other] {
        for (n, basket) in (0i64..).zip(&baskets) {
            let sum = Commit::new().set_static(basket.clone(), Line::SUBTOTAL, &Some(n));
            let lines: Vec<Line> = (0..n % 3).map(|at| line(basket, at, "a")).collect();
            store.commit(lines.iter().fold(sum, |commit, line| commit.put(line))).await.unwrap();
            // Every second one that has lines is emptied.
            if n % 2 == 0 && !lines.is_empty() {
                let key = |line: &Line| (line.basket.clone(), line.added, line.line.clone());
                let emptied = lines.iter().fold(Commit::new(), |commit, line| commit.delete::<Line>(key(line)));
                store.commit(emptied).await.unwrap();
            }
        }
    }
    let sums = async |store: &Store| {
        let mut sums = Vec::new();
        for basket in &baskets {
            let page = store.slice::<Line>(basket.clone()).page().await.unwrap();
            sums.push((page.rows.len(), page.statics.get(Line::SUBTOTAL).unwrap().flatten()));
        }
        sums
    };
    let before = sums(&other).await;
    assert_eq!(sums(&world.store).await, before);
    assert!(before.contains(&(0, Some(4))) && before.contains(&(2, Some(5))), "{before:?}");
    world.store.erase(|_| {}).await.unwrap();
    assert_eq!(sums(&world.store).await, vec![(0, None); baskets.len()]);
    assert_eq!(sums(&other).await, before);
}

async fn histograms_count_partitions(target: &Target) {
    let world = target.empty_world();
    for (owner, rows) in [("a", 1), ("b", 2), ("c", 3), ("d", 40)] {
        let rows = (0..rows).map(|value| ByInt { owner: owner.into(), value, note: 1 });
        world.store.commit(rows.fold(Commit::new(), |c, row| c.put(&row))).await.unwrap();
    }
    let histogram = world.database.histogram(ByInt::table(), 3).await.unwrap();
    assert_eq!((histogram.partitions, histogram.rows), (4, 46));
    assert_eq!(histogram.by_rows, [0, 1, 2, 0, 0, 0, 1]);
    assert_eq!(histogram.largest.map(|l| l.2), Some(40));
    assert!(!histogram.is_part);
    let own = Extent { tenant: Some(world.store.tenant()), rows_max: u64::MAX };
    let same = world.database.histogram_within(ByInt::table(), 3, own).await.unwrap();
    assert_eq!((same.partitions, same.rows), (4, 46));
    let nobody = world.database.tenant("nobody").unwrap();
    let others = Extent { tenant: Some(nobody.tenant()), rows_max: u64::MAX };
    assert_eq!(world.database.histogram_within(ByInt::table(), 3, others).await.unwrap().rows, 0);
}
