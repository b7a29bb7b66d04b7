//! Rows as records of a file, and back: every column by its name, exactly.
//!
//! In JSON, numbers are numbers, amounts are texts, times are RFC 3339, bytes are base64, a user-defined type is an object. In
//! CSV, a cell has the text itself; what is no text is written as in JSON, and so is a text that is empty or begins with a
//! quote, so that an empty cell means nothing at all.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::ValueEnum;
use rust_decimal::Decimal;
use serde_json::{Map, Value as Json, json};
use widerow::{
    Row,
    schema::Table,
    value::{Type, Value},
};

/// A record: its columns by name.
pub(super) type Record = Map<String, Json>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// An object a line
    #[default]
    Ndjson,
    /// A table with a heading
    Csv,
}

/// A row as a record.
pub(super) fn record<R: Row>(row: &R) -> Record {
    values_record(R::table(), &row.to_values())
}

pub(super) fn values_record(table: &Table, values: &[Value]) -> Record {
    table
        .columns
        .iter()
        .zip(values)
        .map(|(column, value)| (column.name.clone(), to_json(&column.column_type, value)))
        .collect()
}

/// The row that a record says. A column that is not there is nothing.
pub(super) fn row<R: Row>(record: &Record) -> Result<R, String> {
    let mut values = Vec::new();
    for column in &R::table().columns {
        let json = record.get(&column.name).unwrap_or(&Json::Null);
        values.push(from_json(&column.column_type, json).map_err(|problem| format!("{}: {problem}", column.name))?);
    }
    R::from_values(values).map_err(|mismatch| mismatch.to_string())
}

fn to_json(of: &Type, value: &Value) -> Json {
    match (of, value) {
        (_, Value::Null) => Json::Null,
        (_, Value::Text(text)) => json!(text),
        (_, Value::Int(number)) => json!(number),
        (_, Value::BigInt(number) | Value::Counter(number)) => json!(number),
        (_, Value::Double(number)) => json!(number),
        (_, Value::Boolean(truth)) => json!(truth),
        (_, Value::Decimal(amount)) => json!(amount.to_string()),
        (_, Value::Uuid(id)) => json!(id.to_string()),
        (_, Value::Timestamp(time)) => json!(time.to_string()),
        (_, Value::Date(date)) => json!(date.to_string()),
        (_, Value::Blob(bytes)) => json!(BASE64_STANDARD.encode(bytes)),
        (_, Value::Vector(floats)) => json!(floats),
        (Type::List(item) | Type::Set(item), Value::List(items) | Value::Set(items)) => {
            items.iter().map(|value| to_json(item, value)).collect()
        }
        (Type::Map(key, item), Value::Map(entries)) => {
            entries.iter().map(|(name, value)| (key_text(&to_json(key, name)), to_json(item, value))).collect()
        }
        (Type::Struct(def), Value::Struct(fields)) => {
            def.fields.iter().zip(fields).map(|((name, of), value)| (name.clone(), to_json(of, value))).collect()
        }
        (_, Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Struct(_)) => Json::Null,
    }
}

