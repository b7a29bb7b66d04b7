//! Sales that are recorded and taken back.

use widerow::Date;

use super::names::note_names;
use crate::{
    check::Check,
    context::Context,
    limits,
    sales::{
        error::{Error, Result},
        record::{self, NewSale, Prepared},
        tables::{SaleRecord, SaleVector},
    },
};

/// S: records a sale, in place of one with the same product, day and id.
pub async fn put_sale(ctx: &Context, new: NewSale) -> Result<SaleRecord> {
    let mut answers = put_sales(ctx, vec![new]).await?;
    answers.pop().unwrap_or_else(|| Err(Error::Data(widerow::Error::unavailable("no answer"))))
}

/// Records many sales, each for itself: an answer for each, in their order. One that is refused takes no other along; one
/// whose answer was lost is to be put again. On DynamoDB they go 25 a request, what it leaves is sent again.
pub async fn put_sales(ctx: &Context, sales: Vec<NewSale>) -> Result<Vec<Result<SaleRecord>>> {
    if sales.len() > limits::SALES_TOGETHER_MAX {
        let (size, limit) = (sales.len(), limits::SALES_TOGETHER_MAX);
        return Err(Error::TooLarge { what: "sales of one batch", size, limit });
    }
    let now = ctx.now();
    let prepared = sales.into_iter().map(|sale| record::prepare(sale, &ctx.settings.sales, now));
    let prepared: Vec<Result<Prepared>> = prepared.collect();
    let good = || prepared.iter().flatten();
    let records: Vec<SaleRecord> = good().map(|sale| sale.record.clone()).collect();
    let mut written = ctx.store.put_many(&records).await.into_iter();
    // ORDER: a vector without its sale would be found by who looks for the nearest; a sale without its vector is whole.
    let mut answers: Vec<Result<SaleRecord>> = Vec::with_capacity(prepared.len());
    let mut vectors: Vec<(usize, SaleVector)> = Vec::new();
    for sale in prepared {
        let answer = match sale {
            Ok(Prepared { record, vector }) => match written.next() {
                Some(Ok(())) => {
                    told(ctx, &record);
                    vectors.extend(vector.map(|vector| (answers.len(), vector)));
                    Ok(record)
                }
                Some(Err(error)) => {
                    let (product, sale) = (&record.product_id, &record.sale_id);
                    tracing::warn!(tenant = %ctx.store.tenant(), product, sale, %error, "a sale was not stored");
                    Err(Error::Data(error))
                }
                None => Err(Error::Data(widerow::Error::unavailable("no answer"))),
            },
            Err(error) => Err(error),
        };
        answers.push(answer);
    }
    let (places, vectors): (Vec<usize>, Vec<SaleVector>) = vectors.into_iter().unzip();
    for (place, answer) in places.into_iter().zip(ctx.store.put_many(&vectors).await) {
        if let Err(error) = answer {
            answers[place] = Err(Error::Data(error));
        }
    }
    note_names(ctx, answers.iter().flatten()).await;
    let failed = answers.iter().filter(|answer| matches!(answer, Err(Error::Data(_)))).count();
    let refused = answers.iter().filter(|answer| answer.is_err()).count() - failed;
    let stored = answers.len() - refused - failed;
    ctx.sale_tally.put(stored as u64, refused as u64, failed as u64);
    tracing::debug!(tenant = %ctx.store.tenant(), stored, refused, failed, "sales stored");
    Ok(answers)
}

fn told(ctx: &Context, sale: &SaleRecord) {
    tracing::debug!(
        tenant = %ctx.store.tenant(),
        product = sale.product_id,
        sale = sale.sale_id,
        category_shard = sale.category_shard,
        embedding_shard = sale.embedding_shard,
        "sale stored"
    );
}

/// Takes a sale back. One that is not there is no mistake.
pub async fn delete_sale(ctx: &Context, product_id: &str, sale_date: Date, sale_id: &str) -> Result<()> {
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    record::id(&mut check, "sale_id", sale_id);
    check.end()?;
    let key = (product_id.to_owned(), sale_date, sale_id.to_owned());
    ctx.store.delete_many::<SaleRecord>([key]).await.into_iter().collect::<widerow::Result<()>>()?;
    Ok(())
}
