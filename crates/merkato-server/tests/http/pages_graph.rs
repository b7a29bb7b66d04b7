//! The graph before a clerk: the whole, somebody among those whom they know, the way from one to another, without a script.

use merkato::{
    accounts::Role,
    graph::{self, Betweenness, ConnectionType, NewConnection},
    id::UserId,
};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::pages_desk::Clerk;

cases![
    an_office_without_a_graph_says_how_to_begin,
    somebody_is_found_and_connected,
    what_cannot_be_connected_stays_in_the_form,
    a_connection_is_ended,
    the_way_from_one_to_another_is_drawn,
    friends_of_friends_are_suggested_with_the_reason,
    the_whole_and_its_communities_are_told,
    only_the_staff_sees_the_graph,
    names_are_never_markup,
];

fn page_of(user: UserId) -> String {
    format!("/admin/graph/people/{user}")
}

async fn connect(clerk: &Clerk, user: UserId, kind: ConnectionType, other: UserId) {
    graph::connect(&clerk.world().ctx, user, kind, other, NewConnection::default()).await.unwrap();
}

fn somebody() -> UserId {
    UserId(Uuid::now_v7())
}

async fn customer(clerk: &Clerk) -> (UserId, String) {
    let world = clerk.world();
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let found = merkato::accounts::find_by_email(&world.ctx, &email).await.unwrap();
    (found.unwrap().user_id, email)
}

async fn an_office_without_a_graph_says_how_to_begin(target: &Target) {
    let clerk = Clerk::come(target).await;
    let page = clerk.see("/admin/graph").await;
    page.is_a_page("Graph").says("The graph has not been analysed yet.").says("merkato graph analyze");
    graph::analyze(&clerk.world().ctx, Betweenness::Exact, graph::unwatched()).await.unwrap();
    clerk.see("/admin/graph").await.says("Nobody is connected yet.");
    clerk.see("/admin/graph/path").await.is_a_page("From one to another").says("Who knows whom?");
    let page = clerk.see(&page_of(somebody())).await;
    page.says("knows nobody yet.").says("Nobody is suggested.").says("No analysis has met");
    assert_eq!(clerk.see("/admin/graph/people/nobody").await.status, 400);
}

async fn somebody_is_found_and_connected(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ((ada, email), (ben, other)) = (customer(&clerk).await, customer(&clerk).await);
    let found = clerk.see(&format!("/admin/graph?who={email}")).await;
    found.leads_to(&page_of(ada));
    clerk.see("/admin/graph?who=stranger@example.org").await.says("Nobody has the e-mail address");
    clerk.see("/admin/graph?who=stranger").await.says("is neither a whole e-mail address nor an id");
    let page = clerk.see(&page_of(ada)).await;
    let typed = [("other", other.as_str()), ("type", "friend"), ("strength", "0.9")];
    let made = clerk.send(&page, &format!("{}/connect", page_of(ada)), &typed).await;
    made.leads_to(&format!("{}?notice=connected", page_of(ada)));
    let page = clerk.see(&made.location).await;
    page.says("They are connected.").says("has 1 friend").says("0.90").says(&page_of(ben)).says("role=\"img\"");
    clerk.see(&page_of(ben)).await.says(&page_of(ada));
    clerk.see(&format!("{}?list=follow", page_of(ada))).await.says("Nobody.");
    clerk.see(&format!("{}?list=followers", page_of(ada))).await.says(&page_of(ben));
    assert_eq!(clerk.see(&format!("{}?list=enemies", page_of(ada))).await.status, 400);
}

async fn what_cannot_be_connected_stays_in_the_form(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (ada, email) = customer(&clerk).await;
    let page = clerk.see(&page_of(ada)).await;
    let path = format!("{}/connect", page_of(ada));
    let send = async |other: &str, strength: &str| {
        clerk.send(&page, &path, &[("other", other), ("type", "follow"), ("strength", strength)]).await
    };
    let refused = send("nobody@example.org", "").await;
    refused.is_refused().says("Nobody has the e-mail address").says("value=\"nobody@example.org\"");
    refused.says("value=\"follow\" selected");
    send(&email, "").await.is_refused().says("nobody is connected with themselves");
    send(&somebody().to_string(), "2").await.is_refused().says("2 is not 0 to 1");
    send(&somebody().to_string(), "much").await.is_refused().says("a number from 0 to 1");
    let blocked = somebody();
    connect(&clerk, blocked, ConnectionType::Block, ada).await;
    send(&blocked.to_string(), "").await.is_refused().says("One of the two has blocked the other.");
    let likes = format!("{}/interests", page_of(ada));
    clerk.send(&page, &likes, &[("interests", &"x".repeat(200))]).await.is_refused();
    clerk
        .send(&page, &likes, &[("interests", "Chess, coffee ,,")])
        .await
        .leads_to(&format!("{}?notice=interests-saved", page_of(ada)));
    clerk.see(&page_of(ada)).await.says("chess, coffee");
}

