//! Objects of JSON as records: what is nested gets a column of its own, named by its path.

use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::{
    error::{Error, Result},
    record::{Item, Place, Record, Value},
    source::Each,
};

/// An object a line.
pub(super) fn read_lines(mut text: impl BufRead, each: &mut Each<'_>) -> Result<()> {
    let (mut bytes, mut record, mut line) = (Vec::new(), 0, 0);
    loop {
        bytes.clear();
        if text.read_until(b'\n', &mut bytes).map_err(Error::unreadable)? == 0 {
            return Ok(());
        }
        line += 1;
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        record += 1;
        let place = Place { record, line: Some(line) };
        let item = match serde_json::from_slice::<Json>(&bytes) {
            Ok(json) => item(place, json),
            Err(error) => Item::Bad(place, format!("it is not JSON: {error}")),
        };
        if each(item).is_break() {
            return Ok(());
        }
    }
}

/// An array of objects, or an object whose arrays hold them; one object at a time.
pub(super) fn read_document(text: impl BufRead, each: &mut Each<'_>) -> Result<()> {
    let mut reader = serde_json::Deserializer::from_reader(text);
    let mut elements = Elements { each, record: 0, stopped: false };
    let read = elements.deserialize_in(&mut reader, true).and_then(|()| reader.end());
    match read {
        // Leaving an array half-way is an error to the parser.
        Err(_) if elements.stopped => Ok(()),
        Err(error) => Err(Error::unreadable(format!("it is not JSON: {error}"))),
        Ok(()) => Ok(()),
    }
}

struct Elements<'a, 'b> {
    each: &'a mut Each<'b>,
    record: u64,
    stopped: bool,
}

impl Elements<'_, '_> {
    fn deserialize_in<'de, D: Deserializer<'de>>(&mut self, json: D, outermost: bool) -> Result<(), D::Error> {
        Inside { elements: self, outermost }.deserialize(json)
    }
}

/// The document, or what an object of it holds.
struct Inside<'e, 'a, 'b> {
    elements: &'e mut Elements<'a, 'b>,
    outermost: bool,
}

impl<'de> DeserializeSeed<'de> for Inside<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inside<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of objects, or an object that has one")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(json) = array.next_element::<Json>()? {
            self.elements.record += 1;
            let place = Place { record: self.elements.record, line: None };
            if (self.elements.each)(item(place, json)).is_break() {
                self.elements.stopped = true;
                return Ok(());
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while object.next_key::<IgnoredAny>()?.is_some() {
            if self.outermost && !self.elements.stopped {
                object.next_value_seed(Inside { elements: &mut *self.elements, outermost: false })?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    // Counts and dates beside the array.
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

fn item(place: Place, json: Json) -> Item {
    let Json::Object(object) = json else {
        return Item::Bad(place, "it is not an object".into());
    };
    let mut cells = Vec::new();
    for (name, value) in object {
        flatten(name, value, &mut cells);
    }
    let (columns, values): (Vec<String>, Vec<Value>) = cells.into_iter().unzip();
    Item::Record(Record { place, columns: columns.into(), values })
}

/// `meta.barcode` for an object in an object. Of an array of objects: how many there are under its name, and each by
/// its number.
fn flatten(name: String, json: Json, cells: &mut Vec<(String, Value)>) {
    match json {
        Json::Object(object) => {
            for (inner, value) in object {
                flatten(format!("{name}.{inner}"), value, cells);
            }
        }
        Json::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            cells.push((name.clone(), Value::Number(items.len().to_string())));
            for (i, item) in items.into_iter().enumerate() {
                cells.push((format!("{name} {}", i + 1), Value::Text(described(&item))));
            }
        }
        Json::Array(items) => cells.push((name, Value::List(items.iter().map(described).collect()))),
        Json::Number(number) => cells.push((name, Value::Number(number.to_string()))),
        other => cells.push((name, Value::Text(described(&other)))),
    }
}

/// As a person would write it down: `rating: 3, comment: Well made`.
fn described(json: &Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::Bool(b) => b.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(described).collect::<Vec<_>>().join(", "),
        Json::Object(object) => {
            let inner = object.iter().map(|(name, value)| format!("{name}: {}", described(value)));
            inner.collect::<Vec<_>>().join(", ")
        }
    }
}
