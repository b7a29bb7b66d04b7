//! Who knows whom: a table with a heading, or a list of edges without one, such as `0 1` or `6,2,4,1289241912`.
//!
//! 1. Somebody is known by the source's name and the id there, or is the one whose id of this shop that is.
//! 2. The same source again changes nothing. What it no longer has stays.
//! 3. A record that makes no connection is rejected with the reason.

mod fields;
mod ops;
mod read;

pub use fields::GraphField;
pub use ops::{GraphLayout, GraphOptions, import_graph, person_of};
