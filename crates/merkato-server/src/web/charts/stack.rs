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
    if whole == 0 { 0 } else { (value * 100 + whole / 2) / whole }
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
    let mut names: Vec<Name> = Vec::new();
    // The last parts are often the smallest: their names go to the left, those of the others to the right.
    for (_, part, left, wide) in boxes.iter().rev() {
        names.push(place(part, (*left, *wide), width, &names));
    }
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

fn place(part: &Part, (left, wide): (f64, f64), width: f64, placed: &[Name]) -> Name {
    let text = format!("{} {}", part.name, part.shown);
    let long = text_width(&text);
    let candidates = |row: usize| {
        let (first, last) = (left + 0.5, left + wide.max(1.0) - 0.5);
        let start = (first + 4.0 + long <= width).then(|| (first, first + 4.0, first + 4.0 + long, Anchor::Start));
        let end = (last - 4.0 - long >= 0.0).then(|| (last, last - 4.0 - long, last - 4.0, Anchor::End));
        let named = move |(x, from, to, anchor)| Name { text: String::new(), x, from, to, row, anchor };
        start.map(named).into_iter().chain(end.map(named))
    };
    let rows = placed.len() + 1;
    let found = (0..rows).flat_map(candidates).find(|name| placed.iter().all(|other| name.is_clear_of(other)));
    let last = || Name { text: String::new(), x: left + 0.5, from: 0.0, to: long, row: rows, anchor: Anchor::Start };
    Name { text, ..found.unwrap_or_else(last) }
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
                let mut names: Vec<Name> = Vec::new();
                let boxes: Vec<_> = all
                    .iter()
                    .map(|part| {
                        let wide = part.value as f64 / whole as f64 * (width - 6.0 * GAP);
                        left += wide + GAP;
                        (part, left - wide - GAP, wide)
                    })
                    .collect();
                for (part, left, wide) in boxes.into_iter().rev() {
                    let name = place(part, (left, wide), width, &names);
                    assert!(name.from >= 0.0 && name.to <= width, "{values:?}, {width}: {}", name.text);
                    assert!(names.iter().all(|other| name.is_clear_of(other)), "{values:?}, {width}: {}", name.text);
                    names.push(name);
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_parts() {
        assert!(stack("T", &parts(&[0, 0])).wide.ends_with("</svg>"));
    }
}