async fn a_connection_is_ended(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (ada, ben) = (somebody(), somebody());
    connect(&clerk, ada, ConnectionType::Friend, ben).await;
    let page = clerk.see(&page_of(ada)).await;
    let typed = [("type", "friend"), ("other", &*ben.to_string())];
    // Twice is as once.
    for _ in 0..2 {
        let ended = clerk.send(&page, &format!("{}/disconnect", page_of(ada)), &typed).await;
        ended.leads_to(&format!("{}?notice=connection-ended", page_of(ada)));
    }
    clerk.see(&page_of(ada)).await.says("knows nobody yet.");
}

async fn the_way_from_one_to_another_is_drawn(target: &Target) {
    let clerk = Clerk::come(target).await;
    let people = [somebody(), somebody(), somebody()];
    for pair in people.windows(2) {
        connect(&clerk, pair[0], ConnectionType::Friend, pair[1]).await;
    }
    let way = |from: &str, to: &str| format!("/admin/graph/path?from={from}&to={to}");
    let [first, middle, last] = people.map(|user| user.to_string());
    let page = clerk.see(&way(&first, &last)).await;
    page.is_a_page("From one to another").says("2 steps lead from").says(&page_of(people[1])).says("role=\"img\"");
    clerk.see(&way(&first, &middle)).await.says("is connected with");
    clerk.see(&way(&first, &somebody().to_string())).await.says("No way of at most 6 steps");
    clerk.see(&way(&first, &first)).await.says("That is the same person.").says("<title>Error: ");
    clerk.see(&way(&first, "")).await.says("Who is it?");
}

async fn friends_of_friends_are_suggested_with_the_reason(target: &Target) {
    let clerk = Clerk::come(target).await;
    let people = [somebody(), somebody(), somebody()];
    for pair in people.windows(2) {
        connect(&clerk, pair[0], ConnectionType::Friend, pair[1]).await;
    }
    let page = clerk.see(&page_of(people[0])).await;
    let made = clerk.send(&page, &format!("{}/suggestions", page_of(people[0])), &[]).await;
    made.leads_to(&format!("{}?notice=suggestions-made#suggestions", page_of(people[0])));
    clerk.see(&page_of(people[0])).await.says("1 mutual friend").says(&page_of(people[2]));
}

async fn the_whole_and_its_communities_are_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (ada, _) = customer(&clerk).await;
    for _ in 0..30 {
        connect(&clerk, ada, ConnectionType::Friend, somebody()).await;
    }
    graph::analyze(&clerk.world().ctx, Betweenness::Sampled(5), graph::unwatched()).await.unwrap();
    let page = clerk.see("/admin/graph").await;
    page.is_a_page("Graph").says("<b>31</b>").says("<b>30</b>").says(&page_of(ada)).says("from a sample of 5");
    // Of many the nearest are drawn, and a page of them is listed.
    let page = clerk.see(&page_of(ada)).await;
    page.says("has 30 friends").says("The 18 nearest are drawn.").says("rel=\"next\"").says("PageRank");
    assert!(page.html.len() < 100 * 1024, "{} bytes", page.html.len());
}

async fn only_the_staff_sees_the_graph(target: &Target) {
    let clerk = Clerk::come(target).await;
    let customer = clerk.session(Role::Customer).await;
    for path in ["/admin/graph".to_owned(), "/admin/graph/path".to_owned(), page_of(somebody())] {
        assert_eq!(clerk.see_as(&customer, &path).await.status, 403);
        assert_eq!(clerk.see_as("", &path).await.status, 303);
    }
}

async fn names_are_never_markup(target: &Target) {
    let clerk = Clerk::come(target).await;
    let page = clerk.see("/admin/graph?who=%3Cscript%3E").await;
    page.does_not_say("<script>alert").does_not_say("“<script>");
    let page = clerk.see("/admin/graph/path?from=%3Cscript%3Ex&to=%22%3E").await;
    page.does_not_say("<script>x").does_not_say("value=\"\">\"");
}
