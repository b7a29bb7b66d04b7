//! What draws: shapes in the inks of a palette, with dice for what may differ. Coordinates are whole numbers in a square of
//! 400; a thing stands on 330 and is about 200 to 260 high.

use std::fmt::{Arguments, Display, Write as _};

use super::palette::{Ink, Palette};
use crate::dice::Dice;

pub(crate) struct Pen {
    out: String,
    dice: Dice,
    pub(crate) palette: Palette,
    clips: usize,
}

/// Left, top, width, height.
pub(crate) type Area = (i32, i32, i32, i32);

impl Pen {
    pub(crate) fn new(palette: Palette, seed: u64) -> Self {
        Pen { out: String::with_capacity(4_096), dice: Dice::new(seed), palette, clips: 0 }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Another thing in the same picture, with colours and throws of its own.
    pub(crate) fn other(&mut self, palette: Palette, seed: u64, draw: impl FnOnce(&mut Pen)) {
        let (before, dice) = (self.palette, std::mem::replace(&mut self.dice, Dice::new(seed)));
        self.palette = palette;
        draw(self);
        (self.palette, self.dice) = (before, dice);
    }

    // Chance.

    pub(crate) fn between(&mut self, from: i32, to: i32) -> i32 {
        from + i32::try_from(self.dice.below(i64::from(to - from) + 1)).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, many: i64) -> bool {
        self.dice.one_in(many)
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T; 3]) -> T {
        of[self.dice.index(of.len())]
    }

    pub(crate) fn throw(&mut self) -> u64 {
        self.dice.throw()
    }

    // Shapes.

    /// Writing into a string cannot fail.
    fn put(&mut self, text: Arguments<'_>) {
        let _ = self.out.write_fmt(text);
    }

