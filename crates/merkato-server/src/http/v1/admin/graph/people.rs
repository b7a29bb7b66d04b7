//! What is known of one person, whom they may know, and who belongs together.

use std::collections::BTreeSet;

use merkato::{
    graph::{self, Community, Degree, Metrics, Person, Suggestion, Summary},
    id::UserId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::number;
use crate::http::{
    Json, Path, Problem, Visit,
    wire::{Listing, Time},
};

/// How many connections somebody has, as the lists show them.
#[derive(Serialize, ToSchema)]
pub struct DegreeView {
    pub friends: i64,
    pub following: i64,
    pub followers: i64,
    pub colleagues: i64,
    /// Those who name this person a colleague.
    pub colleague_of: i64,
    /// Those whom this person has blocked.
    pub blocked: i64,
}

impl From<Degree> for DegreeView {
    fn from(degree: Degree) -> Self {
        let Degree { friends, following, followers, colleagues, colleague_of, blocked } = degree;
        DegreeView { friends, following, followers, colleagues, colleague_of, blocked }
    }
}

/// Somebody.
#[derive(Serialize, ToSchema)]
pub struct PersonView {
    pub user_id: Uuid,
    /// What they like.
    #[schema(example = json!(["coffee", "hiking"]))]
    pub interests: BTreeSet<String>,
    pub degree: DegreeView,
}

impl From<Person> for PersonView {
    fn from(person: Person) -> Self {
        PersonView { user_id: person.user_id.0, interests: person.interests, degree: person.degree.into() }
    }
}

/// Somebody: how many connections they have, and what they like
///
/// Of whom nothing is known, nothing is told.
#[utoipa::path(get, path = "/v1/admin/graph/{user}", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Who")),
    responses((status = 200, description = "What is known", body = PersonView), (status = 304, description = "As the client has it")))]
pub async fn get_person(visit: Visit, Path(user): Path<UserId>) -> Result<Json<PersonView>, Problem> {
    Ok(Json(graph::get_person(&visit.ctx, user).await?.into()))
}

/// What is said of somebody.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonBody {
    /// In place of all that was said before. At most 50, in any case.
    #[schema(example = json!(["coffee", "hiking"]))]
    interests: BTreeSet<String>,
}

/// Say what somebody likes
#[utoipa::path(put, path = "/v1/admin/graph/{user}", tag = "admin: graph", request_body = PersonBody,
    params(("user" = Uuid, Path, description = "Who")),
    responses((status = 200, description = "What is known", body = PersonView)))]
pub async fn describe_person(
    visit: Visit,
    Path(user): Path<UserId>,
    Json(body): Json<PersonBody>,
) -> Result<Json<PersonView>, Problem> {
    Ok(Json(graph::describe_person(&visit.ctx, user, &body.interests).await?.into()))
}

/// Somebody whom one may know.
#[derive(Serialize, ToSchema)]
pub struct SuggestionView {
    pub user_id: Uuid,
    #[schema(example = 1.24)]
    pub score: f64,
    #[schema(example = "4 mutual friends, both like coffee")]
    pub reason: String,
    #[schema(example = 4)]
    pub mutual_friends: u32,
    pub common_interests: BTreeSet<String>,
}

impl From<Suggestion> for SuggestionView {
    fn from(row: Suggestion) -> Self {
        SuggestionView {
            user_id: row.suggested_user_id.0,
            score: number(row.suggestion_score),
            reason: row.suggestion_reason,
            mutual_friends: row.mutual_connections,
            common_interests: row.common_interests,
        }
    }
}

/// Whom somebody may know, the best first
///
/// As they were made within the last week, less those who were connected or blocked since.
#[utoipa::path(get, path = "/v1/admin/graph/{user}/suggestions", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Who")),
    responses((status = 200, description = "All of them", body = Listing<SuggestionView>), (status = 304, description = "As the client has it")))]
pub async fn list_suggestions(
    visit: Visit,
    Path(user): Path<UserId>,
) -> Result<Json<Listing<SuggestionView>>, Problem> {
    Ok(Json(Listing::whole(graph::list_suggestions(&visit.ctx, user).await?)))
}

/// Make the suggestions of somebody anew
///
/// From the friends of their friends, and from what both like. They take the place of those that there were.
#[utoipa::path(post, path = "/v1/admin/graph/{user}/suggestions", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Who")),
    responses((status = 200, description = "All of them", body = Listing<SuggestionView>)))]
