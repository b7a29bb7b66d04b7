//! What is done with events.

mod append;
mod event_types;
mod feed;
mod lists;
mod project;
mod sequence;
mod snapshots;
mod state;
mod stream;
mod verify;

pub use append::{AppendRequest, Appended, Change, Changed, append, change, find_known, tell};
pub use event_types::{EventTypes, list_event_types};
pub use feed::{FeedEvent, FeedPage, feed, feed_position, follow};
pub use lists::{
    EventPlace, ListedEvents, TimePage, TimeRange, list_events_by_time, list_events_by_type, list_events_of_correlation,
};
pub use project::{
    Projected, ProjectionStatus, generation_of, list_projections, project, project_all, rebuild_projection,
};
pub(super) use sequence::Turn;
pub use sequence::{Sequencing, sequence, sequence_all};
pub use snapshots::{SnapshotsTaken, take_snapshot, take_snapshots};
pub use state::{Replayed, state_at, state_from_scratch, state_now};
pub use stream::{Direction, ReadStream, StreamPage, find_stream, get_stream, list_events, version_at};
pub use verify::{EventFault, EventsVerified, verify};
