//! Sales that are recorded and taken back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use widerow::{Date, Error as DataError};

use super::names::note_names;
use crate::{
    check::Check,
    context::Context,
    limits,
    sales::{
        error::{Error, Result},
        record::{self, NewSale, Prepared},
        shards::embedding_shard,
        tables::{SaleRecord, SaleVector, VECTOR_SHARDS},
    },
};

/// Product, day and id.
type SaleKey = (String, Date, String);

/// S: records a sale, in place of one with the same product, day and id.
pub async fn put_sale(ctx: &Context, new: NewSale) -> Result<SaleRecord> {
    let mut answers = put_sales(ctx, vec![new]).await?;
    answers.pop().unwrap_or_else(|| Err(Error::Data(widerow::Error::unavailable("no answer"))))
}

/// Records many sales, each for itself: an answer for each, in their order. One that is refused takes no other along; one
/// whose answer was lost is to be put again. On DynamoDB they go 25 a request, what it leaves is sent again. What stands in
/// their places is read before, a hundred a request: the vector of a sale that is recorded again without it tells of it as it
/// is now, or goes.
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
    let told_anew: HashSet<_> = good().flat_map(|sale| &sale.vector).map(vector_key).collect();
    let anew: HashMap<SaleKey, &SaleRecord> = records.iter().map(|record| (record.key(), record)).collect();
    let stays = |vector: &SaleVector, sale: &SaleRecord| {
        let same =
            |new: &&SaleRecord| new.embedding_id == sale.embedding_id && vector.clone().telling_of(new) == *vector;
        told_anew.contains(&vector_key(vector)) || anew.get(&sale.key()).is_some_and(same)
    };
    let (mut left, written) = match take_vectors(ctx, records.iter().map(SaleRecord::key), stays).await {
        Ok(left) => (left, ctx.store.put_many(&records).await),
        Err(error) => (HashMap::new(), vec![Err(error); records.len()]),
    };
    let mut written = written.into_iter();
    // ORDER: a vector without its sale would be found by who looks for the nearest; a sale without its vector is whole.
    let mut answers: Vec<Result<SaleRecord>> = Vec::with_capacity(prepared.len());
    let mut vectors: Vec<(usize, SaleVector)> = Vec::new();
    // Of sales that stand as they did.
    let mut back: Vec<SaleVector> = Vec::new();
    for sale in prepared {
        let answer = match sale {
            Ok(Prepared { record, vector }) => match written.next() {
                Some(Ok(())) => {
                    told(ctx, &record);
                    let left = left.remove(&record.key()).map(|vector| vector.telling_of(&record));
                    let vector =
                        vector.or(left.filter(|vector| record.embedding_id.as_ref() == Some(&vector.embedding_id)));
                    vectors.extend(vector.map(|vector| (answers.len(), vector)));
                    Ok(record)
                }
                Some(Err(error)) => {
                    let (product, sale) = (&record.product_id, &record.sale_id);
                    tracing::warn!(tenant = %ctx.store.tenant(), product, sale, %error, "a sale was not stored");
                    back.extend(left.remove(&record.key()));
                    Err(Error::Data(error))
                }
                None => Err(Error::Data(widerow::Error::unavailable("no answer"))),
            },
            Err(error) => Err(error),
        };
        answers.push(answer);
    }
    for error in ctx.store.put_many(&back).await.into_iter().filter_map(Result::err) {
        tracing::warn!(tenant = %ctx.store.tenant(), %error, "the vector of a sale that was not stored is lost");
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

/// What stands under these keys. Whatever another tool wrote in its own way has no vector of ours, and must not be in the way
/// of what takes its place.
async fn find_standing(ctx: &Context, keys: &[SaleKey]) -> widerow::Result<Vec<SaleRecord>> {
    match ctx.store.get_many::<SaleRecord>(keys.iter().cloned()).await {
        Ok(found) => Ok(found.into_iter().flatten().collect()),
        Err(error @ DataError::Corrupt { .. }) => {
            tracing::warn!(tenant = %ctx.store.tenant(), %error, "vectors of sales that are replaced stay");
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Shard, product and embedding.
type VectorKey = (i32, String, String);

fn vector_key(vector: &SaleVector) -> VectorKey {
    (vector.shard, vector.product_id.clone(), vector.embedding_id.clone())
}

fn vector_key_of(sale: &SaleRecord) -> Option<VectorKey> {
    let shard = embedding_shard(&sale.product_id, VECTOR_SHARDS);
    Some((shard, sale.product_id.clone(), sale.embedding_id.clone()?))
}

/// Deletes the vectors that tell of the sales as they stand, but for those that stay, and gives them to whoever may still need
/// them. One that several sales have tells of the last that brought it, and goes with that one.
///
/// ORDER: before the sales are changed. A sale without its vector is whole; a vector whose sale has changed is known as its
/// own by nothing any more, and would stay.
async fn take_vectors(
    ctx: &Context,
    keys: impl Iterator<Item = SaleKey>,
    stays: impl Fn(&SaleVector, &SaleRecord) -> bool,
) -> widerow::Result<HashMap<SaleKey, SaleVector>> {
    let keys: BTreeSet<SaleKey> = keys.collect();
    let keys: Vec<SaleKey> = keys.into_iter().collect();
    let mut taken = HashMap::new();
    for some in keys.chunks(widerow::limits::GET_KEYS_MAX) {
        // Of several sales with one embedding, the one that its vector tells of is found by day and price.
        let mut embedded: BTreeMap<VectorKey, Vec<SaleRecord>> = BTreeMap::new();
        for sale in find_standing(ctx, some).await? {
            if let Some(key) = vector_key_of(&sale) {
                embedded.entry(key).or_default().push(sale);
            }
        }
        let found = ctx.store.get_many::<SaleVector>(embedded.keys().cloned()).await?;
        let mut gone = Vec::new();
        for (vector, sales) in found.into_iter().zip(embedded.values()) {
            let Some(vector) = vector else { continue };
            let told = |sale: &&SaleRecord| (sale.sale_date, sale.sale_price) == (vector.sale_date, vector.sale_price);
            if let Some(sale) = sales.iter().find(told).filter(|sale| !stays(&vector, sale)) {
                gone.push(vector_key(&vector));
                taken.insert(sale.key(), vector);
            }
        }
        let gone = ctx.store.delete_many::<SaleVector>(gone).await;
        gone.into_iter().collect::<widerow::Result<()>>()?;
    }
    Ok(taken)
}

/// Takes a sale back, and the vector that tells of it. One that is not there is no mistake.
pub async fn delete_sale(ctx: &Context, product_id: &str, sale_date: Date, sale_id: &str) -> Result<()> {
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    record::id(&mut check, "sale_id", sale_id);
    check.end()?;
    let key = (product_id.to_owned(), sale_date, sale_id.to_owned());
    take_vectors(ctx, std::iter::once(key.clone()), |_, _| false).await?;
    ctx.store.delete_many::<SaleRecord>([key]).await.into_iter().collect::<widerow::Result<()>>()?;
    Ok(())
}
