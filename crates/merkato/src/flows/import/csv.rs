//! Tables as text: rows of fields between delimiters, quoted where they hold one.

use std::{io::Read, sync::Arc};

use super::{
    error::{Error, Result},
    record::{Item, Place, Record, Value},
    source::Each,
};

/// How the rows of a table are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    /// Whether lines end as Windows has them.
    pub crlf: bool,
}

impl Dialect {
    /// As the heading has it: the delimiter that it has most of, outside quotes; a comma if it has none.
    pub fn of(head: &[u8]) -> Self {
        const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
        let (mut quoted, mut crlf, mut counts) = (false, false, [0; 4]);
        for (i, byte) in head.iter().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b'\n' if !quoted => {
                    crlf = head[..i].ends_with(b"\r");
                    break;
                }
                byte if !quoted => {
                    if let Some(i) = CANDIDATES.iter().position(|candidate| candidate == byte) {
                        counts[i] += 1;
                    }
                }
                _ => {}
            }
        }
        // The first of the most frequent ones.
        let most = counts.into_iter().max().unwrap_or(0);
        Dialect { delimiter: CANDIDATES[counts.iter().position(|count| *count == most).unwrap_or(0)], crlf }
    }
}

pub(super) fn read(bytes: impl Read, dialect: Dialect, each: &mut Each<'_>) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new().delimiter(dialect.delimiter).flexible(true).from_reader(bytes);
    let heading = reader.byte_headers().map_err(Error::unreadable)?;
    let columns = columns(heading)?;
    if each(Item::Columns(columns.clone())).is_break() {
        return Ok(());
    }
    let mut row = csv::ByteRecord::new();
    let mut number = 0;
    while reader.read_byte_record(&mut row).map_err(Error::unreadable)? {
        number += 1;
        // The reader takes a row for ended at the first of the two characters that end it.
        let line = row.position().map(|position| position.line() + u64::from(dialect.crlf));
        if each(item(Place { record: number, line }, &columns, &row)).is_break() {
            break;
        }
    }
    Ok(())
}

fn item(place: Place, columns: &Arc<[String]>, row: &csv::ByteRecord) -> Item {
    if row.len() != columns.len() {
        return Item::Bad(place, format!("it has {} fields, the heading has {}", row.len(), columns.len()));
    }
    let texts = row.iter().map(|field| std::str::from_utf8(field).map(|text| Value::Text(text.to_owned())));
    match texts.collect::<Result<Vec<_>, _>>() {
        Ok(values) => Item::Record(Record { place, columns: columns.clone(), values }),
        Err(_) => Item::Bad(place, "it is not UTF-8".into()),
    }
}

/// The names of the columns, all different and none empty.
fn columns(heading: &csv::ByteRecord) -> Result<Arc<[String]>> {
    let mut names: Vec<String> = Vec::new();
    for (i, name) in heading.iter().enumerate() {
        let name = std::str::from_utf8(name).map_err(|_| Error::unreadable("its heading is not UTF-8"))?.trim();
        let name = if name.is_empty() { format!("column {}", i + 1) } else { name.to_owned() };
        let taken = |candidate: &String| names.contains(candidate);
        let others = (2..).map(|n| format!("{name} {n}"));
        let name = std::iter::once(name.clone()).chain(others).find(|candidate| !taken(candidate)).unwrap_or(name);
        names.push(name);
    }
    Ok(names.into())
}