fn key_text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn from_json(of: &Type, json: &Json) -> Result<Value, String> {
    let wrong = || format!("{json} is no {of}");
    let text = || json.as_str().ok_or_else(wrong);
    let whole = || json.as_i64().ok_or_else(wrong);
    if json.is_null() {
        return Ok(Value::Null);
    }
    Ok(match of {
        Type::Text => Value::Text(text()?.to_owned()),
        Type::Int => Value::Int(i32::try_from(whole()?).map_err(|_| wrong())?),
        Type::BigInt => Value::BigInt(whole()?),
        Type::Counter => Value::Counter(whole()?),
        Type::Double => Value::Double(json.as_f64().ok_or_else(wrong)?),
        Type::Boolean => Value::Boolean(json.as_bool().ok_or_else(wrong)?),
        Type::Decimal => Value::Decimal(text()?.parse::<Decimal>().map_err(|_| wrong())?),
        Type::Uuid => Value::Uuid(text()?.parse().map_err(|_| wrong())?),
        Type::Timestamp => Value::Timestamp(text()?.parse().map_err(|_| wrong())?),
        Type::Date => Value::Date(text()?.parse().map_err(|_| wrong())?),
        Type::Blob => Value::Blob(BASE64_STANDARD.decode(text()?).map_err(|_| wrong())?),
        Type::Vector(_) => {
            let floats =
                json.as_array().ok_or_else(wrong)?.iter().map(|float| float.as_f64().map(|float| float as f32));
            Value::Vector(floats.collect::<Option<_>>().ok_or_else(wrong)?)
        }
        Type::List(item) | Type::Set(item) => {
            let items = json.as_array().ok_or_else(wrong)?.iter().map(|json| from_json(item, json));
            let items: Vec<Value> = items.collect::<Result<_, _>>()?;
            if matches!(of, Type::List(_)) { Value::List(items) } else { Value::Set(items) }
        }
        Type::Map(key, item) => {
            let entry = |(name, json): (&String, &Json)| Ok((from_text(key, name)?, from_json(item, json)?));
            Value::Map(json.as_object().ok_or_else(wrong)?.iter().map(entry).collect::<Result<_, String>>()?)
        }
        Type::Struct(def) => {
            let object = json.as_object().ok_or_else(wrong)?;
            let field = |(name, of): &(String, Type)| from_json(of, object.get(name).unwrap_or(&Json::Null));
            Value::Struct(def.fields.iter().map(field).collect::<Result<_, _>>()?)
        }
    })
}

/// A key of a map, which JSON has as a text, whatever it is.
fn from_text(of: &Type, text: &str) -> Result<Value, String> {
    let is_text = !matches!(of, Type::Int | Type::BigInt | Type::Boolean);
    let json = if is_text { json!(text) } else { serde_json::from_str(text).map_err(|error| error.to_string())? };
    from_json(of, &json)
}

/// Writes records, one after the other.
pub(super) struct Writer<W: Write> {
    out: Out<W>,
    columns: Vec<String>,
}

enum Out<W: Write> {
    Ndjson(W),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> Writer<W> {
    pub(super) fn new(format: Format, columns: Vec<String>, out: W) -> anyhow::Result<Self> {
        let out = match format {
            Format::Ndjson => Out::Ndjson(out),
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(&columns)?;
                Out::Csv(Box::new(csv))
            }
        };
        Ok(Writer { out, columns })
    }

    pub(super) fn write(&mut self, record: &Record) -> anyhow::Result<()> {
        match &mut self.out {
            Out::Ndjson(out) => {
                serde_json::to_writer(&mut *out, record).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
            }
            Out::Csv(csv) => {
                csv.write_record(self.columns.iter().map(|name| cell(record.get(name).unwrap_or(&Json::Null))))?;
            }
        }
        Ok(())
    }

    pub(super) fn end(self) -> anyhow::Result<()> {
        match self.out {
            Out::Ndjson(mut out) => out.flush()?,
            Out::Csv(mut csv) => csv.flush()?,
        }
        Ok(())
    }
}

fn cell(json: &Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::String(text) if !text.is_empty() && !text.starts_with('"') => text.clone(),
        other => other.to_string(),
    }
}

/// What a cell of a column says; texts are those that the table has as texts in JSON.
fn of_cell(text: &str, is_text: bool) -> Result<Json, String> {
    match text {
        "" => Ok(Json::Null),
        text if is_text && !text.starts_with('"') => Ok(json!(text)),
        text => serde_json::from_str(text).map_err(|error| format!("{text}: {error}")),
    }
}

/// Whether a column's values are texts in JSON.
fn is_text(of: &Type) -> bool {
    use Type::{Blob, Date, Decimal, Text, Timestamp, Uuid};
    matches!(of, Text | Decimal | Uuid | Timestamp | Date | Blob)
}

/// A file in the layout that `export` writes, known by its columns. Gzipped or not.
pub(super) struct Reader {
    records: Records,
}

