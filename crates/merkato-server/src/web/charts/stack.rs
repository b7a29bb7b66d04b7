//! One bar of several parts: how a whole is made up. Each part's name stands below it, where a thin line leads to it.

use super::{
    Chart,
    svg::{Anchor, Svg, text_width},
};

/// A part of the whole.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    pub value: u64,
    /// The value, as it is read.
    pub shown: String,
}

const BAR: f64 = 32.0;
const ROW: f64 = 22.0;
/// Between two parts, so that they are told apart without their colours; and between two names.
const GAP: f64 = 2.0;
const SPACE: f64 = 12.0;

pub fn stack(title: &str, parts: &[Part]) -> Chart {
    let whole: u64 = parts.iter().map(|part| part.value).sum();
    let share = |value: u64| format!("{} %", percent(value, whole));
    let rows = parts.iter().map(|part| vec![part.name.clone(), part.shown.clone(), share(part.value)]).collect();
    let head = ["", "Count", "Share"].map(str::to_owned).into();
    Chart::drawn(title, head, rows, |width| draw(title, parts, whole, width))
}

fn percent(value: u64, whole: u64) -> u64 {
    (value * 100 + whole / 2).checked_div(whole).unwrap_or(0)
}

/// A name that has found its place.
struct Name {
    text: String,
    /// Where the line comes down, and where the text begins and ends.
    x: f64,
    from: f64,
    to: f64,
    row: usize,
    anchor: Anchor,
}

impl Name {
    /// Whether neither's text lies on the other's, nor on the other's line.
    fn is_clear_of(&self, other: &Name) -> bool {
        let apart = self.to + SPACE <= other.from || other.to + SPACE <= self.from;
        let crosses = |line: &Name, text: &Name| {
            line.row > text.row && (text.from - SPACE / 2.0..=text.to + SPACE / 2.0).contains(&line.x)
        };
        (self.row != other.row || apart) && !crosses(self, other) && !crosses(other, self)
    }
}

fn draw(title: &str, parts: &[Part], whole: u64, width: f64) -> String {
    let shown: Vec<(usize, &Part)> = parts.iter().enumerate().filter(|(_, part)| part.value > 0).collect();
    let room = width - GAP * shown.len().saturating_sub(1) as f64;
    let mut boxes = Vec::new();
    let mut left = 0.0;
    for (i, part) in &shown {
        let wide = if whole > 0 { part.value as f64 / whole as f64 * room } else { 0.0 };
        boxes.push((*i, *part, left, wide));
        left += wide + GAP;
    }
    let spots: Vec<(&Part, f64, f64)> = boxes.iter().map(|(_, part, left, wide)| (*part, *left, *wide)).collect();
    let names = placed(&spots, width);
    let rows = names.iter().map(|name| name.row + 1).max().unwrap_or(0);
    let mut svg = Svg::new("chart-svg", width, BAR + 8.0 + rows as f64 * ROW, title);
    for (i, part, left, wide) in &boxes {
        let tip = format!("{}: {} ({} %)", part.name, part.shown, percent(part.value, whole));
        svg.rect(&format!("part c{}", i % 7 + 1), (*left, 0.0), (wide.max(1.0), BAR), &tip);
    }
    for name in &names {
        let y = BAR + 8.0 + name.row as f64 * ROW;
        svg.segment("lead", (name.x, BAR), (name.x, y + 14.0));
        let x = if name.anchor == Anchor::End { name.to } else { name.from };
        svg.text("name", x, y + 14.0, name.anchor, &name.text);
    }
    svg.end()
}

/// The names of parts with their left ends and widths, none on another where that can be.
///
/// The names of the first parts go to the right of their lines, those of the last parts, which are often small, to the left:
/// where the one way ends and the other begins is tried out, and what takes the fewest rows is taken.
fn placed(spots: &[(&Part, f64, f64)], width: f64) -> Vec<Name> {
    let tries = (0..=spots.len()).filter_map(|split| {
        let (first, last) = spots.split_at(split);
        let mut names: Vec<Name> = Vec::new();
        // From the middle outwards, so that a line comes down beside the names that have their places.
        for (spot, anchor) in
            last.iter().map(|spot| (spot, Anchor::End)).chain(first.iter().rev().map(|spot| (spot, Anchor::Start)))
        {
            let found = (0..spots.len()).map(|row| name(spot, anchor, row));
            let mut found = found.filter(|name| name.from >= 0.0 && name.to <= width);
            names.push(found.find(|name| names.iter().all(|other| name.is_clear_of(other)))?);
        }
        Some(names)
    });
    let best = tries.min_by_key(|names| names.iter().map(|name| name.row).max());
    // Where there is no way, each has a row of its own.
    let apart = || spots.iter().rev().enumerate().map(|(row, spot)| name(spot, Anchor::Start, row)).collect();
    best.unwrap_or_else(apart)
}

fn name((part, left, wide): &(&Part, f64, f64), anchor: Anchor, row: usize) -> Name {
    let text = format!("{} {}", part.name, part.shown);
    let long = text_width(&text);
    let (x, from) = match anchor {
        Anchor::End => (left + wide.max(1.0) - 0.5, left + wide.max(1.0) - 4.5 - long),
        _ => (left + 0.5, left + 4.5),
    };
    Name { text, x, from, to: from + long, row, anchor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: &[u64]) -> Vec<Part> {
        let names = ["Pending", "Paid", "Processing", "Shipped", "Delivered", "Cancelled", "Refunded"];
        let part = |(name, value): (&str, &u64)| Part { name: name.into(), value: *value, shown: value.to_string() };
        names.into_iter().zip(values).map(part).collect()
    }

    #[test]
    fn the_parts_fill_the_bar_and_none_is_missing() {
        let chart = stack("T", &parts(&[3, 0, 12, 40, 200, 2, 1]));
        assert_eq!(chart.wide.matches("class=\"part").count(), 6);
        assert_eq!(chart.rows.len(), 7);
        assert_eq!(chart.rows[4], ["Delivered", "200", "78 %"]);
    }

    #[test]
    fn names_never_stand_on_each_other() {
        for values in
            [[3, 5, 12, 40, 200, 2, 1], [1, 1, 1, 1, 1, 1, 1], [500, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 900]]
        {
            for width in [super::super::WIDE, super::super::NARROW] {
                let all = parts(&values);
                let whole: u64 = values.iter().sum();
                let mut left = 0.0;
                let spot = |part| {
                    let wide = Part::clone(part).value as f64 / whole as f64 * (width - 6.0 * GAP);
                    left += wide + GAP;
                    (part, left - wide - GAP, wide)
                };
                let spots: Vec<(&Part, f64, f64)> = all.iter().map(spot).collect();
                let names = placed(&spots, width);
                assert_eq!(names.len(), 7);
                for (i, name) in names.iter().enumerate() {
                    assert!(name.from >= 0.0 && name.to <= width, "{values:?}, {width}: {}", name.text);
                    let others = &names[..i];
                    assert!(others.iter().all(|other| name.is_clear_of(other)), "{values:?}, {width}: {}", name.text);
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_parts() {
        assert!(stack("T", &parts(&[0, 0])).wide.ends_with("</svg>"));
    }
}
