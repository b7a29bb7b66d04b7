//! Random edits from a printed seed: one after the other against a plain model, and many at once against the invariants.

use std::{collections::BTreeMap, sync::Mutex};

use futures::future::join_all;
use merkato::{
    Context,
    carts::{self, Cart, Error, GuestToken, MergePolicy, Shopper, Which},
    id::{CartId, LineId, UserId},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use widerow_testing::Target;

use super::{add, gist, item, new_guest, new_user, show, sized, sound};
use crate::world::{World, seed};

widerow_testing::cases!(one_after_the_other_carts_follow_the_model, many_at_once_keep_the_invariants,);

struct Dice(Mutex<SmallRng>);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(Mutex::new(SmallRng::seed_from_u64(seed)))
    }

    fn below(&self, n: usize) -> usize {
        self.0.lock().expect("no panic").random_range(0..n)
    }

    /// One of eight products, in one of two sizes or none.
    fn item(&self) -> merkato::carts::ItemSnapshot {
        let n = self.below(8) as u32;
        match self.below(3) {
            0 => item(n),
            1 => sized(n, "S"),
            _ => sized(n, "L"),
        }
    }

    fn line(&self) -> LineId {
        let item = self.item();
        carts::line_id(item.product_id, &item.options)
    }
}

/// Lines, newest first.
type Lines = Vec<(LineId, u32, rust_decimal::Decimal)>;

#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    carts: BTreeMap<(String, CartId), Lines>,
    active: Option<CartId>,
    guest: Lines,
}

impl Model {
    fn key(&self, cart: CartId) -> (String, CartId) {
        self.carts.keys().find(|(_, id)| *id == cart).expect("it is there").clone()
    }

    fn lines(&mut self, cart: CartId) -> &mut Lines {
        let key = self.key(cart);
        self.carts.get_mut(&key).expect("it is there")
    }

    fn any(&self, dice: &Dice) -> Option<CartId> {
        let ids: Vec<_> = self.carts.keys().map(|(_, id)| *id).collect();
        (!ids.is_empty()).then(|| ids[dice.below(ids.len())])
    }
}

fn add_to(lines: &mut Lines, item: &merkato::carts::ItemSnapshot, quantity: u32) {
    let id = carts::line_id(item.product_id, &item.options);
    let old = lines.iter().position(|(l, ..)| *l == id).map(|at| lines.remove(at).1);
    lines.insert(0, (id, quantity + old.unwrap_or(0), item.unit_price));
}

async fn same(ctx: &Context, user: UserId, token: &GuestToken, model: &Model) {
    let shopper = Shopper::User(user);
    let entries = carts::list_carts(ctx, user).await.unwrap();
    let found: Vec<_> = entries.iter().map(|e| (e.cart_name.clone(), e.cart_id)).collect();
    assert_eq!(found, model.carts.keys().cloned().collect::<Vec<_>>());
    let active: Vec<_> = entries.iter().filter(|e| e.cart_is_active).map(|e| e.cart_id).collect();
    assert_eq!(active, model.active.into_iter().collect::<Vec<_>>());
    for ((_, id), lines) in &model.carts {
        assert_eq!(gist(&show(ctx, &shopper, *id).await.lines), *lines);
    }
    let guest = show(ctx, &Shopper::Guest(token.clone()), Which::Active).await;
    assert_eq!(gist(&guest.lines), model.guest);
}

