//! Any changes of a graph, beside a naive model of it.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Context,
    graph::{self, ConnectionType, Degree, Error, NewConnection},
    id::UserId,
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng, seq::IndexedRandom as _};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{connections, followers, listed, mutual, person, small_buckets, sound};
use crate::world::{World, seed};

use ConnectionType::{Block, Colleague, Follow, Friend};

widerow_testing::cases!(any_changes_leave_what_the_model_says);

const PEOPLE: u32 = 9;
const DAY_MILLIS: i64 = 86_400_000;

/// Who says what of whom, and how strong it is. A friendship stands there twice.
#[derive(Default)]
pub struct Model {
    said: BTreeMap<(UserId, ConnectionType, UserId), Decimal>,
}

impl Model {
    fn hidden(&self, a: UserId, b: UserId) -> bool {
        self.said.contains_key(&(a, Block, b)) || self.said.contains_key(&(b, Block, a))
    }

    fn set(&mut self, user: UserId, of: ConnectionType, other: UserId, strength: Option<Decimal>) {
        let both = if of == Friend { vec![(user, other), (other, user)] } else { vec![(user, other)] };
        for (from, to) in both {
            match strength {
                Some(strength) => self.said.insert((from, of, to), strength),
                None => self.said.remove(&(from, of, to)),
            };
        }
    }

    fn visible(&self) -> impl Iterator<Item = (UserId, ConnectionType, UserId, Decimal)> {
        let all = self.said.iter().map(|((from, of, to), strength)| (*from, *of, *to, *strength));
        all.filter(|(from, of, to, _)| *of == Block || !self.hidden(*from, *to))
    }

    fn of(&self, user: UserId) -> BTreeMap<ConnectionType, Vec<UserId>> {
        let mut by_type: BTreeMap<ConnectionType, Vec<UserId>> = BTreeMap::new();
        for (_, of, to, _) in self.visible().filter(|(from, ..)| *from == user) {
            by_type.entry(of).or_default().push(to);
        }
        by_type.values_mut().for_each(|others| others.sort_unstable());
        by_type
    }

    fn to(&self, user: UserId) -> BTreeMap<ConnectionType, Vec<UserId>> {
        let mut by_type: BTreeMap<ConnectionType, Vec<UserId>> = BTreeMap::new();
        for (from, of, ..) in self.visible().filter(|(_, of, to, _)| *to == user && *of != Block) {
            by_type.entry(of).or_default().push(from);
        }
        by_type.values_mut().for_each(|others| others.sort_unstable());
        by_type
    }

    fn degree(&self, user: UserId) -> Degree {
        let (of, to) = (self.of(user), self.to(user));
        let count = |lists: &BTreeMap<ConnectionType, Vec<UserId>>, of| lists.get(&of).map_or(0, |l| l.len() as i64);
        Degree {
            friends: count(&of, Friend),
            following: count(&of, Follow),
            followers: count(&to, Follow),
            colleagues: count(&of, Colleague),
            colleague_of: count(&to, Colleague),
            blocked: count(&of, Block),
        }
    }

    fn mutual(&self, a: UserId, b: UserId, of: ConnectionType) -> Vec<UserId> {
        if self.hidden(a, b) {
            return Vec::new();
        }
        let list = |user| self.of(user).remove(&of).unwrap_or_default().into_iter().collect::<BTreeSet<_>>();
        list(a).intersection(&list(b)).copied().collect()
    }

    /// The strongest step from one to another.
    fn step(&self, from: UserId, to: UserId) -> Option<Decimal> {
        let steps = self.visible().filter(|(f, of, t, _)| (*f, *t) == (from, to) && *of != Block);
        steps.map(|(.., strength)| strength).max()
    }

    /// How long the shortest way is, and how strong the strongest of these: every way of every length is looked at.
    fn path(&self, start: UserId, end: UserId, hops_max: usize) -> Option<(usize, Decimal)> {
        let people: Vec<UserId> = (0..PEOPLE).map(person).collect();
        let shown = |user: &&UserId| !self.hidden(start, **user) && !self.hidden(end, **user);
        let people: Vec<UserId> = people.iter().filter(shown).copied().collect();
        if self.hidden(start, end) {
            return None;
        }
        let mut best = BTreeMap::from([(start, Decimal::ONE)]);
        for length in 1..=hops_max {
            let mut next: BTreeMap<UserId, Decimal> = BTreeMap::new();
            for (from, so_far) in &best {
                for to in &people {
                    let Some(step) = self.step(*from, *to) else { continue };
                    let strength = next.entry(*to).or_insert(Decimal::NEGATIVE_ONE);
                    *strength = (*strength).max(step.min(*so_far));
                }
            }
            if let Some(found) = next.get(&end) {
                return Some((length, *found));
            }
            best = next;
        }
        None
    }

    /// Score, mutual friends, of everybody who can be suggested.
    fn suggestions(&self, user: UserId) -> BTreeMap<UserId, (f64, u32)> {
        let friends = |user| self.of(user).remove(&Friend).unwrap_or_default();
        let known: BTreeSet<UserId> = self.of(user).into_values().flatten().collect();
        let mut found: BTreeMap<UserId, (f64, u32)> = BTreeMap::new();
        for friend in friends(user) {
            let theirs = friends(friend);
            for other in &theirs {
                if *other != user && !known.contains(other) && !self.hidden(user, *other) {
                    let entry = found.entry(*other).or_default();
                    entry.0 += 1.0 / (theirs.len() as f64).ln();
                    entry.1 += 1;
                }
            }
        }
        found
    }
}

fn told<T>(answer: Result<T, Error>) -> &'static str {
    answer.map_or_else(|error| error.code(), |_| "done")
}

