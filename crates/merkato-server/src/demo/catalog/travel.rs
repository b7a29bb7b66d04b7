//! For the way: bags, nights outside, the bicycle, and what is worn.

use super::{CLOTHES, COLOURS, Line, NONE, SHOES, Shelf, department, shelf};
use crate::pictures::Motif;

pub(super) const TRAVEL: Shelf = department(
    "Travel",
    &[
        department(
            "Bags",
            &[shelf("Backpacks", &[BACKPACKS]), shelf("Suitcases", &[SUITCASES]), shelf("Tote bags", &[TOTES])],
        ),
        department("Camping", &[shelf("Tents", &[TENTS]), shelf("Bottles", &[BOTTLES]), shelf("Torches", &[TORCHES])]),
        shelf("Cycling", &[BELLS]),
        department(
            "Clothing",
            &[
                shelf("Jackets", &[JACKETS]),
                shelf("Hats and scarves", &[HATS, SCARVES]),
                shelf("Socks", &[SOCKS]),
                shelf("Shoes", &[SHOES_LINE]),
            ],
        ),
        shelf("Umbrellas", &[UMBRELLAS]),
    ],
);

const BACKPACKS: Line = Line {
    motif: Motif::Backpack,
    brands: &["Gratwerk", "Wanderer", "Radhaus"],
    materials: &["Waxed canvas", "Ripstop nylon"],
    says: &[
        "A back of mesh, and a cover for the rain in its own pocket.",
        "A place for the laptop, a place for the sandwich, and a wall in between.",
        "The straps have been worn for a thousand kilometres before they were chosen.",
    ],
    options: COLOURS,
    grams: (600, 1_700),
    size: (480, 300, 180),
    items: &[
        ("Daypack, 22 l", 94_00),
        ("Trekking backpack, 45 l", 169_00),
        ("City backpack, 16 l", 89_00),
        ("Roll-top backpack", 109_00),
        ("Children's backpack, 8 l", 49_00),
        ("Pannier backpack, 20 l", 119_00),
    ],
};

const SUITCASES: Line = Line {
    motif: Motif::Suitcase,
    brands: &["Wanderer"],
    materials: &["Aluminium", "Leather", "Waxed canvas"],
    says: &["Four wheels that turn, and a fifth in the box.", "It holds a week, if one is honest about shoes."],
    options: COLOURS,
    grams: (2_400, 4_900),
    size: (550, 380, 220),
    items: &[
        ("Cabin suitcase, 38 l", 189_00),
        ("Suitcase, 65 l", 249_00),
        ("Weekend suitcase", 159_00),
        ("Leather travel case", 289_00),
    ],
};

const TOTES: Line = Line {
    motif: Motif::Tote,
    brands: &["Wanderer", "Leinweber"],
    materials: &["Cotton", "Linen", "Waxed canvas"],
    says: &["It carries ten kilograms and folds into a pocket.", "For the market on Saturday and the lake on Sunday."],
    options: NONE,
    grams: (120, 700),
    size: (380, 420, 120),
    items: &[
        ("Market tote", 24_90),
        ("Canvas tote, zipped", 49_00),
        ("Striped tote", 29_90),
        ("Wash bag", 27_00),
        ("Laptop tote", 79_00),
    ],
};

const TENTS: Line = Line {
    motif: Motif::Tent,
    brands: &["Gratwerk"],
    materials: &["Ripstop nylon"],
    says: &[
        "It stands in four minutes, also for one person in the wind.",
        "Two doors, so that nobody climbs over anybody.",
    ],
    options: &[("Colour", "Moss, Rust, Night")],
    grams: (1_700, 5_200),
    size: (1_100, 2_200, 1_500),
    items: &[
        ("Dome tent, two persons", 289_00),
        ("Ridge tent, three persons", 349_00),
        ("Light tent, one person", 259_00),
        ("Children's play tent", 79_00),
    ],
};

const BOTTLES: Line = Line {
    motif: Motif::Bottle,
    brands: &["Gratwerk", "Emsland"],
    materials: &["Stainless steel"],
    says: &["Hot for twelve hours, cold for twenty-four.", "It does not leak: it was carried upside down to find out."],
    options: COLOURS,
    grams: (160, 480),
    size: (260, 75, 75),
    items: &[
        ("Steel bottle, 0.75 l", 27_50),
        ("Insulated bottle, 0.5 l", 34_00),
        ("Insulated bottle, 1 l", 42_00),
        ("Travel mug, 0.35 l", 29_00),
        ("Children's bottle, 0.35 l", 19_90),
        ("Sports bottle", 16_90),
    ],
};

