//! Trees before a clerk: an outline that opens and closes, and what is done with its nodes, without a script.

use merkato::{
    accounts::Role,
    hierarchy::{self, NewNode, Node},
    id::{NodeId, TreeId},
};
use widerow_testing::{Target, cases};

use crate::pages_desk::{Clerk, Seen};

cases![
    an_office_without_trees_says_how_to_begin,
    a_tree_opens_and_closes,
    a_node_is_added_renamed_and_described,
    a_node_is_moved_by_its_path,
    a_node_is_deleted_after_asking,
    of_two_editors_of_a_node_the_second_is_told,
    a_wide_tree_is_turned_page_by_page,
    nodes_are_searched,
    figures_of_a_subtree_are_told,
    only_the_staff_sees_trees,
    names_of_nodes_are_never_markup_nor_paths,
];

const TREE: &str = "/admin/trees/company";

async fn planted(clerk: &Clerk) -> TreeId {
    hierarchy::create_tree(&clerk.world().ctx, "company").await.unwrap().org_id
}

async fn add(clerk: &Clerk, parent: Option<NodeId>, name: &str) -> NodeId {
    let new = NewNode { parent_id: parent, name: name.into(), ..NewNode::default() };
    hierarchy::insert_node(&clerk.world().ctx, hierarchy::tree_id("company"), new).await.unwrap().node_id
}

async fn node(clerk: &Clerk, id: NodeId) -> Node {
    hierarchy::get_node(&clerk.world().ctx, hierarchy::tree_id("company"), id).await.unwrap()
}

fn page_of(id: NodeId) -> String {
    format!("{TREE}/nodes/{id}")
}

