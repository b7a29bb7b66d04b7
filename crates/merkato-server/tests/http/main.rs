//! The server through a real listener, each case written once, run on every engine.

mod access;
mod admin;
mod auth;
mod carts;
mod catalog;
mod checkouts;
mod conditions;
mod cursors;
mod events;
mod graph;
mod hostile;
mod idempotency;
mod me;
mod orders;
mod pages_account;
mod pages_cart;
mod pages_catalog;
mod pages_desk;
mod pages_events;
mod pages_graph;
mod pages_office;
mod pages_sales;
mod pages_telemetry;
mod pages_trees;
mod principals;
mod problems;
mod sales;
mod stop;
mod system;
mod telemetry;
mod tls;
mod trees;
mod visitor;
mod wallets;
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
            carts::CASES,
            catalog::CASES,
            checkouts::CASES,
            conditions::CASES,
            cursors::CASES,
            events::CASES,
            hostile::CASES,
            idempotency::CASES,
            me::CASES,
            orders::CASES,
            pages_catalog::CASES,
            pages_office::CASES,
            pages_sales::CASES,
            pages_telemetry::CASES,
            pages_trees::CASES,
            pages_events::CASES,
            pages_graph::CASES,
            graph::CASES,
            pages_desk::goods::CASES,
            pages_desk::orders::CASES,
            pages_desk::people::CASES,
            pages_desk::rules::CASES,
            pages_desk::stock::CASES,
            pages_account::CASES,
            pages_cart::CASES,
            principals::CASES,
            problems::CASES,
            sales::CASES,
            stop::CASES,
            system::CASES,
            telemetry::CASES,
            tls::CASES,
            trees::CASES,
            wallets::CASES,
        ],
    );
}
