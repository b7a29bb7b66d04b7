//! The expiry index: which rows end when, so that their space is reclaimed without looking for them.
//!
//! An entry begins with the instant. Rows that end together and were written together share one, so that a row that ends costs
//! hardly more than one that does not: its key is then a number of its own and its value the keys of the rows. The entry of a
//! single row has the row's key behind the instant, and no value.
//! A row that is written again or removed is not looked for here: its old entry finds it gone or ending later.

use fjall::Slice;
use uuid::Uuid;

use crate::{
    codec::{Malformed, Reader, put_bytes},
    time::Timestamp,
};

/// Rows of one entry, so that what is reclaimed at once stays bounded.
const ROWS_MAX: usize = 128;

/// The entries of rows that were written together.
pub(super) fn entries(mut ending: Vec<(Timestamp, Slice)>) -> Vec<(Slice, Slice)> {
    ending.sort_by_key(|(end, _)| *end);
    let same_end = ending.chunk_by(|(one, _), (other, _)| one == other);
    same_end.flat_map(|rows| rows.chunks(ROWS_MAX)).map(entry).collect()
}

fn entry(rows: &[(Timestamp, Slice)]) -> (Slice, Slice) {
    let mut key = instant(rows[0].0).to_vec();
    if let [(_, row)] = rows {
        key.extend_from_slice(row);
        return (key.into(), Slice::empty());
    }
    key.extend_from_slice(Uuid::new_v4().as_bytes());
    let mut packed = Vec::with_capacity(rows.iter().map(|(_, row)| row.len() + 2).sum());
    rows.iter().for_each(|(_, row)| put_bytes(&mut packed, row));
    (key.into(), packed.into())
}

/// The keys of an entry's rows.
pub(super) fn rows(key: &[u8], packed: &[u8]) -> Result<Vec<Slice>, Malformed> {
    if packed.is_empty() {
        return Ok(vec![key.get(8..).ok_or(Malformed)?.into()]);
    }
    let mut reader = Reader::new(packed);
    let mut rows = Vec::new();
    while !reader.is_empty() {
        rows.push(reader.bytes()?.into());
    }
    Ok(rows)
}

/// Behind all entries whose time is over.
pub(super) fn after(now: Timestamp) -> [u8; 8] {
    instant(Timestamp::from_millis(now.millis().saturating_add(1)))
}

fn instant(end: Timestamp) -> [u8; 8] {
    (end.millis() as u64 ^ 1 << 63).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_row_is_found_when_its_time_is_over(
            ends in proptest::collection::vec((-5..5_i64, proptest::collection::vec(any::<u8>(), 1..60)), 0..400),
            now in -6..6_i64,
        ) {
            let ending: Vec<_> =
                ends.iter().map(|(end, key)| (Timestamp::from_millis(*end), Slice::from(key.clone()))).collect();
            let entries = entries(ending);
            let over = entries.iter().filter(|(key, _)| key[..8] < after(Timestamp::from_millis(now))[..]);
            let mut found: Vec<Vec<u8>> = over
                .flat_map(|(key, packed)| rows(key, packed).expect("an entry"))
                .map(|row| row.to_vec())
                .collect();
            let mut wanted: Vec<Vec<u8>> =
                ends.into_iter().filter(|(end, _)| *end <= now).map(|(_, key)| key).collect();
            found.sort();
            wanted.sort();
            prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn rows_that_end_together_share_an_entry() {
        let ending = |row: u8| (Timestamp::from_millis(7), Slice::from(vec![row; 40]));
        assert_eq!(entries((0..100).map(ending).collect()).len(), 1);
        assert_eq!(entries((0..ROWS_MAX as u8 + 1).map(ending).collect()).len(), 2);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        assert!(rows(&[1, 2], &[]).is_err());
        assert!(rows(&[0; 24], &[200, 1]).is_err());
    }
}
