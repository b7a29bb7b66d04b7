//! Expressions for DynamoDB: aliases for names and values, and guards as conditions.
//!
//! Invariant: every name is an alias (`ttl` and many others are reserved words), every constant a placeholder.

use std::{cmp::Ordering, collections::HashMap};

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    convert,
    item::{EXPIRES_AT, LIVE, PK, TTL, VERSION, number},
    key,
};
use crate::{
    engine::{Condition, Operator},
    error::{Error, Result},
    schema::{Column, Table},
    time::Timestamp,
    value::{Type, Value},
};

/// The names and values of one request.
#[derive(Clone, Debug, Default)]
pub struct Expression {
    names: Vec<String>,
    values: Vec<AttributeValue>,
}

impl Expression {
    pub fn name(&mut self, name: &str) -> String {
        let at = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        format!("#n{at}")
    }

    pub fn value(&mut self, value: AttributeValue) -> String {
        self.values.push(value);
        format!(":v{}", self.values.len() - 1)
    }

    pub fn exists(&mut self, name: &str) -> String {
        format!("attribute_exists({})", self.name(name))
    }

    pub fn missing(&mut self, name: &str) -> String {
        format!("attribute_not_exists({})", self.name(name))
    }

    /// DynamoDB refuses empty maps.
    pub fn names(&self) -> Option<HashMap<String, String>> {
        let names = self.names.iter().enumerate().map(|(i, n)| (format!("#n{i}"), n.clone()));
        (!self.names.is_empty()).then(|| names.collect())
    }

    pub fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        let values = self.values.iter().enumerate().map(|(i, v)| (format!(":v{i}"), v.clone()));
        (!self.values.is_empty()).then(|| values.collect())
    }

    /// The row is there and has not expired.
    pub fn live(&mut self, table: &Table, now: Timestamp) -> String {
        let mut there = self.exists(PK);
        if table.clustering_columns == 0 {
            let (live, yes) = (self.name(LIVE), self.value(AttributeValue::Bool(true)));
            let foreign = self.missing(VERSION);
            there = format!("{there} AND ({live} = {yes} OR {foreign})");
        }
        if table.counters {
            return there;
        }
        let (end, ttl) = (self.name(EXPIRES_AT), self.name(TTL));
        let millis = self.value(number(now.millis()));
        // `ttl` is whole seconds, so it is above the instant if it is above the second that the instant lies in.
        let seconds = self.value(number(now.millis().div_euclid(1000)));
        format!(
            "{there} AND ({end} > {millis} OR (attribute_not_exists({end}) AND (attribute_not_exists({ttl}) OR {ttl} > {seconds})))"
        )
    }

    /// A guard as a condition on the row's item, or, on static columns, on the bookkeeping item.
    pub fn guard(&mut self, table: &Table, key: &[Value], condition: &Condition, now: Timestamp) -> Result<String> {
        Ok(match condition {
            Condition::Absent => format!("NOT ({})", self.live(table, now)),
            Condition::Present => self.live(table, now),
            Condition::Compare { column, operator, value } => {
                let live = self.live(table, now);
                // Key cells are known, and items of others may lack their attributes.
                let compared = match key.get(*column) {
                    Some(cell) => self.constant(operator.holds(cell, value)),
                    None => self.compare(table, *column, *operator, value)?,
                };
                format!("{live} AND ({compared})")
            }
            Condition::CompareStatic { column, operator, value } => self.compare(table, *column, *operator, value)?,
        })
    }

    fn constant(&mut self, holds: bool) -> String {
        let (exists, missing) = (self.exists(PK), self.missing(PK));
        if holds { format!("{exists} OR {missing}") } else { format!("{exists} AND {missing}") }
    }

    fn compare(&mut self, table: &Table, column: usize, operator: Operator, value: &Value) -> Result<String> {
        let column = table.columns.get(column).ok_or_else(|| Error::invalid(&table.name, "no such column"))?;
        let Some(attribute) = convert::attribute(&column.column_type, value) else {
            return Ok(match operator {
                Operator::Equal => self.missing(&column.name),
                Operator::NotEqual => self.exists(&column.name),
                _ => self.constant(false),
            });
        };
        // DynamoDB refuses names that no expression uses, so what is known beforehand comes first.
        if matches!(value, Value::Double(d) if d.is_nan()) {
            return Ok(self.constant(operator == Operator::NotEqual));
        }
        let fitting =
            |bound: &bool| [false, true].into_iter().filter(|cell| holds(operator, cell.cmp(bound))).collect();
        let fitting: Vec<bool> = if let Value::Boolean(bound) = value { fitting(bound) } else { vec![true] };
        if fitting.is_empty() {
            return Ok(self.constant(false));
        }
        let name = self.name(&column.name);
        Ok(match (operator, value) {
            // Zero has two forms here: a number, and the text of minus zero.
            (Operator::Equal | Operator::NotEqual, Value::Double(d)) if *d == 0.0 => {
                let plus = self.value(AttributeValue::N("0".into()));
                let minus = self.value(AttributeValue::S("-0.0".into()));
                let equal = format!("{name} IN ({plus}, {minus})");
                if operator == Operator::Equal { equal } else { format!("NOT ({equal})") }
            }
            (Operator::Equal, _) => format!("{name} = {}", self.value(attribute)),
            (Operator::NotEqual, _) => {
                format!("attribute_not_exists({name}) OR {name} <> {}", self.value(attribute))
            }
            // DynamoDB does not order booleans.
            (_, Value::Boolean(_)) => {
                let fitting: Vec<String> = fitting.iter().map(|b| self.value(AttributeValue::Bool(*b))).collect();
                format!("{name} IN ({})", fitting.join(", "))
            }
            (_, value) if !ordered(column, value) => {
                return Err(Error::invalid(
                    crate::key::field(table, column),
                    "DynamoDB has no order for this value; compare it for equality",
                ));
            }
            (Operator::Less, _) => format!("{name} < {}", self.value(attribute)),
            (Operator::LessOrEqual, _) => format!("{name} <= {}", self.value(attribute)),
            (Operator::Greater, _) => format!("{name} > {}", self.value(attribute)),
            (Operator::GreaterOrEqual, _) => format!("{name} >= {}", self.value(attribute)),
        })
    }

    /// The condition on the keys of a query; None for a range that holds nothing.
    pub fn keys(&mut self, pk_name: &str, pk: &str, sort: Option<(&str, &key::SortRange)>) -> Option<String> {
        let condition = format!("{} = {}", self.name(pk_name), self.value(AttributeValue::S(pk.to_owned())));
        let Some((sk_name, range)) = sort else { return Some(condition) };
        let sk = self.name(sk_name);
        let mut text = |t: &str| self.value(AttributeValue::S(t.to_owned()));
        let lower = text(&range.lower);
        Some(match &range.upper {
            None => format!("{condition} AND {sk} >= {lower}"),
            Some(upper) => match upper.cmp(&range.lower) {
                Ordering::Less => return None,
                Ordering::Equal => format!("{condition} AND {sk} = {lower}"),
                Ordering::Greater => format!("{condition} AND {sk} BETWEEN {lower} AND {}", text(upper)),
            },
        })
    }
}

fn holds(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
    }
}

fn ordered(column: &Column, value: &Value) -> bool {
    match value {
        Value::Double(d) => convert::is_number(*d) || *d == 0.0,
        _ => column.column_type.orders_in_keys() || column.column_type == Type::Counter,
    }
}