const TORCHES: Line = Line {
    motif: Motif::Torch,
    brands: &["Lysverk", "Gratwerk"],
    materials: &["Aluminium"],
    says: &[
        "Charges over USB, with a red light for the hut.",
        "Four hundred lumens, and a mode that lasts for a week.",
    ],
    options: NONE,
    grams: (60, 240),
    size: (60, 150, 45),
    items: &[
        ("Headlamp, 400 lm", 44_00),
        ("Pocket torch", 26_00),
        ("Head torch, light", 34_00),
        ("Bicycle light set", 59_00),
    ],
};

const BELLS: Line = Line {
    motif: Motif::Bell,
    brands: &["Radhaus"],
    materials: &["Brass", "Aluminium"],
    says: &["Heard by pedestrians, and not by the next village.", "It fits bars from 22 to 32 millimetres."],
    options: COLOURS,
    grams: (60, 180),
    size: (60, 60, 60),
    items: &[
        ("Brass bell", 14_90),
        ("Bicycle bell, painted", 17_90),
        ("Two-tone bicycle bell", 19_90),
        ("Small bell for racing bikes", 22_00),
    ],
};

const JACKETS: Line = Line {
    motif: Motif::Jacket,
    brands: &["Gratwerk", "Schafberg"],
    materials: &["Waxed canvas", "New wool", "Cotton"],
    says: &[
        "Two pockets for hands, and one inside for the ticket.",
        "It keeps out wind and most rain, and lets you breathe.",
        "Cut so that a jumper fits beneath it.",
    ],
    options: CLOTHES,
    grams: (420, 1_600),
    size: (40, 400, 320),
    items: &[
        ("Rain jacket", 149_00),
        ("Field jacket, waxed", 219_00),
        ("Wool cardigan", 129_00),
        ("Work overshirt", 98_00),
        ("Parka with hood", 259_00),
        ("Fleece jacket", 89_00),
    ],
};

const HATS: Line = Line {
    motif: Motif::Hat,
    brands: &["Schafberg", "Wanderer"],
    materials: &["Merino wool", "Cotton"],
    says: &["Warm ears, and hair that survives.", "It can be rolled up, and forgets that it was."],
    options: COLOURS,
    grams: (60, 180),
    size: (240, 260, 60),
    items: &[
        ("Bobble hat", 29_90),
        ("Beanie, ribbed", 26_00),
        ("Felt hat with a band", 79_00),
        ("Sun hat", 34_00),
        ("Patterned wool hat", 36_00),
    ],
};

const SCARVES: Line = Line {
    motif: Motif::Scarf,
    brands: &["Schafberg"],
    materials: &["Merino wool", "New wool"],
    says: &["Long enough to be wound twice.", "Soft where it meets the chin."],
    options: COLOURS,
    grams: (120, 340),
    size: (20, 300, 220),
    items: &[
        ("Merino scarf", 49_00),
        ("Fringed scarf, wide", 59_00),
        ("Striped scarf", 44_00),
        ("Children's scarf", 29_00),
    ],
};

const SOCKS: Line = Line {
    motif: Motif::Socks,
    brands: &["Schafberg"],
    materials: &["Merino wool", "Cotton"],
    says: &["Padded where the boot presses.", "Heels that hold, and toes without a seam."],
    options: &[("Size", "36-38, 39-41, 42-44, 45-47")],
    grams: (50, 160),
    size: (20, 240, 110),
    items: &[
        ("Wool socks, two pairs", 26_90),
        ("Hiking socks", 19_90),
        ("House socks, thick", 24_00),
        ("Cotton socks, three pairs", 22_50),
        ("Patterned socks", 12_90),
    ],
};

const SHOES_LINE: Line = Line {
    motif: Motif::Shoe,
    brands: &["Wanderer", "Gratwerk"],
    materials: &["Leather", "Cotton", "New wool"],
    says: &["The sole is sewn, so that it can be replaced.", "They need no breaking in; one walk is enough."],
    options: SHOES,
    grams: (520, 1_500),
    size: (130, 310, 210),
    items: &[
        ("Canvas shoes", 79_00),
        ("Hiking boots", 189_00),
        ("Leather sneakers", 139_00),
        ("Ankle boots", 169_00),
        ("Felt slippers", 54_00),
    ],
};

const UMBRELLAS: Line = Line {
    motif: Motif::Umbrella,
    brands: &["Wanderer"],
    materials: &["Ripstop nylon"],
    says: &["Eight ribs of fibreglass that bend and come back.", "It opens with a thud and closes with one hand."],
    options: COLOURS,
    grams: (280, 720),
    size: (900, 110, 60),
    items: &[
        ("Stick umbrella", 49_00),
        ("Pocket umbrella", 34_00),
        ("Dotted umbrella", 39_00),
        ("Children's umbrella", 22_00),
    ],
};
