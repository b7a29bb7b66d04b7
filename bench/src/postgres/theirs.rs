//! The same catalog in PostgreSQL: one table, its primary key, an index for the category page, prepared statements. One
//! connection a client, as a pool would hand them out.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use merkato::{
    Currency,
    catalog::{CategoryEntry, Product, ProductStatus},
    id::{CategoryId, ProductId},
};
use rust_decimal::Decimal;
use tokio_postgres::{
    Config, NoTls, Row, Statement,
    binary_copy::BinaryCopyInWriter,
    types::{Json, ToSql, Type},
};
use uuid::Uuid;
use widerow::Timestamp;

use super::{PAGE, sample::Sample};

/// Names and types, in the order in which they are copied in and read.
const COLUMNS: [(&str, &str, Type); 26] = [
    ("product_id", "uuid PRIMARY KEY", Type::UUID),
    ("name", "text NOT NULL", Type::TEXT),
    ("slug", "text NOT NULL", Type::TEXT),
    ("description", "text", Type::TEXT),
    ("category_id", "uuid NOT NULL", Type::UUID),
    ("category_name", "text NOT NULL", Type::TEXT),
    ("category_path", "uuid[] NOT NULL", Type::UUID_ARRAY),
    ("brand", "text", Type::TEXT),
    ("price", "numeric(12, 2) NOT NULL", Type::NUMERIC),
    ("compare_at_price", "numeric(12, 2)", Type::NUMERIC),
    ("currency", "text NOT NULL", Type::TEXT),
    ("sku", "text", Type::TEXT),
    ("weight_grams", "integer", Type::INT4),
    ("dimensions", "jsonb NOT NULL", Type::JSONB),
    ("image_urls", "text[] NOT NULL", Type::TEXT_ARRAY),
    ("thumbnail_url", "text", Type::TEXT),
    ("attributes", "jsonb NOT NULL", Type::JSONB),
    ("tags", "text[] NOT NULL", Type::TEXT_ARRAY),
    ("status", "text NOT NULL", Type::TEXT),
    ("rating_average", "numeric(3, 2)", Type::NUMERIC),
    ("rating_count", "integer NOT NULL", Type::INT4),
    ("in_stock", "boolean NOT NULL", Type::BOOL),
    ("popularity", "bigint NOT NULL", Type::INT8),
    ("revision", "bigint NOT NULL", Type::INT8),
    ("created_at", "timestamptz NOT NULL", Type::TIMESTAMPTZ),
    ("updated_at", "timestamptz NOT NULL", Type::TIMESTAMPTZ),
];

/// What a category page shows of a product.
const ENTRY_COLUMNS: &str = "category_id, product_id, name, slug, brand, thumbnail_url, price, compare_at_price, \
                             currency, rating_average, rating_count, in_stock";

/// A table of this run's own.
pub struct Table {
    config: Config,
    owner: tokio_postgres::Client,
    name: String,
}

pub struct Client {
    connection: tokio_postgres::Client,
    product: Statement,
    page: Statement,
    next_page: Statement,
}

pub async fn connect(config: &Config) -> tokio_postgres::Client {
    let (client, connection) = config.connect(NoTls).await.expect("a connection to PostgreSQL");
    tokio::spawn(async move { connection.await.expect("the connection lives") });
    client
}

impl Table {
    pub async fn load(address: &str, sample: &Sample) -> Self {
        let config: Config = address.parse().expect("an address of PostgreSQL");
        let owner = connect(&config).await;
        let name = format!("products_{}", std::process::id());
        let columns = COLUMNS.map(|(column, kind, _)| format!("{column} {kind}")).join(", ");
        owner.batch_execute(&format!("CREATE TABLE {name} ({columns})")).await.expect("a table");
        let sink = owner.copy_in(&format!("COPY {name} FROM STDIN BINARY")).await.expect("a copy");
        let writer = BinaryCopyInWriter::new(sink, &COLUMNS.map(|(_, _, kind)| kind));
        let mut writer = Box::pin(writer);
        for i in 0..sample.len() {
            let product = sample.product(i);
            let values = values(&product);
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|v| &**v as &(dyn ToSql + Sync)).collect();
            writer.as_mut().write(&values).await.expect("a row");
        }
        writer.as_mut().finish().await.expect("the copy ends");
        owner
            .batch_execute(&format!("CREATE INDEX ON {name} (category_id, price, product_id)"))
            .await
            .expect("an index");
        owner.batch_execute(&format!("VACUUM ANALYZE {name}")).await.expect("statistics");
        Table { config, owner, name }
    }

    pub async fn client(&self) -> Client {
        let connection = connect(&self.config).await;
        let name = &self.name;
        let all = COLUMNS.map(|(column, ..)| column).join(", ");
        let prepare = async |sql: String| connection.prepare(&sql).await.expect("a statement");
        let product = prepare(format!("SELECT {all} FROM {name} WHERE product_id = $1")).await;
        let of_category = format!("SELECT {ENTRY_COLUMNS} FROM {name} WHERE category_id = $1 AND status = 'active'");
        let in_order = format!("ORDER BY price, product_id LIMIT {PAGE}");
        let page = prepare(format!("{of_category} {in_order}")).await;
        let next_page = prepare(format!("{of_category} AND (price, product_id) > ($2, $3) {in_order}")).await;
        Client { connection, product, page, next_page }
    }

    pub async fn version(&self) -> String {
        self.owner.query_one("SHOW server_version", &[]).await.expect("its version").get(0)
    }

    pub async fn size_bytes(&self) -> i64 {
        let size = "SELECT pg_total_relation_size($1::text::regclass)";
        self.owner.query_one(size, &[&self.name]).await.expect("its size").get(0)
    }

    pub async fn drop(self) {
        self.owner.batch_execute(&format!("DROP TABLE {}", self.name)).await.expect("dropped");
    }
}

