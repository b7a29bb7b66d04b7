//! Ada has store credit: a voucher, and something for a parcel that came late; a part of it is spent.

use merkato::wallets::{self, Operation};
use rust_decimal::Decimal;

use super::{Writing, people::in_the_past};
use crate::demo::{DAY_SECONDS, SEED, products::id};

const ENTRIES: [(i64, i64, &str); 3] =
    [(40, 30_00, "A gift voucher"), (21, -12_50, "A gift card for a friend"), (9, 7_50, "A parcel came late")];

impl Writing {
    pub(super) async fn credit(&self) -> anyhow::Result<()> {
        let Some(ada) = self.people.ada else { return Ok(()) };
        for (days, cents, reason) in ENTRIES {
            let ctx = &in_the_past(&self.ctx, self.ctx.now().plus_seconds(-days * DAY_SECONDS));
            let currency = ctx.settings.orders.currency.clone();
            let operation = Operation::new(id(SEED, "store credit", reason), Decimal::new(cents.abs(), 2), currency);
            let operation = Operation { reason: Some(reason.into()), ..operation };
            match cents {
                0.. => wallets::deposit(ctx, ada, operation).await?,
                _ => wallets::withdraw(ctx, ada, operation).await?,
            };
            self.done.add(1);
        }
        Ok(())
    }
}