/// Names in the outline, in their order.
fn names(page: &Seen) -> Vec<String> {
    let lines = page.html.split("data-node=\"").skip(1);
    lines.map(|line| line.split("data-name=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
}

/// Where the sign before a name leads.
fn turn(page: &Seen, label: &str) -> String {
    let mark = format!("aria-label=\"{label}\"");
    let before = page.html.split(&mark).next().filter(|before| before.len() < page.html.len());
    let before = before.unwrap_or_else(|| panic!("nothing is called {label}: {}", page.html));
    let link = before.rsplit("href=\"").next().unwrap().split('"').next().unwrap();
    link.replace("&#38;", "&").split('#').next().unwrap().to_owned()
}

async fn an_office_without_trees_says_how_to_begin(target: &Target) {
    let clerk = Clerk::come(target).await;
    let page = clerk.see("/admin/trees").await;
    page.is_a_page("Trees").says("No trees yet.");
    clerk.send(&page, "/admin/trees", &[("name", " ")]).await.is_refused();
    let made = clerk.send(&page, "/admin/trees", &[("name", "company")]).await;
    made.leads_to("/admin/trees/company?notice=tree-made");
    let page = clerk.see(&made.location).await;
    page.is_a_page("company").says("The tree is made.").says("Nothing stands below company yet.");
    page.does_not_say("id=\"delete\"").does_not_say("id=\"move\"");
    clerk.see("/admin/trees").await.says("href=\"/admin/trees/company\"");
    assert_eq!(clerk.see("/admin/trees/nowhere").await.status, 404);
    assert_eq!(clerk.see(&page_of(NodeId(uuid::Uuid::new_v4()))).await.status, 404);
}

async fn a_tree_opens_and_closes(target: &Target) {
    let clerk = Clerk::come(target).await;
    planted(&clerk).await;
    let a = add(&clerk, None, "a").await;
    add(&clerk, None, "b").await;
    let aa = add(&clerk, Some(a), "aa").await;
    add(&clerk, Some(aa), "aaa").await;
    // The top is open by itself, what is below it is not.
    let page = clerk.see(TREE).await;
    assert_eq!(names(page.is_a_page("company")), ["a", "aa", "b"]);
    let closed = clerk.see(&turn(&page, "Close a")).await;
    assert_eq!(names(closed.is_a_page("company")), ["a", "b"]);
    let page = clerk.see(&turn(&closed, "Open a")).await;
    let page = clerk.see(&turn(&page, "Open aa")).await;
    assert_eq!(names(&page), ["a", "aa", "aaa", "b"]);
    let own = clerk.see(&page_of(aa)).await;
    own.is_a_page("aa").says(&format!("href=\"{}\"", page_of(a))).says("root/a/aa");
    assert_eq!(names(&own), ["aaa"]);
    // Whatever an address says is open, a page is a page.
    clerk.see(&format!("{TREE}?open=x.%3Cb%3E.12345678")).await.is_a_page("company");
}

async fn a_node_is_added_renamed_and_described(target: &Target) {
    let clerk = Clerk::come(target).await;
    let tree = planted(&clerk).await;
    let page = clerk.see(TREE).await;
    let (operation, root) = (page.hidden("operation"), hierarchy::root_of(tree).to_string());
    let typed =
        [("operation", operation.as_str()), ("parent_id", &root), ("name", "Sales"), ("node_type", "department")];
    for _ in 0..2 {
        clerk.send(&page, &format!("{TREE}/nodes"), &typed).await.leads_to(&format!("{TREE}?notice=node-added"));
    }
    let id = NodeId(operation.parse().unwrap());
    assert_eq!(node(&clerk, id).await.node_type.as_deref(), Some("department"));
    let page = clerk.see(TREE).await;
    assert_eq!(names(&page), ["Sales"]);
    let again = page.hidden("operation");
    let taken = [("operation", again.as_str()), ("parent_id", &root), ("name", "Sales")];
    let refused = clerk.send(&page, &format!("{TREE}/nodes"), &taken).await;
    refused.is_refused().says("id=\"new-name-complaint\"").says("value=\"Sales\"");
    let page = clerk.see(&page_of(id)).await;
    let revision = page.hidden("revision");
    let rename = format!("{}/rename", page_of(id));
    clerk
        .send(&page, &rename, &[("revision", &revision), ("name", "")])
        .await
        .is_refused()
        .says("rename-name-complaint");
    clerk
        .send(&page, &rename, &[("revision", &revision), ("name", "Trade")])
        .await
        .leads_to(&format!("{}?notice=changed", page_of(id)));
    let revision = clerk.see(&page_of(id)).await.hidden("revision");
    let facts = [
        ("revision", revision.as_str()),
        ("node_type", ""),
        ("key", "lead"),
        ("value", "Ada"),
        ("key", ""),
        ("value", ""),
    ];
    clerk
        .send(&page, &format!("{}/facts", page_of(id)), &facts)
        .await
        .leads_to(&format!("{}?notice=changed", page_of(id)));
    let described = node(&clerk, id).await;
    assert_eq!((described.node_name.as_str(), described.node_type), ("Trade", None));
    assert_eq!(described.node_metadata.get("lead").map(String::as_str), Some("Ada"));
}

async fn a_node_is_moved_by_its_path(target: &Target) {
    let clerk = Clerk::come(target).await;
    planted(&clerk).await;
    let a = add(&clerk, None, "a").await;
    let b = add(&clerk, None, "b/c").await;
    let c = add(&clerk, Some(a), "c").await;
    let page = clerk.see(&page_of(c)).await;
    page.says("value=\"root/a\"");
    let (carry, revision) = (format!("{}/move", page_of(c)), page.hidden("revision"));
    for (path, says) in [
        ("root/nobody", "no node at this path"),
        ("nowhere", "begins with root/"),
        ("root/a/c", "choose a place outside of it"),
    ] {
        let refused = clerk.send(&page, &carry, &[("revision", &revision), ("path", path)]).await;
        refused.is_refused().says("move-path-complaint").says(says).says(&format!("value=\"{path}\""));
    }
    let moved = clerk.send(&page, &carry, &[("revision", &revision), ("path", "root/b~1c")]).await;
    moved.leads_to(&format!("{}?notice=node-moved", page_of(c)));
    assert_eq!(node(&clerk, c).await.parent_id, Some(b));
    // What is dropped on another says so by its id, and comes back to where it was dropped; to this office and nowhere else.
    let (parent, here) = (a.to_string(), format!("{TREE}?open=12345678"));
    let dropped = clerk.send(&page, &carry, &[("parent_id", &parent), ("back", &here)]).await;
    dropped.leads_to(&format!("{here}&notice=node-moved"));
    let parent = b.to_string();
    let elsewhere = clerk.send(&page, &carry, &[("parent_id", &parent), ("back", "//evil.example")]).await;
    elsewhere.leads_to(&format!("{}?notice=node-moved", page_of(c)));
    let parent = c.to_string();
    let cycle = clerk.send(&page, &format!("{}/move", page_of(b)), &[("parent_id", &parent), ("back", &here)]).await;
    cycle.is_refused().says("move-path-complaint").says("value=\"root/b~1c/c\"");
}

async fn a_node_is_deleted_after_asking(target: &Target) {
    let clerk = Clerk::come(target).await;
    planted(&clerk).await;
    let a = add(&clerk, None, "a").await;
    let b = add(&clerk, Some(a), "b").await;
    let page = clerk.see(&page_of(a)).await;
    page.says("Delete it with all below").says("1 node on 1 level.");
    let (path, revision) = (format!("{}/delete", page_of(a)), page.hidden("revision"));
    // Somebody has put another below it since, as far as the form knows.
    let refused = clerk.send(&page, &path, &[("revision", &revision)]).await;
    refused.is_refused().says("Others stand below it by now.");
    let gone = clerk.send(&page, &format!("{}/delete", page_of(b)), &[("revision", "1")]).await;
    gone.leads_to(&format!("{}?notice=node-deleted", page_of(a)));
    add(&clerk, Some(a), "c").await;
    let revision = clerk.see(&page_of(a)).await.hidden("revision");
    let gone = clerk.send(&page, &path, &[("revision", &revision), ("subtree", "yes")]).await;
    gone.leads_to(&format!("{TREE}?notice=node-deleted"));
    clerk.see(TREE).await.says("Nothing stands below company yet.");
}

async fn of_two_editors_of_a_node_the_second_is_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    planted(&clerk).await;
    let a = add(&clerk, None, "a").await;
    let page = clerk.see(&page_of(a)).await;
    let (path, revision) = (format!("{}/rename", page_of(a)), page.hidden("revision"));
    clerk.send(&page, &path, &[("revision", &revision), ("name", "first")]).await;
    let told = clerk.send(&page, &path, &[("revision", &revision), ("name", "second")]).await;
    told.is_refused().says("Somebody else has changed or moved this node").says("value=\"second\"");
    let rename = told.html.split("id=\"rename\"").nth(1).unwrap();
    let revision = rename.split("name=\"revision\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    clerk
        .send(&told, &path, &[("revision", &revision), ("name", "second")])
        .await
        .leads_to(&format!("{}?notice=changed", page_of(a)));
    assert_eq!(node(&clerk, a).await.node_name, "second");
}

async fn a_wide_tree_is_turned_page_by_page(target: &Target) {
    let clerk = Clerk::come(target).await;
    let tree = planted(&clerk).await;
    let a = add(&clerk, None, "a").await;
    let new = |parent: Option<NodeId>, name: String| NewNode { parent_id: parent, name, ..NewNode::default() };
    let many: Vec<_> = (0..60).map(|i| new(Some(a), format!("n{i:02}"))).collect();
    let more = (0..30).map(|i| new(None, format!("t{i:02}")));
    hierarchy::insert_nodes(&clerk.world().ctx, tree, many.into_iter().chain(more).collect()).await.unwrap();
    // So many at the top are closed by themselves.
    let page = clerk.see(TREE).await;
    assert_eq!(names(page.is_a_page("company")).len(), 25);
    let open = clerk.see(&turn(&page, "Open a")).await;
    assert_eq!(names(&open).len(), 50);
    open.is_a_page("company").says("35 more on a page of their own");
    // A node can be opened and closed on a later page, too.
    let below = add(&clerk, None, "u").await;
    add(&clerk, Some(below), "v").await;
    let next = page.html.split("rel=\"next\"").next().unwrap().rsplit("href=\"").next().unwrap();
    let next = clerk.see(&next.split('"').next().unwrap().replace("&#38;", "&")).await;
    assert_eq!(names(&next), ["t24", "t25", "t26", "t27", "t28", "t29", "u", "v"]);
    let closed = clerk.see(&turn(&next, "Close u")).await;
    assert_eq!(names(closed.is_a_page("company")), ["t24", "t25", "t26", "t27", "t28", "t29", "u"]);
}

async fn nodes_are_searched(target: &Target) {
    let clerk = Clerk::come(target).await;
    planted(&clerk).await;
    let a = add(&clerk, None, "Büro").await;
    add(&clerk, Some(a), "Desk lamps").await;
    let found = clerk.see(&format!("{TREE}/search?q=LAMP")).await;
    found.is_a_page("Search in company").says("Desk lamps").says("Büro");
    clerk
        .see(&format!("{TREE}/search?q=chair"))
        .await
        .is_a_page("Search")
        .says("Nothing in this tree is called “chair”");
    clerk.see(&format!("{TREE}/search")).await.is_a_page("Search").says("What is it called?");
}

async fn figures_of_a_subtree_are_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    let tree = planted(&clerk).await;
    let a = add(&clerk, None, "a").await;
    let b = add(&clerk, Some(a), "b").await;
    add(&clerk, Some(b), "c").await;
    add(&clerk, Some(b), "d").await;
    clerk.see(TREE).await.says("4 nodes on 3 levels.");
    let new = |i: usize| NewNode { parent_id: Some(b), name: format!("n{i}"), ..NewNode::default() };
    hierarchy::insert_nodes(&clerk.world().ctx, tree, (0..120).map(new).collect()).await.unwrap();
    clerk.see(&page_of(a)).await.says("There are more than a hundred.");
    clerk.see(&format!("{}?figures=all", page_of(a))).await.is_a_page("a").says("123 nodes on 2 levels.");
}

async fn only_the_staff_sees_trees(target: &Target) {
    let clerk = Clerk::come(target).await;
    planted(&clerk).await;
    let customer = clerk.session(Role::Customer).await;
    for path in ["/admin/trees", TREE] {
        assert_eq!(clerk.see_as(&customer, path).await.status, 403);
        assert_eq!(clerk.see_as("", path).await.status, 303);
    }
}

async fn names_of_nodes_are_never_markup_nor_paths(target: &Target) {
    let clerk = Clerk::come(target).await;
    let hostile = "\" autofocus onfocus='alert(1)' & &lt;b&gt; /../x?y#z %2e%2e";
    let tree = hierarchy::create_tree(&clerk.world().ctx, hostile).await.unwrap();
    let new = NewNode { name: hostile.into(), node_type: Some("a \"kind\"".into()), ..NewNode::default() };
    let made = hierarchy::insert_node(&clerk.world().ctx, tree.org_id, new).await.unwrap();
    let list = clerk.see("/admin/trees").await;
    list.is_a_page("Trees").does_not_say("\" autofocus");
    let path = list.html.split("class=\"row\" href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(!path.contains(['\'', '<', '?', '#', ' ']) && path.matches('/').count() == 3, "{path}");
    let node = format!("{path}/nodes/{}", made.node_id);
    for path in [path.clone(), node.clone(), format!("{path}/search?q=onfocus")] {
        let page = clerk.see(&path).await;
        assert_eq!(page.status, 200, "{path}");
        page.does_not_say("\" autofocus").does_not_say("='alert").does_not_say("a \"kind\"").says("onfocus");
    }
    clerk.see(&path).await.says(&node);
}
