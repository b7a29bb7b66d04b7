//! The rules of orders: given, when, then.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    Change, Discount, Error, NEXT, NewOrder, Order, OrderDraft, OrderLine, OrderStatus, Past, PastStep, PaymentStatus,
    PostalAddress, Purchase, Reduction, Totals, numbers,
    rules::{erase, is_done, note_payment, transition},
    shipping_method, totals,
};
use crate::{
    Currency,
    id::{CategoryId, OrderId, ProductId, UserId},
    limits,
    settings::OrderSettings,
    shards,
};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn eur() -> Currency {
    Currency::new("EUR")
}

fn cents(n: i64) -> Decimal {
    Decimal::new(n, 2)
}

fn settings() -> OrderSettings {
    let tax_rates = BTreeMap::from([("DE".to_owned(), Decimal::new(19, 2)), ("CH".to_owned(), Decimal::new(81, 3))]);
    OrderSettings { tax_rates, ..OrderSettings::default() }
}

fn purchase<'p>(currency: &'p Currency, lines: &'p [(Decimal, u32)]) -> Purchase<'p> {
    Purchase { currency, lines, reduction: None, shipping: None, country: "DE" }
}

fn line(n: u128, price: Decimal, quantity: u32) -> OrderLine {
    OrderLine {
        product_id: ProductId(Uuid::from_u128(n)),
        name: format!("Product {n}"),
        image: Some(format!("/images/{n}.jpg")),
        sku: None,
        options: BTreeMap::new(),
        unit_price: price,
        quantity,
        category_id: Some(CategoryId(Uuid::from_u128(n % 2))),
    }
}

fn draft() -> OrderDraft {
    let lines = vec![line(1, cents(999), 2), line(2, cents(500), 1), line(3, cents(1), 3)];
    let priced: Vec<_> = lines.iter().map(|line| (line.unit_price, line.quantity)).collect();
    let address = PostalAddress {
        street: "Am Markt 1".into(),
        city: "Bremen".into(),
        country: "DE".into(),
        ..PostalAddress::default()
    };
    OrderDraft {
        order_id: OrderId(Uuid::from_u128(7)),
        order_number: "ORD-2026-000007".into(),
        checkout_id: None,
        cart_id: None,
        user_id: Some(UserId(Uuid::from_u128(9))),
        user_email: Some("ada@example.com".into()),
        customer_name: Some("Ada".into()),
        shipping_address: Some(address),
        billing_address: None,
        payment_method: Some("card".into()),
        totals: totals(&purchase(&eur(), &priced), &settings()).expect("totals"),
        lines,
        discount_code: None,
        shipping_method: None,
        estimated_delivery: None,
        customer_notes: Some("Ring twice".into()),
        store_credit: None,
    }
}

fn placed() -> NewOrder {
    draft().place("customer", NOW).expect("an order")
}

fn change(n: u128) -> Change {
    Change::by("admin:john", Uuid::from_u128(n))
}

#[test]
fn the_parts_of_a_total_are_as_computed_by_hand() {
    let (eur, settings) = (eur(), settings());
    let lines = [(cents(999), 2), (cents(500), 1)];
    let standard = shipping_method(&settings, "standard").expect("it is there");
    let reduction = Some(Reduction::Percentage(Decimal::TEN));
    let got = totals(&Purchase { reduction, shipping: Some(standard), ..purchase(&eur, &lines) }, &settings);
    let expected = Totals {
        currency: eur.clone(),
        subtotal: cents(2498),
        discount_amount: cents(250),
        shipping_amount: cents(490),
        // 19 % of 22.48 + 4.90.
        tax_amount: cents(520),
        total: cents(3258),
    };
    assert_eq!(got.expect("totals"), expected);
    let untaxed = OrderSettings { tax_on_shipping: false, ..settings.clone() };
    let got = totals(&Purchase { shipping: Some(standard), ..purchase(&eur, &lines) }, &untaxed).expect("totals");
    assert_eq!((got.tax_amount, got.total), (cents(475), cents(2498 + 490 + 475)));
    let elsewhere = Purchase { country: "FR", ..purchase(&eur, &lines) };
    assert_eq!(totals(&elsewhere, &settings).expect("totals").tax_amount, Decimal::ZERO);
}

