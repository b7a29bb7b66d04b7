//! Input that makes no sense: every field is named, nothing is read or written.

use merkato::{
    Cursor, Kind, PageRequest,
    id::{HoldId, ProductId},
    inventory::{self, Error, Line, Note, Reserve},
};
use uuid::Uuid;
use widerow::{Timestamp, meter};
use widerow_testing::{Target, cases};

use super::{new_hold, new_movement};
use crate::world::World;

cases![every_bad_field_is_named_before_anything_is_read];

fn refused<T: std::fmt::Debug>(what: Result<T, Error>, fields: &[&str]) {
    let Err(Error::Invalid(invalid)) = what else { panic!("{what:?}") };
    assert_eq!(invalid.fields.iter().map(|bad| bad.field.as_str()).collect::<Vec<_>>(), fields);
}

async fn every_bad_field_is_named_before_anything_is_read(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (product, hold) = (ProductId(ctx.new_id()), new_hold(ctx));
    let nil = HoldId(Uuid::nil());
    let asked = async {
        for quantity in [0, -1, 1_000_001, i64::MAX] {
            let request = Reserve { product_id: product, hold_id: nil, quantity, seconds: Some(3_601) };
            refused(inventory::reserve(ctx, request).await, &["hold_id", "quantity", "seconds"]);
            let line = |quantity| Line { product_id: product, quantity };
            let lines = [line(1), line(quantity)];
            let some = inventory::reserve_lines(ctx, HoldId(Uuid::max()), &lines, Some(0)).await;
            refused(some, &["hold_id", "seconds", "lines/1/quantity"]);
        }
        let half = [Line { product_id: product, quantity: 600_000 }; 2];
        refused(inventory::reserve_lines(ctx, hold, &half, None).await, &["lines/1/quantity"]);
        let many = vec![Line { product_id: product, quantity: 1 }; 1_001];
        refused(inventory::reserve_lines(ctx, hold, &many, None).await, &["lines"]);
        for answer in [
            inventory::release(ctx, product, nil).await,
            inventory::confirm(ctx, product, nil).await,
            inventory::give_back(ctx, product, nil).await,
            inventory::find_hold(ctx, product, nil).await.map(|hold| hold.unwrap()),
        ] {
            refused(answer, &["hold_id"]);
        }
        let never = Timestamp::from_millis(i64::MAX);
        refused(inventory::extend(ctx, product, nil, never).await, &["hold_id", "until"]);
        refused(inventory::extend_lines(ctx, hold, &[product], never).await, &["until"]);
        refused(inventory::confirm_lines(ctx, nil, &vec![product; 1_001]).await, &["hold_id", "products"]);
        let long = "w".repeat(65);
        for warehouse in ["", "Main", "a b", "é", "a/b", long.as_str()] {
            let (id, note) = (new_movement(ctx), Note { actor: Some("\n".into()), reason: None });
            let moved = inventory::restock(ctx, id, product, warehouse, 0, note.clone()).await;
            refused(moved, &["warehouse_id", "units", "actor"]);
            let moved = inventory::adjust(ctx, id, product, warehouse, 0, Note::default()).await;
            refused(moved, &["warehouse_id", "delta", "reason"]);
            let moved = inventory::transfer(ctx, id, product, (warehouse, warehouse), -1, Note::default()).await;
            refused(moved, &["from", "to", "to", "units"]);
            let set = inventory::set_low_stock_threshold(ctx, product, warehouse, -1).await;
            refused(set, &["warehouse_id", "units"]);
            refused(inventory::list_low_stock(ctx, warehouse, PageRequest::default()).await, &["warehouse_id"]);
        }
        let least = inventory::adjust(ctx, new_movement(ctx), product, "a", i64::MIN, Note::default()).await;
        refused(least, &["delta", "reason"]);
        refused(inventory::list_holds(ctx, product, PageRequest::first(0)).await, &["limit"]);
        refused(inventory::list_movements(ctx, product, PageRequest::first(101)).await, &["limit"]);
        let cursor = Some(Cursor::from("made up".to_owned()));
        let page = PageRequest { limit: 10, cursor };
        let hostile = inventory::list_holds(ctx, product, page).await.unwrap_err();
        assert_eq!(hostile.kind(), Kind::Invalid);
    };
    let ((), cost) = meter::measure(asked).await;
    assert_eq!((cost.round_trips, cost.rows_written), (0, 0), "{cost}");
}
