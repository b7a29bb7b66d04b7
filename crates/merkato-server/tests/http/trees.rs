//! Trees over HTTP: nodes made, found, renamed, moved and deleted, and every way in which that is refused.

use merkato::{hierarchy, keys::Scope};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::{
    admin::{Office, etag, key},
    world::{assert_ok, assert_problem},
};

cases![
    a_tree_is_made_and_listed,
    a_node_is_made_renamed_described_and_deleted,
    a_subtree_is_read_in_every_way,
    a_node_is_moved_with_all_below_it,
    where_a_node_cannot_stand_is_told_by_its_field,
    of_a_batch_every_node_has_an_answer,
    lists_go_page_by_page,
    names_are_searched,
    another_shop_has_trees_of_its_own,
    a_key_reads_or_writes_trees_as_its_scopes_say,
    a_node_that_is_asked_for_twice_is_one,
];

const NODES: &str = "/v1/admin/trees/company/nodes";

/// An office whose shop has a tree.
async fn planted(target: &Target) -> Office {
    let office = Office::open(target).await;
    let answer = office.post("/v1/admin/trees", &json!({"name": "company"})).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    office
}

async fn get(office: &Office, path: &str) -> Value {
    assert_ok(office.get(path).send().await.unwrap()).await
}

async fn add(office: &Office, parent: Option<&str>, name: &str) -> String {
    let answer = office.post(NODES, &json!({"parent_id": parent, "name": name})).send().await.unwrap();
    assert_eq!(answer.status(), 201, "{name}");
    assert_ok(answer).await["id"].as_str().unwrap().to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

async fn move_below(office: &Office, node: &str, parent: Option<&str>) -> reqwest::Response {
    office.post(&format!("{NODES}/{node}/move"), &json!({"parent_id": parent})).send().await.unwrap()
}

async fn a_tree_is_made_and_listed(target: &Target) {
    let office = planted(target).await;
    let odd = "Ärger / am ~Rand?";
    let answer = office.post("/v1/admin/trees", &json!({"name": odd})).send().await.unwrap();
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let made = assert_ok(answer).await;
    let state = get(&office, &location).await;
    assert_eq!((&state["name"], &state["root_id"]), (&json!(odd), &made["root_id"]));
    assert_eq!((&state["children_count"], &state["relocating"]), (&json!(0), &json!(false)));
    let again = assert_ok(office.post("/v1/admin/trees", &json!({"name": odd})).send().await.unwrap()).await;
    assert_eq!(again, made);
    assert_eq!(names(&get(&office, "/v1/admin/trees").await), ["company", odd]);
    for bad in ["", "two\nlines"] {
        let answer = office.post("/v1/admin/trees", &json!({"name": bad})).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], "/name");
    }
    let long = json!({"name": "x".repeat(101)});
    assert_problem(office.post("/v1/admin/trees", &long).send().await.unwrap(), 400, "invalid").await;
    let nowhere = "/v1/admin/trees/nowhere";
    for path in [nowhere.to_owned(), format!("{nowhere}/nodes"), format!("{nowhere}/nodes?path=root/a")] {
        assert_problem(office.get(&path).send().await.unwrap(), 404, "tree_not_found").await;
    }
    let node = office.post(&format!("{nowhere}/nodes"), &json!({"name": "a"})).send().await.unwrap();
    assert_problem(node, 404, "tree_not_found").await;
}

