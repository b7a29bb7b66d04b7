//! What is done to a tree, and what is then asked of it.

use merkato::{
    PageRequest,
    hierarchy::{self, Error, Inserted, NewNode, NodeFacts},
};
use widerow_testing::Target;

use super::{add, add_many, children, named, new_tree, path_of, sound, subtree};
use crate::world::World;

widerow_testing::cases!(
    nodes_are_found_by_id_by_path_and_from_above,
    names_hold_slashes_and_are_had_once,
    a_moved_subtree_is_moved_in_every_table,
    a_renamed_node_takes_the_paths_below_along,
    what_is_deleted_is_gone_everywhere,
    nodes_that_are_inserted_again_are_left_as_they_are,
    a_page_goes_on_while_nodes_move,
    trees_are_listed_and_apart,
    facts_change_at_a_revision,
);

async fn nodes_are_found_by_id_by_path_and_from_above(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let engineering = add(ctx, tree, "Engineering", None).await;
    let backend = add(ctx, tree, "backend", engineering).await;
    let api = add(ctx, tree, "api team", backend).await;
    let apps = add(ctx, tree, "Äpps", engineering).await;
    add(ctx, tree, "Sales", None).await;
    let node = hierarchy::get_node(ctx, tree, api).await.unwrap();
    assert_eq!((node.node_path.as_str(), node.node_level), ("root/Engineering/backend/api team", 3));
    let above = hierarchy::ancestors(ctx, tree, api).await.unwrap();
    let above: Vec<_> = above.iter().map(|a| (a.node_id, a.name.as_str(), a.path.as_str())).collect();
    assert_eq!(
        above,
        [(engineering, "Engineering", "root/Engineering"), (backend, "backend", "root/Engineering/backend")]
    );
    assert_eq!(children(ctx, tree, engineering).await, ["Äpps", "backend"]);
    assert_eq!(children(ctx, tree, None).await, ["Engineering", "Sales"]);
    assert_eq!(children(ctx, tree, apps).await, [""; 0]);
    let found = hierarchy::find_by_path(ctx, tree, "root/Engineering/backend/api team").await.unwrap().unwrap();
    assert_eq!((found.node_id, found.node_level), (api, 3));
    // The same letters in other bytes.
    let found = hierarchy::find_by_path(ctx, tree, "root/Engineering/A\u{308}pps").await.unwrap().unwrap();
    assert_eq!(found.node_id, apps);
    for nowhere in ["root/Engineering/Backend", "root/backend", "root/Engineering/backend/api team/x"] {
        assert_eq!(hierarchy::find_by_path(ctx, tree, nowhere).await.unwrap(), None);
    }
    assert_eq!(hierarchy::find_by_path(ctx, tree, "root").await.unwrap().unwrap().node_id, hierarchy::root_of(tree));
    let second = hierarchy::list_level(ctx, tree, None, 2, PageRequest::first(10)).await.unwrap();
    assert_eq!(second.rows.iter().map(|row| row.descendant_id).collect::<Vec<_>>(), [apps, backend]);
    let below = hierarchy::list_subtree(ctx, tree, None, Some(2), PageRequest::first(10)).await.unwrap();
    assert_eq!((below.rows.len(), below.next), (4, None));
    let counts = hierarchy::count_descendants(ctx, tree, Some(engineering)).await.unwrap();
    assert_eq!((counts.descendants, counts.by_depth.as_slice()), (3, &[2, 1][..]));
    assert_eq!(hierarchy::get_node(ctx, tree, engineering).await.unwrap().children_count, 2);
    sound(&world, tree).await;
}

