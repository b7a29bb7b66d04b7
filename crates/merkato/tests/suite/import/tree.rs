//! Trees from elsewhere: tables and paths, and Shopify's taxonomy in the folder that `MERKATO_TEST_DATA` names.

use std::{fs::File, io::Cursor, time::Instant};

use merkato::{
    flows::import::{Error, Report, TreeLayout, TreeOptions, import_tree},
    hierarchy::{self, tree_id},
};
use widerow_testing::Target;

use super::{known, real::real};
use crate::{
    hierarchy::{children, sound},
    world::World,
};

widerow_testing::cases!(
    a_table_in_any_order_becomes_a_tree,
    lines_with_paths_become_a_tree,
    a_source_that_has_changed_changes_the_tree,
    what_cannot_be_read_writes_nothing,
    the_taxonomy_of_shopify_is_a_tree,
);

async fn import(world: &World, text: &str, options: TreeOptions) -> Report {
    let report = import_tree(&world.ctx, Cursor::new(text.to_owned()), options, |_| {}).await.expect("an import");
    assert_eq!(report.read, known(&report), "{report:?}");
    report
}

async fn a_table_in_any_order_becomes_a_tree(target: &Target) {
    let world = World::new(target);
    let (ctx, tree) = (&world.ctx, tree_id("company"));
    let text = "id,parent_id,name,type,budget\n\
        3,2,api/team,team,\n2,1,backend,department,7\n1,,Engineering,division,20\n\
        4,9,lost,team,\n5,6,a,,\n6,5,b,,\n3,1,again,,\n7,1,,team,\n8,1,backend,team,\n9x,8,below,team,\n";
    let options = || TreeOptions::new("hr", "company");
    let report = import(&world, text, options()).await;
    assert_eq!((report.read, report.created, report.rejected.len()), (10, 3, 7));
    let reasons: Vec<_> = report.rejected.iter().map(|r| (r.record, r.reason.as_str())).collect();
    assert_eq!(reasons[0], (4, "the node above it is not in the source"));
    assert_eq!(reasons[1], (5, "it does not hang on any node at the top"));
    assert_eq!(reasons[3], (7, "its id comes twice"));
    assert_eq!(reasons[4], (8, "it has no name"));
    assert!(reasons[5].1.contains("has the name backend"), "{reasons:?}");
    assert!(reasons[6].1.contains("to stand below"), "{reasons:?}");
    let found = hierarchy::find_by_path(ctx, tree, "root/Engineering/backend/api~1team").await.unwrap().unwrap();
    assert_eq!(found.node_type.as_deref(), Some("team"));
    let above = hierarchy::ancestors(ctx, tree, found.node_id).await.unwrap();
    let backend = hierarchy::get_node(ctx, tree, above[1].node_id).await.unwrap();
    assert_eq!(backend.node_metadata["budget"], "7");
    let again = import(&world, text, options()).await;
    assert_eq!((again.created, again.changed, again.unchanged, again.rejected), (0, 0, 3, report.rejected));
    sound(&world, tree).await;
}

async fn lines_with_paths_become_a_tree(target: &Target) {
    let world = World::new(target);
    let (ctx, tree) = (&world.ctx, tree_id("taxonomy"));
    let text = "# A remark\n\nx/1 : Animals\nx/1-2 : Animals > Birds\nx/1-2-1 : Animals > Birds > Cages: small\n\
        Plants > Trees > Oaks\nx/9 : Animals > Birds\nx/10 : Animals >  > Fish\n";
    let options = || TreeOptions { node_type: Some("category".into()), ..TreeOptions::new("taxonomy", "taxonomy") };
    let report = import(&world, text, options()).await;
    assert_eq!((report.read, report.created, report.rejected.len()), (6, 4, 2), "{report:?}");
    assert_eq!(report.notes.len(), 2, "{:?}", report.notes);
    assert_eq!(children(ctx, tree, None).await, ["Animals", "Plants"]);
    let found = hierarchy::find_by_path(ctx, tree, "root/Animals/Birds/Cages: small").await.unwrap().unwrap();
    let node = hierarchy::get_node(ctx, tree, found.node_id).await.unwrap();
    assert_eq!((node.node_metadata["source_id"].as_str(), node.node_type.as_deref()), ("x/1-2-1", Some("category")));
    let again = import(&world, text, options()).await;
    assert_eq!((again.created, again.unchanged, again.notes.len()), (0, 4, 0), "{again:?}");
    sound(&world, tree).await;
}

