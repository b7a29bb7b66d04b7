//! The tables as a CloudFormation template, in JSON, for those who deploy by template and not by `migrate`.

use std::{collections::BTreeMap, fmt::Write as _};

use super::schema::{IndexShape, Shape};
use crate::schema::{Projection, Schema};

/// A complete template with all tables of the schema, named with the prefix, or as `names` says
/// ([`DynamoConfig::names`](super::DynamoConfig::names)).
pub fn cloudformation(schema: &Schema, prefix: &str, names: &BTreeMap<String, String>) -> String {
    let physical = |name: &String| names.get(name).cloned().unwrap_or_else(|| format!("{prefix}{name}"));
    let resources: Vec<String> =
        Shape::all(schema).iter().map(|shape| resource(shape, &physical(&shape.table.name))).collect();
    format!(
        "{{\n  \"AWSTemplateFormatVersion\": \"2010-09-09\",\n  \"Description\": \"Tables of the data layer\",\n  \"Resources\": {{\n{}\n  }}\n}}\n",
        resources.join(",\n")
    )
}

fn resource(shape: &Shape, physical: &str) -> String {
    let attributes: Vec<String> = shape
        .attributes()
        .iter()
        .map(|name| format!("{{ \"AttributeName\": {}, \"AttributeType\": \"S\" }}", quoted(name)))
        .collect();
    let mut lines = vec![
        format!("\"TableName\": {}", quoted(physical)),
        "\"BillingMode\": \"PAY_PER_REQUEST\"".to_owned(),
        format!("\"AttributeDefinitions\": [{}]", attributes.join(", ")),
        format!("\"KeySchema\": {}", key_schema("PK", shape.sorted.then_some("SK"))),
    ];
    if !shape.indexes.is_empty() {
        let indexes: Vec<String> = shape.indexes.iter().map(index).collect();
        lines.push(format!("\"GlobalSecondaryIndexes\": [\n          {}\n        ]", indexes.join(",\n          ")));
    }
    if shape.expires() {
        lines.push("\"TimeToLiveSpecification\": { \"AttributeName\": \"ttl\", \"Enabled\": true }".to_owned());
    }
    format!(
        "    {}: {{\n      \"Type\": \"AWS::DynamoDB::Table\",\n      \"Properties\": {{\n        {}\n      }}\n    }}",
        quoted(&logical(&shape.table.name)),
        lines.join(",\n        ")
    )
}

fn index(index: &IndexShape) -> String {
    let projection = match &index.projection {
        Projection::KeysOnly => "{ \"ProjectionType\": \"KEYS_ONLY\" }".to_owned(),
        Projection::All => "{ \"ProjectionType\": \"ALL\" }".to_owned(),
        Projection::Include(columns) => {
            let columns: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
            format!("{{ \"ProjectionType\": \"INCLUDE\", \"NonKeyAttributes\": [{}] }}", columns.join(", "))
        }
    };
    format!(
        "{{ \"IndexName\": {}, \"KeySchema\": {}, \"Projection\": {projection} }}",
        quoted(&index.name),
        key_schema(&index.pk, index.sk.as_deref())
    )
}

fn key_schema(pk: &str, sk: Option<&str>) -> String {
    let mut keys = vec![format!("{{ \"AttributeName\": {}, \"KeyType\": \"HASH\" }}", quoted(pk))];
    keys.extend(sk.map(|sk| format!("{{ \"AttributeName\": {}, \"KeyType\": \"RANGE\" }}", quoted(sk))));
    format!("[{}]", keys.join(", "))
}

/// A resource's name in a template is letters and digits: `sales_by_day` becomes `SalesByDayTable`.
fn logical(table: &str) -> String {
    let word = |w: &str| w[..1.min(w.len())].to_ascii_uppercase() + w.get(1..).unwrap_or_default();
    let name: String = table.split('_').map(word).collect();
    format!("{name}Table")
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
