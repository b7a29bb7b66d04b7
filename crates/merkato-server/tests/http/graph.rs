//! The graph over HTTP: connections made, listed and ended, what lies between two people, and every way in which that is refused.

use merkato::{
    graph::{self, Betweenness, ConnectionType},
    id::UserId,
    keys::Scope,
};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::{
    admin::{Office, key},
    world::{assert_ok, assert_problem},
};

cases![
    a_friendship_is_that_of_both_and_ends_for_both,
    a_connection_keeps_what_is_not_said_anew,
    interactions_make_it_stronger,
    lists_go_page_by_page_and_by_type,
    a_block_hides_both_from_each_other,
    the_way_from_one_to_another_is_found,
    whom_two_have_in_common_is_told,
    friends_of_friends_are_suggested_with_the_reason,
    what_an_analysis_found_is_told,
    what_cannot_be_is_refused_by_its_field,
    a_key_reads_or_writes_the_graph_as_its_scopes_say,
    another_shop_has_a_graph_of_its_own,
];

fn somebody() -> Uuid {
    Uuid::now_v7()
}

fn tie(user: Uuid, kind: &str, other: Uuid) -> String {
    format!("/v1/admin/graph/{user}/connections/{kind}/{other}")
}

async fn connect(office: &Office, user: Uuid, kind: &str, other: Uuid) -> Value {
    assert_ok(office.put(&tie(user, kind, other), &json!({})).send().await.unwrap()).await
}

async fn get(office: &Office, path: &str) -> Value {
    assert_ok(office.get(path).send().await.unwrap()).await
}

async fn list(office: &Office, user: Uuid, rest: &str) -> Vec<Uuid> {
    let found = get(office, &format!("/v1/admin/graph/{user}/{rest}")).await;
    let id = |row: &Value| row["other_id"].as_str().or(row["user_id"].as_str()).unwrap().parse().unwrap();
    found["data"].as_array().unwrap().iter().map(id).collect()
}

async fn a_friendship_is_that_of_both_and_ends_for_both(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben) = (somebody(), somebody());
    let made = connect(&office, ada, "friend", ben).await;
    assert_eq!((&made["type"], &made["strength"]), (&json!("friend"), &json!(0.7)));
    assert_eq!(
        (list(&office, ada, "connections").await, list(&office, ben, "connections").await),
        (vec![ben], vec![ada])
    );
    assert_eq!(list(&office, ada, "followers?type=friend").await, [ben]);
    assert_eq!(get(&office, &format!("/v1/admin/graph/{ben}")).await["degree"]["friends"], 1);
    // Whoever of the two ends it.
    assert_eq!(office.request("DELETE", &tie(ben, "friend", ada)).send().await.unwrap().status(), 204);
    assert!(list(&office, ada, "connections").await.is_empty());
    assert_eq!(get(&office, &format!("/v1/admin/graph/{ada}")).await["degree"]["friends"], 0);
    let gone = office.request("DELETE", &tie(ben, "friend", ada)).send().await.unwrap();
    assert_problem(gone, 404, "not_connected").await;
    assert_problem(office.get(&tie(ben, "friend", ada)).send().await.unwrap(), 404, "not_connected").await;
}

async fn a_connection_keeps_what_is_not_said_anew(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben) = (somebody(), somebody());
    let path = tie(ada, "colleague", ben);
    let body = json!({"strength": 0.25, "metadata": {"met": "work"}, "created_at": "2020-02-29T12:00:00Z"});
    let made = assert_ok(office.put(&path, &body).send().await.unwrap()).await;
    assert_eq!(made["created_at"], "2020-02-29T12:00:00.000Z");
    let again = assert_ok(office.put(&path, &json!({"strength": 0.5})).send().await.unwrap()).await;
    assert_eq!((&again["strength"], &again["metadata"]), (&json!(0.5), &json!({"met": "work"})));
    assert_eq!(get(&office, &path).await, again);
    // It is the one's alone.
    assert!(list(&office, ben, "connections").await.is_empty());
    assert_eq!(list(&office, ben, "followers").await, [ada]);
}

async fn interactions_make_it_stronger(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben) = (somebody(), somebody());
    connect(&office, ada, "follow", ben).await;
    let path = format!("{}/interactions", tie(ada, "follow", ben));
    let raised = assert_ok(office.post(&path, &json!({})).send().await.unwrap()).await;
    assert_eq!(raised["strength"], 0.37);
    let none = format!("{}/interactions", tie(ben, "follow", ada));
    assert_problem(office.post(&none, &json!({})).send().await.unwrap(), 404, "not_connected").await;
}

