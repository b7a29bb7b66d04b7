//! Lines, their companions and their history; nothing is written here.

use std::io::Cursor;

use rust_decimal::Decimal;
use tokio::sync::mpsc;

use super::{
    companion::{Companion, Companions},
    draft::Draft,
    ops::{Making, OrderOptions},
    past,
};
use crate::{
    flows::import::{
        report::Standing,
        stream::{self, Step},
        time::{self, DateOrder},
    },
    money::Currency,
    orders::{OrderStatus, PaymentStatus},
};

fn options() -> OrderOptions {
    OrderOptions { dates: DateOrder::MonthFirst, ..OrderOptions::new("test", Currency::new("GBP")) }
}

/// What comes of a source: the drafts, and the reasons of what was rejected.
#[derive(Default)]
struct Made {
    drafts: Vec<Draft>,
    rejected: Vec<String>,
    notes: Vec<String>,
    without_lines: Vec<String>,
}

fn make(source: &str, companions: Vec<Companion<Cursor<String>>>, options: OrderOptions) -> Made {
    let companions = Companions::read(companions).expect("companions");
    let (sender, mut steps) = mpsc::channel(1_000);
    stream::read(Cursor::new(source), &mut Making::new(options, companions), &sender).expect("it can be read");
    drop(sender);
    let mut made = Made::default();
    while let Some(step) = steps.blocking_recv() {
        match step {
            Step::Draft(draft) => made.drafts.push(*draft),
            Step::Rejected { reason, .. } => made.rejected.push(reason),
            Step::Note(_, note) => made.notes.push(note),
            Step::WithoutLines(note) => made.without_lines.push(note),
        }
    }
    made
}

fn companion(name: &str, source: &str, column: &str) -> Companion<Cursor<String>> {
    Companion::new(name, Cursor::new(source.to_owned()), column)
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a number")
}

#[test]
fn times_are_read_as_sources_write_them() {
    for (text, order, expected) in [
        ("12/1/10 8:26", DateOrder::MonthFirst, "2010-12-01T08:26:00.000Z"),
        ("12/1/10 8:26", DateOrder::DayFirst, "2010-01-12T08:26:00.000Z"),
        ("1.12.2010", DateOrder::DayFirst, "2010-12-01T00:00:00.000Z"),
        ("1/2/69", DateOrder::MonthFirst, "1969-01-02T00:00:00.000Z"),
        ("2017-07-09 21:57:05", DateOrder::Unknown, "2017-07-09T21:57:05.000Z"),
        ("2017-07-09T21:57", DateOrder::Unknown, "2017-07-09T21:57:00.000Z"),
        ("2017-07-09", DateOrder::Unknown, "2017-07-09T00:00:00.000Z"),
        ("2017-07-09T21:57:05+02:00", DateOrder::Unknown, "2017-07-09T19:57:05.000Z"),
    ] {
        assert_eq!(time::read(text, order).expect(text).to_string(), expected);
    }
    assert!(time::read("12/1/10 8:26", DateOrder::Unknown).expect_err("refused").contains("two ways"));
    for bad in ["", "soon", "13/13/10", "12/1/110", "12/1/10 25:00", "12/1/10 8", "1/2/3/4", "2017-02-30", "-1/2/10"] {
        assert!(time::read(bad, DateOrder::MonthFirst).is_err(), "{bad}");
    }
}

#[test]
fn a_line_without_a_sale_is_told_from_one() {
    let heading = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice\n";
    let reason = |line: &str| {
        let made = make(&format!("{heading}{line}\n"), vec![], options());
        made.rejected.first().cloned()
    };
    for (line, expected) in [
        ("1,A,Lamp,2,12/1/10 8:26,5", None),
        ("1,A,Given away,2,12/1/10 8:26,0", None),
        ("1,A,,2,12/1/10 8:26,5", None),
        ("1,A,,2,12/1/10 8:26,0", Some("it has neither a name nor a price")),
        ("1,A,Lamp,2,12/1/10 8:26,", Some("it has no price")),
        ("1,A,Lamp,-2,12/1/10 8:26,5", Some("its quantity is -2")),
        ("1,A,Lamp,0,12/1/10 8:26,5", Some("its quantity is 0")),
        ("1,A,Lamp,1.5,12/1/10 8:26,5", Some("1.5 is no quantity")),
        ("1,A,Lamp,,12/1/10 8:26,5", Some("it has no quantity")),
        ("1,A,Adjust bad debt,1,12/1/10 8:26,-11062.06", Some("its price is -11062.06")),
        ("1,A,Pads,1,12/1/10 8:26,0.001", Some("its price is 0.001, and GBP has 2 decimals")),
        ("1,A,Lamp,2,12/1/10 8:26,€5", Some("€5 is in EUR, not in GBP")),
        ("1,,Lamp,2,12/1/10 8:26,5", Some("it has no product")),
        ("1,A,Lamp,2,,5", Some("it has no time")),
        ("1,A,Lamp,2,2010-99-01,5", Some("2010-99-01 is no time")),
    ] {
        assert_eq!(reason(line).as_deref(), expected, "{line}");
    }
}

