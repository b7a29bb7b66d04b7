//! Derived tables follow their base in the same commit; verify finds what does not, repair mends it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use widerow::{
    Commit, Date, Error, Store,
    engine::{Step, Write},
    schema::Table,
    store::{DifferenceKind, VerifyOptions},
    value::Value,
};

use crate::{
    cases,
    commits::article,
    tables::{
        Article, ArticleByShelf, ArticleByStatus, ArticleByWord, ArticleNotInStatus, Member, MemberByCity, Status,
    },
    world::{Target, World, Worlds},
};
use widerow::Row;

cases!(
    derived_rows_follow,
    two_derived_tables_may_have_equal_keys,
    verify_is_right_while_others_write,
    sparse_and_indexed_rows_follow,
    ranges_take_their_derived_rows,
    rows_of_one_commit_may_trade_keys,
    verify_finds_and_repair_mends,
    derived_tables_are_not_written_directly,
);

async fn by_status(store: &Store, status: Status) -> Vec<(i64, i64)> {
    let rows = store.slice::<ArticleByStatus>(status).limit(1000).page().await.unwrap().rows;
    rows.into_iter().map(|r| (r.price, r.id)).collect()
}

async fn by_word(store: &Store, word: &str) -> Vec<i64> {
    let mut ids = Vec::new();
    for shard in 0..4 {
        let rows = store.slice::<ArticleByWord>((word.into(), shard)).page().await.unwrap().rows;
        ids.extend(rows.into_iter().map(|r| r.id));
    }
    ids.sort();
    ids
}

async fn derived_rows_follow(target: &Target) {
    let store = target.world().store;
    for id in 1..=6 {
        store.commit(Commit::new().put(&Article { price: 10 * (id % 3), ..article(id) })).await.unwrap();
    }
    assert_eq!(by_status(&store, Status::OnSale).await, [(0, 3), (0, 6), (10, 1), (10, 4), (20, 2), (20, 5)]);
    assert_eq!(by_word(&store, "brass").await, [1, 2, 3, 4, 5, 6]);
    let change = |old: Option<Article>| {
        let old = old.expect("it is there");
        Ok::<_, Error>(Some(Article { price: 99, status: Status::Archived, name: "brass bowl".into(), ..old }))
    };
    store.update(4, None, change).await.unwrap();
    assert_eq!(by_status(&store, Status::OnSale).await, [(0, 3), (0, 6), (10, 1), (20, 2), (20, 5)]);
    assert_eq!(by_status(&store, Status::Archived).await, [(99, 4)]);
    assert_eq!(by_word(&store, "lamp").await, [1, 2, 3, 5, 6]);
    assert_eq!(by_word(&store, "bowl").await, [4]);
    assert_eq!(by_word(&store, "brass").await, [1, 2, 3, 4, 5, 6]);
    store.commit(Commit::new().delete::<Article>(3)).await.unwrap();
    store.update::<Article, Error>(6, None, |_| Ok(None)).await.unwrap();
    assert_eq!(by_status(&store, Status::OnSale).await, [(10, 1), (20, 2), (20, 5)]);
    assert_eq!(by_word(&store, "lamp").await, [1, 2, 5]);
    // A row that comes back.
    store.commit(Commit::new().put(&article(3))).await.unwrap();
    assert_eq!(by_status(&store, Status::OnSale).await, [(10, 1), (10, 3), (20, 2), (20, 5)]);
}

async fn two_derived_tables_may_have_equal_keys(target: &Target) {
    let store = target.world().store;
    let others = async |status| {
        let rows = store.slice::<ArticleNotInStatus>(status).page().await.unwrap().rows;
        rows.into_iter().map(|r| (r.id, r.words)).collect::<Vec<_>>()
    };
    store.commit(Commit::new().put(&article(1))).await.unwrap();
    let words = vec!["brass".to_owned(), "lamp".to_owned()];
    assert_eq!(others(Status::Draft).await, [(1, words.clone())]);
    store.commit(Commit::new().put(&Article { status: Status::Draft, ..article(1) })).await.unwrap();
    assert_eq!(by_status(&store, Status::Draft).await, [(10, 1)]);
    assert!(by_status(&store, Status::OnSale).await.is_empty());
    assert!(others(Status::Draft).await.is_empty());
    assert_eq!(others(Status::OnSale).await, [(1, words)]);
}

