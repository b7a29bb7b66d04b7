//! Cloth for rooms.

use super::super::{palette::Ink::*, pen::Pen};

pub(crate) fn rug(p: &mut Pen) {
    if p.one_in(4) {
        for (r, ink) in [(140, Deep), (126, Main), (100, Second), (74, Main), (44, Accent), (20, Pale)] {
            p.disc(200, 200, r, ink);
        }
        return;
    }
    p.turned(-12, |p| {
        p.rows(88, 320, 11, PaleDeep, 4, |at| format!("M{at} 62v276"));
        p.rect(80, 78, 240, 244, 3, Main);
        p.rect(94, 92, 212, 216, 2, Pale);
        p.rect(100, 98, 200, 204, 2, Main);
        match p.between(0, 2) {
            0 => {
                p.rows(126, 300, 36, Second, 10, |at| {
                    format!("M100 {at}l25 -18l25 18l25 -18l25 18l25 -18l25 18l25 -18l25 18")
                });
            }
            1 => {
                p.fill("M200 106L292 200L200 294L108 200Z", Second);
                p.fill("M200 138L260 200L200 262L140 200Z", Accent);
                p.fill("M200 168L230 200L200 232L170 200Z", Pale);
            }
            _ => {
                for (y, ink) in [(112, Second), (150, Accent), (188, Pale), (226, Accent), (264, Second)] {
                    p.rect(100, y, 200, 24, 0, ink);
                }
            }
        }
    });
}

pub(crate) fn cushion(p: &mut Pen) {
    let body = "M82 96Q200 118 318 96Q304 206 318 316Q200 296 82 316Q96 206 82 96Z";
    let turn = p.between(-9, 9);
    p.turned(turn, |p| {
        p.fill("M78 110Q200 118 324 112Q306 206 322 330Q200 304 76 330Q96 206 78 110Z", Deep);
        p.fill(body, Main);
        p.decorate(body, (82, 92, 236, 228), Second);
        match p.between(0, 2) {
            0 => {
                for (x, y) in [(82, 96), (318, 96), (318, 316), (82, 316)] {
                    p.disc(x, y, 13, Accent);
                }
            }
            1 => p.line("M96 110Q200 130 304 110", 4, Deep),
            _ => p.disc(200, 206, 12, Deep),
        }
    });
}

pub(crate) fn blanket(p: &mut Pen) {
    let inks = p.pick(&[[Main, Second, Main], [Main, Main, Accent], [Second, Main, Second]]);
    for (i, ink) in (0..).zip(inks) {
        let y = 142 + i * 62;
        p.rect(72, y, 256, 62, 30, ink);
        p.bar(format_args!("M96 {0}H300", y + 31), 4, Deep);
        p.fill(format_args!("M300 {y}q30 2 30 31t-30 31q12 -31 0 -62Z"), Deep);
    }
    let front = "M112 136H232V286H112Z";
    p.rows(116, 232, 12, Lit, 5, |at| format!("M{at} 280v34"));
    p.fill(front, Main);
    p.decorate(front, (112, 136, 120, 150), Pale);
    p.bar("M112 274H232", 5, Deep);
}

pub(crate) fn towel(p: &mut Pen) {
    if p.one_in(3) {
        for (y, ink) in [(170, Second), (222, Main), (274, Accent)] {
            p.rect(86, y, 228, 54, 26, ink);
            p.disc(288, y + 27, 20, Pale);
            p.ring(288, y + 27, 12, 5, ink);
        }
        return;
    }
    p.rect(48, 76, 304, 14, 7, Brass);
    p.rect(52, 60, 14, 46, 4, Brass);
    p.rect(334, 60, 14, 46, 4, Brass);
    p.rect(112, 72, 84, 190, 6, Deep);
    let length = p.between(292, 328);
    p.rows(130, 296, 10, Lit, 4, |at| format!("M{at} {length}v12"));
    let body = format!("M126 72H286Q292 72 292 80V{length}H122V80Q122 72 126 72Z");
    p.fill(&body, Main);
    let ink = p.pick(&[Second, Pale, Accent]);
    for (y, h) in [(length - 78, 10), (length - 60, 22), (length - 30, 10)] {
        p.rect(122, y, 170, h, 0, ink);
    }
    p.bar("M150 84V220M240 84V190", 3, Deep);
}
