//! Bars beside names: which is more, and by how much.

use super::{
    Chart,
    svg::{Anchor, Svg, fitted, text_width},
};

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// The value, as it is read.
    pub shown: String,
}

const ROW: f64 = 28.0;

/// `name` and `value` are the heads of the table.
pub fn bars(title: &str, name: &str, value: &str, bars: &[Bar]) -> Chart {
    let rows = bars.iter().map(|bar| vec![bar.name.clone(), bar.shown.clone()]).collect();
    Chart::drawn(title, vec![name.to_owned(), value.to_owned()], rows, |width| draw(title, bars, width))
}

fn draw(title: &str, bars: &[Bar], width: f64) -> String {
    let most = bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let widest = |text: fn(&Bar) -> &str| bars.iter().map(|bar| text_width(text(bar))).fold(0.0, f64::max);
    let names = widest(|bar| &bar.name).min(width * 0.4);
    let room = (width - names - 12.0 - widest(|bar| &bar.shown) - 12.0).max(10.0);
    let mut svg = Svg::new("chart-svg", width, ROW * bars.len() as f64, title);
    for (i, bar) in bars.iter().enumerate() {
        let top = i as f64 * ROW;
        let length = if most > 0.0 { (bar.value.max(0.0) / most * room).max(1.0) } else { 1.0 };
        svg.text("name", names, top + 18.0, Anchor::End, &fitted(&bar.name, names));
        svg.rect("bar c1", (names + 8.0, top + 5.0), (length, ROW - 10.0), &format!("{}: {}", bar.name, bar.shown));
        svg.text("value", names + 8.0 + length + 6.0, top + 18.0, Anchor::Start, &bar.shown);
    }
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_the_largest_value() {
        let bar = |name: &str, value: f64| Bar { name: name.into(), value, shown: value.to_string() };
        let chart =
            bars("T", "Name", "Value", &[bar("a", 50.0), bar("b", 100.0), bar("none", 0.0), bar("odd", f64::NAN)]);
        let lengths: Vec<f64> = chart
            .wide
            .split("class=\"bar c1\"")
            .skip(1)
            .map(|rest| rest.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!((lengths[1] / lengths[0] - 2.0).abs() < 0.01, "{lengths:?}");
        assert_eq!(lengths[2], 1.0);
        assert_eq!(chart.rows[1], ["b", "100"]);
    }
}
