//! The schema as CQL, and the comparison of the cluster's tables with it.
//!
//! Invariants: nothing is changed while anything stands in the way; only additions are made (keyspace, types, tables,
//! columns, fields, table options); what the server has beyond the schema is left alone.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use scylla::{
    statement::unprepared::Statement,
    value::{CqlValue, Row},
};

use super::{
    Cassandra,
    cql::{self, column_text, hidden_columns, inner_type_text, qualified, quote, type_text},
    failure::Failure,
};
use crate::{
    engine::SchemaReport,
    error::{Error, Result, SchemaError},
    schema::{Column, Direction, Kind, Schema, Table},
    time::Timestamp,
    value::StructType,
};

/// Changes of the schema wait for all nodes to agree.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(60);
const CHANGE_TRIES_MAX: u32 = 5;

/// The whole schema as CQL: keyspace, types, tables; each statement ends with ';' and a line break.
pub fn cql(schema: &Schema, keyspace: &str, replication: &str) -> String {
    let mut statements = vec![create_keyspace(keyspace, replication)];
    statements.extend(types(schema).into_iter().map(|def| create_type(keyspace, def)));
    statements.extend(schema.tables().map(|table| create_table(keyspace, table)));
    statements.into_iter().map(|statement| statement + ";\n").collect::<Vec<_>>().join("\n")
}

fn create_keyspace(keyspace: &str, replication: &str) -> String {
    format!("CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {replication}", quote(keyspace))
}

/// Types that others need come first.
fn types(schema: &Schema) -> Vec<&'static StructType> {
    let mut types: Vec<&StructType> = Vec::new();
    for def in schema.tables().flat_map(Table::struct_types) {
        if !types.iter().any(|known| known.name == def.name) {
            types.push(def);
        }
    }
    types
}

fn create_type(keyspace: &str, def: &StructType) -> String {
    let field = |(name, t)| format!("    {} {}", quote(name), inner_type_text(t, Some(keyspace)));
    let fields: Vec<_> = def.fields.iter().map(|(name, t)| field((name.as_str(), t))).collect();
    format!("CREATE TYPE IF NOT EXISTS {} (\n{}\n)", qualified(keyspace, &def.name), fields.join(",\n"))
}

pub(super) fn create_table(keyspace: &str, table: &Table) -> String {
    let mut lines = vec![format!("    {} text", cql::TENANT)];
    for column in &table.columns {
        lines.push(format!("    {}", column_definition(keyspace, table, column)));
    }
    for (name, t, is_static) in hidden_columns(table) {
        lines.push(format!("    {} {t}{}", quote(name), if is_static { " static" } else { "" }));
    }
    let partition: Vec<_> = std::iter::once(quote(cql::TENANT)).chain(names(table.partition())).collect();
    let key: Vec<_> = std::iter::once(format!("({})", partition.join(", ")))
        .chain(names(table.clustering()).map(String::from))
        .collect();
    lines.push(format!("    PRIMARY KEY ({})", key.join(", ")));
    let mut text =
        format!("CREATE TABLE IF NOT EXISTS {} (\n{}\n)", qualified(keyspace, &table.name), lines.join(",\n"));
    let options = options(table);
    if !options.is_empty() {
        text.push_str(" WITH ");
        text.push_str(&options.join("\n    AND "));
    }
    text
}

fn names(columns: &[Column]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    columns.iter().map(|c| quote(&c.name))
}

fn column_definition(keyspace: &str, table: &Table, column: &Column) -> String {
    let kind = if column.kind == Kind::Static { " static" } else { "" };
    format!("{} {}{kind}", quote(&column.name), column_text(table, column, Some(keyspace)))
}

fn options(table: &Table) -> Vec<String> {
    let mut options = Vec::new();
    if table.clustering_columns > 0 {
        let order = |(i, column): (usize, &Column)| {
            format!("{} {}", quote(&column.name), direction_text(table.direction(i)).to_uppercase())
        };
        let order: Vec<_> = table.clustering().iter().enumerate().map(order).collect();
        options.push(format!("CLUSTERING ORDER BY ({})", order.join(", ")));
    }
    options.extend(changeable_options(table).into_iter().map(|(name, value)| format!("{name} = {value}")));
    let doc = table.doc.split_whitespace().collect::<Vec<_>>().join(" ");
    if !doc.is_empty() {
        options.push(format!("comment = '{}'", doc.replace('\'', "''")));
    }
    options
}

