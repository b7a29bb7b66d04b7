//! Creating, comparing, refusing; the template.

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType, TimeToLiveSpecification,
};
use serde_json::Value as Json;
use widerow::{
    Error,
    dynamodb::{cloudformation, connect},
    engine::{Engine, Get},
    error::SchemaError,
    schema::{Consistency, Schema},
};

use crate::fixture::*;

#[tokio::test]
async fn tables_are_made_once_and_compared() {
    on_tables(false, |b| async move {
        let report = b.engine.migrate(&schema(), false).await.unwrap();
        assert!(report.problems.contains(&SchemaError::Missing { table: "stock".into() }));
        let key = [vec![text("p"), text("a")]];
        let get = Get { tenant: &b.tenant, table: &STOCK, keys: &key, consistency: Consistency::Quorum };
        let missing = b.engine.get(get).await;
        assert!(matches!(missing, Err(Error::Schema(SchemaError::Missing { .. }))), "{missing:?}");

        let report = b.engine.migrate(&schema(), true).await.unwrap();
        assert_eq!((report.created_tables.len(), report.problems), (8, vec![]));
        let report = b.engine.migrate(&schema(), true).await.unwrap();
        assert_eq!(report, Default::default());
        assert_eq!(b.engine.migrate(&schema(), false).await.unwrap(), Default::default());
    })
    .await;
}

#[tokio::test]
async fn a_missing_index_is_added_and_a_different_key_refused() {
    on_tables(false, |b| async move {
        let fewer = Schema::new().derived::<Sale, ByCategory>().build().unwrap();
        b.engine.migrate(&fewer, true).await.unwrap();
        let report = b.engine.migrate(&schema(), false).await.unwrap();
        assert!(report.problems.contains(&SchemaError::Missing { table: "sales_embeddings".into() }));
        // A table of that name whose key is another.
        let element = |n: &str, k| KeySchemaElement::builder().attribute_name(n).key_type(k).build().unwrap();
        let definition = AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S);
        b.client
            .create_table()
            .table_name(format!("{}stock", b.prefix))
            .billing_mode(BillingMode::PayPerRequest)
            .key_schema(element("id", KeyType::Hash))
            .attribute_definitions(definition.build().unwrap())
            .send()
            .await
            .unwrap();
        let report = b.engine.migrate(&schema(), true).await.unwrap();
        assert!(report.created_tables.contains(&"sales_embeddings".to_owned()));
        assert_eq!(report.problems.len(), 1);
        assert!(matches!(&report.problems[0], SchemaError::Lossy { table, column, .. } if table == "stock" && column == "PK"));
    })
    .await;
}

#[tokio::test]
async fn a_table_may_be_called_otherwise() {
    on_tables(false, |b| async move {
        let mut config = config(&address().unwrap(), &b.prefix);
        config.names.insert("account".into(), format!("{}Kunden.2025", b.prefix));
        let engine = connect(config, &schema()).await.unwrap();
        engine.migrate(&schema(), true).await.unwrap();
        let row = vec![text("p"), widerow::value::Value::Int(1), text("ann")];
        engine.apply(&b.step(None, vec![put(&ACCOUNT, row)])).await.unwrap();
        assert!(b.item("Kunden.2025", "TENANT#acme#ACCOUNT#p", None).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn the_template_makes_the_same_tables() {
    on_tables(false, |b| async move {
        let template: Json = serde_json::from_str(&cloudformation(&schema(), &b.prefix, &Default::default())).unwrap();
        let resources = template["Resources"].as_object().unwrap();
        assert_eq!(resources.len(), 8);
        for (name, resource) in resources {
            assert_eq!(resource["Type"], "AWS::DynamoDB::Table");
            create(&b, name, &resource["Properties"]).await;
        }
        assert_eq!(b.engine.migrate(&schema(), false).await.unwrap(), Default::default());
    })
    .await;
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn string(json: &Json) -> &str {
    json.as_str().unwrap()
}

fn keys(json: &Json) -> Vec<KeySchemaElement> {
    let key = |k: &Json| {
        let builder = KeySchemaElement::builder().attribute_name(string(&k["AttributeName"]));
        builder.key_type(KeyType::from(string(&k["KeyType"]))).build().unwrap()
    };
    list(json).iter().map(key).collect()
}

/// Creates a table from a resource's properties, and refuses properties that it does not know.
async fn create(b: &Bench, name: &str, properties: &Json) {
    let known = [
        "TableName",
        "BillingMode",
        "AttributeDefinitions",
        "KeySchema",
        "GlobalSecondaryIndexes",
        "TimeToLiveSpecification",
    ];
    assert!(properties.as_object().unwrap().keys().all(|k| known.contains(&k.as_str())), "{name}");
    let table = string(&properties["TableName"]);
    let mut request = b
        .client
        .create_table()
        .table_name(table)
        .billing_mode(BillingMode::from(string(&properties["BillingMode"])))
        .set_key_schema(Some(keys(&properties["KeySchema"])));
    for d in list(&properties["AttributeDefinitions"]) {
        let definition = AttributeDefinition::builder().attribute_name(string(&d["AttributeName"]));
        let definition = definition.attribute_type(ScalarAttributeType::from(string(&d["AttributeType"])));
        request = request.attribute_definitions(definition.build().unwrap());
    }
    for g in list(&properties["GlobalSecondaryIndexes"]) {
        let included: Vec<String> =
            list(&g["Projection"]["NonKeyAttributes"]).iter().map(|a| string(a).to_owned()).collect();
        let projection = Projection::builder()
            .projection_type(ProjectionType::from(string(&g["Projection"]["ProjectionType"])))
            .set_non_key_attributes((!included.is_empty()).then_some(included));
        let index = GlobalSecondaryIndex::builder().index_name(string(&g["IndexName"])).projection(projection.build());
        request = request.global_secondary_indexes(index.set_key_schema(Some(keys(&g["KeySchema"]))).build().unwrap());
    }
    request.send().await.unwrap();
    let ttl = &properties["TimeToLiveSpecification"];
    if !ttl.is_null() {
        let specification =
            TimeToLiveSpecification::builder().attribute_name(string(&ttl["AttributeName"])).enabled(true);
        let request = b.client.update_time_to_live().table_name(table);
        request.time_to_live_specification(specification.build().unwrap()).send().await.unwrap();
    }
}
