//! Orders before a clerk.

use merkato::{
    accounts::Role,
    id::OrderId,
    inventory,
    orders::{self, OrderStatus},
};
use widerow_testing::{Target, cases};

use super::Clerk;
use crate::admin::orders::{buy, product};

cases![
    an_order_is_packed_and_sent,
    what_was_sent_twice_is_done_once,
    a_clerk_who_comes_late_is_told,
    an_order_is_cancelled_after_asking,
    money_is_given_back_after_asking,
    the_staff_notes_among_themselves,
    orders_are_found_by_status_day_and_number,
];

async fn stands(clerk: &Clerk, id: OrderId) -> OrderStatus {
    orders::get_order(&clerk.world().ctx, id).await.expect("an order").status
}

async fn bought(clerk: &Clerk) -> (OrderId, String) {
    let product = product(&clerk.office, 10).await;
    let id = buy(&clerk.office, product).await;
    (id, format!("/admin/orders/{id}"))
}

async fn an_order_is_packed_and_sent(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = bought(&clerk).await;
    let page = clerk.see(&path).await;
    page.says("Start processing").says("Ada").says("Ring 1").says("€39.80").does_not_say("Tracking number");
    let (revision, operation) = (page.hidden("revision"), page.hidden("operation"));
    let fields =
        [("status", "processing"), ("revision", &revision), ("operation", &operation), ("notes", "On it\r\nnow")];
    clerk.send(&page, &format!("{path}/status"), &fields).await.leads_to(&format!("{path}?notice=order-moved"));
    let page = clerk.see(&format!("{path}?notice=order-moved")).await;
    page.says("The order is moved on.").says("On it\nnow").says("Mark as shipped").says("a colleague");
    let (revision, operation) = (page.hidden("revision"), page.hidden("operation"));
    let mut fields = vec![
        ("status", "shipped"),
        ("revision", revision.as_str()),
        ("operation", operation.as_str()),
        ("carrier", "DHL & Co"),
        ("tracking_number", "0034"),
        ("estimated_delivery", "soon"),
    ];
    // What is wrong is told, and what was typed is kept.
    let refused = clerk.send(&page, &format!("{path}/status"), &fields).await;
    refused.is_refused().says("value=\"DHL &#38; Co\"").says("value=\"soon\"").says("it must be a day");
    fields[5] = ("estimated_delivery", "2030-03-01");
    clerk.send(&page, &format!("{path}/status"), &fields).await.leads_to(&format!("{path}?notice=order-moved"));
    clerk.see(&path).await.says("DHL &#38; Co").says("0034").says("1 Mar 2030").says("Mark as delivered");
    assert_eq!(stands(&clerk, id).await, OrderStatus::Shipped);
}

async fn what_was_sent_twice_is_done_once(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = bought(&clerk).await;
    let page = clerk.see(&path).await;
    let (revision, operation) = (page.hidden("revision"), page.hidden("operation"));
    let fields = [("status", "processing"), ("revision", revision.as_str()), ("operation", &operation)];
    for _ in 0..2 {
        clerk.send(&page, &format!("{path}/status"), &fields).await.leads_to(&format!("{path}?notice=order-moved"));
    }
    let history = orders::list_history(&clerk.world().ctx, id).await.expect("a history");
    assert_eq!(history.iter().filter(|row| row.status == OrderStatus::Processing).count(), 1);
}

async fn a_clerk_who_comes_late_is_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = bought(&clerk).await;
    let [mine, theirs] = [clerk.see(&path).await, clerk.see(&path).await];
    let revision = mine.hidden("revision");
    let operation = theirs.hidden("operation");
    let fields = [("status", "processing"), ("revision", revision.as_str()), ("operation", &operation)];
    clerk.send(&theirs, &format!("{path}/status"), &fields).await.leads_to(&format!("{path}?notice=order-moved"));
    let operation = mine.hidden("operation");
    let fields = [("status", "processing"), ("revision", &revision), ("operation", &operation), ("notes", "Mine")];
    let told = clerk.send(&mine, &format!("{path}/status"), &fields).await;
    told.is_refused().says("Somebody else has changed this order").says("Mine").says("Mark as shipped");
    // Steps that are dangerous, or none, are not taken by this form.
    for status in ["cancelled", "refunded", "lost"] {
        let fields = [("status", status), ("revision", &revision), ("operation", &operation)];
        clerk.send(&mine, &format!("{path}/status"), &fields).await.is_refused();
    }
    assert_eq!(stands(&clerk, id).await, OrderStatus::Processing);
}

