//! What the derive macros make of declarations: tables, keys, constants, values there and back, and what a schema refuses.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{
    Cell, Row,
    derived::Derive,
    error::SchemaError,
    row::{ColumnOf, KeyParts},
    schema::{Column, Consistency, Direction, Index, Kind, Projection, Schema},
    time::{Date, Timestamp},
    value::{Counter, KeyCell, Single, StructType, Type, Value, Vector},
};

#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CartId(pub Uuid);

#[derive(Cell, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineId(pub String);

#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OldCartId(pub CartId);

#[derive(Cell, Clone, Copy, Debug, PartialEq)]
pub struct Weight(pub f64);

#[derive(Cell, Clone, Debug, Default, PartialEq)]
pub struct Labels(pub BTreeSet<String>);

#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    OnSale,
    #[cell(name = "GONE")]
    SoldOut,
    HTTPOnly,
    Level2 = 7,
}

#[derive(Cell, Clone, Debug, PartialEq)]
pub struct PostalAddress {
    pub street: String,
    #[cell(name = "zipCode")]
    pub zip_code: Option<String>,
    pub tags: BTreeSet<Status>,
}

#[derive(Cell, Clone, Debug, PartialEq)]
#[cell(name = "person")]
pub struct Contact {
    pub r#type: Status,
    pub address: PostalAddress,
    pub earlier: Vec<PostalAddress>,
}

/// named-carts Q5: a cart's lines,
///   newest first.
///
/// One partition a cart.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "items_by_cart",
    partition(cart_id),
    clustering(added_at desc, line_id),
    guarded,
    ttl = "30d",
    gc_grace = "12h",
    read = Serial,
    write = Quorum
)]
pub struct CartLine {
    pub note: Option<String>,
    #[row(label = "LINE")]
    pub line_id: LineId,
    pub added_at: Timestamp,
    #[row(static)]
    pub subtotal: Option<Decimal>,
    #[row(name = "unitPrice")]
    pub unit_price: Decimal,
    pub cart_id: CartId,
}

/// Every type that a column can have.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "everything", partition(status, day))]
struct Everything {
    status: Status,
    day: Date,
    text: String,
    int: i32,
    big: i64,
    count: u32,
    decimal: Decimal,
    double: f64,
    yes: bool,
    id: Uuid,
    at: Timestamp,
    bytes: Vec<u8>,
    vector: Vector<2>,
    list: Vec<String>,
    set: BTreeSet<Date>,
    map: BTreeMap<String, i32>,
    maybe: Option<Uuid>,
    contact: Contact,
    contacts: Vec<Contact>,
    by_name: BTreeMap<LineId, PostalAddress>,
    maybe_contact: Option<Contact>,
    weight: Weight,
    maybe_weight: Option<Weight>,
    labels: Labels,
    old: OldCartId,
    r#type: Option<Status>,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "views_by_day", partition(day, r#type), clustering(cart), counters)]
struct Views {
    day: Date,
    r#type: Status,
    cart: OldCartId,
    views: Counter,
    clicks: Counter,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "products", partition(id), guarded, ttl = 3600)]
struct Product {
    id: Uuid,
    #[row(name = "cat")]
    category: String,
    price: Decimal,
    name: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "products_by_category",
    partition(category),
    clustering(price desc, id),
    index(name = "GSI1", sort_columns = 1, projection = include(name, category, "stock"))
)]
struct InCategory {
    #[row(name = "cat")]
    category: String,
    price: Decimal,
    id: Uuid,
    name: String,
}

impl Derive<InCategory> for Product {
    fn derive(&self) -> Vec<InCategory> {
        let Product { id, category, price, name } = self.clone();
        vec![InCategory { category, price, id, name }]
    }
    fn source(derived: &InCategory) -> Uuid {
        derived.id
    }
}

fn column(name: &str, column_type: Type, kind: Kind, optional: bool, label: &str) -> Column {
    Column { name: name.into(), column_type, kind, optional, label: label.into(), index_key: None }
}

