//! Things in their surroundings: by themselves on a tinted square, in a room, from close by; three together; a whole room.

use super::{
    motif::{Motif, Place},
    palette::{Ink, PALETTES, Palette},
    pen::Pen,
};

/// One thing. View 0 shows it by itself, 1 in a room, 2 from close by; a palette or a view that there is not is the nearest.
pub fn draw(motif: Motif, seed: u64, palette: usize, view: u8) -> String {
    let ground = PALETTES[palette % PALETTES.len()];
    let mut pen = Pen::new(ground, seed ^ 0x5eed);
    let thing = ground.turned(pen.throw());
    match view {
        0 => alone(&mut pen, motif, thing, seed),
        1 => in_room(&mut pen, motif, thing, seed),
        _ => from_close_by(&mut pen, motif, thing, seed),
    }
    page(400, 400, motif.kind().title, &pen.finish())
}

fn page(width: i32, height: i32, title: &str, inner: &str) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"><title>{title}</title>{inner}</svg>"#
    )
}

fn thing(pen: &mut Pen, motif: Motif, palette: Palette, seed: u64) {
    pen.other(palette, seed, motif.kind().draw);
}

/// Dots, stripes, arcs, a grid or one large round behind the thing.
fn backdrop(pen: &mut Pen) {
    pen.rect(0, 0, 400, 400, 0, Ink::Ground);
    match pen.between(0, 6) {
        0 => pen.dots((-10, -10, 420, 420), 40, 7, Ink::GroundDeep),
        1 => pen.rows(-400, 400, 36, Ink::GroundDeep, 9, |at| format!("M{at} 0l400 400")),
        2 => pen.rows(60, 420, 46, Ink::GroundDeep, 8, |r| format!("M0 {0}A{r} {r} 0 0 1 {r} 400", 400 - r)),
        3 => {
            pen.rows(20, 400, 40, Ink::GroundDeep, 3, |at| format!("M{at} 0V400"));
            pen.rows(20, 400, 40, Ink::GroundDeep, 3, |at| format!("M0 {at}H400"));
        }
        4 => pen.disc(200, 206, 168, Ink::GroundDeep),
        5 => {
            pen.fill("M0 250Q110 190 210 250T400 240V400H0Z", Ink::GroundDeep);
            pen.disc(312, 92, 44, Ink::GroundDeep);
        }
        _ => pen.fill("M44 400V190a156 156 0 0 1 312 0V400Z", Ink::GroundDeep),
    }
}

fn alone(pen: &mut Pen, motif: Motif, palette: Palette, seed: u64) {
    backdrop(pen);
    match motif.kind().place {
        Place::Stands | Place::Floor => pen.oval(200, 346, 146, 13, Ink::Shade),
        Place::Hangs | Place::Lies => {}
    }
    pen.moved("translate(-18 -20) scale(1.09)", |pen| thing(pen, motif, palette, seed));
}

