//! DynamoDB, where it is built in.

use std::sync::Arc;

use widerow::{Engine, Schema, dynamodb::DynamoConfig};

use crate::{Leftover, address, leave, unique, wait};

pub(crate) async fn drop_tables(prefix: &str) {
    let client = bare_client();
    let mut after = Some(prefix.to_owned());
    while let Some(start) = after.take() {
        // Tables come in the order of their names.
        let Ok(page) = client.list_tables().exclusive_start_table_name(start).send().await else { return };
        for name in page.table_names() {
            if !name.starts_with(prefix) {
                return;
            }
            let _ = client.delete_table().table_name(name).send().await;
        }
        after = page.last_evaluated_table_name().map(String::from);
    }
}

pub(crate) fn open(schema: Schema, create: bool) -> Arc<dyn Engine> {
    let prefix = format!("{}-", unique());
    leave(Leftover::Tables(prefix.clone()));
    let config = DynamoConfig {
        endpoint: address("MERKATO_TEST_DYNAMODB"),
        region: Some("eu-west-1".into()),
        credentials: Some(("test".into(), "test".into())),
        table_prefix: prefix,
        ..DynamoConfig::default()
    };
    wait(async {
        let engine = widerow::dynamodb::connect(config, &schema).await.expect("a client");
        if create {
            assert_eq!(engine.migrate(&schema, true).await.expect("tables").problems, []);
        }
        Arc::new(engine) as Arc<dyn Engine>
    })
}

/// A client that knows nothing of the data layer: what another tool would write and read with.
pub fn bare_client() -> aws_sdk_dynamodb::Client {
    let credentials = aws_sdk_dynamodb::config::Credentials::new("test", "test", None, None, "test");
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
        .endpoint_url(address("MERKATO_TEST_DYNAMODB").unwrap_or_default())
        .region(aws_sdk_dynamodb::config::Region::new("eu-west-1"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .credentials_provider(credentials)
        .build();
    aws_sdk_dynamodb::Client::from_conf(config)
}

/// An engine that knows some tables by names of their own, beginning with the prefix. Its tables are not made.
pub fn open_named(schema: Schema, prefix: &str, names: impl IntoIterator<Item = (String, String)>) -> Arc<dyn Engine> {
    leave(Leftover::Tables(prefix.to_owned()));
    let config = DynamoConfig {
        endpoint: address("MERKATO_TEST_DYNAMODB"),
        region: Some("eu-west-1".into()),
        credentials: Some(("test".into(), "test".into())),
        table_prefix: prefix.to_owned(),
        names: names.into_iter().collect(),
        ..DynamoConfig::default()
    };
    wait(async { Arc::new(widerow::dynamodb::connect(config, &schema).await.expect("a client")) })
}