fn changeable_options(table: &Table) -> Vec<(&'static str, u32)> {
    let ttl = table.ttl_seconds.map(|seconds| ("default_time_to_live", seconds));
    let grace = table.gc_grace_seconds.map(|seconds| ("gc_grace_seconds", seconds));
    ttl.into_iter().chain(grace).collect()
}

fn direction_text(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "asc",
        Direction::Descending => "desc",
    }
}

/// A column as the server has it.
#[derive(Clone, Debug)]
struct Found {
    kind: String,
    position: i32,
    order: String,
    type_text: String,
}

/// The keyspace as the server has it.
#[derive(Debug, Default)]
struct Keyspace {
    exists: bool,
    /// Of each type, its fields by name.
    types: HashMap<String, HashMap<String, String>>,
    /// Of each table, its columns by name.
    tables: HashMap<String, BTreeMap<String, Found>>,
    /// Of each table, those options that a table can declare.
    options: HashMap<String, HashMap<&'static str, i32>>,
}

/// What there is to do.
#[derive(Debug, Default)]
struct Plan {
    statements: Vec<String>,
    report: SchemaReport,
}

impl Cassandra {
    pub(super) async fn migrate_tables(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        let first = self.compare(schema, create).await?;
        if !create || !first.report.problems.is_empty() {
            // Nothing was made; what would have been is not reported.
            return Ok(SchemaReport { problems: first.report.problems, ..SchemaReport::default() });
        }
        let mut statements = first.statements;
        for tries in 1.. {
            let Err(error) = self.change_all(&statements).await else { break };
            // RACE: another process may have made the same additions a moment before; what is left is tried again.
            statements = self.compare(schema, create).await?.statements;
            if tries == CHANGE_TRIES_MAX && !statements.is_empty() {
                return Err(error);
            }
        }
        self.link.forget_prepared();
        Ok(first.report)
    }

    async fn change_all(&self, statements: &[String]) -> Result<()> {
        for statement in statements {
            self.change(statement.clone()).await?;
        }
        Ok(())
    }

    async fn compare(&self, schema: &Schema, create: bool) -> Result<Plan> {
        let found = self.find_keyspace().await?;
        let keyspace = &self.link.keyspace;
        let mut plan = Plan::default();
        if !found.exists {
            plan.statements.push(create_keyspace(keyspace, &self.replication));
        }
        for def in types(schema) {
            match found.types.get(&def.name) {
                Some(fields) => compare_type(keyspace, def, fields, create, &mut plan),
                None => plan.statements.push(create_type(keyspace, def)),
            }
        }
        for table in schema.tables() {
            match found.tables.get(&table.name) {
                Some(columns) => {
                    compare_table(keyspace, table, columns, create, &mut plan);
                    let there = found.options.get(&table.name);
                    for (name, value) in changeable_options(table) {
                        if there.and_then(|o| o.get(name)).is_none_or(|v| i64::from(*v) != i64::from(value)) {
                            let table = qualified(keyspace, &table.name);
                            plan.statements.push(format!("ALTER TABLE {table} WITH {name} = {value}"));
                        }
                    }
                }
                None => {
                    plan.statements.push(create_table(keyspace, table));
                    plan.report.created_tables.push(table.name.clone());
                    if !create {
                        plan.report.problems.push(SchemaError::Missing { table: table.name.clone() });
                    }
                }
            }
        }
        Ok(plan)
    }

