//! Rooms: light, cloth, what hangs on walls, and the bath.

use super::{COLOURS, Line, NONE, Shelf, department, furniture, shelf};
use crate::pictures::Motif;

pub(super) const HOME: Shelf = department(
    "Home",
    &[
        department(
            "Lighting",
            &[
                shelf("Table and desk lamps", &[TABLE_LAMPS, DESK_LAMPS]),
                shelf("Pendant lamps", &[PENDANTS]),
                shelf("Floor lamps", &[FLOOR_LAMPS]),
                shelf("Light bulbs", &[BULBS]),
            ],
        ),
        department(
            "Furniture",
            &[
                shelf("Chairs and stools", &[furniture::CHAIRS, furniture::STOOLS]),
                shelf("Sofas and armchairs", &[furniture::SOFAS, furniture::ARMCHAIRS]),
                shelf("Tables", &[furniture::TABLES]),
                shelf("Shelves and storage", &[furniture::SHELVES, furniture::BASKETS]),
            ],
        ),
        department(
            "Textiles",
            &[shelf("Cushions", &[CUSHIONS]), shelf("Blankets", &[BLANKETS]), shelf("Rugs", &[RUGS])],
        ),
        shelf("Clocks and mirrors", &[CLOCKS, MIRRORS]),
        shelf("Candles", &[CANDLES]),
        shelf("Vases", &[VASES]),
    ],
);

pub(super) const BATH: Shelf = department("Bath", &[shelf("Towels", &[TOWELS]), shelf("Soap", &[SOAP])]);

const TABLE_LAMPS: Line = Line {
    motif: Motif::TableLamp,
    brands: &["Lysverk", "Glashaus"],
    materials: &["Brass", "Stoneware", "Oak"],
    says: &[
        "Warm light at the height of the eyes, with a dimmer in the cord.",
        "The shade can be taken off, washed, and exchanged for another.",
    ],
    options: COLOURS,
    grams: (1_100, 2_600),
    size: (460, 280, 280),
    items: &[
        ("Table lamp Lantern", 84_50),
        ("Table lamp Hamlet", 69_00),
        ("Bedside lamp Moth", 54_00),
        ("Tripod table lamp", 92_00),
        ("Table lamp Pebble", 78_00),
        ("Small lamp for a shelf", 44_90),
    ],
};

const DESK_LAMPS: Line = Line {
    motif: Motif::DeskLamp,
    brands: &["Lysverk"],
    materials: &["Powder-coated steel", "Aluminium"],
    says: &["An arm that stays where it is put.", "It lights the page and leaves the screen alone."],
    options: COLOURS,
    grams: (900, 2_200),
    size: (480, 380, 180),
    items: &[
        ("Desk lamp Fjord", 119_00),
        ("Reading lamp with clamp", 69_00),
        ("Desk lamp Heron", 98_00),
        ("Workshop lamp, long arm", 139_00),
    ],
};

const PENDANTS: Line = Line {
    motif: Motif::Pendant,
    brands: &["Lysverk", "Glashaus"],
    materials: &["Powder-coated steel", "Glass", "Recycled paper"],
    says: &[
        "Hung low over a table, it draws everybody closer.",
        "Light downwards, a glow around, and no glare in between.",
    ],
    options: COLOURS,
    grams: (400, 2_400),
    size: (320, 420, 420),
    items: &[
        ("Paper pendant, 45 cm", 49_90),
        ("Dome pendant, 36 cm", 89_00),
        ("Bell pendant", 79_00),
        ("Smoked glass pendant", 112_00),
        ("Pendant Orchard", 96_00),
        ("Enamel barn pendant", 84_00),
    ],
};

const FLOOR_LAMPS: Line = Line {
    motif: Motif::FloorLamp,
    brands: &["Lysverk"],
    materials: &["Brass", "Powder-coated steel", "Ash"],
    says: &["For the corner that had no use until now.", "It stands beside the armchair and looks over your shoulder."],
    options: NONE,
    grams: (3_200, 8_500),
    size: (1_560, 460, 460),
    items: &[
        ("Floor lamp Heath", 179_00),
        ("Arc lamp Harbour", 249_00),
        ("Tripod floor lamp", 198_00),
        ("Reading floor lamp", 159_00),
    ],
};

const BULBS: Line = Line {
    motif: Motif::Bulb,
    brands: &["Glashaus"],
    materials: &["Glass"],
    says: &[
        "806 lumens, fifteen thousand hours, and the colour of late afternoon.",
        "Dimmable down to a glimmer, without a hum.",
    ],
    options: NONE,
    grams: (40, 120),
    size: (105, 60, 60),
    items: &[
        ("LED bulb E27, warm white", 7_90),
        ("LED bulb E14, candle", 6_90),
        ("Filament bulb, globe", 12_90),
        ("Bulbs, pack of four", 24_90),
    ],
};

const CUSHIONS: Line = Line {
    motif: Motif::Cushion,
    brands: &["Leinweber", "Schafberg"],
    materials: &["Linen", "Cotton", "New wool"],
    says: &[
        "A hidden zip, a heavy cloth, and a filling that comes back into shape.",
        "For the small of the back, or for the pillow fight.",
    ],
    options: &[("Colour", "Rust, Moss, Ochre, Night"), ("Size", "40 x 40 cm, 50 x 50 cm, 40 x 60 cm")],
    grams: (300, 900),
    size: (450, 450, 140),
    items: &[
        ("Cushion Ripple", 34_90),
        ("Cushion Field", 34_90),
        ("Cushion Sail, striped", 29_90),
        ("Cushion with tassels", 39_00),
        ("Wool cushion, felted", 49_00),
        ("Floor cushion", 64_00),
        ("Cushion cover, plain", 24_90),
    ],
};

