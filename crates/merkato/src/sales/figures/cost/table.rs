//! An estimate as a table of text.

use std::fmt;

use rust_decimal::{Decimal, RoundingStrategy};

use super::estimate::{Estimate, Line, Part};

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Write => "write",
            Part::Read => "read",
            Part::Storage => "keep",
        })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let monthly = format!("{} a month", self.currency);
        let mut rows = vec![["", "a day, or kept", "units a day", "GB", &monthly].map(String::from)];
        rows.extend(self.lines.iter().map(row));
        rows.push(["all", "", "", "", &grouped(self.monthly, 2)].map(String::from));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 5] = std::array::from_fn(width);
        for [what, count, units, gigabytes, monthly] in &rows {
            let line = format!(
                "{what:<0$}  {count:>1$}  {units:>2$}  {gigabytes:>3$}  {monthly:>4$}",
                widths[0], widths[1], widths[2], widths[3], widths[4],
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

fn row(line: &Line) -> [String; 5] {
    let (units, gigabytes) = match line.part {
        Part::Write | Part::Read => (grouped(line.units_per_day, 0), String::new()),
        Part::Storage => (String::new(), grouped(line.gigabytes, 1)),
    };
    let what = format!("{} {}", line.part, line.what);
    [what, grouped(line.count, 0), units, gigabytes, grouped(line.monthly, 2)]
}

/// With so many decimals and commas between thousands: 36,500,000.
pub(super) fn grouped(number: Decimal, decimals: u32) -> String {
    let mut rounded = number.round_dp_with_strategy(decimals, RoundingStrategy::MidpointAwayFromZero);
    rounded.rescale(decimals);
    let text = rounded.to_string();
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = whole.trim_start_matches('-');
    let mut out = String::from(if digits.len() < whole.len() { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}
