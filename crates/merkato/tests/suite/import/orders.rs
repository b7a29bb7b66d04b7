//! What an import of orders does to a shop.

use std::{
    collections::BTreeMap,
    io::Cursor,
    sync::atomic::{AtomicU64, Ordering},
};

use merkato::{
    Currency, PageRequest,
    analytics::{self, Sales},
    catalog::{self, NewCategory},
    flows::{
        import::{Companion, DateOrder, Error, OrderOptions, Report, Sum, import_orders},
        sales,
    },
    orders::{self, Order, OrderStatus, PaymentStatus},
};
use rust_decimal::Decimal;
use widerow::Date;
use widerow_testing::Target;

use super::{known, orders_of};
use crate::{carts::finish_commits, world::World};

widerow_testing::cases![
    lines_of_one_order_are_one_order_wherever_they_stand,
    a_cancellation_is_an_order_of_its_own_and_in_no_sales,
    bad_lines_are_listed_with_reasons_and_the_rest_is_imported,
    orders_imported_again_change_nothing,
    companions_tell_of_orders_products_and_customers,
    a_category_that_the_shop_has_is_found_by_its_name_and_its_slug,
    what_became_of_an_order_stays_when_it_is_imported_again,
    two_imports_at_once_write_and_count_each_order_once,
    an_import_that_was_stopped_is_finished_by_the_same_import,
    a_number_that_another_order_has_is_not_given_away,
    what_makes_no_sense_is_refused_before_anything_is_written,
];

const HEADING: &str = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n";
/// Two orders and a cancellation; the lines of 536365 stand apart.
const RETAIL: &str = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n\
    536365,85123A,WHITE HANGING HEART,6,12/1/10 8:26,2.55,17850,United Kingdom\n\
    536366,22633,HAND WARMER,12,12/1/10 8:28,1.85,17850,United Kingdom\n\
    C536379,D,Discount,-1,12/1/10 9:41,27.5,14527,United Kingdom\n\
    536367,POST,POSTAGE,1,12/2/10 8:34,18.0,,France\n\
    536365,71053,WHITE METAL LANTERN,6,12/1/10 8:27,3.39,17850,United Kingdom\n";

fn retail() -> OrderOptions {
    OrderOptions {
        dates: DateOrder::MonthFirst,
        cancellation_prefix: Some("C".into()),
        ..OrderOptions::new("retail", Currency::new("GBP"))
    }
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a number")
}

fn day(text: &str) -> Date {
    text.parse().expect("a day")
}

async fn import(world: &World, source: impl Into<String>, options: OrderOptions) -> Report {
    orders_of(world, Cursor::new(source.into()), vec![], options).await
}

async fn order(world: &World, number: &str) -> Order {
    orders::find_by_number(&world.ctx, number).await.expect("a read").expect(number)
}

/// What was sold on a day, over all categories.
async fn sold(world: &World, date: &str) -> Sales {
    let page = analytics::list_daily_sales(&world.ctx, day(date), PageRequest::first(100)).await.expect("a page");
    let mut all = Sales::default();
    for row in page.rows {
        all.order_count += row.order_count;
        all.item_count += row.item_count;
        all.revenue_cents += row.revenue_cents;
    }
    all
}

async fn is_sound(world: &World, date: &str) {
    let report = sales::rebuild_sales(&world.ctx, day(date), false).await.expect("a report");
    assert!(report.is_sound(), "{report:?}");
}

async fn lines_of_one_order_are_one_order_wherever_they_stand(target: &Target) {
    let world = World::new(target);
    let report = import(&world, RETAIL, retail()).await;
    assert_eq!((report.read, report.created, report.folded), (5, 4, 1));
    let found = order(&world, "536365").await;
    assert_eq!((found.status, found.payment_status), (OrderStatus::Delivered, PaymentStatus::Captured));
    assert_eq!((found.total, found.item_count), (decimal("35.64"), 12));
    assert_eq!(found.created_at.to_string(), "2010-12-01T08:26:00.000Z");
    assert_eq!((found.user_id, found.user_email), (None, None));
    let notes = found.internal_notes.as_deref().expect("notes");
    assert_eq!(notes, "Imported from retail: 536365\nCustomerID: 17850\nCountry: United Kingdom");
    let items = orders::list_items(&world.ctx, found.order_id).await.expect("lines");
    let lines: Vec<(&str, Option<&str>, u32, Decimal)> = items
        .iter()
        .map(|item| (item.product_name.as_str(), item.sku.as_deref(), item.quantity, item.line_total))
        .collect();
    assert_eq!(
        lines,
        [
            ("WHITE HANGING HEART", Some("85123A"), 6, decimal("15.30")),
            ("WHITE METAL LANTERN", Some("71053"), 6, decimal("20.34")),
        ]
    );
    assert_eq!(sold(&world, "2010-12-01").await, Sales { order_count: 2, item_count: 24, revenue_cents: 57_84 });
    assert_eq!(sold(&world, "2010-12-02").await, Sales { order_count: 1, item_count: 1, revenue_cents: 18_00 });
    is_sound(&world, "2010-12-01").await;
}

