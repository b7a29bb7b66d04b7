//! The records of one product, brought together: variants, pictures, the same item in several categories.

use std::sync::Arc;

use super::fields::Field;
use crate::flows::import::{
    amount::Unit,
    mapping::{Mapping, Plan},
    record::{Place, Record, Value},
};

/// A column of a product, with what each of its records has there. Never without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub field: Field,
    pub unit: Option<Unit>,
    /// By the number of the record among the product's own; empty values are left out.
    pub values: Vec<(usize, Value)>,
}

impl Column {
    pub fn first(&self) -> &Value {
        &self.values[0].1
    }

    /// What this record has here, or else the first that has anything.
    pub fn of(&self, record: usize) -> &Value {
        self.values.iter().find(|(i, _)| *i == record).map_or(self.first(), |(_, value)| value)
    }

    pub fn differs(&self) -> bool {
        self.values.iter().any(|(_, value)| value != self.first())
    }
}

/// Everything that a source has about one product.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    pub place: Place,
    pub records: usize,
    pub columns: Vec<Column>,
    /// Columns that are there, but empty.
    pub empty: Vec<Field>,
    /// What tells one variant from another: "Small / Red". None for a record that is no variant.
    pub labels: Vec<Option<String>>,
}

impl Gathered {
    /// The records are all of one product, in their order, and at least one.
    pub fn new(records: &[Record], mapping: &Mapping) -> Self {
        let mut gathered = Gathered {
            place: records.first().map_or(Place { record: 0, line: None }, |record| record.place),
            records: records.len(),
            columns: Vec::new(),
            empty: Vec::new(),
            labels: Vec::new(),
        };
        let mut plan: Option<(Arc<[String]>, Plan<Field>)> = None;
        for (i, record) in records.iter().enumerate() {
            // The rows of a table share their columns, and what these are.
            let fits = plan.as_ref().is_some_and(|(columns, _)| Arc::ptr_eq(columns, &record.columns));
            if !fits {
                plan = Some((record.columns.clone(), Plan::new(&record.columns, mapping)));
            }
            let Some((_, plan)) = &plan else { continue };
            let cells = record.columns.iter().zip(&record.values).zip(&plan.columns);
            for ((name, value), (field, unit)) in cells {
                if value.is_empty() {
                    gathered.empty.push(*field);
                    continue;
                }
                match gathered.columns.iter_mut().find(|column| column.name == *name) {
                    Some(column) => column.values.push((i, value.clone())),
                    None => gathered.columns.push(Column {
                        name: name.clone(),
                        field: *field,
                        unit: *unit,
                        values: vec![(i, value.clone())],
                    }),
                }
            }
            gathered.labels.push(label(record, plan));
        }
        gathered.empty.retain(|field| gathered.columns.iter().all(|column| column.field != *field));
        gathered
    }

    pub fn of(&self, field: Field) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| column.field == field)
    }

    pub fn first(&self, field: Field) -> Option<&Column> {
        self.of(field).next()
    }

    /// All that the records have in a column. What variants differ in is said with their labels.
    pub fn joined(&self, column: &Column) -> String {
        let variants = self.labels.iter().flatten().count();
        let by_variant =
            column.name.starts_with("Variant ") && column.values.iter().all(|(i, _)| self.labels[*i].is_some());
        let labelled = by_variant && (column.differs() || column.values.len() < variants);
        let mut parts: Vec<String> = Vec::new();
        for (i, value) in &column.values {
            let part = match self.labels[*i].as_ref().filter(|_| labelled) {
                Some(label) => format!("{label}: {}", value.text()),
                None => value.text(),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join(", ")
    }
}

fn label(record: &Record, plan: &Plan<Field>) -> Option<String> {
    let options = record.values.iter().zip(&plan.columns);
    let options = options.filter(|(value, (field, _))| matches!(field, Field::OptionValue(_)) && !value.is_empty());
    let values: Vec<String> = options.map(|(value, _)| value.text()).collect();
    (!values.is_empty()).then(|| values.join(" / "))
}