#[test]
fn cancellations_have_quantities_below_nought() {
    let source = "InvoiceNo,StockCode,Quantity,InvoiceDate,UnitPrice\n\
                  C7,A,-2,12/1/10 8:26,5\nC7,B,-1,12/1/10 8:26,2.5\nC7,C,3,12/1/10 8:26,1\n";
    let made = make(source, vec![], OrderOptions { cancellation_prefix: Some("C".into()), ..options() });
    let [draft] = &made.drafts[..] else { panic!("{:?}", made.rejected) };
    let counted = draft.counted;
    assert_eq!(counted.standing, Standing::Cancelled);
    assert_eq!((counted.sum.lines, counted.sum.pieces, counted.sum.amount), (2, 3, decimal("12.5")));
    assert_eq!((counted.as_read.pieces, counted.as_read.amount), (-3, decimal("-12.5")));
    assert_eq!(draft.past.payment_status, PaymentStatus::Refunded);
    assert_eq!(made.rejected, ["its quantity is 3 in a cancellation"]);
}

const STATES: &str = "order_id,product_id,price,freight_value,order_status,order_purchase_timestamp,order_approved_at,\
order_delivered_carrier_date,order_delivered_customer_date\n";

fn history(line: &str) -> Vec<(OrderStatus, String, Option<String>)> {
    let made = make(&format!("{STATES}1,A,5,1.5,{line}\n"), vec![], options());
    let [draft] = &made.drafts[..] else { panic!("{:?}", made.rejected) };
    let step = |step: &crate::orders::PastStep| (step.status, step.at.to_string()[5..].to_owned(), step.notes.clone());
    draft.past.steps.iter().map(step).collect()
}

#[test]
fn times_become_steps() {
    use OrderStatus::*;
    let unknown = Some("The source does not say when.".to_owned());
    let at = |text: &str| format!("{text}.000Z");
    assert_eq!(
        history("delivered,2017-07-09 21:00:00,2017-07-09 22:00:00,2017-07-11 14:00:00,2017-07-26 10:00:00"),
        [
            (Pending, at("07-09T21:00:00"), None),
            (Paid, at("07-09T22:00:00"), None),
            (Shipped, at("07-11T14:00:00"), None),
            (Delivered, at("07-26T10:00:00"), None),
        ]
    );
    assert_eq!(
        history("invoiced,2017-07-09 21:00:00,2017-07-09 21:00:00,,"),
        [
            (Pending, at("07-09T21:00:00"), None),
            (Paid, "07-09T21:00:00.001Z".into(), Some("In the source it is at 2017-07-09T21:00:00.000Z.".into())),
            (Processing, "07-09T21:00:00.002Z".into(), unknown.clone()),
        ]
    );
    assert_eq!(history("created,2017-07-09 21:00:00,,,"), [(Pending, at("07-09T21:00:00"), None)]);
    // Sent, then cancelled: no such way leads through this shop.
    let cancelled = history("canceled,2017-07-09 21:00:00,2017-07-09 22:00:00,2017-07-11 14:00:00,");
    assert_eq!(cancelled.iter().map(|(status, ..)| *status).collect::<Vec<_>>(), [Pending, Paid, Cancelled]);
    let note = cancelled[2].2.as_deref().expect("a note");
    assert!(note.contains("shipped at 2017-07-11T14:00:00.000Z") && note.contains("does not say when"), "{note}");
    assert_eq!(history("delivered,2017-07-09 21:00:00,,,")[1], (Delivered, "07-09T21:00:00.001Z".into(), unknown));
}