async fn a_cancellation_is_an_order_of_its_own_and_in_no_sales(target: &Target) {
    let world = World::new(target);
    let report = import(&world, RETAIL, retail()).await;
    let sales = report.sales.expect("sums");
    assert_eq!(sales.standing, Sum { orders: 3, lines: 4, pieces: 25, amount: decimal("75.84") });
    assert_eq!(sales.cancelled, Sum { orders: 1, lines: 1, pieces: 1, amount: decimal("27.5") });
    assert_eq!((sales.open, sales.rejected), (Sum::default(), Sum::default()));
    let found = order(&world, "C536379").await;
    assert_eq!((found.status, found.payment_status), (OrderStatus::Cancelled, PaymentStatus::Refunded));
    assert_eq!((found.total, found.item_count), (decimal("27.5"), 1));
    assert_eq!(sold(&world, "2010-12-01").await.revenue_cents, 57_84);
}

async fn bad_lines_are_listed_with_reasons_and_the_rest_is_imported(target: &Target) {
    let world = World::new(target);
    let source = format!(
        "{HEADING}\
         1,A,Lamp,2,12/1/10 8:26,5,,\n\
         1,B,,-3,12/1/10 8:26,0,,\n\
         1,C,Chair,-3,12/1/10 8:26,2.50,,\n\
         2,D,Pads,1,12/1/10 8:26,0.001,,\n\
         ,E,Lamp,2,12/1/10 8:26,5,,\n\
         3,F,Lamp,2,31/12/10 8:26,5,,\n\
         3,G,Lamp,1,31/12/10 8:26,4,,\n\
         4,H,Adjust bad debt,1,12/1/10 8:26,-11062.06,,\n\
         5,I,Too few\n\
         6,J,Of the future,1,12/1/60 8:26,3,,\n\
         7,K,Lamp,1,12/1/10 8:26,7,,\n"
    );
    let report = import(&world, source, retail()).await;
    assert_eq!((report.read, report.created), (11, 2));
    let reasons: Vec<(Option<u64>, Option<&str>, &str)> = report
        .rejected
        .iter()
        .map(|rejected| (rejected.line, rejected.id.as_deref(), rejected.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            (Some(3), Some("1"), "it has neither a name nor a price"),
            (Some(4), Some("1"), "its quantity is -3"),
            (Some(5), Some("2"), "its price is 0.001, and GBP has 2 decimals"),
            (Some(6), None, "it has no id"),
            (Some(7), Some("3"), "31/12/10 8:26 is no time"),
            (Some(9), Some("4"), "its price is -11062.06"),
            (Some(10), None, "it has 3 fields, the heading has 8"),
            (Some(11), Some("6"), "history/0/at: it is not in the past; history/1/at: it is not in the past"),
        ]
    );
    let sales = report.sales.expect("sums");
    assert_eq!(sales.standing, Sum { orders: 2, lines: 2, pieces: 3, amount: decimal("17") });
    // -7.50 + 0.001 + 14 - 11062.06 + 3: as the source has them.
    assert_eq!((sales.rejected.lines, sales.rejected.amount), (9, decimal("-11052.559")));
    assert_eq!(order(&world, "1").await.total, decimal("10"));
}