fn in_room(pen: &mut Pen, motif: Motif, palette: Palette, seed: u64) {
    let ground = pen.palette;
    let wall = Palette { ground: ground.ground.mixed(ground.second, 42), ..ground };
    let kind = motif.kind();
    pen.palette = wall;
    pen.rect(0, 0, 400, 400, 0, Ink::Ground);
    let left = pen.one_in(2);
    match kind.place {
        Place::Stands => {
            window(pen, if left { 236 } else { 36 });
            let top = 316;
            pen.rect(0, top, 400, 84, 0, Ink::Wood);
            pen.rect(0, top, 400, 9, 0, Ink::WoodDeep);
            let x = if left { 18 } else { 112 };
            companion(pen, motif, if left { 322 } else { 76 }, top + 12);
            pen.oval(x + 135, top + 16, 104, 11, Ink::WoodDeep);
            pen.moved(format_args!("translate({x} {}) scale(.68)", top + 14 - 224), |pen| {
                thing(pen, motif, palette, seed)
            });
        }
        Place::Floor => {
            frame(pen, if left { 44 } else { 264 });
            pen.rect(0, 300, 400, 100, 0, Ink::PaleDeep);
            pen.rect(0, 292, 400, 12, 0, Ink::Pale);
            pen.oval(200, 352, 190, 34, Ink::Second);
            pen.oval(200, 352, 168, 27, Ink::GroundDeep);
            pen.moved(format_args!("translate({} 74) scale(.84)", if left { 56 } else { 8 }), |pen| {
                thing(pen, motif, palette, seed)
            });
        }
        Place::Hangs => {
            pen.rect(0, 296, 400, 104, 0, Ink::GroundDeep);
            pen.rect(0, 290, 400, 9, 0, Ink::Pale);
            let x = if left { 12 } else { 108 };
            pen.moved(format_args!("translate({x} 6) scale(.7)"), |pen| {
                // So many small things upon it have no shadow that is worth its bytes.
                if motif != Motif::Shelf {
                    pen.moved("translate(9 9)", |pen| thing(pen, motif, shadow(wall), seed));
                }
                thing(pen, motif, palette, seed);
            });
            chest(pen, if left { 250 } else { -10 });
        }
        Place::Lies => {
            pen.palette = Palette { ground: ground.pale.mixed(ground.second, 22), ..ground };
            pen.rect(0, 0, 400, 400, 0, Ink::Wood);
            pen.rows(58, 400, 66, Ink::WoodDeep, 2, |at| format!("M0 {at}H400"));
            // A rug lies on the floor, everything else on a cloth on the table.
            let cloth = |pen: &mut Pen| {
                pen.rect(46, 60, 308, 290, 6, Ink::WoodDeep);
                pen.rect(40, 52, 308, 290, 6, Ink::Ground);
                pen.bar("M40 76H348M40 318H348", 5, Ink::Second);
            };
            if motif != Motif::Rug {
                pen.moved("rotate(-8 200 200)", cloth);
            }
            pen.moved("translate(48 52) scale(.76)", |pen| thing(pen, motif, palette, seed));
            leaves(pen, if left { (352, 60) } else { (50, 346) });
        }
    }
}

/// Everything in one colour, a little darker than the wall: the thing's own outline is its shadow.
fn shadow(wall: Palette) -> Palette {
    let shade = wall.ground.mixed(wall.dark, 14);
    Palette { ground: shade, main: shade, second: shade, accent: shade, dark: shade, pale: shade }
}

fn from_close_by(pen: &mut Pen, motif: Motif, palette: Palette, seed: u64) {
    let ground = pen.palette;
    pen.palette = Palette { ground: ground.ground.mixed(ground.second, 60), ..ground };
    backdrop(pen);
    let (x, y) = motif.kind().focus;
    let flip = pen.one_in(2);
    let scale = if flip { "-1.75 1.75" } else { "1.75" };
    pen.moved(format_args!("translate(200 200) scale({scale}) translate({} {})", -x, -y), |pen| {
        thing(pen, motif, palette, seed);
    });
}

fn window(pen: &mut Pen, x: i32) {
    pen.rect(x, 40, 128, 182, 6, Ink::Pale);
    pen.rect(x + 9, 49, 110, 164, 3, Ink::Glass);
    pen.disc(x + 84, 92, 22, Ink::Glow);
    pen.within(format_args!("M{0} 49h110v164h-110Z", x + 9), |pen| {
        pen.fill(format_args!("M{x} 190q34 -50 66 -16t70 -20v80h-140Z"), Ink::Leaf);
    });
    pen.bar(format_args!("M{0} 44V218M{x} 132h128", x + 64), 7, Ink::Pale);
    pen.rect(x - 10, 216, 148, 13, 4, Ink::PaleDeep);
}

fn frame(pen: &mut Pen, x: i32) {
    pen.rect(x, 44, 92, 116, 3, Ink::Dark);
    pen.rect(x + 7, 51, 78, 102, 0, Ink::Pale);
    pen.disc(x + 54, 86, 17, Ink::Accent);
    pen.fill(format_args!("M{0} 153v-30q28 -26 46 0t32 -8v38Z", x + 7), Ink::Main);
}

