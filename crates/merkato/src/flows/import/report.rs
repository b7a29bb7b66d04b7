//! What became of every record.

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
    /// Records that joined a product of an earlier record: its variants, its pictures, its further categories.
    pub folded: u64,
    /// Records that made no product, each with the reason.
    pub rejected: Vec<Rejected>,
    /// What was kept elsewhere than one would look for it, or could not be kept.
    pub notes: Vec<Note>,
    pub categories_created: u64,
    /// Rejected records and notes beyond those that are listed.
    pub rejected_unlisted: u64,
    pub notes_unlisted: u64,
}

/// A record that made no product.
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

    pub(super) fn note(&mut self, place: Place, text: String) {
        if self.notes.len() < limits::IMPORT_LISTED_MAX {
            self.notes.push(Note { record: place.record, line: place.line, text });
        } else {
            self.notes_unlisted += 1;
        }
    }

    /// Products are written side by side; people read a report from the top.
    pub(super) fn sort(&mut self) {
        self.rejected.sort_by_key(|rejected| rejected.record);
        self.notes.sort_by_key(|note| note.record);
    }
}
