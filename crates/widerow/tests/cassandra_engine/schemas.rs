//! Tables that are made, compared and extended.

use widerow::{
    cassandra::{Cassandra, CassandraConfig},
    engine::*,
    error::{Error, SchemaError},
    row::Row,
    schema::*,
    value::Value,
};

use crate::fixture::*;

#[tokio::test]
async fn migrate_creates_compares_adds_and_refuses() {
    let schema = Schema::new().table::<Mixed>().table::<Stock>().table::<Profile>().table::<Types>().build().unwrap();
    let Some(bench) = Bench::empty(&schema).await else { return };
    let engine = &bench.engine;
    let missing = engine.migrate(&schema, false).await.unwrap();
    assert_eq!((missing.problems.len(), missing.created_tables.len()), (5, 0));
    assert!(missing.problems.contains(&SchemaError::Missing { table: "mixed".into() }));
    let get = Get {
        tenant: &bench.tenant,
        table: Mixed::table(),
        keys: &[vec![n(1), n(1), n(1), n(1), n(1)]],
        consistency: Consistency::One,
    };
    let refused = engine.get(get).await;
    assert!(matches!(&refused, Err(Error::Schema(SchemaError::Missing { table })) if table == "mixed"), "{refused:?}");

    let made = engine.migrate(&schema, true).await.unwrap();
    assert_eq!((made.created_tables.len(), made.added_columns.len(), made.problems.len()), (5, 0, 0));
    for create in [false, true] {
        assert_eq!(engine.migrate(&schema, create).await.unwrap(), SchemaReport::default());
    }

    bench.apply(vec![put(Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1), t("old")])]).await;
    let grown = Schema::new().table::<Grown>().build().unwrap();
    let compared = engine.migrate(&grown, false).await.unwrap();
    assert_eq!((compared.problems.len(), compared.added_columns.len()), (2, 0));
    let added = engine.migrate(&grown, true).await.unwrap();
    assert_eq!(added.added_columns, [("mixed".to_owned(), "w".to_owned()), ("mixed".to_owned(), "s".to_owned())]);
    assert_eq!(engine.migrate(&grown, false).await.unwrap(), SchemaReport::default());
    // The older declaration still holds: what it does not know is left alone.
    assert_eq!(engine.migrate(&schema, false).await.unwrap().problems, []);
    let found = bench.get(Grown::table(), &[vec![n(1), n(1), n(1), n(1), n(1)]]).await;
    assert_eq!(found[0].as_ref().unwrap().values[5..], [t("old"), Value::Null, Value::Null]);

    let retyped = Schema::new().table::<Retyped>().build().unwrap();
    let refused = engine.migrate(&retyped, true).await.unwrap();
    let columns: Vec<_> = refused
        .problems
        .iter()
        .map(|p| match p {
            SchemaError::Lossy { table, column, .. } if table == "mixed" => column.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(columns, ["a", "b", "d", "c", "v"]);
    assert_eq!((refused.created_tables.len(), refused.added_columns.len()), (0, 0));
    assert_eq!(engine.migrate(&grown, false).await.unwrap(), SchemaReport::default());
    bench.end().await;
}

#[tokio::test]
async fn a_nested_type_grows_a_field_under_rows_that_have_it_not() {
    let schema = Schema::new().table::<Homes>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let short = Value::Struct(vec![t("Zürich 8"), n(1), Value::Null, Value::Null]);
    let row = |table, id: i32, home: &Value| put(table, vec![n(id), home.clone(), Value::List(vec![home.clone()])]);
    bench.apply(vec![row(Homes::table(), 1, &short)]).await;

    let longer = Schema::new().table::<LongerHomes>().build().unwrap();
    let report = bench.engine.migrate(&longer, true).await.unwrap();
    assert_eq!(report.added_columns, [("address".to_owned(), "zip".to_owned())]);
    let long = Value::Struct(vec![t("Zürich 8"), n(1), Value::Null, Value::Null, t("8000")]);
    bench.apply(vec![row(LongerHomes::table(), 2, &long)]).await;
    let found = bench.get(LongerHomes::table(), &[vec![n(1)], vec![n(2)]]).await;
    let old = Value::Struct(vec![t("Zürich 8"), n(1), Value::Null, Value::Null, Value::Null]);
    assert_eq!(found[0].as_ref().unwrap().values[1..], [old.clone(), Value::List(vec![old])]);
    assert_eq!(found[1].as_ref().unwrap().values[1..], [long.clone(), Value::List(vec![long])]);
    // Who still has the older declaration reads both, and writes.
    let found = bench.get(Homes::table(), &[vec![n(2)]]).await;
    assert_eq!(found[0].as_ref().unwrap().values[1], short);
    bench.apply(vec![row(Homes::table(), 3, &short)]).await;
    bench.end().await;
}

#[tokio::test]
async fn the_emitted_cql_is_taken_statement_by_statement() {
    let schema = Schema::new().table::<Types>().table::<Keys>().table::<Stock>().table::<Profile>().table::<Views>();
    let schema = schema.table::<Grown>().table::<Down>().build().unwrap();
    let Some(bench) = Bench::empty(&schema).await else { return };
    let text = widerow::cassandra::cql(&schema, &bench.keyspace, REPLICATION);
    let statements: Vec<_> = text.split(";\n").map(str::trim).filter(|s| !s.is_empty()).collect();
    assert_eq!(statements.len(), 1 + 2 + 8);
    for statement in statements {
        bench.session.query_unpaged(statement, ()).await.unwrap_or_else(|e| panic!("{statement}\n{e}"));
    }
    assert_eq!(bench.engine.migrate(&schema, false).await.unwrap(), SchemaReport::default());
    bench.end().await;
}

#[tokio::test]
async fn two_that_migrate_at_once_both_succeed() {
    let schema = Schema::new().table::<Mixed>().table::<Types>().build().unwrap();
    let Some(bench) = Bench::empty(&schema).await else { return };
    let config = CassandraConfig {
        nodes: vec![address().unwrap()],
        keyspace: bench.keyspace.clone(),
        ..CassandraConfig::default()
    };
    let other = Cassandra::connect(config, &schema).await.unwrap();
    for schema in [schema, Schema::new().table::<Grown>().build().unwrap()] {
        let (one, two) = tokio::join!(bench.engine.migrate(&schema, true), other.migrate(&schema, true));
        assert_eq!((one.unwrap().problems, two.unwrap().problems), (vec![], vec![]));
        assert_eq!(other.migrate(&schema, false).await.unwrap(), SchemaReport::default());
    }
    bench.end().await;
}
