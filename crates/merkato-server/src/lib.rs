//! The server's library half: configuration, commands, the demo shop, the work in the background.

pub mod cli;
pub mod config;
pub mod demo;
pub mod jobs;
