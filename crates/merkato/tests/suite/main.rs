//! The domain, each case written once, run on every engine.

mod accounts;
mod world;

fn main() {
    widerow_testing::run(
        world::schema,
        &[
            accounts::addresses::CASES,
            accounts::costs::CASES,
            accounts::email::CASES,
            accounts::erasure::CASES,
            accounts::login::CASES,
            accounts::passwords::CASES,
            accounts::registration::CASES,
            accounts::sessions::CASES,
        ],
    );
}
