//! Measurements of records: each record is one.
//!
//! 1. A measurement is imported once: where the source has no id of its own, one follows from the sensor, the time and the
//!    values, and from how many before it say the same.
//! 2. A sensor is known by its id, or by the source's own name for it. It is registered only if that is asked for.
//! 3. Roll-ups follow when they are next made: an import writes measurements, however old they are.

mod fields;
mod ops;
mod read;

pub use fields::MeasurementField;
pub use ops::{MeasurementOptions, Registration, import_measurements};