fn a_line() -> CartLine {
    CartLine {
        note: None,
        line_id: LineId("l1".into()),
        added_at: Timestamp::from_millis(5),
        subtotal: Some(Decimal::new(1250, 2)),
        unit_price: Decimal::ONE,
        cart_id: CartId(Uuid::from_u128(7)),
    }
}

fn a_contact(street: &str) -> Contact {
    Contact {
        r#type: Status::SoldOut,
        address: PostalAddress { street: street.into(), zip_code: None, tags: BTreeSet::new() },
        earlier: vec![PostalAddress {
            street: "old".into(),
            zip_code: Some("1010".into()),
            tags: [Status::Level2, Status::OnSale].into(),
        }],
    }
}

fn everything() -> Everything {
    Everything {
        status: Status::OnSale,
        day: Date::from_days(3),
        text: "t".into(),
        int: -1,
        big: i64::MAX,
        count: 3,
        decimal: Decimal::new(15, 1),
        double: 0.5,
        yes: true,
        id: Uuid::from_u128(1),
        at: Timestamp::from_millis(9),
        bytes: vec![0, 255],
        vector: Vector::new(vec![0.0, 1.0]).unwrap(),
        list: vec!["b".into(), "a".into()],
        set: [Date::from_days(2), Date::from_days(1)].into(),
        map: [("x".to_owned(), 1)].into(),
        maybe: Some(Uuid::from_u128(2)),
        contact: a_contact("here"),
        contacts: vec![a_contact("there"), a_contact("elsewhere")],
        by_name: [(LineId("n".into()), a_contact("x").address)].into(),
        maybe_contact: Some(a_contact("perhaps")),
        weight: Weight(1.5),
        maybe_weight: None,
        labels: Labels(["l".to_owned()].into()),
        old: OldCartId(CartId(Uuid::from_u128(8))),
        r#type: Some(Status::HTTPOnly),
    }
}

#[test]
fn a_table_is_as_declared() {
    let table = CartLine::table();
    assert_eq!(table.name, "items_by_cart");
    assert_eq!(table.doc, "named-carts Q5: a cart's lines, newest first.\nOne partition a cart.");
    assert_eq!(
        table.columns,
        [
            column("cart_id", Type::Uuid, Kind::Partition, false, "CART_ID"),
            column("added_at", Type::Timestamp, Kind::Clustering(Direction::Descending), false, "ADDED_AT"),
            column("line_id", Type::Text, Kind::Clustering(Direction::Ascending), false, "LINE"),
            column("note", Type::Text, Kind::Regular, true, "NOTE"),
            column("subtotal", Type::Decimal, Kind::Static, true, "SUBTOTAL"),
            column("unitPrice", Type::Decimal, Kind::Regular, false, "UNITPRICE"),
        ]
    );
    assert_eq!((table.partition_columns, table.clustering_columns), (1, 2));
    assert_eq!((table.guarded, table.counters), (true, false));
    assert_eq!((table.ttl_seconds, table.gc_grace_seconds), (Some(30 * 86_400), Some(12 * 3_600)));
    assert_eq!((table.read, table.write), (Consistency::Serial, Consistency::Quorum));
    assert_eq!(table.index, None);
    assert!(std::ptr::eq(table, CartLine::table()));
}

#[test]
fn what_is_not_said_has_a_default() {
    let table = Everything::table();
    assert_eq!((table.read, table.write), (Consistency::LocalQuorum, Consistency::LocalQuorum));
    assert_eq!((table.guarded, table.ttl_seconds, table.gc_grace_seconds), (false, None, None));
    assert_eq!((table.partition_columns, table.clustering_columns), (2, 0));
    assert_eq!(Product::table().ttl_seconds, Some(3600));
}

#[test]
fn counters_are_read_and_written_at_one() {
    let table = Views::table();
    assert!(table.counters);
    assert_eq!((table.read, table.write), (Consistency::One, Consistency::One));
    assert_eq!(table.columns[1], column("type", Type::Text, Kind::Partition, false, "TYPE"));
    assert_eq!(table.columns[4], column("clicks", Type::Counter, Kind::Regular, true, "CLICKS"));
}

