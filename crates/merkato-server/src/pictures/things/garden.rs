//! For the balcony and the garden.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn plant_pot(p: &mut Pen) {
    match p.between(0, 3) {
        0 => {
            for (turn, h) in [(-26, 130), (-12, 170), (14, 160), (28, 120), (0, 186)] {
                let ink = if turn % 4 == 0 { Leaf } else { LeafDeep };
                p.moved(format_args!("rotate({turn} 200 240)"), |p| {
                    p.fill(format_args!("M186 240Q176 {0} 200 {1}Q224 {0} 214 240Z", 240 - h / 2, 240 - h), ink);
                });
            }
        }
        1 => {
            for (turn, ink) in [(-64, LeafDeep), (64, LeafDeep), (-32, Leaf), (32, Leaf), (0, LeafDeep)] {
                p.moved(format_args!("rotate({turn} 200 240)"), |p| {
                    p.line("M200 240V150", 6, LeafDeep);
                    p.fill("M200 164q-46 -30 0 -104q46 74 0 104Z", ink);
                });
            }
        }
        2 => {
            p.rect(164, 96, 72, 150, 36, Leaf);
            p.rect(112, 150, 40, 66, 20, Leaf);
            p.line("M132 200Q134 222 172 220M268 176Q266 200 230 200", 24, Leaf);
            p.rect(250, 126, 38, 60, 19, Leaf);
            p.rows(182, 226, 18, LeafDeep, 4, |at| format!("M{at} 118V232"));
            p.disc(200, 96, 13, Accent);
        }
        _ => {
            p.disc(156, 176, 48, LeafDeep);
            p.disc(246, 176, 50, LeafDeep);
            p.disc(200, 136, 56, Leaf);
            for (x, y) in [(164, 160), (206, 116), (240, 164), (196, 176), (226, 140), (148, 194)] {
                p.disc(x, y, 9, Accent);
            }
        }
    }
    let taper = p.between(8, 34);
    let body = format!(
        "M118 232H282L{0} 318Q{1} 330 {2} 330H{3}Q{4} 330 {5} 318Z",
        282 - taper,
        280 - taper,
        266 - taper,
        134 + taper,
        120 + taper,
        118 + taper
    );
    p.fill(&body, Main);
    p.decorate(&body, (118, 240, 164, 90), Second);
    p.within(&body, |p| p.fill("M282 232H250L226 330H282Z", Deep));
    p.rect(110, 220, 180, 26, 8, Deep);
    p.rect(110, 220, 150, 26, 8, Main);
}

pub(crate) fn vase(p: &mut Pen) {
    // With its flowers it is higher than most things.
    p.moved("translate(18 30) scale(.91)", vase_and_flowers);
}

fn vase_and_flowers(p: &mut Pen) {
    p.line("M196 190Q190 120 150 84M204 190Q206 110 210 60M208 190Q220 130 262 98", 6, LeafDeep);
    if p.one_in(3) {
        p.line("M150 84q-10 -30 -30 -34M210 60q10 -24 4 -40M262 98q24 -12 40 -8", 6, LeafDeep);
        for (x, y) in
            [(120, 48), (146, 82), (168, 106), (214, 24), (210, 62), (208, 96), (300, 92), (262, 98), (238, 116)]
        {
            p.oval(x, y, 13, 18, Leaf);
        }
    } else {
        for (x, y, ink) in [(146, 78, Accent), (210, 52, Second), (266, 92, Accent)] {
            for turn in 0..5 {
                p.moved(format_args!("rotate({0} {x} {y})", turn * 72), |p| p.oval(x, y - 20, 13, 19, ink));
            }
            p.disc(x, y, 12, Brass);
        }
    }
    let body = match p.between(0, 2) {
        0 => {
            "M170 176H230Q230 206 262 232Q292 268 262 308Q252 330 226 330H174Q148 330 138 308Q108 268 138 232Q170 206 170 176Z"
        }
        1 => "M158 176H242L262 310Q262 330 244 330H156Q138 330 138 310Z",
        _ => "M184 168H216V220Q276 236 276 286Q276 330 232 330H168Q124 330 124 286Q124 236 184 220Z",
    };
    p.fill(body, Main);
    p.decorate(body, (120, 200, 160, 130), Second);
    p.within(body, |p| p.fill("M240 160H300V340H228Q262 290 236 236Z", Deep));
}

