//! Every order becomes sales, once.

use merkato::{
    Context, PageRequest, Settings, catalog,
    flows::{reversal, sale_records},
    orders::{self, OrderDraft, OrderStatus},
    sales::{self, Days, SaleRecord},
    settings::SalesSettings,
};
use rust_decimal::Decimal;
use widerow::Row as _;
use widerow_testing::{Target, cases};

use crate::{
    catalog::{category, on_sale},
    orders::{draft, go, write},
    world::{World, raw_rows},
};

cases![
    every_line_of_a_paid_order_is_a_sale_once,
    what_is_given_back_is_no_sale,
    orders_of_days_without_a_sweep_are_found,
    a_shop_may_keep_its_orders_to_itself,
];

async fn all(world: &World) -> Vec<SaleRecord> {
    let rows = raw_rows(world, SaleRecord::table()).await;
    let mut sales: Vec<_> = rows.into_iter().map(|row| SaleRecord::from_values(row).expect("a row")).collect();
    sales.sort_by_key(SaleRecord::key);
    sales
}

async fn order_of(ctx: &Context, lines: u32) -> OrderDraft {
    let mut new = draft(ctx, None, lines);
    let lamps = category(ctx, "Lamps # 1").await;
    let mut product = on_sale("Lamp", &lamps, 1999);
    product.brand = Some("Fritz".into());
    product.compare_at_price = Some(Decimal::from(25));
    let lamp = catalog::create_product(ctx, product).await.expect("a product");
    new.lines[0].product_id = lamp.product_id;
    new
}

async fn every_line_of_a_paid_order_is_a_sale_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = write(ctx, &order_of(ctx, 3).await.place("customer", ctx.now()).expect("an order")).await;
    let swept = sale_records::follow_orders(ctx).await.expect("swept");
    assert_eq!((swept.orders, swept.recorded), (1, 0), "nothing is paid yet");
    assert!(all(&world).await.is_empty());
    go(ctx, order.order_id, &[OrderStatus::Paid]).await;
    let swept = sale_records::follow_orders(ctx).await.expect("swept");
    assert_eq!((swept.orders, swept.changed, swept.recorded, swept.refused), (1, 1, 3, 0));
    let first = all(&world).await;
    assert_eq!(first.len(), 3);
    let items = orders::list_items(ctx, order.order_id).await.expect("lines");
    for item in &items {
        let id = format!("{}-{}", item.line_number, order.order_id);
        let sale = sales::get_sale(ctx, &item.product_id.to_string(), order.order_date(), &id).await.expect("a sale");
        assert_eq!(sale.sale_price, item.unit_price);
        let known = item.line_number == 1;
        assert_eq!(sale.category, if known { "Lamps - 1" } else { "uncategorised" });
        assert_eq!(sale.brand.as_deref(), known.then_some("Fritz"));
        assert_eq!(sale.list_price(), if known { Decimal::from(25) } else { item.unit_price });
    }
    // Nothing has changed: nothing is written. And again with all memory of it gone: the same records.
    assert_eq!(sale_records::follow_orders(ctx).await.expect("swept").changed, 0);
    sales::forget_order(ctx, order.order_date(), order.order_id).await.expect("forgotten");
    assert_eq!(sale_records::follow_orders(ctx).await.expect("swept").recorded, 3);
    assert_eq!(all(&world).await, first);
    let found = sales::list_category_sales(ctx, "Lamps - 1", None, Days::default(), PageRequest::first(9)).await;
    assert_eq!(found.expect("a page").rows.len(), 1);
    // What changes later changes nothing but the time.
    go(ctx, order.order_id, &[OrderStatus::Processing, OrderStatus::Shipped]).await;
    sale_records::follow_orders(ctx).await.expect("swept");
    assert_eq!(all(&world).await.len(), 3);
}

async fn what_is_given_back_is_no_sale(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = write(ctx, &order_of(ctx, 2).await.place("customer", ctx.now()).expect("an order")).await;
    go(ctx, order.order_id, &[OrderStatus::Paid]).await;
    sale_records::follow_orders(ctx).await.expect("swept");
    assert_eq!(all(&world).await.len(), 2);
    // A reversal takes them back at once, days later too.
    world.clock.advance_millis(5 * 24 * 60 * 60 * 1000);
    reversal::refund_order(ctx, order.order_id, false, "admin:john", None).await.expect("given back");
    assert!(all(&world).await.is_empty());
    let swept = sale_records::follow_orders(ctx).await.expect("swept");
    assert_eq!((swept.changed, swept.recorded), (0, 0));
}

async fn orders_of_days_without_a_sweep_are_found(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    sale_records::follow_orders(ctx).await.expect("swept");
    let order = write(ctx, &draft(ctx, None, 1).place("customer", ctx.now()).expect("an order")).await;
    go(ctx, order.order_id, &[OrderStatus::Paid]).await;
    world.clock.advance_millis(9 * 24 * 60 * 60 * 1000);
    assert_eq!(sale_records::follow_orders(ctx).await.expect("swept").recorded, 1);
    assert_eq!(all(&world).await.len(), 1);
    assert_eq!(sale_records::follow_orders(ctx).await.expect("swept").orders, 0, "that day is done");
    // An older day is followed when it is asked for.
    assert_eq!(sale_records::follow_day(ctx, order.order_date()).await.expect("swept").changed, 0);
}

async fn a_shop_may_keep_its_orders_to_itself(target: &Target) {
    let settings = SalesSettings { follow_orders: false, ..SalesSettings::default() };
    let world = World::with(target, Settings { sales: settings, ..Settings::default() });
    let ctx = &world.ctx;
    let order = write(ctx, &draft(ctx, None, 1).place("customer", ctx.now()).expect("an order")).await;
    go(ctx, order.order_id, &[OrderStatus::Paid]).await;
    assert_eq!(sale_records::follow_orders(ctx).await.expect("swept"), sale_records::Swept::default());
    assert!(all(&world).await.is_empty());
}