    pub(crate) fn rect(&mut self, x: i32, y: i32, w: i32, h: i32, r: i32, ink: Ink) {
        let colour = self.palette.colour(ink);
        let (w, h) = (w.max(0), h.max(0));
        match r {
            0 => self.put(format_args!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{colour}"/>"#)),
            _ => self.put(format_args!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{r}" fill="{colour}"/>"#)),
        }
    }

    pub(crate) fn disc(&mut self, x: i32, y: i32, r: i32, ink: Ink) {
        let colour = self.palette.colour(ink);
        self.put(format_args!(r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{colour}"/>"#));
    }

    pub(crate) fn oval(&mut self, x: i32, y: i32, rx: i32, ry: i32, ink: Ink) {
        let colour = self.palette.colour(ink);
        self.put(format_args!(r#"<ellipse cx="{x}" cy="{y}" rx="{rx}" ry="{ry}" fill="{colour}"/>"#));
    }

    pub(crate) fn ring(&mut self, x: i32, y: i32, r: i32, width: i32, ink: Ink) {
        let colour = self.palette.colour(ink);
        self.put(format_args!(
            r#"<circle cx="{x}" cy="{y}" r="{r}" fill="none" stroke="{colour}" stroke-width="{width}"/>"#
        ));
    }

    /// A path, filled.
    pub(crate) fn fill(&mut self, path: impl Display, ink: Ink) {
        let colour = self.palette.colour(ink);
        self.put(format_args!(r#"<path d="{path}" fill="{colour}"/>"#));
    }

    /// A path, as a line with round ends.
    pub(crate) fn line(&mut self, path: impl Display, width: i32, ink: Ink) {
        let colour = self.palette.colour(ink);
        self.put(format_args!(
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round"/>"#
        ));
    }

    /// A path, as a line with flat ends.
    pub(crate) fn bar(&mut self, path: impl Display, width: i32, ink: Ink) {
        let colour = self.palette.colour(ink);
        self.put(format_args!(r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>"#));
    }

    // Groups.

    pub(crate) fn moved(&mut self, transform: impl Display, draw: impl FnOnce(&mut Pen)) {
        self.put(format_args!(r#"<g transform="{transform}">"#));
        draw(self);
        self.out.push_str("</g>");
    }

    pub(crate) fn turned(&mut self, degrees: i32, draw: impl FnOnce(&mut Pen)) {
        self.moved(format_args!("rotate({degrees} 200 200)"), draw);
    }

    /// Only what is within the path is seen.
    pub(crate) fn within(&mut self, path: impl Display, draw: impl FnOnce(&mut Pen)) {
        self.clips += 1;
        let id = self.clips;
        self.put(format_args!(r##"<clipPath id="c{id}"><path d="{path}"/></clipPath><g clip-path="url(#c{id})">"##));
        draw(self);
        self.out.push_str("</g>");
    }

    /// Paints a pattern on a body: bands, stripes, dots, waves, and sometimes nothing.
    pub(crate) fn decorate(&mut self, body: impl Display, area: Area, ink: Ink) {
        let kind = self.dice.below(11);
        // Nothing is seen of it where all is one colour, as in a shadow.
        if self.palette.main == self.palette.dark {
            return;
        }
        self.within(body, |pen| pen.pattern(kind, area, ink));
    }

    fn pattern(&mut self, kind: i64, (x, y, w, h): Area, ink: Ink) {
        let (right, end) = (x + w, y + h);
        match kind {
            0 => self.rect(x, y + h * 2 / 5, w, h / 5, 0, ink),
            1 => self.bar(format_args!("M{x} {0}H{right}M{x} {1}H{right}", y + h / 4, y + h * 3 / 4), h / 14 + 3, ink),
            2 => self.rows(x + w / 12, right, w / 6 + 1, ink, w / 14 + 2, |at| format!("M{at} {y}V{end}")),
            3 | 4 => self.dots((x, y, w, h), w.min(h) / 5 + 4, w.min(h) / 14 + 3, ink),
            5 => {
                let step = w / 6 + 1;
                let zigzag = |at: i32| format!("M{x} {at}{}", format!("l{step} {step}l{step} -{step}").repeat(3));
                self.rows(y + h / 5, end, h / 3 + 1, ink, h / 26 + 3, zigzag);
            }
            6 => {
                let step = w / 5 + 1;
                let wave = |at: i32| {
                    format!("M{x} {at}q{} {} {step} 0{}", step / 2, step * 2 / 3, format!("t{step} 0").repeat(4))
                };
                self.rows(y + h / 6, end, h / 4 + 1, ink, h / 30 + 3, wave);
            }
            7 => self.fill(
                format_args!(
                    "M{x} {0}Q{1} {2} {3} {0}T{right} {0}V{end}H{x}Z",
                    y + h * 3 / 5,
                    x + w / 4,
                    y + h / 2,
                    x + w / 2
                ),
                ink,
            ),
            8 => self.sprig((x, y, w, h), ink),
            9 => self.rows(x - h, right, w / 4 + 2, ink, w / 18 + 3, |at| format!("M{at} {y}l{h} {h}")),
            _ => {}
        }
    }

    /// Many lines of one kind, in one path.
    pub(crate) fn rows(&mut self, from: i32, to: i32, step: i32, ink: Ink, width: i32, row: impl Fn(i32) -> String) {
        let path: String = (from..to).step_by(usize::try_from(step).unwrap_or(1).max(1)).map(row).collect();
        self.bar(path, width, ink);
    }

    /// Dots in rows that are set off against each other, in one path: lines of no length with round ends.
    pub(crate) fn dots(&mut self, (x, y, w, h): Area, step: i32, width: i32, ink: Ink) {
        let step = step.max(4);
        let mut path = String::new();
        for row in 0..=h / step {
            let shift = if row % 2 == 0 { step / 2 } else { 0 };
            for column in 0..=w / step {
                let _ = write!(path, "M{} {}h0", x + shift + column * step, y + step / 2 + row * step);
            }
        }
        self.line(path, width, ink);
    }

    /// A twig with leaves.
    fn sprig(&mut self, (x, y, w, h): Area, ink: Ink) {
        let (middle, leaf) = (x + w / 2, w.min(h) / 6 + 3);
        let (top, end) = (y + h / 6, y + h * 5 / 6);
        self.line(format_args!("M{middle} {end}V{top}"), 4, ink);
        for at in 0..3 {
            let up = top + (end - top) * at / 3 + leaf / 2;
            for side in [-1, 1] {
                let out = side * leaf * 2;
                let edge = side * leaf;
                self.fill(format_args!("M{middle} {up}q{edge} -{leaf} {out} -{leaf}q0 {leaf} {0} {leaf}z", -out), ink);
            }
        }
    }
}
