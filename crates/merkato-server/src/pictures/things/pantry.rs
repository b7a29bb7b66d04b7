//! What one eats and drinks, and what stands in the bath.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn coffee_bag(p: &mut Pen) {
    let body = "M108 116H292L306 318Q306 330 294 330H106Q94 330 94 318Z";
    p.fill(body, Main);
    p.fill("M270 116H292L306 318Q306 330 294 330H272Z", Deep);
    p.rect(104, 84, 192, 38, 6, Deep);
    p.bar("M104 102H296", 4, Lit);
    p.line("M92 100H104M296 100H308", 9, Brass);
    let label = p.pick(&[Pale, Second, Pale]);
    match p.between(0, 2) {
        0 => p.disc(200, 220, 66, label),
        1 => p.rect(134, 164, 132, 124, 10, label),
        _ => p.fill("M94 196H306V286H94Z", label),
    }
    for (x, y, turn) in [(176, 214, -24), (222, 232, 24)] {
        p.moved(format_args!("rotate({turn} {x} {y})"), |p| {
            p.oval(x, y, 20, 29, Deep);
            p.line(format_args!("M{x} {0}q-10 22 0 44", y - 22), 4, label);
        });
    }
    p.disc(200, 142, 8, Deep);
}

pub(crate) fn tea_tin(p: &mut Pen) {
    let (w, top) = (p.between(130, 164), p.between(128, 168));
    let (x, right) = (200 - w / 2, 200 + w / 2);
    let body = format!("M{x} {0}H{right}V318Q{right} 330 {1} 330H{2}Q{x} 330 {x} 318Z", top + 30, right - 12, x + 12);
    p.fill(&body, Main);
    p.decorate(&body, (x, top + 40, w, 290 - top), Second);
    p.within(&body, |p| p.rect(right - 20, top, 24, 240, 0, Deep));
    p.rect(x - 4, top, w + 8, 44, 10, Accent);
    p.rect(x - 4, top + 32, w + 8, 10, 5, AccentDeep);
    p.rect(184, top - 14, 32, 16, 7, AccentDeep);
    p.rect(200 - w / 3, 224, w * 2 / 3, 70, 6, Pale);
    p.fill("M200 282q-30 -14 -22 -46q30 6 22 46q-4 -38 26 -42q4 30 -26 42Z", Leaf);
}

pub(crate) fn jar(p: &mut Pen) {
    let top = p.between(128, 152);
    p.rect(104, top + 36, 192, 330 - top - 36, 34, Glass);
    let ink = p.pick(&[Main, Accent, Brass]);
    p.rect(114, top + 70, 172, 250 - top, 26, ink);
    p.rect(114, top + 70, 172, 16, 8, Lit);
    if p.one_in(2) {
        p.fill(
            format_args!("M84 {0}Q120 {1} 122 {top}H278Q280 {1} 316 {0}Q200 {2} 84 {0}Z", top + 56, top + 20, top + 44),
            Second,
        );
        p.decorate(
            format_args!("M84 {0}Q120 {1} 122 {top}H278Q280 {1} 316 {0}Q200 {2} 84 {0}Z", top + 56, top + 20, top + 44),
            (84, top, 232, 60),
            Main,
        );
        p.rect(116, top + 26, 168, 9, 4, Deep);
    } else {
        p.rect(110, top, 180, 42, 10, Second);
        p.bar(format_args!("M110 {0}H290", top + 30), 5, SecondDeep);
    }
    p.rect(140, 228, 120, 66, 8, Pale);
    p.disc(184, 262, 16, ink);
    p.disc(212, 266, 16, ink);
    p.fill("M196 248q2 -14 22 -14q-2 16 -22 14Z", Leaf);
    p.line("M124 220V296", 6, Pale);
}

pub(crate) fn chocolate(p: &mut Pen) {
    let turn = p.between(-16, 14);
    p.turned(turn, |p| {
        p.rect(112, 70, 176, 260, 8, WoodDeep);
        p.palette.dark = p.palette.dark.mixed(super::super::palette::Colour(0x5a2e1a), 70);
        p.rect(112, 66, 176, 120, 8, Dark);
        for row in 0..2 {
            for column in 0..3 {
                p.rect(120 + column * 55, 74 + row * 54, 50, 48, 6, WoodDeep);
            }
        }
        p.fill(
            "M104 168l16 -10l16 12l16 -12l16 12l16 -12l16 12l16 -12l16 12l16 -12l16 12l16 -12l16 10V336H104Z",
            SteelLit,
        );
        let body = "M104 196H296V336H104Z";
        p.fill(body, Main);
        p.decorate(body, (104, 196, 192, 140), Second);
        p.rect(136, 232, 128, 62, 6, Pale);
        p.bar("M156 254H244M168 274H232", 6, Deep);
    });
}

pub(crate) fn oil(p: &mut Pen) {
    let w = p.between(96, 124);
    let (x, right) = (200 - w / 2, 200 + w / 2);
    p.rect(184, 48, 32, 38, 6, Wood);
    let round = p.one_in(2);
    let shoulder = if round { 176 } else { 156 };
    let body = format!(
        "M180 78H220V132Q{right} 144 {right} {shoulder}V314Q{right} 330 {0} 330H{1}Q{x} 330 {x} 314V{shoulder}Q{x} 144 180 132Z",
        right - 16,
        x + 16
    );
    p.fill(&body, LeafDeep);
    p.within(&body, |p| {
        p.rect(x, 60, 18, 280, 0, Leaf);
        p.rect(170, 70, 60, 22, 0, Brass);
    });
    p.rect(x, 200, w, 96, 0, Pale);
    p.decorate(format_args!("M{x} 200h{w}v96h-{w}Z"), (x, 200, w, 96), Second);
    p.rect(x + 14, 220, w - 28, 56, 4, Pale);
    p.bar(format_args!("M{0} 240H{1}M{2} 258H{3}", x + 26, right - 26, x + 34, right - 34), 6, Main);
}

pub(crate) fn soap(p: &mut Pen) {
    if p.one_in(2) {
        p.line("M200 132V96H252V110", 13, Dark);
        p.rect(178, 126, 44, 28, 6, Dark);
        let body = "M150 150H250Q276 156 276 184V306Q276 330 252 330H148Q124 330 124 306V184Q124 156 150 150Z";
        p.fill(body, Main);
        p.within(body, |p| p.rect(252, 140, 30, 200, 0, Deep));
        p.rect(146, 206, 92, 86, 6, Pale);
        p.fill("M192 280q-28 -12 -24 -50q30 10 24 50q0 -40 26 -46q2 34 -26 46Z", Leaf);
    } else {
        p.oval(200, 316, 142, 14, WoodDeep);
        p.rect(64, 296, 272, 22, 11, Wood);
        p.rect(92, 216, 216, 86, 36, Deep);
        p.rect(92, 206, 216, 82, 36, Main);
        p.rect(128, 228, 144, 36, 16, Lit);
        p.bar("M156 246H244", 7, Main);
        for (x, y, r) in [(116, 176, 20), (150, 150, 13), (98, 140, 9), (286, 180, 14)] {
            p.disc(x, y, r, Pale);
            p.ring(x, y, r, 3, Second);
        }
    }
}