async fn names_hold_slashes_and_are_had_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let a = add(ctx, tree, "a/b", None).await;
    let inner = add(ctx, tree, "a", None).await;
    let below = add(ctx, tree, "b", inner).await;
    assert_eq!(path_of(ctx, tree, a).await, "root/a~1b");
    assert_eq!(path_of(ctx, tree, below).await, "root/a/b");
    for (path, node) in [("root/a~1b", a), ("root/a/b", below)] {
        assert_eq!(hierarchy::find_by_path(ctx, tree, path).await.unwrap().unwrap().node_id, node);
    }
    let again = hierarchy::insert_node(ctx, tree, named("a/b", None)).await;
    assert!(matches!(&again, Err(Error::NameTaken { holder, .. }) if *holder == a), "{again:?}");
    // Another case is another name, and both are found.
    let upper = add(ctx, tree, "A/B", None).await;
    assert_eq!(hierarchy::find_by_path(ctx, tree, "root/A~1B").await.unwrap().unwrap().node_id, upper);
    // A name is free again when its node has another, is elsewhere or gone.
    hierarchy::rename_node(ctx, tree, a, "c", None).await.unwrap();
    let second = add(ctx, tree, "a/b", None).await;
    let taken = hierarchy::rename_node(ctx, tree, a, "a/b", None).await;
    assert!(matches!(&taken, Err(Error::NameTaken { holder, .. }) if *holder == second), "{taken:?}");
    hierarchy::move_node(ctx, tree, second, Some(inner), None).await.unwrap();
    let third = add(ctx, tree, "a/b", None).await;
    let taken = hierarchy::move_node(ctx, tree, third, Some(inner), None).await;
    assert!(matches!(&taken, Err(Error::NameTaken { holder, .. }) if *holder == second), "{taken:?}");
    hierarchy::delete_leaf(ctx, tree, third, None).await.unwrap();
    add(ctx, tree, "a/b", None).await;
    sound(&world, tree).await;
}

async fn a_moved_subtree_is_moved_in_every_table(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // One that fits a commit of the embedded engine, and one that fits none.
    for (turn, size) in [5, 130].into_iter().enumerate() {
        let tree = hierarchy::create_tree(ctx, &format!("tree {turn}")).await.unwrap().org_id;
        let (from, to) = (add(ctx, tree, "from", None).await, add(ctx, tree, "to", None).await);
        let deep = add(ctx, tree, "deep", to).await;
        let top = add(ctx, tree, "top", from).await;
        let below = add_many(ctx, tree, top, size).await;
        let leaf = add(ctx, tree, "leaf", below[3]).await;
        let before = subtree(ctx, tree, Some(top), 40).await;
        let moved = hierarchy::move_node(ctx, tree, top, Some(deep), None).await.unwrap();
        assert_eq!((moved.node_path.as_str(), moved.node_level, moved.revision), ("root/to/deep/top", 3, 2));
        assert_eq!(moved.children_count, size as i64);
        assert_eq!(path_of(ctx, tree, leaf).await, "root/to/deep/top/node 00003/leaf");
        assert_eq!(subtree(ctx, tree, Some(top), 40).await, before, "within, nothing has changed");
        assert_eq!(subtree(ctx, tree, Some(from), 40).await, []);
        assert_eq!(subtree(ctx, tree, Some(to), 40).await.len(), size + 3);
        let nodes = hierarchy::find_nodes(ctx, tree, &[from, to, deep]).await.unwrap();
        let counts: Vec<_> = nodes.into_iter().map(|node| node.unwrap().children_count).collect();
        assert_eq!(counts, [0, 1, 1]);
        assert_eq!(hierarchy::find_by_path(ctx, tree, "root/from/top/node 00003/leaf").await.unwrap(), None);
        let found = hierarchy::find_by_path(ctx, tree, "root/to/deep/top/node 00003/leaf").await.unwrap().unwrap();
        assert_eq!(found.node_id, leaf);
        // To where it is.
        let again = hierarchy::move_node(ctx, tree, top, Some(deep), None).await.unwrap();
        assert_eq!(again, moved);
        let refused = hierarchy::move_node(ctx, tree, to, Some(leaf), None).await;
        assert!(matches!(refused, Err(Error::Cycle { .. })), "{refused:?}");
        assert_eq!(hierarchy::pending_relocation(ctx, tree).await.unwrap(), None);
        sound(&world, tree).await;
    }
}