#[test]
fn halves_are_rounded_away_from_zero() {
    let settings = OrderSettings {
        tax_rates: BTreeMap::from([("JP".to_owned(), Decimal::new(1, 1))]),
        ..OrderSettings::default()
    };
    for (currency, price, tax) in [("JPY", 5, 1), ("JPY", 4, 0), ("JPY", 15, 2), ("JPY", 25, 3)] {
        let currency = Currency::new(currency);
        let lines = [(Decimal::from(price), 1)];
        let got = totals(&Purchase { country: "JP", ..purchase(&currency, &lines) }, &settings).expect("totals");
        assert_eq!(got.tax_amount, Decimal::from(tax), "{price}");
    }
}

#[test]
fn a_discount_is_never_more_than_the_goods() {
    let (eur, settings) = (eur(), settings());
    let lines = [(cents(300), 1)];
    for reduction in [Reduction::Amount(cents(301)), Reduction::Percentage(Decimal::ONE_HUNDRED)] {
        let got = totals(&Purchase { reduction: Some(reduction), ..purchase(&eur, &lines) }, &settings);
        let got = got.expect("totals");
        assert_eq!((got.discount_amount, got.total), (cents(300), Decimal::ZERO));
    }
}

#[test]
fn shipping_is_free_from_a_price_on_and_has_one_currency() {
    let (eur, settings) = (eur(), settings());
    let standard = shipping_method(&settings, "standard").expect("it is there");
    for (price, shipping) in [(49_99, 4_90), (50_00, 0)] {
        let lines = [(cents(price), 1)];
        let got = totals(&Purchase { shipping: Some(standard), ..purchase(&eur, &lines) }, &settings);
        assert_eq!(got.expect("totals").shipping_amount, cents(shipping));
    }
    // What a discount takes off counts.
    let lines = [(cents(50_00), 1)];
    let reduction = Some(Reduction::Amount(cents(1)));
    let got = totals(&Purchase { shipping: Some(standard), reduction, ..purchase(&eur, &lines) }, &settings);
    assert_eq!(got.expect("totals").shipping_amount, cents(4_90));
    let usd = Currency::new("USD");
    let got = totals(&Purchase { shipping: Some(standard), ..purchase(&usd, &lines) }, &settings);
    assert!(matches!(got, Err(Error::OtherCurrency { .. })), "{got:?}");
    let pickup = shipping_method(&settings, "pickup").expect("it is there");
    assert!(totals(&Purchase { shipping: Some(pickup), ..purchase(&usd, &lines) }, &settings).is_ok());
    assert!(matches!(shipping_method(&settings, "pigeon"), Err(Error::ShippingMethodNotFound { .. })));
}

#[test]
fn what_is_too_much_is_refused() {
    let (eur, settings) = (eur(), settings());
    let many = [(limits::PRICE_MAX, limits::QUANTITY_MAX), (limits::PRICE_MAX, 1)];
    for lines in [vec![many[0]; 1_000], vec![(Decimal::MAX, 1)], vec![(Decimal::MAX, 2)]] {
        let got = totals(&purchase(&eur, &lines), &settings);
        assert!(matches!(got, Err(Error::AmountTooLarge { .. })), "{got:?}");
    }
    let counted = |price| totals(&purchase(&eur, &[(price, 1)]), &settings);
    let most = Decimal::new(limits::REVENUE_CENTS_MAX, 2);
    assert!(counted(most).is_ok());
    assert!(matches!(counted(most + cents(1)), Err(Error::AmountTooLarge { limit }) if limit == most));
    let taxed = [(limits::AMOUNT_MAX, 1)];
    assert!(matches!(totals(&purchase(&eur, &taxed), &settings), Err(Error::AmountTooLarge { .. })));
}

