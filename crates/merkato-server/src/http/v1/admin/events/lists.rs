//! Events of many streams: by type, by time, by what they belong to.

use merkato::{
    Cursor, PageRequest,
    events::{self, EventPlace, EventTypeCount, ListedEvents, TimePage, TimeRange},
    id::{AggregateId, EventId},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;
use widerow::Timestamp;

use super::PlacedEventView;
use crate::http::{
    Json, Problem, Query, Visit,
    wire::{Listing, Paging, Time},
};

/// How far back one looks where nothing is said.
const DAYS: i64 = 7;

/// Which events, and which page of them.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Of this type, the newest first. Without it, of all types, the oldest first.
    #[serde(rename = "type")]
    #[param(rename = "type", min_length = 1, max_length = 100, example = "MoneyDeposited")]
    event_type: Option<String>,
    /// All that belong together, whenever they happened, the oldest first. It comes alone.
    correlation_id: Option<Uuid>,
    /// From then on; the last seven days if it is not said.
    #[param(value_type = Option<Time>)]
    from: Option<Time>,
    /// To before then; to now if it is not said.
    #[param(value_type = Option<Time>)]
    to: Option<Time>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// What is asked for.
pub enum Asked {
    Type(String),
    Correlation(Uuid),
    All,
}

/// Which events of which time, and which page of them. A time that ends now ends a moment later on the next page, so that a
/// cursor carries it.
pub struct Search {
    pub asked: Asked,
    pub range: TimeRange,
    pub page: TimePage,
}

impl Search {
    pub fn of(
        asked: Asked,
        (from, to): (Option<Timestamp>, Option<Timestamp>),
        page: &PageRequest,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if let Some(cursor) = &page.cursor {
            // A cursor that was signed here was written here.
            let (range, place) = read(cursor.as_str()).ok_or_else(|| Problem::internal("a cursor carries no place"))?;
            return Ok(Search { asked, range, page: TimePage { limit: page.limit, after: Some(place) } });
        }
        // What happened at this very instant is part of a time that ends now; a clock elsewhere may be a little ahead.
        let ahead = merkato::limits::EVENT_AHEAD_SECONDS;
        let to = to.unwrap_or_else(|| Timestamp::from_millis(now.plus_seconds(ahead).millis() + 1));
        let from = from.unwrap_or_else(|| Timestamp::from_millis(to.millis().saturating_sub(DAYS * 86_400_000)));
        Ok(Search { asked, range: TimeRange { from, to }, page: TimePage::first(page.limit) })
    }

    pub async fn run(&self, ctx: &merkato::Context) -> Result<(ListedEvents, Option<Cursor>), events::Error> {
        let found = match &self.asked {
            Asked::Type(name) => events::list_events_by_type(ctx, name, self.range, self.page).await?,
            Asked::Correlation(id) => events::list_events_of_correlation(ctx, *id, self.page).await?,
            Asked::All => events::list_events_by_time(ctx, self.range, self.page).await?,
        };
        let next = found.next.map(|place| Cursor::from(write(self.range, place)));
        Ok((found, next))
    }
}

fn write(range: TimeRange, place: EventPlace) -> String {
    let [from, to, at] = [range.from, range.to, place.at].map(Timestamp::millis);
    match place.event {
        Some((event, aggregate)) => format!("{from}.{to}.{at}.{event}.{aggregate}"),
        None => format!("{from}.{to}.{at}"),
    }
}

fn read(text: &str) -> Option<(TimeRange, EventPlace)> {
    let mut parts = text.split('.');
    let mut time = || parts.next()?.parse().ok().map(Timestamp::from_millis);
    let (from, to, at) = (time()?, time()?, time()?);
    let event = match (parts.next(), parts.next()) {
        (Some(event), Some(aggregate)) => Some((EventId(event.parse().ok()?), AggregateId(aggregate.parse().ok()?))),
        (None, _) => None,
        (Some(_), None) => return None,
    };
    Some((TimeRange { from, to }, EventPlace { at, event }))
}

/// The events of a type, of a time, or that belong together
///
/// A page looks at some weeks: it may be short, even empty, and not the last.
#[utoipa::path(get, path = "/v1/admin/events", tag = "admin: events", params(EventsQuery),
    responses((status = 200, description = "A page of them", body = Listing<PlacedEventView>), (status = 304, description = "As the client has it")))]
pub async fn search_events(
    visit: Visit,
    Query(query): Query<EventsQuery>,
) -> Result<Json<Listing<PlacedEventView>>, Problem> {
    let asked = match (query.event_type, query.correlation_id) {
        (Some(_), Some(_)) => return Err(Problem::field("invalid", "/correlation_id", "it comes without type")),
        (None, Some(_)) if query.from.is_some() || query.to.is_some() => {
            return Err(Problem::field("invalid", "/correlation_id", "it comes without from and to"));
        }
        (Some(name), None) => Asked::Type(name),
        (None, Some(id)) => Asked::Correlation(id),
        (None, None) => Asked::All,
    };
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let time = (query.from.map(|Time(at)| at), query.to.map(|Time(at)| at));
    let search = Search::of(asked, time, &page, visit.ctx.now())?;
    let (found, next) = search.run(&visit.ctx).await.map_err(by_its_name)?;
    let data = found.events.into_iter().map(PlacedEventView::of).collect::<Result<_, _>>()?;
    Ok(Json(Listing { data, next_cursor: next.map(|next| visit.seal(&next)) }))
}

/// A type by the name that the query has for it.
fn by_its_name(error: events::Error) -> Problem {
    let mut problem = Problem::from(error);
    for error in problem.errors.iter_mut().filter(|error| error.pointer == "/event_type") {
        error.pointer = "/type".to_owned();
    }
    problem
}

/// A type of events.
#[derive(Serialize, ToSchema)]
pub struct EventTypeView {
    #[schema(example = "MoneyDeposited")]
    pub event_type: String,
    #[schema(example = 1042)]
    pub events_count: i64,
    pub first_event_at: Time,
    pub last_event_at: Time,
}

impl From<EventTypeCount> for EventTypeView {
    fn from(row: EventTypeCount) -> Self {
        EventTypeView {
            event_type: row.event_type,
            events_count: row.events_count,
            first_event_at: row.first_event_at.into(),
            last_event_at: row.last_event_at.into(),
        }
    }
}

/// The types of events that there are, by name
///
/// As far as the projection `event_types` is.
#[utoipa::path(get, path = "/v1/admin/events/types", tag = "admin: events", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<EventTypeView>), (status = 304, description = "As the client has it")))]
pub async fn list_types(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<EventTypeView>>, Problem> {
    let (rows, next) = events::list_event_types(&visit.ctx, &visit.page(&paging)?).await?;
    Ok(Json(visit.listed(rows, next, EventTypeView::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_carries_the_time_and_the_place() {
        let [from, to, at] = [-5, 1_700_000_000_000, 1_600_000_000_000].map(Timestamp::from_millis);
        let range = TimeRange { from, to };
        for event in [None, Some((EventId(Uuid::max()), AggregateId(Uuid::nil())))] {
            let place = EventPlace { at, event };
            assert_eq!(read(&write(range, place)), Some((range, place)));
        }
        for bad in ["", "1.2", "1.2.3.x", "1.2.3.x.y", "a.b.c.d.e"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
