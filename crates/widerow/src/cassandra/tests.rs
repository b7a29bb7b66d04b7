//! The pieces that need no server: texts, conversions, arithmetic.

use std::sync::LazyLock;

use proptest::prelude::*;
use rust_decimal::Decimal;
use scylla::value::{CqlDecimal, CqlValue};

use super::{convert, cql, read, write};
use crate::{
    outbox::PENDING,
    schema::{Column, Consistency, Direction, Kind, Schema, Table},
    time::{Date, Timestamp},
    value::{StructType, Type, Value},
};

fn column(name: &str, column_type: Type, kind: Kind) -> Column {
    Column { name: name.into(), column_type, kind, optional: true, label: String::new(), index_key: None }
}

static CARTS: LazyLock<Table> = LazyLock::new(|| Table {
    name: "carts".into(),
    doc: "A user's carts.".into(),
    columns: vec![
        column("user", Type::Uuid, Kind::Partition),
        column("order", Type::Int, Kind::Clustering(Direction::Ascending)),
        column("cartId", Type::Uuid, Kind::Clustering(Direction::Descending)),
        column("email", Type::Text, Kind::Static),
        column("lines", Type::List(Box::new(line())), Kind::Regular),
        column("last", line(), Kind::Regular),
    ],
    partition_columns: 1,
    clustering_columns: 2,
    guarded: true,
    counters: false,
    ttl_seconds: Some(60),
    ends: None,
    shared: false,
    series: false,
    gc_grace_seconds: Some(3600),
    read: Consistency::Serial,
    write: Consistency::Quorum,
    index: None,
});

fn line() -> Type {
    let fields = vec![("sku".into(), Type::Text), ("tags".into(), Type::Set(Box::new(Type::Text)))];
    Type::Struct(StructType { name: "line".into(), fields })
}

#[test]
fn names_are_quoted_where_the_grammar_needs_it() {
    for (name, quoted) in [
        ("plain_1", "plain_1"),
        ("order", "\"order\""),
        ("cartId", "\"cartId\""),
        ("_version", "\"_version\""),
        ("a\"b", "\"a\"\"b\""),
    ] {
        assert_eq!(cql::quote(name), quoted);
    }
}

#[test]
fn types_are_frozen_inside_others() {
    let text = |t: &Type| cql::type_text(t, Some("shop"));
    assert_eq!(text(&line()), "frozen<shop.line>");
    assert_eq!(text(&Type::List(Box::new(line()))), "list<frozen<shop.line>>");
    let nested = Type::Map(Box::new(Type::Text), Box::new(Type::List(Box::new(Type::Set(Box::new(Type::Int))))));
    assert_eq!(text(&nested), "map<text, frozen<list<frozen<set<int>>>>>");
    assert_eq!(text(&Type::Vector(3)), "vector<float, 3>");
}

#[test]
fn a_guarded_table_has_its_bookkeeping_in_static_columns_if_it_can() {
    let hidden: Vec<_> =
        cql::hidden_columns(&CARTS).into_iter().map(|(name, _, is_static)| (name, is_static)).collect();
    let book = [("_version", true), ("_sequence", true), ("_ring", true), ("_outbox", true)];
    assert_eq!(hidden, [&[("_expires_at", false)][..], &book[..]].concat());
    let mut alone = CARTS.clone();
    alone.columns.truncate(1);
    alone.clustering_columns = 0;
    let hidden = cql::hidden_columns(&alone);
    assert!(hidden.iter().all(|(_, _, is_static)| !is_static));
    assert_eq!(hidden.last().unwrap().0, "_live");
    assert_eq!(cql::hidden_columns(&PENDING).len(), 1);
}

#[test]
fn the_schema_is_readable_cql() {
    let text = super::cql(&Schema::new(), "shop", "{'class': 'SimpleStrategy', 'replication_factor': 1}");
    assert_eq!(
        text,
        "CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};

CREATE TABLE IF NOT EXISTS shop.widerow_pending (
    tenant text,
    bucket bigint,
    id uuid,
    piece int,
    writes blob,
    \"_expires_at\" timestamp,
    PRIMARY KEY ((tenant, bucket), id, piece)
) WITH CLUSTERING ORDER BY (id ASC, piece ASC)
    AND gc_grace_seconds = 3600
    AND comment = 'Later writes of commits that span partitions, until they are made.';
"
    );
    let carts = super::schema::create_table("shop", &CARTS);
    for part in [
        "    \"cartId\" uuid,\n",
        "    email text static,\n",
        "    \"_ring\" map<int, uuid> static,\n",
        "    PRIMARY KEY ((tenant, user), \"order\", \"cartId\")\n",
        "CLUSTERING ORDER BY (\"order\" ASC, \"cartId\" DESC)",
        "AND default_time_to_live = 60",
        "AND comment = 'A user''s carts.'",
    ] {
        assert!(carts.contains(part), "{part:?} is not in {carts}");
    }
}

#[test]
fn token_ranges_meet_and_cover_everything() {
    for ranges in [1, 2, 3, 7, 256] {
        assert_eq!(read::token_range(0, ranges).0, i64::MIN);
        assert_eq!(read::token_range(ranges - 1, ranges).1, i64::MAX);
        for range in 1..ranges {
            assert_eq!(read::token_range(range - 1, ranges).1, read::token_range(range, ranges).0);
        }
    }
}

