//! What a shopper chooses when buying a product: a size, a colour.
//!
//! A product has no table of variants. As an import writes it, and an editor may, a choice is an attribute with the name of one,
//! and with the values it can have between commas: `Size` with `S, M, L`. The cart's line remembers which was chosen.

use super::tables::Product;
use crate::limits;

/// The names of attributes that are choices where they have several values. "Material: oak, steel" is none: the thing is made
/// of both.
const NAMES: &[&str] = &[
    "amount",
    "color",
    "colors",
    "colour",
    "colours",
    "cut",
    "edition",
    "engraving",
    "finish",
    "fit",
    "flavor",
    "flavour",
    "format",
    "grind",
    "hand",
    "handle",
    "layout",
    "length",
    "model",
    "nib",
    "pack",
    "pattern",
    "roast",
    "ruling",
    "scent",
    "shade",
    "size",
    "sizes",
    "strength",
    "style",
    "volume",
    "width",
];

/// One thing to choose, and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub name: String,
    /// At least two, each once, in the order in which they were written.
    pub values: Vec<String>,
}

impl Product {
    /// By their names.
    pub fn choices(&self) -> Vec<Choice> {
        let choices = self.attributes.iter().filter_map(|(name, text)| choice(name, text));
        choices.take(limits::OPTIONS_A_LINE_MAX).collect()
    }
}

fn choice(name: &str, text: &str) -> Option<Choice> {
    if !NAMES.contains(&name.to_lowercase().as_str()) {
        return None;
    }
    let mut values: Vec<String> = Vec::new();
    for value in text.split(',').map(str::trim) {
        // One that no line of a cart could have is a sentence, and the text is no list.
        if value.is_empty() || value.len() > limits::LINE_BYTES_MAX || value.contains('\n') {
            return None;
        }
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    (values.len() > 1 && values.len() <= limits::COLLECTION_ITEMS_MAX).then(|| Choice { name: name.to_owned(), values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_values_under_the_name_of_a_choice_is_one() {
        let found = choice("Size", "S, M,L , M").unwrap();
        assert_eq!((found.name.as_str(), found.values), ("Size", vec!["S".to_owned(), "M".into(), "L".into()]));
    }

    #[test]
    fn anything_else_is_told_and_not_chosen() {
        for (name, text) in [
            ("Material", "oak, steel"),
            ("Size", "140 x 200"),
            ("Colour", "red, red"),
            ("Colour", "red,"),
            ("Size", ""),
        ] {
            assert_eq!(choice(name, text), None, "{name}: {text}");
        }
    }
}
