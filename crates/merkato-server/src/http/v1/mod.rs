//! The routes of version 1, one file for each group.

pub mod admin;
pub mod auth;
pub mod catalog;
pub mod me;
