//! How far a reckoning is, and how it is ended before its time.

use std::ops::ControlFlow;

use super::{Error, Result};

/// What is being reckoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Figure {
    PageRank,
    Clustering,
    Communities,
    Betweenness,
}

impl Figure {
    pub fn name(self) -> &'static str {
        match self {
            Figure::PageRank => "PageRank",
            Figure::Clustering => "clustering",
            Figure::Communities => "communities",
            Figure::Betweenness => "betweenness",
        }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub figure: Figure,
    pub done: u64,
    /// How many steps there are, where that is known before the end.
    pub of: Option<u64>,
}

/// Is told every step, from whichever thread made it, and ends the reckoning with `Break`.
pub type Watch<'a> = &'a (dyn Fn(Step) -> ControlFlow<()> + Sync);

/// For whoever wants to wait for the end.
pub fn unwatched(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(super) fn tell(watch: Watch<'_>, figure: Figure, done: u64, of: Option<u64>) -> Result<()> {
    match watch(Step { figure, done, of }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}
