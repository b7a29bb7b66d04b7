//! Lines and areas over evenly spaced things, as days: with bands around them, gaps in them, and marks on them.

use super::{
    Chart, Written,
    scale::{Scale, named},
    svg::{Anchor, Px, Svg, fitted, text_width},
};

/// One line, from the oldest to the newest.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub values: Vec<Option<f64>>,
    /// Filled down to nought: for what is alone in its chart.
    pub is_area: bool,
    /// All that has no line of its own, taken together: drawn more quietly.
    pub is_rest: bool,
}

impl Series {
    pub fn line(name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        Series { name: name.into(), values, is_area: false, is_rest: false }
    }

    pub fn area(name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        Series { is_area: true, ..Series::line(name, values) }
    }

    pub fn rest(name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        Series { is_rest: true, ..Series::line(name, values) }
    }

    /// More lines than colours: the last colour is for all the others.
    fn class(&self, position: usize) -> String {
        if self.is_rest { "c7 rest".into() } else { format!("c{}", (position + 1).min(7)) }
    }
}

/// Between which values something is expected, or was: drawn behind the lines.
#[derive(Clone, Debug)]
pub struct Band {
    pub name: String,
    pub low: Vec<Option<f64>>,
    pub high: Vec<Option<f64>>,
}

/// Something that stands out.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its position.
    pub at: usize,
    /// That of the first series there, if it is not said.
    pub value: Option<f64>,
    pub why: String,
}

/// What a chart of lines shows.
pub struct Line<'l> {
    pub title: &'l str,
    /// One for each value, as `12 Mar`.
    pub labels: Vec<String>,
    pub series: Vec<Series>,
    pub bands: Vec<Band>,
    pub marks: Vec<Mark>,
    /// Whether the axis goes around the values, wherever they are, instead of beginning at nought.
    pub is_around: bool,
    /// How a value is written on the axis, shortly, and where it is read.
    pub axis: Written<'l>,
    pub value: Written<'l>,
}

const TOP: f64 = 24.0;
const BOTTOM: f64 = 24.0;
/// Between the names of two lines.
const NAME_HEIGHT: f64 = 17.0;

pub fn line(line: &Line<'_>) -> Chart {
    let mut head = vec![String::new()];
    head.extend(line.series.iter().map(|series| series.name.clone()));
    head.extend(line.bands.iter().map(|band| band.name.clone()));
    let written = |value: Option<&Option<f64>>| value.copied().flatten().map_or("–".to_owned(), line.value);
    let rows = line.labels.iter().enumerate().rev().map(|(i, label)| {
        let mut row = vec![label.clone()];
        row.extend(line.series.iter().map(|series| written(series.values.get(i))));
        row.extend(line.bands.iter().map(|band| match (band.low.get(i), band.high.get(i)) {
            (low @ Some(Some(_)), high @ Some(Some(_))) => format!("{} to {}", written(low), written(high)),
            _ => written(None),
        }));
        row
    });
    Chart::drawn(line.title, head, rows.collect(), |width| draw(line, width))
}

/// Where everything is on the picture.
struct Plot<'l> {
    line: &'l Line<'l>,
    y: Scale,
    right: f64,
    bottom: f64,
    width: f64,
}

fn draw(line: &Line<'_>, width: f64) -> String {
    let height = if width < 500.0 { 220.0 } else { 280.0 };
    let bottom = height - BOTTOM;
    let ends: Vec<_> = line.series.iter().map(|series| end_name(line, series, width)).collect();
    let right = width - ends.iter().map(|end| text_width(end)).fold(24.0, f64::max) - 12.0;
    let of_bands = line.bands.iter().flat_map(|band| band.low.iter().chain(&band.high));
    let values = line.series.iter().flat_map(|series| &series.values).chain(of_bands).flatten().copied();
    let values = values.chain(line.marks.iter().filter_map(|mark| mark.value));
    let y = match line.is_around {
        true => Scale::around(values, bottom, TOP, 4),
        false => Scale::new(values, bottom, TOP, 4),
    };
    let plot = Plot { line, y, right, bottom, width };
    let mut svg = Svg::new("chart-svg", width, height, line.title);
    plot.axes(&mut svg);
    for band in &line.bands {
        plot.band(&mut svg, band);
    }
    for (i, series) in line.series.iter().enumerate() {
        plot.series(&mut svg, series, &series.class(i));
    }
    plot.ticks(&mut svg);
    plot.names(&mut svg, &ends);
    // Nobody points at anything on a phone.
    if width >= 500.0 {
        plot.points(&mut svg);
    }
    for mark in &line.marks {
        let there = || line.series.first()?.values.get(mark.at).copied().flatten();
        let Some(value) = mark.value.or_else(there) else { continue };
        let (x, y) = (Px(plot.x(mark.at)), Px(plot.y.at(value)));
        svg.add(format_args!("<g class=\"mark\"><circle cx=\"{x}\" cy=\"{y}\" r=\"6\"/>"));
        svg.tip(&mark.why);
        svg.add(format_args!("</g>"));
    }
    svg.end()
}

