//! What stands in a room.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn chair(p: &mut Pen) {
    p.line("M146 226L134 86M254 226L266 86", 11, WoodDeep);
    match p.between(0, 3) {
        0 => {
            for y in [92, 128, 164] {
                p.rect(132, y, 136, 20, 8, Main);
            }
        }
        1 => {
            p.rect(128, 78, 144, 112, 26, Main);
            p.decorate(
                "M154 78H246Q272 78 272 104V164Q272 190 246 190H154Q128 190 128 164V104Q128 78 154 78Z",
                (128, 78, 144, 112),
                Second,
            );
        }
        2 => {
            p.rows(160, 250, 20, WoodDeep, 7, |at| format!("M{at} 100V214"));
            p.rect(124, 76, 152, 34, 16, Main);
        }
        _ => {
            p.rect(136, 84, 128, 124, 14, Wood);
            p.rect(148, 96, 104, 100, 8, Main);
            p.rows(112, 196, 16, Second, 5, |at| format!("M148 {at}H252"));
        }
    }
    let splay = p.between(2, 16);
    p.line(format_args!("M144 240L{0} 326M256 240L{1} 326", 136 - splay, 264 + splay), 12, Wood);
    p.line("M164 240L160 308M236 240L240 308", 10, WoodDeep);
    p.rect(116, 212, 168, 30, 13, Deep);
    p.rect(116, 206, 168, 26, 13, Main);
}

pub(crate) fn sofa(p: &mut Pen) {
    seats(p, 3);
}

pub(crate) fn armchair(p: &mut Pen) {
    seats(p, 1);
}

fn seats(p: &mut Pen, seats: i32) {
    let w = if seats == 1 { 124 } else { 232 };
    let (x, back, r) = (200 - w / 2, p.between(128, 158), p.between(12, 34));
    p.line(format_args!("M{0} 290L{1} 326M{2} 290L{3} 326", x + 4, x - 6, x + w - 4, x + w + 6), 11, WoodDeep);
    p.rect(x - 12, back, w + 24, 150, r, Deep);
    p.rect(x - 4, back + 8, w + 8, 140, r, Main);
    let wide = w / seats.min(2);
    if seats > 1 {
        p.bar(format_args!("M200 {0}V230", back + 12), 4, Deep);
    }
    for seat in 0..seats.min(2) {
        p.rect(x + seat * wide + 2, 222, wide - 4, 46, 14, Lit);
    }
    p.rect(x - 14, 256, w + 28, 42, 12, Main);
    p.bar(format_args!("M{0} 264H{1}", x + 6, x + w - 6), 4, Deep);
    for side in [x - 36, x + w - 6] {
        p.rect(side, 196, 42, 104, 20, Deep);
        p.rect(side + 4, 196, 34, 96, 17, Main);
    }
    if p.one_in(3) {
        return;
    }
    let at = if seats == 1 { 200 } else { x + 44 };
    let turn = p.between(-14, 14);
    p.moved(format_args!("translate({at} 198) rotate({turn})"), |p| {
        p.fill("M-34 -32q34 8 68 0q-8 32 0 64q-34 -8 -68 0q8 -32 0 -64Z", Accent);
        p.decorate("M-34 -32q34 8 68 0q-8 32 0 64q-34 -8 -68 0q8 -32 0 -64Z", (-34, -34, 68, 68), Pale);
    });
}

pub(crate) fn stool(p: &mut Pen) {
    let top = p.between(150, 196);
    p.line(format_args!("M150 {0}L122 324M250 {0}L278 324M200 {0}V324", top + 14), 13, Wood);
    let bar = (top + 350) / 2;
    p.bar(format_args!("M136 {bar}H264"), 9, WoodDeep);
    p.oval(200, top + 12, 90, 20, Deep);
    p.oval(200, top, 90, 20, Main);
    match p.one_in(2) {
        true => p.oval(200, top - 3, 66, 12, Second),
        false => p.bar(format_args!("M118 {top}Q200 {0} 282 {top}", top + 14), 4, Lit),
    }
}

pub(crate) fn table(p: &mut Pen) {
    match p.between(0, 2) {
        0 => {
            p.line("M92 200L76 324M308 200L324 324", 15, Wood);
            p.line("M120 200L112 306M280 200L288 306", 11, WoodDeep);
            p.rect(84, 196, 232, 30, 4, Deep);
            p.rect(160, 200, 80, 22, 3, Main);
            p.disc(200, 211, 5, Brass);
        }
        1 => {
            p.rect(188, 200, 24, 110, 4, WoodDeep);
            p.fill("M120 330Q196 296 200 290Q204 296 280 330Z", Wood);
        }
        _ => p.line("M116 200L72 324M116 200L150 324M284 200L328 324M284 200L250 324M92 268H142M258 268H308", 11, Dark),
    }
    p.rect(54, 178, 292, 26, 8, Main);
    p.rect(54, 178, 292, 10, 5, Lit);
    if p.one_in(2) {
        p.fill("M240 178v-34q-10 -26 14 -30q24 4 14 30v34Z", Second);
        p.line("M254 116q-6 -26 -22 -34M254 116q8 -30 20 -38", 4, LeafDeep);
        p.disc(230, 80, 9, Accent);
        p.disc(276, 76, 9, Accent);
    } else {
        p.rect(116, 164, 74, 14, 3, Accent);
        p.rect(124, 150, 62, 14, 3, Second);
    }
}

