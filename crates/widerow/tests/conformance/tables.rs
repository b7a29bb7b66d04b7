//! The tables of the suite: one for each shape that the data layer promises.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Cell, Counter, Date, Derive, Row, Schema, Timestamp, Vector};

/// A nested struct.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Address {
    pub street: String,
    pub number: Option<i32>,
    pub moved_in: Option<Date>,
}

#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Draft,
    OnSale,
    Archived,
}

/// Every type that a column can have.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "everything", partition(id), clustering(position))]
pub struct Everything {
    pub id: Uuid,
    pub position: i32,
    pub words: Option<String>,
    pub small: Option<i32>,
    pub large: Option<i64>,
    pub exact: Option<Decimal>,
    pub float: Option<f64>,
    pub yes: Option<bool>,
    pub other: Option<Uuid>,
    pub at: Option<Timestamp>,
    pub day: Option<Date>,
    pub bytes: Option<Vec<u8>>,
    pub vector: Option<Vector<3>>,
    pub list: Vec<String>,
    pub tags: BTreeSet<String>,
    pub numbers: BTreeSet<i64>,
    pub sizes: BTreeMap<String, i32>,
    pub by_day: BTreeMap<Date, Decimal>,
    pub home: Option<Address>,
    pub addresses: Vec<Address>,
    pub nested: BTreeMap<String, Vec<i32>>,
    pub status: Option<Status>,
}

/// Mixed directions, three clustering columns of different types.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "mixed", partition(owner, year), clustering(kind, price desc, name))]
pub struct Mixed {
    pub owner: String,
    pub year: i32,
    pub kind: String,
    pub price: Decimal,
    pub name: String,
    pub note: Option<String>,
}

macro_rules! ordered {
    ($name:ident, $table:literal, $t:ty, $($direction:ident)?) => {
        /// One key column of one type.
        #[derive(Row, Clone, Debug, PartialEq)]
        #[row(table = $table, partition(owner), clustering(value $($direction)?))]
        pub struct $name {
            pub owner: String,
            pub value: $t,
            pub note: i32,
        }
    };
}
ordered!(ByText, "by_text", String,);
ordered!(ByInt, "by_int", i32, desc);
ordered!(ByBigInt, "by_bigint", i64,);
ordered!(ByDecimal, "by_decimal", Decimal,);
ordered!(ByDate, "by_date", Date, desc);
ordered!(ByTimestamp, "by_timestamp", Timestamp,);
ordered!(ByBlob, "by_blob", Vec<u8>,);

/// A guarded partition with a static column: lines of a basket and their sum.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "lines", partition(basket), clustering(added desc, line), guarded)]
pub struct Line {
    pub basket: String,
    pub added: i64,
    pub line: String,
    #[row(static)]
    pub subtotal: Option<i64>,
    #[row(static)]
    pub owner: Option<String>,
    pub price: i64,
    pub quantity: i32,
}

/// One row a partition, guarded, with derived tables.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "articles", partition(id), guarded, read = Quorum, write = Quorum)]
pub struct Article {
    pub id: i64,
    pub name: String,
    pub status: Status,
    pub shelf: Option<String>,
    pub price: i64,
    pub count: i64,
}

/// By status: always one.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "articles_by_status", partition(status), clustering(price, id))]
pub struct ArticleByStatus {
    pub status: Status,
    pub price: i64,
    pub id: i64,
    pub name: String,
}

impl Derive<ArticleByStatus> for Article {
    fn derive(&self) -> Vec<ArticleByStatus> {
        vec![ArticleByStatus { status: self.status, price: self.price, id: self.id, name: self.name.clone() }]
    }
    fn source(derived: &ArticleByStatus) -> i64 {
        derived.id
    }
}

/// By each word of the name, in four shards: several rows, keys only.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "articles_by_word", partition(word, shard), clustering(id))]
pub struct ArticleByWord {
    pub word: String,
    pub shard: i32,
    pub id: i64,
}

impl Derive<ArticleByWord> for Article {
    fn derive(&self) -> Vec<ArticleByWord> {
        let words: BTreeSet<&str> = self.name.split_whitespace().collect();
        let shard = (self.id % 4) as i32;
        words.into_iter().map(|word| ArticleByWord { word: word.to_owned(), shard, id: self.id }).collect()
    }
    fn source(derived: &ArticleByWord) -> i64 {
        derived.id
    }
}

/// Where an article was before: the same key as by status, in another table.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "articles_not_in_status", partition(status), clustering(price, id))]
pub struct ArticleNotInStatus {
    pub status: Status,
    pub price: i64,
    pub id: i64,
    pub words: Vec<String>,
}

impl Derive<ArticleNotInStatus> for Article {
    fn derive(&self) -> Vec<ArticleNotInStatus> {
        let words: Vec<String> = self.name.split_whitespace().map(String::from).collect();
        let all = [Status::Draft, Status::OnSale, Status::Archived].into_iter().filter(|s| *s != self.status);
        all.map(|status| ArticleNotInStatus { status, price: self.price, id: self.id, words: words.clone() }).collect()
    }
    fn source(derived: &ArticleNotInStatus) -> i64 {
        derived.id
    }
}

