//! What columns are to events.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventField {
    /// The source's own, unique in its case. Without such a column it follows from the record.
    Id,
    /// What the event is of: an id, or the source's own name.
    Case,
    Kind,
    Type,
    Time,
    /// All of the data, as JSON.
    Data,
    Schema,
    /// As JSON.
    Metadata,
    Causation,
    Correlation,
    /// A field of the data, under the column's name.
    Field,
    /// It is not wanted.
    LeftOut,
}

impl Fields for EventField {
    /// The names that process mining knows (XES) among them.
    const NAMED: &'static [Named<Self>] = &[
        (EventField::Id, "id", &["eventid", "conceptinstance", "id"]),
        (EventField::Case, "case", &["aggregateid", "caseconceptname", "caseid", "case", "streamid", "stream"]),
        (EventField::Kind, "kind", &["aggregatekind"]),
        (EventField::Type, "type", &["eventtype", "conceptname", "activity", "type"]),
        (EventField::Time, "time", &["eventtimestamp", "timetimestamp", "timestamp", "datetime", "time"]),
        (EventField::Data, "data", &["eventdata"]),
        (EventField::Schema, "schema", &["schemaversion"]),
        (EventField::Metadata, "metadata", &["eventmetadata"]),
        (EventField::Causation, "causation", &["causationid"]),
        (EventField::Correlation, "correlation", &["correlationid"]),
        (EventField::Field, "field", &[]),
    ];
    const ID: Self = EventField::Id;
    const NEEDED: &'static [Self] = &[EventField::Case, EventField::Type, EventField::Time];
    const HOMELESS: Self = EventField::Field;
    const LEFT_OUT: Self = EventField::LeftOut;
}