/// Something small beside the thing, and not another of its kind.
fn companion(pen: &mut Pen, motif: Motif, x: i32, y: i32) {
    match pen.between(0, 2) {
        0 if motif != Motif::Book => {
            for (i, (w, ink)) in (0..).zip([(92, Ink::Main), (78, Ink::Accent), (84, Ink::Second)]) {
                pen.rect(x - w / 2, y - 18 * (i + 1), w, 17, 3, ink);
                pen.bar(format_args!("M{0} {1}v17", x - w / 2 + 12, y - 18 * (i + 1)), 4, Ink::Pale);
            }
        }
        1 if motif != Motif::Vase => {
            pen.line(format_args!("M{x} {0}q-4 -40 -26 -62M{x} {0}q2 -50 22 -80", y - 50), 4, Ink::LeafDeep);
            for (dx, dy) in [(-26, -112), (-12, -88), (22, -130), (10, -100)] {
                pen.oval(x + dx, y + dy, 9, 13, Ink::Leaf);
            }
            pen.fill(
                format_args!("M{0} {1}h28q-2 16 12 28q6 26 -14 28h-24q-20 -2 -14 -28q14 -12 12 -28Z", x - 14, y - 56),
                Ink::Accent,
            );
        }
        _ => {
            pen.rect(x - 26, y - 44, 52, 44, 6, Ink::Pale);
            pen.rect(x - 26, y - 28, 52, 10, 0, Ink::Accent);
            pen.disc(x, y - 62, 24, Ink::Leaf);
            pen.disc(x - 18, y - 52, 16, Ink::LeafDeep);
        }
    }
}

/// A low chest under what hangs on the wall.
fn chest(pen: &mut Pen, x: i32) {
    pen.bar(format_args!("M{0} 352v34M{1} 352v34", x + 20, x + 140), 9, Ink::WoodDeep);
    pen.rect(x, 272, 160, 92, 6, Ink::Wood);
    pen.bar(format_args!("M{x} 318h160"), 4, Ink::WoodDeep);
    pen.line(format_args!("M{0} 294h24M{0} 340h24", x + 68), 6, Ink::Brass);
    pen.fill(format_args!("M{0} 272v-34q24 -14 44 0v34Z", x + 60), Ink::Accent);
    pen.line(format_args!("M{0} 236q-12 -34 -26 -42M{0} 236q8 -38 24 -50", x + 82), 4, Ink::LeafDeep);
    for (dx, dy) in [(56, 192), (106, 184), (94, 208), (68, 214)] {
        pen.oval(x + dx, dy, 8, 12, Ink::Leaf);
    }
}

fn leaves(pen: &mut Pen, (x, y): (i32, i32)) {
    for (turn, ink) in [(-50, Ink::LeafDeep), (0, Ink::Leaf), (50, Ink::LeafDeep), (180, Ink::Leaf)] {
        pen.moved(format_args!("rotate({turn} {x} {y})"), |pen| {
            pen.fill(format_args!("M{x} {y}q-22 -26 0 -64q22 38 0 64Z"), ink);
        });
    }
}

/// Three things that go together, the one that is asked for in the middle.
pub(crate) fn group(motif: Motif, seed: u64, palette: usize) -> String {
    let ground = PALETTES[palette % PALETTES.len()];
    let mut pen = Pen::new(ground, seed ^ 0x5eed);
    backdrop(&mut pen);
    let [left, right] = beside(motif);
    pen.oval(200, 350, 172, 16, Ink::Shade);
    for (other, x, scale, turn) in [(left, -14, 46, 1), (right, 224, 46, 2)] {
        let drop = 352 - 334 * scale / 100;
        pen.moved(format_args!("translate({x} {drop}) scale(.{scale})"), |pen| {
            thing(pen, other, ground.turned(seed.wrapping_add(turn * 3)), seed ^ turn);
        });
    }
    pen.moved("translate(64 111) scale(.72)", |pen| thing(pen, motif, ground, seed));
    page(400, 400, motif.kind().title, &pen.finish())
}

