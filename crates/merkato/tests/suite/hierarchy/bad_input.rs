//! What trees refuse, by name and limit.

use std::collections::BTreeMap;

use merkato::{
    Kind, PageRequest,
    hierarchy::{self, Error, NewNode, NodeFacts, Tree, root_of, tree_id},
    id::NodeId,
    limits,
};
use widerow::{Commit, Database, Schema};
use widerow_testing::Target;

use super::{add, named, new_tree, sound};
use crate::{catalog::category, world::World};

widerow_testing::cases!(
    bad_input_is_refused_by_name_and_nothing_is_written,
    the_root_stays,
    what_is_not_there_is_said,
    a_shop_has_so_many_trees_and_no_more
);

fn field(error: &Error) -> &str {
    match error {
        Error::Invalid(invalid) => &invalid.fields[0].field,
        other => panic!("{other:?}"),
    }
}

async fn bad_input_is_refused_by_name_and_nothing_is_written(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let node = add(ctx, tree, "a", None).await;
    let long = "x".repeat(limits::NODE_NAME_BYTES_MAX + 1);
    for bad in ["", " ", " a", "a\nb", "\u{0}", "<b>", long.as_str()] {
        let refused = hierarchy::insert_node(ctx, tree, named(bad, None)).await.unwrap_err();
        assert_eq!((field(&refused), refused.kind()), ("name", Kind::Invalid), "{bad:?}");
        let refused = hierarchy::rename_node(ctx, tree, node, bad, None).await.unwrap_err();
        assert_eq!(field(&refused), "name", "{bad:?}");
    }
    let bad_type = NewNode { node_type: Some("t".repeat(limits::NODE_TYPE_BYTES_MAX + 1)), ..named("b", None) };
    assert_eq!(field(&hierarchy::insert_node(ctx, tree, bad_type).await.unwrap_err()), "node_type");
    let much: BTreeMap<String, String> = (0..5).map(|n| (n.to_string(), "m".repeat(2_000))).collect();
    let many: BTreeMap<String, String> = (0..51).map(|n| (n.to_string(), "m".into())).collect();
    for metadata in [much, many, [("a\tb".into(), "c".into())].into()] {
        let refused =
            hierarchy::insert_node(ctx, tree, NewNode { metadata: metadata.clone(), ..named("b", None) }).await;
        assert_eq!(field(&refused.unwrap_err()), "metadata");
        let facts = NodeFacts { metadata: Some(metadata), ..NodeFacts::default() };
        let refused = hierarchy::describe_node(ctx, tree, node, facts, None).await;
        assert_eq!(field(&refused.unwrap_err()), "metadata");
    }
    for bad in ["", "a", "/a", "root/", "root//a", "root/a~", "root/a~2b", "rooted/a"] {
        let refused = hierarchy::find_by_path(ctx, tree, bad).await.unwrap_err();
        assert_eq!(field(&refused), "path", "{bad}");
    }
    for depth in [0, limits::NODE_DEPTH_MAX as u32 + 1, u32::MAX] {
        let refused = hierarchy::list_level(ctx, tree, None, depth, PageRequest::first(5)).await.unwrap_err();
        assert_eq!(field(&refused), "depth");
        let refused = hierarchy::list_subtree(ctx, tree, None, Some(depth), PageRequest::first(5)).await.unwrap_err();
        assert_eq!(field(&refused), "depth");
    }
    for limit in [0, limits::PAGE_ROWS_MAX + 1] {
        let refused = hierarchy::list_children(ctx, tree, None, PageRequest::first(limit)).await.unwrap_err();
        assert_eq!(field(&refused), "limit");
    }
    let forged = PageRequest { limit: 5, cursor: Some(String::from("forged").into()) };
    let refused = hierarchy::list_children(ctx, tree, None, forged).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Invalid, "{refused:?}");
    let refused = hierarchy::move_node(ctx, tree, node, Some(node), None).await.unwrap_err();
    assert!(matches!(refused, Error::Cycle { .. }) && refused.kind() == Kind::Refused, "{refused:?}");
    for bad in ["", "a\u{7}", &"t".repeat(limits::TREE_NAME_BYTES_MAX + 1)] {
        assert_eq!(field(&hierarchy::create_tree(ctx, bad).await.unwrap_err()), "name");
    }
    let too_many = vec![named("c", None); limits::NODES_TOGETHER_MAX + 1];
    let refused = hierarchy::insert_nodes(ctx, tree, too_many).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { limit: limits::NODES_TOGETHER_MAX, .. }), "{refused:?}");
    assert_eq!(hierarchy::get_node(ctx, tree, root_of(tree)).await.unwrap().children_count, 1);
    sound(&world, tree).await;
}

