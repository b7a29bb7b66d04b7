//! What needs no engine: keys, cells, the template.

use std::{cmp::Ordering, ops::Bound};

use aws_sdk_dynamodb::types::AttributeValue;
use proptest::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

use super::{
    convert,
    item::{self, Address},
    key::{self, SortRange},
};
use crate::{
    key::Tenant,
    schema::{Column, Consistency, Direction, Kind, Table},
    time::{Date, Timestamp},
    value::{StructType, Type, Value},
};

fn column(name: &str, column_type: Type, kind: Kind, label: &str) -> Column {
    Column { name: name.into(), column_type, kind, optional: false, label: label.into(), index_key: None }
}

fn table(partition: usize, columns: Vec<Column>) -> Table {
    let clustering_columns = columns.iter().filter(|c| matches!(c.kind, Kind::Clustering(_))).count();
    Table {
        name: "t".into(),
        doc: String::new(),
        columns,
        partition_columns: partition,
        clustering_columns,
        guarded: false,
        counters: false,
        ttl_seconds: None,
        ends: None,
        shared: false,
        series: false,
        gc_grace_seconds: None,
        read: Consistency::Quorum,
        write: Consistency::Quorum,
        index: None,
    }
}

fn clustered(types: &[(Type, Direction, &str)]) -> Table {
    let mut columns = vec![column("p", Type::Text, Kind::Partition, "P")];
    for (i, (t, direction, label)) in types.iter().enumerate() {
        columns.push(column(&format!("c{i}"), t.clone(), Kind::Clustering(*direction), label));
    }
    table(1, columns)
}

/// Texts that share beginnings and hold what the key format treats specially.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "",
        "\0",
        "!",
        "\"",
        "#",
        "$",
        "%",
        "/",
        " ",
        "~",
        "a",
        "ab",
        "A",
        "é",
        "日",
        "\u{10ffff}",
        "$23",
        "0",
    ]);
    prop_oneof![prop::collection::vec(piece, 0..4).prop_map(|p| p.concat()), any::<String>()]
}

fn decimals() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        (-20_000i64..20_000, 0u32..5).prop_map(|(n, scale)| Decimal::new(n, scale)),
        (any::<i64>(), 0u32..28).prop_map(|(n, scale)| Decimal::new(n, scale)),
        (any::<i32>(), any::<u32>(), any::<u32>(), any::<bool>(), 0u32..28).prop_map(
            |(lo, mid, hi, negative, scale)| Decimal::from_parts(lo.unsigned_abs(), mid, hi, negative, scale)
        ),
    ]
    .prop_map(|d| d.normalize())
}

fn values(t: &Type) -> BoxedStrategy<Value> {
    let edge =
        |small: i64, least: i64, most: i64| prop_oneof![-small..small, Just(least), Just(most), least..=most].boxed();
    match t {
        Type::Text => texts().prop_map(Value::Text).boxed(),
        Type::Int => edge(20, i32::MIN.into(), i32::MAX.into()).prop_map(|n| Value::Int(n as i32)).boxed(),
        Type::BigInt => edge(20, i64::MIN, i64::MAX).prop_map(Value::BigInt).boxed(),
        Type::Decimal => decimals().prop_map(Value::Decimal).boxed(),
        Type::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        Type::Uuid => any::<u128>().prop_map(|u| Value::Uuid(Uuid::from_u128(u))).boxed(),
        Type::Timestamp => edge(5, Timestamp::MIN.millis(), Timestamp::MAX.millis())
            .prop_map(|ms| Value::Timestamp(Timestamp::from_millis(ms)))
            .boxed(),
        Type::Date => edge(5, Date::MIN.days().into(), Date::MAX.days().into())
            .prop_map(|d| Value::Date(Date::from_days(d as i32)))
            .boxed(),
        _ => prop::collection::vec(prop_oneof![Just(0u8), Just(0xff), any::<u8>()], 0..4).prop_map(Value::Blob).boxed(),
    }
}

const KEY_TYPES: [Type; 9] = [
    Type::Text,
    Type::Int,
    Type::BigInt,
    Type::Decimal,
    Type::Boolean,
    Type::Uuid,
    Type::Timestamp,
    Type::Date,
    Type::Blob,
];

