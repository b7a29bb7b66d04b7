//! What a step does to items: writes, guards and bookkeeping, merged into one action for each item.
//!
//! Invariant: no item has two actions, because DynamoDB refuses a transaction that names an item twice.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::{
    DynamoDb,
    expression::Expression,
    item::{self, Address, Item, PK, number},
};
use crate::{
    engine::{Condition, Expect, Guarded, RawGuard, Step, Version, Write},
    error::{Error, Result},
    key::Tenant,
    limits,
    schema::{Kind, Table},
    time::Timestamp,
    value::Value,
};

/// What happens to one item.
#[derive(Debug)]
pub enum Change {
    Check,
    Put(Item),
    Delete,
    /// Attributes are set and removed, the others stay.
    Update(Update),
}

#[derive(Clone, Debug, Default)]
pub struct Update {
    set: BTreeMap<String, AttributeValue>,
    remove: BTreeSet<String>,
    /// A number that goes up by one, from nothing to one.
    count: Option<&'static str>,
}

/// One action of a transaction.
#[derive(Debug)]
pub struct Action {
    pub table: &'static Table,
    pub address: Address,
    pub change: Change,
    /// The row itself is written here, not only its bookkeeping.
    row: bool,
    pub conditions: Vec<String>,
    pub expression: Expression,
    /// Positions of the guards among the conditions.
    pub guards: Vec<usize>,
}

/// The actions of a step, one for each item.
#[derive(Debug, Default)]
pub struct Plan {
    pub actions: Vec<Action>,
    places: BTreeMap<(String, Address), usize>,
    /// Where the bookkeeping of the guarded partition is.
    pub book: Option<usize>,
    /// The bookkeeping of the partitions that are founded.
    pub founded: Vec<usize>,
}

impl Action {
    fn update(&mut self, change: impl FnOnce(&mut Update)) {
        let mut update = match &mut self.change {
            Change::Update(update) => std::mem::take(update),
            _ => Update::default(),
        };
        change(&mut update);
        self.change = Change::Update(update);
    }

    fn set(&mut self, name: impl Into<String>, value: AttributeValue) {
        let name = name.into();
        self.update(|u| {
            u.remove.remove(&name);
            u.set.insert(name, value);
        });
    }

    fn remove(&mut self, name: impl Into<String>) {
        let name = name.into();
        self.update(|u| {
            u.set.remove(&name);
            u.remove.insert(name);
        });
    }

    /// A write that no guard stands over still moves the version on: what was read before is no longer so, and an item
    /// without a version would be taken for another tool's row.
    fn outdate(&mut self, under_guard: bool) {
        if !under_guard {
            self.update(|u| u.count = Some(item::VERSION));
        }
    }

    pub fn check(&mut self, condition: impl FnOnce(&mut Expression) -> String) {
        let condition = condition(&mut self.expression);
        self.conditions.push(condition);
    }

    pub fn condition(&self) -> Option<String> {
        let joined: Vec<String> = self.conditions.iter().map(|c| format!("({c})")).collect();
        (!joined.is_empty()).then(|| joined.join(" AND "))
    }

    /// `SET … REMOVE …`, with the aliases of the conditions and its own.
    pub fn update_text(&self, update: &Update) -> (String, Expression) {
        let mut e = self.expression.clone();
        let set = update.set.iter();
        let mut clauses: Vec<String> =
            set.map(|(name, value)| format!("{} = {}", e.name(name), e.value(value.clone()))).collect();
        if let Some(count) = update.count {
            let (name, zero, one) = (e.name(count), e.value(number(0)), e.value(number(1)));
            clauses.push(format!("{name} = if_not_exists({name}, {zero}) + {one}"));
        }
        let removed: Vec<String> = update.remove.iter().map(|name| e.name(name)).collect();
        let mut text = String::new();
        if !clauses.is_empty() {
            text = format!("SET {}", clauses.join(", "));
        }
        if !removed.is_empty() {
            text = format!("{text} REMOVE {}", removed.join(", "));
        }
        (text, e)
    }

    pub fn bytes(&self) -> u64 {
        let content: u64 = match &self.change {
            Change::Put(item) => item::bytes(item),
            Change::Update(update) => item::bytes(&update.set),
            _ => 0,
        };
        content + (self.address.pk.len() + self.address.sk.as_ref().map_or(0, String::len)) as u64
    }
}

impl Plan {
    pub fn action(&mut self, table: &'static Table, address: Address) -> usize {
        *self.places.entry((table.name.clone(), address.clone())).or_insert_with(|| {
            self.actions.push(Action {
                table,
                address,
                change: Change::Check,
                row: false,
                conditions: Vec::new(),
                expression: Expression::default(),
                guards: Vec::new(),
            });
            self.actions.len() - 1
        })
    }

