//! Every route, in one flat list.

use axum::{Router, middleware, response::IntoResponse as _};
use http::{HeaderName, HeaderValue, Method, header};
use tower_http::{compression::CompressionLayer, cors::CorsLayer};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    app::App,
    idempotency, observe,
    pipeline::pass,
    problem::Problem,
    system,
    v1::{admin, auth, carts, catalog, checkouts, me, orders, views, wallets},
    who,
};
use crate::web::pages;

/// The routes, with the document that describes them.
pub fn all() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(system::healthz))
        .routes(routes!(system::readyz))
        .routes(routes!(system::metrics))
        .routes(routes!(system::openapi))
        .routes(routes!(system::docs))
        .routes(routes!(system::docs_errors))
        .routes(routes!(catalog::get_product))
        .routes(routes!(catalog::get_product_by_slug))
        .routes(routes!(catalog::list_related))
        .routes(routes!(catalog::list_categories))
        .routes(routes!(catalog::get_category))
        .routes(routes!(catalog::list_category_products))
        .routes(routes!(catalog::search))
        .routes(routes!(catalog::list_items))
        .routes(routes!(catalog::list_featured))
        .routes(routes!(auth::register))
        .routes(routes!(auth::verify))
        .routes(routes!(auth::log_in))
        .routes(routes!(auth::log_out))
        .routes(routes!(auth::request_password_reset))
        .routes(routes!(auth::reset_password))
        .routes(routes!(me::get_me, me::change_me))
        .routes(routes!(me::list_addresses, me::add_address))
        .routes(routes!(me::change_address, me::remove_address))
        .routes(routes!(carts::list_carts, carts::create_cart))
        .routes(routes!(carts::get_active_cart))
        .routes(routes!(carts::get_cart, carts::rename_cart, carts::delete_cart))
        .routes(routes!(carts::activate_cart))
        .routes(routes!(carts::copy_cart))
        .routes(routes!(carts::add_item))
        .routes(routes!(carts::get_line, carts::change_line, carts::remove_line))
        .routes(routes!(checkouts::check_out))
        .routes(routes!(checkouts::quote))
        .routes(routes!(checkouts::get_checkout))
        .routes(routes!(orders::list_my_orders))
        .routes(routes!(orders::get_order))
        .routes(routes!(orders::list_items))
        .routes(routes!(orders::list_history))
        .routes(routes!(orders::cancel_order))
        .routes(routes!(views::view_product))
        .routes(routes!(admin::products::list_products, admin::products::create_product))
        .routes(routes!(
            admin::products::get_product,
            admin::products::change_product,
            admin::products::archive_product
        ))
        .routes(routes!(admin::products::list_prices))
        .routes(routes!(admin::categories::create_category))
        .routes(routes!(
            admin::categories::get_category,
            admin::categories::change_category,
            admin::categories::delete_category
        ))
        .routes(routes!(admin::categories::move_category))
        .routes(routes!(admin::categories::list_products_of_category))
        .routes(routes!(admin::featured::set_featured))
        .routes(routes!(admin::trees::list_trees, admin::trees::create_tree))
        .routes(routes!(admin::trees::get_tree))
        .routes(routes!(admin::trees::reads::list_nodes, admin::trees::nodes::create_node))
        .routes(routes!(admin::trees::batch::create_nodes))
        .routes(routes!(
            admin::trees::nodes::get_node,
            admin::trees::nodes::change_node,
            admin::trees::nodes::delete_node
        ))
        .routes(routes!(admin::trees::nodes::move_node))
        .routes(routes!(admin::trees::reads::list_children))
        .routes(routes!(admin::trees::reads::list_ancestors))
        .routes(routes!(admin::trees::reads::list_subtree))
        .routes(routes!(admin::trees::reads::list_descendants))
        .routes(routes!(admin::trees::reads::search_nodes))
        .routes(routes!(admin::trees::reads::count_nodes))
        .routes(routes!(admin::graph::people::list_communities))
        .routes(routes!(admin::graph::people::get_person, admin::graph::people::describe_person))
        .routes(routes!(admin::graph::people::list_suggestions, admin::graph::people::suggest))
        .routes(routes!(admin::graph::people::get_metrics))
        .routes(routes!(admin::graph::connections::list_connections))
        .routes(routes!(admin::graph::connections::list_followers))
        .routes(routes!(
            admin::graph::connections::get_connection,
            admin::graph::connections::connect,
            admin::graph::connections::disconnect
        ))
        .routes(routes!(admin::graph::connections::interact))
        .routes(routes!(admin::graph::between::list_mutual))
        .routes(routes!(admin::graph::between::find_path))
        .routes(routes!(admin::orders::list_orders))
        .routes(routes!(admin::orders::get_order))
        .routes(routes!(admin::orders::change_status))
        .routes(routes!(admin::orders::cancel_order))
        .routes(routes!(admin::orders::refund_order))
        .routes(routes!(admin::discounts::create_discount))
        .routes(routes!(admin::discounts::get_discount, admin::discounts::disable_discount))
        .routes(routes!(admin::inventory::list_low_stock))
        .routes(routes!(admin::inventory::list_movements))
        .routes(routes!(admin::inventory::transfer))
        .routes(routes!(admin::holds::list_holds, admin::holds::reserve))
        .routes(routes!(admin::holds::release))
        .routes(routes!(admin::holds::confirm))
        .routes(routes!(admin::holds::extend))
        .routes(routes!(admin::inventory::get_stock, admin::inventory::set_policy))
        .routes(routes!(admin::inventory::set_level))
        .routes(routes!(admin::inventory::adjust))
        .routes(routes!(admin::inventory::restock))
        .routes(routes!(admin::analytics::list_daily_sales))
        .routes(routes!(admin::analytics::list_top_products))
        .routes(routes!(admin::analytics::list_product_views))
        .routes(routes!(admin::sales::records::record_sale))
        .routes(routes!(admin::sales::records::record_sales))
        .routes(routes!(admin::sales::search::list_categories))
        .routes(routes!(admin::sales::search::list_trends))
        .routes(routes!(admin::sales::figures::get_category_figures))
        .routes(routes!(admin::sales::figures::get_category_distribution))
        .routes(routes!(admin::sales::figures::compare_brands))
        .routes(routes!(admin::sales::search::list_brands))
        .routes(routes!(admin::sales::search::list_brand_sales))
        .routes(routes!(admin::sales::figures::get_brand_figures))
        .routes(routes!(admin::sales::figures::get_brand_distribution))
        .routes(routes!(admin::sales::search::list_product_sales))
        .routes(routes!(admin::sales::search::list_embeddings))
        .routes(routes!(admin::sales::figures::get_product_figures))
        .routes(routes!(admin::sales::figures::get_product_distribution))
        .routes(routes!(admin::sales::records::get_sale, admin::sales::records::take_back))
        .routes(routes!(admin::sales::figures::find_nearest))
        .routes(routes!(admin::sales::suggestion::suggest))
        .routes(routes!(admin::telemetry::sensors::list_sensors, admin::telemetry::sensors::register_sensor))
        .routes(routes!(admin::telemetry::series::read_series))
        .routes(routes!(admin::telemetry::sensors::get_sensor, admin::telemetry::sensors::change_sensor))
        .routes(routes!(admin::telemetry::sensors::retire_sensor))
        .routes(routes!(admin::telemetry::measurements::take_measurements))
        .routes(routes!(admin::telemetry::series::get_chart))
        .routes(routes!(admin::telemetry::series::list_windows))
        .routes(routes!(admin::telemetry::series::list_days))
        .routes(routes!(admin::telemetry::series::list_hours))
        .routes(routes!(admin::events::streams::list_events, admin::events::streams::append))
        .routes(routes!(admin::events::streams::get_state))
        .routes(routes!(admin::events::lists::search_events))
        .routes(routes!(admin::events::feed::read_feed))
        .routes(routes!(admin::events::lists::list_types))
        .routes(routes!(admin::events::projections::list_projections))
        .routes(routes!(admin::events::projections::rebuild))
        .routes(routes!(wallets::get_my_wallet))
        .routes(routes!(wallets::list_my_statement))
        .routes(routes!(wallets::get_wallet))
        .routes(routes!(wallets::list_statement))
        .routes(routes!(wallets::deposit))
        .routes(routes!(wallets::withdraw))
        .routes(routes!(wallets::transfer))
        .routes(routes!(admin::users::list_users))
        .routes(routes!(admin::users::get_user))
        .routes(routes!(admin::users::list_orders_of_user))
        .routes(routes!(admin::users::suspend))
        .routes(routes!(admin::users::reinstate))
        .routes(routes!(admin::keys::list_keys, admin::keys::create_key))
        .routes(routes!(admin::keys::revoke_key))
}

