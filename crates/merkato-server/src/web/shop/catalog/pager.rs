//! The numbers below a list.

use crate::web::next;

/// Pages that are reached by their number alone.
pub const WALKED_PAGES_MAX: usize = 40;
/// Pages that have a number.
const PAGES_MAX: usize = 1_000_000;
/// Numbers on either side of the page that is shown.
const BESIDE: usize = 2;

/// The number of a page as an address has it; the first where it has none that makes sense.
pub fn number(text: Option<&str>) -> usize {
    text.and_then(|text| text.parse().ok()).filter(|number| (1..=PAGES_MAX).contains(number)).unwrap_or(1)
}

/// One number.
pub struct Leaf {
    pub number: usize,
    pub path: String,
    pub is_here: bool,
    /// Whether numbers are left out before it.
    pub is_gap: bool,
}

/// The links of a list of which one page is shown.
#[derive(Default)]
pub struct Pager {
    pub leaves: Vec<Leaf>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What a list is at, without its pages: a path, and what its query says.
pub struct Address<'a> {
    pub path: &'a str,
    pub query: Vec<(&'static str, &'a str)>,
}

impl Address<'_> {
    /// The path of a page, by its number and, if there is one, its cursor.
    pub fn page(&self, number: usize, cursor: Option<&str>) -> String {
        let number = (number > 1).then(|| number.to_string());
        let more = [("page", number.as_deref()), ("cursor", cursor)];
        let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let pairs = self.query.iter().copied().chain(more);
        let query: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", next::encode(value))).collect();
        if query.is_empty() { self.path.to_owned() } else { format!("{}?{}", self.path, query.join("&")) }
    }
}

impl Pager {
    /// `ahead` is how many pages there certainly are behind this one.
    pub fn new(address: &Address, here: usize, next: Option<&str>, ahead: usize) -> Self {
        let last = here + if next.is_some() { ahead.max(1) } else { 0 };
        let after = next.map(|cursor| address.page(here + 1, Some(cursor)));
        let near = here.saturating_sub(BESIDE).max(1)..=last.min(here + BESIDE);
        let first = (*near.start() > 1).then_some(1);
        let mut leaves: Vec<Leaf> = Vec::new();
        for number in first.into_iter().chain(near) {
            let is_next = number == here + 1;
            if number != here && !is_next && number > WALKED_PAGES_MAX {
                continue;
            }
            let path = match &after {
                Some(after) if is_next => after.clone(),
                _ => address.page(number, None),
            };
            let is_gap = leaves.last().is_some_and(|leaf| leaf.number + 1 != number);
            leaves.push(Leaf { number, path, is_here: number == here, is_gap });
        }
        let before = (here > 1 && here - 1 <= WALKED_PAGES_MAX).then(|| address.page(here - 1, None));
        let leaves = if leaves.len() > 1 { leaves } else { Vec::new() };
        Pager { leaves, before, after }
    }

    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty() && self.before.is_none() && self.after.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(pager: &Pager) -> String {
        let leaf = |leaf: &Leaf| {
            let here = if leaf.is_here { "[]" } else { "" };
            format!("{}{}{here}", if leaf.is_gap { "… " } else { "" }, leaf.number)
        };
        pager.leaves.iter().map(leaf).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_lead_to_the_first_page_and_around_this_one() {
        let address = Address { path: "/c/lamps", query: vec![("sort", "newest")] };
        let pager = |here, next, ahead| Pager::new(&address, here, next, ahead);
        assert!(pager(1, None, 0).is_empty());
        assert_eq!(numbers(&pager(1, Some("c"), 4)), "1[] 2 3");
        assert_eq!(numbers(&pager(6, Some("c"), 4)), "1 … 4 5 6[] 7 8");
        assert_eq!(numbers(&pager(3, None, 0)), "1 2 3[]");
        let far = pager(60, Some("c"), 4);
        assert_eq!((numbers(&far).as_str(), far.before.as_deref()), ("1 … 60[] 61", None));
        let two = pager(2, Some("a+b"), 1);
        assert_eq!(two.before.as_deref(), Some("/c/lamps?sort=newest"));
        assert_eq!(two.after.as_deref(), Some("/c/lamps?sort=newest&page=3&cursor=a%2Bb"));
    }
}
