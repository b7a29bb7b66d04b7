//! The ways in which sales are found, against a plain list of them.

use merkato::{
    Context, PageRequest,
    sales::{self, Days, NewSale, SaleRecord, Season},
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use rust_decimal::Decimal;
use widerow::Date;
use widerow_testing::{Target, cases};

use super::{day, put_all, sale};
use crate::world::{World, seed};

cases![
    a_category_is_one_list_over_all_its_shards,
    a_brand_has_its_own_sales_alone,
    a_product_s_embeddings_stand_among_others,
    a_product_s_sales_come_by_day,
    a_sale_that_changes_is_where_it_belongs,
    what_has_ended_is_in_no_answer,
    a_cursor_is_good_for_its_own_query,
];

/// Sales of some products in some categories within sixty days; many share day and price.
fn some(ctx: &Context, count: u32, chance: &mut SmallRng) -> Vec<NewSale> {
    let one = |n: u32| {
        let brand = ["Nike", "Ganni", ""][chance.random_range(0..3)];
        NewSale {
            sale_date: day(ctx, chance.random_range(0..60)).to_string(),
            sale_price: Decimal::new(chance.random_range(1..40) * 500, 2),
            category: ["dress", "coat"][chance.random_range(0..2)].into(),
            brand: Some(brand.to_owned()).filter(|brand| !brand.is_empty()),
            season: Some(["SPRING", "WINTER"][chance.random_range(0..2)].into()),
            ..sale(ctx, &format!("prod_{}", chance.random_range(0..9)), &format!("sale_{n:x}"))
        }
    };
    (0..count).map(one).collect()
}

fn keys(sales: &[SaleRecord]) -> Vec<(String, Date, String)> {
    sales.iter().map(SaleRecord::key).collect()
}

/// By day and price, as a list is; of equal ones in any order.
fn by_day_and_price(mut sales: Vec<SaleRecord>) -> Vec<(Date, Decimal)> {
    sales.sort_by_key(|sale| (sale.sale_date, sale.sale_price));
    sales.iter().map(|sale| (sale.sale_date, sale.sale_price)).collect()
}

fn same(found: &[SaleRecord], expected: &[SaleRecord], what: &str) {
    let order: Vec<_> = found.iter().map(|sale| (sale.sale_date, sale.sale_price)).collect();
    assert_eq!(order, by_day_and_price(expected.to_vec()), "{what}");
    let (mut a, mut b) = (keys(found), keys(expected));
    a.sort();
    b.sort();
    assert_eq!(a, b, "{what}");
    assert!(found.iter().all(|sale| expected.contains(sale)), "{what}");
}

async fn category_pages(ctx: &Context, season: Option<Season>, days: Days, limit: usize) -> Vec<SaleRecord> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { limit, cursor };
        let page = sales::list_category_sales(ctx, "dress", season, days, page).await.expect("a page");
        assert!(page.rows.len() == limit || page.next.is_none(), "a page is full, unless it is the last");
        all.extend(page.rows);
        cursor = page.next;
        if cursor.is_none() {
            return all;
        }
    }
}

async fn a_category_is_one_list_over_all_its_shards(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stored = put_all(ctx, some(ctx, 240, &mut SmallRng::seed_from_u64(seed()))).await;
    let of = |season: Option<&str>, from: i32, to: i32| -> Vec<SaleRecord> {
        let wanted = |sale: &&SaleRecord| {
            sale.category == "dress"
                && (day(ctx, from)..=day(ctx, to)).contains(&sale.sale_date)
                && season.is_none_or(|season| sale.season.as_deref() == Some(season))
        };
        stored.iter().filter(wanted).cloned().collect()
    };
    let all = Days::default();
    for limit in [1, 7, 100] {
        same(&category_pages(ctx, None, all, limit).await, &of(None, 60, 0), &format!("pages of {limit}"));
    }
    let some_days = Days::between(day(ctx, 30), day(ctx, 10));
    same(&category_pages(ctx, None, some_days, 10).await, &of(None, 30, 10), "some days");
    same(&category_pages(ctx, Some(Season::Winter), some_days, 10).await, &of(Some("WINTER"), 30, 10), "winter");
    let one_day = Days::between(day(ctx, 5), day(ctx, 5));
    same(&category_pages(ctx, None, one_day, 10).await, &of(None, 5, 5), "one day");
    let mut walked = Vec::new();
    sales::walk_category(ctx, "dress", None, some_days, |sale| walked.push(sale)).await.expect("walked");
    same(&walked, &of(None, 30, 10), "a walk");
    let mut prices = Vec::new();
    sales::walk_category_prices(ctx, "dress", some_days, |date, price| prices.push((date, price))).await.expect("ok");
    prices.sort_unstable();
    assert_eq!(prices, by_day_and_price(of(None, 30, 10)));
    let skew = sales::count_shards(ctx, "dress", all).await.expect("counted");
    assert_eq!((skew.counts.len(), skew.total), (10, of(None, 60, 0).len() as u64));
    assert!(category_pages(ctx, Some(Season::Fall), all, 10).await.is_empty());
}

