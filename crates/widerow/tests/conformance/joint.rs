//! Several guarded partitions in one commit, on engines that can; the others say that they cannot.

use std::sync::Arc;

use widerow::{
    Cell as _, Commit, Database, Engine, Error, Joint, Opened, Options, Store,
    faulty::{Faults, Faulty},
    limits, meter,
    store::VerifyOptions,
    time::Clock,
    value::Value,
};

use crate::{
    cases,
    commits::article,
    slices::line,
    tables::{Article, ArticleByStatus, Line, Status},
    world::{Target, Worlds},
};

cases!(
    several_partitions_are_committed_as_one,
    where_one_has_changed_nothing_is_written,
    what_was_left_need_not_be_read,
    a_partition_that_was_only_looked_at_must_not_have_changed,
    what_makes_no_sense_is_refused,
    what_is_too_much_for_one_commit_is_not_made,
    nothing_is_made_or_lost_between_partitions,
);

async fn open(store: &Store, id: i64) -> Opened<Article> {
    store.open::<Article>(id, [()]).await.unwrap()
}

/// The article that was opened, with so much added to its price and its count.
fn changed(opened: &Opened<Article>, by: i64) -> Article {
    let old = opened.view.rows[0].clone();
    Article { price: old.price + by, count: old.count + by, ..old }
}

/// The articles 0 to `count`, each with 100; false where the engine commits one partition at a time, and says so.
async fn furnished(store: &Store, count: i64) -> bool {
    for id in 0..count.max(1) {
        let new = Article { price: 100, count: 100, ..article(id) };
        store.commit(Commit::new().put(&new)).await.unwrap();
    }
    if !store.commits_jointly() {
        let (one, mut joint) = (open(store, 0).await, Joint::new());
        let commit = Commit::new().put(&changed(&one, 1));
        joint.add(one, commit);
        assert!(matches!(store.commit_jointly(joint).await, Err(Error::Invalid { .. })));
        assert_eq!(store.get::<Article>(0).await.unwrap().unwrap().price, 100);
    }
    store.commits_jointly()
}

async fn several_partitions_are_committed_as_one(target: &Target) {
    let store = target.world().store;
    if !furnished(&store, 2).await {
        return;
    }
    let (zero, one) = (open(&store, 0).await, open(&store, 1).await);
    let basket = store.open::<Line>("b".into(), [()]).await.unwrap();
    let mut joint = Joint::new();
    let commits = [Commit::new().put(&changed(&zero, -7)), Commit::new().put(&changed(&one, 7))];
    let founded = Commit::new().put(&line("b", 1, "first")).found(&Article { price: 3, ..article(9) });
    for (opened, commit) in [zero, one].into_iter().zip(commits) {
        joint.add(opened, commit);
    }
    joint.add(basket, founded);
    let left = store.commit_jointly(joint).await.unwrap().expect("nobody else wrote");
    for (id, price, version) in [(0, 93, Some(left[0].version)), (1, 107, Some(left[1].version)), (9, 3, None)] {
        let (row, at) = store.get_versioned::<Article>(id).await.unwrap();
        assert_eq!(row.unwrap().price, price);
        assert!(at.is_some() && (version.is_none() || at == version));
    }
    let lists = store.slice::<ArticleByStatus>(Status::OnSale).page().await.unwrap().rows;
    assert_eq!(lists.iter().map(|row| row.price).collect::<Vec<_>>(), [3, 93, 107]);
    assert!(store.get::<Line>(("b".into(), 1, "first".into())).await.unwrap().is_some());
    // Each goes on by itself from there.
    let again = Commit::new().unchanged::<Article>(0, Some(left[0].version)).put(&article(0));
    store.commit(again).await.unwrap();
}

async fn where_one_has_changed_nothing_is_written(target: &Target) {
    let store = target.world().store;
    if !furnished(&store, 3).await {
        return;
    }
    // Whichever of them it was.
    for quick in 0..3 {
        let mut joint = Joint::new();
        for id in 0..3 {
            let opened = open(&store, id).await;
            let commit = Commit::new().put(&changed(&opened, 1));
            joint.add(opened, commit);
        }
        store.commit(Commit::new().put(&Article { name: "quick".into(), ..article(quick) })).await.unwrap();
        let before = store.get_many::<Article>(0..3).await.unwrap();
        assert!(store.commit_jointly(joint).await.unwrap().is_none());
        assert_eq!(store.get_many::<Article>(0..3).await.unwrap(), before);
    }
    let mut joint = Joint::new();
    let opened = store.open::<Article>(77, [()]).await.unwrap();
    assert_eq!((opened.view.rows.len(), opened.view.version), (0, None));
    joint.add(opened, Commit::new().put(&article(77)));
    store.commit(Commit::new().put(&Article { name: "quick".into(), ..article(77) })).await.unwrap();
    assert!(store.commit_jointly(joint).await.unwrap().is_none());
    assert_eq!(store.get::<Article>(77).await.unwrap().unwrap().name, "quick");
}