    /// Adds a write to a step that is guarded on that partition, if on any.
    pub fn write(&mut self, db: &DynamoDb, tenant: &Tenant, write: &Write, guarded: Option<&Guarded>) -> Result<()> {
        let table = write.table();
        if table.index.is_some() {
            return Err(Error::invalid(&table.name, "it is an index and is written with its base table"));
        }
        // The row's item also holds the bookkeeping and must not be replaced as a whole.
        let under_guard = guarded.is_some_and(|g| g.table.name == table.name && g.partition == write.partition());
        self.write_items(db, tenant, write, under_guard)
    }

    /// Adds the items of a partition that must not be there yet. Its bookkeeping has an outbox entry if the commit has one.
    pub fn found(
        &mut self,
        db: &DynamoDb,
        tenant: &Tenant,
        write: &Write,
        version: i64,
        entry: Option<(Uuid, i64)>,
    ) -> Result<()> {
        let Write::Found { table, partition, writes } = write else {
            return Err(Error::Engine { detail: "a founding that founds nothing".into() });
        };
        writes.iter().try_for_each(|w| self.write_items(db, tenant, w, true))?;
        let at = self.action(table, Address::bookkeeping(tenant, table, partition)?);
        self.founded.push(at);
        let action = &mut self.actions[at];
        action.set(item::VERSION, number(version));
        action.set(item::SEQUENCE, number(1));
        if let Some((id, bucket)) = entry {
            action.set(outbox_name(id), number(bucket));
        }
        action.check(|e| e.missing(PK));
        Ok(())
    }

    fn write_items(&mut self, db: &DynamoDb, tenant: &Tenant, write: &Write, under_guard: bool) -> Result<()> {
        let table = write.table();
        let in_place = table.clustering_columns == 0 && (table.guarded || under_guard);
        match write {
            Write::Put { values, expires_at, indexes, .. } => {
                let mut attributes = item::row_attributes(tenant, table, values, *expires_at, indexes)?;
                let address = Address::row(tenant, table, &values[..table.key_columns().min(values.len())])?;
                let at = self.action(table, address);
                let action = &mut self.actions[at];
                action.row = true;
                if in_place {
                    row_names(db, table).for_each(|name| action.remove(name));
                    attributes.into_iter().for_each(|(name, value)| action.set(name, value));
                    action.set(item::LIVE, AttributeValue::Bool(true));
                    action.outdate(under_guard);
                } else {
                    attributes.extend(action.address.key());
                    action.change = Change::Put(attributes);
                }
                let statics = table.columns.iter().zip(&**values).enumerate();
                let statics = statics.filter(|(_, (c, v))| c.kind == Kind::Static && !v.is_null());
                let cells: Vec<(usize, Value)> = statics.map(|(i, (_, v))| (i, v.clone())).collect();
                self.statics(tenant, table, write.partition(), &cells)
            }
            Write::SetStatics { partition, cells, .. } => self.statics(tenant, table, partition, cells),
            Write::Delete { key, .. } => {
                let at = self.action(table, Address::row(tenant, table, key)?);
                let action = &mut self.actions[at];
                action.row = true;
                if in_place {
                    row_names(db, table).for_each(|name| action.remove(name));
                    action.remove(item::LIVE);
                    action.outdate(under_guard);
                } else {
                    action.change = Change::Delete;
                }
                Ok(())
            }
            Write::DeleteRange { .. } => {
                Err(Error::invalid(&table.name, "DynamoDB deletes rows one by one, not by ranges"))
            }
            Write::Found { .. } => Err(Error::invalid(&table.name, "a partition is founded by a guarded step only")),
        }
    }

