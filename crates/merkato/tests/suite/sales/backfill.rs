//! Records without an end get one, and those that end are given out first.

use merkato::{
    Context, Settings,
    sales::{self, NewSale, SaleRecord},
    settings::SalesSettings,
};
use widerow::store::ScanCursor;
use widerow_testing::{Target, cases};

use super::{day, put_all, sale};
use crate::world::World;

cases![records_without_an_end_get_one, records_are_given_out_before_they_go];

async fn records_without_an_end_get_one(target: &Target) {
    // From before there was a retention.
    let kept = SalesSettings { retention_years: 0, ..SalesSettings::default() };
    let world = World::alone_with(target, Settings { sales: kept, ..Settings::default() });
    let before = &world.ctx;
    let many =
        |from: u32, to: u32| (from..to).map(|n| sale(before, &format!("p{}", n % 50), &format!("s{n}"))).collect();
    put_all(before, many(0, 1_200)).await;
    let other = before.with_store(world.database.tenant("other").expect("a tenant"));
    put_all(&other, many(0, 10)).await;
    let ctx = &Context::new(
        before.store.clone(),
        Settings::default(),
        world.clock.clone(),
        std::sync::Arc::new(merkato::context::SystemChance),
    );
    put_all(ctx, vec![sale(ctx, "p1", "with")]).await;
    let counted = sales::backfill_ttl(ctx, true, None, |_| true).await.expect("a dry run");
    assert_eq!((counted.scanned, counted.without, counted.updated, counted.failed), (1_201, 1_200, 0, 0));
    // Stopped after the first piece, then gone on with from the text of its cursor.
    let begun = sales::backfill_ttl(ctx, false, None, |_| false).await.expect("begun");
    assert!(begun.updated > 0 && begun.updated < 1_200, "{begun:?}");
    let cursor = ScanCursor::from(begun.next.expect("more").as_str().to_owned());
    let mut told = Vec::new();
    let rest = sales::backfill_ttl(ctx, false, Some(cursor), |done| {
        told.push(done.updated);
        true
    });
    let rest = rest.await.expect("gone on");
    assert_eq!((begun.updated + rest.updated, rest.failed, rest.next), (1_200, 0, None));
    assert!(told.len() > 1 && told.is_sorted());
    let again = sales::backfill_ttl(ctx, false, None, |_| true).await.expect("again");
    assert_eq!((again.scanned, again.without), (1_201, 0));
    let found = sales::get_sale(ctx, "p7", day(ctx, 0), "s7").await.expect("found");
    assert_eq!(found.ttl, sales::retention::end(found.sale_date, Some(2)));
    let theirs = sales::get_sale(&other, "p7", day(ctx, 0), "s7").await.expect("found");
    assert_eq!(theirs.ttl, None, "another tenant's is left alone");
}

async fn records_are_given_out_before_they_go(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let today = day(ctx, 0).civil().expect("a day");
    let long_ago = widerow::Date::new(today.year() - 2, today.month(), today.day().min(28)).expect("a day");
    let soon = widerow::Date::from_days(long_ago.days() + 10);
    let on = |date: widerow::Date, id: &str| NewSale { sale_date: date.to_string(), ..sale(ctx, "p", id) };
    put_all(ctx, vec![on(soon, "soon"), sale(ctx, "p", "new")]).await;
    let ending = async |seconds| {
        let mut ids = Vec::new();
        let count = sales::export_ending(ctx, ctx.now().plus_seconds(seconds), |ending| {
            ids.push(ending.record.sale_id.clone());
            assert_eq!(ending.record.ttl, Some(ending.ends_at));
        });
        assert_eq!(count.await.expect("given out"), ids.len() as u64);
        ids
    };
    assert_eq!(ending(24 * 3600).await, [""; 0]);
    assert_eq!(ending(40 * 24 * 3600).await, ["soon"]);
    // It has ended, and is given out all the same as long as the engine has it.
    world.clock.advance_millis(20 * 24 * 60 * 60 * 1000);
    assert_eq!(sales::find_sale(ctx, "p", soon, "soon").await.expect("read"), None::<SaleRecord>);
    assert_eq!(ending(0).await, ["soon"]);
}
