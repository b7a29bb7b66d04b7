//! What lies on a desk.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn book(p: &mut Pen) {
    let turn = p.between(-10, 8);
    p.turned(turn, |p| {
        p.rect(112, 76, 194, 258, 8, Deep);
        p.rect(118, 84, 184, 244, 4, Pale);
        p.rect(98, 66, 194, 258, 8, Main);
        p.rect(98, 66, 26, 258, 6, Deep);
        let cover = "M124 66H284Q292 66 292 74V316Q292 324 284 324H124Z";
        match p.one_in(2) {
            true => p.decorate(cover, (124, 66, 168, 258), Second),
            false => {
                p.within(cover, |p| {
                    p.disc(208, 236, 62, Second);
                    p.fill("M120 280Q170 230 220 276T300 262V330H120Z", Accent);
                });
            }
        }
        p.rect(146, 100, 124, 64, 4, Pale);
        p.bar("M162 122H254M174 142H242", 8, Dark);
    });
}

pub(crate) fn notebook(p: &mut Pen) {
    let turn = p.between(-12, 10);
    let ring = p.one_in(2);
    p.turned(turn, |p| {
        p.rect(102, 74, 206, 262, 14, Deep);
        p.rect(106, 68, 198, 258, 10, Pale);
        p.rect(96, 66, 200, 258, 14, Main);
        p.decorate("M126 66H282Q296 66 296 80V310Q296 324 282 324H126Z", (126, 66, 170, 258), Second);
        match ring {
            true => p.rows(84, 320, 24, SteelDeep, 7, |at| format!("M82 {at}h30")),
            false => {
                p.bar("M266 66V324", 11, Accent);
                p.line("M150 324v26l8 -9l8 9v-26", 6, Accent);
            }
        }
        p.rect(146, 118, 96, 52, 6, Pale);
        p.bar("M160 138H228M160 152H206", 5, Soft);
    });
}

pub(crate) fn pen(p: &mut Pen) {
    let turn = p.between(30, 48);
    let kind = p.one_in(2);
    p.line("M64 338q30 -22 58 0t58 -4t54 2", 5, Soft);
    p.turned(turn, |p| {
        p.rect(178, 34, 44, 84, 16, Deep);
        p.rect(178, 110, 44, 150, 4, Main);
        p.decorate("M178 120H222V240H178Z", (178, 120, 44, 120), Second);
        p.rect(174, 104, 52, 15, 5, Brass);
        p.line("M218 52V158", 9, Brass);
        match kind {
            true => {
                p.rect(182, 258, 36, 34, 6, Dark);
                p.fill("M184 290H216L200 356Z", Brass);
                p.line("M200 346V312", 4, Dark);
                p.disc(200, 310, 5, Dark);
            }
            false => {
                p.fill("M178 258H222L206 330H194Z", SteelDeep);
                p.line("M200 330V348", 7, Dark);
                p.rect(192, 18, 16, 22, 5, SteelDeep);
            }
        }
    });
}

pub(crate) fn pencils(p: &mut Pen) {
    for (x, top, lean, ink) in [(152, 92, -10, Main), (184, 64, -3, Accent), (216, 84, 5, Second), (246, 104, 12, Deep)]
    {
        p.moved(format_args!("rotate({lean} {x} 250)"), |p| {
            p.rect(x - 13, top, 26, 190, 0, ink);
            p.fill(format_args!("M{0} {top}L{x} {1}L{2} {top}Z", x - 13, top - 36, x + 13), Pale);
            p.fill(format_args!("M{0} {1}L{x} {2}L{3} {1}Z", x - 5, top - 22, top - 36, x + 5), Dark);
        });
    }
    let body = if p.one_in(2) {
        "M126 196H274V316Q274 330 260 330H140Q126 330 126 316Z"
    } else {
        "M118 196H282L266 318Q264 330 252 330H148Q136 330 134 318Z"
    };
    p.fill(body, Main);
    p.decorate(body, (118, 196, 164, 134), Second);
    p.within(body, |p| p.rect(250, 190, 40, 150, 0, Deep));
    p.oval(200, 196, 78, 9, Deep);
}

pub(crate) fn scissors(p: &mut Pen) {
    let turn = p.between(-34, -14);
    p.turned(turn, |p| {
        p.fill("M192 220L236 44Q250 60 246 84L212 226Z", Steel);
        p.fill("M208 220L164 44Q150 60 154 84L188 226Z", SteelLit);
        p.line("M206 216L166 270", 19, Main);
        p.line("M194 216L234 270", 19, Deep);
        p.ring(148, 308, 38, 21, Main);
        p.ring(252, 308, 38, 21, Deep);
        p.disc(200, 212, 11, SteelDeep);
    });
}

pub(crate) fn envelope(p: &mut Pen) {
    let turn = p.between(-9, 9);
    p.turned(turn, |p| {
        if p.one_in(2) {
            p.rect(86, 84, 214, 150, 6, Pale);
            p.bar("M112 116H274M112 140H250M112 164H262", 6, Soft);
        }
        p.rect(66, 142, 268, 180, 8, Deep);
        p.fill("M66 150L200 244L334 150V314Q334 322 326 322H74Q66 322 66 314Z", Main);
        p.fill("M70 320L176 226L200 244L224 226L330 320Z", Lit);
        p.fill("M66 148Q66 142 74 142H326Q334 142 334 148L200 250Z", Second);
        p.disc(200, 234, 25, Accent);
        p.ring(200, 234, 13, 4, AccentDeep);
    });
}