#[test]
fn an_index_names_what_it_projects() {
    let projection = Projection::Include(vec!["name".into(), "cat".into(), "stock".into()]);
    assert_eq!(InCategory::table().index, Some(Index { name: "GSI1".into(), sort_columns: 1, projection }));
}

#[test]
fn keys_are_single_values_or_flat_tuples() {
    fn partition<R: Row>(key: R::Partition) -> Vec<Value> {
        key.into_values()
    }
    fn key<R: Row>(key: R::Key) -> Vec<Value> {
        key.into_values()
    }
    let line = a_line();
    assert_eq!(partition::<CartLine>(line.cart_id), line.to_values()[..1]);
    assert_eq!(key::<CartLine>((line.cart_id, line.added_at, line.line_id.clone())), line.to_values()[..3]);
    let day = Date::from_days(1);
    let typed = vec![Value::Text("on_sale".into()), Value::Date(day)];
    assert_eq!(partition::<Everything>((Status::OnSale, day)), typed);
    assert_eq!(key::<Everything>((Status::OnSale, day)), typed);
    assert_eq!(key::<Product>(Uuid::nil()), [Value::Uuid(Uuid::nil())]);
}

#[test]
fn constants_carry_the_columns_name_and_type() {
    const SUBTOTAL: ColumnOf<CartLine, Option<Decimal>> = CartLine::SUBTOTAL;
    assert_eq!(SUBTOTAL.name, "subtotal");
    assert_eq!(CartLine::UNIT_PRICE.name, "unitPrice");
    let of_keyword: ColumnOf<Everything, Option<Status>> = Everything::TYPE;
    assert_eq!(of_keyword.name, "type");
}

#[test]
fn values_stand_in_canonical_order_and_come_back() {
    let line = a_line();
    let values = line.to_values();
    assert_eq!(values[2], Value::Text("l1".into()));
    assert_eq!(values[3], Value::Null);
    assert_eq!(CartLine::from_values(values).unwrap(), line);
}

