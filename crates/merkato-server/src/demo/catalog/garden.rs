//! The balcony and the garden.

use super::{COLOURS, Line, NONE, Shelf, department, shelf};
use crate::pictures::Motif;

pub(super) const GARDEN: Shelf = department(
    "Garden",
    &[
        shelf("Pots and planters", &[POTS]),
        department("Garden tools", &[shelf("Spades and trowels", &[SPADES]), shelf("Shears", &[SHEARS])]),
        shelf("Watering", &[CANS]),
        shelf("Seeds", &[SEEDS]),
        shelf("Bird houses", &[BIRDS]),
    ],
);

const POTS: Line = Line {
    motif: Motif::PlantPot,
    brands: &["Kaolin", "Grünspan"],
    materials: &["Terracotta", "Stoneware", "Galvanised steel"],
    says: &[
        "With a hole, and with a saucer for what comes through it.",
        "It stands on the sill without looking for attention, and gets some.",
    ],
    options: &[("Size", "12 cm, 18 cm, 24 cm")],
    grams: (500, 3_400),
    size: (180, 190, 190),
    items: &[
        ("Plant pot Terra", 19_90),
        ("Glazed planter", 29_90),
        ("Herb pots, set of three", 34_00),
        ("Balcony planter, 60 cm", 39_00),
        ("Plant pot with feet", 27_50),
        ("Hanging planter", 24_90),
        ("Cactus pot", 14_90),
    ],
};

const SPADES: Line = Line {
    motif: Motif::Spade,
    brands: &["Grünspan"],
    materials: &["Carbon steel", "Stainless steel"],
    says: &["Forged in one piece, with an ash handle.", "It goes into clay as if it were cake."],
    options: NONE,
    grams: (180, 1_900),
    size: (320, 80, 50),
    items: &[
        ("Hand trowel", 16_90),
        ("Hand fork", 16_90),
        ("Planting trowel, narrow", 18_50),
        ("Garden spade", 54_00),
        ("Weeder", 14_90),
        ("Soil scoop", 15_90),
    ],
};

const SHEARS: Line = Line {
    motif: Motif::Shears,
    brands: &["Grünspan", "Solinger & Sohn"],
    materials: &["Carbon steel"],
    says: &[
        "Blades that can be replaced, and a spring that does not fall out.",
        "A clean cut heals; this one makes no other.",
    ],
    options: &[("Hand", "Right, Left")],
    grams: (190, 900),
    size: (210, 60, 20),
    items: &[("Secateurs", 37_90), ("Flower shears", 24_90), ("Hedge shears", 59_00), ("Pruning shears, small", 29_90)],
};

const CANS: Line = Line {
    motif: Motif::WateringCan,
    brands: &["Grünspan", "Emsland"],
    materials: &["Galvanised steel", "Enamelled steel"],
    says: &["A brass rose for rain, and without it a stream.", "Balanced full and empty."],
    options: COLOURS,
    grams: (500, 1_700),
    size: (330, 420, 180),
    items: &[
        ("Watering can, 5 l", 31_00),
        ("Watering can, 10 l", 39_00),
        ("Indoor watering can, 1 l", 24_50),
        ("Watering can, long spout", 34_00),
        ("Children's watering can", 17_90),
    ],
};

const SEEDS: Line = Line {
    motif: Motif::Seeds,
    brands: &["Saatgut Linde"],
    materials: &["Seed"],
    says: &[
        "Enough for four metres, with some left for a neighbour.",
        "When to sow, how deep, and what not to plant beside it: all on the back.",
    ],
    options: NONE,
    grams: (8, 60),
    size: (150, 100, 5),
    items: &[
        ("Carrot seeds", 3_50),
        ("Tomato seeds", 3_90),
        ("Sunflower seeds", 2_90),
        ("Radish seeds", 2_90),
        ("Wildflower seed mix", 6_90),
        ("Kitchen herb seeds", 4_90),
        ("Pumpkin seeds", 3_50),
        ("Seed box, twelve kinds", 24_50),
    ],
};

const BIRDS: Line = Line {
    motif: Motif::BirdHouse,
    brands: &["Holzwerk Ahorn", "Grünspan"],
    materials: &["Oak", "Ash"],
    says: &["The hole is the right size, and the roof opens for cleaning.", "Hung in autumn, it is known by spring."],
    options: NONE,
    grams: (900, 2_600),
    size: (280, 200, 200),
    items: &[
        ("Bird house for tits", 32_00),
        ("Bird house for sparrows, three doors", 49_00),
        ("Bird feeder", 27_90),
        ("Nesting box for robins", 29_90),
        ("Insect hotel", 39_00),
    ],
};