#[test]
fn the_native_time_to_live_never_ends_before_the_row() {
    let now = Timestamp::from_millis(1_000_000);
    let ttl = |millis: i64| write::ttl_seconds(Some(Timestamp::from_millis(1_000_000 + millis)), now);
    assert_eq!((ttl(1), ttl(1_000), ttl(1_001), ttl(0), ttl(-5_000)), (2, 2, 3, 2, 2));
    assert_eq!(write::ttl_seconds(None, now), 0);
    // The server keeps no time beyond 2038: the row then ends by its own column alone.
    assert_eq!(ttl(19 * 365 * 86_400_000), 0);
}

fn stored(bytes: &[u8], scale: i32) -> Option<CqlValue> {
    Some(CqlValue::Decimal(CqlDecimal::from_signed_be_bytes_slice_and_exponent(bytes, scale)))
}

#[test]
fn decimals_are_as_short_as_they_can_be() {
    for (text, bytes, scale) in [
        ("0", &[0][..], 0),
        ("1.27", &[0x7f], 2),
        ("1.28", &[0x00, 0x80], 2),
        ("-1.28", &[0x80], 2),
        ("-1.29", &[0xff, 0x7f], 2),
        ("-1", &[0xff], 0),
    ] {
        let value = Value::Decimal(text.parse().unwrap());
        let cell = convert::to_cql("k", &Type::Decimal, &value).unwrap();
        assert_eq!(cell, stored(bytes, scale), "{text}");
        assert_eq!(convert::from_cql(&Type::Decimal, cell).unwrap(), value);
    }
}

#[test]
fn decimals_of_other_writers_are_read_or_refused() {
    let read = |bytes: &[u8], scale| convert::from_cql(&Type::Decimal, stored(bytes, scale));
    let number = |text: &str| Ok(Value::Decimal(text.parse().unwrap()));
    assert_eq!(read(&[5], -3), number("5000"));
    assert_eq!(read(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7], 1), number("0.7"));
    assert_eq!(read(&[0xff; 20], 0), number("-1"));
    assert_eq!(read(&[], 4), number("0"));
    assert_eq!(read(&[0], 1_000_000), number("0"));
    // 10^30 with thirty digits behind the point is one.
    assert_eq!(read(&10i128.pow(30).to_be_bytes(), 30), number("1"));
    for (bytes, scale) in
        [(&[1][..], 29), (&[1], -29), (&[1], i32::MIN), (&[1], i32::MAX), (&[0x7f; 16], 0), (&[0x80; 17], 3)]
    {
        assert!(read(bytes, scale).is_err(), "{bytes:?} {scale}");
    }
}

#[test]
fn what_is_of_another_type_is_refused_without_telling_it() {
    let error = convert::from_cql(&Type::Int, Some(CqlValue::Text("secret".into()))).unwrap_err();
    assert_eq!(error, "expected int, found Text");
    assert!(convert::from_cql(&Type::Vector(2), Some(CqlValue::Vector(vec![CqlValue::Float(1.0)]))).is_err());
    assert!(
        convert::from_cql(&Type::List(Box::new(Type::Int)), Some(CqlValue::List(vec![CqlValue::BigInt(1)]))).is_err()
    );
}

#[test]
fn sets_and_maps_are_sorted_and_empty_ones_are_none() {
    let ints = |numbers: &[i32]| numbers.iter().map(|n| CqlValue::Int(*n)).collect::<Vec<_>>();
    let set = Type::Set(Box::new(Type::Int));
    let sorted = Value::Set([-2, 1, 5].map(Value::Int).to_vec());
    assert_eq!(convert::from_cql(&set, Some(CqlValue::Set(ints(&[5, -2, 1])))).unwrap(), sorted);
    assert_eq!(convert::from_cql(&set, Some(CqlValue::Set(vec![]))).unwrap(), Value::Null);
    assert_eq!(convert::to_cql("k", &set, &Value::Set(vec![])).unwrap(), None);
    let fields = vec![
        ("tags".to_owned(), None),
        ("more".to_owned(), None),
        ("sku".to_owned(), Some(CqlValue::Text("a".into()))),
    ];
    let value = CqlValue::UserDefinedType { keyspace: "k".into(), name: "line".into(), fields };
    let found = convert::from_cql(&line(), Some(value)).unwrap();
    assert_eq!(found, Value::Struct(vec![Value::Text("a".into()), Value::Null]));
}

proptest! {
    #[test]
    fn every_decimal_and_date_comes_back(mantissa in -(1i128 << 96) + 1..(1i128 << 96), scale in 0u32..=28, days in -719_528i32..=2_932_896) {
        for (t, value) in [
            (Type::Decimal, Value::Decimal(Decimal::from_i128_with_scale(mantissa, scale))),
            (Type::Date, Value::Date(Date::from_days(days))),
        ] {
            let cell = convert::to_cql("k", &t, &value).unwrap();
            prop_assert_eq!(convert::from_cql(&t, cell).unwrap(), value);
        }
    }
}