/// The routes within all that surrounds them; the last layer is the outermost.
pub fn router(app: &App) -> Router {
    let (router, _) = all().split_for_parts();
    let router = if app.settings().pages.enabled { router.merge(pages::router()) } else { router };
    let router = router
        .fallback(|| async { Problem::new("not_found", "").into_response() })
        .method_not_allowed_fallback(|| async { Problem::new("method_not_allowed", "").into_response() })
        .layer(middleware::from_fn_with_state(app.clone(), pass));
    let router = if app.settings().cors_origins.is_empty() { router } else { router.layer(cors(app)) };
    router
        .layer(middleware::from_fn_with_state(app.clone(), observe::observe))
        .layer(CompressionLayer::new())
        .with_state(app.clone())
}

/// Which other sites' pages may read answers: those that are named, and none else.
fn cors(app: &App) -> CorsLayer {
    let origins = app.settings().cors_origins.iter().filter_map(|origin| HeaderValue::try_from(origin.as_str()).ok());
    let named = HeaderName::from_static;
    let (key, guest) = (named(idempotency::KEY), named(who::GUEST));
    let guest_given = guest.clone();
    CorsLayer::new()
        .allow_origin(origins.collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            key,
            guest,
            named("merkato-tenant"),
            named("x-request-id"),
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            named("x-request-id"),
            named("merkato-cost"),
            guest_given,
        ])
        .max_age(std::time::Duration::from_secs(3_600))
}
