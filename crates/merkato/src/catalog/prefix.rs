//! Search as one types: under which two and three characters a name is found, by each of its words.

use std::collections::BTreeSet;

use crate::text;

/// Characters of the shorter and of the longer partitions.
pub const SHORT_CHARS: usize = 2;
pub const LONG_CHARS: usize = 3;
/// Bytes of a folded name that are kept in a key.
pub const SORTED_BYTES_MAX: usize = 200;

/// The partitions and the texts in them: the folded name from each word on. A partition of two characters answers those two
/// characters alone, so that a name stands there once; one of three also answers everything longer.
pub fn entries(name: &str) -> Vec<(String, String)> {
    let folded = text::fold(name);
    let mut entries = Vec::new();
    let (mut short, mut long) = (BTreeSet::new(), BTreeSet::new());
    for start in word_starts(&folded) {
        let rest = text::cut(&folded[start..], SORTED_BYTES_MAX).trim_end();
        if let Some(prefix) = first_chars(rest, SHORT_CHARS)
            && short.insert(prefix)
        {
            entries.push((prefix.to_owned(), rest.to_owned()));
        }
        if let Some(prefix) = first_chars(rest, LONG_CHARS)
            && long.insert(rest)
        {
            entries.push((prefix.to_owned(), rest.to_owned()));
        }
    }
    entries
}

/// Where the words of a folded name begin; what stands before a word, as in "(blue)" and "ocean-blue", is not of it. The
/// name as a whole is found as it is written, too.
fn word_starts(folded: &str) -> BTreeSet<usize> {
    let mut starts = BTreeSet::from([0]);
    let mut inside = false;
    for (i, c) in folded.char_indices() {
        let of_word = c.is_alphanumeric();
        if of_word && !inside {
            starts.insert(i);
        }
        inside = of_word;
    }
    starts
}

/// Where the names stand of which a word begins so: in which partition, and with which beginning where it has others, too. What is
/// shorter than the shorter partitions is nowhere.
pub fn place(folded: &str) -> Option<(&str, Option<&str>)> {
    match first_chars(folded, LONG_CHARS) {
        Some(long) => Some((long, (folded.len() > long.len()).then_some(folded))),
        None => Some((first_chars(folded, SHORT_CHARS)?, None)),
    }
}

/// The first so many characters, if there are as many.
pub fn first_chars(text: &str, chars: usize) -> Option<&str> {
    let last = text.char_indices().nth(chars.checked_sub(1)?)?;
    Some(&text[..last.0 + last.1.len_utf8()])
}
