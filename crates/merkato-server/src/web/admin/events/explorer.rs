//! Events looked for: the newest of all, those of a type or a time, or those that belong together.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    Cursor, PageRequest,
    events::{self, EventTypeCount, FeedEvent},
    id::AggregateId,
    limits,
};
use serde::Deserialize;
use uuid::Uuid;
use widerow::{Date, Timestamp};

use super::{PATH, json, second, short, stream_path};
use crate::{
    http::{
        Problem, Query, Visit,
        v1::admin::events::lists::{Asked, Search},
    },
    web::{
        Frame, Html,
        admin::desk::pager::{Pager, ROWS, Turn},
        next, see_other, words,
    },
};

/// Characters of an event's data in the list.
const DATA_CHARS_MAX: usize = 120;
/// Types that can be chosen from.
const TYPES_MAX: usize = limits::PAGE_ROWS_MAX;
const WEEK_SECONDS: i64 = 7 * 86_400;

/// What the list is narrowed by, as it stands in the address. Empty fields of the form are as if they were not there.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Filter {
    #[serde(default)]
    stream: String,
    #[serde(default, rename = "type")]
    event_type: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    correlation: String,
}

struct EventRow {
    href: String,
    event_type: String,
    when: String,
    kind: String,
    stream: String,
    version: i64,
    position: i64,
    data: String,
    together: String,
}

struct TypeChoice {
    name: String,
    href: String,
    count: String,
    here: bool,
}

