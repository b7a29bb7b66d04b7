//! Derivations kept as indexes, and the sales document's items byte for byte.

use std::{collections::BTreeMap, ops::Bound};

use aws_sdk_dynamodb::types::AttributeValue;
use widerow::{
    derived::Derive,
    engine::{Engine, Get, IndexRow, RawPage, Scan, Slice, Write},
    row::Row,
    schema::{Consistency, Table},
    value::Value,
};

use crate::fixture::*;

fn sale(product: &str, date: &str, id: &str, price: &str, category: Value, key: Value) -> Sale {
    let price = Value::Decimal(price.parse().unwrap());
    Sale(vec![text(product), day(date), text(id), price, category, Value::Null, key])
}

fn put_sale(sale: &Sale) -> Write {
    let categories: Vec<ByCategory> = sale.derive();
    let embeddings: Vec<Embedding> = sale.derive();
    let mut indexes: Vec<IndexRow> = Vec::new();
    indexes.extend(categories.iter().map(|r| IndexRow { table: ByCategory::table(), values: r.to_values() }));
    indexes.extend(embeddings.iter().map(|r| IndexRow { table: Embedding::table(), values: r.to_values() }));
    Write::Put { table: &SALES, values: sale.to_values().into(), expires_at: None, indexes }
}

async fn slice(
    b: &Bench,
    table: &'static Table,
    partition: &[Value],
    prefix: &[Value],
    after: Option<&[Value]>,
    limit: usize,
    reverse: bool,
) -> RawPage {
    let first = Slice::first(limit, &b.tenant, table, partition);
    let slice = Slice { prefix, reverse, after, consistency: Consistency::LocalOne, ..first };
    b.engine.slice(slice).await.unwrap()
}

#[tokio::test]
async fn index_slices_give_derived_rows() {
    on_tables(true, |b| async move {
        let mut sales = Vec::new();
        for i in 0..9 {
            let date = format!("2025-12-{:02}", 20 + i % 3);
            let key = if i % 2 == 0 { text(&format!("s3://{i}")) } else { Value::Null };
            // Equal dates and prices: the index's sort key is not unique.
            sales.push(sale(&format!("prod{i}"), &date, "s1", if i < 6 { "99.99" } else { "5" }, text("dress"), key));
        }
        sales.push(sale("prod9", "2025-12-21", "s1", "7", Value::Null, Value::Null));
        let writes: Vec<Write> = sales.iter().map(put_sale).collect();
        assert!(b.engine.put_many(&b.tenant, &writes).await.unwrap().iter().all(Result::is_ok));
        let partition = [text("dress"), Value::Int(3)];
        let mut expected: Vec<Vec<Value>> = sales.iter().flat_map(Derive::<ByCategory>::derive).map(|r| r.0).collect();
        let sorted = |mut rows: Vec<Vec<Value>>| {
            rows.sort_by(|a, b| (2..6).fold(std::cmp::Ordering::Equal, |o, i| o.then(a[i].key_order(&b[i]))));
            rows
        };
        expected = sorted(expected);
        for reverse in [false, true] {
            let all = slice(&b, &BY_CATEGORY, &partition, &[], None, 100, reverse).await.rows;
            let all: Vec<Vec<Value>> = all.iter().map(<[Value]>::to_vec).collect();
            assert_eq!(sorted(all.clone()), expected);
            let by_key = all.windows(2).all(|w| {
                let o = w[0][2].key_order(&w[1][2]).then(w[0][3].key_order(&w[1][3]));
                if reverse { o.is_ge() } else { o.is_le() }
            });
            assert!(by_key, "the sort key's order");
            for from in 1..=all.len() {
                let page = slice(&b, &BY_CATEGORY, &partition, &[], Some(&all[from - 1][2..]), 4, reverse).await.rows;
                let page: Vec<Vec<Value>> = page.iter().map(<[Value]>::to_vec).collect();
                assert_eq!(page, all[from..all.len().min(from + 4)], "behind {from}");
            }
        }
        // Prefixes inside the sort key, and beyond it.
        let on_day = slice(&b, &BY_CATEGORY, &partition, &[day("2025-12-20")], None, 100, false).await.rows;
        assert_eq!(on_day.len(), 3);
        let one = [day("2025-12-20"), Value::Int(9999), text("prod3")];
        let found = slice(&b, &BY_CATEGORY, &partition, &one, None, 100, false).await.rows;
        assert_eq!(found.len(), 1);
        let keys: Vec<Vec<Value>> = expected
            .iter()
            .cloned()
            .chain([vec![text("dress"), Value::Int(3), day("2025-12-20"), Value::Int(9999), text("prod0"), text("no")]])
            .collect();
        let get = Get { tenant: &b.tenant, table: &BY_CATEGORY, keys: &keys, consistency: Consistency::Quorum };
        let found = b.engine.get(get).await.unwrap();
        assert_eq!(found.iter().flatten().map(|r| r.values.clone()).collect::<Vec<_>>(), expected);
        assert!(found.last().unwrap().is_none());

        // Projected columns, sparse.
        let rows = slice(&b, &EMBEDDINGS, &[Value::Int(1)], &[], None, 100, false).await.rows;
        assert_eq!(rows.len(), 5);
        assert!(rows.iter().all(|r| matches!(&r[4], Value::Text(t) if t.starts_with("s3://"))));
        assert!(rows.iter().all(|r| matches!(r[5], Value::Decimal(_))));

        let mut seen = 0;
        let mut after: Option<Vec<u8>> = None;
        loop {
            let page = b
                .engine
                .scan(Scan {
                    table: &EMBEDDINGS,
                    tenant: None,
                    split: &[],
                    range: 0,
                    ranges: 1,
                    after: after.as_deref(),
                    limit: 2,
                })
                .await
                .unwrap();
            seen += page.rows.len();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, 5);

        // Put without an index row takes the row out of the index.
        let mut sold = sales[0].clone();
        sold.0[6] = Value::Null;
        b.apply(Some(guarded(&SALES, "prod0", vec![])), vec![put_sale(&sold)]).await;
        assert_eq!(slice(&b, &EMBEDDINGS, &[Value::Int(1)], &[], None, 100, false).await.rows.len(), 4);
        let gone = Write::Delete { table: &SALES, key: sales[1].0[..3].to_vec() };
        b.apply(Some(guarded(&SALES, "prod1", vec![])), vec![gone]).await;
        assert_eq!(slice(&b, &BY_CATEGORY, &partition, &[], None, 100, false).await.rows.len(), 8);
    })
    .await;
}

