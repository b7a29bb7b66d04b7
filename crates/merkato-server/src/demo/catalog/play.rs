//! Toys.

use super::{Line, NONE, Shelf, department, shelf};
use crate::pictures::Motif;

pub(super) const PLAY: Shelf = department(
    "Play",
    &[
        department("Wooden toys", &[shelf("Toy cars", &[CARS]), shelf("Building blocks", &[BLOCKS])]),
        shelf("Soft toys", &[BEARS]),
        department("Outdoor toys", &[shelf("Balls", &[BALLS]), shelf("Kites", &[KITES])]),
        shelf("Games and puzzles", &[PUZZLES]),
        shelf("Gifts", &[GIFTS]),
    ],
);

const CARS: Line = Line {
    motif: Motif::ToyCar,
    brands: &["Kinderstube"],
    materials: &["Lime wood", "Beech"],
    says: &["The wheels are pegged, not glued, and turn for years.", "It fits a small hand, and under most sofas."],
    options: &[("Colour", "Red, Blue, Green")],
    grams: (140, 620),
    size: (90, 180, 80),
    items: &[
        ("Toy car, saloon", 16_90),
        ("Toy car, delivery van", 19_90),
        ("Toy lorry", 24_90),
        ("Racing car, wooden", 14_90),
        ("Toy fire engine", 29_90),
    ],
};

const BLOCKS: Line = Line {
    motif: Motif::Blocks,
    brands: &["Kinderstube", "Holzwerk Ahorn"],
    materials: &["Lime wood", "Beech"],
    says: &[
        "Towers, bridges, a stable, a rocket: and a bag to put them away.",
        "Edges sanded three times, colours that stay.",
    ],
    options: NONE,
    grams: (600, 2_400),
    size: (120, 260, 200),
    items: &[
        ("Building blocks, fifty", 39_00),
        ("Building blocks, coloured", 44_00),
        ("Stacking arches", 34_90),
        ("Alphabet blocks", 36_00),
        ("First blocks, twelve", 19_90),
    ],
};

const BEARS: Line = Line {
    motif: Motif::Bear,
    brands: &["Kinderstube", "Schafberg"],
    materials: &["New wool", "Cotton"],
    says: &["Stuffed with wool, and ready to hear secrets.", "The eyes are sewn, not glued, and see everything."],
    options: NONE,
    grams: (140, 480),
    size: (320, 220, 160),
    items: &[
        ("Teddy bear Bruno", 34_90),
        ("Teddy bear Mathilde", 34_90),
        ("Small bear with a scarf", 22_00),
        ("Large teddy bear", 59_00),
        ("Comforter bear", 19_90),
    ],
};

const BALLS: Line = Line {
    motif: Motif::Ball,
    brands: &["Kinderstube", "Radhaus"],
    materials: &["Leather", "Cotton"],
    says: &["It flies straight and comes back warm.", "Sewn by hand, and pumped with any bicycle pump."],
    options: NONE,
    grams: (80, 440),
    size: (220, 220, 220),
    items: &[
        ("Football, size 5", 34_00),
        ("Play ball, striped", 14_90),
        ("Beach ball", 9_90),
        ("Soft ball for indoors", 12_50),
        ("Football, size 3", 26_00),
    ],
};

const KITES: Line = Line {
    motif: Motif::Kite,
    brands: &["Kinderstube"],
    materials: &["Ripstop nylon"],
    says: &[
        "It rises in a light wind, and a child can hold it in a strong one.",
        "With forty metres of line, and a tail that is half the fun.",
    ],
    options: NONE,
    grams: (90, 260),
    size: (800, 700, 10),
    items: &[("Kite Swallow", 24_90), ("Kite, two-tone", 19_90), ("Large kite", 39_00)],
};

const PUZZLES: Line = Line {
    motif: Motif::Puzzle,
    brands: &["Kinderstube", "Pappwerk"],
    materials: &["Recycled paper", "Lime wood"],
    says: &["For a rainy Sunday, or for several.", "The last piece is in the box; we have counted."],
    options: NONE,
    grams: (240, 1_100),
    size: (60, 280, 200),
    items: &[
        ("Puzzle, 1000 pieces", 19_90),
        ("Puzzle, 500 pieces", 16_90),
        ("Wooden puzzle, farm", 14_90),
        ("Memory game, woodland", 17_90),
        ("Dominoes", 22_00),
        ("Chess set", 64_00),
    ],
};

const GIFTS: Line = Line {
    motif: Motif::Parcel,
    brands: &["Pappwerk", "Vorrat & Co"],
    materials: &["Recycled paper"],
    says: &["Wrapped, tied, and with a card that you dictate.", "For somebody who has everything but this."],
    options: NONE,
    grams: (300, 2_400),
    size: (140, 240, 180),
    items: &[
        ("Gift box, breakfast", 39_00),
        ("Gift box, new home", 59_00),
        ("Gift box, gardener", 49_00),
        ("Gift wrap set", 12_90),
    ],
};
