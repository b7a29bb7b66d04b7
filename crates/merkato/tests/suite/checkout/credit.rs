//! Store credit pays, in part or all of it.

use std::sync::{Arc, atomic::Ordering::SeqCst};

use async_trait::async_trait;
use merkato::{
    Context, Currency, PageRequest, analytics,
    carts::{self, Which},
    flows::{
        Error,
        checkout::{self, Failure, Stage},
        reversal::{self, RefundTo},
        run::{self, Moment, Point, Watch},
    },
    id::UserId,
    inventory,
    orders::{self, Change, NewOrder, OrderStatus},
    payments::{self, Authorise, Authorised, Captured, Payment, PaymentProvider, Refunded, Result},
    wallets::{self, Operation},
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::meter::measure;
use widerow_testing::{Target, cases};

use super::shop::{Shop, WANTED};

cases![
    store_credit_pays_a_part_and_the_card_the_rest,
    more_than_the_wallet_holds_is_refused_before_anything_is_held,
    store_credit_that_is_gone_meanwhile_leaves_the_cart_as_it_was,
    a_refund_goes_where_it_is_wanted,
    whatever_a_bank_says_when_it_declines_the_credit_comes_back,
    a_bank_that_refuses_to_refund_keeps_no_credit,
    a_bank_that_cannot_be_reached_fills_the_cart_once,
    an_order_that_was_shipped_meanwhile_is_not_undone,
    credit_that_was_spent_in_another_shop_is_given_back_here,
    without_store_credit_no_wallet_is_looked_at,
];

async fn store_credit_pays_a_part_and_the_card_the_rest(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let bought = shop.buy("key").await;
    assert_eq!(bought.stage, Stage::Paid);
    let order = orders::get_order(&shop.ctx, bought.draft.order_id).await.unwrap();
    assert_eq!((order.status, order.store_credit), (OrderStatus::Paid, Some(Decimal::ONE_HUNDRED)));
    assert_eq!(shop.provider.captured_total(), order.total - Decimal::ONE_HUNDRED);
    let line = &wallets::statement(&shop.ctx, shop.user, None, 1).await.unwrap().lines[0];
    assert_eq!(line.told.entry.reason, Some(format!("order {}", order.order_number)));
    // The same again is the same order; another part is another request.
    assert_eq!(shop.buy("key").await.draft.order_id, order.order_id);
    shop.credit.store(50_00, SeqCst);
    let other = shop.check_out(&shop.ctx, "key", "ok").await;
    assert!(matches!(other, Err(Error::OtherRequest { .. })), "{other:?}");
    shop.audit().await;
}

async fn more_than_the_wallet_holds_is_refused_before_anything_is_held(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(50_00, 10_000).await;
    let short = shop.check_out(&shop.ctx, "key", "ok").await.unwrap_err();
    assert_eq!(short.code(), "insufficient_funds");
    let mut request = shop.request("other", "ok");
    request.store_credit = Some(Decimal::NEGATIVE_ONE);
    let bad = checkout::check_out(&shop.ctx, &request).await;
    assert!(matches!(&bad, Err(Error::Invalid(bad)) if bad.fields[0].field == "store_credit"), "{bad:?}");
    assert_eq!((shop.orders().await.len(), shop.cart().await), (0, WANTED));
    // With less of it, the cart is bought.
    shop.credit.store(50_00, SeqCst);
    assert_eq!(shop.buy("key").await.stage, Stage::Paid);
    shop.audit().await;
}

/// A provider in whose time somebody else empties the wallet.
struct Thief {
    provider: Arc<dyn PaymentProvider>,
    ctx: Context,
    user: UserId,
}

#[async_trait]
impl PaymentProvider for Thief {
    async fn authorise(&self, request: Authorise) -> Result<Authorised> {
        let all = Operation::new(Uuid::new_v5(&self.user.0, b"all"), Decimal::new(15_000, 2), Currency::new("EUR"));
        wallets::withdraw(&self.ctx, self.user, all).await.expect("withdrawn");
        self.provider.authorise(request).await
    }
    async fn capture(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Captured> {
        self.provider.capture(key, payment_id, amount).await
    }
    async fn refund(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Refunded> {
        self.provider.refund(key, payment_id, amount).await
    }
    async fn void(&self, authorise_key: Uuid) -> Result<()> {
        self.provider.void(authorise_key).await
    }
    async fn status(&self, authorise_key: Uuid) -> Result<Payment> {
        self.provider.status(authorise_key).await
    }
}

async fn store_credit_that_is_gone_meanwhile_leaves_the_cart_as_it_was(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let thief = Thief { provider: shop.provider.clone(), ctx: shop.ctx.clone(), user: shop.user };
    let ctx = shop.ctx.with_payments(Arc::new(thief));
    let failed = shop.check_out(&ctx, "key", "ok").await;
    let Err(Error::CheckoutFailed { failure: Failure::CreditRefused { .. }, .. }) = failed else {
        panic!("{failed:?}")
    };
    shop.deposited.store(0, SeqCst);
    assert_eq!(shop.cart().await, WANTED);
    shop.audit().await;
}

/// A bank with words of its own, and one that gives nothing back.
struct Bank {
    provider: Arc<dyn PaymentProvider>,
    declines: Option<String>,
    refunds: bool,
    voids: bool,
}

#[async_trait]
impl PaymentProvider for Bank {
    async fn authorise(&self, request: Authorise) -> Result<Authorised> {
        self.provider.authorise(request).await
    }
    async fn capture(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Captured> {
        match &self.declines {
            Some(reason) => Err(payments::Error::Declined { reason: reason.clone() }),
            None => self.provider.capture(key, payment_id, amount).await,
        }
    }
    async fn refund(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Refunded> {
        match self.refunds {
            true => self.provider.refund(key, payment_id, amount).await,
            false => Err(payments::Error::Declined { reason: "the card is closed".into() }),
        }
    }
    async fn void(&self, authorise_key: Uuid) -> Result<()> {
        match self.voids {
            true => self.provider.void(authorise_key).await,
            false => Err(payments::Error::Unavailable),
        }
    }
    async fn status(&self, authorise_key: Uuid) -> Result<Payment> {
        self.provider.status(authorise_key).await
    }
}

async fn whatever_a_bank_says_when_it_declines_the_credit_comes_back(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let declines = Some(format!("Do not\thonour\r\n{}", "é".repeat(5_000)));
    let ctx = shop.ctx.with_payments(Arc::new(Bank {
        provider: shop.provider.clone(),
        declines,
        refunds: true,
        voids: true,
    }));
    let failed = shop.check_out(&ctx, "key", "ok").await;
    let Err(Error::CheckoutFailed { failure: Failure::Declined { reason }, .. }) = failed else { panic!("{failed:?}") };
    assert!(reason.starts_with("Do not honour é") && reason.len() <= 500, "{reason}");
    assert_eq!(shop.cart().await, WANTED);
    shop.audit().await;
}

async fn a_bank_that_refuses_to_refund_keeps_no_credit(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let order = shop.buy("key").await.draft.order_id;
    let bank = Bank { provider: shop.provider.clone(), declines: None, refunds: false, voids: true };
    let ctx = shop.ctx.with_payments(Arc::new(bank));
    let refused = reversal::cancel_order(&ctx, order, "admin:joan", None).await;
    assert!(matches!(refused, Err(Error::Payments(payments::Error::Declined { .. }))), "{refused:?}");
    let held = wallets::get_wallet(&shop.ctx, shop.user).await.unwrap().balance;
    assert_eq!(held, Decimal::new(15_000, 2), "the wallet has its own back");
    // Nor does it keep what can be sold again, or the figures.
    assert_eq!(inventory::get_stock(&shop.ctx, shop.products[1]).await.unwrap().available(), 1);
    let page = PageRequest { limit: 10, cursor: None };
    let sales = analytics::list_daily_sales(&shop.ctx, shop.ctx.now().date(), page).await.unwrap().rows;
    assert!(sales.iter().all(|row| row.order_count == 0), "{sales:?}");
    // The bank has thought better of it.
    shop.go_on().await;
    shop.audit().await;
}

/// Dies before the order is cancelled.
struct Dies;

impl Watch for Dies {
    fn stops(&self, point: Point) -> bool {
        point.step == "cancel" && point.moment == Moment::Before
    }
}

/// One run takes the order for unpaid and dies; a slower one has it paid after all, and a clerk ships it.
async fn an_order_that_was_shipped_meanwhile_is_not_undone(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    let ctx = &shop.ctx;
    let order = shop.check_out(ctx, "key", "late").await.unwrap().draft.order_id;
    shop.world.clock.advance_millis(1_000 * (ctx.settings.orders.unpaid_seconds + 1));
    run::resume_due(&shop.watched(Arc::new(Dies))).await.unwrap();
    for status in [OrderStatus::Paid, OrderStatus::Processing, OrderStatus::Shipped] {
        orders::change_status(ctx, order, status, Change::by("admin:joan", ctx.new_id())).await.unwrap();
    }
    shop.go_on().await;
    assert_eq!(orders::get_order(ctx, order).await.unwrap().status, OrderStatus::Shipped);
    assert_eq!(shop.cart().await, [0, 0], "what was sold is not in the cart again");
    assert_eq!(shop.check_out(ctx, "key", "late").await.unwrap().stage, Stage::Paid);
}

async fn credit_that_was_spent_in_another_shop_is_given_back_here(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let id = shop.buy("key").await.draft.order_id;
    let order = orders::get_order(&shop.ctx, id).await.unwrap();
    let items = orders::list_items(&shop.ctx, id).await.unwrap();
    let history = orders::list_history(&shop.ctx, id).await.unwrap();
    let greedy = orders::Order { store_credit: Some(order.total + Decimal::ONE), ..order.clone() };
    assert!(NewOrder::restore(greedy, items.clone(), history.clone()).is_err());
    let there = shop.world.database.tenant(&widerow_testing::unique()).unwrap();
    let there = shop.ctx.with_store(there);
    orders::insert(&there, &NewOrder::restore(order, items, history).unwrap()).await.unwrap();
    for _ in 0..2 {
        reversal::refund_order(&there, id, false, "admin:joan", None).await.unwrap();
        assert_eq!(wallets::get_wallet(&there, shop.user).await.unwrap().balance, Decimal::ONE_HUNDRED);
    }
}

/// The shopper takes something out of the cart that was filled again, while the bank is still asked.
async fn a_bank_that_cannot_be_reached_fills_the_cart_once(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let bank = Bank { provider: shop.provider.clone(), declines: Some("no".into()), refunds: true, voids: false };
    let ctx = shop.ctx.with_payments(Arc::new(bank));
    for _ in 0..3 {
        let failed = shop.check_out(&ctx, "key", "ok").await;
        assert!(matches!(failed, Err(Error::Payments(_))), "{failed:?}");
        if shop.cart().await == WANTED {
            carts::clear_cart(&shop.ctx, &shop.shopper, Which::Active).await.unwrap();
        }
        assert_eq!(shop.cart().await, [0, 0]);
        shop.world.clock.advance_millis(1_000 * (ctx.settings.flows.lease_seconds + 1));
    }
    shop.go_on().await;
    assert_eq!(shop.cart().await, [0, 0]);
    shop.audit().await;
}

async fn a_refund_goes_where_it_is_wanted(target: &Target) {
    for to in [RefundTo::Origin, RefundTo::StoreCredit] {
        let shop = Shop::open(target, [5, 1]).await;
        shop.hold_credit(15_000, 10_000).await;
        let order = shop.buy("key").await.draft;
        let total = order.totals.total;
        shop.refunds_to_credit.store(to == RefundTo::StoreCredit, SeqCst);
        for _ in 0..2 {
            reversal::refund_order_to(&shop.ctx, order.order_id, to, true, "admin:joan", None).await.unwrap();
            let held = wallets::get_wallet(&shop.ctx, shop.user).await.unwrap().balance;
            let (back, more) = match to {
                RefundTo::Origin => (total - Decimal::ONE_HUNDRED, Decimal::ZERO),
                RefundTo::StoreCredit => (Decimal::ZERO, total - Decimal::ONE_HUNDRED),
            };
            assert_eq!((shop.provider.refunded_total(), held), (back, Decimal::new(15_000, 2) + more));
        }
        shop.audit().await;
    }
}

async fn without_store_credit_no_wallet_is_looked_at(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    let (bought, plain) = measure(shop.check_out(&shop.ctx, "key", "ok")).await;
    assert_eq!(bought.unwrap().stage, Stage::Paid);
    let shop = Shop::open(target, [5, 1]).await;
    shop.hold_credit(15_000, 10_000).await;
    let (bought, with_credit) = measure(shop.check_out(&shop.ctx, "key", "ok")).await;
    assert_eq!(bought.unwrap().stage, Stage::Paid);
    assert_eq!(with_credit.conditional_writes, plain.conditional_writes + 1, "{with_credit}, without {plain}");
    assert!(with_credit.partitions_read > plain.partitions_read, "{with_credit}, without {plain}");
}