fn document_item() -> BTreeMap<&'static str, AttributeValue> {
    let s = |t: &str| AttributeValue::S(t.into());
    BTreeMap::from([
        ("PK", s("TENANT#carousel-labs#PRODUCT#prod_12345")),
        ("SK", s("SALE#2025-12-29#sale_abc123")),
        ("tenant", s("carousel-labs")),
        ("productId", s("prod_12345")),
        ("saleId", s("sale_abc123")),
        ("saleDate", s("2025-12-29")),
        ("salePrice", AttributeValue::N("99.99".into())),
        ("category", s("dress")),
        ("brand", s("Nike")),
        ("embeddingS3Key", s("s3://bucket/carousel-labs/products/prod_123/sales/sale_abc.json")),
        ("ttl", AttributeValue::N("1830038400".into())),
        ("GSI1PK", s("TENANT#carousel-labs#CATEGORY#dress#SHARD#3")),
        ("GSI1SK", s("DATE#2025-12-29#PRICE#0000009999")),
        ("GSI2PK", s("TENANT#carousel-labs#EMBTYPE#PRODUCT#SHARD#1")),
        ("GSI2SK", s("DATE#2025-12-29")),
    ])
}

#[tokio::test]
async fn the_documents_item_is_read_and_written_as_printed() {
    on_tables(true, |b| async move {
        let tenant = widerow::key::Tenant::new("carousel-labs").unwrap();
        let table = format!("{}sales", b.prefix);
        let printed = document_item();
        let mut request = b.client.put_item().table_name(&table);
        for (name, value) in &printed {
            request = request.item(*name, value.clone());
        }
        request.send().await.unwrap();
        let price = Value::Decimal("99.99".parse().unwrap());
        let s3 = text("s3://bucket/carousel-labs/products/prod_123/sales/sale_abc.json");
        let values =
            vec![text("prod_12345"), day("2025-12-29"), text("sale_abc123"), price, text("dress"), text("Nike"), s3];
        let key = [values[..3].to_vec()];
        let get = || Get { tenant: &tenant, table: &SALES, keys: &key, consistency: Consistency::Quorum };
        let read = b.engine.get(get()).await.unwrap().remove(0).unwrap();
        assert_eq!(read.values, values);
        assert_eq!(read.expires_at.unwrap().millis(), 1_830_038_400_000);
        let partition = [text("dress"), Value::Int(3)];
        let by_category = Slice {
            lower: Bound::Included(&day("2025-12-01")),
            upper: Bound::Included(&day("2025-12-31")),
            consistency: Consistency::LocalOne,
            ..Slice::first(10, &tenant, &BY_CATEGORY, &partition)
        };
        let derived: Vec<ByCategory> = Sale(values.clone()).derive();
        let found = b.engine.slice(by_category).await.unwrap().rows;
        assert_eq!(found.len(), 1);
        assert_eq!(found.cells, derived[0].0);

        // The reverse: the engine's item has the printed attributes, and only its own expiry besides.
        b.client
            .delete_item()
            .table_name(&table)
            .key("PK", printed["PK"].clone())
            .key("SK", printed["SK"].clone())
            .send()
            .await
            .unwrap();
        let Write::Put { table: of, values, indexes, .. } = put_sale(&Sale(values)) else { panic!() };
        let write = Write::Put { table: of, values, expires_at: read.expires_at, indexes };
        let mut step = b.step(Some(guarded(&SALES, "prod_12345", vec![])), vec![write]);
        step.tenant = &tenant;
        b.engine.apply(&step).await.unwrap();
        let mut item = b
            .item("sales", "TENANT#carousel-labs#PRODUCT#prod_12345", Some("SALE#2025-12-29#sale_abc123"))
            .await
            .unwrap();
        assert_eq!(item.remove("_expires_at").unwrap().as_n().unwrap(), "1830038400000");
        let item: BTreeMap<&str, AttributeValue> = item.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
        assert_eq!(item, printed);
    })
    .await;
}
