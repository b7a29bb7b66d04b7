//! What staff do.

pub mod analytics;
pub mod catalog;
pub mod inventory;
pub mod keys;
pub mod orders;
pub mod users;

use std::collections::BTreeSet;

use merkato::{
    Context,
    accounts::Role,
    keys::{NewKey, Scope},
};
use reqwest::RequestBuilder;
use serde_json::Value;

use crate::world::World;

/// A world with somebody of the staff in it.
pub struct Office {
    pub world: World,
    pub token: String,
}

impl Office {
    pub async fn open(target: &widerow_testing::Target) -> Self {
        let world = World::new(target).await;
        let token = world.session(&world.ctx, Role::Staff).await;
        Office { world, token }
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.world.request(method, path).bearer_auth(&self.token)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request("GET", path)
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request("POST", path).json(body)
    }

    pub fn put(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request("PUT", path).json(body)
    }
}

/// The token of a new key.
pub async fn key(ctx: &Context, scopes: &[Scope]) -> String {
    let scopes = BTreeSet::from_iter(scopes.iter().copied());
    let new = NewKey { name: "a program".into(), scopes, created_by: "a test".into(), expires_at: None };
    merkato::keys::create(ctx, new).await.expect("a key").token.as_str().to_owned()
}

pub fn etag(response: &reqwest::Response) -> String {
    response.headers()["etag"].to_str().expect("text").to_owned()
}