async fn verify_is_right_while_others_write(target: &Target) {
    let world = target.empty_world();
    let stop = Arc::new(AtomicBool::new(false));
    let made = Arc::new(AtomicU64::new(0));
    // Another process, with locks of its own, that always goes through the outbox.
    let other = target.world_on(world.engine.clone(), true).database.tenant(world.store.tenant().as_str()).unwrap();
    for id in 0..12 {
        world.store.commit(Commit::new().put(&article(id))).await.unwrap();
    }
    let writer = tokio::spawn({
        let (stop, made) = (stop.clone(), made.clone());
        async move {
            for n in 0.. {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let row = Article { price: n, ..article(n % 12) };
                let shelf = (n % 3 == 0).then(|| format!("s{}", n % 4));
                other.commit(Commit::new().put(&Article { shelf, ..row })).await.unwrap();
                made.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    // Three times while something was written, however long the writer takes to begin.
    let (mut verified, mut amid) = (0, 0);
    while amid < 3 {
        let before = made.load(Ordering::SeqCst);
        let report = world.database.verify(VerifyOptions::default()).await.unwrap();
        assert_eq!(report.differences, 0, "{:?}", report.listed);
        amid += u32::from(made.load(Ordering::SeqCst) > before);
        verified += 1;
        assert!(!writer.is_finished(), "the writer has ended after {verified} verifications");
    }
    stop.store(true, Ordering::SeqCst);
    writer.await.unwrap();
}

/// Real indexes follow a moment later; the engines that have them say so.
async fn shelf(store: &Store, shelf: &str, expected: &[(i64, i64)]) {
    let mut found = Vec::new();
    for _ in 0..50 {
        let rows = store.slice::<ArticleByShelf>(shelf.into()).limit(2).page().await.unwrap();
        found = rows.rows.iter().map(|r| (r.price, r.id)).collect();
        if let Some(next) = rows.next {
            let more = store.slice::<ArticleByShelf>(shelf.into()).limit(100).after(Some(next)).page().await.unwrap();
            found.extend(more.rows.iter().map(|r| (r.price, r.id)));
        }
        if found == expected {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(found, expected, "shelf {shelf}");
}

async fn sparse_and_indexed_rows_follow(target: &Target) {
    let store = target.world().store;
    for id in 1..=5 {
        let shelf = (id != 3).then(|| if id == 5 { "low #2".to_owned() } else { "top".to_owned() });
        store.commit(Commit::new().put(&Article { shelf, price: 100 - id, ..article(id) })).await.unwrap();
    }
    shelf(&store, "top", &[(96, 4), (98, 2), (99, 1)]).await;
    shelf(&store, "low #2", &[(95, 5)]).await;
    let rows = store.slice::<ArticleByShelf>("top".into()).page().await.unwrap().rows;
    assert!(rows.iter().all(|r| r.name == "brass lamp" && r.shelf == "top"));
    let off = |old: Option<Article>| Ok::<_, Error>(old.map(|a| Article { shelf: None, ..a }));
    store.update(2, None, off).await.unwrap();
    store.commit(Commit::new().delete::<Article>(1)).await.unwrap();
    shelf(&store, "top", &[(96, 4)]).await;
}

fn member(club: &str, day: i8, person: &str, city: &str) -> Member {
    let joined = Date::new(2020, 1, day).expect("a day");
    Member { club: club.into(), joined, person: person.into(), city: city.into() }
}

async fn city(store: &Store, city: &str) -> Vec<String> {
    let rows = store.slice::<MemberByCity>(city.into()).limit(1000).page().await.unwrap().rows;
    rows.into_iter().map(|r| r.person).collect()
}

async fn ranges_take_their_derived_rows(target: &Target) {
    let store = target.world().store;
    let people = (1..=9).map(|i| member("chess", i, &format!("p{i}"), if i % 2 == 0 { "Fez" } else { "Tunis" }));
    store.commit(people.fold(Commit::new(), |c, m| c.put(&m))).await.unwrap();
    store.commit(Commit::new().put(&member("go", 1, "other", "Fez"))).await.unwrap();
    let day = |d| Value::Date(Date::new(2020, 1, d).expect("a day"));
    let bounds = (std::ops::Bound::Excluded(day(2)), std::ops::Bound::Included(day(7)));
    store.commit(Commit::new().delete_range::<Member>("chess".into(), (), bounds)).await.unwrap();
    assert_eq!(city(&store, "Fez").await, ["p2", "p8", "other"]);
    assert_eq!(city(&store, "Tunis").await, ["p1", "p9"]);
    store.commit(Commit::new().delete_partition::<Member>("chess".into())).await.unwrap();
    assert_eq!(city(&store, "Fez").await, ["other"]);
    assert!(city(&store, "Tunis").await.is_empty());
}

async fn rows_of_one_commit_may_trade_keys(target: &Target) {
    let store = target.world().store;
    let (first, second) = (member("c", 1, "ann", "Fez"), member("c", 2, "bob", "Tunis"));
    store.commit(Commit::new().put(&first).put(&second)).await.unwrap();
    // Ann takes Bob's place in Tunis under his name, as it were, and Bob goes: one derived key changes hands.
    let ann = Member { person: "bob".into(), city: "Tunis".into(), ..first.clone() };
    let commit = Commit::new()
        .put(&ann)
        .delete::<Member>(("c".into(), second.joined, "bob".into()))
        .delete::<Member>(("c".into(), first.joined, "ann".into()));
    store.commit(commit).await.unwrap();
    assert_eq!(city(&store, "Tunis").await, ["bob"]);
    assert!(city(&store, "Fez").await.is_empty());
}

/// Writes behind the data layer's back.
async fn tamper(world: &World, write: Write) {
    let step = Step {
        id: uuid::Uuid::now_v7(),
        tenant: world.store.tenant(),
        guarded: None,
        writes: vec![write],
        now: world.clock_now(),
        timestamp: world.clock_now().millis() * 1000 + 500_000,
    };
    world.engine.apply(&step).await.unwrap();
}

fn put(table: &'static Table, values: Vec<Value>) -> Write {
    Write::Put { table, values: values.into(), expires_at: None, indexes: vec![] }
}

async fn verify_finds_and_repair_mends(target: &Target) {
    let world = target.empty_world();
    let store = &world.store;
    for id in 1..=40 {
        let shelf = (id % 2 == 0).then(|| format!("s{}", id % 5));
        store.commit(Commit::new().put(&Article { shelf, ..article(id) })).await.unwrap();
    }
    let options = VerifyOptions::default();
    let report = world.database.verify(options).await.unwrap();
    assert_eq!((report.differences, report.repaired), (0, 0), "{:?}", report.listed);
    assert_eq!(report.base_rows, 4 * 40);
    assert_eq!(report.derived_rows, 40 + 80 + 80 + 20);
    // One missing, one different, one that nothing implies, in three places.
    let status =
        |id: i64, price: i64, name: &str| ArticleByStatus { status: Status::OnSale, price, id, name: name.into() };
    let key = |row: &ArticleByStatus| row.to_values()[..3].to_vec();
    tamper(&world, Write::Delete { table: ArticleByStatus::table(), key: key(&status(7, 10, "")) }).await;
    tamper(&world, put(ArticleByStatus::table(), status(8, 10, "another name").to_values())).await;
    tamper(&world, put(ArticleByStatus::table(), status(9, 11, "brass lamp").to_values())).await;
    tamper(&world, put(ArticleByWord::table(), ArticleByWord { word: "ghost".into(), shard: 0, id: 400 }.to_values()))
        .await;
    let report = world.database.verify(options).await.unwrap();
    let mut kinds: Vec<_> = report.listed.iter().map(|d| (d.table.as_str(), d.kind)).collect();
    kinds.sort_by_key(|k| format!("{k:?}"));
    assert_eq!(
        kinds,
        [
            ("articles_by_status", DifferenceKind::Different),
            ("articles_by_status", DifferenceKind::Missing),
            ("articles_by_status", DifferenceKind::Orphan),
            ("articles_by_word", DifferenceKind::Orphan),
        ]
    );
    // The tampering is dated half a second ahead of the clock, so as to win; the repair comes after it.
    world.clock.advance_millis(2000);
    let report = world.database.verify(VerifyOptions { repair: true, ..options }).await.unwrap();
    assert_eq!((report.differences, report.repaired), (4, 4));
    let report = world.database.verify(options).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}

async fn derived_tables_are_not_written_directly(target: &Target) {
    let store = target.world().store;
    let row = ArticleByWord { word: "w".into(), shard: 0, id: 1 };
    let error = store.commit(Commit::new().put(&row)).await.unwrap_err();
    assert!(matches!(&error, Error::Invalid { field, .. } if field == "articles_by_word"), "{error}");
}
