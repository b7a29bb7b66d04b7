//! Schemas: created, compared, extended; what would lose data is refused by name.

use widerow::{Commit, Database, Error, Row, Schema, error::SchemaError};

use crate::{
    cases,
    world::{Target, Worlds},
};

cases!(tables_are_created_compared_and_extended, lossy_changes_are_refused_by_name);

mod first {
    #[derive(widerow::Row, Clone, Debug, PartialEq)]
    #[row(table = "things", partition(id), clustering(part))]
    pub struct Thing {
        pub id: i64,
        pub part: i32,
        pub name: String,
    }
}

mod extended {
    #[derive(widerow::Row, Clone, Debug, PartialEq)]
    #[row(table = "things", partition(id), clustering(part))]
    pub struct Thing {
        pub id: i64,
        pub part: i32,
        pub color: Option<String>,
        pub name: String,
    }
}

mod retyped {
    #[derive(widerow::Row, Clone, Debug, PartialEq)]
    #[row(table = "things", partition(id), clustering(part))]
    pub struct Thing {
        pub id: i64,
        pub part: i32,
        pub name: i64,
    }
}

mod rekeyed {
    #[derive(widerow::Row, Clone, Debug, PartialEq)]
    #[row(table = "things", partition(id), clustering(other))]
    pub struct Thing {
        pub id: i64,
        pub other: i32,
        pub name: String,
    }
}

fn schema<R: Row>() -> Schema {
    Schema::new().table::<R>().build().expect("a schema")
}

async fn tables_are_created_compared_and_extended(target: &Target) {
    let engine = target.world_with(schema::<first::Thing>(), false);
    let database = Database::new(engine.clone(), schema::<first::Thing>());
    let found = database.compare().await.unwrap();
    assert!(found.problems.contains(&SchemaError::Missing { table: "things".into() }), "{found:?}");
    let report = database.migrate().await.unwrap();
    assert!(report.created_tables.contains(&"things".to_owned()), "{report:?}");
    assert_eq!(database.compare().await.unwrap().problems, []);
    assert_eq!(database.migrate().await.unwrap().created_tables, Vec::<String>::new());
    let store = database.tenant("a").unwrap();
    let old = first::Thing { id: 1, part: 2, name: "lamp".into() };
    store.commit(Commit::new().put(&old)).await.unwrap();
    // A new column, in the middle of the declaration.
    let database = Database::new(engine, schema::<extended::Thing>());
    let report = database.migrate().await.unwrap();
    if target.name != "dynamodb" {
        assert_eq!(report.added_columns, [("things".to_owned(), "color".to_owned())]);
    }
    let store = database.tenant("a").unwrap();
    let row = store.get::<extended::Thing>((1, 2)).await.unwrap().unwrap();
    assert_eq!((row.name.as_str(), &row.color), ("lamp", &None));
    let row = extended::Thing { color: Some("brass".into()), ..row };
    store.commit(Commit::new().put(&row)).await.unwrap();
    assert_eq!(store.get::<extended::Thing>((1, 2)).await.unwrap(), Some(row));
}

async fn lossy_changes_are_refused_by_name(target: &Target) {
    let engine = target.world_with(schema::<first::Thing>(), false);
    Database::new(engine.clone(), schema::<first::Thing>()).migrate().await.unwrap();
    // DynamoDB declares nothing but keys, as text: there is no type to contradict, and a key is text by its labels.
    if target.name == "dynamodb" {
        return;
    }
    let refused = async |schema, column: &str| {
        let error = Database::new(engine.clone(), schema).migrate().await.unwrap_err();
        let named = matches!(&error, Error::Schema(SchemaError::Lossy { table, column: c, .. }) if table == "things" && c == column);
        assert!(named, "{error}");
    };
    refused(schema::<retyped::Thing>(), "name").await;
    refused(schema::<rekeyed::Thing>(), "other").await;
}
