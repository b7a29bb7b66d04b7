//! Figures against what a person, or a slower program, works out.

mod decimal;
mod summary;
