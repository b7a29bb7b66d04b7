//! People as a picture: somebody among those whom they know, and a way from one to another.
//!
//! Places follow from who is drawn and from nothing else: the same people stand in the same places tomorrow. Names stand in two
//! columns at the sides, so that none lies on another; on a narrow page the discs have initials instead, and the names stand in the
//! table.

use super::{
    Chart,
    svg::{Anchor, Px, Svg, fitted, text_width},
};

/// Somebody whom the one in the middle knows.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub name: String,
    /// What they are to each other, in words.
    pub kind: String,
    /// Whether it is less than a friendship: the line is broken.
    pub is_light: bool,
    /// 0 to 1.
    pub strength: f64,
    /// The number of the community, where it is known.
    pub community: Option<u32>,
}

/// From this width on, names stand beside the discs.
const NAMED: f64 = 600.0;
/// Between two who stand below each other.
const STEP: f64 = 40.0;
const MARGIN: f64 = 32.0;
/// The one in the middle has room, with the name below.
const HEIGHT_MIN: f64 = 132.0;
/// Colours that there are for communities; beyond them the numbers tell.
const COLOURS: u32 = 6;

/// Somebody, those whom they know, and who of these know each other, by their places.
pub fn neighbourhood(title: &str, name: &str, neighbours: &[Neighbour], links: &[(usize, usize)]) -> Chart {
    let known = |i: usize| links.iter().filter(|(a, b)| *a == i || *b == i).count();
    let row = |(i, neighbour): (usize, &Neighbour)| {
        vec![
            neighbour.name.clone(),
            neighbour.kind.clone(),
            format!("{:.2}", neighbour.strength),
            known(i).to_string(),
            neighbour.community.map_or_else(|| "–".to_owned(), |community| (community + 1).to_string()),
        ]
    };
    let rows = neighbours.iter().enumerate().map(row).collect();
    let head = ["Who", "What", "Strength", "Know each other", "Community"].map(str::to_owned).into();
    let order = ordered(neighbours, links);
    Chart::drawn(title, head, rows, |width| draw(title, name, (neighbours, links), &order, width))
}

/// Those who know each other side by side: each time whoever knows most of the last few.
fn ordered(neighbours: &[Neighbour], links: &[(usize, usize)]) -> Vec<usize> {
    let linked = |a: usize, b: usize| links.iter().any(|link| *link == (a, b) || *link == (b, a));
    let mut left: Vec<usize> = (0..neighbours.len()).collect();
    left.sort_by_key(|i| (neighbours[*i].community, *i));
    let mut order: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let last: Vec<usize> = order.iter().rev().take(3).copied().collect();
        let near = |i: usize| last.iter().filter(|other| linked(i, **other)).count();
        let same = |i: usize| last.first().is_none_or(|other| neighbours[*other].community == neighbours[i].community);
        let best = (0..left.len()).rev().max_by_key(|at| (same(left[*at]), near(left[*at])));
        order.push(left.remove(best.unwrap_or(0)));
    }
    order
}

/// Where each stands: down the right side and up the left.
fn places(order: &[usize], width: f64) -> (Vec<(f64, f64)>, f64) {
    let right = order.len().div_ceil(2);
    let height = (2.0 * MARGIN + right.saturating_sub(1) as f64 * STEP).max(HEIGHT_MIN);
    let reach = if width >= NAMED { width / 2.0 - 210.0 } else { width / 2.0 - 24.0 };
    let middle = height / 2.0;
    let mut places = vec![(0.0, 0.0); order.len()];
    for (at, i) in order.iter().enumerate() {
        let (side, row, of) = match at.checked_sub(right) {
            None => (1.0, at, right),
            Some(row) => (-1.0, order.len() - right - 1 - row, order.len() - right),
        };
        let y = middle + (row as f64 - (of - 1) as f64 / 2.0) * STEP;
        // On an arc, which is wider than high.
        let bend = 1.0 - ((y - middle) / (height / 2.0 + STEP)).powi(2);
        places[*i] = (width / 2.0 + side * reach * bend.max(0.0).sqrt(), y);
    }
    (places, height)
}

