//! The catalog: which tables the folder holds, with the number of each table and column. Numbers are never used again.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use fjall::{Database, Keyspace, PersistMode};
use foldhash::fast::RandomState;

use super::{ahead, engine_error, row::Layout};
use crate::{
    codec::{Malformed, Reader, put_bytes, put_length},
    engine::SchemaReport,
    error::{Error, Result, SchemaError},
    schema::{Kind, Schema, Table},
};

/// Where the catalog says in which form the folder is; no table has such a name.
pub(super) const FORMAT_KEY: &[u8] = b"\0format";
/// The heads of partitions are one entry each, with the row of those that have one row.
pub(super) const FORMAT: u8 = 2;

/// Whether this version can read the folder. One that is empty is made for it.
pub(super) fn check_format(db: &Database, catalog: &Keyspace) -> Result<()> {
    match catalog.get(FORMAT_KEY).map_err(engine_error)? {
        Some(format) if *format == [FORMAT] => Ok(()),
        None if catalog.iter().next().is_none() => {
            let mut batch = db.batch().durability(Some(PersistMode::SyncData));
            batch.insert(catalog, FORMAT_KEY, [FORMAT]);
            batch.commit().map_err(engine_error)
        }
        _ => {
            let detail = "the folder was written by another version, in a form that this one cannot read: export it with that \
                          version, and import it into a new folder";
            Err(Error::Engine { detail: detail.into() })
        }
    }
}

/// A table as the folder knows it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stored {
    id: u16,
    /// Name, number, type with all nested fields, and the role in the key.
    columns: Vec<(String, u16, String, String)>,
    /// Rows may stand packed, and are not found by who takes the table for a plain one.
    series: bool,
    /// Its partitions have one row, in their head. It is decided when the table is made, and stays so.
    alone: bool,
}

/// What the last byte of a table says.
const SERIES: u8 = 1;
const ALONE: u8 = 2;

impl Stored {
    fn encode(&self) -> Vec<u8> {
        let mut out = self.id.to_be_bytes().to_vec();
        put_length(&mut out, self.columns.len());
        for (name, id, column_type, role) in &self.columns {
            put_bytes(&mut out, name.as_bytes());
            out.extend_from_slice(&id.to_be_bytes());
            put_bytes(&mut out, column_type.as_bytes());
            put_bytes(&mut out, role.as_bytes());
        }
        let flag = |is_so: bool, flag: u8| if is_so { flag } else { 0 };
        out.push(flag(self.series, SERIES) | flag(self.alone, ALONE));
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let number = |reader: &mut Reader<'_>| Ok(u16::from_be_bytes([reader.byte()?, reader.byte()?]));
        let id = number(&mut reader)?;
        let columns = (0..reader.length()?).map(|_| {
            let name = reader.text()?.to_owned();
            let id = number(&mut reader)?;
            Ok((name, id, reader.text()?.to_owned(), reader.text()?.to_owned()))
        });
        let columns = columns.collect::<Result<_, Malformed>>()?;
        let flags = reader.byte()?;
        Ok(Stored { id, columns, series: flags & SERIES != 0, alone: flags & ALONE != 0 })
    }
}

/// Where a column stands: what must not change, for the bytes of keys depend on it.
fn role(table: &Table, position: usize) -> String {
    match table.columns[position].kind {
        Kind::Partition => format!("partition {position}"),
        Kind::Clustering(direction) => format!("clustering {position} {direction:?}"),
        Kind::Static => "static".into(),
        Kind::Regular => "regular".into(),
    }
}

/// A type with the fields of its nested structs. Fields may be added at the end: the text then begins with the old one,
/// its closing parenthesis aside.
fn signature(t: &crate::value::Type) -> String {
    use crate::value::Type;
    match t {
        Type::Struct(def) => {
            let fields: Vec<_> = def.fields.iter().map(|(n, t)| format!("{n} {}", signature(t))).collect();
            format!("{}({})", def.name, fields.join(","))
        }
        Type::List(item) => format!("list {}", signature(item)),
        Type::Set(item) => format!("set {}", signature(item)),
        Type::Map(key, item) => format!("map {} {}", signature(key), signature(item)),
        plain => plain.to_string(),
    }
}

fn extends(new: &str, old: &str) -> bool {
    new == old || old.strip_suffix(')').is_some_and(|open| new.strip_prefix(open).is_some_and(|r| r.starts_with(',')))
}

/// The tables that are in the folder.
#[derive(Default)]
pub(super) struct Tables {
    /// Those that are declared, and have all their columns.
    pub layouts: HashMap<String, Arc<Layout>, RandomState>,
    /// The numbers of those whose rows stand in the heads of their partitions, declared or not.
    pub alone: BTreeSet<u16>,
}

