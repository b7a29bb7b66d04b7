//! A user's carts: named, activated, copied, deleted; and whose they are.

use futures::future::join_all;
use merkato::{
    Context,
    carts::{self, CartEntry, Error, Which},
    id::{CartId, UserId},
};
use widerow_testing::Target;

use super::{add, add_many, gist, item, line, new_guest, new_user, show, sound};
use crate::world::{World, patiently};

widerow_testing::cases!(
    carts_are_listed_by_name_and_the_first_is_active,
    a_user_without_a_cart_gets_one_when_a_line_is_added,
    renaming_and_activating,
    saving_the_active_cart_goes_on_with_the_default_one,
    a_copy_has_the_lines_and_lives_on_its_own,
    deleting_the_active_cart_activates_the_first_by_name,
    deleting_the_last_cart_leaves_a_new_one,
    two_hundred_activations_at_once_leave_one_active_of_a_hundred,
    creating_and_deleting_at_once_leaves_one_active,
    the_email_stands_beside_the_carts,
    a_cart_of_another_is_not_found,
    ids_of_another_tenant_are_not_found,
    saved_carts_end_where_the_shop_says_so,
);

fn names(entries: &[CartEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.cart_name.as_str()).collect()
}

/// The list, with exactly one active.
async fn list(ctx: &Context, user: UserId) -> Vec<CartEntry> {
    let entries = carts::list_carts(ctx, user).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.cart_is_active).count(), 1, "{entries:?}");
    entries
}

async fn carts_are_listed_by_name_and_the_first_is_active(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, _) = new_user(ctx);
    assert_eq!(carts::list_carts(ctx, user).await.unwrap(), []);
    assert_eq!(carts::find_active_cart(ctx, user).await.unwrap(), None);
    for name in ["Party", "Books", "Zoo", "Books"] {
        carts::create_cart(ctx, user, name).await.unwrap();
    }
    let entries = list(ctx, user).await;
    assert_eq!(names(&entries), ["Books", "Books", "Party", "Zoo"]);
    let active = carts::find_active_cart(ctx, user).await.unwrap().unwrap();
    assert_eq!(active.cart_name, "Party");
    assert_eq!(entries[2], active);
}

async fn a_user_without_a_cart_gets_one_when_a_line_is_added(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let empty = show(ctx, &shopper, Which::Active).await;
    assert_eq!((empty.cart_id, empty.lines.len()), (None, 0), "to look makes no cart");
    assert_eq!(carts::list_carts(ctx, user).await.unwrap(), []);
    let cart = add(ctx, &shopper, 1, 1).await;
    let entries = list(ctx, user).await;
    assert_eq!((names(&entries), Some(entries[0].cart_id)), (vec!["My cart"], cart.cart_id));
}

async fn renaming_and_activating(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let first = carts::create_cart(ctx, user, "A").await.unwrap().cart_id;
    let second = carts::create_cart(ctx, user, "B").await.unwrap().cart_id;
    add(ctx, &shopper, 1, 1).await;
    let renamed = carts::rename_cart(ctx, user, first, "Z").await.unwrap();
    assert!(renamed.cart_is_active);
    assert_eq!(names(&list(ctx, user).await), ["B", "Z"]);
    assert_eq!(show(ctx, &shopper, first).await.lines.len(), 1, "its lines are its id's, not its name's");
    assert_eq!(carts::activate_cart(ctx, user, second).await.unwrap().cart_name, "B");
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines, []);
    assert_eq!(add(ctx, &shopper, 2, 1).await.cart_id, Some(second));
    assert_eq!(list(ctx, user).await.iter().find(|e| e.cart_is_active).unwrap().cart_id, second);
    let nobodys = CartId(ctx.new_id());
    for refused in [
        carts::rename_cart(ctx, user, nobodys, "C").await,
        carts::activate_cart(ctx, user, nobodys).await,
        carts::copy_cart(ctx, user, nobodys, "C").await,
        carts::delete_cart(ctx, user, nobodys, None).await,
    ] {
        assert!(matches!(refused, Err(Error::CartNotFound { cart }) if cart == nobodys), "{refused:?}");
    }
}

