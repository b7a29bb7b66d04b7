//! What became of every record.

use rust_decimal::Decimal;

use super::record::Place;
use crate::limits;

/// The sum of an import, also while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records of the source: rows of a table, objects of JSON.
    pub read: u64,
    pub created: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Records that joined what an earlier record began: a product's variants and pictures, an order's further lines.
    pub folded: u64,
    /// Records that made no product, or are in no order, each with the reason.
    pub rejected: Vec<Rejected>,
    /// What was kept elsewhere than one would look for it, or could not be kept.
    pub notes: Vec<Note>,
    pub categories_created: u64,
    /// Rejected records and notes beyond those that are listed.
    pub rejected_unlisted: u64,
    pub notes_unlisted: u64,
    /// Of an import of orders: what became of their lines.
    pub sales: Option<Sales>,
    /// Of an import of transactions: how often the source's own balances are the wallets'.
    pub balances: Option<Balances>,
}

/// Ends of days of accounts, for which the source says what they held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balances {
    pub days: u64,
    pub matched: u64,
}

/// Where every line of an import of orders went: the lines of the four are all that were read, and their amounts are all
/// that the source comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sales {
    /// Paid and not given back: what the daily sales have.
    pub standing: Sum,
    /// Not paid yet.
    pub open: Sum,
    /// Cancelled or refunded. Where a source has cancellations with quantities below nought, they are above it here.
    pub cancelled: Sum,
    /// As the source has them, also below nought. A line whose quantity or price cannot be read adds no amount.
    pub rejected: Sum,
    /// Orders that a companion has and no line belongs to; each is among the notes.
    pub orders_without_lines: u64,
}

/// What some lines come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub orders: u64,
    pub lines: u64,
    pub pieces: i64,
    /// Prices times quantities, without shipping; exact.
    pub amount: Decimal,
}

impl Sum {
    pub(super) fn of_lines(lines: u64) -> Self {
        Sum { lines, ..Sum::default() }
    }

    /// Saturates at sums that no shop comes to.
    pub(super) fn add(&mut self, other: Sum) {
        self.orders += other.orders;
        self.lines += other.lines;
        self.pieces = self.pieces.saturating_add(other.pieces);
        self.amount = self.amount.saturating_add(other.amount);
    }
}

/// How lines stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Sold,
    Open,
    Cancelled,
    Rejected,
}

/// A record that made nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Counted from 1; a table's heading is none.
    pub record: u64,
    /// The line of a text file where it begins.
    pub line: Option<u64>,
    /// The source's own id, where there is one.
    pub id: Option<String>,
    pub reason: String,
}

/// Something that whoever imports should know about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Nought where it is about none of the source's own.
    pub record: u64,
    pub line: Option<u64>,
    pub text: String,
}

impl Report {
    pub fn rejected_count(&self) -> u64 {
        self.rejected.len() as u64 + self.rejected_unlisted
    }

    pub(super) fn reject(&mut self, place: Place, id: Option<String>, reason: String) {
        if self.rejected.len() < limits::IMPORT_LISTED_MAX {
            self.rejected.push(Rejected { record: place.record, line: place.line, id, reason });
        } else {
            self.rejected_unlisted += 1;
        }
    }

    /// All the records of one draft: all but one joined it.
    pub(super) fn count(&mut self, records: usize) {
        self.read += records as u64;
        self.folded += (records as u64).saturating_sub(1);
    }

    pub(super) fn add(&mut self, standing: Standing, sum: Sum) {
        let Some(sales) = &mut self.sales else { return };
        let all = match standing {
            Standing::Sold => &mut sales.standing,
            Standing::Open => &mut sales.open,
            Standing::Cancelled => &mut sales.cancelled,
            Standing::Rejected => &mut sales.rejected,
        };
        all.add(sum);
    }

    pub(super) fn without_lines(&mut self, text: String) {
        if let Some(sales) = &mut self.sales {
            sales.orders_without_lines += 1;
        }
        self.note(Place::NOWHERE, text);
    }

    pub(super) fn note(&mut self, place: Place, text: String) {
        if self.notes.len() < limits::IMPORT_LISTED_MAX {
            self.notes.push(Note { record: place.record, line: place.line, text });
        } else {
            self.notes_unlisted += 1;
        }
    }

    /// Drafts are written side by side; people read a report from the top.
    pub(super) fn sort(&mut self) {
        self.rejected.sort_by_key(|rejected| rejected.record);
        self.notes.sort_by_key(|note| note.record);
    }
}
