//! How many of which size: columns without space between them.

use super::{
    Chart,
    scale::{Scale, named},
    svg::{Anchor, Svg},
};

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// What is counted in it, as `8 to 15`.
    pub name: String,
    pub value: u64,
    pub shown: String,
}

const TOP: f64 = 20.0;
const BOTTOM: f64 = 24.0;
const HEIGHT: f64 = 180.0;

/// `name` is what the columns are about, for the table.
pub fn histogram(title: &str, name: &str, columns: &[Column]) -> Chart {
    let rows = columns.iter().map(|column| vec![column.name.clone(), column.shown.clone()]).collect();
    Chart::drawn(title, vec![name.to_owned(), "Count".to_owned()], rows, |width| draw(title, columns, width))
}

fn draw(title: &str, columns: &[Column], width: f64) -> String {
    let bottom = HEIGHT - BOTTOM;
    let y = Scale::new(columns.iter().map(|column| column.value as f64), bottom, TOP, 3);
    let each = (width / columns.len().max(1) as f64).min(72.0);
    let mut svg = Svg::new("chart-svg", width, HEIGHT, title);
    for (i, column) in columns.iter().enumerate() {
        let (left, top) = (i as f64 * each, y.at(column.value as f64));
        let tip = format!("{}: {}", column.name, column.shown);
        svg.rect("column c1", (left, top), (each - 1.0, bottom - top), &tip);
        if column.value > 0 && each >= 28.0 {
            svg.text("value", left + each / 2.0, top - 4.0, Anchor::Middle, &column.shown);
        }
    }
    svg.segment("axis", (0.0, bottom), (each * columns.len() as f64, bottom));
    for i in named(columns.len(), (width / 80.0) as usize) {
        svg.text("tick", i as f64 * each + each / 2.0, bottom + 18.0, Anchor::Middle, &columns[i].name);
    }
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_high_as_it_counts() {
        let column = |value: u64| Column { name: value.to_string(), value, shown: value.to_string() };
        let chart = histogram("T", "Rows", &[column(0), column(5), column(10)]);
        let heights: Vec<f64> = chart
            .wide
            .split("class=\"column c1\"")
            .skip(1)
            .map(|rest| rest.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(heights[0], 0.0);
        assert!((heights[2] - 2.0 * heights[1]).abs() < 0.2, "{heights:?}");
        assert!(histogram("T", "Rows", &[]).wide.ends_with("</svg>"));
    }
}
