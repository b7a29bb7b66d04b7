//! A record as an event.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};
use uuid::Uuid;

use super::{fields::EventField, ops::EventOptions};
use crate::{
    events::NewEvent,
    flows::import::{
        clean, ids,
        mapping::Plans,
        record::{Record, Value},
        time,
    },
    id::{AggregateId, EventId},
};

/// Reads records of one source, in its order.
pub(super) struct Reading {
    options: EventOptions,
    plans: Plans<EventField>,
    /// How many records said the same so far, where the source has no ids.
    same: HashMap<Uuid, u32>,
}

/// An event of a record, and what it is of.
pub(super) struct Read {
    pub case: String,
    pub aggregate_id: AggregateId,
    pub kind: String,
    pub event_id: EventId,
    pub new: NewEvent,
}

impl Reading {
    pub fn new(options: EventOptions) -> Self {
        Reading { plans: Plans::new(options.mapping.clone()), options, same: HashMap::new() }
    }

    /// The event, or why it is none. Whether it can be taken is the domain's to say.
    pub fn event(&mut self, record: &Record) -> Result<Read, String> {
        let plan = self.plans.of(&record.columns);
        let cells = || plan.columns.iter().zip(&record.values).zip(&*record.columns);
        let cells = || cells().filter(|((_, value), _)| !value.is_empty());
        let value = |field| cells().find(|(((known, _), _), _)| *known == field).map(|((_, value), _)| value);
        let line = |field| value(field).map(|value| clean::line(&value.text())).filter(|text| !text.is_empty());
        let case = line(EventField::Case).ok_or("it names no case")?;
        let aggregate_id = case.parse().unwrap_or_else(|_| ids::aggregate(&self.options.source, &case));
        let event_type = line(EventField::Type).ok_or("it has no type")?;
        let at = line(EventField::Time).ok_or("it has no time")?;
        let at = time::read(&at, self.options.dates)?;
        let mut data = match value(EventField::Data) {
            Some(text) => object(&text.text()).ok_or("its data is no object of JSON")?,
            None => Map::new(),
        };
        for (((field, _), value), column) in cells() {
            if *field == EventField::Field {
                data.insert(column.clone(), json(value));
            }
        }
        let uuid = |field| match line(field) {
            Some(text) => text.parse::<Uuid>().map(Some).map_err(|_| format!("{text} is no id")),
            None => Ok(None),
        };
        let mut new = NewEvent::new(event_type, Json::Object(data));
        new.at = Some(at);
        new.causation_id = uuid(EventField::Causation)?;
        new.correlation_id = uuid(EventField::Correlation)?;
        if let Some(text) = line(EventField::Schema) {
            new.schema_version = text.parse().map_err(|_| format!("{text} is no version of a schema"))?;
        }
        if let Some(text) = value(EventField::Metadata) {
            new.metadata = serde_json::from_str(&text.text()).map_err(|_| "its metadata is no object of texts")?;
        }
        let event_id = match line(EventField::Id) {
            Some(id) => id.parse().unwrap_or_else(|_| ids::event(aggregate_id, &id)),
            None => {
                let said = format!("{}\u{1f}{}\u{1f}{}", new.event_type, at.millis(), new.data);
                let first = ids::event(aggregate_id, &said);
                let same = self.same.entry(first.0).or_default();
                *same += 1;
                if *same == 1 { first } else { ids::event(aggregate_id, &format!("{said}\u{1f}{same}")) }
            }
        };
        let kind = line(EventField::Kind).unwrap_or_else(|| self.options.kind.clone());
        Ok(Read { case, aggregate_id, kind, event_id, new: new.with_id(event_id) })
    }
}

fn object(text: &str) -> Option<Map<String, Json>> {
    match serde_json::from_str(text).ok()? {
        Json::Object(fields) => Some(fields),
        _ => None,
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Text(text) => Json::String(text.clone()),
        // As the program wrote it; what JSON takes for no number stays a text.
        Value::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.clone())),
        Value::List(items) => items.iter().cloned().map(Json::String).collect(),
    }
}