async fn a_node_is_made_renamed_described_and_deleted(target: &Target) {
    let office = planted(target).await;
    let body = json!({"name": "R/D", "node_type": "department", "metadata": {"lead": "Ada"}});
    let answer = office.post(NODES, &body).send().await.unwrap();
    let (location, tag) = (answer.headers()["location"].to_str().unwrap().to_owned(), etag(&answer));
    let made = assert_ok(answer).await;
    assert_eq!((&made["path"], &made["level"]), (&json!("root/R~1D"), &json!(1)));
    assert_eq!(get(&office, &location).await, made);
    let below = add(&office, made["id"].as_str(), "Lab").await;
    let rename = |name: &str| office.request("PATCH", &location).json(&json!({ "name": name }));
    let renamed = rename("Research").header("if-match", &tag).send().await.unwrap();
    assert_eq!(assert_ok(renamed).await["path"], "root/Research");
    assert_eq!(get(&office, &format!("{NODES}/{below}")).await["path"], "root/Research/Lab");
    // The tag is of before.
    let stale = rename("Other").header("if-match", &tag).send().await.unwrap();
    assert_problem(stale, 412, "precondition_failed").await;
    let change = json!({"node_type": null, "metadata": {"lead": "Grace", "seat": "3"}});
    let described = assert_ok(office.request("PATCH", &location).json(&change).send().await.unwrap()).await;
    assert_eq!((&described["node_type"], &described["metadata"]), (&Value::Null, &change["metadata"]));
    assert_eq!(described["name"], "Research");
    let both = json!({"name": "x", "metadata": {}});
    let refused = assert_problem(office.request("PATCH", &location).json(&both).send().await.unwrap(), 400, "invalid");
    assert_eq!(refused.await["errors"][0]["pointer"], "/name");
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("x".repeat(201))),
        ("name", json!("a\nb")),
        ("node_type", json!("x".repeat(61))),
        ("metadata", json!({"k": "x".repeat(9_000)})),
        ("colour", json!("red")),
    ] {
        let answer = office.request("PATCH", &location).json(&json!({ field: value })).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        let pointer = problem["errors"][0]["pointer"].as_str().unwrap();
        assert!(pointer.starts_with(&format!("/{field}")), "{field}: {problem}");
    }
    // A node with others below it goes only with them.
    assert_problem(office.request("DELETE", &location).send().await.unwrap(), 409, "not_a_leaf").await;
    let gone = office.request("DELETE", &format!("{location}?subtree=true")).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    for path in [location, format!("{NODES}/{below}")] {
        assert_problem(office.get(&path).send().await.unwrap(), 404, "node_not_found").await;
        assert_problem(office.request("DELETE", &path).send().await.unwrap(), 404, "node_not_found").await;
    }
    let leaf = add(&office, None, "Leaf").await;
    assert_eq!(office.request("DELETE", &format!("{NODES}/{leaf}")).send().await.unwrap().status(), 204);
    assert_eq!(get(&office, NODES).await["data"], json!([]));
    let root = get(&office, "/v1/admin/trees/company").await["root_id"].as_str().unwrap().to_owned();
    for request in [
        office.request("DELETE", &format!("{NODES}/{root}?subtree=true")),
        office.request("PATCH", &format!("{NODES}/{root}")).json(&json!({"name": "x"})),
        office.post(&format!("{NODES}/{root}/move"), &json!({"parent_id": null})),
    ] {
        assert_problem(request.send().await.unwrap(), 409, "root_is_fixed").await;
    }
}