/// Compares, and with `create` makes what is missing, if nothing would be lost. The tables are those that are there afterwards.
pub(super) fn migrate(
    db: &Database,
    catalog: &Keyspace,
    schema: &Schema,
    create: bool,
    ahead: &ahead::Handle,
) -> Result<(SchemaReport, Tables)> {
    let mut stored = BTreeMap::new();
    for entry in catalog.iter() {
        let (name, bytes) = entry.into_inner().map_err(engine_error)?;
        if name == FORMAT_KEY {
            continue;
        }
        let name = String::from_utf8(name.to_vec()).map_err(|e| Error::corrupt("the catalog", e))?;
        let table = Stored::decode(&bytes).map_err(|e| Error::corrupt("the catalog", e))?;
        stored.insert(name, table);
    }
    let mut report = SchemaReport::default();
    let mut next_id = stored.values().map(|t| t.id + 1).max().unwrap_or(1);
    let mut wanted = BTreeMap::new();
    for table in schema.tables() {
        let old = stored.get(&table.name);
        if old.is_none() {
            report.created_tables.push(table.name.clone());
        }
        let mut new = old.cloned().unwrap_or_else(|| {
            next_id += 1;
            Stored { id: next_id - 1, alone: table.guarded && table.clustering_columns == 0, ..Stored::default() }
        });
        compare(table, &mut new, old, &mut report);
        wanted.insert(table.name.clone(), (table, new));
    }
    if !create {
        let missing = report.created_tables.drain(..).map(|table| SchemaError::Missing { table });
        let added: Vec<_> = report.added_columns.drain(..).collect();
        report.problems.extend(missing);
        wanted.retain(|name, _| stored.contains_key(name) && !added.iter().any(|(t, _)| t == name));
        for (table, column) in added {
            report.problems.push(SchemaError::Declaration {
                table,
                problem: format!("column {column} is not there; migrate first"),
            });
        }
    } else if !report.problems.is_empty() {
        return Ok((SchemaReport { problems: report.problems, ..SchemaReport::default() }, Tables::default()));
    } else {
        let mut batch = db.batch().durability(Some(PersistMode::SyncData));
        let mut bytes = 0;
        for (name, (_, table)) in wanted.iter().filter(|(name, (_, table))| stored.get(*name) != Some(table)) {
            let encoded = table.encode();
            bytes += name.len() + encoded.len();
            batch.insert(catalog, name.as_bytes(), encoded);
        }
        let _begun = ahead.begin(ahead::batch_bytes(batch.len(), bytes));
        batch.commit().map_err(engine_error)?;
    }
    let declared = wanted.values().map(|(_, table)| table);
    let alone = stored.values().chain(declared).filter(|table| table.alone).map(|table| table.id).collect();
    let layouts = wanted.into_iter().map(|(name, (table, stored))| {
        let id_of = |name: &str| stored.columns.iter().find(|c| c.0 == name).map_or(0, |c| c.1);
        let ids = table.columns.iter().map(|c| id_of(&c.name)).collect();
        (name, Arc::new(Layout::new(table, stored.id, ids, stored.alone)))
    });
    Ok((report, Tables { layouts: layouts.collect(), alone }))
}

fn compare(table: &'static Table, new: &mut Stored, old: Option<&Stored>, report: &mut SchemaReport) {
    let lossy = |column: &str, problem: String| SchemaError::Lossy {
        table: table.name.clone(),
        column: column.to_owned(),
        problem,
    };
    if new.series && !table.series {
        let problem = "its rows are kept packed, as those of a series: declare it `series`".into();
        report.problems.push(SchemaError::Declaration { table: table.name.clone(), problem });
    }
    new.series = table.series;
    if new.alone && (table.series || table.shared || table.counters) {
        let problem =
            "its rows stand in the heads of guarded partitions: make a new table for what is to be kept otherwise"
                .into();
        report.problems.push(SchemaError::Declaration { table: table.name.clone(), problem });
    }
    let mut next_column = new.columns.iter().map(|c| c.1 + 1).max().unwrap_or(0);
    for (position, column) in table.columns.iter().enumerate() {
        let (declared, role) = (signature(&column.column_type), role(table, position));
        match new.columns.iter_mut().find(|c| c.0 == column.name) {
            Some(found) => {
                if !extends(&declared, &found.2) {
                    report.problems.push(lossy(&column.name, format!("its type is {}, not {declared}", found.2)));
                } else if found.3 != role {
                    report.problems.push(lossy(&column.name, format!("it is {}, not {role}", found.3)));
                } else {
                    found.2 = declared;
                }
            }
            None => {
                if old.is_some() {
                    if position < table.key_columns() {
                        report.problems.push(lossy(&column.name, "the key has no such column".into()));
                        continue;
                    }
                    report.added_columns.push((table.name.clone(), column.name.clone()));
                }
                new.columns.push((column.name.clone(), next_column, declared, role));
                next_column += 1;
            }
        }
    }
    for (name, _, _, role) in &new.columns {
        let in_key = role.starts_with("partition") || role.starts_with("clustering");
        if in_key && table.position(name).is_none() {
            report.problems.push(lossy(name, "the key has this column, the declaration has not".into()));
        }
    }
}