/// What goes with a thing: others of its department, that stand well beside it.
fn beside(motif: Motif) -> [Motif; 2] {
    use Motif::*;
    // The last of each department in the list of all.
    let departments = [
        (Bulb, [Candle, Bulb, DeskLamp]),
        (Basket, [TableLamp, PlantPot, Vase]),
        (Towel, [Cushion, Basket, Candle]),
        (Grinder, [Kettle, Mug, Bowl]),
        (Oil, [TeaTin, Jar, CoffeeBag]),
        (Soap, [Candle, PlantPot, Vase]),
        (BirdHouse, [WateringCan, PlantPot, BirdHouse]),
        (Umbrella, [Bottle, Suitcase, Backpack]),
        (Socks, [Hat, Shoe, Backpack]),
        (Envelope, [Pencils, Book, Mug]),
        (PhoneCase, [Camera, Speaker, Headphones]),
        (Parcel, [Bear, ToyCar, Blocks]),
    ];
    let of = departments.into_iter().find(|(last, _)| motif as usize <= *last as usize);
    let mut others = of.into_iter().flat_map(|(_, others)| others).filter(|other| *other != motif);
    [others.next().unwrap_or(PlantPot), others.next().unwrap_or(Vase)]
}

/// A room with what the shop sells, 1200 by 480.
pub(crate) fn hero(seed: u64, palette: usize) -> String {
    let ground = PALETTES[palette % PALETTES.len()];
    let mut pen = Pen::new(ground, seed);
    let p = &mut pen;
    p.rect(0, 0, 1200, 480, 0, Ink::Ground);
    p.fill("M420 408V240a200 200 0 0 1 400 0V408Z", Ink::GroundDeep);
    p.rect(0, 404, 1200, 76, 0, Ink::PaleDeep);
    p.rect(0, 396, 1200, 12, 0, Ink::Pale);
    p.moved("translate(296 34) scale(1.1)", |p| window(p, 0));
    p.moved("translate(534 44) scale(.95)", |p| frame(p, 0));
    p.moved("translate(646 92) scale(.7)", |p| frame(p, 0));
    p.oval(610, 440, 330, 26, Ink::Second);
    p.oval(610, 440, 304, 20, Ink::GroundDeep);
    let accent = Palette { main: ground.accent, accent: ground.main, ..ground };
    let second = Palette { main: ground.second, second: ground.main, ..ground };
    // The motif, where its left top corner is, its size in hundredths, its colours, its seed. Lamp and table are of the sorts
    // that leave room for what is beside and upon them.
    let things: [(Motif, i32, i32, i32, Palette, u64); 11] = [
        (Motif::Pendant, 20, -12, 80, second, seed ^ 1),
        (Motif::Sofa, 410, 78, 108, ground, seed ^ 2),
        (Motif::FloorLamp, 640, 73, 110, accent, 1),
        (Motif::PlantPot, 252, 200, 72, accent, seed ^ 3),
        (Motif::Table, 20, 166, 80, second, 1),
        (Motif::Kettle, 16, 190, 36, accent, seed ^ 4),
        (Motif::Mug, 176, 213, 29, ground, seed ^ 5),
        (Motif::Shelf, 926, 34, 74, ground, seed ^ 6),
        (Motif::Bear, 880, 298, 42, accent, seed ^ 7),
        (Motif::Backpack, 1040, 270, 50, ground, seed ^ 8),
        (Motif::Basket, 976, 302, 41, second, seed ^ 9),
    ];
    for (motif, x, y, size, palette, seed) in things {
        let scale = format!("{}.{:02}", size / 100, size % 100);
        p.moved(format_args!("translate({x} {y}) scale({scale})"), |p| thing(p, motif, palette, seed));
    }
    page(1200, 480, "A room with a sofa, lamps, plants and a set table", &pen.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shadow_has_one_colour() {
        let shade = shadow(PALETTES[0]);
        assert_eq!(shade.colour(Ink::Main), shade.colour(Ink::Pale));
        assert_ne!(shade.main, PALETTES[0].main);
    }

    #[test]
    fn what_stands_beside_a_thing_is_another() {
        for motif in Motif::ALL.iter().copied() {
            let [left, right] = beside(motif);
            assert!(left != motif && right != motif && left != right, "{motif:?}");
        }
    }
}
