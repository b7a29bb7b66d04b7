//! What is said of the data model in more than one place: by `merkato doctor` and the metrics, and by the office's pages.

use merkato::AccessPattern;
use widerow::store::Histogram;

/// The most rows that the declarations of the tables speak of for one partition, and a bound on its bytes that was chosen, not
/// measured: what is larger is told.
pub const PARTITION_ROWS_MAX: u64 = 1_000_000;
pub const PARTITION_BYTES_MAX: u64 = 100 * 1024 * 1024;

/// The name of a pattern as a place on a page.
pub fn anchor(pattern: &AccessPattern) -> String {
    pattern.name.replace(' ', "-")
}

/// Whether a pattern asks a table, perhaps among others.
pub fn asks(pattern: &AccessPattern, table: &str) -> bool {
    pattern.table.split(", ").any(|one| one == table)
}

/// The largest partition has fewer bytes than this: bucket i counts those of less than 2ⁱ.
pub fn most_bytes(histogram: &Histogram) -> u64 {
    let last = histogram.by_bytes.iter().rposition(|count| *count > 0);
    last.map_or(0, |bucket| 1u64.checked_shl(u32::try_from(bucket).unwrap_or(63)).unwrap_or(u64::MAX))
}

/// The rows of the largest partition.
pub fn most_rows(histogram: &Histogram) -> u64 {
    histogram.largest.as_ref().map_or(0, |(.., rows)| *rows)
}

pub fn is_large(histogram: &Histogram) -> bool {
    most_rows(histogram) > PARTITION_ROWS_MAX || most_bytes(histogram) / 2 > PARTITION_BYTES_MAX
}
