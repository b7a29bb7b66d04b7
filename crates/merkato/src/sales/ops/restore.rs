//! Sales of the past, from a file: what is there already, and the same, is not written again.

use std::collections::HashMap;

use crate::{
    context::Context,
    sales::{
        error::{Error, Result},
        record::{self, NewSale, Prepared},
        tables::SaleRecord,
    },
};

/// What became of a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    Created,
    Changed,
    Unchanged,
}

/// Records many sales, each for itself, unless they are there as they are: an answer for each, in their order. A sale without
/// times has those of the record that is there. One whose time is over already is refused, as it would never be seen.
pub async fn restore_sales(ctx: &Context, sales: Vec<NewSale>) -> Result<Vec<Result<Restored>>> {
    let now = ctx.now();
    let settings = &ctx.settings.sales;
    let prepared: Vec<(NewSale, Result<Prepared>)> = sales
        .into_iter()
        .map(|sale| {
            let prepared = record::prepare(sale.clone(), settings, now);
            (sale, prepared.and_then(|prepared| live(prepared, now)))
        })
        .collect();
    let good = prepared.iter().filter_map(|(_, prepared)| prepared.as_ref().ok());
    let keys: Vec<_> = good.map(|prepared| prepared.record.key()).collect();
    let mut known: HashMap<_, SaleRecord> = HashMap::new();
    for some in keys.chunks(widerow::limits::GET_KEYS_MAX) {
        let found = ctx.store.get_many::<SaleRecord>(some.iter().cloned()).await?;
        known.extend(found.into_iter().flatten().map(|sale| (sale.key(), sale)));
    }
    let mut answers: Vec<Option<Result<Restored>>> = Vec::with_capacity(prepared.len());
    let (mut places, mut wanted) = (Vec::new(), Vec::new());
    for (mut sale, prepared) in prepared {
        let Prepared { mut record, vector } = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                answers.push(Some(Err(error)));
                continue;
            }
        };
        let before = known.get(&record.key());
        if let Some(before) = before {
            sale.created_at = sale.created_at.or(before.created_at);
            record.created_at = sale.created_at.or(record.created_at);
            record.updated_at = sale.updated_at.or(before.updated_at);
        }
        // A vector is written with its sale: whether it is there is not asked.
        if before == Some(&record) && vector.is_none() {
            answers.push(Some(Ok(Restored::Unchanged)));
            continue;
        }
        let restored = match before {
            None => Restored::Created,
            Some(before) if *before == record => Restored::Unchanged,
            Some(_) => Restored::Changed,
        };
        places.push((answers.len(), restored));
        wanted.push(sale);
        answers.push(None);
    }
    let written = super::put_sales(ctx, wanted).await?;
    for ((place, restored), answer) in places.into_iter().zip(written) {
        answers[place] = Some(answer.map(|_| restored));
    }
    Ok(answers.into_iter().flatten().collect())
}

fn live(prepared: Prepared, now: widerow::Timestamp) -> Result<Prepared> {
    match prepared.record.ttl {
        Some(end) if end <= now => Err(Error::Ended { day: prepared.record.sale_date }),
        _ => Ok(prepared),
    }
}
