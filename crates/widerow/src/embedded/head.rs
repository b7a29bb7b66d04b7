//! The head of a partition: what is kept of it beside its rows, in one entry before them. So one look tells a writer all that a
//! decision rests on but the rows, and one entry is all that a commit writes besides them. Where there is one row and no more, as
//! in guarded tables without clustering columns, it stands in the head, too (`Layout::alone`).

use std::ops::Range;

use fjall::Slice;
use uuid::Uuid;

use super::{
    key,
    row::{self, Layout},
};
use crate::{
    codec::{Malformed, Reader, put_bytes, put_length},
    limits::RING_SLOTS,
    time::Timestamp,
    value::Value,
};

/// What the first byte of a head says.
const HAS_BOOK: u8 = 1;
const HAS_ROW: u8 = 2;

/// Ids of commits that go to a page of their own together, once there are twice as many in the head: a head that every commit
/// writes anew stays small, and few commits write a page.
const PAGE_IDS: usize = 8;
/// Pages of a partition; behind the last comes the first again. With what stands in the head they have all that is remembered.
const PAGES: i64 = RING_SLOTS / PAGE_IDS as i64;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    /// Of a guarded partition that was committed to.
    pub book: Option<Bookkeeping>,
    /// Of a table whose partitions have one row: that row, if it is there, as it is encoded elsewhere.
    pub row: Option<Slice>,
    /// Static columns that are not null, by their ids.
    statics: Vec<(u16, Vec<u8>)>,
}

/// The bookkeeping of a guarded partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bookkeeping {
    pub version: i64,
    pub sequence: i64,
    pub outbox: Vec<(Uuid, i64)>,
    /// The newest commits on the partition, the newest last: `sequence` is the last one's number.
    recent: Vec<Uuid>,
}

/// Commits that went out of the head together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RingPage {
    /// The number of the last of them.
    sequence: i64,
    ids: Vec<Uuid>,
}

/// How long a head is kept in which nothing is left but that there was something: far longer than anybody who has read its version
/// still writes, or sends a commit again.
const KEPT_SECONDS: i64 = 24 * 60 * 60;

pub(super) fn key_of(partition: &[u8]) -> Vec<u8> {
    key::section(partition, key::HEAD)
}

/// The keys of the pages behind a head.
pub(super) fn pages_of(head: &[u8]) -> Range<Vec<u8>> {
    let partition = &head[..head.len() - 1];
    [head, &[0]].concat()..key::section(partition, key::HEAD + 1)
}

impl Head {
    pub fn new(book: Bookkeeping) -> Self {
        Head { book: Some(book), ..Head::default() }
    }

    /// When the row ends that stands here; None inside where it does not.
    pub fn row_end(&self) -> Result<Option<Option<Timestamp>>, Malformed> {
        self.row.as_ref().map(|row| row::expires_at(row)).transpose()
    }

    /// Sets a static column; None where it is null.
    pub fn set(&mut self, column: u16, cell: Option<&[u8]>) {
        let place = self.statics.binary_search_by_key(&column, |(id, _)| *id);
        match (place, cell) {
            (Ok(place), Some(cell)) => self.statics[place].1 = cell.to_vec(),
            (Err(place), Some(cell)) => self.statics.insert(place, (column, cell.to_vec())),
            (Ok(place), None) => drop(self.statics.remove(place)),
            (Err(_), None) => {}
        }
    }

    /// The static columns, each in its place in a row of nulls; None where all are null.
    pub fn statics(&self, layout: &Layout) -> Result<Option<Vec<Value>>, Malformed> {
        let mut cells = None;
        for (id, cell) in &self.statics {
            // One that is no longer declared is not there.
            let Some(position) = layout.position(usize::from(*id)) else { continue };
            let value = Reader::new(cell).value()?;
            cells.get_or_insert_with(|| layout.nulls())[position] = value;
        }
        Ok(cells)
    }