async fn a_partition_that_was_only_looked_at_must_not_have_changed(target: &Target) {
    let store = target.world().store;
    if !furnished(&store, 2).await {
        return;
    }
    for moved in [true, false] {
        let (looked, written) = (open(&store, 0).await, open(&store, 1).await);
        let (mut joint, commit) = (Joint::new(), Commit::new().put(&changed(&written, 5)));
        joint.add(written, commit);
        joint.add(looked, Commit::new());
        if moved {
            store.commit(Commit::new().put(&article(0))).await.unwrap();
        }
        assert_eq!(store.commit_jointly(joint).await.unwrap().is_none(), moved);
        assert_eq!(store.get::<Article>(1).await.unwrap().unwrap().price, if moved { 100 } else { 105 });
    }
}

async fn what_was_left_need_not_be_read(target: &Target) {
    let store = target.world().store;
    if !furnished(&store, 0).await {
        return;
    }
    let prefixes = |name: &str| [vec![1_i64.to_value()], vec![2_i64.to_value(), Value::Text(name.into())]];
    let stock = |price| Line { price, ..line("b", 1, "stock") };
    store.commit(Commit::new().put(&stock(0)).put(&line("b", 2, "old"))).await.unwrap();
    let mut last = None;
    for (price, name) in [(1, "one"), (2, "two"), (3, "three")] {
        let remembered = last.is_some();
        let opened = store.open_from::<Line>(last.take(), "b".into(), prefixes(name));
        let (opened, cost) = meter::measure(opened).await;
        let (opened, mut joint) = (opened.unwrap(), Joint::new());
        assert_eq!(cost.partitions_read, u64::from(!remembered));
        assert_eq!(opened.view.rows.iter().map(|row| row.price).max(), Some(price - 1));
        joint.add(opened, Commit::new().put(&stock(price)).put(&line("b", 2, name)));
        last = store.commit_jointly(joint).await.unwrap().expect("alone").pop().unwrap().last;
    }
    // A row that was never seen is taken to be new: where it is not, nothing is written.
    let taken = last.clone();
    let opened = store.open_from::<Line>(taken, "b".into(), prefixes("old")).await.unwrap();
    let mut joint = Joint::new();
    joint.add(opened, Commit::new().put(&stock(9)).put(&Line { price: 9, ..line("b", 2, "old") }));
    assert!(store.commit_jointly(joint).await.unwrap().is_none());
    // Nor where another has written meanwhile.
    store.commit(Commit::new().put(&stock(50))).await.unwrap();
    let opened = store.open_from::<Line>(last, "b".into(), prefixes("four")).await.unwrap();
    let mut joint = Joint::new();
    joint.add(opened, Commit::new().put(&stock(4)).put(&line("b", 2, "four")));
    assert!(store.commit_jointly(joint).await.unwrap().is_none());
    assert_eq!(store.get::<Line>(("b".into(), 1, "stock".into())).await.unwrap().unwrap().price, 50);
}

async fn what_makes_no_sense_is_refused(target: &Target) {
    let store = target.world().store;
    if !furnished(&store, 2).await {
        return;
    }
    let wrong = [
        Commit::new().put(&Article { price: 1, ..article(1) }),
        Commit::new().put(&article(0)).present::<Article>(0),
        Commit::with_id(uuid::Uuid::now_v7()).put(&article(0)),
        Commit::new().put(&line("b", 1, "other")),
    ];
    for commit in wrong {
        let mut joint = Joint::new();
        joint.add(open(&store, 0).await, commit);
        assert!(matches!(store.commit_jointly(joint).await, Err(Error::Invalid { .. })));
    }
    // A partition is decided on once, also where another part begins it.
    let mut joint = Joint::new();
    for _ in 0..2 {
        let opened = open(&store, 0).await;
        let commit = Commit::new().put(&changed(&opened, 1));
        joint.add(opened, commit);
    }
    assert!(matches!(store.commit_jointly(joint).await, Err(Error::Invalid { .. })));
    let (zero, new) = (open(&store, 0).await, open(&store, 9).await);
    let mut joint = Joint::new();
    let commit = Commit::new().put(&changed(&zero, 1)).found(&article(9));
    joint.add(zero, commit);
    joint.add(new, Commit::new().put(&article(9)));
    assert!(matches!(store.commit_jointly(joint).await, Err(Error::Invalid { .. })));
    assert!(store.commit_jointly(Joint::new()).await.unwrap().is_some(), "nothing is done at once");
    assert_eq!(store.get_many::<Article>(0..2).await.unwrap().into_iter().flatten().map(|a| a.price).sum::<i64>(), 200);
}

