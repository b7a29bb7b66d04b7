//! Events before a clerk: looked for, a stream replayed version by version without a script, read models made anew.

use merkato::{
    accounts::Role,
    events::{self, AppendRequest, Expected, NewEvent},
    id::AggregateId,
};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::pages_desk::Clerk;

cases![
    an_office_without_events_says_how_to_begin,
    events_are_looked_for,
    a_stream_is_replayed_version_by_version,
    a_large_state_keeps_the_page_light,
    many_events_are_turned_page_by_page,
    a_read_model_is_made_anew_from_the_page,
    only_the_staff_sees_events,
    what_events_say_is_never_markup,
];

const PATH: &str = "/admin/events";

async fn append(clerk: &Clerk, id: AggregateId, events: Vec<NewEvent>) {
    let request = AppendRequest { aggregate_id: id, kind: "door".into(), expected: Expected::Any, events };
    events::append(&clerk.world().ctx, request).await.unwrap();
}

fn new_id() -> AggregateId {
    AggregateId(Uuid::new_v4())
}

fn page_of(id: AggregateId, version: i64) -> String {
    format!("{PATH}/streams/{id}?version={version}")
}

fn event(name: &str, data: Value) -> NewEvent {
    NewEvent::new(name, data)
}

async fn an_office_without_events_says_how_to_begin(target: &Target) {
    let clerk = Clerk::come(target).await;
    clerk.see(PATH).await.is_a_page("Events").says("No events yet").says("merkato import events");
    let id = new_id();
    let refused = clerk.see(&format!("{PATH}?stream={id}")).await;
    refused.is_refused().says("There are no events of this aggregate.").says(&id.to_string());
    assert_eq!(clerk.see(&page_of(id, 1)).await.status, 404);
    clerk.see(&format!("{PATH}/projections")).await.is_a_page("Projections").says("event_types").says("never");
}

async fn events_are_looked_for(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, together) = (new_id(), Uuid::new_v4());
    let at = |day: &str| Some(format!("2026-02-{day}T08:00:00Z").parse().unwrap());
    let opened = NewEvent { at: at("01"), correlation_id: Some(together), ..event("Opened", json!({"by": "Ada"})) };
    let shut = NewEvent { at: at("03"), ..event("Shut", json!({"by": "Grace"})) };
    append(&clerk, id, vec![opened, shut]).await;
    let all = clerk.see(PATH).await;
    all.is_a_page("Events").says("Ada").says("Grace").says("1 Feb 2026, 08:00:00");
    assert!(all.html.find("Grace") < all.html.find("Ada"), "the newest first");
    assert!(all.html.contains(&format!("href=\"{}\"", page_of(id, 2))), "{}", all.html);
    events::project_all(&clerk.world().ctx).await.unwrap();
    let typed = clerk.see(&format!("{PATH}?type=Opened&from=&to=")).await;
    typed
        .is_a_page("Events")
        .says("Ada")
        .does_not_say("Grace")
        .says("value=\"Opened\"")
        .says("aria-current=\"true\">Opened");
    clerk.see(&format!("{PATH}?from=2026-02-03&to=2026-02-03")).await.says("Grace").does_not_say("Ada");
    clerk
        .see(&format!("{PATH}?type=Opened&from=2026-02-02&to=2026-02-28"))
        .await
        .is_a_page("Events")
        .says("Nothing here.");
    clerk.see(&format!("{PATH}?correlation={together}")).await.says("Ada").does_not_say("Grace");
    clerk.see(&format!("{PATH}?stream={id}")).await.leads_to(&page_of(id, 2));
    for (query, field) in [
        ("stream=lamp", "stream"),
        ("correlation=7", "correlation"),
        ("from=2026-02-30", "from"),
        ("from=2026-02-03&to=2026-02-01", "to"),
    ] {
        clerk.see(&format!("{PATH}?{query}")).await.is_refused().says(&format!("href=\"#{field}\""));
    }
}

async fn a_stream_is_replayed_version_by_version(target: &Target) {
    let clerk = Clerk::come(target).await;
    let id = new_id();
    let events = vec![
        event("Opened", json!({"by": "Ada", "since": 8})),
        event("Moved", json!({"since": 9, "angle": 40})),
        event("Shut", json!({"by": null})),
    ];
    append(&clerk, id, events).await;
    let newest = clerk.see(&format!("{PATH}/streams/{id}")).await;
    newest.is_a_page("Version 3 of door").says("Version 3 of 3").says("1 line removed.").says("class=\"removed\"");
    newest
        .does_not_say("rel=\"next\"")
        .says(&format!("href=\"{}\" rel=\"prev\"", page_of(id, 2)).replace('&', "&#38;"));
    let second = clerk.see(&page_of(id, 2)).await;
    second.is_a_page("Version 2 of door").says("1 line added, 1 line changed.").says("<del>8</del>");
    second.says("rel=\"next\"").says("name=\"version\" type=\"range\" min=\"1\" max=\"3\" value=\"2\"");
    clerk
        .see(&page_of(id, 1))
        .await
        .is_a_page("Version 1 of door")
        .does_not_say("rel=\"prev\"")
        .says("class=\"added\"");
    for bad in ["0", "4", "-1", "x"] {
        let status = clerk.see(&format!("{PATH}/streams/{id}?version={bad}")).await.status;
        assert!(matches!(status, 400 | 404), "{bad}: {status}");
    }
}

