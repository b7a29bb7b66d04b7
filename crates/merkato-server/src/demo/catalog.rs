//! What the demo shop sells: names, makers, prices in cents.

#![allow(clippy::inconsistent_digit_grouping, reason = "the underscore stands where the price has its point")]

/// A category at the top and those below it.
pub(super) type Aisle = (&'static str, &'static [Shelf]);
pub(super) type Shelf = (&'static str, &'static [Item]);
/// Name, brand, cents, one sentence.
pub(super) type Item = (&'static str, &'static str, i64, &'static str);

pub(super) const AISLES: &[Aisle] = &[
    ("Kitchen", &[("Coffee and tea", COFFEE), ("Pots and pans", POTS), ("Knives and boards", KNIVES)]),
    ("Living", &[("Lamps", LAMPS), ("Textiles", TEXTILES), ("Storage", STORAGE)]),
    ("Outdoors", &[("Garden", GARDEN), ("Hiking", HIKING), ("Cycling", CYCLING)]),
    ("Desk", &[("Paper", PAPER), ("Pens", PENS), ("Small helpers", HELPERS)]),
];

const COFFEE: &[Item] = &[
    ("Pour-over coffee set", "Brunnhof", 34_90, "A glass carafe, a steel filter and a spoon that measures."),
    ("Enamel kettle, 1.5 l", "Emsland", 42_00, "Boils on every stove, also on induction."),
    ("Hand coffee grinder", "Brunnhof", 59_50, "Steel burrs in forty steps, from espresso to French press."),
    ("Teapot with strainer", "Kaolin", 38_00, "Stoneware that keeps warm for an hour."),
    ("Espresso cups, set of four", "Kaolin", 29_90, "Thick walls, a handle for one finger."),
];
const POTS: &[Item] = &[
    ("Cast iron pan, 26 cm", "Emsland", 54_90, "Seasoned at the works; lasts longer than its owner."),
    ("Casserole with lid, 4 l", "Emsland", 129_00, "Enamelled inside and out."),
    ("Steel saucepan, 1.2 l", "Nordtopf", 39_90, "Three layers, and a rim that pours."),
    ("Wok with wooden handle", "Nordtopf", 47_50, "Carbon steel, 32 cm, for a gas flame."),
    ("Steamer basket", "Nordtopf", 18_90, "Folds flat, fits pots from 18 to 26 cm."),
];
const KNIVES: &[Item] = &[
    ("Chef's knife, 20 cm", "Solinger & Sohn", 89_00, "Forged, with a handle of smoked oak."),
    ("Bread knife, 23 cm", "Solinger & Sohn", 64_00, "A wave that goes through any crust."),
    ("Paring knife", "Solinger & Sohn", 19_90, "For all that is small."),
    ("Walnut cutting board", "Holzwerk Ahorn", 49_00, "End grain, with a groove for the juice."),
    ("Whetstone 1000/3000", "Solinger & Sohn", 36_50, "Two sides: one sharpens, one polishes."),
];
const LAMPS: &[Item] = &[
    ("Desk lamp Fjord", "Lysverk", 119_00, "An arm that stays where it is put."),
    ("Paper pendant, 45 cm", "Lysverk", 49_90, "Folded by hand, warm light."),
    ("Reading lamp with clamp", "Lysverk", 69_00, "For shelves and bedsteads."),
    ("Table lamp Lantern", "Glashaus", 84_50, "Smoked glass, with a dimmer in the cord."),
    ("LED bulb E27, warm white", "Glashaus", 7_90, "806 lumens, fifteen thousand hours."),
];
const TEXTILES: &[Item] = &[
    ("Wool blanket, grey", "Schafberg", 99_00, "Merino from one valley, 140 by 200 cm."),
    ("Linen bedding, 135 x 200", "Leinweber", 149_00, "Washed soft before it is sewn."),
    ("Cushion cover, rust", "Leinweber", 24_90, "Heavy linen with a hidden zip."),
    ("Bath towel, 70 x 140", "Leinweber", 29_90, "Six hundred grams of cotton to the square metre."),
    ("Sheepskin slippers", "Schafberg", 54_00, "A sole of felt, quiet on wood."),
];
const STORAGE: &[Item] = &[
    ("Oak wall shelf, 80 cm", "Holzwerk Ahorn", 79_00, "Hidden brackets, holds twenty kilograms."),
    ("Woven basket, large", "Korbmacherei Ried", 44_90, "Willow, with leather handles."),
    ("Magazine box", "Pappwerk", 12_90, "Grey board and a label that can be changed."),
    ("Coat rack with five hooks", "Holzwerk Ahorn", 58_00, "Ash and blackened steel."),
    ("Stacking crate", "Holzwerk Ahorn", 32_50, "Stands on its side, too."),
];
const GARDEN: &[Item] = &[
    ("Secateurs", "Grünspan", 37_90, "Blades that can be replaced, a spring that does not fall out."),
    ("Watering can, 5 l", "Grünspan", 31_00, "Galvanised, with a brass rose."),
    ("Hand trowel", "Grünspan", 16_90, "Forged in one piece, an ash handle."),
    ("Seed box, twelve kinds", "Saatgut Linde", 24_50, "Vegetables that come back from their own seed."),
    ("Bird feeder", "Holzwerk Ahorn", 27_90, "Larch, to be filled from above."),
];
const HIKING: &[Item] = &[
    ("Daypack, 22 l", "Gratwerk", 94_00, "A back of mesh and a cover for the rain."),
    ("Steel bottle, 0.75 l", "Gratwerk", 27_50, "One wall, light, for a fire if need be."),
    ("Trekking poles, pair", "Gratwerk", 79_90, "Carbon, three parts, cork grips."),
    ("Headlamp, 400 lm", "Lysverk", 44_00, "Charges over USB, a red light for the hut."),
    ("Wool socks, two pairs", "Schafberg", 26_90, "Padded where the boot presses."),
];
const CYCLING: &[Item] = &[
    ("Bicycle pump, floor", "Radhaus", 48_90, "Up to eleven bar, for every valve."),
    ("Multi-tool, 18 parts", "Radhaus", 34_90, "A chain breaker that works."),
    ("Pannier, 20 l", "Radhaus", 74_00, "Welded seams, a hook that does not rattle."),
    ("Light set, front and rear", "Lysverk", 59_00, "Fifty lux, approved for the road."),
    ("Brass bell", "Radhaus", 14_90, "Heard by pedestrians and not by the next village."),
];
const PAPER: &[Item] = &[
    ("Notebook A5, dotted", "Pappwerk", 14_50, "A hundred and sixty pages that lie flat."),
    ("Sketch pad A4", "Pappwerk", 17_90, "A hundred and seventy grams, for pencil and ink."),
    ("Envelopes C6, fifty", "Pappwerk", 9_90, "Recycled, lined with grey."),
    ("Wall planner, year", "Pappwerk", 12_00, "All weeks at a glance, to be written on and wiped."),
    ("Index cards, three hundred", "Pappwerk", 8_50, "Ruled, in a box of board."),
];
const PENS: &[Item] = &[
    ("Fountain pen, fine", "Federkiel", 39_00, "A steel nib, cartridge or piston."),
    ("Mechanical pencil 0.7", "Federkiel", 22_00, "Brass, with a grip that does not slip."),
    ("Ink, blue-black, 50 ml", "Federkiel", 11_90, "Dries quickly, stays for good."),
    ("Gel pens, set of six", "Federkiel", 13_50, "Muted colours, half a millimetre."),
    ("Pen roll, waxed canvas", "Gratwerk", 28_00, "Holds twelve, ties with a cord."),
];
const HELPERS: &[Item] = &[
    ("Scissors, 21 cm", "Solinger & Sohn", 24_90, "For paper and cloth, to be sharpened."),
    ("Tape dispenser", "Eisenhut", 33_00, "Cast iron: stays where it is."),
    ("Desk tray, walnut", "Holzwerk Ahorn", 42_00, "For keys, coins and all that has no place."),
    ("Stapler", "Eisenhut", 29_50, "Twenty-five sheets, one hand."),
    ("Bookends, pair", "Eisenhut", 26_00, "Folded steel with felt beneath."),
];
