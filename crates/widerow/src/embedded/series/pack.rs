//! Rows of one partition, packed: when the last of them ends, then each with its clustering columns and its value, in order.

use std::collections::BTreeSet;

use fjall::{Keyspace, Slice};

use super::{
    super::{
        engine_error,
        key::{self, ROWS},
        row,
    },
    Cell, LiveCell, clustering_range, packed_key, packed_range,
    rows::StagedRow,
    stage::Stage,
    tail::{Tail, Tails},
};
use crate::{
    codec::{Malformed, Reader, put_bytes},
    error::{Error, Result},
    time::Timestamp,
};

/// What is packed together, about.
const PACK_BYTES: usize = 32 * 1024;
/// A pack over this stays as it is: it fills a block of the tree, and reading it costs what one of twice the size would.
pub(super) const LARGE_BYTES: usize = 4 * 1024;

/// The rows of a pack.
pub(in crate::embedded) struct PackedRows<'p>(Reader<'p>);

impl<'p> PackedRows<'p> {
    pub fn new(packed: &'p [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(packed);
        row::expiry(&mut reader)?;
        Ok(PackedRows(reader))
    }
}

impl<'p> Iterator for PackedRows<'p> {
    type Item = Result<LiveCell<'p>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.bytes().and_then(|clustering| Ok((clustering, self.0.bytes()?))))
    }
}

/// The newest of each row, in order, of rows that stand there from old to new.
pub(in crate::embedded) fn newest(cells: &mut Vec<Cell<'_>>) {
    if cells.is_sorted_by(|(a, _), (b, _)| a < b) {
        return;
    }
    // Both are stable, and the second is quick on what is in order in pieces.
    if !put_in_order(cells) {
        cells.sort_by_key(|(clustering, _)| *clustering);
    }
    let mut kept = 0;
    for next in 0..cells.len() {
        if next + 1 < cells.len() && cells[next].0 == cells[next + 1].0 {
            continue;
        }
        cells[kept] = cells[next];
        kept += 1;
    }
    cells.truncate(kept);
}

/// Puts the few rows that came in between others to their places; false where that would take long, and the order is any.
fn put_in_order(cells: &mut [Cell<'_>]) -> bool {
    // Such as a series that is kept backwards.
    if cells.first() > cells.last() {
        return false;
    }
    let mut steps = cells.len();
    for next in 1..cells.len() {
        let mut place = next;
        while place > 0 && cells[place - 1].0 > cells[place].0 {
            cells.swap(place - 1, place);
            place -= 1;
            if steps == 0 {
                return false;
            }
            steps -= 1;
        }
    }
    true
}

/// A change of an entry; with when it ends.
pub(in crate::embedded) struct Packed {
    pub key: Slice,
    /// None where it goes.
    pub value: Option<Slice>,
    pub end: Option<Timestamp>,
}

/// What packs the staged rows of a partition.
///
/// RACE: nobody else packs rows of it until this is visible. The committer may reclaim what it has read meanwhile: then rows that
/// have ended are packed once more, where nobody sees them, and are reclaimed with that pack.
pub(super) fn pack(rows: &Keyspace, partition: &[u8], staged: &[StagedRow], tails: &mut Tails) -> Result<Vec<Packed>> {
    let corrupt = |e| Error::corrupt("the packed rows", e);
    let bytes = staged.iter().map(StagedRow::bytes).sum();
    let mut tail = tails.take(partition);
    let (packs, single);
    if staged.iter().any(|row| row.value().is_none()) {
        // ORDER: all of them, or what is older than the deletion would be there again.
        packs = entries(rows.range(packed_range(partition)))?;
        single = entries(rows.range(key::section(partition, ROWS)..key::section(partition, ROWS + 1)))?;
        tail = Some(Tail::default());
    } else if tail.as_ref().is_some_and(|tail| tail.taken_up(bytes) == 0) {
        (packs, single) = (Vec::new(), Vec::new());
    } else {
        let (taken, left) = last_packs(rows, partition, bytes)?;
        (packs, single, tail) = (taken, Vec::new(), Some(left));
    }
    let mut tail = tail.unwrap_or_default();
    let mut cells: Vec<Cell<'_>> =
        single.iter().map(|(key, value)| (&key[partition.len() + 1..], Some(&**value))).collect();
    for (_, packed) in &packs {
        for cell in PackedRows::new(packed).map_err(corrupt)? {
            let (clustering, value) = cell.map_err(corrupt)?;
            cells.push((clustering, Some(value)));
        }
    }
    cells.extend(staged.iter().map(StagedRow::cell));
    newest(&mut cells);
    let mut changes: Vec<Packed> =
        single.iter().chain(&packs).map(|(key, _)| Packed { key: key.clone(), value: None, end: None }).collect();
    for cells in in_packs(&cells) {
        let (value, end) = encode(cells).map_err(corrupt)?;
        changes.push(Packed { key: packed_key(partition, tail.push(value.len())), value: Some(value.into()), end });
    }
    tails.keep(partition, tail);
    Ok(changes)
}

/// The packs that rows of so many bytes take up, and what is left before them.
fn last_packs(rows: &Keyspace, partition: &[u8], bytes: usize) -> Result<(Vec<(Slice, Slice)>, Tail)> {
    let mut packs = Vec::new();
    for entry in rows.range(packed_range(partition)).rev() {
        let (key, pack) = entry.into_inner().map_err(engine_error)?;
        let is_large = pack.len() > LARGE_BYTES;
        packs.push((key, pack));
        if is_large {
            break;
        }
    }
    packs.reverse();
    let number = |(key, _): &(Slice, Slice)| key.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let next = packs.last().map_or(0, |last| number(last) + 1);
    let small = packs.iter().map(|(_, pack)| pack.len()).filter(|bytes| *bytes <= LARGE_BYTES).collect();
    let mut tail = Tail { next, small };
    let taken = packs.split_off(packs.len() - tail.taken_up(bytes));
    tail.small.truncate(tail.small.len() - taken.len());
    tail.next = taken.first().map_or(tail.next, number);
    Ok((taken, tail))
}

fn entries(found: impl Iterator<Item = fjall::Guard>) -> Result<Vec<(Slice, Slice)>> {
    found.map(|entry| entry.into_inner().map_err(engine_error)).collect()
}

/// Those that are there, in pieces.
fn in_packs<'c, 'b>(cells: &'c [Cell<'b>]) -> impl Iterator<Item = Vec<LiveCell<'b>>> + use<'c, 'b> {
    let mut live = cells.iter().filter_map(|(clustering, value)| Some((*clustering, (*value)?))).peekable();
    std::iter::from_fn(move || {
        live.peek()?;
        let mut bytes = 0;
        let mut piece = Vec::new();
        while let Some((clustering, value)) = live.next_if(|_| bytes < PACK_BYTES) {
            bytes += clustering.len() + value.len();
            piece.push((clustering, value));
        }
        Some(piece)
    })
}

