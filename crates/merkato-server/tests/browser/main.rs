//! The shop as people see it: the real server in a real Chromium, without which every case is skipped, aloud.
//!
//! `run` performs the cases, `driver` keeps the browsers' processes, `world` has a furnished shop for each case, `browser` is a
//! person in front of a page, `shopping` what every shopper does, and `tour` a walk through every page. `itself` tests these. People
//! are `newcomer`, `clerk`, `gardener`, those at the `till`, and those who have other `ways` to buy; `looks` takes every page in its turn, and
//! `axe` judges each as somebody would who does not see it.

mod axe;
mod browser;
mod clerk;
mod devtools;
mod driver;
mod gardener;
mod itself;
mod looks;
mod newcomer;
mod run;
mod shopping;
mod till;
mod tour;
mod ways;
mod world;

fn main() {
    // The longest first, so that none is left to run alone.
    let people = [newcomer::CASES, clerk::CASES, gardener::CASES, ways::CASES, till::CASES];
    run::run(&[&[looks::CASES], &people[..], &[itself::CASES]].concat(), &[axe::CASES]);
}
