//! What is eaten and drunk.

use super::{Line, NONE, Shelf, department, shelf};
use crate::pictures::Motif;

pub(super) const PANTRY: Shelf = department(
    "Pantry",
    &[
        shelf("Coffee", &[COFFEE]),
        shelf("Tea and spices", &[TEA]),
        shelf("Jam and honey", &[JAM]),
        shelf("Chocolate", &[CHOCOLATE]),
        shelf("Oil and vinegar", &[OIL]),
    ],
);

const COFFEE: Line = Line {
    motif: Motif::CoffeeBag,
    brands: &["Brunnhof"],
    materials: &["Ingredients"],
    says: &[
        "Notes of hazelnut, brown sugar and a little orange.",
        "Round and dark, made for milk.",
        "Bright and light, with the fruit left in.",
    ],
    options: &[("Amount", "250 g, 500 g, 1 kg"), ("Grind", "Whole beans, Filter, Espresso")],
    grams: (260, 520),
    size: (210, 110, 70),
    items: &[
        ("House espresso", 9_90),
        ("Morning filter coffee", 9_50),
        ("Ethiopia Guji coffee", 12_90),
        ("Colombia Huila coffee", 11_90),
        ("Decaf espresso", 10_90),
        ("Winter roast coffee", 10_50),
        ("Canteen blend coffee", 8_50),
    ],
};

const TEA: Line = Line {
    motif: Motif::TeaTin,
    brands: &["Vorrat & Co"],
    materials: &["Ingredients"],
    says: &["Packed in a tin that is worth keeping.", "A spoon for each cup, and one for the pot."],
    options: &[("Amount", "100 g, 250 g")],
    grams: (140, 320),
    size: (130, 90, 90),
    items: &[
        ("Breakfast tea", 8_90),
        ("Earl Grey tea", 9_20),
        ("Mountain herb tea", 7_90),
        ("Green Sencha tea", 11_50),
        ("Peppermint tea", 6_90),
        ("Rooibos tea with vanilla", 8_50),
        ("Smoked paprika, sweet", 5_90),
        ("Sea salt flakes", 6_50),
        ("Curry spice, mild", 6_20),
    ],
};

const JAM: Line = Line {
    motif: Motif::Jar,
    brands: &["Vorrat & Co"],
    materials: &["Ingredients"],
    says: &["Two thirds fruit, one third sugar, and a copper kettle.", "Made within a day of picking."],
    options: NONE,
    grams: (330, 520),
    size: (100, 75, 75),
    items: &[
        ("Apricot jam, 220 g", 5_90),
        ("Strawberry jam, 220 g", 5_90),
        ("Sour cherry jam, 220 g", 6_20),
        ("Bitter orange marmalade", 6_50),
        ("Lime blossom honey, 500 g", 11_90),
        ("Forest honey, 500 g", 12_90),
        ("Plum chutney", 6_90),
        ("Coarse mustard", 4_90),
    ],
};

const CHOCOLATE: Line = Line {
    motif: Motif::Chocolate,
    brands: &["Vorrat & Co"],
    materials: &["Ingredients"],
    says: &[
        "It snaps, then it melts, then it is gone.",
        "The beans are bought from three farms and paid for before the harvest.",
    ],
    options: NONE,
    grams: (80, 130),
    size: (160, 80, 10),
    items: &[
        ("Dark chocolate, 70 %", 3_90),
        ("Milk chocolate with sea salt", 3_90),
        ("Hazelnut chocolate", 4_50),
        ("White chocolate, raspberry", 4_50),
        ("Drinking chocolate, 250 g", 8_90),
        ("Chocolate selection, six bars", 21_00),
    ],
};

const OIL: Line = Line {
    motif: Motif::Oil,
    brands: &["Vorrat & Co"],
    materials: &["Ingredients"],
    says: &["Pressed cold and filled without filtering.", "For the salad at noon and the bread in the evening."],
    options: &[("Amount", "250 ml, 500 ml")],
    grams: (520, 980),
    size: (280, 65, 65),
    items: &[
        ("Olive oil, fruity", 14_90),
        ("Olive oil, mild", 13_90),
        ("Pumpkin seed oil", 15_90),
        ("Apple vinegar", 6_90),
        ("Elderflower syrup", 7_90),
        ("Rapeseed oil", 8_90),
    ],
};
