//! What one cooks with.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn kettle(p: &mut Pen) {
    let h = p.between(120, 158);
    let top = 326 - h;
    match p.one_in(2) {
        true => p.line(format_args!("M132 {0}Q132 {1} 200 {1}T268 {0}", top + 10, top - 84), 15, Dark),
        false => p.line(format_args!("M146 {0}V{1}H254V{0}", top + 10, top - 66), 15, WoodDeep),
    }
    p.fill(format_args!("M118 {0}L62 {1}L50 {2}L72 {2}L124 {3}Z", top + 84, top + 20, top - 2, top + 44), Deep);
    let body = format!("M140 {top}H260Q286 {0} 300 326H100Q114 {0} 140 {top}Z", top + h / 2);
    p.fill(&body, Main);
    p.decorate(&body, (100, top, 200, h), Second);
    p.fill(format_args!("M260 {top}Q286 {0} 300 326H268Q258 {0} 236 {top}Z", top + h / 2), Deep);
    p.rect(136, top - 12, 128, 18, 9, Deep);
    p.disc(200, top - 20, 13, Accent);
    p.rect(96, 318, 208, 12, 6, Dark);
}

pub(crate) fn teapot(p: &mut Pen) {
    p.line("M276 206q64 -8 58 44t-66 40", 17, Deep);
    p.fill("M128 238Q88 236 78 196L46 178L72 168Q104 176 112 204L140 216Z", Deep);
    let body = match p.between(0, 2) {
        0 => "M148 168H252Q302 206 290 268Q280 330 200 330T110 268Q98 206 148 168Z",
        1 => "M122 180H278Q296 250 276 330H124Q104 250 122 180Z",
        _ => "M150 160H250L300 310Q300 330 280 330H120Q100 330 100 310Z",
    };
    p.fill(body, Main);
    p.decorate(body, (100, 168, 200, 160), Second);
    p.oval(200, 170, 62, 14, Deep);
    p.fill("M142 168q0 -32 58 -34q58 2 58 34Z", Main);
    p.disc(200, 128, 13, Accent);
    p.line("M132 222q-8 34 4 62", 8, Lit);
}

pub(crate) fn mug(p: &mut Pen) {
    let (w, h, taper) = (p.between(126, 156), p.between(124, 186), p.pick(&[0, 10, 22]));
    let (x, top) = (180 - w / 2, 328 - h);
    let (right, middle) = (x + w, top + h / 2);
    if p.one_in(2) {
        p.line(
            format_args!(
                "M{0} {1}q-14 -18 0 -36t0 -36M{2} {1}q-14 -18 0 -36t0 -36",
                x + w / 3,
                top - 16,
                x + w * 2 / 3
            ),
            6,
            Pale,
        );
    }
    match p.one_in(3) {
        true => p.line(
            format_args!("M{0} {1}H{2}V{3}H{0}", right - 10, middle - h / 4, right + 44, middle + h / 4),
            17,
            Deep,
        ),
        false => {
            p.line(format_args!("M{0} {1}q66 -8 66 {2}t-72 {3}", right - 8, middle - h / 4, h / 4, h / 4), 17, Deep)
        }
    }
    let body = format!(
        "M{x} {top}H{right}L{0} 310Q{1} 328 {2} 328H{3}Q{4} 328 {5} 310Z",
        right - taper,
        right - taper,
        right - taper - 20,
        x + taper + 20,
        x + taper,
        x + taper
    );
    p.fill(&body, Main);
    p.decorate(&body, (x, top, w, h), Second);
    p.within(&body, |p| p.rect(right - 22 - taper / 2, top, 30, h, 0, Deep));
    p.oval(x + w / 2, top, w / 2, 15, Lit);
    p.oval(x + w / 2, top + 2, w / 2 - 9, 10, Dark);
}

pub(crate) fn plate(p: &mut Pen) {
    p.disc(206, 208, 126, Shade);
    p.disc(200, 200, 126, Main);
    match p.between(0, 3) {
        0 => p.ring(200, 200, 108, 10, Second),
        1 => {
            for turn in 0..12 {
                p.moved(format_args!("rotate({} 200 200)", turn * 30), |p| p.oval(200, 92, 8, 13, Second));
            }
        }
        2 => p.within("M74 200a126 126 0 0 1 252 0a126 126 0 0 1 -252 0", |p| {
            p.fill("M60 236Q140 196 210 240T340 220V340H60Z", Second)
        }),
        _ => {
            p.ring(200, 200, 116, 5, Accent);
            p.ring(200, 200, 102, 3, Accent);
        }
    }
    p.disc(200, 200, 80, Lit);
    p.ring(200, 200, 80, 3, Deep);
    if p.one_in(2) {
        p.line("M40 96V304M26 96v46q0 14 14 14t14 -14V96", 7, SteelDeep);
        p.line("M360 186V304", 8, SteelDeep);
        p.fill("M352 200V96q30 26 16 104Z", SteelDeep);
    }
}

