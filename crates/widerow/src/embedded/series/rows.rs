//! Rows on their way to the stage, and in it: many in one piece of memory, as a block of the journal has them.
//!
//! A block is one row behind the other: how long its three parts are, then its partition, its clustering columns and its value.

use std::collections::BTreeSet;

use fjall::Slice;

use super::{
    super::pages::{Stripe, Stripes},
    Cell,
};
use crate::codec::{Malformed, Reader};

/// The lengths of the parts: of the partition, of the clustering columns, and of the value and one more; 0 where it is a deletion.
const HEAD_BYTES: usize = 2 + 2 + 4;

/// What room is made for a row.
const ROOM_BYTES: usize = HEAD_BYTES + 112;

/// Where the parts of a row begin, and where the last one ends.
#[derive(Clone, Copy, Debug)]
struct Place {
    partition: u32,
    clustering: u32,
    value: u32,
    end: u32,
    stripe: Stripe,
    is_there: bool,
}

impl Place {
    fn partition(self, block: &[u8]) -> &[u8] {
        &block[self.partition as usize..self.clustering as usize]
    }

    fn clustering(self, block: &[u8]) -> &[u8] {
        &block[self.clustering as usize..self.value as usize]
    }
}

/// A row, or the deletion of one.
#[derive(Clone, Debug)]
pub(in crate::embedded) struct StagedRow {
    /// With others, and as the journal has it.
    block: Slice,
    place: Place,
}

impl StagedRow {
    pub fn partition(&self) -> &[u8] {
        self.place.partition(&self.block)
    }

    pub fn clustering(&self) -> &[u8] {
        self.place.clustering(&self.block)
    }

    pub fn value(&self) -> Option<&[u8]> {
        self.place.is_there.then(|| &self.block[self.place.value as usize..self.place.end as usize])
    }

    pub fn cell(&self) -> Cell<'_> {
        (self.clustering(), self.value())
    }

    pub fn stripe(&self) -> Stripe {
        self.place.stripe
    }

    pub fn bytes(&self) -> usize {
        (self.place.end - self.place.partition) as usize
    }
}

/// Rows, and deletions of rows, from old to new.
#[derive(Debug, Default)]
pub(in crate::embedded) struct StagedRows {
    block: Vec<u8>,
    places: Vec<Place>,
}

impl StagedRows {
    /// Makes room for so many more.
    pub fn reserve(&mut self, rows: usize) {
        self.block.reserve(rows * ROOM_BYTES);
        self.places.reserve(rows);
    }

    /// Adds a row by what puts its parts, or a deletion, which has no value.
    pub fn push(
        &mut self,
        partition: impl FnOnce(&mut Vec<u8>),
        clustering: impl FnOnce(&mut Vec<u8>),
        value: Option<impl FnOnce(&mut Vec<u8>)>,
    ) {
        let block = &mut self.block;
        let (head, is_there) = (block.len(), value.is_some());
        block.extend_from_slice(&[0; HEAD_BYTES]);
        let start = block.len();
        partition(block);
        let behind_partition = block.len();
        clustering(block);
        let behind_key = block.len();
        value.into_iter().for_each(|put| put(block));
        // The limits of keys and rows are far below these.
        let lengths = [behind_partition - start, behind_key - behind_partition];
        let [partition, clustering] = lengths.map(|length| length as u16);
        let value = if is_there { (block.len() - behind_key) as u32 + 1 } else { 0 };
        block[head..head + 2].copy_from_slice(&partition.to_le_bytes());
        block[head + 2..head + 4].copy_from_slice(&clustering.to_le_bytes());
        block[head + 4..start].copy_from_slice(&value.to_le_bytes());
        self.places.push(Place {
            partition: start as u32,
            clustering: behind_partition as u32,
            value: behind_key as u32,
            end: block.len() as u32,
            stripe: Stripes::of(&block[start..behind_partition]),
            is_there,
        });
    }

    pub fn push_deletion(&mut self, partition: &[u8], clustering: &[u8]) {
        let no_value = None::<fn(&mut Vec<u8>)>;
        self.push(|out| out.extend_from_slice(partition), |out| out.extend_from_slice(clustering), no_value);
    }

