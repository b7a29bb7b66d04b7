//! axe-core, which comes from npm and is of the tests only: `MERKATO_TEST_AXE` says where its `axe.min.js` is.

use fantoccini::Client;
use serde_json::{Value, json};

use crate::{looks, tour::Eye, world::World};

crate::run::cases![
    a_barrier_is_found,
    the_policy_of_a_page_does_not_hinder_axe,
    nothing_hinders_anybody_in_the_shop,
    nothing_hinders_anybody_in_the_office,
];

const JUDGE: &str = "const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(
        (result) => done({ violations: result.violations }),
        (error) => done({ problem: String(error) }),
    );";

/// What is serious or critical on the page.
pub async fn barriers(client: &Client, source: &str) -> Vec<String> {
    client.execute(source, Vec::new()).await.expect("axe is a script");
    let answer = client.execute_async(JUDGE, Vec::new()).await.expect("axe judges");
    let Some(violations) = answer["violations"].as_array() else { panic!("axe: {answer}") };
    violations
        .iter()
        .filter(|found| ["serious", "critical"].iter().any(|bad| found["impact"] == *bad))
        .map(tell)
        .collect()
}

fn tell(violation: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut told = format!("{} ({}): {}", text(&violation["id"]), text(&violation["impact"]), text(&violation["help"]));
    for node in violation["nodes"].as_array().into_iter().flatten().take(10) {
        let why = text(&node["failureSummary"]).replace('\n', " ");
        told += &format!("\n    {} {}\n        {why}", node["target"], text(&node["html"]));
    }
    told
}

async fn a_barrier_is_found(world: &World) {
    let reader = world.browser().await;
    let page = |body: &str| {
        format!("data:text/html,<!doctype html><html lang=en><title>t</title><main><h1>t</h1>{body}</main>")
    };
    reader.visit(&page("<label>Name <input></label>")).await;
    assert_eq!(reader.barriers().await, Vec::<String>::new());
    reader.visit(&page("<input><p style='color:%23ccc'>pale</p>")).await;
    let found = reader.barriers().await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("color-contrast (serious)") && found[0].contains("pale"), "{found:?}");
    assert!(found[1].starts_with("label (critical)"), "{found:?}");
}

async fn the_policy_of_a_page_does_not_hinder_axe(world: &World) {
    let reader = world.browser().await;
    reader.visit("/docs/errors").await;
    // A script of the page's own could not be run.
    let inline = "const script = document.createElement('script'); script.text = 'window.ran = true';
        document.body.append(script); return window.ran === undefined";
    assert!(reader.run::<bool>(inline, Vec::new()).await);
    assert_eq!(world.complaints().await.len(), 1);
    for dark in [false, true] {
        reader.darken(dark).await;
        let found = reader.barriers().await;
        assert_eq!(found, Vec::<String>::new(), "dark: {}", json!(dark));
    }
}

async fn nothing_hinders_anybody_in_the_shop(world: &World) {
    looks::shop(world, Eye::Barriers).await;
}

async fn nothing_hinders_anybody_in_the_office(world: &World) {
    looks::office(world, Eye::Barriers).await;
}
