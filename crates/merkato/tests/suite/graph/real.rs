//! Real public graphs, in the folder that `MERKATO_TEST_DATA` names; without them the run says that it skipped them:
//! `graph-facebook/facebook_combined.txt` (SNAP ego-Facebook) and `graph-bitcoin-otc/soc-sign-bitcoinotc.csv` (SNAP Bitcoin OTC).

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    io::Cursor,
    time::Instant,
};

use merkato::{
    flows::import::{GraphOptions, Report, import_graph, person_of},
    graph::{self, ConnectionType},
    id::UserId,
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{connections, listed, mutual, sound};
use crate::{
    import::{
        known,
        real::{is_quick, real},
    },
    world::World,
};

use ConnectionType::{Block, Colleague, Follow, Friend};

widerow_testing::cases!(
    lists_of_edges_and_tables_are_imported,
    facebook_is_what_a_naive_computation_says,
    the_ratings_of_bitcoin_otc_are_imported,
);

async fn import(world: &World, text: &str, options: GraphOptions) -> Report {
    let report = import_graph(&world.ctx, Cursor::new(text.to_owned()), options, |_| {}).await.expect("an import");
    assert_eq!(report.read, known(&report), "{report:?}");
    report
}

async fn lists_of_edges_and_tables_are_imported(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let text = "# A remark\n0 1\n0 2\n1 0\n2 2\n3\n\n1 2\n";
    let report = import(&world, text, GraphOptions::new("small")).await;
    assert_eq!((report.read, report.created, report.unchanged, report.rejected.len()), (6, 3, 1, 2), "{report:?}");
    let reasons: Vec<_> = report.rejected.iter().map(|r| (r.record, r.line, r.reason.as_str())).collect();
    assert_eq!(reasons[0], (4, Some(5), "nobody is connected with themselves"));
    assert_eq!(reasons[1], (5, Some(6), "it has 1 fields, the first line has 2"));
    let [zero, one, two] = ["0", "1", "2"].map(|id| person_of("small", id));
    assert_eq!(listed(ctx, zero).await[&Friend].len(), 2);
    let again = import(&world, text, GraphOptions::new("small")).await;
    assert_eq!((again.created, again.changed, again.unchanged), (0, 0, 4));
    let table = format!(
        "user_id,connected_user_id,type,strength,created_at,team\n{zero},{one},colleague,0.25,2024-01-02,blue\n\
         {zero},{two},block,,,\n{zero},{two},enemy,,,\n{zero},{two},follow,1.5,,\n{one},{zero},follow,x,,\n"
    );
    let report = import(&world, &table, GraphOptions::new("table")).await;
    assert_eq!((report.created, report.rejected.len()), (2, 3), "{report:?}");
    assert!(report.rejected[0].reason.contains("none of block, colleague, follow, friend"), "{report:?}");
    assert_eq!(report.rejected[2].reason, "strength: x is no number");
    let rows = connections(ctx, zero, Some(Colleague), 9).await;
    assert_eq!((rows[0].connected_user_id, rows[0].connection_strength), (one, Decimal::new(25, 2)));
    assert_eq!(
        (rows[0].connection_metadata["team"].as_str(), rows[0].created_at.date().to_string().as_str()),
        ("blue", "2024-01-02")
    );
    assert_eq!(listed(ctx, zero).await[&Block], [two]);
    let json = format!(r#"[{{"source": "{one}", "target": "{zero}", "rating": 5}}]"#);
    let options = GraphOptions { connection_type: Follow, ..GraphOptions::new("json") };
    assert_eq!(import(&world, &json, options).await.created, 1);
    assert_eq!(connections(ctx, one, Some(Follow), 9).await[0].connection_strength, Decimal::new(75, 2));
    let refused = import_graph(ctx, Cursor::new("name,age\nx,4\n"), GraphOptions::new("none"), |_| {}).await;
    assert!(refused.unwrap_err().to_string().contains("no column is known to be the from"));
    sound(&world).await;
}

async fn facebook_is_what_a_naive_computation_says(target: &Target) {
    let Some(file) = real("graph-facebook/facebook_combined.txt").filter(|_| is_quick(target)) else { return };
    let world = World::alone(target);
    let ctx = &world.ctx;
    let mut friends: HashMap<UserId, BTreeSet<UserId>> = HashMap::new();
    // Without optimisations all of them take ten minutes.
    let (most, everybody) = if cfg!(debug_assertions) { (20_000, 0) } else { (usize::MAX, 4_039) };
    let text = fs::read_to_string(&file).expect("a file");
    let lines: Vec<&str> = text.lines().take(most).collect();
    for line in &lines {
        let (a, b) = line.split_once(' ').expect("two");
        let (a, b) = (person_of("facebook", a), person_of("facebook", b));
        friends.entry(a).or_default().insert(b);
        friends.entry(b).or_default().insert(a);
    }
    let began = Instant::now();
    let report = import(&world, &lines.join("\n"), GraphOptions::new("facebook")).await;
    eprintln!("{} friendships in {:?}", report.created, began.elapsed());
    let count = 88_234.min(most as u64);
    assert_eq!((report.read, report.created, report.rejected.len()), (count, count, 0));
    let mut people: Vec<UserId> = friends.keys().copied().collect();
    people.sort_unstable();
    assert!(people.len() >= everybody.max(1_000), "{}", people.len());
    for user in people.iter().step_by(37) {
        assert_eq!(graph::get_degree(ctx, *user).await.unwrap().friends as usize, friends[user].len());
        assert_eq!(listed(ctx, *user).await[&Friend], friends[user].iter().copied().collect::<Vec<_>>());
    }
    let hub = *people.iter().max_by_key(|user| friends[user].len()).expect("people");
    let some: Vec<UserId> = people.iter().copied().step_by(401).chain([hub]).collect();
    for one in &some {
        for other in some.iter().filter(|other| *other != one) {
            let common: Vec<UserId> = friends[one].intersection(&friends[other]).copied().collect();
            assert_eq!(mutual(ctx, *one, *other, Friend, 100).await, common);
            let found = graph::find_path(ctx, *one, *other, 3).await.unwrap();
            assert_eq!(found.map(|found| found.types.len()), distance(&friends, *one, *other, 3));
        }
        suggestions_are(ctx, &friends, *one).await;
    }
    sound(&world).await;
}

/// Steps of the shortest way, level by level.
fn distance(friends: &HashMap<UserId, BTreeSet<UserId>>, start: UserId, end: UserId, most: usize) -> Option<usize> {
    let (mut seen, mut edge) = (BTreeSet::from([start]), vec![start]);
    for steps in 1..=most {
        edge = edge.iter().flat_map(|user| &friends[user]).copied().filter(|user| seen.insert(*user)).collect();
        if seen.contains(&end) {
            return Some(steps);
        }
    }
    None
}

async fn suggestions_are(ctx: &merkato::Context, friends: &HashMap<UserId, BTreeSet<UserId>>, user: UserId) {
    let mut scores: BTreeMap<UserId, f64> = BTreeMap::new();
    for friend in &friends[&user] {
        let weight = 1.0 / (friends[friend].len() as f64).ln();
        for other in friends[friend].iter().filter(|other| **other != user && !friends[&user].contains(other)) {
            *scores.entry(*other).or_default() += weight;
        }
    }
    let made = graph::suggest(ctx, user).await.unwrap();
    assert_eq!(made.len(), scores.len().min(merkato::limits::SUGGESTIONS_A_USER_MAX));
    let mut best: Vec<f64> = scores.values().copied().collect();
    best.sort_unstable_by(|a, b| b.total_cmp(a));
    for (row, score) in made.iter().zip(best) {
        let told: f64 = row.suggestion_score.try_into().expect("a number");
        let other = row.suggested_user_id;
        assert!((told - score).abs() < 2e-6 && (told - scores[&other]).abs() < 2e-6, "{row:?}: {score}");
        let mutual = friends[&user].intersection(&friends[&other]).count();
        assert_eq!(row.mutual_connections as usize, mutual);
    }
}

async fn the_ratings_of_bitcoin_otc_are_imported(target: &Target) {
    let Some(file) = real("graph-bitcoin-otc/soc-sign-bitcoinotc.csv").filter(|_| is_quick(target)) else { return };
    let world = World::alone(target);
    let ctx = &world.ctx;
    let options = || GraphOptions {
        connection_type: Follow,
        mapping: Some("rating=3,time=4".parse().expect("a mapping")),
        ..GraphOptions::new("bitcoin-otc")
    };
    // Without optimisations all of them take minutes.
    let most = if cfg!(debug_assertions) { 6_000 } else { usize::MAX };
    let text = fs::read_to_string(&file).expect("a file");
    let lines: Vec<&str> = text.lines().take(most).collect();
    let (text, count) = (lines.join("\n"), lines.len() as u64);
    assert_eq!(count, 35_592.min(most as u64));
    let began = Instant::now();
    let report = import(&world, &text, options()).await;
    eprintln!("{} ratings in {:?}", report.created, began.elapsed());
    assert_eq!((report.created, report.rejected.len()), (count, 0), "{:?}", report.rejected.first());
    // The first line: 6,2,4,1289241912.728360
    let six = person_of("bitcoin-otc", "6");
    let two = person_of("bitcoin-otc", "2");
    let first = graph::find_connection(ctx, six, Follow, two).await.unwrap().expect("there");
    assert_eq!((first.connection_strength, first.connection_metadata["rating"].as_str()), (Decimal::new(7, 1), "4"));
    assert_eq!(first.created_at.millis() / 1_000, 1_289_241_912);
    let distrust = text.lines().find(|line| line.split(',').nth(2) == Some("-10")).expect("one");
    let mut fields = distrust.split(',').map(|id| person_of("bitcoin-otc", id));
    let (from, to) = (fields.next().expect("who"), fields.next().expect("whom"));
    let least = graph::find_connection(ctx, from, Follow, to).await.unwrap().expect("there");
    assert_eq!(least.connection_strength, Decimal::ZERO);
    let again = import(&world, &text, options()).await;
    assert_eq!((again.created, again.changed, again.unchanged), (0, 0, count));
    sound(&world).await;
}