async fn orders_imported_again_change_nothing(target: &Target) {
    let world = World::new(target);
    let first = import(&world, RETAIL, retail()).await;
    let before = order(&world, "536365").await;
    let sold_before = sold(&world, "2010-12-01").await;
    let again = import(&world, RETAIL, retail()).await;
    assert_eq!((again.created, again.unchanged, again.folded), (0, 4, 1));
    assert_eq!((&again.sales, &again.notes), (&first.sales, &first.notes));
    assert_eq!(order(&world, "536365").await, before);
    assert_eq!(sold(&world, "2010-12-01").await, sold_before);
    // Another source with the same ids has orders of its own.
    let other = OrderOptions { source: "others".into(), number_prefix: "O-".into(), ..retail() };
    assert_eq!(import(&world, RETAIL, other).await.created, 4);
    assert_ne!(order(&world, "O-536365").await.order_id, before.order_id);
    assert_eq!(sold(&world, "2010-12-01").await.revenue_cents, 2 * sold_before.revenue_cents);
}

const ORDERS: &str = "order_id,customer_id,order_status,order_purchase_timestamp,order_approved_at,\
    order_delivered_carrier_date,order_delivered_customer_date,order_estimated_delivery_date\n\
    o1,c1,delivered,2017-07-09 21:57:05,2017-07-09 22:10:13,2017-07-11 14:58:04,2017-07-26 10:57:55,2017-08-01 00:00:00\n\
    o2,c2,canceled,2017-07-09 12:22:08,2017-07-09 13:25:17,,,2017-05-09 00:00:00\n\
    o3,c3,invoiced,2017-07-10 14:31:30,2017-07-10 15:04:09,,,2017-09-28 00:00:00\n\
    o4,c4,unavailable,2017-07-10 14:31:30,2017-07-10 15:04:09,,,2017-09-28 00:00:00\n";
const ITEMS: &str = "order_id,order_item_id,product_id,seller_id,shipping_limit_date,price,freight_value\n\
    o1,1,p1,s1,2018-08-17 12:15:10,99.9,27.65\n\
    o1,2,p2,s1,2018-08-17 12:15:10,10.0,2.35\n\
    o2,1,p1,s1,2018-08-17 12:15:10,99.9,27.65\n\
    o3,1,p3,s1,2018-08-17 12:15:10,5.5,0.0\n\
    o9,1,p3,s1,2018-08-17 12:15:10,5.5,0.0\n";
const PRODUCTS: &str = "product_id,product_category_name\np1,bebes\np2,moveis_decoracao\np3,\n";
const CUSTOMERS: &str =
    "customer_id,customer_unique_id,customer_city,customer_state\nc1,u1,timoteo,MG\nc2,u2,curitiba,PR\n";

fn olist() -> Vec<Companion<Cursor<String>>> {
    let companion = |name: &str, source: &str, column: &str| Companion::new(name, Cursor::new(source.into()), column);
    vec![
        companion("orders", ORDERS, "order_id"),
        companion("products", PRODUCTS, "product_id"),
        companion("customers", CUSTOMERS, "customer_id"),
    ]
}

async fn companions_tell_of_orders_products_and_customers(target: &Target) {
    let world = World::new(target);
    let options = OrderOptions::new("olist", Currency::new("BRL"));
    let report = orders_of(&world, Cursor::new(ITEMS.into()), olist(), options).await;
    assert_eq!((report.read, report.created, report.folded), (5, 3, 1));
    let rejected: Vec<_> = report.rejected.iter().map(|one| (one.id.as_deref(), one.reason.as_str())).collect();
    assert_eq!(rejected, [(Some("o9"), "it has no status")]);
    assert!(report.notes.iter().any(|note| note.text == "orders does not have o9"), "{:?}", report.notes);
    let sums = report.sales.expect("sums");
    assert_eq!((sums.standing.amount, sums.cancelled.amount), (decimal("115.4"), decimal("99.9")));
    assert_eq!(sums.orders_without_lines, 1);
    let found = order(&world, "o1").await;
    assert_eq!(
        (found.subtotal, found.shipping_amount, found.total),
        (decimal("109.9"), decimal("30"), decimal("139.9"))
    );
    assert_eq!(found.estimated_delivery, Some(day("2017-08-01")));
    assert!(found.internal_notes.as_deref().expect("notes").contains("customer_city: timoteo"));
    let mut history = orders::list_history(&world.ctx, found.order_id).await.expect("a history");
    history.reverse();
    let steps: Vec<(OrderStatus, String)> =
        history.iter().map(|row| (row.status, row.status_time.to_string()[..19].to_owned())).collect();
    assert_eq!(
        steps,
        [
            (OrderStatus::Pending, "2017-07-09T21:57:05".to_owned()),
            (OrderStatus::Paid, "2017-07-09T22:10:13".to_owned()),
            (OrderStatus::Shipped, "2017-07-11T14:58:04".to_owned()),
            (OrderStatus::Delivered, "2017-07-26T10:57:55".to_owned()),
        ]
    );
    assert_eq!(found.paid_at.map(|at| at.to_string()).as_deref(), Some("2017-07-09T22:10:13.000Z"));
    assert_eq!(order(&world, "o2").await.status, OrderStatus::Cancelled);
    assert_eq!(order(&world, "o3").await.status, OrderStatus::Processing);
    assert_eq!(found.categories.len(), 2);
    assert_eq!(sold(&world, "2017-07-09").await.revenue_cents, 10_990);
    assert_eq!(sold(&world, "2017-07-10").await.revenue_cents, 5_50);
    is_sound(&world, "2017-07-09").await;
}

