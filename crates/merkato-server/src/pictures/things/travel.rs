//! For the way: bags, and what is put into them.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn backpack(p: &mut Pen) {
    p.line("M168 84Q168 48 200 48T232 84", 11, Dark);
    p.rect(76, 176, 40, 108, 18, Deep);
    p.rect(284, 176, 40, 108, 18, Deep);
    let body = "M102 160Q102 72 200 72T298 160V306Q298 330 274 330H126Q102 330 102 306Z";
    p.fill(body, Main);
    if p.one_in(2) {
        p.fill("M102 164Q102 72 200 72T298 164Q298 190 200 190T102 164Z", Second);
        p.bar("M160 150V214M240 150V214", 12, Dark);
        p.rect(150, 200, 20, 22, 4, Brass);
        p.rect(230, 200, 20, 22, 4, Brass);
    } else {
        p.line("M118 168Q120 100 200 98T282 168", 5, Dark);
        p.line("M282 168v16", 7, Brass);
        p.decorate("M112 170H288V214H112Z", (112, 170, 176, 44), Second);
    }
    p.rect(124, 226, 152, 88, 18, Deep);
    p.rect(124, 226, 152, 34, 14, Accent);
    p.line("M140 262H260", 4, Dark);
    p.line("M246 262v18", 6, Brass);
}

pub(crate) fn tent(p: &mut Pen) {
    p.line("M48 330L24 344M352 330L376 344", 5, Dark);
    if p.one_in(2) {
        p.fill("M200 112L346 330H54Z", Main);
        p.fill("M200 112L346 330H262Z", Deep);
        p.within("M200 112L346 330H54Z", |p| p.rect(40, 286, 320, 18, 0, Second));
        p.fill("M200 150L246 330H154Z", Dark);
        p.fill("M200 150L154 330H126L196 150Z", Second);
        p.fill("M200 150L246 330H274L204 150Z", Second);
        p.line("M200 112V84", 7, WoodDeep);
        p.fill("M200 84l34 10l-34 12Z", Accent);
    } else {
        p.fill("M44 330Q60 140 200 136T356 330Z", Main);
        p.fill("M200 136Q310 146 356 330H292Q276 190 200 136Z", Deep);
        p.line("M200 136Q120 190 106 330M200 136Q280 190 294 330", 6, Second);
        p.fill("M200 200Q156 240 152 330H248Q244 240 200 200Z", Dark);
        p.fill("M200 200Q156 240 152 330H128Q136 236 200 200Z", Accent);
    }
}

pub(crate) fn suitcase(p: &mut Pen) {
    if p.one_in(2) {
        p.line("M164 96V52H236V96", 11, SteelDeep);
        p.rect(108, 92, 184, 222, 24, Main);
        p.rows(140, 270, 28, Deep, 7, |at| format!("M{at} 108V298"));
        p.rect(170, 84, 60, 16, 6, Dark);
        p.rect(126, 310, 30, 20, 8, Dark);
        p.rect(244, 310, 30, 20, 8, Dark);
        p.rect(176, 196, 48, 30, 6, Brass);
    } else {
        p.line("M160 150V120Q160 106 174 106H226Q240 106 240 120V150", 13, WoodDeep);
        p.rect(62, 146, 276, 184, 20, Main);
        p.decorate("M62 166H338V310H62Z", (62, 160, 276, 150), Second);
        p.bar("M112 146V330M288 146V330", 20, WoodDeep);
        p.rect(102, 200, 20, 22, 3, Brass);
        p.rect(278, 200, 20, 22, 3, Brass);
        p.bar("M62 206H338", 4, Deep);
        for (x, y) in [(62, 146), (312, 146), (62, 304), (312, 304)] {
            p.rect(x, y, 26, 26, 10, Brass);
        }
    }
}

pub(crate) fn tote(p: &mut Pen) {
    p.line("M150 190Q146 62 200 62T250 190", 12, Deep);
    let body = "M88 168H312L328 314Q328 330 312 330H88Q72 330 72 314Z";
    p.fill(body, Main);
    p.decorate(body, (72, 190, 256, 140), Second);
    p.within(body, |p| p.rect(70, 168, 260, 16, 0, Deep));
    p.line("M150 172V214M250 172V214", 12, Accent);
    if p.one_in(3) {
        p.rect(164, 238, 72, 58, 6, Pale);
        p.bar("M178 258H222M184 274H216", 6, Main);
    }
}

pub(crate) fn bell(p: &mut Pen) {
    p.line("M20 318H280Q340 318 356 262", 24, SteelDeep);
    p.line("M20 318h72", 32, Dark);
    p.rect(168, 276, 64, 58, 10, Dark);
    p.line("M262 262l60 -16", 13, SteelDeep);
    p.rect(304, 228, 50, 22, 10, Dark);
    let ink = p.pick(&[Brass, Main, Second]);
    p.fill("M110 212H290Q290 286 200 286T110 212Z", SteelDeep);
    let dome = "M104 208Q104 112 200 112T296 208Q296 222 282 222H118Q104 222 104 208Z";
    p.fill(dome, ink);
    p.decorate(dome, (104, 120, 192, 96), Pale);
    p.within(dome, |p| p.rect(104, 202, 192, 24, 0, Deep));
    p.disc(200, 114, 14, SteelLit);
    p.line("M126 190Q128 148 166 134", 9, Pale);
    p.line("M84 130q14 -40 50 -60M58 112q20 -52 62 -76", 7, Soft);
}

pub(crate) fn torch(p: &mut Pen) {
    if p.one_in(2) {
        p.fill("M96 208L8 120V330Z", Glow);
        p.turned(0, |p| {
            p.fill("M96 160Q84 206 96 256L164 238V178Z", SteelDeep);
            p.oval(96, 208, 13, 48, Pale);
            p.rect(160, 176, 178, 64, 14, Main);
            p.rows(226, 322, 16, Deep, 5, |at| format!("M{at} 178V238"));
            p.rect(180, 166, 36, 16, 7, Accent);
            p.rect(328, 182, 22, 52, 8, Dark);
        });
    } else {
        p.fill("M200 220L60 390H340Z", Glow);
        p.line("M200 90Q40 96 62 186T200 262Q360 270 338 186T200 90", 25, Main);
        p.line("M200 90Q40 96 62 186T200 262Q360 270 338 186T200 90", 6, Second);
        p.rect(142, 196, 116, 110, 20, Dark);
        p.disc(200, 250, 41, Steel);
        p.disc(200, 250, 29, Pale);
        p.rect(168, 184, 64, 20, 8, Accent);
    }
}

pub(crate) fn umbrella(p: &mut Pen) {
    let turn = p.between(-16, 16);
    p.turned(turn, |p| {
        p.line("M200 70V306Q200 336 226 336T252 308", 11, WoodDeep);
        p.line("M200 72V50", 8, Dark);
        let canopy = "M52 222Q60 74 200 70Q340 74 348 222Q326 196 298 222Q274 194 249 222Q224 194 200 222Q176 194 151 222Q126 194 102 222Q74 196 52 222Z";
        p.fill(canopy, Main);
        p.within(canopy, |p| {
            p.fill("M200 60Q120 120 102 230H151Q160 120 200 60Q240 120 249 230H298Q280 120 200 60Z", Second);
        });
        if p.one_in(2) {
            p.within(canopy, |p| p.dots((50, 80, 300, 140), 44, 11, Accent));
        }
    });
}