async fn a_renamed_node_takes_the_paths_below_along(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (turn, size) in [3, 120].into_iter().enumerate() {
        let tree = hierarchy::create_tree(ctx, &format!("tree {turn}")).await.unwrap().org_id;
        let top = add(ctx, tree, "old", None).await;
        let sibling = add(ctx, tree, "other", None).await;
        let below = add_many(ctx, tree, top, size).await;
        let before = subtree(ctx, tree, Some(top), 50).await;
        // The second differs in case only: all its rows keep their keys.
        for name in ["new/er", "New/Er", "z"] {
            hierarchy::rename_node(ctx, tree, top, name, None).await.unwrap();
            let path = hierarchy::path::below(&hierarchy::path::below("root", name), "node 00002");
            assert_eq!(path_of(ctx, tree, below[2]).await, path);
            assert_eq!(hierarchy::find_by_path(ctx, tree, &path).await.unwrap().unwrap().node_id, below[2]);
            let names = if name == "z" { ["other", name] } else { [name, "other"] };
            assert_eq!(children(ctx, tree, None).await, names);
            assert_eq!(subtree(ctx, tree, Some(top), 50).await, before);
        }
        assert_eq!(path_of(ctx, tree, sibling).await, "root/other");
        assert_eq!(hierarchy::find_by_path(ctx, tree, "root/old").await.unwrap(), None);
        sound(&world, tree).await;
    }
}

async fn what_is_deleted_is_gone_everywhere(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (turn, size) in [3, 110].into_iter().enumerate() {
        let tree = hierarchy::create_tree(ctx, &format!("tree {turn}")).await.unwrap().org_id;
        let above = add(ctx, tree, "above", None).await;
        let top = add(ctx, tree, "top", above).await;
        let below = add_many(ctx, tree, top, size).await;
        let leaf = add(ctx, tree, "leaf", below[1]).await;
        let refused = hierarchy::delete_leaf(ctx, tree, top, None).await;
        assert!(matches!(refused, Err(Error::NotALeaf { children, .. }) if children == size as i64), "{refused:?}");
        hierarchy::delete_leaf(ctx, tree, below[0], None).await.unwrap();
        assert_eq!(hierarchy::get_node(ctx, tree, top).await.unwrap().children_count, size as i64 - 1);
        hierarchy::delete_subtree(ctx, tree, top, None).await.unwrap();
        for gone in [top, below[0], below[1], leaf] {
            assert_eq!(hierarchy::find_node(ctx, tree, gone).await.unwrap(), None);
            let refused = hierarchy::list_children(ctx, tree, Some(gone), PageRequest::first(5)).await;
            assert!(matches!(refused, Err(Error::NodeNotFound { .. })), "{refused:?}");
            let refused = hierarchy::delete_subtree(ctx, tree, gone, None).await;
            assert!(matches!(refused, Err(Error::NodeNotFound { .. })), "{refused:?}");
        }
        assert_eq!(subtree(ctx, tree, None, 10).await.len(), 1);
        assert_eq!(hierarchy::get_node(ctx, tree, above).await.unwrap().children_count, 0);
        // All names are free.
        let top = add(ctx, tree, "top", above).await;
        add_many(ctx, tree, top, 3).await;
        sound(&world, tree).await;
    }
}

