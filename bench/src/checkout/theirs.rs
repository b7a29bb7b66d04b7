//! The same checkout in PostgreSQL: `theirs.sql`, called by a prepared statement, one connection a client.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use merkato::{Settings, orders};
use rust_decimal::Decimal;
use tokio_postgres::{
    Client, Config, Statement,
    binary_copy::BinaryCopyInWriter,
    types::{Json, Type},
};
use uuid::Uuid;

use super::{Books, CLIENTS, COUNTRY, EACH, SHIPPING_METHOD, STOCK, TAX_PERCENT, basket};
use crate::{
    measure::{self, Contender},
    postgres::{connect, sample::Sample},
};

/// The connections of all clients, and one more to look after the tables.
pub struct Server {
    owner: Arc<Client>,
    clients: Vec<Arc<Client>>,
}

/// How the sales of a day are kept.
#[derive(Clone, Copy, Debug)]
pub enum Totals {
    /// One row a day and category, which all orders of it write to.
    Kept,
    /// A row for each order and category, to be summed up by the reader: nobody waits for another.
    Appended,
}

impl Totals {
    fn sql(self) -> &'static str {
        match self {
            Totals::Kept => {
                "INSERT INTO {schema}.daily_sales AS s
                 SELECT current_date, category, v_currency, 1, sum(quantity), sum(total)
                   FROM unnest(v_categories, v_quantities, v_totals) AS l (category, quantity, total)
                  GROUP BY category ORDER BY category
                 ON CONFLICT (date, category_id, currency) DO UPDATE
                 SET order_count = s.order_count + 1, item_count = s.item_count + excluded.item_count,
                     revenue = s.revenue + excluded.revenue"
            }
            Totals::Appended => {
                "INSERT INTO {schema}.daily_sales_parts
                 SELECT current_date, category, v_currency, quantity, total
                   FROM unnest(v_categories, v_quantities, v_totals) AS l (category, quantity, total)"
            }
        }
    }

    fn table(self) -> &'static str {
        match self {
            Totals::Kept => "daily_sales",
            Totals::Appended => "daily_sales_parts",
        }
    }
}

impl Server {
    pub async fn connect(address: &str, clients: usize) -> Self {
        let config: Config = address.parse().expect("an address of PostgreSQL");
        let owner = Arc::new(connect(&config).await);
        let mut all = Vec::with_capacity(clients);
        for _ in 0..clients {
            all.push(Arc::new(connect(&config).await));
        }
        Server { owner, clients: all }
    }

    pub fn owner(&self) -> &Arc<Client> {
        &self.owner
    }

    pub fn clients(&self) -> &[Arc<Client>] {
        &self.clients
    }

    /// A setting of the server's.
    pub async fn show(&self, setting: &str) -> String {
        self.owner.query_one(&format!("SHOW {setting}"), &[]).await.expect("a setting").get(0)
    }
}

pub struct Rival {
    pub totals: Totals,
    owner: Arc<Client>,
    schema: String,
    clients: Vec<(Arc<Client>, Statement)>,
    sample: Arc<Sample>,
    round: usize,
}

impl Rival {
    pub async fn load(server: &Server, totals: Totals, sample: &Arc<Sample>) -> Self {
        let schema = format!("checkout_{}_{}", std::process::id(), totals.table());
        let sql = include_str!("theirs.sql").replace("{totals}", totals.sql()).replace("{schema}", &schema);
        let owner = server.owner().clone();
        owner.batch_execute(&sql).await.expect("tables");
        let types = [Type::UUID, Type::TEXT, Type::TEXT, Type::TEXT, Type::UUID, Type::NUMERIC, Type::TEXT, Type::TEXT];
        let copy = format!("COPY {schema}.products FROM STDIN BINARY");
        let mut writer = Box::pin(BinaryCopyInWriter::new(owner.copy_in(&copy).await.expect("a copy"), &types));
        for i in 0..sample.len() {
            let product = sample.product(i);
            let (id, category, currency) = (product.product_id.0, product.category_id.0, product.currency.code());
            writer
                .as_mut()
                .write(&[
                    &id,
                    &product.name,
                    &product.sku,
                    &product.thumbnail_url,
                    &category,
                    &product.price,
                    &currency,
                    &product.status.as_str(),
                ])
                .await
                .expect("a row");
        }
        writer.as_mut().finish().await.expect("the copy ends");
        owner
            .batch_execute(&format!(
                "INSERT INTO {schema}.inventory SELECT product_id, {STOCK} FROM {schema}.products;
                 ANALYZE {schema}.products, {schema}.inventory"
            ))
            .await
            .expect("stock");
        let mut clients = Vec::new();
        for client in server.clients() {
            let call = format!("SELECT {schema}.check_out($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)");
            clients.push((client.clone(), client.prepare(&call).await.expect("a statement")));
        }
        Rival { totals, owner, schema, clients, sample: sample.clone(), round: 0 }
    }

