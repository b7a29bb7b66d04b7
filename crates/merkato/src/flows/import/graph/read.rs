//! Records and lines as connections.

use std::{
    collections::BTreeMap,
    io::{Read, Seek},
    ops::ControlFlow,
    sync::Arc,
};

use rust_decimal::Decimal;
use widerow::Timestamp;

use super::{
    fields::GraphField,
    ops::{Found, GraphOptions, person_of},
};
use crate::{
    flows::import::{
        clean,
        error::Result,
        mapping::Plans,
        record::{Item, Place, Record, Value},
        source::{self, Each},
        time,
    },
    graph::{ConnectionType, Edge, NewConnection},
};

/// Of a list of edges.
pub(super) fn is_remark(line: &str) -> bool {
    line.is_empty() || line.starts_with(['#', '%'])
}

/// The fields of a line: between commas, semicolons or tabs if it has any, otherwise between spaces.
pub(super) fn fields(line: &str) -> Vec<&str> {
    match [',', ';', '\t'].into_iter().find(|delimiter| line.contains(*delimiter)) {
        Some(delimiter) => line.split(delimiter).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// The records of a source, whichever layout it has.
pub(super) fn read(input: &mut (impl Read + Seek), options: &GraphOptions, each: &mut Each<'_>) -> Result<()> {
    if options.has_edges(&source::beginning(input)?) {
        read_edges(input, each)
    } else {
        source::read(input, options.format, each)
    }
}

fn read_edges(input: &mut (impl Read + Seek), each: &mut Each<'_>) -> Result<()> {
    let mut columns: Option<Arc<[String]>> = None;
    let mut record = 0;
    source::lines(input, &mut |number, line| {
        if line.is_some_and(is_remark) {
            return ControlFlow::Continue(());
        }
        record += 1;
        let place = Place { record, line: Some(number) };
        let Some(line) = line else { return each(Item::Bad(place, "it is not UTF-8".into())) };
        let fields = fields(line);
        if columns.is_none() {
            let named: Arc<[String]> = (1..=fields.len()).map(|n| n.to_string()).collect();
            columns = Some(named.clone());
            each(Item::Columns(named))?;
        }
        let columns = columns.clone().unwrap_or_default();
        if fields.len() != columns.len() {
            let reason = format!("it has {} fields, the first line has {}", fields.len(), columns.len());
            return each(Item::Bad(place, reason));
        }
        let values = fields.into_iter().map(|field| Value::Text(field.to_owned())).collect();
        each(Item::Record(Record { place, columns, values }))
    })
}

/// Reads records of one source.
pub(super) struct Reading {
    options: GraphOptions,
    plans: Plans<GraphField>,
}

impl Reading {
    pub fn new(options: GraphOptions) -> Self {
        Reading { plans: Plans::new(options.mapping.clone()), options }
    }

    /// The connection, or why there is none. Whether it can be made is the domain's to say.
    pub fn connection(&mut self, record: &Record) -> Result<Found, String> {
        let plan = self.plans.of(&record.columns);
        let line = |field: GraphField| {
            let value = plan.position(field).and_then(|i| record.values.get(i)).filter(|value| !value.is_empty());
            value.map(|value| clean::line(&value.text())).filter(|text| !text.is_empty())
        };
        let number = |field: GraphField, name: &str| {
            let read = |text: String| text.parse::<Decimal>().map_err(|_| format!("{name}: {text} is no number"));
            line(field).map(read).transpose()
        };
        let from = line(GraphField::From).ok_or("it does not say who")?;
        let to = line(GraphField::To).ok_or("it does not say with whom")?;
        let connection_type = match line(GraphField::Type) {
            Some(name) => ConnectionType::parse(&name.to_lowercase()).map_err(|error| error.to_string())?,
            None => self.options.connection_type,
        };
        let mut metadata = BTreeMap::new();
        for ((column, value), (field, _)) in record.columns.iter().zip(&record.values).zip(&plan.columns) {
            if *field == GraphField::Metadata && !value.is_empty() {
                metadata.insert(clean::line(column), clean::lines(&value.text()));
            }
        }
        let mut strength = number(GraphField::Strength, "strength")?;
        if let Some(rating) = number(GraphField::Rating, "rating")? {
            let (least, most) = self.options.ratings;
            if !(least..=most).contains(&rating) {
                return Err(format!("rating: {rating} is not {least} to {most}"));
            }
            metadata.insert("rating".into(), rating.to_string());
            strength = strength.or(Some((rating - least) / (most - least)));
        }
        let created_at = line(GraphField::Time).map(|text| self.time(&text)).transpose()?;
        let (user, other) = (person_of(&self.options.source, &from), person_of(&self.options.source, &to));
        let new = NewConnection { strength, metadata: Some(metadata), created_at };
        Ok(Found { place: record.place, id: format!("{from} {to}"), edge: Edge { user, connection_type, other, new } })
    }

    /// As people write it, or in seconds since 1970 as programs do.
    fn time(&self, text: &str) -> Result<Timestamp, String> {
        match text.parse::<f64>() {
            Ok(seconds) => {
                let time = Timestamp::from_millis((seconds * 1_000.0) as i64);
                Some(time).filter(|time| time.in_range()).ok_or_else(|| format!("{text} is no time"))
            }
            Err(_) => time::read(text, self.options.dates),
        }
    }
}
