//! The domain, each case written once, run on every engine.

mod carts;
mod world;

fn main() {
    widerow_testing::run(
        world::schema,
        &[
            carts::bad_input::CASES,
            carts::cost::CASES,
            carts::guests::CASES,
            carts::lines::CASES,
            carts::merge::CASES,
            carts::model::CASES,
            carts::named::CASES,
            carts::stopped::CASES,
        ],
    );
}