async fn a_brand_has_its_own_sales_alone(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stored = put_all(ctx, some(ctx, 120, &mut SmallRng::seed_from_u64(seed() + 1))).await;
    let (days, mut all, mut cursor) = (Days::between(day(ctx, 40), day(ctx, 0)), Vec::new(), None);
    loop {
        let page = PageRequest { limit: 6, cursor };
        let page = sales::list_brand_sales(ctx, "Nike", days, page).await.expect("a page");
        all.extend(page.rows);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let nike = |sale: &&SaleRecord| sale.brand.as_deref() == Some("Nike") && sale.sale_date >= day(ctx, 40);
    let expected: Vec<_> = stored.iter().filter(nike).cloned().collect();
    same(&all, &expected, "Nike");
    let mut walked = Vec::new();
    sales::walk_brand(ctx, "Nike", days, |sale| walked.push(sale)).await.expect("walked");
    same(&walked, &expected, "a walk");
    let none = sales::list_brand_sales(ctx, "nike", days, PageRequest::first(5)).await.expect("a page");
    assert!(none.rows.is_empty() && none.next.is_none(), "names are as they are written");
}

async fn a_product_s_embeddings_stand_among_others(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stored = put_all(ctx, some(ctx, 150, &mut SmallRng::seed_from_u64(seed() + 2))).await;
    let unseen = NewSale { embedding_id: None, embedding_s3_key: None, ..sale(ctx, "prod_3", "without") };
    put_all(ctx, vec![unseen]).await;
    for product in ["prod_3", "prod_5"] {
        let days = Days::between(day(ctx, 50), day(ctx, 5));
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let page = PageRequest { limit: 3, cursor };
            let page = sales::list_embeddings(ctx, product, days, page).await.expect("a page");
            all.extend(page.rows);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let wanted =
            |sale: &&SaleRecord| sale.product_id == product && (day(ctx, 50)..=day(ctx, 5)).contains(&sale.sale_date);
        let expected: Vec<_> = stored.iter().filter(wanted).collect();
        assert!(all.is_sorted_by_key(|found| found.sale_date));
        assert_eq!(all.len(), expected.len());
        for sale in expected {
            let found = all.iter().find(|found| found.sale_id == sale.sale_id).expect("found");
            assert_eq!(Some(&found.embedding_s3_key), sale.embedding_s3_key.as_ref());
            assert_eq!((found.sale_price, &found.brand), (sale.sale_price, &sale.brand));
        }
    }
}

async fn a_product_s_sales_come_by_day(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stored = put_all(ctx, some(ctx, 80, &mut SmallRng::seed_from_u64(seed() + 3))).await;
    let days = Days { from: Some(day(ctx, 45)), to: None };
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { limit: 4, cursor };
        let page = sales::list_product_sales(ctx, "prod_1", days, page).await.expect("a page");
        all.extend(page.rows);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let wanted = |sale: &&SaleRecord| sale.product_id == "prod_1" && sale.sale_date >= day(ctx, 45);
    let mut expected: Vec<_> = stored.iter().filter(wanted).cloned().collect();
    expected.sort_by_key(SaleRecord::key);
    assert_eq!(all, expected);
    let reversed = Days::between(day(ctx, 1), day(ctx, 2));
    assert!(sales::list_product_sales(ctx, "prod_1", reversed, PageRequest::first(1)).await.is_err());
}

async fn a_sale_that_changes_is_where_it_belongs(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    put_all(ctx, vec![sale(ctx, "p", "s1"), sale(ctx, "p", "s2")]).await;
    let changed = NewSale {
        category: "coat".into(),
        brand: Some("Ganni".into()),
        sale_price: Decimal::from(7),
        ..sale(ctx, "p", "s1")
    };
    put_all(ctx, vec![changed]).await;
    let of_category = async |category: &str| {
        let found = sales::list_category_sales(ctx, category, None, Days::default(), PageRequest::first(10)).await;
        found.expect("a page").rows.into_iter().map(|sale| (sale.sale_id, sale.sale_price)).collect::<Vec<_>>()
    };
    let of_brand = async |brand: &str| {
        let found = sales::list_brand_sales(ctx, brand, Days::default(), PageRequest::first(10)).await;
        found.expect("a page").rows.into_iter().map(|sale| sale.sale_id).collect::<Vec<_>>()
    };
    assert_eq!(of_category("dress").await, [("s2".to_owned(), Decimal::new(9_999, 2))]);
    assert_eq!(of_category("coat").await, [("s1".to_owned(), Decimal::from(7))]);
    assert_eq!((of_brand("Nike").await, of_brand("Ganni").await), (vec!["s2".to_owned()], vec!["s1".to_owned()]));
}

async fn what_has_ended_is_in_no_answer(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // It ends on the first of the month after next: a day that every year has, and far enough for an engine that lets rows end
    // by itself.
    let today = day(ctx, 0).civil().expect("a day");
    let (year, month) = match today.month() {
        month @ 11.. => (today.year() + 1, month - 10),
        month => (today.year(), month + 2),
    };
    let first_of = |year| Date::new(year, month, 1).expect("a day");
    let (long_ago, end) = (first_of(year - 2), first_of(year).start());
    let old = NewSale { sale_date: long_ago.to_string(), ..sale(ctx, "p", "old") };
    put_all(ctx, vec![old, sale(ctx, "p", "new")]).await;
    let all = Days::default();
    let ids = async || {
        let page = || PageRequest::first(10);
        let product = sales::list_product_sales(ctx, "p", all, page()).await.expect("a page").rows;
        let category = sales::list_category_sales(ctx, "dress", None, all, page()).await.expect("a page").rows;
        let brand = sales::list_brand_sales(ctx, "Nike", all, page()).await.expect("a page").rows;
        let embeddings = sales::list_embeddings(ctx, "p", all, page()).await.expect("a page").rows;
        let mut prices = 0;
        sales::walk_category_prices(ctx, "dress", all, |_, _| prices += 1).await.expect("walked");
        let one = sales::find_sale(ctx, "p", long_ago, "old").await.expect("read");
        [product.len(), category.len(), brand.len(), embeddings.len(), prices, 1 + usize::from(one.is_some())]
    };
    assert_eq!(ids().await, [2; 6]);
    world.clock.advance_millis(end.millis() - ctx.now().millis() - 1);
    assert_eq!(ids().await, [2; 6]);
    world.clock.advance_millis(1);
    assert_eq!(ids().await, [1; 6]);
}

async fn a_cursor_is_good_for_its_own_query(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    put_all(ctx, some(ctx, 60, &mut SmallRng::seed_from_u64(seed() + 4))).await;
    let all = Days::default();
    let first = sales::list_category_sales(ctx, "dress", None, all, PageRequest::first(2)).await.expect("a page");
    let page = || PageRequest { limit: 2, cursor: first.next.clone() };
    assert!(sales::list_category_sales(ctx, "dress", None, all, page()).await.is_ok());
    let other = ctx.with_store(world.database.tenant(&widerow_testing::unique()).expect("a tenant"));
    let some_days = Days::between(day(ctx, 9), day(ctx, 0));
    let wrong = [
        sales::list_category_sales(ctx, "coat", None, all, page()).await,
        sales::list_category_sales(ctx, "dress", Some(Season::Winter), all, page()).await,
        sales::list_category_sales(ctx, "dress", None, some_days, page()).await,
        sales::list_category_sales(&other, "dress", None, all, page()).await,
        sales::list_brand_sales(ctx, "Nike", all, page()).await,
    ];
    for answer in wrong {
        assert_eq!(answer.expect_err("another query").kind(), merkato::Kind::Invalid);
    }
}
