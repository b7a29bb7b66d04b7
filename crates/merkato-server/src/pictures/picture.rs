//! The address of a picture says all that is drawn: it is the same for ever, and caches may keep it so.

use super::{motif::Motif, palette::PALETTES, scene};

/// Views of a thing: by itself, in a room, from close by.
pub const VIEWS: u8 = 3;
/// Where the pictures are.
pub const FOLDER: &str = "/pictures/";

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
    pub fn views(motif: Motif, palette: usize, seed: u64) -> [Picture; VIEWS as usize] {
        [0, 1, 2].map(|view| Picture::Thing { motif, palette: palette % PALETTES.len(), seed, view })
    }

    /// What stands for a category, by the words of its name.
    pub fn of_category(name: &str) -> Picture {
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let palette = usize::try_from((hash >> 16) % PALETTES.len() as u64).unwrap_or(0);
        Picture::Group { motif: Motif::of(name), palette, seed: hash >> 40 }
    }

    /// As `mug-3-1f-0.svg`, `group-mug-3-1f.svg`, `hero-3-1f.svg`; nothing else, not even with zeros in front.
    pub fn parse(name: &str) -> Option<Picture> {
        let stem = name.strip_suffix(".svg")?;
        let picture = if let Some(rest) = stem.strip_prefix("group-") {
            let (rest, seed) = rest.rsplit_once('-')?;
            let (motif, palette) = rest.rsplit_once('-')?;
            Picture::Group { motif: Motif::named(motif)?, palette: palette.parse().ok()?, seed: hex(seed)? }
        } else if let Some(rest) = stem.strip_prefix("hero-") {
            let (palette, seed) = rest.split_once('-')?;
            Picture::Hero { palette: palette.parse().ok()?, seed: hex(seed)? }
        } else {
            let (rest, view) = stem.rsplit_once('-')?;
            let (rest, seed) = rest.rsplit_once('-')?;
            let (motif, palette) = rest.rsplit_once('-')?;
            let (palette, seed, view) = (palette.parse().ok()?, hex(seed)?, view.parse().ok()?);
            Picture::Thing { motif: Motif::named(motif)?, palette, seed, view }
        };
        (picture.is_there() && picture.name() == name).then_some(picture)
    }

    fn is_there(self) -> bool {
        let (Picture::Thing { palette, .. } | Picture::Group { palette, .. } | Picture::Hero { palette, .. }) = self;
        let view = if let Picture::Thing { view, .. } = self { view } else { 0 };
        palette < PALETTES.len() && view < VIEWS
    }

    fn name(self) -> String {
        match self {
            Picture::Thing { motif, palette, seed, view } => format!("{}-{palette}-{seed:x}-{view}.svg", motif.name()),
            Picture::Group { motif, palette, seed } => format!("group-{}-{palette}-{seed:x}.svg", motif.name()),
            Picture::Hero { palette, seed } => format!("hero-{palette}-{seed:x}.svg"),
        }
    }

    /// Where it is on the server.
    pub fn path(self) -> String {
        format!("{FOLDER}{}", self.name())
    }

    pub fn svg(self) -> String {
        match self {
            Picture::Thing { motif, palette, seed, view } => scene::draw(motif, seed, palette, view),
            Picture::Group { motif, palette, seed } => scene::group(motif, seed, palette),
            Picture::Hero { palette, seed } => scene::hero(seed, palette),
        }
    }
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for motif in Motif::ALL.iter().copied() {
            for seed in [0, 1, 0xdead_beef, u64::MAX] {
                let group = Picture::Group { motif, palette: 11, seed };
                for picture in Picture::views(motif, 3, seed).into_iter().chain([group]) {
                    let path = picture.path();
                    assert_eq!(Picture::parse(path.strip_prefix(FOLDER).expect("a path")), Some(picture));
                }
            }
        }
        let hero = Picture::Hero { palette: 0, seed: 26 };
        assert_eq!(hero.path(), "/pictures/hero-0-1a.svg");
        assert_eq!(Picture::parse("hero-0-1a.svg"), Some(hero));
    }

    #[test]
    fn a_name_that_is_none_gives_none() {
        for name in [
            "",
            ".svg",
            "mug.svg",
            "mug-3-1f-0",
            "mug-3-1f-0.png",
            "mug-3-1f-3.svg",
            "mug-12-1f-0.svg",
            "mug--1-1f-0.svg",
            "mug-3-1F-0.svg",
            "mug-03-1f-0.svg",
            "mug-3-01f-0.svg",
            "mug-3-+1f-0.svg",
            "mug-3-1ffffffffffffffff-0.svg",
            "spaceship-3-1f-0.svg",
            "../mug-3-1f-0.svg",
            "mug-3-1f-0.svg/",
            "mug-3-1f-0.svg?x",
            "group-mug-3.svg",
            "hero-99-1.svg",
            "<script>-3-1f-0.svg",
            "mug-3-1f-0.svg\0",
            "MUG-3-1f-0.svg",
            "--------.svg",
            "group-group-mug-3-1f.svg",
        ] {
            assert_eq!(Picture::parse(name), None, "{name}");
        }
        assert_eq!(Picture::parse(&"-".repeat(1 << 20)), None);
    }

    #[test]
    fn a_category_has_a_picture() {
        assert!(Picture::of_category("Lamps").path().starts_with("/pictures/group-table-lamp-"));
        assert_eq!(Picture::of_category("Lamps"), Picture::of_category("Lamps"));
        assert!(Picture::parse(&Picture::of_category("").name()).is_some());
    }
}