    pub async fn books(&self) -> Books {
        let (schema, counted) = (&self.schema, self.totals.table());
        let sql = format!(
            "SELECT (SELECT count(*) FROM {schema}.orders), (SELECT sum(total) FROM {schema}.orders),
                    (SELECT sum({STOCK} - available) FROM {schema}.inventory),
                    (SELECT sum(item_count)::bigint FROM {schema}.{counted})"
        );
        let row = self.owner.query_one(&sql, &[]).await.expect("the books");
        Books { orders: row.get(0), money: row.get(1), units_sold: row.get(2), pieces_counted: row.get(3) }
    }

    pub async fn drop(self) {
        self.owner.batch_execute(&format!("DROP SCHEMA {} CASCADE", self.schema)).await.expect("dropped");
    }
}

impl Contender for Rival {
    fn name(&self) -> String {
        match self.totals {
            Totals::Kept => "PostgreSQL, daily sales as a row a category".into(),
            Totals::Appended => "PostgreSQL, daily sales as a row an order".into(),
        }
    }

    async fn prepare(&mut self) {
        self.round += 1;
        let (mut users, mut products) = (Vec::new(), Vec::new());
        for (client, i) in (0..CLIENTS).flat_map(|client| (0..EACH).map(move |i| (client, i))) {
            let (user, two) = basket(self.round, client, i);
            users.extend([user.0; 2]);
            products.extend(two.map(|product| self.sample.id(product).0));
        }
        let schema = &self.schema;
        let sql = format!(
            "INSERT INTO {schema}.cart_items
             SELECT user_id, product_id, 1, price, name, image
               FROM unnest($1::uuid[], $2::uuid[]) AS l (user_id, product_id) JOIN {schema}.products USING (product_id)"
        );
        self.owner.execute(&sql, &[&users, &products]).await.expect("carts");
        // Before anything is planned, and once more when the round that warms up has filled the other tables.
        if self.round <= 2 {
            let tables = ["cart_items", "inventory", "checkouts", "orders", "order_items", "bought_together"];
            let tables = tables.map(|table| format!("{schema}.{table}")).join(", ");
            self.owner.batch_execute(&format!("ANALYZE {tables}")).await.expect("statistics");
        }
    }

    async fn round(&mut self) -> Vec<Duration> {
        let round = self.round;
        measure::clients(CLIENTS, |client| {
            let (connection, statement) = self.clients[client].clone();
            async move {
                let settings = Settings::default().orders;
                let method = orders::shipping_method(&settings, SHIPPING_METHOD).expect("a method");
                let free_from = method.free_from.unwrap_or(Decimal::MAX);
                let rate = Decimal::new(TAX_PERCENT, 2);
                let address = Json(
                    [("street", "Ring 1"), ("city", "Vienna"), ("postal_code", "1010")]
                        .into_iter()
                        .chain([("country", COUNTRY)])
                        .collect::<std::collections::BTreeMap<_, _>>(),
                );
                let key = format!("round {round}");
                let mut times = Vec::with_capacity(EACH);
                for i in 0..EACH {
                    let (user, _) = basket(round, client, i);
                    let email = format!("shopper{client}.{i}@example.org");
                    let order = Uuid::now_v7();
                    let payment = format!("pay_{}", order.simple());
                    let start = Instant::now();
                    let row = connection
                        .query_one(
                            &statement,
                            &[
                                &user.0,
                                &key,
                                &order,
                                &email,
                                &"Ada Lovelace",
                                &address,
                                &SHIPPING_METHOD,
                                &method.amount,
                                &free_from,
                                &rate,
                                &"card",
                                &payment,
                            ],
                        )
                        .await
                        .expect("an order");
                    times.push(start.elapsed());
                    let number: String = row.get(0);
                    assert!(number.starts_with("ORD-"));
                }
                times
            }
        })
        .await
    }
}
