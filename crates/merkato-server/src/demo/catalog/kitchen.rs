//! Everything that is cooked with and eaten from.

use super::{COLOURS, Line, NONE, Shelf, department, shelf};
use crate::pictures::Motif;

pub(super) const KITCHEN: Shelf = department(
    "Kitchen",
    &[
        department(
            "Coffee and tea",
            &[
                shelf("Kettles and teapots", &[KETTLES, TEAPOTS]),
                shelf("Cups and mugs", &[MUGS]),
                shelf("Grinders and mills", &[GRINDERS]),
            ],
        ),
        department("Cookware", &[shelf("Pans", &[PANS]), shelf("Pots", &[POTS])]),
        shelf("Knives and boards", &[KNIVES, BOARDS]),
        department(
            "Tableware",
            &[shelf("Plates and bowls", &[PLATES, BOWLS]), shelf("Glasses and carafes", &[CARAFES])],
        ),
        shelf("Kitchen tools", &[UTENSILS]),
    ],
);

const KETTLES: Line = Line {
    motif: Motif::Kettle,
    brands: &["Emsland", "Nordtopf"],
    materials: &["Enamelled steel", "Stainless steel"],
    says: &[
        "Boils on every stove, also on induction.",
        "A spout that pours where it is pointed, and a handle that stays cool.",
    ],
    options: COLOURS,
    grams: (900, 1_500),
    size: (230, 240, 190),
    items: &[
        ("Enamel kettle, 1.5 l", 42_00),
        ("Whistling kettle, 2 l", 49_90),
        ("Gooseneck kettle, 0.9 l", 64_00),
        ("Camp kettle, 1 l", 36_50),
        ("Farmhouse kettle, 2.5 l", 58_00),
        ("Stovetop kettle, 1.2 l", 79_00),
    ],
};

const TEAPOTS: Line = Line {
    motif: Motif::Teapot,
    brands: &["Kaolin", "Emsland"],
    materials: &["Stoneware", "Porcelain", "Cast iron"],
    says: &["Keeps warm for an hour, and pours to the last drop.", "The strainer is wide enough for leaves to open."],
    options: NONE,
    grams: (600, 1_400),
    size: (160, 230, 150),
    items: &[
        ("Teapot with strainer", 38_00),
        ("Round teapot, 1.2 l", 45_00),
        ("Small teapot for one", 29_90),
        ("Iron teapot, 0.8 l", 69_00),
        ("Tall coffee pot", 52_00),
        ("Family teapot, 1.8 l", 59_00),
    ],
};

const MUGS: Line = Line {
    motif: Motif::Mug,
    brands: &["Kaolin", "Emsland", "Brunnhof"],
    materials: &["Stoneware", "Porcelain", "Enamelled steel"],
    says: &[
        "A handle for three fingers, and a foot that does not scratch the table.",
        "Holds what a morning needs, and fits under most machines.",
        "Thick walls: the last sip is still warm.",
    ],
    options: COLOURS,
    grams: (180, 420),
    size: (95, 120, 85),
    items: &[
        ("Speckled mug, 300 ml", 16_90),
        ("Tall mug, 400 ml", 18_90),
        ("Enamel camping mug", 12_50),
        ("Espresso cups, set of four", 29_90),
        ("Breakfast mug, 450 ml", 19_90),
        ("Dipped mug, two-tone", 17_50),
        ("Hand-painted mug", 24_00),
        ("Latte cup, 350 ml", 15_90),
        ("Children's mug, 200 ml", 11_90),
        ("Stacking cups, set of two", 22_50),
    ],
};

const GRINDERS: Line = Line {
    motif: Motif::Grinder,
    brands: &["Brunnhof", "Holzwerk Ahorn"],
    materials: &["Beech", "Stainless steel"],
    says: &[
        "Forty steps, from espresso to French press.",
        "It takes a minute and wakes nobody but the one who turns it.",
    ],
    options: NONE,
    grams: (450, 900),
    size: (210, 170, 90),
    items: &[
        ("Hand coffee grinder", 59_50),
        ("Box coffee mill", 72_00),
        ("Pepper mill, 18 cm", 34_00),
        ("Salt mill, 18 cm", 34_00),
        ("Travel grinder", 49_00),
    ],
};

const PANS: Line = Line {
    motif: Motif::Pan,
    brands: &["Emsland", "Nordtopf"],
    materials: &["Cast iron", "Carbon steel", "Stainless steel"],
    says: &[
        "Seasoned at the works; lasts longer than its owner.",
        "A flat base that stays flat, and a rim that pours.",
        "From the stove into the oven without a second thought.",
    ],
    options: NONE,
    grams: (1_100, 2_900),
    size: (60, 440, 270),
    items: &[
        ("Cast iron pan, 26 cm", 54_90),
        ("Cast iron pan, 20 cm", 39_90),
        ("Frying pan, 28 cm", 62_00),
        ("Wok with wooden handle", 47_50),
        ("Crêpe pan, 24 cm", 36_00),
        ("Grill pan, square", 58_00),
        ("Sauté pan with lid", 84_00),
    ],
};

