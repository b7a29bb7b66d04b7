//! Products and stock, and what was looked at and bought together.

use merkato::{
    analytics,
    catalog::{self, Product},
    graph,
    id::HoldId,
    inventory::{self, Level, Note, Reserve},
};

use super::{Writing, people::in_the_past};
use crate::demo::DAY_SECONDS;

impl Writing {
    pub(super) async fn product(&self, n: usize) -> anyhow::Result<usize> {
        let product = &self.made.products[n];
        // One that is there may have been edited or sold since.
        if catalog::find_product(&self.ctx, product.product_id).await?.is_none() {
            catalog::restore_product(&self.ctx, product.clone()).await?;
        }
        Ok(1)
    }

    pub(super) async fn stock(&self, n: usize) -> anyhow::Result<usize> {
        let stock = &self.made.stock[n];
        if stock.backorder {
            inventory::set_policy(&self.ctx, stock.product, true, true).await?;
        }
        for delivery in &stock.deliveries {
            let note = Note { actor: Some("demo".into()), reason: Some("First delivery".into()) };
            let level = Level { quantity: delivery.units, low_stock_threshold: Some(delivery.low) };
            inventory::set_level(&self.ctx, delivery.movement, stock.product, delivery.warehouse, level, None, note)
                .await?;
        }
        Ok(1)
    }

    /// Of the last orders, and of what is of one department in each: what else was in the parcel goes together by accident.
    pub(super) async fn purchase(&self, n: usize) -> anyhow::Result<usize> {
        let Some(past) = self.made.orders.iter().rev().nth(n) else { return Ok(0) };
        let products = past.lines.iter().map(|line| &self.made.products[line.product]);
        let department = |product: &Product| product.category_path.first().copied().unwrap_or(product.category_id);
        let first = products.clone().next().map(department);
        let products: Vec<_> = products.filter(|of| Some(department(of)) == first).map(|of| of.product_id).collect();
        graph::record_purchase(&self.ctx, past.order.0, &products).await?;
        Ok(1)
    }

    pub(super) async fn views(&self, n: usize) -> anyhow::Result<usize> {
        let day = &self.made.views[n];
        let at = day.date.start().plus_seconds(DAY_SECONDS / 2);
        let ctx = &in_the_past(&self.ctx, at);
        for (product, times) in &day.seen {
            let product = self.made.products[*product].product_id;
            for time in 0..*times {
                // Two of three views are somebody's first of the day.
                let visitor = format!("demo {}", time * 2 / 3);
                analytics::view_product(ctx, product, visitor.as_bytes()).await?;
            }
        }
        analytics::flush_views(ctx).await?;
        Ok(day.seen.len())
    }

    pub(super) async fn sales(&self, n: usize) -> anyhow::Result<usize> {
        analytics::set_day_sales(&self.ctx, &self.made.sales[n]).await?;
        Ok(1)
    }

    /// Somebody stands at the till just now, and will not buy: the hold ends by itself.
    pub(super) async fn hold(&self, n: usize) -> anyhow::Result<usize> {
        let product_id = self.made.products[self.made.held[n]].product_id;
        let seconds = 600 + 300 * i64::try_from(n).unwrap_or(0);
        let hold_id = HoldId(self.ctx.new_id());
        let hold = Reserve { product_id, hold_id, quantity: 1, seconds: Some(seconds) };
        inventory::reserve(&self.ctx, hold).await?;
        Ok(0)
    }
}