pub(crate) fn watering_can(p: &mut Pen) {
    p.line("M262 204q76 -26 70 42t-58 56", 15, Deep);
    p.line("M150 196Q158 130 216 132T262 196", 14, Deep);
    p.fill("M148 296L72 178L94 164L160 236Z", Deep);
    p.fill("M54 190L98 132Q114 146 110 158L78 198Q62 202 54 190Z", Second);
    for (x, y) in [(52, 222), (34, 252), (64, 254)] {
        p.fill(format_args!("M{x} {y}q-9 14 0 20q9 -6 0 -20Z"), Glass);
    }
    let body = if p.one_in(2) {
        "M140 194H270V312Q270 330 252 330H158Q140 330 140 312Z"
    } else {
        "M152 194H258L284 314Q286 330 268 330H142Q124 330 126 314Z"
    };
    p.fill(body, Main);
    p.decorate(body, (126, 200, 158, 130), Second);
    p.within(body, |p| p.rect(252, 190, 40, 150, 0, Deep));
    p.oval(205, 194, 64, 12, Deep);
}

pub(crate) fn spade(p: &mut Pen) {
    let turn = p.between(28, 42);
    p.turned(turn, |p| {
        p.line("M200 214V150", 12, SteelDeep);
        p.rect(184, 42, 32, 116, 15, Main);
        p.rect(184, 130, 32, 14, 4, Brass);
        p.bar("M200 52V122", 5, Lit);
        match p.between(0, 2) {
            0 => {
                p.fill("M156 206H244V280Q240 334 200 360Q160 334 156 280Z", Steel);
                p.fill("M200 206H244V280Q240 334 200 360Z", SteelDeep);
            }
            1 => {
                p.line("M160 350V236Q160 210 200 210T240 236V350M200 350V210", 15, Steel);
            }
            _ => {
                p.fill("M172 206H228L236 290Q226 340 200 366Q174 340 164 290Z", Steel);
                p.line("M200 226V326", 6, SteelDeep);
            }
        }
    });
}

pub(crate) fn shears(p: &mut Pen) {
    let turn = p.between(-36, -18);
    p.turned(turn, |p| {
        p.fill("M206 208Q236 140 222 44Q180 90 184 190Z", Steel);
        p.fill("M194 206Q150 150 176 60Q214 120 212 196Z", SteelLit);
        p.line("M204 206Q250 260 246 348", 24, Main);
        p.line("M196 206Q150 260 154 348", 24, Deep);
        p.line("M188 250q12 12 24 0t-24 16t24 4", 4, SteelDeep);
        p.disc(200, 202, 17, SteelDeep);
        p.disc(200, 202, 7, Brass);
        p.line("M154 330v18M246 330v18", 24, Accent);
    });
}

pub(crate) fn seeds(p: &mut Pen) {
    let turn = p.between(-10, 8);
    p.turned(turn, |p| {
        p.rect(104, 66, 192, 264, 6, Pale);
        p.fill("M104 66H296V96l-12 8l-12 -8l-12 8l-12 -8l-12 8l-12 -8l-12 8l-12 -8l-12 8l-12 -8l-12 8l-12 -8l-12 8l-12 -8l-12 8l-12 -8Z", Second);
        p.rect(104, 112, 192, 36, 0, Main);
        p.bar("M128 130H272", 7, Pale);
        p.rect(120, 164, 160, 148, 8, GroundDeep);
        match p.between(0, 2) {
            0 => {
                p.fill("M200 302Q172 262 182 226H218Q228 262 200 302Z", Accent);
                p.line("M200 226q-24 -30 -34 -26M200 226V182M200 226q24 -30 34 -26", 8, Leaf);
            }
            1 => {
                p.line("M200 304V226", 8, LeafDeep);
                for turn in 0..8 {
                    p.moved(format_args!("rotate({} 200 218)", turn * 45), |p| p.oval(200, 190, 11, 20, Brass));
                }
                p.disc(200, 218, 19, WoodDeep);
                p.fill("M200 286q-34 -4 -38 -30q32 0 38 30Z", Leaf);
            }
            _ => {
                p.disc(200, 250, 40, Accent);
                p.disc(184, 240, 10, Second);
                p.fill("M200 214l-26 -14l22 -4l4 -20l6 20l22 4Z", LeafDeep);
            }
        }
    });
}

pub(crate) fn bird_house(p: &mut Pen) {
    p.rect(190, 296, 20, 60, 4, WoodDeep);
    p.rect(116, 156, 168, 160, 6, Main);
    p.rows(188, 316, 32, Deep, 4, |at| format!("M116 {at}H284"));
    let roof = p.between(46, 74);
    p.fill(format_args!("M200 {roof}L316 176L298 194L200 {0}L102 194L84 176Z", roof + 40), Accent);
    p.fill(format_args!("M200 {0}L284 184V196H116V184Z", roof + 42), Main);
    p.disc(200, 214, 31, Dark);
    p.line("M200 268V290", 9, Wood);
    if p.one_in(2) {
        p.oval(200, 222, 20, 17, Second);
        p.disc(208, 206, 14, Second);
        p.fill("M220 204l16 5l-16 5Z", Brass);
        p.disc(212, 203, 3, Dark);
    } else {
        p.rect(96, 310, 208, 16, 6, WoodDeep);
    }
}
