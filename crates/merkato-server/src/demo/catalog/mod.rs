//! What the demo shop sells: a tree of departments, and in each shelf lines of things of one kind. Names and prices are as a
//! shop would have them; the rest of a product is composed of its line, its brand and what it is made of.

#![allow(clippy::inconsistent_digit_grouping, reason = "the underscore stands where the price has its point")]

mod desk;
mod furniture;
mod garden;
mod home;
mod kitchen;
mod pantry;
mod play;
mod travel;

use crate::pictures::Motif;

/// A category, those below it, and what stands in it itself.
pub(super) struct Shelf {
    pub name: &'static str,
    pub below: &'static [Shelf],
    pub lines: &'static [Line],
}

/// Things of one kind.
pub(super) struct Line {
    pub motif: Motif,
    pub brands: &'static [&'static str],
    pub materials: &'static [&'static str],
    /// What may be said of any of them; one sentence is taken.
    pub says: &'static [&'static str],
    /// What a shopper chooses: a name, and the values between commas.
    pub options: &'static [(&'static str, &'static str)],
    /// Grams of the least and of the most.
    pub grams: (i32, i32),
    /// Height, width and depth in millimetres, about.
    pub size: (i32, i32, i32),
    /// Names and cents.
    pub items: &'static [(&'static str, i64)],
}

const fn shelf(name: &'static str, lines: &'static [Line]) -> Shelf {
    Shelf { name, below: &[], lines }
}

const fn department(name: &'static str, below: &'static [Shelf]) -> Shelf {
    Shelf { name, below, lines: &[] }
}

/// The departments, in the order in which they were opened.
pub(super) const DEPARTMENTS: &[Shelf] =
    &[kitchen::KITCHEN, pantry::PANTRY, home::HOME, home::BATH, garden::GARDEN, travel::TRAVEL, desk::DESK, play::PLAY];

const NONE: &[(&str, &str)] = &[];
const COLOURS: &[(&str, &str)] = &[("Colour", "Chalk, Rust, Moss, Night")];
const CLOTHES: &[(&str, &str)] = &[("Colour", "Night, Moss, Rust"), ("Size", "XS, S, M, L, XL")];
const SHOES: &[(&str, &str)] = &[("Size", "36, 37, 38, 39, 40, 41, 42, 43, 44, 45")];