async fn a_large_state_keeps_the_page_light(target: &Target) {
    let clerk = Clerk::come(target).await;
    let id = new_id();
    for part in 0..6 {
        let large: Vec<String> = (0..500).map(|n| format!("{n} <&> {}", "x".repeat(60))).collect();
        append(&clerk, id, vec![event("Grew", json!({ format!("part {part}"): large }))]).await;
    }
    let page = clerk.see(&page_of(id, 6)).await;
    page.is_a_page("Version 6 of door").says("There is more than fits this page.").says("/state?version=6");
    clerk.see(PATH).await.is_a_page("Events");
}

async fn many_events_are_turned_page_by_page(target: &Target) {
    let clerk = Clerk::come(target).await;
    let id = new_id();
    append(&clerk, id, (1..=60).map(|n| event("Counted", json!({ "number": format!("no {n}.") }))).collect()).await;
    let mut seen = Vec::new();
    let mut path = PATH.to_owned();
    loop {
        let page = clerk.see(&path).await;
        page.is_a_page("Events");
        seen.extend((1..=60).rev().filter(|n| page.html.contains(&format!("no {n}."))));
        let Some(before) = page.html.split("\" rel=\"next\"").next().filter(|before| before.len() < page.html.len())
        else {
            break;
        };
        path = before.rsplit("href=\"").next().unwrap().replace("&#38;", "&");
    }
    assert_eq!(seen, (1..=60).rev().collect::<Vec<_>>());
    // Beside a version are those around it.
    let page = clerk.see(&page_of(id, 30)).await;
    page.is_a_page("Version 30 of door").says("Earlier versions").says("Later versions");
    assert!(page.html.contains(&page_of(id, 21)) && page.html.contains(&page_of(id, 40)));
}

async fn a_read_model_is_made_anew_from_the_page(target: &Target) {
    let clerk = Clerk::come(target).await;
    append(&clerk, new_id(), vec![event("Opened", json!({})), event("Shut", json!({}))]).await;
    let ctx = &clerk.world().ctx;
    events::sequence(ctx).await.unwrap();
    let path = format!("{PATH}/projections");
    let page = clerk.see(&path).await;
    page.is_a_page("Projections").says("Behind").says("place 2");
    events::project_all(ctx).await.unwrap();
    clerk.see(&path).await.says("Up to date");
    let sent = clerk.send(&page, &format!("{path}/event_types/rebuild"), &[]).await;
    sent.leads_to(&format!("{path}?notice=projection-anew"));
    clerk.see(&sent.location).await.says("Being made anew").says("It is made anew.");
    events::project_all(ctx).await.unwrap();
    clerk.see(&path).await.says("Up to date");
    assert_eq!(clerk.send(&page, &format!("{path}/none/rebuild"), &[]).await.status, 404);
}

async fn only_the_staff_sees_events(target: &Target) {
    let clerk = Clerk::come(target).await;
    let customer = clerk.session(Role::Customer).await;
    for path in [PATH.to_owned(), format!("{PATH}/projections"), page_of(new_id(), 1)] {
        assert_eq!(clerk.see_as(&customer, &path).await.status, 403, "{path}");
    }
}

async fn what_events_say_is_never_markup(target: &Target) {
    let clerk = Clerk::come(target).await;
    let id = new_id();
    // Types and notes take no markup at all; what an event says may be anything.
    let (odd, script) = ("a \"b\" & 'c' %", "<script>alert('x')</script>");
    let mut odd_event = event(odd, json!({ script: script }));
    odd_event.metadata.insert(odd.to_owned(), odd.to_owned());
    append(&clerk, id, vec![odd_event]).await;
    events::sequence(&clerk.world().ctx).await.unwrap();
    events::project_all(&clerk.world().ctx).await.unwrap();
    clerk.see(PATH).await.is_a_page("Events").does_not_say("<script>alert");
    clerk.see(&page_of(id, 1)).await.is_a_page("Version 1 of door").does_not_say("<script>alert");
    let link = format!("{PATH}?type=a%20%22b%22%20%26%20%27c%27%20%25");
    clerk.see(&link).await.is_a_page("Events").says("alert(").does_not_say("<script>alert");
    let typed = clerk.see(&format!("{PATH}?type=%3Cscript%3Ealert%281%29%3C/script%3E")).await;
    typed.is_refused().does_not_say("<script>alert");
}
