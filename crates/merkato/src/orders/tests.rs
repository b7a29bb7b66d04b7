//! The rules of orders: given, when, then.