#[test]
fn words_of_status_are_known_or_refused() {
    use OrderStatus::*;
    for (word, expected) in [
        ("created", Pending),
        ("approved", Paid),
        ("Invoiced", Processing),
        ("processing", Processing),
        ("shipped", Shipped),
        ("delivered", Delivered),
        ("canceled", Cancelled),
        ("unavailable", Cancelled),
        ("returned", Refunded),
    ] {
        assert_eq!(past::status(word), Some(expected), "{word}");
    }
    let made = |lines: &str| make(&format!("{STATES}{lines}"), vec![], options()).rejected;
    assert_eq!(made("1,A,5,,lost,2017-07-09,,,\n"), ["lost is no status"]);
    assert_eq!(made("1,A,5,,,2017-07-09,,,\n"), ["it has no status"]);
    let two = "1,A,5,,shipped,2017-07-09,,,\n1,B,5,,delivered,2017-07-09,,,\n";
    assert_eq!(made(two), ["its lines have the statuses shipped and delivered"]);
}

#[test]
fn companions_stand_behind_the_line() {
    let source = "order_id,product_id,price\n1,A,5\n1,B,6\n2,A,7\n";
    let companions = vec![
        companion(
            "orders",
            "order_id,customer_id,date\n1,c1,2011-01-02\n2,c2,2011-01-03\n2,c3,2012-01-01\n9,c9,2011\n",
            "order_id",
        ),
        companion("products", r#"[{"code": "A", "category": "Lamps"}, {"name": "none"}]"#, "code")
            .joining("product_id"),
        companion("customers", "customer_id,customer_city\nc1,Lima\n", "customer_id"),
    ];
    let made = make(source, companions, options());
    let [first, second] = &made.drafts[..] else { panic!("{:?}", made.rejected) };
    assert_eq!(first.categories, [["Lamps"], ["Uncategorised"]]);
    assert_eq!(first.order.totals.total, decimal("11"));
    let notes = first.past.internal_notes.as_deref().expect("notes");
    assert_eq!(notes, "Imported from test: 1\ncustomer_id: c1\ncustomer_city: Lima");
    assert_eq!(second.past.steps[0].at.to_string(), "2011-01-03T00:00:00.000Z");
    assert_eq!(made.without_lines, ["orders: 9 has no lines"]);
    for expected in ["products does not have B", "customers does not have c2", "products, record 2: it has no code"] {
        assert!(made.notes.iter().any(|note| note == expected), "{expected}: {:?}", made.notes);
    }
    assert!(made.notes.iter().any(|note| note.contains("2 is there before")), "{:?}", made.notes);
}

#[test]
fn a_companion_that_nothing_leads_to_is_refused() {
    let companions = |joins: &str| {
        let one = companion("orders", "order_id,date\n1,2011-01-02\n", "order_id").joining(joins);
        Making::new(options(), Companions::read(vec![one]).expect("a companion"))
    };
    let columns = ["order_id", "product_id", "price"].map(str::to_owned);
    use crate::flows::import::stream::Maker as _;
    assert!(companions("order_id").check(&columns).is_ok());
    let error = companions("invoice").check(&columns).expect_err("refused").to_string();
    assert!(error.contains("joined by invoice"), "{error}");
    let without = Making::new(options(), Companions::default()).check(&columns).expect_err("refused").to_string();
    assert!(without.contains("created_at"), "{without}");
    let other = companion("orders", "id\n1\n", "order_id");
    assert!(Companions::read(vec![other]).is_err());
}

#[test]
fn shipping_is_the_sum_of_the_lines() {
    let source = "order_id,product_id,price,freight_value,date\n1,A,5,1.5,2011-01-02\n1,B,6,2,2011-01-01\n";
    let made = make(source, vec![], options());
    let totals = &made.drafts[0].order.totals;
    assert_eq!(
        (totals.subtotal, totals.shipping_amount, totals.total),
        (decimal("11"), decimal("3.5"), decimal("14.5"))
    );
    assert_eq!(made.drafts[0].past.steps[0].at.to_string(), "2011-01-01T00:00:00.000Z", "the earliest of the lines");
}

#[test]
fn a_column_without_a_home_is_told_once() {
    let source = "order_id,product_id,price,date,seller\n1,A,5,2011-01-02,x\n2,A,5,2011-01-02,y\n";
    let made = make(source, vec![], options());
    assert_eq!(made.notes, ["the column seller is left out: orders have no place for it"]);
    let mapped = OrderOptions { mapping: Some("note=seller".parse().expect("a mapping")), ..options() };
    let made = make(source, vec![], mapped);
    assert!(made.notes.is_empty());
    assert!(made.drafts[1].past.internal_notes.as_deref().expect("notes").contains("seller: y"));
}