async fn a_category_that_the_shop_has_is_found_by_its_name_and_its_slug(target: &Target) {
    let world = World::new(target);
    let create = async |name: &str, slug: &str| {
        let new = NewCategory { category_id: None, name: name.into(), slug: Some(slug.into()), parent_id: None };
        catalog::create_category(&world.ctx, new).await.expect("a category").category_id
    };
    let (lamps, chairs) = (create("Lamps", "light").await, create("Seats & Chairs", "seats-chairs").await);
    let source = "order_id,product_id,price,date,category\n\
                  1,A,5,2011-01-02,LAMPS\n1,B,6,2011-01-02,seats_chairs\n1,C,7,2011-01-02,Other\n1,D,8,2011-01-02,\n";
    import(&world, source, retail()).await;
    let found = order(&world, "1").await;
    let cents: BTreeMap<_, _> = found.categories.iter().map(|(id, sum)| (*id, sum.revenue)).collect();
    assert_eq!((cents.len(), cents[&lamps], cents[&chairs]), (4, decimal("5"), decimal("6")));
    // None is made for the others: they have the ids that an import of the catalog would give them.
    let top = catalog::list_subcategories(&world.ctx, None, PageRequest::default()).await.expect("a page");
    assert_eq!(top.rows.len(), 2);
    let products = "id,name,price,category\n1,a,5,Other\n";
    let options = super::options("catalog", "GBP");
    super::import(&world, Cursor::new(products), options).await;
    let other = catalog::find_category_by_slug(&world.ctx, "other").await.expect("a read").expect("a category");
    assert_eq!(cents[&other.category_id], decimal("7"));
}

async fn what_became_of_an_order_stays_when_it_is_imported_again(target: &Target) {
    let world = World::new(target);
    import(&world, RETAIL, retail()).await;
    let before = order(&world, "536367").await;
    let change = orders::Change::by("admin", world.ctx.new_id());
    orders::change_status(&world.ctx, before.order_id, OrderStatus::Refunded, change).await.expect("refunded");
    sales::count_order(&world.ctx, before.order_id).await.expect("counted");
    assert_eq!(sold(&world, "2010-12-02").await, Sales::default());
    let changed = RETAIL.replace("POSTAGE,1", "POSTAGE,2");
    let again = import(&world, changed, retail()).await;
    assert_eq!((again.unchanged, again.notes.len()), (4, 1));
    assert!(again.notes[0].text.contains("comes to 36"), "{:?}", again.notes);
    assert_eq!(order(&world, "536367").await.status, OrderStatus::Refunded);
    assert_eq!(sold(&world, "2010-12-02").await, Sales::default());
}

/// Orders of three days, two lines each.
fn many(count: usize) -> String {
    let line =
        |n: usize, line: usize| format!("{n},P{line},Thing {line},{},12/{}/10 8:26,1.25,,\n", line + 1, n % 3 + 1);
    let lines: String = (0..2).flat_map(|at| (0..count).map(move |n| line(n, at))).collect();
    format!("{HEADING}{lines}")
}

async fn all_are_counted_once(world: &World, count: i64) {
    let mut all = Sales::default();
    for date in ["2010-12-01", "2010-12-02", "2010-12-03"] {
        let sold = sold(world, date).await;
        all.order_count += sold.order_count;
        all.item_count += sold.item_count;
        all.revenue_cents += sold.revenue_cents;
        is_sound(world, date).await;
    }
    assert_eq!(all, Sales { order_count: count, item_count: 3 * count, revenue_cents: 375 * count });
}