async fn the_root_stays(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let node = add(ctx, tree, "a", None).await;
    let root = root_of(tree);
    let moved = hierarchy::move_node(ctx, tree, root, Some(node), None).await.map(drop);
    let renamed = hierarchy::rename_node(ctx, tree, root, "b", None).await.map(drop);
    let deleted = hierarchy::delete_subtree(ctx, tree, root, None).await;
    let cut = hierarchy::delete_leaf(ctx, tree, root, None).await;
    for refused in [moved, renamed, deleted, cut] {
        assert!(matches!(refused, Err(Error::Root)), "{refused:?}");
    }
}

async fn what_is_not_there_is_said(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let node = add(ctx, tree, "a", None).await;
    let nowhere = NodeId(ctx.new_id());
    let refused = hierarchy::insert_node(ctx, tree, named("b", Some(nowhere))).await.unwrap_err();
    assert!(matches!(refused, Error::ParentNotFound { parent } if parent == nowhere), "{refused:?}");
    let refused = hierarchy::move_node(ctx, tree, node, Some(nowhere), None).await.unwrap_err();
    assert!(matches!(refused, Error::ParentNotFound { parent } if parent == nowhere), "{refused:?}");
    let refused = hierarchy::move_node(ctx, tree, nowhere, Some(node), None).await.unwrap_err();
    assert!(matches!(refused, Error::NodeNotFound { node } if node == nowhere), "{refused:?}");
    for refused in [
        hierarchy::count_descendants(ctx, tree, Some(nowhere)).await.map(drop),
        hierarchy::ancestors(ctx, tree, nowhere).await.map(drop),
        hierarchy::list_children(ctx, tree, Some(nowhere), PageRequest::first(5)).await.map(drop),
        hierarchy::describe_node(ctx, tree, nowhere, NodeFacts::default(), None).await.map(drop),
    ] {
        assert!(matches!(refused, Err(Error::NodeNotFound { .. })), "{refused:?}");
    }
    let absent = hierarchy::tree_id("absent");
    for refused in [
        hierarchy::insert_node(ctx, absent, named("b", None)).await.map(drop),
        hierarchy::get_node(ctx, absent, node).await.map(drop),
        hierarchy::delete_subtree(ctx, absent, node, None).await,
        hierarchy::get_tree(ctx, "absent").await.map(drop),
        hierarchy::verify_tree(ctx, absent).await.map(drop),
    ] {
        assert!(matches!(refused, Err(Error::TreeNotFound { .. })), "{refused:?}");
    }
    // What holds a name is no node.
    let held = hierarchy::insert_node(ctx, tree, NewNode { node_id: Some(node), ..named("z", None) }).await;
    assert!(matches!(held, Err(Error::NodeExists { .. })), "{held:?}");
}

async fn a_shop_has_so_many_trees_and_no_more(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let own = new_tree(ctx).await;
    // A schema without the derivation lets the list be written: but for two, it is as long as it may be.
    let schema = Schema::new().table::<Tree>().build().expect("a schema");
    let list = Database::new(target.engine(), schema).tenant(ctx.store.tenant().as_str()).expect("a good name");
    let listed: Vec<Tree> = (0..limits::TREES_MAX - 2)
        .map(|n| {
            let tree_name = format!("planted {n:05}");
            Tree { shelf: 0, org_id: tree_id(&tree_name), tree_name, created_at: ctx.now() }
        })
        .collect();
    for some in listed.chunks(500) {
        list.commit(some.iter().fold(Commit::new(), Commit::put)).await.expect("planted");
    }
    hierarchy::create_tree(ctx, "the last").await.expect("there is room for it");
    for name in ["one more", "and another"] {
        let refused = hierarchy::create_tree(ctx, name).await.unwrap_err();
        assert_eq!((refused.code(), refused.kind()), ("too_many_trees", Kind::Limit));
        assert_eq!(refused.to_string(), "a shop has at most 10000 trees");
        let refused = hierarchy::restore_tree(ctx, named(name, None), None).await.unwrap_err();
        assert!(matches!(refused, Error::TooManyTrees { limit: limits::TREES_MAX }), "{refused:?}");
        assert!(matches!(hierarchy::get_tree(ctx, name).await, Err(Error::TreeNotFound { .. })));
    }
    // Those that are there are found, and the shop's own tree has its place in any case.
    assert_eq!(hierarchy::create_tree(ctx, "company").await.expect("found").org_id, own);
    hierarchy::restore_tree(ctx, named("company", None), None).await.expect("found");
    category(ctx, "Lamps").await;
}
