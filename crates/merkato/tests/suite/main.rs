//! The domain, each case written once, run on every engine.

mod catalog;
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
            import::behaviour::CASES,
            import::real::CASES,
        ],
    );
}
