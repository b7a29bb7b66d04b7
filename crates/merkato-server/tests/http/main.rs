//! The server through a real listener, each case written once, run on every engine.

mod access;
mod admin;
mod auth;
mod catalog;
mod conditions;
mod cursors;
mod hostile;
mod idempotency;
mod me;
mod principals;
mod problems;
mod stop;
mod system;
mod tls;
mod world;

fn main() {
    widerow_testing::run(
        world::schema,
        &[
            access::CASES,
            admin::analytics::CASES,
            admin::catalog::CASES,
            admin::inventory::CASES,
            admin::keys::CASES,
            admin::orders::CASES,
            admin::users::CASES,
            auth::CASES,
            catalog::CASES,
            conditions::CASES,
            cursors::CASES,
            hostile::CASES,
            idempotency::CASES,
            me::CASES,
            principals::CASES,
            problems::CASES,
            stop::CASES,
            system::CASES,
            tls::CASES,
        ],
    );
}
