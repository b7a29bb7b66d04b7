//! Who knows whom: the whole in a few figures, somebody among those whom they know, and the way from one to another.

mod acts;
mod names;
mod overview;
mod person;
mod way;

use merkato::{
    graph::ConnectionType,
    id::UserId,
    keys::Scope::{GraphRead, GraphWrite},
};

use crate::{http::access::Access::Staff, web::pages::pages};

pages! {
    get "/admin/graph" (Staff(GraphRead)) => overview::show;
    get "/admin/graph/path" (Staff(GraphRead)) => way::show;
    get "/admin/graph/people/{user}" (Staff(GraphRead)) => person::show;
    post "/admin/graph/people/{user}/connect" (Staff(GraphWrite)) => acts::connect;
    post "/admin/graph/people/{user}/disconnect" (Staff(GraphWrite)) => acts::disconnect;
    post "/admin/graph/people/{user}/interests" (Staff(GraphWrite)) => acts::describe;
    post "/admin/graph/people/{user}/suggestions" (Staff(GraphWrite)) => acts::suggest;
}

const PATH: &str = "/admin/graph";

/// The page of somebody.
fn person_path(user: UserId) -> String {
    format!("{PATH}/people/{user}")
}

/// What one is to another.
fn word(connection_type: ConnectionType) -> &'static str {
    match connection_type {
        ConnectionType::Friend => "Friend",
        ConnectionType::Follow => "Follows",
        ConnectionType::Colleague => "Colleague",
        ConnectionType::Block => "Blocked",
    }
}
