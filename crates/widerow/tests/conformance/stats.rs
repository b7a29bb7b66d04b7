//! What a database tells of itself.

use widerow::{
    Commit, Error, Partition,
    stats::{ConditionalStats, ReadKind},
};

use crate::{
    cases,
    slices::line,
    tables::Line,
    world::{Target, Worlds},
};

cases!(reads_are_counted_by_table_and_kind, conditional_writes_are_counted_by_what_became_of_them);

async fn reads_are_counted_by_table_and_kind(target: &Target) {
    let world = target.world();
    let store = &world.store;
    store.commit(Commit::new().put(&line("b", 1, "x")).put(&line("b", 2, "y"))).await.unwrap();
    let of = |kind: ReadKind| {
        let reads = world.database.stats().reads;
        let found = reads.into_iter().find(|reads| reads.table == "lines" && reads.kind == kind);
        found.map_or((0, 0, 0), |reads| (reads.count, reads.rows, reads.partitions))
    };
    assert_eq!((of(ReadKind::Rows), of(ReadKind::Page)), ((0, 0, 0), (0, 0, 0)));
    store.get::<Line>(("b".into(), 1, "x".into())).await.unwrap();
    store.get::<Line>(("b".into(), 1, "not there".into())).await.unwrap();
    assert_eq!(of(ReadKind::Rows), (2, 1, 2));
    store.slice::<Line>("b".into()).page().await.unwrap();
    assert_eq!(of(ReadKind::Page), (1, 2, 1));
}

async fn conditional_writes_are_counted_by_what_became_of_them(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let committed = |stats: ConditionalStats| stats.tried - stats.moved - stats.refused - stats.unknown;
    let conditional = || world.database.stats().conditional;
    store.commit(Commit::new().put(&line("b", 1, "stock"))).await.unwrap();
    assert_eq!(committed(conditional()), 1);
    // Another handle writes between the read and the commit of this one.
    let other = target.world_on(world.engine.clone(), false).database.tenant(store.tenant().as_str()).unwrap();
    let runtime = tokio::runtime::Handle::current();
    let mut first = true;
    let decide = |_: &Partition<Line>| {
        if std::mem::take(&mut first) {
            let (other, runtime) = (other.clone(), runtime.clone());
            let write = async move { other.commit(Commit::new().put(&line("b", 1, "other"))).await };
            std::thread::spawn(move || runtime.block_on(write)).join().unwrap().unwrap();
        }
        Ok::<_, Error>((Commit::new().put(&line("b", 1, "mine")), ()))
    };
    store.guarded::<Line, _, Error>("b".into(), decide).await.unwrap();
    let stats = conditional();
    assert_eq!((stats.moved, committed(stats)), (1, 2), "{stats:?}");
}
