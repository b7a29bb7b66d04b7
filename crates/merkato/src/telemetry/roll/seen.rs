//! Which measurements were counted: eight bytes of a digest for each, in order.
//!
//! Two of the 14,400 measurements of an hour have the same eight bytes once in 10¹¹ hours.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};
use widerow::Timestamp;

use crate::id::MeasurementId;

/// Digests of one hour that are kept.
pub(in crate::telemetry) const IDS_MAX: usize = 14_400;

/// What tells a measurement from the others of its sensor's hour.
pub(in crate::telemetry) type Print = u64;

pub(in crate::telemetry) fn print(at: Timestamp, id: MeasurementId) -> Print {
    let mut bytes = [0; 24];
    bytes[..16].copy_from_slice(id.0.as_bytes());
    bytes[16..].copy_from_slice(&at.millis().to_be_bytes());
    let digest = Sha256::digest(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first)
}

/// Which measurements an hour's figures are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::telemetry) struct Seen {
    pub base: BTreeSet<Print>,
    pub late: BTreeSet<Print>,
    /// There were more than are kept.
    pub overfull: bool,
}

impl Seen {
    pub fn of(base: Option<&[u8]>, late: Option<&[u8]>, overfull: Option<bool>) -> Self {
        Seen { base: read(base), late: read(late), overfull: overfull.unwrap_or(false) }
    }

    pub fn knows(&self, print: Print) -> bool {
        self.base.contains(&print) || self.late.contains(&print)
    }

    pub fn len(&self) -> usize {
        self.base.len() + self.late.len()
    }
}

fn read(bytes: Option<&[u8]>) -> BTreeSet<Print> {
    let chunks = bytes.unwrap_or_default().as_chunks::<8>().0;
    chunks.iter().map(|eight| u64::from_be_bytes(*eight)).collect()
}

pub(in crate::telemetry) fn write(prints: &BTreeSet<Print>) -> Option<Vec<u8>> {
    (!prints.is_empty()).then(|| prints.iter().flat_map(|print| print.to_be_bytes()).collect())
}