#[derive(Template)]
#[template(path = "admin/events.html")]
pub struct Explorer {
    frame: Frame,
    filter: Filter,
    types: Vec<TypeChoice>,
    rows: Vec<EventRow>,
    pager: Pager,
    /// What is shown, in a sentence.
    what: String,
    /// Which field says something that makes no sense, and why.
    trouble: Option<(&'static str, String)>,
    /// Whether anything was ever appended.
    any: bool,
}

/// What is to be shown.
enum Show {
    /// The newest of all.
    Newest,
    Found(Asked, (Option<Timestamp>, Option<Timestamp>)),
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Query(filter): Query<Filter>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let (types, _) = events::list_event_types(ctx, &PageRequest::first(TYPES_MAX)).await?;
    let (show, trouble) = match read(&filter, &types, ctx.now()) {
        Ok(Ok(aggregate)) => {
            // Of a stream the newest version is shown, if there is one.
            match events::version_at(ctx, aggregate, Timestamp::MAX).await {
                Ok(version) => return Ok(see_other(&stream_path(aggregate, version))),
                Err(events::Error::StreamNotFound { .. }) => {
                    (Show::Newest, Some(("stream", "There are no events of this aggregate.".to_owned())))
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Err(show)) => (show, None),
        Err(trouble) => (Show::Newest, Some(trouble)),
    };
    let mut page = turn.page(&visit)?;
    page.limit = ROWS;
    let what = words_of(&show, &filter);
    let found = match show {
        _ if trouble.is_some() => Ok((Vec::new(), None)),
        Show::Newest => newest(&visit, &page).await,
        Show::Found(asked, time) => {
            let search = Search::of(asked, time, &page, ctx.now())?;
            match search.run(ctx).await {
                Ok((found, next)) => Ok((found.events, next)),
                Err(events::Error::Invalid(invalid)) => {
                    let bad = invalid.fields.into_iter().next();
                    let bad = bad.map_or_else(Default::default, |bad| (bad.field, bad.problem));
                    let field = match bad.0.as_str() {
                        "event_type" => "type",
                        "from" => "from",
                        _ => "to",
                    };
                    Err((field, format!("This makes no sense: {}.", bad.1)))
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    let (found, trouble) = match found {
        Ok(found) => (found, trouble),
        Err(complaint) => ((Vec::new(), None), Some(complaint)),
    };
    let (rows, next) = found;
    let said = [
        ("type", filter.event_type.trim()),
        ("from", filter.from.trim()),
        ("to", filter.to.trim()),
        ("correlation", filter.correlation.trim()),
    ];
    let pager = turn.pager(&visit, PATH, &said, next);
    let any = !rows.is_empty() || pager.is_needed() || events::feed_position(ctx).await? > 0;
    let choice = |row: EventTypeCount| TypeChoice {
        here: row.event_type == filter.event_type.trim(),
        count: words::thousands(&row.events_count.to_string()),
        href: format!("{PATH}?type={}", next::encode(&row.event_type)),
        name: row.event_type,
    };
    let page = Explorer {
        types: types.into_iter().map(choice).collect(),
        rows: rows.into_iter().map(row).collect(),
        pager,
        what,
        any,
        frame,
        filter,
        trouble,
    };
    let is_refused = page.trouble.is_some();
    Ok(if is_refused { Html(page).refused() } else { Html(page).into_response() })
}

/// What is asked for: a stream, or a list. Else the field that makes no sense, and why.
fn read(
    filter: &Filter,
    types: &[EventTypeCount],
    now: Timestamp,
) -> Result<Result<AggregateId, Show>, (&'static str, String)> {
    let id = |field: &'static str, text: &str| -> Result<Uuid, (&'static str, String)> {
        let refused = |_| (field, format!("A {field} has an id as 0199a1b2-0000-7000-8000-000000000000."));
        text.trim().parse().map_err(refused)
    };
    if !filter.stream.trim().is_empty() {
        return id("stream", &filter.stream).map(|id| Ok(AggregateId(id)));
    }
    if !filter.correlation.trim().is_empty() {
        let asked = Asked::Correlation(id("correlation", &filter.correlation)?);
        return Ok(Err(Show::Found(asked, (None, None))));
    }
    let day = |field: &'static str, text: &str| -> Result<Option<Date>, (&'static str, String)> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let date: Option<Date> = text.parse().ok().filter(|date: &Date| date.in_range());
        date.map(Some).ok_or_else(|| (field, "A day is written as 2026-03-01.".to_owned()))
    };
    let (from, to) = (day("from", &filter.from)?, day("to", &filter.to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(("to", "The last day is before the first.".to_owned()));
    }
    let mut time = (
        from.map(|from| from.start()),
        // A day that is said is part of it.
        to.map(|to| Date::from_days(to.days() + 1).start()),
    );
    let name = filter.event_type.trim();
    if name.is_empty() {
        if from.is_none() && to.is_none() {
            return Ok(Err(Show::Newest));
        }
        return Ok(Err(Show::Found(Asked::All, time)));
    }
    // Of a type that is known one looks where it has events.
    if let Some(known) = types.iter().find(|known| known.event_type == name) {
        time.0 = time.0.or(Some(known.first_event_at));
        // Weeks without one are not looked through. What came in these days may not be counted yet.
        let end = known.last_event_at.plus_seconds(limits::EVENT_AHEAD_SECONDS);
        time.1 = time.1.or_else(|| (end.plus_seconds(WEEK_SECONDS) < now).then_some(end));
    }
    Ok(Err(Show::Found(Asked::Type(name.to_owned()), time)))
}

fn words_of(show: &Show, filter: &Filter) -> String {
    match show {
        Show::Newest => "The newest first, of all streams.".to_owned(),
        Show::Found(Asked::Type(name), _) => format!("{name}, the newest first."),
        Show::Found(Asked::Correlation(id), _) => format!("All that belongs to {id}, the oldest first."),
        Show::Found(Asked::All, _) => match (filter.from.trim(), filter.to.trim()) {
            ("", to) => format!("The week up to {to}, the oldest first."),
            (from, "") => format!("From {from} on, the oldest first."),
            (from, to) if from == to => format!("{from}, the oldest first."),
            (from, to) => format!("{from} to {to}, the oldest first."),
        },
    }
}

type Found = (Vec<FeedEvent>, Option<Cursor>);

/// The feed from its end. A cursor is the place of the last event that was shown.
async fn newest(visit: &Visit, page: &PageRequest) -> Result<Found, (&'static str, String)> {
    let ctx = &visit.ctx;
    let failed = |error: events::Error| {
        tracing::warn!(%error, "the feed could not be read");
        ("stream", "The events could not be read just now. Try again.".to_owned())
    };
    let end = match &page.cursor {
        Some(cursor) => cursor.as_str().parse::<i64>().unwrap_or(1),
        None => {
            events::sequence(ctx).await.map_err(failed)?;
            events::feed_position(ctx).await.map_err(failed)?.saturating_add(1)
        }
    };
    let after = (end - 1 - page.limit as i64).max(0);
    let count = usize::try_from(end - 1 - after).unwrap_or(0).min(page.limit);
    if count == 0 {
        return Ok((Vec::new(), None));
    }
    let mut found = events::feed(ctx, after, count).await.map_err(failed)?.events;
    found.reverse();
    Ok((found, (after > 0).then(|| Cursor::from((after + 1).to_string()))))
}

fn row(found: FeedEvent) -> EventRow {
    let event = found.event;
    EventRow {
        href: stream_path(event.aggregate_id, event.event_version),
        when: second(event.event_timestamp),
        stream: short(event.aggregate_id),
        version: event.event_version,
        position: found.position,
        data: json::cut(&event.event_data, DATA_CHARS_MAX),
        together: format!("{PATH}?correlation={}", next::encode(&event.correlation_id.to_string())),
        kind: event.aggregate_kind,
        event_type: event.event_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(filter: Filter) -> Option<&'static str> {
        read(&filter, &[], Timestamp::from_millis(0)).err().map(|(field, _)| field)
    }

    #[test]
    fn what_makes_no_sense_is_told_of_its_field() {
        let filter = Filter::default;
        assert_eq!(trouble(filter()), None);
        assert_eq!(trouble(Filter { stream: "x".into(), ..filter() }), Some("stream"));
        assert_eq!(trouble(Filter { correlation: "1-2".into(), ..filter() }), Some("correlation"));
        assert_eq!(trouble(Filter { from: "2026-02-30".into(), ..filter() }), Some("from"));
        let days = Filter { from: "2026-03-02".into(), to: "2026-03-01".into(), ..filter() };
        assert_eq!(trouble(days), Some("to"));
    }
}
