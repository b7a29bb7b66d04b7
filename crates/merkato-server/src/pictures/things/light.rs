//! Lamps and candles.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn pendant(p: &mut Pen) {
    let y = p.between(96, 126);
    p.fill(format_args!("M110 {0}H290L350 400H50Z", y + 130), Glow);
    p.line(format_args!("M200 -60V{y}"), 5, Dark);
    p.disc(200, y + 126, 26, Pale);
    match p.between(0, 3) {
        0 => {
            let shade = format!("M82 {0}A118 112 0 0 1 318 {0}Z", y + 128);
            p.fill(&shade, Main);
            p.decorate(&shade, (82, y + 20, 236, 110), Second);
        }
        1 => {
            let shade = format!("M172 {y}H228L314 {0}H86Z", y + 128);
            p.fill(&shade, Main);
            p.decorate(&shade, (86, y, 228, 128), Second);
        }
        2 => {
            p.disc(200, y + 88, 96, Main);
            p.within(format_args!("M104 {0}a96 96 0 0 1 192 0a96 96 0 0 1 -192 0", y + 88), |p| {
                p.rows(y, y + 190, 22, Lit, 3, |at| format!("M100 {at}q100 14 200 0"));
            });
        }
        _ => {
            let shade = format!("M178 {y}h44q4 60 66 84q26 12 26 44H86q0 -32 26 -44q62 -24 66 -84Z");
            p.fill(&shade, Main);
            p.rect(86, y + 114, 228, 14, 6, Deep);
        }
    }
    p.rect(184, y - 12, 32, 22, 6, Brass);
}

fn shade(p: &mut Pen, x: i32, y: i32, (top, bottom, h): (i32, i32, i32)) {
    let path = format!("M{0} {y}H{1}L{2} {3}H{4}Z", x - top, x + top, x + bottom, y + h, x - bottom);
    p.fill(&path, Main);
    p.decorate(&path, (x - bottom, y, 2 * bottom, h), Second);
    p.rect(x - bottom - 2, y + h - 6, 2 * bottom + 4, 10, 5, Deep);
}

pub(crate) fn table_lamp(p: &mut Pen) {
    p.fill("M120 190H280L330 330H70Z", Glow);
    match p.between(0, 2) {
        0 => {
            let foot = "M176 196h48q4 26 30 54q22 26 4 58q-10 20 -58 20t-58 -20q-18 -32 4 -58q26 -28 30 -54Z";
            p.fill(foot, Accent);
            p.decorate(foot, (138, 220, 124, 108), Pale);
        }
        1 => {
            p.line("M200 200L150 324M200 200L250 324M200 200V322", 11, Wood);
            p.bar("M172 270H228", 6, WoodDeep);
        }
        _ => {
            p.rect(190, 190, 20, 130, 4, Brass);
            p.disc(200, 240, 20, Accent);
            p.disc(200, 276, 26, Accent);
            p.rect(148, 312, 104, 18, 8, Dark);
        }
    }
    let (top, bottom) = (p.between(40, 70), p.between(88, 108));
    shade(p, 200, 78, (top, bottom, 122));
}

pub(crate) fn desk_lamp(p: &mut Pen) {
    let lean = p.between(-16, 12);
    p.fill(format_args!("M{0} 176L{1} 330H{2}L{3} 130Z", 246 + lean, 236 + lean, 372 + lean, 304 + lean), Glow);
    p.rect(92, 312, 130, 18, 9, Deep);
    p.line(format_args!("M156 314L118 206L{0} 116", 230 + lean), 11, Dark);
    p.line(format_args!("M170 314L134 212L{0} 126", 228 + lean), 4, Soft);
    p.disc(124, 208, 14, Brass);
    p.disc(156, 310, 12, Brass);
    let round = p.one_in(2);
    p.moved(format_args!("translate({0} 112) rotate(-38)", 236 + lean), |p| {
        p.oval(0, 76, 34, 12, Pale);
        p.rect(-18, -26, 36, 30, 8, Deep);
        match round {
            true => p.fill("M-64 76A64 76 0 0 1 64 76Z", Main),
            false => p.fill("M-22 -6H22L62 76H-62Z", Main),
        }
        p.rect(-64, 66, 128, 12, 6, Second);
    });
}

