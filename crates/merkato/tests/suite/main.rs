//! The domain, each case written once, run on every engine.

mod accounts;
mod analytics;
mod carts;
mod catalog;
mod flows;
mod import;
mod world;

fn main() {
    widerow_testing::run(
        world::schema,
        &[
            catalog::products::CASES,
            catalog::lists::CASES,
            catalog::races::CASES,
            catalog::bad_input::CASES,
            catalog::costs::CASES,
            catalog::model::CASES,
            carts::bad_input::CASES,
            carts::cost::CASES,
            carts::guests::CASES,
            carts::lines::CASES,
            carts::merge::CASES,
            carts::model::CASES,
            carts::named::CASES,
            carts::stopped::CASES,
            accounts::addresses::CASES,
            accounts::costs::CASES,
            accounts::email::CASES,
            accounts::erasure::CASES,
            accounts::login::CASES,
            accounts::passwords::CASES,
            accounts::registration::CASES,
            accounts::sessions::CASES,
            analytics::costs::CASES,
            analytics::sales::CASES,
            analytics::top::CASES,
            analytics::views::CASES,
            flows::CASES,
            import::behaviour::CASES,
            import::real::CASES,
        ],
    );
}