async fn lists_go_page_by_page_and_by_type(target: &Target) {
    let office = Office::open(target).await;
    let ada = somebody();
    let mut friends: Vec<Uuid> = (0..3).map(|_| somebody()).collect();
    for friend in &friends {
        connect(&office, ada, "friend", *friend).await;
    }
    let followed = somebody();
    connect(&office, ada, "follow", followed).await;
    assert_eq!(list(&office, ada, "connections?type=follow").await, [followed]);
    assert_eq!(list(&office, ada, "connections").await.len(), 4);
    let base = format!("/v1/admin/graph/{ada}/connections?type=friend&limit=2");
    let first = get(&office, &base).await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = get(&office, &format!("{base}&cursor={cursor}")).await;
    let id = |row: &Value| row["other_id"].as_str().unwrap().parse::<Uuid>().unwrap();
    let pages = [&first, &second].map(|page| page["data"].as_array().unwrap().iter().map(id).collect::<Vec<_>>());
    assert_eq!((pages[0].len(), pages[1].len(), &second["next_cursor"]), (2, 1, &Value::Null));
    let mut all = pages.concat();
    all.sort_unstable();
    friends.sort_unstable();
    assert_eq!(all, friends);
    let other = office.get(&format!("/v1/admin/graph/{ada}/followers?limit=2&cursor={cursor}")).send().await.unwrap();
    assert_problem(other, 400, "bad_cursor").await;
}

async fn a_block_hides_both_from_each_other(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben, eve) = (somebody(), somebody(), somebody());
    connect(&office, ada, "friend", ben).await;
    connect(&office, ben, "friend", eve).await;
    connect(&office, ada, "block", ben).await;
    assert_eq!(list(&office, ada, "connections").await, [ben]);
    assert_eq!(list(&office, ada, "connections?type=friend").await, Vec::<Uuid>::new());
    assert_eq!(list(&office, ben, "connections").await, [eve]);
    let way = office.get(&format!("/v1/admin/graph/{ada}/path/{eve}")).send().await.unwrap();
    assert_problem(way, 404, "path_not_found").await;
    let refused = office.put(&tie(ben, "follow", ada), &json!({})).send().await.unwrap();
    assert_problem(refused, 409, "blocked").await;
    assert_eq!(office.request("DELETE", &tie(ada, "block", ben)).send().await.unwrap().status(), 204);
    assert_eq!(list(&office, ada, "connections?type=friend").await, [ben]);
}

async fn the_way_from_one_to_another_is_found(target: &Target) {
    let office = Office::open(target).await;
    let people: Vec<Uuid> = (0..4).map(|_| somebody()).collect();
    for pair in people.windows(2) {
        connect(&office, pair[0], "friend", pair[1]).await;
    }
    let path = format!("/v1/admin/graph/{}/path/{}", people[0], people[3]);
    let found = get(&office, &path).await;
    assert_eq!((&found["nodes"], &found["length"], &found["strength"]), (&json!(people), &json!(3), &json!(0.7)));
    assert_eq!(found["types"], json!(["friend", "friend", "friend"]));
    assert_problem(office.get(&format!("{path}?max_hops=2")).send().await.unwrap(), 404, "path_not_found").await;
    // What was found before is not told when it holds no more.
    assert_eq!(office.request("DELETE", &tie(people[1], "friend", people[2])).send().await.unwrap().status(), 204);
    assert_problem(office.get(&path).send().await.unwrap(), 404, "path_not_found").await;
}

async fn whom_two_have_in_common_is_told(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben, both) = (somebody(), somebody(), somebody());
    connect(&office, ada, "friend", both).await;
    connect(&office, ben, "friend", both).await;
    connect(&office, ada, "friend", somebody()).await;
    assert_eq!(list(&office, ada, &format!("mutual/{ben}")).await, [both]);
    assert!(list(&office, ada, &format!("mutual/{ben}?type=follow")).await.is_empty());
}

async fn friends_of_friends_are_suggested_with_the_reason(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben, eve) = (somebody(), somebody(), somebody());
    connect(&office, ada, "friend", ben).await;
    connect(&office, ben, "friend", eve).await;
    for (who, interests) in [(ada, json!(["Coffee", "chess"])), (eve, json!(["coffee"]))] {
        let path = format!("/v1/admin/graph/{who}");
        assert_ok(office.put(&path, &json!({ "interests": interests })).send().await.unwrap()).await;
    }
    let path = format!("/v1/admin/graph/{ada}/suggestions");
    assert_eq!(get(&office, &path).await["data"], json!([]));
    let made = assert_ok(office.post(&path, &json!({})).send().await.unwrap()).await;
    let first = &made["data"][0];
    assert_eq!((&first["user_id"], &first["mutual_friends"]), (&json!(eve), &json!(1)));
    assert_eq!(first["reason"], "1 mutual friend, both like coffee");
    assert_eq!(get(&office, &path).await, made);
    connect(&office, eve, "block", ada).await;
    assert_eq!(get(&office, &path).await["data"], json!([]));
}

