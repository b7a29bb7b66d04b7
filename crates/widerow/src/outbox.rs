//! Later writes of commits that an engine cannot apply in one step. See `PENDING`.

use crate::{
    schema::{Column, Consistency, Direction, Kind, LazyTable, Table},
    value::Type,
};

/// The table of stored later writes, cut into pieces, bucketed by time.
pub static PENDING: LazyTable = LazyTable::new(|| {
    let column = |name: &str, column_type: Type, kind: Kind, label: &str| Column {
        name: name.into(),
        column_type,
        kind,
        optional: false,
        label: label.into(),
    };
    let ascending = Kind::Clustering(Direction::Ascending);
    Table {
        name: "widerow_pending".into(),
        doc: "Later writes of commits that span partitions, until they are made.".into(),
        columns: vec![
            column("bucket", Type::BigInt, Kind::Partition, "BUCKET"),
            column("id", Type::Uuid, ascending, "ID"),
            column("piece", Type::Int, ascending, "PIECE"),
            column("writes", Type::Blob, Kind::Regular, ""),
        ],
        partition_columns: 1,
        clustering_columns: 2,
        guarded: false,
        counters: false,
        ttl_seconds: None,
        // A row that comes back from the dead is replayed, which is harmless: tombstones need not live long.
        gc_grace_seconds: Some(3600),
        read: Consistency::Quorum,
        write: Consistency::Quorum,
        index: None,
    }
});
