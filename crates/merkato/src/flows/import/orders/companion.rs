//! Other files that tell more about the lines: of their orders, their products, their customers. They are held in memory.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{Read, Seek},
    ops::ControlFlow,
    sync::Arc,
};

use crate::{
    check::Invalid,
    flows::import::{
        error::{Error, Result},
        record::{Item, Place, Record, Value},
        source::{self, Format},
    },
    limits,
};

/// A file whose records are joined to the lines: its columns stand behind the line's own.
#[derive(Clone, Debug)]
pub struct Companion<R> {
    /// What it is called in the report.
    pub name: String,
    pub input: R,
    pub format: Format,
    /// Its own column by which it is joined; no two of its records should have the same there.
    pub column: String,
    /// The column of the lines, or of a companion before this one, that has the same.
    pub joins: String,
}

impl<R> Companion<R> {
    /// Joined by a column that has one name in both.
    pub fn new(name: impl Into<String>, input: R, column: impl Into<String>) -> Self {
        let column = column.into();
        Companion { name: name.into(), input, format: Format::Auto, joins: column.clone(), column }
    }

    pub fn joining(self, column: impl Into<String>) -> Self {
        Companion { joins: column.into(), ..self }
    }
}

/// Shared by the rows of a table.
type Columns = Arc<[String]>;

/// A companion that was read.
struct Held {
    name: String,
    column: String,
    joins: String,
    /// Of a table; objects have columns of their own.
    heading: Option<Heading>,
    /// All columns that it has but the one by which it is joined.
    columns: Vec<String>,
    rows: HashMap<String, Row>,
}

struct Heading {
    whole: Columns,
    /// All but the column by which it is joined, which the line has already.
    rest: Columns,
}

struct Row {
    columns: Columns,
    values: Vec<Value>,
    joined: bool,
}

impl Held {
    fn heading(&self) -> Columns {
        self.heading.as_ref().map(|heading| heading.rest.clone()).unwrap_or_default()
    }

    fn rest(&self, columns: &Columns) -> Columns {
        match &self.heading {
            Some(heading) if Arc::ptr_eq(&heading.whole, columns) => heading.rest.clone(),
            _ => columns.iter().filter(|column| **column != self.column).cloned().collect(),
        }
    }
}

#[derive(Default)]
pub(super) struct Companions {
    held: Vec<Held>,
    /// What was wrong with them.
    pub notes: Vec<String>,
    bytes: usize,
    /// The columns of a joined record, by the columns of its parts: tables share them.
    joined: Option<(Vec<Columns>, Columns)>,
}

impl Companions {
    pub fn read<R: Read + Seek>(companions: Vec<Companion<R>>) -> Result<Self> {
        let mut all = Companions::default();
        for companion in companions {
            all.hold(companion)?;
        }
        Ok(all)
    }