async fn a_subtree_is_read_in_every_way(target: &Target) {
    let office = planted(target).await;
    let sales = add(&office, None, "Sales").await;
    let engineering = add(&office, None, "Engineering").await;
    let web = add(&office, Some(&engineering), "web").await;
    add(&office, Some(&engineering), "Platform").await;
    let ada = add(&office, Some(&web), "Ada").await;
    let of = |node: &str, what: &str| format!("{NODES}/{node}/{what}");
    assert_eq!(names(&get(&office, NODES).await), ["Engineering", "Sales"]);
    let children = get(&office, &of(&engineering, "children")).await;
    assert_eq!(names(&children), ["Platform", "web"], "in order, whatever their case");
    assert_eq!(
        children["data"][1],
        json!({"id": web, "parent_id": engineering, "name": "web", "node_type": null, "depth": 1})
    );
    assert_eq!(get(&office, &of(&sales, "children")).await["data"], json!([]));
    assert_eq!(names(&get(&office, &of(&engineering, "subtree")).await), ["Platform", "web", "Ada"]);
    assert_eq!(names(&get(&office, &of(&engineering, "subtree?max_depth=1")).await), ["Platform", "web"]);
    assert_eq!(names(&get(&office, &of(&engineering, "descendants?level=2")).await), ["Ada"]);
    let above = get(&office, &of(&ada, "ancestors")).await;
    assert_eq!(
        above["data"],
        json!([
            {"id": engineering, "name": "Engineering", "path": "root/Engineering"},
            {"id": web, "name": "web", "path": "root/Engineering/web"},
        ])
    );
    let root = get(&office, "/v1/admin/trees/company").await["root_id"].as_str().unwrap().to_owned();
    let counts = get(&office, &of(&root, "counts")).await;
    assert_eq!(counts, json!({"descendants": 5, "by_depth": [2, 2, 1]}));
    let found = get(&office, &format!("{NODES}?path=root/Engineering/web/Ada")).await;
    assert_eq!((&found["data"][0]["id"], &found["data"][0]["depth"]), (&json!(ada), &json!(3)));
    assert_eq!(get(&office, &format!("{NODES}?path=root")).await["data"][0]["parent_id"], Value::Null);
    assert_eq!(get(&office, &format!("{NODES}?path=root/nobody")).await["data"], json!([]));
    for (query, pointer) in [("path=elsewhere", "/path"), ("path=root//a", "/path"), ("path=root/a~2", "/path")] {
        let answer = office.get(&format!("{NODES}?{query}")).send().await.unwrap();
        assert_eq!(assert_problem(answer, 400, "invalid").await["errors"][0]["pointer"], pointer);
    }
    for (what, name) in [("subtree?max_depth=0", "/max_depth"), ("descendants?level=1001", "/level")] {
        let answer = office.get(&of(&engineering, what)).send().await.unwrap();
        assert_eq!(assert_problem(answer, 400, "invalid").await["errors"][0]["pointer"], name);
    }
    let nobody = Uuid::new_v4().to_string();
    for what in ["", "/children", "/ancestors", "/subtree", "/descendants?level=1", "/counts", "/search?q=a"] {
        let answer = office.get(&format!("{NODES}/{nobody}{what}")).send().await.unwrap();
        assert_problem(answer, 404, "node_not_found").await;
    }
    assert_problem(office.get(&format!("{NODES}/one")).send().await.unwrap(), 400, "bad_path").await;
}

async fn a_node_is_moved_with_all_below_it(target: &Target) {
    let office = planted(target).await;
    let a = add(&office, None, "a").await;
    let b = add(&office, None, "b").await;
    let c = add(&office, Some(&a), "c").await;
    let d = add(&office, Some(&c), "d").await;
    let moved = assert_ok(move_below(&office, &c, Some(&b)).await).await;
    assert_eq!((&moved["path"], &moved["parent_id"]), (&json!("root/b/c"), &json!(b)));
    assert_eq!(get(&office, &format!("{NODES}/{d}")).await["path"], "root/b/c/d");
    assert_eq!(names(&get(&office, &format!("{NODES}/{b}/subtree")).await), ["c", "d"]);
    let (old, new) = (get(&office, &format!("{NODES}/{a}")).await, get(&office, &format!("{NODES}/{b}")).await);
    assert_eq!((&old["children_count"], &new["children_count"]), (&json!(0), &json!(1)));
    assert_eq!(get(&office, &format!("{NODES}?path=root/a/c")).await["data"], json!([]));
    assert_eq!(get(&office, &format!("{NODES}?path=root/b/c/d")).await["data"][0]["id"], json!(d));
    // To where it is changes nothing; null is the top.
    assert_ok(move_below(&office, &c, Some(&b)).await).await;
    assert_eq!(assert_ok(move_below(&office, &c, None).await).await["path"], "root/c");
    let stale = office.post(&format!("{NODES}/{c}/move"), &json!({"parent_id": b})).header("if-match", "\"r1\"");
    assert_problem(stale.send().await.unwrap(), 412, "precondition_failed").await;
    let nowhere = office.post(&format!("{NODES}/{c}/move"), &json!({})).send().await.unwrap();
    assert_problem(nowhere, 400, "invalid").await;
    let report = hierarchy::verify_tree(&office.world.ctx, hierarchy::tree_id("company")).await.unwrap();
    assert_eq!((report.nodes, report.wrong_nodes), (5, 0), "{report:?}");
}