async fn what_an_analysis_found_is_told(target: &Target) {
    let office = Office::open(target).await;
    let people: Vec<Uuid> = (0..3).map(|_| somebody()).collect();
    for pair in people.windows(2) {
        connect(&office, pair[0], "friend", pair[1]).await;
    }
    let path = format!("/v1/admin/graph/{}/metrics", people[1]);
    assert_problem(office.get(&path).send().await.unwrap(), 404, "metrics_not_found").await;
    assert_eq!(get(&office, "/v1/admin/graph/communities").await, json!({"analysis": null, "data": []}));
    graph::analyze(&office.world.ctx, Betweenness::Exact, graph::unwatched()).await.unwrap();
    let found = get(&office, &path).await;
    assert_eq!((&found["degree"], &found["betweenness_centrality"]), (&json!(2), &json!(1.0)));
    assert_eq!((&found["clustering_coefficient"], &found["component"]), (&json!(0.0), &json!(0)));
    assert!((found["pagerank_score"].as_f64().unwrap() - 0.486_486_486).abs() < 1e-6, "{found}");
    let whole = get(&office, "/v1/admin/graph/communities").await;
    assert_eq!((&whole["analysis"]["people"], &whole["analysis"]["pairs"]), (&json!(3), &json!(2)));
    assert_eq!(whole["data"][0]["leaders"][0], json!(people[1]));
}

async fn what_cannot_be_is_refused_by_its_field(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben) = (somebody(), somebody());
    let put = |path: String, body: Value| office.put(&path, &body).send();
    let refused =
        assert_problem(put(tie(ada, "friend", ben), json!({"strength": 1.5})).await.unwrap(), 400, "invalid").await;
    assert_eq!(refused["errors"][0]["pointer"], "/strength");
    let refused = assert_problem(put(tie(ada, "enemy", ben), json!({})).await.unwrap(), 400, "invalid").await;
    assert_eq!(refused["errors"][0]["pointer"], "/type");
    assert_problem(put(tie(ada, "friend", ada), json!({})).await.unwrap(), 400, "connected_with_oneself").await;
    let unknown = put(tie(ada, "friend", ben), json!({"weight": 1})).await.unwrap();
    assert!(unknown.status().is_client_error());
    let far = office.get(&format!("/v1/admin/graph/{ada}/path/{ben}?max_hops=7")).send().await.unwrap();
    let refused = assert_problem(far, 400, "invalid").await;
    assert_eq!(refused["errors"][0]["pointer"], "/max_hops");
    let told = office.get(&format!("/v1/admin/graph/{ada}/followers?type=block")).send().await.unwrap();
    assert_problem(told, 400, "invalid").await;
    let bad = office.get("/v1/admin/graph/nobody/connections").send().await.unwrap();
    assert_problem(bad, 400, "bad_path").await;
}

async fn a_key_reads_or_writes_the_graph_as_its_scopes_say(target: &Target) {
    let office = Office::open(target).await;
    let world = &office.world;
    let (reader, writer) = (key(&world.ctx, &[Scope::GraphRead]).await, key(&world.ctx, &[Scope::GraphWrite]).await);
    let path = tie(somebody(), "friend", somebody());
    let read = async |token: &str| world.get(&path).bearer_auth(token).send().await.unwrap();
    let write =
        async |token: &str| world.request("PUT", &path).bearer_auth(token).json(&json!({})).send().await.unwrap();
    assert_problem(write(&reader).await, 403, "scope_missing").await;
    assert_problem(read(&writer).await, 403, "scope_missing").await;
    let made = assert_ok(write(&writer).await).await;
    assert_eq!(assert_ok(read(&reader).await).await, made);
}

async fn another_shop_has_a_graph_of_its_own(target: &Target) {
    let office = Office::open(target).await;
    let (ada, ben) = (somebody(), somebody());
    let new = graph::NewConnection::default();
    graph::connect(&office.world.other, UserId(ada), ConnectionType::Friend, UserId(ben), new).await.unwrap();
    assert!(list(&office, ada, "connections").await.is_empty());
    assert_eq!(get(&office, &format!("/v1/admin/graph/{ada}")).await["degree"]["friends"], 0);
}