const BLANKETS: Line = Line {
    motif: Motif::Blanket,
    brands: &["Schafberg", "Leinweber"],
    materials: &["Merino wool", "New wool", "Cotton", "Linen"],
    says: &[
        "140 by 200 cm: large enough for two, if they like each other.",
        "It is folded over the sofa by day and over the feet by night.",
    ],
    options: &[("Colour", "Grey, Rust, Moss, Ochre")],
    grams: (700, 1_900),
    size: (90, 400, 300),
    items: &[
        ("Wool blanket", 99_00),
        ("Merino throw, fringed", 119_00),
        ("Cotton bedspread", 89_00),
        ("Baby blanket", 49_00),
        ("Picnic blanket", 64_00),
        ("Linen bedding, 135 x 200", 149_00),
    ],
};

const RUGS: Line = Line {
    motif: Motif::Rug,
    brands: &["Schafberg", "Leinweber"],
    materials: &["New wool", "Cotton"],
    says: &["Flat-woven, so that both sides can be walked on.", "Warm in winter, and not dusty in summer."],
    options: &[("Size", "80 x 150 cm, 120 x 180 cm, 170 x 240 cm")],
    grams: (1_800, 8_500),
    size: (10, 1_800, 1_200),
    items: &[
        ("Kilim rug Diamond", 229_00),
        ("Round rug Target", 189_00),
        ("Striped cotton rug", 98_00),
        ("Wool rug Ridge", 279_00),
        ("Hall runner, striped", 69_00),
    ],
};

const CLOCKS: Line = Line {
    motif: Motif::Clock,
    brands: &["Lysverk", "Holzwerk Ahorn"],
    materials: &["Powder-coated steel", "Oak", "Brass"],
    says: &["It does not tick, and it is right.", "Readable from the bed and from the stove."],
    options: COLOURS,
    grams: (350, 1_400),
    size: (300, 300, 45),
    items: &[
        ("Wall clock, 30 cm", 59_00),
        ("Kitchen clock", 44_00),
        ("Alarm clock with two bells", 38_00),
        ("Station clock", 89_00),
        ("Square wall clock", 54_00),
    ],
};

const MIRRORS: Line = Line {
    motif: Motif::Mirror,
    brands: &["Glashaus"],
    materials: &["Brass", "Oak"],
    says: &["It makes a narrow hall twice as wide.", "Silvered, with a polished edge and a hook that holds."],
    options: NONE,
    grams: (2_200, 9_800),
    size: (600, 600, 25),
    items: &[
        ("Round mirror, 60 cm", 119_00),
        ("Oval mirror", 109_00),
        ("Arched mirror", 189_00),
        ("Hand mirror", 29_00),
    ],
};

const CANDLES: Line = Line {
    motif: Motif::Candle,
    brands: &["Seifert", "Glashaus"],
    materials: &["Beeswax"],
    says: &["It burns for forty hours, and evenly.", "For long evenings, and for power cuts."],
    options: &[("Scent", "None, Cedar, Fig, Lavender")],
    grams: (180, 620),
    size: (110, 80, 80),
    items: &[
        ("Scented candle in a glass", 24_00),
        ("Pillar candles, set of three", 19_90),
        ("Candle holder with handle", 26_00),
        ("Beeswax candle, tall", 12_90),
        ("Tealights, twenty", 9_90),
    ],
};

const VASES: Line = Line {
    motif: Motif::Vase,
    brands: &["Kaolin", "Glashaus"],
    materials: &["Stoneware", "Glass", "Porcelain"],
    says: &[
        "For a single branch, or for what the meadow has.",
        "Narrow at the neck, so that three stems stand as they should.",
    ],
    options: NONE,
    grams: (350, 1_600),
    size: (240, 130, 130),
    items: &[
        ("Bud vase", 18_90),
        ("Vase Amphora", 46_00),
        ("Striped vase", 39_00),
        ("Round vase, 18 cm", 42_00),
        ("Tall vase, 32 cm", 58_00),
        ("Bottle vase", 29_00),
    ],
};

const TOWELS: Line = Line {
    motif: Motif::Towel,
    brands: &["Leinweber"],
    materials: &["Cotton", "Linen"],
    says: &["Six hundred grams to the square metre, and dry by evening.", "A loop where a loop should be."],
    options: &[("Colour", "Chalk, Rust, Moss, Night"), ("Size", "30 x 50 cm, 50 x 100 cm, 70 x 140 cm")],
    grams: (120, 700),
    size: (20, 350, 250),
    items: &[
        ("Bath towel", 29_90),
        ("Hammam towel", 34_00),
        ("Hand towels, set of two", 24_90),
        ("Waffle towel", 27_50),
        ("Tea towels, set of three", 22_00),
        ("Beach towel", 39_00),
        ("Bath mat", 32_00),
    ],
};

const SOAP: Line = Line {
    motif: Motif::Soap,
    brands: &["Seifert"],
    materials: &["Plant oils"],
    says: &["It foams finely, rinses quickly, and smells only of what it says.", "For hands that work."],
    options: &[("Scent", "Olive, Lavender, Cedar, None")],
    grams: (90, 520),
    size: (60, 90, 40),
    items: &[
        ("Olive soap, bar", 6_90),
        ("Hand wash, 500 ml", 14_90),
        ("Shampoo bar", 9_90),
        ("Gardener's soap", 8_50),
        ("Body lotion, 250 ml", 18_50),
        ("Soap gift box", 27_00),
    ],
};
