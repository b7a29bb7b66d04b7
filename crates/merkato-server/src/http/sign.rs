//! What the server hands out and wants back unbent: signed with a key that only the shop has.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

pub const KEY_BYTES: usize = 32;
/// Half of the HMAC: as hard to guess as a key of 128 bits.
const TAG_BYTES: usize = 16;

/// A shop's key.
#[derive(Clone)]
pub struct Signer([u8; KEY_BYTES]);

impl Signer {
    pub fn new(key: [u8; KEY_BYTES]) -> Self {
        Signer(key)
    }

    /// A tag for the parts, each set apart from the next; the purpose keeps one kind of tag from being taken for another.
    pub fn tag(&self, purpose: &str, parts: &[&[u8]]) -> [u8; TAG_BYTES] {
        // A key of any length makes an HMAC.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return [0; TAG_BYTES] };
        for part in [purpose.as_bytes()].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&mac.finalize().into_bytes()[..TAG_BYTES]);
        tag
    }

    pub fn verify(&self, purpose: &str, parts: &[&[u8]], tag: &[u8]) -> bool {
        self.tag(purpose, parts).ct_eq(tag).into()
    }
}

/// The bytes of hexadecimal digits.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}