    /// Adds others behind them.
    pub fn append(&mut self, later: StagedRows) {
        if self.places.is_empty() {
            *self = later;
            return;
        }
        let by = self.block.len() as u32;
        self.block.extend_from_slice(&later.block);
        self.places.extend(later.places.into_iter().map(|place| Place {
            partition: place.partition + by,
            clustering: place.clustering + by,
            value: place.value + by,
            end: place.end + by,
            ..place
        }));
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.block.len()
    }

    /// The partition and the clustering columns of each.
    pub fn keys(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.places.iter().map(|place| (place.partition(&self.block), place.clustering(&self.block)))
    }

    pub fn stripes(&self) -> impl Iterator<Item = Stripe> {
        self.places.iter().map(|place| place.stripe)
    }

    /// As the journal has them, and each.
    pub fn into_block(self) -> (Slice, impl Iterator<Item = StagedRow>) {
        let block = Slice::from(self.block);
        let of_rows = block.clone();
        (block, self.places.into_iter().map(move |place| StagedRow { block: of_rows.clone(), place }))
    }

    /// The rows of a block.
    pub fn decode(block: &[u8]) -> Result<Self, Malformed> {
        fn number<const N: usize>(reader: &mut Reader<'_>) -> Result<[u8; N], Malformed> {
            reader.take(N)?.try_into().map_err(|_| Malformed)
        }
        let mut reader = Reader::new(block);
        let mut rows = StagedRows::default();
        while !reader.is_empty() {
            let partition = u16::from_le_bytes(number(&mut reader)?);
            let clustering = u16::from_le_bytes(number(&mut reader)?);
            let value = u32::from_le_bytes(number(&mut reader)?);
            let (partition, clustering) = (reader.take(partition.into())?, reader.take(clustering.into())?);
            let value = value.checked_sub(1).map(|length| reader.take(length as usize)).transpose()?;
            rows.push(
                |out| out.extend_from_slice(partition),
                |out| out.extend_from_slice(clustering),
                value.map(|value| |out: &mut Vec<u8>| out.extend_from_slice(value)),
            );
        }
        Ok(rows)
    }
}

/// Which of a partition's rows are there, of those that are wanted, by what was staged last.
pub(in crate::embedded) fn live<'b>(
    blocks: &'b [StagedRows],
    partition: &[u8],
    wanted: impl Fn(&[u8]) -> bool,
) -> BTreeSet<&'b [u8]> {
    let mut live = BTreeSet::new();
    for StagedRows { block, places } in blocks {
        for place in places.iter().filter(|place| place.partition(block) == partition) {
            let clustering = place.clustering(block);
            match place.is_there && wanted(clustering) {
                true => live.insert(clustering),
                false => live.remove(clustering),
            };
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> StagedRows {
        let mut rows = StagedRows::default();
        for (partition, clustering, value) in [(b"p", b"1", Some(b"a")), (b"q", b"2", None), (b"p", b"3", Some(b"b"))] {
            rows.push(
                |out| out.extend_from_slice(partition),
                |out| out.extend_from_slice(clustering),
                value.map(|value| |out: &mut Vec<u8>| out.extend_from_slice(value)),
            );
        }
        rows
    }

    type Parts = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

    fn one(row: StagedRow) -> Parts {
        (row.partition().to_vec(), row.clustering().to_vec(), row.value().map(<[u8]>::to_vec))
    }

    fn read(rows: StagedRows) -> Vec<Parts> {
        rows.into_block().1.map(one).collect()
    }

    #[test]
    fn rows_are_read_back_from_their_block_and_from_behind_others() {
        let mut twice = rows();
        twice.append(rows());
        assert_eq!(twice.keys().count(), 6);
        let wanted: Vec<_> = read(rows()).into_iter().chain(read(rows())).collect();
        assert_eq!(wanted[1], (b"q".to_vec(), b"2".to_vec(), None));
        let (block, rows) = twice.into_block();
        assert_eq!(rows.map(one).collect::<Vec<_>>(), wanted);
        assert_eq!(read(StagedRows::decode(&block).expect("a block")), wanted);
    }

    #[test]
    fn a_block_that_is_cut_off_is_refused() {
        let whole = rows().into_block().0;
        let ends = [0, HEAD_BYTES + 3, 2 * HEAD_BYTES + 5, whole.len()];
        for length in 0..whole.len() {
            assert_eq!(StagedRows::decode(&whole[..length]).is_ok(), ends.contains(&length), "{length}");
        }
    }
}
