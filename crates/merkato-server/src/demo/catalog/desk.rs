//! The desk: paper, pens, and what makes sound or takes pictures.

use super::{COLOURS, Line, NONE, Shelf, department, shelf};
use crate::pictures::Motif;

pub(super) const DESK: Shelf = department(
    "Desk",
    &[
        department(
            "Paper",
            &[shelf("Notebooks", &[NOTEBOOKS]), shelf("Letters and cards", &[LETTERS]), shelf("Books", &[BOOKS])],
        ),
        shelf("Writing", &[PENS, PENCILS]),
        shelf("Scissors", &[SCISSORS]),
        department("Sound", &[shelf("Headphones", &[HEADPHONES]), shelf("Speakers", &[SPEAKERS])]),
        department(
            "Devices",
            &[shelf("Keyboards", &[KEYBOARDS]), shelf("Cameras", &[CAMERAS]), shelf("Phone cases", &[CASES])],
        ),
    ],
);

const NOTEBOOKS: Line = Line {
    motif: Motif::Notebook,
    brands: &["Pappwerk"],
    materials: &["Recycled paper"],
    says: &[
        "A hundred and sixty pages that lie flat.",
        "Thread-sewn, with an index at the front and a pocket at the back.",
    ],
    options: &[("Ruling", "Dotted, Lined, Plain"), ("Colour", "Rust, Moss, Night")],
    grams: (120, 520),
    size: (210, 148, 16),
    items: &[
        ("Notebook A5", 14_50),
        ("Notebook A6, pocket", 9_90),
        ("Spiral notebook A4", 16_90),
        ("Sketchbook A4", 17_90),
        ("Garden diary", 19_90),
        ("Recipe notebook", 21_00),
        ("Week planner", 24_00),
    ],
};

const LETTERS: Line = Line {
    motif: Motif::Envelope,
    brands: &["Pappwerk"],
    materials: &["Recycled paper"],
    says: &["Heavy enough to be kept.", "Printed by hand on a press from 1954."],
    options: NONE,
    grams: (40, 400),
    size: (114, 162, 20),
    items: &[
        ("Envelopes C6, fifty", 9_90),
        ("Writing paper set", 18_50),
        ("Birthday card", 3_90),
        ("Postcards, set of ten", 12_00),
        ("Thank-you cards, set of six", 11_50),
        ("Index cards, three hundred", 8_50),
    ],
};

const BOOKS: Line = Line {
    motif: Motif::Book,
    brands: &["Pappwerk"],
    materials: &["Recycled paper"],
    says: &[
        "Clothbound, with a ribbon and good margins.",
        "To be read from the front, or from wherever it falls open.",
    ],
    options: NONE,
    grams: (300, 1_100),
    size: (240, 170, 25),
    items: &[
        ("Book: Bread, slowly", 28_00),
        ("Book: The small garden", 26_00),
        ("Book: One pot, four guests", 24_00),
        ("Book: Birds at the window", 22_00),
        ("Book: Mend it", 19_90),
        ("Picture book: The bear who stayed", 16_00),
        ("Book: Walks without a map", 21_00),
    ],
};

const PENS: Line = Line {
    motif: Motif::Pen,
    brands: &["Federkiel"],
    materials: &["Brass", "Resin"],
    says: &[
        "It writes at the first touch, also after a month in the drawer.",
        "The weight lies where the fingers are.",
    ],
    options: &[("Nib", "Fine, Medium, Broad")],
    grams: (14, 48),
    size: (140, 14, 14),
    items: &[
        ("Fountain pen Reed", 39_00),
        ("Fountain pen Ledger", 89_00),
        ("Ballpoint pen, brass", 29_00),
        ("Rollerball pen", 34_00),
        ("Mechanical pencil 0.7", 22_00),
        ("Gel pens, set of six", 13_50),
    ],
};

