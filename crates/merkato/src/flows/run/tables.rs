//! The tables of flows that outlive their process.

use widerow::{Cell, Derive, Row, Schema, Timestamp};

use crate::id::FlowId;

/// What a flow is about.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlowKind {
    Checkout,
    /// An order is cancelled or refunded.
    Reversal,
    /// Money goes from one wallet to another.
    Transfer,
}

/// A flow and its state. One row a partition, about 2 KiB, at most 320 KiB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "flows", partition(flow_id), guarded, read = Quorum, write = Quorum)]
pub struct FlowRow {
    pub flow_id: FlowId,
    pub kind: FlowKind,
    /// Of the request.
    pub fingerprint: String,
    /// JSON.
    pub state: String,
    /// From then on anybody may go on with it. None: it is finished.
    pub due_at: Option<Timestamp>,
    /// How often it was taken up again.
    pub tries: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Flows that are not finished, by the hour in which somebody should look at them. Expected 10 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "flows_due", partition(due_hour, shard), clustering(due_at, flow_id), read = Quorum)]
pub struct DueFlow {
    /// Hours since 1970.
    pub due_hour: i32,
    pub shard: i32,
    pub due_at: Timestamp,
    pub flow_id: FlowId,
    pub kind: FlowKind,
}

/// Partitions of one hour.
pub(super) const SHARDS: i32 = 4;

pub(super) fn hour_of(time: Timestamp) -> i32 {
    i32::try_from(time.millis().div_euclid(3_600_000)).unwrap_or(i32::MAX)
}

impl Derive<DueFlow> for FlowRow {
    fn derive(&self) -> Vec<DueFlow> {
        let Some(due_at) = self.due_at else { return Vec::new() };
        vec![DueFlow {
            due_hour: hour_of(due_at),
            shard: i32::from(self.flow_id.0.as_bytes()[15]) % SHARDS,
            due_at,
            flow_id: self.flow_id,
            kind: self.kind,
        }]
    }

    fn source(due: &DueFlow) -> FlowId {
        due.flow_id
    }
}

/// Before this hour no flow is due any more. One row.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "flows_swept", partition(name), guarded, read = Quorum, write = Quorum)]
pub struct SweptUntil {
    pub name: String,
    pub due_hour: i32,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<FlowRow>().derived::<FlowRow, DueFlow>().table::<SweptUntil>()
}
