//! The domain, each case written once, run on every engine.

mod accounts;
mod analytics;
mod carts;
mod catalog;
mod checkout;
mod events;
mod facts;
mod flows;
mod graph;
mod hierarchy;
mod import;
mod inventory;
mod keys;
mod orders;
mod replies;
mod restore;
mod sales;
mod secrets;
mod telemetry;
mod wallets;
mod world;

fn main() {
    widerow_testing::run(
        world::schema,
        &[
            catalog::products::CASES,
            catalog::lists::CASES,
            catalog::search::CASES,
            catalog::races::CASES,
            catalog::bad_input::CASES,
            catalog::costs::CASES,
            catalog::model::CASES,
            catalog::moves::CASES,
            catalog::delete::CASES,
            catalog::stopped::CASES,
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
            checkout::behaviour::CASES,
            checkout::credit::CASES,
            checkout::kept::CASES,
            checkout::stopped::CASES,
            checkout::chaos::CASES,
            events::streams::CASES,
            events::feed::CASES,
            events::holes::CASES,
            events::states::CASES,
            events::projections::CASES,
            events::stopped::CASES,
            events::model::CASES,
            events::costs::CASES,
            events::bad_input::CASES,
            facts::CASES,
            flows::CASES,
            graph::connections::CASES,
            graph::bad_input::CASES,
            graph::costs::CASES,
            graph::model::CASES,
            graph::paths::CASES,
            graph::suggestions::CASES,
            graph::races::CASES,
            graph::stopped::CASES,
            graph::analysis::CASES,
            graph::real::CASES,
            hierarchy::trees::CASES,
            hierarchy::bad_input::CASES,
            hierarchy::costs::CASES,
            hierarchy::model::CASES,
            hierarchy::races::CASES,
            hierarchy::stopped::CASES,
            hierarchy::sizes::CASES,
            inventory::bad_input::CASES,
            inventory::costs::CASES,
            inventory::follow::CASES,
            inventory::holds::CASES,
            inventory::lines::CASES,
            inventory::movements::CASES,
            inventory::races::CASES,
            inventory::stopped::CASES,
            import::behaviour::CASES,
            import::orders::CASES,
            import::real::CASES,
            import::real_orders::CASES,
            import::real_sales::CASES,
            import::events::CASES,
            import::transactions::CASES,
            import::tree::CASES,
            orders::bad_input::CASES,
            orders::costs::CASES,
            orders::discounts::CASES,
            orders::lists::CASES,
            orders::numbers::CASES,
            orders::placing::CASES,
            orders::status::CASES,
            keys::CASES,
            replies::CASES,
            restore::CASES,
            sales::records::CASES,
            sales::reads::CASES,
            sales::isolation::CASES,
            sales::document::CASES,
            sales::backfill::CASES,
            sales::follow::CASES,
            sales::costs::CASES,
            secrets::CASES,
            telemetry::bad_input::CASES,
            telemetry::costs::CASES,
            telemetry::ingest::CASES,
            telemetry::model::CASES,
            telemetry::nab::CASES,
            telemetry::reads::CASES,
            wallets::behaviour::CASES,
            wallets::costs::CASES,
            wallets::model::CASES,
            wallets::races::CASES,
            wallets::transfers::CASES,
        ],
    );
}