pub(crate) fn headphones(p: &mut Pen) {
    p.line("M94 246V196Q94 84 200 84T306 196V246", 23, Dark);
    p.line("M124 138Q150 92 200 92T276 138", 15, Accent);
    let round = p.one_in(2);
    for (x, side) in [(64, 1), (282, -1)] {
        match round {
            true => {
                p.rect(x + 13 * side, 206, 54, 112, 27, Deep);
                p.rect(x, 206, 54, 112, 27, Main);
                p.rect(x + 16, 228, 22, 68, 11, Second);
            }
            false => {
                p.rect(x + 10 * side, 212, 56, 108, 16, Deep);
                p.rect(x, 200, 56, 124, 18, Main);
                p.disc(x + 28, 262, 18, Second);
            }
        }
    }
    if p.one_in(2) {
        p.line("M92 318Q100 352 160 344", 6, Dark);
    }
}

pub(crate) fn speaker(p: &mut Pen) {
    match p.between(0, 2) {
        0 => {
            p.rect(116, 76, 168, 254, 22, Main);
            p.rect(130, 90, 140, 226, 14, Deep);
            p.disc(200, 142, 35, Dark);
            p.disc(200, 142, 16, Second);
            p.disc(200, 244, 61, Dark);
            p.disc(200, 244, 44, Soft);
            p.disc(200, 244, 19, Second);
        }
        1 => {
            p.line("M130 160Q132 104 200 104T270 160", 13, Wood);
            p.rect(66, 156, 268, 164, 36, Main);
            p.within("M96 176H238V300H96Z", |p| p.dots((92, 176, 150, 124), 20, 9, Deep));
            p.disc(286, 210, 21, Second);
            p.line("M286 210V194", 5, Dark);
            p.rect(264, 260, 44, 12, 6, Accent);
            p.rect(92, 316, 34, 14, 5, Dark);
            p.rect(274, 316, 34, 14, 5, Dark);
        }
        _ => {
            let body = "M122 150Q122 120 200 120T278 150V302Q278 330 200 330T122 302Z";
            p.fill(body, Main);
            p.within(body, |p| {
                p.dots((112, 168, 180, 110), 18, 7, Deep);
                p.rect(110, 286, 180, 18, 0, Accent);
            });
            p.oval(200, 144, 78, 22, Second);
            p.line("M188 144h24M200 134v20", 6, Dark);
        }
    }
}

pub(crate) fn keyboard(p: &mut Pen) {
    let turn = p.between(-14, 6);
    let accents = p.throw();
    p.turned(turn, |p| {
        p.rect(40, 142, 324, 142, 20, Shade);
        p.rect(36, 132, 328, 142, 20, Deep);
        for row in 0..4 {
            for column in 0..10 {
                let ink = match (accents >> ((row * 10 + column) % 60)) & 7 {
                    0 => Accent,
                    1 => Second,
                    _ => Pale,
                };
                if row < 3 || !(3..=6).contains(&column) {
                    p.rect(50 + column * 30, 146 + row * 29, 26, 24, 6, ink);
                }
            }
        }
        p.rect(140, 233, 116, 24, 6, Main);
    });
    if p.one_in(2) {
        p.line("M200 128Q204 90 250 84T320 40", 7, Dark);
    }
}

pub(crate) fn camera(p: &mut Pen) {
    p.line("M72 168Q10 60 130 48T330 164", 8, WoodDeep);
    p.fill("M150 138L166 108H236L252 138Z", Deep);
    p.rect(286, 118, 34, 22, 7, Brass);
    p.rect(86, 120, 42, 20, 6, SteelDeep);
    p.rect(58, 134, 284, 190, 24, Main);
    p.rect(58, 178, 284, 98, 0, Deep);
    p.decorate("M58 178H342V276H58Z", (58, 178, 284, 98), Dark);
    let r = p.between(64, 78);
    p.disc(200, 228, r, SteelLit);
    p.disc(200, 228, r - 12, Dark);
    p.disc(200, 228, r - 30, Accent);
    p.disc(186, 214, 12, Pale);
    p.rect(280, 148, 44, 20, 6, Second);
    p.disc(92, 156, 9, Accent);
}

pub(crate) fn phone_case(p: &mut Pen) {
    let turn = p.between(-10, 12);
    p.turned(turn, |p| {
        p.rect(126, 54, 164, 290, 34, Deep);
        p.rect(118, 46, 164, 290, 34, Main);
        let body = "M150 46H250Q282 46 282 80V302Q282 336 250 336H150Q118 336 118 302V80Q118 46 150 46Z";
        p.decorate(body, (118, 130, 164, 206), Second);
        p.rect(134, 62, 70, 74, 22, Deep);
        p.disc(156, 84, 13, Dark);
        p.disc(182, 112, 13, Dark);
        p.disc(182, 82, 6, Pale);
        p.rect(282, 130, 6, 44, 3, Dark);
    });
}
