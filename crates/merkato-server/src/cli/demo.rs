//! `merkato demo`: a furnished shop in a folder of its own.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    Global, logs,
    open::{Opened, TenantChoice},
    output, serve,
};
use crate::demo;

/// Serve a small furnished shop on the embedded engine, in ./merkato-demo or --folder: the first start makes it, the next ones
/// find it. Its logins are printed; they exist in that folder only.
#[derive(Args, Default)]
#[command(after_help = "Examples:
  merkato
  merkato demo --listen 127.0.0.1:9000
  merkato demo --only-make --folder /tmp/shop     make the shop and end

To begin anew, remove the folder.")]
pub struct Demo {
    /// Where to listen, over what is configured
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Make the shop and do not serve it
    #[arg(long)]
    only_make: bool,
}

const FOLDER: &str = "merkato-demo";
const TENANT: &str = "default";

impl Demo {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let folder = global.folder.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
        // Whatever shop is configured here, the demo is another one.
        let mut over = vec![
            ("engine".to_owned(), "embedded".to_owned()),
            ("embedded.folder".to_owned(), folder.display().to_string()),
            ("http.tenants".to_owned(), format!("{{ {TENANT} = [] }}")),
        ];
        over.extend(self.listen.map(|listen| ("http.listen".to_owned(), listen)));
        let config = global.load_with(over)?.config;
        logs::start(&config.http.log)?;
        let opened = Opened::with(config).await?;
        opened.database.migrate().await?;
        let ctx = opened.context(&TenantChoice { tenant: TENANT.to_owned() })?;
        if !demo::is_furnished(&ctx).await? {
            eprintln!("making the demo shop in {} …", folder.display());
            demo::write(&ctx, &demo::furnish(demo::SEED, ctx.now())).await?;
        }
        let listener = if self.only_make { None } else { Some(serve::bind(&opened.config).await?) };
        let address = match &listener {
            Some(listener) => Some(format!("http://{}", listener.local_addr()?)),
            None => None,
        };
        let stop = serve::stop_signal()?;
        tell(global, address.as_deref())?;
        match listener {
            Some(listener) => serve::until_stopped(&opened.database, &opened.config, listener, stop).await,
            None => Ok(()),
        }
    }
}

fn tell(global: &Global, address: Option<&str>) -> anyhow::Result<()> {
    let (admin, customer) = (demo::ADMIN, demo::CUSTOMER);
    let at = |path: &str| address.map(|address| format!("{address}{path}"));
    if global.json {
        let login = |(email, password): (&str, &str)| json!({ "email": email, "password": password });
        return output::json(&json!({
            "api": at("/v1/categories"), "docs": at("/docs"),
            "logins": { "admin": login(admin), "customer": login(customer) },
        }));
    }
    for (name, path) in [("API", "/v1/categories"), ("docs", "/docs")] {
        if let Some(address) = at(path) {
            output::line(format!("{name:<11} {address}"))?;
        }
    }
    output::line(format!("admin       {}   password: {}", admin.0, admin.1))?;
    output::line(format!("customer    {}     password: {}", customer.0, customer.1))
}