/// What stands at the end of a line: its last value, after its name where there are several.
fn end_name(line: &Line<'_>, series: &Series, width: f64) -> String {
    let last = series.values.last().copied().flatten();
    let value = last.map_or("–".to_owned(), line.value);
    if line.series.len() == 1 {
        return value;
    }
    format!("{} {value}", fitted(&series.name, if width < 500.0 { 60.0 } else { 150.0 }))
}

impl Plot<'_> {
    fn x(&self, i: usize) -> f64 {
        let gaps = self.line.labels.len().saturating_sub(1).max(1);
        4.0 + i as f64 * (self.right - 8.0) / gaps as f64
    }

    fn axes(&self, svg: &mut Svg) {
        for tick in &self.y.ticks {
            let y = self.y.at(*tick);
            svg.segment(if *tick == 0.0 { "axis" } else { "grid" }, (0.0, y), (self.right, y));
        }
        let count = self.line.labels.len();
        for i in named(count, if self.width < 500.0 { 3 } else { 6 }) {
            let anchor = match i {
                0 => Anchor::Start,
                i if i + 1 == count => Anchor::End,
                _ => Anchor::Middle,
            };
            svg.text("tick", self.x(i), self.bottom + 18.0, anchor, &self.line.labels[i]);
        }
    }

    /// The values of the axis. They stand inside, and are drawn over whatever line comes by.
    fn ticks(&self, svg: &mut Svg) {
        for tick in &self.y.ticks {
            svg.text("tick", 0.0, self.y.at(*tick) - 4.0, Anchor::Start, &(self.line.axis)(*tick));
        }
    }

    /// The pieces between gaps, as positions and values.
    fn pieces(values: &[Option<f64>]) -> Vec<Vec<(usize, f64)>> {
        let mut pieces = vec![Vec::new()];
        for (i, value) in values.iter().enumerate() {
            match (value, pieces.last_mut()) {
                (Some(value), Some(piece)) => piece.push((i, *value)),
                _ => pieces.push(Vec::new()),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    fn path(&self, points: impl IntoIterator<Item = (usize, f64)>) -> String {
        let mut path = String::new();
        for (i, value) in points {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            path.push_str(&format!("{letter}{} {}", Px(self.x(i)), Px(self.y.at(value))));
        }
        path
    }

    fn series(&self, svg: &mut Svg, series: &Series, colour: &str) {
        for piece in Self::pieces(&series.values) {
            let path = self.path(piece.iter().copied());
            if let (true, Some(first), Some(last)) = (series.is_area, piece.first(), piece.last()) {
                let (ground, from, to) = (Px(self.y.at(0.0)), Px(self.x(first.0)), Px(self.x(last.0)));
                svg.add(format_args!("<path class=\"area {colour}\" d=\"{path}L{to} {ground}L{from} {ground}Z\"/>"));
            }
            if let [(i, value)] = piece[..] {
                // A value between two gaps has no line.
                let (x, y) = (Px(self.x(i)), Px(self.y.at(value)));
                svg.add(format_args!("<circle class=\"dot {colour}\" cx=\"{x}\" cy=\"{y}\" r=\"2.5\"/>"));
            } else {
                svg.add(format_args!("<path class=\"line {colour}\" d=\"{path}\"/>"));
            }
        }
        if let Some((i, value)) = series.values.iter().enumerate().rev().find_map(|(i, value)| Some((i, (*value)?))) {
            let (x, y) = (Px(self.x(i)), Px(self.y.at(value)));
            svg.add(format_args!("<circle class=\"dot {colour}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>"));
        }
    }

    fn band(&self, svg: &mut Svg, band: &Band) {
        let both: Vec<_> = band.low.iter().zip(&band.high).map(|(low, high)| (*low).zip(*high)).collect();
        let lows: Vec<_> = both.iter().map(|both| both.map(|(low, _)| low)).collect();
        for piece in Self::pieces(&lows) {
            let high = piece.iter().filter_map(|(i, _)| Some((*i, both[*i]?.1)));
            let path = self.path(high.chain(piece.iter().rev().copied()));
            svg.add(format_args!("<path class=\"band\" d=\"{path}Z\">"));
            svg.tip(&band.name);
            svg.add(format_args!("</path>"));
        }
    }

    /// The names at the ends of the lines, moved apart where they would stand on each other.
    fn names(&self, svg: &mut Svg, ends: &[String]) {
        let at = |series: &Series| series.values.iter().rev().find_map(|value| *value).unwrap_or(0.0);
        let mut names: Vec<_> = self.line.series.iter().zip(ends).enumerate().collect();
        names.sort_by(|(_, (a, _)), (_, (b, _))| at(b).total_cmp(&at(a)));
        let lowest = |left: usize| self.bottom + 4.0 - left as f64 * NAME_HEIGHT;
        let (count, mut y) = (names.len(), TOP - NAME_HEIGHT);
        for (place, (i, (series, end))) in names.into_iter().enumerate() {
            let wished = self.y.at(at(series)) + 4.0;
            y = wished.max(y + NAME_HEIGHT).min(lowest(count - 1 - place).max(y + NAME_HEIGHT));
            let class = format!("end {}", series.class(i));
            svg.text(&class, self.right + 6.0, y, Anchor::Start, end);
        }
    }

    /// A strip over each label that says its values when it is pointed at.
    fn points(&self, svg: &mut Svg) {
        let count = self.line.labels.len();
        let half = (self.right - 8.0) / count.saturating_sub(1).max(1) as f64 / 2.0;
        for (i, label) in self.line.labels.iter().enumerate() {
            let said = self.line.series.iter().map(|series| {
                let value = series.values.get(i).copied().flatten().map_or("no value".to_owned(), self.line.value);
                if self.line.series.len() == 1 { value } else { format!("{} {value}", series.name) }
            });
            let tip = format!("{label}: {}", said.collect::<Vec<_>>().join(", "));
            let (from, to) = ((self.x(i) - half).max(0.0), (self.x(i) + half).min(self.right));
            svg.rect("hit", (from, TOP), (to - from, self.bottom - TOP), &tip);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: Vec<Series>, bands: Vec<Band>) -> Chart {
        let written = |value: f64| format!("€{value}");
        let labels = (1..=series[0].values.len()).map(|day| format!("{day} Mar")).collect();
        let marks = vec![Mark { at: 0, value: None, why: "unusual".to_owned() }];
        let (axis, value): (Written<'_>, Written<'_>) = (&written, &written);
        line(&Line { title: "It went up", labels, series, bands, marks, is_around: false, axis, value })
    }

    #[test]
    fn a_line_is_not_drawn_across_a_gap() {
        let values = vec![Some(1.0), Some(2.0), None, Some(4.0), None, Some(5.0), Some(6.0)];
        let chart = chart(vec![Series::area("Revenue", values)], Vec::new());
        assert_eq!(chart.wide.matches("class=\"line c1\"").count(), 2);
        assert_eq!(chart.wide.matches("class=\"area c1\"").count(), 3);
        assert!(chart.wide.contains("3 Mar: no value"), "{}", chart.wide);
    }

    #[test]
    fn the_last_value_is_printed_and_the_table_has_the_newest_first() {
        let chart = chart(vec![Series::area("Revenue", vec![Some(1.0), Some(2.0), Some(9.0)])], Vec::new());
        assert!(chart.wide.contains(">€9</text>") && chart.narrow.contains(">€9</text>"));
        assert_eq!(chart.rows[0], ["3 Mar", "€9"]);
        assert!(chart.wide.contains("class=\"mark\"") && chart.wide.contains("unusual"));
    }

    #[test]
    fn lines_are_named_beside_their_ends_and_apart() {
        let series = ["Lamps", "Pens", "Paper", "Pots"].map(|name| Series::line(name, vec![Some(1.0), Some(2.0)]));
        let chart = chart(series.into(), Vec::new());
        let mut heights: Vec<f64> = chart
            .wide
            .split("class=\"end c")
            .skip(1)
            .map(|rest| rest.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 4);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 0.2), "{heights:?}");
        assert!(heights[3] <= 280.0 - BOTTOM + 5.0, "{heights:?}");
    }

    #[test]
    fn a_band_lies_behind_and_has_gaps_too() {
        let band = Band {
            name: "expected".into(),
            low: vec![Some(0.0), None, Some(1.0), Some(1.0)],
            high: vec![Some(2.0), Some(3.0), Some(3.0), Some(4.0)],
        };
        let values = vec![Some(1.0); 4];
        let chart = chart(vec![Series::line("Sold", values)], vec![band]);
        assert_eq!(chart.wide.matches("class=\"band\"").count(), 2);
        assert_eq!(
            (chart.rows[0].as_slice(), chart.rows[2][2].as_str()),
            (&["4 Mar", "€1", "€1 to €4"].map(str::to_owned)[..], "–")
        );
        assert!(chart.wide.find("class=\"band\"") < chart.wide.find("class=\"line"));
    }
}
