//! Stock that is kept while a shopper looks at the order.

use merkato::{
    carts::{self, Cart, Shopper, Which},
    flows::{
        Error,
        checkout::{self, CheckoutRequest, Failure, Kept, Stage},
        shopping,
    },
    id::UserId,
    inventory,
};
use widerow_testing::{Target, cases};

use super::shop::{Shop, WANTED};

cases![
    what_is_looked_at_is_kept_until_it_is_ordered,
    what_is_let_go_of_is_free_and_its_key_is_used_up,
    what_was_kept_for_too_long_is_taken_again,
    what_is_kept_for_another_cart_than_it_is_now_is_not_ordered,
];

impl Shop {
    async fn look(&self) -> Cart {
        carts::show_cart(&self.ctx, &self.shopper, Which::Active).await.expect("a cart")
    }

    async fn keep(&self) -> Kept {
        checkout::keep(&self.ctx, &self.shopper, &self.look().await).await.expect("kept")
    }

    async fn free(&self) -> [i64; 2] {
        let mut free = [0; 2];
        for (free, product) in free.iter_mut().zip(self.products) {
            *free = inventory::get_stock(&self.ctx, product).await.expect("stock").available();
        }
        free
    }

    async fn buy_kept(&self, kept: &Kept) -> Result<Stage, Error> {
        let request = CheckoutRequest { discount_code: None, ..self.request(&kept.key, "ok") };
        checkout::check_out(&self.ctx, &request).await.map(|checkout| checkout.stage)
    }
}

async fn what_is_looked_at_is_kept_until_it_is_ordered(target: &Target) {
    let shop = Shop::open(target, WANTED).await;
    let kept = shop.keep().await;
    assert!(kept.until.is_some_and(|until| until > shop.ctx.now()));
    assert_eq!(shop.free().await, [0, 0]);
    assert_eq!(shop.keep().await, kept, "whoever looks again has the same");
    let other = Shopper::User(UserId(shop.ctx.new_id()));
    let lamp = shop.products[0];
    let cart =
        shopping::add_to_cart(&shop.ctx, &other, Which::Active, lamp, Default::default(), 1).await.expect("added");
    match checkout::keep(&shop.ctx, &other, &cart).await {
        Err(Error::Inventory(inventory::Error::InsufficientStock { short })) => {
            assert_eq!((short[0].product, short[0].available), (lamp, 0));
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(shop.buy_kept(&kept).await.expect("bought"), Stage::Paid);
    assert_eq!(shop.buy_kept(&kept).await.expect("the same"), Stage::Paid);
    assert_eq!((shop.orders().await.len(), shop.free().await), (1, [0, 0]));
    shop.audit().await;
}

async fn what_is_let_go_of_is_free_and_its_key_is_used_up(target: &Target) {
    let shop = Shop::open(target, WANTED).await;
    let (cart, kept) = (shop.look().await, shop.keep().await);
    for _ in 0..2 {
        checkout::let_go(&shop.ctx, &shop.shopper, &cart).await.expect("let go");
        assert_eq!(shop.free().await, WANTED);
    }
    match shop.buy_kept(&kept).await {
        Err(Error::CheckoutFailed { failure: Failure::CartChanged, .. }) => {}
        answer => panic!("{answer:?}"),
    }
    assert_eq!(shop.cart().await, WANTED);
    let again = shop.keep().await;
    assert_ne!(again.key, kept.key);
    assert_eq!(shop.buy_kept(&again).await.expect("bought"), Stage::Paid);
    shop.audit().await;
}

async fn what_was_kept_for_too_long_is_taken_again(target: &Target) {
    let shop = Shop::open(target, WANTED).await;
    let first = shop.keep().await;
    shop.world.clock.advance_millis(16 * 60_000);
    assert_eq!(shop.free().await, WANTED);
    let second = shop.keep().await;
    assert_eq!(second.key, first.key);
    assert!(second.until > first.until);
    shop.world.clock.advance_millis(2 * 3_600_000);
    let third = shop.keep().await;
    assert_ne!(third.key, first.key);
    assert_eq!(shop.free().await, [0, 0]);
    shop.world.clock.advance_millis(16 * 60_000);
    // Nobody looked again, and it is there: but what was kept is no longer kept.
    match shop.buy_kept(&third).await {
        Err(Error::CheckoutFailed { failure: Failure::Expired, .. }) => {}
        answer => panic!("{answer:?}"),
    }
    let last = shop.keep().await;
    assert_eq!(shop.buy_kept(&last).await.expect("bought"), Stage::Paid);
    shop.audit().await;
}

async fn what_is_kept_for_another_cart_than_it_is_now_is_not_ordered(target: &Target) {
    let shop = Shop::open(target, [9, 9]).await;
    let kept = shop.keep().await;
    let lamp = shop.products[0];
    shopping::add_to_cart(&shop.ctx, &shop.shopper, Which::Active, lamp, Default::default(), 1).await.expect("added");
    match shop.buy_kept(&kept).await {
        Err(Error::CheckoutFailed { failure: Failure::CartChanged, .. }) => {}
        answer => panic!("{answer:?}"),
    }
    assert_eq!(shop.orders().await.len(), 0);
}