async fn one_after_the_other_carts_follow_the_model(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let dice = Dice::new(seed());
    let (user, shopper) = new_user(ctx);
    let (mut token, mut guest) = new_guest(ctx);
    let mut model = Model::default();
    let embedded = target.name == "embedded";
    for round in 0..if embedded { 400 } else { 80 } {
        world.clock.advance_millis(dice.below(3) as i64);
        // A user's cart: the active one, or one by its id.
        let by_id = model.any(&dice).filter(|_| dice.below(2) == 0);
        let which = by_id.map_or(Which::Active, Which::Cart);
        let cart = by_id.or(model.active);
        match dice.below(16) {
            0..=4 => {
                let (item, quantity) = (dice.item(), dice.below(5) as u32 + 1);
                let after = carts::add_line(ctx, &shopper, which, item.clone(), quantity.into()).await.unwrap();
                let id = sound(after).cart_id.unwrap();
                if model.active.is_none() {
                    model.carts.insert(("My cart".into(), id), Vec::new());
                    model.active = Some(id);
                }
                assert!(cart.is_none_or(|cart| cart == id));
                add_to(model.lines(id), &item, quantity);
            }
            5 => {
                let line = dice.line();
                let quantity = dice.below(9) as u32 + 1;
                let result = carts::set_quantity(ctx, &shopper, which, line, quantity.into()).await;
                match cart.and_then(|c| model.lines(c).iter_mut().find(|(l, ..)| *l == line).map(|l| l.1 = quantity)) {
                    Some(()) => drop(sound(result.unwrap())),
                    None => assert!(matches!(result, Err(Error::LineNotFound { .. }))),
                }
                make_default(ctx, user, &mut model).await;
            }
            6 => {
                let line = dice.line();
                let result = carts::remove_line(ctx, &shopper, which, line).await;
                let found = cart.and_then(|c| model.lines(c).iter().position(|(l, ..)| *l == line));
                match found {
                    Some(at) => {
                        drop(sound(result.unwrap()));
                        model.lines(cart.unwrap()).remove(at);
                    }
                    None => assert!(matches!(result, Err(Error::LineNotFound { .. }))),
                }
                make_default(ctx, user, &mut model).await;
            }
            7 if dice.below(3) == 0 => {
                drop(sound(carts::clear_cart(ctx, &shopper, which).await.unwrap()));
                if let Some(cart) = cart {
                    model.lines(cart).clear();
                }
                make_default(ctx, user, &mut model).await;
            }
            7 | 8 => {
                let name = format!("{} {round}", ["B", "N", "Z"][dice.below(3)]);
                let entry = carts::create_cart(ctx, user, &name).await.unwrap();
                model.carts.insert((name, entry.cart_id), Vec::new());
                model.active.get_or_insert(entry.cart_id);
            }
            9 if cart.is_some() => {
                let name = format!("{} {round}", ["A", "M", "Q"][dice.below(3)]);
                let cart = cart.unwrap();
                carts::rename_cart(ctx, user, cart, &name).await.unwrap();
                let lines = model.carts.remove(&model.key(cart)).unwrap();
                model.carts.insert((name, cart), lines);
            }
            10 if cart.is_some() => {
                carts::activate_cart(ctx, user, cart.unwrap()).await.unwrap();
                model.active = cart;
            }
            11 if cart.is_some() && model.carts.len() < 12 => {
                let copy = carts::copy_cart(ctx, user, cart.unwrap(), "Copy").await.unwrap();
                let lines = model.lines(cart.unwrap()).clone();
                model.carts.insert(("Copy".into(), copy.cart_id), lines);
            }
            12 if cart.is_some() => {
                let active = carts::delete_cart(ctx, user, cart.unwrap(), None).await.unwrap();
                model.carts.remove(&model.key(cart.unwrap()));
                if model.carts.is_empty() {
                    model.carts.insert((active.cart_name, active.cart_id), Vec::new());
                    model.active = Some(active.cart_id);
                } else if model.active == cart {
                    model.active = model.carts.keys().next().map(|(_, id)| *id);
                }
            }
            13 if !model.guest.is_empty() && dice.below(2) == 0 => {
                let policy = MergePolicy::ALL[dice.below(4)];
                let mine = match model.active {
                    Some(active) => show(ctx, &shopper, active).await,
                    None => Cart::default(),
                };
                let guests = show(ctx, &guest, Which::Active).await;
                let report = carts::merge_guest_cart(ctx, user, &token, policy).await.unwrap();
                let target = report.cart_id.unwrap();
                if model.active.is_none() {
                    model.carts.insert(("My cart".into(), target), Vec::new());
                    model.active = Some(target);
                }
                *model.lines(target) = merged(&mine, &guests, policy);
                model.guest.clear();
                (token, guest) = new_guest(ctx);
            }
            _ => {
                let (item, quantity) = (dice.item(), dice.below(5) as u32 + 1);
                sound(carts::add_line(ctx, &guest, Which::Active, item.clone(), quantity.into()).await.unwrap());
                add_to(&mut model.guest, &item, quantity);
            }
        }
        if embedded || round % 10 == 9 {
            same(ctx, user, &token, &model).await;
        }
    }
}

/// A user who edits the active cart has one afterwards, also where there was nothing to edit.
async fn make_default(ctx: &Context, user: UserId, model: &mut Model) {
    if model.active.is_none() {
        let entry = carts::find_active_cart(ctx, user).await.unwrap().unwrap();
        model.carts.insert((entry.cart_name, entry.cart_id), Vec::new());
        model.active = Some(entry.cart_id);
    }
}