enum Records {
    Ndjson(std::io::Lines<BufReader<Box<dyn Read + Send>>>, u64),
    Csv(Box<csv::Reader<Box<dyn Read + Send>>>, Vec<(String, bool)>, u64),
}

/// The longest line that tells what a file is.
const HEAD_BYTES: u64 = 16 * 1024 * 1024;

impl Reader {
    /// None where the file has another layout.
    pub(super) fn open(mut file: std::fs::File, table: &Table, marks: &[&str]) -> anyhow::Result<Option<Self>> {
        let mut head = Vec::new();
        BufReader::new(unpacked(&mut file)?).take(HEAD_BYTES).read_until(b'\n', &mut head)?;
        let has = |names: &[String]| marks.iter().all(|mark| names.iter().any(|name| name == mark));
        if let Ok(Json::Object(first)) = serde_json::from_slice(&head) {
            let names: Vec<String> = first.keys().cloned().collect();
            if !has(&names) {
                return Ok(None);
            }
            let lines = BufReader::new(owned(file)?).lines();
            return Ok(Some(Reader { records: Records::Ndjson(lines, 0) }));
        }
        let mut csv = csv::Reader::from_reader(owned(file)?);
        let Ok(heading) = csv.headers() else { return Ok(None) };
        let names: Vec<String> = heading.iter().map(str::to_owned).collect();
        if !has(&names) {
            return Ok(None);
        }
        let known = |name: &str| table.position(name).map(|at| is_text(&table.columns[at].column_type));
        let columns = names.into_iter().map(|name| (name.clone(), known(&name).unwrap_or(false))).collect();
        Ok(Some(Reader { records: Records::Csv(Box::new(csv), columns, 0) }))
    }
}

fn unpacked(file: &mut std::fs::File) -> anyhow::Result<Box<dyn Read + '_>> {
    let gzipped = is_gzipped(file)?;
    Ok(if gzipped { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) })
}

fn owned(mut file: std::fs::File) -> anyhow::Result<Box<dyn Read + Send>> {
    let gzipped = is_gzipped(&mut file)?;
    Ok(if gzipped { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) })
}

fn is_gzipped(file: &mut std::fs::File) -> anyhow::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut magic = Vec::new();
    file.take(2).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(magic == [0x1f, 0x8b])
}

/// The number of a record, from one, and what it says or why it cannot be read.
pub(super) type Numbered = (u64, Result<Record, String>);

impl Iterator for Reader {
    type Item = Numbered;

    fn next(&mut self) -> Option<Numbered> {
        match &mut self.records {
            Records::Ndjson(lines, number) => loop {
                let line = lines.next()?;
                if line.as_ref().is_ok_and(|line| line.trim().is_empty()) {
                    continue;
                }
                *number += 1;
                let record = line.map_err(|error| error.to_string());
                break Some((*number, record.and_then(|line| serde_json::from_str(&line).map_err(|e| e.to_string()))));
            },
            Records::Csv(csv, columns, number) => {
                let cells = csv.records().next()?;
                *number += 1;
                let record = cells.map_err(|error| error.to_string()).and_then(|cells| {
                    let each = columns.iter().zip(cells.iter());
                    each.map(|((name, is_text), text)| Ok((name.clone(), of_cell(text, *is_text)?))).collect()
                });
                Some((*number, record))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use merkato::catalog::Product;

    use super::*;

    #[test]
    fn a_cell_says_again_what_was_written() {
        for json in [json!("a"), json!(""), json!("\"quoted\""), json!("1.50"), Json::Null] {
            assert_eq!(of_cell(&cell(&json), true), Ok(json));
        }
        for json in [json!(5), json!([1, 2]), json!({ "a": null }), json!(true), Json::Null] {
            assert_eq!(of_cell(&cell(&json), false), Ok(json));
        }
    }

    #[test]
    fn a_wrong_value_is_told_with_its_column() {
        let record: Record = [("product_id".to_owned(), json!("no id"))].into_iter().collect();
        assert_eq!(row::<Product>(&record), Err("product_id: \"no id\" is no uuid".to_owned()));
    }
}
