//! A tree of records: a table with ids and parents, or lines with paths such as `Animals > Birds`.
//!
//! 1. Records come in any order: what stands below another is inserted after it.
//! 2. A node is imported once: its id follows from the source's name and its own id, or from its path where it has none. The same
//!    source again changes nothing; a node that has moved or has another name there is moved and renamed here.
//! 3. A record that makes no node is rejected with the reason, and so is what stands below it.

mod fields;
mod ops;
mod order;
mod read;

pub use fields::TreeField;
pub use ops::{TreeLayout, TreeOptions, import_tree};
