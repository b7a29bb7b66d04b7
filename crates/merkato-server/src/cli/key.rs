//! `merkato key`: keys for programs.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use merkato::{
    Context, PageRequest,
    id::KeyId,
    keys::{self, KeyEntry, NewKey, Scope},
    limits,
};
use serde_json::json;

use super::{
    Global, exit,
    open::{Opened, TenantChoice},
    output,
};

#[derive(Args)]
pub struct KeyCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a key. Its token is shown once, and kept nowhere
    #[command(after_help = "Examples:
  merkato key create storefront --scopes catalog_read,orders_write
  merkato key create nightly --scopes analytics_read --expires-days 365 --json

Scopes: catalog_read, catalog_write, customers_read, customers_write, orders_read, orders_write, inventory_read,
inventory_write, analytics_read, sales_read, sales_write, telemetry_read, telemetry_write, trees_read, trees_write,
graph_read, graph_write, events_read, events_write, wallets_read, wallets_write, keys_write, system_read.")]
    Create {
        /// What it is called; several may have one name
        name: String,
        /// What it is good for
        #[arg(long, value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// Days after which it ends; never if it is not said
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_days: Option<u32>,
        #[command(flatten)]
        tenant: TenantChoice,
    },
    /// The keys, newest first, without their secrets
    List(TenantChoice),
    /// End a key for good, at once
    #[command(after_help = "Example:\n  merkato key revoke 01939d5c-…")]
    Revoke {
        key_id: KeyId,
        #[command(flatten)]
        tenant: TenantChoice,
    },
}

impl KeyCommand {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        match self.what {
            What::Create { name, scopes, expires_days, tenant } => {
                let ctx = opened.context(&tenant)?;
                let expires_at = expires_days.map(|days| ctx.now().plus_seconds(i64::from(days) * 86_400));
                let new = NewKey { name, scopes: parsed(&scopes)?, created_by: "shell".into(), expires_at };
                let created = keys::create(&ctx, new).await?;
                let (id, token) = (created.key.key_id.to_string(), created.token.as_str());
                if global.json {
                    return output::json(&json!({ "key_id": id, "name": created.key.name, "token": token }));
                }
                eprintln!("This is the only time that the token of the key {id} is shown:");
                output::line(token)
            }
            What::List(tenant) => list(global, &opened.context(&tenant)?).await,
            What::Revoke { key_id, tenant } => {
                let key = keys::revoke(&opened.context(&tenant)?, key_id).await?;
                let at = key.revoked_at.map(|at| at.to_string());
                if global.json {
                    return output::json(&json!({ "key_id": key_id, "revoked_at": at }));
                }
                output::line(format!("{key_id} was revoked at {}", at.unwrap_or_default()))
            }
        }
    }
}

fn parsed(names: &[String]) -> anyhow::Result<BTreeSet<Scope>> {
    let known = || Scope::ALL.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ");
    let scope = |name: &String| {
        Scope::parse(name.trim()).ok_or_else(|| exit::usage(format!("{name} is no scope; there are {}", known())))
    };
    names.iter().map(scope).collect()
}

async fn list(global: &Global, ctx: &Context) -> anyhow::Result<()> {
    let mut all: Vec<KeyEntry> = Vec::new();
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let found = keys::list(ctx, page).await?;
        all.extend(found.rows);
        match found.next {
            Some(cursor) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(cursor) },
            None => break,
        }
    }
    let time = |time: Option<widerow::Timestamp>| time.map(|time| time.to_string());
    let scopes = |key: &KeyEntry| key.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>();
    if global.json {
        let each = all.iter().map(|key| {
            json!({
                "key_id": key.key_id, "name": key.name, "scopes": scopes(key), "created_by": key.created_by,
                "created_at": key.created_at.to_string(), "last_used_at": time(key.last_used_at),
                "expires_at": time(key.expires_at), "revoked_at": time(key.revoked_at),
                "in_force": key.is_in_force(ctx.now()),
            })
        });
        return output::json(&json!({ "data": each.collect::<Vec<_>>() }));
    }
    let row = |key: &KeyEntry| {
        let state = if key.is_in_force(ctx.now()) { "in force" } else { "ended" };
        let used = time(key.last_used_at).unwrap_or_else(|| "never".into());
        vec![key.key_id.to_string(), key.name.clone(), scopes(key).join(","), state.into(), used]
    };
    output::table(&["key", "name", "scopes", "", "last used"], &all.iter().map(row).collect::<Vec<_>>())
}