async fn saving_the_active_cart_goes_on_with_the_default_one(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let nothing = carts::save_active_cart(ctx, user, "Garden").await;
    assert!(matches!(nothing, Err(Error::CartNotFound { .. })), "{nothing:?}");
    add(ctx, &shopper, 1, 2).await;
    let saved = carts::save_active_cart(ctx, user, "Garden").await.unwrap();
    assert_eq!((saved.cart_name.as_str(), saved.cart_is_active), ("Garden", false));
    assert_eq!(names(&list(ctx, user).await), ["Garden", "My cart"]);
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines.len(), 0);
    assert_eq!(show(ctx, &shopper, saved.cart_id).await.lines.len(), 1);
    // The default cart is there: no second one is made.
    carts::activate_cart(ctx, user, saved.cart_id).await.unwrap();
    carts::save_active_cart(ctx, user, "Balcony").await.unwrap();
    let entries = list(ctx, user).await;
    assert_eq!(names(&entries), ["Balcony", "My cart"]);
    assert!(entries[1].cart_is_active);
}

async fn a_copy_has_the_lines_and_lives_on_its_own(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (user, shopper) = new_user(ctx);
    add_many(ctx, &shopper, 0..100, 2).await;
    let original = show(ctx, &shopper, Which::Active).await;
    let copy = carts::copy_cart(ctx, user, original.cart_id.unwrap(), "Copy").await.unwrap();
    assert!(!copy.cart_is_active);
    let copied = show(ctx, &shopper, copy.cart_id).await;
    assert_eq!((&copied.lines, copied.expires_at), (&original.lines, None));
    carts::remove_line(ctx, &shopper, copy.cart_id, line(5)).await.unwrap();
    assert_eq!(show(ctx, &shopper, Which::Active).await, original);
    // No sweep takes it for one that was not finished.
    world.clock.advance_millis(3 * super::DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap(), Default::default());
    assert_eq!(show(ctx, &shopper, copy.cart_id).await.lines.len(), 99);
    // A cart without lines has a copy, too.
    let empty = carts::create_cart(ctx, user, "Empty").await.unwrap();
    let copy = carts::copy_cart(ctx, user, empty.cart_id, "Empty too").await.unwrap();
    assert_eq!(show(ctx, &shopper, copy.cart_id).await.lines, []);
    assert_eq!(names(&list(ctx, user).await), ["Copy", "Empty", "Empty too", "My cart"]);
}

async fn deleting_the_active_cart_activates_the_first_by_name(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, shopper) = new_user(ctx);
    let mut ids = Vec::new();
    for name in ["C", "B", "A"] {
        ids.push(carts::create_cart(ctx, user, name).await.unwrap().cart_id);
    }
    add(ctx, &shopper, 1, 1).await;
    let active = carts::delete_cart(ctx, user, ids[0], None).await.unwrap();
    assert_eq!(active.cart_name, "A");
    assert_eq!(names(&list(ctx, user).await), ["A", "B"]);
    assert_eq!(carts::delete_cart(ctx, user, ids[1], None).await.unwrap(), active);
    for gone in &ids[..2] {
        assert!(matches!(carts::show_cart(ctx, &shopper, *gone).await, Err(Error::CartNotFound { .. })));
        let refused = carts::add_line(ctx, &shopper, *gone, item(1), 1).await;
        assert!(matches!(refused, Err(Error::CartNotFound { .. })), "{refused:?}");
        assert!(matches!(carts::delete_cart(ctx, user, *gone, None).await, Err(Error::CartNotFound { .. })));
    }
}

