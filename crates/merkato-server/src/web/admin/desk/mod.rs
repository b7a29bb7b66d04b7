//! The clerk's desk: orders, goods, stock, customers and discount codes, each as a list and as one of it.

mod categories;
mod customers;
mod discounts;
mod featured;
mod forms;
pub mod graph;
mod inventory;
mod order;
mod orders;
pub(in crate::web::admin) mod pager;
mod product;
mod product_form;
mod products;
pub(super) mod said;
mod stock;
mod tree;
pub mod trees;

use merkato::keys::Scope::{
    self, CatalogRead, CatalogWrite, CustomersRead, CustomersWrite, InventoryRead, InventoryWrite, OrdersRead,
    OrdersWrite,
};

use crate::{
    http::{Visit, Who, access::Access::Staff},
    web::pages::pages,
};

pages! {
    get "/admin/orders" (Staff(OrdersRead)) => orders::list;
    get "/admin/orders/{id}" (Staff(OrdersRead)) => order::show;
    post "/admin/orders/{id}/status" (Staff(OrdersWrite)) => order::move_on;
    post "/admin/orders/{id}/cancel" (Staff(OrdersWrite)) => order::cancel;
    post "/admin/orders/{id}/refund" (Staff(OrdersWrite)) => order::refund;
    post "/admin/orders/{id}/notes" (Staff(OrdersWrite)) => order::note;
    get "/admin/products" (Staff(CatalogRead)) => products::list;
    post "/admin/products" (Staff(CatalogWrite)) => product::create;
    get "/admin/products/new" (Staff(CatalogWrite)) => product::begin;
    get "/admin/products/{id}" (Staff(CatalogRead)) => product::show;
    post "/admin/products/{id}" (Staff(CatalogWrite)) => product::change;
    post "/admin/products/{id}/archive" (Staff(CatalogWrite)) => product::archive;
    get "/admin/featured" (Staff(CatalogRead)) => featured::begin;
    get "/admin/featured/{list}" (Staff(CatalogRead)) => featured::show;
    post "/admin/featured/{list}" (Staff(CatalogWrite)) => featured::change;
    get "/admin/categories" (Staff(CatalogRead)) => categories::list;
    post "/admin/categories" (Staff(CatalogWrite)) => categories::create;
    get "/admin/categories/{id}" (Staff(CatalogRead)) => categories::show;
    post "/admin/categories/{id}" (Staff(CatalogWrite)) => categories::change;
    post "/admin/categories/{id}/move" (Staff(CatalogWrite)) => categories::carry;
    post "/admin/categories/{id}/delete" (Staff(CatalogWrite)) => categories::delete;
    get "/admin/inventory" (Staff(InventoryRead)) => inventory::list;
    get "/admin/inventory/{product}" (Staff(InventoryRead)) => stock::show;
    post "/admin/inventory/{product}/restock" (Staff(InventoryWrite)) => stock::restock;
    post "/admin/inventory/{product}/adjust" (Staff(InventoryWrite)) => stock::adjust;
    post "/admin/inventory/{product}/transfer" (Staff(InventoryWrite)) => stock::transfer;
    post "/admin/inventory/{product}/threshold" (Staff(InventoryWrite)) => stock::set_threshold;
    post "/admin/inventory/{product}/policy" (Staff(InventoryWrite)) => stock::set_policy;
    post "/admin/inventory/{product}/release" (Staff(InventoryWrite)) => stock::release;
    get "/admin/customers" (Staff(CustomersRead)) => customers::list;
    get "/admin/customers/{id}" (Staff(CustomersRead)) => customers::show;
    post "/admin/customers/{id}/suspend" (Staff(CustomersWrite)) => customers::suspend;
    post "/admin/customers/{id}/reinstate" (Staff(CustomersWrite)) => customers::reinstate;
    get "/admin/discounts" (Staff(OrdersRead)) => discounts::list;
    post "/admin/discounts" (Staff(OrdersWrite)) => discounts::create;
    get "/admin/discounts/{code}" (Staff(OrdersRead)) => discounts::show;
    post "/admin/discounts/{code}/disable" (Staff(OrdersWrite)) => discounts::disable;
}

/// Whether a part of a page that another scope is for may be shown, too. A person of the staff sees all of a page.
pub(in crate::web::admin) fn may(visit: &Visit, scope: Scope) -> bool {
    match &visit.who {
        Who::Person { .. } => true,
        Who::Program(key) => key.scopes.contains(&scope),
        Who::Nobody | Who::Guest(_) => false,
    }
}