pub(crate) fn bowl(p: &mut Pen) {
    let deep = p.between(96, 130);
    let top = 318 - deep;
    match p.between(0, 2) {
        0 => {
            for (x, y, ink) in
                [(140, 14, Accent), (196, 26, Leaf), (252, 14, Accent), (166, 34, Brass), (228, 38, Accent)]
            {
                p.disc(x, top - y + 16, 34, ink);
            }
        }
        1 => p.line(format_args!("M290 {0}L326 {1}", top, top - 110), 12, Wood),
        _ => {}
    }
    let body = format!("M64 {top}H336Q330 {0} 246 318H154Q70 {0} 64 {top}Z", top + deep * 3 / 4);
    p.fill(&body, Main);
    p.decorate(&body, (64, top, 272, deep), Second);
    p.fill(format_args!("M336 {top}Q330 {0} 246 318H220Q296 {0} 300 {top}Z", top + deep * 3 / 4), Deep);
    p.rect(60, top - 8, 280, 16, 8, Lit);
    p.rect(152, 314, 96, 16, 6, Deep);
}

pub(crate) fn pan(p: &mut Pen) {
    let turn = p.between(-52, -26);
    p.moved(format_args!("rotate({turn} 180 220)"), |p| {
        let ink = p.pick(&[Wood, Dark, Brass]);
        p.rect(280, 204, 108, 32, 15, ink);
        p.disc(368, 220, 7, Ground);
        p.rect(268, 208, 44, 24, 6, SteelDeep);
        p.disc(176, 228, 112, Shade);
        p.disc(172, 220, 112, Main);
        p.disc(172, 220, 94, Deep);
        if p.one_in(2) {
            p.fill("M110 216q-6 -46 50 -48q66 -6 74 42q6 50 -46 60q-70 14 -78 -54Z", Pale);
            p.disc(176, 216, 27, Brass);
        } else {
            p.ring(172, 220, 66, 4, Dark);
            p.ring(172, 220, 40, 4, Dark);
        }
    });
}

pub(crate) fn pot(p: &mut Pen) {
    let h = p.between(96, 140);
    let top = 326 - h;
    for x in [46, 290] {
        p.line(format_args!("M{0} {1}h44q16 0 16 16t-16 16h-44q-16 0 -16 -16t16 -16", x + 8, top + 26), 13, Deep);
    }
    let body = format!("M84 {top}H316V296Q316 326 286 326H114Q84 326 84 296Z");
    p.fill(&body, Main);
    p.decorate(&body, (84, top, 232, h), Second);
    p.within(&body, |p| p.rect(284, top, 40, h, 0, Deep));
    p.fill(format_args!("M84 {0}Q96 {1} 200 {1}T316 {0}Z", top - 4, top - 56), Lit);
    p.rect(74, top - 10, 252, 20, 10, Deep);
    let ink = p.pick(&[Brass, Dark, Wood]);
    p.rect(184, top - 64, 32, 14, 5, Deep);
    p.rect(172, top - 78, 56, 20, 10, ink);
}

pub(crate) fn knife(p: &mut Pen) {
    let turn = p.between(-52, -34);
    let long = p.between(0, 46);
    let tip = 20 + 46 - long;
    p.turned(turn, |p| {
        match p.between(0, 2) {
            0 => {
                p.fill(format_args!("M248 176H{tip}Q70 232 168 236L248 234Z"), Steel);
                p.fill(format_args!("M248 214Q120 222 {0} 184L{tip} 176Q70 232 168 236L248 234Z", tip + 14), SteelLit);
            }
            1 => {
                p.fill(format_args!("M248 178H{0}Q{tip} 190 {0} 226H248Z", tip + 18), Steel);
                let teeth = "l8 9l8 -9".repeat(usize::try_from((228 - tip) / 16).unwrap_or(0));
                p.fill(format_args!("M{0} 216V224{teeth}V216Z", tip + 20), SteelLit);
            }
            _ => {
                p.fill("M248 182H110Q84 200 78 220Q150 236 248 226Z", Steel);
                p.fill("M248 212Q150 220 78 220Q150 236 248 226Z", SteelLit);
            }
        }
        p.rect(240, 172, 20, 62, 5, SteelDeep);
        p.fill("M258 178H360Q386 182 384 206Q382 226 362 226H258Z", Main);
        p.fill("M258 208H384Q382 226 362 226H258Z", Deep);
        for x in [284, 316, 348] {
            p.disc(x, 200, 6, Brass);
        }
    });
}

pub(crate) fn board(p: &mut Pen) {
    let turn = p.between(-14, 10);
    let ink = p.pick(&[Wood, WoodDeep, Wood]);
    p.turned(turn, |p| {
        if p.one_in(3) {
            p.rect(180, 44, 44, 110, 20, ink);
            p.disc(202, 230, 104, ink);
            p.ring(202, 230, 84, 4, WoodDeep);
            p.disc(202, 68, 9, Ground);
        } else {
            p.rect(104, 96, 204, 236, 22, Shade);
            p.rect(98, 90, 204, 236, 22, ink);
            p.rect(176, 50, 48, 64, 20, ink);
            p.disc(200, 74, 10, Ground);
            let stripe = p.pick(&[Main, Accent, Second]);
            match p.one_in(2) {
                true => p.bar("M98 286H302M98 304H302", 9, stripe),
                false => p.bar("M120 110V306M280 110V306", 10, stripe),
            }
        }
        p.line(
            "M136 150q60 14 128 -2M140 196q60 18 120 2M136 244q70 12 128 0",
            4,
            if ink == WoodDeep { Wood } else { WoodDeep },
        );
    });
    if p.one_in(2) {
        p.disc(246, 250, 36, Accent);
        p.fill("M246 214q-10 -20 8 -30q10 18 -8 30Z", LeafDeep);
    }
}

