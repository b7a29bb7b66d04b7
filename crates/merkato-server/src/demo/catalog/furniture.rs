//! What stands in rooms.

use super::{COLOURS, Line, NONE};
use crate::pictures::Motif;

pub(super) const CHAIRS: Line = Line {
    motif: Motif::Chair,
    brands: &["Holzwerk Ahorn"],
    materials: &["Oak", "Beech", "Ash"],
    says: &[
        "One can sit on it through the cheese, and through the conversation after it.",
        "Pegged and glued, without a screw in sight.",
        "Light enough to be carried with one hand to where the guests are.",
    ],
    options: COLOURS,
    grams: (4_200, 7_800),
    size: (820, 450, 500),
    items: &[
        ("Dining chair Alder", 149_00),
        ("Spindle chair", 169_00),
        ("Ladder-back chair", 139_00),
        ("Upholstered chair Finch", 189_00),
        ("Café chair", 119_00),
        ("Folding chair", 79_00),
    ],
};

pub(super) const STOOLS: Line = Line {
    motif: Motif::Stool,
    brands: &["Holzwerk Ahorn"],
    materials: &["Oak", "Beech"],
    says: &["Seat, step, bedside table: it does what is asked of it.", "Three legs never wobble."],
    options: NONE,
    grams: (2_400, 4_900),
    size: (450, 360, 360),
    items: &[
        ("Stool, round, 45 cm", 89_00),
        ("Bar stool, 65 cm", 129_00),
        ("Milking stool", 64_00),
        ("Piano stool", 149_00),
    ],
};

pub(super) const SOFAS: Line = Line {
    motif: Motif::Sofa,
    brands: &["Wanderer", "Leinweber"],
    materials: &["Linen", "New wool"],
    says: &[
        "Deep enough for two and a dog, and for the three of them to fall asleep.",
        "The covers come off with a zip and go into the machine.",
    ],
    options: &[("Colour", "Chalk, Rust, Moss, Night, Ochre")],
    grams: (42_000, 71_000),
    size: (820, 2_050, 920),
    items: &[
        ("Sofa Nook, two seats", 899_00),
        ("Sofa Nook, three seats", 1_149_00),
        ("Sofa Sunday", 1_290_00),
        ("Sofa bed Visitor", 1_090_00),
    ],
};

pub(super) const ARMCHAIRS: Line = Line {
    motif: Motif::Armchair,
    brands: &["Wanderer", "Leinweber"],
    materials: &["New wool", "Linen"],
    says: &["The chair that the cat will claim.", "Arms at the height of a book, and a back for the head."],
    options: COLOURS,
    grams: (16_000, 27_000),
    size: (860, 780, 820),
    items: &[("Armchair Nook", 489_00), ("Armchair Winter", 549_00), ("Reading armchair", 620_00)],
};

pub(super) const TABLES: Line = Line {
    motif: Motif::Table,
    brands: &["Holzwerk Ahorn"],
    materials: &["Oak", "Walnut", "Ash"],
    says: &[
        "A top from one tree, and edges that are broken by hand.",
        "It has room for breakfast, homework and a puzzle of a thousand pieces.",
    ],
    options: NONE,
    grams: (9_000, 46_000),
    size: (740, 1_600, 850),
    items: &[
        ("Dining table, 160 cm", 749_00),
        ("Trestle table, 200 cm", 690_00),
        ("Round table, 110 cm", 620_00),
        ("Coffee table", 289_00),
        ("Side table with drawer", 219_00),
        ("Writing desk", 459_00),
    ],
};

pub(super) const SHELVES: Line = Line {
    motif: Motif::Shelf,
    brands: &["Holzwerk Ahorn"],
    materials: &["Oak", "Ash", "Walnut"],
    says: &["Hidden brackets, and it holds twenty kilograms.", "For books, for plants, for what is found on walks."],
    options: &[("Width", "60 cm, 80 cm, 120 cm")],
    grams: (1_900, 9_000),
    size: (220, 800, 200),
    items: &[
        ("Oak wall shelf", 79_00),
        ("Double wall shelf", 139_00),
        ("Coat rack with five hooks", 58_00),
        ("Ladder shelf", 198_00),
        ("Magazine rack", 49_00),
    ],
};

pub(super) const BASKETS: Line = Line {
    motif: Motif::Basket,
    brands: &["Korbmacherei Ried"],
    materials: &["Willow"],
    says: &["It takes a week of washing, or a winter of wool.", "The handles are woven in, not nailed on."],
    options: &[("Size", "Small, Medium, Large")],
    grams: (500, 2_100),
    size: (320, 420, 420),
    items: &[
        ("Woven basket", 44_90),
        ("Laundry basket", 69_00),
        ("Bread basket", 22_90),
        ("Bicycle basket", 54_00),
        ("Picnic basket", 89_00),
        ("Log basket", 74_00),
    ],
};
