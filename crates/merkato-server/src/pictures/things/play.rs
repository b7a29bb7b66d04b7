//! For children, and for those who were some; and the parcel that stands for everything else.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn toy_car(p: &mut Pen) {
    match p.one_in(2) {
        true => {
            p.fill("M112 226L142 156Q148 144 164 144H248Q262 144 270 156L306 226Z", Main);
            p.fill("M140 218L160 170Q164 164 172 164H202V218Z", Glass);
            p.fill("M216 218V164H240Q250 164 256 172L282 218Z", Glass);
        }
        false => {
            p.rect(96, 138, 148, 90, 10, Second);
            p.fill("M252 226V160H290Q302 160 308 172L330 226Z", Main);
            p.fill("M266 216V178H286Q294 178 298 186L310 216Z", Glass);
        }
    }
    p.rect(52, 212, 296, 80, 32, Main);
    p.rect(52, 262, 296, 30, 14, Deep);
    p.rect(326, 226, 24, 24, 10, Brass);
    p.bar("M90 240H300", 9, Second);
    for x in [122, 278] {
        p.disc(x, 290, 42, Dark);
        p.disc(x, 290, 23, Wood);
        p.disc(x, 290, 8, WoodDeep);
    }
}

pub(crate) fn blocks(p: &mut Pen) {
    let shift = p.between(-14, 14);
    p.rect(92, 230, 100, 100, 10, Main);
    p.rect(206, 230, 100, 100, 10, Second);
    p.disc(142, 280, 27, Pale);
    p.fill("M256 252L284 306H228Z", Pale);
    match p.one_in(2) {
        true => {
            p.moved(format_args!("translate({shift} 0)"), |p| {
                p.rect(150, 130, 100, 96, 10, Accent);
                p.rect(174, 152, 52, 52, 6, Pale);
                p.fill("M142 126L200 52L258 126Z", Deep);
            });
        }
        false => {
            p.fill("M92 226V166Q92 126 200 126T308 166V226H256Q256 172 200 172T144 226Z", Accent);
            p.rect(162, 62, 76, 64, 10, Wood);
            p.disc(200, 94, 16, Main);
        }
    }
}

pub(crate) fn ball(p: &mut Pen) {
    let turn = p.between(-40, 40);
    p.moved(format_args!("rotate({turn} 200 216)"), |p| {
        p.disc(200, 216, 114, Main);
        let round = "M86 216a114 114 0 0 1 228 0a114 114 0 0 1 -228 0";
        match p.between(0, 2) {
            0 => p.within(round, |p| {
                p.fill("M200 90Q120 216 200 342Q240 216 200 90Z", Second);
                p.fill("M200 90Q330 130 330 216L200 216Q230 150 200 90Z", Accent);
                p.fill("M200 90Q70 130 70 216Q90 290 200 342Q110 216 200 90Z", Pale);
            }),
            1 => p.within(round, |p| {
                p.rect(80, 178, 240, 76, 0, Pale);
                p.rect(80, 198, 240, 36, 0, Second);
                p.disc(200, 216, 34, Accent);
            }),
            _ => p.within(round, |p| {
                p.fill("M200 172l42 30l-16 50h-52l-16 -50Z", Dark);
                p.line("M200 172V100M242 202l70 -24M226 252l44 60M174 252l-44 60M158 202l-70 -24", 6, Dark);
                p.fill("M170 96h60l-30 26ZM318 150v60l-28 -32ZM82 150v60l28 -32ZM282 300l-44 34l32 -38ZM118 300l44 34l-32 -38Z", Dark);
            }),
        }
        p.disc(200, 96, 9, Pale);
    });
    p.line("M124 190Q136 148 170 130", 9, Lit);
}

pub(crate) fn bear(p: &mut Pen) {
    for x in [132, 268] {
        p.disc(x, 88, 32, Main);
        p.disc(x, 88, 18, Second);
    }
    p.oval(118, 240, 30, 44, Deep);
    p.oval(282, 240, 30, 44, Deep);
    p.oval(200, 256, 84, 76, Main);
    p.oval(200, 264, 54, 52, Second);
    p.oval(142, 316, 38, 25, Deep);
    p.oval(258, 316, 38, 25, Deep);
    p.disc(142, 318, 14, Second);
    p.disc(258, 318, 14, Second);
    p.oval(200, 140, 84, 74, Main);
    p.oval(200, 164, 38, 29, Second);
    p.oval(200, 150, 15, 11, Dark);
    p.line("M200 160v12q-10 12 -20 6M200 172q10 12 20 6", 4, Dark);
    p.disc(166, 126, 9, Dark);
    p.disc(234, 126, 9, Dark);
    match p.one_in(2) {
        true => p.fill("M200 214l-46 -22v44ZM200 214l46 -22v44ZM188 202h24v24h-24Z", Accent),
        false => {
            p.fill("M130 196Q200 232 270 196L276 218Q200 256 124 218Z", Accent);
            p.fill("M232 222l24 -6l10 58l-30 4Z", AccentDeep);
        }
    }
}

pub(crate) fn kite(p: &mut Pen) {
    let tilt = p.between(8, 24);
    p.moved(format_args!("rotate({tilt} 210 160)"), |p| {
        p.line("M210 284q-30 24 0 48t-20 56", 5, Soft);
        for (y, ink) in [(316, Accent), (350, Second)] {
            p.fill(format_args!("M206 {y}l-24 -13v26ZM206 {y}l24 -13v26Z"), ink);
        }
        p.fill("M210 34L306 142L210 286L114 142Z", Main);
        match p.one_in(2) {
            true => {
                p.fill("M210 34L306 142H210Z", Second);
                p.fill("M210 286L114 142H210Z", Accent);
            }
            false => p.within("M210 34L306 142L210 286L114 142Z", |p| {
                p.rect(100, 110, 220, 30, 0, Second);
                p.rect(100, 160, 220, 30, 0, Accent);
            }),
        }
        p.line("M210 34V286M114 142H306", 4, Deep);
    });
}

pub(crate) fn puzzle(p: &mut Pen) {
    let piece = "M0 0H38Q30 -30 50 -30T62 0H100V38Q130 30 130 50T100 62V100H0Z";
    for (x, y, turn, ink) in [(92, 110, 0, Main), (206, 126, 6, Second), (88, 224, 0, Accent), (216, 232, -8, Deep)] {
        p.moved(format_args!("translate({x} {y}) rotate({turn} 50 50)"), |p| {
            p.fill(piece, ink);
            p.disc(50, 56, 14, Lit);
        });
    }
}

pub(crate) fn parcel(p: &mut Pen) {
    let (w, h) = (p.between(200, 252), p.between(150, 196));
    let (x, top) = (200 - w / 2, 330 - h);
    let body = format!("M{x} {top}h{w}v{h}h-{w}Z");
    p.rect(x, top, w, h, 8, Main);
    p.decorate(&body, (x, top, w, h), Lit);
    p.rect(x - 8, top - 14, w + 16, 46, 8, Deep);
    p.rect(182, top - 14, 36, h + 14, 0, Second);
    p.fill(format_args!("M200 {0}q-70 -66 -92 -30t92 30Z", top - 10), Second);
    p.fill(format_args!("M200 {0}q70 -66 92 -30t-92 30Z", top - 10), Second);
    p.fill(format_args!("M200 {0}q-46 -38 -60 -20t60 20q46 -38 60 -20t-60 20Z", top - 12), SecondDeep);
    p.rect(184, top - 26, 32, 26, 8, SecondDeep);
}
