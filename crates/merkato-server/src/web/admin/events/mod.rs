//! Events: looked for, replayed stream by stream, and the read models that follow them.

mod explorer;
mod json;
mod projections;
mod stream;
mod wallet;

use merkato::{
    id::AggregateId,
    keys::Scope::{EventsRead, EventsWrite, WalletsRead},
};
use widerow::Timestamp;

use crate::{
    http::access::Access::Staff,
    web::{admin::desk::said, pages::pages},
};

pages! {
    get "/admin/events" (Staff(EventsRead)) => explorer::show;
    get "/admin/events/streams/{aggregate_id}" (Staff(EventsRead)) => stream::show;
    get "/admin/events/projections" (Staff(EventsRead)) => projections::show;
    post "/admin/events/projections/{name}/rebuild" (Staff(EventsWrite)) => projections::rebuild;
    get "/admin/wallets/{user_id}" (Staff(WalletsRead)) => wallet::show;
}

const PATH: &str = "/admin/events";

/// The page of a stream at a version.
fn stream_path(aggregate: AggregateId, version: i64) -> String {
    format!("{PATH}/streams/{aggregate}?version={version}")
}

/// The beginning of an id, for people who compare two of them.
fn short(id: impl std::fmt::Display) -> String {
    let id = id.to_string();
    // The last part of an id that begins with its time is by chance.
    let tail = id.get(id.len().saturating_sub(6)..).unwrap_or(&id);
    format!("{}…{tail}", id.get(..4).unwrap_or_default())
}

/// `15 Nov 2026, 21:05:07`, in UTC: of many events one minute says too little.
fn second(at: Timestamp) -> String {
    let seconds = at.to_string().get(16..19).unwrap_or_default().to_owned();
    said::moment(at) + &seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ids_are_short_and_told_apart() {
        assert_eq!(second("2026-11-15T21:05:07.123Z".parse().unwrap()), "15 Nov 2026, 21:05:07");
        assert_eq!(short("0199a1b2-0000-7000-8000-00000000abcd"), "0199…00abcd");
    }
}