    /// When a head in which nothing is left but the bookkeeping of what was may go; None where there is more. Its version is the time
    /// of its last commit.
    pub fn forgotten_at(&self) -> Option<Timestamp> {
        let book = self.book.as_ref().filter(|book| book.outbox.is_empty());
        let book = book.filter(|_| self.row.is_none() && self.statics.is_empty())?;
        Some(Timestamp::from_millis(book.version.div_euclid(1_000)).plus_seconds(KEPT_SECONDS))
    }

    pub fn is_empty(&self) -> bool {
        self.book.is_none() && self.row.is_none() && self.statics.is_empty()
    }

    pub fn encode(&self) -> Vec<u8> {
        let of_book = |book: &Bookkeeping| 24 + 24 * book.outbox.len() + 16 * book.recent.len();
        let of_statics: usize = self.statics.iter().map(|(_, cell)| cell.len() + 6).sum();
        let of_row = self.row.as_ref().map_or(0, |row| row.len() + 5);
        let mut out = Vec::with_capacity(1 + self.book.as_ref().map_or(0, of_book) + of_row + of_statics);
        let flag = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
        out.push(flag(self.book.is_some(), HAS_BOOK) | flag(self.row.is_some(), HAS_ROW));
        if let Some(book) = &self.book {
            out.extend_from_slice(&book.version.to_le_bytes());
            out.extend_from_slice(&book.sequence.to_le_bytes());
            put_length(&mut out, book.outbox.len());
            for (id, bucket) in &book.outbox {
                out.extend_from_slice(id.as_bytes());
                out.extend_from_slice(&bucket.to_le_bytes());
            }
            put_ids(&mut out, &book.recent);
        }
        self.row.iter().for_each(|row| put_bytes(&mut out, row));
        for (column, cell) in &self.statics {
            put_length(&mut out, usize::from(*column));
            put_bytes(&mut out, cell);
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let flags = reader.byte()?;
        if flags & !(HAS_BOOK | HAS_ROW) != 0 {
            return Err(Malformed);
        }
        let book = match flags & HAS_BOOK {
            0 => None,
            _ => {
                let (version, sequence) = (number(&mut reader)?, number(&mut reader)?);
                let outbox = (0..reader.length()?).map(|_| Ok((reader.uuid()?, number(&mut reader)?)));
                let outbox = outbox.collect::<Result<_, Malformed>>()?;
                Some(Bookkeeping { version, sequence, outbox, recent: ids(&mut reader)? })
            }
        };
        let row = if flags & HAS_ROW == 0 { None } else { Some(Slice::from(reader.bytes()?)) };
        let mut statics = Vec::new();
        while !reader.is_empty() {
            let column = u16::try_from(reader.number()?).map_err(|_| Malformed)?;
            statics.push((column, reader.bytes()?.to_vec()));
        }
        Ok(Head { book, row, statics })
    }
}

impl Bookkeeping {
    /// Of a partition that begins; nothing was committed on it itself.
    pub fn founded(version: i64, outbox: Vec<(Uuid, i64)>) -> Self {
        Bookkeeping { version, sequence: 1, outbox, recent: Vec::new() }
    }

    /// Counts one more commit; with the page that is to be stored, where there are enough for one.
    pub fn count(&mut self, id: Uuid) -> Option<RingPage> {
        self.sequence += 1;
        self.recent.push(id);
        (self.recent.len() >= 2 * PAGE_IDS).then(|| {
            let ids: Vec<Uuid> = self.recent.drain(..PAGE_IDS).collect();
            RingPage { sequence: self.sequence - self.recent.len() as i64, ids }
        })
    }

    /// The last commit on the partition.
    pub fn last(&self) -> Option<Uuid> {
        self.recent.last().copied()
    }