/// Each part is a commit that could be made by itself; all of them are more than one may have.
async fn what_is_too_much_for_one_commit_is_not_made(target: &Target) {
    let store = target.world().store;
    if !furnished(&store, 0).await {
        return;
    }
    let baskets = limits::COMMIT_WRITES_MAX / limits::GUARDED_WRITES_MAX + 1;
    for (baskets, made) in [(baskets, false), (baskets - 1, true)] {
        let mut joint = Joint::new();
        for basket in 0..baskets {
            let basket = format!("basket {basket}");
            let opened = store.open::<Line>(basket.clone(), [()]).await.unwrap();
            let put = |commit: Commit, n| commit.put(&line(&basket, n as i64, "line"));
            joint.add(opened, (0..limits::GUARDED_WRITES_MAX).fold(Commit::new(), put));
        }
        assert_eq!(store.commit_jointly(joint).await.unwrap().is_some(), made);
        let rows = store.slice::<Line>("basket 0".into()).limit(1).page().await.unwrap().rows;
        assert_eq!(rows.len(), usize::from(made), "all of it, or nothing");
    }
}

/// Amounts go from one article to another, side by side, through engines that refuse, time out and answer late.
async fn nothing_is_made_or_lost_between_partitions(target: &Target) {
    let world = target.empty_world();
    const ARTICLES: i64 = 5;
    if !furnished(&world.store, ARTICLES).await {
        return;
    }
    let tenant = world.store.tenant().to_string();
    let engines = (0..6u64).map(|writer| {
        let faults = Faults {
            seed: 20_261 + writer,
            refuse: 0.03,
            time_out_before: 0.05,
            time_out_after: 0.08,
            apply_late: 0.08,
            delay: 0.2,
            stop_after_steps: None,
        };
        Arc::new(Faulty::new(world.engine.clone(), faults))
    });
    let engines: Vec<Arc<Faulty<Arc<dyn Engine>>>> = engines.collect();
    let writers = (0..).zip(&engines).map(|(writer, faulty)| {
        let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
        let database = Database::with_options(faulty.clone(), crate::tables::schema(), options);
        let store = database.tenant(&tenant).unwrap();
        tokio::spawn(async move {
            let mut made = 0;
            for i in 0..30 {
                // Round about, so that each partition is wanted in every order.
                let (from, to) = ((writer + i) % ARTICLES, (writer + 3 * i + 1) % ARTICLES);
                if from == to {
                    continue;
                }
                let Ok(from) = store.open::<Article>(from, [()]).await else { continue };
                let Ok(to) = store.open::<Article>(to, [()]).await else { continue };
                let commits = [Commit::new().put(&changed(&from, -1)), Commit::new().put(&changed(&to, 1))];
                let mut joint = Joint::new();
                [from, to].into_iter().zip(commits).for_each(|(opened, commit)| joint.add(opened, commit));
                made += usize::from(store.commit_jointly(joint).await.is_ok_and(|left| left.is_some()));
            }
            made
        })
    });
    let mut made = 0;
    for writer in writers.collect::<Vec<_>>() {
        made += writer.await.unwrap();
    }
    for engine in &engines {
        engine.all_applied().await;
    }
    assert!(made > 10, "{made} were made");
    let rows = world.store.get_many::<Article>(0..ARTICLES).await.unwrap();
    let rows: Vec<Article> = rows.into_iter().flatten().collect();
    assert_eq!(rows.iter().map(|row| row.price).sum::<i64>(), 100 * ARTICLES, "{rows:?}");
    assert!(rows.iter().all(|row| row.price == row.count), "a commit is there whole: {rows:?}");
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}
