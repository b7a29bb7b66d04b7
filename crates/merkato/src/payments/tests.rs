//! The test provider: given, when, then.
