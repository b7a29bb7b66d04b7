//! Measurements of sensors over time.

pub mod figures;
