//! Named access patterns: what is asked, of which table, by which key, at which cost. The costs are tested.

use widerow::Cursor;

use crate::{check::Invalid, limits};

/// A question that the data model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessPattern {
    /// As the documents number it, or a word.
    pub name: &'static str,
    pub question: &'static str,
    pub table: &'static str,
    /// The key that is given, as one would write it in CQL.
    pub key: &'static str,
    pub cost: ReadCost,
}

/// The most that an answer costs, whatever the number of rows elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadCost {
    pub partitions: Amount,
    pub rows: Amount,
    /// Requests, one after the other or side by side.
    pub requests: Amount,
}

/// So many, and so many more for each row that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    pub fixed: u64,
    pub per_row: u64,
}

impl Amount {
    pub const fn of(fixed: u64) -> Self {
        Amount { fixed, per_row: 0 }
    }

    pub const fn and_per_row(self, per_row: u64) -> Self {
        Amount { per_row, ..self }
    }

    /// For an answer of so many rows.
    pub const fn for_rows(self, rows: u64) -> u64 {
        self.fixed + self.per_row * rows
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.fixed, self.per_row) {
            (fixed, 0) => write!(f, "{fixed}"),
            (0, 1) => f.write_str("n"),
            (0, n) => write!(f, "{n} n"),
            (fixed, 1) => write!(f, "n + {fixed}"),
            (fixed, n) => write!(f, "{n} n + {fixed}"),
        }
    }
}

impl ReadCost {
    /// One row by its key.
    pub const ROW: ReadCost = ReadCost { partitions: Amount::of(1), rows: Amount::of(1), requests: Amount::of(1) };
    /// A page of one partition: its rows, and one that tells whether there is another page.
    pub const PAGE: ReadCost =
        ReadCost { partitions: Amount::of(1), rows: Amount::of(1).and_per_row(1), requests: Amount::of(1) };

    /// Several reads, one after the other.
    pub const fn then(self, other: ReadCost) -> ReadCost {
        const fn sum(a: Amount, b: Amount) -> Amount {
            Amount { fixed: a.fixed + b.fixed, per_row: a.per_row + b.per_row }
        }
        ReadCost {
            partitions: sum(self.partitions, other.partitions),
            rows: sum(self.rows, other.rows),
            requests: sum(self.requests, other.requests),
        }
    }

    /// Whether what was measured, for an answer of so many rows, is within this.
    pub fn admits(&self, cost: &widerow::meter::Cost, rows: u64) -> bool {
        cost.partitions_read <= self.partitions.for_rows(rows)
            && cost.rows_read <= self.rows.for_rows(rows)
            && cost.round_trips <= self.requests.for_rows(rows)
    }
}

/// Which page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: usize,
    pub cursor: Option<Cursor>,
}

impl Default for PageRequest {
    fn default() -> Self {
        PageRequest { limit: limits::PAGE_ROWS_DEFAULT, cursor: None }
    }
}

impl PageRequest {
    pub fn first(limit: usize) -> Self {
        PageRequest { limit, cursor: None }
    }

    pub fn check(&self) -> Result<(), Invalid> {
        if (1..=limits::PAGE_ROWS_MAX).contains(&self.limit) {
            return Ok(());
        }
        Err(Invalid::new("limit", format!("{} is not 1 to {}", self.limit, limits::PAGE_ROWS_MAX)))
    }
}