fn colour(community: Option<u32>) -> u32 {
    community.map_or(7, |community| community % COLOURS + 1)
}

fn draw(
    title: &str,
    name: &str,
    (neighbours, links): (&[Neighbour], &[(usize, usize)]),
    order: &[usize],
    width: f64,
) -> String {
    let (places, height) = places(order, width);
    let (centre_x, centre_y) = (width / 2.0, height / 2.0);
    let mut svg = Svg::new("chart-svg people", width, height, title);
    for (a, b) in links {
        let (from, to) = (places[*a], places[*b]);
        // Bent towards the middle, but not into it; at one side a little less.
        let bend = if (from.0 > centre_x) == (to.0 > centre_x) { 0.3 } else { 0.4 };
        let pull = |from: f64, to: f64, centre: f64| Px((from + to) / 2.0 * (1.0 - bend) + centre * bend);
        let (x, y) = (pull(from.0, to.0, centre_x), pull(from.1, to.1, centre_y));
        let (x1, y1, x2, y2) = (Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        svg.add(format_args!("<path class=\"tie\" d=\"M{x1} {y1}Q{x} {y} {x2} {y2}\"/>"));
    }
    for (neighbour, (x, y)) in neighbours.iter().zip(&places) {
        let broken = if neighbour.is_light { " light" } else { "" };
        let (cx, cy, x, y) = (Px(centre_x), Px(centre_y), Px(*x), Px(*y));
        let wide = Px(1.0 + 3.0 * neighbour.strength.clamp(0.0, 1.0));
        svg.add(format_args!(
            "<line class=\"spoke{broken}\" x1=\"{cx}\" y1=\"{cy}\" x2=\"{x}\" y2=\"{y}\" stroke-width=\"{wide}\"/>"
        ));
    }
    let is_named = width >= NAMED;
    for (neighbour, (x, y)) in neighbours.iter().zip(&places) {
        let colour = colour(neighbour.community);
        disc(&mut svg, (*x, *y), if is_named { 9.0 } else { 16.0 }, colour, &neighbour.name);
        if is_named {
            let (label, anchor) = if *x > centre_x { (x + 18.0, Anchor::Start) } else { (x - 18.0, Anchor::End) };
            svg.text("name", label, y + 4.5, anchor, &fitted(&neighbour.name, 186.0));
        } else {
            svg.text("initials", *x, y + 4.5, Anchor::Middle, &initials(&neighbour.name));
        }
    }
    disc(&mut svg, (centre_x, centre_y), 22.0, 0, name);
    svg.text("initials", centre_x, centre_y + 4.5, Anchor::Middle, &initials(name));
    if is_named {
        svg.text("name", centre_x, centre_y + 42.0, Anchor::Middle, &fitted(name, 200.0));
    }
    svg.end()
}

fn disc(svg: &mut Svg, (x, y): (f64, f64), radius: f64, colour: u32, name: &str) {
    let (x, y, radius) = (Px(x), Px(y), Px(radius));
    svg.add(format_args!("<g class=\"disc c{colour}\"><circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    svg.tip(name);
    svg.add(format_args!("</g>"));
}

/// The first letters of the first and the last word.
pub fn initials(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().and_then(|word| word.chars().next());
    let last = words.next_back().and_then(|word| word.chars().next());
    first.into_iter().chain(last).flat_map(char::to_uppercase).collect()
}

/// A step of a way: what it is, and how strong.
#[derive(Clone, Debug)]
pub struct Step {
    pub kind: String,
    pub strength: Option<f64>,
}

/// A way from the first of these people to the last. There is a step less than there are people.
pub fn way(title: &str, people: &[String], steps: &[Step]) -> Chart {
    let row = |(i, step): (usize, &Step)| {
        let strength = step.strength.map_or_else(|| "–".to_owned(), |strength| format!("{strength:.2}"));
        let to = people.get(i + 1).cloned().unwrap_or_default();
        vec![format!("{}. {}", i + 1, people[i]), to, step.kind.clone(), strength]
    };
    let rows = steps.iter().take(people.len().saturating_sub(1)).enumerate().map(row).collect();
    let head = ["From", "To", "What", "Strength"].map(str::to_owned).into();
    Chart::drawn(title, head, rows, |width| draw_way(title, people, steps, width))
}

fn draw_way(title: &str, people: &[String], steps: &[Step], width: f64) -> String {
    let count = people.len().max(1);
    let is_wide = width >= NAMED;
    let across = width / count as f64;
    let place = |i: usize| match is_wide {
        true => (across * (i as f64 + 0.5), 44.0),
        false => (28.0, 28.0 + i as f64 * 68.0),
    };
    let height = if is_wide { 96.0 } else { 56.0 + (count - 1) as f64 * 68.0 };
    let mut svg = Svg::new("chart-svg people", width, height, title);
    for (i, step) in steps.iter().enumerate().take(count - 1) {
        let (from, to) = (place(i), place(i + 1));
        svg.segment("stretch", from, to);
        let strength = step.strength.map(|strength| format!(", {strength:.2}")).unwrap_or_default();
        let says = format!("{}{strength}", step.kind);
        // Where both have no room, the table has the strength.
        let room = across - 44.0;
        let short = if text_width(&says) <= room { &says } else { &step.kind };
        match is_wide {
            true => svg.text("step", (from.0 + to.0) / 2.0, 30.0, Anchor::Middle, &fitted(short, room)),
            false => svg.text("step", 44.0, (from.1 + to.1) / 2.0 + 4.5, Anchor::Start, &says),
        }
    }
    for (i, name) in people.iter().enumerate() {
        let (x, y) = place(i);
        disc(&mut svg, (x, y), 18.0, 0, name);
        svg.text("initials", x, y + 4.5, Anchor::Middle, &initials(name));
        match is_wide {
            true => svg.text("name", x, y + 40.0, Anchor::Middle, &fitted(name, across - 8.0)),
            false => svg.text("name", x + 28.0, y + 4.5, Anchor::Start, &fitted(name, width - 64.0)),
        }
    }
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour(name: &str, community: u32) -> Neighbour {
        Neighbour {
            name: name.into(),
            kind: "Friend".into(),
            is_light: false,
            strength: 0.7,
            community: Some(community),
        }
    }

    #[test]
    fn nobody_stands_on_another_and_all_are_in_the_picture() {
        for count in [0, 1, 2, 5, 18] {
            let all: Vec<Neighbour> = (0..count).map(|n| neighbour(&format!("Person {n}"), n % 3)).collect();
            let order = ordered(&all, &[]);
            for width in [super::super::WIDE, super::super::NARROW] {
                let (places, height) = places(&order, width);
                for (i, (x, y)) in places.iter().enumerate() {
                    assert!((0.0..=width).contains(x) && (0.0..=height).contains(y), "{x} {y}");
                    let apart = |(u, v): &(f64, f64)| (u - x).hypot(v - y);
                    assert!(places[..i].iter().all(|other| apart(other) >= 32.0));
                    assert!(apart(&(width / 2.0, height / 2.0)) > 40.0);
                }
            }
        }
    }

    #[test]
    fn those_who_know_each_other_stand_side_by_side() {
        let all: Vec<Neighbour> = [0, 1, 0, 1, 0].iter().map(|community| neighbour("A B", *community)).collect();
        let order = ordered(&all, &[(0, 4), (1, 3)]);
        assert_eq!(order, [0, 4, 2, 1, 3]);
    }

    #[test]
    fn initials_are_of_the_first_and_the_last_word() {
        assert_eq!(["Ada Vogel", "Wim de Vries", "zoe", ""].map(initials), ["AV", "WV", "Z", ""]);
    }
}
