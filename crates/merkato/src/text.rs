//! Texts as they are searched and sorted, without case and accents; and bytes as text.

use sha2::{Digest, Sha256};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Lower case, without accents, with single spaces: "Crème  Brûlée" is "creme brulee".
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            // Letters that Unicode takes for letters of their own, and readers of a shop for accented ones.
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            c if c.is_whitespace() => {
                if !folded.ends_with(' ') && !folded.is_empty() {
                    folded.push(' ');
                }
            }
            c if is_combining_mark(c) => {}
            c => folded.push(c),
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// The beginning of a text, at most so many bytes, no character cut.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// A text from elsewhere as one line that anybody can read: what nobody can see is a blank, and it has at most so many bytes.
pub fn line(text: &str, bytes_max: usize) -> String {
    let seen = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let words: Vec<&str> = seen.split_whitespace().collect();
    cut(&words.join(" "), bytes_max).trim_end().to_owned()
}

/// Words for an address: "Crème brûlée, 2 pcs" is "creme-brulee-2-pcs". Empty where nothing of the text is left.
pub fn slugify(text: &str) -> String {
    let mut slug = String::new();
    for c in fold(text).chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = cut(&slug, crate::limits::SLUG_BYTES_MAX);
    slug.trim_end_matches('-').to_owned()
}

/// Bytes as hexadecimal digits, as secrets and hashes are written.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of the parts, each set apart from the next, as hexadecimal digits.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// Whether a text is what `hex` makes of so many bytes.
pub fn is_hex(text: &str, bytes: usize) -> bool {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == 2 * bytes && text.bytes().all(digit)
}