async fn where_a_node_cannot_stand_is_told_by_its_field(target: &Target) {
    let office = planted(target).await;
    let a = add(&office, None, "a").await;
    let b = add(&office, Some(&a), "b").await;
    let twin = add(&office, None, "b").await;
    let nobody = Uuid::new_v4().to_string();
    for (node, parent, status, code) in [
        (&a, &a, 409, "node_cycle"),
        (&a, &b, 409, "node_cycle"),
        (&twin, &a, 409, "node_name_taken"),
        (&a, &nobody, 404, "parent_not_found"),
    ] {
        let problem = assert_problem(move_below(&office, node, Some(parent)).await, status, code).await;
        assert_eq!(problem["errors"][0]["pointer"], "/parent_id", "{problem}");
    }
    assert_problem(move_below(&office, &nobody, Some(&a)).await, 404, "node_not_found").await;
    let refused = async |body: Value, status: u16, code: &str, pointer: &str| {
        let problem = assert_problem(office.post(NODES, &body).send().await.unwrap(), status, code).await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    };
    refused(json!({"name": "a"}), 409, "node_name_taken", "/name").await;
    refused(json!({"name": "x", "parent_id": nobody}), 404, "parent_not_found", "/parent_id").await;
    refused(json!({"name": "x", "id": a}), 409, "node_exists", "/id").await;
    refused(json!({"name": ""}), 400, "invalid", "/name").await;
    refused(json!({"name": "x".repeat(201)}), 400, "invalid", "/name").await;
    refused(json!({"name": "x", "parent_id": "a"}), 400, "invalid", "/parent_id").await;
    refused(json!({"name": 5}), 400, "invalid", "/name").await;
    // The same letters are the same name, however they are written.
    add(&office, None, "B\u{fc}ro").await;
    refused(json!({"name": "Bu\u{308}ro"}), 409, "node_name_taken", "/name").await;
    let rename = office.request("PATCH", &format!("{NODES}/{twin}")).json(&json!({"name": "a"}));
    let problem = assert_problem(rename.send().await.unwrap(), 409, "node_name_taken").await;
    assert_eq!(problem["errors"][0]["pointer"], "/name");
}

async fn of_a_batch_every_node_has_an_answer(target: &Target) {
    let office = planted(target).await;
    let ids: Vec<Uuid> = (0..70).map(|_| Uuid::new_v4()).collect();
    let mut nodes: Vec<Value> = (0..70)
        .map(|i| json!({"id": ids[i], "parent_id": if i == 0 { None } else { Some(ids[(i - 1) / 3]) }, "name": format!("n{i}")}))
        .collect();
    nodes[40] = json!({"id": ids[40], "name": ""});
    nodes[41] = json!("no node at all");
    nodes[42] = json!({"id": ids[42], "parent_id": Uuid::new_v4(), "name": "orphan"});
    let batch = json!({ "nodes": nodes });
    let send = async || assert_ok(office.post(&format!("{NODES}/batch"), &batch).send().await.unwrap()).await;
    let told = send().await;
    assert_eq!((&told["inserted"], &told["unchanged"], &told["refused"]), (&json!(67), &json!(0), &json!(3)));
    let results = told["results"].as_array().unwrap();
    assert_eq!(
        results[0],
        json!({"index": 0, "status": 201, "id": ids[0], "code": null, "detail": null, "errors": []})
    );
    let said = |i: usize| {
        (results[i]["status"].clone(), results[i]["code"].clone(), results[i]["errors"][0]["pointer"].clone())
    };
    assert_eq!(said(40), (json!(400), json!("invalid"), json!("/nodes/40/name")));
    assert_eq!((said(41).0, said(41).1), (json!(400), json!("invalid")));
    assert_eq!(said(42), (json!(404), json!("parent_not_found"), json!("/nodes/42/parent_id")));
    let again = send().await;
    assert_eq!((&again["inserted"], &again["unchanged"], &again["refused"]), (&json!(0), &json!(67), &json!(3)));
    let counts = get(&office, &format!("{NODES}/{}/counts", ids[0])).await;
    assert_eq!(counts["descendants"], 66);
    let nothing = office.post(&format!("{NODES}/batch"), &json!({"nodes": []})).send().await.unwrap();
    assert_eq!(assert_ok(nothing).await["results"], json!([]));
}