/// By shelf: sparse, an index of its base on DynamoDB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "articles_by_shelf",
    partition(shelf),
    clustering(price, id),
    index(name = "GSI1", sort_columns = 1, projection = include(name))
)]
pub struct ArticleByShelf {
    pub shelf: String,
    pub price: i64,
    pub id: i64,
    pub name: String,
}

impl Derive<ArticleByShelf> for Article {
    fn derive(&self) -> Vec<ArticleByShelf> {
        let entry = |shelf: &String| ArticleByShelf {
            shelf: shelf.clone(),
            price: self.price,
            id: self.id,
            name: self.name.clone(),
        };
        self.shelf.iter().map(entry).collect()
    }
    fn source(derived: &ArticleByShelf) -> i64 {
        derived.id
    }
}

/// A guarded, clustered base with a derived table: what ranges of deletions need.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "members", partition(club), clustering(joined, person), guarded)]
pub struct Member {
    pub club: String,
    pub joined: Date,
    pub person: String,
    pub city: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "members_by_city", partition(city), clustering(club, person))]
pub struct MemberByCity {
    pub city: String,
    pub club: String,
    pub person: String,
    pub joined: Date,
}

impl Derive<MemberByCity> for Member {
    fn derive(&self) -> Vec<MemberByCity> {
        vec![MemberByCity {
            city: self.city.clone(),
            club: self.club.clone(),
            person: self.person.clone(),
            joined: self.joined,
        }]
    }
    fn source(derived: &MemberByCity) -> (String, Date, String) {
        (derived.club.clone(), derived.joined, derived.person.clone())
    }
}

/// Rows that end.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sessions", partition(person), clustering(number), guarded, ttl = "1h", gc_grace = "1d")]
pub struct Session {
    pub person: String,
    pub number: i32,
    pub device: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sessions_by_device", partition(device), clustering(person, number))]
pub struct SessionByDevice {
    pub device: String,
    pub person: String,
    pub number: i32,
}

impl Derive<SessionByDevice> for Session {
    fn derive(&self) -> Vec<SessionByDevice> {
        vec![SessionByDevice { device: self.device.clone(), person: self.person.clone(), number: self.number }]
    }
    fn source(derived: &SessionByDevice) -> (String, i32) {
        (derived.person.clone(), derived.number)
    }
}

/// Rows that end by a column; a derived table whose rows may end earlier, by a column of theirs.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "holds", partition(item), clustering(number), guarded, ends = "until")]
pub struct Hold {
    pub item: String,
    pub number: i32,
    pub until: Option<Timestamp>,
    pub shown: Option<Timestamp>,
    pub place: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "holds_by_place", partition(place), clustering(item, number), ends = "shown")]
pub struct HoldByPlace {
    pub place: String,
    pub item: String,
    pub number: i32,
    pub shown: Option<Timestamp>,
}

impl Derive<HoldByPlace> for Hold {
    fn derive(&self) -> Vec<HoldByPlace> {
        let Hold { number, shown, .. } = *self;
        vec![HoldByPlace { place: self.place.clone(), item: self.item.clone(), number, shown }]
    }
    fn source(derived: &HoldByPlace) -> (String, i32) {
        (derived.item.clone(), derived.number)
    }
}

/// One row a partition that ends by a column, with a derived table that has no end of its own.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "coupons", partition(code), guarded, ends = "until")]
pub struct Coupon {
    pub code: String,
    pub until: Timestamp,
    pub owner: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "coupons_by_owner", partition(owner), clustering(code))]
pub struct CouponByOwner {
    pub owner: String,
    pub code: String,
}

impl Derive<CouponByOwner> for Coupon {
    fn derive(&self) -> Vec<CouponByOwner> {
        vec![CouponByOwner { owner: self.owner.clone(), code: self.code.clone() }]
    }
    fn source(derived: &CouponByOwner) -> String {
        derived.code.clone()
    }
}

/// A plain table whose rows end by a column of the key.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "notices", partition(owner), clustering(until), ends = "until")]
pub struct Notice {
    pub owner: String,
    pub until: Timestamp,
    pub text: String,
}

/// Rows by ids of any version, guarded, with a derived table.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tickets", partition(desk), clustering(id), guarded)]
pub struct Ticket {
    pub desk: String,
    pub id: Uuid,
    pub note: Option<String>,
}

/// Tickets that have a note.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tickets_by_note", partition(desk, note), clustering(id))]
pub struct TicketByNote {
    pub desk: String,
    pub note: String,
    pub id: Uuid,
}