    /// The commits that are remembered: those in the head and those of its pages, if they are not too old.
    pub fn ring(&self, pages: &[RingPage]) -> Vec<Uuid> {
        let head = RingPage { sequence: self.sequence, ids: self.recent.clone() };
        let numbered = pages.iter().chain([&head]).flat_map(|RingPage { sequence, ids }| {
            let first = sequence - ids.len() as i64 + 1;
            (first..).zip(ids.iter().copied())
        });
        let kept = numbered.filter(|(number, _)| *number > self.sequence - RING_SLOTS);
        kept.map(|(_, id)| id).collect()
    }
}

impl RingPage {
    /// Where it stands, of the partition with this head.
    pub fn key(&self, head: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(head.len() + 1);
        key.extend_from_slice(head);
        key.push((self.sequence / PAGE_IDS as i64).rem_euclid(PAGES) as u8);
        key
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(9 + 16 * self.ids.len());
        out.extend_from_slice(&self.sequence.to_le_bytes());
        put_ids(&mut out, &self.ids);
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        Ok(RingPage { sequence: number(&mut reader)?, ids: ids(&mut reader)? })
    }
}

fn number(reader: &mut Reader<'_>) -> Result<i64, Malformed> {
    Ok(i64::from_le_bytes(reader.take(8)?.try_into().map_err(|_| Malformed)?))
}

fn put_ids(out: &mut Vec<u8>, ids: &[Uuid]) {
    put_length(out, ids.len());
    ids.iter().for_each(|id| out.extend_from_slice(id.as_bytes()));
}

fn ids(reader: &mut Reader<'_>) -> Result<Vec<Uuid>, Malformed> {
    (0..reader.length()?).map(|_| reader.uuid()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn heads_come_back(
            book in prop::option::of((any::<i64>(), any::<i64>(), prop::collection::vec((any::<u128>(), any::<i64>()), 0..4), 0..20u128)),
            row in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
            statics in prop::collection::btree_map(any::<u16>(), prop::collection::vec(any::<u8>(), 0..9), 0..4),
        ) {
            let book = book.map(|(version, sequence, outbox, recent)| Bookkeeping {
                version,
                sequence,
                outbox: outbox.into_iter().map(|(id, bucket)| (Uuid::from_u128(id), bucket)).collect(),
                recent: (0..recent).map(Uuid::from_u128).collect(),
            });
            let mut head = Head { book, row: row.map(Slice::from), statics: Vec::new() };
            statics.iter().rev().for_each(|(column, cell)| head.set(*column, Some(cell)));
            let encoded = head.encode();
            prop_assert_eq!(Head::decode(&encoded).unwrap(), head.clone());
            // Cut off, it is refused, or has less in it; never more.
            for length in 0..encoded.len() {
                prop_assert!(Head::decode(&encoded[..length]).ok() != Some(head.clone()));
            }
            statics.keys().for_each(|column| head.set(*column, None));
            prop_assert_eq!(head.is_empty(), head.book.is_none() && head.row.is_none());
        }

        /// From the first commit on, and from behind a founding.
        #[test]
        fn exactly_the_last_commits_are_remembered(founded in any::<bool>(), commits in 0..300u128) {
            let mut book = if founded { Bookkeeping::founded(1, Vec::new()) } else { Bookkeeping::default() };
            let mut stored: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
            for commit in 0..commits {
                if let Some(page) = book.count(Uuid::from_u128(commit)) {
                    stored.insert(page.key(b"head"), page.encode());
                }
                prop_assert_eq!(book.last(), Some(Uuid::from_u128(commit)));
                prop_assert!(book.recent.len() < 2 * PAGE_IDS && stored.len() <= PAGES as usize);
            }
            let pages: Vec<RingPage> = stored.values().map(|page| RingPage::decode(page).unwrap()).collect();
            let mut ring = book.ring(&pages);
            ring.sort();
            let first = commits.saturating_sub(RING_SLOTS as u128);
            prop_assert_eq!(ring, (first..commits).map(Uuid::from_u128).collect::<Vec<_>>());
        }
    }
}