#[test]
fn every_type_comes_back() {
    let row = everything();
    let values = row.to_values();
    for (column, value) in Everything::table().columns.iter().zip(&values) {
        assert!(value.is_null() || column.column_type.admits(value), "{} has {value:?}", column.name);
    }
    assert_eq!(Everything::from_values(values).unwrap(), row);
    let views =
        Views { day: Date::from_days(1), r#type: Status::OnSale, cart: row.old, views: Counter(4), clicks: Counter(0) };
    assert_eq!(Views::from_values(views.to_values()).unwrap(), views);
}

#[test]
fn a_cell_of_the_wrong_type_is_named_by_its_column() {
    let mut values = a_line().to_values();
    values[5] = Value::Boolean(true);
    let mismatch = CartLine::from_values(values).unwrap_err();
    assert_eq!(mismatch.to_string(), "expected Decimal in column unitPrice, found Boolean(true)");
}

#[test]
fn enums_are_text() {
    let texts = [Status::OnSale, Status::SoldOut, Status::HTTPOnly, Status::Level2].map(|s| s.as_str());
    assert_eq!(texts, ["on_sale", "GONE", "http_only", "level2"]);
    let unknown = Status::from_value(Value::Text("sold_out".into())).unwrap_err();
    assert_eq!(unknown.expected, "Status (one of on_sale, GONE, http_only, level2)");
    assert!(Status::from_value(Value::Null).is_err());
}

#[test]
fn structs_are_user_defined_types() {
    let address = Type::Struct(StructType {
        name: "postal_address".into(),
        fields: vec![
            ("street".into(), Type::Text),
            ("zipCode".into(), Type::Text),
            ("tags".into(), Type::Set(Box::new(Type::Text))),
        ],
    });
    let fields = vec![
        ("type".into(), Type::Text),
        ("address".into(), address.clone()),
        ("earlier".into(), Type::List(Box::new(address))),
    ];
    assert_eq!(Contact::column_type(), Type::Struct(StructType { name: "person".into(), fields }));
    let used: Vec<&str> = Everything::table().struct_types().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(used, ["postal_address", "person"]);
}

#[test]
fn a_struct_that_was_stored_with_fewer_fields_is_read() {
    let short = Value::Struct(vec![Value::Text("s".into())]);
    let address = PostalAddress { street: "s".into(), zip_code: None, tags: BTreeSet::new() };
    assert_eq!(PostalAddress::from_value(short).unwrap(), address);
    let none = PostalAddress::from_value(Value::Struct(vec![])).unwrap_err();
    assert_eq!(none.to_string(), "expected Text in field street of type postal_address, found Null");
    let other = Contact::from_value(Value::Int(1)).unwrap_err();
    assert_eq!(other.to_string(), "expected person, found Int(1)");
}

#[test]
fn newtypes_are_what_they_wrap() {
    fn in_key<T: KeyCell + Single>() {}
    in_key::<OldCartId>();
    in_key::<LineId>();
    assert_eq!(OldCartId::column_type(), Type::Uuid);
    assert_eq!(Labels::column_type(), Type::Set(Box::new(Type::Text)));
    assert_eq!((CartId::OPTIONAL, Labels::OPTIONAL), (false, true));
    assert_eq!(Labels::default().to_value(), Value::Null);
}

#[test]
fn a_schema_of_these_tables_builds() {
    let schema = Schema::new()
        .table::<CartLine>()
        .table::<Everything>()
        .table::<Views>()
        .derived::<Product, InCategory>()
        .build()
        .unwrap();
    assert_eq!(schema.derivations_of(Product::table()).count(), 1);
    assert!(schema.find("items_by_cart").is_some());
}

/// Declarations that are each right, and wrong together.
mod wrong_together {
    use super::*;

    #[derive(Row, Clone)]
    #[row(table = "plain", partition(id))]
    struct Plain {
        id: Uuid,
        column: String,
    }

    #[derive(Row, Clone)]
    #[row(table = "guarded", partition(id), guarded)]
    struct Guarded {
        id: Uuid,
        column: String,
    }

    #[derive(Row, Clone)]
    #[row(table = "also_guarded", partition(id), guarded)]
    struct AlsoGuarded {
        id: Uuid,
        column: String,
    }

    #[derive(Row, Clone)]
    #[row(table = "by_column", partition(column), clustering(id))]
    struct ByColumn {
        column: String,
        id: Uuid,
    }

    #[derive(Row, Clone)]
    #[row(table = "keys", partition(id), index(name = "GSI2", projection = keys_only))]
    struct KeysOnly {
        id: Uuid,
        column: String,
    }

    macro_rules! derives {
        ($base:ident, $derived:ident) => {
            impl Derive<$derived> for $base {
                fn derive(&self) -> Vec<$derived> {
                    vec![$derived { id: self.id, column: self.column.clone() }]
                }
                fn source(derived: &$derived) -> Uuid {
                    derived.id
                }
            }
        };
    }
    derives!(Plain, ByColumn);
    derives!(Guarded, ByColumn);
    derives!(Guarded, KeysOnly);
    derives!(AlsoGuarded, ByColumn);
    derives!(Guarded, AlsoGuarded);

    #[test]
    fn a_base_that_is_not_guarded() {
        let error = Schema::new().derived::<Plain, ByColumn>().build().unwrap_err();
        assert_eq!(error, SchemaError::BaseNotGuarded { base: "plain".into(), derived: "by_column".into() });
    }

    #[test]
    fn a_derived_table_that_is_guarded() {
        let error = Schema::new().derived::<Guarded, AlsoGuarded>().build().unwrap_err();
        assert_eq!(error, SchemaError::DerivedNotPlain { derived: "also_guarded".into() });
    }

    /// What a table's rows can end by; the macro sees the words, the schema the types.
    #[test]
    fn an_end_that_makes_no_sense() {
        #[derive(Row, Clone, Debug, PartialEq)]
        #[row(table = "endless", partition(id), ends = "column")]
        struct Endless {
            id: Uuid,
            column: String,
        }
        let said = |error: SchemaError| error.to_string();
        let error = Schema::new().table::<Endless>().build().unwrap_err();
        assert_eq!(said(error), "table endless: column column: rows end at an instant: its type must be a timestamp");
        assert_eq!(Endless::table().ends, Some(1));
        #[derive(Row, Clone, Debug, PartialEq)]
        #[row(table = "ending", partition(id), clustering(at), ends = "over")]
        struct Ending {
            id: Uuid,
            at: widerow::Timestamp,
            #[row(name = "over")]
            until: Option<widerow::Timestamp>,
        }
        Schema::new().table::<Ending>().build().unwrap();
        let row = Ending { id: Uuid::nil(), at: widerow::Timestamp::MIN, until: Some(widerow::Timestamp::MAX) };
        assert_eq!(Ending::table().end_of(&row.to_values()), Some(widerow::Timestamp::MAX));
        assert_eq!(Ending::table().end_of(&Ending { until: None, ..row }.to_values()), None);
        let wrong = |change: fn(&mut widerow::schema::Table)| {
            let mut table = Ending::table().clone();
            change(&mut table);
            said(widerow::schema::check(&table).unwrap_err())
        };
        let column = "table ending: column over: ";
        assert_eq!(
            wrong(|t| t.ttl_seconds = Some(1)),
            format!("{column}it is the end of the rows, which have a time to live as well: keep one of them")
        );
        assert_eq!(
            wrong(|t| t.columns[2].kind = widerow::schema::Kind::Static),
            format!("{column}it is static, and static columns do not end")
        );
        let projection = widerow::schema::Projection::All;
        let index = widerow::schema::Index { name: "GSI1".into(), sort_columns: 1, projection };
        let mut table = Ending::table().clone();
        table.index = Some(index);
        assert_eq!(
            said(widerow::schema::check(&table).unwrap_err()),
            format!("{column}a table that is kept as an index ends with its base table's rows")
        );
        assert_eq!(wrong(|t| t.ends = Some(9)), "table ending: the column that its rows end by is not there");
    }

    #[test]
    fn two_bases() {
        let error =
            Schema::new().derived::<Guarded, ByColumn>().derived::<AlsoGuarded, ByColumn>().build().unwrap_err();
        assert_eq!(error, SchemaError::TwoBases { derived: "by_column".into() });
    }

    #[test]
    fn an_index_of_nothing() {
        let error = Schema::new().table::<KeysOnly>().build().unwrap_err();
        assert_eq!(error, SchemaError::IndexOfNothing { table: "keys".into() });
    }

    #[test]
    fn an_index_without_one_of_its_columns() {
        let error = Schema::new().derived::<Guarded, KeysOnly>().build().unwrap_err();
        assert_eq!(error, SchemaError::IndexColumn { table: "keys".into(), column: "column".into() });
    }

    #[test]
    fn two_types_of_one_name() {
        #[derive(Cell, Clone)]
        #[cell(name = "person")]
        struct Other {
            name: String,
        }
        #[derive(Row, Clone)]
        #[row(table = "others", partition(id))]
        struct Others {
            id: Uuid,
            other: Other,
        }
        let error = Schema::new().table::<Everything>().table::<Others>().build().unwrap_err();
        assert_eq!(error, SchemaError::TwoTypes { name: "person".into() });
    }

    #[test]
    fn a_name_that_no_engine_takes() {
        #[derive(Row, Clone)]
        #[row(table = "badly_named", partition(id))]
        struct BadlyNamed {
            id: Uuid,
            #[row(name = "unit price")]
            price: Decimal,
        }
        let error = Schema::new().table::<BadlyNamed>().build().unwrap_err();
        assert!(matches!(error, SchemaError::Declaration { table, .. } if table == "badly_named"));
    }
}