impl Client {
    pub async fn product(&self, id: ProductId) -> Product {
        product(&self.connection.query_one(&self.product, &[&id.0]).await.expect("a product"))
    }

    /// The cheapest first, from the beginning or after another page's last entry.
    pub async fn page(&self, category: CategoryId, after: Option<&CategoryEntry>) -> Vec<CategoryEntry> {
        let rows = match after {
            None => self.connection.query(&self.page, &[&category.0]).await,
            Some(last) => {
                let key: [&(dyn ToSql + Sync); 3] = [&category.0, &last.price, &last.product_id.0];
                self.connection.query(&self.next_page, &key).await
            }
        };
        rows.expect("a read").iter().map(entry).collect()
    }
}

/// A row's values, in the order of `COLUMNS`.
fn values(product: &Product) -> Vec<Box<dyn ToSql + Sync + Send + '_>> {
    let path: Vec<Uuid> = product.category_path.iter().map(|category| category.0).collect();
    vec![
        Box::new(product.product_id.0),
        Box::new(&product.name),
        Box::new(&product.slug),
        Box::new(&product.description),
        Box::new(product.category_id.0),
        Box::new(&product.category_name),
        Box::new(path),
        Box::new(&product.brand),
        Box::new(product.price),
        Box::new(product.compare_at_price),
        Box::new(product.currency.code()),
        Box::new(&product.sku),
        Box::new(product.weight_grams),
        Box::new(Json(&product.dimensions)),
        Box::new(&product.image_urls),
        Box::new(&product.thumbnail_url),
        Box::new(Json(&product.attributes)),
        Box::new(product.tags.iter().collect::<Vec<_>>()),
        Box::new(product.status.as_str()),
        Box::new(product.rating_average),
        Box::new(product.rating_count),
        Box::new(product.in_stock),
        Box::new(product.popularity),
        Box::new(product.revision),
        Box::new(time(product.created_at)),
        Box::new(time(product.updated_at)),
    ]
}

fn product(row: &Row) -> Product {
    let path: Vec<Uuid> = row.get(6);
    let Json(dimensions): Json<BTreeMap<String, i32>> = row.get(13);
    let Json(attributes): Json<BTreeMap<String, String>> = row.get(16);
    let tags: Vec<String> = row.get(17);
    Product {
        product_id: ProductId(row.get(0)),
        name: row.get(1),
        slug: row.get(2),
        description: row.get(3),
        category_id: CategoryId(row.get(4)),
        category_name: row.get(5),
        category_path: path.into_iter().map(CategoryId).collect(),
        brand: row.get(7),
        price: row.get(8),
        compare_at_price: row.get(9),
        currency: Currency::new(row.get::<_, String>(10)),
        sku: row.get(11),
        weight_grams: row.get(12),
        dimensions,
        image_urls: row.get(14),
        thumbnail_url: row.get(15),
        attributes,
        tags: BTreeSet::from_iter(tags),
        status: match row.get(18) {
            "active" => ProductStatus::Active,
            "draft" => ProductStatus::Draft,
            _ => ProductStatus::Archived,
        },
        rating_average: row.get::<_, Option<Decimal>>(19),
        rating_count: row.get(20),
        in_stock: row.get(21),
        popularity: row.get(22),
        featured: BTreeMap::new(),
        revision: row.get(23),
        created_at: timestamp(row.get(24)),
        updated_at: timestamp(row.get(25)),
        told: None,
    }
}

fn entry(row: &Row) -> CategoryEntry {
    CategoryEntry {
        category_id: CategoryId(row.get(0)),
        sort_key: String::new(),
        product_id: ProductId(row.get(1)),
        name: row.get(2),
        slug: row.get(3),
        brand: row.get(4),
        thumbnail_url: row.get(5),
        price: row.get(6),
        compare_at_price: row.get(7),
        currency: Currency::new(row.get::<_, String>(8)),
        rating_average: row.get(9),
        rating_count: row.get(10),
        in_stock: row.get(11),
    }
}

fn time(timestamp: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(timestamp.millis() as u64)
}

fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::from_millis(time.duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as i64)
}
