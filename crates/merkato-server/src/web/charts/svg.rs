//! A picture that is being written. What is text is escaped here and nowhere else.

use std::fmt::{Display, Write as _};

pub(super) struct Svg(String);

/// Pixels with one decimal, which is as exact as a screen.
pub(super) struct Px(pub f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // A zero has no sign.
        write!(f, "{}", if tenths == 0.0 { 0.0 } else { tenths })
    }
}

struct Escaped<'t>(&'t str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '&' | '<' | '>' | '"' | '\'' => write!(f, "&#{};", u32::from(letter)),
            letter => f.write_char(letter),
        })
    }
}

/// Where a text stands in relation to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(class: &str, width: f64, height: f64, title: &str) -> Self {
        let (width, height) = (Px(width), Px(height));
        Svg(format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\
             <title>{}</title>",
            Escaped(title)
        ))
    }

    /// Markup of this module; writing to a string does not fail.
    pub(super) fn add(&mut self, markup: std::fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(markup);
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (Px(x), Px(y));
        self.add(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{}</text>", Escaped(text)));
    }

    pub(super) fn segment(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        self.add(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    /// A box that says what it is when it is pointed at.
    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), tip: &str) {
        let (x, y, width, height) = (Px(x), Px(y), Px(width.max(0.0)), Px(height.max(0.0)));
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{}</title></rect>",
            Escaped(tip)
        ));
    }

    pub(super) fn tip(&mut self, text: &str) {
        self.add(format_args!("<title>{}</title>", Escaped(text)));
    }

    pub(super) fn end(mut self) -> String {
        self.0.push_str("</svg>");
        self.0
    }
}

/// About how wide a text is in letters of thirteen pixels.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 7.3
}

/// A text that fits a width, cut where it does not.
pub(super) fn fitted(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let letters = ((width / 7.3) as usize).saturating_sub(1);
    format!("{}…", text.chars().take(letters).collect::<String>().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_short() {
        let texts: Vec<String> = [1.0, 1.25, -0.01, 100.04, 3.99].map(|px| Px(px).to_string()).into();
        assert_eq!(texts, ["1", "1.3", "0", "100", "4"]);
    }

    #[test]
    fn a_text_is_cut_where_it_does_not_fit() {
        assert_eq!(fitted("short", 100.0), "short");
        assert_eq!(fitted("a rather long name", 74.0), "a rather…");
        assert_eq!(fitted("a rather long name", 0.0), "…");
    }
}