async fn an_order_is_cancelled_after_asking(target: &Target) {
    let clerk = Clerk::come(target).await;
    let lamp = product(&clerk.office, 10).await;
    let id = buy(&clerk.office, lamp).await;
    let path = format!("/admin/orders/{id}");
    let page = clerk.see(&path).await;
    page.says("<details class=\"ask\" id=\"cancel\"").says("for good");
    let (cancel_path, notes) = (format!("{path}/cancel"), [("notes", "They called")]);
    let cancel = || clerk.send(&page, &cancel_path, &notes);
    cancel().await.leads_to(&format!("{path}?notice=order-cancelled"));
    cancel().await.leads_to(&format!("{path}?notice=order-cancelled"));
    clerk.see(&path).await.says("They called").does_not_say("Cancel order").does_not_say("Start processing");
    let stock = inventory::get_stock(&clerk.world().ctx, lamp).await.expect("stock");
    assert_eq!((stands(&clerk, id).await, stock.available()), (OrderStatus::Cancelled, 10));
}

async fn money_is_given_back_after_asking(target: &Target) {
    let clerk = Clerk::come(target).await;
    let lamp = product(&clerk.office, 10).await;
    let id = buy(&clerk.office, lamp).await;
    let path = format!("/admin/orders/{id}");
    let page = clerk.see(&path).await;
    page.says("All of €").says("The goods can be sold again");
    let fields = [("restock", "yes"), ("notes", "Broken")];
    clerk.send(&page, &format!("{path}/refund"), &fields).await.leads_to(&format!("{path}?notice=order-refunded"));
    clerk.see(&path).await.says("Given back").says("Broken");
    let stock = inventory::get_stock(&clerk.world().ctx, lamp).await.expect("stock");
    assert_eq!((stands(&clerk, id).await, stock.available()), (OrderStatus::Refunded, 10));
    // It is too late to cancel it.
    clerk.send(&page, &format!("{path}/cancel"), &[]).await.is_refused().says("Somebody else has changed this order");
}

async fn the_staff_notes_among_themselves(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (_, path) = bought(&clerk).await;
    let page = clerk.see(&path).await;
    let revision = page.hidden("revision");
    let note = |text: &'static str| {
        let (page, path, revision) = (&page, format!("{path}/notes"), revision.clone());
        let clerk = &clerk;
        async move { clerk.send(page, &path, &[("internal_notes", text), ("revision", &revision)]).await }
    };
    note("Rings twice & \"waits\"").await.leads_to(&format!("{path}?notice=note-saved"));
    clerk.see(&path).await.says("Rings twice &#38; &#34;waits&#34;");
    let told = note("Another").await;
    told.is_refused().says("By now it says").says("Rings twice").says("Another</textarea>");
    note("It has <b>markup</b>").await.is_refused().says("&#60;b&#62;");
}

async fn orders_are_found_by_status_day_and_number(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, path) = bought(&clerk).await;
    let number = orders::get_order(&clerk.world().ctx, id).await.expect("an order").order_number;
    clerk.see("/admin/orders").await.says(&number).says("Paid <span class=\"tally\">1</span>");
    clerk.see("/admin/orders").await.says("Today <span class=\"tally\">1</span>");
    clerk.see("/admin/orders?status=shipped").await.says("Today <span class=\"tally\">0</span>");
    clerk.see("/admin/orders?status=paid").await.says(&number).says("aria-current=\"page\">Paid");
    clerk.see("/admin/orders?status=shipped").await.does_not_say(&number).says("No orders here.");
    clerk.see("/admin/orders?date=2020-02-01").await.does_not_say(&number);
    clerk.see("/admin/orders?date=2020-02-01&status=paid").await.says("all orders can be listed");
    clerk.see(&format!("/admin/orders?number={number}")).await.leads_to(&path);
    clerk.see("/admin/orders?number=ORD-0").await.says("No order has the number ORD-0.");
    let admin = clerk.session(Role::Admin).await;
    clerk.see_as(&admin, &path).await.is_a_page(&format!("Order {number}"));
}