    fn hold<R: Read + Seek>(&mut self, companion: Companion<R>) -> Result<()> {
        let Companion { name, mut input, format, column, joins } = companion;
        let mut held = Held { name, column, joins, heading: None, columns: Vec::new(), rows: HashMap::new() };
        let mut refused = None;
        source::read(&mut input, format, &mut |item| match self.keep(&mut held, item) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                refused = Some(error);
                ControlFlow::Break(())
            }
        })?;
        self.held.push(held);
        refused.map_or(Ok(()), Err)
    }

    fn keep(&mut self, held: &mut Held, item: Item) -> Result<()> {
        let name = &held.name;
        let Record { place, columns, mut values } = match item {
            Item::Columns(columns) => {
                if !columns.contains(&held.column) {
                    let problem = format!("{name} has no column {}; there are: {}", held.column, columns.join(", "));
                    return Err(Invalid::new("companions", problem).into());
                }
                let rest = held.rest(&columns);
                held.columns = rest.to_vec();
                held.heading = Some(Heading { rest, whole: columns });
                return Ok(());
            }
            Item::Bad(place, reason) => {
                self.notes.push(format!("{name}, record {}: {reason}", place.record));
                return Ok(());
            }
            Item::Record(record) => record,
        };
        let at = columns.iter().position(|column| *column == held.column);
        let key = at.map(|at| values.remove(at).text().trim().to_owned()).filter(|key| !key.is_empty());
        let Some(key) = key else {
            self.notes.push(format!("{name}, record {}: it has no {}", place.record, held.column));
            return Ok(());
        };
        self.bytes += key.len() + values.iter().map(bytes).sum::<usize>();
        let most = limits::IMPORT_COMPANIONS_BYTES_MAX;
        if self.bytes > most {
            return Err(Error::unreadable(format!("the companions take more than {most} bytes, up to {name}")));
        }
        let columns = held.rest(&columns);
        if held.heading.is_none() {
            let new: Vec<String> = columns.iter().filter(|column| !held.columns.contains(column)).cloned().collect();
            held.columns.extend(new);
        }
        match held.rows.entry(key) {
            Entry::Vacant(free) => _ = free.insert(Row { columns, values, joined: false }),
            Entry::Occupied(first) => {
                let key = first.key();
                self.notes
                    .push(format!("{name}, record {}: {key} is there before, and that one is taken", place.record));
            }
        }
        Ok(())
    }

    /// The columns of a line that has all its companions.
    pub fn columns(&self, of_lines: &[String]) -> Vec<String> {
        let mut all = of_lines.to_vec();
        for held in &self.held {
            all = behind(&all, [(held.name.as_str(), &held.columns[..])].into_iter());
        }
        all
    }

    /// Refuses companions that nothing of the lines leads to.
    pub fn check(&self, of_lines: &[String]) -> Result<(), Invalid> {
        let mut known = of_lines.to_vec();
        for held in &self.held {
            if !known.contains(&held.joins) {
                let all = known.join(", ");
                let problem =
                    format!("{} is joined by {}, which there is not; there are: {all}", held.name, held.joins);
                return Err(Invalid::new("companions", problem));
            }
            known = behind(&known, [(held.name.as_str(), &held.columns[..])].into_iter());
        }
        Ok(())
    }

    /// The line with what its companions have about it, and what of them is missing.
    pub fn join(&mut self, line: Record) -> (Record, Vec<String>) {
        if self.held.is_empty() {
            return (line, Vec::new());
        }
        let Record { place, columns, mut values } = line;
        let mut parts = vec![columns];
        let mut missing = Vec::new();
        for held in &mut self.held {
            let key = value(&parts, &values, &held.joins).map(|value| value.text().trim().to_owned());
            let key = key.filter(|key| !key.is_empty());
            match key.as_ref().and_then(|key| held.rows.get_mut(key)) {
                Some(row) => {
                    row.joined = true;
                    parts.push(row.columns.clone());
                    values.extend(row.values.iter().cloned());
                }
                None => {
                    missing.extend(key.map(|key| format!("{} does not have {key}", held.name)));
                    let columns = held.heading();
                    values.extend(columns.iter().map(|_| Value::Text(String::new())));
                    parts.push(columns);
                }
            }
        }
        let columns = self.joined_columns(parts);
        (Record { place, columns, values }, missing)
    }

    fn joined_columns(&mut self, parts: Vec<Columns>) -> Columns {
        if let Some((of, joined)) = &self.joined
            && of.len() == parts.len()
            && of.iter().zip(&parts).all(|(a, b)| Arc::ptr_eq(a, b))
        {
            return joined.clone();
        }
        let names = self.held.iter().map(|held| held.name.as_str());
        let further = parts.iter().skip(1).map(|columns| &columns[..]);
        let first = parts.first().map(|columns| &columns[..]).unwrap_or_default();
        let joined: Columns = behind(first, names.zip(further)).into();
        self.joined = Some((parts, joined.clone()));
        joined
    }

    /// Ids of orders that a companion has, and that no line has named.
    pub fn never_joined(&self, id_column: Option<&str>) -> Vec<String> {
        let of_orders = self.held.iter().filter(|held| Some(held.joins.as_str()) == id_column);
        let never = of_orders.flat_map(|held| {
            let rows = held.rows.iter().filter(|(_, row)| !row.joined);
            rows.map(|(key, _)| format!("{}: {key} has no lines", held.name))
        });
        let mut never: Vec<String> = never.collect();
        never.sort_unstable();
        never
    }

    pub fn take_notes(&mut self) -> Vec<(Place, String)> {
        std::mem::take(&mut self.notes).into_iter().map(|note| (Place::NOWHERE, note)).collect()
    }
}

/// The columns, and behind them those of others; one whose name is taken is called by the name of its file too.
fn behind<'a>(first: &[String], others: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<String> {
    let mut all = first.to_vec();
    for (name, columns) in others {
        for column in columns {
            let taken = all.contains(column);
            all.push(if taken { format!("{name}.{column}") } else { column.clone() });
        }
    }
    all
}

/// What stands in a column of the parts that are joined so far.
fn value<'v>(parts: &[Columns], values: &'v [Value], column: &str) -> Option<&'v Value> {
    let at = parts.iter().flat_map(|columns| columns.iter()).position(|name| name == column);
    values.get(at?)
}

fn bytes(value: &Value) -> usize {
    let texts = match value {
        Value::Text(text) | Value::Number(text) => text.len(),
        Value::List(items) => items.iter().map(String::len).sum(),
    };
    texts + size_of::<Value>()
}
