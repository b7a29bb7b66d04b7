//! What needs no engine: keys, cells, expressions.
