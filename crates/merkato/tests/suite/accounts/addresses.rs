//! Addresses, profile and preferences.

use std::collections::BTreeMap;

use futures::future::join_all;
use merkato::{
    accounts::{self, Address, AddressInput, Profile},
    id::{AddressId, UserId},
    limits,
};
use widerow::meter::measure;
use widerow_testing::Target;

use super::{code, register, verified, world};

widerow_testing::cases![
    addresses_have_ids_and_a_default,
    addresses_are_limited_under_any_race,
    bad_addresses_and_preferences_are_named_and_nothing_is_touched,
    of_two_editors_the_second_is_told,
];

fn input(street: &str) -> AddressInput {
    AddressInput {
        label: Some("home".into()),
        street: street.into(),
        city: "Utrecht".into(),
        postal_code: Some("3511 AB".into()),
        country: "NL".into(),
        ..AddressInput::default()
    }
}

async fn addresses_have_ids_and_a_default(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let id = register(ctx, "ada@example.com").await.user.user_id;
    assert_eq!(accounts::list_addresses(ctx, id).await.unwrap(), []);
    let (one, user) = accounts::add_address(ctx, id, input("One 1"), false).await.unwrap();
    assert_eq!(user.default_address_id, Some(one));
    let (two, user) = accounts::add_address(ctx, id, input("Two 2"), true).await.unwrap();
    assert_eq!(user.default_address_id, Some(two));
    accounts::change_address(ctx, id, two, input("Three 3")).await.unwrap();
    let streets = |addresses: &[Address]| addresses.iter().map(|a| a.street.clone()).collect::<Vec<_>>();
    let addresses = accounts::list_addresses(ctx, id).await.unwrap();
    assert_eq!(streets(&addresses), ["One 1", "Three 3"]);
    assert_eq!(addresses[1].address_id, two);
    let user = accounts::set_default_address(ctx, id, one).await.unwrap();
    assert_eq!(user.default_address_id, Some(one));
    let user = accounts::remove_address(ctx, id, one).await.unwrap();
    assert_eq!(user.default_address_id, Some(two));
    assert_eq!(accounts::get_user(ctx, id).await.unwrap(), user);
    let gone = AddressId(ctx.new_id());
    assert_eq!(code(accounts::remove_address(ctx, id, one).await), "address_not_found");
    assert_eq!(code(accounts::set_default_address(ctx, id, gone).await), "address_not_found");
    assert_eq!(code(accounts::change_address(ctx, id, gone, input("Four 4")).await), "address_not_found");
    let nobody = UserId(ctx.new_id());
    assert_eq!(code(accounts::add_address(ctx, nobody, input("Four 4"), false).await), "user_not_found");
    assert_eq!(code(accounts::list_addresses(ctx, nobody).await), "user_not_found");
}

async fn addresses_are_limited_under_any_race(target: &Target) {
    let world = world(target);
    let id = register(&world.ctx, "ada@example.com").await.user.user_id;
    let adds = (0..12).map(|i| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move { code(accounts::add_address(&ctx, id, input(&format!("Street {i}")), true).await) })
    });
    let answers: Vec<&str> = join_all(adds).await.into_iter().map(Result::unwrap).collect();
    let count = |what| answers.iter().filter(|answer| **answer == what).count();
    assert_eq!((count("ok"), count("too_many_addresses")), (limits::ADDRESSES_MAX, 12 - limits::ADDRESSES_MAX));
    let user = accounts::get_user(&world.ctx, id).await.unwrap();
    assert_eq!(user.addresses.len(), limits::ADDRESSES_MAX);
    assert_eq!(user.default_address_id, user.addresses.last().map(|address| address.address_id));
}

async fn bad_addresses_and_preferences_are_named_and_nothing_is_touched(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let user = register(ctx, "ada@example.com").await.user;
    let bad = AddressInput { street: "<script>".into(), city: String::new(), country: "Holland".into(), ..input("") };
    let (refused, cost) = measure(accounts::add_address(ctx, user.user_id, bad, true)).await;
    let Err(accounts::Error::Invalid(invalid)) = refused else { panic!("{refused:?}") };
    let fields: Vec<&str> = invalid.fields.iter().map(|bad| bad.field.as_str()).collect();
    assert_eq!((fields, cost), (vec!["street", "city", "country"], Default::default()));
    let many = (0..=limits::COLLECTION_ITEMS_MAX).map(|i| (format!("p{i}"), "\u{0}".to_owned())).collect();
    let (refused, cost) = measure(accounts::set_preferences(ctx, user.user_id, many, None)).await;
    let Err(accounts::Error::Invalid(invalid)) = refused else { panic!("{refused:?}") };
    assert_eq!((invalid.fields.len(), cost), (limits::COLLECTION_ITEMS_MAX + 2, Default::default()));
    assert_eq!((invalid.fields[0].field.as_str(), invalid.fields[1].field.as_str()), ("preferences", "preferences/p0"));
    let bad = Profile { phone: Some("a\nb".into()), ..Profile::default() };
    assert_eq!(code(accounts::update_profile(ctx, user.user_id, bad, None).await), "invalid");
    assert_eq!(accounts::get_user(ctx, user.user_id).await.unwrap(), user);
}

async fn of_two_editors_the_second_is_told(target: &Target) {
    let world = world(target);
    let ctx = &world.ctx;
    let id = verified(ctx, "ada@example.com").await.user_id;
    let profile = |name: &str| Profile { first_name: Some(name.into()), ..Profile::default() };
    let user = accounts::update_profile(ctx, id, profile("Ada"), Some(0)).await.unwrap();
    assert_eq!((user.revision, user.first_name.as_deref()), (1, Some("Ada")));
    let late = accounts::update_profile(ctx, id, profile("Eve"), Some(0)).await;
    assert!(matches!(late, Err(accounts::Error::Edited { expected: 0, found: 1 })));
    let preferences = BTreeMap::from([("language".to_owned(), "nl".to_owned())]);
    let user = accounts::set_preferences(ctx, id, preferences.clone(), Some(1)).await.unwrap();
    assert_eq!((user.revision, &user.preferences), (2, &preferences));
    // Logging in and the like is no edit.
    accounts::set_role(ctx, id, accounts::Role::Staff).await.unwrap();
    let user = accounts::update_profile(ctx, id, Profile::default(), Some(2)).await.unwrap();
    assert_eq!((user.first_name, user.preferences, user.role), (None, preferences, accounts::Role::Staff));
}
