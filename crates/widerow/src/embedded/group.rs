//! What is written together: the changes of commits that were decided one behind the other.

use std::collections::BTreeMap;

use fjall::Slice;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{pages::Stripe, series::StagedRows};
use crate::{
    engine::Applied,
    error::{Error, Result},
    time::Timestamp,
};

/// Bytes of staged rows up to which those of several commits become one block; larger ones are not copied.
const BLOCK_BYTES: usize = 64 * 1024;

/// Why a group failed.
pub(super) enum Failure {
    /// Nothing of it was written.
    NotWritten(Error),
    /// Nobody knows.
    Unknown(Error),
}

/// What the commits of a group have changed and not yet written. In order, as the engine's memory likes its keys best.
pub(super) type Overlay = BTreeMap<Slice, Option<Slice>>;

/// Where the answer goes, the commit's id and scope, the answer.
pub(super) type Decided = (oneshot::Sender<Result<Applied>>, Uuid, Option<u64>, Result<Applied>);

#[derive(Default)]
pub(super) struct Group {
    pub rows: Overlay,
    /// The heads among them, as they came.
    pub heads: Vec<(Slice, Option<Slice>)>,
    /// Which rows end, and when.
    pub ending: Vec<(Timestamp, Slice)>,
    /// Entries of the expiry index that are done with.
    pub ended: Vec<Slice>,
    pub bytes: usize,
    /// Where rows and static columns change; some may stand there twice.
    pub stripes: Vec<Stripe>,
    /// Rows of series, from old to new; many small commits together.
    pub staged: Vec<StagedRows>,
    /// Who wants all that was staged before packed.
    pub pack: Vec<oneshot::Sender<Result<Applied>>>,
}

impl Group {
    pub(super) fn put_head(&mut self, key: Slice, head: Option<Slice>) {
        self.bytes += key.len() + head.as_ref().map_or(0, |head| head.len());
        self.heads.push((key.clone(), head.clone()));
        self.rows.insert(key, head);
    }

    pub(super) fn stage(&mut self, rows: StagedRows) {
        self.stripes.extend(rows.stripes());
        self.bytes += rows.bytes();
        match self.staged.last_mut() {
            Some(last) if last.bytes() + rows.bytes() <= BLOCK_BYTES => last.append(rows),
            _ if rows.is_empty() => {}
            _ => self.staged.push(rows),
        }
    }
}
