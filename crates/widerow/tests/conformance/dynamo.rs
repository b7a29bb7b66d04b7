//! DynamoDB, where it is built in.

use std::sync::Arc;

use widerow::{Engine, Schema, dynamodb::DynamoConfig};

use crate::world::{Leftover, address, leave, unique, wait};

pub async fn drop_tables(prefix: &str) {
    let credentials = aws_sdk_dynamodb::config::Credentials::new("test", "test", None, None, "test");
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
        .endpoint_url(address("MERKATO_TEST_DYNAMODB").unwrap_or_default())
        .region(aws_sdk_dynamodb::config::Region::new("eu-west-1"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .credentials_provider(credentials)
        .build();
    let client = aws_sdk_dynamodb::Client::from_conf(config);
    let names = crate::tables::schema().tables().map(|table| table.name.clone()).collect::<Vec<_>>();
    for name in names.iter().map(String::as_str).chain(["things"]) {
        let _ = client.delete_table().table_name(format!("{prefix}{name}")).send().await;
    }
}

fn dynamo_config(prefix: &str) -> DynamoConfig {
    DynamoConfig {
        endpoint: address("MERKATO_TEST_DYNAMODB"),
        region: Some("eu-west-1".into()),
        credentials: Some(("test".into(), "test".into())),
        table_prefix: prefix.into(),
        ..DynamoConfig::default()
    }
}

pub fn open(schema: Schema, create: bool) -> Arc<dyn Engine> {
    let prefix = format!("{}-", unique());
    leave(Leftover::Tables(prefix.clone()));
    wait(async {
        let engine = widerow::dynamodb::connect(dynamo_config(&prefix), &schema).await.expect("a client");
        if create {
            assert_eq!(engine.migrate(&schema, true).await.expect("tables").problems, []);
        }
        Arc::new(engine) as Arc<dyn Engine>
    })
}
