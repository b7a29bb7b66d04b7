//! What things are made of, and what one has to know about it.

/// The word for it, a sentence about it, and how to look after it.
pub(super) type Material = (&'static str, &'static str, &'static str);

const MATERIALS: &[Material] = &[
    (
        "Stoneware",
        "The clay is fired until it rings, and the glaze runs a little differently on every piece.",
        "Dishwasher and microwave do it no harm.",
    ),
    ("Porcelain", "Thin at the rim and stronger than it looks.", "Dishwasher safe; no gold to lose."),
    (
        "Enamelled steel",
        "Glass on steel: it takes no smell and no stain.",
        "Wash by hand or by machine; avoid scouring powder.",
    ),
    (
        "Cast iron",
        "It holds heat long after the flame is off.",
        "Wipe it out, dry it on the stove, oil it now and then.",
    ),
    ("Stainless steel", "Brushed, not polished, so that it ages well.", "Dishwasher safe."),
    ("Carbon steel", "It takes an edge quickly and shows its use with a patina.", "Wash by hand and dry at once."),
    (
        "Oak",
        "The oak is oiled, not varnished, and may be sanded and oiled again.",
        "A damp cloth is enough; oil it once a year.",
    ),
    ("Walnut", "Every board has its own grain, so no two are alike.", "A damp cloth is enough; oil it once a year."),
    ("Beech", "Steamed beech, turned and sanded three times.", "Wipe it clean; do not leave it in water."),
    ("Ash", "Ash bends before it breaks, which is why it is used for handles.", "A damp cloth is enough."),
    ("Glass", "Borosilicate glass, made to stand the step from cold to hot.", "Dishwasher safe."),
    ("Brass", "The brass is left bare and darkens where it is not touched.", "Polish it, or let it be."),
    (
        "Powder-coated steel",
        "A matt coat that does not chip when something knocks against it.",
        "Wipe it with a soft cloth.",
    ),
    ("Linen", "Washed before it is sewn, so that it shrinks no more.", "Wash at 40 degrees; it needs no iron."),
    ("Cotton", "Organic cotton, dyed without heavy metals.", "Wash at 40 degrees."),
    (
        "Merino wool",
        "Fine enough for bare skin, and it does not smell after a day.",
        "Wool wash, or a night in fresh air.",
    ),
    ("New wool", "Spun and woven in one valley.", "Air it rather than wash it."),
    ("Willow", "Peeled willow, woven wet and left to tighten.", "Brush it dry; keep it off the radiator."),
    (
        "Waxed canvas",
        "It sheds rain, and every crease stays as a memory.",
        "Brush it off; wax it again after two winters.",
    ),
    ("Ripstop nylon", "A grid of stronger threads stops every tear.", "Sponge it clean and let it dry in the shade."),
    ("Leather", "Tanned with oak bark, it grows darker and softer.", "A little balm twice a year."),
    ("Recycled paper", "Made from offcuts, a little warm in tone, and kind to fountain pens.", "Keep it dry."),
    ("Resin", "Cast in one piece and polished for an hour.", "A soft cloth is enough."),
    ("Aluminium", "Light, and recycled for four fifths.", "A damp cloth is enough."),
    ("Terracotta", "Unglazed, so that the roots can breathe.", "Bring it in before a hard frost."),
    ("Galvanised steel", "Hot-dipped, seams and all, so that it does not rust from within.", "Empty it before winter."),
    ("Beeswax", "It burns slowly and smells of summer.", "Trim the wick to half a centimetre."),
    ("Plant oils", "Olive, coconut and rape, saponified cold.", "Let it dry between uses and it lasts for weeks."),
    ("Lime wood", "Painted with colours that may be put into the mouth.", "Wipe it with a damp cloth."),
    ("Ingredients", "Nothing is added that would not be in a kitchen.", "Keep it cool, dry and dark."),
    ("Seed", "Open-pollinated, so that it can be saved for the next year.", "Keep it dry and cool until it is sown."),
];

/// Words of a name that say what a thing is made of.
const TELLING: &[(&str, &[&str])] = &[
    ("cast iron", &["Cast iron"]),
    ("iron", &["Cast iron"]),
    ("grill", &["Cast iron"]),
    ("wok", &["Carbon steel"]),
    ("enamel", &["Enamelled steel"]),
    ("camp", &["Enamelled steel"]),
    ("steel", &["Stainless steel"]),
    ("whisk", &["Stainless steel"]),
    ("ladle", &["Stainless steel"]),
    ("grater", &["Stainless steel"]),
    ("rolling", &["Beech"]),
    ("cup", &["Porcelain"]),
    ("latte", &["Porcelain"]),
    ("oak", &["Oak"]),
    ("walnut", &["Walnut"]),
    ("tripod", &["Oak", "Ash"]),
    ("wooden", &["Beech", "Lime wood"]),
    ("barn", &["Powder-coated steel"]),
    ("paper pendant", &["Recycled paper"]),
    ("glass", &["Glass"]),
    ("brass", &["Brass"]),
    ("merino", &["Merino wool"]),
    ("bobble", &["Merino wool"]),
    ("beanie", &["Merino wool"]),
    ("wool", &["New wool", "Merino wool"]),
    ("fleece", &["New wool"]),
    ("felt", &["New wool", "Merino wool"]),
    ("baby", &["Cotton"]),
    ("cotton", &["Cotton"]),
    ("sun hat", &["Cotton"]),
    ("linen", &["Linen"]),
    ("rain", &["Waxed canvas"]),
    ("waxed", &["Waxed canvas"]),
    ("overshirt", &["Cotton"]),
    ("cabin", &["Aluminium"]),
    ("leather", &["Leather"]),
    ("boots", &["Leather"]),
    ("football", &["Leather"]),
    ("ball", &["Cotton"]),
    ("canvas", &["Waxed canvas", "Cotton"]),
    ("pieces", &["Recycled paper"]),
    ("memory", &["Recycled paper"]),
    ("chess", &["Lime wood"]),
    ("dominoes", &["Lime wood"]),
];

/// What a thing of this name is made of, as far as the name tells: one of those that its line has.
pub(super) fn told_by(name: &str, of: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    let told = TELLING.iter().filter(|(word, _)| name.contains(word)).flat_map(|(_, materials)| *materials);
    told.copied().find(|material| of.contains(material))
}

/// What is not listed has only its name.
pub(super) fn material(name: &'static str) -> Material {
    MATERIALS.iter().copied().find(|known| known.0 == name).unwrap_or((name, "", ""))
}

#[cfg(test)]
pub(super) fn is_listed(name: &str) -> bool {
    MATERIALS.iter().any(|known| known.0 == name)
}