/// The bytes, and when the last row ends; None where one never does.
fn encode(cells: Vec<LiveCell<'_>>) -> Result<(Vec<u8>, Option<Timestamp>), Malformed> {
    let ends: Vec<Option<Timestamp>> =
        cells.iter().map(|(_, value)| row::expires_at(value)).collect::<Result<_, Malformed>>()?;
    let end = if ends.contains(&None) { None } else { ends.into_iter().flatten().max() };
    let mut out = Vec::with_capacity(
        9 + cells.iter().map(|(clustering, value)| clustering.len() + value.len() + 4).sum::<usize>(),
    );
    row::put_expiry(&mut out, end);
    for (clustering, value) in cells {
        put_bytes(&mut out, clustering);
        put_bytes(&mut out, value);
    }
    Ok((out, end))
}

/// The clustering columns of the rows that are stored and staged of a partition in a range of keys: each once, and of those that are
/// deleted already none, so that deleting the same again stages nothing.
pub(in crate::embedded) fn live_in(
    rows: &Keyspace,
    stage: &Stage,
    partition: &[u8],
    from: &[u8],
    to: &[u8],
) -> Result<BTreeSet<Vec<u8>>> {
    let corrupt = |e| Error::corrupt("the packed rows", e);
    let range = clustering_range(partition, from, to);
    let mut live = BTreeSet::new();
    for entry in rows.range(from..to) {
        live.insert(entry.key().map_err(engine_error)?[partition.len() + 1..].to_vec());
    }
    for entry in rows.range(packed_range(partition)) {
        let packed = entry.value().map_err(engine_error)?;
        for cell in PackedRows::new(&packed).map_err(corrupt)? {
            let (clustering, _) = cell.map_err(corrupt)?;
            if range.contains(clustering) {
                live.insert(clustering.to_vec());
            }
        }
    }
    for row in stage.rows(partition, |clustering| range.contains(clustering)) {
        match row.value() {
            Some(_) => live.insert(row.clustering().to_vec()),
            None => live.remove(row.clustering()),
        };
    }
    Ok(live)
}

/// When the last of the entries ends that are older than a pack of a partition, if that is not over: what the pack has newer rows of
/// would be there again without it.
pub(in crate::embedded) fn later_end(
    rows: &Keyspace,
    partition: &[u8],
    pack: &[u8],
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    let mut last = None;
    for entry in rows.range(&key::section(partition, ROWS)[..]..pack) {
        let bytes = entry.value().map_err(engine_error)?;
        let end = row::expires_at(&bytes).map_err(|e| Error::corrupt("the folder", e))?;
        last = last.max(Some(end.unwrap_or(Timestamp::MAX)));
    }
    Ok(last.filter(|end| *end > now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_row_is_kept_in_order() {
        let mut cells: Vec<Cell<'_>> =
            vec![(b"b", Some(b"1")), (b"a", Some(b"1")), (b"b", None), (b"c", Some(b"2")), (b"a", Some(b"3"))];
        newest(&mut cells);
        let wanted: Vec<Cell<'_>> = vec![(b"a", Some(b"3")), (b"b", None), (b"c", Some(b"2"))];
        assert_eq!(cells, wanted);
    }

    #[test]
    fn the_newest_is_kept_wherever_rows_came_in_between() {
        // In order, nearly so, backwards, and all the same; each value is the row's number.
        for key in [|n: u32| n, |n| n ^ 1, |n| n / 3 * 3 + 2 - n % 3, |n| 1_000 - n, |n| n * 7 % 50, |_| 0] {
            let rows: Vec<([u8; 4], [u8; 4])> = (0..200).map(|n| (key(n).to_be_bytes(), n.to_be_bytes())).collect();
            let mut cells: Vec<Cell<'_>> = rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
            let wanted: std::collections::BTreeMap<&[u8], Option<&[u8]>> = cells.iter().copied().collect();
            newest(&mut cells);
            assert_eq!(cells, wanted.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn bytes_that_are_no_pack_are_refused() {
        assert!(PackedRows::new(&[7]).is_err());
        assert!(PackedRows::new(&[0, 200]).is_ok_and(|mut rows| rows.next().is_some_and(|row| row.is_err())));
    }
}
