//! What writes through several modules: imports, and what a purchase sets in motion.

pub mod import;