impl Derive<TicketByNote> for Ticket {
    fn derive(&self) -> Vec<TicketByNote> {
        let row = |note: &String| TicketByNote { desk: self.desk.clone(), note: note.clone(), id: self.id };
        self.note.iter().map(row).collect()
    }
    fn source(derived: &TicketByNote) -> (String, Uuid) {
        (derived.desk.clone(), derived.id)
    }
}

/// What a commit on another partition founds: guarded, with a static column, a list, and a derived table.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "orders", partition(id), clustering(line), guarded)]
pub struct Order {
    pub id: Uuid,
    pub line: i32,
    #[row(static)]
    pub state: Option<String>,
    pub buyer: String,
    pub price: i64,
    pub words: Vec<String>,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "orders_by_buyer", partition(buyer), clustering(price, id, line))]
pub struct OrderByBuyer {
    pub buyer: String,
    pub price: i64,
    pub id: Uuid,
    pub line: i32,
    pub words: Vec<String>,
}

impl Derive<OrderByBuyer> for Order {
    fn derive(&self) -> Vec<OrderByBuyer> {
        let Order { id, line, price, .. } = *self;
        vec![OrderByBuyer { buyer: self.buyer.clone(), price, id, line, words: self.words.clone() }]
    }
    fn source(derived: &OrderByBuyer) -> (Uuid, i32) {
        (derived.id, derived.line)
    }
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "views", partition(page), clustering(day), counters)]
pub struct Views {
    pub page: String,
    pub day: Date,
    pub views: Counter,
    pub clicks: Counter,
}

/// A table that other tools share, with an index by shard, one that is sparse, and one that shows columns.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "readings", partition(station), clustering(day, id), shared, ends = "ttl")]
pub struct Reading {
    #[row(label = "STATION")]
    pub station: String,
    #[row(label = "DAY")]
    pub day: Date,
    #[row(label = "")]
    pub id: String,
    pub kind: String,
    pub owner: Option<String>,
    pub level: i32,
    pub note: Option<String>,
    #[row(index_key = "GSI1PK")]
    pub shard: Option<i32>,
    pub ttl: Option<Timestamp>,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "readings_by_kind", partition(kind, shard), clustering(day, level, station, id), shared,
      index(name = "GSI1", sort_columns = 2, projection = keys_only))]
pub struct ReadingByKind {
    #[row(label = "KIND")]
    pub kind: String,
    #[row(label = "SHARD")]
    pub shard: i32,
    #[row(label = "DAY")]
    pub day: Date,
    #[row(label = "LEVEL")]
    pub level: i32,
    pub station: String,
    pub id: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "readings_by_owner", partition(owner), clustering(day, station, id), shared,
      index(name = "GSI2", sort_columns = 1, projection = include(level, note)))]
pub struct ReadingByOwner {
    #[row(label = "OWNER")]
    pub owner: String,
    #[row(label = "DAY")]
    pub day: Date,
    pub station: String,
    pub id: String,
    pub level: i32,
    pub note: Option<String>,
}

impl Derive<ReadingByKind> for Reading {
    fn derive(&self) -> Vec<ReadingByKind> {
        let row = |shard| ReadingByKind {
            kind: self.kind.clone(),
            shard,
            day: self.day,
            level: self.level,
            station: self.station.clone(),
            id: self.id.clone(),
        };
        self.shard.map(row).into_iter().collect()
    }
    fn source(derived: &ReadingByKind) -> (String, Date, String) {
        (derived.station.clone(), derived.day, derived.id.clone())
    }
}

impl Derive<ReadingByOwner> for Reading {
    fn derive(&self) -> Vec<ReadingByOwner> {
        let row = |owner: &String| ReadingByOwner {
            owner: owner.clone(),
            day: self.day,
            station: self.station.clone(),
            id: self.id.clone(),
            level: self.level,
            note: self.note.clone(),
        };
        self.owner.iter().map(row).collect()
    }
    fn source(derived: &ReadingByOwner) -> (String, Date, String) {
        (derived.station.clone(), derived.day, derived.id.clone())
    }
}

pub fn schema() -> Schema {
    Schema::new()
        .table::<Everything>()
        .table::<Mixed>()
        .table::<ByText>()
        .table::<ByInt>()
        .table::<ByBigInt>()
        .table::<ByDecimal>()
        .table::<ByDate>()
        .table::<ByTimestamp>()
        .table::<ByBlob>()
        .table::<Line>()
        .derived::<Article, ArticleByStatus>()
        .derived::<Article, ArticleByWord>()
        .derived::<Article, ArticleNotInStatus>()
        .derived::<Article, ArticleByShelf>()
        .derived::<Member, MemberByCity>()
        .derived::<Session, SessionByDevice>()
        .derived::<Order, OrderByBuyer>()
        .derived::<Ticket, TicketByNote>()
        .derived::<Hold, HoldByPlace>()
        .derived::<Coupon, CouponByOwner>()
        .table::<Notice>()
        .table::<Views>()
        .derived::<Reading, ReadingByKind>()
        .derived::<Reading, ReadingByOwner>()
        .build()
        .expect("the suite's own schema")
}