pub(crate) fn floor_lamp(p: &mut Pen) {
    if p.one_in(2) {
        p.fill("M228 150H332L372 330H188Z", Glow);
        p.line("M112 322V150Q112 60 200 60Q280 60 280 104", 8, Dark);
        p.rect(62, 314, 104, 16, 8, Deep);
        p.disc(280, 152, 20, Pale);
        p.fill("M216 156A64 60 0 0 1 344 156Z", Main);
        p.rect(214, 148, 132, 11, 5, Second);
    } else {
        p.fill("M136 150H264L312 330H88Z", Glow);
        match p.one_in(2) {
            true => p.line("M200 140V240M200 236L146 326M200 236L254 326M200 236V322", 9, Wood),
            false => {
                p.line("M200 140V320", 9, Brass);
                p.oval(200, 322, 58, 10, Dark);
            }
        }
        shade(p, 200, 62, (46, 78, 96));
    }
}

pub(crate) fn candle(p: &mut Pen) {
    let flame = |p: &mut Pen, x: i32, y: i32| {
        p.disc(x, y - 24, 34, Glow);
        p.line(format_args!("M{x} {y}v-12"), 4, Dark);
        p.fill(format_args!("M{x} {0}q-22 -24 0 -52q22 28 0 52Z", y - 4), Brass);
        p.fill(format_args!("M{x} {0}q-11 -14 0 -28q11 14 0 28Z", y - 6), Pale);
    };
    match p.between(0, 2) {
        0 => {
            flame(p, 200, 190);
            p.rect(126, 160, 148, 170, 18, Glass);
            p.rect(136, 208, 128, 114, 12, Main);
            p.oval(200, 208, 64, 9, Lit);
            flame(p, 200, 210);
            p.rect(150, 238, 100, 62, 4, Pale);
            p.bar("M166 258H234M176 274H224", 5, Deep);
            p.bar("M138 172V318", 5, Pale);
        }
        1 => {
            for (x, y, ink) in [(118, 200, Main), (176, 132, Second), (234, 226, Accent)] {
                flame(p, x + 24, y);
                p.rect(x, y, 48, 330 - y, 6, ink);
                p.oval(x + 24, y + 2, 24, 6, Pale);
            }
        }
        _ => {
            flame(p, 200, 128);
            p.rect(182, 128, 36, 140, 4, Main);
            p.fill("M182 128h36v22q-8 16 -14 0q-6 12 -12 -4q-6 10 -10 0Z", Lit);
            p.fill("M160 262h80v18q-30 14 -30 34h-20q0 -20 -30 -34Z", Brass);
            p.rect(132, 312, 136, 18, 9, Brass);
            p.ring(288, 308, 16, 8, Brass);
        }
    }
}

pub(crate) fn bulb(p: &mut Pen) {
    p.disc(200, 176, 128, Glow);
    p.line("M200 22V8M76 68l-10 -10M324 68l10 -10M48 176H34M352 176h14", 7, Brass);
    let glass = "M200 70q-104 6 -104 108q0 46 34 76q14 14 16 30h108q2 -16 16 -30q34 -30 34 -76q0 -102 -104 -108Z";
    p.fill(glass, Pale);
    p.fill("M200 70q104 6 104 108q0 46 -34 76q-14 14 -16 30h-22q4 -20 16 -36q28 -28 28 -72q0 -88 -76 -106Z", Second);
    match p.one_in(2) {
        true => p.line("M178 282V214l-22 -48l30 22l14 -40l14 40l30 -22l-22 48V282", 5, Main),
        false => p.line("M180 282V190q0 -26 14 -26t14 26v20q0 20 12 20t12 -20V282", 5, Main),
    }
    p.rect(144, 280, 112, 42, 8, SteelDeep);
    p.bar("M144 294H256M144 308H256", 4, SteelLit);
    p.rect(176, 318, 48, 14, 7, Dark);
}
