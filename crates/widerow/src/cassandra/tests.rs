//! Pure pieces.
