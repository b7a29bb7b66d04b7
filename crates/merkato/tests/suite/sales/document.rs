//! The document's table and its key test cases, with its examples as its code computes them.

use merkato::{
    PageRequest,
    sales::{self, Days, NewSale},
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use super::{put_all, sale};
use crate::world::World;

#[cfg(feature = "dynamodb")]
use dynamo::*;

#[cfg(feature = "dynamodb")]
cases![
    one_shard_distribution,
    two_key_format,
    three_ttl_calculation,
    four_batch_operations,
    six_error_handling,
    an_item_of_another_tool_is_read,
    our_item_is_that_of_the_document,
    the_document_s_table_is_taken_as_it_is,
];
#[cfg(not(feature = "dynamodb"))]
cases![one_shard_distribution, two_key_format, three_ttl_calculation, four_batch_operations, six_error_handling];

/// The document's own sale, but for the years.
fn documented(ctx: &merkato::Context) -> NewSale {
    NewSale {
        product_id: "prod_123".into(),
        sale_id: "sale_abc".into(),
        sale_date: "2025-12-29".into(),
        sale_price: Decimal::new(9_999, 2),
        original_price: Some(Decimal::new(19_999, 2)),
        category: "dress".into(),
        brand: Some("Nike".into()),
        embedding_id: Some("emb_xyz".into()),
        embedding_s3_key: Some("s3://bucket/carousel-labs/products/prod_123/sales/sale_abc.json".into()),
        ..sale(ctx, "", "")
    }
}

async fn one_shard_distribution(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    put_all(ctx, (0..1_000).map(|n| sale(ctx, "prod_123", &format!("sale_{n}"))).collect()).await;
    let skew = sales::count_shards(ctx, "dress", Days::default()).await.expect("counted");
    assert_eq!(skew.counts, [100; 10], "decimal ids are even");
}

async fn two_key_format(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stored = sales::put_sale(ctx, documented(ctx)).await.expect("stored");
    // 'c' is 99; and the document prints shard 2 where its own code says 0.
    assert_eq!((stored.category_shard, stored.embedding_shard), (Some(9), Some(0)));
    assert_eq!(sales::PaddedPrice::of(stored.sale_price).expect("a price").as_str(), "0000009999");
}

async fn three_ttl_calculation(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let end = |date: &str| {
        let new = NewSale { sale_date: date.into(), ..documented(ctx) };
        let stored = sales::prepare(new, &ctx.settings.sales, ctx.now()).expect("a record");
        stored.record.ttl.expect("an end").millis() / 1000
    };
    assert_eq!(end("2025-12-29"), 1_830_038_400);
    assert_eq!(end("2024-02-29"), 1_772_236_800, "2026-02-28");
}

async fn four_batch_operations(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // The names of its category and brand are noted with the first sale.
    put_all(ctx, vec![sale(ctx, "prod_first", "sale_first")]).await;
    let batch: Vec<NewSale> = (0..100).map(|n| sale(ctx, &format!("prod_{n}"), &format!("sale_{n}"))).collect();
    let (stored, cost) = widerow::meter::measure(put_all(ctx, batch)).await;
    assert_eq!(stored.len(), 100);
    if target.name == "dynamodb" {
        // One more looks for what stood there, whose vectors would tell of it still.
        assert_eq!((cost.round_trips, cost.rows_written), (4 + 1, 100), "25 a call");
    }
}

async fn six_error_handling(target: &Target) {
    use std::sync::Arc;

    use widerow::{
        Database, Options,
        faulty::{Faults, Faulty},
    };
    let world = World::new(target);
    let faults = Faults { stop_after_steps: Some(0), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    let database = Database::with_options(faulty, crate::world::schema(), Options::default());
    let ctx = &world.ctx.with_store(database.tenant("gone").expect("a tenant"));
    let answers = sales::put_sales(ctx, vec![sale(ctx, "p", "a"), sale(ctx, "p", "b#"), sale(ctx, "p", "c")]).await;
    let kinds: Vec<_> = answers.expect("a batch").into_iter().map(|answer| answer.expect_err("gone").kind()).collect();
    use merkato::Kind::*;
    assert_eq!(kinds, [Unavailable, Invalid, Unavailable]);
    let page = sales::list_category_sales(ctx, "dress", None, Days::default(), PageRequest::first(5)).await;
    assert_eq!(page.expect_err("gone").kind(), Unavailable);
}

#[cfg(feature = "dynamodb")]
mod dynamo {
    use std::{collections::HashMap, sync::Arc};

    use merkato::{Context, Settings, context::SystemChance};
    use widerow::{Database, Date, Options, time::Clock};
    use widerow_testing::{
        aws_sdk_dynamodb::{
            Client,
            types::{
                AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
                Projection, ProjectionType, ScalarAttributeType, TimeToLiveSpecification,
            },
        },
        dynamo::{bare_client, open_named},
    };

    use super::*;

    type Item = HashMap<String, AttributeValue>;

    struct Named {
        ctx: Context,
        client: Client,
        table: String,
        database: Database,
    }

    /// A shop whose table of sales has a name of the document's form, made by merkato or, as the document says, before.
    async fn named(world: &World, made_before: bool) -> Named {
        let prefix = format!("bg-remover-{}", widerow_testing::unique());
        let table = format!("{prefix}-sales-intelligence");
        let client = bare_client();
        if made_before {
            make_table(&client, &table).await;
        }
        let names = [("sales_intelligence".to_owned(), table.clone())];
        let engine = open_named(crate::world::schema(), &prefix, names);
        let clock = world.clock.clone();
        let options = Options { clock: clock.clone() as Arc<dyn Clock>, ..Options::default() };
        let database = Database::with_options(engine, crate::world::schema(), options);
        database.migrate().await.expect("tables");
        let store = database.tenant("carousel-labs").expect("a tenant");
        let ctx = Context::new(store, Settings::default(), clock, Arc::new(SystemChance));
        Named { ctx, client, table, database }
    }

    /// As the document's template makes it.
    async fn make_table(client: &Client, table: &str) {
        let names = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"];
        let definition = |name: &&str| {
            let text = ScalarAttributeType::S;
            AttributeDefinition::builder().attribute_name(*name).attribute_type(text).build().expect("a definition")
        };
        let keys = |prefix: &str| {
            let key = |name: &str, kind| {
                let name = format!("{prefix}{name}");
                KeySchemaElement::builder().attribute_name(name).key_type(kind).build().expect("a key")
            };
            vec![key("PK", KeyType::Hash), key("SK", KeyType::Range)]
        };
        let index = |name: &str, projection: Projection| {
            let index = GlobalSecondaryIndex::builder().index_name(name).set_key_schema(Some(keys(name)));
            index.projection(projection).build().expect("an index")
        };
        let keys_only = || Projection::builder().projection_type(ProjectionType::KeysOnly).build();
        let included = ["embeddingS3Key", "productId", "category", "salePrice", "brand"].map(String::from);
        let include = Projection::builder().projection_type(ProjectionType::Include);
        let include = include.set_non_key_attributes(Some(included.into())).build();
        let create = client.create_table().table_name(table).billing_mode(BillingMode::PayPerRequest);
        let create = create.set_attribute_definitions(Some(names.iter().map(definition).collect()));
        let create = create.set_key_schema(Some(keys("")));
        let create = create.global_secondary_indexes(index("GSI1", keys_only()));
        let create = create.global_secondary_indexes(index("GSI2", include));
        create.global_secondary_indexes(index("GSI3", keys_only())).send().await.expect("a table");
        let ttl = TimeToLiveSpecification::builder().attribute_name("ttl").enabled(true).build().expect("a ttl");
        client.update_time_to_live().table_name(table).time_to_live_specification(ttl).send().await.expect("set");
    }

    fn text(text: &str) -> AttributeValue {
        AttributeValue::S(text.into())
    }

    fn number(number: &str) -> AttributeValue {
        AttributeValue::N(number.into())
    }

    /// The document's item, attribute by attribute.
    fn documented_item() -> Item {
        let pairs = [
            ("PK", text("TENANT#carousel-labs#PRODUCT#prod_123")),
            ("SK", text("SALE#2025-12-29#sale_abc")),
            ("tenant", text("carousel-labs")),
            ("productId", text("prod_123")),
            ("saleId", text("sale_abc")),
            ("saleDate", text("2025-12-29")),
            ("salePrice", number("99.99")),
            ("originalPrice", number("199.99")),
            ("category", text("dress")),
            ("brand", text("Nike")),
            ("season", text("WINTER")),
            ("embeddingId", text("emb_xyz")),
            ("embeddingS3Key", text("s3://bucket/carousel-labs/products/prod_123/sales/sale_abc.json")),
            ("ttl", number("1830038400")),
            ("createdAt", text("2025-12-29T10:11:12.345Z")),
            ("updatedAt", text("2025-12-29T10:11:12.345Z")),
            ("GSI1PK", text("TENANT#carousel-labs#CATEGORY#dress#SHARD#9")),
            ("GSI1SK", text("DATE#2025-12-29#PRICE#0000009999")),
            ("GSI2PK", text("TENANT#carousel-labs#EMBTYPE#PRODUCT#SHARD#0")),
            ("GSI2SK", text("DATE#2025-12-29")),
            ("GSI3PK", text("TENANT#carousel-labs#BRAND#Nike")),
            ("GSI3SK", text("DATE#2025-12-29#PRICE#0000009999")),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn new_year() -> Date {
        "2025-12-29".parse().expect("a day")
    }

    /// The items are DynamoDB's own: elsewhere there is nothing that another tool could write.
    pub async fn an_item_of_another_tool_is_read(target: &Target) {
        if target.name != "dynamodb" {
            return;
        }
        let world = World::new(target);
        let Named { ctx, client, table, database } = &named(&world, true).await;
        client.put_item().table_name(table).set_item(Some(documented_item())).send().await.expect("written");
        let sale = sales::get_sale(ctx, "prod_123", new_year(), "sale_abc").await.expect("read");
        let times = Some("2025-12-29T10:11:12.345Z".parse().expect("a time"));
        let told = NewSale { created_at: times, updated_at: times, ..documented(ctx) };
        let ours = sales::prepare(told, &ctx.settings.sales, ctx.now()).expect("a record").record;
        assert_eq!(sale, ours);
        // Older ones without what came later, an odd number, an odd price key, an attribute of their own.
        for (id, without) in [("sale_1", vec!["ttl", "season", "createdAt", "updatedAt"]), ("sale_2", vec!["brand"])] {
            let mut item = documented_item();
            item.insert("SK".into(), text(&format!("SALE#2025-12-29#{id}")));
            item.insert("saleId".into(), text(id));
            item.insert("salePrice".into(), number("9.9990E1"));
            item.insert("note".into(), text("theirs"));
            if id == "sale_2" {
                item.insert("GSI1SK".into(), text("DATE#2025-12-29#PRICE#0000099.99"));
                ["GSI3PK", "GSI3SK", "originalPrice"].iter().for_each(|name| drop(item.remove(*name)));
            }
            without.into_iter().for_each(|name| drop(item.remove(name)));
            client.put_item().table_name(table).set_item(Some(item)).send().await.expect("written");
        }
        // And items that are no sales at all, of tenants that could not be ours.
        let odd = [
            ("TENANT#Acme Inc.#PRODUCT#prod_123", "SALE#2025-12-29#x", ""),
            ("CONFIG", "1", ""),
            ("TENANT#carousel-labs#PRODUCT#prod_123", "META#1", ""),
            ("TENANT#carousel-labs#PRODUCT#prod_123", "SALE#2025-12-29#no_price", "salePrice"),
        ];
        for (pk, sk, without) in odd {
            let mut item = documented_item();
            item.extend([("PK".to_owned(), text(pk)), ("SK".to_owned(), text(sk))]);
            item.remove(without);
            client.put_item().table_name(table).set_item(Some(item)).send().await.expect("written");
        }
        let all = Days::default();
        let page = || PageRequest::first(10);
        let product = sales::list_product_sales(ctx, "prod_123", all, page()).await.expect("a page").rows;
        assert_eq!(product.len(), 3);
        assert!(product.iter().all(|sale| sale.sale_price == Decimal::new(9_999, 2)));
        assert_eq!(sales::list_category_sales(ctx, "dress", None, all, page()).await.expect("a page").rows.len(), 3);
        assert_eq!(sales::list_brand_sales(ctx, "Nike", all, page()).await.expect("a page").rows.len(), 2);
        assert_eq!(sales::list_embeddings(ctx, "prod_123", all, page()).await.expect("a page").rows.len(), 3);
        // The one without an end gets it, and keeps what is not ours.
        let done = sales::backfill_ttl(ctx, false, None, |_| true).await.expect("backfilled");
        assert_eq!((done.scanned, done.without, done.updated), (3, 1, 1));
        let key = HashMap::from([
            ("PK".to_owned(), text("TENANT#carousel-labs#PRODUCT#prod_123")),
            ("SK".to_owned(), text("SALE#2025-12-29#sale_1")),
        ]);
        let got = client.get_item().table_name(table).set_key(Some(key)).send().await.expect("read");
        let item = got.item.expect("an item");
        assert_eq!(item.get("ttl"), Some(&number("1830038400")));
        assert_eq!(item.get("note"), Some(&text("theirs")));
        assert_eq!(item.get("createdAt"), None);
        drop(database.clone());
    }

    pub async fn our_item_is_that_of_the_document(target: &Target) {
        if target.name != "dynamodb" {
            return;
        }
        let world = World::new(target);
        let Named { ctx, client, table, .. } = &named(&world, false).await;
        let times = Some("2025-12-29T10:11:12.345Z".parse().expect("a time"));
        let told = NewSale { created_at: times, updated_at: times, ..documented(ctx) };
        sales::put_sale(ctx, told.clone()).await.expect("stored");
        // And in a batch, which goes another way.
        let batch = (0..60).map(|n| NewSale { sale_id: format!("sale_{n}"), ..told.clone() }).collect();
        put_all(ctx, batch).await;
        let scanned = client.scan().table_name(table).send().await.expect("scanned").items.expect("items");
        assert_eq!(scanned.len(), 61, "no item of bookkeeping is among them");
        let ours = scanned.iter().find(|item| item["saleId"] == text("sale_abc")).expect("the item");
        assert_eq!(*ours, documented_item());
        let names = |item: &Item| item.keys().cloned().collect::<std::collections::BTreeSet<_>>();
        assert!(scanned.iter().all(|item| names(item) == names(ours)), "and no attribute of ours");
        // Without a brand it is not in that index.
        let plain = NewSale { brand: None, embedding_id: None, embedding_s3_key: None, ..told };
        sales::put_sale(ctx, plain).await.expect("stored");
        let key = documented_item().into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect();
        let item = client.get_item().table_name(table).set_key(Some(key)).send().await.expect("read").item;
        let item = item.expect("an item");
        let gone = ["brand", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "embeddingId", "embeddingS3Key"];
        assert!(gone.iter().all(|name| !item.contains_key(*name)), "{item:?}");
        assert!(item.contains_key("GSI1PK"));
        sales::delete_sale(ctx, "prod_123", new_year(), "sale_abc").await.expect("gone");
        let left = client.scan().table_name(table).send().await.expect("scanned").items.expect("items");
        assert_eq!(left.len(), 60);
    }

    pub async fn the_document_s_table_is_taken_as_it_is(target: &Target) {
        if target.name != "dynamodb" {
            return;
        }
        let world = World::new(target);
        let theirs = named(&world, true).await;
        assert_eq!(theirs.database.compare().await.expect("compared").problems, []);
        // And ours is made the same.
        let ours = named(&world, false).await;
        let describe = async |client: &Client, table: &str| {
            let found = client.describe_table().table_name(table).send().await.expect("described");
            let found = found.table.expect("a table");
            let mut indexes: Vec<String> = found
                .global_secondary_indexes()
                .iter()
                .map(|index| {
                    let mut included = index.projection().map(|p| p.non_key_attributes().to_vec()).unwrap_or_default();
                    included.sort();
                    let kind = index.projection().and_then(|p| p.projection_type().cloned());
                    format!("{:?} {:?} {kind:?} {included:?}", index.index_name(), index.key_schema())
                })
                .collect();
            indexes.sort();
            let ttl = client.describe_time_to_live().table_name(table).send().await.expect("described");
            let ttl = ttl.time_to_live_description.and_then(|ttl| ttl.attribute_name);
            (format!("{:?}", found.key_schema()), indexes, ttl)
        };
        let one = describe(&theirs.client, &theirs.table).await;
        assert_eq!(one, describe(&ours.client, &ours.table).await);
        assert_eq!((one.1.len(), one.2.as_deref()), (3, Some("ttl")));
    }
}
