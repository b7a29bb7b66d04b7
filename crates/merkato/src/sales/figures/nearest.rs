//! The vectors nearest to a query by the cosine of their angle: all of them are looked at, so the answer is exact.
//!
//! 1. A row's cosine is computed by itself, in 64 bits and always in the same order: the answer does not depend on threads.
//! 2. Equal cosines, as they are told in 32 bits, are put in the order of their ids.
//! 3. A vector without a direction, with zeros alone or a number that is none, has no cosine and is left out.
//! 4. Each thread keeps k rows, not more. It takes blocks of rows from one counter, so that none waits for another's.
//!
//! The cost is two multiplications for each number of each row, and nothing is kept between queries.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::{
    error::{Error, Result},
    limits,
};

/// Rows that a thread takes at once.
const BLOCK_ROWS: usize = 512;
/// Sums that run side by side, so that the processor can do several at once.
const LANES: usize = 8;

/// Vectors with their ids, by number.
pub trait Vectors: Sync {
    type Id: Ord + Clone + Send + Sync;

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vector of a row, which is below `len`.
    fn row(&self, row: usize) -> (&Self::Id, &[f32]);
}

impl<Id: Ord + Clone + Send + Sync, V: AsRef<[f32]> + Sync> Vectors for [(Id, V)] {
    type Id = Id;

    fn len(&self) -> usize {
        self.len()
    }

    fn row(&self, row: usize) -> (&Id, &[f32]) {
        let (id, vector) = &self[row];
        (id, vector.as_ref())
    }
}

/// The `k` nearest rows, or as many as there are, nearest first, each with its cosine between -1 and 1.
///
/// With `threads` at most, of which the caller's is one; where the system gives no more, with fewer.
pub fn nearest<V: Vectors + ?Sized>(
    query: &[f32],
    vectors: &V,
    k: usize,
    threads: NonZeroUsize,
) -> Result<Vec<(V::Id, f32)>> {
    if k > limits::NEAREST_MAX {
        return Err(Error::invalid("k", format!("{k} is over the limit, {}", limits::NEAREST_MAX)));
    }
    let query = Query::of(query)?;
    let blocks = vectors.len().div_ceil(BLOCK_ROWS);
    let helpers = threads.get().min(limits::THREADS_MAX).min(blocks).saturating_sub(1);
    let next = AtomicUsize::new(0);
    let work = || search(&query, vectors, k, &next);
    let found = std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().name("nearest".into()).spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (0..helpers).map_while(spawn).collect();
        let mut found = vec![work()];
        for helper in helpers {
            found.push(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        found
    });
    let mut best = Vec::new();
    let mut wrong: Option<Error> = None;
    for part in found {
        match part {
            Ok(heap) => best.extend(heap),
            Err(error) => wrong = Some(wrong.map_or(error.clone(), |known| first(known, error))),
        }
    }
    if let Some(error) = wrong {
        return Err(error);
    }
    best.sort_unstable();
    best.truncate(k);
    Ok(best.into_iter().map(|found| (found.id.clone(), found.cosine)).collect())
}

/// The cosine of the angle between a query and one vector; None where the vector has no direction.
pub fn cosine(query: &[f32], vector: &[f32]) -> Result<Option<f32>> {
    let query = Query::of(query)?;
    if vector.len() != query.vector.len() {
        return Err(Error::OtherDimension { row: 0, found: vector.len(), expected: query.vector.len() });
    }
    Ok(query.cosine(vector))
}

/// Of two rows that do not fit, the first. Blocks are given out in order, and whoever has one looks at all of it up to the
/// first row that does not fit: so the first of all is always among those that were found.
fn first(a: Error, b: Error) -> Error {
    match (&a, &b) {
        (Error::OtherDimension { row: row_a, .. }, Error::OtherDimension { row: row_b, .. }) if row_b < row_a => b,
        _ => a,
    }
}

/// What is looked for, with its length.
struct Query<'q> {
    vector: &'q [f32],
    square: f64,
}

impl<'q> Query<'q> {
    fn of(vector: &'q [f32]) -> Result<Self> {
        if !(1..=limits::DIMENSIONS_MAX).contains(&vector.len()) {
            let problem = format!("{} numbers are not 1 to {}", vector.len(), limits::DIMENSIONS_MAX);
            return Err(Error::invalid("query", problem));
        }
        let (_, square) = products(vector, vector);
        if !square.is_finite() || square == 0.0 {
            return Err(Error::invalid("query", "it has no direction: all zeros, or a number that is none"));
        }
        Ok(Query { vector, square })
    }

    /// None without a direction.
    fn cosine(&self, other: &[f32]) -> Option<f32> {
        let (dot, square) = products(self.vector, other);
        if !square.is_finite() || square == 0.0 {
            return None;
        }
        // Adding zero makes a negative zero positive: both are a right angle.
        Some((dot / (self.square * square).sqrt()).clamp(-1.0, 1.0) as f32 + 0.0)
    }
}

/// The product of two vectors of one length, and that of the second with itself. Neither overflows: a square of 32 bits
/// has room in 64.
fn products(a: &[f32], b: &[f32]) -> (f64, f64) {
    let (mut dots, mut squares) = ([0.0_f64; LANES], [0.0_f64; LANES]);
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            let (a, b) = (f64::from(a[lane]), f64::from(b[lane]));
            dots[lane] += a * b;
            squares[lane] += b * b;
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        let (a, b) = (f64::from(*a), f64::from(*b));
        dots[lane] += a * b;
        squares[lane] += b * b;
    }
    (dots.iter().sum(), squares.iter().sum())
}

/// The best rows of the blocks that this thread got.
fn search<'v, V: Vectors + ?Sized>(
    query: &Query<'_>,
    vectors: &'v V,
    k: usize,
    next: &AtomicUsize,
) -> Result<BinaryHeap<Found<'v, V::Id>>> {
    let mut best = BinaryHeap::with_capacity(k.min(vectors.len()) + 1);
    loop {
        let from = next.fetch_add(1, Relaxed).saturating_mul(BLOCK_ROWS);
        if from >= vectors.len() {
            return Ok(best);
        }
        for row in from..vectors.len().min(from + BLOCK_ROWS) {
            let (id, vector) = vectors.row(row);
            if vector.len() != query.vector.len() {
                return Err(Error::OtherDimension { row, found: vector.len(), expected: query.vector.len() });
            }
            let Some(cosine) = query.cosine(vector) else { continue };
            let found = Found { cosine, id, row };
            if best.len() < k {
                best.push(found);
            } else if best.peek().is_some_and(|worst| found < *worst) {
                best.pop();
                best.push(found);
            }
        }
    }
}

/// A row, in the order of the answer: what is better is less.
struct Found<'v, Id> {
    cosine: f32,
    id: &'v Id,
    row: usize,
}

impl<Id: Ord> Ord for Found<'_, Id> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cosine.total_cmp(&self.cosine).then_with(|| self.id.cmp(other.id)).then(self.row.cmp(&other.row))
    }
}

impl<Id: Ord> PartialOrd for Found<'_, Id> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Id: Ord> PartialEq for Found<'_, Id> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<Id: Ord> Eq for Found<'_, Id> {}