    async fn find_keyspace(&self) -> Result<Keyspace> {
        let of =
            |table: &str, columns: &str| format!("SELECT {columns} FROM system_schema.{table} WHERE keyspace_name = ?");
        let mut found = Keyspace { exists: false, ..Keyspace::default() };
        found.exists = !self.ask(of("keyspaces", "keyspace_name")).await?.is_empty();
        for mut row in self.ask(of("types", "type_name, field_names, field_types")).await? {
            let (names, types) = (texts(&mut row, 1), texts(&mut row, 2));
            found.types.insert(text(&mut row, 0), names.into_iter().zip(types).collect());
        }
        for mut row in self.ask(of("tables", "table_name, default_time_to_live, gc_grace_seconds")).await? {
            let options = [("default_time_to_live", int(&row, 1)), ("gc_grace_seconds", int(&row, 2))];
            let name = text(&mut row, 0);
            found.options.insert(name.clone(), options.into());
            found.tables.insert(name, BTreeMap::new());
        }
        let columns = "table_name, column_name, kind, position, clustering_order, type";
        for mut row in self.ask(of("columns", columns)).await? {
            let position = int(&row, 3);
            let (kind, order, type_text) = (text(&mut row, 2), text(&mut row, 4), text(&mut row, 5));
            let column = Found { kind, position, order, type_text };
            let name = text(&mut row, 1);
            // Views have columns but are no tables.
            if let Some(table) = found.tables.get_mut(&text(&mut row, 0)) {
                table.insert(name, column);
            }
        }
        Ok(found)
    }

    /// Of the node that answers. None before the keyspace is there: a clock is asked for with a row, and this is one.
    pub(super) async fn read_clock(&self) -> Result<Option<Timestamp>> {
        let text = "SELECT toTimestamp(now()) FROM system_schema.keyspaces WHERE keyspace_name = ?";
        let rows = self.ask(text.to_owned()).await?;
        Ok(rows.first().and_then(|row| match row.columns.first() {
            Some(Some(CqlValue::Timestamp(time))) => Some(Timestamp::from_millis(time.0)),
            _ => None,
        }))
    }

    async fn ask(&self, text: String) -> Result<Vec<Row>> {
        let asked = self.link.session.query_unpaged(text, (&self.link.keyspace,));
        let result = tokio::time::timeout(self.link.request_timeout * 2, asked)
            .await
            .map_err(|_| Error::unavailable("the server does not tell its schema"))?
            .map_err(|e| Failure::of(&e).into_schema_error(self.link.request_timeout))?;
        let unreadable = |e: String| Error::corrupt("system_schema", e);
        let rows = result.into_rows_result().map_err(|e| unreadable(e.to_string()))?;
        let rows = rows.rows::<Row>().map_err(|e| unreadable(e.to_string()))?;
        rows.collect::<Result<_, _>>().map_err(|e| unreadable(e.to_string()))
    }

    async fn change(&self, text: String) -> Result<()> {
        let mut statement = Statement::new(text);
        statement.set_request_timeout(Some(CHANGE_TIMEOUT));
        let changed = self.link.session.query_unpaged(statement, ());
        tokio::time::timeout(CHANGE_TIMEOUT * 2, changed)
            .await
            .map_err(|_| Error::TimedOut { after: CHANGE_TIMEOUT * 2, detail: "a change of the schema".into() })?
            .map_err(|e| Failure::of(&e).into_schema_error(CHANGE_TIMEOUT))?;
        Ok(())
    }
}

fn compare_type(keyspace: &str, def: &StructType, fields: &HashMap<String, String>, create: bool, plan: &mut Plan) {
    for (name, t) in &def.fields {
        match fields.get(name) {
            None => {
                let (of, t) = (qualified(keyspace, &def.name), inner_type_text(t, Some(keyspace)));
                plan.statements.push(format!("ALTER TYPE {of} ADD {} {t}", quote(name)));
                add_column(&def.name, name, create, plan);
            }
            Some(found) => compare_types(&def.name, name, &inner_type_text(t, None), found, plan),
        }
    }
}

