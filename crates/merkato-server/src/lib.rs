//! The server of merkato: HTTP for programs and people, the command line, the configuration, the work in the background. It
//! holds no rule of the shop: a handler, or a command, extracts, calls one operation of the domain, and renders.

pub mod checks;
pub mod cli;
pub mod config;
pub mod demo;
mod dice;
pub mod http;
pub mod jobs;
pub mod model;
pub mod pictures;
pub mod web;
