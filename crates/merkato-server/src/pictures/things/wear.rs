//! What one wears.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn shoe(p: &mut Pen) {
    if p.one_in(2) {
        let body = "M66 190Q100 208 132 186L160 166Q196 196 236 226L312 248Q344 258 344 296H60Q54 236 66 190Z";
        p.fill(body, Main);
        p.within(body, |p| {
            p.fill("M50 180H120Q132 240 96 300H50Z", Deep);
            p.fill("M290 236Q262 270 276 300H350V236Z", Second);
            p.line("M140 290Q200 226 236 292", 13, Second);
        });
        p.line("M166 196l-22 24M190 212l-22 24M214 228l-22 24", 8, Pale);
        p.fill("M52 288H352Q356 326 332 328H72Q48 328 52 288Z", Pale);
        p.rect(54, 314, 298, 14, 7, Accent);
    } else {
        let body = "M112 92H208L212 206L300 246Q336 260 338 300H104Q96 190 112 92Z";
        p.fill(body, Main);
        p.within(body, |p| {
            p.fill("M100 200H150V310H90Z", Deep);
            p.fill("M290 236Q266 268 282 304H350V236Z", Deep);
        });
        p.rect(104, 80, 112, 30, 13, Second);
        p.line("M206 128h-44M210 158h-44M212 188h-40M228 212l-26 26", 7, Pale);
        p.fill("M92 296H346Q352 330 330 330H104Q90 330 92 296Z", Dark);
        p.rows(116, 330, 26, Soft, 5, |at| format!("M{at} 316v16"));
    }
}

pub(crate) fn jacket(p: &mut Pen) {
    p.line("M200 70V46Q200 32 216 34", 6, SteelDeep);
    p.fill("M142 96L78 126Q54 140 50 178L36 288L86 296L112 190Z", Deep);
    p.fill("M258 96L322 126Q346 140 350 178L364 288L314 296L288 190Z", Deep);
    let body = "M152 88H248Q286 100 298 134V318Q298 330 286 330H114Q102 330 102 318V134Q114 100 152 88Z";
    p.fill(body, Main);
    let hood = p.one_in(2);
    if p.one_in(2) {
        p.within(body, |p| p.rect(96, 88, 210, 92, 0, Second));
    }
    match hood {
        true => {
            p.fill("M140 104Q140 56 200 56T260 104Q230 130 200 130T140 104Z", Deep);
            p.fill("M160 104Q160 78 200 78T240 104Q224 120 200 120T160 104Z", Dark);
        }
        false => p.fill("M156 82H244L256 112L200 128L144 112Z", Deep),
    }
    p.bar("M200 124V330", 5, Dark);
    p.line("M126 248L160 236M274 248L240 236", 6, Deep);
    match p.one_in(2) {
        true => {
            for y in [162, 206, 250, 294] {
                p.disc(214, y, 7, Brass);
            }
        }
        false => {
            p.rect(194, 132, 12, 22, 4, Brass);
            p.rect(224, 186, 46, 42, 6, Deep);
        }
    }
}

pub(crate) fn scarf(p: &mut Pen) {
    p.rows(116, 186, 11, Second, 5, |at| format!("M{at} 306v28"));
    p.rows(222, 282, 11, Second, 5, |at| format!("M{at} 286v28"));
    let back = "M216 176H286V290H216Z";
    p.fill(back, Deep);
    let front = "M112 170H188V310H112Z";
    p.fill(front, Main);
    p.decorate(front, (112, 180, 76, 130), Second);
    for y in [250, 272] {
        p.rect(216, y, 70, 11, 0, Second);
    }
    let round = "M92 132Q92 76 200 76T308 132Q312 194 200 200T92 132Z";
    p.fill(round, Main);
    p.fill("M140 124Q144 98 200 98T260 124Q252 148 200 148T140 124Z", Deep);
    p.line("M106 150Q140 186 210 186M128 170Q190 196 274 168", 5, Deep);
}

pub(crate) fn hat(p: &mut Pen) {
    if p.one_in(2) {
        let body = "M92 250Q84 112 200 108T308 250Z";
        p.disc(200, 96, 36, Second);
        p.fill(body, Main);
        p.decorate(body, (92, 120, 216, 130), Accent);
        p.rect(76, 240, 248, 68, 26, Deep);
        p.rows(96, 316, 20, Main, 6, |at| format!("M{at} 250V298"));
    } else {
        p.oval(200, 284, 160, 34, Deep);
        p.oval(200, 276, 160, 32, Main);
        p.fill("M112 276Q112 140 156 130Q200 156 244 130Q288 140 288 276Q200 300 112 276Z", Main);
        p.fill("M110 238Q200 268 290 238V274Q200 304 110 274Z", Accent);
        p.line("M160 146Q200 168 240 146", 6, Deep);
    }
}

pub(crate) fn socks(p: &mut Pen) {
    let kind = p.between(0, 2);
    for (dx, dy) in [(56, -16), (0, 0)] {
        p.moved(format_args!("translate({dx} {dy})"), |p| {
            let body = "M112 76H196V214Q200 232 236 252Q286 276 262 312Q244 336 196 324L140 296Q108 276 112 220Z";
            p.fill(body, if dx == 0 { Main } else { Deep });
            p.within(body, |p| {
                p.fill("M220 240Q200 290 214 340H300V240Z", Second);
                p.disc(112, 268, 42, Second);
                match kind {
                    0 => p.rows(132, 240, 28, Second, 11, |at| format!("M100 {at}H210")),
                    1 => p.dots((110, 120, 90, 110), 26, 11, Pale),
                    _ => p.rows(126, 250, 30, Pale, 5, |at| {
                        format!("M104 {at}l15 14l15 -14l15 14l15 -14l15 14l15 -14l15 14")
                    }),
                }
            });
            p.rect(104, 70, 100, 38, 10, Accent);
            p.rows(116, 200, 12, AccentDeep, 3, |at| format!("M{at} 76V102"));
        });
    }
}