fn compare_table(keyspace: &str, table: &Table, columns: &BTreeMap<String, Found>, create: bool, plan: &mut Plan) {
    compare_keys(table, columns, plan);
    let others = table.others().iter();
    let declared = others.map(|c| {
        let (named, compared) = (column_text(table, c, Some(keyspace)), column_text(table, c, None));
        (c.name.as_str(), named, compared, c.kind == Kind::Static)
    });
    let hidden = hidden_columns(table).into_iter();
    let hidden = hidden.map(|(name, t, is_static)| (name, t.to_owned(), t.to_owned(), is_static));
    for (name, named, compared, is_static) in declared.chain(hidden) {
        let kind = if is_static { "static" } else { "regular" };
        match columns.get(name) {
            None => {
                let suffix = if is_static { " static" } else { "" };
                let of = qualified(keyspace, &table.name);
                plan.statements.push(format!("ALTER TABLE {of} ADD {} {named}{suffix}", quote(name)));
                add_column(&table.name, name, create, plan);
            }
            Some(found) if found.kind != kind => {
                lossy(&table.name, name, format!("it is {} there and {kind} as declared", found.kind), plan);
            }
            Some(found) => compare_types(&table.name, name, &compared, &found.type_text, plan),
        }
    }
}

/// Keys can never be changed, not even added to.
fn compare_keys(table: &Table, columns: &BTreeMap<String, Found>, plan: &mut Plan) {
    let partition = table.partition().iter().map(|c| (c.name.as_str(), type_text(&c.column_type, None), "none"));
    let partition = std::iter::once((cql::TENANT, "text".to_owned(), "none")).chain(partition);
    let clustering = table.clustering().iter().enumerate();
    let clustering =
        clustering.map(|(i, c)| (c.name.as_str(), type_text(&c.column_type, None), direction_text(table.direction(i))));
    let partition = partition.enumerate().map(|(i, c)| ("partition_key", i, c));
    let clustering = clustering.enumerate().map(|(i, c)| ("clustering", i, c));
    let mut declared = Vec::new();
    for (kind, position, (name, t, order)) in partition.chain(clustering) {
        declared.push(name);
        match columns.get(name) {
            None => lossy(&table.name, name, format!("the table has no such {kind} column"), plan),
            Some(found) if found.kind != kind || i64::from(found.position) != position as i64 => {
                let there = format!("it is {} column {} there", found.kind, found.position);
                lossy(&table.name, name, format!("{there} and {kind} column {position} as declared"), plan);
            }
            Some(found) if found.order != order => {
                lossy(&table.name, name, format!("its order is {} there and {order} as declared", found.order), plan);
            }
            Some(found) => compare_types(&table.name, name, &t, &found.type_text, plan),
        }
    }
    for (name, found) in columns {
        let in_key = matches!(found.kind.as_str(), "partition_key" | "clustering");
        if in_key && !declared.contains(&name.as_str()) {
            lossy(&table.name, name, format!("it is a {} column there and not declared as one", found.kind), plan);
        }
    }
}

fn compare_types(table: &str, column: &str, declared: &str, found: &str, plan: &mut Plan) {
    // Which names are quoted differs from server to server.
    let plain = |text: &str| text.replace([' ', '"'], "");
    if plain(declared) != plain(found) {
        lossy(table, column, format!("it is of type {found} there and {declared} as declared"), plan);
    }
}

fn lossy(table: &str, column: &str, problem: String, plan: &mut Plan) {
    plan.report.problems.push(SchemaError::Lossy { table: table.into(), column: column.into(), problem });
}

fn add_column(table: &str, column: &str, create: bool, plan: &mut Plan) {
    plan.report.added_columns.push((table.into(), column.into()));
    if !create {
        plan.report.problems.push(SchemaError::Missing { table: format!("{table}, column {column}") });
    }
}

fn text(row: &mut Row, column: usize) -> String {
    match row.columns.get_mut(column).and_then(Option::take) {
        Some(CqlValue::Text(text) | CqlValue::Ascii(text)) => text,
        _ => String::new(),
    }
}

fn texts(row: &mut Row, column: usize) -> Vec<String> {
    let Some(CqlValue::List(items)) = row.columns.get_mut(column).and_then(Option::take) else { return Vec::new() };
    let text = |item| match item {
        CqlValue::Text(text) | CqlValue::Ascii(text) => Some(text),
        _ => None,
    };
    items.into_iter().filter_map(text).collect()
}

fn int(row: &Row, column: usize) -> i32 {
    match row.columns.get(column) {
        Some(Some(CqlValue::Int(n))) => *n,
        _ => 0,
    }
}
