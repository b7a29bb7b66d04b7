//! What a shop decides for itself.

/// All of it; each module has its own part.
#[derive(Clone, Debug, Default)]
pub struct Settings {}
