//! The domain, each case written once, run on every engine.

mod world;

fn main() {
    widerow_testing::run(world::schema, &[]);
}