async fn a_source_that_has_changed_changes_the_tree(target: &Target) {
    let world = World::new(target);
    let (ctx, tree) = (&world.ctx, tree_id("company"));
    let options = || TreeOptions::new("hr", "company");
    import(&world, "id,parent,name\n1,,a\n2,,b\n3,1,c\n4,3,d\n", options()).await;
    let report = import(&world, "id,parent,name\n1,,a\n2,,b\n3,2,cc\n4,3,d\n", options()).await;
    assert_eq!((report.created, report.changed, report.unchanged), (0, 1, 3), "{report:?}");
    assert!(hierarchy::find_by_path(ctx, tree, "root/b/cc/d").await.unwrap().is_some());
    sound(&world, tree).await;
}

async fn what_cannot_be_read_writes_nothing(target: &Target) {
    let world = World::new(target);
    let options = || TreeOptions::new("hr", "company");
    let text = |text: &str| Cursor::new(text.to_owned());
    let refused = import_tree(&world.ctx, text("colour,size\nred,1\n"), options(), |_| {}).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let unnamed = TreeOptions { tree: String::new(), ..options() };
    let refused = import_tree(&world.ctx, text("id,name\n1,a\n"), unnamed, |_| {}).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let packed = Cursor::new(vec![0x1f, 0x8b, 1, 2, 3]);
    let paths = TreeOptions { layout: TreeLayout::Paths, ..options() };
    let refused = import_tree(&world.ctx, packed, paths, |_| {}).await;
    assert!(matches!(refused, Err(Error::Unreadable { .. })), "{refused:?}");
    let absent = hierarchy::get_tree(&world.ctx, "company").await;
    assert!(matches!(absent, Err(hierarchy::Error::TreeNotFound { .. })), "{absent:?}");
}

async fn the_taxonomy_of_shopify_is_a_tree(target: &Target) {
    let Some(file) = real("hierarchy-shopify-taxonomy/categories.txt").filter(|_| target.name == "embedded") else {
        return;
    };
    let world = World::new(target);
    let (ctx, tree) = (&world.ctx, tree_id("shopify"));
    let options = || TreeOptions::new("shopify", "shopify");
    let open = || File::open(&file).expect("a file");
    let start = Instant::now();
    let report = import_tree(ctx, open(), options(), |_| {}).await.expect("an import");
    println!("{} nodes imported in {:?}", report.created, start.elapsed());
    assert_eq!((report.read, report.created), (14_606, 14_606), "{:?}", report.rejected.first());
    let counts = hierarchy::count_descendants(ctx, tree, None).await.unwrap();
    let by_depth: Vec<u64> = counts.by_depth;
    assert_eq!((counts.descendants, by_depth.len()), (14_606, 8));
    let path = "root/Animals & Pet Supplies/Pet Supplies/Bird Supplies/Bird Toys";
    let found = hierarchy::find_by_path(ctx, tree, path).await.unwrap().unwrap();
    assert_eq!(hierarchy::ancestors(ctx, tree, found.node_id).await.unwrap().len(), 3);
    let again = import_tree(ctx, open(), options(), |_| {}).await.expect("an import");
    assert_eq!((again.created, again.changed, again.unchanged), (0, 0, 14_606));
    let report = hierarchy::verify_tree(ctx, tree).await.unwrap();
    assert_eq!((report.nodes, report.wrong), (14_607, vec![]));
}
