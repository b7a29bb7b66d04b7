//! Events of records: each record is one, of a case, which is a stream.
//!
//! 1. An event is imported once: where the source has no id of its own, one follows from the case, the type, the time, what it
//!    says, and how many before it say the same.
//! 2. The events of a case come in the source's order, and have its times; one that is before the one ahead of it has that
//!    one's time.
//! 3. A column without a home of its own is a field of the event's data. What `export events` wrote is read back as it was.

mod fields;
mod ops;
mod read;

pub use fields::EventField;
pub use ops::{EventOptions, import_events};
