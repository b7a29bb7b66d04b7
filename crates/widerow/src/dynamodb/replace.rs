//! Rows of a shared table, replaced where they still stand as they were read: `UpdateItem` under a condition.
//!
//! Invariants: only attributes that differ are set or removed, so that what other tools keep beside the declared columns, and
//! what they wrote in another form, stays; an item that differs by now in what was read of it is left as it is. Instants are
//! not compared, as other tools write them in several forms.

use futures::{StreamExt as _, stream};

use super::{
    DynamoDb,
    error::{Repeat, Trouble, call},
    expression::Expression,
    item::{self, Address, Item, PK},
};
use crate::{
    derived::Derivation,
    engine::{Each, IndexRow, Write},
    error::{Error, Result},
    meter::{self, Cost},
    schema::Table,
    value::{Type, Value},
};

/// Items that are under way at the same time for one caller.
const ITEMS_AT_ONCE: usize = 16;

impl DynamoDb {
    pub(super) async fn replace(&self, each: Each<'_>, old: Vec<Vec<Value>>) -> Vec<Result<bool>> {
        let each = &each;
        let items: Vec<_> = each.writes.iter().zip(old).map(|(new, old)| self.replace_one(each, new, old)).collect();
        stream::iter(items).buffered(ITEMS_AT_ONCE).collect().await
    }

    async fn replace_one(&self, each: &Each<'_>, new: &Write, old: Vec<Value>) -> Result<bool> {
        let table = each.table;
        let Write::Put { values, expires_at, indexes, .. } = new else {
            return Err(Error::invalid(&table.name, "a row is replaced by a row"));
        };
        let before = indexed(each.derivations, &old)?;
        let before = item::row_attributes(each.tenant, table, &old, table.end_of(&old), &before)?;
        let after = item::row_attributes(each.tenant, table, values, *expires_at, indexes)?;
        let mut e = Expression::default();
        let mut conditions = vec![e.exists(PK)];
        for name in compared(table) {
            conditions.push(match before.get(name) {
                Some(value) => format!("{} = {}", e.name(name), e.value(value.clone())),
                None => e.missing(name),
            });
        }
        let changed = after.iter().filter(|(name, value)| before.get(*name) != Some(*value));
        let mut set: Vec<String> =
            changed.map(|(name, value)| format!("{} = {}", e.name(name), e.value(value.clone()))).collect();
        let removed: Vec<String> =
            before.keys().filter(|name| !after.contains_key(*name)).map(|name| e.name(name)).collect();
        // Where nothing differs, the condition is still to be looked at: by a write that changes nothing.
        if set.is_empty() && removed.is_empty() {
            set.push(format!("{} = {}", e.name(item::TENANT), e.value(item::text(each.tenant.as_str()))));
        }
        let clause = |word: &str, parts: &[String]| match parts {
            [] => String::new(),
            parts => format!("{word} {} ", parts.join(", ")),
        };
        let update = clause("SET", &set) + &clause("REMOVE", &removed);
        let address = Address::row(each.tenant, table, &values[..table.key_columns().min(values.len())])?;
        charge(&after);
        let request = self
            .client
            .update_item()
            .table_name(self.physical(table))
            .set_key(Some(address.key()))
            .update_expression(update)
            .condition_expression(conditions.join(" AND "))
            .set_expression_attribute_names(e.names())
            .set_expression_attribute_values(e.values());
        match call(self.limit, Repeat::IfNotExecuted, || request.clone().send()).await {
            Ok(_) => Ok(true),
            Err(Trouble::Refused(error)) if error.is_conditional_check_failed_exception() => Ok(false),
            Err(trouble) => Err(trouble.of_commit(&table.name, each.id)),
        }
    }
}

/// The attributes that tell whether an item is as it was.
fn compared(table: &Table) -> impl Iterator<Item = &str> {
    let columns = table.columns.iter().enumerate().filter(|(position, column)| {
        let end = table.ends == Some(*position);
        column.index_key.is_none() && (end || column.column_type != Type::Timestamp)
    });
    columns.map(|(_, column)| column.name.as_str())
}

fn indexed(derivations: &[Derivation], old: &[Value]) -> Result<Vec<IndexRow>> {
    let mut rows = Vec::new();
    for derivation in derivations {
        let table = derivation.derived;
        let derived = derivation.derive(old).map_err(|m| Error::mismatch(&table.name, m))?;
        rows.extend(derived.into_iter().map(|values| IndexRow { table, values }));
    }
    Ok(rows)
}

fn charge(item: &Item) {
    let (bytes_written, conditional_writes) = (item::bytes(item), 1);
    meter::charge(Cost {
        partitions_written: 1,
        rows_written: 1,
        bytes_written,
        conditional_writes,
        ..Cost::default()
    });
}
