//! Pages of slices, decoded, for those that are read again and again: a hit walks no tree and decodes no row.
//!
//! Invariants: a page that is handed out is one that the folder held, whole, at a moment between the beginning and the end
//! of the read; the cache stays within its bytes.
//!
//! RACE: what keeps it exact is a number for each stripe of partitions, which only the committer moves: to odd before a
//! group that writes there begins to be visible, to the next even number behind it, before anyone is told of it. A reader
//! takes the number first, and its snapshot afterwards. While the number is odd it neither looks up nor keeps. A page that
//! is kept under a number is for readers who took the same one. So:
//! - A commit that was acknowledged before the read began had moved the number: pages from before it do not match, and
//!   pages under the new number come from snapshots behind it.
//! - Who has seen a commit in any way finds the number at odd or beyond, and so never again a page from before it.
//! - A group that comes between number and snapshot makes a page newer than its number. Only readers that began before the
//!   group get it, and the group is already visible to all other reads.
//! - Numbers never return, also when a group fails: a page that is kept too late, over a newer one, matches nobody.

#[cfg(test)]
mod tests;

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use quick_cache::{
    OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use super::{key, row::Layout};
use crate::{
    engine::{RawPage, Slice},
    error::Result,
    value::Value,
};

/// Partitions that share a stripe only lose pages to each other's writes.
const STRIPES: usize = 4096;
/// A page over this part of the cache is not kept.
const PAGE_PART: u64 = 64;
/// Locks of the cache. Fewer than `PAGE_PART`, so that every page that may be kept fits behind one.
const SHARDS: usize = 16;
/// Requests that are remembered for having been seen once.
const SEEN: usize = 16 * 1024;
/// What an entry takes beside its page and its key, about.
const ENTRY_BYTES: usize = 256;
/// What the allocator adds to a piece of memory, about.
const PIECE_BYTES: usize = 16;

/// A part of all partitions.
pub(super) type Stripe = u16;

/// For each stripe how often it was written, twice; one more while it is being written.
pub(super) struct Stripes(Box<[AtomicU64]>);

impl Stripes {
    pub(super) fn new() -> Self {
        Stripes((0..STRIPES).map(|_| AtomicU64::new(0)).collect())
    }

    /// The stripe of a partition, by the bytes of its key: words multiplied together, as it is done for every write.
    pub(super) fn of(partition: &[u8]) -> Stripe {
        let add =
            |hash: u64, word| (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (words, rest) = partition.as_chunks::<8>();
        let hash = words.iter().fold(0, |hash, word| add(hash, *word));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        (add(hash, last) >> 52) as Stripe
    }

    /// The stripe's number; None while it is being written.
    ///
    /// ORDER: what is read behind this is read later, and whoever sees what the committer has made visible, or was told by it, sees
    /// the numbers that it has stored before. More than that is not needed, and would be paid for every row.
    fn number(&self, stripe: Stripe) -> Option<u64> {
        let number = self.0[stripe as usize].load(Ordering::Acquire);
        number.is_multiple_of(2).then_some(number)
    }

    /// Before a group becomes visible. For the committer alone.
    pub(super) fn open(&self, stripes: &mut Vec<Stripe>) {
        // The number itself tells of a stripe that stands twice in the list.
        stripes.retain(|stripe| {
            let number = self.number(*stripe);
            number.inspect(|n| self.0[*stripe as usize].store(n + 1, Ordering::Release)).is_some()
        });
    }

    /// Behind it, whatever became of it, with the stripes that were opened.
    pub(super) fn close(&self, stripes: &[Stripe]) {
        for stripe in stripes {
            let number = &self.0[*stripe as usize];
            number.store(number.load(Ordering::Relaxed) + 1, Ordering::Release);
        }
    }
}

/// A page as it was read.
struct Kept {
    number: u64,
    /// What the rows were decoded by: columns may be added while the folder is open.
    layout: Arc<Layout>,
    page: RawPage,
    bytes_read: usize,
    weight: u64,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Box<[u8]>, Arc<Kept>> for ByBytes {
    fn weight(&self, _: &Box<[u8]>, kept: &Arc<Kept>) -> u64 {
        kept.weight
    }
}

type Kepts = Cache<Box<[u8]>, Arc<Kept>, ByBytes, RandomState>;

/// The cache of one folder.
pub(super) struct Pages {
    stripes: Arc<Stripes>,
    /// By request. None where the cache is off.
    kept: Option<Kepts>,
    /// Marks of requests that were not found: only who comes again is worth a copy.
    seen: Box<[AtomicU32]>,
    hasher: RandomState,
    page_bytes_max: u64,
    #[cfg(test)]
    hits: AtomicU64,
}

impl Pages {
    pub(super) fn new(bytes: u64, stripes: Arc<Stripes>) -> Self {
        let hasher = RandomState::new();
        let options = OptionsBuilder::new()
            .weight_capacity(bytes)
            .estimated_items_capacity(usize::try_from(bytes / 4096).unwrap_or(usize::MAX).max(32))
            .shards(SHARDS)
            .build();
        let cache = |options| Cache::with_options(options, ByBytes, hasher.clone(), DefaultLifecycle::default());
        Pages {
            stripes,
            kept: options.ok().filter(|_| bytes > 0).map(cache),
            seen: (0..if bytes > 0 { SEEN } else { 0 }).map(|_| AtomicU32::new(0)).collect(),
            hasher,
            page_bytes_max: bytes / PAGE_PART,
            #[cfg(test)]
            hits: AtomicU64::new(0),
        }
    }

    /// Forgets all pages.
    pub(super) fn clear(&self) {
        self.kept.iter().for_each(Kepts::clear);
    }

    /// The page of a slice and the bytes that were read for it, perhaps earlier. `read` takes its snapshot when it is called.
    pub(super) fn page(
        &self,
        layout: &Arc<Layout>,
        slice: &Slice<'_>,
        read: impl FnOnce() -> Result<(RawPage, usize)>,
    ) -> Result<(RawPage, usize)> {
        let Some(kept) = &self.kept else { return read() };
        let (request, partition) = request(layout, slice);
        // ORDER: the number before the look into the cache, and before the snapshot.
        let Some(number) = self.stripes.number(Stripes::of(&request[..partition])) else { return read() };
        if let Some(found) = kept.get(&request[..])
            && found.number == number
            && Arc::ptr_eq(&found.layout, layout)
        {
            #[cfg(test)]
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok((found.page.clone(), found.bytes_read));
        }
        let (page, bytes_read) = read()?;
        if self.comes_again(&request) {
            let weight = (ENTRY_BYTES + request.len() + memory(&page)) as u64;
            if weight <= self.page_bytes_max {
                let layout = layout.clone();
                let page = Kept { number, layout, page: page.clone(), bytes_read, weight };
                kept.insert(request.into(), Arc::new(page));
            }
        }
        Ok((page, bytes_read))
    }

    /// Whether the request was asked for before, as far as that is remembered.
    fn comes_again(&self, request: &[u8]) -> bool {
        let hash = self.hasher.hash_one(request);
        let mark = (hash >> 32) as u32 | 1;
        self.seen[hash as usize % SEEN].swap(mark, Ordering::Relaxed) == mark
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> (usize, u64) {
        self.kept.as_ref().map_or((0, 0), |kept| (kept.len(), kept.iter().map(|(_, page)| page.weight).sum()))
    }
}

/// The request as bytes, and how many of them are its partition. Every value tells its own end, and every part whether it
/// is there, so that two requests are never the same bytes. A folder knows one consistency only.
fn request(layout: &Layout, slice: &Slice<'_>) -> (Vec<u8>, usize) {
    let table = layout.table;
    let mut out = Vec::with_capacity(192);
    key::put_partition(&mut out, layout.id, slice.tenant, slice.partition);
    let partition = out.len();
    out.push(slice.prefix.len() as u8);
    key::put_clustering(&mut out, table, slice.prefix);
    for bound in [slice.lower, slice.upper] {
        match bound {
            Bound::Unbounded => out.push(0),
            Bound::Included(value) => {
                out.push(1);
                key::put_ascending(&mut out, value);
            }
            Bound::Excluded(value) => {
                out.push(2);
                key::put_ascending(&mut out, value);
            }
        }
    }
    out.push(slice.after.is_some().into());
    key::put_clustering(&mut out, table, slice.after.unwrap_or_default());
    out.push(slice.reverse.into());
    out.extend_from_slice(&slice.limit.to_le_bytes());
    (out, partition)
}

/// The memory of a page, about.
fn memory(page: &RawPage) -> usize {
    let ends = page.rows.ends.len() * size_of::<Option<crate::time::Timestamp>>();
    cells(&page.rows.cells) + ends + PIECE_BYTES + page.statics.as_deref().map_or(0, cells)
}

fn cells(values: &[Value]) -> usize {
    PIECE_BYTES + size_of_val(values) + values.iter().map(beside).sum::<usize>()
}

/// What a value holds outside itself.
fn beside(value: &Value) -> usize {
    match value {
        Value::Text(text) => PIECE_BYTES + text.capacity(),
        Value::Blob(bytes) => PIECE_BYTES + bytes.capacity(),
        Value::Vector(floats) => PIECE_BYTES + size_of_val(&floats[..]),
        Value::List(items) | Value::Set(items) | Value::Struct(items) => cells(items),
        Value::Map(entries) => {
            PIECE_BYTES + size_of_val(&entries[..]) + entries.iter().map(|(k, v)| beside(k) + beside(v)).sum::<usize>()
        }
        Value::Null
        | Value::Boolean(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Double(_)
        | Value::Decimal(_)
        | Value::Uuid(_)
        | Value::Timestamp(_)
        | Value::Date(_)
        | Value::Counter(_) => 0,
    }
}
