//! Trees: how long a taxonomy takes to import, and what a moved subtree costs, by its size.

use std::{io::Cursor, sync::Arc, time::Instant};

use merkato::{
    Context, Settings,
    context::SystemChance,
    flows::import::{TreeOptions, import_tree},
    hierarchy::{self, Inserted, NewNode},
    id::{NodeId, TreeId},
};
use widerow::{Database, embedded::Embedded, meter::measure, time::SystemClock};

use crate::measure::{Verdict, Verdicts};

const NAME: &str = "hierarchy";
/// Nodes of the import: as many as Shopify's taxonomy has, about as deep.
const NODES: usize = 14_606;
const IMPORT_SECONDS_MAX: f64 = 5.0;
/// Rows that a moved node may cost more in a large subtree than in a small one.
const GROWTH_MAX: f64 = 1.1;

pub async fn run(verdicts: &mut Verdicts) {
    if !verdicts.wants(NAME) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let schema = || merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder.path(), &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("bench").expect("a good name");
    let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
    import(&ctx, verdicts).await;
    let small = moved(&ctx, 1_000).await;
    let large = moved(&ctx, 10_000).await;
    let name = "hierarchy: a moved node costs the same in 10,000 as in 1,000".to_owned();
    verdicts.all.push(Verdict { name, ratio: GROWTH_MAX * small / large, floor: 1.0 });
}

async fn import(ctx: &Context, verdicts: &mut Verdicts) {
    // Three below each but those at the top: seven levels.
    let mut paths: Vec<String> = Vec::with_capacity(NODES);
    for n in 0..NODES {
        let name = format!("Category number {n}");
        let path = if n < 26 { name } else { format!("{} > {name}", paths[n / 3]) };
        paths.push(path);
    }
    let lines: String = paths.iter().enumerate().map(|(n, path)| format!("id-{n} : {path}\n")).collect();
    let start = Instant::now();
    let report =
        import_tree(ctx, Cursor::new(lines), TreeOptions::new("bench", "imported"), |_| {}).await.expect("an import");
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(report.created as usize, NODES);
    println!("\n{NODES} nodes imported in {seconds:.2} s");
    let name = "hierarchy: 14,606 nodes imported in 5 s".to_owned();
    verdicts.all.push(Verdict { name, ratio: IMPORT_SECONDS_MAX / seconds, floor: 1.0 });
}

/// Moves a subtree of so many nodes, three levels deep, and tells the rows that were written for each.
async fn moved(ctx: &Context, nodes: usize) -> f64 {
    let tree = hierarchy::create_tree(ctx, &format!("moved {nodes}")).await.expect("a tree").org_id;
    let ids = insert(ctx, tree, vec![named("from", None), named("to", None)]).await;
    let top = insert(ctx, tree, vec![named("top", Some(ids[0]))]).await[0];
    let inner: Vec<NewNode> = (0..nodes / 100).map(|n| named(&format!("inner {n}"), Some(top))).collect();
    let inner = insert(ctx, tree, inner).await;
    let leaves = nodes - 1 - inner.len();
    let leaves = (0..leaves).map(|n| named(&format!("leaf {n}"), Some(inner[n % inner.len()]))).collect();
    insert(ctx, tree, leaves).await;
    let start = Instant::now();
    let (node, cost) = measure(hierarchy::move_node(ctx, tree, top, Some(ids[1]), None)).await;
    node.expect("moved");
    let per_node = cost.rows_written as f64 / nodes as f64;
    println!(
        "a moved subtree of {nodes} nodes: {} rows written, {per_node:.2} a node, in {} commits, {:.2} s",
        cost.rows_written,
        cost.conditional_writes,
        start.elapsed().as_secs_f64()
    );
    per_node
}

fn named(name: &str, parent_id: Option<NodeId>) -> NewNode {
    NewNode { name: name.into(), parent_id, ..NewNode::default() }
}

async fn insert(ctx: &Context, tree: TreeId, nodes: Vec<NewNode>) -> Vec<NodeId> {
    let answers = hierarchy::insert_nodes(ctx, tree, nodes).await.expect("answers");
    let id = |answer: Result<Inserted, hierarchy::Error>| match answer.expect("a node") {
        Inserted::New(id) | Inserted::Unchanged(id) => id,
    };
    answers.into_iter().map(id).collect()
}
