//! The makers whose things the demo shop sells. None of them exists.

/// A maker, its palette among those of the pictures, what it works with, and what it says of itself.
pub(super) struct Brand {
    pub name: &'static str,
    pub palette: usize,
    /// All materials where there are none.
    works_with: &'static [&'static str],
    pub says: &'static str,
}

const fn brand(name: &'static str, palette: usize, works_with: &'static [&'static str], says: &'static str) -> Brand {
    Brand { name, palette, works_with, says }
}

impl Brand {
    pub(super) fn works_with(&self, material: &str) -> bool {
        self.works_with.is_empty() || self.works_with.contains(&material)
    }
}

pub(super) const BRANDS: &[Brand] = &[
    brand(
        "Kaolin",
        5,
        &["Stoneware", "Porcelain", "Terracotta"],
        "Kaolin is a pottery of nine people on the Elbe who fire twice a week and sign every piece.",
    ),
    brand(
        "Emsland",
        6,
        &["Enamelled steel", "Cast iron", "Stainless steel"],
        "Emsland has enamelled steel in the same works since 1911, and still mends what comes back.",
    ),
    brand(
        "Nordtopf",
        10,
        &["Stainless steel", "Carbon steel"],
        "Nordtopf makes cookware in small series and sells every part of it singly.",
    ),
    brand("Solinger & Sohn", 7, &[], "Solinger & Sohn grinds by hand and sharpens for life, free of charge."),
    brand(
        "Brunnhof",
        3,
        &["Stainless steel", "Stoneware", "Porcelain", "Ingredients"],
        "Brunnhof roasts, grinds and pours coffee all day, and builds what it missed.",
    ),
    brand(
        "Holzwerk Ahorn",
        8,
        &["Oak", "Walnut", "Beech", "Ash", "Lime wood"],
        "Holzwerk Ahorn works with timber from within an hour of its own yard.",
    ),
    brand("Lysverk", 2, &[], "Lysverk draws lamps that can be taken apart with one screwdriver."),
    brand(
        "Glashaus",
        11,
        &["Glass", "Brass", "Oak", "Beeswax"],
        "Glashaus blows, cuts and fuses glass in an old boathouse.",
    ),
    brand(
        "Schafberg",
        4,
        &["Merino wool", "New wool"],
        "Schafberg buys its wool from four flocks whose shepherds it knows by name.",
    ),
    brand(
        "Leinweber",
        9,
        &["Linen", "Cotton"],
        "Leinweber weaves flax and cotton on looms that are older than the weavers.",
    ),
    brand("Korbmacherei Ried", 0, &[], "The Ried basket makers cut their willow in winter and weave until autumn."),
    brand(
        "Grünspan",
        1,
        &["Carbon steel", "Stainless steel", "Galvanised steel", "Terracotta", "Oak", "Ash"],
        "Grünspan makes tools for people who garden every day, with parts that can be replaced.",
    ),
    brand("Saatgut Linde", 1, &[], "Saatgut Linde grows its seed in the open and only sells what came up."),
    brand("Gratwerk", 2, &[], "Gratwerk tests everything for one season in the hills before it is sold."),
    brand("Radhaus", 11, &[], "Radhaus began as a repair shop, and that can be seen: everything has a spare part."),
    brand("Pappwerk", 9, &[], "Pappwerk makes paper from what others threw away, and binds it with thread."),
    brand("Federkiel", 7, &[], "Federkiel turns pens from brass and resin, and writes with each before it leaves."),
    brand("Klangraum", 10, &[], "Klangraum builds for the ear first, and so that a battery can be changed."),
    brand(
        "Kinderstube",
        3,
        &[],
        "Kinderstube makes toys that have been thrown, chewed and loved by at least three children.",
    ),
    brand("Vorrat & Co", 8, &[], "Vorrat & Co fills small jars and bags by hand, and prints the harvest on each."),
    brand("Seifert", 5, &[], "Seifert boils soap as the grandmother did, and lets it rest for six weeks."),
    brand("Wanderer", 0, &[], "Wanderer sews for long ways and short goodbyes."),
];

pub(super) fn brand_of(name: &str) -> Option<&'static Brand> {
    BRANDS.iter().find(|brand| brand.name == name)
}