async fn two_imports_at_once_write_and_count_each_order_once(target: &Target) {
    let world = World::new(target);
    let (a, b) = futures::join!(import(&world, many(40), retail()), import(&world, many(40), retail()));
    assert!(a.created + b.created >= 40, "{a:?} {b:?}");
    assert_eq!((a.rejected.len(), b.rejected.len()), (0, 0), "{:?} {:?}", a.rejected, b.rejected);
    all_are_counted_once(&world, 40).await;
}

async fn an_import_that_was_stopped_is_finished_by_the_same_import(target: &Target) {
    let world = World::new(target);
    for progress in [1, 10, 25] {
        let seen = AtomicU64::new(0);
        let running = import_orders(&world.ctx, Cursor::new(many(40)), vec![], retail(), |_| {
            seen.fetch_add(1, Ordering::Relaxed);
        });
        let stop = async {
            while seen.load(Ordering::Relaxed) < progress {
                tokio::task::yield_now().await;
            }
        };
        // Dropped wherever it is: between an order and its count too.
        futures::future::select(Box::pin(running), Box::pin(stop)).await;
    }
    let report = import(&world, many(40), retail()).await;
    assert_eq!((report.created + report.unchanged, report.rejected.len()), (40, 0), "{:?}", report.rejected);
    // An order whose commit was dropped after it had happened is in its lists once the data layer's sweep has been there.
    world.clock.advance_millis(120_000);
    finish_commits(target, &world).await;
    all_are_counted_once(&world, 40).await;
}

async fn a_number_that_another_order_has_is_not_given_away(target: &Target) {
    let world = World::new(target);
    import(&world, RETAIL, retail()).await;
    let other = OrderOptions { source: "others".into(), ..retail() };
    let report = import(&world, RETAIL, other).await;
    assert_eq!((report.created, report.rejected.len(), known(&report)), (0, 4, 5));
    assert!(report.rejected[0].reason.contains("another order has the number 536365"), "{:?}", report.rejected);
    let rejected = report.sales.expect("sums").rejected;
    assert_eq!((rejected.lines, rejected.amount), (5, decimal("48.34")), "as the source has them");
    assert_eq!(sold(&world, "2010-12-01").await.revenue_cents, 57_84);
    // The shop's own count goes on behind a number of its form.
    let year = world.ctx.now().to_string()[..4].to_owned();
    let own = format!("order_id,product_id,price,date\nORD-{year}-000007,A,5,2011-01-02\n");
    assert_eq!(import(&world, own, retail()).await.created, 1);
    assert_eq!(orders::take_number(&world.ctx).await.expect("a number"), format!("ORD-{year}-000008"));
}

async fn what_makes_no_sense_is_refused_before_anything_is_written(target: &Target) {
    let world = World::new(target);
    let refused = async |source: &str, companions, options| {
        let error = import_orders(&world.ctx, Cursor::new(source.to_owned()), companions, options, |_| {}).await;
        error.expect_err("refused")
    };
    for bad in [
        OrderOptions { source: String::new(), ..retail() },
        OrderOptions { currency: Currency::new("XYZ"), ..retail() },
        OrderOptions { category: String::new(), ..retail() },
        OrderOptions { number_prefix: " ".into(), ..retail() },
    ] {
        assert!(matches!(refused(RETAIL, vec![], bad).await, Error::Invalid(_)));
    }
    let missing = refused("order_id,price\n1,5\n", vec![], retail()).await.to_string();
    assert!(missing.contains("the product") && missing.contains("the created_at"), "{missing}");
    let elsewhere = vec![Companion::new("orders", Cursor::new(ORDERS.to_owned()), "order_id").joining("nothing")];
    assert!(refused(ITEMS, elsewhere, retail()).await.to_string().contains("joined by nothing"));
    let broken = vec![Companion::new("orders", Cursor::new("[{\"order_id\": ".to_owned()), "order_id")];
    assert!(matches!(refused(ITEMS, broken, retail()).await, Error::Unreadable { .. }));
    for date in ["2010-12-01", "2017-07-09"] {
        let none = orders::list_by_day(&world.ctx, day(date), PageRequest::default()).await.expect("a page");
        assert_eq!(none.rows, []);
    }
}
