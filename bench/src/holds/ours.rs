//! The shop's inventory, on whichever engine.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use merkato::{
    Context, Settings,
    context::SystemChance,
    id::{HoldId, MovementId, ProductId},
    inventory::{self, Note, Reserve},
};
use widerow::{Database, time::SystemClock};

use super::{CLIENTS, STOCK};
use crate::measure::{self, Contender};

pub struct Shop {
    ctx: Context,
    product: ProductId,
    name: &'static str,
    each: usize,
    held: i64,
}

impl Shop {
    /// With so many holds of each client in a round.
    pub async fn open(database: Database, name: &'static str, each: usize) -> Self {
        database.migrate().await.expect("tables");
        let store = database.tenant("bench").expect("a good name");
        let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
        let product = ProductId(ctx.new_id());
        let (movement, units) = (MovementId(ctx.new_id()), i64::from(STOCK));
        inventory::restock(&ctx, movement, product, "vienna", units, Note::default()).await.expect("restocked");
        Shop { ctx, product, name, each, held: 0 }
    }

    /// A hold lasts longer than all of it takes.
    pub async fn check(&self) {
        let stock = inventory::get_stock(&self.ctx, self.product).await.expect("stock");
        assert_eq!((stock.quantity(), stock.reserved()), (i64::from(STOCK), self.held));
    }
}

impl Contender for Shop {
    fn name(&self) -> String {
        self.name.into()
    }

    async fn round(&mut self) -> Vec<Duration> {
        let (product, each) = (self.product, self.each);
        let times = measure::clients(CLIENTS, |_| {
            let ctx = self.ctx.clone();
            async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let start = Instant::now();
                    let hold_id = HoldId(ctx.new_id());
                    let request = Reserve { product_id: product, hold_id, quantity: 1, seconds: Some(3_600) };
                    inventory::reserve(&ctx, request).await.expect("a hold");
                    times.push(start.elapsed());
                }
                times
            }
        })
        .await;
        self.held += times.len() as i64;
        times
    }
}