async fn any_changes_leave_what_the_model_says(target: &Target) {
    let (rounds, steps, every) = if target.name == "embedded" { (4, 160, 20) } else { (1, 30, 30) };
    for round in 0..rounds {
        let world = if round % 2 == 0 { small_buckets(target) } else { World::new(target) };
        let mut random = SmallRng::seed_from_u64(seed() ^ round);
        let mut model = Model::default();
        for step in 1..=steps {
            change(&world.ctx, &mut model, &mut random).await;
            if step % every == 0 {
                compare(&world, &model, target).await;
            }
        }
        sound(&world).await;
    }
}

async fn change(ctx: &Context, model: &mut Model, random: &mut SmallRng) {
    let (user, other) = (person(random.random_range(0..PEOPLE)), person(random.random_range(0..PEOPLE)));
    let of = *[Friend, Friend, Friend, Follow, Follow, Colleague, Block].choose(random).expect("types");
    let known = model.said.get(&(user, of, other)).copied();
    match random.random_range(0..10) {
        0..6 => {
            let strength = random.random_bool(0.6).then(|| Decimal::new(random.random_range(0..=10), 1));
            let expected = if user == other {
                "connected_with_oneself"
            } else if of != Block && model.hidden(user, other) {
                "blocked"
            } else {
                model.set(user, of, other, Some(strength.or(known).unwrap_or(of.default_strength())));
                "done"
            };
            let new = NewConnection { strength, ..NewConnection::default() };
            assert_eq!(told(graph::connect(ctx, user, of, other, new).await), expected);
        }
        6..9 => {
            let expected = match known {
                _ if user == other => "connected_with_oneself",
                Some(_) => "done",
                None => "not_connected",
            };
            model.set(user, of, other, None);
            assert_eq!(told(graph::disconnect(ctx, user, of, other).await), expected);
        }
        _ => {
            let seen = known.filter(|_| of != Block && !model.hidden(user, other));
            let answer = graph::interact(ctx, user, of, other).await;
            match seen {
                Some(strength) => {
                    let raised = (strength + (Decimal::ONE - strength) / Decimal::TEN).round_dp(6);
                    assert_eq!(answer.expect("stronger").connection_strength, raised);
                    model.set(user, of, other, Some(raised));
                }
                None if user == other && of != Block => assert_eq!(told(answer), "connected_with_oneself"),
                None => assert_eq!(told(answer), "not_connected"),
            }
        }
    }
}

async fn compare(world: &World, model: &Model, target: &Target) {
    let ctx = &world.ctx;
    for n in 0..PEOPLE {
        let user = person(n);
        assert_eq!(listed(ctx, user).await, model.of(user));
        assert_eq!(followers(ctx, user).await, model.to(user));
        assert_eq!(graph::get_degree(ctx, user).await.unwrap(), model.degree(user));
        for row in connections(ctx, user, None, 100).await {
            let expected = model.said[&(user, row.connection_type, row.connected_user_id)];
            assert_eq!(row.connection_strength, expected);
        }
        suggested(ctx, model, user).await;
        for m in (0..PEOPLE).filter(|m| *m != n && (target.name == "embedded" || m % 3 == 0)) {
            let other = person(m);
            for of in [Friend, Follow, Colleague] {
                assert_eq!(mutual(ctx, user, other, of, 2).await, model.mutual(user, other, of));
            }
            kept(ctx, model, user, other).await;
        }
    }
    // What was kept is gone, and every path is the best one.
    world.clock.advance_millis(DAY_MILLIS + 1);
    for n in 0..PEOPLE {
        for m in (0..PEOPLE).filter(|m| *m != n && (target.name == "embedded" || m % 3 == 1)) {
            let hops_max = 1 + (n + m) as usize % 5;
            let found = graph::find_path(ctx, person(n), person(m), hops_max).await.unwrap();
            let told = found.map(|found| (found.types.len(), found.strength));
            assert_eq!(told, model.path(person(n), person(m), hops_max), "{n} to {m} in {hops_max}");
        }
    }
}

/// A path that may have been kept holds, step by step; where it is none, there is none.
async fn kept(ctx: &Context, model: &Model, start: UserId, end: UserId) {
    match graph::find_path(ctx, start, end, 4).await.unwrap() {
        None => assert_eq!(model.path(start, end, 4), None),
        Some(found) => {
            assert_eq!((found.nodes.first(), found.nodes.last()), (Some(&start), Some(&end)));
            let steps = found.nodes.windows(2).map(|step| model.step(step[0], step[1]).expect("a step"));
            assert_eq!(steps.min(), Some(found.strength));
            assert!(found.types.len() <= 4 && found.types.len() + 1 == found.nodes.len());
            for node in &found.nodes {
                assert!(!model.hidden(start, *node) && !model.hidden(end, *node));
            }
        }
    }
}

async fn suggested(ctx: &Context, model: &Model, user: UserId) {
    let expected = model.suggestions(user);
    let stale = graph::list_suggestions(ctx, user).await.unwrap();
    let known: BTreeSet<UserId> = model.of(user).into_values().flatten().collect();
    for row in stale {
        let other = row.suggested_user_id;
        assert!(!known.contains(&other) && !model.hidden(user, other), "blocked or connected since");
    }
    let made = graph::suggest(ctx, user).await.unwrap();
    assert_eq!(made, graph::list_suggestions(ctx, user).await.unwrap());
    assert_eq!(made.len(), expected.len());
    assert!(made.is_sorted_by_key(|row| (std::cmp::Reverse(row.suggestion_score), row.suggested_user_id)));
    for row in made {
        let (score, friends) = expected[&row.suggested_user_id];
        let told: f64 = row.suggestion_score.try_into().expect("a number");
        assert!((told - score).abs() < 1e-6 && row.mutual_connections == friends, "{row:?}: {score}, {friends}");
    }
}
