//! Search by several words: which names are meant, and where they are looked for.
//!
//! 1. Every word is a word of the name, in any order; the last one, which may still be typed, is the beginning of one.
//! 2. A product that stands in a walk several times, by several of its words, is met in it exactly once.

use std::{cmp::Reverse, collections::HashSet};

use super::prefix::{self, SHORT_CHARS};
use crate::{
    check::{Check, Invalid},
    limits, text,
};

/// What is looked for.
#[derive(Debug)]
pub struct Words {
    /// Folded, as they were typed.
    words: Vec<String>,
}

/// The part of a partition where all names stand that have one of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk<'w> {
    pub partition: &'w str,
    /// The beginning of the texts in it; all of them without one.
    pub start: Option<&'w str>,
}

impl Words {
    pub fn parse(typed: &str) -> Result<Self, Invalid> {
        let mut check = Check::new();
        let (bytes, bytes_max) = (typed.len(), limits::NAME_BYTES_MAX);
        check.that(bytes <= bytes_max, "q", format!("it has {bytes} bytes, the limit is {bytes_max}"));
        check.end()?;
        let words = Words { words: split(&text::fold(typed)).map(str::to_owned).collect() };
        let mut check = Check::new();
        check.count("q", words.words.len(), limits::SEARCH_WORDS_MAX);
        let none = words.walks().is_empty();
        check.that(!none, "q", format!("no word has {SHORT_CHARS} characters, one of them needs as many"));
        check.end()?;
        Ok(words)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Whether one word is all that is looked for: then all that stands in its walk is meant.
    pub fn is_one(&self) -> bool {
        self.words.len() == 1
    }

    /// Where to look, the best first: the longest words, as the fewest names have them. Of two that are as long, the last one
    /// that was typed comes second: more words begin with it than are it.
    pub fn walks(&self) -> Vec<Walk<'_>> {
        let last = self.words.len().saturating_sub(1);
        let mut words: Vec<_> = self.iter().enumerate().collect();
        words.sort_by_key(|(i, word)| (Reverse(word.chars().count()), *i == last));
        let mut walks: Vec<Walk<'_>> = Vec::new();
        for walk in words.into_iter().filter_map(|(_, word)| Walk::to(word)) {
            if walks.len() < limits::SEARCH_WALKS_MAX && !walks.contains(&walk) {
                walks.push(walk);
            }
        }
        walks
    }

    /// Whether a name is meant.
    pub fn admit(&self, name: &str) -> bool {
        let Some((last, whole)) = self.words.split_last() else { return false };
        let folded = text::fold(name);
        let of_name: HashSet<&str> = split(&folded).collect();
        whole.iter().all(|word| of_name.contains(word.as_str()))
            && of_name.iter().any(|word| word.starts_with(last.as_str()))
    }
}

impl<'w> Walk<'w> {
    fn to(word: &'w str) -> Option<Self> {
        let (partition, start) = prefix::place(text::cut(word, prefix::SORTED_BYTES_MAX))?;
        Some(Walk { partition, start })
    }

    /// Whether this text is the first of those by which the name stands in the walk.
    pub fn meets_first(&self, name: &str, text: &str) -> bool {
        let start = self.start.unwrap_or_default();
        let entries = prefix::entries(name);
        let texts = entries.iter().filter(|(partition, text)| partition == self.partition && text.starts_with(start));
        texts.map(|(_, text)| text.as_str()).min() == Some(text)
    }
}

/// The words of a folded text: runs of letters and digits, as they are found by their beginnings.
fn split(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
