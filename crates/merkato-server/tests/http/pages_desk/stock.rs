//! Stock before a clerk.

use merkato::{
    id::{HoldId, ProductId},
    inventory::{self, Reserve},
};
use widerow_testing::{Target, cases};

use super::{Clerk, Typed};

cases![
    a_delivery_that_is_sent_twice_comes_in_once,
    stock_is_adjusted_and_carried,
    refused_movements_keep_what_was_typed,
    what_is_low_is_listed,
    stock_is_counted_as_the_shop_says,
    holds_are_shown_and_given_back,
];

async fn figures(clerk: &Clerk, id: ProductId) -> Vec<(String, i32)> {
    let stock = inventory::get_stock(&clerk.world().ctx, id).await.expect("stock");
    stock.warehouses.into_iter().map(|level| (level.warehouse_id, level.quantity)).collect()
}

async fn lamp(clerk: &Clerk) -> (ProductId, String) {
    let id = clerk.world().stocked(&clerk.world().ctx, "Lamp", 19_90, 5).await.product_id;
    (id, format!("/admin/inventory/{id}"))
}

async fn a_delivery_that_is_sent_twice_comes_in_once(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = lamp(&clerk).await;
    let page = clerk.see(&path).await;
    page.says("vienna").says("Take in a delivery");
    let operation = page.hidden("operation");
    let fields =
        [("operation", operation.as_str()), ("warehouse_id", "graz"), ("units", "20"), ("reason", "Note 4711")];
    for _ in 0..2 {
        let done = clerk.send(&page, &format!("{path}/restock"), &fields).await;
        done.leads_to(&format!("{path}?notice=stock-moved"));
    }
    assert_eq!(figures(&clerk, id).await, [("graz".into(), 20), ("vienna".into(), 5)]);
    clerk.see(&path).await.says("Note 4711").says("+20").says("a colleague").says("<option value=\"graz\">");
    clerk.see("/admin/inventory").await.says("warehouse=graz").says("warehouse=vienna");
}

async fn stock_is_adjusted_and_carried(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = lamp(&clerk).await;
    let page = clerk.see(&path).await;
    let operation = page.hidden("operation");
    let fields = [("operation", operation.as_str()), ("warehouse_id", "vienna"), ("delta", "-2"), ("reason", "Broken")];
    clerk.send(&page, &format!("{path}/adjust"), &fields).await.leads_to(&format!("{path}?notice=stock-moved"));
    let page = clerk.see(&path).await;
    let operation = page.hidden("operation");
    let fields = [("operation", operation.as_str()), ("from", "vienna"), ("to", "linz"), ("units", "3")];
    clerk.send(&page, &format!("{path}/transfer"), &fields).await.leads_to(&format!("{path}?notice=stock-moved"));
    assert_eq!(figures(&clerk, id).await, [("linz".into(), 3), ("vienna".into(), 0)]);
    clerk.see(&path).await.says("vienna → linz").says("−2").says("Broken");
    // What was sold out is shown as such, and comes back.
    let page = clerk.see(&path).await;
    let operation = page.hidden("operation");
    let fields = [("operation", operation.as_str()), ("warehouse_id", "linz"), ("delta", "-3"), ("reason", "Lost")];
    clerk.send(&page, &format!("{path}/adjust"), &fields).await.leads_to(&format!("{path}?notice=stock-moved"));
    clerk.see("/admin/products").await.says("Sold out");
}

async fn refused_movements_keep_what_was_typed(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = lamp(&clerk).await;
    let page = clerk.see(&path).await;
    let operation = page.hidden("operation");
    let refusals: [(&str, Typed<'_>, &str); 6] = [
        ("restock", &[("warehouse_id", "vienna"), ("units", "many")], "it must be a whole number"),
        ("restock", &[("warehouse_id", "No Such"), ("units", "0")], "value=\"No Such\""),
        ("adjust", &[("warehouse_id", "vienna"), ("delta", "-9"), ("reason", "Lost")], "cannot be taken away"),
        ("adjust", &[("warehouse_id", "vienna"), ("delta", "-1")], "it is not given"),
        ("transfer", &[("from", "vienna"), ("to", "vienna"), ("units", "1")], "it is where the units come from"),
        ("threshold", &[("warehouse_id", "nowhere"), ("units", "1")], "has no stock in nowhere"),
    ];
    for (form, fields, says) in refusals {
        let all: Vec<_> = [("operation", operation.as_str())].into_iter().chain(fields.iter().copied()).collect();
        let refused = clerk.send(&page, &format!("{path}/{form}"), &all).await;
        refused.is_refused().says(says).says(&format!("href=\"#{form}\""));
        // What is sent again is the same movement.
        assert_eq!(refused.hidden("operation"), operation);
    }
    assert_eq!(figures(&clerk, id).await, [("vienna".into(), 5)]);
    let nothing = ProductId(clerk.world().ctx.new_id());
    let fields = [("operation", operation.as_str()), ("warehouse_id", "vienna"), ("units", "1")];
    assert_eq!(clerk.send(&page, &format!("/admin/inventory/{nothing}/restock"), &fields).await.status, 404);
}

async fn what_is_low_is_listed(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (_, path) = lamp(&clerk).await;
    clerk.see("/admin/inventory").await.says("Nothing is low here.");
    let page = clerk.see(&path).await;
    let fields = [("warehouse_id", "vienna"), ("units", "7")];
    clerk.send(&page, &format!("{path}/threshold"), &fields).await.leads_to(&format!("{path}?notice=stock-policy"));
    clerk.see("/admin/inventory?warehouse=vienna").await.says("Lamp").says(&path);
    clerk.see(&path).await.says("Low");
}

async fn stock_is_counted_as_the_shop_says(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = lamp(&clerk).await;
    let page = clerk.see(&path).await;
    let policy = format!("{path}/policy");
    clerk
        .send(&page, &policy, &[("tracked", "yes"), ("backorder", "yes")])
        .await
        .leads_to(&format!("{path}?notice=stock-policy"));
    clerk.see(&path).await.says("More may be sold than is there.");
    clerk.send(&page, &policy, &[]).await.leads_to(&format!("{path}?notice=stock-policy"));
    clerk.see(&path).await.says("Units of this product are not counted");
    let stock = inventory::get_stock(&clerk.world().ctx, id).await.expect("stock");
    assert_eq!((stock.tracked, stock.backorder), (false, false));
}

async fn holds_are_shown_and_given_back(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let (id, path) = lamp(&clerk).await;
    clerk.see(&path).await.says("Nothing is kept for anybody.");
    let hold_id = HoldId(ctx.new_id());
    let wish = Reserve { product_id: id, hold_id, quantity: 2, seconds: Some(300) };
    inventory::reserve(ctx, wish).await.expect("held");
    let page = clerk.see(&path).await;
    page.says("2 from vienna").says("data-until=").says("Give back stock");
    let hold = hold_id.to_string();
    let release = format!("{path}/release");
    for _ in 0..2 {
        clerk.send(&page, &release, &[("hold_id", &hold)]).await.leads_to(&format!("{path}?notice=stock-released"));
    }
    clerk.see(&path).await.says("Nothing is kept for anybody.");
    let stock = inventory::get_stock(ctx, id).await.expect("stock");
    assert_eq!((stock.reserved(), stock.available()), (0, 5));
    clerk.send(&page, &release, &[("hold_id", "none")]).await.is_refused();
}
