//! The routes of version 1, one file for each group.

pub mod admin;
pub mod auth;
pub mod carts;
pub mod catalog;
pub mod checkouts;
pub mod me;
pub mod orders;
pub mod views;
pub mod wallets;