pub(crate) fn shelf(p: &mut Pen) {
    let boards: &[i32] = if p.one_in(2) { &[156, 276] } else { &[216] };
    for y in boards.iter().copied() {
        p.fill(format_args!("M96 {0}h14v34zM304 {0}h-14v34z", y + 14), Dark);
        p.rect(56, y, 288, 18, 4, Wood);
        p.rect(56, y + 12, 288, 6, 3, WoodDeep);
        let mut x = p.between(76, 96);
        for ink in [Main, Second, Accent, Deep, Lit] {
            let (w, h) = (p.between(14, 24), p.between(58, 88));
            p.rect(x, y - h, w, h, 3, ink);
            p.bar(format_args!("M{x} {0}h{w}", y - h + 14), 4, Pale);
            x += w + 2;
        }
        match p.one_in(2) {
            true => {
                p.fill(format_args!("M262 {0}h56l-8 44h-40Z", y - 44), Accent);
                p.fill(format_args!("M290 {0}q-40 -10 -34 -50q34 6 34 50q0 -50 36 -52q2 42 -36 52Z", y - 42), Leaf);
            }
            false => {
                p.disc(290, y - 36, 36, Second);
                p.disc(290, y - 36, 22, Pale);
            }
        }
    }
}

pub(crate) fn clock(p: &mut Pen) {
    let hours = p.between(0, 11);
    let minutes = p.between(0, 11);
    match p.between(0, 2) {
        0 => p.disc(200, 200, 128, Main),
        1 => p.rect(76, 76, 248, 248, 52, Main),
        _ => {
            p.line("M130 116L106 92M270 116L294 92M140 318L122 340M260 318L278 340", 16, Deep);
            p.disc(200, 210, 124, Main);
        }
    }
    p.disc(200, 202, 104, Pale);
    let marks = if p.one_in(2) { 12 } else { 4 };
    for mark in 0..marks {
        p.moved(format_args!("rotate({} 200 202)", mark * 360 / marks), |p| p.line("M200 112v14", 7, Dark));
    }
    p.moved(format_args!("rotate({} 200 202)", hours * 30 + minutes * 5 / 2), |p| p.line("M200 212V152", 11, Dark));
    p.moved(format_args!("rotate({} 200 202)", minutes * 30), |p| p.line("M200 216V124", 7, Deep));
    p.disc(200, 202, 11, Accent);
}

pub(crate) fn mirror(p: &mut Pen) {
    match p.between(0, 2) {
        0 => {
            p.disc(200, 204, 126, Main);
            p.disc(200, 204, 108, Glass);
        }
        1 => {
            p.oval(200, 200, 104, 138, Main);
            p.oval(200, 200, 88, 122, Glass);
        }
        _ => {
            p.fill("M96 330V168a104 104 0 0 1 208 0V330Z", Main);
            p.fill("M112 314V168a88 88 0 0 1 176 0V314Z", Glass);
        }
    }
    p.bar("M150 256L248 132M178 284L262 178", 11, Pale);
    if p.one_in(2) {
        p.line("M200 76Q200 30 200 30", 6, Dark);
        p.disc(200, 34, 9, Brass);
    }
}

pub(crate) fn basket(p: &mut Pen) {
    let (top, out) = (p.between(168, 204), p.between(0, 20));
    p.line(format_args!("M96 {0}q-44 20 -14 62M304 {0}q44 20 14 62", top + 26), 11, WoodDeep);
    if p.one_in(2) {
        p.fill(format_args!("M110 {0}q20 -70 90 -50q70 -34 90 50Z", top + 8), Accent);
        p.fill(format_args!("M150 {0}q40 -60 120 -6v10Z", top + 4), AccentDeep);
    }
    let body = format!("M{0} {top}H{1}L290 314Q288 330 272 330H128Q112 330 110 314Z", 90 - out, 310 + out);
    p.fill(&body, Wood);
    let ink = p.pick(&[Main, Accent, Second]);
    p.within(&body, |p| {
        p.rows(top + 22, 330, 24, WoodDeep, 4, |at| format!("M60 {at}H340"));
        p.rows(70, 340, 22, WoodDeep, 3, |at| format!("M{at} {top}V330"));
        p.rect(60, top + 52, 280, 34, 0, ink);
    });
    p.rect(80 - out, top - 10, 240 + 2 * out, 24, 12, WoodDeep);
}
