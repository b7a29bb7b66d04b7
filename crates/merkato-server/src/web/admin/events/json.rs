//! JSON as lines that people read, with what an event has changed marked.

use serde_json::Value;

/// Characters of one value.
const VALUE_CHARS_MAX: usize = 300;
/// Characters of what was there before, beside what is there now.
const WAS_CHARS_MAX: usize = 80;

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Same,
    Added,
    Changed,
    Removed,
}

impl Mark {
    pub fn sign(self) -> &'static str {
        match self {
            Mark::Same => " ",
            Mark::Added => "+",
            Mark::Changed => "~",
            Mark::Removed => "−",
        }
    }

    /// Of the sheet; none where nothing became of it.
    pub fn class(self) -> &'static str {
        match self {
            Mark::Same => "",
            Mark::Added => "added",
            Mark::Changed => "changed",
            Mark::Removed => "removed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub mark: Mark,
    /// With its indentation.
    pub text: String,
    /// Of a line that changed.
    pub was: String,
}

/// Lines up to so many bytes.
#[derive(Debug)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// Whether there is more than is shown.
    pub is_cut: bool,
    room: usize,
}

impl Lines {
    /// A value by itself.
    pub fn of(value: &Value, bytes_max: usize) -> Self {
        let mut lines = Lines { lines: Vec::new(), is_cut: false, room: bytes_max };
        lines.whole(0, "", value, Mark::Same, "");
        lines
    }

    /// A value, with what is not as it was.
    pub fn between(old: &Value, new: &Value, bytes_max: usize) -> Self {
        let mut lines = Lines { lines: Vec::new(), is_cut: false, room: bytes_max };
        lines.compare(0, "", Some(old).filter(|old| !old.is_null()), Some(new), "");
        lines
    }

    fn push(&mut self, depth: usize, text: String, mark: Mark, was: String) {
        let text = format!("{}{text}", "  ".repeat(depth));
        // A line has its tags beside its text.
        let size = text.len() + was.len() + 48;
        if self.is_cut || size > self.room {
            self.is_cut = true;
            return;
        }
        self.room -= size;
        self.lines.push(Line { mark, text, was });
    }

    fn compare(&mut self, depth: usize, label: &str, old: Option<&Value>, new: Option<&Value>, comma: &str) {
        if self.is_cut {
            return;
        }
        match (old, new) {
            (None, None) => {}
            (None, Some(new)) => self.whole(depth, label, new, Mark::Added, comma),
            (Some(old), None) => self.whole(depth, label, old, Mark::Removed, ""),
            (Some(Value::Object(old)), Some(Value::Object(new))) if !new.is_empty() => {
                self.push(depth, format!("{label}{{"), Mark::Same, String::new());
                let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
                names.sort_unstable();
                names.dedup();
                let last = names.iter().rposition(|name| new.contains_key(*name));
                for (i, name) in names.iter().enumerate() {
                    let comma = if Some(i) == last { "" } else { "," };
                    self.compare(depth + 1, &named(name), old.get(*name), new.get(*name), comma);
                }
                self.push(depth, format!("}}{comma}"), Mark::Same, String::new());
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) if !new.is_empty() => {
                self.push(depth, format!("{label}["), Mark::Same, String::new());
                for i in 0..old.len().max(new.len()) {
                    let comma = if i + 1 >= new.len() { "" } else { "," };
                    self.compare(depth + 1, "", old.get(i), new.get(i), comma);
                }
                self.push(depth, format!("]{comma}"), Mark::Same, String::new());
            }
            (Some(old), Some(new)) if old == new => self.whole(depth, label, new, Mark::Same, comma),
            (Some(old), Some(new)) => {
                let at = self.lines.len();
                self.whole(depth, label, new, Mark::Changed, comma);
                if let Some(line) = self.lines.get_mut(at) {
                    line.was = cut(&old.to_string(), WAS_CHARS_MAX);
                }
            }
        }
    }

    fn whole(&mut self, depth: usize, label: &str, value: &Value, mark: Mark, comma: &str) {
        if self.is_cut {
            return;
        }
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                self.push(depth, format!("{label}{{"), mark, String::new());
                for (i, (name, value)) in fields.iter().enumerate() {
                    let comma = if i + 1 == fields.len() { "" } else { "," };
                    self.whole(depth + 1, &named(name), value, mark, comma);
                }
                self.push(depth, format!("}}{comma}"), mark, String::new());
            }
            Value::Array(values) if !values.is_empty() => {
                self.push(depth, format!("{label}["), mark, String::new());
                for (i, value) in values.iter().enumerate() {
                    let comma = if i + 1 == values.len() { "" } else { "," };
                    self.whole(depth + 1, "", value, mark, comma);
                }
                self.push(depth, format!("]{comma}"), mark, String::new());
            }
            value => {
                let text = cut(&value.to_string(), VALUE_CHARS_MAX);
                self.push(depth, format!("{label}{text}{comma}"), mark, String::new());
            }
        }
    }
}

/// A name as JSON writes it.
fn named(name: &str) -> String {
    format!("{}: ", cut(&Value::from(name).to_string(), VALUE_CHARS_MAX))
}

/// As much of a text as there is room for.
pub fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(lines: &Lines) -> Vec<String> {
        let one = |line: &Line| match line.was.as_str() {
            "" => format!("{}{}", line.mark.sign(), line.text),
            was => format!("{}{} was {was}", line.mark.sign(), line.text),
        };
        lines.lines.iter().map(one).collect()
    }

    #[test]
    fn what_an_event_changed_is_marked() {
        let old = json!({"a": 1, "b": {"x": [1, 2, 3]}, "gone": {"deep": true}, "same": {"k": []}});
        let new = json!({"a": "one", "b": {"x": [1, 5]}, "new": null, "same": {"k": []}});
        let lines = Lines::between(&old, &new, 10_000);
        assert_eq!(
            shown(&lines),
            [
                " {",
                "~  \"a\": \"one\", was 1",
                "   \"b\": {",
                "     \"x\": [",
                "       1,",
                "~      5 was 2",
                "−      3",
                "     ]",
                "   },",
                "−  \"gone\": {",
                "−    \"deep\": true",
                "−  }",
                "+  \"new\": null,",
                "   \"same\": {",
                "     \"k\": []",
                "   }",
                " }",
            ]
        );
        assert!(!lines.is_cut);
    }

    #[test]
    fn the_first_event_adds_everything_and_the_last_may_take_it() {
        assert_eq!(shown(&Lines::between(&Value::Null, &json!({"a": 1}), 1_000)), ["+{", "+  \"a\": 1", "+}"]);
        assert_eq!(shown(&Lines::between(&json!({"a": 1}), &json!({}), 1_000)), ["~{} was {\"a\":1}"]);
    }

    #[test]
    fn a_page_has_room_for_so_much() {
        let many: Vec<String> = (0..10_000).map(|n| format!("value {n} {}", "x".repeat(1_000))).collect();
        let lines = Lines::of(&json!({ "many": many }), 20_000);
        let bytes: usize = lines.lines.iter().map(|line| line.text.len()).sum();
        assert!(lines.is_cut && bytes < 20_000 && lines.lines.len() > 20, "{bytes}");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