async fn deleting_the_last_cart_leaves_a_new_one(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (user, shopper) = new_user(ctx);
    let old = add(ctx, &shopper, 1, 1).await.cart_id.unwrap();
    let active = carts::delete_cart(ctx, user, old, None).await.unwrap();
    assert_ne!(active.cart_id, old);
    assert_eq!((names(&list(ctx, user).await), active.cart_name.as_str()), (vec!["My cart"], "My cart"));
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines, []);
    // What told late writers that it was closed is gone two days later.
    assert_eq!(super::stored(ctx, old).await, (0, true));
    world.clock.advance_millis(3 * super::DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap().deleted, 1);
    assert_eq!(super::stored(ctx, old).await, (0, false));
    assert!(matches!(carts::add_line(ctx, &shopper, old, item(1), 1).await, Err(Error::CartNotFound { .. })));
}

async fn two_hundred_activations_at_once_leave_one_active_of_a_hundred(target: &Target) {
    let ctx = World::new(target).ctx;
    let (user, _) = new_user(&ctx);
    let mut ids = Vec::new();
    for n in 0..100 {
        ids.push(carts::create_cart(&ctx, user, &format!("Cart {n:03}")).await.unwrap().cart_id);
    }
    let refused = carts::create_cart(&ctx, user, "One more").await.unwrap_err();
    assert!(matches!(refused, Error::TooManyCarts { limit: 100 }), "{refused:?}");
    assert_eq!((refused.code(), refused.to_string()), ("too_many_carts", "a user has at most 100 carts".into()));
    let refused = carts::copy_cart(&ctx, user, ids[0], "One more").await;
    assert!(matches!(refused, Err(Error::TooManyCarts { .. })));
    let activations = ids.iter().chain(&ids).map(|cart| {
        let (ctx, cart) = (ctx.clone(), *cart);
        tokio::spawn(async move { patiently(|| carts::activate_cart(&ctx, user, cart), |e| e.kind()).await })
    });
    for activated in join_all(activations).await {
        assert!(activated.unwrap().unwrap().cart_is_active);
    }
    assert_eq!(list(&ctx, user).await.len(), 100);
}

async fn creating_and_deleting_at_once_leaves_one_active(target: &Target) {
    let ctx = World::new(target).ctx;
    let (user, shopper) = new_user(&ctx);
    let mut ids = Vec::new();
    for n in 0..8 {
        ids.push(carts::create_cart(&ctx, user, &format!("{n}")).await.unwrap().cart_id);
    }
    let deletes = ids.into_iter().map(|cart| {
        let (ctx, shopper) = (ctx.clone(), shopper.clone());
        tokio::spawn(async move {
            let added = carts::add_line(&ctx, &shopper, Which::Active, item(1), 1).await;
            sound(added.unwrap());
            carts::delete_cart(&ctx, user, cart, None).await.unwrap();
            show(&ctx, &shopper, Which::Active).await;
        })
    });
    join_all(deletes).await.into_iter().for_each(|done| done.unwrap());
    let entries = list(&ctx, user).await;
    assert_eq!(names(&entries), ["My cart"]);
    show(&ctx, &shopper, entries[0].cart_id).await;
}

async fn the_email_stands_beside_the_carts(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (user, _) = new_user(ctx);
    carts::create_cart(ctx, user, "A").await.unwrap();
    carts::set_email(ctx, user, "a@example.org").await.unwrap();
    carts::create_cart(ctx, user, "B").await.unwrap();
    for entry in list(ctx, user).await {
        assert_eq!(entry.user_email.as_deref(), Some("a@example.org"));
    }
}

