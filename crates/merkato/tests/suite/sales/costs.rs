//! What every access pattern of sales costs: as its declaration says, whatever else there is.

use merkato::{
    PageRequest,
    sales::{self, Days, NameKind, NewSale, PATTERNS},
};
use widerow::meter::{Cost, measure};
use widerow_testing::{Target, cases};

use super::{day, put_all, sale};
use crate::world::World;

cases![every_pattern_costs_what_it_says_whatever_the_number_of_sales, a_walk_reads_every_row_once];

const PAGE: usize = 10;

async fn every_pattern_costs_what_it_says_whatever_the_number_of_sales(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for sales in [0..40, 40..600] {
        let one = |n: i32| NewSale {
            sale_date: day(ctx, n % 30).to_string(),
            ..sale(ctx, &format!("prod_{}", n % 4), &format!("sale_{n}"))
        };
        put_all(ctx, sales.map(one).collect()).await;
        let (days, page) = (Days::between(day(ctx, 25), day(ctx, 0)), || PageRequest::first(PAGE));
        let mut measured: Vec<(&str, usize, Cost)> = Vec::new();
        let (found, cost) = measure(sales::get_sale(ctx, "prod_1", day(ctx, 1), "sale_1")).await;
        measured.push(("S1", found.map(|_| 1).expect("found"), cost));
        let (found, cost) = measure(sales::list_product_sales(ctx, "prod_1", days, page())).await;
        measured.push(("S2", found.expect("a page").rows.len(), cost));
        let (found, cost) = measure(sales::list_category_sales(ctx, "dress", None, days, page())).await;
        measured.push(("S3", found.expect("a page").rows.len(), cost));
        let (found, cost) = measure(sales::list_embeddings(ctx, "prod_1", days, page())).await;
        measured.push(("S4", found.expect("a page").rows.len(), cost));
        let (found, cost) = measure(sales::list_brand_sales(ctx, "Nike", days, page())).await;
        measured.push(("S5", found.expect("a page").rows.len(), cost));
        let (found, cost) = measure(sales::list_names(ctx, NameKind::Category, page())).await;
        measured.push(("S6", found.expect("a page").rows.len(), cost));
        assert_eq!(measured.len(), PATTERNS.len());
        for ((name, rows, cost), pattern) in measured.iter().zip(PATTERNS) {
            assert_eq!(*name, pattern.name, "every pattern is measured");
            assert!(*rows >= 1 && pattern.cost.admits(cost, *rows as u64), "{name}, {rows} rows: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
    }
}

async fn a_walk_reads_every_row_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    put_all(ctx, (0..400).map(|n| sale(ctx, &format!("prod_{n}"), &format!("sale_{n}"))).collect()).await;
    let all = Days::default();
    let (seen, cost) = measure(sales::walk_category_prices(ctx, "dress", all, |_, _| {})).await;
    assert_eq!(seen.expect("walked"), 400);
    assert!((400..=420).contains(&cost.rows_read), "{cost}");
    let (seen, cost) = measure(sales::walk_category(ctx, "dress", None, all, |_| {})).await;
    assert_eq!(seen.expect("walked"), 400);
    assert!((800..=820).contains(&cost.rows_read), "{cost}");
    // A put is a row and its three rows in indexes. DynamoDB writes those by itself; Cassandra stores them as pending first,
    // and makes its one conditional write.
    let (_, cost) = measure(put_all(ctx, vec![sale(ctx, "prod_x", "sale_x")])).await;
    let expected = match target.name {
        "embedded" => (4, 0),
        "dynamodb" => (1, 0),
        _ => (6, 1),
    };
    assert_eq!((cost.rows_written, cost.conditional_writes), expected, "{cost}");
}