pub(crate) fn utensils(p: &mut Pen) {
    p.line("M168 240L140 92", 12, Wood);
    p.oval(136, 84, 27, 38, Wood);
    p.oval(136, 86, 15, 24, WoodDeep);
    p.line("M232 240L258 120", 12, WoodDeep);
    p.rect(234, 44, 56, 84, 12, Main);
    p.bar("M250 62V112M272 62V112", 5, Deep);
    p.line("M200 240V130", 9, SteelDeep);
    p.line("M200 150Q160 100 200 40Q240 100 200 150M200 150Q184 96 200 40Q216 96 200 150", 5, SteelDeep);
    let body = "M126 212H274L262 316Q260 330 246 330H154Q140 330 138 316Z";
    p.fill(body, Main);
    p.decorate(body, (126, 212, 148, 118), Second);
    p.rect(120, 204, 160, 20, 10, Deep);
}

pub(crate) fn carafe(p: &mut Pen) {
    if p.one_in(2) {
        let outline = "M160 84H250L240 134Q296 190 296 262Q296 330 240 330H160Q104 330 104 262Q104 190 160 134L146 84Z";
        p.fill(outline, Glass);
        p.within(outline, |p| p.rect(90, 216, 220, 130, 0, Main));
        p.rect(158, 130, 84, 26, 6, Wood);
        p.bar("M200 130V156", 5, WoodDeep);
        p.line("M126 240q-8 40 14 66", 8, Lit);
    } else {
        for (x, top) in [(96, 190), (216, 150)] {
            let outline = format!("M{x} {top}h92l-10 164q-1 16 -16 16h-40q-15 0 -16 -16Z");
            p.fill(&outline, Glass);
            let level = top + 64;
            p.within(&outline, |p| p.rect(x, level, 92, 200, 0, Main));
            p.within(&outline, |p| p.rect(x, level, 92, 12, 0, Lit));
            p.line(format_args!("M{0} {1}l7 100", x + 18, top + 40), 6, Pale);
        }
        p.line("M264 156L286 70", 9, Accent);
    }
}

pub(crate) fn bottle(p: &mut Pen) {
    let (w, shoulder) = (p.between(92, 124), p.between(140, 166));
    let (x, right) = (200 - w / 2, 200 + w / 2);
    match p.between(0, 2) {
        0 => {
            p.rect(172, 62, 56, 44, 8, Dark);
            p.ring(200, 62, 20, 9, Dark);
        }
        1 => p.rect(168, 70, 64, 40, 10, Wood),
        _ => {
            p.rect(170, 82, 60, 30, 6, Steel);
            p.line("M176 82Q176 50 200 50T224 82", 9, Dark);
        }
    }
    p.rect(176, 100, 48, 24, 0, SteelDeep);
    let body = format!(
        "M172 114H228Q232 130 {right} {shoulder}V308Q{right} 330 {0} 330H{1}Q{x} 330 {x} 308V{shoulder}Q168 130 172 114Z",
        right - 22,
        x + 22
    );
    p.fill(&body, Main);
    p.decorate(&body, (x, shoulder + 10, w, 300 - shoulder), Second);
    p.within(&body, |p| {
        p.rect(right - 20, 100, 24, 240, 0, Deep);
        p.rect(x, 312, w, 20, 0, SteelDeep);
    });
    p.line(format_args!("M{0} {1}V270", x + 16, shoulder + 16), 7, Lit);
}

pub(crate) fn grinder(p: &mut Pen) {
    p.line("M200 120V84H292", 10, SteelDeep);
    p.disc(296, 76, 20, Wood);
    if p.one_in(2) {
        p.rect(120, 212, 160, 118, 8, Wood);
        p.rect(110, 316, 180, 14, 6, WoodDeep);
        p.rect(110, 204, 180, 16, 6, WoodDeep);
        p.rect(146, 248, 108, 48, 5, Main);
        p.disc(200, 272, 9, Brass);
        p.fill("M132 204Q136 130 200 126T268 204Z", Brass);
        p.fill("M226 132Q264 150 268 204H236Q240 160 226 132Z", Deep);
    } else {
        p.fill("M150 148Q150 112 200 112T250 148Z", SteelLit);
        p.rect(146, 146, 108, 104, 8, Main);
        p.decorate("M146 146H254V250H146Z", (146, 146, 108, 104), Second);
        p.rect(140, 246, 120, 18, 6, SteelDeep);
        p.rect(150, 264, 100, 66, 10, Steel);
        p.rect(232, 146, 22, 104, 6, Deep);
    }
}
