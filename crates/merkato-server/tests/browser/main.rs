//! The shop as people see it: the real server in a real Chromium, without which every case is skipped, aloud.
//!
//! `run` performs the cases, `driver` keeps the browsers' processes, `world` has a furnished shop for each case, `browser` is a
//! person in front of a page, and `axe` judges pages as somebody would who does not see them.

mod axe;
mod browser;
mod devtools;
mod driver;
mod itself;
mod run;
mod world;

fn main() {
    run::run(&[itself::CASES], &[axe::CASES]);
}