async fn nodes_that_are_inserted_again_are_left_as_they_are(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let ids: Vec<_> = (0..3).map(|_| merkato::id::NodeId(ctx.new_id())).collect();
    let node = |n: usize, parent: Option<usize>, name: &str| NewNode {
        node_id: Some(ids[n]),
        parent_id: parent.map(|n| ids[n]),
        name: name.into(),
        node_type: Some("team".into()),
        metadata: [("size".to_owned(), "9".to_owned())].into(),
    };
    let all = || vec![node(0, None, "a"), node(1, Some(0), "b"), node(2, Some(1), "c")];
    let answers = hierarchy::insert_nodes(ctx, tree, all()).await.unwrap();
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Inserted::New(_)))), "{answers:?}");
    let answers = hierarchy::insert_nodes(ctx, tree, all()).await.unwrap();
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Inserted::Unchanged(_)))), "{answers:?}");
    // One that is refused takes those below it along, and no others.
    let orphan = merkato::id::NodeId(ctx.new_id());
    let mut some = vec![NewNode { node_id: Some(orphan), ..named("a", None) }, named("x", Some(orphan))];
    some.push(named("y", Some(ids[2])));
    some.push(NewNode { name: "d".into(), ..node(1, Some(0), "b") });
    let answers = hierarchy::insert_nodes(ctx, tree, some).await.unwrap();
    assert!(matches!(&answers[0], Err(Error::NameTaken { holder, .. }) if *holder == ids[0]), "{answers:?}");
    assert!(matches!(&answers[1], Err(Error::ParentNotFound { parent }) if *parent == orphan), "{answers:?}");
    assert!(matches!(&answers[2], Ok(Inserted::New(_))), "{answers:?}");
    assert!(matches!(&answers[3], Err(Error::NodeExists { node }) if *node == ids[1]), "{answers:?}");
    sound(&world, tree).await;
}

async fn a_page_goes_on_while_nodes_move(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let (a, b) = (add(ctx, tree, "a", None).await, add(ctx, tree, "b", None).await);
    add_many(ctx, tree, a, 30).await;
    let page = hierarchy::list_children(ctx, tree, Some(a), PageRequest::first(20)).await.unwrap();
    hierarchy::move_node(ctx, tree, a, Some(b), None).await.unwrap();
    hierarchy::rename_node(ctx, tree, b, "bb", None).await.unwrap();
    let rest = PageRequest { limit: 20, cursor: page.next };
    let rest = hierarchy::list_children(ctx, tree, Some(a), rest).await.unwrap();
    assert_eq!((page.rows.len(), rest.rows.len(), rest.next), (20, 10, None));
}

async fn trees_are_listed_and_apart(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let first = new_tree(ctx).await;
    let second = hierarchy::create_tree(ctx, "taxonomy").await.unwrap();
    assert_eq!(hierarchy::create_tree(ctx, "taxonomy").await.unwrap(), second);
    let listed = hierarchy::list_trees(ctx, PageRequest::first(10)).await.unwrap().rows;
    assert_eq!(listed.iter().map(|tree| tree.tree_name.as_str()).collect::<Vec<_>>(), ["company", "taxonomy"]);
    assert_eq!(hierarchy::get_tree(ctx, "taxonomy").await.unwrap(), second);
    let node = add(ctx, first, "a", None).await;
    add(ctx, second.org_id, "a", None).await;
    assert_eq!(hierarchy::find_node(ctx, second.org_id, node).await.unwrap(), None);
    let other = World::new(target);
    assert_eq!(hierarchy::list_trees(&other.ctx, PageRequest::first(10)).await.unwrap().rows, []);
    let refused = hierarchy::get_node(&other.ctx, first, node).await;
    assert!(matches!(refused, Err(Error::TreeNotFound { .. })), "{refused:?}");
}

async fn facts_change_at_a_revision(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let node = add(ctx, tree, "a", None).await;
    let facts = NodeFacts { node_type: Some(Some("team".into())), ..NodeFacts::default() };
    let changed = hierarchy::describe_node(ctx, tree, node, facts.clone(), Some(1)).await.unwrap();
    assert_eq!((changed.revision, changed.node_type.as_deref()), (2, Some("team")));
    assert_eq!(hierarchy::describe_node(ctx, tree, node, facts.clone(), None).await.unwrap().revision, 2);
    let late = hierarchy::describe_node(ctx, tree, node, facts, Some(1)).await;
    assert!(matches!(late, Err(Error::Edited { expected: 1, found: 2, .. })), "{late:?}");
    let late = hierarchy::rename_node(ctx, tree, node, "b", Some(1)).await;
    assert!(matches!(late, Err(Error::Edited { expected: 1, found: 2, .. })), "{late:?}");
    let rows = subtree(ctx, tree, None, 5).await;
    assert_eq!(rows[0].node_type.as_deref(), Some("team"));
    sound(&world, tree).await;
}