async fn a_cart_of_another_is_not_found(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (_, mallory) = new_user(ctx);
    let (_, guest) = new_guest(ctx);
    let (owner, shopper) = new_user(ctx);
    let empty = carts::create_cart(ctx, owner, "Empty").await.unwrap().cart_id;
    let filled = carts::create_cart(ctx, owner, "Filled").await.unwrap().cart_id;
    carts::add_line(ctx, &shopper, filled, item(1), 1).await.unwrap();
    let guests = add(ctx, &guest, 1, 1).await.cart_id.unwrap();
    let (_, other_guest) = new_guest(ctx);
    for (stranger, cart) in [
        (&mallory, empty),
        (&mallory, filled),
        (&mallory, guests),
        (&shopper, guests),
        (&guest, empty),
        (&guest, filled),
        (&other_guest, guests),
    ] {
        let not_found = |e: Error| assert!(matches!(e, Error::CartNotFound { cart: c } if c == cart), "{e:?}");
        not_found(carts::show_cart(ctx, stranger, cart).await.unwrap_err());
        not_found(carts::find_line(ctx, stranger, cart, line(1)).await.unwrap_err());
        not_found(carts::add_line(ctx, stranger, cart, item(2), 1).await.unwrap_err());
        not_found(carts::set_quantity(ctx, stranger, cart, line(1), 2).await.unwrap_err());
        not_found(carts::remove_line(ctx, stranger, cart, line(1)).await.unwrap_err());
        not_found(carts::clear_cart(ctx, stranger, cart).await.unwrap_err());
        if let carts::Shopper::User(user) = stranger {
            not_found(carts::activate_cart(ctx, *user, cart).await.unwrap_err());
            not_found(carts::rename_cart(ctx, *user, cart, "Mine").await.unwrap_err());
            not_found(carts::copy_cart(ctx, *user, cart, "Mine").await.unwrap_err());
            not_found(carts::delete_cart(ctx, *user, cart, None).await.unwrap_err());
        }
    }
    assert_eq!(gist(&show(ctx, &shopper, filled).await.lines), [(line(1), 1, item(1).unit_price)]);
    assert_eq!(gist(&show(ctx, &guest, guests).await.lines), [(line(1), 1, item(1).unit_price)]);
    assert_eq!(show(ctx, &shopper, empty).await.lines, []);
}

async fn ids_of_another_tenant_are_not_found(target: &Target) {
    let (here, there) = (World::new(target).ctx, World::new(target).ctx);
    let (user, shopper) = new_user(&here);
    let (_, guest) = new_guest(&here);
    let cart = add(&here, &shopper, 1, 1).await.cart_id.unwrap();
    add(&here, &guest, 1, 1).await;
    assert!(matches!(carts::show_cart(&there, &shopper, cart).await, Err(Error::CartNotFound { .. })));
    assert!(matches!(carts::activate_cart(&there, user, cart).await, Err(Error::CartNotFound { .. })));
    assert_eq!(carts::list_carts(&there, user).await.unwrap(), []);
    assert_eq!(show(&there, &guest, Which::Active).await.lines, []);
    add(&there, &guest, 2, 1).await;
    assert_eq!(show(&here, &guest, Which::Active).await.lines[0].line_id, line(1));
}

async fn saved_carts_end_where_the_shop_says_so(target: &Target) {
    let mut settings = merkato::Settings::default();
    settings.carts.saved_cart_days = Some(10);
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    let (user, shopper) = new_user(ctx);
    let cart = add(ctx, &shopper, 1, 1).await.cart_id.unwrap();
    let copy = carts::copy_cart(ctx, user, cart, "Copy").await.unwrap().cart_id;
    world.clock.advance_millis(10 * super::DAY_MILLIS - 1);
    assert_eq!(show(ctx, &shopper, copy).await.lines.len(), 1);
    assert_eq!(add(ctx, &shopper, 2, 1).await.lines.len(), 2);
    world.clock.advance_millis(1);
    assert_eq!(show(ctx, &shopper, copy).await.lines, [], "its name stays");
    assert_eq!(names(&list(ctx, user).await), ["Copy", "My cart"]);
    world.clock.advance_millis(2 * super::DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap().deleted, 1);
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines.len(), 2, "it was prolonged");
    let again = sound(carts::add_line(ctx, &shopper, copy, item(3), 1).await.unwrap());
    assert_eq!(again.lines.len(), 1);
}