    fn statics(
        &mut self,
        tenant: &Tenant,
        table: &'static Table,
        partition: &[Value],
        cells: &[(usize, Value)],
    ) -> Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        let at = self.action(table, Address::bookkeeping(tenant, table, partition)?);
        for (column, value) in cells {
            let column = table.columns.get(*column).ok_or_else(|| Error::invalid(&table.name, "no such column"))?;
            match super::convert::attribute(&column.column_type, value) {
                Some(attribute) => self.actions[at].set(&column.name, attribute),
                None => self.actions[at].remove(&column.name),
            }
        }
        Ok(())
    }

    pub fn guard(&mut self, tenant: &Tenant, guarded: &Guarded, position: usize, now: Timestamp) -> Result<()> {
        let RawGuard { clustering, condition } = &guarded.guards[position];
        let address = match condition {
            Condition::CompareStatic { .. } => Address::bookkeeping(tenant, guarded.table, &guarded.partition)?,
            _ => Address::row(tenant, guarded.table, &[&guarded.partition[..], clustering].concat())?,
        };
        let key = [&guarded.partition[..], clustering].concat();
        let at = self.action(guarded.table, address);
        let action = &mut self.actions[at];
        let text = action.expression.guard(guarded.table, &key, condition, now)?;
        action.conditions.push(text);
        action.guards.push(position);
        Ok(())
    }

    /// The bookkeeping of the guarded partition: the version moves on under the condition that it is as expected.
    pub fn bookkeeping(&mut self, step: &Step<'_>, guarded: &Guarded, next: i64, adopt: bool) -> Result<()> {
        let table = guarded.table;
        let at = self.action(table, Address::bookkeeping(step.tenant, table, &guarded.partition)?);
        self.book = Some(at);
        let action = &mut self.actions[at];
        action.set(item::VERSION, number(next));
        match guarded.expect {
            Some(Expect { version, sequence, .. }) => {
                let sequence = sequence.saturating_add(1);
                action.set(item::SEQUENCE, number(sequence));
                let slot = sequence.rem_euclid(limits::RING_SLOTS);
                action.set(format!("{}{slot}", item::RING), item::id_attribute(step.id));
                action.check(|e| match version {
                    Some(Version(v)) => format!("{} = {}", e.name(item::VERSION), e.value(number(v))),
                    None => e.missing(item::VERSION),
                });
            }
            None => {
                action.update(|u| u.count = Some(item::SEQUENCE));
                let seen = seen_name(step.id);
                action.set(&seen, item::id_attribute(step.id));
                action.check(|e| {
                    format!("{} OR {} < {}", e.missing(item::VERSION), e.name(item::VERSION), e.value(number(next)))
                });
                action.check(|e| {
                    format!("{} OR {} <> {}", e.missing(&seen), e.name(&seen), e.value(item::id_attribute(step.id)))
                });
            }
        }
        if let Some((entry, bucket)) = guarded.outbox {
            action.set(outbox_name(entry), number(bucket));
        }
        // A row that another tool wrote is told by having no version; before it gets one it must be marked as there.
        if table.clustering_columns == 0 && !action.row {
            if adopt {
                action.set(item::LIVE, AttributeValue::Bool(true));
                action.check(|e| format!("{} AND {}", e.exists(PK), e.missing(item::VERSION)));
            } else {
                action.check(|e| format!("{} OR {}", e.exists(item::VERSION), e.missing(PK)));
            }
        }
        Ok(())
    }
}

/// The attributes of a row besides its keys and its bookkeeping.
fn row_names<'t>(db: &'t DynamoDb, table: &'t Table) -> impl Iterator<Item = String> + 't {
    let indexes = db.indexes(table).flat_map(|(_, index)| {
        let (pk, sk) = item::index_keys(index);
        [Some(pk), sk].into_iter().flatten()
    });
    let columns = table.columns.iter().map(|c| c.name.clone());
    columns.chain([item::TENANT, item::EXPIRES_AT, item::TTL].map(str::to_owned)).chain(indexes)
}

pub fn outbox_name(id: Uuid) -> String {
    format!("{}{id}", item::OUTBOX)
}

fn seen_name(id: Uuid) -> String {
    let slot = crate::codec::fingerprint(id.as_bytes()) % limits::RING_SLOTS.unsigned_abs();
    format!("{}{slot}", item::SEEN)
}

/// The client token: the same for the same request, another for another. The commit's id alone will not do, because a
/// commit may be sent again with another version expected, and DynamoDB refuses other content under a known token.
pub fn token(step: &Step<'_>, next: i64, adopt: bool) -> String {
    let mut content = Vec::new();
    let guarded = step.guarded.as_ref().map(|g| (&g.table.name, &g.partition, g.expect, &g.guards, g.outbox));
    content.extend_from_slice(format!("{} {next} {adopt} {} {guarded:?}", step.tenant, step.now).as_bytes());
    step.writes.iter().for_each(|w| put_write(&mut content, w));
    token_of(step.id, &content)
}

pub fn token_of(id: Uuid, content: &[u8]) -> String {
    let print = u128::from(crate::codec::fingerprint(content));
    format!("{:032x}", id.as_u128() ^ (print << 64 | print))
}

pub fn put_write(content: &mut Vec<u8>, write: &Write) {
    content.extend_from_slice(write.table().name.as_bytes());
    match write {
        Write::Put { values, expires_at, indexes, .. } => {
            crate::codec::put_values(content, values);
            content.extend_from_slice(format!("{expires_at:?}").as_bytes());
            indexes.iter().for_each(|i| crate::codec::put_values(content, &i.values));
        }
        Write::SetStatics { partition, cells, .. } => {
            crate::codec::put_values(content, partition);
            content.extend_from_slice(format!("{cells:?}").as_bytes());
        }
        Write::Delete { key, .. } => {
            content.push(b'-');
            crate::codec::put_values(content, key);
        }
        Write::DeleteRange { .. } => {}
        Write::Found { writes, .. } => {
            content.push(b'+');
            writes.iter().for_each(|w| put_write(content, w));
        }
    }
}