proptest! {
    /// Whatever is bought in whatever currency: the parts add up, none is negative or finer than the currency.
    #[test]
    fn the_parts_always_add_up(
        lines in prop::collection::vec((0i64..3_000_000_000, 1u32..1_000), 1..30),
        currency in prop::sample::select(vec!["JPY", "EUR", "BHD"]),
        reduction in prop::option::of((any::<bool>(), 0i64..100_000_000)),
        rate in 0i64..1_000_000,
        shipping in 0i64..100_000,
        free_from in prop::option::of(0i64..1_000_000),
        tax_on_shipping in any::<bool>(),
    ) {
        let currency = Currency::new(currency);
        let decimals = currency.decimals().expect("a currency");
        let lines: Vec<_> = lines.into_iter().map(|(units, n)| (Decimal::new(units, decimals), n)).collect();
        let reduction = reduction.map(|(is_amount, n)| match is_amount {
            true => Reduction::Amount(Decimal::new(n, decimals)),
            false => Reduction::Percentage(Decimal::new(n, 6)),
        });
        let mut settings = OrderSettings {
            currency: currency.clone(),
            tax_rates: BTreeMap::from([("DE".to_owned(), Decimal::new(rate, 6))]),
            tax_on_shipping,
            ..OrderSettings::default()
        };
        settings.shipping_methods[0].amount = Decimal::new(shipping, decimals);
        settings.shipping_methods[0].free_from = free_from.map(|n| Decimal::new(n, decimals));
        let method = &settings.shipping_methods[0];
        let got = totals(&Purchase { reduction, shipping: Some(method), ..purchase(&currency, &lines) }, &settings);
        let got = got.expect("totals");
        let sum: Decimal = lines.iter().map(|(price, n)| price * Decimal::from(*n)).sum();
        prop_assert_eq!(got.subtotal, sum);
        prop_assert_eq!(got.total, got.subtotal - got.discount_amount + got.shipping_amount + got.tax_amount);
        prop_assert!(got.discount_amount <= got.subtotal);
        for part in [got.subtotal, got.discount_amount, got.shipping_amount, got.tax_amount, got.total] {
            prop_assert!(part >= Decimal::ZERO);
            prop_assert!(part.normalize().scale() <= decimals);
        }
        // And the order takes them.
        let ordered = lines.iter().zip(1..).map(|((price, n), i)| line(i, *price, *n));
        let ordered: Vec<_> = ordered.filter(|line| line.unit_price <= limits::PRICE_MAX).collect();
        if ordered.len() == lines.len() {
            let new = OrderDraft { lines: ordered, totals: got.clone(), ..draft() }.place("customer", NOW);
            let new = new.expect("an order");
            let revenue: Decimal = new.order().categories.values().map(|sum| sum.revenue).sum();
            prop_assert_eq!(revenue, got.subtotal);
        }
    }

    /// Along any way through the machine, also with clocks that differ: times rise, and no status is come to twice.
    #[test]
    fn histories_rise_along_every_way(steps in prop::collection::vec((0usize..7, -5_000i64..5_000), 1..30)) {
        let mut order = placed().order().clone();
        let mut been = BTreeSet::from([order.status]);
        let mut revisions = order.revision;
        for (i, (to, skew)) in steps.into_iter().enumerate() {
            let to = OrderStatus::ALL[to];
            let now = Timestamp::from_millis(NOW.millis() + skew);
            let legal = order.status.next().contains(&to);
            match transition(&order, to, &change(i as u128), now) {
                Ok((next, row)) => {
                    prop_assert!(legal);
                    prop_assert!(been.insert(to), "twice");
                    prop_assert!(row.status_time > order.status_time);
                    prop_assert_eq!((next.status, next.status_time), (row.status, row.status_time));
                    prop_assert!(next.updated_at >= order.updated_at);
                    revisions += 1;
                    prop_assert_eq!(next.revision, revisions);
                    order = next;
                }
                Err(Error::IllegalTransition { from, to: refused }) => {
                    prop_assert!(!legal);
                    prop_assert_eq!((from, refused), (order.status, to));
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

#[test]
fn the_machine_is_the_documents() {
    use OrderStatus::*;
    let declared: Vec<_> = NEXT.iter().map(|(from, _)| *from).collect();
    assert_eq!(declared, OrderStatus::ALL, "each status has its line");
    let legal: BTreeSet<_> = NEXT.iter().flat_map(|(from, to)| to.iter().map(|to| (*from, *to))).collect();
    let forward = [(Pending, Paid), (Paid, Processing), (Processing, Shipped), (Shipped, Delivered)];
    let cancelled = [Pending, Paid, Processing].map(|from| (from, Cancelled));
    let refunded = [Paid, Processing, Shipped, Delivered].map(|from| (from, Refunded));
    let expected: BTreeSet<_> = forward.into_iter().chain(cancelled).chain(refunded).collect();
    assert_eq!(legal, expected);
}

#[test]
fn a_transition_writes_down_what_came_with_it() {
    let order = placed().order().clone();
    let paid = Change {
        notes: Some("Card".into()),
        payment_id: Some("pay_1".into()),
        payment_status: Some(PaymentStatus::Captured),
        ..change(1)
    };
    let (paid_order, row) = transition(&order, OrderStatus::Paid, &paid, NOW).expect("legal");
    let at = Timestamp::from_millis(NOW.millis() + 1);
    assert_eq!((paid_order.paid_at, row.status_time, row.notes.as_deref()), (Some(at), at, Some("Card")));
    assert_eq!((paid_order.payment_id.as_deref(), paid_order.payment_status), (Some("pay_1"), PaymentStatus::Captured));
    assert!(is_done(&paid_order, OrderStatus::Paid, &paid));
    assert!(!is_done(&paid_order, OrderStatus::Paid, &change(2)));
    assert!(!is_done(&paid_order, OrderStatus::Processing, &paid));
    let (processing, _) = transition(&paid_order, OrderStatus::Processing, &change(2), NOW).expect("legal");
    assert!(is_done(&processing, OrderStatus::Paid, &paid), "known also when others came after it");
    let sent = Change { carrier: Some("DHL".into()), tracking_number: Some("1Z".into()), ..change(3) };
    let later = NOW.plus_seconds(60);
    let (shipped, _) = transition(&processing, OrderStatus::Shipped, &sent, later).expect("legal");
    assert_eq!((shipped.shipped_at, shipped.carrier.as_deref()), (Some(later), Some("DHL")));
    assert_eq!(shipped.payment_id.as_deref(), Some("pay_1"), "what a change does not name stays");
}

#[test]
fn what_the_provider_says_is_noted_once() {
    let order = placed().order().clone();
    let noted = note_payment(&order, PaymentStatus::Authorised, Some("pay_1"), NOW.plus_seconds(5));
    assert_eq!((noted.status, noted.revision, noted.status_time), (OrderStatus::Pending, 2, NOW));
    assert_eq!(note_payment(&noted, PaymentStatus::Authorised, None, NOW.plus_seconds(9)), noted);
}

#[test]
fn an_order_is_made_of_its_lines() {
    let new = placed();
    let order = new.order();
    assert_eq!(order.item_count, 6);
    assert_eq!(
        (order.first_item_name.as_str(), order.first_item_image.as_deref()),
        ("Product 1", Some("/images/1.jpg"))
    );
    assert_eq!(new.items().iter().map(|item| item.line_number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(new.items().iter().map(|item| item.line_total).sum::<Decimal>(), order.subtotal);
    let odd = &order.categories[&CategoryId(Uuid::from_u128(1))];
    assert_eq!((odd.item_count, odd.revenue), (5, cents(2001)));
    assert_eq!(order.billing_address, order.shipping_address);
    assert_eq!((order.tax_country.as_deref(), order.status), (Some("DE"), OrderStatus::Pending));
    let [row] = new.history() else { panic!("one row") };
    assert_eq!((row.status, row.status_time, row.actor.as_str()), (OrderStatus::Pending, NOW, "customer"));
}

fn bad_fields(result: Result<NewOrder, Error>) -> Vec<String> {
    match result {
        Err(Error::Invalid(invalid)) => invalid.fields.into_iter().map(|bad| bad.field).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_bad_field_is_named_at_once() {
    let mut bad = draft();
    bad.user_email = None;
    bad.order_number = String::new();
    bad.customer_notes = Some("<script>".into());
    bad.shipping_address.as_mut().expect("an address").country = "Germany".into();
    bad.lines[1].quantity = 0;
    bad.lines[2].unit_price = Decimal::new(1, 3);
    bad.totals.tax_amount = Decimal::new(-1, 2);
    let fields = bad_fields(bad.place("customer", NOW));
    let expected = [
        "user_email",
        "order_number",
        "shipping_address/country",
        "customer_notes",
        "lines/1/quantity",
        "lines/2/unit_price",
        "tax_amount",
    ];
    assert_eq!(fields, expected);
    assert_eq!(bad_fields(OrderDraft { lines: Vec::new(), ..draft() }.place("customer", NOW)), ["lines"]);
    assert_eq!(bad_fields(draft().place("", NOW)), ["history/0/actor"]);
}

#[test]
fn money_that_does_not_add_up_is_refused() {
    type Spoil = fn(&mut Totals);
    let spoilt: [(Spoil, &[&str]); 3] = [
        (|totals| totals.subtotal += cents(1), &["subtotal", "total"]),
        (|totals| totals.total += cents(1), &["total"]),
        (|totals| totals.discount_amount = totals.subtotal + cents(1), &["discount_amount", "total"]),
    ];
    for (spoil, fields) in spoilt {
        let mut bad = draft();
        spoil(&mut bad.totals);
        assert_eq!(bad_fields(bad.place("customer", NOW)), fields);
    }
}

#[test]
fn an_imported_order_has_its_own_history() {
    let step =
        |status, seconds| PastStep { status, at: NOW.plus_seconds(seconds), actor: "import".into(), notes: None };
    let past = Past {
        steps: vec![step(OrderStatus::Pending, -100), step(OrderStatus::Shipped, -50), step(OrderStatus::Delivered, 0)],
        payment_status: PaymentStatus::Captured,
        payment_id: None,
        tracking_number: None,
        carrier: None,
        internal_notes: None,
    };
    let new = OrderDraft { user_email: None, ..draft() }.import(past.clone(), NOW).expect("an order");
    let order = new.order();
    assert_eq!(
        (order.status, order.created_at, order.status_time),
        (OrderStatus::Delivered, NOW.plus_seconds(-100), NOW)
    );
    assert_eq!((order.shipped_at, order.paid_at), (Some(NOW.plus_seconds(-50)), None));
    assert_eq!(new.history().len(), 3);
    let mut same_time = past.clone();
    same_time.steps[1].at = same_time.steps[0].at;
    assert_eq!(bad_fields(draft().import(same_time, NOW)), ["history"]);
    let none = Past { steps: Vec::new(), ..past.clone() };
    assert_eq!(bad_fields(draft().import(none, NOW)), ["history"]);
    assert_eq!(bad_fields(draft().import(past, NOW.plus_seconds(-10 * 86_400))).len(), 3);
}

#[test]
fn an_erased_order_keeps_the_money_and_not_the_person() {
    let order = placed().order().clone();
    let left = erase(&order, NOW.plus_seconds(1));
    let expected = Order {
        user_email: None,
        customer_name: None,
        shipping_address: None,
        billing_address: None,
        customer_notes: None,
        updated_at: NOW.plus_seconds(1),
        revision: 2,
        ..order
    };
    assert_eq!(left, expected);
    assert_eq!(erase(&left, NOW.plus_seconds(2)), left, "once");
}

#[test]
fn numbers_are_read_as_they_are_written() {
    for (number, text) in [(1, "ORD-2026-000001"), (999_999, "ORD-2026-999999"), (1_000_000, "ORD-2026-1000000")] {
        assert_eq!(numbers::format("ORD", 2026, number), text);
        assert_eq!(numbers::parse("ORD", text), Some((2026, number)));
    }
    let others = [
        "ORD-2026-1",
        "ORD-2026-0000001",
        "ORD-26-000001",
        "ORD-2026-000000",
        "ORD-2026--00001",
        "ORD-2026-+00001",
        "XRD-2026-000001",
        "ORD2026-000001",
        "ORD-2026-9223372036854775807",
        "",
    ];
    for text in others {
        assert_eq!(numbers::parse("ORD", text), None, "{text}");
    }
}

#[test]
fn a_code_is_for_its_time_its_currency_and_its_orders() {
    let discount = Discount {
        code: "spring".into(),
        reduction: Reduction::Amount(cents(500)),
        currency: Some(eur()),
        minimal_subtotal: Some(cents(2000)),
        valid_from: Some(NOW),
        valid_until: Some(NOW.plus_seconds(10)),
        uses_max: Some(2),
        uses: 1,
        disabled: false,
        created_at: NOW,
    };
    assert!(discount.usable(NOW).is_ok());
    assert!(discount.usable(NOW.plus_seconds(9)).is_ok());
    assert!(matches!(discount.usable(NOW.plus_seconds(-1)), Err(Error::DiscountNotYet { .. })));
    assert!(matches!(discount.usable(NOW.plus_seconds(10)), Err(Error::DiscountOver { .. })));
    let used_up = Discount { uses: 2, ..discount.clone() };
    assert!(matches!(used_up.usable(NOW), Err(Error::DiscountUsedUp { limit: 2, .. })));
    let disabled = Discount { disabled: true, ..discount.clone() };
    assert!(matches!(disabled.usable(NOW), Err(Error::DiscountDisabled { .. })));
    assert_eq!(discount.reduction(cents(2000), &eur()).expect("good"), Reduction::Amount(cents(500)));
    assert!(matches!(discount.reduction(cents(1999), &eur()), Err(Error::DiscountMinimum { .. })));
    let other = discount.reduction(cents(2000), &Currency::new("USD"));
    assert!(matches!(other, Err(Error::OtherCurrency { .. })), "{other:?}");
}

#[test]
fn ids_are_spread_evenly_over_the_shards() {
    let mut counts = [0; limits::ORDER_SHARDS as usize];
    for n in 0..8_000u64 {
        // As UUIDv7 are: the time in front, chance behind.
        let chance = widerow::codec::fingerprint(&n.to_be_bytes());
        let id = uuid::Builder::from_unix_timestamp_millis(1_700_000_000_000 + n, &{
            let mut bytes = [0; 10];
            bytes[..8].copy_from_slice(&chance.to_be_bytes());
            bytes
        });
        counts[shards::of(id.as_uuid().as_bytes(), limits::ORDER_SHARDS) as usize] += 1;
    }
    assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
}