type Columns = Vec<(Type, Direction, &'static str)>;

fn columns() -> impl Strategy<Value = Columns> {
    let one = (
        prop::sample::select(KEY_TYPES.to_vec()),
        prop::sample::select(vec![Direction::Ascending, Direction::Descending]),
        prop::sample::select(vec!["", "L", "A#B"]),
    );
    prop::collection::vec(one, 1..4)
}

/// A table and two keys that often share their beginning.
fn two_keys() -> impl Strategy<Value = (Columns, Vec<Value>, Vec<Value>)> {
    columns().prop_flat_map(|columns| {
        let key = || columns.iter().map(|(t, ..)| values(t)).collect::<Vec<_>>();
        let shared = 0..=columns.len();
        (Just(columns.clone()), key(), key(), shared).prop_map(|(columns, a, mut b, shared)| {
            b[..shared].clone_from_slice(&a[..shared]);
            (columns, a, b)
        })
    })
}

fn clustering_order(table: &Table, a: &[Value], b: &[Value]) -> Ordering {
    let by_column = a.iter().zip(b).enumerate().map(|(i, (a, b))| match table.direction(i) {
        Direction::Ascending => a.key_order(b),
        Direction::Descending => b.key_order(a),
    });
    by_column.fold(Ordering::Equal, Ordering::then)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn sort_texts_order_as_keys_do((columns, a, b) in two_keys()) {
        let table = clustered(&columns);
        let text = |key: &[Value]| key::sort_text(&table, columns.len(), key).unwrap();
        let (ta, tb) = (text(&a), text(&b));
        let order = clustering_order(&table, &a, &b);
        let order = if table.direction(0) == Direction::Ascending { order } else { order.reverse() };
        prop_assert_eq!(ta.as_bytes().cmp(tb.as_bytes()), order, "{:?} {:?}", ta, tb);
    }

    #[test]
    fn sort_texts_decode_and_are_never_the_bookkeeping((columns, a, _) in two_keys()) {
        let table = clustered(&columns);
        let text = key::sort_text(&table, columns.len(), &a).unwrap();
        prop_assert_eq!(key::parse_sort(&table, columns.len(), &text).unwrap(), a);
        prop_assert!(text.as_str() >= "#", "{:?}", text);
    }

    #[test]
    fn ranges_hold_the_rows_that_they_name((columns, a, b) in two_keys(), n in 0usize..3, lower in 0..3, upper in 0..3) {
        let table = clustered(&columns);
        let n = n.min(columns.len() - 1);
        let bound = |kind, v| match kind { 0 => Bound::Unbounded, 1 => Bound::Included(v), _ => Bound::Excluded(v) };
        // The bounds come from one key, the row is the other one.
        let (lower, upper) = (bound(lower, &a[n]), bound(upper, &a[n]));
        let range = SortRange::new(&table, columns.len(), &a[..n], lower, upper).unwrap();
        let text = key::sort_text(&table, columns.len(), &b).unwrap();
        let inside = a[..n].iter().zip(&b).all(|(a, b)| a.key_order(b).is_eq())
            && match lower {
                Bound::Unbounded => true,
                Bound::Included(v) => b[n].key_order(v).is_ge(),
                Bound::Excluded(v) => b[n].key_order(v).is_gt(),
            }
            && match upper {
                Bound::Unbounded => true,
                Bound::Included(v) => b[n].key_order(v).is_le(),
                Bound::Excluded(v) => b[n].key_order(v).is_lt(),
            };
        let found = text >= range.lower
            && range.upper.as_ref().is_none_or(|u| text <= *u)
            && !range.without.contains(&text);
        prop_assert_eq!(found, inside, "{:?} in {:?}", text, range);
        prop_assert!(range.lower.as_str() > key::BOOKKEEPING);
    }

    #[test]
    fn whole_prefixes_hold_one_row((columns, a, b) in two_keys()) {
        let table = clustered(&columns);
        let range = SortRange::new(&table, columns.len(), &a, Bound::Unbounded, Bound::Unbounded).unwrap();
        let text = key::sort_text(&table, columns.len(), &b).unwrap();
        let equal = clustering_order(&table, &a, &b).is_eq();
        prop_assert_eq!(text == range.lower && Some(&text) == range.upper.as_ref(), equal);
    }

    #[test]
    fn partition_texts_decode((columns, a, b) in two_keys()) {
        let columns = columns.iter().enumerate().map(|(i, (t, _, label))| column(&format!("p{i}"), t.clone(), Kind::Partition, label)).collect::<Vec<_>>();
        let table = table(columns.len(), columns);
        let tenant = Tenant::new("acme").unwrap();
        let text = key::partition_text(&tenant, &table, &a).unwrap();
        prop_assert_eq!(key::parse_partition(&table, &text).unwrap(), (tenant.clone(), a.clone()));
        let equal = a.iter().zip(&b).all(|(a, b)| a.key_order(b).is_eq());
        prop_assert_eq!(text == key::partition_text(&tenant, &table, &b).unwrap(), equal);
    }

    #[test]
    fn any_text_decodes_or_is_an_error((columns, _, _) in two_keys(), text in texts()) {
        let table = clustered(&columns);
        let _ = key::parse_sort(&table, columns.len(), &text);
        let _ = key::parse_partition(&table, &format!("TENANT#a#P#{text}"));
        let _ = key::parse_partition(&table, &text);
    }

    #[test]
    fn cells_read_back(d in any::<f64>(), dec in decimals(), t in texts(), n in any::<i64>(), floats in prop::collection::vec(any::<f32>(), 3)) {
        let back = |ty: &Type, v: &Value| convert::value(ty, convert::attribute(ty, v).as_ref()).unwrap();
        if let Value::Double(read) = back(&Type::Double, &Value::Double(d)) {
            prop_assert!(read.to_bits() == d.to_bits() || (read.is_nan() && d.is_nan()));
        }
        if let Value::Vector(read) = back(&Type::Vector(3), &Value::Vector(floats.clone())) {
            prop_assert!(read.iter().zip(&floats).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        for (ty, v) in [(Type::Decimal, Value::Decimal(dec)), (Type::Text, Value::Text(t)), (Type::BigInt, Value::BigInt(n))] {
            prop_assert_eq!(back(&ty, &v), v);
        }
    }
}

#[test]
fn keys_are_those_of_the_sales_document() {
    let sales = table(
        1,
        vec![
            column("productId", Type::Text, Kind::Partition, "PRODUCT"),
            column("saleDate", Type::Date, Kind::Clustering(Direction::Ascending), "SALE"),
            column("saleId", Type::Text, Kind::Clustering(Direction::Ascending), ""),
        ],
    );
    let tenant = Tenant::new("carousel-labs").unwrap();
    let text = |t: &str| Value::Text(t.into());
    let date = Value::Date(Date::new(2025, 12, 29).unwrap());
    let key = [text("prod_12345"), date.clone(), text("sale_abc123")];
    let address = Address::row(&tenant, &sales, &key).unwrap();
    assert_eq!(address.pk, "TENANT#carousel-labs#PRODUCT#prod_12345");
    assert_eq!(address.sk.as_deref(), Some("SALE#2025-12-29#sale_abc123"));

    let ascending = Kind::Clustering(Direction::Ascending);
    let by_category = table(
        2,
        vec![
            column("category", Type::Text, Kind::Partition, "CATEGORY"),
            column("shard", Type::Int, Kind::Partition, "SHARD"),
            column("saleDate", Type::Date, ascending, "DATE"),
            column("price_cents", Type::Int, ascending, "PRICE"),
            column("saleId", Type::Text, ascending, ""),
        ],
    );
    let pk = key::partition_text(&tenant, &by_category, &[text("dress"), Value::Int(7)]).unwrap();
    assert_eq!(pk, "TENANT#carousel-labs#CATEGORY#dress#SHARD#7");
    let sk = key::sort_text(&by_category, 2, &[date.clone(), Value::Int(9999)]).unwrap();
    assert_eq!(sk, "DATE#2025-12-29#PRICE#0000009999");

    let embeddings = table(
        1,
        vec![
            column("shard", Type::Int, Kind::Partition, "EMBTYPE#PRODUCT#SHARD"),
            column("saleDate", Type::Date, ascending, "DATE"),
        ],
    );
    let pk = key::partition_text(&tenant, &embeddings, &[Value::Int(3)]).unwrap();
    assert_eq!(pk, "TENANT#carousel-labs#EMBTYPE#PRODUCT#SHARD#3");
    assert_eq!(key::sort_text(&embeddings, 1, &[date]).unwrap(), "DATE#2025-12-29");
}

#[test]
fn numbers_in_sort_keys_have_the_documented_form() {
    let text = |t: Type, v: Value| key::sort_text(&clustered(&[(t, Direction::Ascending, "")]), 1, &[v]).unwrap();
    let decimal = |d: &str| text(Type::Decimal, Value::Decimal(d.parse().unwrap()));
    assert_eq!(decimal("12345.67"), "05:12345.67");
    assert_eq!(decimal("0"), "00:0");
    assert_eq!(decimal("0.050"), "00:0.05");
    assert_eq!(decimal("-1.5"), "-98:8.4~");
    assert_eq!(text(Type::Int, Value::Int(42)), "0000000042");
    assert_eq!(text(Type::Int, Value::Int(-1)), "-9999999998");
    assert_eq!(text(Type::Text, Value::Text("!".into())), "$21");
    assert_eq!(text(Type::Text, Value::Text(String::new())), "#");
}

#[test]
fn neighbouring_forms_are_read() {
    let n = |t: &str| AttributeValue::N(t.into());
    assert_eq!(convert::value(&Type::Decimal, Some(&n("1E+2"))).unwrap(), Value::Decimal(Decimal::from(100)));
    assert_eq!(convert::value(&Type::Int, Some(&n("1.2E1"))).unwrap(), Value::Int(12));
    assert_eq!(convert::value(&Type::Double, Some(&n("3"))).unwrap(), Value::Double(3.0));
    let floats = AttributeValue::L(vec![n("1"), n("0.5")]);
    assert_eq!(convert::value(&Type::Vector(2), Some(&floats)).unwrap(), Value::Vector(vec![1.0, 0.5]));
    assert_eq!(convert::value(&Type::Text, Some(&AttributeValue::Null(true))).unwrap(), Value::Null);
    assert!(convert::value(&Type::Int, Some(&n("1.5"))).is_err());
    assert!(convert::value(&Type::Int, Some(&n("99999999999"))).is_err());
    assert!(convert::value(&Type::Decimal, Some(&n("1E+120"))).is_err());
    assert!(convert::value(&Type::Vector(3), Some(&floats)).is_err());
}

#[test]
fn collections_read_back() {
    let def = StructType { name: "s".into(), fields: vec![("a".into(), Type::Int), ("b".into(), Type::Text)] };
    let text = |t: &str| Value::Text(t.into());
    let map = |k: Type, v: Type| Type::Map(Box::new(k), Box::new(v));
    let cases = [
        (Type::Set(Box::new(Type::Text)), Value::Set(vec![text(""), text("a")])),
        (Type::Set(Box::new(Type::Int)), Value::Set(vec![Value::Int(-3), Value::Int(20)])),
        (Type::Set(Box::new(Type::Boolean)), Value::Set(vec![Value::Boolean(false), Value::Boolean(true)])),
        (map(Type::Text, Type::Int), Value::Map(vec![(text("a"), Value::Int(1)), (text("b"), Value::Int(2))])),
        (map(Type::Text, Type::Int), Value::Map(vec![(text(""), Value::Int(1))])),
        (map(Type::Int, Type::Text), Value::Map(vec![(Value::Int(-2), text("x")), (Value::Int(10), text("y"))])),
        (Type::Struct(def), Value::Struct(vec![Value::Int(1), Value::Null])),
    ];
    for (t, v) in cases {
        let attribute = convert::attribute(&t, &v);
        assert_eq!(convert::value(&t, attribute.as_ref()).unwrap(), v, "{t}");
    }
    assert_eq!(convert::attribute(&Type::Set(Box::new(Type::Int)), &Value::Set(Vec::new())), None);
}

#[test]
fn what_others_wrote_expires_by_ttl() {
    let plain = table(1, vec![column("id", Type::Text, Kind::Partition, "")]);
    let mut found =
        item::Item::from([("PK".to_owned(), item::text("TENANT#a#x")), ("ttl".to_owned(), item::number(7))]);
    let (_, row) = item::row(&plain, &found).unwrap().unwrap();
    assert_eq!(row.expires_at, Some(Timestamp::from_millis(7_000)));
    found.insert("_expires_at".into(), item::number(6_500));
    assert_eq!(item::row(&plain, &found).unwrap().unwrap().1.expires_at, Some(Timestamp::from_millis(6_500)));
    found.insert("_version".into(), item::number(1));
    assert!(item::row(&plain, &found).unwrap().is_none(), "bookkeeping without a row");
    found.insert("_live".into(), AttributeValue::Bool(true));
    assert!(item::row(&plain, &found).unwrap().is_some());
}