/// The policies again, in other words.
fn merged(mine: &Cart, guests: &Cart, policy: MergePolicy) -> Lines {
    let mut all: BTreeMap<LineId, _> = mine.lines.iter().map(|l| (l.line_id, l.clone())).collect();
    for theirs in &guests.lines {
        let Some(own) = all.get(&theirs.line_id).cloned() else {
            all.insert(theirs.line_id, theirs.clone());
            continue;
        };
        let mut line = if theirs.added_at > own.added_at { theirs.clone() } else { own.clone() };
        line.quantity = match policy {
            MergePolicy::Sum => own.quantity + theirs.quantity,
            MergePolicy::Max => own.quantity.max(theirs.quantity),
            MergePolicy::KeepMine => {
                line = own.clone();
                own.quantity
            }
            MergePolicy::KeepGuests => theirs.quantity,
        };
        all.insert(line.line_id, line);
    }
    let mut lines: Vec<_> = all.into_values().collect();
    lines.sort_by_key(|l| (std::cmp::Reverse(l.added_at), l.line_id));
    gist(&lines)
}

/// Refusals that a race may bring about.
fn settled(result: Result<(), Error>) {
    match result {
        Ok(()) | Err(Error::CartNotFound { .. } | Error::LineNotFound { .. } | Error::GuestCartMerged) => {}
        Err(error) => panic!("{error:?}"),
    }
}

async fn many_at_once_keep_the_invariants(target: &Target) {
    let ctx = World::new(target).ctx;
    let seed = seed();
    let (user, shopper) = new_user(&ctx);
    let (token, _) = new_guest(&ctx);
    let (tasks, rounds) = if target.name == "embedded" { (8, 40) } else { (6, 8) };
    for n in 0..4 {
        carts::create_cart(&ctx, user, &format!("Cart {n}")).await.unwrap();
    }
    let work = (0..tasks).map(|task| {
        let (ctx, shopper, mut token) = (ctx.clone(), shopper.clone(), token.clone());
        tokio::spawn(async move {
            let dice = Dice::new(seed.wrapping_add(task * 7919));
            for round in 0..rounds {
                let entries = carts::list_carts(&ctx, user).await.unwrap();
                assert_eq!(entries.iter().filter(|e| e.cart_is_active).count(), 1, "{entries:?}");
                let cart = entries[dice.below(entries.len())].cart_id;
                let which = if dice.below(2) == 0 { Which::Active } else { Which::Cart(cart) };
                let guest = Shopper::Guest(token.clone());
                let done = match dice.below(14) {
                    0..=3 => carts::add_line(&ctx, &shopper, which, dice.item(), 1).await.map(|c| drop(sound(c))),
                    4 => carts::set_quantity(&ctx, &shopper, which, dice.line(), 3).await.map(|c| drop(sound(c))),
                    5 => carts::remove_line(&ctx, &shopper, which, dice.line()).await.map(|c| drop(sound(c))),
                    6 => carts::clear_cart(&ctx, &shopper, which).await.map(|c| drop(sound(c))),
                    7 => carts::activate_cart(&ctx, user, cart).await.map(drop),
                    8 => carts::rename_cart(&ctx, user, cart, &format!("R {task} {round}")).await.map(drop),
                    9 => carts::copy_cart(&ctx, user, cart, "Copy").await.map(drop),
                    10 => carts::delete_cart(&ctx, user, cart, None).await.map(drop),
                    11 => carts::show_cart(&ctx, &shopper, which).await.map(|c| drop(sound(c))),
                    12 => carts::merge_guest_cart(&ctx, user, &token, MergePolicy::Sum).await.map(drop),
                    _ => match carts::add_line(&ctx, &guest, Which::Active, dice.item(), 1).await {
                        Err(Error::GuestCartMerged) => {
                            token = GuestToken::new(&ctx);
                            Ok(())
                        }
                        other => other.map(|c| drop(sound(c))),
                    },
                };
                settled(done);
            }
        })
    });
    join_all(work).await.into_iter().for_each(|done| done.unwrap());
    let entries = carts::list_carts(&ctx, user).await.unwrap();
    assert_eq!(entries.iter().filter(|e| e.cart_is_active).count(), 1, "{entries:?}");
    for entry in &entries {
        show(&ctx, &shopper, entry.cart_id).await;
    }
    add(&ctx, &shopper, 1, 1).await;
}