async fn lists_go_page_by_page(target: &Target) {
    let office = planted(target).await;
    let nodes: Vec<Value> = (0..50).map(|i| json!({"name": format!("n{i:02}")})).collect();
    let batch = json!({ "nodes": nodes });
    assert_ok(office.post(&format!("{NODES}/batch"), &batch).send().await.unwrap()).await;
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&office, &format!("{NODES}?limit=7{cursor}")).await;
        assert!(page["data"].as_array().unwrap().len() <= 7);
        all.extend(names(&page).into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(all, (0..50).map(|i| format!("n{i:02}")).collect::<Vec<_>>());
    let page = get(&office, &format!("{NODES}?limit=7")).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    let elsewhere = format!("/v1/admin/trees?cursor={cursor}");
    assert_problem(office.get(&elsewhere).send().await.unwrap(), 400, "bad_cursor").await;
}

async fn names_are_searched(target: &Target) {
    let office = planted(target).await;
    let a = add(&office, None, "Büro").await;
    for i in 0..30 {
        add(&office, Some(&a), &format!("{} {i:02}", if i % 2 == 0 { "Tisch" } else { "Stuhl" })).await;
    }
    let root = get(&office, "/v1/admin/trees/company").await["root_id"].as_str().unwrap().to_owned();
    let search = |q: &str| format!("{NODES}/{root}/search?q={q}");
    assert_eq!(names(&get(&office, &search("BURO")).await), ["Büro"]);
    let first = get(&office, &search("tisch&limit=10")).await;
    assert_eq!(names(&first).len(), 10);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = get(&office, &search(&format!("tisch&limit=10&cursor={cursor}"))).await;
    assert_eq!(names(&rest), ["Tisch 20", "Tisch 22", "Tisch 24", "Tisch 26", "Tisch 28"]);
    assert_eq!(rest["next_cursor"], Value::Null);
    assert_eq!(get(&office, &search("lampe")).await["data"], json!([]));
    assert_problem(office.get(&search("")).send().await.unwrap(), 400, "invalid").await;
}

async fn another_shop_has_trees_of_its_own(target: &Target) {
    let office = planted(target).await;
    let other = &office.world.other;
    hierarchy::create_tree(other, "company").await.unwrap();
    hierarchy::create_tree(other, "theirs").await.unwrap();
    let new = hierarchy::NewNode { name: "secret".into(), ..Default::default() };
    let node = hierarchy::insert_node(other, hierarchy::tree_id("company"), new).await.unwrap();
    assert_eq!(names(&get(&office, "/v1/admin/trees").await), ["company"]);
    assert_eq!(get(&office, NODES).await["data"], json!([]));
    let path = format!("{NODES}/{}", node.node_id);
    assert_problem(office.get(&path).send().await.unwrap(), 404, "node_not_found").await;
    let own = add(&office, None, "own").await;
    let moved = move_below(&office, &own, Some(&node.node_id.to_string())).await;
    assert_problem(moved, 404, "parent_not_found").await;
}

async fn a_key_reads_or_writes_trees_as_its_scopes_say(target: &Target) {
    let office = planted(target).await;
    let world = &office.world;
    let (reader, writer) = (key(&world.ctx, &[Scope::TreesRead]).await, key(&world.ctx, &[Scope::TreesWrite]).await);
    let read = async |token: &str| world.get(NODES).bearer_auth(token).send().await.unwrap();
    let write = async |token: &str| {
        world.request("POST", NODES).bearer_auth(token).json(&json!({"name": "a"})).send().await.unwrap()
    };
    assert_problem(write(&reader).await, 403, "scope_missing").await;
    assert_problem(read(&writer).await, 403, "scope_missing").await;
    assert_eq!(write(&writer).await.status(), 201);
    assert_eq!(names(&assert_ok(read(&reader).await).await), ["a"]);
}

async fn a_node_that_is_asked_for_twice_is_one(target: &Target) {
    let office = planted(target).await;
    let post = async || {
        let request = office.post(NODES, &json!({"name": "once"})).header("idempotency-key", "k1");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 201);
        assert_ok(answer).await
    };
    assert_eq!(post().await, post().await);
    assert_eq!(get(&office, NODES).await["data"].as_array().unwrap().len(), 1);
}
