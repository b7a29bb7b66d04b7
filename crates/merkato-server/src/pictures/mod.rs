//! Pictures of products, drawn from a few numbers. The same address is the same picture for ever.

/// Where the pictures are.
pub const FOLDER: &str = "/pictures/";
/// How many palettes there are: a brand has one of them.
pub const PALETTES: usize = 4;

const GROUNDS: [&str; PALETTES] = ["#f1dfcf", "#dfe8d6", "#d6e4ee", "#e9daea"];
const MAINS: [&str; PALETTES] = ["#c8643c", "#5b7f4b", "#2f6690", "#7d4a7b"];

/// A kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Motif {
    Parcel,
}

impl Motif {
    /// What the words of a name speak of.
    pub fn of(_: &str) -> Motif {
        Motif::Parcel
    }
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picture {
    /// One thing.
    Thing { motif: Motif, palette: usize, seed: u64, view: u8 },
    /// A thing with two others that go with it: for a category.
    Group { motif: Motif, palette: usize, seed: u64 },
    /// A room, wide: for the front page.
    Hero { palette: usize, seed: u64 },
}

impl Picture {
    /// The three views of a product.
    pub fn views(motif: Motif, palette: usize, seed: u64) -> [Picture; 3] {
        [0, 1, 2].map(|view| Picture::Thing { motif, palette: palette % PALETTES, seed, view })
    }

    /// What stands for a category, by the words of its name.
    pub fn of_category(name: &str) -> Picture {
        let hash = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Picture::Group { motif: Motif::of(name), palette: usize::try_from(hash % 4).unwrap_or(0), seed: hash % 4_096 }
    }

    fn parse(name: &str) -> Option<Picture> {
        let mut parts = name.strip_suffix(".svg")?.split('-');
        let kind = parts.next()?;
        let palette: usize = parts.next()?.parse().ok().filter(|palette| *palette < PALETTES)?;
        let seed = u64::from_str_radix(parts.next()?, 16).ok()?;
        let view = parts.next().map_or(Some(0), |view| view.parse().ok().filter(|view| *view < 3))?;
        let picture = match kind {
            "parcel" => Picture::Thing { motif: Motif::Parcel, palette, seed, view },
            "group" => Picture::Group { motif: Motif::Parcel, palette, seed },
            "hero" => Picture::Hero { palette, seed },
            _ => return None,
        };
        (picture.name() == name).then_some(picture)
    }

    fn name(self) -> String {
        match self {
            Picture::Thing { palette, seed, view, .. } => format!("parcel-{palette}-{seed:x}-{view}.svg"),
            Picture::Group { palette, seed, .. } => format!("group-{palette}-{seed:x}.svg"),
            Picture::Hero { palette, seed } => format!("hero-{palette}-{seed:x}.svg"),
        }
    }

    /// Where it is on the server.
    pub fn path(self) -> String {
        format!("{FOLDER}{}", self.name())
    }

    fn svg(self) -> String {
        let (Picture::Thing { palette, seed, .. }
        | Picture::Group { palette, seed, .. }
        | Picture::Hero { palette, seed }) = self;
        let width = if matches!(self, Picture::Hero { .. }) { 1_200 } else { 400 };
        let (ground, main) = (GROUNDS[palette % PALETTES], MAINS[palette % PALETTES]);
        let (size, middle) = (140 + seed % 60, width / 2);
        let (left, top) = (middle - size / 2, 320 - size);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} 400\" role=\"img\"><title>A parcel</title>\
             <rect width=\"{width}\" height=\"400\" fill=\"{ground}\"/>\
             <rect x=\"{left}\" y=\"{top}\" width=\"{size}\" height=\"{size}\" rx=\"6\" fill=\"{main}\"/>\
             <path d=\"M{middle} {top}v{size}\" stroke=\"#fff7ee\" stroke-width=\"14\"/></svg>"
        )
    }
}

/// The picture of this name; none where there is no such picture.
pub fn svg(name: &str) -> Option<String> {
    Picture::parse(name).map(Picture::svg)
}