const POTS: Line = Line {
    motif: Motif::Pot,
    brands: &["Emsland", "Nordtopf"],
    materials: &["Enamelled steel", "Cast iron", "Stainless steel"],
    says: &[
        "Three layers, and a lid that closes with a small sigh.",
        "Big enough for friends who stay, small enough for the shelf.",
    ],
    options: COLOURS,
    grams: (1_200, 4_800),
    size: (190, 330, 250),
    items: &[
        ("Casserole with lid, 4 l", 129_00),
        ("Casserole with lid, 6 l", 159_00),
        ("Steel saucepan, 1.2 l", 39_90),
        ("Stockpot, 8 l", 89_00),
        ("Steamer pot, two tiers", 76_00),
        ("Milk pot, 1 l", 32_00),
        ("Enamel pot, 3 l", 54_00),
    ],
};

const KNIVES: Line = Line {
    motif: Motif::Knife,
    brands: &["Solinger & Sohn"],
    materials: &["Carbon steel", "Stainless steel"],
    says: &[
        "Forged from one piece, with a balance that is felt before it is understood.",
        "Thin behind the edge, so that an onion does not notice.",
        "The bolster is rounded where the finger lies.",
    ],
    options: &[("Handle", "Oak, Walnut, Olive")],
    grams: (60, 260),
    size: (50, 340, 25),
    items: &[
        ("Chef's knife, 20 cm", 89_00),
        ("Bread knife, 23 cm", 64_00),
        ("Paring knife", 19_90),
        ("Vegetable knife, 16 cm", 58_00),
        ("Santoku knife, 18 cm", 94_00),
        ("Table knives, set of four", 74_00),
        ("Peeling knife, curved", 17_90),
    ],
};

const BOARDS: Line = Line {
    motif: Motif::Board,
    brands: &["Holzwerk Ahorn"],
    materials: &["Walnut", "Oak", "Beech"],
    says: &[
        "A groove for the juice, and feet that do not wander.",
        "Kind to the blade, and handsome enough for the table.",
    ],
    options: NONE,
    grams: (600, 2_600),
    size: (420, 280, 24),
    items: &[
        ("Walnut cutting board", 49_00),
        ("Bread board, round", 32_00),
        ("Serving board, long", 44_00),
        ("End grain chopping board", 96_00),
        ("Breakfast boards, set of two", 24_00),
    ],
};

const PLATES: Line = Line {
    motif: Motif::Plate,
    brands: &["Kaolin"],
    materials: &["Stoneware", "Porcelain"],
    says: &[
        "A rim that keeps the sauce, and a glaze that forgives a fork.",
        "They stack without a gap and leave the shelf without a sound.",
    ],
    options: COLOURS,
    grams: (400, 900),
    size: (25, 270, 270),
    items: &[
        ("Dinner plate, 27 cm", 21_90),
        ("Dessert plate, 20 cm", 15_90),
        ("Soup plate, 23 cm", 19_90),
        ("Serving platter, oval", 39_00),
        ("Plates, set of four", 79_00),
        ("Children's plate", 14_90),
    ],
};

const BOWLS: Line = Line {
    motif: Motif::Bowl,
    brands: &["Kaolin", "Holzwerk Ahorn"],
    materials: &["Stoneware", "Porcelain", "Walnut"],
    says: &["Deep enough for soup, wide enough for salad.", "It sits in two hands as if it had been asked to."],
    options: NONE,
    grams: (300, 1_300),
    size: (100, 220, 220),
    items: &[
        ("Cereal bowl, 15 cm", 16_50),
        ("Salad bowl, 28 cm", 46_00),
        ("Mixing bowl, 3 l", 34_00),
        ("Rice bowls, set of four", 42_00),
        ("Fruit bowl, footed", 52_00),
        ("Ramen bowl", 22_00),
    ],
};

const CARAFES: Line = Line {
    motif: Motif::Carafe,
    brands: &["Glashaus"],
    materials: &["Glass"],
    says: &[
        "Clear, light in the hand, and heavier at the bottom than at the top.",
        "It drips neither on the cloth nor on the guest.",
    ],
    options: NONE,
    grams: (200, 900),
    size: (260, 110, 110),
    items: &[
        ("Pour-over coffee carafe", 34_90),
        ("Water carafe, 1 l", 28_50),
        ("Tumblers, set of four", 26_00),
        ("Wine glasses, set of two", 38_00),
        ("Juice glasses, set of six", 32_00),
        ("Ribbed glass jug", 36_00),
    ],
};

const UTENSILS: Line = Line {
    motif: Motif::Utensils,
    brands: &["Holzwerk Ahorn", "Nordtopf"],
    materials: &["Beech", "Stainless steel"],
    says: &[
        "Small things that are in the hand every day should be good things.",
        "Made for hands that cook every day.",
    ],
    options: NONE,
    grams: (60, 700),
    size: (300, 70, 30),
    items: &[
        ("Wooden spoons, set of three", 18_90),
        ("Balloon whisk", 14_90),
        ("Spatula, slotted", 13_50),
        ("Ladle, 120 ml", 16_90),
        ("Kitchen tool set in a crock", 64_00),
        ("Rolling pin", 22_00),
        ("Steel colander", 34_50),
        ("Fine grater", 19_90),
    ],
};
