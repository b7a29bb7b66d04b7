//! Charts as SVG, drawn on the server: pure functions from numbers to pictures.
//!
//! 1. A chart's title is a sentence that says what it shows; it is the picture's text alternative, too, and the numbers stand in
//!    a table behind it.
//! 2. Axes have few round ticks. What a line or a part is called stands beside it; there are no legends. The last value is
//!    printed.
//! 3. Colours are classes (`c1` to `c7`), which the stylesheet gives light and dark values that the colour-blind can tell apart;
//!    nothing is said by a colour alone.
//! 4. Positions are floats, amounts are not: how a value is written is told by whoever asks for the chart.
//! 5. A series may have gaps (`None`): nothing is drawn across them.
//!
//! Every chart is drawn twice, for a wide and for a narrow page, so that its letters are as large on a phone as on a desk.

mod bars;
mod histogram;
mod line;
mod network;
mod scale;
mod sparkline;
mod stack;
mod svg;

use askama::Template;

pub use bars::{Bar, bars};
pub use histogram::{Column, histogram};
pub use line::{Band, Line, Mark, Series, line};
pub use network::{Neighbour, Step, neighbourhood, way};
pub use sparkline::{sparkline, sparkline_around};
pub use stack::{Part, stack};

/// The widths that charts are drawn for, in pixels.
const WIDE: f64 = 920.0;
const NARROW: f64 = 340.0;

/// A chart with its title and its table.
#[derive(Clone, Debug, Template)]
#[template(path = "admin/chart.html")]
pub struct Chart {
    pub title: String,
    /// What the figures are, and how exact; may be empty.
    pub note: String,
    wide: String,
    narrow: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Chart {
    /// A chart that a function of the width draws.
    fn drawn(title: &str, head: Vec<String>, rows: Vec<Vec<String>>, draw: impl Fn(f64) -> String) -> Self {
        let (wide, narrow) = (draw(WIDE), draw(NARROW));
        Chart { title: title.to_owned(), note: String::new(), wide, narrow, head, rows }
    }

    pub fn with_note(self, note: impl Into<String>) -> Self {
        Chart { note: note.into(), ..self }
    }
}

/// How a value is written on an axis.
pub type Written<'w> = &'w dyn Fn(f64) -> String;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_wrote_is_never_markup() {
        let hostile = "<script>alert(1)</script>\"'&";
        let count = |value: f64| format!("{value}");
        let chart = line(&Line {
            title: hostile,
            labels: vec![hostile.to_owned(); 3],
            series: vec![Series::line(hostile, vec![Some(1.0), None, Some(2.0)])],
            bands: Vec::new(),
            marks: Vec::new(),
            is_around: false,
            axis: &count,
            value: &count,
        });
        let others = [
            stack(hostile, &[Part { name: hostile.into(), value: 3, shown: hostile.into() }]),
            bars(hostile, hostile, hostile, &[Bar { name: hostile.into(), value: 1.0, shown: hostile.into() }]),
            histogram(hostile, hostile, &[Column { name: hostile.into(), value: 2, shown: hostile.into() }]),
            neighbourhood(
                hostile,
                hostile,
                &[Neighbour {
                    name: hostile.into(),
                    kind: hostile.into(),
                    is_light: true,
                    strength: 0.5,
                    community: None,
                }],
                &[],
            ),
            way(hostile, &[hostile.to_owned(), hostile.to_owned()], &[Step { kind: hostile.into(), strength: None }]),
        ];
        for chart in others.into_iter().chain([chart]) {
            let html = chart.render().expect("rendered");
            assert!(!html.contains("<script") && html.contains("&#60;script"), "{html}");
            assert!(!html.contains(" style=") && html.contains("role=\"img\""), "{html}");
        }
    }
}
