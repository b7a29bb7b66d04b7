//! Who of the demo's customers knows whom, and what they like: some circles of friends, a few people who know others elsewhere,
//! some who are followed, and two who want nothing of each other.

use std::collections::{BTreeMap, BTreeSet};

use merkato::graph::ConnectionType;
use rust_decimal::Decimal;

use crate::dice::Dice;

/// A circle: how they know each other, and what most of them like.
struct Circle {
    met: &'static str,
    likes: [&'static str; 3],
}

const CIRCLES: [Circle; 5] = [
    Circle { met: "the allotment gardens", likes: ["gardening", "cooking", "ceramics"] },
    Circle { met: "the hiking club", likes: ["hiking", "photography", "camping"] },
    Circle { met: "the coffee bar", likes: ["coffee", "books", "chess"] },
    Circle { met: "the cycling repair shop", likes: ["cycling", "woodwork", "coffee"] },
    Circle { met: "the choir", likes: ["singing", "sewing", "cooking"] },
];

/// One who is connected to another, by their places among the people.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    pub from: usize,
    pub kind: ConnectionType,
    pub to: usize,
    pub strength: Option<Decimal>,
    /// How they met; empty where nobody said.
    pub met: &'static str,
}

/// Who knows whom, and what each likes.
#[derive(Clone, Debug, PartialEq)]
pub struct Circles {
    pub ties: Vec<Tie>,
    pub likes: Vec<BTreeSet<String>>,
}

/// Of so many people; the first is the demo's customer.
pub fn circles(seed: u64, people: usize) -> Circles {
    let mut dice = Dice::new(seed ^ 0x6361_6c6c);
    let circle = |person: usize| &CIRCLES[person % CIRCLES.len()];
    let mut ties: BTreeMap<(usize, usize, ConnectionType), Tie> = BTreeMap::new();
    let mut tie = |from: usize, kind, to: usize, strength: Option<i64>, met| {
        let strength = strength.map(|hundredths| Decimal::new(hundredths, 2));
        if from != to {
            ties.entry((from, to, kind)).or_insert(Tie { from, kind, to, strength, met });
        }
    };
    for a in 0..people {
        for b in a + 1..people {
            let same = a % CIRCLES.len() == b % CIRCLES.len();
            // Most of a circle know each other; beyond it few do. Of a few, each knows the next, and the first two more.
            let few = people <= CIRCLES.len() && (b == a + 1 || b == 2);
            if few || (same && dice.below(100) < 48) {
                tie(a, ConnectionType::Friend, b, Some(50 + dice.below(50)), circle(a).met);
            } else if people > CIRCLES.len() && !same && dice.one_in(60) {
                tie(a, ConnectionType::Friend, b, Some(40 + dice.below(30)), "");
            }
        }
    }
    // Some have a name: many follow them.
    for known in [7, 18, 29].into_iter().filter(|known| *known < people) {
        for follower in (0..people).filter(|_| dice.one_in(4)) {
            tie(follower, ConnectionType::Follow, known, None, "");
        }
    }
    for n in 0..people / 6 {
        let other = (n * 6 + 1 + dice.index(people)) % people;
        tie(n * 6, ConnectionType::Colleague, other, None, "work");
    }
    let mut ties: Vec<Tie> = ties.into_values().collect();
    // Of two who are hidden from each other nothing else is shown.
    if people > 20 {
        let (from, to) = (13, 17);
        ties.retain(|tie| [tie.from, tie.to] != [from, to] && [tie.to, tie.from] != [from, to]);
        ties.push(Tie { from, kind: ConnectionType::Block, to, strength: None, met: "" });
    }
    let likes = (0..people).map(|person| {
        let mut likes: BTreeSet<String> = circle(person).likes.iter().map(|like| (*like).to_owned()).collect();
        if dice.one_in(2) {
            likes.pop_last();
        }
        likes.insert(CIRCLES[dice.index(CIRCLES.len())].likes[dice.index(3)].to_owned());
        likes
    });
    let likes = likes.collect();
    Circles { ties, likes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_knows_somebody_and_nobody_themselves() {
        for people in [2, 4, 60] {
            let made = circles(7, people);
            assert_eq!(made, circles(7, people));
            assert_eq!(made.likes.len(), people);
            assert!(made.likes.iter().all(|likes| (1..=4).contains(&likes.len())));
            let friends = |person: usize| {
                let of = |tie: &&Tie| tie.kind == ConnectionType::Friend && (tie.from == person || tie.to == person);
                made.ties.iter().filter(of).count()
            };
            assert!((0..people).all(|person| friends(person) > 0), "of {people} somebody is alone");
            assert!(made.ties.iter().all(|tie| tie.from != tie.to && tie.from < people && tie.to < people));
        }
        let made = circles(7, 60);
        let of = |kind| made.ties.iter().filter(|tie| tie.kind == kind).count();
        assert!(of(ConnectionType::Friend) > 120 && of(ConnectionType::Follow) > 20 && of(ConnectionType::Block) == 1);
    }
}
