//! Colours: a dozen palettes, one for a brand, and what is mixed of each.

/// Red, green and blue, a byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub u32);

impl Colour {
    /// So many per cent of the other.
    pub(crate) fn mixed(self, other: Colour, percent: u32) -> Colour {
        let percent = percent.min(100);
        let channel = |shift: u32| {
            let of = |colour: Colour| (colour.0 >> shift) & 0xff;
            ((of(self) * (100 - percent) + of(other) * percent) / 100) << shift
        };
        Colour(channel(16) | channel(8) | channel(0))
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

/// What a brand paints its things with. The ground is light enough for a light page and calm enough for a dark one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub ground: Colour,
    pub main: Colour,
    pub second: Colour,
    pub accent: Colour,
    pub dark: Colour,
    pub pale: Colour,
}

const fn palette(ground: u32, main: u32, second: u32, accent: u32, dark: u32, pale: u32) -> Palette {
    Palette {
        ground: Colour(ground),
        main: Colour(main),
        second: Colour(second),
        accent: Colour(accent),
        dark: Colour(dark),
        pale: Colour(pale),
    }
}

/// In their order they are a part of pictures' names: new ones come last.
pub(crate) const PALETTES: [Palette; 12] = [
    // Clay, moss, harbour, saffron.
    palette(0xf1dfcf, 0xc8643c, 0xe8b082, 0x2f6b66, 0x4a2a1e, 0xfff7ee),
    palette(0xdfe8d6, 0x5b7f4b, 0xa8c08c, 0xd9923b, 0x26361f, 0xfafbf1),
    palette(0xd6e4ee, 0x2f6690, 0x82b2d3, 0xe8a33d, 0x16324a, 0xf6fbff),
    palette(0xf8e6bd, 0xdf9c1c, 0xf2cb69, 0x3f6f73, 0x4b3410, 0xfffbef),
    // Plum, frost, rosehip, ink.
    palette(0xe9daea, 0x7d4a7b, 0xc59bc2, 0xe0a458, 0x35203a, 0xfdf8fd),
    palette(0xd9e9ea, 0x4a8a93, 0xa5cfd2, 0xe2725b, 0x1e3e43, 0xf5fbfb),
    palette(0xf6dad7, 0xc4454d, 0xeea49d, 0x3d6e70, 0x4a1b22, 0xfff7f5),
    palette(0xdcdfea, 0x3f4c80, 0x93a0cf, 0xf0b03f, 0x1c2240, 0xf8f9fe),
    // Olive, coral, slate, lagoon.
    palette(0xe8e5cc, 0x7c7a35, 0xbdb974, 0xb9542f, 0x37361a, 0xfcfbf0),
    palette(0xfbdfd2, 0xe97656, 0xf8b79e, 0x2d7f86, 0x52261b, 0xfff8f4),
    palette(0xe0e5e8, 0x54656f, 0xa3b3bc, 0xd9783a, 0x232d33, 0xf8fafb),
    palette(0xd1ebe4, 0x1f8a7e, 0x88cdc0, 0xf2a65a, 0x0f403b, 0xf3fcf9),
];

/// A colour by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Main,
    Deep,
    Lit,
    Second,
    SecondDeep,
    Accent,
    AccentDeep,
    Dark,
    Soft,
    Pale,
    PaleDeep,
    Wood,
    WoodDeep,
    Steel,
    SteelDeep,
    SteelLit,
    Brass,
    Leaf,
    LeafDeep,
    Glow,
    Glass,
    Ground,
    GroundDeep,
    Shade,
}

impl Palette {
    pub(crate) fn colour(&self, ink: Ink) -> Colour {
        let (wood, steel, leaf) = (Colour(0xc9966a), Colour(0xb3bcc4), Colour(0x5f9160));
        match ink {
            Ink::Main => self.main,
            Ink::Deep => self.main.mixed(self.dark, 30),
            Ink::Lit => self.main.mixed(self.pale, 34),
            Ink::Second => self.second,
            Ink::SecondDeep => self.second.mixed(self.dark, 22),
            Ink::Accent => self.accent,
            Ink::AccentDeep => self.accent.mixed(self.dark, 30),
            Ink::Dark => self.dark,
            Ink::Soft => self.dark.mixed(self.ground, 45),
            Ink::Pale => self.pale,
            Ink::PaleDeep => self.pale.mixed(self.dark, 14),
            Ink::Wood => wood.mixed(self.ground, 12),
            Ink::WoodDeep => wood.mixed(self.dark, 34),
            Ink::Steel => steel.mixed(self.ground, 14),
            Ink::SteelDeep => steel.mixed(self.dark, 38),
            Ink::SteelLit => steel.mixed(self.pale, 60),
            Ink::Brass => Colour(0xd7a94b),
            Ink::Leaf => leaf.mixed(self.ground, 8),
            Ink::LeafDeep => leaf.mixed(self.dark, 38),
            Ink::Glow => self.ground.mixed(Colour(0xfff0b8), 72),
            Ink::Glass => self.ground.mixed(Colour(0xf2fbff), 62),
            Ink::Ground => self.ground,
            Ink::GroundDeep => self.ground.mixed(self.main, 13),
            Ink::Shade => self.ground.mixed(self.dark, 20),
        }
    }

    /// The same colours, a little nearer to each other or further apart, and sometimes with another one in front: two things of
    /// a brand belong together and need not look alike.
    pub(crate) fn turned(self, turn: u64) -> Palette {
        let percent = |shift: u32| u32::try_from((turn >> shift) % 16).unwrap_or(0);
        let main = self.main.mixed(self.second, percent(8));
        let second = self.second.mixed(self.pale, percent(16));
        let accent = self.accent.mixed(self.dark, percent(24) / 2);
        let turned = Palette { main, second, accent, ..self };
        match turn % 7 {
            0..=2 => turned,
            3 | 4 => Palette { main: second, second: main, ..turned },
            5 => Palette { main: accent, accent: main, ..turned },
            _ => Palette { main: self.dark.mixed(main, 30), second: main, ..turned },
        }
    }
}
