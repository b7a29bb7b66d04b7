//! What the document's table costs on DynamoDB, on demand: write and read request units and storage, for the table and each
//! index, by prices that are settings.
//!
//! How it is reckoned, which is how DynamoDB bills and not always how the document does:
//!
//! 1. A write takes one unit for each begun KiB of the item, and as much again for each index entry that it writes. A new
//!    sale writes the table, the index of categories and that of embeddings, and with a brand the index of brands. A batch
//!    takes as many units as its items do one by one. Nothing is transactional, which would be double.
//! 2. A change writes an index only if the index has what is changed. A new price is in the keys of the indexes of
//!    categories and brands: the old entry goes and a new one comes, two writes. The index of embeddings projects it: one.
//! 3. A read takes half a unit (it is eventually consistent) for each begun 4 KiB: of an item, or of all that one query reads
//!    in one partition, and at least that half where nothing is found. Indexes with keys alone cost the items of the table
//!    as well, each rounded up by itself.
//! 4. The index of embeddings has the product in no key but the shard's: a query reads all that its shard has between its
//!    dates, whichever product it asks for.
//! 5. An item or entry takes a hundred bytes more in storage than it has. What is kept grows with the years up to the time
//!    to live. A year has 365 days, a month has 30, a gigabyte has 10⁹ bytes.
//!
//! Not counted: what is free of charge, backups, transfer, retries, and the two days for which ended items may stay. Deletions
//! by time to live are free.

mod estimate;
mod sizes;
mod table;

pub use estimate::{Design, Estimate, Line, Load, Mix, Part, Prices, estimate, write_units};
pub use sizes::{Sample, Sizes};
