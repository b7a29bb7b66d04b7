//! One file for each command.

pub mod chaos;
pub mod engine;