pub async fn suggest(visit: Visit, Path(user): Path<UserId>) -> Result<Json<Listing<SuggestionView>>, Problem> {
    Ok(Json(Listing::whole(graph::suggest(&visit.ctx, user).await?)))
}

/// What the last analysis of the whole graph says of somebody.
#[derive(Serialize, ToSchema)]
pub struct MetricsView {
    pub user_id: Uuid,
    /// People whom this person is connected with, either way.
    #[schema(example = 12)]
    pub degree: u32,
    /// The share of pairs of these who are connected with each other.
    #[schema(example = 0.42)]
    pub clustering_coefficient: f64,
    /// The share of pairs of others between whom this person stands.
    #[schema(example = 0.013)]
    pub betweenness_centrality: f64,
    /// All together have 1.
    #[schema(example = 0.0042)]
    pub pagerank_score: f64,
    /// Who hangs together has one number; 0 is the largest.
    pub component: u32,
    /// Who belongs together has one number; 0 is the largest.
    pub community: u32,
    pub computed_at: Time,
}

impl From<Metrics> for MetricsView {
    fn from(row: Metrics) -> Self {
        MetricsView {
            user_id: row.user_id.0,
            degree: row.degree,
            clustering_coefficient: row.clustering,
            betweenness_centrality: row.betweenness,
            pagerank_score: row.pagerank,
            component: row.component,
            community: row.community,
            computed_at: row.computed_at.into(),
        }
    }
}

/// What the last analysis says of somebody
///
/// `merkato graph analyze` makes one.
#[utoipa::path(get, path = "/v1/admin/graph/{user}/metrics", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Who")),
    responses((status = 200, description = "What it says", body = MetricsView), (status = 304, description = "As the client has it")))]
pub async fn get_metrics(visit: Visit, Path(user): Path<UserId>) -> Result<Json<MetricsView>, Problem> {
    let found = graph::find_metrics(&visit.ctx, user).await?;
    let unknown = || Problem::new("metrics_not_found", "no analysis has met this person");
    Ok(Json(found.ok_or_else(unknown)?.into()))
}

/// What the last analysis says of the graph as a whole.
#[derive(Serialize, ToSchema)]
pub struct AnalysisView {
    pub people: i64,
    /// Pairs of people who are connected, either way.
    pub pairs: i64,
    pub components: i64,
    pub communities: i64,
    /// How much more connections stay within communities than chance would have it.
    #[schema(example = 0.83)]
    pub modularity: f64,
    /// From how many betweenness was measured, where not from all.
    pub sampled: Option<i64>,
    pub computed_at: Time,
}

impl From<Summary> for AnalysisView {
    fn from(summary: Summary) -> Self {
        AnalysisView {
            people: summary.people,
            pairs: summary.edges,
            components: summary.components,
            communities: summary.communities,
            modularity: summary.modularity,
            sampled: summary.sampled,
            computed_at: summary.computed_at.into(),
        }
    }
}

/// People who belong together.
#[derive(Serialize, ToSchema)]
pub struct CommunityView {
    /// 0 is the largest.
    pub community: u32,
    #[schema(example = 548)]
    pub people: u32,
    /// The first by PageRank.
    pub leaders: Vec<Uuid>,
}

impl From<Community> for CommunityView {
    fn from(row: Community) -> Self {
        let leaders = row.leaders.into_iter().map(|user| user.0).collect();
        CommunityView { community: row.community, people: row.people, leaders }
    }
}

/// The communities that the last analysis has found.
#[derive(Serialize, ToSchema)]
pub struct CommunitiesView {
    /// Null before the first.
    pub analysis: Option<AnalysisView>,
    /// The largest of them.
    pub data: Vec<CommunityView>,
}

/// Who belongs together, the largest communities first
#[utoipa::path(get, path = "/v1/admin/graph/communities", tag = "admin: graph",
    responses((status = 200, description = "The largest of them", body = CommunitiesView), (status = 304, description = "As the client has it")))]
pub async fn list_communities(visit: Visit) -> Result<Json<CommunitiesView>, Problem> {
    let (summary, communities) = graph::list_communities(&visit.ctx).await?;
    let data = communities.into_iter().map(Into::into).collect();
    Ok(Json(CommunitiesView { analysis: summary.map(Into::into), data }))
}