const PENCILS: Line = Line {
    motif: Motif::Pencils,
    brands: &["Federkiel", "Kinderstube"],
    materials: &["Lime wood"],
    says: &[
        "They can be sharpened to the last centimetre.",
        "Soft enough for shading, hard enough for a shopping list.",
    ],
    options: NONE,
    grams: (60, 520),
    size: (180, 90, 90),
    items: &[
        ("Pencils, dozen", 11_90),
        ("Coloured pencils, twenty-four", 24_90),
        ("Pen pot with pencils", 29_00),
        ("Wax crayons, twelve", 9_90),
        ("Watercolour box", 32_00),
    ],
};

const SCISSORS: Line = Line {
    motif: Motif::Scissors,
    brands: &["Solinger & Sohn"],
    materials: &["Stainless steel"],
    says: &["For paper and cloth, and to be sharpened.", "They close with the sound that scissors should have."],
    options: &[("Hand", "Right, Left")],
    grams: (60, 190),
    size: (210, 80, 12),
    items: &[
        ("Scissors, 21 cm", 24_90),
        ("Paper scissors", 18_90),
        ("Fabric shears, 24 cm", 39_00),
        ("Children's scissors", 9_90),
    ],
};

const HEADPHONES: Line = Line {
    motif: Motif::Headphones,
    brands: &["Klangraum"],
    materials: &["Aluminium", "Leather"],
    says: &[
        "Thirty hours, and a battery that you can change yourself.",
        "They fold flat, and forget nothing of the bass.",
    ],
    options: COLOURS,
    grams: (180, 320),
    size: (190, 170, 80),
    items: &[
        ("Headphones Studio", 179_00),
        ("Headphones, wireless", 149_00),
        ("Children's headphones", 39_00),
        ("Headphones, open", 229_00),
    ],
};

const SPEAKERS: Line = Line {
    motif: Motif::Speaker,
    brands: &["Klangraum"],
    materials: &["Walnut", "Powder-coated steel"],
    says: &["Small in the room, large in the ear.", "One knob, which does what it should."],
    options: COLOURS,
    grams: (400, 3_600),
    size: (240, 160, 150),
    items: &[
        ("Kitchen radio", 129_00),
        ("Speaker, portable", 99_00),
        ("Bookshelf speaker", 189_00),
        ("Bathroom radio", 79_00),
        ("Speaker Pebble", 69_00),
    ],
};

const KEYBOARDS: Line = Line {
    motif: Motif::Keyboard,
    brands: &["Klangraum"],
    materials: &["Aluminium"],
    says: &["Keys with a short way and a clear end.", "With a cable that comes off, or without any."],
    options: &[("Layout", "ISO German, ISO English, ANSI")],
    grams: (400, 980),
    size: (35, 320, 130),
    items: &[("Keyboard Compact", 119_00), ("Keyboard, full size", 139_00), ("Keyboard, wireless", 129_00)],
};

const CAMERAS: Line = Line {
    motif: Motif::Camera,
    brands: &["Klangraum"],
    materials: &["Aluminium", "Leather"],
    says: &["It does one thing, and takes its time with it.", "Thirty-six pictures make one look twice."],
    options: NONE,
    grams: (280, 720),
    size: (90, 140, 70),
    items: &[("Film camera, 35 mm", 249_00), ("Instant camera", 119_00), ("Pocket camera", 159_00)],
};

const CASES: Line = Line {
    motif: Motif::PhoneCase,
    brands: &["Klangraum", "Wanderer"],
    materials: &["Leather", "Resin"],
    says: &[
        "It has been dropped eleven times so that you need not.",
        "A raised edge for the glass, and a grip for the thumb.",
    ],
    options: &[("Model", "Small, Regular, Large")],
    grams: (24, 90),
    size: (150, 75, 12),
    items: &[
        ("Phone case Leaf", 24_90),
        ("Phone case, leather", 39_00),
        ("Phone case Ripple", 24_90),
        ("Phone case, dotted", 22_00),
    ],
};
