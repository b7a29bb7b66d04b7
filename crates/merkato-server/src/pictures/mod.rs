//! Pictures of products, drawn from a few numbers: a motif for each kind of thing, a palette for each brand, a seed for each
//! product. The same address is the same picture for ever; nothing is read, written or asked for.
//!
//! 1. A picture is well-formed SVG without scripts, links or anything from elsewhere, below [`BYTES_MAX`].
//! 2. Products of one kind differ by their seeds, in proportions, details, pattern and colours.
//! 3. A name that is not exactly one of ours gives nothing.

mod motif;
mod palette;
mod pen;
mod picture;
mod scene;
mod things;

pub use motif::Motif;
pub use picture::{FOLDER, Picture, VIEWS};
pub use scene::draw;

/// How many palettes there are: a brand has one of them.
pub const PALETTES: usize = palette::PALETTES.len();
/// The largest picture of a thing.
pub const BYTES_MAX: usize = 6 * 1024;

/// The picture of this name, as in `mug-3-1f-0.svg`; none where there is no such picture.
pub fn svg(name: &str) -> Option<String> {
    Picture::parse(name).map(Picture::svg)
}

#[cfg(test)]
mod tests;
