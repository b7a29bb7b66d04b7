//! Every limit of the data layer, in one place. They are the same on every engine: what fits one fits all.

use std::time::Duration;

/// Bytes of the partition columns of a key, the tenant aside. DynamoDB takes 2,048 after escaping.
pub const PARTITION_KEY_BYTES_MAX: usize = 600;
/// Bytes of the clustering columns of a key. DynamoDB takes 1,024 after escaping, which may triple them.
pub const CLUSTERING_KEY_BYTES_MAX: usize = 300;
/// Bytes of one row. DynamoDB takes 400 KB, names of attributes included.
pub const ROW_BYTES_MAX: usize = 320 * 1024;
/// Bytes of one row as the engine keeps it that needs the most for it, names of columns and fields included.
pub const ROW_STORED_BYTES_MAX: usize = 390_000;
/// Writes of one commit, those of derived tables included.
pub const COMMIT_WRITES_MAX: usize = 2_000;
/// Bytes of one commit, those of derived tables included.
pub const COMMIT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the writes to the guarded partition of one commit: they go into one conditional request.
pub const GUARDED_BYTES_MAX: usize = 1024 * 1024;
/// Writes to the guarded partition of one commit: DynamoDB takes 100 in a transaction, one of them is the bookkeeping.
pub const GUARDED_WRITES_MAX: usize = 99;
/// Rows of one partition that a commit founds: DynamoDB takes 100 in a transaction, one of them is the new bookkeeping, one
/// the fence of later writes.
pub const FOUNDED_ROWS_MAX: usize = 98;
/// Guards of one commit.
pub const GUARDS_MAX: usize = 25;
/// Rows that a partition may have to be read whole for a decision.
pub const DECISION_ROWS_MAX: usize = 10_000;
/// Prefixes that a decision may name.
pub const DECISION_PREFIXES_MAX: usize = 200;
/// Rows of one page.
pub const PAGE_ROWS_MAX: usize = 10_000;
/// Keys of one get.
pub const GET_KEYS_MAX: usize = 1_000;
/// Characters of a tenant's name.
pub const TENANT_CHARS_MAX: usize = 64;
/// Commits of a partition that are remembered by id.
pub const RING_SLOTS: i64 = 64;
/// Bytes of one stored piece of a commit's later writes.
pub const PENDING_PIECE_BYTES_MAX: usize = 256 * 1024;
/// Tries of a guarded commit before it says that the partition is too busy.
pub const CONTENTION_TRIES_MAX: u32 = 64;
/// The longest that a writer waits for its turn.
pub const LOCK_TIME_MAX: Duration = Duration::from_secs(30);
/// The longest that a commit may take once it is its turn.
pub const COMMIT_TIME_MAX: Duration = Duration::from_secs(60);
/// The longest time to live, in seconds: twenty years, as Cassandra has it.
pub const TTL_SECONDS_MAX: u32 = 20 * 365 * 24 * 60 * 60;
